"""The ranking: the query as it stands before anything similar, and the better place first."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia.engine.search import ranked, substring
from polymnia.engine.search.plan import plan
from polymnia.engine.search.rank import order
from polymnia.models import Record

from .shelf import Shelf, record


def _order(query: str, exact: Sequence[Record], similar: Sequence[Record] = (), **shares: float) -> list[str]:
    by_id = {one.id: shares.get(one.name, 0.5) for one in similar}
    return [one.name for _, one in order(plan(query), exact, similar, by_id)]


def test_what_holds_the_query_outranks_whatever_is_merely_similar() -> None:
    exact = [record(9, "deep", "x" * 1000 + "green tea" + "x" * 1000)]
    similar = [record(1, "tea green", "tea, green"), record(2, "Green Tea House")]
    assert _order("green tea", exact, similar[:1], **{"tea green": 1.0}) == ["deep", "tea green"]


def test_the_place_of_the_query_decides_among_those_that_hold_it() -> None:
    exact = [
        record(1, "in the middle of a word", "mytea"),
        record(2, "observed", "likes tea"),
        record(3, "of that kind", kind="tea"),
        record(4, "steamtea"),
        record(5, "green tea"),
        record(6, "Tea"),
    ]
    assert _order("tea", exact) == [
        "Tea",
        "green tea",
        "steamtea",
        "of that kind",
        "observed",
        "in the middle of a word",
    ]


def test_equals_come_in_the_order_of_their_making() -> None:
    exact = [record(number, f"tea {number}") for number in (3, 1, 2)]
    assert _order("tea", exact) == ["tea 1", "tea 2", "tea 3"]


def test_among_the_similar_the_larger_share_comes_first() -> None:
    similar = [record(1, "a", "green"), record(2, "b", "green"), record(3, "c", "green")]
    assert _order("green tea", [], similar, a=0.2, b=0.9, c=0.5) == ["b", "c", "a"]


def test_a_word_in_the_name_counts_more_than_one_in_the_text() -> None:
    similar = [record(1, "a", "token"), record(2, "token b"), record(3, "c", "mytoken")]
    assert _order("token expiry", [], similar) == ["token b", "a", "c"]


def test_keys_order_as_they_are_given_out() -> None:
    exact, similar = [record(5, "green tea"), record(4, "x", "green tea")], [record(3, "tea"), record(2, "green")]
    hits = order(plan("green tea"), exact, similar, {3: 0.4, 2: 0.6})
    keys = [key for key, _ in hits]
    assert keys == sorted(keys)
    assert len(set(keys)) == 4
    assert all(isinstance(key[1], float) for key in keys)


@pytest.mark.parametrize("query", ["서울", "서울에 산다", "İ", "STRASSE", "é", "e\u0301"])
def test_any_script_is_ranked_alike(query: str) -> None:
    names = {"서울", "서울에 산다", "İ", "Straße", "é", "e\u0301"}
    shelf = Shelf(*(record(number, name) for number, name in enumerate(sorted(names), 1)))
    first = next(one.name for _, one in ranked(shelf, query))  # type: ignore[arg-type]
    assert first.casefold() == query.casefold() or first in ("é", "e\u0301")


# ── the whole search ────────────────────────────────────────────────────────────────────────────────────────

SHELF = Shelf(
    record(1, "authentication-strategy", "We use JWT tokens", "Access tokens expire after 1 hour", kind="decision"),
    record(2, "user-service", "FastAPI service", "인증은 JWT로 처리한다", kind="component"),
    record(3, "회의록", "인증 토큰의 만료 시간은 한 시간이다", "다음 회의는 금요일", kind="note"),
    record(4, "tea", "The team drinks green tea", kind="habit"),
    record(5, "hours", "Open for an hour", kind="note"),
    record(6, "서울 사무소", "서울에 있다", kind="place"),
)


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("which tokens expire after an hour", "authentication-strategy"),
        ("How long until access tokens expire?", "authentication-strategy"),
        ("what does the team drink", "tea"),
        ("user service", "user-service"),
        ("인증 토큰의 만료는 언제인가요?", "회의록"),
        ("인증은 어떻게 처리한다?", "user-service"),
        ("서울", "서울 사무소"),
        ("회의는 언제", "회의록"),
        ("JWT tokens", "authentication-strategy"),
        ("DECISION", "authentication-strategy"),
    ],
)
def test_a_natural_question_finds_its_answer_first(query: str, first: str) -> None:
    assert [one.name for _, one in ranked(SHELF, query)][:1] == [first]  # type: ignore[arg-type]


@given(st.sampled_from(["tea", "인증", "hour", "user-service", "JWT", "tokens expire", "e", "green tea", " tea ", ""]))
def test_every_exact_match_is_in_the_answer_and_before_all_others(query: str) -> None:
    exact = set(substring(SHELF, query.strip()))  # type: ignore[arg-type]
    found = [one.id for _, one in ranked(SHELF, query)]  # type: ignore[arg-type]
    assert set(found[: len(exact)]) == exact
    assert len(set(found)) == len(found)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20))
def test_any_query_at_all_is_answered(query: str) -> None:
    for key, one in ranked(SHELF, query):  # type: ignore[arg-type]
        assert key[2] == one.id
