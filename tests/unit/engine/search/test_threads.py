"""Which memories are turns of one conversation."""

from __future__ import annotations

import pytest

from form import each
from polymnia.engine.search.threads import speaker, thread


def test_a_session_names_the_conversation() -> None:
    assert thread("anything", "fact", "s1", "text") == thread("else", "note", "s1", "other")
    assert thread("anything", "fact", "s1", "text") != thread("anything", "fact", "s2", "text")


@each(("one", "two"), [("conv-26/D1:3", "conv-26/D1:4"), ("talk_ab12_2#0", "talk_ab12_2#1"), ("turn-9", "turn-10")])
@each("kind", ["message", "Turn", "utterance", "chat"])
def test_numbered_names_of_a_spoken_kind_are_one_thread(one: str, two: str, kind: str) -> None:
    assert thread(one, kind, None, "Hello there") == thread(two, kind, None, "How are you?") is not None


def test_a_speaker_tells_a_turn_whatever_its_kind() -> None:
    first = thread("conv-26/D1:3", "document", None, "Caroline: Hey Mel!")
    assert first == thread("conv-26/D1:4", "document", None, "Melanie: Hi!") is not None
    assert first != thread("conv-26/D2:1", "document", None, "Melanie: Hi!")


@pytest.mark.parametrize(
    ("name", "kind", "text"),
    [
        ("p0", "paragraph", "1989년 2월 15일 여의도에서 시위가 있었다."),
        ("p1", "message", "내각과 장관들이 소외되었다."),
        ("4983", "message", "Microstructural development of human newborn cerebral white matter."),
        ("4983", "document", "BACKGROUND: We studied mice."),
        ("ADR-016", "decision", "We use SQLite."),
        ("ADR-017", "decision", "Context: many writers."),
        ("Caroline", "person", "likes painting"),
        ("note-1", "note", "Note: buy milk"),
        ("session-1", "document", "user: hi\nassistant: hello\nuser: how are you?\nassistant: fine"),
    ],
)
def test_what_is_no_turn_has_no_thread(name: str, kind: str, text: str) -> None:
    assert thread(name, kind, None, text) is None


@pytest.mark.parametrize(
    ("text", "said_by"),
    [
        ("Caroline: Hey!", "Caroline"),
        ("user: hello", "user"),
        ("**Assistant:** hello", "assistant"),
        ("Dr. Mary Smith: hello", "Dr. Mary Smith"),
        ("민수: 안녕", "민수"),
        ("Summary: it works", None),
        ("the reason is this: it works", None),
        ("https://example.com", None),
        ("", None),
    ],
)
def test_a_speaker_stands_before_a_colon(text: str, said_by: str | None) -> None:
    assert speaker(text) == said_by
