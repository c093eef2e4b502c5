"""A small project is answered from memory, and nobody can tell."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from polymnia import EntityDraft, Memory
from polymnia.engine.ports import Snapshot
from polymnia.storage.snapshot import MAX_TEXTS, SmallProject
from polymnia.storage.sqlite import SqliteStore


def _seen(store: SqliteStore, project: str = "default") -> Snapshot:
    with store.read(project) as snapshot:
        return snapshot


def _filled(path: Path) -> Memory:
    memory = Memory(SqliteStore(str(path)))
    memory.create_entities([EntityDraft("Ann", "person", ("Straße", "tea")), EntityDraft("Seoul", "city", ("서울",))])
    memory.create_relations([("Ann", "Seoul", "lives in"), ("Seoul", "Ann", "houses")])
    return memory


def test_the_third_read_without_a_change_comes_from_memory(tmp_path: Path) -> None:
    store = _filled(tmp_path / "memory.db").unscreened
    assert isinstance(store, SqliteStore)
    kinds = [isinstance(_seen(store), SmallProject) for _ in range(3)]
    assert kinds == [False, False, True]


READS: dict[str, Any] = {
    "ids": lambda s: s.ids(["Ann", "nobody"]),
    "load": lambda s: s.load(list(s.ids(["Seoul", "Ann"]).values())),
    "records": lambda s: list(s.records()),
    "page": lambda s: list(s.records(s.ids(["Ann"])["Ann"], 1)),
    "newest": lambda s: s.newest(1),
    "relations": lambda s: list(s.relations()),
    "of": lambda s: s.relations_of(["Ann", "Seoul"]),
    "from": lambda s: s.relations_from(["Seoul"]),
    "loose": lambda s: s.loose_relations(),
    "find": lambda s: s.find_relations([("Ann", "Seoul", "lives in"), ("x", "y", "z")]),
    "containing": lambda s: [s.containing((q,)) for q in ("strasse", "울", "person", "", "nothing", "tea")],
    "starting": lambda s: s.names_starting("S", 5),
    "alike": lambda s: s.look_alikes(["ANN"]),
    "count": lambda s: s.count(),
    "size": lambda s: s.size(),
    "changes": lambda s: s.changes(5),
    "history": lambda s: s.history("Ann"),
    "noted": lambda s: s.noted("nothing"),
}


@pytest.mark.parametrize("question", READS.values(), ids=READS)
def test_memory_and_file_answer_alike(tmp_path: Path, question: Any) -> None:
    store = _filled(tmp_path / "memory.db").unscreened
    assert isinstance(store, SqliteStore)
    small = [_seen(store) for _ in range(3)][-1]
    assert isinstance(small, SmallProject)
    with store.read_file("default") as snapshot:
        assert question(small) == question(snapshot)


def test_a_change_by_anyone_is_seen_at_once(tmp_path: Path) -> None:
    memory = _filled(tmp_path / "memory.db")
    for _ in range(3):
        memory.read_graph()
    other = Memory(SqliteStore(str(tmp_path / "memory.db")))
    other.add_observations([("Ann", ["drinks coffee"])])
    assert [record.name for record in memory.search_nodes("coffee").records] == ["Ann"]
    memory.delete_entities(["Ann"])
    assert memory.search_nodes("coffee").records == []
    other.undo()
    assert [record.name for record in memory.search_nodes("coffee").records] == ["Ann"]


def test_a_large_project_is_not_held(tmp_path: Path) -> None:
    memory = Memory(SqliteStore(str(tmp_path / "memory.db")))
    memory.create_entities(EntityDraft(f"e{n}", "t", ("x",)) for n in range(MAX_TEXTS))
    assert isinstance(memory.unscreened, SqliteStore)
    assert not any(isinstance(_seen(memory.unscreened), SmallProject) for _ in range(4))
