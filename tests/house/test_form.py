"""The decorator that runs many cases as one test."""

from __future__ import annotations

import inspect

import pytest

from form import each


def test_every_failing_case_is_reported_and_the_others_are_run() -> None:
    seen = []

    @each("word", ["a", pytest.param("b", id="second")])
    @each(("number", "twice"), [(1, 2), (2, 3), (3, 7)])
    def test(number: int, twice: int, word: str, place: str) -> None:
        seen.append((word, number, place))
        assert number * 2 == twice

    assert list(inspect.signature(test).parameters) == ["place"]
    with pytest.raises(AssertionError) as raised:
        test(place="here")
    assert seen == [(word, number, "here") for word in "ab" for number in (1, 2, 3)]
    assert str(raised.value).startswith("2 of 2 cases")
    assert str(raised.value).count("'number': 2") == str(raised.value).count("'number': 3") == 2


def test_a_case_with_marks_of_its_own_is_refused() -> None:
    with pytest.raises(AssertionError, match="marks"):
        each("word", [pytest.param("a", marks=pytest.mark.long)])
