"""The similarity: a cosine that a reader can make sense of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia.engine.similarity import cosine_at, similarities, similarity

cosines = st.floats(-1, 1)
models = st.floats(-0.2, 0.8)


@given(models)
def test_the_same_text_has_similarity_one(unrelated: float) -> None:
    assert similarity(1.0, unrelated) == 1.0


@given(models, st.floats(0, 1))
def test_unrelated_texts_have_similarity_zero(unrelated: float, below: float) -> None:
    assert similarity(unrelated - below, unrelated) == 0.0


@given(cosines, cosines, models)
def test_a_nearer_text_is_never_less_similar(a: float, b: float, unrelated: float) -> None:
    low, high = sorted((a, b))
    assert 0 <= similarity(low, unrelated) <= similarity(high, unrelated) <= 1


@given(st.floats(0, 1), models)
def test_the_cosine_of_a_similarity_leads_back_to_it(value: float, unrelated: float) -> None:
    assert similarity(cosine_at(value, unrelated), unrelated) == pytest.approx(value, abs=1e-6)


@given(st.lists(cosines, min_size=1), models)
def test_many_cosines_at_once_give_the_same(values: list[float], unrelated: float) -> None:
    found = similarities(np.array(values), unrelated)
    assert found.tolist() == pytest.approx([similarity(value, unrelated) for value in values], abs=1e-9)


def test_a_cosine_slightly_above_one_is_one() -> None:
    assert similarity(1.0000002, 0.05) == 1.0
    assert similarities(np.array([1.0000002]), 0.05).tolist() == [1.0]


@pytest.mark.parametrize("unrelated", [0.048, 0.384])
def test_the_border_of_a_duplicate_is_high_and_that_of_a_search_is_low(unrelated: float) -> None:
    share = (cosine_at(0.95, unrelated) - unrelated) / (1 - unrelated)
    assert 0.9 < share < 0.95
    share = (cosine_at(0.1, unrelated) - unrelated) / (1 - unrelated)
    assert 0.1 < share < 0.15
