"""Highlights: the right places, the right pieces, and never a letter torn apart."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia.engine.search.snippets import Piece, best_piece, find, phrase

_STORY = (
    "Irene moved to Berlin in May. She found a small flat near the river, which she shares with two friends. "
    + "The reading circle meets every Tuesday; Nadia painted a harbour there. Later they went sailing in the hills. "
    + "Nothing else happened for a long while. " * 12
    + "Finally the circle painted another harbour."
)


def _found(text: str, *words: str) -> list[str]:
    return [text[start:end] for start, end in find(text, lambda word: word.lower() in words)]


def test_words_are_found_where_they_stand() -> None:
    assert _found("The cat saw another Cat, not a caterpillar.", "cat") == ["cat", "Cat"]


def test_the_caller_decides_what_matches() -> None:
    text = "She paints; he painted; they were painting."
    assert [text[a:b] for a, b in find(text, lambda word: word.startswith("paint"))] == [
        "paints",
        "painted",
        "painting",
    ]


def test_each_distinct_word_is_asked_for_once() -> None:
    asked: list[str] = []
    find("to be or not to be", lambda word: asked.append(word) is not None)
    assert asked == ["to", "be", "or", "not"]


@pytest.mark.parametrize(
    ("text", "pairs", "found"),
    [
        ("해운대 해수욕장에서 수영했다", ("해수", "수욕", "욕장"), ["해수욕장"]),
        ("我们昨天去了上海博物馆", ("上海", "博物"), ["上海博物"]),
        ("京都で抹茶を飲んだ", ("抹茶",), ["抹茶"]),
        ("Python을 배운다", ("python",), ["Python"]),
        ("这是SQLite数据库", ("sqlite", "数据"), ["SQLite数据"]),
    ],
)
def test_a_script_without_spaces_is_marked_by_pairs_of_characters(
    text: str, pairs: tuple[str, ...], found: list[str]
) -> None:
    assert _found(text, *pairs) == found


def test_a_word_keeps_its_vowel_signs() -> None:
    assert _found("यह कहानी अच्छी है", "कहानी") == ["कहानी"]
    assert _found("cafe\u0301 cafe", "cafe") == ["cafe"]


def test_the_parts_of_an_identifier_are_found() -> None:
    assert _found("call getUserName(user_id) of ADR-016", "user", "016") == ["User", "user", "016"]


@pytest.mark.parametrize(
    ("text", "query", "found"),
    [
        ("Die STRASSE und die Straße", "straße", ["STRASSE", "Straße"]),
        ("Die STRASSE und die Straße", "Strasse", ["STRASSE", "Straße"]),
        ("İİİ then the Word", "WORD", ["Word"]),
        ("cafe\u0301 and café and cafe", "CAFÉ", ["cafe\u0301", "café"]),
        ("cafe\u0301 and café and cafe", "cafe", ["cafe"]),
        ("각 \u1100\u1161\u11a8 가", "가", ["가"]),
        ("ﬁne ﬁt", "fit", ["ﬁt"]),
        ("aaaa", "aa", ["aa", "aa"]),
        ("anything", "  ", []),
    ],
)
def test_a_phrase_is_found_whatever_the_case_and_the_encoding(text: str, query: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in phrase(text, query)] == found


@given(st.text(), st.text(min_size=1, max_size=5), st.text())
def test_a_phrase_that_stands_between_spaces_is_always_found(before: str, query: str, after: str) -> None:
    query = query.strip()
    if query:
        text = f"{before} {query} {after}"
        assert any(start <= len(before) + 1 < end for start, end in phrase(text, query))


def _piece(text: str, *words: str, width: int = 160) -> Piece:
    return best_piece(text, find(text, lambda word: word.lower() in words), width)


def test_a_short_text_is_shown_whole() -> None:
    assert _piece("A cat sat.", "cat") == ("A cat sat.", ((2, 5),))


def test_a_piece_is_cut_at_sentences() -> None:
    text, _ = _piece(_STORY, "harbour", "nadia")
    assert text.startswith("The reading circle")
    assert text.endswith("for a long while.")


def test_different_words_count_for_more_than_one_word_often() -> None:
    text = "cat cat cat cat. " + "x " * 200 + "The cat chased a dog. " + "y " * 200
    assert "chased a dog" in _piece(text, "cat", "dog")[0]


def test_without_a_match_the_beginning_is_shown() -> None:
    text, ranges = _piece(_STORY, "elephant")
    assert _STORY.startswith(text)
    assert ranges == ()


@pytest.mark.parametrize("cluster", ["e\u0301", "👨\u200d👩\u200d👧", "👍🏽", "❤\ufe0f", "🇰🇷", "\u1100\u1161\u11a8"])
def test_what_is_read_as_one_character_is_not_cut_apart(cluster: str) -> None:
    for width in range(20, 32):
        text = cluster * 40
        piece, _ = best_piece(text, [], width)
        assert piece
        assert len(piece) % len(cluster) == 0


@given(
    st.text(alphabet=st.sampled_from("ab .\n가é\u0301👍🏽"), max_size=300),
    st.lists(st.tuples(st.integers(0, 300), st.integers(0, 20)), max_size=12),
    st.integers(1, 60),
)
def test_a_piece_is_part_of_the_text_and_its_marks_lie_within(
    text: str, spots: list[tuple[int, int]], width: int
) -> None:
    ranges = [(min(at, len(text)), min(at + size, len(text))) for at, size in spots]
    piece, marks = best_piece(text, ranges, width)
    assert piece in text
    assert len(piece) <= width
    assert all(0 <= start < end <= len(piece) for start, end in marks)


@pytest.mark.long
@pytest.mark.parametrize("unit", ["hello world. ", "a", "我们", "é ", "\n"])
def test_a_text_of_megabytes_is_cut_as_any_other(unit: str) -> None:
    text = unit * ((1 << 20) // len(unit))
    piece, _ = best_piece(text, find(text, lambda word: word in ("world", "们我", "é")), 160)
    assert (piece in text) and (piece or not text.strip())
    assert all(text[start:end] == "world. hello" for start, end in phrase(text, "world. hello"))
