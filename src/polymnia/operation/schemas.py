"""The shape of a type as clients are told of it: JSON Schema."""

from __future__ import annotations

from typing import Annotated, Any, get_args, get_origin

import msgspec

__all__ = ["exact", "schema"]

_schemas: dict[type, dict[str, Any]] = {}
_exact: dict[type, type] = {}


def schema(kind: type) -> dict[str, Any]:
    """The JSON Schema of a type as one flat object: no references, no titles, null only where it tells something."""
    if kind not in _schemas:
        (top,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
        for part in parts.values():
            part.pop("description", None)  # a docstring is for the reader of the code
        _schemas[kind] = _plain(top, parts)
    return _schemas[kind]


def exact(kind: type) -> type:
    """The same shape, but whatever it does not know is refused, at every depth."""
    if kind not in _exact:
        fields = [
            (field.name, _exact_in(field.type), msgspec.field(**_kept(field))) for field in msgspec.structs.fields(kind)
        ]
        _exact[kind] = msgspec.defstruct(
            kind.__name__, fields, bases=(kind,), forbid_unknown_fields=True, frozen=True, kw_only=True
        )
    return _exact[kind]


def _exact_in(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        inner, *more = get_args(kind)
        return Annotated[_exact_in(inner), *more]
    if get_origin(kind) is list:
        return list[_exact_in(get_args(kind)[0])]  # type: ignore[misc]
    return exact(kind) if isinstance(kind, type) and issubclass(kind, msgspec.Struct) else kind


def _kept(field: msgspec.structs.FieldInfo) -> dict[str, Any]:
    kept: dict[str, Any] = {"name": field.encode_name}
    return kept if field.default is msgspec.NODEFAULT else {**kept, "default": field.default}


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
