"""Questions: what is asked about the use of each memory, and the chance of the answer when all are used alike."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.temporal.chances import at_least, at_least_of, two_sided
from polymnia.engine.analysis.usage.reads import Reads

__all__ = [
    "Left",
    "Spread",
    "balance",
    "changed_often",
    "hot_and_old",
    "left_unread",
    "passed_over",
    "read_most",
    "spread",
]

_OFTEN = 2.0  # times what is expected of a memory
_CHANGES = 3  # days on which a memory was changed, at least, to be rewritten
_OLD = 30.0  # days without a change
_AHEAD = 30.0  # days for which it is told that nobody will read a memory
_AGES = (7.0, 14.0, 30.0, 60.0, 90.0, 180.0, 365.0)
_OPENINGS = 20  # with fewer, openings alone tell nothing
_FOLLOWED = 10  # memories that were watched for so long at least
_DRAWN = 100
_SEED = 28

Numbers = np.ndarray[Any, np.dtype[Any]]
Chances = dict[int, float]


class Left(Struct, frozen=True):
    """Memories nobody read for ``age`` days or more: which, how many equal reading would leave, and the chance.

    ``stays`` is how many of a hundred such memories stay unread for another month, as a share.
    """

    places: Numbers
    unread: int
    expected: float
    p: float
    age: float
    stays: float


class Spread(Struct, frozen=True):
    """How unevenly readings are spread: the share of the tenth read most, and what chance alone would give it."""

    gini: float
    top_share: float
    expected_share: float
    p: float


def read_most(reads: Reads) -> Chances:
    """The chance of each memory that was read much more than others of its age."""
    return _above(*_main(reads), 2)


def changed_often(reads: Reads) -> Chances:
    """The chance of each memory that was changed on many more days than others of its age."""
    return _above(reads.changed, reads.usual_changed, _CHANGES)


def passed_over(reads: Reads) -> Chances:
    """The chance of each memory that was found again and again and never opened, when all are opened as often."""
    found = int(reads.found.sum())
    rate = float(reads.both.sum()) / found if found else 0.0
    if not 0 < rate < 1:
        return {}
    never = np.flatnonzero((reads.opened == 0) & (reads.found > 0))
    return {int(at): (1 - rate) ** int(reads.found[at]) for at in never}


def hot_and_old(reads: Reads) -> Chances:
    """The chance of each memory that is read on and on without a change, when a reading leads to one as often."""
    changes = int(reads.changed.sum())
    rate = changes / (changes + int(reads.opened.sum())) if changes else 0.0
    if rate <= 0:
        return {}
    age = (reads.end - reads.last_change) / 86_400_000_000
    chosen = np.flatnonzero((reads.since > 0) & (age >= _OLD))
    return {int(at): (1 - rate) ** int(reads.since[at]) for at in chosen}


def left_unread(reads: Reads, least: float) -> Left | None:
    """What nobody reads, if it is more than equal reading would leave; None where that cannot be told.

    The age from which a memory counts is the lowest at which so many stay unread for another month: ``least``.
    """
    never = np.isinf(reads.first_read)
    if not reads.readings:
        return None
    chance = np.exp(-reads.usual_read)
    watched = np.where(never, reads.exposed, np.minimum(reads.first_read, reads.exposed))
    for age in _AGES:
        days = float(np.maximum(0.0, watched - age).sum())
        events = int((reads.first_read[~never] >= age).sum())
        followed = int((watched >= age + _AHEAD).sum())
        stays = math.exp(-_AHEAD * (events + 0.5) / days) if days > 0 else 0.0
        if followed >= _FOLLOWED and stays >= least:
            old = reads.exposed >= age
            unread = np.flatnonzero(never & old)
            mean = float(chance[old].sum())
            deviation = math.sqrt(max(1e-12, float((chance[old] * (1 - chance[old])).sum())))
            gap = (len(unread) - 0.5 - mean) / deviation
            p = two_sided(gap) / 2 if gap > 0 else 1.0
            return Left(unread, len(unread), mean, p, age, stays)
    return None


def spread(reads: Reads) -> Spread | None:
    """How unevenly readings are spread over the memories, against equal reading."""
    counts, usual = _main(reads)
    total = int(counts.sum())
    if total < len(counts) // 4 or len(counts) < 10:
        return None
    share = np.maximum(usual, 1e-9) / np.maximum(usual, 1e-9).sum()
    rng = np.random.default_rng(_SEED)
    drawn = [_top(rng.multinomial(total, share)) for _ in range(_DRAWN)]
    mean, deviation = float(np.mean(drawn)), max(float(np.std(drawn)), 1e-6)
    top = _top(counts)
    ordered = np.sort(counts)
    n = len(ordered)
    gini = float((2 * np.arange(1, n + 1) - n - 1) @ ordered) / (n * total)
    p = two_sided((top - mean) / deviation) / 2 if top > mean else 1.0
    return Spread(gini, top, mean, p)


def balance(reading: Numbers, writing: Numbers) -> tuple[int, int, float]:
    """On how many days more was read than written, on how many less, and the chance of such a division.

    Both are the numbers of days, one for each reading and writing.
    """
    size = 1 + max(int(reading.max(initial=0)), int(writing.max(initial=0)))
    gap = np.bincount(reading, minlength=size) - np.bincount(writing, minlength=size)
    more, less = int((gap > 0).sum()), int((gap < 0).sum())
    return more, less, min(1.0, 2 * at_least_of(max(more, less), more + less, 0.5))


def _main(reads: Reads) -> tuple[Numbers, Numbers]:
    """Openings, or where there are few all readings; and what is usual of them."""
    if reads.opened.sum() >= _OPENINGS:
        return reads.opened, reads.usual_opened
    return reads.opened + reads.found - reads.both, reads.usual_read


def _above(counts: Numbers, expected: Numbers, least: int) -> Chances:
    known: dict[tuple[int, float], float] = {}

    def chance(count: int, mean: float) -> float:
        key = (count, round(mean, 6))
        if key not in known:
            known[key] = at_least(*key)
        return known[key]

    chosen = np.flatnonzero((counts >= least) & (counts >= _OFTEN * expected))
    return {int(at): chance(int(counts[at]), float(expected[at])) for at in chosen}


def _top(counts: Numbers) -> float:
    many = max(1, len(counts) // 10)
    return float(np.partition(counts, len(counts) - many)[len(counts) - many :].sum() / counts.sum())
