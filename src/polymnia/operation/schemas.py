"""The shape of a type as clients are told of it: JSON Schema."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["schema"]

_schemas: dict[type, dict[str, Any]] = {}


def schema(kind: type) -> dict[str, Any]:
    """The JSON Schema of a type as one flat object: no references, no titles, null only where it tells something."""
    if kind not in _schemas:
        (top,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
        for part in parts.values():
            part.pop("description", None)  # a docstring is for the reader of the code
        _schemas[kind] = _plain(top, parts)
    return _schemas[kind]


def _plain(node: Any, parts: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(parts[node["$ref"]], parts)
    if "anyOf" in node:
        kept = [item for item in node["anyOf"] if item != {"type": "null"}]
        if len(kept) == 1:
            rest = {key: item for key, item in node.items() if key != "anyOf" and (key, item) != ("default", None)}
            return {**_plain(kept[0], parts), **rest}
    return {
        key: {name: _plain(item, parts) for name, item in value.items()}
        if key == "properties"
        else _plain(value, parts)
        for key, value in node.items()
        if key != "title"
    }
