"""The chances that everything rests on, against counting and against known values."""

from __future__ import annotations

from itertools import combinations, pairwise
from math import comb, exp, factorial

import pytest

from polymnia.engine.analysis.probability import (
    all_in,
    at_least,
    at_least_of,
    benjamini_hochberg,
    confidence,
    drawn_at_least,
    even_chi_square,
    holm,
    longest_gap,
    two_sided,
)


@pytest.mark.parametrize(("count", "mean"), [(1, 0.2), (4, 3.0), (12, 3.0), (31, 30.0)])
def test_a_poisson_tail_is_the_sum_of_its_terms(count: int, mean: float) -> None:
    exact = 1 - sum(exp(-mean) * mean**k / factorial(k) for k in range(count))
    assert at_least(count, mean) == pytest.approx(exact, abs=1e-12)


def test_a_far_tail_is_not_lost_to_rounding() -> None:
    assert 0 < at_least(200, 2.0) < 1e-200
    assert 0 < at_least_of(300, 300, 0.1) < 1e-290


@pytest.mark.parametrize(("count", "trials", "chance"), [(2, 5, 0.3), (5, 5, 0.9), (29, 40, 0.5)])
def test_a_binomial_tail_is_the_sum_of_its_terms(count: int, trials: int, chance: float) -> None:
    exact = sum(comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(count, trials + 1))
    assert at_least_of(count, trials, chance) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("count", range(3, 8))
def test_drawing_without_putting_back_is_counted(count: int) -> None:
    exact = sum(comb(6, k) * comb(14, 7 - k) for k in range(count, 7)) / comb(20, 7)
    assert drawn_at_least(count, 6, 7, 20) == pytest.approx(exact, abs=1e-12)


def test_what_is_no_more_than_expected_is_no_surprise() -> None:
    assert (at_least(3, 3.0), at_least_of(2, 10, 0.5), drawn_at_least(2, 6, 7, 20)) == (1.0, 1.0, 1.0)


def test_all_in_a_part() -> None:
    assert all_in(3, 5, 10) == pytest.approx(comb(5, 3) / comb(10, 3))
    assert all_in(6, 5, 10) == 0.0


@pytest.mark.parametrize("gap", range(7))
def test_the_longest_gap_is_that_of_all_arrangements(gap: int) -> None:
    hits = ways = 0
    for rest in combinations(range(1, 9), 3):
        ways += 1
        hits += max(b - a - 1 for a, b in pairwise((0, *rest, 9))) >= gap
    assert longest_gap(gap, 4, 9) == pytest.approx(hits / ways)


def test_known_values() -> None:
    assert two_sided(1.959964) == pytest.approx(0.05, abs=1e-6)
    assert even_chi_square(12.591587, 6) == pytest.approx(0.05, abs=1e-6)


def test_many_looks_cost_confidence() -> None:
    assert benjamini_hochberg([0.01, 0.5, 0.02]) == pytest.approx([0.03, 0.5, 0.03])
    assert benjamini_hochberg([0.01], 100) == [1.0]
    assert benjamini_hochberg([]) == []


def test_what_is_certain_frees_the_rest_of_one_look() -> None:
    assert holm([0.01, 0.5, 0.02]) == pytest.approx([0.03, 0.5, 0.04])
    assert holm([1e-9, 0.004], 10) == pytest.approx([1e-8, 0.036])
    assert holm([]) == []


def test_a_chance_is_no_confidence() -> None:
    assert confidence(0.05) == pytest.approx(0.71, abs=0.005)
    assert confidence(0.001) == pytest.approx(0.98, abs=0.005)
    assert (confidence(0.5), confidence(0.0), confidence(1e-300)) == (0.0, 0.999, 0.999)


@pytest.mark.long
def test_the_tails_agree_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for count, mean in ((1, 0.01), (700, 650.0), (140, 90.5)):
        assert at_least(count, mean) == pytest.approx(stats.poisson.sf(count - 1, mean), rel=1e-8)
    assert drawn_at_least(60, 300, 500, 3000) == pytest.approx(stats.hypergeom.sf(59, 3000, 300, 500), rel=1e-7)
