"""The normal form: what says exactly the same shares it, and nothing else does."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apart import APART, SAME
from polymnia.models import normal


def test_texts_that_differ_in_anything_that_carries_meaning_have_different_forms() -> None:
    pairs = [(kind, a, b) for kind, some in APART.items() for a, b in some]
    assert len(pairs) >= 60
    assert [pair for pair in pairs if normal(pair[1]) == normal(pair[2])] == []


def test_texts_that_differ_in_nothing_but_form_are_the_same() -> None:
    assert [(a, b) for a, b in SAME if normal(a) != normal(b)] == []


@given(st.text(alphabet="aAbB .,'’“\"\n\t(`=1n'tIT가。", max_size=40))
def test_the_form_of_a_form_is_itself(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@pytest.mark.parametrize("shape", ["a", "n't ", "a'", "' ", "x.", "A b ", "가 ", "“ ", "("])
def test_the_form_of_a_long_text_takes_no_longer_for_each_letter(shape: str) -> None:
    begun = time.process_time()
    normal(shape * (19_000 // len(shape)))
    normal(shape * (1_000_000 // len(shape)))
    assert time.process_time() - begun < 1
