"""The shape of a type as clients are told of it: JSON Schema."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict

import msgspec

__all__ = ["components", "exact", "schema"]

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


def components(kinds: Sequence[type]) -> tuple[list[dict[str, Any]], dict[str, dict[str, Any]]]:
    """The JSON Schemas of types with their parts apart: ``{"$ref": name}`` stands for a part, null where it is sent.

    Fields are in the order of the code, and a docstring's first paragraph is the description of its type.
    """
    tops, parts = msgspec.json.schema_components(kinds, ref_template="{name}")
    ordered = {one.__name__: list(one.__annotations__) for kind in kinds for one in _typeddicts(kind)}
    for name, part in parts.items():
        part.pop("title", None)
        if "description" in part:
            part["description"] = " ".join(part["description"].split("\n\n")[0].split())
        if name in ordered:
            part["properties"] = {field: part["properties"][field] for field in ordered[name]}
            part["required"] = [field for field in ordered[name] if field in part.get("required", ())]
    return [_nullable(one) for one in tops], {name: _nullable(part) for name, part in parts.items()}


def _typeddicts(kind: Any) -> Iterator[Any]:
    if is_typeddict(kind):
        yield kind
        for hint in get_type_hints(kind, include_extras=True).values():
            yield from _typeddicts(hint)
    for inner in get_args(kind):
        yield from _typeddicts(inner)


def _nullable(node: Any) -> Any:
    """A schema in which ``anyOf`` does not stand for null: an optional field is left out, another has it as a type."""
    if isinstance(node, list):
        return [_nullable(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _nullable(value) for key, value in node.items()}
    if {"type": "null"} not in node.get("anyOf", ()):
        return node
    kept = [item for item in node.pop("anyOf") if item != {"type": "null"}]
    absent = node.pop("default", ...) is None
    if len(kept) > 1 or (not absent and "type" not in kept[0]):
        return {**node, "anyOf": kept if absent else [*kept, {"type": "null"}]}
    (only,) = kept
    return {**only, **({} if absent else {"type": [only["type"], "null"]}), **node}


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
