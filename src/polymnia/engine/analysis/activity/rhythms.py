"""Rhythms: days of the week and hours of the day at which more happens than at others, and gaps in which nothing does.

All times are UTC: where people are is not stored.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.activity.changes import DAY, HOUR
from polymnia.engine.analysis.probability import even_chi_square, longest_gap

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")

_LEAST_DAYS = 8  # on which something was done, for hours; fewer days say nothing about a day's course
_LEAST_WEEKS = 4
_FULL = 0.8  # of all acts lie in the hours that are named
_MORE = 1.2  # times its share, from which a day of the week is named
_LONGER = 3.0  # times what gaps usually are, from which one is a silence
_SHORTEST = 3  # days

Numbers = np.ndarray[Any, np.dtype[Any]]


class Hours(Struct, frozen=True):
    """The course of a day: from which hour to which (excluded) most is done, and which share; ``p`` is its chance.

    ``strength`` is how much acts gather at one time of day: 0 not at all, 1 all at the same minute.
    """

    start: int
    stop: int
    share: float
    strength: float
    days: int
    p: float
    counts: list[int]


class Week(Struct, frozen=True):
    """The course of a week: on which days (Monday is 0) more is done than on others; ``p`` is its chance.

    ``strength`` is the share of the differences between days that the day of the week explains, 0 to 1.
    """

    busy: list[int]
    quiet: list[int]
    means: list[float]
    strength: float
    p: float


class Gap(Struct, frozen=True):
    """Days without any act, ``start`` up to ``stop`` (excluded); ``usual`` is a long gap in this project."""

    start: int
    stop: int
    usual: float
    p: float
    open: bool


def hours(times: Numbers) -> Hours | None:
    """The course of a day in moments (microseconds); None where there are too few days to tell.

    Each day is an arrow to the middle of its acts on the dial of a clock of 24 hours. Without a rhythm the arrows point
    anywhere; how far they lead together has a known chance (Rayleigh's test with days for observations, so that
    a sitting of many notes counts as one).
    """
    if len(times) == 0:
        return None
    day = times // DAY
    angle = (times % DAY) * (2 * math.pi / DAY)
    _, of = np.unique(day, return_inverse=True)
    count = np.bincount(of)
    if len(count) < _LEAST_DAYS:
        return None
    # A day's arrow is the mean of its acts, longer when there are more of them but not in proportion.
    size = np.sqrt(count)
    x, y = np.bincount(of, np.cos(angle)) / size, np.bincount(of, np.sin(angle)) / size
    length = float((x**2 + y**2).sum())
    if length <= 0:
        return None
    n = len(count)
    z = (float(x.sum()) ** 2 + float(y.sum()) ** 2) / length
    # The second term is Greenwood and Durand's, which makes it right for few days as well.
    p = min(1.0, math.exp(-z) * max(0.0, 1 + (2 * z - z**2) / (4 * n))) if z < n else 0.0
    by_hour = np.bincount(((times % DAY) // HOUR).astype(int), minlength=24)
    start, width, share = _core(by_hour)
    strength = math.hypot(float(np.cos(angle).mean()), float(np.sin(angle).mean()))
    return Hours(start, (start + width) % 24, share, strength, n, max(p, math.exp(-n)), by_hour.tolist())


def _core(by_hour: Numbers) -> tuple[int, int, float]:
    """The shortest stretch of hours that holds most of the acts; of equally long ones the fullest."""
    total = int(by_hour.sum())
    twice = np.concatenate([[0], np.cumsum(np.concatenate([by_hour, by_hour]))])
    for width in range(1, 25):
        inside = twice[width : width + 24] - twice[:24]
        if inside.max() >= _FULL * total:
            start = int(np.argmax(inside))
            return start, width, float(inside[start] / total)
    return 0, 24, 1.0


def week(counts: Numbers, first: int) -> Week | None:
    """The course of a week in counts of days, of which the first is day ``first`` since 1970; None under four weeks.

    The days' ranks are compared between days of the week (Kruskal and Wallis): one busy day does not make a rhythm.
    """
    days = len(counts)
    if days < 7 * _LEAST_WEEKS:
        return None
    of = (first + 3 + np.arange(days)) % 7  # the first day of 1970 was a Thursday
    values, at = np.unique(counts, return_inverse=True)
    many = np.bincount(at)
    ranks = (np.cumsum(many) - (many - 1) / 2)[at]
    spread = float(((ranks - ranks.mean()) ** 2).sum())
    if len(values) < 2 or spread <= 0:
        return None
    between = sum(int((of == d).sum()) * float(ranks[of == d].mean() - ranks.mean()) ** 2 for d in range(7))
    means = [float(counts[of == d].mean()) for d in range(7)]
    usual = float(counts.mean())
    return Week(
        busy=[d for d in range(7) if means[d] >= _MORE * usual],
        quiet=[d for d in range(7) if means[d] * _MORE <= usual],
        means=means,
        strength=between / spread,
        p=even_chi_square((days - 1) * between / spread, 6),
    )


def gaps(active: Numbers, resting: Numbers | None = None) -> list[Gap]:
    """Stretches of days without an act that are longer than the project's own gaps explain, the longest first.

    ``active`` says of each day whether anything was done, the first being one such. Days of ``resting`` (weekends of a
    project that rests on them) are left out of the count. The chance is that of a gap as long anywhere when as many
    active days lie in any order.
    """
    counted = np.ones(len(active), bool) if resting is None else ~resting | active
    place = np.flatnonzero(counted)
    marked = np.flatnonzero(active[counted])
    if len(marked) < 2:
        return []
    total = len(place)
    ends = np.append(marked[1:], total)
    empty = ends - marked - 1
    found = []
    for at in sorted(np.flatnonzero(empty >= _SHORTEST).tolist(), key=lambda i: (-int(empty[i]), i)):
        size = int(empty[at])
        others = np.delete(empty, at)
        usual = max(1.0, float(np.quantile(others, 0.9)))
        if size < _LONGER * usual:
            continue
        p = longest_gap(size, len(marked), total)
        if p > 0.5:
            break
        stop = int(place[ends[at]]) if ends[at] < total else len(active)
        found.append(Gap(int(place[marked[at]]) + 1, stop, usual, p, bool(ends[at] >= total)))
    return found
