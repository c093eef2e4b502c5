"""Probability: p values of counts, corrections for many tests, and the confidence of a finding."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

CAP = 0.999
"""The highest confidence of anything that was estimated."""
LEAST = 0.8
"""The confidence from which a finding is reported; one in forty projects without a pattern has one."""

_ENOUGH = 1e-17  # of the sum; a smaller term changes nothing


def at_least(count: int, mean: float) -> float:
    """The chance of ``count`` or more where ``mean`` are expected (Poisson); 1 where it is no more than expected."""
    if count <= mean:
        return 1.0
    if mean <= 0:
        return 0.0
    return _tail(count, count * math.log(mean) - mean - math.lgamma(count + 1), lambda k: mean / (k + 1))


def at_least_of(count: int, trials: int, chance: float) -> float:
    """The chance of ``count`` or more hits in so many trials (binomial); 1 where it is no more than expected."""
    if count <= trials * chance:
        return 1.0
    if count > trials or chance <= 0:
        return 0.0
    first = _choose(trials, count) + count * math.log(chance) + (trials - count) * math.log1p(-chance)
    return _tail(count, first, lambda k: (trials - k) / (k + 1) * chance / (1 - chance))


def drawn_at_least(count: int, marked: int, drawn: int, total: int) -> float:
    """The chance of ``count`` or more of the ``marked`` among so many drawn (hypergeometric); 1 where no more."""
    if count * total <= drawn * marked:
        return 1.0
    if count > min(marked, drawn):
        return 0.0
    first = _choose(marked, count) + _choose(total - marked, drawn - count) - _choose(total, drawn)
    return _tail(count, first, lambda k: (marked - k) * (drawn - k) / ((k + 1) * (total - marked - drawn + k + 1)))


def all_in(marked: int, part: int, total: int) -> float:
    """The chance that all marked places lie in a given ``part`` of ``total`` places."""
    return math.exp(_choose(part, marked) - _choose(total, marked)) if marked <= part else 0.0


def longest_gap(gap: int, marked: int, total: int) -> float:
    """The exact chance of so many unmarked places after a marked one; the first is marked, the others are anywhere."""
    free, more = total - 1, marked - 1
    if gap <= 0:
        return 1.0
    sign, found = 1, 0
    for runs in range(1, marked + 1):
        left = free - runs * gap
        if left < more:
            break
        found += sign * math.comb(marked, runs) * math.comb(left, more)
        sign = -sign
    return found / math.comb(free, more)


def two_sided(z: float) -> float:
    """The chance of a normal value as far from zero, on either side."""
    return math.erfc(abs(z) / math.sqrt(2))


def even_chi_square(value: float, degrees: int) -> float:
    """The chance of a chi-square value as large, for an even number of degrees of freedom."""
    half = max(0.0, value) / 2
    return min(1.0, math.exp(-half) * sum(half**k / math.factorial(k) for k in range(degrees // 2)))


def benjamini_hochberg(chances: Sequence[float], tests: int | None = None) -> list[float]:
    """The false discovery rate at each p value after so many tests."""
    order = np.argsort(chances, kind="stable")
    rates = np.asarray(chances, float)[order] * max(len(order), tests or 0) / np.arange(1, len(order) + 1)
    found = np.empty(len(order))
    found[order] = np.minimum(1.0, np.minimum.accumulate(rates[::-1])[::-1])
    return [float(one) for one in found]


def holm(chances: Sequence[float], tests: int | None = None) -> list[float]:
    """The p values corrected for so many tests (Holm: the family-wise error rate)."""
    order = np.argsort(chances, kind="stable")
    rates = np.asarray(chances, float)[order] * (max(len(order), tests or 0) - np.arange(len(order)))
    found = np.empty(len(order))
    found[order] = np.minimum(1.0, np.maximum.accumulate(rates))
    return [float(one) for one in found]


def confidence(chance: float) -> float:
    """How often a finding with this corrected p value is right.

    The bound of Sellke, Bayarri and Berger for even odds: 0.05 is right in 71 of 100 cases, 0.01 in 89, 0.001 in 98.
    """
    if chance >= 1 / math.e:
        return 0.0
    against = -math.e * chance * math.log(chance) if chance > 0 else 0.0
    return round(min(CAP, 1 / (1 + against)), 4)


def _choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _tail(count: int, first: float, ratio: Callable[[int], float]) -> float:
    """The sum of the terms from ``count`` on, given the logarithm of the first and the ratio of each to the next."""
    total, term = 0.0, math.exp(first)
    while term > total * _ENOUGH and term > 0:
        total += term
        term *= ratio(count)
        count += 1
    return min(1.0, total)
