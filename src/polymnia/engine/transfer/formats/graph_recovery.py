"""Recovers the intact items of a damaged graph file.

The text between the items is scanned for the next token: an item, the key of a section, a bracket. An item that does
not parse is read as far as possible. If nothing fits, the scan continues at the next text that looks like an item.
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
# What may follow a string value. Anything else means that its closing quote opens the next string.
_AFTER_TEXT = re.compile(r'[ \t\r\n]*(?:[,\]}"]|\Z)')
_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9a-fA-F]{4})?')
# The depth up to which items are expected inside an item whose end is missing.
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
# An invalid byte b is decoded to U+DC00 + b; nothing else is decoded to that.
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class Recovery:
    """Scans damaged bytes once and adds every item it finds; ``skipped`` bytes of the file came before them."""

    def __init__(self, data: bytes, builder: GraphBuilder, skipped: int) -> None:
        self._source = text = data.decode("utf-8", "surrogateescape")
        self._not_utf8 = [] if text.isascii() else [m.start() for m in _NOT_UTF8.finditer(text)]
        # Character by character, so that positions in the text stay the same.
        self._text = _NOT_UTF8.sub("\ufffd", text) if self._not_utf8 else text
        self._builder = builder
        self._mark = self._origin = (0, 1, skipped)
        self._section: Listed | None = None
        self._in_document = False
        self._depth = 0
        self._budget = 4 * len(text)
        self._searching = self._reported = False

    def run(self) -> None:
        """Scan the whole text."""
        text = self._text
        pos = 0
        while True:
            after_value = pos > 0 and not self._searching and text[pos - 1] not in "[{"
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
            elif (whole := _parse(text, pos)) and _AFTER_VALUE.match(text, whole[1]):
                self._take(pos, whole[1])
                pos = whole[1]
            else:
                pos = self._skip_to_next(pos, pos + 1)
        if not self._reported:
            self._builder.refuse(self._where(pos), "The file ends here, in the middle of a list or object.")

    def _check_gap(self, start: int, end: int, between: bool) -> None:
        """Report surplus commas, and items without a separator."""
        lines = self._builder.form == "lines"
        commas = self._text.count(",", start, end)
        if commas > (between and not lines):
            self._builder.repair(self._where(start), "There was a comma too many; left out.")
        elif between and not commas and not (lines and "\n" in self._text[start:end]):
            self._builder.repair(self._where(end), "It began right after the item before it; parted.")

    def _object(self, pos: int) -> int:
        """Add the object that starts here, or enter it if it is a document."""
        text = self._text
        if _DOCUMENT_START.match(text, pos):
            return self._open(pos)
        found, self._searching = self._searching, False
        if whole := _parse(text, pos):
            value, end = whole
            if self._section is None and is_document(value):
                return self._open(pos)
            if found and not is_item(value, None):
                # It may be part of the lost item.
                return self._skip_to_next(pos, end)
            if not _contains_items(value):
                self._take(pos, end)
                return end
        partial = parse_leniently(text, pos, cautious=True)
        likely = is_item(partial.value, None) and not is_document(partial.value)
        if found and not likely:
            return self._search_inside(pos, partial.end)
        if self._section is None and not (likely and _ITEM_START.match(text, pos)):
            return self._open(pos)
        return self._add_partial(partial, pos)

    def _search_inside(self, pos: int, end: int) -> int:
        """Search for items inside what looks like one but is not; a budget keeps the scan linear."""
        self._budget -= end - pos
        return self._skip_to_next(pos, pos + 1 if self._budget > 0 else end)

    def _open(self, pos: int) -> int:
        self._section = None
        self._in_document = True
        return self._step_into(pos)

    def _step_into(self, pos: int) -> int:
        self._depth += 1
        self._searching = False
        return pos + 1

    def _member(self, key: re.Match[str]) -> int:
        """Add the value of a key between items: a section, an item keyed by name, or a foreign key."""
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
            return self._skip_to_next(start, pos)
        if opening == "[" and self._section is None:
            first = cast(re.Match[str], _SKIPPED.match(text, pos + 1)).end()
            if _is_whole_item(text, first):
                why = "It is the key of a list of items; they were taken."
                self._builder.repair(f"{self._where(start)}, {quoted(name)}", why)
                return self._step_into(pos)
        whole = _parse(text, pos)
        if whole is None:
            partial = parse_leniently(text, pos) if opening in ("[", "{") else None
            if partial is None or self._section is None:
                return self._skip_to_next(start, pos)
            value = partial.value if isinstance(partial.value, dict) else {"observations": partial.value}
            named = _Partial({"name": name, **value}, partial.end, partial.complete, partial.faults)
            return self._add_partial(named, start)
        end = whole[1]
        raw, where = text[pos:end].encode(), self._where(start)
        if self._section is not None:
            self._builder.keyed(name, raw, self._section, where)
        elif section:
            self._builder.section(section, raw)
        else:
            self._builder.keep(name, raw)
        self._report_not_utf8(start, end, where)
        return end

    def _take(self, pos: int, end: int) -> None:
        raw = self._text[pos:end].encode()
        where = self._where(pos)
        if self._builder.take(raw, self._place(), where):
            if self._builder.form == "lines" and b"\n" in raw:
                self._builder.repair(where, "It was spread over several lines; joined.")
            self._report_not_utf8(pos, end, where)

    def _add_partial(self, partial: _Partial, pos: int) -> int:
        end = partial.end
        if not partial.complete and not is_item(partial.value, self._section, whole=True):
            return self._skip_to_next(pos, end)
        where = self._where(pos)
        try:
            raw = json.dumps(partial.value).encode()
        except RecursionError:
            return self._skip_to_next(pos, end)
        if self._builder.take(raw, self._place(), where):
            if partial.faults:
                self._builder.repair(where, f"It had {' and '.join(partial.faults)}; mended.")
            if not partial.complete:
                self._builder.repair(where, "It breaks off; what was complete of it was taken.")
            self._report_not_utf8(pos, end, where)
        return end if partial.complete else self._skip_to_next(end, end)

    def _skip_to_next(self, pos: int, past: int) -> int:
        """Continue at the next text that looks like an item or a section; what is before it is lost."""
        found = _LANDMARK.search(self._text, past)
        end = found.start() if found else len(self._text)
        if lost := self._source[pos:end].strip(" \t\r\n,[]{}"):
            raw = lost.encode("utf-8", "surrogateescape")
            shown = repr(raw.decode("utf-8", "replace")[:40])[1:-1] + ("…" if len(lost) > 40 else "")
            self._builder.refuse(self._where(pos), f"{len(raw):,} bytes could not be read: {shown}")
            self._reported = True
        self._searching = True
        self._in_document = False
        return end

    def _place(self) -> Place:
        return self._section or ("lines" if self._builder.form == "lines" else "any")

    def _report_not_utf8(self, pos: int, end: int, where: str) -> None:
        at = bisect_left(self._not_utf8, pos)
        if at < len(self._not_utf8) and self._not_utf8[at] < end:
            self._builder.repair(where, "Bytes that are not UTF-8 were replaced by U+FFFD.")

    def _where(self, pos: int) -> str:
        seen, line, byte = self._mark if pos >= self._mark[0] else self._origin
        passed = self._source[seen:pos]
        line += passed.count("\n")
        byte += len(passed.encode("utf-8", "surrogateescape"))
        self._mark = (pos, line, byte)
        return f"line {line}" if self._builder.form == "lines" else f"line {line}, byte {byte}"


# ── one value ─────────────────────────────────────────────────────────────────────────────────────────────


class _Partial(Struct, frozen=True):
    """What was read of a broken object or list: its value, where reading ended, and whether it was closed."""

    value: Any
    end: int
    complete: bool
    faults: tuple[str, ...]


def diagnose(raw: bytes) -> str:
    """The reason valid JSON cannot be stored; raises NotJson if it is not valid."""
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
    """The members of an object by key, or of a list by index; raises NotJson if it is not JSON."""
    diagnose(raw)
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


def parse_leniently(text: str, start: int, *, cautious: bool = False) -> _Partial:
    """Read an object or list as far as possible, tolerating common errors.

    With ``cautious`` reading stops if another item or a section starts inside: the end of this one is probably missing.
    Not recursive, so no depth is too much.
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
                return _Partial(root, token.end(), True, tuple(faults))
        else:
            wants_key = isinstance(inside, dict) and keys[-1] is None
            if token["text"] is not None:
                if not wants_key and not _AFTER_TEXT.match(text, token.end()):
                    break
                value = _unescaped(token["text"], faults)
            elif token["word"] is not None:
                value = _word(token["word"], faults)
            else:
                if cautious and mark == "{" and 0 < len(open_) < _SHALLOW and _is_whole_item(text, token.start("mark")):
                    break
                value = {} if mark == "{" else []
            if inside and not comma and (wants_key or isinstance(inside, list)):
                faults["a comma missing"] = None
            comma = False
            if wants_key:
                colon = _COLON.match(text, token.end())
                if token["text"] is None or colon is None:
                    break
                if cautious and value in SECTIONS and text[colon.end() : colon.end() + 1] in ("[", "{"):
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
    return _Partial(root, pos, False, tuple(faults))


def _parse(text: str, pos: int) -> tuple[Any, int] | None:
    """The value that starts here and where it ends, if it is valid JSON.

    To report an error Python counts the lines before it, which would take forever with many errors in a large file: so
    a small part of the text is parsed first, and more if that is cut short.
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
    """Whether an item with all standard keys starts here."""
    whole = _parse(text, pos) if _ITEM_START.match(text, pos) else None
    return whole is not None and (whole[0].keys() >= _ENTITY or whole[0].keys() >= _RELATION)


def _contains_items(item: Any) -> bool:
    """Whether an object contains other items, as happens if its own end is missing."""
    try:
        return is_document(item) or any(map(_contains_item, item.values()))
    except RecursionError:
        return True


def _contains_item(value: Any) -> bool:
    if isinstance(value, dict):
        return value.keys() >= _ENTITY or value.keys() >= _RELATION or any(map(_contains_item, value.values()))
    return isinstance(value, list) and any(map(_contains_item, value))


def _unescaped(token: str, faults: dict[str, None]) -> str:
    """The string without quotes and escapes; tolerated errors are added to ``faults``."""
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


# Python's error messages in our words: its own differ between releases.
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
