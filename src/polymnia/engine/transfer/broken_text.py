"""One value of JSON that may be broken: read to the letter, read as far as it goes, and what is wrong with it."""

from __future__ import annotations

import json
import re
from math import isfinite
from typing import Any, NoReturn, cast

from msgspec import Struct

from polymnia.engine.transfer.item import (
    KIND_KEYS,
    LINK_KEYS,
    NAME_KEYS,
    OBSERVATION_KEYS,
    SECTIONS,
    SOURCE_KEYS,
    TARGET_KEYS,
    Flaw,
    is_document,
)

__all__ = ["ITEM_START", "KEY", "Mended", "is_whole_item", "judge", "mend", "strictly", "swallows", "unescaped"]

_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(
    rf"[ \t\r\n]*(?:(?P<mark>[{{}}\[\],])|(?P<text>{_STRING})"
    r"|(?P<word>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity|undefined))",
    re.DOTALL,
)
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
# A key with its colon; the group is the key in its quotes.
KEY = re.compile(rf"({_STRING}){_COLON.pattern}", re.DOTALL)
# What may come after a text that is a value. Anything else means that its closing quote opens the next.
_AFTER_TEXT = re.compile(r'[ \t\r\n]*(?:[,\]}"]|\Z)')
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
# Items inside of an item whose end is lost are this near to its surface; deeper ones are not looked for.
_SHALLOW = 6
_ENTITY = {"name", "entityType", "observations"}
_RELATION = {"from", "to", "relationType"}
_ITEM_KEYS = {*NAME_KEYS, *KIND_KEYS, *OBSERVATION_KEYS, *SOURCE_KEYS, *TARGET_KEYS, *LINK_KEYS}
# An object whose first key is one that items have.
ITEM_START = re.compile(rf'\{{\s*"(?:{"|".join(sorted(_ITEM_KEYS))})"\s*:')


class Mended(Struct, frozen=True):
    """What was read of a broken object or list: its value, where reading ended, whether it was closed."""

    value: Any
    end: int
    complete: bool
    faults: tuple[str, ...]


def judge(raw: bytes) -> str:
    """Why JSON that is in order cannot be held; raises Flaw when it is not JSON."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as e:
        raise Flaw(e.start, "a byte that is not UTF-8") from None
    try:
        value = _STRICT.decode(text)
    except json.JSONDecodeError as e:
        why = "it ends too early" if e.pos >= len(text.rstrip()) else _WORDS.get(e.msg, e.msg)
        raise Flaw(len(text[: e.pos].encode()), why) from None
    except RecursionError:
        mended = mend(text, len(text) - len(text.lstrip(" \t\r\n")))
        if not mended.complete or mended.faults or text[mended.end :].strip(" \t\r\n"):
            why = mended.faults[0] if mended.faults else "unexpected text"
            raise Flaw(len(text[: mended.end].encode()), why) from None
        return "It is nested too deeply"
    if half := _half_pair(value):
        return f"It holds a lone surrogate (U+{ord(half):04X}), which cannot be stored"
    return "It holds a number out of range"


def mend(text: str, start: int, *, wary: bool = False) -> Mended:
    """Read an object or list from its bracket on as far as it goes, forgiving what can be forgiven.

    A wary reader stops where another item or a section begins inside of this one: more likely the end of
    this one is lost. Needs no stack but its own, so no depth is too much for it.
    """
    root: Any = None
    open_: list[dict[str, Any] | list[Any]] = []
    keys: list[str | None] = []
    faults: dict[str, None] = {}
    comma = False
    pos = start
    while token := _TOKEN.match(text, pos):
        inside = open_[-1] if open_ else None
        mark = token["mark"]
        value: Any
        if mark == ",":
            if comma or not inside or keys[-1] is not None:
                faults["a comma too many"] = None
            comma = True
        elif mark in ("}", "]"):
            if not isinstance(inside, dict if mark == "}" else list):
                break
            if comma:
                faults["a comma too many"] = None
            if keys.pop() is not None:
                faults["a key without a value"] = None
            open_.pop()
            comma = False
            if not open_:
                return Mended(root, token.end(), True, tuple(faults))
        else:
            wants_key = isinstance(inside, dict) and keys[-1] is None
            if token["text"] is not None:
                if not wants_key and not _AFTER_TEXT.match(text, token.end()):
                    break
                value = unescaped(token["text"], faults)
            elif token["word"] is not None:
                value = _word(token["word"], faults)
            else:
                if wary and mark == "{" and 0 < len(open_) < _SHALLOW and is_whole_item(text, token.start("mark")):
                    break
                value = {} if mark == "{" else []
            if inside and not comma and (wants_key or isinstance(inside, list)):
                faults["a comma missing"] = None
            comma = False
            if wants_key:
                colon = _COLON.match(text, token.end())
                if token["text"] is None or colon is None:
                    break
                if wary and value in SECTIONS and text[colon.end() : colon.end() + 1] in ("[", "{"):
                    break
                keys[-1] = value
                pos = colon.end()
                continue
            if isinstance(inside, dict):
                inside[cast(str, keys[-1])] = value
                keys[-1] = None
            elif inside is not None:
                inside.append(value)
            else:
                root = value
            if mark:
                open_.append(value)
                keys.append(None)
            elif inside is None:
                return Mended(root, token.end(), True, tuple(faults))
        pos = token.end()
    return Mended(root, pos, False, tuple(faults))


def strictly(text: str, pos: int) -> tuple[Any, int] | None:
    """The value that begins here and where it ends, if it is JSON to the letter.

    Python counts the lines up to an error to report it, which would make many errors in a large file
    take forever: so the reader is given a small part of the text first, and more if it asks for more.
    """
    size = 4096
    while True:
        part = text[pos : pos + size]
        try:
            value, end = _STRICT.raw_decode(part)
        except json.JSONDecodeError as e:
            cut_short = e.msg.startswith("Unterminated") or e.pos >= len(part) - 12
            if len(part) < size or not cut_short:
                return None
        except RecursionError:
            return None
        else:
            if end < len(part) or len(part) < size:
                return value, pos + end
        size *= 16


def is_whole_item(text: str, pos: int) -> bool:
    """Whether an item with all of its own keys begins here."""
    whole = strictly(text, pos) if ITEM_START.match(text, pos) else None
    return whole is not None and (whole[0].keys() >= _ENTITY or whole[0].keys() >= _RELATION)


def swallows(item: Any) -> bool:
    """Whether an object holds other items, as one does whose own end is lost."""
    if is_document(item):
        return True
    waiting = list(item.values())
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if value.keys() >= _ENTITY or value.keys() >= _RELATION:
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
    return False


def unescaped(token: str, faults: dict[str, None]) -> str:
    """The text between the quotes; what had to be forgiven is added to the faults."""
    try:
        return cast(str, json.loads(token))
    except json.JSONDecodeError:
        pass
    if any(char < " " for char in token):
        faults["a control character inside a text"] = None
    doubled = _ESCAPE.sub(lambda m: m[0] if m[1] else r"\\", token)
    if doubled != token:
        faults["a backslash that begins no escape"] = None
    return cast(str, json.loads(doubled, strict=False))


def _word(word: str, faults: dict[str, None]) -> Any:
    if word in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[word]
    if word[-1] in "Nydu":
        faults[f"{word} for a value"] = None
        return None
    try:
        number = float(word) if "." in word or "e" in word.lower() else int(word)
    except ValueError:
        return word
    return number if isinstance(number, int) or isfinite(number) else word


def _half_pair(value: Any) -> str | None:
    """The first half of a surrogate pair in any text of the value."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            try:
                item.encode()
            except UnicodeEncodeError as e:
                return item[e.start]
        elif isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return None


# What Python says of a flaw, in our words: its own are not the same in every release.
_WORDS = {
    "Unterminated string starting at": "a text that is not closed",
    "Extra data": "there is more after the end",
    "Expecting value": "a value is missing",
    "Expecting property name enclosed in double quotes": "a key is missing",
    "Illegal trailing comma before end of object": "a comma too many",
    "Illegal trailing comma before end of array": "a comma too many",
    "Expecting ':' delimiter": "a colon is missing",
    "Expecting ',' delimiter": "a comma is missing",
    "Invalid control character at": "a control character inside a text",
    "Invalid \\escape": "a backslash that begins no escape",
    "Invalid \\uXXXX escape": "a backslash that begins no escape",
}


def _no_constant(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is not JSON", "", 0)


# Integers stay text: Python would refuse one of 5,000 digits, which JSON allows.
_STRICT = json.JSONDecoder(parse_constant=_no_constant, parse_int=str)
