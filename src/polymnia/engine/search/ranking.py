"""Ranking: from a query and a snapshot of a project to an ordered list of memories.

The results of the lanes are fused into one score for each memory, by pure functions. Scores are absolute: a score
depends on the query and the text, never on what else was found, so 0.6 means the same from query to query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from polymnia.engine.ports import Reranker
from polymnia.engine.search import lanes, snippets
from polymnia.engine.search.index import Numbers
from polymnia.engine.search.lanes import IDENTICAL, PLACES, ParsedQuery, place_in
from polymnia.engine.search.passages import embedder_text
from polymnia.engine.search.results import Query
from polymnia.engine.text import words
from polymnia.engine.text.language import script_number
from polymnia.errors import Fault
from polymnia.models import Record, Remark

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Channel, ProjectIndex

Floats: TypeAlias = NDArray[np.floating]
Ints: TypeAlias = NDArray[np.integer]
Flags: TypeAlias = NDArray[np.bool_]

_LISTED = 2_000  # up to so many memories that pass the filters are listed one by one in any case,
_MOST_LISTED = 30_000  # and so many at most; beyond, candidates are checked when they turn up
_FILTERED = 50  # so many that pass are enough; with fewer, more candidates are selected
_WIDER = 8
_HEAD = 0.8  # weight of a word that occurs only in the head of its memory
_DEEP = 1_000  # the most memories of an answer that do not contain the query verbatim
_EXACT = 2_000  # so many memories that contain the query verbatim are ordered by the place of it
_NEAR = 0.2  # the meaning score of a memory that answers without a word of the query;
_NEARLY = 0.1  # if there is one, this is enough for others
_FAINT = 0.25  # the rest is no answer and gets this share of its score, which brings it below 0.1
_RELATED = 40  # the best memories, whose links count
_LINKED = 0.3  # the most that a link to the best one adds
_AGED = 0.13  # the most that age takes off
_BELOW = 0.001  # the distance of what only resembles the query to what contains it verbatim,
_PRESSED = 0.01  # and the range in which those that would be above it keep their order
_UNREAD = 0.5  # what remains of the score of a text that the reranker cannot read
_DIGITS = 4  # of a score in a result
_SPAN = 1 << 32
_DAY = 86_400_000_000
_FAR = 1 << 62
# How many of the best candidates are reranked: at least; at most, while there are seconds left and they have this share
# of the best score.
_DEPTHS = {"quick": (0, 0, 0.0, 0.0), "balanced": (8, 24, 0.08, 0.5), "thorough": (24, 60, 0.8, 0.0)}
_FEWEST = 2  # however many searches run
_READ_AT_MOST = 400  # characters of a passage
_AT_A_TIME = 4  # candidates that are reranked between two looks at the clock

_BORROWED = (0.35, 0.25, 0.15, 0.1)  # weight of a word that occurs one, two, ... turns away
_LENT = (0.15, 0.08)  # the share of its score that a turn lends one and two turns away
_PASSAGE = 0.5  # weight of the best passage of a long text; the rest is the text as a whole
_FOREIGN_WORDS = 0.8
_FOREIGN = 1.5  # a middling similarity across scripts is mostly chance, and must not bury a text with the words
_UNCOVERED = 2.0  # the same in one script, where texts that only sound alike are more frequent
_OTHER_MODEL = 0.8  # weight of the multilingual model beside the English one
_READ_WHOLE = 500  # characters of a text that a reranker reads as a whole, and judges best
_LONG_TURN = 0.3  # what each doubling of its passages costs a turn: a long reply says a little of everything


class Curve(NamedTuple):
    """The probability that a text is relevant, by its fused score: 1 - exp(-(score / middle) ** rise)."""

    middle: float
    rise: float


class Blend(NamedTuple):
    """How words and meaning make one score."""

    words: float
    """The share of the words in a text of one passage: less beside a better embedder."""
    easing: float
    """How much of that share is lost with each doubling of the passages: in a long text most words occur."""
    least: float
    """The least share of the words in any text."""
    telling: float
    """How much that share grows if some text contains the whole query; if one contains half of it, by half of this."""
    curve: Curve
    by_meaning: Curve
    """The curve if only the meaning is searched."""
    read: tuple[float, float, float]
    """The weights of the cross-encoder's logit, the fused score and 1 in the logit of relevance. The first two decide
    the order; a common factor of all three and the last one decide the resulting probability."""


# Curves, `read` and FITS belong to the weights of the models: `python -m bench.meaning --fit` fits them again.
WEAK = Blend(0.45, 0.03, 0.35, 0.5, Curve(0.93, 1.66), Curve(1.39, 1.81), (0.379, 4.29, -2.56))
"""Beside a model that is not strong; set with the multilingual one."""
STRONG = Blend(0.34, 0.02, 0.3, 0.0, Curve(0.93, 2.22), Curve(1.01, 2.78), (0.450, 4.00, -2.92))
"""Beside a strong one; set with the English one."""
WORDS = Curve(0.3472, 0.9)
"""Without a model for the query: how much of it a text contains, and no probability."""
UNMEASURED = Curve(0.4167, 0.9)
"""With a model that was never measured: how near a text is, and no probability."""
FITS = 0.07
"""If the best score is below this, probably nothing stored answers the query."""


def meaning_score(cosine: Floats, unrelated: float, answering: float = 1.0) -> Floats:
    """How near a text is in meaning: 0 for unrelated ones, 1 for those that clearly answer."""
    found: Floats = np.clip((cosine - unrelated) / (answering - unrelated), -0.2, 1.0)
    return found


def fuse(
    words: Floats,
    meaning: Floats,
    blend: Blend = WEAK,
    parts: Ints | None = None,
    foreign: Flags | None = None,
    coverage: float = 1.0,
) -> Floats:
    """One score of both lanes for each passage, given how many passages its text has.

    For a text in another script than the query (``foreign``) only the meaning counts. ``coverage`` is the largest share
    of the query that any text contains: if it is low, the words are no guide and the meaning decides.
    """
    coverage = min(coverage, 1.0)
    share: float | Floats = blend.words
    if parts is not None:
        share = np.maximum(blend.least, blend.words - blend.easing * np.log2(np.maximum(parts, 1)))
    share = share + blend.telling * coverage
    near = np.maximum(meaning, 0.0)
    score = np.maximum(share * words + (1 - share) * meaning, (1 - coverage) * near**_UNCOVERED)
    if foreign is None:
        return score
    # How many words a text in another script would share is unknown: at most nearly as many as the best of the others.
    assumed = (1 - share + share * _FOREIGN_WORDS * coverage) * near**_FOREIGN
    return np.where(foreign, np.maximum(score, assumed), score)


def borrow(gains: Floats, links: Ints) -> Floats:
    """The gains of each turn for each group of the query (a row each), with what turns around it lend if that is more.

    ``links`` has a row for each turn: the columns of the turns one before, one after, two before, ...; -1 for none.
    """
    padded = np.concatenate([gains, np.zeros((gains.shape[0], 1), gains.dtype)], axis=1)  # -1 reads the zeros
    found = gains.copy()
    for at in range(min(links.shape[1], 2 * len(_BORROWED))):
        np.maximum(found, _BORROWED[at // 2] * padded[:, links[:, at]], out=found)
    return found


def lend(scores: Floats, links: Ints) -> Floats:
    """Fused scores with the share that neighbouring turns lend; links as for :func:`borrow`."""
    padded = np.append(np.maximum(scores, 0.0), 0.0)
    found = scores.copy()
    for at in range(min(links.shape[1], 2 * len(_LENT))):
        found += _LENT[at // 2] * padded[links[:, at]]
    return found


def rescaled(scores: Floats, curve: Curve, other: Curve) -> Floats:
    """The fused scores that have the same probabilities on another curve."""
    found: Floats = other.middle * (np.maximum(scores, 0.0) / curve.middle) ** (curve.rise / other.rise)
    return found


def reranked(
    scores: Floats,
    logits: Floats,
    strong: Flags,
    curve: Curve = WEAK.curve,
    foreign: Flags | None = None,
    lengths: Ints | None = None,
) -> Floats:
    """Fused scores of the best candidates after a cross-encoder has read them; their probabilities combine both.

    ``strong`` says which were read in the language it is best at, ``foreign`` which were rescaled to this curve from
    that of the weaker model. It reads only part of a long text: the more characters (``lengths``), the less it counts.
    """
    weights = np.where(strong[:, None], STRONG.read, WEAK.read)
    own = np.maximum(scores, 0.0)
    if lengths is not None:
        logits = logits / (1 + np.log2(np.maximum(lengths / _READ_WHOLE, 1.0)))
    if foreign is not None:
        own = np.where(foreign, rescaled(scores, curve, WEAK.curve), own)
    both = weights[:, 0] * logits + weights[:, 1] * own + weights[:, 2]
    chance = 1 / (1 + np.exp(-both))
    found: Floats = curve.middle * (-np.log1p(-np.minimum(chance, 0.9999))) ** (1 / curve.rise)
    return found


def probability(scores: Floats, curve: Curve = WEAK.curve) -> Floats:
    """The probability that each text is relevant, by its fused score. Never 1: that is for identical texts."""
    found: Floats = -np.expm1(-((np.maximum(scores, 0.0) / curve.middle) ** curve.rise))
    return found


class Ranked(Struct, frozen=True, gc=False, array_like=True):
    """A memory in the order of an answer: its tier (0 contains the query verbatim), the place of the query, its score.

    Within an answer scores fall with the order. ``judged`` is the score of the reranker.
    """

    tier: int
    place: int
    score: float
    number: int
    judged: float | None = None

    @property
    def key(self) -> tuple[float, ...]:
        """The sort key."""
        return (self.tier, self.place, -self.score, self.number)


class Scores(NamedTuple):
    """Memories with their scores by lane, best first, and the passages these come from.

    ``memories`` and ``passages`` are rows of the index. The memories are ordered by ``fused``. Without a vector,
    ``similarity`` (the cosine) is NaN.
    """

    memories: Numbers
    fused: Numbers
    lent: Numbers
    words: Numbers
    meaning: Numbers
    similarity: Numbers
    passages: Numbers
    passage_scores: Numbers

    def only(self, which: Numbers) -> Scores:
        """The scores of some memories, selected by a mask or by positions."""
        return Scores._make([*(column[which] for column in self[:6]), *self[6:]])


class RankedSearch:
    """One query over one snapshot of one project: :meth:`run` searches the lanes, :meth:`order` ranks the results.

    ``embed`` returns the vectors of the query by model. ``crowd`` is how many searches share a core: the more, the
    fewer candidates are reranked.
    """

    def __init__(
        self,
        view: ProjectIndex,
        query: Query,
        parsed: ParsedQuery,
        *,
        which: str,
        channels: Sequence[Channel],
        embed: Callable[[], Mapping[str, Numbers]],
        reranker: Reranker | None,
        effort: str,
        crowd: float = 1.0,
    ) -> None:
        self.index = view.index
        self.snapshot = view.snapshot
        self.query = query
        self.parsed = parsed
        self.which = which
        self.channels = channels
        self.notes: list[Remark] = []
        self.base = view.snapshot.numbers[0] * _SPAN
        self.records: dict[int, Record] = {}
        self._embed = embed
        self._reranker = reranker
        least, most, seconds, share = _DEPTHS[effort]
        self._depth = max(min(_FEWEST, least), int(least / crowd)), most, seconds / crowd, share

    def run(self) -> None:
        """Search every lane, and fuse the results."""
        self._allowed, self._listed = self._mask()
        self.exact = self._exact()
        # A query that occurs verbatim is not misspelt.
        self.lane = lanes.by_words(self.index, self.snapshot, self.parsed, alike=not self.exact)
        self._terms = {term for one in self.lane.groups for term, _, _ in one.terms}
        self._starts = {term[:2] for term in self._terms}
        self._matching: dict[str, bool] = {}  # results share many words
        self.vectors = self._embed()
        # The weaker model first: a strong one comes after it and counts more.
        models = [one.embedder for one in self.channels if one.name in self.vectors]
        self._models = sorted(models, key=lambda model: model.strong)
        self.curve = self._curve()
        self.scores = self._scores()

    def _curve(self) -> Curve:
        """The curve of the fused scores, by the models that read the query and the lanes that were searched."""
        if not self._models:
            return WORDS
        if any(model.answers[1] >= 1.0 for model in self._models):  # never measured
            return UNMEASURED
        return self._curve_of(STRONG if self._models[-1].strong else WEAK)

    def _curve_of(self, blend: Blend) -> Curve:
        return blend.by_meaning if self.which == "meaning" else blend.curve

    @property
    def measured(self) -> bool:
        """Whether the scores are probabilities."""
        return self.curve not in (WORDS, UNMEASURED)

    # ── filters ───────────────────────────────────────────────────────────────────────────────────────

    def _mask(self) -> tuple[Numbers | None, bool]:
        """Which memories pass the filters (None if too many do), and whether nothing remains to be checked.

        The index has the days. For other filters the store is queried, if it has an index that finds few quickly.
        """
        filters = self.query.filters
        if filters.empty:
            return None, True
        if filters.names or filters.kinds or filters.tags or filters.scope:
            # If one of eight passes, checking candidates as they turn up costs less than listing all that pass.
            most = min(_MOST_LISTED, max(_LISTED, self.index.memories.count // 8))
            if not self.snapshot.passes_more(filters, most):
                return self.index.memory_mask(self.snapshot.matching(filters)), True
        if filters.created_from is None and filters.created_to is None:
            return None, False
        day = self.index.passages["day"][self.index.memories["head"]]
        first = (filters.created_from or 0) // _DAY
        last = (filters.created_to if filters.created_to is not None else _FAR) // _DAY
        inside = (day >= first) & (day <= last)
        # Only on the first and the last day the hour matters, and only if there is no other filter.
        only = replace(filters, created_from=None, created_to=None).empty
        inside[0] = False
        return inside, only and not ((day[1:] == first) | (day[1:] == last)).any()

    def _passing(self, numbers: Sequence[int]) -> set[int]:
        if self.query.filters.empty:
            return set(numbers)
        if self._listed and self._allowed is not None:
            rows = self.index.memory_rows(np.array(numbers, np.uint32))
            return {number for number, row in zip(numbers, rows.tolist(), strict=True) if self._allowed[row]}
        return set(self.snapshot.matching(self.query.filters, among=numbers)) if numbers else set()

    def _exact(self) -> set[int]:
        """The numbers of the memories that contain the query verbatim; by meaning alone, of those identical to it."""
        forms = self.parsed.forms
        if not forms:
            return set()
        found = self._passing([id - self.base for id in self.snapshot.containing(forms)])
        if self.which != "meaning":
            return found
        return {one.id - self.base for one in self.load(sorted(found)[:_EXACT]) if place_in(one, forms) <= IDENTICAL}

    # ── scores ────────────────────────────────────────────────────────────────────────────────────────

    def _scores(self) -> Scores:
        """The candidates with their scores. If few pass the filters, more candidates are selected."""
        index, breadth = self.index, 1
        everything = self.query.at_least == 0
        while True:
            rows = lanes.candidates(index, self.lane, self.vectors, self._allowed, breadth, everything=everything)
            found = self._scored(rows)
            if self._listed:
                return found
            numbers = index.memories["number"][found.memories]
            passing = self._passing(numbers.tolist())
            found = found.only(np.isin(numbers, np.fromiter(passing, np.uint32, len(passing))))
            exhausted = len(rows) >= np.count_nonzero(index.passages["alive"]) or breadth > 4096
            if len(found.memories) >= _FILTERED or exhausted:
                return found
            breadth *= _WIDER

    def _scored(self, rows: Numbers) -> Scores:
        """Fuse the scores of these passages, take the best of each memory, and order the memories."""
        index = self.index
        owners, place = np.unique(index.passages["memory"][rows], return_inverse=True)
        bodies = index.sizes.bodies[owners]
        weight = 0.5 + index.passages["weight"][rows] * np.float32(0.005)
        turns = lanes.are_turns(index, owners)
        links = lanes.links(index, owners, turns)
        words = self._words(rows, owners, place, weight, links)
        similarity, meaning, score = words * np.nan, np.zeros(len(rows), np.float32), words
        if self.vectors:
            similarity, meaning, strong = self._meaning(rows)
            meaning *= weight
            foreign = self._is_foreign(index.passages["script"][rows]) & ~np.isnan(similarity)
            score = self._fused(words, meaning, strong, foreign, bodies[place])
        best = np.zeros(len(owners), np.float32)
        np.maximum.at(best, place, score.astype(np.float32))
        best = np.where(turns, best / (1 + _LONG_TURN * np.log2(np.maximum(bodies, 1))), best)
        total = best if links is None else lend(best, links)
        columns = [owners, total, total - best]
        for values in (words, meaning, similarity):
            column = np.full(len(owners), np.nan, np.float32)
            np.fmax.at(column, place, values.astype(np.float32))
            columns.append(column)
        return Scores._make([*columns, rows, score]).only(np.argsort(-total, kind="stable"))

    def _words(self, rows: Numbers, owners: Numbers, place: Numbers, weight: Numbers, links: Numbers | None) -> Numbers:
        """The share of the query that each passage contains, together with the name, kind and tags of its memory.

        Turns of a conversation borrow words from those around them. Of a long memory the whole counts too.
        """
        lane = self.lane
        gains = lane.gains(rows, self.index.memories["head"][owners][place], _HEAD)
        total = gains.sum(axis=0)
        if lane.time_gains is not None:
            total += lane.time_gains[rows]
        passages = lanes.words_score(total, lane.passage_weight)
        if links is not None and lane.groups:
            turns = np.zeros((len(lane.groups), len(owners)), np.float32)
            for at in range(len(lane.groups)):
                np.maximum.at(turns[at], place, gains[at])
            own = lanes.words_score(turns.sum(axis=0), lane.passage_weight)
            lifted = lanes.words_score(borrow(turns, links).sum(axis=0), lane.passage_weight)
            passages = passages + np.maximum(lifted - own, 0)[place]
        passages = passages * weight
        whole = lanes.words_score(lane.memories[owners], lane.memory_weight)[place]
        long = self.index.sizes.bodies[owners][place] > 1
        found: Numbers = np.where(long, _PASSAGE * passages + (1 - _PASSAGE) * whole, passages).astype(np.float32)
        return found

    def _meaning(self, rows: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The cosine of each passage, its meaning score, and whether both are from a strong model."""
        similarity = np.full(len(rows), np.nan, np.float32)
        meaning = np.zeros(len(rows), np.float32)
        strong = np.zeros(len(rows), bool)
        for model in self._models:
            if (vectors := self.index.vectors.get(model.id)) is None:
                continue
            cosine = vectors.cosines(self.snapshot, self.vectors[model.id], rows)
            there = ~np.isnan(cosine)
            counts = meaning_score(np.nan_to_num(cosine), *model.answers)
            if model.strong:
                counts = np.maximum(counts, _OTHER_MODEL * meaning)
            meaning = np.where(there, counts, meaning)
            similarity = np.where(there, cosine, similarity)
            strong |= there & model.strong
        return similarity, meaning, strong

    def _fused(self, words: Numbers, meaning: Numbers, strong: Numbers, foreign: Numbers, parts: Numbers) -> Numbers:
        score = meaning
        if self.which != "meaning":
            coverage = float(words.max(initial=0.0))
            score = fuse(words, meaning, WEAK, parts, foreign, coverage)
            if strong.any():
                score = np.where(strong, fuse(words, meaning, STRONG, parts, foreign, coverage), score)
        if self.curve == self._curve_of(STRONG):
            # One order needs one scale: a score means more in a text that only the weaker model can read.
            weak = rescaled(score, self._curve_of(WEAK), self.curve)
            score = np.where(foreign & ~strong, weak, score).astype(np.float32)
        return score

    def _is_foreign(self, scripts: Numbers) -> Numbers:
        """Which of these scripts differ from that of the query, so that the words cannot match."""
        found: Numbers = (scripts != self.parsed.script) & (scripts > 0) & (self.parsed.script > 0)
        return found

    # ── the order ─────────────────────────────────────────────────────────────────────────────────────

    def order(self) -> list[Ranked]:
        """Everything that answers, best first; what contains the query verbatim comes before everything else.

        A memory without a word of the query that is not near to its meaning is left out if no least score is given, and
        has a low score otherwise. If nothing has the least score, the query may accept the rest all the same.
        """
        numbers = self.index.memories["number"][self.scores.memories].tolist()
        meaning = self.scores.meaning
        matches = meaning >= (_NEARLY if (meaning >= _NEAR).any() else _NEAR)
        if self.which != "meaning":
            matches |= self.scores.words > 0
        fused = np.where(matches, 1.0, _FAINT) * self._adjusted()
        matching = {number for number, enough in zip(numbers, matches.tolist(), strict=True) if enough}
        first = self._exact_order(dict(zip(numbers, probability(fused, self.curve).tolist(), strict=True)))
        others = sorted(
            (-value, number)
            for number, value in zip(numbers, fused.tolist(), strict=True)
            if number not in self.exact and (number in matching or self.query.at_least is not None)
        )[:_DEEP]
        values, judged = {number: -value for value, number in others}, dict[int, float]()
        # A misspelt word means nothing to a model.
        reranker = self._reranker if self._depth[1] and self.vectors and not self.lane.misspelt else None
        if reranker is not None and reranker.knows(self.query.text):
            values, judged = self._reranked(values, reranker)
        scores = probability(np.array(list(values.values())), self.curve)
        if first:
            ceiling = first[-1].score - _BELOW
            scores = np.maximum(0.0, np.minimum(scores, ceiling - _PRESSED * (1 - scores)))
        rest = [Ranked(1, 0, score, n, judged.get(n)) for score, n in zip(scores.tolist(), values, strict=True)]
        least = self.query.at_least or 0.0
        found = [one for one in first + rest if round(one.score, _DIGITS) >= least]
        if not found and self.query.or_nearest:
            return [one for one in rest if one.number in matching]
        return found

    def _exact_order(self, score_of: Mapping[int, float]) -> list[Ranked]:
        near = sorted(self.exact, key=lambda number: (-score_of.get(number, 0.0), number))
        found = []
        for record in self.load(near[:_EXACT]):
            number, at = record.id - self.base, place_in(record, self.parsed.forms)
            found.append(Ranked(0, at, PLACES[at].score(score_of.get(number, 0.0)), number))
        last = len(PLACES) - 1
        found += [Ranked(0, last, PLACES[last].least, number) for number in near[_EXACT:]]
        return sorted(found, key=lambda one: one.key)

    def _adjusted(self) -> Numbers:
        """The fused scores, adjusted for age and for links to other results if the query says so."""
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
        """Rerank the best memories by a model that reads query and passage together.

        Returns the memories in their new order, and the model's scores of those that it could read.
        """
        least, most, seconds, share = self._depth
        until = monotonic() + seconds
        numbers = list(values)
        near = sum(value >= share * values[numbers[0]] for value in values.values()) if values else 0
        passages = list(self._best_passages(numbers[: min(most, max(least, near))]).items())
        texts: dict[int, str] = {}
        marks: dict[int, float] = {}
        read, step = 0, min(_AT_A_TIME, least)
        try:
            reranker.load()
            while read < len(passages) and (read < least or monotonic() < until):
                some = {number: text for number, text in passages[read : read + step] if reranker.knows(text)}
                marks.update(zip(some, reranker.score(self.query.text, list(some.values())), strict=True))
                texts |= some
                read += step
        except Fault as e:
            self.notes.append(Remark("no_reranker", {"fault": e.message}))
            return values, {}
        blended = self._blended(values, texts, marks)
        judged = {number: round(mark, 4) for number, mark in marks.items()}
        judged_values = [(value, number) for number, value in zip(texts, blended.tolist(), strict=True)]
        judged_values += [(_UNREAD * values[number], number) for number in numbers[:read] if number not in marks]
        judged_values.sort(key=lambda one: (-one[0], one[1]))
        # What was not reranked stays below what was.
        floor = judged_values[-1][0] if judged_values else 0.0
        found = {number: value for value, number in judged_values}
        return found | {number: min(values[number], floor) for number in numbers[read:]}, judged

    def _blended(self, values: Mapping[int, float], texts: Mapping[int, str], marks: Mapping[int, float]) -> Numbers:
        """The fused scores of memories, combined with the reranker's scores of their best passages."""
        embedders = [one.embedder for one in self.channels]
        models = [one for one in embedders if one.strong and one.knows(self.query.text)]
        strong = np.array([any(one.knows(text) for one in models) for text in texts.values()], bool)
        foreign = self._is_foreign(np.array([script_number(text) for text in texts.values()]))
        parts = self.index.sizes.bodies[self.index.memory_rows(np.array(list(texts), np.uint32))]
        pressed = np.clip(np.array([marks[number] for number in texts], np.float64), 1e-6, 1 - 1e-6)
        return reranked(
            np.array([values[number] for number in texts]),
            np.log(pressed / (1 - pressed)),
            strong,
            self.curve,
            foreign & ~strong if self.measured else None,
            np.array([len(text) for text in texts.values()]) * parts,
        )

    # ── records and passages ──────────────────────────────────────────────────────────────────────────

    def load(self, numbers: Sequence[int]) -> list[Record]:
        """The memories with these numbers, in this order, without deleted ones."""
        missing = [self.base + number for number in numbers if number not in self.records]
        for record in self.snapshot.load(missing) if missing else ():
            self.records[record.id - self.base] = record
        return [self.records[number] for number in numbers if number in self.records]

    def matches(self, word: str) -> bool:
        """Whether a word of a text is one of the query."""
        known = self._matching.get(word)
        if known is None:
            # Every form of a plain word begins as the word does.
            hopeless = word.isascii() and word.isalpha() and word[:2].lower() not in self._starts
            known = self._matching[word] = not hopeless and not self._terms.isdisjoint(words.terms(word).counts)
        return known

    def passages_of(self, number: int) -> Numbers:
        """The positions of a memory's passages among those that were scored, best first."""
        row = int(self.index.memory_rows(np.array([number], np.uint32))[0])
        inside = np.flatnonzero(self.index.passages["memory"][self.scores.passages] == row)
        found: Numbers = inside[np.argsort(-self.scores.passage_scores[inside], kind="stable")]
        return found

    def _best_passages(self, numbers: Sequence[int]) -> dict[int, str]:
        """The text of the best passage of each memory, or the best piece of a long one; empty without a passage."""
        columns = self.index.passages
        best = {number: self.scores.passages[self.passages_of(number)[:1]] for number in numbers}
        places = {number: (int(columns["text"][row[0]]), row[0]) for number, row in best.items() if len(row)}
        texts = {text.id: text for text in self.snapshot.texts_of([text for text, _ in places.values()])}
        there = {number: (texts[text], row) for number, (text, row) in places.items() if text in texts}
        found = {number: embedder_text(text, int(columns["part"][row])) for number, (text, row) in there.items()}
        for number, text in found.items():
            if len(text) > _READ_AT_MOST:
                found[number] = snippets.best_piece(text, snippets.find(text, self.matches), _READ_AT_MOST)[0]
        return dict.fromkeys(numbers, "") | found
