"""What stands against a text that was just stored, where that cannot be found out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from polymnia import Memory, connect
from polymnia.dialects.native.compared import contradictions
from polymnia.errors import NoSpace
from polymnia.models import Record


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """One of the test's own."""
    with connect(tmp_path / "memory.db") as opened:
        yield opened


def stored(memory: Memory, *texts: str) -> list[tuple[Record, tuple[str, ...]]]:
    """Texts as they were just stored."""
    records = [memory.remember(text).record for text in texts]
    return [(one, one.observations) for one in records]


@pytest.mark.promise("native.remember.conflict")
def test_what_was_deleted_meanwhile_keeps_nothing_else_from_being_looked_at(memory: Memory) -> None:
    memory.remember("The harbour is closed on Sundays.")
    gone, kept = stored(memory, "Anything.", "The harbour is not closed on Sundays.")
    memory.forget(gone[0].uid)
    found, _, missed = contradictions(memory, [gone, kept])
    assert not missed
    assert list(found) == [kept[0].uid]


@pytest.mark.promise("native.remember.conflict")
@pytest.mark.parametrize("verb", ["conflicts", "note_conflicts", "noted_conflicts"])
def test_what_keeps_contradictions_from_being_noted_is_told_with_what_is_stored(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise NoSpace("No space left for the store")

    monkeypatch.setattr(Memory, verb, full)
    texts = stored(memory, "The harbour is closed on Sundays.")
    *_, missed = contradictions(memory, texts, again={record.uid for record, _ in texts})
    assert "stored" in missed and "No space left" in missed
