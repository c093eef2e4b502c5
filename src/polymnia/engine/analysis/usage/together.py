"""Together: memories that the same reader opens within the same hour more often than chance brings them together."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.temporal.chances import at_least

__all__ = ["Pair", "pairs"]

_LARGEST = 30  # memories opened in one hour; more is somebody who goes through everything
_LEAST = 4  # hours in which a memory was opened; less tells nothing
_MOST = 3000  # memories that are paired, those opened most
_SHARED = 3  # hours that a pair has in common
_LIFT = 2.0

Numbers = np.ndarray[Any, np.dtype[Any]]


class Pair(Struct, frozen=True):
    """Two places that were opened together ``count`` times where ``expected`` were; ``p`` is the chance of that."""

    one: int
    other: int
    count: int
    expected: float
    p: float


def pairs(place: Numbers, hour: Numbers, who: Numbers) -> tuple[list[Pair], int]:
    """The pairs that stand out, and how many could have.

    What is expected follows from how often each is opened and how many are opened in an hour: as if what was opened
    were dealt anew to the same hours.
    """
    if not len(place):
        return [], 0
    readers = int(who.max()) + 1
    sitting = (hour // 3_600_000_000) * readers + who
    _, sitting = np.unique(sitting, return_inverse=True)
    whole = np.unique(sitting * (int(place.max()) + 1) + place)
    sitting, place = np.divmod(whole, int(place.max()) + 1)
    size = np.bincount(sitting)
    fits = size[sitting] <= _LARGEST
    sitting, place = sitting[fits], place[fits]
    if len(place) < 2:
        return [], 0
    opened = np.bincount(place)
    eligible = np.flatnonzero(opened >= _LEAST)
    eligible = eligible[np.argsort(-opened[eligible], kind="stable")][:_MOST]
    chosen = np.zeros(len(opened), bool)
    chosen[eligible] = True
    size = np.bincount(sitting).astype(float)
    total = float(len(place))
    meetings = float((size * (size - 1)).sum()) / (total * (total - 1))
    keep = chosen[place]
    keys, counts = _meetings(sitting[keep], place[keep], len(opened))
    found = []
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        one, other = divmod(key, len(opened))
        expected = float(opened[one]) * float(opened[other]) * meetings
        if count >= _LIFT * expected:
            found.append(Pair(one, other, count, expected, at_least(count, expected)))
    return found, len(eligible) * (len(eligible) - 1) // 2


def _meetings(sitting: Numbers, place: Numbers, many: int) -> tuple[Numbers, Numbers]:
    """The pairs that met often enough, as one number each, and how often. Rows are in the order of their sittings."""
    keys: list[Numbers] = []
    for apart in range(1, _LARGEST):
        if apart >= len(place):
            break
        same = sitting[apart:] == sitting[:-apart]
        if not same.any():
            break
        keys.append(place[:-apart][same] * many + place[apart:][same])
    if not keys:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    found, counts = np.unique(np.concatenate(keys), return_counts=True)
    often = counts >= _SHARED
    return found[often], counts[often]
