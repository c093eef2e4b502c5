"""Trends: whether a series of counts rises or falls, by how much, and what is to be expected next.

The direction is tested by the ranks (Mann and Kendall), which asks nothing of the counts' distribution; neighbouring
counts that resemble each other count for less. The size is the slope of a Poisson regression.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.temporal.chances import two_sided

__all__ = ["LEAST", "Forecast", "Trend", "fitted", "forecast", "trend"]

LEAST = 8
"""How many counts it takes to tell a trend."""

_STEPS = 25  # of Newton's method; it takes five or six
_STEEPEST = 3.0  # of the logarithm over the whole time that is looked at: a factor of twenty, more is no slope
_FADING = 0.5  # of a trend that is believed, what is left of its slope after the length of the past (it fades)
_STRAY = 0.07  # by which share a level strays from one count to the next though nothing shows it
_DRAWN = 2000
_SEED = 28
_SURE = 0.05

Numbers = np.ndarray[Any, np.dtype[Any]]


class Trend(Struct, frozen=True, kw_only=True):
    """How a series of counts goes.

    ``slope`` is the growth from one count to the next as a share (0.05: five per cent more each time), ``change`` the
    ratio of ``last`` to ``first``, which are the fitted levels at both ends. ``p`` is the chance of so much order
    in a series without a trend; with less than ``LEAST`` counts it is 1 and the direction ``unknown``.
    """

    slope: float
    change: float
    p: float
    direction: Literal["rising", "falling", "steady", "unknown"]
    first: float
    last: float
    points: int = 0


class Forecast(Struct, frozen=True, kw_only=True):
    """What to expect of each of the next counts and of all together, with the range that holds nine of ten.

    ``basis`` says what it rests on: ``trend`` where one was told, ``level`` where none was.
    """

    expected: list[float]
    low: list[float]
    high: list[float]
    total: float
    total_low: float
    total_high: float
    basis: Literal["trend", "level", "unknown"]


def trend(counts: Sequence[int], *, sure: float = _SURE) -> Trend:
    """Whether counts of equally long times rise or fall. ``sure`` is the chance up to which a direction is told."""
    y = np.asarray(counts, float)
    n = len(y)
    mean = float(y.mean()) if n else 0.0
    if n < LEAST or y.sum() == 0:
        return Trend(slope=0.0, change=1.0, p=1.0, direction="unknown", first=mean, last=mean, points=n)
    p = _ranked(y)
    _, slope = _regression(y)
    level = fitted(y)
    direction: Literal["rising", "falling", "steady"] = "steady"
    if p <= sure:
        direction = "rising" if slope > 0 else "falling"
    first, last = float(level[0]), float(level[-1])
    return Trend(
        slope=math.expm1(slope), change=last / first, p=p, direction=direction, first=first, last=last, points=n
    )


def forecast(counts: Sequence[int], ahead: int, *, sure: float = _SURE) -> Forecast:
    """What the next ``ahead`` counts will be if things go on as they did.

    Where no trend is told, it is the level of the later counts. The range has in it how uncertain level and slope
    are and how much single counts scatter; a trend fades, for none goes on for ever.
    """
    y = np.asarray(counts, float)
    n = len(y)
    if n < 3 or ahead < 1 or y.sum() == 0:
        none = [0.0] * max(0, ahead)
        return Forecast(expected=none, low=none, high=none, total=0, total_low=0, total_high=0, basis="unknown")
    told = trend(counts, sure=sure)
    on_trend = told.direction in ("rising", "falling")
    place, slope = _regression(y) if on_trend else (math.log(max(_level(y), 0.5 / n)), 0.0)
    level = fitted(y) if on_trend else np.full(n, math.exp(place))
    dispersion = max(1.0, float(((y - level) ** 2 / np.maximum(level, 1e-9)).sum() / max(1, n - 1 - on_trend)))
    x = np.arange(n) - (n - 1) / 2
    steps = np.arange(1, ahead + 1)
    faded = n / math.log(1 / _FADING) * -np.expm1(-steps * math.log(1 / _FADING) / n)
    at = (n - 1) / 2 + faded
    rng = np.random.default_rng(_SEED)
    around = math.sqrt(dispersion / max(level.sum(), 0.5))
    if on_trend:
        tilt = math.sqrt(dispersion / max(float((level * x**2).sum()), 0.5))
        paths = place + rng.normal(0, around, (_DRAWN, 1)) + (slope + rng.normal(0, tilt, (_DRAWN, 1))) * at
        middle = np.exp(place + slope * at)
    else:
        weight = _weights(n)
        around = math.sqrt(dispersion * float((weight**2).sum()) / max(float(level[0]), 0.5))
        paths = place + rng.normal(0, around, (_DRAWN, 1))
        middle = np.full(ahead, math.exp(place))
    stray = math.hypot(_STRAY, 0.0 if on_trend else _wander(y))
    paths = paths + rng.normal(0, stray, (_DRAWN, 1)) * np.sqrt(steps)
    means = np.exp(np.clip(paths, -20, 20))
    if dispersion > 1.05:
        means = rng.gamma(np.maximum(means, 1e-12) / (dispersion - 1), dispersion - 1)
    drawn = rng.poisson(np.minimum(means, 1e9))
    low, high = np.quantile(drawn, (0.05, 0.95), axis=0)
    sums = np.quantile(drawn.sum(axis=1), (0.05, 0.95))
    return Forecast(
        expected=[float(v) for v in middle],
        low=[float(v) for v in low],
        high=[float(v) for v in high],
        total=float(middle.sum()),
        total_low=float(sums[0]),
        total_high=float(sums[1]),
        basis="trend" if on_trend else "level",
    )


def fitted(counts: Numbers) -> Numbers:
    """The level of each count on the line of a Poisson regression."""
    place, slope = _regression(counts)
    return np.asarray(np.exp(place + slope * (np.arange(len(counts)) - (len(counts) - 1) / 2)))


def _regression(y: Numbers) -> tuple[float, float]:
    """The logarithm of the level in the middle, and its growth from one count to the next."""
    n = len(y)
    x = (np.arange(n) - (n - 1) / 2) / max(1, n - 1)
    place, slope = math.log(max(float(y.mean()), 0.5 / n)), 0.0
    for _ in range(_STEPS):
        mean = np.exp(place + slope * x)
        gap = y - mean
        g0, g1 = float(gap.sum()), float((gap * x).sum())
        h00, h01, h11 = float(mean.sum()), float((mean * x).sum()), float((mean * x * x).sum()) + 1e-9
        det = h00 * h11 - h01 * h01
        if det <= 0:
            break
        d0, d1 = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
        size = max(1.0, abs(d0), abs(d1))
        place, slope = place + d0 / size, max(-2 * _STEEPEST, min(2 * _STEEPEST, slope + d1 / size))
        if abs(d0) + abs(d1) < 1e-9:
            break
    return place, slope / max(1, n - 1)


def _ranked(y: Numbers) -> float:
    """The chance of so much order in the counts when they follow each other in any order (Mann and Kendall)."""
    n = len(y)
    order = sum(float(np.sign(y[i + 1 :] - y[i]).sum()) for i in range(n - 1))
    ties = np.unique(y, return_counts=True)[1].astype(float)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return 1.0
    rest = y - fitted(y)
    rest = rest - rest.mean()
    power = float((rest**2).sum())
    alike = float((rest[1:] * rest[:-1]).sum()) / power if power > 0 else 0.0
    if alike > 1.645 / math.sqrt(n):
        variance *= (1 + alike) / (1 - min(alike, 0.9))
    return two_sided(max(0.0, abs(order) - 1) / math.sqrt(variance))


def _weights(n: int) -> Numbers:
    """How much each count says about the level now: the later half twice as much as the earlier."""
    weight = np.where(np.arange(n) * 2 >= n, 2.0, 1.0)
    return np.asarray(weight / weight.sum())


def _level(y: Numbers) -> float:
    return float((y * _weights(len(y))).sum())


def _wander(y: Numbers) -> float:
    """How far the level itself strays from one count to the next, as a share; from halves that differ too much."""
    n = len(y)
    first, second = y[: n // 2], y[n // 2 :]
    if n < LEAST or first.sum() == 0 or second.sum() == 0:
        return 0.0
    gap = math.log(float(second.mean()) / float(first.mean()))
    noise = 1 / max(1.0, float(first.sum())) + 1 / max(1.0, float(second.sum()))
    return math.sqrt(max(0.0, gap**2 - noise)) / math.sqrt(n / 2)
