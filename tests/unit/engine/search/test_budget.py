"""A budget of tokens: never exceeded and never wasted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia.engine.search.snippets import fit
from polymnia.engine.text.tokens import tokens, trimmed

_SIZES = st.lists(st.integers(0, 2_000), max_size=40)


@each(
    ("text", "low", "high"),
    [
        ("", 0, 0),
        ("Hello, world!", 4, 5),
        ("The quick brown fox jumps over the lazy dog.", 10, 11),
        ("서울에서 김치찌개를 먹었다", 10, 16),
        ("我们昨天去了上海博物馆", 10, 14),
        ("昨日は友達と映画を見た", 9, 14),
        ("Die Geschwindigkeitsbegrenzung wurde überprüft", 8, 14),
        ("1234567890", 4, 5),
        ("🎉", 2, 3),
        ("def f(x):\n    return x + 1\n", 10, 16),
        (" " * 1000, 1, 1),
    ],
)
def test_the_estimate_is_near_what_tokenizers_make(text: str, low: int, high: int) -> None:
    assert low <= tokens(text) <= high


@given(st.text(), st.text())
def test_two_texts_cost_about_what_they_cost_apart(one: str, other: str) -> None:
    one, other = f"é {one}", f"é {other}"  # an accent has words counted as those of other languages, so both have one
    assert tokens(f"{one}\n{other}") <= tokens(one) + tokens(other) + 2


def test_everything_that_fits_is_shown_whole() -> None:
    assert fit([10, 20, 30], 60, [32] * 3) == {0: 10, 1: 20, 2: 30}


def test_a_small_one_further_down_takes_the_room_a_large_one_cannot() -> None:
    assert fit([50, 100, 40], 100, [60] * 3) == {0: 50, 2: 40}


def test_one_too_large_is_cut_and_leaves_room_for_others() -> None:
    assert fit([1_000, 30, 40], 200, [32] * 3) == {0: 130, 1: 30, 2: 40}


def test_one_alone_gets_the_whole_budget() -> None:
    assert fit([1_000], 200, [32]) == {0: 200}


def test_each_item_has_its_own_shortest_passage() -> None:
    assert fit([500, 500], 100, [101, 40]) == {1: 100}


@given(_SIZES, st.integers(-5, 5_000), st.integers(1, 100))
def test_the_budget_is_never_exceeded_and_no_item_cut_too_short(sizes: list[int], budget: int, least: int) -> None:
    rooms = fit(sizes, budget, [least] * len(sizes))
    assert sum(rooms.values()) <= max(budget, 0)
    assert all(room == sizes[place] or least <= room < sizes[place] for place, room in rooms.items())
    assert list(rooms) == sorted(rooms)


@given(_SIZES, st.integers(0, 5_000), st.integers(1, 100))
def test_an_answer_is_not_empty_when_one_passage_fits(sizes: list[int], budget: int, least: int) -> None:
    if any(min(size, least) <= budget for size in sizes):
        assert fit(sizes, budget, [least] * len(sizes))


@given(_SIZES, st.integers(0, 5_000))
def test_nothing_is_wasted_that_a_cut_memory_could_use(sizes: list[int], budget: int) -> None:
    rooms = fit(sizes, budget, [32] * len(sizes))
    if any(room < sizes[place] for place, room in rooms.items()):
        assert sum(rooms.values()) == budget


@given(st.text(), st.integers(0, 50))
def test_a_trimmed_text_keeps_to_its_tokens_and_is_a_beginning(text: str, most: int) -> None:
    short = trimmed(text, most)
    assert tokens(short) <= most
    assert text.startswith(short)


def test_a_trimmed_text_ends_with_a_word() -> None:
    assert trimmed("alpha beta gamma delta", 3) == "alpha beta gamma"
    assert trimmed("我们昨天去了上海博物馆", 4).startswith("我们昨")
    assert trimmed("short", 10) == "short"
