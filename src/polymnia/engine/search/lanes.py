"""The lanes: what the words of a query say about each passage, and which passages are worth comparing at all.

A memory may be a turn of a conversation. A speaker before a text is no proof: notes begin with "Budget: " too, and
facts about people with their names. It is a turn when its kind says so, when an assistant speaks, when it is a question
that somebody else answers (or that answer), or when near it a speaker comes back after another one spoke. Turns of one
conversation are at most REACH memories and a day apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from polymnia.engine.ports import Snapshot
from polymnia.engine.search.index import K1_WHOLE, Index, Numbers, idf, saturation
from polymnia.engine.search.passages import ASKS, CONVERSATION, SPEAKER, SURE
from polymnia.engine.search.query import Parsed
from polymnia.engine.text.language import fold
from polymnia.engine.text.words import Group, similar

_ALIKE = 0.6  # what a word counts that is merely like the one asked for
_MOST_TERMS = 20_000
_MOST_ALIKE = 3
_LONG_ENOUGH = 6
_TOLD = 1.0  # what it counts to speak of the time asked for, beside a word as rare
_MADE = 0.4  # and to have been stored then, which may mean nothing
_DAY = 86_400_000_000
_WORDS = 80  # passages the words may put forward; half as many memories
_MEANING = 140  # passages each model may put forward: the bits are a rough guide,
_MORE = 1000  # so one more for each so many passages there are,
_MOST = 1000  # up to this
_TALKING = 200  # memories whose neighbours in a conversation are looked at too
_PARTS = 4  # of a long memory, the first passages are looked at in any case
_EVERYTHING = 2_000  # passages at most where nothing is to be hidden
_FULL = 1.2  # a text can say every word asked for more than once, and that is worth little
REACH = 4
"""How many turns away a turn of the same conversation can help."""
STEPS = tuple(step for away in range(1, REACH + 1) for step in (-away, away))
"""Where the turns around a turn are stored, nearest first."""

_Postings = tuple[str, float, Numbers]  # a term, its weight, and where it stands


def words_score(bm25: Numbers, asked: float) -> Numbers:
    """The share of the query that a text says: its BM25 over the summed weights (idf × best alternative) asked for."""
    return np.clip(bm25 / asked, 0.0, _FULL) if asked > 0 else np.zeros_like(bm25)


class AskedGroup:
    """A group of the query as the index answered it: its terms with how many passages hold each.

    ``rows`` are the passages that hold one of them, ``gains`` what that adds to each.
    """

    def __init__(self, group: Group, found: list[_Postings], rows: Numbers, gains: Numbers, alike: bool) -> None:
        self.word = group.word
        self.bonus = group.bonus
        self.terms = [(term, weight, len(postings)) for term, weight, postings in found]
        self.rows = rows
        self.gains = gains
        self.alike = alike


class WordsLane:
    """BM25 of every passage and of every memory as a whole, each with the weight of all that was asked for."""

    def __init__(self, index: Index) -> None:
        self.passages: Numbers = np.zeros(index.count, np.float32)
        self.memories: Numbers = np.zeros(index.memories.count, np.float32)
        self.passage_asked = 0.0
        self.memory_asked = 0.0
        self.asked: list[AskedGroup] = []
        self.timely: Numbers | None = None  # which passages are of the time asked for,
        self.told: Numbers | None = None  # which of them because they speak of it,
        self.time_gains: Numbers | None = None  # and what that adds to each
        self._best: Numbers = np.zeros(max(index.count, index.memories.count), np.float32)  # always left as zeros

    @property
    def misspelt(self) -> bool:
        """Whether a word stands nowhere, and others were taken for it."""
        return any(one.alike for one in self.asked)

    def add(self, index: Index, group: Group, found: list[_Postings], alike: bool) -> None:
        """Count one group of the query, given where its terms stand."""
        sizes, best = index.sizes, self._best
        held = in_memories = 0
        share = max((weight for _, weight, _ in found), default=0.0)
        whole: list[tuple[Numbers, Numbers]] = []
        for _, weight, postings in found:
            if not len(postings):
                continue
            rows, counts = postings["passage"], postings["count"].astype(np.float32)
            if not sizes.whole:  # some passages are gone
                there = sizes.share[rows] > 0
                rows, counts = rows[there], counts[there]
            held = max(held, len(rows))
            gain = weight * saturation(counts, sizes.norm[rows])
            best[rows] = np.maximum(best[rows], gain)
            if sizes.has_long:
                whose, total = _by_memory(index, rows, counts * sizes.share[rows])
                in_memories = max(in_memories, len(whose))
                whole.append((whose, weight * saturation(total, sizes.memory_norm[whose], K1_WHOLE)))
        rarity, memory_rarity = idf(held, sizes.passages), idf(in_memories, sizes.memories)
        if not group.bonus:
            self.passage_asked += rarity * share
            self.memory_asked += memory_rarity * share
        rows = np.flatnonzero(best[: index.count])
        gains = rarity * best[rows]
        best[rows] = 0
        self.passages[rows] += gains
        if whole:
            for whose, gain in whole:
                best[whose] = np.maximum(best[whose], gain)
            owners = np.flatnonzero(best[: index.memories.count])
            self.memories[owners] += memory_rarity * best[owners]
            best[owners] = 0
        self.asked.append(AskedGroup(group, found, rows, gains, alike))

    def add_time(self, index: Index, snapshot: Snapshot, terms: Sequence[str], start: int, end: int) -> None:
        """Passages that mention the time asked for gain as by one more word, those only made then less."""
        told = np.zeros(index.count, bool)
        for term in terms:
            told[index.postings(snapshot, term)["passage"]] = True
        told &= index.passages["alive"]
        day, first = index.passages["day"], start // _DAY
        made = (day >= first) & (day < max(first + 1, end // _DAY)) & index.passages["alive"]
        gains = np.zeros(index.count, np.float32)
        for which, share in ((made, _MADE), (told, _TOLD)):
            if held := int(np.count_nonzero(which)):
                gains[which] = np.maximum(gains[which], share * idf(held, index.sizes.passages))
        self.timely, self.told, self.time_gains = told | made, told, gains
        self.passages += gains
        rows = np.flatnonzero(gains)
        best = np.zeros(index.memories.count, np.float32)
        np.maximum.at(best, index.passages["memory"][rows], gains[rows])
        self.memories += best

    def held_by(self, rows: Numbers, heads: Numbers, share: float) -> Numbers:
        """For each group what it adds to each of these passages; of what only its head holds, a share."""
        held = np.empty((len(self.asked), len(rows)), np.float32)
        for at, group in enumerate(self.asked):
            self._best[group.rows] = group.gains
            held[at] = np.maximum(self._best[rows], share * self._best[heads])
            self._best[group.rows] = 0
        return held


def by_words(index: Index, snapshot: Snapshot, query: Parsed, *, alike: bool = True) -> WordsLane:
    """Score every passage and every memory by the words of a query, and by the time it asks for.

    With ``alike``, a word that stands nowhere counts as those that are spelt alike.
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
    if query.groups and not any(len(one.rows) for one in lane.asked):
        index.probe(snapshot)
    if query.time is not None:
        lane.add_time(index, snapshot, query.time.terms, query.time.start, query.time.end)
    if not index.sizes.has_long:
        # No memory is more than its one passage: what is true of that is true of the memory.
        rows = np.flatnonzero(lane.passages)
        np.maximum.at(lane.memories, index.passages["memory"][rows], lane.passages[rows])
        lane.memory_asked = lane.passage_asked
    return lane


def _by_memory(index: Index, rows: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """Which memories the passages belong to, and the counts of each together."""
    owners, memories = index.passages["memory"][rows], index.memories.count
    if len(rows) * 8 > memories:
        total = np.bincount(owners, counts, memories)
        whose = np.flatnonzero(total)
        return whose, total[whose]
    whose, place = np.unique(owners, return_inverse=True)
    return whose, np.bincount(place, counts)


def _alike(index: Index, snapshot: Snapshot, word: str) -> list[_Postings]:
    """Terms that a misspelt word may have meant, the likeliest ones, with where they stand."""
    folded = fold(word)
    if len(folded) < 4 or any(c.isdigit() for c in folded):
        return []
    start, end = folded[:1], folded[:1] + "\U0010ffff"
    terms = {*snapshot.terms(start, end, _MOST_TERMS), *index.recent_terms(start, end)}
    if len(folded) < _LONG_ENOUGH:
        # In a short word another letter makes another word; letters that changed places do not.
        letters = sorted(folded)
        terms = {term for term in terms if len(term) == len(folded) and sorted(term) == letters}
    likeness = sorted(((similar(folded, term), term) for term in terms), reverse=True)[:_MOST_ALIKE]
    return [(term, _ALIKE * alike, index.postings(snapshot, term)) for alike, term in likeness if alike > 0]


def top(scores: Numbers, most: int) -> Numbers:
    """The places of the highest scores above zero, in no order."""
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
    wider: int = 1,
    *,
    everything: bool = False,
) -> Numbers:
    """Rows of the passages that a lane puts forward, with those of their neighbours in a conversation.

    ``vectors`` are the query as each model sees it. With ``everything``, the newest passages too, whatever the lanes
    say of them.
    """
    memory = index.passages["memory"]
    may = index.passages["alive"] if allowed is None else index.passages["alive"] & allowed[memory]
    found = [top(lane.passages if allowed is None else lane.passages * may, _WORDS * wider)]
    for name, vector in vectors.items():
        if (held := index.vectors.get(name)) is not None:
            most = min(_MOST, _MEANING + index.count // _MORE) * wider
            found.append(held.nearest(vector, index.count, may, most))
    if everything:
        found.append(np.flatnonzero(may)[-_EVERYTHING:])
    rows = np.unique(np.concatenate(found))
    by_memory = lane.memories if allowed is None else lane.memories * allowed
    memories = np.concatenate((memory[rows], top(by_memory, _WORDS // 2 * wider)))
    talking = np.unique(memories[index.memories["thread"][memories] > 0])
    if len(talking) > _TALKING:
        talking = talking[np.argsort(-lane.memories[talking], kind="stable")[:_TALKING]]
    around = np.concatenate([talking.astype(np.int64) + step for step in STEPS])
    chosen = np.zeros(index.memories.count, bool)
    chosen[memories] = True
    chosen[around[(around > 0) & (around < len(chosen))]] = True
    chosen[0] = False
    inside = np.flatnonzero(chosen[memory])
    inside = inside[may[inside]]
    # Of a long memory, only the passages that say something.
    says = (lane.passages[inside] > 0) | (index.passages["part"][inside] < _PARTS)
    return inside if says.all() else np.union1d(inside[says], rows[may[rows]])


# ── turns of a conversation ───────────────────────────────────────────────────────────────────────────────


def are_turns(index: Index, rows: Numbers) -> Numbers:
    """Which of these rows of memories are turns of a dialogue."""
    thread = index.memories["thread"][rows]
    found: Numbers = (thread > 0) & _single(index, rows)
    unsure = np.flatnonzero(found & (thread & SURE == 0))
    if len(unsure):
        found[unsure] = _in_exchange(index, rows[unsure])
    return found


def links(index: Index, rows: Numbers, is_turn: Numbers) -> Numbers | None:
    """For each row the turns one before, one after, two before, ..., as places in ``rows``; -1 where there is none.

    ``rows`` ascend. None where there is no turn at all.
    """
    if not is_turn.any():
        return None
    found = np.full((len(rows), len(STEPS)), -1, np.int64)
    talking = np.flatnonzero(is_turn)
    own = rows[talking].astype(np.int64)
    for at, step in enumerate(STEPS):
        near = own + step
        place = np.searchsorted(rows, near)
        place[place == len(rows)] = 0
        same = (rows[place] == near) & is_turn[place]
        same[same] = follow_each_other(index, own[same], near[same])
        found[talking[same], at] = place[same]
    return found


def follow_each_other(index: Index, rows: Numbers, others: Numbers) -> Numbers:
    """Whether each two memories may be turns of one conversation."""
    thread, head = index.memories["thread"], index.memories["head"]
    same: Numbers = (thread[rows] ^ thread[others]) & CONVERSATION == 0
    same &= (thread[others] > 0) & _single(index, others)
    same &= index.passages["alive"][head[others]]
    day = index.passages["day"]
    same &= np.abs(day[head[rows]].astype(np.int32) - day[head[others]]) <= 1
    return same


def _in_exchange(index: Index, rows: Numbers) -> Numbers:
    """Whether somebody answers, or a speaker comes back after another, within REACH of each row."""
    thread = index.memories["thread"]
    around = rows.astype(np.int64)[:, None] + np.arange(-REACH, REACH + 1)
    around[(around < 0) | (around >= len(thread))] = 0
    own = np.repeat(rows.astype(np.int64), 2 * REACH + 1)
    there = follow_each_other(index, own, around.ravel()).reshape(around.shape)
    near = thread[around]
    speaker = np.where(there, (near & SPEAKER).astype(np.int64), -1)
    before, here, after = REACH - 1, REACH, REACH + 1
    found = np.zeros(len(rows), bool)
    for beside, first in ((before, before), (after, here)):
        other = there[:, beside] & (speaker[:, beside] != speaker[:, here])
        found |= other & ((near[:, first] & ASKS > 0) | (near[:, beside] & SURE > 0))
    for apart in range(2, REACH + 1):
        returns = (speaker[:, :-apart] >= 0) & (speaker[:, :-apart] == speaker[:, apart:])
        another = np.zeros_like(returns)
        for at in range(1, apart):
            between = speaker[:, at : at - apart]
            another |= (between >= 0) & (between != speaker[:, :-apart])
        found |= (returns & another).any(axis=1)
    return found


def _single(index: Index, rows: Numbers) -> Numbers:
    """Whether each memory says one thing. One with several observations is a whole conversation, not a turn."""
    found: Numbers = index.sizes.texts[rows] == 1
    return found
