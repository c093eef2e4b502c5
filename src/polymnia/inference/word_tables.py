"""The tables of word vectors: a text becomes the rows of its tokens, and nothing else of a table is touched."""

from __future__ import annotations

import mmap
import zlib
from ast import literal_eval
from typing import TYPE_CHECKING, Any, TypeAlias
from zipfile import ZIP_STORED, ZipFile

import numpy as np
from numpy.typing import NDArray

from polymnia.inference.tokens import Pieces, WordPieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from polymnia.inference.weights import Weights

Floats: TypeAlias = NDArray[np.float32]
Ints: TypeAlias = NDArray[np.intp]

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
            array = np.frombuffer(raw, np.dtype(header["descr"]), offset=body)
            shape: tuple[int, ...] = header["shape"]
            yield name, array.reshape(shape, order="F" if header["fortran_order"] else "C")


MULTILINGUAL_TABLE = "encoder_multi.npz"

_GROUP = 32  # numbers of a row that share one scale
# Two numbers of four bits for each byte, the lower half first.
_BYTE = np.arange(256)
_PAIRS = (np.stack([_BYTE & 15, _BYTE >> 4], axis=1) - 7.5).astype(np.float32)

_PARTS = 17  # the table of subwords comes in this many parts, dealt out by the subword's id


class WordTable:
    """English word pieces and their vectors, four bits a number."""

    def __init__(self, weights: Weights, file: str) -> None:
        vocabulary, table = weights.verified("vocab.txt", file)
        with open(vocabulary, encoding="utf-8") as stream:
            self.pieces = WordPieces(stream.read())
        found = dict(arrays(table))
        self._levels, self._scale = found["levels"], found["scale"]
        self.start, self.end = self.pieces.start, self.pieces.end
        self._places = found

    def ids(self, text: str, most: int) -> list[int]:
        """The tokens of a text without marks of start and end; at most ``most``."""
        return self.pieces.ids(text, most)

    def rows(self, ids: Sequence[int]) -> Floats:
        """The vectors of tokens, one row each."""
        levels: Floats = _PAIRS[self._levels[ids]].reshape(len(ids), -1, _GROUP)
        levels *= self._scale[ids].astype(np.float32)[:, :, None]
        return levels.reshape(len(ids), -1)

    def places(self, network: str) -> PositionTable:
        """What a network over these words adds for where a token stands."""
        return PositionTable(self._places[f"{network}.places"], self._places[f"{network}.parts"])


class SubwordTable:
    """Subwords of sixteen languages and their vectors, the table of the multilingual encoder."""

    start, end = 1, 2

    def __init__(self, weights: Weights) -> None:
        words, self.path = weights.verified("sp.model", MULTILINGUAL_TABLE)
        with open(words, "rb") as stream:
            self.pieces = Pieces(stream.read())
        self._table: NDArray[Any]
        table: NDArray[Any] | None = None
        for name, array in arrays(self.path, lambda name: name[0] == "q" or name in ("scale", "lo")):
            if name == "scale":
                self._scale = array
            elif name == "lo":
                self._low = array
            else:
                # Put in place one by one: both copies of the table are never in memory at once.
                if table is None:
                    table = np.empty((_PARTS, *array.shape), array.dtype)
                table[int(name[1:]) - 1] = array
        assert table is not None
        self._table = table

    def ids(self, text: str, most: int) -> list[int]:
        """The subwords of a text without marks of start and end; at most ``most``."""
        return self.pieces.ids(text, most)[1:-1]

    def rows(self, ids: Sequence[int] | Ints) -> Floats:
        """The vectors of subwords, one row each."""
        at = np.asarray(ids)
        part = at % _PARTS
        rows: Floats = self._table[part, at // _PARTS].astype(np.float32)
        rows *= self._scale[part, None]
        rows += self._low[part, None]
        return rows


class PositionTable:
    """What a network adds to a token's vector: for its place in the text, and for which of two texts it is in."""

    def __init__(self, places: Floats, parts: Floats) -> None:
        self._first = places.astype(np.float32) + parts[0].astype(np.float32)
        self._turn = parts[1].astype(np.float32) - parts[0].astype(np.float32)

    def __len__(self) -> int:
        return len(self._first)

    def add(self, rows: Floats, first: int | None = None) -> Floats:
        """Rows of one text, or of two of which the first has ``first`` tokens; changed in place."""
        rows += self._first[: len(rows)]
        if first is not None:
            rows[first:] += self._turn
        return rows
