"""Series: trends, changes of level and bursts of counts (docs/decisions/0028-rhythms.md)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.probability import two_sided

LEAST_COUNTS = 8
"""How many counts a trend takes."""
_NEWTON = 25  # steps of the regression; it takes five or six
_STEEPEST = 6.0  # of the logarithm over the whole time; more is no slope
_SURE = 0.05

_DRAWN = 400  # series drawn from the null model for each test
_SEED = 28
_WIDTHS = (1, 2, 3, 5, 7, 10, 14, 21, 28)  # days a burst may last
_LONGEST = 4  # a burst is at most this fraction of the time
_BURSTS = 5  # searched for, one after the other
_TWICE = 2.0  # a burst has at least this many times the expected count
_DOUBT = 0.05  # the p value above which no further burst is searched for,
_TURN = 0.01  # and above which there is no change of level
_LEVEL_DAYS, _LEVEL_SHARE = 14, 8  # a level lasts so many days, and this fraction of the time
_CAP = 0.95  # the quantile at which counts are capped, so that a burst is no new level
_AT_ONCE = 2_000_000  # counts drawn at once: a few dozen megabytes
_ENOUGH = 10  # drawn values above, from which their share is better than the fitted law
_EULER = 0.5772156649


class Trend(Struct, frozen=True, kw_only=True):
    """A trend: growth per count, fitted levels at both ends and their ratio (``change``), and its p value."""

    slope: float = 0.0
    change: float = 1.0
    p: float = 1.0
    direction: Literal["rising", "falling", "steady", "unknown"] = "unknown"
    first: float
    last: float
    points: int = 0


class Burst(Struct, frozen=True):
    """Days ``start`` up to ``stop`` (excluded) with ``count`` changes where ``expected`` were, and the p value."""

    start: int
    stop: int
    count: int
    expected: float
    p: float


class LevelChange(Struct, frozen=True):
    """The day of a change of level, the mean count before and after, and the p value."""

    day: int
    before: float
    after: float
    p: float


def trend(counts: Sequence[int]) -> Trend:
    """Test whether counts of equally long periods rise or fall."""
    y = np.asarray(counts, float)
    if len(y) < LEAST_COUNTS or y.sum() == 0:
        mean = float(y.mean()) if len(y) else 0.0
        return Trend(first=mean, last=mean, points=len(y))
    level, slope = fitted(y)
    p = _mann_kendall(y, level)
    first, last = float(level[0]), float(level[-1])
    return Trend(
        slope=math.expm1(slope),
        change=last / first,
        p=p,
        direction="steady" if p > _SURE else "rising" if slope > 0 else "falling",
        first=first,
        last=last,
        points=len(y),
    )


def fitted(y: Numbers) -> tuple[Numbers, float]:
    """The level of each count on the line of a Poisson regression (Newton's method), and its logarithmic slope."""
    n = len(y)
    place = (np.arange(n) - (n - 1) / 2) / max(1, n - 1)
    design = np.stack([np.ones(n), place], axis=1)
    weights = np.array([math.log(max(float(y.mean()), 0.5 / n)), 0.0])
    for _ in range(_NEWTON):
        mean = np.exp(design @ weights)
        bend = (design * mean[:, None]).T @ design + np.diag([0.0, 1e-9])
        step = np.linalg.solve(bend, design.T @ (y - mean))
        weights = weights + step / max(1.0, float(np.abs(step).max()))
        weights[1] = min(_STEEPEST, max(-_STEEPEST, weights[1]))
        if np.abs(step).sum() < 1e-9:
            break
    return np.asarray(np.exp(design @ weights)), float(weights[1]) / max(1, n - 1)


def _mann_kendall(y: Numbers, level: Numbers) -> float:
    n = len(y)
    order = sum(float(np.sign(y[i + 1 :] - y[i]).sum()) for i in range(n - 1))
    ties = np.unique(y, return_counts=True)[1].astype(float)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return 1.0
    rest = y - level
    rest = rest - rest.mean()
    power = float(rest @ rest)
    alike = float(rest[1:] @ rest[:-1]) / power if power > 0 else 0.0
    if alike > 1.645 / math.sqrt(n):
        variance *= (1 + alike) / (1 - min(alike, 0.9))
    return two_sided(max(0.0, abs(order) - 1) / math.sqrt(variance))


def bursts(counts: Numbers, expected: Numbers) -> list[Burst]:
    """Runs of days with far higher counts than expected (up to a factor), the most certain first."""
    left, mean = counts.astype(float), expected.astype(float)
    widths = [w for w in _WIDTHS if w * _LONGEST <= len(counts)]
    found: list[Burst] = []
    while widths and len(found) < _BURSTS and left.sum() > 0:
        (start,), (stop,), (value,), (dispersion,) = _best(left[None, :], mean, widths)
        outside = mean.sum() - mean[start:stop].sum()
        if value <= 0 or outside <= 0:
            break
        count = int(left[start:stop].sum())
        rate = (left.sum() - count) / outside
        spread = float(dispersion) - 1.0

        def drawn(rng: np.random.Generator, many: int, level: Numbers = mean * rate, spread: float = spread) -> Numbers:
            """Rows of counts with these means and this dispersion (gamma-Poisson mixture)."""
            means = np.broadcast_to(level, (many, len(level)))
            if spread > 0.05:
                means = rng.gamma(np.maximum(means, 1e-12) / spread, spread)
            return _best(rng.poisson(means).astype(float), mean, widths)[2]

        p = _p_value(float(value), len(mean), drawn)
        if p > _DOUBT:
            break
        usual = float(rate * mean[start:stop].sum())
        if count >= _TWICE * usual:
            found.append(Burst(int(start), int(stop), count, usual, p))
        left[start:stop] = 0
        mean[start:stop] = 0
    return found


def _best(rows: Numbers, mean: Numbers, widths: list[int]) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The most unusual run of each row (Kulldorff): start, stop, statistic, dispersion of the rest."""
    many, days = rows.shape
    sums = np.concatenate([np.zeros((many, 1)), np.cumsum(rows, axis=1)], axis=1)
    means = np.concatenate([[0.0], np.cumsum(mean)])
    total = sums[:, -1:]
    value = np.zeros(many)
    start = np.zeros(many, int)
    stop = np.ones(many, int)
    for width in widths:
        inside = sums[:, width:] - sums[:, :-width]
        share = (means[width:] - means[:-width]) / max(means[-1], 1e-300)
        gain = _gain(inside, total, share)
        gain[inside <= total * share] = 0.0
        at = np.argmax(gain, axis=1)
        best = gain[np.arange(many), at]
        better = best > value
        value[better], start[better], stop[better] = best[better], at[better], at[better] + width
    inside = (np.arange(days) >= start[:, None]) & (np.arange(days) < stop[:, None])
    outside = np.where(inside, 0.0, mean)
    rest = np.where(inside, 0.0, rows)
    level = outside * (rest.sum(axis=1, keepdims=True) / np.maximum(outside.sum(axis=1, keepdims=True), 1e-300))
    dispersion = _dispersion(rest, level)
    return start, stop, value / dispersion, dispersion


def level_change(counts: Numbers) -> LevelChange | None:
    """The day at which the level of daily counts changed, if it did."""
    shortest = max(_LEVEL_DAYS, len(counts) // _LEVEL_SHARE)
    if len(counts) < 2 * shortest or counts.sum() == 0:
        return None
    capped = np.minimum(counts, max(1.0, float(np.quantile(counts, _CAP)))).astype(float)
    (day,), (value,) = _halves(capped[None, :], shortest)

    def drawn(rng: np.random.Generator, many: int) -> Numbers:
        return _halves(rng.permuted(np.tile(capped, (many, 1)), axis=1), shortest)[1]

    p = _p_value(float(value), len(counts), drawn)
    return LevelChange(int(day), float(counts[:day].mean()), float(counts[day:].mean()), p) if p <= _TURN else None


def _halves(rows: Numbers, shortest: int) -> tuple[Numbers, Numbers]:
    """The day that divides each row into the two most different levels, and the statistic."""
    many, days = rows.shape
    sums = np.cumsum(rows, axis=1)
    gain = _gain(sums[:, shortest - 1 : days - shortest], sums[:, -1:], np.arange(shortest, days - shortest + 1) / days)
    day = np.argmax(gain, axis=1) + shortest
    first = sums[np.arange(many), day - 1]
    before = np.arange(days) < day[:, None]
    level = np.where(before, (first / day)[:, None], ((sums[:, -1] - first) / (days - day))[:, None])
    return day, gain.max(axis=1) / _dispersion(rows, level)


def _dispersion(rows: Numbers, level: Numbers) -> Numbers:
    """The Poisson dispersion of each row, at least 1."""
    known = level > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(known, (rows - level) ** 2 / level, 0.0)
    return np.asarray(np.maximum(1.0, squares.sum(axis=1) / np.maximum(1, known.sum(axis=1) - 2)))


def _gain(inside: Numbers, total: Numbers, share: Numbers) -> Numbers:
    """The log likelihood ratio of two rates against one."""
    outside = total - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(inside > 0, inside * np.log(inside / (total * share)), 0.0)
        two = np.where(outside > 0, outside * np.log(outside / (total * (1.0 - share))), 0.0)
    return np.asarray(np.nan_to_num(one + two, nan=0.0, posinf=0.0, neginf=0.0))


def _p_value(value: float, days: int, draw: Callable[[np.random.Generator, int], Numbers]) -> float:
    rng = np.random.default_rng(_SEED)
    rows = max(1, min(_DRAWN, _AT_ONCE // max(1, days)))
    values = np.concatenate([draw(rng, min(rows, _DRAWN - begin)) for begin in range(0, _DRAWN, rows)])
    above = int((values >= value).sum())
    if above >= _ENOUGH:
        return (above + 1) / (len(values) + 1)
    scale = float(values.std()) * math.sqrt(6) / math.pi
    place = float(values.mean()) - _EULER * scale
    tail = -math.expm1(-math.exp(-(value - place) / max(scale, 1e-12)))
    return min(1.0, max(tail, 1e-300))
