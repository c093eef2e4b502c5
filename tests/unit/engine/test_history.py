"""Undo plans: however many changes were made since."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia import Memory, connect
from polymnia.engine import history
from polymnia.errors import Invalid, NoSpace, Unavailable
from polymnia.models import Change


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


@pytest.mark.promise("native.undo.since")
def test_what_a_full_disk_leaves_undone_of_several_changes_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(self: Memory, change: int | None = None) -> Change:
        if len(taken) == 2:
            raise NoSpace("No space left for the store")
        taken.append(change)
        return undo(self, change)

    undo = Memory.undo
    taken: list[int | None] = []
    with connect(tmp_path / "memory.db") as memory:
        for text in ("one", "two", "three"):
            memory.remember(text)
        monkeypatch.setattr(Memory, "undo", full)
        with pytest.raises(Unavailable, match=r"No space left.*: 3, 2$"):
            memory.undo_all([1, 2, 3])
        assert [one.undone_by is None for one in memory.changes()[-3:]] == [False, False, True]
