"""One search at work: from a query and an index to the order of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from polymnia.engine.ports import Snapshot
from polymnia.engine.ports.models import Reranker
from polymnia.engine.search import fusion, lanes
from polymnia.engine.search.exact import IDENTICAL, PLACES, place
from polymnia.engine.search.exact import score as score_at
from polymnia.engine.search.index import Index
from polymnia.engine.search.listing import script_number, spoken
from polymnia.engine.search.query import Query, Wanted
from polymnia.engine.search.ranking import Scores, candidates, curve_of, scored
from polymnia.engine.search.worker import Channel
from polymnia.errors import Fault
from polymnia.models import Note, Record

__all__ = ["Ranked", "Search"]

Numbers = NDArray[Any]
_Valued = tuple[float, int, float | None]  # a fused score, the number of the memory, and what the reranker said

_KNOWN = 2_000  # so many memories that pass the filters are known one by one in any case,
_MOST_KNOWN = 30_000  # and so many at most; more are checked when they turn up
_FILTERED = 50  # so many that pass are enough; with fewer, more candidates are looked at
_DEEP = 1_000  # how far down an answer goes
_WIDER = 8
_EXACT = 2_000  # so many memories that hold the query as it stands are put in order by where they hold it
_NEAR = 0.2  # how near to the meaning of the query a memory is that answers it without a word of it;
_NEARLY = 0.1  # beside one that is, those that are as near as this are shown too
_FAINT = 0.25  # and the rest, which is no answer, has this share of its score, which brings it below 0.1
_RELATED = 40
_AGED = 0.13  # what the oldest loses of its score where newness counts most
_BELOW = 0.001  # how far what only resembles the query stays below what holds it as it stands,
_PRESSED = 0.01  # and in what range those that would come above it keep their order
_DIGITS = 4  # of a score that is shown
_SPAN = 1 << 32
_DAY = 86_400_000_000
_FAR = 1 << 62


class _Depth(NamedTuple):
    """How many of the best candidates are read again: at least, at most, and as long as there is time."""

    least: int
    most: int
    seconds: float


_DEPTHS = {"quick": _Depth(0, 0, 0.0), "balanced": _Depth(8, 24, 0.08), "thorough": _Depth(24, 60, 0.8)}
_AT_A_TIME = 4  # candidates that are read between two looks at the clock


class Ranked(Struct, frozen=True, gc=False):
    """A memory in the order of an answer: its tier (0 holds the query as it stands), where it holds it, its score.

    Within an answer scores fall with the order.
    """

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
        effort: str = "balanced",
    ) -> None:
        self.index = index
        self.snapshot = snapshot
        self.query = query
        self.wanted = wanted
        self.which = which
        self.channels = channels
        self.reranker = reranker
        self.depth = _DEPTHS[effort]
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
            everything = self.query.at_least == 0
            rows = candidates(self.index, self.lane, asked, self._allowed, wider, everything=everything)
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
        """The numbers of the memories that hold the query as it stands; by meaning alone, of those that are it."""
        if not self.wanted.forms:
            return set()
        found = self._pass([id - self.base for id in self.snapshot.containing(self.wanted.forms)])
        if self.which != "meaning":
            return found
        some = self.load(sorted(found)[:_EXACT])
        return {one.id - self.base for one in some if place(self.wanted.forms, one) <= IDENTICAL}

    def order(self) -> list[Ranked]:
        """Everything that answers, best first: what holds the query as it stands before everything else.

        What has no word of the query and is not near to its meaning is no answer where no least score is given, and
        has a low score where one is. Where nothing has the least score, the query may want the rest all the same.
        """
        numbers = self.index.memories["number"][self.scores.memories].tolist()
        meaning = self.scores.meaning
        says = meaning >= (_NEARLY if (meaning >= _NEAR).any() else _NEAR)
        if self.which != "meaning":
            says |= self.scores.words > 0
        fused = np.where(says, 1.0, _FAINT) * self._adjusted()
        matching = {number for number, enough in zip(numbers, says.tolist(), strict=True) if enough}
        if self.query.at_least is not None:
            says[:] = True
        score_of = dict(zip(numbers, self._shown(fused).tolist(), strict=True))
        first = self._exact_order(self.exact, score_of)
        others = sorted(
            (-value, number)
            for number, value, enough in zip(numbers, fused.tolist(), says.tolist(), strict=True)
            if enough and number not in self.exact
        )
        values: list[_Valued] = [(-value, number, None) for value, number in others[:_DEEP]]
        # A misspelt word means nothing to a model that reads it as it stands.
        misspelt = any(one.alike for one in self.lane.asked)
        reranker = self.reranker if self.depth.most and self.asked and not misspelt else None
        if reranker is not None and reranker.knows(self.query.text):
            values = self._reranked(values, reranker)
        scores = self._shown(np.array([value for value, _, _ in values]))
        if first:
            ceiling = first[-1].score - _BELOW
            scores = np.maximum(0.0, np.minimum(scores, ceiling - _PRESSED * (1 - scores)))
        rest = [
            Ranked(1, 0, score, number, judged)
            for score, (_, number, judged) in zip(scores.tolist(), values, strict=True)
        ]
        least = self.query.at_least or 0.0
        found = [one for one in first + rest if round(one.score, _DIGITS) >= least]
        if not found and self.query.or_nearest:
            return [one for one in rest if one.number in matching]
        return found

    @property
    def _curve(self) -> fusion.Curve:
        return curve_of(self.asked, self.channels, self.which)

    @property
    def measured(self) -> bool:
        """Whether the scores are chances."""
        return self._curve not in (fusion.WORDS, fusion.UNMEASURED)

    def _shown(self, fused: Numbers) -> Numbers:
        return fusion.shown(fused, self._curve)

    def _exact_order(self, exact: set[int], score_of: Mapping[int, float]) -> list[Ranked]:
        near = sorted(exact, key=lambda number: (-score_of.get(number, 0.0), number))
        found = []
        for record in self.load(near[:_EXACT]):
            number = record.id - self.base
            at = place(self.wanted.forms, record)
            found.append(Ranked(0, at, score_at(at, score_of.get(number, 0.0)), number))
        last = len(PLACES) - 1
        found += [Ranked(0, last, PLACES[last].least, number) for number in sorted(near[_EXACT:])]
        found.sort(key=lambda one: one.key)
        return found

    def _adjusted(self) -> Numbers:
        """The fused scores with what the caller wants to count besides: newness, and links to what was found."""
        fused = self.scores.fused.astype(np.float64)
        if self.query.recency and len(fused):
            day = self.index.passages["day"][self.index.memories["head"][self.scores.memories]]
            age = np.maximum(0, self.wanted.now // _DAY - day.astype(np.int64))
            fresh = np.exp2(-age / 90.0)
            fused = fused * (1 - _AGED * self.query.recency * (1 - fresh))
        if self.query.related and len(fused):
            fused = self._lifted(fused)
        found: Numbers = np.maximum(fused, 0.0)
        return found

    def _lifted(self, fused: Numbers) -> Numbers:
        """Memories linked to the best ones gain a share of their score."""
        best = np.argsort(-fused, kind="stable")[:_RELATED]
        numbers = self.index.memories["number"][self.scores.memories]
        at = {int(numbers[i]): int(i) for i in range(len(numbers))}
        named = {record.name: at[record.id - self.base] for record in self.load(numbers[best].tolist())}
        lifted, room = fused.copy(), np.maximum(0.0, 1 - fused)
        gain = 0.3 * self.query.related
        for relation in self.snapshot.relations_of(list(named)):
            source, target = named.get(relation.source), named.get(relation.target)
            if source is not None and target is not None and source != target:
                for one, other in ((source, target), (target, source)):
                    lifted[one] = max(lifted[one], fused[one] + gain * fused[other] * room[one])
        return lifted

    def _reranked(self, rest: list[_Valued], reranker: Reranker) -> list[_Valued]:
        """The best ones judged once more by a model that reads query and passage together, where it knows both."""
        until = monotonic() + self.depth.seconds
        best = [one.embedder for one in self.channels.values() if one.embedder.strong]
        best = [one for one in best if one.knows(self.query.text)]
        marks: dict[int, float] = {}
        strong: dict[int, bool] = {}
        foreign: dict[int, bool] = {}
        lengths: dict[int, int] = {}
        read = 0
        try:
            reranker.load()
            while read < min(self.depth.most, len(rest)) and (read < self.depth.least or monotonic() < until):
                texts = {number: self.best_passage(number) for _, number, _ in rest[read : read + _AT_A_TIME]}
                known = [number for number, text in texts.items() if reranker.knows(text)]
                strong.update((number, any(one.knows(texts[number]) for one in best)) for number in known)
                foreign.update((number, self._is_foreign(texts[number])) for number in known)
                parts = self.index.sizes.bodies[self.index.memory_rows(np.array(known, np.uint32))].tolist()
                lengths.update((number, len(texts[number]) * of) for number, of in zip(known, parts, strict=True))
                marks.update(zip(known, reranker.score(self.query.text, [texts[n] for n in known]), strict=True))
                read += _AT_A_TIME
        except Fault as e:
            self.notes.append(Note("no_reranker", f"The best candidates were not judged once more: {e.message}"))
            return rest
        head = rest[:read]
        known = [number for _, number, _ in head if number in marks]
        own = {number: value for value, number, _ in head}
        fused = np.array([own[number] for number in known])
        logits = _logits([marks[number] for number in known])
        blended = fusion.reranked(
            fused, logits, np.array([strong[number] for number in known], bool), self._curve,
            np.array([foreign[number] and not strong[number] for number in known], bool) if self.measured else None,
            np.array([lengths[number] for number in known]),
        )  # fmt: skip
        judged: list[_Valued] = [
            (float(value), number, round(marks[number], 4)) for value, number in zip(blended, known, strict=True)
        ]
        judged += [(0.5 * value, number, None) for value, number, _ in head if number not in marks]
        judged.sort(key=lambda one: (-one[0], one[1]))
        # What was not judged stays below what was.
        floor = min((value for value, _, _ in judged), default=0.0)
        return judged + [(min(value, floor), number, mark) for value, number, mark in rest[read:]]

    def _is_foreign(self, text: str) -> bool:
        """Whether a text is in another script than the query."""
        script = script_number(text)
        return script > 0 and self.wanted.script > 0 and script != self.wanted.script

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
