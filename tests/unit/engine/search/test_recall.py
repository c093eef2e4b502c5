"""Candidates: the memories that hold the telling words, and how much of the query they hold."""

from __future__ import annotations

from polymnia.engine.search.plan import plan
from polymnia.engine.search.recall import by_words

from .shelf import Shelf, record

SHELF = Shelf(
    record(1, "tokens", "Access tokens expire after 1 hour"),
    record(2, "sessions", "Sessions expire at midnight"),
    record(3, "tea", "The team drinks tea"),
    record(4, "인증", "인증 토큰은 1시간 뒤에 만료된다"),
    *(record(number, f"filler {number}", "the of and") for number in range(10, 40)),
)


def _shares(query: str, *exact: int) -> dict[int, float]:
    return by_words(SHELF, plan(query), exact)  # type: ignore[arg-type]


def test_a_question_finds_what_holds_its_telling_words() -> None:
    assert next(iter(_shares("when do the access tokens expire?"))) == 1


def test_a_question_in_korean_finds_what_holds_its_words() -> None:
    assert list(_shares("토큰은 언제 만료")) == [4]


def test_a_rare_word_weighs_more_than_a_frequent_one() -> None:
    shares = _shares("the midnight")
    assert list(shares) == [2]


def test_what_holds_more_of_the_query_comes_first_with_the_larger_share() -> None:
    shares = _shares("tokens expire")
    assert next(iter(shares)) == 1
    assert shares[1] == 1.0
    assert all(0 < share <= 1 for share in shares.values())


def test_what_holds_the_whole_query_is_not_repeated() -> None:
    assert 1 not in _shares("access tokens expire", 1)


def test_one_word_has_nothing_merely_similar() -> None:
    assert _shares("tokens") == {}


def test_one_word_among_signs_is_still_looked_for() -> None:
    assert set(_shares("tokens?!")) == {1}


def test_words_that_are_nowhere_do_no_harm() -> None:
    assert set(_shares("zebra tokens quagga")) == {1}
    assert _shares("zebra quagga") == {}


def test_common_words_tell_nothing() -> None:
    shelf = Shelf(record(1, "a", "common"), record(2, "b", "common telling"), common=["common"])
    assert set(by_words(shelf, plan("common telling word"), [])) == {2}  # type: ignore[arg-type]
    assert by_words(shelf, plan("common common?"), []) == {}  # type: ignore[arg-type]


def test_an_answer_holds_only_so_many_that_are_merely_similar() -> None:
    shelf = Shelf(*(record(number, f"n{number}", "alpha beta") for number in range(1, 500)))
    shares = by_words(shelf, plan("beta alpha"), [])  # type: ignore[arg-type]
    assert list(shares) == list(range(1, 51))
