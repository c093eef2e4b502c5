"""The bytes of a file: decompressed and counted as they are read, collected and compressed as they are written."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from polymnia.engine.transfer.formats.records import cannot_read

_GZIP = b"\x1f\x8b"
_CHUNK = 64 * 1024
_PIECE = 128 * 1024
# Block-compressed files have a member for each 64 KiB: this is 6 GiB of them.
_MEMBERS = 100_000
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
# No name, no time, no operating system: nothing that differs between two exports of the same memories.
_GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
# Of real prose 2.6 times as fast as level 6, and 5 % larger.
_LEVEL = 4


class Source:
    """Reads a file, plain or gzip, up to a number of bytes; a byte order mark is skipped.

    ``start`` is what was read of the file already.
    """

    def __init__(self, file: BinaryIO, limit: int, start: bytes = b"") -> None:
        self._file = file
        self._limit = limit
        self._read = 0
        self._members = 1
        self._ahead = start + self._file.read(_CHUNK)
        self._taken = len(self._ahead)
        self._inflater = None
        if self._ahead.startswith(_GZIP):
            self._inflater = zlib.decompressobj(31)
            self._pending, self._ahead = self._ahead, b""
        if self.peek(2) == _GZIP:
            raise cannot_read("it is compressed twice")
        if self.peek(4).startswith(_WIDE):
            raise cannot_read("it is UTF-16 or UTF-32 text, and archives are UTF-8")
        if self.peek(3) == b"\xef\xbb\xbf":
            self._ahead = self._ahead[3:]

    def peek(self, size: int) -> bytes:
        """The next bytes, still to be read: ``size`` of them unless the file ends before."""
        while len(self._ahead) < size and (more := self._more(_CHUNK)):
            self._ahead += more
        return self._ahead[:size]

    def read(self, size: int = _CHUNK) -> bytes:
        """At most ``size`` bytes, fewer only before the end; none at the end."""
        if not self._ahead:
            return self._more(size)
        given, self._ahead = self._ahead[:size], self._ahead[size:]
        return given

    def lines(self, limit: int) -> Iterator[bytes]:
        """The rest line by line, each with its line feed and of at most ``limit`` bytes."""
        rest = b""
        while more := self.read(max(_CHUNK, len(rest))):
            *whole, rest = (rest + more).split(b"\n")
            for line in whole:
                yield line + b"\n"
            if len(rest) > limit:
                raise cannot_read(f"a line has more than {limit:,} bytes, which is the limit")
        if rest:
            yield rest

    def _more(self, size: int) -> bytes:
        given = self._raw(size) if self._inflater is None else self._inflated(size)
        self._read += len(given)
        if self._read > self._limit:
            raise cannot_read(f"it is larger than {self._limit:,} bytes when unpacked, which is the limit")
        return given

    def _raw(self, size: int) -> bytes:
        given = self._file.read(size)
        self._taken += len(given)
        if self._taken > self._limit:
            raise cannot_read(f"it is larger than {self._limit:,} bytes, which is the limit")
        return given

    def _inflated(self, size: int) -> bytes:
        while self._inflater is not None:
            if self._inflater.eof:
                if not self._next_member():
                    break
                continue
            given = self._pending or self._raw(_CHUNK)
            try:
                out = self._inflater.decompress(given, size)
            except zlib.error as e:
                raise cannot_read(f"its gzip data are damaged: {e}", where=f"before byte {self._taken:,}") from None
            self._pending = self._inflater.unconsumed_tail
            if out:
                return out
            if not given and not self._inflater.eof:
                raise cannot_read("its gzip data break off", where=f"byte {self._taken:,}")
        return b""

    def _next_member(self) -> bool:
        """Continue with what follows the end of a gzip stream: another one, zeros that fill a block, or nothing."""
        assert self._inflater is not None
        rest = self._inflater.unused_data
        while not rest.lstrip(b"\0"):
            if not (rest := self._raw(_CHUNK)):
                return False
        rest = rest.lstrip(b"\0")
        if len(rest) < 2:
            rest += self._raw(_CHUNK)
        if not rest.startswith(_GZIP):
            raise cannot_read("something else follows its gzip data", where=f"before byte {self._taken:,}")
        self._members += 1
        if self._members > _MEMBERS:
            raise cannot_read(f"it has more than {_MEMBERS:,} gzip members")
        self._inflater = zlib.decompressobj(31)
        self._pending = rest
        return True


def collected(pieces: Iterable[bytes], least: int = _PIECE) -> Iterator[bytes]:
    """The same bytes in pieces of ``least`` bytes or more, except for the last."""
    held: list[bytes] = []
    size = 0
    for piece in pieces:
        held.append(piece)
        size += len(piece)
        if size >= least:
            yield b"".join(held)
            held.clear()
            size = 0
    if held:
        yield b"".join(held)


def compressed(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces as one gzip stream."""
    deflater = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    check = size = 0
    yield _GZIP_HEAD
    for piece in pieces:
        check = zlib.crc32(piece, check)
        size += len(piece)
        if packed := deflater.compress(piece):
            yield packed
    yield deflater.flush() + check.to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(4, "little")


def write_pieces(out: BinaryIO, pieces: Iterable[bytes], *, gzip: bool) -> int:
    """Write all pieces; the number of bytes that were written."""
    pieces = collected(pieces)
    return sum(out.write(piece) for piece in collected(compressed(pieces) if gzip else pieces))
