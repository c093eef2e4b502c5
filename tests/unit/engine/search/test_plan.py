"""Reading a query: the text as it stands, and its words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia.engine.search.plan import plan
from polymnia.models import folded_forms


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", ()),
        ("   ", ()),
        ("?!", ()),
        ("tea", ("tea",)),
        ("  Green TEA ", ("green", "tea")),
        ("tea tea Tea", ("tea",)),
        ("who likes tea?", ("who", "likes", "tea")),
        ("user-service/api_v2", ("user", "service", "api", "v2")),
        ("100% of it", ("100", "of", "it")),
        ('"a b" AND c*', ("a", "b", "and", "c")),
        ("인증은 어떻게 처리하나요?", ("인증은", "어떻게", "처리하나요")),
        ("Straße, STRASSE", ("strasse",)),
        ("क्षेत्र में", ("क्षेत्र", "में")),
        ("日本語の本", ("日本語の本",)),
        ("don’t", ("don", "t")),
    ],
    ids=ascii,
)
def test_a_query_is_split_into_its_distinct_words(query: str, words: tuple[str, ...]) -> None:
    assert plan(query).words == words


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_query_is_always_kept_whole_too(query: str) -> None:
    wanted = plan(query)
    assert wanted.forms == folded_forms(query.strip())
    assert all(word in wanted.forms[0] for word in wanted.words)
    assert len(set(wanted.words)) == len(wanted.words)


def test_an_endless_query_is_read_up_to_a_point() -> None:
    assert 10 < len(plan(" ".join(f"word{number}" for number in range(10_000))).words) < 100
