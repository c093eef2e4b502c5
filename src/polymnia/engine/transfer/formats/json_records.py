"""JSON documents, read and written record by record, with one record in memory at a time.

The reader scans the structure around the records itself; a record is extracted by its brackets and then parsed.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from msgspec.json import encode

from polymnia.engine.transfer.formats.records import (
    Broken,
    FileLimits,
    Item,
    JsonObject,
    Layout,
    Source,
    cannot_read,
    check_count,
    shortened,
)

_CHUNK = 256 * 1024
_BLANK = re.compile(rb"[ \t\r\n]*")
_BRACKET_OR_QUOTE = re.compile(rb'["{}\[\]]')
_ESCAPE_OR_QUOTE = re.compile(rb'\\.|"', re.DOTALL)
_WORD_END = re.compile(rb"[ \t\r\n,\]}]")
_OPENING_OF = {ord("}"): ord("{"), ord("]"): ord("[")}
_OBJECT, _END_OF_OBJECT, _LIST, _END_OF_LIST, _QUOTE, _COMMA, _COLON = b'{}[]",:'


def json_pieces(layout: Layout, head: object, *sections: Iterable[JsonObject]) -> Iterator[bytes]:
    """Write a document in chunks, one record per line. ``head`` is the value of the last key of the layout's head."""
    before = b"{"
    for key, value in layout.head_of(head).items():
        yield before + b'\n  "%b": %b' % (key.encode(), encode(value))
        before = b","
    for section, records in zip(dict.fromkeys(layout.sections.values()), sections, strict=True):
        yield b',\n  "%b": ' % section.encode()
        before = b"[\n    "
        for record in records:
            yield before + encode(record)
            before = b",\n    "
        yield b"[]" if before.startswith(b"[") else b"\n  ]"
    yield b"\n}\n"


# ── one record ────────────────────────────────────────────────────────────────────────────────────────────


def parse_record(raw: bytes, limits: FileLimits) -> JsonObject | str:
    """The parsed record, or the reason it cannot be read."""
    try:
        text = raw.decode()
    except UnicodeDecodeError as e:
        return f"it holds a byte that is not UTF-8 (0x{raw[e.start]:02X}, byte {e.start:,} of the record)"
    if raw.count(b",") > (max_values := limits.values) and _commas(raw) > max_values:
        return f"it holds more than {max_values:,} values, which is the limit"
    try:
        return _strict.decode(text)  # type: ignore[no-any-return]
    except json.JSONDecodeError as e:
        why = e.msg[0].lower() + e.msg[1:].removesuffix(" at")
        return f"it is not JSON: {why} (byte {len(text[: e.pos].encode()):,} of the record)"
    except _Refused as e:
        return str(e)
    except ValueError:
        return "it holds an integer beyond 64 bits"  # far beyond: Python refuses integers of more than 4,300 digits
    except RecursionError:
        return "it is nested too deeply"


def _commas(raw: bytes) -> int:
    """Count the commas outside strings."""
    between = raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2]
    return sum(part.count(b",") for part in between)


def _string_end(raw: bytes, start: int) -> int:
    """The position after the string that opens at ``start``; -1 if its closing quote is missing.

    A loop rather than one pattern, because a repeated group takes 120 bytes of memory for each escape.
    """
    marks = (found for found in _ESCAPE_OR_QUOTE.finditer(raw, start + 1) if found[0] == b'"')
    return closing.end() if (closing := next(marks, None)) else -1


class _Refused(Exception):
    """A record contains something that archives do not allow."""


def _unique(pairs: list[tuple[str, Any]]) -> JsonObject:
    made = dict(pairs)
    if len(made) < len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _Refused(f"the key {shortened(twice)!r} appears twice in one object")
    return made


def _no_constant(word: str) -> NoReturn:
    raise _Refused(f"it holds {word}, which is no number")


_strict = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant)


# ── a document ────────────────────────────────────────────────────────────────────────────────────────────


def read_json(source: Source, limits: FileLimits, layout: Layout) -> Iterator[Item]:
    """Read the items of a document in file order."""
    return _Reader(source, limits, layout).items()


class _Reader:
    """Scans one document, buffering the part of the file around the current position."""

    def __init__(self, source: Source, limits: FileLimits, layout: Layout) -> None:
        self._source = source
        self._limits = limits
        self._layout = layout
        self._buffer = b""
        self._at = 0
        self._before = 0  # bytes of the file before the buffer
        self._counted_to = self._lines = 0  # line feeds up to a position in the buffer
        self._ended = False
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
                self._expect(_COMMA, "a comma or the end of the object")
                mark = self._next()
            if mark != _QUOTE:
                self._stop("a key in quotes was expected")
            begin = self._at
            try:
                key = str(json.loads(self._cut("a key")))
            except ValueError:
                self._stop("a key is not right")
            name = self._layout.sections.get(key, key)
            if name in seen:
                self._stop(f"the key {shortened(key)!r} appears twice", begin)
            seen[name] = None
            self._next()
            self._expect(_COLON, "a colon")
            yield from self._member(key, len(seen) - 1)
        self._at += 1
        self._layout.check_keys(seen)  # refuse an empty document

    def _expect(self, mark: int, what: str) -> None:
        if self._buffer[self._at : self._at + 1] != bytes((mark,)):
            self._stop(f"{what} was expected")
        self._at += 1

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
        while self._next() != _END_OF_LIST:
            if position:
                self._expect(_COMMA, f"a comma or the end of {key}")
            yield Item(section, position, self._record(key, position))
            position += 1
        self._at += 1

    def _record(self, key: str, position: int) -> JsonObject | Broken:
        self._records += 1
        check_count(self._records, self._limits)
        is_object = self._next() == _OBJECT
        line = self._line(self._at)
        raw = self._cut(f"{key}[{position}]", keep=is_object)
        value = parse_record(raw, self._limits) if is_object else "it is no object"
        return Broken(value, line) if isinstance(value, str) else value

    # ── from value to value ──────────────────────────────────────────────────────────────────────────────

    def _next(self) -> int | None:
        """Skip white space and return the next byte, or None at the end."""
        while True:
            if (blank := _BLANK.match(self._buffer, self._at)) is not None:
                self._at = blank.end()
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._fill(self._at):
                return None

    def _cut(self, what: str, *, keep: bool = True) -> bytes:
        """Skip the value that starts here and return its bytes, or nothing unless ``keep``."""
        first = self._next()
        if first is None:
            self._stop("a value was expected")
        begin, line = self._before + self._at, self._line(self._at)
        if not (self._pass_brackets(begin, keep) if first in b"{[" else self._pass_scalar(first)):
            raise cannot_read(
                f"{what}, which begins on line {line:,}, has no end", where=self._where(len(self._buffer))
            )
        return self._buffer[begin - self._before : self._at] if keep else b""

    def _pass_scalar(self, first: int) -> bool:
        while True:
            if first == _QUOTE:
                end = _string_end(self._buffer, self._at)
            else:
                found = _WORD_END.search(self._buffer, self._at)
                end = found.start() if found else len(self._buffer) if self._ended else -1
            if end >= 0:
                break
            if not self._fill(self._at) and first == _QUOTE:
                return False
        if end == self._at:
            self._stop("a value was expected")
        self._at = end
        return True

    def _pass_brackets(self, begin: int, keep: bool) -> bool:
        open_ = bytearray()
        while True:
            found = _BRACKET_OR_QUOTE.search(self._buffer, self._at)
            self._at = found.start() if found else len(self._buffer)
            mark = self._buffer[self._at] if found else _QUOTE
            if mark == _QUOTE:
                if found and (end := _string_end(self._buffer, self._at)) >= 0:
                    self._at = end
                elif not self._fill(begin - self._before if keep else self._at):
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
        """Buffer more of the file and drop what is before ``begin``. False at the end of the file."""
        if self._ended:
            return False
        buffered = len(self._buffer) - begin
        if buffered > self._limits.record:
            where = self._where(begin)
            raise cannot_read(f"a value has more than {self._limits.record:,} bytes, which is the limit", where=where)
        # Double the buffer, so that a long value is scanned a few times, not once for each chunk.
        parts = [self._buffer[begin:]]
        missing = min(max(_CHUNK, buffered), self._limits.record + 1 - buffered)
        while missing > 0 and (part := self._source.read(missing)):
            parts.append(part)
            missing -= len(part)
        self._ended = missing > 0
        self._line(begin)
        self._before += begin
        self._counted_to -= begin
        self._at -= begin
        self._buffer = b"".join(parts)
        return len(parts) > 1

    def _stop(self, why: str, at: int | None = None) -> NoReturn:
        if at is None and self._at >= len(self._buffer):
            why = f"it ends too early; {why}"
        raise cannot_read(why, where=self._where(self._at if at is None else at))

    def _line(self, at: int) -> int:
        """The line number of a position, counted from the previous position asked for."""
        if at >= self._counted_to:
            self._lines += self._buffer.count(b"\n", self._counted_to, at)
        else:
            self._lines -= self._buffer.count(b"\n", at, self._counted_to)
        self._counted_to = at
        return self._lines + 1

    def _where(self, at: int) -> str:
        return f"line {self._line(at):,}, byte {self._before + at:,}"
