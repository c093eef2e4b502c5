"""How long texts are cut into passages."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from form import by_form
from polymnia.engine.search.passages import split, weights

SENTENCE = {
    "english": "The quick brown fox jumps over the lazy dog near the river. ",
    "korean": "서울에서 열린 회의에 많은 사람들이 참석하였다. ",
    "chinese": "今天天气很好，我们一起去公园散步。",
    "japanese": "昨日は友達と東京タワーへ行きました。",
    "hindi": "यह एक लंबा वाक्य है जो हिन्दी में लिखा गया है। ",
}


def covers(text: str, ranges: list[tuple[int, int]]) -> bool:
    """Whether the ranges go forward, leave no gap, and reach from end to end."""
    forward = all(a[0] < b[0] <= a[1] < b[1] for a, b in pairwise(ranges))
    return ranges[0][0] == 0 and ranges[-1][1] == len(text) and forward


@pytest.mark.parametrize("text", ["", "Short.", "회의", "One. Two. Three."])
def test_a_short_text_is_one_passage(text: str) -> None:
    assert split(text) == [(0, len(text))]


@pytest.mark.parametrize("language", SENTENCE)
def test_a_long_text_is_cut_where_sentences_end(language: str) -> None:
    sentence = SENTENCE[language]
    text = sentence * 100
    ranges = split(text)
    assert len(ranges) > 3
    assert covers(text, ranges)
    assert all(end % len(sentence) == 0 for _, end in ranges)
    assert all(a[1] > b[0] for a, b in pairwise(ranges)), "passages overlap"


def test_a_number_or_a_name_with_dots_is_not_cut() -> None:
    text = "Version 1.2.3 of the module a.b.c costs 3.14 dollars in total, as we said before. " * 40
    assert all(text[start:end].startswith("Version") for start, end in split(text))


def test_list_items_end_a_passage() -> None:
    text = "".join(f"- item number {number} with some words in it and no stop\n" for number in range(100))
    assert all(text[start:end].startswith("- item") and text[start:end].endswith("\n") for start, end in split(text))


def test_a_turn_of_a_conversation_stays_whole() -> None:
    turn = "I went to the market and bought some apples and pears. " * 5
    text = "".join(f"{'Ann' if number % 2 else 'Bob'}: {number} {turn}\n" for number in range(20))
    ranges = split(text)
    assert covers(text, ranges)
    assert len(ranges) > 5
    assert all(text.startswith(("Ann: ", "Bob: "), start) and text[end - 1] == "\n" for start, end in ranges)


@pytest.mark.parametrize("unit", ["a", "가", ".", " ", "\n", ". ", "é", "😀", "\ud800"])
def test_a_text_without_borders_is_cut_anyway(unit: str) -> None:
    text = unit * 20_000
    ranges = split(text)
    assert covers(text, ranges)
    assert max(end - start for start, end in ranges) <= 1000


@settings(max_examples=by_form(40, 150))
@given(st.text(alphabet="ab .!?\n。가:", max_size=4000))
def test_passages_cover_any_text(text: str) -> None:
    ranges = split(text)
    assert text == "" or covers(text, ranges)
    assert ranges == split(text)
    assert len(weights(text, ranges)) == len(ranges)


def test_what_an_assistant_says_weighs_less_than_what_it_was_told() -> None:
    answer = "Here is a long answer about something. " * 60
    text = f"user: my dog is called Rex.\nassistant: {answer}\nuser: and my cat is Tom.\nassistant: {answer}"
    ranges = split(text)
    for (start, end), weight in zip(ranges, weights(text, ranges), strict=True):
        assert (weight == 1) == ("user:" in text[start:end])


def test_a_text_nobody_speaks_in_weighs_one() -> None:
    text = SENTENCE["english"] * 100
    assert set(weights(text, split(text))) == {1.0}
