"""One record of an archive in JSON: taken at a glance when that shows it in order, otherwise looked at closely."""

from __future__ import annotations

import json
import re
from typing import Any, NoReturn

from msgspec import MsgspecError
from msgspec.json import Decoder

from polymnia.engine.transfer.archive_item import ArchiveLimits
from polymnia.engine.transfer.archive_legal import LEAST, MOST, flaw, shown
from polymnia.engine.transfer.json_text import string_end

__all__ = ["careful", "quick"]

# Every key matches this; so may the beginning of a text. Never are there fewer matches than keys.
_LIKE_A_KEY = re.compile(rb'"[ \t\r\n]*:')
_COMMA_OR_QUOTE = re.compile(rb'[,"]')
# Added to any number of keys this is no number of keys.
_NEVER = -(1 << 40)
_decoder = Decoder(dict[str, Any])


def quick(raw: bytes, limits: ArchiveLimits) -> dict[str, Any] | None:
    """The record, when it can be seen at a glance that it is in order.

    The fast parser lets the last of two equal keys win, and integers be of any size: the former shows in the number of
    keys, the latter in a look at the numbers.
    """
    # So short that no text in it is over the limit, nor the number of its values.
    if len(raw) > limits.text or len(raw) > limits.values or b"\\u0000" in raw:
        return None
    try:
        value = _decoder.decode(raw)
    except (MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return value if len(_LIKE_A_KEY.findall(raw)) == _keys(value, limits.depth) else None


def careful(raw: bytes, limits: ArchiveLimits) -> dict[str, Any] | str:
    """The record, or why it cannot be taken. Its brackets match and are not too deep: the caller has seen to that."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as e:
        return f"it holds a byte that is not UTF-8 (0x{raw[e.start]:02X}, byte {e.start:,} of the record)"
    if raw.count(b",") > (most := limits.values) and _commas(raw) > most:
        return f"it holds more than {most:,} values, which is the limit"
    try:
        value = _strict.decode(text)
    except json.JSONDecodeError as e:
        why = e.msg[0].lower() + e.msg[1:].removesuffix(" at")
        return f"it is not JSON: {why} (byte {len(text[: e.pos].encode()):,} of the record)"
    except _Refused as e:
        return str(e)
    return flaw(value, limits) or value


def _commas(raw: bytes) -> int:
    """How many commas stand outside of strings."""
    count = at = 0
    while found := _COMMA_OR_QUOTE.search(raw, at):
        is_comma = found[0] == b","
        count += is_comma
        at = found.end() if is_comma else string_end(raw, found.start())
        if at < 0:
            break
    return count


class _Refused(Exception):
    """A record says what no archive may say."""


def _keys(value: Any, depth: int) -> int:
    """How many keys a value has, at any depth; below zero if a number is out of range, or the depth."""
    if not depth:
        return _NEVER
    keys = 0
    members = value
    if type(value) is dict:
        keys = len(value)
        members = value.values()
    for member in members:
        kind = type(member)
        if kind is dict or kind is list:
            keys += _keys(member, depth - 1)
        elif kind is int and not LEAST <= member <= MOST:
            return _NEVER
    return keys


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Refused(f"the key {shown(key)!r} appears twice in one object")
            seen.add(key)
    return made


def _no_constant(word: str) -> NoReturn:
    raise _Refused(f"it holds {word}, which is no number")


def _integer(digits: str) -> int:
    if len(digits) > 20 or not LEAST <= (number := int(digits)) <= MOST:
        raise _Refused(f"it holds an integer beyond 64 bits ({digits[:24]}{'…' if len(digits) > 24 else ''})")
    return number


_strict = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant, parse_int=_integer)
