"""Trends of counts."""

from __future__ import annotations

import numpy as np
import pytest

from polymnia.engine.analysis.activity.series import trend


def test_a_rise_is_told_with_its_size() -> None:
    rng = np.random.default_rng(1)
    counts = rng.poisson(5 * 1.05 ** np.arange(40)).tolist()
    told = trend(counts)
    assert told.direction == "rising"
    assert told.p < 1e-4
    assert told.slope == pytest.approx(0.05, abs=0.015)
    assert told.change == pytest.approx(1.05**39, rel=0.5)
    assert told.last > told.first


def test_a_fall_is_told() -> None:
    told = trend([30, 28, 25, 22, 20, 15, 12, 10, 8, 5, 3, 1])
    assert (told.direction, told.slope < 0, told.change < 0.2) == ("falling", True, True)


def test_a_level_has_no_direction_but_for_one_in_twenty() -> None:
    rng = np.random.default_rng(2)
    wrong = sum(trend(rng.poisson(4, 26).tolist()).direction != "steady" for _ in range(300))
    assert wrong <= 27  # 15 are to be expected; more than 27 come once in a thousand


def test_sittings_of_many_notes_are_no_trend() -> None:
    rng = np.random.default_rng(3)
    wrong = sum(
        trend((rng.poisson(0.5, 30) * rng.geometric(0.1, 30)).tolist()).direction != "steady" for _ in range(300)
    )
    assert wrong <= 27


@pytest.mark.parametrize("counts", [[], [3], [1, 2, 3, 4, 5, 6, 7], [0] * 20])
def test_too_little_is_unknown(counts: list[int]) -> None:
    assert (trend(counts).direction, trend(counts).p) == ("unknown", 1.0)
