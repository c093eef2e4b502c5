"""Vectors: the models that make them, and what is in memory of those of one project.

Of each vector there are its signs as bits, for the first look at all of them, and half precision for an exact second
one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.ports import Embedder, Snapshot
from polymnia.errors import Fault, Invalid

if TYPE_CHECKING:
    from polymnia.engine.search.index import Index

Numbers = NDArray[Any]

_SOON = 5.0  # seconds somebody waits who stores and has others to compare with
_AGAIN = 30.0  # seconds until a model that could not be had is tried once more
_READ = 50_000  # so many vectors are read from the store at a time
_HELD = 25_000  # up to so many passages the halves are held in memory too
_SLICE = 1 << 14  # passages looked at together: their bits and what is made of them stay in the cache
_MOST = 1.25  # more than the square of the length of any vector, which is about 1
_FAR = 1 << 14  # farther than any two vectors are


class Channel:
    """One embedder and its state: not asked for yet, loading, ready, or broken with the fault that tells why."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.fault: Fault | None = None
        self.ready = threading.Event()
        self._loading = threading.Lock()
        self._tried = 0.0
        self.since: float | None = None  # when the loading began that goes on
        self.pace = 0.003  # seconds a passage took of late

    @property
    def name(self) -> str:
        """The model's id."""
        return self.embedder.id

    def load(self, *, patient: bool = True) -> bool:
        """Make ready in this thread, unless it failed a moment ago and one is patient; answers whether it is."""
        with self._loading:
            if self.ready.is_set():
                return True
            if patient and self.fault is not None and time.monotonic() - self._tried < _AGAIN:
                return False
            self.since = time.monotonic()
            try:
                self.embedder.load()
            except Exception as e:
                self.failed(e)
                return False
            finally:
                self.since = None
            self.fault = None
            self.ready.set()
            return True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """Vectors of texts, or None when the model gave none; the fault is kept."""
        began = time.monotonic()
        try:
            found = self.embedder.embed(texts, query=query)
        except Exception as e:
            self.failed(e)
            return None
        if not query and texts:
            self.pace = 0.5 * self.pace + 0.5 * (time.monotonic() - began) / len(texts)
        return found

    def soon(self, texts: Sequence[str], seconds: float = _SOON, *, query: bool = False) -> Any:
        """Vectors of texts, or None when there are none in time; a model so slow is left alone for a while."""
        if self.embedder.near:
            return self.embed(texts, query=query)
        made: list[Any] = []
        thread = threading.Thread(
            target=lambda: made.append(self.embed(texts, query=query)), name="polymnia-query", daemon=True
        )
        thread.start()
        thread.join(seconds)
        if not made:
            self.failed(TimeoutError(f"no vector within {seconds:g} s"))
            return None
        return made[0]

    def failed(self, error: Exception) -> None:
        """Remember why there are no vectors; the next try comes later."""
        self.ready.clear()
        self._tried = time.monotonic()
        if isinstance(error, Fault):
            self.fault = error
        else:
            self.fault = Invalid(
                f"The model {self.embedder.id} failed: {type(error).__name__}: {error}",
                hint="Choose another one with --embedder, or none.",
            )


def packed(vectors: Numbers) -> list[tuple[bytes, bytes]]:
    """Vectors as a store keeps them: half precision, and their signs as bits."""
    halves = vectors.astype("<f2")
    bits = np.packbits(vectors > 0, axis=1)
    return [(half.tobytes(), bit.tobytes()) for half, bit in zip(halves, bits, strict=True)]


def _distances(bits: Numbers, wanted: Numbers) -> Numbers:
    """In how many signs each column of bits differs from the wanted ones."""
    distance = np.empty(bits.shape[1], np.uint16)
    for start in range(0, bits.shape[1], _SLICE):
        part = slice(start, start + _SLICE)
        total = np.bitwise_count(bits[0, part] ^ wanted[0]).astype(np.uint16)
        for word in range(1, len(wanted)):
            total += np.bitwise_count(bits[word, part] ^ wanted[word])
        distance[part] = total
    return distance


def _keys(arrived: Sequence[tuple[int, int, int, bytes]]) -> Numbers:
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
        self.seen = 0  # the last arrival that was taken in
        self.damaged = False  # whether one was found that is no vector of this model; it counts as none
        self._bits: Numbers = np.zeros((self._words, 0), np.uint64)  # word by word: each is read in one go
        self._halves: Numbers | None = np.zeros((0, self.dimensions), np.float16)
        self.arrival: Numbers = np.zeros(0, np.int64)

    @property
    def bytes(self) -> int:
        """How much memory they take."""
        halves = 0 if self._halves is None else self._halves.nbytes
        return self._bits.nbytes + self.arrival.nbytes + halves

    def has(self, rows: Numbers | slice = slice(None)) -> Numbers:
        """Which passages have a vector."""
        return self.arrival[rows] > 0

    # ── following the store ───────────────────────────────────────────────────────────────────────────

    def is_behind(self, snapshot: Snapshot) -> bool:
        """Whether vectors have arrived since the last time."""
        return bool(snapshot.vectors(self.model, self.seen, 1))

    def follow(self, snapshot: Snapshot, index: Index) -> None:
        """Take in the vectors that have arrived since the last time."""
        self._fit(index.count)
        while read := snapshot.vectors(self.model, self.seen, _READ):
            self.seen = read[-1][0]
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

    def _set(self, rows: Numbers, bits: Numbers, arrivals: Numbers) -> None:
        raw = np.zeros((len(rows), self._words * 8), np.uint8)
        raw[:, : bits.shape[1]] = bits
        self._bits[:, rows] = raw.view(np.uint64).T
        self.arrival[rows] = arrivals
        self.arrival[0] = 0

    def _hold(self, snapshot: Snapshot, rows: Numbers, arrivals: Numbers) -> None:
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

    def take_out(self, first: int) -> tuple[Numbers, Numbers, Numbers | None]:
        """Remove the vectors of all passages from a row on; answers them."""
        arrivals, bits = self.arrival[first:].copy(), self._bits[:, first:].copy()
        halves = None if self._halves is None else self._halves[first:].copy()
        self.arrival[first:] = 0
        return arrivals, bits, halves

    def put_back(self, kept: tuple[Numbers, Numbers, Numbers | None], rows: Numbers) -> None:
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

    def move(self, old: Numbers, new: Numbers) -> None:
        """Passages have other rows now."""
        self._fit(int(new.max(initial=0)) + 1)
        arrivals = np.maximum(self.arrival[old], 0)
        self.arrival[old] = 0
        self.arrival[new] = arrivals
        self._bits[:, new] = self._bits[:, old]
        if self._halves is not None:
            self._halves[new] = self._halves[old]

    def check(self, snapshot: Snapshot, rows: Numbers) -> None:
        """Forget the vectors of those of the rows whose vectors the store has let go."""
        self._fit(int(rows.max(initial=0)) + 1)
        held = rows[self.arrival[rows] > 0]
        if len(held):
            there = [arrival for arrival, _ in snapshot.halves(self.arrival[held].tolist())]
            self.arrival[held[~np.isin(self.arrival[held], there)]] = 0

    def pass_over(self, rows: Numbers) -> None:
        """These passages will have no vector of this model."""
        self.arrival[rows[(rows > 0) & (self.arrival[rows] == 0)]] = -1

    # ── asking ────────────────────────────────────────────────────────────────────────────────────────

    def nearest(self, query: Numbers, count: int, allowed: Numbers, best: int) -> Numbers:
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

    def cosines(self, snapshot: Snapshot, query: Numbers, rows: Numbers) -> Numbers:
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

    def full(self, snapshot: Snapshot, rows: Numbers) -> Numbers | None:
        """The vectors of these rows, in order; None when one of them has none."""
        if not len(rows) or not (self.arrival[rows] > 0).all():
            return None
        if self._halves is not None:
            held: Numbers = self._halves[rows].astype(np.float32)
            return held
        read = dict(self._read(snapshot, self.arrival[rows].tolist()))
        if not all(arrival in read for arrival in self.arrival[rows].tolist()):
            return None
        matrix = np.frombuffer(b"".join(read[arrival] for arrival in self.arrival[rows].tolist()), "<f2")
        return matrix.reshape(len(rows), -1).astype(np.float32)
