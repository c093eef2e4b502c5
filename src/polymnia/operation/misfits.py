"""What is wrong with parameters that do not fit: every misfit at once, each with its place.

Where almost nothing fits it is enough to tell a hundred of them: a message may hold millions.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import Any

import msgspec

from polymnia.errors import BadArguments, BadText, Violation
from polymnia.operation.schemas import schema

__all__ = ["looked_at_closely"]

_MOST = 100  # misfits that are told
_LOOKED_AT = 10_000  # items of one array
_MOST_PARTS = 500_000  # of which a message may consist to be read once more; of any other its first misfit is told
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATES = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]")  # as JSON has them; most come in pairs, which are fine
_TYPES = {"string": str, "array": list, "object": dict, "boolean": bool}


def looked_at_closely(name: str, params: type, raw: bytes) -> Any:
    """Parameters the fast decoder refused: every misfit, or, where 1.0 stands for 1, the parameters after all."""
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
    _compare(schema(params), value, "", misfits)
    if misfits:
        raise BadArguments(name, misfits)
    try:
        return msgspec.convert(value, params)
    except msgspec.ValidationError as e:
        raise BadArguments(name, [Violation("", "what the schema says", str(e))]) from None


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


def _compare(expected: dict[str, Any], value: Any, path: str, misfits: list[Violation]) -> None:
    """Every place where a value does not fit a schema of ours, in the order of the schema, until there are enough."""
    if len(misfits) >= _MOST:
        return
    kind = expected.get("type")
    if kind in ("integer", "number"):
        if isinstance(value, bool) or not isinstance(value, int | float):
            misfits.append(Violation(path, "number", _given(value)))
        elif kind == "integer" and not (isinstance(value, int) or value.is_integer()):
            misfits.append(Violation(path, "int", "number"))
        elif not expected.get("minimum", value) <= value <= expected.get("maximum", value):
            least, most = expected.get("minimum", -1), expected.get("maximum", 1 << 63)
            given = str(value) if abs(value) < 1e18 else "a larger one"
            misfits.append(Violation(path, f"a number from {least} to {most}", given, (least, most)))
        return
    if kind in _TYPES and not isinstance(value, _TYPES[kind]):
        misfits.append(Violation(path, kind, _given(value)))
        return
    if kind == "string" and not expected.get("minLength", 0) <= len(value) <= expected.get("maxLength", len(value)):
        least, most = expected.get("minLength", 0), expected.get("maxLength")
        length = f"at least {least} characters long" if most is None else f"{least} to {most} characters long"
        misfits.append(Violation(path, length, f"{len(value)}"))
        return
    if "enum" in expected and value not in expected["enum"]:
        misfits.append(Violation(path, "one of " + ", ".join(map(str, expected["enum"])), _quoted(value)))
        return
    if kind == "array":
        for i, item in enumerate(value[:_LOOKED_AT]):
            _compare(expected.get("items", {}), item, f"{path}[{i}]", misfits)
    elif kind == "object":
        required = expected.get("required", ())
        for key, inner in expected.get("properties", {}).items():
            where = f"{path}.{key}" if path else key
            if key not in value:
                if key in required:
                    misfits.append(Violation(where, inner.get("type", "value"), "undefined"))
            elif value[key] is not None or key in required:
                _compare(inner, value[key], where, misfits)
        if expected.get("additionalProperties") is False:
            names = ", ".join(expected.get("properties", {}))
            for key in islice(value, _LOOKED_AT):
                if key not in expected.get("properties", {}) and len(misfits) < _MOST:
                    misfits.append(Violation(f"{path}.{key}" if path else key, f"one of: {names}", "unknown"))
