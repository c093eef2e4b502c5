"""One search at work: from a query and an index to the order of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from polymnia.engine.ports import Snapshot
from polymnia.engine.ports.models import Reranker
from polymnia.engine.search import fusion, lanes
from polymnia.engine.search.exact import place
from polymnia.engine.search.index import Index
from polymnia.engine.search.listing import spoken
from polymnia.engine.search.query import Query, Wanted
from polymnia.engine.search.ranking import Scores, candidates, scored
from polymnia.engine.search.worker import Channel
from polymnia.engine.similarity import similarity
from polymnia.errors import Fault
from polymnia.models import Note, Record

__all__ = ["Ranked", "Search"]

Numbers = NDArray[Any]

_KNOWN = 2_000  # so many memories that pass the filters are known one by one in any case,
_MOST_KNOWN = 30_000  # and so many at most; more are checked when they turn up
_FILTERED = 50  # so many that pass are enough; with fewer, more candidates are looked at
_DEEP = 1_000  # how far down an answer goes
_WIDER = 8
_EXACT = 2_000  # so many memories that hold the query as it stands are put in order by where they hold it
_RERANKED = 30
_FAINT = 0.01  # the least score of an answer; added, not cut off, so that faint ones keep their order
_NEAR = 0.2  # a memory that has no word of the query and is no nearer to its meaning is no answer
_EXACT_SCORES = (1.0, 0.9, 0.75, 0.7, 0.7, 0.5)  # the least for who holds the query as it stands, by the place
_RELATED = 40
_A_WORD, _EVERY_WORD = 0.1, 0.6  # how similar a memory is at least that says a word of the query, or every one
_SPAN = 1 << 32
_DAY = 86_400_000_000
_FAR = 1 << 62


class Ranked(Struct, frozen=True, gc=False):
    """A memory in the order of an answer: its tier (0 holds the query as it stands), where it holds it, its score."""

    tier: int
    place: int
    score: float
    number: int
    judged: float | None = None

    @property
    def key(self) -> tuple[float, ...]:
        """What the order goes by."""
        return (self.tier, self.place, -self.score, self.number)


class Search:
    """One query over one snapshot of one project. ``asking`` gives the query as each model sees it."""

    def __init__(
        self,
        index: Index,
        snapshot: Snapshot,
        query: Query,
        wanted: Wanted,
        *,
        which: str,
        channels: Mapping[str, Channel],
        asking: Callable[[], Mapping[str, Numbers]],
        reranker: Reranker | None,
    ) -> None:
        self.index = index
        self.snapshot = snapshot
        self.query = query
        self.wanted = wanted
        self.which = which
        self.channels = channels
        self.reranker = reranker
        self.notes: list[Note] = []
        self.base = snapshot.numbers[0] * _SPAN
        self.records: dict[int, Record] = {}
        self._allowed, self._known = self._mask()
        self.exact = self._exact()
        # Where the query stands as it is, nobody misspelt it.
        self.lane = lanes.by_words(index, snapshot, wanted, alike=not self.exact)
        self.asked = asking()
        self.scores = self._scores()

    # ── filters ───────────────────────────────────────────────────────────────────────────────────────

    def _mask(self) -> tuple[Numbers | None, bool]:
        """The memories that pass the filters, and whether that is all there is to know; None when too many pass.

        Days are known here. For the rest the store is asked, if it has an index that finds few quickly.
        """
        filters = self.query.filters
        if filters.empty:
            return None, True
        if filters.names or filters.kinds or filters.tags or filters.scope:
            # Where one of eight passes, checking candidates as they turn up costs less than knowing all that pass.
            most = min(_MOST_KNOWN, max(_KNOWN, self.index.memories.count // 8))
            if not self.snapshot.passes_more(filters, most):
                passing = self.snapshot.matching(filters)
                allowed = np.zeros(self.index.memories.count, bool)
                allowed[self.index.memory_rows(np.array(passing, np.uint32))] = True
                allowed[0] = False
                return allowed, True
        if filters.created_from is None and filters.created_to is None:
            return None, False
        day = self.index.passages["day"][self.index.memories["head"]]
        first = (filters.created_from or 0) // _DAY
        last = (filters.created_to if filters.created_to is not None else _FAR) // _DAY
        inside = (day >= first) & (day <= last)
        # Only on the first and the last day the hour matters, and only if nothing else is asked for.
        only = replace(filters, created_from=None, created_to=None).empty
        inside[0] = False
        return inside, only and not ((day[1:] == first) | (day[1:] == last)).any()

    def _pass(self, numbers: Sequence[int]) -> set[int]:
        """Which of these memories pass the filters."""
        if self.query.filters.empty:
            return set(numbers)
        if self._known and self._allowed is not None:
            rows = self.index.memory_rows(np.array(numbers, np.uint32))
            return {number for number, row in zip(numbers, rows.tolist(), strict=True) if self._allowed[row]}
        return set(self.snapshot.matching(self.query.filters, among=numbers)) if numbers else set()

    def _scores(self) -> Scores:
        """The candidates with their scores. Where filters let few through, more candidates are looked at."""
        wider = 1
        asked = {} if self.which == "words" else self.asked
        while True:
            rows = candidates(self.index, self.lane, asked, self._allowed, wider)
            found = scored(self.index, self.snapshot, self.wanted, self.lane, asked, self.channels, rows, self.which)
            if self._known:
                return found
            numbers = self.index.memories["number"][found.memories]
            passing = self._pass(numbers.tolist())
            found.keep(np.isin(numbers, np.fromiter(passing, np.uint32, len(passing))))
            exhausted = len(rows) >= np.count_nonzero(self.index.passages["alive"]) or wider > 4096
            if len(found) >= _FILTERED or exhausted:
                return found
            wider *= _WIDER

    # ── the order ─────────────────────────────────────────────────────────────────────────────────────

    def _exact(self) -> set[int]:
        """The numbers of the memories that hold the query as it stands."""
        if not self.wanted.forms or self.which == "meaning":
            return set()
        return self._pass([id - self.base for id in self.snapshot.containing(self.wanted.forms)])

    def order(self) -> list[Ranked]:
        """Everything that answers, best first: what holds the query as it stands before everything else."""
        scores = self._adjusted()
        numbers = self.index.memories["number"][self.scores.memories].tolist()
        score_of = dict(zip(numbers, scores, strict=True))
        exact = self.exact
        if self.query.at_least:
            exact = {number for number in exact if self.similarity(number) >= self.query.at_least}
        first = self._exact_order(exact, score_of)
        says = self.scores.meaning >= _NEAR
        if self.which != "meaning":
            says |= self.scores.words > 0
        if self.query.at_least:
            says &= self._alike >= self.query.at_least
        others = sorted(
            (-(_FAINT + (1 - _FAINT) * score), number)
            for number, score, enough in zip(numbers, scores, says.tolist(), strict=True)
            if enough and number not in self.exact
        )
        rest = [Ranked(1, 0, -score, number) for score, number in others[:_DEEP]]
        if self.reranker is not None and self.which != "words" and self.reranker.knows(self.query.text):
            rest = self._reranked(rest)
        if first:
            # Whoever reads scores alone must come to the same order.
            lowest = min(one.score for one in first)
            rest = [one if one.score < lowest else _rescored(one, lowest - 0.001) for one in rest]
        return first + rest

    @cached_property
    def _alike(self) -> Numbers:
        """How similar each candidate is to the query: by meaning, and where the words say more, by those."""
        # To have been stored on the day asked for makes nothing similar, unless nothing but a time was asked for.
        told = (self.scores.said > 0) | self.wanted.only_time
        share = np.clip(self.scores.words, 0, 1) * told * (self.which != "meaning")
        words = np.where(share > 0, _A_WORD + (_EVERY_WORD - _A_WORD) * share, 0.0)
        alike: Numbers = np.fmax(np.nan_to_num(self.scores.likeness, nan=0.0), words)
        return alike

    @cached_property
    def _place_of(self) -> dict[int, int]:
        return {n: i for i, n in enumerate(self.index.memories["number"][self.scores.memories].tolist())}

    def similarity(self, number: int) -> float:
        """How similar a memory is to the query, from 0 to 1."""
        at = self._place_of.get(number)
        similar = float(self._alike[at]) if at is not None else self._likeness(number)
        # Who holds the query as it stands says all of its words, whatever the index makes of them.
        return max(similar, _EVERY_WORD) if number in self.exact else similar

    def _likeness(self, number: int) -> float:
        """The same by meaning alone, for a memory that is no candidate."""
        row = int(self.index.memory_rows(np.array([number], np.uint32))[0])
        rows = np.flatnonzero((self.index.passages["memory"] == row) & self.index.passages["alive"])
        best = 0.0
        for name, vector in self.asked.items() if row and len(rows) else ():
            if (vectors := self.index.vectors.get(name)) is not None:
                cosine = float(np.nanmax(vectors.cosines(self.snapshot, vector, rows), initial=-1.0))
                best = max(best, similarity(cosine, self.channels[name].embedder.unrelated))
        return best

    def _exact_order(self, exact: set[int], score_of: Mapping[int, float]) -> list[Ranked]:
        near = sorted(exact, key=lambda number: (-score_of.get(number, 0.0), number))
        found = []
        for record in self.load(near[:_EXACT]):
            number = record.id - self.base
            at = place(self.wanted.forms, record)
            found.append(Ranked(0, at, max(score_of.get(number, 0.0), _EXACT_SCORES[at]), number))
        last = len(_EXACT_SCORES) - 1
        found += [Ranked(0, last, _EXACT_SCORES[last], number) for number in sorted(near[_EXACT:])]
        found.sort(key=lambda one: (one.place, -one.score, one.number))
        # Scores fall with the order, so that a later place never has the higher one.
        level, fallen = 1.0, []
        for one in found:
            level = min(level, one.score)
            fallen.append(_rescored(one, level))
        return fallen

    def _adjusted(self) -> list[float]:
        """The scores with what the caller wants to count besides: newness, and links to what was found."""
        score = self.scores.score
        if self.query.recency and len(score):
            day = self.index.passages["day"][self.index.memories["head"][self.scores.memories]]
            age = np.maximum(0, self.wanted.now // _DAY - day.astype(np.int64))
            fresh = np.exp2(-age / 90.0)
            score = score * (1 - 0.3 * self.query.recency * (1 - fresh))
        if self.query.related and len(score):
            score = self._lifted(score)
        return [float(one) for one in np.clip(score, 0, 1)]

    def _lifted(self, score: Numbers) -> Numbers:
        """Memories linked to the best ones gain a share of their score."""
        best = np.argsort(-score, kind="stable")[:_RELATED]
        numbers = self.index.memories["number"][self.scores.memories]
        at = {int(numbers[i]): int(i) for i in range(len(numbers))}
        named = {record.name: at[record.id - self.base] for record in self.load(numbers[best].tolist())}
        lifted = score.copy()
        for relation in self.snapshot.relations_of(list(named)):
            source, target = named.get(relation.source), named.get(relation.target)
            if source is not None and target is not None and source != target:
                gain = 0.3 * self.query.related
                lifted[source] = max(lifted[source], score[source] + gain * score[target] * (1 - score[source]))
                lifted[target] = max(lifted[target], score[target] + gain * score[source] * (1 - score[target]))
        return lifted

    def _reranked(self, rest: list[Ranked]) -> list[Ranked]:
        """The best ones judged once more by a model that reads query and passage together, where it knows both."""
        assert self.reranker is not None
        head = rest[:_RERANKED]
        texts = {one.number: self.best_passage(one.number) for one in head}
        known = [one.number for one in head if self.reranker.knows(texts[one.number])]
        try:
            self.reranker.load()
            marks = dict(zip(known, self.reranker.score(self.query.text, [texts[n] for n in known]), strict=True))
        except Fault as e:
            self.notes.append(Note("no_reranker", f"The best candidates were not judged once more: {e.message}"))
            return rest
        numbers = self.index.memories["number"][self.scores.memories].tolist()
        fused = dict(zip(numbers, self.scores.fused.tolist(), strict=True))
        own = np.array([fused[number] for number in known])
        blended = dict(zip(known, fusion.reranked(own, _logits([marks[n] for n in known])).tolist(), strict=True))
        again = [
            Ranked(1, 0, min(1.0, blended[one.number]), one.number, round(marks[one.number], 4))
            if one.number in marks
            else Ranked(1, 0, 0.5 * min(1.0, fused[one.number]), one.number)
            for one in head
        ]
        again.sort(key=lambda one: one.key)
        floor = min((one.score for one in again), default=1.0)
        return again + [_rescored(one, min(one.score, floor)) for one in rest[_RERANKED:]]

    # ── what the answer is made of ────────────────────────────────────────────────────────────────────

    def load(self, numbers: Sequence[int]) -> list[Record]:
        """The memories of these numbers, in their order; those that are gone are left out."""
        missing = [self.base + number for number in numbers if number not in self.records]
        for record in self.snapshot.load(missing) if missing else ():
            self.records[record.id - self.base] = record
        return [self.records[number] for number in numbers if number in self.records]

    def passages_of(self, number: int, most: int) -> list[tuple[int, int, float]]:
        """The best passages of a memory: text, part and score."""
        row = int(self.index.memory_rows(np.array([number], np.uint32))[0])
        inside = np.flatnonzero(self.index.passages["memory"][self.scores.passages] == row)
        best = inside[np.argsort(-self.scores.passage_scores[inside], kind="stable")[:most]]
        columns = self.index.passages
        return [
            (int(columns["text"][r]), int(columns["part"][r]), float(s))
            for r, s in zip(self.scores.passages[best], self.scores.passage_scores[best], strict=True)
        ]

    def best_passage(self, number: int) -> str:
        """The text of the best passage of a memory."""
        for text, part, _ in self.passages_of(number, 1):
            for found in self.snapshot.texts_of([text]):
                return spoken(found, part)
        return ""


def _logits(marks: Sequence[float]) -> Numbers:
    """What a judge's marks were before they were pressed between 0 and 1."""
    pressed = np.clip(np.array(marks, np.float64), 1e-6, 1 - 1e-6)
    found: Numbers = np.log(pressed / (1 - pressed))
    return found


def _rescored(one: Ranked, score: float) -> Ranked:
    return Ranked(one.tier, one.place, max(0.0, score), one.number, one.judged)
