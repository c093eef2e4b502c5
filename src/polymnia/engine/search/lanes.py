"""The lane of words: what the words of a query say about each passage and each memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.ports import Snapshot
from polymnia.engine.search import fusion
from polymnia.engine.search.index import Index
from polymnia.engine.search.query import Wanted
from polymnia.engine.text.language import fold
from polymnia.engine.text.words import Group, similar

__all__ = ["Asked", "WordsLane", "by_words", "top"]

Numbers = NDArray[Any]

_ALIKE = 0.6  # what a word counts that is merely like the one asked for
_MOST_TERMS = 20_000
_MOST_ALIKE = 3
_LONG_ENOUGH = 6
_CLASSES = 4095
_TOLD = 1.0  # what it counts to speak of the time asked for, beside a word as rare
_MADE = 0.4  # and to have been stored then, which may mean nothing
_DAY = 86_400_000_000


class Asked:
    """A group of the query as the index answered it: its terms with how many passages hold each.

    ``rows`` are the passages that hold one of them, ``gains`` what that adds to each.
    """

    def __init__(
        self, group: Group, found: list[tuple[str, float, Numbers]], rows: Numbers, gains: Numbers, alike: bool
    ) -> None:
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
        self.asked: list[Asked] = []
        self.timely: Numbers | None = None  # which passages are of the time asked for,
        self.told: Numbers | None = None  # which of them because they speak of it,
        self.time_gains: Numbers | None = None  # and what that adds to each


def by_words(index: Index, snapshot: Snapshot, wanted: Wanted, *, alike: bool = True) -> WordsLane:
    """Score every passage and every memory by the words of a query, and by the time it asks for."""
    lane = WordsLane(index)
    if index.count < 2:
        return lane
    for group in wanted.groups:
        found = [(term, weight, index.postings(snapshot, term)) for term, weight in group.alternatives]
        near: list[tuple[str, float, Numbers]] = []
        if alike and not group.bonus and not any(len(postings) for _, _, postings in found):
            near = _alike(index, snapshot, group.word)
        _add(lane, index, group, near or found, bool(near))
    if wanted.groups and not any(len(one.rows) for one in lane.asked):
        index.probe(snapshot)
    if wanted.time is not None:
        _add_time(lane, index, snapshot, wanted)
    if not index.sizes.has_long:
        # No memory is more than its one passage: what is true of that is true of the memory.
        rows = np.flatnonzero(lane.passages)
        np.maximum.at(lane.memories, index.passages["memory"][rows], lane.passages[rows])
        lane.memory_asked = lane.passage_asked
    return lane


def _add(lane: WordsLane, index: Index, group: Group, found: list[tuple[str, float, Numbers]], alike: bool) -> None:
    sizes, best = index.sizes, index.scratch
    held = in_memories = 0
    share = max((weight for _, weight, _ in found), default=0.0)
    seen: list[Numbers] = []
    whole: list[tuple[Numbers, Numbers]] = []
    for _, weight, postings in found:
        if not len(postings):
            continue
        rows, counts = postings["passage"], postings["count"].astype(np.float32)
        if not sizes.whole:  # some passages are gone
            there = sizes.share[rows] > 0
            rows, counts = rows[there], counts[there]
        held = max(held, len(rows))
        gain = weight * fusion.saturation(counts, sizes.norm[rows])
        best[rows] = np.maximum(best[rows], gain) if seen else gain
        seen.append(rows)
        if sizes.has_long:
            whose, total = _by_memory(index, rows, counts * sizes.share[rows])
            in_memories = max(in_memories, len(whose))
            whole.append((whose, weight * fusion.saturation(total, sizes.memory_norm[whose], fusion.K1_WHOLE)))
    idf, memory_idf = _idf(held, sizes.passages), _idf(in_memories, sizes.memories)
    if not group.bonus:
        lane.passage_asked += idf * share
        lane.memory_asked += memory_idf * share
    many = sum(map(len, seen)) > index.count // 16
    rows = np.flatnonzero(best[: index.count]) if many and len(seen) > 1 else _union(seen)
    gains = idf * best[rows]
    best[rows] = 0
    lane.passages[rows] += gains
    if whole:
        for whose, gain in whole:
            best[whose] = np.maximum(best[whose], gain)
        owners = np.flatnonzero(best[: index.memories.count]) if many else _union([whose for whose, _ in whole])
        lane.memories[owners] += memory_idf * best[owners]
        best[owners] = 0
    lane.asked.append(Asked(group, found, rows, gains, alike))


def _by_memory(index: Index, rows: Numbers, counts: Numbers) -> tuple[Numbers, Numbers]:
    """Which memories the passages belong to, and the counts of each together."""
    owners, memories = index.passages["memory"][rows], index.memories.count
    if len(rows) * 8 > memories:
        total = np.bincount(owners, counts, memories)
        whose = np.flatnonzero(total)
        return whose, total[whose]
    whose, place = np.unique(owners, return_inverse=True)
    return whose, np.bincount(place, counts)


def _union(parts: list[Numbers]) -> Numbers:
    if not parts:
        return np.empty(0, np.int64)
    if len(parts) == 1:
        return parts[0]
    # Most often the terms of a group stand in the same passages: then there is nothing to unite.
    if all(len(part) == len(parts[0]) and np.array_equal(part, parts[0]) for part in parts[1:]):
        return parts[0]
    together = np.sort(np.concatenate(parts))
    first = np.empty(len(together), bool)
    first[:1] = True
    np.not_equal(together[1:], together[:-1], out=first[1:])
    return together[first]


def _idf(held: int, size: int) -> float:
    return fusion.idf(min(held, size), size)


def _add_time(lane: WordsLane, index: Index, snapshot: Snapshot, wanted: Wanted) -> None:
    """Passages that mention the time asked for gain as by one more word, those only made then less. None loses."""
    assert wanted.time is not None
    told = np.zeros(index.count, bool)
    for term in wanted.time.terms:
        told[index.postings(snapshot, term)["passage"]] = True
    told &= index.passages["alive"]
    day, first = index.passages["day"], wanted.time.start // _DAY
    made = (day >= first) & (day < max(first + 1, wanted.time.end // _DAY)) & index.passages["alive"]
    gains = np.zeros(index.count, np.float32)
    for which, share in ((made, _MADE), (told, _TOLD)):
        held = int(np.count_nonzero(which))
        if held:
            gains[which] = np.maximum(gains[which], share * _idf(held, index.sizes.passages))
    lane.timely, lane.told, lane.time_gains = told | made, told, gains
    lane.passages += gains
    rows = np.flatnonzero(gains)
    best = np.zeros(index.memories.count, np.float32)
    np.maximum.at(best, index.passages["memory"][rows], gains[rows])
    lane.memories += best


def _alike(index: Index, snapshot: Snapshot, word: str) -> list[tuple[str, float, Numbers]]:
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
    """The places of about the highest scores above zero, in no order."""
    places = np.flatnonzero(scores > 0)
    if len(places) <= most:
        return places
    found = scores[places]
    # Counting by classes is quicker than sorting; the last class is taken whole unless it is too large.
    classes = (found * (_CLASSES / found.max())).astype(np.uint16)
    above = np.cumsum(np.bincount(classes, minlength=_CLASSES + 1)[::-1])
    lowest = _CLASSES - int(np.searchsorted(above, most))
    chosen = np.flatnonzero(classes >= lowest)
    if len(chosen) > 2 * most:
        chosen = chosen[np.argpartition(found[chosen], len(chosen) - most)[len(chosen) - most :]]
    return places[chosen]
