"""The tokenizer of BERT models: the longest known pieces, whatever the case and the accents."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia.inference.tokens import WordPieces

_VOCABULARY = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "un",
    "##aff",
    "##able",
    "cafe",
    "!",
    "-",
    "中",
    "文",
    "a",
    "。",
    "##a",
]
_PIECES = WordPieces("\n".join(_VOCABULARY))


@each(
    ("text", "pieces"),
    [
        ("unaffable", ["un", "##aff", "##able"]),
        ("  UNAFFABLE\n", ["un", "##aff", "##able"]),
        ("Café", ["cafe"]),
        ("cafe\u0301!", ["cafe", "!"]),
        ("a-a", ["a", "-", "a"]),
        ("中文。a", ["中", "文", "。", "a"]),
        ("a\u200da", ["a", "##a"]),
        ("a\x00", ["a"]),
        ("strange", ["[UNK]"]),
        ("a" * 101, ["[UNK]"]),
        ("[CLS]", ["[UNK]", "[UNK]", "[UNK]"]),
        ("", []),
    ],
)
def test_a_text_is_cut_into(text: str, pieces: list[str]) -> None:
    assert [_VOCABULARY[id] for id in _PIECES.ids(text, 512)] == pieces


def test_no_more_pieces_than_allowed() -> None:
    assert len(_PIECES.ids("unaffable " * 100, 10)) == 10


@given(text=st.text())
def test_any_text_can_be_cut_and_gives_no_mark_of_the_model(text: str) -> None:
    ids = _PIECES.ids(text, 512)
    assert not {_PIECES.start, _PIECES.end} & set(ids)
    assert all(0 <= id < len(_VOCABULARY) for id in ids)
