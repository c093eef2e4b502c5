"""The entries of a zip as they are written: each in pieces, none gone back to.

The standard library's writer keeps an object an entry, 100 MB of them for a hundred thousand items; here what is kept
is the list of entries as it will stand in the file. And its bytes depend on whether the file can be gone back in.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import pack
from tempfile import SpooledTemporaryFile
from zlib import DEFLATED, MAX_WBITS, compressobj, crc32

__all__ = ["Entries", "Waiting"]

_LEVEL = 4
_IN_MEMORY = 8 * 1024**2
_CHUNK = 256 * 1024
_STORED = 0
_DAY = 0x0021  # the first of 1980, the earliest a zip can tell
_FILE = 0o100644 << 16
_UNIX = 3 << 8
_MOST, _MANY = 0xFFFFFFFF, 0xFFFF
_OLD, _NEW = 20, 45


class Waiting:
    """Data on their way to become an entry, compressed already, in memory or in a temporary file without a name."""

    def __init__(self, *, compress: bool) -> None:
        self._file = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed with the object that holds it
        self._deflater = compressobj(_LEVEL, DEFLATED, -MAX_WBITS) if compress else None
        self.check = self.size = self.packed = 0

    def add(self, data: bytes) -> None:
        """More of it."""
        self.check = crc32(data, self.check)
        self.size += len(data)
        self._keep(self._deflater.compress(data) if self._deflater else data)

    def pieces(self) -> Iterator[bytes]:
        """All of it, once it is complete."""
        self._file.seek(0)
        while piece := self._file.read(_CHUNK):
            yield piece

    def complete(self) -> None:
        """There is no more of it."""
        if self._deflater:
            self._keep(self._deflater.flush())

    def close(self) -> None:
        """Give the memory or the temporary file back."""
        self._file.close()

    def _keep(self, data: bytes) -> None:
        self._file.write(data)
        self.packed += len(data)


class Entries:
    """A zip in the making. Names are ASCII; the caller sees to it that none comes twice."""

    def __init__(self, *, compress: bool) -> None:
        self._method = DEFLATED if compress else _STORED
        self._at = 0
        self._count = 0
        self._listed = bytearray()

    def entry(self, name: str, data: bytes) -> bytes:
        """A whole entry."""
        packed = data
        if self._method == DEFLATED:
            deflater = compressobj(_LEVEL, DEFLATED, -MAX_WBITS)
            packed = deflater.compress(data) + deflater.flush()
        return self._begin(name, crc32(data), len(data), len(packed)) + packed

    def waiting(self, name: str, data: Waiting) -> Iterator[bytes]:
        """An entry in pieces; its data are complete."""
        yield self._begin(name, data.check, data.size, data.packed)
        yield from data.pieces()

    def end(self) -> bytes:
        """What stands behind the last entry: the list of them all."""
        size, at, count = len(self._listed), self._at, self._count
        behind = b""
        if count >= _MANY or at >= _MOST or size >= _MOST:
            behind = pack("<4sQHHIIQQQQ", b"PK\x06\x06", 44, _UNIX | _NEW, _NEW, 0, 0, count, count, size, at)
            behind += pack("<4sIQI", b"PK\x06\x07", 0, at + size, 1)
        few = min(count, _MANY)
        behind += pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, few, few, min(size, _MOST), min(at, _MOST), 0)
        return bytes(self._listed) + behind

    def _begin(self, name: str, check: int, size: int, packed: int) -> bytes:
        """The head of an entry, which is entered in the list; what is too large for four bytes stands in eight."""
        called, large = name.encode("ascii"), size >= _MOST or packed >= _MOST
        sizes = (_MOST, _MOST) if large else (packed, size)
        wide = pack("<QQ", size, packed) if large else b""
        extra = pack("<HH", 1, len(wide)) + wide if wide else b""
        needs = _NEW if wide else _OLD
        common = (0, self._method, 0, _DAY, check, *sizes, len(called))
        head = pack("<4sHHHHHIIIHH", b"PK\x03\x04", needs, *common, len(extra)) + called + extra
        if self._at >= _MOST:
            wide += pack("<Q", self._at)
            extra, needs = pack("<HH", 1, len(wide)) + wide, _NEW
        self._listed += pack(
            "<4sHHHHHHIIIHHHHHII", b"PK\x01\x02", _UNIX | needs, needs, *common, len(extra), 0, 0, 0, _FILE,
            min(self._at, _MOST),
        )  # fmt: skip
        self._listed += called + extra
        self._at += len(head) + packed
        self._count += 1
        return head
