"""The vectors of one model over one project: bits for the first look at all of them, halves for an exact second one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.ports import Snapshot

if TYPE_CHECKING:
    from polymnia.engine.search.index import Index

__all__ = ["Vectors", "packed"]

_READ = 50_000  # so many vectors are read from the store at a time
_HELD = 25_000  # up to so many passages the halves are held in memory too
_SLICE = 1 << 14  # passages looked at together: their bits and what is made of them stay in the cache
_MOST = 1.25  # more than the square of the length of any vector, which is about 1
_FAR = 1 << 14  # farther than any two vectors are


def packed(vectors: NDArray[Any]) -> list[tuple[bytes, bytes]]:
    """Vectors as a store keeps them: half precision, and their signs as bits."""
    halves = vectors.astype("<f2")
    bits = np.packbits(vectors > 0, axis=1)
    return [(half.tobytes(), bit.tobytes()) for half, bit in zip(halves, bits, strict=True)]


def _distances(bits: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
    """In how many signs each column of bits differs from the wanted ones."""
    distance = np.empty(bits.shape[1], np.uint16)
    for start in range(0, bits.shape[1], _SLICE):
        part = slice(start, start + _SLICE)
        total = np.bitwise_count(bits[0, part] ^ wanted[0]).astype(np.uint16)
        for word in range(1, len(wanted)):
            total += np.bitwise_count(bits[word, part] ^ wanted[word])
        distance[part] = total
    return distance


def _keys(arrived: Sequence[tuple[int, int, int, bytes]]) -> NDArray[Any]:
    """The keys of the passages that vectors belong to."""
    return np.array([text << 16 | part for _, text, part, _ in arrived], np.uint64)


class Vectors:
    """What is in memory of the vectors of one model. A passage may have none yet."""

    def __init__(self, model: str, dimensions: int) -> None:
        self.model = model
        self.dimensions = dimensions
        self._words = -(-dimensions // 64)
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._seen = 0
        self.damaged = False  # whether one was found that is no vector of this model; it counts as none
        self._bits: NDArray[Any] = np.zeros((self._words, 0), np.uint64)  # word by word: each is read in one go
        self._halves: NDArray[Any] | None = np.zeros((0, self.dimensions), np.float16)
        self.arrival: NDArray[Any] = np.zeros(0, np.int64)

    @property
    def seen(self) -> int:
        """The last arrival that was taken in."""
        return self._seen

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        halves = 0 if self._halves is None else self._halves.nbytes
        return self._bits.nbytes + self.arrival.nbytes + halves

    def has(self, rows: NDArray[Any] | slice = slice(None)) -> NDArray[Any]:
        """Which passages have a vector."""
        return self.arrival[rows] > 0

    # ── following the store ───────────────────────────────────────────────────────────────────────────

    def follow(self, snapshot: Snapshot, index: Index) -> None:
        """Take in the vectors that have arrived since the last time."""
        self._fit(index.count)
        while read := snapshot.vectors(self.model, self._seen, _READ):
            self._seen = read[-1][0]
            self.pass_over(index.rows(_keys([one for one in read if not one[3]])))
            arrived = [one for one in read if len(one[3]) == -(-self.dimensions // 8)]  # others are of another model
            if not arrived:
                continue
            numbers = np.array([one[:3] for one in arrived], np.int64)
            rows = index.rows(_keys(arrived))
            bits = np.frombuffer(b"".join(one[3] for one in arrived), np.uint8).reshape(len(arrived), -1)
            self._set(rows, bits, numbers[:, 0])
            if self._halves is not None:
                self._hold(snapshot, rows, numbers[:, 0])
            if len(read) < _READ:
                break

    def _set(self, rows: NDArray[Any], bits: NDArray[Any], arrivals: NDArray[Any]) -> None:
        raw = np.zeros((len(rows), self._words * 8), np.uint8)
        raw[:, : bits.shape[1]] = bits
        self._bits[:, rows] = raw.view(np.uint64).T
        self.arrival[rows] = arrivals
        self.arrival[0] = 0

    def _hold(self, snapshot: Snapshot, rows: NDArray[Any], arrivals: NDArray[Any]) -> None:
        assert self._halves is not None
        row_of = dict(zip(arrivals.tolist(), rows.tolist(), strict=True))
        for arrival, half in self._read(snapshot, arrivals.tolist()):
            self._halves[row_of.pop(arrival)] = np.frombuffer(half, "<f2")
        lost = np.array(list(row_of.values()), np.int64)
        self.arrival[lost[lost > 0]] = -1

    def _read(self, snapshot: Snapshot, arrivals: list[int]) -> list[tuple[int, Any]]:
        """The vectors of these arrivals, but for those that are damaged: they have another size, or another length."""
        read = [(arrival, half) for arrival, half in snapshot.halves(arrivals) if len(half) == 2 * self.dimensions]
        if read:
            matrix = np.frombuffer(b"".join(half for _, half in read), "<f2").reshape(len(read), -1)
            with np.errstate(all="ignore"):
                lengths = np.einsum("ij,ij->i", matrix, matrix, dtype=np.float32)
            sound = (lengths > 1 / _MOST) & (lengths < _MOST)
            if not sound.all():
                read = [one for one, keeps in zip(read, sound.tolist(), strict=True) if keeps]
        if len(read) < len(arrivals):
            self.damaged = True
        return read

    def _fit(self, count: int) -> None:
        have = len(self.arrival)
        if count <= have:
            return
        room = max(count, have * 5 // 4, 256)
        self.arrival = np.concatenate((self.arrival, np.zeros(room - have, np.int64)))
        self._bits = np.concatenate((self._bits, np.zeros((self._words, room - have), np.uint64)), axis=1)
        if self._halves is not None and count > _HELD:
            self._halves = None
        if self._halves is not None:
            more = np.zeros((room - have, self.dimensions), np.float16)
            self._halves = np.concatenate((self._halves, more))

    def take_out(self, first: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
        """Remove the vectors of all passages from a row on; answers them."""
        arrivals, bits = self.arrival[first:].copy(), self._bits[:, first:].copy()
        halves = None if self._halves is None else self._halves[first:].copy()
        self.arrival[first:] = 0
        return arrivals, bits, halves

    def put_back(self, kept: tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None], rows: NDArray[Any]) -> None:
        """Give vectors that were taken out to the rows their passages have now."""
        arrivals, bits, halves = kept
        rows = rows[: len(arrivals)]  # for later ones there was no room yet, so they have none
        arrivals, bits = arrivals[: len(rows)], bits[:, : len(rows)]
        self._fit(int(rows.max(initial=0)) + 1)
        there = (rows > 0) & (arrivals != 0)
        self.arrival[rows[there]] = arrivals[there]
        self._bits[:, rows[there]] = bits[:, there]
        if self._halves is not None and halves is not None:
            self._halves[rows[there]] = halves[: len(rows)][there]

    def move(self, old: NDArray[Any], new: NDArray[Any]) -> None:
        """Passages have other rows now."""
        self._fit(int(new.max(initial=0)) + 1)
        arrivals = np.maximum(self.arrival[old], 0)
        self.arrival[old] = 0
        self.arrival[new] = arrivals
        self._bits[:, new] = self._bits[:, old]
        if self._halves is not None:
            self._halves[new] = self._halves[old]

    def check(self, snapshot: Snapshot, rows: NDArray[Any]) -> None:
        """Forget the vectors of those of the rows whose vectors the store has let go."""
        self._fit(int(rows.max(initial=0)) + 1)
        held = rows[self.arrival[rows] > 0]
        if len(held):
            there = [arrival for arrival, _ in snapshot.halves(self.arrival[held].tolist())]
            self.arrival[held[~np.isin(self.arrival[held], there)]] = 0

    def pass_over(self, rows: NDArray[Any]) -> None:
        """These passages will have no vector of this model."""
        self.arrival[rows[(rows > 0) & (self.arrival[rows] == 0)]] = -1

    # ── asking ────────────────────────────────────────────────────────────────────────────────────────

    def nearest(self, query: NDArray[Any], count: int, allowed: NDArray[Any], best: int) -> NDArray[Any]:
        """About the ``best`` rows below ``count`` nearest to the query by their bits, of those allowed; in no order."""
        may = allowed[:count] & (self.arrival[:count] > 0)
        rows = np.flatnonzero(may)
        if len(rows) <= best:
            return rows
        raw = np.zeros(self._words * 8, np.uint8)
        signs = np.packbits(query > 0)
        raw[: len(signs)] = signs
        wanted = raw.view(np.uint64)
        few = len(rows) * 4 < count
        bits = self._bits[:, rows] if few else self._bits[:, :count]
        distance = _distances(bits, wanted)
        if not few:
            distance[~may] = _FAR
        # Distances are small whole numbers: counting them is quicker than sorting.
        within = int(np.searchsorted(np.cumsum(np.bincount(distance)), best))
        near = np.flatnonzero(distance <= within)
        return rows[near] if few else near

    def cosines(self, snapshot: Snapshot, query: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        """The exact cosine of each row to the query; NaN where there is no vector."""
        found = np.full(len(rows), np.nan, np.float32)
        there = np.flatnonzero(self.arrival[rows] > 0)
        if not len(there):
            return found
        if self._halves is not None:
            found[there] = self._halves[rows[there]].astype(np.float32) @ query
            return found
        arrivals = self.arrival[rows[there]]
        place = dict(zip(arrivals.tolist(), there.tolist(), strict=True))
        read = self._read(snapshot, sorted(place))
        if read:
            matrix = np.frombuffer(b"".join(half for _, half in read), "<f2").reshape(len(read), -1)
            found[[place[arrival] for arrival, _ in read]] = matrix.astype(np.float32) @ query
        return found

    def full(self, snapshot: Snapshot, rows: NDArray[Any]) -> NDArray[Any] | None:
        """The vectors of these rows, in order; None when one of them has none."""
        if not len(rows) or not (self.arrival[rows] > 0).all():
            return None
        if self._halves is not None:
            held: NDArray[Any] = self._halves[rows].astype(np.float32)
            return held
        read = dict(self._read(snapshot, self.arrival[rows].tolist()))
        if not all(arrival in read for arrival in self.arrival[rows].tolist()):
            return None
        matrix = np.frombuffer(b"".join(read[arrival] for arrival in self.arrival[rows].tolist()), "<f2")
        return matrix.reshape(len(rows), -1).astype(np.float32)
