"""Backups into a folder, once or on a schedule."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

import forked
from polymnia.app import backups
from polymnia.engine.ports.maintenance import Copied
from polymnia.storage.sqlite import backups as files

from .desk import Desk


@pytest.mark.promise("backup.folder")
def test_a_folder_keeps_the_newest_backups_and_touches_nothing_else(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.run("add", "Ann likes 녹차")
    folder = tmp_path / "backups"
    folder.mkdir()
    (folder / "mine.db").write_text("not a backup")
    (folder / "polymnia-notes.db").write_text("not one either")
    for second in range(4):
        monkeypatch.setattr(backups.time, "strftime", lambda *_, at=second: f"20260101T00000{at}Z")
        told = desk.run("backup", str(folder), "--keep", "2", "--json")
        assert (told.code, told.value["memories"]) == (0, 1)
    kept = sorted(one.name for one in folder.iterdir())
    assert kept == [
        "mine.db", "polymnia-20260101T000002Z.db", "polymnia-20260101T000003Z.db", "polymnia-notes.db",
    ]  # fmt: skip
    assert desk.run("restore", str(folder / kept[1])).code == 0


def test_options_that_do_not_go_together_are_refused_and_nothing_is_made(desk: Desk, tmp_path: Path) -> None:
    desk.run("add", "Ann likes tea")
    assert "--force is for a file" in desk.run("backup", "b", "--keep", "2", "--force").err
    assert "such as 90s" in desk.run("backup", "b", "--every", "often").err
    assert desk.run("backup", "b", "--keep", "0").code == 2
    (tmp_path / "file").write_text("")
    assert "cannot be kept in" in desk.run("backup", str(tmp_path / "file" / "b"), "--keep", "2").err
    assert not (tmp_path / "b").exists()


def test_no_backup_takes_the_place_of_a_file_of_the_store(desk: Desk, tmp_path: Path) -> None:
    desk.run("add", "Ann likes tea")
    there = sorted(tmp_path.iterdir())
    for ending in ("", "-wal", "-shm", "-lock"):
        told = desk.run("backup", str(tmp_path / f"memory.db{ending}"), "--force")
        assert told.code == 1
        assert "the store itself" in told.err
    assert sorted(tmp_path.iterdir()) == there


@pytest.mark.promise("backup.schedule")
def test_a_schedule_goes_on_until_it_is_stopped(desk: Desk, tmp_path: Path) -> None:
    desk.run("add", "Ann likes tea")
    with forked.start(
        [sys.executable, "-m", "polymnia", "backup", str(tmp_path / "b"), "--every", "1s", "--keep", "1"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8", env=os.environ,
    ) as running:  # fmt: skip
        assert running.stdout is not None
        lines = [running.stdout.readline() for _ in range(2)]
        running.send_signal(signal.SIGTERM)
        assert running.wait(30) == 0
    assert len(set(lines)) == 2
    assert all("and verified: 1 memory" in line for line in lines)
    assert len(list((tmp_path / "b").glob("polymnia-*.db"))) == 1


@pytest.mark.promise("backup.schedule", "backup.folder")
def test_a_backup_dated_ahead_by_a_wrong_clock_neither_stops_nor_outlives_the_others(
    desk: Desk, tmp_path: Path
) -> None:
    desk.run("add", "Ann likes tea")
    folder = tmp_path / "b"
    folder.mkdir()
    (folder / "polymnia-29990101T000000Z.db").write_text("of the future")
    (folder / "polymnia-20269999T999999Z.db").write_text("of no day at all, so none of ours")
    schedule = backups.BackupSchedule(str(folder), 3600.0, keep=1)
    assert schedule.due_in() <= 0
    made = desk.run("backup", str(folder), "--keep", "1", "--json").value["path"]
    assert sorted(folder.glob("*.db")) == sorted([Path(made), folder / "polymnia-20269999T999999Z.db"])
    assert 3500 < schedule.due_in() <= 3600


def test_a_schedule_survives_what_nobody_has_foreseen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    stop = threading.Event()
    schedule = backups.BackupSchedule(str(tmp_path / "b"), 0.001)
    answers = iter([RuntimeError("the moon is full"), Copied("b.db", 1, 2, 3, 4, 5)])

    def make(store: object) -> Copied:
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def made(copied: Copied) -> None:
        told.append(copied.path)
        stop.set()

    monkeypatch.setattr(schedule, "make", make)
    backups.run(None, schedule, stop, made, lambda fault: told.append(fault.message))  # type: ignore[arg-type]
    assert told == ["The backup failed: RuntimeError: the moon is full", "b.db"]


def test_a_backup_without_room_says_where_and_leaves_nothing(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.run("add", "Ann likes tea")
    (tmp_path / "b").mkdir()
    for why in (apsw.FullError("database or disk is full"), OSError(errno.ENOSPC, "No space left on device")):

        def fail(*given: object, why: Exception = why) -> None:
            raise why

        monkeypatch.setattr(files, "_copy_pages", fail)
        told = desk.run("backup", "b/monday.db", "--json")
        assert (told.code, told.value["error"]["code"]) == (1, "no_space")
        assert f"No space left for the backup {tmp_path / 'b' / 'monday.db'}" in told.err
        assert not list((tmp_path / "b").iterdir())
