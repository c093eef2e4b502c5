"""Graph files that are broken: all of a file that still stands is taken, and the report says what is wrong.

The walk goes over the text between the items and trusts nothing but what it sees next: an item, the key of a
section, a bracket. An item that does not parse is mended as far as it goes. Where nothing fits, the walk looks
for the next place that begins like an item and continues from there.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from math import isfinite
from typing import Any, NoReturn, cast

from msgspec import Struct

from polymnia.engine.transfer.formats.graph_items import (
    ITEM_KEYS,
    SECTIONS,
    GraphBuilder,
    Listed,
    NotJson,
    Place,
    is_document,
    is_item,
    quoted,
)
from polymnia.engine.transfer.formats.records import JsonObject

_CONSTANTS = {"true": True, "false": False, "null": None}
_STRING = r'"[^"\\]*(?:\\.[^"\\]*)*"'
_TOKEN = re.compile(
    rf"[ \t\r\n]*(?:(?P<mark>[{{}}\[\],])|(?P<text>{_STRING})"
    r"|(?P<word>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null|NaN|-?Infinity|undefined))",
    re.DOTALL,
)
_COLON = re.compile(r"[ \t\r\n]*:[ \t\r\n]*")
# A key with its colon; the group is the key in its quotes.
_KEY = re.compile(rf"({_STRING}){_COLON.pattern}", re.DOTALL)
# What may come after a text that is a value. Anything else means that its closing quote opens the next.
_AFTER_TEXT = re.compile(r'[ \t\r\n]*(?:[,\]}"]|\Z)')
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
# Items inside of an item whose end is lost are this near to its surface; deeper ones are not looked for.
_SHALLOW = 6
_ENTITY = {"name", "entityType", "observations"}
_RELATION = {"from", "to", "relationType"}
# An object whose first key is one that items have.
_ITEM_START = re.compile(rf'\{{\s*"(?:{"|".join(sorted(ITEM_KEYS))})"\s*:')
_SKIPPED = re.compile(r"[ \t\r\n,]*")
_AFTER_VALUE = re.compile(r"[ \t\r\n]*(?:[,\]}]|\Z)")
_SECTION = rf'"(?:{"|".join(SECTIONS)})"\s*:\s*[\[{{]'
_DOCUMENT_START = re.compile(rf"\{{\s*{_SECTION}")
_LANDMARK = re.compile(rf"{_ITEM_START.pattern}|(?:\{{\s*)?{_SECTION}")
# A byte b that is not UTF-8 is decoded to U+DC00 + b; nothing else is decoded to that.
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class Walk:
    """Goes once through damaged bytes, ``skipped`` of which came before these, and takes every item it comes to."""

    def __init__(self, data: bytes, builder: GraphBuilder, skipped: int) -> None:
        self._source = text = data.decode("utf-8", "surrogateescape")
        self._hurt = [] if text.isascii() else [m.start() for m in _NOT_UTF8.finditer(text)]
        # One character for one, so that places in the text stay the same.
        self._text = _NOT_UTF8.sub("\ufffd", text) if self._hurt else text
        self._builder = builder
        self._mark = self._origin = (0, 1, skipped)
        self._section: Listed | None = None
        self._in_document = False
        self._depth = 0
        self._spare = 4 * len(text)
        self._lost = self._told = False

    def run(self) -> None:
        """Walk to the end of the text."""
        text = self._text
        pos = 0
        while True:
            after_value = pos > 0 and not self._lost and text[pos - 1] not in "[{"
            gap, pos = pos, cast(re.Match[str], _SKIPPED.match(text, pos)).end()
            char = text[pos : pos + 1]
            if not char and self._depth > 0:
                break
            self._check_gap(gap, pos, after_value and char not in ("]", "}", ""))
            if not char:
                return
            if char in "]}":
                self._section = None
                self._depth -= 1
                self._in_document = self._in_document and self._depth > 0
                pos += 1
            elif char == "{":
                pos = self._object(pos)
            elif char == "[" and self._section is None:
                pos = self._step_into(pos)
            elif char == '"' and (key := _KEY.match(text, pos)):
                pos = self._member(key)
            elif (whole := _strictly(text, pos)) and _AFTER_VALUE.match(text, whole[1]):
                self._take(pos, whole[1])
                pos = whole[1]
            else:
                pos = self._seek(pos, pos + 1)
        if not self._told:
            self._builder.refuse(self._where(pos), "The file ends here, in the middle of a list or object.")

    def _check_gap(self, start: int, end: int, between: bool) -> None:
        """Tell of commas there should not be, and of items with nothing between them."""
        lines = self._builder.form == "lines"
        commas = self._text.count(",", start, end)
        if commas > (between and not lines):
            self._builder.repair(self._where(start), "There was a comma too many; left out.")
        elif between and not commas and not (lines and "\n" in self._text[start:end]):
            self._builder.repair(self._where(end), "It began right after the item before it; parted.")

    def _object(self, pos: int) -> int:
        """Take the object that begins here, or step into it when it is a document."""
        text = self._text
        if _DOCUMENT_START.match(text, pos):
            return self._open(pos)
        found, self._lost = self._lost, False
        if whole := _strictly(text, pos):
            value, end = whole
            if self._section is None and is_document(value):
                return self._open(pos)
            if found and not is_item(value, None):
                # Come upon while searching, this may be a part of the item that is lost.
                return self._seek(pos, end)
            if not _swallows(value):
                self._take(pos, end)
                return end
        mended = mend(text, pos, wary=True)
        likely = is_item(mended.value, None) and not is_document(mended.value)
        if found and not likely:
            return self._doubt(pos, mended.end)
        if self._section is None and not (likely and _ITEM_START.match(text, pos)):
            return self._open(pos)
        return self._take_mended(mended, pos)

    def _doubt(self, pos: int, end: int) -> int:
        """Look for items inside of what begins like one and is none, as often as keeps the walk linear."""
        self._spare -= end - pos
        return self._seek(pos, pos + 1 if self._spare > 0 else end)

    def _open(self, pos: int) -> int:
        self._section = None
        self._in_document = True
        return self._step_into(pos)

    def _step_into(self, pos: int) -> int:
        self._depth += 1
        self._lost = False
        return pos + 1

    def _member(self, key: re.Match[str]) -> int:
        """Take what stands under a key between the items: a section, an item by its name, a foreign key."""
        text, start, pos = self._text, key.start(), key.end()
        name = _unescaped(key[1], {})
        opening = text[pos : pos + 1]
        section = SECTIONS.get(name)
        if section and opening in ("[", "{"):
            self._section = section
            self._in_document = True
            if opening == "{":
                self._builder.repair(self._where(start), f"{name} is an object keyed by name; read as a list.")
            return self._step_into(pos)
        if not self._in_document:
            return self._seek(start, pos)
        if opening == "[" and self._section is None:
            first = cast(re.Match[str], _SKIPPED.match(text, pos + 1)).end()
            if _is_whole_item(text, first):
                why = "It is the key of a list of items; they were taken."
                self._builder.repair(f"{self._where(start)}, {quoted(name)}", why)
                return self._step_into(pos)
        whole = _strictly(text, pos)
        if whole is None:
            mended = mend(text, pos) if opening in ("[", "{") else None
            if mended is None or self._section is None:
                return self._seek(start, pos)
            value = mended.value if isinstance(mended.value, dict) else {"observations": mended.value}
            named = _Mended({"name": name, **value}, mended.end, mended.complete, mended.faults)
            return self._take_mended(named, start)
        end = whole[1]
        raw, where = text[pos:end].encode(), self._where(start)
        if self._section is not None:
            self._builder.keyed(name, raw, self._section, where)
        elif section:
            self._builder.section(section, raw)
        else:
            self._builder.keep(name, raw)
        self._note_hurt(start, end, where)
        return end

    def _take(self, pos: int, end: int) -> None:
        raw = self._text[pos:end].encode()
        where = self._where(pos)
        if self._builder.take(raw, self._place(), where):
            if self._builder.form == "lines" and b"\n" in raw:
                self._builder.repair(where, "It was spread over several lines; joined.")
            self._note_hurt(pos, end, where)

    def _take_mended(self, mended: _Mended, pos: int) -> int:
        end = mended.end
        if not mended.complete and not is_item(mended.value, self._section, whole=True):
            return self._seek(pos, end)
        where = self._where(pos)
        try:
            raw = json.dumps(mended.value).encode()
        except RecursionError:
            return self._seek(pos, end)
        if self._builder.take(raw, self._place(), where):
            if mended.faults:
                self._builder.repair(where, f"It had {' and '.join(mended.faults)}; mended.")
            if not mended.complete:
                self._builder.repair(where, "It breaks off; what was complete of it was taken.")
            self._note_hurt(pos, end, where)
        return end if mended.complete else self._seek(end, end)

    def _seek(self, pos: int, past: int) -> int:
        """Go on at the next place that begins like an item or a section; what is before it is lost."""
        found = _LANDMARK.search(self._text, past)
        end = found.start() if found else len(self._text)
        if lost := self._source[pos:end].strip(" \t\r\n,[]{}"):
            raw = lost.encode("utf-8", "surrogateescape")
            shown = repr(raw.decode("utf-8", "replace")[:40])[1:-1] + ("…" if len(lost) > 40 else "")
            self._builder.refuse(self._where(pos), f"{len(raw):,} bytes could not be read: {shown}")
            self._told = True
        self._lost = True
        self._in_document = False
        return end

    def _place(self) -> Place:
        return self._section or ("lines" if self._builder.form == "lines" else "any")

    def _note_hurt(self, pos: int, end: int, where: str) -> None:
        at = bisect_left(self._hurt, pos)
        if at < len(self._hurt) and self._hurt[at] < end:
            self._builder.repair(where, "Bytes that are not UTF-8 were replaced by U+FFFD.")

    def _where(self, pos: int) -> str:
        seen, line, byte = self._mark if pos >= self._mark[0] else self._origin
        passed = self._source[seen:pos]
        line += passed.count("\n")
        byte += len(passed.encode("utf-8", "surrogateescape"))
        self._mark = (pos, line, byte)
        return f"line {line}" if self._builder.form == "lines" else f"line {line}, byte {byte}"


# ── one value ─────────────────────────────────────────────────────────────────────────────────────────────


class _Mended(Struct, frozen=True):
    """What was read of a broken object or list: its value, where reading ended, whether it was closed."""

    value: Any
    end: int
    complete: bool
    faults: tuple[str, ...]


def judge(raw: bytes) -> str:
    """Why JSON that is in order cannot be held; raises NotJson when it is not JSON."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as e:
        raise NotJson(e.start, "a byte that is not UTF-8") from None
    try:
        value = _STRICT.decode(text)
    except json.JSONDecodeError as e:
        why = "it ends too early" if e.pos >= len(text.rstrip()) else _WORDS.get(e.msg, e.msg)
        raise NotJson(len(text[: e.pos].encode()), why) from None
    except RecursionError:
        raise NotJson(0, "it is nested too deeply") from None
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as e:
        return f"It holds a lone surrogate (U+{ord(e.object[e.start]):04X}), which cannot be stored"
    except RecursionError:
        raise NotJson(0, "it is nested too deeply") from None
    return "It holds a number out of range"


def split(raw: bytes) -> Iterator[tuple[str | int, bytes]]:
    """The members of an object by their keys, or of a list by their numbers; raises NotJson when it is not JSON."""
    judge(raw)
    text = raw.decode()
    at = cast(re.Match[str], _SKIPPED.match(text, 0)).end() + 1
    is_object, index = text[at - 1] == "{", 0
    while text[start := cast(re.Match[str], _SKIPPED.match(text, at)).end()] not in "]}":
        key: str | int = index
        if is_object:
            key, end = _STRICT.raw_decode(text, start)
            start = cast(re.Match[str], _COLON.match(text, end)).end()
        _, at = _STRICT.raw_decode(text, start)
        yield key, text[start:at].encode()
        index += 1


def mend(text: str, start: int, *, wary: bool = False) -> _Mended:
    """Read an object or list from its bracket on as far as it goes, forgiving what can be forgiven.

    A wary reader stops where another item or a section begins inside of this one: more likely the end of
    this one is lost. Needs no stack but its own, so no depth is too much for it.
    """
    root: Any = None
    open_: list[JsonObject | list[Any]] = []
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
                return _Mended(root, token.end(), True, tuple(faults))
        else:
            wants_key = isinstance(inside, dict) and keys[-1] is None
            if token["text"] is not None:
                if not wants_key and not _AFTER_TEXT.match(text, token.end()):
                    break
                value = _unescaped(token["text"], faults)
            elif token["word"] is not None:
                value = _word(token["word"], faults)
            else:
                if wary and mark == "{" and 0 < len(open_) < _SHALLOW and _is_whole_item(text, token.start("mark")):
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
        pos = token.end()
    return _Mended(root, pos, False, tuple(faults))


def _strictly(text: str, pos: int) -> tuple[Any, int] | None:
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


def _is_whole_item(text: str, pos: int) -> bool:
    """Whether an item with all of its own keys begins here."""
    whole = _strictly(text, pos) if _ITEM_START.match(text, pos) else None
    return whole is not None and (whole[0].keys() >= _ENTITY or whole[0].keys() >= _RELATION)


def _swallows(item: Any) -> bool:
    """Whether an object holds other items, as one does whose own end is lost."""
    try:
        return is_document(item) or any(map(_holds_item, item.values()))
    except RecursionError:
        return True


def _holds_item(value: Any) -> bool:
    if isinstance(value, dict):
        return value.keys() >= _ENTITY or value.keys() >= _RELATION or any(map(_holds_item, value.values()))
    return isinstance(value, list) and any(map(_holds_item, value))


def _unescaped(token: str, faults: dict[str, None]) -> str:
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
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if word[-1] in "Nydu":
        faults[f"{word} for a value"] = None
        return None
    try:
        number = float(word) if "." in word or "e" in word.lower() else int(word)
        return number if isfinite(number) else word
    except (ValueError, OverflowError):
        return word


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
