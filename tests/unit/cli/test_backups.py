"""Backups into a folder, once or on a schedule."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import forked
from polymnia.app import backups

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


def test_a_backup_dated_ahead_by_a_wrong_clock_does_not_stop_the_others(tmp_path: Path) -> None:
    (tmp_path / "polymnia-29990101T000000Z.db").write_text("")
    assert backups.BackupSchedule(str(tmp_path), 60.0).due_in() == 60.0
