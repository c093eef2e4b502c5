"""Shared by all record files: layout, limits, reading and writing of bytes, and faults."""

from __future__ import annotations

import os
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from gzip import GzipFile
from typing import BinaryIO, NamedTuple

from msgspec import Struct
from msgspec.json import encode

from polymnia.errors import Fault, Invalid
from polymnia.models import JsonObject as JsonObject

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_UNREADABLE = "The archive cannot be read: "
_GZIP = b"\x1f\x8b"
_WIDE = (b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")
_CHUNK = 64 * 1024
_LEVEL = 4  # on real prose 2.6 times as fast as level 6, and 5 % larger


class FileLimits(Struct, frozen=True):
    """Size limits of a file, enforced while it is read, so that a decompression bomb is never unpacked.

    ``total`` counts bytes after decompression, ``record`` the encoded bytes of one record, ``values`` the values in
    one record, ``depth`` the brackets around a value. The content of a record is validated by its importer.
    """

    total: int = 2 * 1024**3
    record: int = 32 * 1024**2
    values: int = 1_000_000
    depth: int = 100
    items: int = 10_000_000


class Broken(NamedTuple):
    """A record that cannot be read: the reason, and the line it starts on."""

    reason: str
    line: int


class Item(NamedTuple):
    """One item read from a file.

    A record has its position in its section, counted from 0, and is an object or ``Broken``. The section ``head`` has
    one-key objects, ``unknown`` the names of unrecognized keys, which were skipped.
    """

    section: str
    position: int
    value: JsonObject | Broken | str


class Layout(Struct, frozen=True):
    """The keys of a document: its head, then lists of records. A bare list belongs to the first section."""

    format: str
    head: tuple[str, ...]
    sections: Mapping[str, str]  # key → section, including the key names of other programs
    otherwise: str  # the error for a document with none of the keys
    version: int = 1

    def head_of(self, last: object) -> JsonObject:
        """The head of a new document; ``last`` is the value of its last key."""
        return dict(zip(self.head, (self.format, self.version, last), strict=True))

    def check_head(self, key: str, value: object, where: str | None = None) -> None:
        """Refuse a file of another format, or of a version newer than this reader."""
        if key == "format" and value != self.format:
            raise cannot_read(f"its format is {value!r:.80}, not {self.format!r}", where=where)
        if key == "version" and (type(value) is not int or not 1 <= value <= self.version):
            why = f"it is of version {value!r:.80}, and this Polymnia reads version {self.version}"
            raise cannot_read(why, where=where)

    def check_keys(self, keys: Collection[str]) -> None:
        """Refuse a document with none of this layout's keys, instead of importing no records."""
        if "format" not in keys and not any(key in keys for key in self.sections):
            found = ", ".join(f"{key!r:.40}" for key in list(keys)[:6]) or "none"
            raise cannot_read(f"{self.otherwise}; its keys are {found}")


def cannot_read(why: str, *, where: str | None = None) -> Fault:
    """The fault of a file that is broken, over a limit or of another kind; ``where`` is the position in it."""
    text = _UNREADABLE + why + (f" ({where})" if where else "")
    return Invalid(text, hint="Correct the archive and import it again; nothing was imported.", where=where)


def reason_of(message: str) -> str:
    """Why a file cannot be read, of the message of such a fault."""
    return message.removeprefix(_UNREADABLE)


def check_count(count: int, limits: FileLimits) -> None:
    """Refuse a file with more records than the limit."""
    if count > limits.items:
        raise cannot_read(f"it has more than {limits.items:,} records, which is the limit")


def shortened(text: str) -> str:
    """A name for use in a message: truncated, with invisible characters escaped."""
    return repr(text[:60])[1:-1] + ("…" if len(text) > 60 else "")


def digest_of(value: object) -> str:
    """A short digest of a JSON value."""
    from hashlib import sha256

    return sha256(encode(value, order="sorted")).hexdigest()[:16]


class Source:
    """Reads a plain or gzip file up to ``limit`` bytes, skipping a byte order mark."""

    def __init__(self, file: BinaryIO, limit: int) -> None:
        self._file: BinaryIO | GzipFile = file
        self._limit = limit
        self._ahead = file.read(_CHUNK)
        self._read = len(self._ahead)
        if self._ahead.startswith(_GZIP):
            file.seek(-self._read, os.SEEK_CUR)
            self._file, self._ahead, self._read = GzipFile(fileobj=file), b"", 0
        if self.peek(2) == _GZIP:
            raise cannot_read("it is compressed twice")
        if self.peek(4).startswith(_WIDE):
            raise cannot_read("it is UTF-16 or UTF-32 text, and archives are UTF-8")
        if self.peek(3) == BYTE_ORDER_MARK:
            self._ahead = self._ahead[3:]

    def peek(self, size: int) -> bytes:
        """The next ``size`` bytes without consuming them; fewer at the end of the file."""
        while len(self._ahead) < size and (more := self._more(_CHUNK)):
            self._ahead += more
        return self._ahead[:size]

    def read(self, size: int = _CHUNK) -> bytes:
        """Read at most ``size`` bytes; none only at the end."""
        if not self._ahead:
            return self._more(size)
        part, self._ahead = self._ahead[:size], self._ahead[size:]
        return part

    def lines(self, limit: int) -> Iterator[bytes]:
        """The remaining lines, each with its line feed and at most ``limit`` bytes long."""
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
        packed = isinstance(self._file, GzipFile)
        try:
            part = self._file.read(size)
        except (OSError, EOFError, zlib.error) as e:
            if not packed:
                raise
            raise cannot_read(f"its gzip data are damaged: {e}") from None
        self._read += len(part)
        if self._read > self._limit:
            unpacked = " when unpacked" if packed else ""
            raise cannot_read(f"it is larger than {self._limit:,} bytes{unpacked}, which is the limit")
        return part


def write_pieces(out: BinaryIO, pieces: Iterable[bytes], *, gzip: bool) -> int:
    """Write all pieces and return the number of bytes written."""
    begin = out.tell()
    if gzip:
        # No name and no time, so that two exports of the same memories are identical.
        with GzipFile("", "wb", _LEVEL, out, mtime=0) as packed:
            for piece in pieces:
                packed.write(piece)
    else:
        for piece in pieces:
            out.write(piece)
    return out.tell() - begin
