"""Neighbours: a text with its vectors, and the memories nearest to it by meaning and by words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct, field

from polymnia.engine.knowledge.judge import Judging
from polymnia.engine.knowledge.similarity import similarities
from polymnia.engine.ports import Vector
from polymnia.engine.search import lanes
from polymnia.engine.search.index import DamagedIndex, Numbers, packed
from polymnia.engine.search.passages import embedder_text, read
from polymnia.engine.search.results import Query
from polymnia.models import Record, Text

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Channel, ProjectIndex

_PARTS = 8  # passages of a long text that are embedded at once; the rest is left to the background
_COMPARED = 4  # and those that its neighbours are searched by
_SURE, _LEAST = 4, 60  # so many times the requested number are compared exactly, and so many passages at least,
_MORE = 1000  # and one more for each so many there are
_SPAN = 1 << 32
_AT_A_TIME = 5_000  # vectors that are read together


class Nearby(Struct, frozen=True, gc=False):
    """A memory near a text: its number, the cosine of its nearest passage, and the similarity from 0 to 1."""

    number: int
    cosine: float
    similarity: float
    row: int
    model: str


class Both(Struct, frozen=True, gc=False):
    """A memory near a text by meaning or by words: its cosine (NaN without a vector) and the share of common words."""

    number: int
    cosine: float
    words: float
    row: int


class EmbeddedText(Struct, frozen=True):
    """The text of a memory, stored or not, with the vectors of its passages.

    ``passages`` are (whether of the head, part); ``vectors`` has a row for each of them by model, zeros if the model
    does not know the language. ``whole`` says whether these are all passages.
    """

    passages: list[tuple[bool, int]]
    vectors: dict[str, Numbers] = field(default_factory=dict)
    whole: bool = True

    def rows(self, model: str) -> Numbers:
        """The vectors that neighbours are searched by: those of the text, not of its head."""
        bodies = [i for i, (head, _) in enumerate(self.passages) if not head][:_COMPARED]
        found: Numbers = self.vectors[model][bodies or [0]]
        known: Numbers = found[np.abs(found).sum(axis=1) > 0]
        return known

    def mean(self, model: str) -> Numbers:
        """The mean vector of all passages, of unit length; zeros if the model does not know the language."""
        total: Numbers = self.vectors[model].sum(axis=0)
        length = np.linalg.norm(total)
        return total / length if length > 0 else total

    def packed(self, model: str, memory: int, text: int) -> list[Vector]:
        """The vectors in the form of a store, for a memory and its text with these numbers."""
        given = self.vectors[model]
        return [
            (memory if head else text, part, *(pair if vector.any() else (b"", b"")))
            for (head, part), vector, pair in zip(self.passages, given, packed(given), strict=True)
        ]


def embed_text(head: Text, body: Text, channels: Sequence[Channel]) -> EmbeddedText:
    """A text and its head with the vectors of these models."""
    if not channels:
        return EmbeddedText([], {}, False)
    # Two more than are embedded show whether there are more; the rest of a long text is not analysed here.
    passages = list(islice((one for one in read([head, body]) if one.embeds), _PARTS + 2))
    taken = passages[: _PARTS + 1]
    places = [(one.text == head.id, one.part) for one in taken]
    texts = [embedder_text(head if is_head else body, part) for is_head, part in places]
    vectors = {}
    for channel in channels:
        known = [i for i, text in enumerate(texts) if channel.embedder.knows(text)]
        made = channel.soon([texts[i] for i in known]) if known else np.zeros((0, channel.embedder.dimensions))
        if made is not None:
            vectors[channel.name] = np.zeros((len(texts), channel.embedder.dimensions), np.float32)
            vectors[channel.name][known] = made
    return EmbeddedText(places, vectors, len(taken) == len(passages))


class Neighbours:
    """Finds neighbours in one view of a project."""

    def __init__(self, view: ProjectIndex, channels: Mapping[str, Channel], judging: Judging | None = None) -> None:
        self._view = view
        self.index = view.index
        self.snapshot = view.snapshot
        self.channels = channels
        self.judging = judging
        self.numbers = view.snapshot.numbers
        self.base = self.numbers[0] * _SPAN

    def load(self, numbers: Sequence[int]) -> dict[int, Record]:
        """The memories with these numbers that exist."""
        found = self.snapshot.load([self.base + number for number in numbers])
        return {record.id - self.base: record for record in found}

    def stored(self, number: int) -> EmbeddedText | None:
        """A memory with its stored vectors; None if one is missing."""
        row = int(self.index.memory_rows(np.array([number], np.uint32))[0])
        columns = self.index.passages
        rows = np.flatnonzero((columns["memory"] == row) & columns["alive"] & columns["embeds"])[: _PARTS + 1]
        if not row or not len(rows):
            return None
        full = {model: vectors.full(self.snapshot, rows) for model, vectors in self.index.vectors.items()}
        vectors = {model: made for model, made in full.items() if made is not None}
        places = [(int(columns["text"][r]) == number, int(columns["part"][r])) for r in rows]
        return EmbeddedText(places, vectors) if vectors else None

    def nearest(
        self, text: EmbeddedText, most: int, *, without: int = 0, among: Sequence[int] | None = None
    ) -> list[Nearby]:
        """The memories nearest by meaning, nearest first.

        ``among`` are the numbers of the memories to compare; by default all. The bits are a rough guide: several times
        as many are compared exactly, and more if there are more to choose from.
        """
        found: dict[int, Nearby] = {}
        may = self.index.passages["alive"]
        if among is not None:
            may = may & self.index.memory_mask(among)[self.index.passages["memory"]]
        for model in text.vectors:
            if (vectors := self.index.vectors.get(model)) is None:
                continue
            unrelated = self.channels[model].embedder.unrelated
            for vector in text.rows(model):
                best = max(most * _SURE, _LEAST) + (self.index.count if among is None else len(among)) // _MORE
                rows = vectors.nearest(vector, self.index.count, may, best)
                cosines = vectors.cosines(self.snapshot, vector, rows)
                alike = similarities(np.nan_to_num(cosines, nan=-1.0), unrelated)
                owners = self.index.memories["number"][self.index.passages["memory"][rows]]
                for number, cosine, value, row in zip(
                    owners.tolist(), cosines.tolist(), alike.tolist(), rows.tolist(), strict=True
                ):
                    known = found.get(number)
                    if number != without and (known is None or known.similarity < value):
                        found[number] = Nearby(number, cosine, value, row, model)
        return sorted(found.values(), key=lambda one: (-one.similarity, one.number))[:most]

    def by_words(self, text: str, most: int) -> list[tuple[int, float]]:
        """The memories with most of the words of a text, each with the share it contains; best first."""
        rows, shares = self._by_words(text, most)
        numbers = self.index.memories["number"][self.index.passages["memory"][rows]]
        found: dict[int, float] = {}
        for number, share in zip(numbers.tolist(), shares[rows].tolist(), strict=True):
            found[number] = max(found.get(number, 0.0), share)
        found.pop(0, None)
        return sorted(found.items(), key=lambda one: (-one[1], one[0]))[:most]

    def _by_words(self, text: str, most: int) -> tuple[Numbers, Numbers]:
        """The rows of the passages with most of a text's words, and the share that each passage contains."""
        query = lanes.parse(Query(text=text))
        try:
            lane = lanes.by_words(self.index, self.snapshot, query, alike=False)
        except DamagedIndex:
            self._view.rebuild()
            self.index = self._view.index
            lane = lanes.by_words(self.index, self.snapshot, query, alike=False)
        alive = lane.passages * self.index.passages["alive"]
        return lanes.top(alive, most * 2), np.minimum(1.0, lanes.words_score(alive, lane.passage_weight))

    def both(self, text: EmbeddedText, words: str, by_meaning: int, by_words: int) -> tuple[str | None, list[Both]]:
        """The model that was used, and the memories nearest by meaning and by words, each with both figures.

        With two models the second one is used if it knows the text, as it is better.
        """
        model = next((name for name in reversed(text.vectors) if len(text.rows(name))), None)
        found, shares = self._by_words(words, by_words)
        owners = self.index.passages["memory"]
        numbers = self.index.memories["number"]
        chosen = np.zeros(self.index.memories.count, bool)
        chosen[owners[found][:by_words]] = True
        vectors = None if model is None else self.index.vectors.get(model)
        if model is not None and vectors is not None:
            near = self.nearest(EmbeddedText(text.passages, {model: text.vectors[model]}), by_meaning)
            chosen |= self.index.memory_mask([one.number for one in near])
        chosen[0] = False
        rows = np.flatnonzero(chosen[owners] & self.index.passages["alive"])
        cosines = np.full(len(rows), np.nan, np.float32)
        if model is not None and vectors is not None:
            for vector in text.rows(model):
                cosines = np.fmax(cosines, vectors.cosines(self.snapshot, vector, rows))
        best: dict[int, Both] = {}
        for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True):
            number, share = int(numbers[owners[row]]), float(shares[row])
            known = best.get(number)
            if known is None:
                best[number] = Both(number, cosine, share, row)
            else:
                better = known.cosine != known.cosine or cosine > known.cosine
                best[number] = Both(
                    number, cosine if better else known.cosine, max(share, known.words), row if better else known.row
                )
        return model, list(best.values())

    def means(
        self, model: str | None, numbers: Sequence[int], tick: Callable[[int, int], None] | None = None
    ) -> Numbers:
        """The mean vector of each memory's passages, of unit length; zeros if it has none."""
        vectors = self.index.vectors.get(model) if model is not None else None
        if vectors is None:
            return np.zeros((len(numbers), 0), np.float32)
        columns = self.index.passages
        means = np.zeros((len(numbers), vectors.dimensions), np.float32)
        places = np.full(self.index.memories.count, -1, np.int64)
        places[self.index.memory_rows(np.array(numbers, np.uint32))] = np.arange(len(numbers))
        places[0] = -1
        rows = np.flatnonzero(
            (places[columns["memory"]] >= 0) & columns["alive"] & vectors.has(slice(self.index.count))
        )
        for start in range(0, len(rows), _AT_A_TIME):
            if tick is not None:
                tick(start, len(rows))
            some = rows[start : start + _AT_A_TIME]
            made = vectors.full(self.snapshot, some)
            if made is not None:
                np.add.at(means, places[columns["memory"][some]], made)
        lengths = np.linalg.norm(means, axis=1, keepdims=True)
        np.divide(means, lengths, out=means, where=lengths > 0)
        return means

    def vectors_in(self, model: str, rows: Sequence[int]) -> Numbers | None:
        """The vectors of these passages; None if one of them has none."""
        return self.index.vectors[model].full(self.snapshot, np.array(rows, np.int64))
