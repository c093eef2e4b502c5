"""The store's file: opened late, shared, and noticed when another one lies in its place."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from polymnia.models import EntityDraft
from polymnia.storage.sqlite import SqliteStore

_DEADLINE = 30.0


def _create(store: SqliteStore, *names: str) -> None:
    with store.write("default", "test", "create") as tx:
        tx.add_records([EntityDraft(name, "thing", (f"text of {name}",)) for name in names])


def _names(store: SqliteStore) -> list[str]:
    with store.read("default") as snapshot:
        return [record.name for record in snapshot.records()]


def _is_sound(path: Path) -> bool:
    connection = apsw.Connection(str(path))
    try:
        return (
            connection.pragma("integrity_check") == "ok"
            and not connection.execute("PRAGMA foreign_key_check").fetchall()
        )
    finally:
        connection.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """A whole store, closed, that can be put in another's place."""
    store = SqliteStore(str(tmp_path / "other" / "memory.db"))
    _create(store, "restored 1", "restored 2", "restored 3")
    store.close()
    return Path(store.path)


# ── opening ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_opened_before_it_is_used(path: Path) -> None:
    store = SqliteStore(str(path))
    assert not path.exists()
    assert store.stamp("default") == 0
    assert path.exists()
    store.close()


def test_a_path_may_start_at_home_or_here(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(path.parent))
    monkeypatch.setenv("USERPROFILE", str(path.parent))
    monkeypatch.chdir(path.parent)
    for given in ("~/memory.db", "memory.db", "./memory.db"):
        assert Path(SqliteStore(given).path) == path


def test_every_commit_is_on_disk_when_it_returns(path: Path) -> None:
    store = SqliteStore(str(path))
    _create(store, "a")
    connection = store._connect()
    assert connection.pragma("synchronous") == 2
    assert connection.pragma("journal_mode") == "wal"
    connection.close()
    store.close()


def test_closing_leaves_one_file_and_the_lock(path: Path) -> None:
    store = SqliteStore(str(path))
    _create(store, "a")
    store.close()
    assert {each.name for each in path.parent.iterdir()} == {"memory.db", "memory.db-lock"}
    assert _is_sound(path)


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="only Linux lists the open files")
def test_closing_lets_go_of_every_file(path: Path) -> None:
    def held() -> list[str]:
        links = (f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd"))
        return [target for link in links if os.path.exists(link) and str(path) in (target := os.readlink(link))]

    store = SqliteStore(str(path))
    _create(store, "a")
    with store.read("default"), store.read("default"):
        pass
    assert held()
    store.close()
    assert held() == []


def test_a_closed_store_opens_again_when_it_is_used(path: Path) -> None:
    store = SqliteStore(str(path))
    _create(store, "a")
    store.close()
    assert _names(store) == ["a"]
    _create(store, "b")
    store.close()
    assert _names(store) == ["a", "b"]
    store.close()


def test_closing_during_a_read_lets_the_read_end(path: Path) -> None:
    store = SqliteStore(str(path))
    _create(store, "a", "b")
    with store.read("default") as snapshot:
        store.close()
        assert snapshot.count() == (2, 0)
    assert _names(store) == ["a", "b"]
    store.close()


def test_closing_during_a_change_harms_neither_it_nor_the_next(path: Path) -> None:
    store = SqliteStore(str(path), busy_timeout=1.0)
    _create(store, "a")
    with store.write("default", "test", "create") as tx:
        tx.add_records([EntityDraft("b", "thing")])
        closing = threading.Thread(target=store.close)
        closing.start()
        closing.join(0.2)
        tx.add_records([EntityDraft("c", "thing")])
    closing.join(_DEADLINE)
    _create(store, "d")
    assert _names(store) == ["a", "b", "c", "d"]
    store.close()


# ── another file in its place ───────────────────────────────────────────────────────────────────────────────


def _move(other: Path, path: Path) -> None:
    os.replace(other, path)


def _copy_beside(other: Path, path: Path) -> None:
    shutil.copy(other, path.with_suffix(".new"))
    os.replace(path.with_suffix(".new"), path)


def _delete_first(other: Path, path: Path) -> None:
    os.unlink(path)
    os.replace(other, path)


def _rename_first(other: Path, path: Path) -> None:
    os.rename(path, path.with_suffix(".old"))
    os.replace(other, path)


Put = Callable[[Path, Path], None]
_each_way = pytest.mark.parametrize(
    "put", [_move, _copy_beside, _delete_first, _rename_first], ids=lambda p: p.__name__
)


@_each_way
def test_a_store_put_in_anothers_place_is_read_and_written_from_then_on(path: Path, other: Path, put: Put) -> None:
    store = SqliteStore(str(path), busy_timeout=1.0)
    _create(store, "a", "b")
    put(other, path)
    assert _names(store) == ["restored 1", "restored 2", "restored 3"]
    _create(store, "c")
    assert _names(store) == ["restored 1", "restored 2", "restored 3", "c"]
    store.close()
    assert _is_sound(path)
    again = SqliteStore(str(path))
    assert _names(again) == ["restored 1", "restored 2", "restored 3", "c"]
    again.close()


@_each_way
def test_the_first_thing_after_the_exchange_may_be_a_write(path: Path, other: Path, put: Put) -> None:
    store = SqliteStore(str(path), busy_timeout=1.0)
    _create(store, "a", "b")
    put(other, path)
    _create(store, "c")
    assert _names(store) == ["restored 1", "restored 2", "restored 3", "c"]
    store.close()
    assert _is_sound(path)


def test_every_process_on_the_store_notices_the_exchange(path: Path, other: Path) -> None:
    stores = [SqliteStore(str(path), busy_timeout=5.0) for _ in range(2)]
    for number, store in enumerate(stores):
        _create(store, f"{number}")
    # One in a process of its own, because within one process SQLite shares more than between two.
    looker = (
        "import sys\n"
        "from polymnia.storage.sqlite import SqliteStore\n"
        "store = SqliteStore(sys.argv[1])\n"
        "for line in sys.stdin:\n"
        "    with store.read('default') as snapshot:\n"
        "        print([record.name for record in snapshot.records()], flush=True)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", looker, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def look() -> str:
            process.stdin.write("look\n")
            process.stdin.flush()
            return str(process.stdout.readline()).strip()

        assert look() == "['0', '1']"
        os.replace(other, path)
        names = ["restored 1", "restored 2", "restored 3"]
        assert _names(stores[0]) == names
        assert look() == str(names)
        _create(stores[1], "new")
        assert look() == str([*names, "new"])
        assert _names(stores[0]) == [*names, "new"]
        process.stdin.close()
        assert process.wait(_DEADLINE) == 0
    for store in stores:
        store.close()
    assert _is_sound(path)


def test_a_store_whose_file_was_deleted_starts_anew(path: Path) -> None:
    store = SqliteStore(str(path), busy_timeout=1.0)
    _create(store, "a")
    os.unlink(path)
    assert _names(store) == []
    _create(store, "b")
    assert _names(store) == ["b"]
    store.close()
    assert _is_sound(path)


def test_a_reader_goes_on_with_the_file_it_began_with(path: Path, other: Path) -> None:
    store = SqliteStore(str(path), busy_timeout=1.0)
    _create(store, "a", "b")
    with store.read("default") as snapshot:
        os.replace(other, path)
        assert _names(store) == ["restored 1", "restored 2", "restored 3"]
        assert [record.name for record in snapshot.records()] == ["a", "b"]
    assert _names(store) == ["restored 1", "restored 2", "restored 3"]
    store.close()


def test_an_exchange_during_a_change_does_not_stop_the_next_ones(path: Path, other: Path) -> None:
    store = SqliteStore(str(path), busy_timeout=1.0)
    _create(store, "a")
    inside, looked = threading.Event(), threading.Event()
    ended: list[BaseException | None] = []

    def change() -> None:
        try:
            with store.write("default", "test", "create") as tx:
                inside.set()
                looked.wait(_DEADLINE)
                tx.add_records([EntityDraft("late", "thing")])
            ended.append(None)
        except Exception as e:
            ended.append(e)

    thread = threading.Thread(target=change)
    thread.start()
    inside.wait(_DEADLINE)
    os.replace(other, path)
    names = ["restored 1", "restored 2", "restored 3"]
    assert _names(store) == names
    looked.set()
    thread.join(_DEADLINE)
    assert len(ended) == 1
    _create(store, "after")
    assert _names(store) == [*names, "after"]
    store.close()
    assert _is_sound(path)


@pytest.mark.parametrize("seconds", [0.001, 3e6, 1e10, 1e300])
def test_a_write_may_wait_for_as_long_as_one_likes(path: Path, seconds: float) -> None:
    store = SqliteStore(str(path), busy_timeout=seconds)
    _create(store, "a")
    assert _names(store) == ["a"]
    store.close()
