"""Counting what is read: every door counts, nothing waits for it, and it can be switched off."""

from __future__ import annotations

from pathlib import Path

import pytest

import polymnia
from polymnia import app
from polymnia.engine.content import ItemDraft
from polymnia.engine.memory import Memory
from polymnia.errors import Busy
from polymnia.models import EntityDraft, Seen


def _seen(memory: Memory) -> dict[str, tuple[int, int]]:
    """How often each name was opened and found."""
    assert memory.reads is not None
    memory.reads.write()
    found: dict[str, tuple[int, int]] = {}
    with memory.store.read(memory.project) as snapshot:
        names = {record.id: record.name for record in snapshot.records()}
        for one in snapshot.seen():
            opened, hits = found.get(names[one.memory], (0, 0))
            found[names[one.memory]] = (opened + one.opened, hits + one.found)
    return found


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    memory = polymnia.connect(tmp_path / "m.db")
    memory.create_entities(
        [EntityDraft("Ann", "person", ("likes tea",)), EntityDraft("Bob", "person", ("likes milk",))]
    )
    return memory


def test_what_is_opened_by_name_or_id_counts_as_opened(memory: Memory) -> None:
    item = memory.store_item(ItemDraft(text="a note")).record
    memory.open_nodes(["Ann"])
    memory.get("Ann")
    memory.item(item.uid)
    assert _seen(memory) == {"Ann": (2, 0), item.name: (1, 0)}


def test_what_a_search_answers_counts_as_found(memory: Memory) -> None:
    memory.search("tea", lanes="words")
    memory.search_nodes("likes tea")
    assert _seen(memory)["Ann"] == (0, 2)


def test_reading_everything_counts_for_nothing(memory: Memory) -> None:
    memory.read_graph()
    memory.changes()
    assert _seen(memory) == {}


def test_what_is_counted_is_kept_when_the_memory_is_closed(memory: Memory, tmp_path: Path) -> None:
    memory.open_nodes(["Ann"])
    memory.close()
    assert _seen(polymnia.connect(tmp_path / "m.db")) == {"Ann": (1, 0)}


def test_reads_can_be_left_uncounted(tmp_path: Path) -> None:
    memory = app.open_memory(app.settings({"store": str(tmp_path / "m.db"), "count_reads": "off"}, {}), "test")
    memory.create_entities([EntityDraft("Ann", "person", ("likes tea",))])
    memory.open_nodes(["Ann"])
    memory.close()
    with polymnia.connect(tmp_path / "m.db") as again, again.store.read("default") as snapshot:
        assert snapshot.seen() == []


def test_counts_that_cannot_be_written_wait_for_the_next_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.open_nodes(["Ann"])
    assert memory.reads is not None

    def busy(*_: object) -> None:
        raise Busy("Somebody writes")

    with monkeypatch.context() as patch:
        patch.setattr(memory.store, "write", busy)
        memory.reads.write()
    assert _seen(memory) == {"Ann": (1, 0)}


def test_whoever_reads_is_named(memory: Memory) -> None:
    memory.acting("bea via claude").open_nodes(["Ann"])
    assert memory.reads is not None
    memory.reads.write()
    with memory.store.read("default") as snapshot:
        assert [one.who for one in snapshot.seen()] == ["bea via claude"]
        assert isinstance(snapshot.seen()[0], Seen)
