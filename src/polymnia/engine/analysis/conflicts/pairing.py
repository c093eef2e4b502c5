"""Pairing: which statements are worth comparing. The work grows with their number, not with its square."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.conflicts.facts import differing, keys
from polymnia.engine.analysis.conflicts.table import SIDES, Table

__all__ = ["Pairs", "by_facts", "by_meaning", "by_words", "exclusive", "likely", "once"]

_RARE = 5  # words of a statement whose pairs say what it is about
_SHORT = 3  # words of a statement that any of them brings together with others
_WINDOW = 8  # statements compared within a block, next to each other in the order of their other words
_SHARED = 0.34  # the least share of the words of the shorter statement
_OVER = 3  # words that either may have beside what they share
_EACH = 6  # partners of a statement
_STEP = 65_536  # pairs weighed together
_TABLES, _SIGNS, _NEXT = 8, 20, 3  # orders of the vectors, signs each goes by, and neighbours taken in it
_NEAR = 0.30  # the share of signs in which vectors of one matter differ at most
_SEED = 20_240

Pairs = NDArray[Any]
"""Two columns of rows of a table, the smaller one first."""


def once(*codes: NDArray[Any]) -> Pairs:
    """Each of some pairs once, in order; a pair is given as one number, its first row above its second."""
    if not codes:
        return np.zeros((0, 2), np.int64)
    every = np.sort(np.concatenate(codes))  # quicker here than NumPy's own way to tell numbers apart
    every = every[np.concatenate(([True], every[1:] != every[:-1]))] if len(every) else every
    every = every[every >> 32 != every & 0xFFFFFFFF]
    return np.stack((every >> 32, every & 0xFFFFFFFF), axis=1)


def by_words(table: Table) -> Pairs:
    """Pairs of statements that share two of their rarest words, or one where they have few."""
    if len(table) < 2:
        return np.zeros((0, 2), np.int64)
    keys = np.where((table.keys >= 0) & (table.counts[table.keys] > 1), table.keys, -1).astype(np.int64)
    # Words that no other statement has are of no use here: the others move up.
    keys = np.take_along_axis(keys, np.argsort(keys < 0, axis=1, kind="stable"), axis=1)[:, :_RARE]
    rows = np.arange(len(table), dtype=np.int64)
    blocks, members = [], []
    for first, second in combinations(range(_RARE), 2):
        low, high = np.minimum(keys[:, first], keys[:, second]), np.maximum(keys[:, first], keys[:, second])
        there = low >= 0
        blocks.append((low[there] << 32) | high[there])
        members.append(rows[there])
    for place in range(_SHORT):
        few = (keys[:, place] >= 0) & ((keys[:, 1] < 0) | (table.size <= _SHORT))
        blocks.append(keys[few, place] | (1 << 62))
        members.append(rows[few])
    return _within(np.concatenate(blocks), np.concatenate(members), _others(table), _WINDOW)


def _others(table: Table) -> NDArray[Any]:
    """A number for each statement that is the same where the words are, and often where most of them are."""
    mixed = (table.keys.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)
    mixed[table.keys < 0] = np.iinfo(np.uint64).max
    return np.sort(mixed, axis=1)[:, 0]


def _within(blocks: NDArray[Any], members: NDArray[Any], others: NDArray[Any], window: int) -> Pairs:
    """Pairs of members of a block that stand close to each other."""
    order = np.lexsort((members, others[members], blocks))
    blocks, members = blocks[order], members[order]
    found = []
    for distance in range(1, window + 1):
        same = blocks[distance:] == blocks[:-distance]
        if not same.any():
            break
        a, b = members[:-distance][same], members[distance:][same]
        found.append(np.minimum(a, b) << 32 | np.maximum(a, b))
    return once(*found)


def by_facts(table: Table) -> Pairs:
    """Pairs of statements that give one thing, in one relation, values that exclude each other."""
    blocks: dict[tuple[str, ...], list[int]] = {}
    for row, some in enumerate(table.facts):
        for key in {key for fact in some for key in keys(fact)}:
            blocks.setdefault(key, []).append(row)
    found = [
        rows[at] << 32 | rows[next]
        for rows in blocks.values()
        for at in range(len(rows))
        for next in range(at + 1, min(at + 1 + _WINDOW, len(rows)))
        if differing(table.facts[rows[at]], table.facts[rows[next]])
    ]
    return once(np.array(found, np.int64)) if found else np.zeros((0, 2), np.int64)


def by_meaning(table: Table, vectors: NDArray[Any]) -> Pairs:
    """Pairs of records of one statement each whose vectors are near each other; a row of vectors for each record."""
    nothing = np.zeros((0, 2), np.int64)
    if not vectors.size or len(table) < 2:
        return nothing
    alone = np.flatnonzero(np.bincount(table.owner, minlength=len(table.records))[table.owner] == 1)
    alone = alone[vectors[table.owner[alone]].any(axis=1)].astype(np.int64)
    if len(alone) < 2:
        return nothing
    signs = vectors[table.owner[alone]] > 0
    bits = np.packbits(signs, axis=1)
    draw = np.random.default_rng(_SEED)
    found = []
    for _ in range(_TABLES):
        chosen = draw.choice(signs.shape[1], min(_SIGNS, signs.shape[1]), replace=False)
        codes = signs[:, chosen].astype(np.int64) @ (1 << np.arange(len(chosen), dtype=np.int64))
        order = np.lexsort((alone, codes))
        for distance in range(1, _NEXT + 1):
            a, b = order[:-distance], order[distance:]
            far = np.bitwise_count(bits[a] ^ bits[b]).sum(axis=1, dtype=np.int64)
            near = far <= _NEAR * signs.shape[1]
            a, b = alone[a[near]], alone[b[near]]
            found.append(np.minimum(a, b) << 32 | np.maximum(a, b))
    return once(*found)


def likely(table: Table, pairs: Pairs) -> Pairs:
    """The pairs that may clash, those that share most first."""
    kept, shares = [], []
    for start in range(0, len(pairs), _STEP):
        part = pairs[start : start + _STEP]
        share, may = _compared(table, part[:, 0], part[:, 1])
        kept.append(part[may])
        shares.append(share[may])
    if not kept:
        return pairs[:0]
    pairs, share = np.concatenate(kept), np.concatenate(shares)
    chosen = _best(pairs, share)
    pairs, share = pairs[chosen], share[chosen]
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -share))
    return pairs[order]


def _compared(table: Table, a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """What share of their words two statements have in common, and whether something differs that may clash."""
    left, right = table.keys[a], table.keys[b]
    same = (left[:, :, None] == right[:, None, :]) & (left >= 0)[:, :, None]
    hit = same.any(axis=2)
    shared = hit.sum(axis=1)
    weight = (table.weights[left] * hit).sum(axis=1)
    least = np.minimum(
        (table.weights[left] * (left >= 0)).sum(axis=1), (table.weights[right] * (right >= 0)).sum(axis=1)
    )
    over_left, over_right = table.size[a] - shared, table.size[b] - shared
    share = weight / np.maximum(least, 1e-6)
    value = (table.value[a] != table.value[b]) & (table.value[a] > 0) & (table.value[b] > 0)
    denied = table.denied[a] != table.denied[b]
    stance = table.stance[a] * table.stance[b] < 0
    state = exclusive(table, a, b)
    worded = (over_left > 0) & (over_right > 0)
    # A figure may stand for a word: free, and 30 euros.
    mixed = ((table.value[a] > 0) & (over_right > 0)) | ((table.value[b] > 0) & (over_left > 0))
    mixed &= over_left + over_right == 1
    may = (value | denied | stance | state | worded | mixed) & (shared > 0) & (share >= _SHARED)
    # Figures or a denial decide little beside many other words; and a word for a word needs more around it.
    may &= (np.maximum(over_left, over_right) <= _OVER) | (share > 0.6)
    dated = denied & (table.days[a] == table.days[b]) & (table.days[a] > 0)  # a day in common is as good as a word
    may &= (shared > 1) | (over_left + over_right <= 2 + state) | dated
    tight = share - 0.1 * (over_left + over_right) + 0.2 * (value | denied | stance | state)
    return tight.astype(np.float32), may


def exclusive(table: Table, a: Any, b: Any) -> Any:
    """Whether two statements put something into states that exclude each other."""
    here, there = table.state[a], table.state[b]
    return (here > 0) & (there > 0) & (here != there) & ((here - 1) // SIDES == (there - 1) // SIDES)


def _best(pairs: Pairs, share: NDArray[Any]) -> NDArray[Any]:
    """Those that are among the best of one of their two statements."""
    chosen = np.zeros(len(pairs), bool)
    for side in (0, 1):
        order = np.lexsort((pairs[:, 1 - side], -share, pairs[:, side]))
        rows = pairs[order, side]
        begins = np.searchsorted(rows, rows)
        chosen[order[np.arange(len(rows)) - begins < _EACH]] = True
    return np.flatnonzero(chosen)
