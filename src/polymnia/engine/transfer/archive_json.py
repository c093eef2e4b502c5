"""Reading an archive in JSON: from record to record, never holding more than one of them.

Between the records the reader goes by itself; a record is cut out by its brackets and then parsed whole. What is
written one record a line is cut out by its line end, which is faster and comes to the same: an object that parses
whole from its opening bracket ends where it ends.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from polymnia.engine.transfer.archive_item import (
    HEAD,
    SECTIONS,
    ArchiveLimits,
    Broken,
    Item,
    Section,
    cannot_read,
    check_head,
    check_whole,
)
from polymnia.engine.transfer.archive_json_record import careful, quick
from polymnia.engine.transfer.archive_legal import shown
from polymnia.engine.transfer.archive_source import Source

__all__ = ["read_json"]

_CHUNK = 256 * 1024
_BLANK = re.compile(rb"[ \t\r\n]*+")
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
# Everything up to the next bracket, or up to a string whose end is not there yet.
_FLAT = re.compile(rb'(?:[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_WORD = re.compile(rb"[^ \t\r\n,\]}]*+")
_CLOSES = {ord("}"): ord("{"), ord("]"): ord("[")}
_OPENING, _CLOSING, _QUOTE, _COMMA, _COLON = b'{}",:'
_LIST, _END_OF_LIST = b"[]"


def read_json(source: Source, limits: ArchiveLimits) -> Iterator[Item]:
    """The items of an archive in JSON, in the order they stand in it."""
    return _Reader(source, limits).items()


class _Reader:
    """Holds the part of the file around the place it is at."""

    def __init__(self, source: Source, limits: ArchiveLimits) -> None:
        self._source = source
        self._limits = limits
        self._held = b""
        self._at = 0
        self._before = 0  # bytes before what is held
        self._counted = self._lines = 0  # line ends up to a place in what is held
        self._tried = 0  # no line end before this place is worth looking for
        self._ended = False
        self._items = 0

    def items(self) -> Iterator[Item]:
        first = self._next()
        if first == _LIST:
            yield from self._list("memories")
        elif first == _OPENING:
            yield from self._document()
        else:
            self._stop("an object or a list was expected")
        if self._next() is not None:
            self._stop("something follows its end")

    def _document(self) -> Iterator[Item]:
        self._at += 1
        seen: set[str] = set()
        if self._next() == _CLOSING:
            check_whole(seen)  # refuses what holds nothing
        while True:
            if self._next() != _QUOTE:
                self._stop("a key in quotes was expected")
            begin = self._at
            key = self._key()
            if key in seen:
                self._stop(f"the key {shown(key)!r} appears twice", begin)
            seen.add(key)
            if self._next() != _COLON:
                self._stop("a colon was expected")
            self._at += 1
            yield from self._member(key, len(seen) - 1)
            if (mark := self._next()) == _CLOSING:
                self._at += 1
                check_whole(seen)
                return
            if mark != _COMMA:
                self._stop("a comma or the end of the object was expected")
            self._at += 1

    def _key(self) -> str:
        raw = self._cut("a key")
        try:
            key = json.loads(raw)
        except ValueError:
            self._stop("a key is not right")
        return str(key)

    def _member(self, key: str, position: int) -> Iterator[Item]:
        first = self._next()
        section = SECTIONS.get(key)
        if section and first == _LIST:
            yield from self._list(section)
        elif section:
            if self._cut(key) != b"null":
                self._stop(f"{key} is no list")
        elif key in HEAD:
            where = self._where(self._at)
            value = careful(b'{"%b":%b}' % (key.encode(), self._cut(key)), self._limits)
            if isinstance(value, str):
                raise cannot_read(value, where=where)
            check_head(key, value[key], where)
            yield Item("head", position, value)
        else:
            self._cut(shown(key), keep=False)
            yield Item("unknown", position, key)

    def _list(self, section: Section) -> Iterator[Item]:
        self._at += 1
        position = 0
        if self._next() == _END_OF_LIST:
            self._at += 1
            return
        while True:
            yield Item(section, position, self._record(section, position))
            position += 1
            if (mark := self._next()) == _END_OF_LIST:
                self._at += 1
                return
            if mark != _COMMA:
                self._stop(f"a comma or the end of {section} was expected")
            self._at += 1

    def _record(self, section: Section, position: int) -> dict[str, Any] | Broken:
        self._items += 1
        if self._items > self._limits.items:
            raise cannot_read(f"it has more than {self._limits.items:,} records, which is the limit")
        if self._next() != _OPENING:
            line = self._line(self._at)
            self._cut(f"{section}[{position}]", keep=False)
            return Broken("it is no object", line)
        if (value := self._line_record()) is not None:
            return value
        raw = self._cut(f"{section}[{position}]")
        if (value := quick(raw, self._limits)) is not None:
            return value
        found = careful(raw, self._limits)
        if isinstance(found, str):
            return Broken(found, self._line(self._at - len(raw)))
        return found

    def _line_record(self) -> dict[str, Any] | None:
        """The record, when it takes the rest of the line."""
        if self._before + self._at < self._tried:
            return None
        end = self._held.find(b"\n", self._at)
        # A line is tried once: it may be long and hold many records.
        self._tried = self._before + (end if end >= 0 else len(self._held))
        if end < 0:
            return None
        whole = self._held[self._at : end].rstrip(b" \t\r,")
        value = quick(whole, self._limits) if whole.endswith(b"}") else None
        if value is not None:
            self._at += len(whole)
        return value

    # ── the way through the file ──────────────────────────────────────────────────────────────────────────

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
            while (text := _STRING.match(self._held, self._at)) is None:
                if not self._fill(self._at):
                    return None
            self._at = text.end()
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
            if (flat := _FLAT.match(self._held, self._at)) is not None:
                self._at = flat.end()
            mark = self._held[self._at] if self._at < len(self._held) else None
            if mark is None or mark == _QUOTE:
                if not self._fill(begin - self._before if keep else self._at):
                    return False
                continue
            if mark in b"{[":
                open_.append(mark)
                if len(open_) > self._limits.depth:
                    self._stop(f"it is nested more than {self._limits.depth} deep")
            elif open_.pop() != _CLOSES[mark]:
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
