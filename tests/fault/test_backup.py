"""Copies of a store that a server is writing to, and bringing one back while it runs."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from polymnia import connect
from polymnia.storage.sqlite.statements import MIGRATIONS, migration
from stdio_client import Place, entity

from .integrity import is_sound


def _until(what: str, is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline, what
        threading.Event().wait(0.02)


def _names(path: Path) -> list[str]:
    with connect(path) as memory:
        return [record.name for record in memory.read_graph().records]


@pytest.mark.promise("backup.copy")
def test_the_file_alone_has_what_was_written_a_moment_ago(place: Place) -> None:
    server = place.serve("strict")
    server.call("create_entities", entities=[entity("Ann", "likes tea")])
    copy = place.folder / "copy.db"

    def has_it() -> bool:
        shutil.copy(place.store, copy)
        return _names(copy) == ["Ann"]

    _until("the change is in the file", has_it)
    assert server.names() == ["Ann"]


@pytest.mark.promise("backup.online")
@pytest.mark.promise("backup.restore")
def test_a_store_that_is_being_written_is_backed_up_and_restored(place: Place) -> None:
    server = place.serve("strict")
    server.call("create_entities", entities=[entity("first", "text")])
    stop, written = threading.Event(), list[str]()

    def write() -> None:
        other = place.serve("strict")
        number = 0
        while not stop.is_set():
            number += 1
            assert not other.call("create_entities", entities=[entity(f"name {number}", "text")]).failed
            written.append(f"name {number}")

    writer = threading.Thread(target=write)
    writer.start()
    try:
        _until("something is written", lambda: len(written) > 3)
        backup = place.folder / "backup.db"
        before = list(written)
        told = place.run("backup", str(backup), "--json")
        after = [*written, f"name {len(written) + 1}", f"name {len(written) + 2}"]
        assert told.returncode == 0, told.stderr
        assert json.loads(told.stdout)["path"] == str(backup)
    finally:
        stop.set()
        writer.join()
    names = _names(backup)
    assert set(before) <= set(names) <= {"first", *after}
    assert json.loads(told.stdout)["memories"] == len(names)
    assert is_sound(backup)

    # Whatever was held in memory of the newer state is gone with it, in the server that never stopped.
    server.call("create_entities", entities=[entity("lost", "a word that only this one has: zeppelin")])
    assert [node["name"] for node in server.call("search_nodes", query="zeppelin").value["nodes"]] == ["lost"]
    restored = place.run("restore", str(backup), "--json")
    assert restored.returncode == 0, restored.stderr
    assert server.names() == names
    assert "lost" not in [node["name"] for node in server.call("search_nodes", query="zeppelin").value["nodes"]]
    server.call("create_entities", entities=[entity("after", "zeppelin again")])
    assert [node["name"] for node in server.call("search_nodes", query="zeppelin").value["nodes"]][:1] == ["after"]
    assert "lost" in _names(Path(json.loads(restored.stdout)["kept"]))
    assert is_sound(place.store)


@pytest.mark.promise("backup.refused")
def test_what_is_no_backup_is_refused_and_nothing_changes(place: Place) -> None:
    server = place.serve("strict")
    server.call("create_entities", entities=[entity("Ann", "likes tea")])
    made = place.folder / "backup.db"
    assert place.run("backup", str(made)).returncode == 0
    again = place.run("backup", str(made))
    assert again.returncode == 1 and "exists already" in again.stderr
    assert place.run("backup", str(made), "--force").returncode == 0
    assert place.run("backup", str(place.store), "--force").returncode == 1
    whole = made.read_bytes()
    for content, why in (
        (b"", "0 bytes"),
        (b"Dear diary\n" * 500, "not a backup"),
        (whole[:4096] + b"\xa5" * (len(whole) - 4096), "damaged|not sound"),
        (whole[: len(whole) // 2], "damaged|not sound"),
    ):
        bad = place.folder / "bad.db"
        bad.write_bytes(content)
        told = place.run("restore", str(bad))
        assert told.returncode == 1, why
        assert any(one in told.stderr for one in why.split("|")), told.stderr
        assert why == "not a backup" or told.stderr.endswith("\nName another backup.\n")
    assert "is a folder" in place.run("restore", str(place.folder)).stderr
    connection = apsw.Connection(str(made))
    connection.execute("PRAGMA user_version = 999").fetchall()
    connection.close()
    assert "newer Polymnia" in place.run("restore", str(made)).stderr
    assert place.run("restore", str(place.folder / "nowhere.db")).returncode == 1
    assert server.names() == ["Ann"]
    assert not [path for path in place.folder.iterdir() if ".tmp" in path.name or "replaced" in path.name]


def test_a_damaged_store_is_kept_as_it_lies_when_a_backup_takes_its_place(place: Place) -> None:
    server = place.serve("strict")
    server.call("create_entities", entities=[entity("Ann", "likes tea")])
    server.close_input()
    server.exit_code()
    backup = place.folder / "backup.db"
    assert place.run("backup", str(backup)).returncode == 0
    for content in (b"", b"\xde\xad" * 9000):
        place.store.write_bytes(content)
        told = place.run("restore", str(backup), "--json")
        assert told.returncode == 0, told.stderr
        assert Path(json.loads(told.stdout)["kept"]).read_bytes() == content
        assert _names(place.store) == ["Ann"]
    place.store.unlink()
    told = place.run("restore", str(backup), "--json")
    assert json.loads(told.stdout)["kept"] is None
    assert _names(place.store) == ["Ann"]


def test_a_backup_of_an_older_format_is_brought_up_to_ours(place: Place) -> None:
    old = place.folder / "old.db"
    connection = apsw.Connection(str(old))
    connection.execute(migration(MIGRATIONS[0])).fetchall()
    connection.execute(f"PRAGMA application_id = {0x506F6C79}; PRAGMA user_version = 1").fetchall()
    connection.close()
    before = old.read_bytes()
    assert place.run("restore", str(old)).returncode == 0
    server = place.serve("strict")
    server.call("create_entities", entities=[entity("Ann", "likes tea")])
    assert server.names() == ["Ann"]
    assert old.read_bytes() == before
