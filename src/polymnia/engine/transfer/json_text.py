"""The way through JSON that is longer than memory: from value to value, each cut out by its brackets."""

from __future__ import annotations

import re
from typing import NoReturn

from polymnia.engine.transfer.archive_item import ArchiveLimits, cannot_read
from polymnia.engine.transfer.archive_source import Source

__all__ = ["JsonText", "string_end"]

_CHUNK = 256 * 1024
_BLANK = re.compile(rb"[ \t\r\n]*")
_MARK = re.compile(rb'["{}\[\]]')
_ESCAPE_OR_QUOTE = re.compile(rb'\\.|"', re.DOTALL)
_WORD = re.compile(rb"[^ \t\r\n,\]}]*")
_CLOSES = {ord("}"): ord("{"), ord("]"): ord("[")}
_QUOTE, _BACKSLASH = b'"\\'


def string_end(raw: bytes, start: int) -> int:
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


class JsonText:
    """Holds the part of the file around the place it is at."""

    def __init__(self, source: Source, limits: ArchiveLimits) -> None:
        self._source = source
        self._limits = limits
        self._held = b""
        self._at = 0
        self._before = 0  # bytes before what is held
        self._counted = self._lines = 0  # line ends up to a place in what is held
        self._ended = False

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
            while (end := string_end(self._held, self._at)) < 0:
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
            found = _MARK.search(self._held, self._at)
            self._at = found.start() if found else len(self._held)
            mark = self._held[self._at] if found else None
            if mark == _QUOTE and (end := string_end(self._held, self._at)) >= 0:
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
