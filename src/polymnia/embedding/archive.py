"""Arrays out of a compressed NumPy archive, one at a time.

NumPy's own reader copies each array through many small Python reads; this one inflates an array in one
call that lets other threads run meanwhile. The caller has verified the file's hash.
"""

from __future__ import annotations

import mmap
import zlib
from ast import literal_eval
from typing import TYPE_CHECKING, Any
from zipfile import ZIP_STORED, ZipFile

import numpy
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["arrays"]

_LOCAL_HEADER = 30  # bytes before the name in a member's own header


def arrays(path: str, wanted: Callable[[str], bool] | None = None) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays of an ``.npz`` file with their names, read-only, in the order of the file: all, or the wanted ones."""
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        with ZipFile(stream) as archive:
            members = archive.infolist()
        for member in members:
            name = member.filename.removesuffix(".npy")
            if wanted is not None and not wanted(name):
                continue
            head = member.header_offset
            start = head + _LOCAL_HEADER
            start += int.from_bytes(data[head + 26 : head + 28], "little")
            start += int.from_bytes(data[head + 28 : head + 30], "little")
            with memoryview(data) as whole, whole[start : start + member.compress_size] as packed:
                stored = member.compress_type == ZIP_STORED
                raw = bytes(packed) if stored else zlib.decompress(packed, -15, member.file_size)
            wide = raw[6] > 1  # the second version of the header counts its length with four bytes
            body = (12 if wide else 10) + int.from_bytes(raw[8 : 12 if wide else 10], "little")
            header = literal_eval(raw[12 if wide else 10 : body].decode("latin-1"))
            array = numpy.frombuffer(raw, numpy.dtype(header["descr"]), offset=body)
            shape: tuple[int, ...] = header["shape"]
            yield name, array.reshape(shape, order="F" if header["fortran_order"] else "C")
