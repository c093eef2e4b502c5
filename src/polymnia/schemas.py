"""JSON Schemas of our types, and lenient decoding of arguments that reports every violation with its path."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import islice
from typing import Annotated, Any, get_args, get_origin, get_type_hints, is_typeddict

import msgspec

from polymnia.errors import BadArguments, BadText, Violation
from polymnia.models import JsonObject as JsonObject
from polymnia.models import Note

_MAX_VIOLATIONS = 100  # reported per call: a message may contain millions
_MAX_ITEMS = 10_000  # checked per array
_MAX_COMMAS = 500_000  # in a message that is decoded again; for larger ones only the first violation is reported
_NOTED = 5  # paths listed in a note
_MAX_SHOWN = 200  # characters shown of a value
_NUMBER = r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?"
_SURROGATES = rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]"  # as encoded in JSON; most are in valid pairs
_TYPES = {"string": str, "array": list, "object": dict, "boolean": bool}

"""A JSON object with any content."""

_schemas: dict[type, JsonObject] = {}
_exact: dict[type, type] = {}


def schema(kind: type) -> JsonObject:
    """The JSON Schema of a type without references and titles, and with null only where it is significant."""
    if kind not in _schemas:
        (top,), parts = msgspec.json.schema_components([kind], ref_template="{name}")
        for part in parts.values():
            part.pop("description", None)  # docstrings are for readers of the code
        _schemas[kind] = _plain(top, parts)
    return _schemas[kind]


def components(kinds: Sequence[type]) -> tuple[list[JsonObject], dict[str, JsonObject]]:
    """The JSON Schemas of types and, by name, of their parts, which they reference as ``{"$ref": name}``.

    Fields are in source order, and the first paragraph of a docstring is the type's description.
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
    """Remove null from ``anyOf``: an optional field may be absent instead, another gets null as a type."""
    if isinstance(node, list):
        return [_nullable(item) for item in node]
    if not isinstance(node, dict):
        return node
    node = {key: _nullable(value) for key, value in node.items()}
    if {"type": "null"} not in node.get("anyOf", ()):
        return node
    others = [item for item in node.pop("anyOf") if item != {"type": "null"}]
    absent = node.pop("default", ...) is None
    if len(others) > 1 or (not absent and "type" not in others[0]):
        return {**node, "anyOf": others if absent else [*others, {"type": "null"}]}
    (only,) = others
    return {**only, **({} if absent else {"type": [only["type"], "null"]}), **node}


def exact(kind: type) -> type:
    """The same type, but refusing unknown fields at every depth."""
    if kind not in _exact:
        fields = [
            (field.name, _exact_in(field.type), msgspec.field(**_spec(field))) for field in msgspec.structs.fields(kind)
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


def _spec(field: msgspec.structs.FieldInfo) -> JsonObject:
    spec: JsonObject = {"name": field.encode_name}
    return spec if field.default is msgspec.NODEFAULT else {**spec, "default": field.default}


def _plain(node: Any, parts: JsonObject) -> Any:
    if isinstance(node, list):
        return [_plain(item, parts) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(parts[node["$ref"]], parts)
    if "anyOf" in node:
        others = [item for item in node["anyOf"] if item != {"type": "null"}]
        if len(others) == 1:
            rest = {key: item for key, item in node.items() if key != "anyOf" and (key, item) != ("default", None)}
            return {**_plain(others[0], parts), **rest}
    return {
        key: {name: _plain(item, parts) for name, item in value.items()}
        if key == "properties"
        else _plain(value, parts)
        for key, value in node.items()
        if key != "title"
    }


def read_leniently(name: str, params: type, raw: bytes, notes: list[Note]) -> Any:
    """Decode parameters the fast decoder refused: raise every violation, or return them if the meaning is clear.

    1.0 is read as 1, and "5", "true" and "[1, 2]" as the JSON in them where no string is expected, with a note.
    """
    import json

    if raw.count(b",") > _MAX_COMMAS:
        try:
            return msgspec.json.decode(raw, type=params)
        except (msgspec.DecodeError, UnicodeDecodeError) as e:
            raise BadArguments(name, [Violation("", "what the schema says", str(e))]) from None
    try:
        value = json.loads(raw, parse_int=_integer, parse_float=_number)
    except (ValueError, RecursionError):
        raise BadArguments(name, [Violation("", "JSON in UTF-8", "something else")]) from None
    if re.search(_SURROGATES, raw) and (lone := _lone_surrogate(value)) is not None:
        raise BadText(lone[0].removeprefix(".") or "the arguments", f"a lone surrogate (U+{lone[1]:04X})")
    expected = schema(params)
    unquoted: list[str] = []
    value = _unquoted(expected, value, "", unquoted)
    violations: list[Violation] = []
    _compare(expected, value, "", violations)
    if violations:
        raise BadArguments(name, violations)
    try:
        found: Any = msgspec.convert(value, params)
    except msgspec.ValidationError as e:
        raise BadArguments(name, [Violation("", "what the schema says", str(e))]) from None
    if unquoted:
        more = f" and {len(unquoted) - _NOTED:,} more" if len(unquoted) > _NOTED else ""
        notes.append(Note("unquoted", f"Given as text and read as what it says: {', '.join(unquoted[:_NOTED])}{more}."))
    return found


def _unquoted(expected: JsonObject, value: Any, path: str, found: list[str]) -> Any:
    """Decode strings as JSON where no string is expected; their paths are appended to ``found``."""
    kind = expected.get("type")
    if isinstance(value, str) and kind in _QUOTED:
        decoded = _QUOTED[kind](value)
        if decoded is None:
            return value
        found.append(f"`{path}` ({kind})")
        value = decoded
    if kind == "array" and isinstance(value, list) and (inner := expected.get("items")):
        few = value[:_MAX_ITEMS]
        value[:_MAX_ITEMS] = [_unquoted(inner, one, f"{path}[{i}]", found) for i, one in enumerate(few)]
    elif kind == "object" and isinstance(value, dict):
        for key, inner in expected.get("properties", {}).items():
            if value.get(key) is not None:
                value[key] = _unquoted(inner, value[key], f"{path}.{key}" if path else key, found)
    return value


def _quoted_number(text: str) -> float | None:
    return _number(text) if re.fullmatch(_NUMBER, text.strip()) else None


def _quoted_json(text: str, kind: type) -> Any:
    import json

    if not text.lstrip().startswith("[" if kind is list else "{"):
        return None
    try:
        value = json.loads(text, parse_int=_integer, parse_float=_number, parse_constant=float)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, kind) else None


_QUOTED: dict[Any, Callable[[str], Any]] = {
    "integer": _quoted_number,
    "number": _quoted_number,
    "boolean": lambda text: {"true": True, "false": False}.get(text.strip().lower()),
    "array": lambda text: _quoted_json(text, list),
    "object": lambda text: _quoted_json(text, dict),
}


def _integer(digits: str) -> float:
    return int(digits) if len(digits) < 300 else float("inf")


def _number(digits: str) -> float:
    number = float(digits)
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def _lone_surrogate(value: Any) -> tuple[str, int] | None:
    """The path and code point of the first lone surrogate."""
    if isinstance(value, str):
        found = re.search("[\ud800-\udfff]", value)
        return None if found is None else ("", ord(found[0]))
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        if isinstance(item, str | dict | list) and (deeper := _lone_surrogate(item)) is not None:
            return (f".{key}" if isinstance(value, dict) else f"[{key}]") + deeper[0], deeper[1]
    return None


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "number"
    return next(name for name, kind in _TYPES.items() if isinstance(value, kind))


def _provided(value: Any) -> Any:
    """A value to show to its sender: the value itself, or its beginning if it is long."""
    if isinstance(value, str):
        return value if len(value) <= _MAX_SHOWN else f"{value[:_MAX_SHOWN]}…"
    if isinstance(value, dict | list):
        try:
            text = msgspec.json.encode(value).decode()
        except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError):
            return _type_of(value)
        return value if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
    return value if not isinstance(value, int | float) or abs(value) < 1e18 else _type_of(value)


def _compare(expected: JsonObject, value: Any, path: str, found: list[Violation], of: str | None = None) -> None:
    """Append every violation of a schema to ``found``, in schema order, up to a limit.

    ``of`` is the name of the list item that the value is part of.
    """
    if len(found) >= _MAX_VIOLATIONS:
        return
    kind = expected.get("type")
    if (wrong := _violation(kind, expected, value)) is not None:
        found.append(Violation(path, *wrong, provided=_provided(value), of=of))
    elif kind == "array":
        for i, item in enumerate(value[:_MAX_ITEMS]):
            _compare(expected.get("items", {}), item, f"{path}[{i}]", found, _name_of(item))
    elif kind == "object":
        _compare_fields(expected, value, path, found, of)


def _violation(kind: Any, expected: JsonObject, value: Any) -> tuple[Any, ...] | None:
    """What is expected of a value, what it is, and the range of a number; None if it fits."""
    if kind in ("integer", "number"):
        return _number_violation(kind, expected, value)
    if kind in _TYPES and not isinstance(value, _TYPES[kind]):
        return kind, _type_of(value)
    if kind == "string" and not expected.get("minLength", 0) <= len(value) <= expected.get("maxLength", len(value)):
        low, high = expected.get("minLength", 0), expected.get("maxLength")
        length = f"at least {low} characters long" if high is None else f"{low} to {high} characters long"
        return length, f"{len(value)}"
    if "enum" in expected and value not in expected["enum"]:
        quoted = f"{value!r:.60}" if isinstance(value, str) else _type_of(value)
        return "one of " + ", ".join(map(str, expected["enum"])), quoted
    return None


def _number_violation(kind: str, expected: JsonObject, value: Any) -> tuple[Any, ...] | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return "number", _type_of(value)
    if kind == "integer" and not (isinstance(value, int) or value.is_integer()):
        return "int", "number"
    if expected.get("minimum", value) <= value <= expected.get("maximum", value):
        return None
    low, high = expected.get("minimum", -1), expected.get("maximum", 1 << 63)
    allowed = f"{low} or more" if "maximum" not in expected else f"a number from {low} to {high}"
    return allowed, str(value) if abs(value) < 1e18 else "a larger one", (low, high)


def _compare_fields(expected: JsonObject, value: JsonObject, path: str, found: list[Violation], of: str | None) -> None:
    required, properties = expected.get("required", ()), expected.get("properties", {})
    for key, inner in properties.items():
        where = f"{path}.{key}" if path else key
        if key not in value:
            if key in required:
                choices = f"one of {', '.join(map(str, inner['enum']))}" if "enum" in inner else None
                found.append(Violation(where, choices or inner.get("type", "value"), "undefined", of=of))
        elif value[key] is not None or key in required:
            _compare(inner, value[key], where, found, of)
    if expected.get("additionalProperties") is not False:
        return
    names = ", ".join(properties) or "it takes none"
    for key in islice(value, _MAX_ITEMS):
        if key not in properties and len(found) < _MAX_VIOLATIONS:
            where = f"{path}.{key}" if path else key
            inside = (f"{outer}.{key}" for outer, shape in properties.items() if key in shape.get("properties", ()))
            near = next(inside, None) or nearest(key, [one for one in properties if one not in value])
            provided = _provided(value[key])
            found.append(Violation(where, f"one of: {names}", "unknown", provided=provided, of=of, near=near))


def _name_of(item: Any) -> str | None:
    """The name of a list item, if it has one."""
    if not isinstance(item, dict):
        return None
    name = item.get("name", item.get("entityName"))
    return name if isinstance(name, str) and name.strip() else None


def nearest(name: str, names: Collection[str]) -> str | None:
    """The most similar of several names, ignoring case and underscores; None if none is similar."""
    from difflib import get_close_matches

    plain = {one.replace("_", "").lower(): one for one in names}
    found = get_close_matches(str(name)[:100].replace("_", "").lower(), plain, n=1, cutoff=0.55)
    return plain[found[0]] if found else None
