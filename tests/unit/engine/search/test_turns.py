"""Which memories may be turns of one conversation."""

from __future__ import annotations

import pytest

from form import each
from polymnia.engine.search.passages import speech, turn


def conversation(name: str, kind: str, session: str | None, text: str, scope: str | None = None) -> str | None:
    found = turn(name, kind, session, scope, text)
    return None if found is None else found.conversation


def test_turns_of_one_session_and_scope_are_one_conversation() -> None:
    first = conversation("", "note", "s1", "Ann: hello")
    assert first == conversation("", "note", "s1", "Bob: hi") is not None
    assert first != conversation("", "note", "s2", "Bob: hi")
    assert first != conversation("", "note", "s1", "Bob: hi", scope="work")


def test_a_session_makes_no_turns_of_notes() -> None:
    assert conversation("anything", "fact", "s1", "The office moved to Ulm") is None
    assert conversation("anything", "message", "s1", "The office moved to Ulm") is not None


@each(("one", "two"), [("conv-26/D1:3", "conv-26/D1:4"), ("talk_ab12_2#0", "talk_ab12_2#1"), ("turn-9", "turn-10")])
@each("kind", ["message", "Turn", "utterance"])
def test_numbered_names_of_a_spoken_kind_are_one_conversation(one: str, two: str, kind: str) -> None:
    assert conversation(one, kind, None, "Hello there") == conversation(two, kind, None, "How are you?") is not None


def test_a_speaker_may_make_a_turn_of_any_kind() -> None:
    first = conversation("conv-26/D1:3", "document", None, "Caroline: Hey Mel!")
    assert first == conversation("conv-26/D1:4", "document", None, "Melanie: Hi!") is not None
    assert first != conversation("conv-26/D2:1", "document", None, "Melanie: Hi!")


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
        ("chat-1", "chat", "We talked about the ferry"),
        ("session-1", "document", "user: hi\nassistant: hello\nuser: how are you?\nassistant: fine"),
    ],
)
def test_what_is_no_turn_belongs_to_no_conversation(name: str, kind: str, text: str) -> None:
    assert conversation(name, kind, None, text) is None


@pytest.mark.parametrize(
    ("text", "who", "what"),
    [
        ("Caroline: Hey!", "Caroline", "Hey!"),
        ("user: hello", "user", "hello"),
        ("**Assistant:** hello", "assistant", "hello"),
        ("Dr. Mary Smith: hello", "Dr. Mary Smith", "hello"),
        ("민수: 안녕", "민수", "안녕"),
        ("小王：你好", "小王", "你好"),
        ("Summary: it works", None, "Summary: it works"),
        ("the reason is this: it works", None, "the reason is this: it works"),
        ("https://example.com", None, "https://example.com"),
        ("", None, ""),
    ],
)
def test_a_speaker_stands_before_a_colon(text: str, who: str | None, what: str) -> None:
    assert speech(text) == (who, what)


def test_a_turn_is_told_by_a_number_that_is_never_0() -> None:
    numbers = set()
    for text in ("Ann: hello", "Ann: hello?", "Bob: hello", "assistant: hello"):
        found = turn("", "note", None, None, text)
        assert found is not None
        numbers.add(found.packed())
    assert len(numbers) == 4
    assert 0 not in numbers
