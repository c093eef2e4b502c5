"""The in-memory index of one project, so that a search needs little else.

It has numbers only: for each passage its text and memory, and the bits of its vectors. It is read from the store once
and then follows it, whoever writes: new texts by their numbers, everything else by the journal. The newest texts, which
are not in the store's word index yet, are analysed here; all others are found through the store's postings.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.ports import Analyst, Snapshot
from polymnia.models import Passage

Numbers = NDArray[Any]
_Taken = tuple[Numbers, Numbers, Numbers | None]  # arrivals, bits and halves of some vectors

# The layouts of a store's word index.
_FIELDS = {
    "text": "<u4",
    "memory": "<u4",
    "thread": "<u4",
    "day": "<u2",
    "part": "<u2",
    "script": "u1",
    "length": "u1",
    "embeds": "?",
    "weight": "u1",
}
_PASSAGE = np.dtype(list(_FIELDS.items()))
POSTING = np.dtype([("passage", "<u4"), ("count", "u1"), ("length", "u1")])
_NOTHING = np.empty(0, POSTING)
_NOWHERE = (-1, 0, 0, 0)
_NO_EDITION = (-1, 0)
_READ = 50_000  # vectors read from the store at a time
_IN_MEMORY = 25_000  # up to so many passages the halves are in memory too
_SLICE = 1 << 14  # passages compared together: their bits and distances stay in the processor's cache
_MOST = 1.25  # more than the square of the length of any vector, which is about 1
_FAR = 1 << 14  # more than the distance of any two vectors
_PROBED = 4  # words of a text that are looked up, the longest: they are rare, and so quickly read
_OF_HALVES = np.arange(1 << 16).astype(np.uint16).view(np.float16).astype(np.float32)  # by their bits
_LENGTHS = np.exp2(np.arange(256, dtype=np.float32) / 16) - 1  # by the stored step

K1 = 0.6
B = 0.3
"""BM25 of passages. Low: in a short text a repeated word adds little, and length says little at all."""
K1_WHOLE = 1.2
B_WHOLE = 0.6
"""BM25 of whole memories: in a long text both matter."""


class DamagedIndex(Exception):
    """The store's word index is inconsistent. The search is repeated with :meth:`Index.rebuilt`."""


def norm(lengths: Numbers, mean_length: float, k1: float = K1, b: float = B) -> Numbers:
    """The length normalisation of BM25: k1 for texts of the mean length."""
    found: Numbers = k1 * (1 - b + b * np.asarray(lengths, np.float64) / max(mean_length, 1e-9))
    return found


class Columns:
    """A table of numbers by column. New rows are zero; room for them is allocated ahead."""

    def __init__(self, **kinds: str) -> None:
        self._room = {name: np.zeros(0, kind) for name, kind in kinds.items()}
        self._views = dict(self._room)
        self.count = 0

    def __getitem__(self, name: str) -> Numbers:
        return self._views[name]

    @property
    def bytes(self) -> int:
        """Its size in memory."""
        return sum(column.nbytes for column in self._room.values())

    def add(self, rows: int) -> int:
        """Add so many rows at the end and return the first of them."""
        first, count = self.count, self.count + rows
        for name, column in self._room.items():
            if len(column) < count:
                larger = np.zeros(max(count, len(column) * 5 // 4, 256), column.dtype)
                larger[:first] = column[:first]
                self._room[name] = column = larger
            self._views[name] = column[:count]
        self.count = count
        return first

    def cut(self, rows: int) -> None:
        """Keep only so many rows."""
        for name, column in self._room.items():
            column[rows : self.count] = 0
            self._views[name] = column[:rows]
        self.count = rows


class Sizes:
    """The numbers and lengths of passages and memories, for BM25.

    ``norm`` and ``memory_norm`` are the normalised lengths of each passage and memory. ``share`` is the weight of each
    passage in its memory (0 if it is deleted), ``whole`` whether none is deleted, ``bodies`` how many passages of
    observations a memory has, ``has_long`` whether one has several, ``texts`` how many observations.
    """

    def __init__(self, passages: Columns, memories: Columns) -> None:
        owner, alive = passages["memory"], passages["alive"]
        counted = alive & passages["embeds"]
        self.passages = max(1, int(np.count_nonzero(counted)))
        length = _LENGTHS[passages["length"]]
        mean = max(1.0, float(length[counted].sum()) / self.passages)
        self.norm = norm(length, mean).astype(np.float32)
        self.share = alive * (passages["weight"] * np.float32(0.01))
        lengths = np.bincount(owner, length * self.share, memories.count)
        self.memories = max(1, int(np.count_nonzero(lengths)))
        mean = max(1.0, float(lengths.sum()) / self.memories)
        self.memory_norm = norm(lengths, mean, K1_WHOLE, B_WHOLE).astype(np.float32)
        self.whole = bool(self.share[1:].all())
        body = alive & (passages["text"] != memories["number"][owner])
        self.bodies = np.bincount(owner[body], minlength=memories.count)
        self.texts = np.bincount(owner[body & (passages["part"] == 0)], minlength=memories.count)
        self.has_long = bool(self.bodies[1:].max(initial=0) > 1)


def packed(vectors: Numbers) -> list[tuple[bytes, bytes]]:
    """Vectors in the form of a store: in half precision, and their signs as bits."""
    halves = vectors.astype("<f2")
    bits = np.packbits(vectors > 0, axis=1)
    return [(half.tobytes(), bit.tobytes()) for half, bit in zip(halves, bits, strict=True)]


def _distances(bits: Numbers, target: Numbers) -> Numbers:
    """The Hamming distance of each column of bits to the target."""
    distance = np.empty(bits.shape[1], np.uint16)
    for start in range(0, bits.shape[1], _SLICE):
        part = slice(start, start + _SLICE)
        total = np.bitwise_count(bits[0, part] ^ target[0]).astype(np.uint16)
        for word in range(1, len(target)):
            total += np.bitwise_count(bits[word, part] ^ target[word])
        distance[part] = total
    return distance


def _floats(halves: Numbers) -> Numbers:
    """Numbers of half precision in single precision, four times as quick as NumPy's own conversion."""
    found: Numbers = _OF_HALVES.take(halves.view(np.uint16), mode="clip")
    return found


def _places(numbers: Numbers, target: Numbers) -> Numbers:
    """The position of each target among the numbers."""
    order = np.argsort(numbers)
    found: Numbers = order[np.searchsorted(numbers, target, sorter=order)]
    return found


def _keys(arrived: Sequence[tuple[int, int, int, bytes]]) -> Numbers:
    return np.array([text << 16 | part for _, text, part, _ in arrived], np.uint64)


class Vectors:
    """The vectors of one model in memory. A passage may have none yet."""

    def __init__(self, model: str, dimensions: int) -> None:
        self.model = model
        self.dimensions = dimensions
        self._words = -(-dimensions // 64)
        self.clear()

    def clear(self) -> None:
        """Drop everything."""
        self.seen = 0  # the last arrival that was read
        self.damaged = False  # whether one was found that is no vector of this model; it counts as missing
        self._bits: Numbers = np.zeros((self._words, 0), np.uint64)  # by word, so that each is contiguous
        self._halves: Numbers | None = np.zeros((0, self.dimensions), np.float16)
        self.arrival: Numbers = np.zeros(0, np.int64)

    @property
    def bytes(self) -> int:
        """Their size in memory."""
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
        """Read the vectors that have arrived since the last time."""
        self._fit(index.count)
        while read := snapshot.vectors(self.model, self.seen, _READ):
            self.seen = read[-1][0]
            self.skip(index.rows(_keys([one for one in read if not one[3]])))
            arrived = [one for one in read if len(one[3]) == -(-self.dimensions // 8)]  # others are of another model
            if not arrived:
                continue
            numbers = np.array([one[:3] for one in arrived], np.int64)
            rows = index.rows(_keys(arrived))
            bits = np.frombuffer(b"".join(one[3] for one in arrived), np.uint8).reshape(len(arrived), -1)
            self._set(rows, bits, numbers[:, 0])
            if self._halves is not None:
                self._load(snapshot, rows, numbers[:, 0])
            if len(read) < _READ:
                break

    def _set(self, rows: Numbers, bits: Numbers, arrivals: Numbers) -> None:
        raw = np.zeros((len(rows), self._words * 8), np.uint8)
        raw[:, : bits.shape[1]] = bits
        self._bits[:, rows] = raw.view(np.uint64).T
        self.arrival[rows] = arrivals
        self.arrival[0] = 0

    def _load(self, snapshot: Snapshot, rows: Numbers, arrivals: Numbers) -> None:
        assert self._halves is not None
        found, vectors = self._read(snapshot, arrivals)
        self._halves[rows[_places(arrivals, found)]] = vectors
        lost = rows[np.isin(arrivals, found, invert=True)]
        self.arrival[lost[lost > 0]] = -1

    def _read(self, snapshot: Snapshot, arrivals: Numbers) -> tuple[Numbers, Numbers]:
        """Those of these arrivals that can be read, with their vectors. A damaged one has another size or length."""
        read = [one for one in snapshot.halves(sorted(arrivals.tolist())) if len(one[1]) == 2 * self.dimensions]
        vectors = _floats(np.frombuffer(b"".join(half for _, half in read), "<f2").reshape(-1, self.dimensions))
        with np.errstate(all="ignore"):
            lengths = np.einsum("ij,ij->i", vectors, vectors)
        sound = (lengths > 1 / _MOST) & (lengths < _MOST)
        found = np.array([arrival for arrival, _ in read], np.int64)[sound]
        self.damaged |= len(found) < len(arrivals)
        return found, vectors if sound.all() else vectors[sound]

    def _fit(self, count: int) -> None:
        have = len(self.arrival)
        if count <= have:
            return
        room = max(count, have * 5 // 4, 256)
        self.arrival = np.concatenate((self.arrival, np.zeros(room - have, np.int64)))
        self._bits = np.concatenate((self._bits, np.zeros((self._words, room - have), np.uint64)), axis=1)
        if self._halves is not None and count > _IN_MEMORY:
            self._halves = None
        if self._halves is not None:
            more = np.zeros((room - have, self.dimensions), np.float16)
            self._halves = np.concatenate((self._halves, more))

    def take_out(self, rows: Numbers) -> _Taken:
        """Remove the vectors of these passages and return them."""
        self._fit(int(rows.max(initial=0)) + 1)
        taken = self.arrival[rows], self._bits[:, rows], None if self._halves is None else self._halves[rows]
        self.arrival[rows] = 0
        return taken

    def put_back(self, taken: _Taken, rows: Numbers) -> None:
        """Restore vectors that were taken out, at the rows that their passages have now."""
        arrivals, bits, halves = taken
        self._fit(int(rows.max(initial=0)) + 1)
        there = (rows > 0) & (arrivals != 0)
        self.arrival[rows[there]] = arrivals[there]
        self._bits[:, rows[there]] = bits[:, there]
        if self._halves is not None and halves is not None:
            self._halves[rows[there]] = halves[there]

    def check(self, snapshot: Snapshot, rows: Numbers) -> None:
        """Drop the vectors of these rows that the store has deleted."""
        self._fit(int(rows.max(initial=0)) + 1)
        present = rows[self.arrival[rows] > 0]
        if len(present):
            there = [arrival for arrival, _ in snapshot.halves(self.arrival[present].tolist())]
            self.arrival[present[~np.isin(self.arrival[present], there)]] = 0

    def skip(self, rows: Numbers) -> None:
        """Record that these passages get no vector of this model."""
        self.arrival[rows[(rows > 0) & (self.arrival[rows] == 0)]] = -1

    # ── searching ─────────────────────────────────────────────────────────────────────────────────────

    def nearest(self, query: Numbers, count: int, allowed: Numbers, best: int) -> Numbers:
        """About ``best`` of the allowed rows below ``count``, those nearest to the query by their bits; unordered."""
        may = allowed[:count] & (self.arrival[:count] > 0)
        rows = np.flatnonzero(may)
        if len(rows) <= best:
            return rows
        raw = np.zeros(self._words * 8, np.uint8)
        signs = np.packbits(query > 0)
        raw[: len(signs)] = signs
        target = raw.view(np.uint64)
        few = len(rows) * 4 < count
        bits = self._bits[:, rows] if few else self._bits[:, :count]
        distance = _distances(bits, target)
        if not few:
            distance[~may] = _FAR
        # Distances are small integers: counting them is faster than sorting.
        farthest = int(np.searchsorted(np.cumsum(np.bincount(distance)), best))
        near = np.flatnonzero(distance <= farthest)
        return rows[near] if few else near

    def cosines(self, snapshot: Snapshot, query: Numbers, rows: Numbers) -> Numbers:
        """The exact cosine of each row to the query; NaN without a vector."""
        found = np.full(len(rows), np.nan, np.float32)
        there = np.flatnonzero(self.arrival[rows] > 0)
        if not len(there):
            return found
        if self._halves is not None:
            found[there] = _floats(self._halves[rows[there]]) @ query
            return found
        arrivals = self.arrival[rows[there]]
        read, vectors = self._read(snapshot, arrivals)
        found[there[_places(arrivals, read)]] = vectors @ query
        return found

    def full(self, snapshot: Snapshot, rows: Numbers) -> Numbers | None:
        """The vectors of these rows, in order; None if one of them has none."""
        arrivals = self.arrival[rows]
        if not len(rows) or not (arrivals > 0).all():
            return None
        if self._halves is not None:
            return _floats(self._halves[rows])
        read, vectors = self._read(snapshot, arrivals)
        found: Numbers | None = vectors[_places(read, arrivals)] if np.isin(arrivals, read).all() else None
        return found


class Index:
    """One project in numbers. Passages are counted from 1; row 0 of every column is unused.

    A damaged word index is not used until it is rebuilt: its texts are analysed here instead.
    """

    def __init__(self, analyst: Analyst, *, mixed: bool = False) -> None:
        self._analyst = analyst
        self.vectors: dict[str, Vectors] = {}
        self.mixed = mixed  # whether a text or a query is in a language that the first model does not know
        self._distrusted: int | None = None  # the edition of a damaged word index
        self._reset()

    def _reset(self) -> None:
        self._numbers = _NOWHERE
        self._edition = _NO_EDITION
        self._sizes: Sizes | None = None
        self.passages = Columns(**_FIELDS, alive="?", key="u8")
        self.memories = Columns(number="u4", thread="u4", head="u4", key="u4")
        self.passages.add(1)
        self.memories.add(1)
        self._listed = 1  # so many rows of passages are from the store's word index
        self._listed_memories = 1
        self._tail: dict[str, array[int]] = {}
        self._late: dict[int, int] = {}  # rows of passages out of order, by key
        self._late_memories: dict[int, int] = {}  # and of memories, by number
        self._listed_late: tuple[dict[int, int], dict[int, int]] = ({}, {})  # those from the store's word index
        for vectors in self.vectors.values():
            vectors.clear()

    @property
    def sizes(self) -> Sizes:
        """The sizes, computed once for each state of the store."""
        if self._sizes is None:
            self._sizes = Sizes(self.passages, self.memories)
        return self._sizes

    @property
    def count(self) -> int:
        """The number of rows of passages."""
        return self.passages.count

    @property
    def bytes(self) -> int:
        """Its approximate size in memory."""
        return self.passages.bytes + self.memories.bytes + sum(vectors.bytes for vectors in self.vectors.values())

    # ── following the store ───────────────────────────────────────────────────────────────────────────

    def is_behind(self, snapshot: Snapshot) -> bool:
        """Whether the store has changed since the last time."""
        if (snapshot.numbers, snapshot.edition) != (self._numbers, self._edition):
            return True
        return any(vectors.is_behind(snapshot) for vectors in self.vectors.values())

    def follow(self, snapshot: Snapshot) -> None:
        """Apply what has changed in the store since the last time."""
        try:
            self._follow(snapshot)
        except BaseException:
            self._reset()  # half of a change would be wrong for good
            raise

    def _follow(self, snapshot: Snapshot) -> None:
        numbers, edition = snapshot.numbers, snapshot.edition
        if self.damaged and edition[0] != self._distrusted:
            self._distrusted = None
            self._numbers = _NOWHERE  # it was rebuilt
        if numbers != self._numbers or edition != self._edition:
            self._sizes = None
            project, seq, listed, change = numbers
            was_project, was_seq, _, was_change = self._numbers
            if project != was_project or seq < was_seq or change < was_change or edition[0] != self._edition[0]:
                self._load(snapshot)
            elif not self.damaged and (edition != self._edition or listed != self._numbers[2]):
                try:
                    self._relist(snapshot)
                except DamagedIndex:
                    self._load(snapshot)
            else:
                # First what was restored: it may be a memory that the newest texts belong to.
                self._renew(snapshot, [number for number in snapshot.changed_texts(was_change) if number <= was_seq])
                self._add(self._analyst(snapshot.texts(was_seq, seq)))
            self._numbers, self._edition = numbers, edition
        for vectors in self.vectors.values():
            vectors.follow(snapshot, self)

    def _load(self, snapshot: Snapshot) -> None:
        self._reset()
        if not self.damaged:
            try:
                self._read_blocks(snapshot)
                self.probe(snapshot)
            except DamagedIndex:
                self._distrusted = snapshot.edition[0]
                self._reset()
        self._read_rest(snapshot)

    @property
    def damaged(self) -> bool:
        """Whether the store's word index is damaged, and the texts are analysed here instead."""
        return self._distrusted is not None

    @property
    def damage(self) -> set[str]:
        """The names of the store's indexes that are damaged."""
        found = {"vectors"} if any(vectors.damaged for vectors in self.vectors.values()) else set()
        return {*found, "word index"} if self.damaged else found

    def rebuilt(self, snapshot: Snapshot) -> Index:
        """A replacement of this index, built from the texts without the store's word index."""
        other = Index(self._analyst, mixed=self.mixed)
        other._distrusted = snapshot.edition[0]
        other.vectors = {name: Vectors(name, vectors.dimensions) for name, vectors in self.vectors.items()}
        other.follow(snapshot)
        return other

    def probe(self, snapshot: Snapshot) -> None:
        """Check that a few texts are found by their first words: otherwise an emptied word index would go unnoticed."""
        rows = np.flatnonzero(self.passages["alive"][: self._listed] & (self.passages["part"][: self._listed] == 0))
        away = {*snapshot.deleted_texts(), *snapshot.stale()}
        for row in rows[[0, len(rows) // 2, -1]].tolist() if len(rows) else ():
            number = int(self.passages["text"][row])
            if number in away:
                continue
            # A long text is analysed no further than its first passage.
            first = next(iter(self._analyst(snapshot.texts_of([number]))), None)
            if first is None:
                raise DamagedIndex
            for term in sorted(first.terms, key=len)[-_PROBED:]:
                if row not in self.postings(snapshot, term)["passage"]:
                    raise DamagedIndex

    def _relist(self, snapshot: Snapshot) -> None:
        """Drop the texts analysed here that the store has indexed meanwhile."""
        columns, first = self.passages, self._listed
        _, seq, _, change = self._numbers
        rows = np.arange(first, columns.count)
        taken = {name: vectors.take_out(rows) for name, vectors in self.vectors.items()}
        keys = self._keys(rows)
        keys[~self._is_current(rows)] = 0
        read = columns["text"][first:][columns["alive"][first:]]
        columns.cut(first)
        self.memories.cut(self._listed_memories)
        self._tail.clear()
        self._late, self._late_memories = map(dict, self._listed_late)
        heads = np.flatnonzero(columns["text"] == self.memories["number"][columns["memory"]])
        self.memories["head"][columns["memory"][heads]] = heads
        self.memories["head"][0] = 0
        rows = np.flatnonzero(np.isin(columns["text"], read))
        columns["alive"][rows] = self._is_current(rows)  # these were replaced by what is dropped
        self._read_blocks(snapshot)
        self._read_rest(
            snapshot, [number for number in snapshot.changed_texts(change) if number <= snapshot.numbers[2]]
        )
        rows = self.rows(keys)
        now = np.arange(first, columns.count)
        text = columns["text"][now]
        returned = (text > 0) & (text <= seq) & ~np.isin(self._keys(now), keys)
        for name, vectors in self.vectors.items():
            if returned.any():
                vectors.clear()  # theirs may have arrived while they were deleted
            else:
                vectors.put_back(taken[name], rows)
                vectors.check(snapshot, rows)

    def _read_rest(self, snapshot: Snapshot, changed: Iterable[int] = ()) -> None:
        """Read what the store's word index lacks: which of its texts are deleted or stale, and the newest texts."""
        _, seq, listed, _ = snapshot.numbers
        if self.damaged:
            listed = 0
        else:
            self._delete(snapshot.deleted_texts())
            self._renew(snapshot, [*changed, *snapshot.stale()])
        self._add(self._analyst(snapshot.texts(listed, seq)))

    def _read_blocks(self, snapshot: Snapshot) -> None:
        listed = snapshot.numbers[2]
        for first, count, data in snapshot.passages(self._listed - 1):
            # Blocks have no gaps, and name rows that exist.
            if first != self.passages.count or len(data) != count * _PASSAGE.itemsize:
                raise DamagedIndex
            block = np.frombuffer(data, _PASSAGE, count)
            if block["text"].max(initial=0) > listed or (block["memory"] > block["text"])[block["text"] > 0].any():
                raise DamagedIndex
            self._append(block)
        if self.passages.count != snapshot.edition[1] + 1:
            raise DamagedIndex
        self._listed = self.passages.count
        self._listed_memories = self.memories.count
        self._listed_late = dict(self._late), dict(self._late_memories)

    def _append(self, block: Numbers) -> None:
        """Append rows; they replace the rows that a text has already."""
        first = self.passages.add(len(block))
        columns = self.passages
        for name in _FIELDS:
            columns[name][first:] = block[name]  # the number of the memory is replaced by its row below
        columns["alive"][first:] = block["text"] > 0
        keys = block["text"].astype(np.uint64) << np.uint64(16) | block["part"]
        last = columns["key"][first - 1]
        late = keys <= np.maximum.accumulate(np.concatenate(([last], keys[:-1]))) if len(keys) else keys > 0
        self._add_memories(block["memory"][(block["text"] == block["memory"]) & (block["text"] > 0)])
        columns["memory"][first:] = self.memory_rows(block["memory"])
        if late.any():
            self._renumber(first, keys, late)
        else:
            columns["key"][first:] = keys
        rows = np.arange(first, columns.count, dtype=np.uint32)
        is_head = block["text"] == block["memory"]
        self.memories["head"][columns["memory"][first:][is_head]] = rows[is_head]
        threaded = block["thread"] > 0
        self.memories["thread"][columns["memory"][first:][threaded]] = block["thread"][threaded]
        self.memories["head"][0] = self.memories["thread"][0] = 0

    def _add_memories(self, numbers: Numbers) -> None:
        """Add rows for new memories. Those out of order are recorded separately."""
        new = numbers[self.memory_rows(numbers) == 0]
        at = self.memories.add(len(new))
        self.memories["number"][at:] = new
        column, last = self.memories["key"], int(self.memories["key"][at - 1])
        highest = np.maximum.accumulate(np.concatenate(([last], new))) if len(new) else np.array([last])
        column[at:] = highest[1:]
        for i in np.flatnonzero(new <= highest[:-1]).tolist():
            self._late_memories[int(new[i])] = at + i

    def _renumber(self, first: int, keys: Numbers, late: Numbers) -> None:
        """Keep the column of keys ascending: rows out of order are recorded separately."""
        again = np.unique(keys[late] >> np.uint64(16)).astype(np.uint32)
        again = again[again > 0]
        if len(again):
            self.passages["alive"][:first][np.isin(self.passages["text"][:first], again)] = False
        column, last = self.passages["key"], self.passages["key"][first - 1]
        for i, key in enumerate(keys.tolist()):
            if late[i]:
                if key >> 16:
                    self._late[key] = first + i
            else:
                last = key
            column[first + i] = last

    def _add(self, passages: Iterable[Passage]) -> None:
        """Add passages that are not in the store's word index yet."""
        given = list(passages)
        if not given:
            return
        block = np.zeros(len(given), _PASSAGE)
        row = self.passages.count
        for i, one in enumerate(given):
            length = min(255, int(16 * log2(1 + one.length)))
            day, part = min(one.day, 65535), min(one.part, 65535)
            block[i] = (one.text, one.memory, one.thread, day, part, one.script, length, one.embeds, one.weight)
            for term, count in one.terms.items():
                postings = self._tail.get(term)
                if postings is None:
                    postings = self._tail[term] = array("I")
                postings.extend((row + i, min(count, 255), length))
        self._append(block)

    def _renew(self, snapshot: Snapshot, numbers: Sequence[int]) -> None:
        """Look up texts whose state is uncertain."""
        if not numbers:
            return
        there = {text.id: text for text in snapshot.texts_of(numbers)}
        self._delete([number for number in numbers if number not in there])
        if not there:
            return
        ids = np.fromiter(there, np.uint64, len(there))
        row_of = dict(zip(there, self.rows(ids << np.uint64(16)).tolist(), strict=True))
        stale = set(snapshot.stale())
        # An observation never changes, and an indexed head has changed if it is stale.
        same = [
            text.id
            for text in there.values()
            if row_of[text.id] and (text.body is not None or (row_of[text.id] < self._listed and text.id not in stale))
        ]
        if same:
            rows = np.flatnonzero(np.isin(self.passages["text"], np.array(same, np.uint32)))
            self.passages["alive"][rows] = self._is_current(rows)
        new = [text for text in there.values() if text.id not in set(same)]
        before = self.passages.count
        self._add(self._analyst(new))
        for vectors in self.vectors.values():
            if any(not row_of[text.id] for text in new):
                vectors.clear()  # theirs may have arrived long ago
            elif new:
                # A head that was merely touched keeps its vector; that of a changed one was deleted by the store.
                rows = np.arange(before, self.passages.count)
                texts = self.passages["text"][rows].tolist()
                arrivals, bits, halves = vectors.take_out(np.array([row_of[text] for text in texts]))
                vectors.put_back((np.maximum(arrivals, 0), bits, halves), rows)
                vectors.check(snapshot, rows)

    def _is_current(self, rows: Numbers) -> Numbers:
        """Which of these rows are current: a later row of a passage replaces an earlier one."""
        current: Numbers = self.rows(self._keys(rows)) == rows
        return current

    def _keys(self, rows: Numbers) -> Numbers:
        keys: Numbers = self.passages["text"][rows].astype(np.uint64) << np.uint64(16) | self.passages["part"][rows]
        return keys

    def _delete(self, numbers: Sequence[int]) -> None:
        """Mark these texts as deleted, and with a memory all its texts."""
        if numbers:
            going = np.array(numbers, np.uint32)
            whose = self.memory_rows(going)
            gone = np.isin(self.passages["text"], going) | np.isin(self.passages["memory"], whose[whose > 0])
            self.passages["alive"][gone] = False

    # ── searching ─────────────────────────────────────────────────────────────────────────────────────

    def rows(self, keys: Numbers) -> Numbers:
        """The rows of the passages with these keys (text << 16 | part); 0 for none."""
        column = self.passages["key"]
        rows = np.searchsorted(column, keys)
        rows[rows == len(column)] = 0
        rows[(column[rows] != keys) | (keys == 0)] = 0
        if self._late:
            for i, key in enumerate(keys.tolist()):
                if key in self._late:
                    rows[i] = self._late[key]
        return rows

    def memory_rows(self, numbers: Numbers) -> Numbers:
        """The rows of the memories with these numbers; 0 for none."""
        column = self.memories["key"]
        rows = np.searchsorted(column, numbers)
        rows[rows == len(column)] = 0
        rows[column[rows] != numbers] = 0
        if self._late_memories:
            for i, number in enumerate(numbers.tolist()):
                if number in self._late_memories:
                    rows[i] = self._late_memories[number]
        return rows

    def unread(self, model: str) -> Numbers:
        """Which passages lack a vector of the model."""
        embedded: Numbers = self.passages["alive"] & self.passages["embeds"]
        vectors = self.vectors.get(model)
        return embedded if vectors is None else embedded & (vectors.arrival[: self.count] == 0)

    def pending(self, model: str) -> int:
        """How many passages lack a vector of the model."""
        return int(np.count_nonzero(self.unread(model)))

    def memory_mask(self, numbers: Sequence[int]) -> Numbers:
        """A mask of the rows of the memories with these numbers."""
        found = np.zeros(self.memories.count, bool)
        found[self.memory_rows(np.array(numbers, np.uint32))] = True
        found[0] = False
        return found

    def postings(self, snapshot: Snapshot, term: str) -> Numbers:
        """The postings of a term in all passages."""
        found = []
        if self._listed > 1 and (pieces := snapshot.postings(term)):
            joined = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            if len(joined) % POSTING.itemsize:
                raise DamagedIndex
            listed = np.frombuffer(joined, POSTING)
            if len(listed) and not 0 < listed["passage"].min() <= listed["passage"].max() < self._listed:
                raise DamagedIndex
            found.append(listed)
        tail = self._tail.get(term)
        if tail is not None:
            rows = np.frombuffer(tail, np.uint32).reshape(-1, 3)
            recent = np.empty(len(rows), POSTING)
            recent["passage"], recent["count"], recent["length"] = rows[:, 0], rows[:, 1], rows[:, 2]
            found.append(recent)
        if not found:
            return _NOTHING
        return found[0] if len(found) == 1 else np.concatenate(found)

    def recent_terms(self, start: str, end: str) -> list[str]:
        """The terms of the newest texts in a range."""
        return [term for term in self._tail if start <= term < end]
