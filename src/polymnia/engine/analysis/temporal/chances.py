"""Chances: how likely a count is when nothing is behind it, and what many such looks at one project are worth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

__all__ = [
    "CAP", "LEAST", "adjusted", "all_in", "at_least", "at_least_of", "confidence", "drawn_at_least", "even_chi_square",
    "held", "longest_gap", "two_sided",
]  # fmt: skip

CAP = 0.999
"""The most that is said of a finding: so far the null models were checked against projects drawn by chance."""
LEAST = 0.8
"""How sure a finding must be unless another measure is asked for: one in forty projects without a pattern has one."""

_ENOUGH = 1e-17  # what a term may be of the sum and still change nothing


def at_least(count: int, mean: float) -> float:
    """The chance of ``count`` or more where ``mean`` are expected (Poisson)."""
    if count <= 0:
        return 1.0
    if mean <= 0:
        return 0.0
    if count <= mean:
        return max(0.0, 1.0 - _downward(count - 1, lambda k: k / mean, _poisson(count - 1, mean)))
    return min(1.0, _upward(count, lambda k: mean / (k + 1), _poisson(count, mean)))


def at_least_of(count: int, trials: int, chance: float) -> float:
    """The chance of ``count`` or more hits in so many trials (binomial)."""
    if count <= 0:
        return 1.0
    if count > trials or chance <= 0:
        return 0.0
    if chance >= 1:
        return 1.0
    odds = chance / (1 - chance)

    def log_term(k: int) -> float:
        return _choose(trials, k) + k * math.log(chance) + (trials - k) * math.log1p(-chance)

    if count <= trials * chance:
        first = math.exp(log_term(count - 1))
        return max(0.0, 1.0 - _downward(count - 1, lambda k: k / ((trials - k + 1) * odds), first))
    return min(1.0, _upward(count, lambda k: (trials - k) / (k + 1) * odds, math.exp(log_term(count))))


def drawn_at_least(count: int, marked: int, drawn: int, total: int) -> float:
    """The chance that of ``drawn`` out of ``total``, of which some are ``marked``, so many or more are marked."""
    low, high = max(0, drawn + marked - total), min(marked, drawn)
    if count <= low:
        return 1.0
    if count > high:
        return 0.0

    def log_term(k: int) -> float:
        return _choose(marked, k) + _choose(total - marked, drawn - k) - _choose(total, drawn)

    def ratio(k: int) -> float:
        return (marked - k) * (drawn - k) / ((k + 1) * (total - marked - drawn + k + 1))

    if count <= drawn * marked / total:
        below = _downward(count - 1, lambda k: 1 / ratio(k - 1) if k > low else 0.0, math.exp(log_term(count - 1)))
        return max(0.0, 1.0 - below)
    return min(1.0, _upward(count, ratio, math.exp(log_term(count))))


def all_in(marked: int, part: int, total: int) -> float:
    """The chance that all that are marked lie in a part chosen beforehand of ``total`` places."""
    return math.exp(_choose(part, marked) - _choose(total, marked)) if marked <= part else 0.0


def longest_gap(gap: int, marked: int, total: int) -> float:
    """The chance that a run of ``gap`` or more unmarked places follows a marked one, the first place being marked.

    The other marks lie anywhere: exact, by inclusion and exclusion over the runs that follow each mark.
    """
    free, more = total - 1, marked - 1
    if gap <= 0:
        return 1.0
    ways, sign, found = math.comb(free, more), 1, 0
    for runs in range(1, marked + 1):
        left = free - runs * gap
        if left < more:
            break
        found += sign * math.comb(marked, runs) * math.comb(left, more)
        sign = -sign
    return found / ways


def two_sided(z: float) -> float:
    """The chance of a normal value as far from zero, on either side."""
    return math.erfc(abs(z) / math.sqrt(2))


def even_chi_square(value: float, degrees: int) -> float:
    """The chance of a chi-square value as large, for an even number of degrees of freedom."""
    half = max(0.0, value) / 2
    return min(1.0, math.exp(-half) * sum(half**k / math.factorial(k) for k in range(degrees // 2)))


def adjusted(chances: Sequence[float], tests: int | None = None) -> list[float]:
    """The share of false ones to expect among the findings up to each chance (Benjamini and Hochberg).

    ``tests`` is how many looks were taken, when those that showed nothing are not listed.
    """
    if not chances:
        return []
    values = np.asarray(chances, float)
    order = np.argsort(values, kind="stable")
    many = max(len(values), tests or 0)
    rates = values[order] * many / np.arange(1, len(values) + 1)
    rates = np.minimum(1.0, np.minimum.accumulate(rates[::-1])[::-1])
    found = np.empty(len(values))
    found[order] = rates
    return [float(one) for one in found]


def held(chances: Sequence[float], tests: int | None = None) -> list[float]:
    """The chance that anything as striking comes up in all the looks, given what is more striking still (Holm)."""
    order = sorted(range(len(chances)), key=lambda at: chances[at])
    many = max(len(chances), tests or 0)
    found, so_far = [1.0] * len(chances), 0.0
    for rank, at in enumerate(order):
        so_far = max(so_far, min(1.0, chances[at] * (many - rank)))
        found[at] = so_far
    return found


def confidence(chance: float) -> float:
    """How often a finding is right whose chance, corrected for all looks, is this one.

    The most that such a chance speaks for a finding that is as likely as not beforehand (Sellke, Bayarri and Berger): a
    chance of 0.05 is right in 71 of 100 cases, one of 0.01 in 89, one of 0.001 in 98.
    """
    if chance >= 1 / math.e:
        return 0.0
    against = -math.e * chance * math.log(chance) if chance > 0 else 0.0
    return round(min(CAP, 1 / (1 + against)), 4)


def _poisson(count: int, mean: float) -> float:
    return math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))


def _choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _upward(start: int, ratio: Callable[[int], float], term: float) -> float:
    total = 0.0
    while term > total * _ENOUGH and term > 0:
        total += term
        term *= ratio(start)
        start += 1
    return total


def _downward(start: int, ratio: Callable[[int], float], term: float) -> float:
    total = 0.0
    while start >= 0 and term > total * _ENOUGH:
        total += term
        term *= ratio(start)
        start -= 1
    return total
