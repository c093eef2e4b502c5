"""The lanes: a query is parsed, found verbatim, scored by its words, and candidates for the ranking are selected.

A memory may be a turn of a conversation. A speaker before a text is no proof: notes begin with "Budget: " too, and
facts about people with their names. It is a turn if its kind says so, if an assistant speaks, if it is a question that
somebody else answers (or that answer), or if a speaker returns nearby after somebody else spoke. Turns of one
conversation are at most REACH memories and a day apart.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from math import log1p
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from polymnia.engine.ports import Snapshot
from polymnia.engine.search.index import K1, K1_WHOLE, Index, Numbers
from polymnia.engine.search.passages import ASKS, CONVERSATION, SPEAKER, SURE
from polymnia.engine.search.results import Query
from polymnia.engine.text import dates, words
from polymnia.engine.text.dates import TimeRange
from polymnia.engine.text.language import fold as fold_word
from polymnia.engine.text.language import script_number
from polymnia.engine.text.words import Group, similar
from polymnia.errors import Invalid
from polymnia.models import SHORTEST_ID, Filters, Record, fold, folded_forms

_LANES = ("all", "words", "meaning")
_EFFORTS = ("quick", "balanced", "thorough")
_MOST_GROUPS = 48  # words of a query that are looked up; the rest of a very long one is left to its meaning
_LONGEST_VERBATIM = 400  # a longer query is not searched for verbatim
_TIME = "Times are microseconds since 1970 in UTC: int(moment.timestamp() * 1_000_000)."
_ZONE = "It is the difference to UTC in minutes: 540 for Seoul."
_ALIKE = 0.6  # weight of a term that is merely similar to a word of the query
_MOST_TERMS = 20_000
_MOST_ALIKE = 3
_LONG_WORD = 6
_MENTIONED = 1.0  # weight of mentioning the time of the query, relative to a word as rare,
_CREATED = 0.4  # and of having been stored then, which may mean nothing
_DAY = 86_400_000_000
_WORDS = 80  # passages selected by words; half as many memories
_MEANING = 140  # passages selected by each model: the bits are a rough guide,
_MORE = 1000  # so one more for each so many passages there are,
_MOST = 1000  # up to this
_TURNS = 200  # memories whose neighbours in a conversation are candidates too
_PARTS = 4  # the first passages of a long memory are candidates in any case
_EVERYTHING = 2_000  # passages at most if nothing is to be hidden
_FULL = 1.2  # a text can contain every word more than once, which is worth little
REACH = 4
"""How many turns away a turn of the same conversation can help."""
STEPS = tuple(step for distance in range(1, REACH + 1) for step in (-distance, distance))
"""The positions of the turns around a turn, nearest first."""

_Postings = tuple[str, float, Numbers]  # a term, its weight, and its postings


# ── the query ─────────────────────────────────────────────────────────────────────────────────────────────


class ParsedQuery(Struct, frozen=True):
    """A parsed query: its folded forms, word groups, the time it asks for, its script, and the current time."""

    forms: tuple[str, ...]
    groups: list[Group]
    time: TimeRange | None
    script: int
    now: int


def parse(query: Query) -> ParsedQuery:
    """Parse a query. Nothing in it is syntax."""
    _check(query)
    now = query.now if query.now is not None else time.time_ns() // 1000
    text = query.text.strip()
    period = dates.find_time_range(text, now, query.zone)
    groups: list[Group] = []
    if period is not None and not period.any_year and not any(c.isdigit() for c in period.text):
        # A relative time is no word to look for: "last week" would find whatever is weekly.
        groups = words.groups(period.rest)
    forms = folded_forms(text) if len(text) <= _LONGEST_VERBATIM else ()
    return ParsedQuery(forms, (groups or words.groups(text))[:_MOST_GROUPS], period, script_number(text), now)


def _check(query: Query) -> None:
    for name, value, known in (("lanes", query.lanes, _LANES), ("effort", query.effort, _EFFORTS)):
        if value is not None and value not in known:
            raise Invalid(f"{name} is {value!r}, but must be one of: {', '.join(known)}", field=name)
    for name, whole, hint in (("now", query.now, _TIME), ("zone", query.zone, _ZONE)):
        if whole is not None and (isinstance(whole, bool) or not isinstance(whole, int)):
            raise Invalid(f"{name} must be a whole number, not {type(whole).__name__}", field=name, hint=hint)
    if not isinstance(query.filters, Filters):
        raise Invalid("filters must be Filters", field="filters", hint="Write them as Filters(kinds=('note',)).")
    for name in ("created_from", "created_to", "updated_from", "updated_to"):
        if not isinstance(getattr(query.filters, name), int | None):
            raise Invalid(f"{name} must be a whole number", field=name, hint=_TIME)
    for name, share in (("recency", query.recency), ("related", query.related), ("at_least", query.at_least)):
        if share is not None and not 0 <= share <= 1:
            raise Invalid(f"{name} is {share}, but must be from 0 to 1", field=name)


# ── exact: the query verbatim ─────────────────────────────────────────────────────────────────────────────


class Place(NamedTuple):
    """A place where a query may occur verbatim: its name, the field, and the range of scores of memories with it."""

    name: str
    field: str
    least: float
    most: float

    def score(self, own: float) -> float:
        """The score of a memory with the query at this place, given its score by words and meaning."""
        return self.least + (self.most - self.least) * own


PLACES = (
    Place("whole_name", "name", 1.0, 1.0),
    Place("whole_observation", "observation", 1.0, 1.0),
    Place("identifier", "observation", 1.0, 1.0),
    Place("name", "name", 0.9, 0.99),
    Place("name_word", "name", 0.85, 0.9),
    Place("kind", "kind", 0.8, 0.85),
    Place("observation", "observation", 0.7, 0.8),
    Place("observation_word", "observation", 0.5, 0.7),
)
"""Best first. The ranges do not overlap, so ordering by score also orders by place."""

IDENTICAL = 1
"""Up to this place the memory is the query, and does not merely contain it."""


def place_in(record: Record, forms: Sequence[str]) -> int:
    """The best place of the query, given in its folded forms, in a record that contains it."""
    name = fold(record.name) if record.name != record.uid or max(map(len, forms)) >= SHORTEST_ID else ""
    if name in forms:
        return 0
    texts = [fold(text) for text in record.observations]
    if any(text.strip() in forms for text in texts):
        return 1
    if any(_begins_with(text, form) for form in forms if _is_identifier(form) for text in (name, *texts)):
        return 2
    for form in forms:
        if form in name:
            return 3 if _at_word(form, name) else 4
    kind = fold(record.kind)
    if any(form in kind for form in forms):
        return 5
    return 6 if any(form in text and _at_word(form, text) for text in texts for form in forms) else 7


def _is_identifier(form: str) -> bool:
    """Whether a query is one token with letters and digits, such as ADR-012: the name of one thing."""
    return not any(map(str.isspace, form)) and any(map(str.isdigit, form)) and any(map(str.isalpha, form))


def _begins_with(text: str, identifier: str) -> bool:
    """Whether a text begins with the whole identifier, and so is about that thing."""
    rest = text.lstrip("#*_[( \t")
    return rest.startswith(identifier) and not rest[len(identifier) : len(identifier) + 1].isalnum()


def _at_word(part: str, text: str) -> bool:
    at = text.find(part)
    while at > 0 and text[at - 1].isalnum() and text[at - 1].isascii():
        at = text.find(part, at + 1)
    return at >= 0


# ── words: BM25 ───────────────────────────────────────────────────────────────────────────────────────────


def idf(holding: int, texts: int) -> float:
    """The weight of a word that occurs in so many of the texts; of a group, that of its most frequent term."""
    holding = min(holding, texts)
    return log1p((texts - holding + 0.5) / (holding + 0.5))


def saturation(counts: Numbers, norms: Numbers, k1: float = K1) -> Numbers:
    """What each count of a word is worth in texts with these norms: 1 for once in a text of mean length."""
    counts = np.asarray(counts).astype(norms.dtype)
    found: Numbers = counts * (k1 + 1) / (counts + norms)
    return found


def words_score(bm25: Numbers, weight: float) -> Numbers:
    """The share of the query that a text contains: its BM25 over the total weight (idf × best alternative)."""
    return np.clip(bm25 / weight, 0.0, _FULL) if weight > 0 else np.zeros_like(bm25)


class MatchedGroup(NamedTuple):
    """A group of the query with its matches.

    ``terms`` are its terms with their weights and how many passages contain each; ``rows`` the passages that contain
    one of them, ``gains`` the score each gets for it. ``alike`` says that the terms are merely similar to the word.
    """

    word: str
    bonus: bool
    terms: list[tuple[str, float, int]]
    rows: Numbers
    gains: Numbers
    alike: bool


class WordsLane:
    """The BM25 of every passage and of every memory as a whole, and the total weight of the query for each."""

    def __init__(self, index: Index) -> None:
        self.passages: Numbers = np.zeros(index.count, np.float32)
        self.memories: Numbers = np.zeros(index.memories.count, np.float32)
        self.passage_weight = 0.0
        self.memory_weight = 0.0
        self.groups: list[MatchedGroup] = []
        self.dated: Numbers | None = None  # which passages are of the time of the query,
        self.mentioning: Numbers | None = None  # which of them mention it,
        self.time_gains: Numbers | None = None  # and the score of each for that
        self._best: Numbers = np.zeros(max(index.count, index.memories.count), np.float32)  # always left as zeros

    @property
    def misspelt(self) -> bool:
        """Whether some word does not occur at all, and similar ones were searched instead."""
        return any(one.alike for one in self.groups)

    def add(self, index: Index, group: Group, found: list[_Postings], alike: bool) -> None:
        """Score one group of the query by the postings of its terms."""
        sizes, best = index.sizes, self._best
        holding = in_memories = 0
        share = max((weight for _, weight, _ in found), default=0.0)
        whole: list[tuple[Numbers, Numbers]] = []
        for _, weight, postings in found:
            if not len(postings):
                continue
            rows, counts = postings["passage"], postings["count"].astype(np.float32)
            if not sizes.whole:  # some passages are deleted
                there = sizes.share[rows] > 0
                rows, counts = rows[there], counts[there]
            holding = max(holding, len(rows))
            gain = weight * saturation(counts, sizes.norm[rows])
            best[rows] = np.maximum(best[rows], gain)
            if sizes.has_long:
                owners, total = _by_memory(index, rows, counts * sizes.share[rows])
                in_memories = max(in_memories, len(owners))
                whole.append((owners, weight * saturation(total, sizes.memory_norm[owners], K1_WHOLE)))
        rarity, memory_rarity = idf(holding, sizes.passages), idf(in_memories, sizes.memories)
        if not group.bonus:
            self.passage_weight += rarity * share
            self.memory_weight += memory_rarity * share
        rows = np.flatnonzero(best[: index.count])
        gains = rarity * best[rows]
        best[rows] = 0
        self.passages[rows] += gains
        if whole:
            for owners, gain in whole:
                best[owners] = np.maximum(best[owners], gain)
            owners = np.flatnonzero(best[: index.memories.count])
            self.memories[owners] += memory_rarity * best[owners]
            best[owners] = 0
        terms = [(term, weight, len(postings)) for term, weight, postings in found]
        self.groups.append(MatchedGroup(group.word, group.bonus, terms, rows, gains, alike))

    def add_time(self, index: Index, snapshot: Snapshot, period: TimeRange) -> None:
        """Score passages that mention the time of the query like one more word, those merely stored then less."""
        mentioning = np.zeros(index.count, bool)
        for term in period.terms:
            mentioning[index.postings(snapshot, term)["passage"]] = True
        mentioning &= index.passages["alive"]
        day, first = index.passages["day"], period.start // _DAY
        created = (day >= first) & (day < max(first + 1, period.end // _DAY)) & index.passages["alive"]
        gains = np.zeros(index.count, np.float32)
        for which, share in ((created, _CREATED), (mentioning, _MENTIONED)):
            if holding := int(np.count_nonzero(which)):
                gains[which] = np.maximum(gains[which], share * idf(holding, index.sizes.passages))
        self.dated, self.mentioning, self.time_gains = mentioning | created, mentioning, gains
        self.passages += gains
        rows = np.flatnonzero(gains)
        best = np.zeros(index.memories.count, np.float32)
        np.maximum.at(best, index.passages["memory"][rows], gains[rows])
        self.memories += best

    def gains(self, rows: Numbers, heads: Numbers, share: float) -> Numbers:
        """What each group adds to each of these passages; a share of it if only the head of the memory matches."""
        found = np.empty((len(self.groups), len(rows)), np.float32)
        for at, group in enumerate(self.groups):
            self._best[group.rows] = group.gains
            found[at] = np.maximum(self._best[rows], share * self._best[heads])
            self._best[group.rows] = 0
        return found


def by_words(index: Index, snapshot: Snapshot, query: ParsedQuery, *, alike: bool = True) -> WordsLane:
    """Score every passage and every memory by the words of a query, and by the time it asks for.

    With ``alike``, a word that does not occur is replaced by those with a similar spelling.
    """
    lane = WordsLane(index)
    if index.count < 2:
        return lane
    for group in query.groups:
        found = [(term, weight, index.postings(snapshot, term)) for term, weight in group.alternatives]
        near: list[_Postings] = []
        if alike and not group.bonus and not any(len(postings) for _, _, postings in found):
            near = _alike(index, snapshot, group.word)
        lane.add(index, group, near or found, bool(near))
    if query.groups and not any(len(one.rows) for one in lane.groups):
        index.probe(snapshot)
    if query.time is not None:
        lane.add_time(index, snapshot, query.time)
    if not index.sizes.has_long:
        # Every memory is a single passage, so both have the same scores.
        rows = np.flatnonzero(lane.passages)
        np.maximum.at(lane.memories, index.passages["memory"][rows], lane.passages[rows])
        lane.memory_weight = lane.passage_weight
    return lane


def _by_memory(index: Index, rows: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """The memories of these passages, and the sum of the counts of each."""
    owners, memories = index.passages["memory"][rows], index.memories.count
    if len(rows) * 8 > memories:
        total = np.bincount(owners, counts, memories)
        distinct = np.flatnonzero(total)
        return distinct, total[distinct]
    distinct, place = np.unique(owners, return_inverse=True)
    return distinct, np.bincount(place, counts)


def _alike(index: Index, snapshot: Snapshot, word: str) -> list[_Postings]:
    """The likeliest terms that a misspelt word may stand for, with their postings."""
    folded = fold_word(word)
    if len(folded) < 4 or any(c.isdigit() for c in folded):
        return []
    start, end = folded[:1], folded[:1] + "\U0010ffff"
    terms = {*snapshot.terms(start, end, _MOST_TERMS), *index.recent_terms(start, end)}
    if len(folded) < _LONG_WORD:
        # In a short word another letter makes another word; transposed letters do not.
        letters = sorted(folded)
        terms = {term for term in terms if len(term) == len(folded) and sorted(term) == letters}
    likeness = sorted(((similar(folded, term), term) for term in terms), reverse=True)[:_MOST_ALIKE]
    return [(term, _ALIKE * alike, index.postings(snapshot, term)) for alike, term in likeness if alike > 0]


def top(scores: Numbers, most: int) -> Numbers:
    """The positions of the highest scores above zero, unordered."""
    places = np.flatnonzero(scores > 0)
    if len(places) <= most:
        return places
    return places[np.argpartition(scores[places], -most)[-most:]]


# ── candidates ────────────────────────────────────────────────────────────────────────────────────────────


def candidates(
    index: Index,
    lane: WordsLane,
    vectors: Mapping[str, Numbers],
    allowed: Numbers | None,
    breadth: int = 1,
    *,
    everything: bool = False,
) -> Numbers:
    """The rows of the passages that a lane selects, with those of their neighbours in a conversation.

    ``vectors`` are the vectors of the query by model. With ``everything``, the newest passages are candidates too.
    """
    memory = index.passages["memory"]
    may = index.passages["alive"] if allowed is None else index.passages["alive"] & allowed[memory]
    found = [top(lane.passages if allowed is None else lane.passages * may, _WORDS * breadth)]
    for name, vector in vectors.items():
        if (stored := index.vectors.get(name)) is not None:
            most = min(_MOST, _MEANING + index.count // _MORE) * breadth
            found.append(stored.nearest(vector, index.count, may, most))
    if everything:
        found.append(np.flatnonzero(may)[-_EVERYTHING:])
    rows = np.unique(np.concatenate(found))
    by_memory = lane.memories if allowed is None else lane.memories * allowed
    memories = np.concatenate((memory[rows], top(by_memory, _WORDS // 2 * breadth)))
    turns = np.unique(memories[index.memories["thread"][memories] > 0])
    if len(turns) > _TURNS:
        turns = turns[np.argsort(-lane.memories[turns], kind="stable")[:_TURNS]]
    around = np.concatenate([turns.astype(np.int64) + step for step in STEPS])
    chosen = np.zeros(index.memories.count, bool)
    chosen[memories] = True
    chosen[around[(around > 0) & (around < len(chosen))]] = True
    chosen[0] = False
    inside = np.flatnonzero(chosen[memory])
    inside = inside[may[inside]]
    # Of a long memory, only the passages that match.
    matching = (lane.passages[inside] > 0) | (index.passages["part"][inside] < _PARTS)
    return inside if matching.all() else np.union1d(inside[matching], rows[may[rows]])


# ── turns of a conversation ───────────────────────────────────────────────────────────────────────────────


def are_turns(index: Index, rows: Numbers) -> Numbers:
    """Which of these rows of memories are turns of a conversation."""
    thread = index.memories["thread"][rows]
    found: Numbers = (thread > 0) & (index.sizes.texts[rows] == 1)
    unsure = np.flatnonzero(found & (thread & SURE == 0))
    if len(unsure):
        found[unsure] = _in_exchange(index, rows[unsure])
    return found


def links(index: Index, rows: Numbers, is_turn: Numbers) -> Numbers | None:
    """For each row the turns one before, one after, two before, ..., as positions in ``rows``; -1 for none.

    ``rows`` ascend. None if there is no turn at all.
    """
    if not is_turn.any():
        return None
    found = np.full((len(rows), len(STEPS)), -1, np.int64)
    turns = np.flatnonzero(is_turn)
    own = rows[turns].astype(np.int64)
    for at, step in enumerate(STEPS):
        near = own + step
        place = np.searchsorted(rows, near)
        place[place == len(rows)] = 0
        same = (rows[place] == near) & is_turn[place]
        same[same] = same_conversation(index, own[same], near[same])
        found[turns[same], at] = place[same]
    return found


def same_conversation(index: Index, rows: Numbers, others: Numbers) -> Numbers:
    """Whether each pair of memories may be turns of one conversation.

    A memory with several observations is a whole conversation, not a turn.
    """
    thread, head = index.memories["thread"], index.memories["head"]
    same: Numbers = (thread[rows] ^ thread[others]) & CONVERSATION == 0
    same &= (thread[others] > 0) & (index.sizes.texts[others] == 1)
    same &= index.passages["alive"][head[others]]
    day = index.passages["day"]
    same &= np.abs(day[head[rows]].astype(np.int32) - day[head[others]]) <= 1
    return same


def _in_exchange(index: Index, rows: Numbers) -> Numbers:
    """Whether somebody answers, or a speaker returns after another one, at most REACH memories from each row."""
    thread = index.memories["thread"]
    around = rows.astype(np.int64)[:, None] + np.arange(-REACH, REACH + 1)
    around[(around < 0) | (around >= len(thread))] = 0
    own = np.repeat(rows.astype(np.int64), 2 * REACH + 1)
    there = same_conversation(index, own, around.ravel()).reshape(around.shape)
    near = thread[around]
    speaker = np.where(there, (near & SPEAKER).astype(np.int64), -1)
    before, here, after = REACH - 1, REACH, REACH + 1
    found = np.zeros(len(rows), bool)
    for beside, first in ((before, before), (after, here)):
        other = there[:, beside] & (speaker[:, beside] != speaker[:, here])
        found |= other & ((near[:, first] & ASKS > 0) | (near[:, beside] & SURE > 0))
    for distance in range(2, REACH + 1):
        returns = (speaker[:, :-distance] >= 0) & (speaker[:, :-distance] == speaker[:, distance:])
        another = np.zeros_like(returns)
        for at in range(1, distance):
            between = speaker[:, at : at - distance]
            another |= (between >= 0) & (between != speaker[:, :-distance])
        found |= (returns & another).any(axis=1)
    return found
