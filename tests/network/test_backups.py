"""Backups that a server makes of the store it serves."""

from __future__ import annotations

import json
import time
from calendar import timegm
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

import polymnia
from stdio_client import entity

from .served import Served, eventually, request

STORE = request("tools/call", {"name": "create_entities", "arguments": {"entities": [entity("Ann", "likes 녹차")]}})


def _flags(folder: Path, every: str = "1h") -> list[str]:
    return ["--backup-dir", str(folder), "--backup-every", every, "--backup-keep", "2", "--log-level", "notice"]


def _backups(folder: Path) -> list[Path]:
    return sorted(folder.glob("polymnia-*.db"))


def _newest(served: Served) -> float:
    page = text_string_to_metric_families(served.request("GET", "/metrics").body.decode())
    return next(one.samples[0].value for one in page if one.name == "polymnia_backup_timestamp_seconds")


@pytest.mark.long
@pytest.mark.promise("backup.schedule")
@pytest.mark.parametrize("workers", [1, 2])
def test_a_server_makes_a_verified_backup_when_one_is_due_and_no_other(
    serving: Callable[..., Served], tmp_path: Path, workers: int
) -> None:
    folder = tmp_path / "store"
    folder.mkdir()
    with polymnia.connect(folder / "memory.db", graph="strict") as memory:
        memory.create_entities([polymnia.EntityDraft("Ann", "person", ("likes 녹차",))])
    served = serving(*_flags(tmp_path / "backups"), "--workers", str(workers), folder=folder)
    event = json.loads(served.wait_for_line('"event":"backup"'))
    (made,) = _backups(tmp_path / "backups")
    assert (event["file"], event["memories"]) == (str(made), 1)
    if workers == 1:
        at = timegm(time.strptime(made.stem, "polymnia-%Y%m%dT%H%M%SZ"))
        eventually(lambda: _newest(served) == at, "the figures tell of it")
    with polymnia.connect(made) as copy:
        assert [record.name for record in copy.read_graph().records] == ["Ann"]
    served.stop()
    again = serving(*_flags(tmp_path / "backups"), "--workers", str(workers), folder=folder)
    assert again.post(STORE).status == 200
    again.stop()
    assert _backups(tmp_path / "backups") == [made]


@pytest.mark.promise("backup.schedule")
def test_a_backup_that_fails_is_logged_and_the_server_goes_on(serving: Callable[..., Served], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    served = serving(*_flags(tmp_path / "file" / "backups"))
    event: dict[str, Any] = json.loads(served.wait_for_line('"event":"backup failed"'))
    assert str(tmp_path / "file" / "backups") in event["text"]
    assert event["hint"]
    assert served.is_well()


def test_a_wrong_interval_is_refused_before_anything_is_served(serving: Callable[..., Served], tmp_path: Path) -> None:
    served = serving(*_flags(tmp_path, "6 hours"), wait=False)
    assert served.code() == 2
    assert "such as 90s, 15m, 6h or 7d" in served.log


def test_an_interval_without_a_folder_is_refused(serving: Callable[..., Served]) -> None:
    served = serving("--backup-every", "1h", wait=False)
    assert served.code() == 2
    assert "no backups without a folder for them: --backup-dir FOLDER" in served.log
