"""Documents in JSON, record by record: never more than one of them is held.

Between the records the reader goes by itself; a record is cut out by its brackets and then parsed whole. What is
written one record a line is cut out by its line end, which is faster and comes to the same: an object that parses
whole from its opening bracket ends where it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any, NoReturn

from msgspec.json import Encoder

from polymnia.engine.transfer.formats.records import (
    LARGEST_INTEGER,
    SMALLEST_INTEGER,
    Broken,
    FileLimits,
    Item,
    JsonObject,
    Layout,
    cannot_read,
    cannot_write,
    check_value,
    shortened,
)
from polymnia.engine.transfer.formats.streams import Source

_CHUNK = 256 * 1024
_BLANK = re.compile(rb"[ \t\r\n]*")
_BRACKET_OR_QUOTE = re.compile(rb'["{}\[\]]')
_ESCAPE_OR_QUOTE = re.compile(rb'\\.|"', re.DOTALL)
_COMMA_OR_QUOTE = re.compile(rb'[,"]')
_WORD = re.compile(rb"[^ \t\r\n,\]}]*")
_OPENING_OF = {ord("}"): ord("{"), ord("]"): ord("[")}
_OBJECT, _END_OF_OBJECT, _LIST, _END_OF_LIST, _QUOTE, _COMMA, _COLON, _BACKSLASH = b'{}[]",:\\'
_encode = Encoder().encode


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────


def json_pieces(layout: Layout, head: object, *sections: Iterable[JsonObject]) -> Iterator[bytes]:
    """A document in pieces, one record a line. ``head`` is the value of the last key of the layout's head."""
    before = b"{"
    for key, value in zip(layout.head, (layout.format, layout.version, head), strict=True):
        yield before + b'\n  "%b": %b' % (key.encode(), _encoded(value, key))
        before = b","
    for section, records in zip(dict.fromkeys(layout.sections.values()), sections, strict=True):
        yield b',\n  "%b": ' % section.encode()
        before = b"[\n    "
        for position, record in enumerate(records):
            yield before + _encoded(record, f"{section}[{position}]")
            before = b",\n    "
        yield b"[]" if before.startswith(b"[") else b"\n  ]"
    yield b"\n}\n"


def _encoded(value: object, where: str) -> bytes:
    try:
        encoded = _encode(value)
        # The encoder writes null for what is no number; it takes integers of any size.
        _check_numbers(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as e:
        raise unfit(e, where) from None
    return encoded


def _check_numbers(value: object) -> None:
    if isinstance(value, (dict, list, tuple)):
        for member in value.values() if isinstance(value, dict) else value:
            if type(member) is not str:
                _check_numbers(member)
    elif isinstance(value, float):
        if not isfinite(value):
            raise ValueError("a number that is not finite")
    elif type(value) is int and not SMALLEST_INTEGER <= value <= LARGEST_INTEGER:
        raise ValueError("an integer beyond 64 bits")


def unfit(e: Exception, where: str) -> Exception:
    """The fault of a record that could not be encoded."""
    if isinstance(e, UnicodeEncodeError):
        why = "a text holds a lone surrogate"
    elif isinstance(e, RecursionError):
        why = "a value is nested too deeply"
    else:
        why = f"a record holds {e}"
    return cannot_write(why, where=where)


# ── one record ────────────────────────────────────────────────────────────────────────────────────────────


def parse_record(raw: bytes, limits: FileLimits) -> JsonObject | str:
    """The record, or why it cannot be read."""
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
    except RecursionError:
        return "it is nested too deeply"
    return check_value(value, limits) or value


def _commas(raw: bytes) -> int:
    """How many commas stand outside of strings."""
    count = at = 0
    while found := _COMMA_OR_QUOTE.search(raw, at):
        is_comma = found[0] == b","
        count += is_comma
        at = found.end() if is_comma else _string_end(raw, found.start())
        if at < 0:
            break
    return count


class _Refused(Exception):
    """A record says what no archive may say."""


def _once(pairs: list[tuple[str, Any]]) -> JsonObject:
    made: JsonObject = {}
    for key, value in pairs:
        if key in made:
            raise _Refused(f"the key {shortened(key)!r} appears twice in one object")
        made[key] = value
    return made


def _no_constant(word: str) -> NoReturn:
    raise _Refused(f"it holds {word}, which is no number")


def _integer(digits: str) -> int:
    if len(digits) > 20 or not SMALLEST_INTEGER <= (number := int(digits)) <= LARGEST_INTEGER:
        raise _Refused(f"it holds an integer beyond 64 bits ({digits[:24]}{'…' if len(digits) > 24 else ''})")
    return number


_strict = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_no_constant, parse_int=_integer)


# ── a document ────────────────────────────────────────────────────────────────────────────────────────────


def read_json(source: Source, limits: FileLimits, layout: Layout) -> Iterator[Item]:
    """The items of a document in the order of the file."""
    return _Reader(source, limits, layout).items()


def _string_end(raw: bytes, start: int) -> int:
    """The place after the string that opens at ``start``; -1 when its closing quote is missing.

    A loop, not one pattern: a pattern that repeats a group remembers every repetition, 120 bytes for each escape.
    """
    end = raw.find(b'"', start + 1)
    if end < 0 or raw[end - 1] != _BACKSLASH:
        return end + 1 if end >= 0 else -1
    for found in _ESCAPE_OR_QUOTE.finditer(raw, start + 1):
        if found.end() - found.start() == 1:
            return found.end()
    return -1


class _Reader:
    """Goes through one document, holding the part of the file around the place it is at."""

    def __init__(self, source: Source, limits: FileLimits, layout: Layout) -> None:
        self._source = source
        self._limits = limits
        self._layout = layout
        self._held = b""
        self._at = 0
        self._before = 0  # bytes before what is held
        self._counted = self._lines = 0  # line ends up to a place in what is held
        self._ended = False
        self._tried = 0  # no line end before this place is worth looking for
        self._records = 0

    def items(self) -> Iterator[Item]:
        first = self._next()
        if first == _LIST:
            yield from self._list(next(iter(self._layout.sections)))
        elif first == _OBJECT:
            yield from self._document()
        else:
            self._stop("an object or a list was expected")
        if self._next() is not None:
            self._stop("something follows its end")

    def _document(self) -> Iterator[Item]:
        self._at += 1
        seen: dict[str, None] = {}
        while (mark := self._next()) != _END_OF_OBJECT:
            if seen:
                if mark != _COMMA:
                    self._stop("a comma or the end of the object was expected")
                self._at += 1
                mark = self._next()
            if mark != _QUOTE:
                self._stop("a key in quotes was expected")
            begin = self._at
            key = self._key()
            name = self._layout.sections.get(key, key)
            if name in seen:
                self._stop(f"the key {shortened(key)!r} appears twice", begin)
            seen[name] = None
            if self._next() != _COLON:
                self._stop("a colon was expected")
            self._at += 1
            yield from self._member(key, len(seen) - 1)
        self._at += 1
        self._layout.check_keys(seen)  # refuses what holds nothing

    def _key(self) -> str:
        raw = self._cut("a key")
        try:
            key = json.loads(raw)
        except ValueError:
            self._stop("a key is not right")
        return str(key)

    def _member(self, key: str, position: int) -> Iterator[Item]:
        first, layout = self._next(), self._layout
        if key in layout.sections:
            if first == _LIST:
                yield from self._list(key)
            elif self._cut(key) != b"null":
                self._stop(f"{key} is no list")
        elif key in layout.head:
            where = self._where(self._at)
            value = parse_record(b'{"%b":%b}' % (key.encode(), self._cut(key)), self._limits)
            if isinstance(value, str):
                raise cannot_read(value, where=where)
            layout.check_head(key, value[key], where)
            yield Item("head", position, value)
        else:
            self._cut(shortened(key), keep=False)
            yield Item("unknown", position, key)

    def _list(self, key: str) -> Iterator[Item]:
        self._at += 1
        section, position = self._layout.sections[key], 0
        while (mark := self._next()) != _END_OF_LIST:
            if position:
                if mark != _COMMA:
                    self._stop(f"a comma or the end of {key} was expected")
                self._at += 1
            yield Item(section, position, self._record(key, position))
            position += 1
        self._at += 1

    def _record(self, key: str, position: int) -> JsonObject | Broken:
        self._records += 1
        if self._records > self._limits.items:
            raise cannot_read(f"it has more than {self._limits.items:,} records, which is the limit")
        if self._next() != _OBJECT:
            line = self._line(self._at)
            self._cut(f"{key}[{position}]", keep=False)
            return Broken("it is no object", line)
        if (value := self._line_record()) is not None:
            return value
        raw = self._cut(f"{key}[{position}]")
        found = parse_record(raw, self._limits)
        if isinstance(found, str):
            return Broken(found, self._line(self._at - len(raw)))
        return found

    def _line_record(self) -> JsonObject | None:
        """The record, when it takes the rest of the line."""
        if self._before + self._at < self._tried:
            return None
        end = self._held.find(b"\n", self._at)
        # A line is tried once: it may be long and hold many records.
        self._tried = self._before + (end if end >= 0 else len(self._held))
        if end < 0:
            return None
        whole = self._held[self._at : end].rstrip(b" \t\r,")
        value = parse_record(whole, self._limits) if whole.endswith(b"}") else ""
        if isinstance(value, str):
            return None
        self._at += len(whole)
        return value

    # ── from value to value ──────────────────────────────────────────────────────────────────────────────

    def _next(self) -> int | None:
        """Pass over white space; the byte that follows, or None at the end."""
        while True:
            if (blank := _BLANK.match(self._held, self._at)) is not None:
                self._at = blank.end()
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._fill(self._at):
                return None

    def _cut(self, what: str, *, keep: bool = True) -> bytes:
        """Go past the value that begins here; its bytes, if they are to be kept."""
        begin, line = self._before + self._at, self._line(self._at)
        size = self._pass(begin, keep)
        if size is None:
            raise cannot_read(f"{what}, which begins on line {line:,}, has no end", where=self._where(len(self._held)))
        return self._held[self._at - size : self._at] if keep else b""

    def _pass(self, begin: int, keep: bool) -> int | None:
        first = self._next()
        if first is None:
            self._stop("a value was expected")
        if first == _QUOTE:
            while (end := _string_end(self._held, self._at)) < 0:
                if not self._fill(self._at):
                    return None
            self._at = end
        elif first in b"{[":
            if not self._pass_brackets(begin, keep):
                return None
        else:
            while (word := _WORD.match(self._held, self._at)) is not None and word.end() == len(self._held):
                if not self._fill(self._at):
                    break
            assert word is not None
            if word.end() == self._at:
                self._stop("a value was expected")
            self._at = word.end()
        return self._before + self._at - begin

    def _pass_brackets(self, begin: int, keep: bool) -> bool:
        open_ = bytearray()
        while True:
            found = _BRACKET_OR_QUOTE.search(self._held, self._at)
            self._at = found.start() if found else len(self._held)
            mark = self._held[self._at] if found else None
            if mark == _QUOTE and (end := _string_end(self._held, self._at)) >= 0:
                self._at = end
                continue
            if mark is None or mark == _QUOTE:
                if not self._fill(begin - self._before if keep else self._at):
                    return False
                continue
            if mark in b"{[":
                open_.append(mark)
                if len(open_) > self._limits.depth:
                    self._stop(f"it is nested more than {self._limits.depth} deep")
            elif open_.pop() != _OPENING_OF[mark]:
                self._stop(f"a bracket {chr(mark)} closes what it did not open")
            self._at += 1
            if not open_:
                return True

    def _fill(self, begin: int) -> bool:
        """Hold more of the file, and let go of what is before ``begin``. False at the end of the file."""
        if self._ended:
            return False
        held = len(self._held) - begin
        if held > self._limits.record:
            where = self._where(begin)
            raise cannot_read(f"a value has more than {self._limits.record:,} bytes, which is the limit", where=where)
        # As much again as is held: a long value is looked through a few times, not once for each chunk.
        parts = [self._held[begin:]]
        wanted = min(max(_CHUNK, held), self._limits.record + 1 - held)
        while wanted > 0 and (part := self._source.read(wanted)):
            parts.append(part)
            wanted -= len(part)
        self._ended = wanted > 0
        self._line(begin)
        self._before += begin
        self._counted -= begin
        self._at -= begin
        self._held = b"".join(parts)
        return len(parts) > 1

    def _stop(self, why: str, at: int | None = None) -> NoReturn:
        if at is None and self._at >= len(self._held):
            why = f"it ends too early; {why}"
        raise cannot_read(why, where=self._where(self._at if at is None else at))

    def _line(self, at: int) -> int:
        """The number of the line a place is on; counts only what was not counted before."""
        if at >= self._counted:
            self._lines += self._held.count(b"\n", self._counted, at)
        else:
            self._lines -= self._held.count(b"\n", at, self._counted)
        self._counted = at
        return self._lines + 1

    def _where(self, at: int) -> str:
        return f"line {self._line(at):,}, byte {self._before + at:,}"
