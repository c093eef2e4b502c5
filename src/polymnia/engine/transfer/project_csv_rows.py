"""Rows of a CSV file (RFC 4180): cells with anything in them, read one row at a time."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from polymnia.engine.transfer.archive_item import ArchiveLimits, cannot_read
from polymnia.engine.transfer.archive_source import Source

__all__ = ["Row", "read_rows", "row"]

# What a spreadsheet takes for the beginning of a formula, in its narrow and its wide form; and the mark that says
# that a cell is text. The mark is set before each of them, itself too, and so can be taken away again.
_MARK = "'"
_FORMULA = "=+-@\t\r\n＝＋－＠"
_TO_MARK = re.compile(f"[{re.escape(_FORMULA)}{_MARK}]")
_MARKED = re.compile(f"{_MARK}(?=[{re.escape(_FORMULA)}{_MARK}]|$)")
_TO_QUOTE = re.compile('[",\r\n;\t]|^ | $')
_QUOTED = re.compile(rb'"[^"]*"')  # a cell with doubled quotes is several of these
_CHUNK = 256 * 1024
_LF, _CR, _QUOTE = b'\n\r"'


class Row(NamedTuple):
    """The cells of one row, None for one that is empty, and the line it begins on; ``wrong`` says what is."""

    cells: list[str | None]
    line: int
    wrong: str | None


def row(cells: Sequence[str | None]) -> bytes:
    """A row as it is written. None is an empty cell, which an empty text is not: that has its mark."""
    return (",".join(map(_cell, cells)) + "\r\n").encode()


def _cell(text: str | None) -> str:
    if text is None:
        return ""
    if not text or _TO_MARK.match(text):
        text = _MARK + text
    return '"' + text.replace('"', '""') + '"' if _TO_QUOTE.search(text) else text


def read_rows(source: Source, limits: ArchiveLimits) -> Iterator[Row]:
    """The rows of a file; cells are parted by commas, or by what the first row shows them to be parted by."""
    start = source.peek(64 * 1024)
    first = _QUOTED.sub(b"", start).split(b"\n", 1)[0]
    delimiter = max(b",;\t", key=lambda mark: first.count(mark))
    return _Rows(source, limits, delimiter).rows()


class _Rows:
    def __init__(self, source: Source, limits: ArchiveLimits, delimiter: int) -> None:
        self._source = source
        self._limits = limits
        self._delimiter = delimiter
        self._plain = re.compile(b"[^%b\r\n]*" % re.escape(bytes([delimiter])))
        self._held = b""
        self._at = 0
        self._line = 1
        self._ended = False

    def rows(self) -> Iterator[Row]:
        while self._at < len(self._held) or self._fill(0):
            line = self._line
            cells, wrong = self._row()
            if wrong is None and cells == [b""]:
                continue
            texts: list[str | None] = []
            for cell in cells:
                try:
                    texts.append(_text(cell.decode()))
                except UnicodeDecodeError as e:
                    wrong = wrong or f"it holds a byte that is not UTF-8 (0x{cell[e.start]:02X})"
                    texts.append(None)
            yield Row(texts, line, wrong)

    def _row(self) -> tuple[list[bytes], str | None]:
        cells: list[bytes] = []
        wrong = None
        size = 0  # of the row, up to the cell that is read
        while True:
            cell, flaw = self._one()
            wrong = wrong or flaw
            cells.append(cell)
            size += len(cell) + 1
            mark = self._mark()
            if mark == self._delimiter:
                self._at += 1
                if size > self._limits.record or len(cells) > self._limits.values:
                    raise cannot_read(f"a row has more than {self._limits.record:,} bytes, which is the limit")
                continue
            if mark == _CR:
                self._at += 1
                mark = self._mark()
                if mark != _LF:
                    self._line += 1
            if mark == _LF:
                self._at += 1
                self._line += 1
            return cells, wrong

    def _one(self) -> tuple[bytes, str | None]:
        """The cell that begins here."""
        if self._mark() != _QUOTE:
            return self._run(self._plain_end), None
        cell = self._run(_quoted_end)[1:-1]
        self._line += cell.count(b"\n")
        behind = self._run(self._plain_end)
        return cell.replace(b'""', b'"'), "something follows a quotation mark that closes a cell" if behind else None

    def _plain_end(self, raw: bytes, start: int) -> int:
        found = self._plain.match(raw, start)
        return found.end() if found else start

    def _run(self, end_of: Callable[[bytes, int], int]) -> bytes:
        """The bytes from here to the end that is found, with all of them read."""
        line = self._line
        while (end := end_of(self._held, self._at)) < 0 or end == len(self._held):
            if len(self._held) - self._at > self._limits.record:
                raise cannot_read(
                    f"a cell has more than {self._limits.record:,} bytes, which is the limit", where=f"line {line:,}"
                )
            if not self._fill(len(self._held) - self._at):
                break
        if end < 0:
            raise cannot_read(f"a cell that begins on line {line:,} has no closing quotation mark")
        run = self._held[self._at : end]
        self._at = end
        return run

    def _mark(self) -> int | None:
        if self._at == len(self._held) and not self._fill(0):
            return None
        return self._held[self._at]

    def _fill(self, size: int) -> bool:
        """Read on; the more is waiting, the more is read at a time."""
        if self._ended:
            return False
        if not (more := self._source.read(max(_CHUNK, size))):
            self._ended = True
            return False
        self._held = self._held[self._at :] + more
        self._at = 0
        return True


def _quoted_end(raw: bytes, start: int) -> int:
    """The place after the quoted cell that opens at ``start``; -1 when its closing quote is missing."""
    end = raw.find(b'"', start + 1)
    while end >= 0 and raw.startswith(b'"', end + 1):
        end = raw.find(b'"', end + 2)
    return end + 1 if end >= 0 else -1


def _text(cell: str) -> str | None:
    return _MARKED.sub("", cell, count=1) if cell.startswith(_MARK) else cell or None
