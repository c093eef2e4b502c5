"""The work in the background: every passage gets its turn, and one that ends badly gets another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from polymnia.engine.search import Analysis
from polymnia.engine.search.finder import Channel, Finder
from polymnia.errors import Fault, Invalid
from polymnia.models import EntityDraft
from polymnia.storage.sqlite import SqliteStore

from .toys import Toy


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    """A store of ninety texts in two projects."""
    store = SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis())
    for project in ("default", "other"):
        with store.write(project, "test", "create") as tx:
            tx.add_records([EntityDraft("a", "k", tuple(f"text {number}" for number in range(45)))])
    yield store
    store.close()


def _kept(store: SqliteStore, project: str = "default") -> int:
    with store.read(project) as snapshot:
        return snapshot.models().get("toy", (0, 0))[1]


def _finished(finder: Finder, *projects: str) -> None:
    for project in projects:
        finder._worker.wait(project, 30)


def test_every_passage_of_every_project_gets_its_vector(store: SqliteStore) -> None:
    toy = Toy()
    finder = Finder(store, embedders=[toy])
    finder.notify("default")
    finder.notify("other")
    _finished(finder, "default", "other")
    assert (_kept(store), _kept(store, "other"), len(toy.embedded)) == (45, 45, 90)
    finder.close()


def test_what_a_broken_model_left_is_done_when_it_works_again(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = Toy()
    toy.broken = RuntimeError("no")
    finder = Finder(store, embedders=[toy])
    for _ in range(3):
        finder.notify("default")
        _finished(finder, "default")
    assert _kept(store) == 0
    toy.broken = None
    monkeypatch.setattr("polymnia.engine.search.finder._RETRY", 0.0)
    finder.notify("default")
    _finished(finder, "default")
    assert _kept(store) == 45
    finder.close()


def test_a_store_that_is_busy_for_a_while_costs_no_passage_its_vector(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("polymnia.engine.search.finder._RETRY", 0.0)
    toy = Toy()
    finder = Finder(store, embedders=[toy])
    hasty = SqliteStore(store.path, busy_timeout=0.01, analyst=Analysis())
    finder.store = hasty
    with store.write("default", "test", "hold"):
        finder.notify("default")
        assert toy.begun.wait(30)
        _finished(finder, "default")
    finder.notify("default")
    _finished(finder, "default")
    assert _kept(store) == 45
    finder.close()
    hasty.close()


def test_a_stopped_worker_goes_on_when_it_is_needed_again(store: SqliteStore) -> None:
    toy = Toy()
    finder = Finder(store, embedders=[toy])
    finder.close()
    finder.close()
    finder.notify("default")
    _finished(finder, "default")
    assert _kept(store) == 45
    finder.close()


def test_a_channel_tells_why_it_is_broken_and_is_not_tried_again_at_once() -> None:
    toy = Toy()
    toy.unloadable = OSError("no such file")
    channel = Channel(toy)
    assert not channel.load()
    assert isinstance(channel.fault, Fault)
    assert "toy" in channel.fault.message
    assert "no such file" in channel.fault.message
    toy.unloadable = None
    assert not channel.load()
    assert channel.load(patient=False)
    assert channel.fault is None
    assert channel.ready.is_set()


def test_a_fault_of_the_model_is_passed_on_as_it_is() -> None:
    toy = Toy()
    toy.broken = fault = Invalid("The key is wrong", hint="Check it.")
    channel = Channel(toy)
    assert channel.load()
    assert channel.embed(["text"]) is None
    assert channel.fault is fault
    assert not channel.ready.is_set()


def test_a_query_is_embedded_in_time_or_not_at_all() -> None:
    toy = Toy()
    channel = Channel(toy)
    assert channel.load()
    assert channel.soon(["text"], 30, query=True).shape == (1, 256)
    toy.asking.clear()
    assert channel.soon(["text"], 0.01, query=True) is None
    assert channel.fault is not None
    assert "within 0.01 s" in channel.fault.message
    toy.asking.set()
