"""Which memories are turns, by what is stored around them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from polymnia import EntityDraft, Memory
from polymnia.engine.search import Analysis, lanes, passages
from polymnia.engine.search.passages import DialogueTurn
from polymnia.storage.sqlite import SqliteStore

DAY = 86_400_000_000
START = 20_000 * DAY


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory(SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis())) as held:
        yield held


def turns(memory: Memory, *said: str | tuple[str, int]) -> list[bool]:
    """Which of the texts are turns, stored one after the other, some at a time of their own."""
    given = [(one, 0) if isinstance(one, str) else one for one in said]
    memory.create_entities(
        [EntityDraft(f"x-{i}", "note", (text,), created=START + at) for i, (text, at) in enumerate(given)]
    )
    memory.search("anything")
    index = memory.finding().cached()[memory.project]
    return [bool(one) for one in lanes.are_turns(index, index.memories["number"].nonzero()[0])]


@pytest.mark.parametrize(
    ("said", "which"),
    [
        (("Ann: a", "Bob: b", "Ann: c"), (1, 1, 1)),
        (("Ann: a", "Cem: b", "Bob: c", "Cem: d"), (1, 1, 1, 1)),
        (("Ann: a?", "Bob: b"), (1, 1)),
        (("Ann: a", "Bob: b"), (0, 0)),
        (("Ann: a?", "Ann: b"), (0, 0)),
        (("Ann: a", "Ann: b", "Bob: c", "Bob: d"), (0, 0, 0, 0)),
        (("user: a", "assistant: b"), (1, 1)),
        (("user: a", "user: b", "user: c"), (0, 0, 0)),
        (("Ann: a?", "a plain note", "Bob: b"), (0, 0, 0)),
        (("Ann: a", "a plain note", "Bob: b", "Ann: c"), (1, 0, 1, 1)),
        (("Ann: a?", ("Bob: b", 2 * DAY)), (0, 0)),
        (("Ann: a", "Bob: b", "Ann: c", "n", "n", "n", "n", "Cem: d"), (1, 1, 1, 0, 0, 0, 0, 0)),
    ],
)
def test_neighbours_tell_whether_a_text_is_a_turn(
    memory: Memory, said: tuple[str, ...], which: tuple[int, ...]
) -> None:
    assert turns(memory, *said) == [bool(one) for one in which]


def test_an_index_that_saw_turns_in_notes_makes_no_neighbours_of_them(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "turn", lambda *given: DialogueTurn("of the session", None, sure=True, asks=False))
    memory.create_entities([EntityDraft(f"memo {i}", "note", ("The kiln is hot",), session="s") for i in range(3)])

    found = memory.search("kiln").hits

    assert any(hit.why.lent for hit in found)
    assert [(hit.previous, hit.next) for hit in found] == [(None, None)] * 3
