"""When a change pays for the word index, and for how much of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from polymnia.engine.search import Analysis
from polymnia.models import EntityDraft
from polymnia.storage import indexes
from polymnia.storage.sqlite import SqliteStore


class Other(Analysis):
    """Reads alike and says that it does not."""

    version = "other"


def _write(store: SqliteStore, name: str, texts: int) -> tuple[int, int]:
    """Store a memory; answers the last number given and the last one listed."""
    with store.write("default", "test", "create") as tx:
        tx.add_records([EntityDraft(name, "k", tuple(f"text {number}" for number in range(texts - 1)))])
    return _numbers(store)


def _numbers(store: SqliteStore) -> tuple[int, int]:
    with store.read("default") as snapshot:
        return snapshot.numbers[1], snapshot.numbers[2]


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten texts wait at most, and a change pays for twenty."""
    monkeypatch.setattr(indexes, "_UNLISTED", 10)
    monkeypatch.setattr(indexes, "_MAX_LISTED", 20)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "memory.db")


def test_few_texts_wait_and_many_are_listed_together(path: str) -> None:
    store = SqliteStore(path, analyst=Analysis())
    assert _write(store, "a", 10) == (10, 0)
    assert _write(store, "b", 1) == (11, 11)
    assert _write(store, "c", 9) == (20, 11)
    store.close()


def test_a_change_pays_for_all_of_its_own_texts_and_for_some_of_others(path: str) -> None:
    store = SqliteStore(path, analyst=Analysis())
    assert _write(store, "a", 50) == (50, 50)
    bare = SqliteStore(path)
    assert _write(bare, "b", 50) == (100, 50)
    bare.close()
    assert _write(store, "c", 1) == (101, 70)
    assert _write(store, "d", 1) == (102, 90)
    store.close()


def test_a_small_index_that_was_read_otherwise_is_made_anew_by_the_next_listing(path: str) -> None:
    store = SqliteStore(path, analyst=Analysis())
    _write(store, "a", 8)
    with store.write("default", "test", "list") as tx:
        tx.index_words(100)
    store.close()
    other = SqliteStore(path, analyst=Other())
    assert _write(other, "b", 11) == (19, 19)
    with other.read("default") as snapshot:
        assert snapshot.edition[0] > 0
        assert snapshot.noted("words") == "other"
    other.close()


def test_a_large_index_that_was_read_otherwise_is_left_as_it_is_until_somebody_reindexes(path: str) -> None:
    store = SqliteStore(path, analyst=Analysis())
    _write(store, "a", 30)
    store.close()
    other = SqliteStore(path, analyst=Other())
    assert _write(other, "b", 15) == (45, 30)
    with other.write("default", "test", "list") as tx:
        assert tx.index_words(20) == 25
        assert tx.index_words(100) == 0
    assert _write(other, "c", 11) == (56, 56)
    other.close()


def test_relations_take_numbers_and_are_no_texts(path: str) -> None:
    store = SqliteStore(path, analyst=Analysis())
    _write(store, "a", 5)
    with store.write("default", "test", "relate") as tx:
        tx.add_relations([("a", "a", f"r{number}", {}) for number in range(10)])
    assert _numbers(store) == (15, 15)
    with store.read("default") as snapshot:
        assert sum(count for _, count, _ in snapshot.passages()) == 5
    store.close()
