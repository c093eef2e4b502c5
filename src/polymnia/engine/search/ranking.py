"""Ranking: from a query and one moment of a project to the order of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.ports import Reranker, Snapshot
from polymnia.engine.search import fusion, lanes
from polymnia.engine.search.index import Index, Numbers
from polymnia.engine.search.passages import embedder_text, script_number
from polymnia.engine.search.query import IDENTICAL, PLACES, Parsed, Query, place_in
from polymnia.engine.search.vectors import Channel
from polymnia.errors import Fault
from polymnia.models import Note, Record

_KNOWN = 2_000  # so many memories that pass the filters are known one by one in any case,
_MOST_KNOWN = 30_000  # and so many at most; more are checked when they turn up
_FILTERED = 50  # so many that pass are enough; with fewer, more candidates are looked at
_WIDER = 8
_HEAD = 0.8  # what a word counts for an observation that stands in the head of its memory alone
_DEEP = 1_000  # how far down an answer goes
_EXACT = 2_000  # so many memories that hold the query as it stands are put in order by where they hold it
_NEAR = 0.2  # how near to the meaning of the query a memory is that answers it without a word of it;
_NEARLY = 0.1  # beside one that is, those that are as near as this are shown too
_FAINT = 0.25  # and the rest, which is no answer, has this share of its score, which brings it below 0.1
_RELATED = 40  # the best memories, whose links count
_LINKED = 0.3  # what a link to the best one adds where links count most
_AGED = 0.13  # what the oldest loses of its score where newness counts most
_BELOW = 0.001  # how far what only resembles the query stays below what holds it as it stands,
_PRESSED = 0.01  # and in what range those that would come above it keep their order
_UNREAD = 0.5  # what is left of the score of a text that the reranker does not know
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

    Within an answer scores fall with the order. ``judged`` is what the reranker said.
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


class Scores:
    """Memories with what each lane says of them, best first, and the passages that comes from.

    ``memories`` and ``passages`` are rows of the index; the passages of a memory are found through the index. ``fused``
    is what the memories are ordered by. Where no model has a word, ``similarity`` (the cosine) is NaN.
    """

    def __init__(
        self, memories: Numbers, lanes: Mapping[str, Numbers], passages: Numbers, passage_scores: Numbers
    ) -> None:
        self.memories = memories
        self.fused, self.lent = lanes["fused"], lanes["lent"]
        self.words, self.meaning, self.similarity = lanes["words"], lanes["meaning"], lanes["similarity"]
        self.passages, self.passage_scores = passages, passage_scores

    def keep(self, which: Numbers) -> None:
        """Only these memories, given as a mask."""
        for name in ("memories", "fused", "lent", "words", "meaning", "similarity"):
            setattr(self, name, getattr(self, name)[which])


class RankedSearch:
    """One query over one moment of one project. :meth:`run` asks the lanes; :meth:`order` is what comes of it.

    ``embed`` gives the query as each model sees it.
    """

    exact: set[int]
    lane: lanes.WordsLane
    vectors: Mapping[str, Numbers]
    scores: Scores

    def __init__(
        self,
        index: Index,
        snapshot: Snapshot,
        query: Query,
        parsed: Parsed,
        *,
        which: str,
        channels: Mapping[str, Channel],
        embed: Callable[[], Mapping[str, Numbers]],
        reranker: Reranker | None,
        effort: str,
    ) -> None:
        self.index = index
        self.snapshot = snapshot
        self.query = query
        self.parsed = parsed
        self.which = which
        self.channels = channels
        self.notes: list[Note] = []
        self.base = snapshot.numbers[0] * _SPAN
        self.records: dict[int, Record] = {}
        self._embed = embed
        self._reranker = reranker
        self._depth = _DEPTHS[effort]

    def run(self) -> None:
        """Ask every lane, and fuse what they say."""
        self._allowed, self._known = self._mask()
        self.exact = self._exact()
        # Where the query stands as it is, nobody misspelt it.
        self.lane = lanes.by_words(self.index, self.snapshot, self.parsed, alike=not self.exact)
        self.vectors = self._embed()
        self.curve = self._curve()
        self.scores = self._scores()

    def _curve(self) -> fusion.Curve:
        """What fused scores mean, by the models that read the query and the lanes that were searched."""
        models = [self.channels[name].embedder for name in self.vectors]
        if not models:
            return fusion.WORDS
        if any(model.answers[1] >= 1.0 for model in models):  # nobody has looked how near its answers are
            return fusion.UNMEASURED
        return self._curve_of(fusion.STRONG if any(model.strong for model in models) else fusion.WEAK)

    def _curve_of(self, blend: fusion.Blend) -> fusion.Curve:
        return blend.by_meaning if self.which == "meaning" else blend.curve

    @property
    def measured(self) -> bool:
        """Whether the scores are chances."""
        return self.curve not in (fusion.WORDS, fusion.UNMEASURED)

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
                return self.index.memory_mask(self.snapshot.matching(filters)), True
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

    def _passing(self, numbers: Sequence[int]) -> set[int]:
        """Which of these memories pass the filters."""
        if self.query.filters.empty:
            return set(numbers)
        if self._known and self._allowed is not None:
            rows = self.index.memory_rows(np.array(numbers, np.uint32))
            return {number for number, row in zip(numbers, rows.tolist(), strict=True) if self._allowed[row]}
        return set(self.snapshot.matching(self.query.filters, among=numbers)) if numbers else set()

    def _exact(self) -> set[int]:
        """The numbers of the memories that hold the query as it stands; by meaning alone, of those that are it."""
        forms = self.parsed.forms
        if not forms:
            return set()
        found = self._passing([id - self.base for id in self.snapshot.containing(forms)])
        if self.which != "meaning":
            return found
        return {one.id - self.base for one in self.load(sorted(found)[:_EXACT]) if place_in(one, forms) <= IDENTICAL}

    # ── scores ────────────────────────────────────────────────────────────────────────────────────────

    def _scores(self) -> Scores:
        """The candidates with their scores. Where filters let few through, more candidates are looked at."""
        index, wider = self.index, 1
        everything = self.query.at_least == 0
        while True:
            rows = lanes.candidates(index, self.lane, self.vectors, self._allowed, wider, everything=everything)
            found = self._scored(rows)
            if self._known:
                return found
            numbers = index.memories["number"][found.memories]
            passing = self._passing(numbers.tolist())
            found.keep(np.isin(numbers, np.fromiter(passing, np.uint32, len(passing))))
            exhausted = len(rows) >= np.count_nonzero(index.passages["alive"]) or wider > 4096
            if len(found.memories) >= _FILTERED or exhausted:
                return found
            wider *= _WIDER

    def _scored(self, rows: Numbers) -> Scores:
        """Fuse what the lanes say about these passages, gather it by memory, and order the memories."""
        index = self.index
        owners, place = np.unique(index.passages["memory"][rows], return_inverse=True)
        soft = fusion.softened(index.passages["weight"][rows] * np.float32(0.01))
        turns = lanes.are_turns(index, owners)
        links = lanes.links(index, owners, turns)
        words = self._words(rows, owners, place, soft, links)
        similarity, meaning, score = words * np.nan, np.zeros(len(rows), np.float32), words
        if self.vectors:
            similarity, meaning, strong = self._meaning(rows, soft)
            parts = index.sizes.bodies[owners][place]
            score = self._fused(words, meaning, strong, self._foreign(rows) & ~np.isnan(similarity), parts)
        best = fusion.best(score, place, len(owners)).astype(np.float32)
        best = fusion.eased(best, index.sizes.bodies[owners], turns)
        total = best if links is None else fusion.lend(best, links)
        order = np.argsort(-total, kind="stable")
        found = {"fused": total[order], "lent": (total - best)[order]}
        for name, values in (("words", words), ("meaning", meaning), ("similarity", similarity)):
            column = np.full(len(owners), np.nan, np.float32)
            np.fmax.at(column, place, values.astype(np.float32))
            found[name] = column[order]
        return Scores(owners[order], found, rows, score)

    def _words(self, rows: Numbers, owners: Numbers, place: Numbers, soft: Numbers, links: Numbers | None) -> Numbers:
        """The share of the query each passage says, with what its memory is called, what kind it is, how it is tagged.

        Turns of a conversation borrow words from those around them. Of a long memory the whole counts too.
        """
        lane = self.lane
        held = lane.held_by(rows, self.index.memories["head"][owners][place], _HEAD)
        total = held.sum(axis=0)
        if lane.time_gains is not None:
            total += lane.time_gains[rows]
        passages = fusion.words_score(total, lane.passage_asked)
        if links is not None and lane.asked:
            turns = np.zeros((len(lane.asked), len(owners)), np.float32)
            for at in range(len(lane.asked)):
                np.maximum.at(turns[at], place, held[at])
            own = fusion.words_score(turns.sum(axis=0), lane.passage_asked)
            lifted = fusion.words_score(fusion.near(turns, links).sum(axis=0), lane.passage_asked)
            passages = passages + np.maximum(lifted - own, 0)[place]
        passages = passages * soft
        whole = fusion.words_score(lane.memories[owners], lane.memory_asked)[place]
        long = self.index.sizes.bodies[owners][place] > 1
        found: Numbers = np.where(long, fusion.long_words(passages, whole), passages).astype(np.float32)
        return found

    def _meaning(self, rows: Numbers, soft: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The cosine of each passage, what it counts, and whether a strong model said so."""
        similarity = np.full(len(rows), np.nan, np.float32)
        meaning = np.zeros(len(rows), np.float32)
        strong = np.zeros(len(rows), bool)
        for name, vector in sorted(self.vectors.items(), key=lambda one: self.channels[one[0]].embedder.strong):
            if (vectors := self.index.vectors.get(name)) is None:
                continue
            embedder = self.channels[name].embedder
            cosine = vectors.cosines(self.snapshot, vector, rows)
            there = ~np.isnan(cosine)
            counts = fusion.meaning_score(np.nan_to_num(cosine), *embedder.answers)
            better = fusion.both(meaning, counts) if embedder.strong else counts
            meaning = np.where(there, better, meaning)
            similarity = np.where(there, cosine, similarity)
            strong |= there & embedder.strong
        return similarity, meaning * soft, strong

    def _fused(self, words: Numbers, meaning: Numbers, strong: Numbers, foreign: Numbers, parts: Numbers) -> Numbers:
        """One score of both lanes for each passage."""
        score = meaning
        if self.which != "meaning":
            heard = float(words.max(initial=0.0))
            score = fusion.fuse(words, meaning, fusion.WEAK, parts, foreign, heard)
            if strong.any():
                score = np.where(strong, fusion.fuse(words, meaning, fusion.STRONG, parts, foreign, heard), score)
        if self.curve == self._curve_of(fusion.STRONG):
            # One order needs one scale: a score means more in a text of which only the weaker model can tell.
            weak = fusion.moved(score, self._curve_of(fusion.WEAK), self.curve)
            score = np.where(foreign & ~strong, weak, score).astype(np.float32)
        return score

    def _foreign(self, rows: Numbers) -> Numbers:
        """Which passages are in another script than the query: there the words cannot tell."""
        script = self.index.passages["script"][rows]
        found: Numbers = (script != self.parsed.script) & (script > 0) & (self.parsed.script > 0)
        return found

    # ── the order ─────────────────────────────────────────────────────────────────────────────────────

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
        first = self._exact_order(dict(zip(numbers, self._shown(fused).tolist(), strict=True)))
        others = sorted(
            (-value, number)
            for number, value in zip(numbers, fused.tolist(), strict=True)
            if number not in self.exact and (number in matching or self.query.at_least is not None)
        )[:_DEEP]
        values, judged = {number: -value for value, number in others}, dict[int, float]()
        # A misspelt word means nothing to a model that reads it as it stands.
        reranker = self._reranker if self._depth.most and self.vectors and not self.lane.misspelt else None
        if reranker is not None and reranker.knows(self.query.text):
            values, judged = self._reranked(values, reranker)
        scores = self._shown(np.array(list(values.values())))
        if first:
            ceiling = first[-1].score - _BELOW
            scores = np.maximum(0.0, np.minimum(scores, ceiling - _PRESSED * (1 - scores)))
        rest = [Ranked(1, 0, score, n, judged.get(n)) for score, n in zip(scores.tolist(), values, strict=True)]
        least = self.query.at_least or 0.0
        found = [one for one in first + rest if round(one.score, _DIGITS) >= least]
        if not found and self.query.or_nearest:
            return [one for one in rest if one.number in matching]
        return found

    def _shown(self, fused: Numbers) -> Numbers:
        return fusion.shown(fused, self.curve)

    def _exact_order(self, score_of: Mapping[int, float]) -> list[Ranked]:
        """The memories that hold the query as it stands, best place first."""
        near = sorted(self.exact, key=lambda number: (-score_of.get(number, 0.0), number))
        found = []
        for record in self.load(near[:_EXACT]):
            number, at = record.id - self.base, place_in(record, self.parsed.forms)
            found.append(Ranked(0, at, PLACES[at].score(score_of.get(number, 0.0)), number))
        last = len(PLACES) - 1
        found += [Ranked(0, last, PLACES[last].least, number) for number in near[_EXACT:]]
        return sorted(found, key=lambda one: one.key)

    def _adjusted(self) -> Numbers:
        """The fused scores with what the caller wants to count besides: newness, and links to what was found."""
        fused: Numbers = self.scores.fused.astype(np.float64)
        if self.query.recency and len(fused):
            day = self.index.passages["day"][self.index.memories["head"][self.scores.memories]]
            age = np.maximum(0, self.parsed.now // _DAY - day.astype(np.int64))
            fresh = np.exp2(-age / 90.0)
            fused = fused * (1 - _AGED * self.query.recency * (1 - fresh))
        if self.query.related and len(fused):
            fused = self._lifted(fused)
        return np.maximum(fused, 0.0)

    def _lifted(self, fused: Numbers) -> Numbers:
        """Memories linked to the best ones gain a share of their score."""
        best = np.argsort(-fused, kind="stable")[:_RELATED]
        numbers = self.index.memories["number"][self.scores.memories]
        at = {number: i for i, number in enumerate(numbers.tolist())}
        named = {record.name: at[record.id - self.base] for record in self.load(numbers[best].tolist())}
        lifted, room = fused.copy(), np.maximum(0.0, 1 - fused)
        gain = _LINKED * self.query.related
        for relation in self.snapshot.relations_of(list(named)):
            source, target = named.get(relation.source), named.get(relation.target)
            if source is not None and target is not None and source != target:
                for one, other in ((source, target), (target, source)):
                    lifted[one] = max(lifted[one], fused[one] + gain * fused[other] * room[one])
        return lifted

    def _reranked(self, values: dict[int, float], reranker: Reranker) -> tuple[dict[int, float], dict[int, float]]:
        """The best ones judged once more by a model that reads query and passage together, where it knows both.

        Answers the memories in their new order, and what the model said of those that it read.
        """
        until = monotonic() + self._depth.seconds
        numbers = list(values)
        texts: dict[int, str] = {}
        marks: dict[int, float] = {}
        read = 0
        try:
            reranker.load()
            while read < min(self._depth.most, len(numbers)) and (read < self._depth.least or monotonic() < until):
                some = self._best_passages(numbers[read : read + _AT_A_TIME])
                known = {number: text for number, text in some.items() if reranker.knows(text)}
                marks.update(zip(known, reranker.score(self.query.text, list(known.values())), strict=True))
                texts |= known
                read += _AT_A_TIME
        except Fault as e:
            self.notes.append(Note("no_reranker", f"The best candidates were not judged once more: {e.message}"))
            return values, {}
        blended = self._blended(values, texts, marks)
        judged = {number: round(mark, 4) for number, mark in marks.items()}
        judged_values = [(value, number) for number, value in zip(texts, blended.tolist(), strict=True)]
        judged_values += [(_UNREAD * values[number], number) for number in numbers[:read] if number not in marks]
        judged_values.sort(key=lambda one: (-one[0], one[1]))
        # What was not judged stays below what was.
        floor = judged_values[-1][0] if judged_values else 0.0
        found = {number: value for value, number in judged_values}
        return found | {number: min(values[number], floor) for number in numbers[read:]}, judged

    def _blended(self, values: Mapping[int, float], texts: Mapping[int, str], marks: Mapping[int, float]) -> Numbers:
        """The fused scores of memories with what the reranker said of their best passages."""
        best = [one.embedder for one in self.channels.values() if one.embedder.strong]
        best = [one for one in best if one.knows(self.query.text)]
        strong = np.array([any(one.knows(text) for one in best) for text in texts.values()], bool)
        scripts = np.array([script_number(text) for text in texts.values()])
        foreign = (scripts > 0) & (self.parsed.script > 0) & (scripts != self.parsed.script)
        parts = self.index.sizes.bodies[self.index.memory_rows(np.array(list(texts), np.uint32))]
        pressed = np.clip(np.array([marks[number] for number in texts], np.float64), 1e-6, 1 - 1e-6)
        return fusion.reranked(
            np.array([values[number] for number in texts]),
            np.log(pressed / (1 - pressed)),
            strong,
            self.curve,
            foreign & ~strong if self.measured else None,
            np.array([len(text) for text in texts.values()]) * parts,
        )

    # ── what the answer is made of ────────────────────────────────────────────────────────────────────

    def load(self, numbers: Sequence[int]) -> list[Record]:
        """The memories of these numbers, in their order; those that are gone are left out."""
        missing = [self.base + number for number in numbers if number not in self.records]
        for record in self.snapshot.load(missing) if missing else ():
            self.records[record.id - self.base] = record
        return [self.records[number] for number in numbers if number in self.records]

    def passages_of(self, number: int) -> Numbers:
        """The places of a memory's passages among those that were scored, best first."""
        row = int(self.index.memory_rows(np.array([number], np.uint32))[0])
        inside = np.flatnonzero(self.index.passages["memory"][self.scores.passages] == row)
        found: Numbers = inside[np.argsort(-self.scores.passage_scores[inside], kind="stable")]
        return found

    def _best_passages(self, numbers: Sequence[int]) -> dict[int, str]:
        """The text of the best passage of each memory; of one that has none, nothing."""
        columns = self.index.passages
        best = {number: self.scores.passages[self.passages_of(number)[:1]] for number in numbers}
        wanted = {
            number: (int(columns["text"][row[0]]), int(columns["part"][row[0]]))
            for number, row in best.items()
            if len(row)
        }
        texts = {text.id: text for text in self.snapshot.texts_of([text for text, _ in wanted.values()])}
        found = dict.fromkeys(numbers, "")
        for number, (text, part) in wanted.items():
            if text in texts:
                found[number] = embedder_text(texts[text], part)
        return found
