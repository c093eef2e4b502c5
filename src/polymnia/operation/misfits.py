"""What is wrong with parameters that do not fit: every misfit at once, each with its place.

Where almost nothing fits it is enough to tell a hundred of them: a message may hold millions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from itertools import islice
from typing import Any

import msgspec

from polymnia.errors import BadArguments, BadText, Violation
from polymnia.models import Note
from polymnia.operation.schemas import schema

__all__ = ["looked_at_closely", "nearest"]

_MOST = 100  # misfits that are told
_LOOKED_AT = 10_000  # items of one array
_MOST_PARTS = 500_000  # of which a message may consist to be read once more; of any other its first misfit is told
_TOLD = 5  # places that a note names
_LONGEST = 200  # characters of a value that is told again
_NUMBER = re.compile(r"[+-]?[0-9]{1,300}(\.[0-9]{1,300})?([eE][+-]?[0-9]{1,3})?")
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATES = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")  # as JSON has them; most come in pairs, which are fine
_TYPES = {"string": str, "array": list, "object": dict, "boolean": bool}


def looked_at_closely(name: str, params: type, raw: bytes, notes: list[Note]) -> Any:
    """Parameters the fast decoder refused: every misfit, or, where it is plain what is meant, the parameters after all.

    So 1.0 is read as 1, and "5", "true" and "[1, 2]" as what they say where no text is wanted, which ``notes`` tell.
    """
    import json

    if raw.count(b",") > _MOST_PARTS:
        try:
            return msgspec.json.decode(raw, type=params)
        except (msgspec.DecodeError, UnicodeDecodeError) as e:
            raise BadArguments(name, [Violation("", "what the schema says", str(e))]) from None
    try:
        value = json.loads(raw, parse_int=_integer, parse_float=_number)
    except (ValueError, RecursionError):
        raise BadArguments(name, [Violation("", "JSON in UTF-8", "something else")]) from None
    if _SURROGATES.search(raw) and (found := _lone_surrogate(value)) is not None:
        raise BadText(found[0].removeprefix(".") or "the arguments", f"a lone surrogate (U+{found[1]:04X})")
    misfits: list[Violation] = []
    expected = schema(params)
    unquoted: list[str] = []
    value = _unquoted(expected, value, "", unquoted)
    _compare(expected, value, "", misfits)
    if misfits:
        raise BadArguments(name, misfits)
    try:
        found = msgspec.convert(value, params)
    except msgspec.ValidationError as e:
        raise BadArguments(name, [Violation("", "what the schema says", str(e))]) from None
    if unquoted:
        more = f" and {len(unquoted) - _TOLD:,} more" if len(unquoted) > _TOLD else ""
        notes.append(Note("unquoted", f"Given as text and read as what it says: {', '.join(unquoted[:_TOLD])}{more}."))
    return found


def _unquoted(expected: dict[str, Any], value: Any, path: str, found: list[str]) -> Any:
    """A value with every text that stands where none is wanted read as what it says; ``found`` is told where."""
    kind = expected.get("type")
    if isinstance(value, str) and kind in _QUOTED:
        meant = _QUOTED[kind](value)
        if meant is None:
            return value
        found.append(f"`{path}` ({kind})")
        value = meant
    if kind == "array" and isinstance(value, list) and (inner := expected.get("items")):
        value[:_LOOKED_AT] = [_unquoted(inner, one, f"{path}[{i}]", found) for i, one in enumerate(value[:_LOOKED_AT])]
    elif kind == "object" and isinstance(value, dict):
        for key, inner in expected.get("properties", {}).items():
            if value.get(key) is not None:
                value[key] = _unquoted(inner, value[key], f"{path}.{key}" if path else key, found)
    return value


def _said_number(text: str) -> float | None:
    return _number(text) if _NUMBER.fullmatch(text.strip()) else None


def _said_json(kind: type) -> Callable[[str], Any]:
    def said(text: str) -> Any:
        import json

        if not text.lstrip().startswith("[" if kind is list else "{"):
            return None
        try:
            value = json.loads(text, parse_int=_integer, parse_float=_number, parse_constant=float)
        except (ValueError, RecursionError):
            return None
        return value if isinstance(value, kind) else None

    return said


_QUOTED: dict[Any, Callable[[str], Any]] = {
    "integer": _said_number,
    "number": _said_number,
    "boolean": lambda text: {"true": True, "false": False}.get(text.strip().lower()),
    "array": _said_json(list),
    "object": _said_json(dict),
}


def _integer(digits: str) -> float:
    return int(digits) if len(digits) < 300 else float("inf")


def _number(digits: str) -> float:
    number = float(digits)
    return int(number) if number.is_integer() and abs(number) < 1 << 53 else number


def _lone_surrogate(value: Any) -> tuple[str, int] | None:
    """Where one is, and which."""
    if isinstance(value, str):
        found = _SURROGATE.search(value)
        return None if found is None else ("", ord(found[0]))
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in inner:
        if isinstance(item, str | dict | list) and (deeper := _lone_surrogate(item)) is not None:
            return (f".{key}" if isinstance(value, dict) else f"[{key}]") + deeper[0], deeper[1]
    return None


def _given(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return next(name for name, kind in _TYPES.items() if isinstance(value, kind))


def _quoted(value: Any) -> str:
    return f"{value!r:.60}" if isinstance(value, str) else _given(value)


def _provided(value: Any) -> Any:
    """A value as its sender can recognise it: itself, or its beginning where it is long."""
    if isinstance(value, str):
        return value if len(value) <= _LONGEST else f"{value[:_LONGEST]}…"
    if isinstance(value, dict | list):
        try:
            text = msgspec.json.encode(value).decode()
        except (msgspec.MsgspecError, UnicodeEncodeError, OverflowError):
            return _given(value)
        return value if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return value if not isinstance(value, int | float) or abs(value) < 1e18 else _given(value)


def _compare(expected: dict[str, Any], value: Any, path: str, misfits: list[Violation], of: str | None = None) -> None:
    """Every place where a value does not fit a schema of ours, in the order of the schema, until there are enough.

    ``of`` is the name of the item of a list that the value is part of.
    """

    def misfit(expected: str, given: str, range: tuple[float, float] | None = None) -> None:
        misfits.append(Violation(path, expected, given, range, provided=_provided(value), of=of))

    if len(misfits) >= _MOST:
        return
    kind = expected.get("type")
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            misfit("number", _given(value))
        elif kind == "integer" and not (isinstance(value, int) or value.is_integer()):
            misfit("int", "number")
        elif not expected.get("minimum", value) <= value <= expected.get("maximum", value):
            least, most = expected.get("minimum", -1), expected.get("maximum", 1 << 63)
            wanted = f"{least} or more" if "maximum" not in expected else f"a number from {least} to {most}"
            misfit(wanted, str(value) if abs(value) < 1e18 else "a larger one", (least, most))
        return
    if kind in _TYPES and not isinstance(value, _TYPES[kind]):
        misfit(kind, _given(value))
        return
    if kind == "string" and not expected.get("minLength", 0) <= len(value) <= expected.get("maxLength", len(value)):
        least, most = expected.get("minLength", 0), expected.get("maxLength")
        length = f"at least {least} characters long" if most is None else f"{least} to {most} characters long"
        misfit(length, f"{len(value)}")
        return
    if "enum" in expected and value not in expected["enum"]:
        misfit("one of " + ", ".join(map(str, expected["enum"])), _quoted(value))
        return
    if kind == "array":
        for i, item in enumerate(value[:_LOOKED_AT]):
            _compare(expected.get("items", {}), item, f"{path}[{i}]", misfits, _called(item))
    elif kind == "object":
        _compare_fields(expected, value, path, misfits, of)


def _compare_fields(
    expected: dict[str, Any], value: dict[str, Any], path: str, misfits: list[Violation], of: str | None
) -> None:
    required, properties = expected.get("required", ()), expected.get("properties", {})
    for key, inner in properties.items():
        where = f"{path}.{key}" if path else key
        if key not in value:
            if key in required:
                choices = f"one of {', '.join(map(str, inner['enum']))}" if "enum" in inner else None
                misfits.append(Violation(where, choices or inner.get("type", "value"), "undefined", of=of))
        elif value[key] is not None or key in required:
            _compare(inner, value[key], where, misfits, of)
    if expected.get("additionalProperties") is False:
        names = ", ".join(properties) or "it takes none"
        for key in islice(value, _LOOKED_AT):
            if key not in properties and len(misfits) < _MOST:
                where = f"{path}.{key}" if path else key
                inside = (f"{outer}.{key}" for outer, shape in properties.items() if key in shape.get("properties", ()))
                near = next(inside, None) or nearest(key, [one for one in properties if one not in value])
                told = Violation(where, f"one of: {names}", "unknown", provided=_provided(value[key]), of=of, near=near)
                misfits.append(told)


def _called(item: Any) -> str | None:
    """What an item of a list is called, if it says so."""
    if not isinstance(item, dict):
        return None
    name = item.get("name", item.get("entityName"))
    return name if isinstance(name, str) and name.strip() else None


def nearest(name: str, names: Collection[str]) -> str | None:
    """The name that is most like another one, whatever their case and underscores; None where none is."""
    from difflib import get_close_matches

    plain = {one.replace("_", "").lower(): one for one in names}
    found = get_close_matches(str(name)[:100].replace("_", "").lower(), plain, n=1, cutoff=0.55)
    return plain[found[0]] if found else None
