"""Ranking: from a query and one moment of a project to the order of an answer.

What two lanes found is fused into one score for each memory, by pure functions. Scores are absolute: a score depends on
the query and the text and never on what else was found, so that 0.6 means the same from query to query.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from polymnia.engine.ports import Reranker, Snapshot
from polymnia.engine.search import lanes, snippets
from polymnia.engine.search.index import Index, Numbers
from polymnia.engine.search.passages import embedder_text
from polymnia.engine.search.query import IDENTICAL, PLACES, Parsed, place_in
from polymnia.engine.search.results import Query
from polymnia.engine.text import words
from polymnia.engine.text.language import script_number
from polymnia.errors import Fault
from polymnia.models import Record, Remark

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Channel

Floats: TypeAlias = NDArray[np.floating]
Ints: TypeAlias = NDArray[np.integer]
Flags: TypeAlias = NDArray[np.bool_]

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
# How many of the best candidates are read again: at least, and at most, as long as there are seconds and they have this
# share of the best score.
_DEPTHS = {"quick": (0, 0, 0.0, 0.0), "balanced": (8, 24, 0.08, 0.5), "thorough": (24, 60, 0.8, 0.0)}
_FEWEST = 2  # in any crowd
_READ_AT_MOST = 400  # characters of a passage
_AT_A_TIME = 4  # candidates that are read between two looks at the clock

_BORROWED = (0.35, 0.25, 0.15, 0.1)  # what a word counts that is said one, two, ... turns away
_LENT = (0.15, 0.08)  # the share of its score a turn lends one and two turns away
_PASSAGE = 0.5  # of a long text's words: its best passage; the rest is the text as a whole
_SAID = 0.8
_FOREIGN = 1.5  # a middling likeness across scripts is mostly chance, and must not bury a text that says the words
_UNHEARD = 2.0  # the same within one script, where texts that only sound alike are more
_OTHER_MODEL = 0.8  # what the meaning counts that the multilingual model sees, beside what the English one does
_READ_WHOLE = 500  # characters of a text that a reranker has read as a whole, and judges best
_LONG_TURN = 0.3  # what each doubling of its passages costs a turn: a long reply says a little of everything


class Curve(NamedTuple):
    """The chance that a text is meant, by its fused score: 1 - exp(-(score / middle) ** rise)."""

    middle: float
    rise: float


class Blend(NamedTuple):
    """How words and meaning make one score."""

    words: float
    """The share of the words in a text of one passage: less beside a better embedder."""
    easing: float
    """How much of that share is lost each time a text has twice the passages: in a long text most words occur."""
    least: float
    """The share the words keep in any text."""
    telling: float
    """How much that share grows where some text says the whole query; where one says half of it, by half of this."""
    curve: Curve
    by_meaning: Curve
    """The curve where the meaning alone is searched."""
    read: tuple[float, float, float]
    """The weights of the cross-encoder's logit, the fused score and 1 in the logit of being right. The first two decide
    the order; a common factor of all three and the last one decide what chance is shown."""


# Curves, `read` and FITS belong to the weights of the models: `python -m bench.meaning --fit` fits them again.
WEAK = Blend(0.45, 0.03, 0.35, 0.5, Curve(0.93, 1.66), Curve(1.39, 1.81), (0.379, 4.29, -2.56))
"""Beside a model that is not strong; set with the multilingual one."""
STRONG = Blend(0.34, 0.02, 0.3, 0.0, Curve(0.93, 2.22), Curve(1.01, 2.78), (0.450, 4.00, -2.92))
"""Beside a strong one; set with the English one."""
WORDS = Curve(0.3472, 0.9)
"""Where no model has read the query: how much of it a text says, and no chance."""
UNMEASURED = Curve(0.4167, 0.9)
"""Beside a model that was never measured: how near a text is, and no chance."""
FITS = 0.07
"""A best score below this means that probably nothing stored answers the query."""


def meaning_score(cosine: Floats, unrelated: float, answering: float = 1.0) -> Floats:
    """How near a text is in meaning to what is asked: 0 for unrelated ones, 1 for those that clearly answer."""
    found: Floats = np.clip((cosine - unrelated) / (answering - unrelated), -0.2, 1.0)
    return found


def fuse(
    words: Floats,
    meaning: Floats,
    blend: Blend = WEAK,
    parts: Ints | None = None,
    foreign: Flags | None = None,
    heard: float = 1.0,
) -> Floats:
    """One score of both lanes for each passage, given how many passages the text of each has.

    Of a text in another script than the query only the meaning can tell. ``heard`` is the largest share of the query
    that any text says: where none says much of it, the words are no guide and the meaning alone is believed.
    """
    share: float | Floats = blend.words
    if parts is not None:
        share = np.maximum(blend.least, blend.words - blend.easing * np.log2(np.maximum(parts, 1)))
    share = share + blend.telling * min(heard, 1.0)
    liked = np.maximum(meaning, 0.0)
    score = np.maximum(share * words + (1 - share) * meaning, (1 - min(heard, 1.0)) * liked**_UNHEARD)
    if foreign is None:
        return score
    # What a text in another script says of the words cannot be known: at most nearly as much as the best of the others.
    told = (1 - share + share * _SAID * min(heard, 1.0)) * liked**_FOREIGN
    return np.where(foreign, np.maximum(score, told), score)


def borrow(held: Floats, links: Ints) -> Floats:
    """What each turn holds of each group of the query (a row each), lent by the turns around it where they hold more.

    `links` has a row for each turn: the columns of the turns one before, one after, two before, ...; -1 for none.
    """
    padded = np.concatenate([held, np.zeros((held.shape[0], 1), held.dtype)], axis=1)  # -1 reads the zeros
    found = held.copy()
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


def moved(scores: Floats, curve: Curve, other: Curve) -> Floats:
    """Fused scores on another curve: those that are shown there as these are on their own."""
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
    """Fused scores of the best candidates after a cross-encoder has read them: those whose shown form is the chance of
    being right that both together give. ``strong`` says which of them were read in the language it is best at,
    ``foreign`` which have been moved to this curve from that of the weaker model. Of a long text it has read a part:
    the more characters (``lengths``) there are, the less its word weighs."""
    weights = np.where(strong[:, None], STRONG.read, WEAK.read)
    own = np.maximum(scores, 0.0)
    if lengths is not None:
        logits = logits / (1 + np.log2(np.maximum(lengths / _READ_WHOLE, 1.0)))
    if foreign is not None:
        own = np.where(foreign, moved(scores, curve, WEAK.curve), own)
    both = weights[:, 0] * logits + weights[:, 1] * own + weights[:, 2]
    chance = 1 / (1 + np.exp(-both))
    found: Floats = curve.middle * (-np.log1p(-np.minimum(chance, 0.9999))) ** (1 / curve.rise)
    return found


def shown(scores: Floats, curve: Curve = WEAK.curve) -> Floats:
    """Fused scores as a reader sees them: the chance that the text is meant. Never 1: that is for identical texts."""
    found: Floats = -np.expm1(-((np.maximum(scores, 0.0) / curve.middle) ** curve.rise))
    return found


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


class Scores(NamedTuple):
    """Memories with what each lane says of them, best first, and the passages that comes from.

    ``memories`` and ``passages`` are rows of the index; the passages of a memory are found through the index. ``fused``
    is what the memories are ordered by. Where no model has a word, ``similarity`` (the cosine) is NaN.
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
        """Those of some memories, given as a mask or as places."""
        return Scores._make([*(column[which] for column in self[:6]), *self[6:]])


class RankedSearch:
    """One query over one moment of one project. :meth:`run` asks the lanes; :meth:`order` is what comes of it.

    ``embed`` gives the query as each model sees it. ``crowd`` is how many searches share a core now: what is read again
    is shared among them too.
    """

    exact: set[int]
    lane: lanes.WordsLane
    vectors: Mapping[str, Numbers]
    curve: Curve
    scores: Scores

    def __init__(
        self,
        index: Index,
        snapshot: Snapshot,
        query: Query,
        parsed: Parsed,
        *,
        which: str,
        channels: Sequence[Channel],
        embed: Callable[[], Mapping[str, Numbers]],
        reranker: Reranker | None,
        effort: str,
        crowd: float = 1.0,
    ) -> None:
        self.index = index
        self.snapshot = snapshot
        self.query = query
        self.parsed = parsed
        self.which = which
        self.channels = channels
        self.notes: list[Remark] = []
        self.base = snapshot.numbers[0] * _SPAN
        self.records: dict[int, Record] = {}
        self._embed = embed
        self._reranker = reranker
        least, most, seconds, share = _DEPTHS[effort]
        self._depth = max(min(_FEWEST, least), int(least / crowd)), most, seconds / crowd, share

    def run(self) -> None:
        """Ask every lane, and fuse what they say."""
        self._allowed, self._known = self._mask()
        self.exact = self._exact()
        # Where the query stands as it is, nobody misspelt it.
        self.lane = lanes.by_words(self.index, self.snapshot, self.parsed, alike=not self.exact)
        self._terms = {term for one in self.lane.asked for term, _, _ in one.terms}
        self._starts = {term[:2] for term in self._terms}
        self._matching: dict[str, bool] = {}  # what was found shares many words
        self.vectors = self._embed()
        # The weaker model first: what a strong one says comes after it and counts more.
        models = [one.embedder for one in self.channels if one.name in self.vectors]
        self._models = sorted(models, key=lambda model: model.strong)
        self.curve = self._curve()
        self.scores = self._scores()

    def _curve(self) -> Curve:
        """What fused scores mean, by the models that read the query and the lanes that were searched."""
        if not self._models:
            return WORDS
        if any(model.answers[1] >= 1.0 for model in self._models):  # nobody has looked how near its answers are
            return UNMEASURED
        return self._curve_of(STRONG if self._models[-1].strong else WEAK)

    def _curve_of(self, blend: Blend) -> Curve:
        return blend.by_meaning if self.which == "meaning" else blend.curve

    @property
    def measured(self) -> bool:
        """Whether the scores are chances."""
        return self.curve not in (WORDS, UNMEASURED)

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
            found = found.only(np.isin(numbers, np.fromiter(passing, np.uint32, len(passing))))
            exhausted = len(rows) >= np.count_nonzero(index.passages["alive"]) or wider > 4096
            if len(found.memories) >= _FILTERED or exhausted:
                return found
            wider *= _WIDER

    def _scored(self, rows: Numbers) -> Scores:
        """Fuse what the lanes say about these passages, gather it by memory, and order the memories."""
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
        """The share of the query each passage says, with what its memory is called, what kind it is, how it is tagged.

        Turns of a conversation borrow words from those around them. Of a long memory the whole counts too.
        """
        lane = self.lane
        held = lane.held_by(rows, self.index.memories["head"][owners][place], _HEAD)
        total = held.sum(axis=0)
        if lane.time_gains is not None:
            total += lane.time_gains[rows]
        passages = lanes.words_score(total, lane.passage_asked)
        if links is not None and lane.asked:
            turns = np.zeros((len(lane.asked), len(owners)), np.float32)
            for at in range(len(lane.asked)):
                np.maximum.at(turns[at], place, held[at])
            own = lanes.words_score(turns.sum(axis=0), lane.passage_asked)
            lifted = lanes.words_score(borrow(turns, links).sum(axis=0), lane.passage_asked)
            passages = passages + np.maximum(lifted - own, 0)[place]
        passages = passages * weight
        whole = lanes.words_score(lane.memories[owners], lane.memory_asked)[place]
        long = self.index.sizes.bodies[owners][place] > 1
        found: Numbers = np.where(long, _PASSAGE * passages + (1 - _PASSAGE) * whole, passages).astype(np.float32)
        return found

    def _meaning(self, rows: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """The cosine of each passage, what it counts, and whether a strong model said so."""
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
            heard = float(words.max(initial=0.0))
            score = fuse(words, meaning, WEAK, parts, foreign, heard)
            if strong.any():
                score = np.where(strong, fuse(words, meaning, STRONG, parts, foreign, heard), score)
        if self.curve == self._curve_of(STRONG):
            # One order needs one scale: a score means more in a text of which only the weaker model can tell.
            weak = moved(score, self._curve_of(WEAK), self.curve)
            score = np.where(foreign & ~strong, weak, score).astype(np.float32)
        return score

    def _is_foreign(self, scripts: Numbers) -> Numbers:
        """Which texts, given by their scripts, are in another one than the query: there the words cannot tell."""
        found: Numbers = (scripts != self.parsed.script) & (scripts > 0) & (self.parsed.script > 0)
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
        first = self._exact_order(dict(zip(numbers, shown(fused, self.curve).tolist(), strict=True)))
        others = sorted(
            (-value, number)
            for number, value in zip(numbers, fused.tolist(), strict=True)
            if number not in self.exact and (number in matching or self.query.at_least is not None)
        )[:_DEEP]
        values, judged = {number: -value for value, number in others}, dict[int, float]()
        # A misspelt word means nothing to a model that reads it as it stands.
        reranker = self._reranker if self._depth[1] and self.vectors and not self.lane.misspelt else None
        if reranker is not None and reranker.knows(self.query.text):
            values, judged = self._reranked(values, reranker)
        scores = shown(np.array(list(values.values())), self.curve)
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
        # What was not judged stays below what was.
        floor = judged_values[-1][0] if judged_values else 0.0
        found = {number: value for value, number in judged_values}
        return found | {number: min(values[number], floor) for number in numbers[read:]}, judged

    def _blended(self, values: Mapping[int, float], texts: Mapping[int, str], marks: Mapping[int, float]) -> Numbers:
        """The fused scores of memories with what the reranker said of their best passages."""
        models = [one.embedder for one in self.channels if one.embedder.strong]
        models = [one for one in models if one.knows(self.query.text)]
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

    # ── what the answer is made of ────────────────────────────────────────────────────────────────────

    def load(self, numbers: Sequence[int]) -> list[Record]:
        """The memories of these numbers, in their order; those that are gone are left out."""
        missing = [self.base + number for number in numbers if number not in self.records]
        for record in self.snapshot.load(missing) if missing else ():
            self.records[record.id - self.base] = record
        return [self.records[number] for number in numbers if number in self.records]

    def matches(self, word: str) -> bool:
        """Whether a word of a text is one of those asked for."""
        known = self._matching.get(word)
        if known is None:
            # Every form of a plain word begins as the word does.
            hopeless = word.isascii() and word.isalpha() and word[:2].lower() not in self._starts
            known = self._matching[word] = not hopeless and not self._terms.isdisjoint(words.terms(word).counts)
        return known

    def passages_of(self, number: int) -> Numbers:
        """The places of a memory's passages among those that were scored, best first."""
        row = int(self.index.memory_rows(np.array([number], np.uint32))[0])
        inside = np.flatnonzero(self.index.passages["memory"][self.scores.passages] == row)
        found: Numbers = inside[np.argsort(-self.scores.passage_scores[inside], kind="stable")]
        return found

    def _best_passages(self, numbers: Sequence[int]) -> dict[int, str]:
        """The text of the best passage of each memory, of a long one the best piece; of one that has none, nothing."""
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
