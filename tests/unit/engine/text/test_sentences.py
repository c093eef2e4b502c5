"""Sentences: where a paragraph is cut, in any script."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from form import each
from polymnia.engine.text.language import noun
from polymnia.engine.text.sentences import asks, count_sentences, sentences, spans


@each(
    ("text", "found"),
    [
        ("It works. It is fast!", ["It works.", "It is fast!"]),
        ("Ask Dr. Falk, e.g. on Monday. He knows.", ["Ask Dr. Falk, e.g. on Monday.", "He knows."]),
        ("Es kommt, z. B. mit DHL. Gut.", ["Es kommt, z. B. mit DHL.", "Gut."]),
        ("We live at Karl-Heine-Str. 5, Leipzig. Come by.", ["We live at Karl-Heine-Str. 5, Leipzig.", "Come by."]),
        ("The U.S. Senate met. It voted.", ["The U.S. Senate met.", "It voted."]),
        ("Version 3.14 is out. Try it.", ["Version 3.14 is out.", "Try it."]),
        ('"Really?" he asked. Yes.', ['"Really?" he asked.', "Yes."]),
        ("done. then it broke. why?", ["done.", "then it broke.", "why?"]),
        ("오늘 배포했다. develop 브랜치에서.", ["오늘 배포했다.", "develop 브랜치에서."]),
        ("켜져 있습니다 그리고 돕니다", ["켜져 있습니다", "그리고 돕니다"]),
        ("今日は雨。明日は晴れ。", ["今日は雨。", "明日は晴れ。"]),
        ("  ", []),
        ("Am 4. Juli ruht die Fähre. Am 5. fährt sie.", ["Am 4. Juli ruht die Fähre.", "Am 5. fährt sie."]),
    ],
)
def test_a_paragraph_is_cut_where_sentences_end(text: str, found: list[str]) -> None:
    assert sentences(text) == found


@given(st.text(st.sampled_from("aB .!?\n한다。\"')"), max_size=60))
def test_sentences_stand_in_the_text_and_leave_nothing_out(text: str) -> None:
    places = list(spans(text))
    assert all(start < end for start, end in places)
    assert "".join("".join(text[start:end].split()) for start, end in places) == "".join(text.split())


def test_only_what_says_something_is_counted() -> None:
    assert count_sentences("One. 2025-09-09 07:06") == 1


@each(
    ("text", "question"),
    [("왜 그런가요?", True), ("이것이 맞습니까.", True), ("비가 오니까", False), ("So it is.", False)],
)
def test_questions_are_told_by_mark_or_form(text: str, question: bool) -> None:
    assert asks(text) is question


@each(
    ("word", "root"),
    [
        ("서버를", "서버"),
        ("게이트웨이", "게이트웨이"),
        ("정형외과", "정형외과"),
        ("팀장님에게서는", "팀장님"),
        ("회의", "회의"),
    ],
)
def test_a_particle_goes_by_the_sound_before_it(word: str, root: str) -> None:
    assert noun(word) == root
