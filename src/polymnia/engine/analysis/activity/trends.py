"""Trends: whether a series of counts rises or falls, and by how much.

The direction is tested by the ranks (Mann and Kendall), which asks nothing of the counts' distribution; neighbouring
counts that resemble each other count for less. The size is the slope of a Poisson regression.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.probability import two_sided

LEAST = 8
"""How many counts it takes to see a trend."""

_STEPS = 25  # of Newton's method; it takes five or six
_STEEPEST = 6.0  # of the logarithm over the whole time; more is no slope
_SURE = 0.05

Numbers = np.ndarray[Any, np.dtype[Any]]


class Trend(Struct, frozen=True, kw_only=True):
    """How a series of counts goes.

    ``slope`` is the growth from one count to the next as a share (0.05: five per cent more each time), ``change`` the
    ratio of ``last`` to ``first``, which are the fitted levels at both ends. ``p`` is the chance of so much order
    in a series without a trend; with less than ``LEAST`` counts it is 1 and the direction ``unknown``.
    """

    slope: float = 0.0
    change: float = 1.0
    p: float = 1.0
    direction: Literal["rising", "falling", "steady", "unknown"] = "unknown"
    first: float
    last: float
    points: int = 0


def trend(counts: Sequence[int]) -> Trend:
    """Whether counts of equally long times rise or fall."""
    y = np.asarray(counts, float)
    if len(y) < LEAST or y.sum() == 0:
        mean = float(y.mean()) if len(y) else 0.0
        return Trend(first=mean, last=mean, points=len(y))
    p = _mann_kendall(y)
    slope = _regression(y)[1]
    level = fitted(y)
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


def fitted(counts: Numbers) -> Numbers:
    """The level of each count on the line of a Poisson regression."""
    place, slope = _regression(counts)
    return np.asarray(np.exp(place + slope * (np.arange(len(counts)) - (len(counts) - 1) / 2)))


def _regression(y: Numbers) -> tuple[float, float]:
    """The logarithm of the level in the middle, and its growth from one count to the next (Newton's method)."""
    n = len(y)
    design = np.stack([np.ones(n), (np.arange(n) - (n - 1) / 2) / max(1, n - 1)], axis=1)
    weights = np.array([math.log(max(float(y.mean()), 0.5 / n)), 0.0])
    for _ in range(_STEPS):
        mean = np.exp(design @ weights)
        bend = (design * mean[:, None]).T @ design + np.diag([0.0, 1e-9])
        step = np.linalg.solve(bend, design.T @ (y - mean))
        weights = weights + step / max(1.0, float(np.abs(step).max()))
        weights[1] = min(_STEEPEST, max(-_STEEPEST, weights[1]))
        if np.abs(step).sum() < 1e-9:
            break
    return float(weights[0]), float(weights[1]) / max(1, n - 1)


def _mann_kendall(y: Numbers) -> float:
    """The chance of so much order in the counts when they follow each other in any order."""
    n = len(y)
    order = sum(float(np.sign(y[i + 1 :] - y[i]).sum()) for i in range(n - 1))
    ties = np.unique(y, return_counts=True)[1].astype(float)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    if variance <= 0:
        return 1.0
    rest = y - fitted(y)
    rest = rest - rest.mean()
    power = float(rest @ rest)
    alike = float(rest[1:] @ rest[:-1]) / power if power > 0 else 0.0
    if alike > 1.645 / math.sqrt(n):
        variance *= (1 + alike) / (1 - min(alike, 0.9))
    return two_sided(max(0.0, abs(order) - 1) / math.sqrt(variance))
