"""The tokenizer of the default model: the same pieces as the library its vocabulary was made with."""

from __future__ import annotations

from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from polymnia.inference.tokens import END, START, UNKNOWN, Pieces
from polymnia.inference.weights import SHIPPED

_ALL = 10**6

# What the library sentencepiece makes of these texts with the model's vocabulary.
_REFERENCE = {
    "Hello world": [17486, 1017],
    "Where did I put the keys?": [6795, 438, 33, 934, 12, 23915, 21],
    "안녕하세요, 세계!": [9726, 0, 7705, 95457, 7, 16105, 42],
    "我昨天买了一本书。": [325, 8237, 405, 2142, 127, 19564, 3308, 27],
    "新しい靴を買いました": [6, 16819, 24714, 9864, 368, 628],
    "Die Straße ist gesperrt.": [626, 25410, 176, 6, 78159, 8],
    "Привет, мир": [85019, 1183, 7, 19201],
    "مرحبا بالعالم": [21991, 33916, 668, 2459, 55036],
    "สวัสดีชาวโลก": [19000, 4448, 40709, 5835, 10117, 11996],
    "getUserName() v2.10.3": [195, 15392, 6103, 1910, 1589, 2722, 113462],
    "１２３ ﬁne": [26690, 1668],
    "e\u0301t\u00e9 Cafe\u0301": [2133, 55790],
    "\u1112\u1161\u11ab\u1100\u1173\u11af": [124470],
    "a\u200bb\u00a0c\td\ne": [10, 254, 143, 95, 34],
    "ＡＢＣ　ｄｅｆ": [13514, 18554],
    "ｶﾞｷﾞ": [6, 4388, 7224],
    "x² ½ ™": [257, 104, 32259, 38371],
}


@pytest.fixture(scope="module")
def pieces() -> Pieces:
    with open(*SHIPPED.verified("sp.model"), "rb") as stream:
        return Pieces(stream.read())


@pytest.mark.parametrize("text", _REFERENCE)
def test_a_text_is_cut_as_the_reference_cuts_it(pieces: Pieces, text: str) -> None:
    assert pieces.ids(text, _ALL) == [START, *_REFERENCE[text], END]


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u200b", "\u3000", "\ufeff"])
def test_a_text_without_anything_to_read_is_one_unknown_piece(pieces: Pieces, text: str) -> None:
    assert pieces.ids(text, _ALL) == [START, UNKNOWN, END]


def test_what_the_model_never_saw_is_unknown_and_nothing_breaks(pieces: Pieces) -> None:
    assert UNKNOWN in pieces.ids("😀 \x01 \ud800 \U0010ffff", _ALL)


def test_a_mark_of_the_model_written_in_a_text_is_only_text(pieces: Pieces) -> None:
    written = pieces.ids("<s>gone</s> <unk>", _ALL)
    assert START not in written[1:]
    assert END not in written[:-1]


def test_spaces_around_and_between_words_make_no_difference(pieces: Pieces) -> None:
    assert pieces.ids("  the \n quick\u00a0 fox \t", _ALL) == pieces.ids("the quick fox", _ALL)


def test_a_long_text_is_read_as_far_as_allowed(pieces: Pieces) -> None:
    ids = pieces.ids("one two three " * 5000, 100)
    assert len(ids) == 102
    assert ids[:50] == pieces.ids("one two three " * 5000, _ALL)[:50]
    assert ids[-1] == END


def test_a_long_run_without_spaces_is_read_as_far_as_allowed(pieces: Pieces) -> None:
    assert len(pieces.ids("今天天气很好" * 500, 100)) == 102


@given(text=st.text())
def test_every_text_has_pieces_of_the_vocabulary_and_the_same_ones_each_time(pieces: Pieces, text: str) -> None:
    ids = pieces.ids(text, _ALL)
    assert ids[0] == START and ids[-1] == END and len(ids) > 2
    assert all(0 <= id < len(pieces) for id in ids)
    assert pieces.ids(text, _ALL) == ids


@given(text=st.text(st.characters(exclude_categories=["Cn", "Cs"])))
def test_composed_and_decomposed_letters_are_the_same_text(pieces: Pieces, text: str) -> None:
    composed = normalize("NFC", text)
    # Which marks may change places was decided for more scripts after the model was made.
    if composed.isprintable() and all(character < "\u0590" for character in composed):
        assert pieces.ids(normalize("NFD", composed), _ALL) == pieces.ids(composed, _ALL)
