"""Levels: stretches of days in which more happened, and days on which the usual number changed, with their chances.

Days are counted, not moments: what one sitting brings together is one day's work. That days differ more than chance
says (sittings of many notes) is measured as a dispersion and taken into the null model of bursts, in which each day is
drawn with the expected number and that dispersion; that of turns has the same days in any order. Each question looks at
many stretches at once: its chance is that of the best of them all in projects drawn from the null model, and its far
tail comes from the Gumbel law that such maxima follow.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from msgspec import Struct

Numbers = np.ndarray[Any, np.dtype[Any]]

_DRAWN = 400  # projects drawn from the null model for each question
_SEED = 28
_WIDTHS = (1, 2, 3, 5, 7, 10, 14, 21, 28)  # days a burst may last; four weeks are a change of level
_LONGEST = 4  # a burst is at most this part of the time, or it is the rule
_BURSTS = 5  # that are looked for, one after the other
_TWICE = 2.0  # a burst is at least this many times what was expected
_DOUBT = 0.05  # the chance above which no further burst is looked for,
_TURN = 0.01  # and above which there is no new level
_SHORTEST = 14  # days of a level, and
_SHARE = 8  # this part of the time
_CAP = 0.95  # of the days have counts as they are when levels are compared; the busiest are cut down to these
_AT_ONCE = 2_000_000  # counts that are drawn at once: a few dozen megabytes
_ENOUGH = 10  # drawn values above, from which their share is better than the law
_EULER = 0.5772156649


class Stretch(Struct, frozen=True):
    """Days ``start`` up to ``stop`` (excluded) with ``count`` acts where ``expected`` were; ``p`` is their chance."""

    start: int
    stop: int
    count: int
    expected: float
    p: float


class LevelChange(Struct, frozen=True):
    """The day from which acts came at another rate: a day's number before and after, and the chance."""

    day: int
    before: float
    after: float
    p: float


class Best(Struct, frozen=True):
    """Of each row the best stretch, how far it stands out, and the dispersion of the rest."""

    start: Numbers
    stop: Numbers
    value: Numbers
    dispersion: Numbers


def bursts(counts: Numbers, expected: Numbers) -> list[Stretch]:
    """Stretches of days on which far more was done than expected, the most certain first.

    ``expected`` need only be right up to a factor: the level is taken from the days outside of the stretch.
    """
    left, mean = counts.astype(float), expected.astype(float)
    widths = [w for w in _WIDTHS if w * _LONGEST <= len(counts)]
    found: list[Stretch] = []
    while widths and len(found) < _BURSTS and left.sum() > 0:
        best = _stretches(left[None, :], mean, widths)
        start, stop = int(best.start[0]), int(best.stop[0])
        outside = mean.sum() - mean[start:stop].sum()
        if best.value[0] <= 0 or outside <= 0:
            break
        count = int(left[start:stop].sum())
        rate = (left.sum() - count) / outside
        draw = partial(_drawn, mean=mean, rate=rate, dispersion=float(best.dispersion[0]), widths=widths)
        p = _chance(float(best.value[0]), len(mean), draw)
        if p > _DOUBT:
            break
        usual = float(rate * mean[start:stop].sum())
        if count >= _TWICE * usual:
            found.append(Stretch(start, stop, count, usual, p))
        left[start:stop] = 0
        mean[start:stop] = 0
    return found


def _drawn(
    rng: np.random.Generator, many: int, *, mean: Numbers, rate: float, dispersion: float, widths: list[int]
) -> Numbers:
    return _stretches(_project(rng, many, mean * rate, dispersion), mean, widths).value


def turn(counts: Numbers) -> LevelChange | None:
    """The day at which the number of acts a day changed most, if it did; the chance is that of the same days in any
    order."""
    shortest = max(_SHORTEST, len(counts) // _SHARE)
    capped = _capped(counts)
    if len(counts) < 2 * shortest or counts.sum() == 0:
        return None
    best = _halves(capped[None, :], shortest)

    def drawn(rng: np.random.Generator, many: int) -> Numbers:
        return _halves(rng.permuted(np.tile(capped, (many, 1)), axis=1), shortest).value

    day, p = int(best.stop[0]), _chance(float(best.value[0]), len(counts), drawn)
    return LevelChange(day, float(counts[:day].mean()), float(counts[day:].mean()), p) if p <= _TURN else None


def _capped(counts: Numbers) -> Numbers:
    """Counts in which the busiest days stand out no more than the next: a burst of a day is no new level."""
    return np.minimum(counts, max(1.0, float(np.quantile(counts, _CAP)))).astype(float)


def _stretches(rows: Numbers, mean: Numbers, widths: list[int]) -> Best:
    """Of each row the stretch that is least like the rest of it, upwards (the scan statistic of Kulldorff)."""
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
    within = (np.arange(days) >= start[:, None]) & (np.arange(days) < stop[:, None])
    outside = np.where(within, 0.0, mean)
    rest = np.where(within, 0.0, rows)
    level = rest.sum(axis=1, keepdims=True) / np.maximum(outside.sum(axis=1, keepdims=True), 1e-300)
    dispersion = _dispersion(rest, outside * level)
    return Best(start, stop, value / dispersion, dispersion)


def _halves(rows: Numbers, shortest: int) -> Best:
    """Of each row the day that divides it into the two most different levels."""
    many, days = rows.shape
    sums = np.cumsum(rows, axis=1)
    total = sums[:, -1:]
    share = np.arange(shortest, days - shortest + 1) / days
    gain = _gain(sums[:, shortest - 1 : days - shortest], total, share)
    at = np.argmax(gain, axis=1)
    day = at + shortest
    value = gain[np.arange(many), at]
    first = sums[np.arange(many), day - 1]
    before = np.arange(days) < day[:, None]
    level = np.where(before, (first / day)[:, None], ((total[:, 0] - first) / (days - day))[:, None])
    dispersion = _dispersion(rows, level)
    return Best(np.zeros(many, int), day, value / dispersion, dispersion)


def _gain(inside: Numbers, total: Numbers, share: Numbers) -> Numbers:
    """How much likelier the counts are with two rates than with one, as the logarithm of the ratio."""
    outside = total - inside
    with np.errstate(divide="ignore", invalid="ignore"):
        one = np.where(inside > 0, inside * np.log(inside / (total * share)), 0.0)
        two = np.where(outside > 0, outside * np.log(outside / (total * (1.0 - share))), 0.0)
    return np.asarray(np.nan_to_num(one + two, nan=0.0, posinf=0.0, neginf=0.0))


def _dispersion(rows: Numbers, level: Numbers) -> Numbers:
    """By how much the days of each row differ more than chance lets them, at least 1."""
    known = level > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(known, (rows - level) ** 2 / level, 0.0)
    return np.asarray(np.maximum(1.0, squares.sum(axis=1) / np.maximum(1, known.sum(axis=1) - 2)))


def _chance(value: float, days: int, draw: Callable[[np.random.Generator, int], Numbers]) -> float:
    """The chance of such a value among those that are drawn from the null model."""
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


def _project(rng: np.random.Generator, many: int, mean: Numbers, dispersion: float) -> Numbers:
    """Rows of counts with these expectations and this dispersion (a Poisson law whose mean is a Gamma law)."""
    means = np.broadcast_to(mean, (many, len(mean)))
    if (spread := dispersion - 1.0) > 0.05:
        means = rng.gamma(np.maximum(means, 1e-12) / spread, spread)
    return rng.poisson(means).astype(float)
