"""Undo plans: however many changes were made since."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia import connect
from polymnia.engine import history
from polymnia.errors import Invalid


@pytest.fixture(autouse=True)
def _few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "_MOST_UNDONE", 5)
    monkeypatch.setattr(history, "_PAGE", 2)


def test_an_old_session_is_found_behind_many_changes(tmp_path: Path) -> None:
    with connect(tmp_path / "s.db") as memory:
        memory.remember("Said long ago.", scope="session/old")
        for n in range(9):
            memory.remember(f"Note {n}.")
        (planned,) = memory.undoable(session="old")
        assert [effect.after.observations for effect in planned.effects if effect.after] == [("Said long ago.",)]


def test_what_was_undone_does_not_make_room_for_a_part(tmp_path: Path) -> None:
    with connect(tmp_path / "s.db") as memory:
        for n in range(9):
            memory.remember(f"Note {n}.")
        memory.undo()
        with pytest.raises(Invalid, match="More than 5 changes"):
            memory.undoable(since=0)
