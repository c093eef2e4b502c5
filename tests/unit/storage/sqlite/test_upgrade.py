"""A store that an earlier release made opens, keeps everything, and is searched like any other."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import apsw
import pytest

from polymnia import Memory
from polymnia.engine.search import Analysis
from polymnia.models import Filters, new_id
from polymnia.storage import indexes, rows
from polymnia.storage.sqlite import SqliteStore, schema
from polymnia.storage.sqlite.statements import migration

BASE = rows.SPAN
AT = 1_700_000_000_000_000


def _first_format(path: Path) -> None:
    """A store as format 1 left it: two memories, a relation, a deleted observation in the journal."""
    db = apsw.Connection(str(path))
    db.execute(migration("0001_initial.sql"))
    db.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    db.execute("PRAGMA user_version = 1")
    db.execute("INSERT INTO project VALUES (1, 'default', 6, 0, 4, ?)", (AT + 2,))
    for number, name, kind, tags in ((1, "Ann", "person", '["sea","music"]'), (4, "Seoul", "city", None)):
        db.execute(
            "INSERT INTO memory (id, project, uid, name, kind, name_fold, look, tags, created, updated, version) "
            "VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, 1)",
            (BASE + number, new_id(), name, kind, rows.fold_or_none(name), rows.skeleton_hash(name), tags, AT, AT),
        )
    for number, memory, text in ((2, 1, "Works at the harbour"), (5, 4, "서울은 대한민국의 수도이다")):
        db.execute(
            "INSERT INTO observation VALUES (?, ?, ?, ?, ?)",
            (BASE + number, BASE + memory, crc32(text.encode()), text, rows.fold_or_none(text)),
        )
    db.execute(
        "INSERT INTO relation (id, project, source, target, type, created) VALUES (?, 1, 'Ann', 'Seoul', 'likes', ?)",
        (BASE + 6, AT),
    )
    db.execute("INSERT INTO change VALUES (1, 1, ?, 'ann', 'create_entities', 0, 6, NULL)", (AT,))
    db.execute("INSERT INTO change VALUES (2, 1, ?, 'ann', 'delete_observations', 6, 6, NULL)", (AT + 2,))
    gone = json.dumps({"memory": BASE + 1, "text": "Drinks green tea"})
    db.execute("INSERT INTO change_item VALUES (2, 0, 'd', 'o', ?, ?, ?, NULL, NULL)", (BASE + 3, BASE + 1, gone))
    db.close()


@pytest.fixture(params=[0, 1 << 40], ids=["listed", "not listed"])
def memory(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """The upgraded store."""
    monkeypatch.setattr(indexes, "_UNLISTED", request.param)
    _first_format(tmp_path / "memory.db")
    return Memory(SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis()))


def _names(memory: Memory, query: str, **wanted: tuple[str, ...]) -> list[str]:
    return [hit.record.name for hit in memory.search(query, filters=Filters(**wanted)).hits]


def test_an_older_store_keeps_everything_and_becomes_searchable(memory: Memory) -> None:
    graph = memory.read_graph()
    assert [(r.name, r.kind, r.observations, r.tags) for r in graph.records] == [
        ("Ann", "person", ("Works at the harbour",), ("sea", "music")),
        ("Seoul", "city", ("서울은 대한민국의 수도이다",), ()),
    ]
    assert [relation.ends for relation in graph.relations] == [("Ann", "Seoul", "likes")]
    assert _names(memory, "who works at a harbour")[0] == "Ann"
    assert _names(memory, "대한민국의 수도")[0] == "Seoul"
    assert [(change.account, change.tool) for change in memory.changes()] == [(None, None)] * 2
    memory.undo(2)
    assert _names(memory, "green tea")[0] == "Ann"
    memory.add_observations([("Seoul", ["The Han flows through it"])])
    assert _names(memory, "what flows")[0] == "Seoul"
    assert _names(memory, "who works at a harbour")[0] == "Ann"
    memory.close()


def test_the_tags_of_an_older_store_can_be_asked_for(memory: Memory) -> None:
    with memory.store.read("default") as snapshot:
        assert snapshot.matching(Filters(tags=("music",))) == [1]
        assert snapshot.matching(Filters(tags=("music", "sea"), all_tags=True)) == [1]
        assert snapshot.matching(Filters(tags=("nothing",))) == []
    assert _names(memory, "harbour", tags=("sea",)) == ["Ann"]
    memory.close()


def test_the_texts_of_an_older_store_are_known_as_said(memory: Memory) -> None:
    assert memory.remember("works at the harbour.").record.name == "Ann"
    assert memory.remember("서울은  대한민국의 수도이다.").duplicate
    assert not memory.remember("works at a harbour").duplicate
    memory.close()


def test_a_copy_of_the_older_store_is_kept(tmp_path: Path) -> None:
    _first_format(tmp_path / "memory.db")
    memory = Memory(SqliteStore(str(tmp_path / "memory.db"), analyst=Analysis()))
    assert memory.count() == (2, 1)
    memory.close()
    (copy,) = tmp_path.glob("*.backup")
    db = apsw.Connection(str(copy))
    assert db.pragma("user_version") == 1
    assert db.execute("SELECT count(*) FROM memory").fetchone() == (2,)
    db.close()


def test_an_upgraded_store_has_the_form_of_a_new_one(tmp_path: Path) -> None:
    _first_format(tmp_path / "memory.db")
    forms = []
    for name in ("memory.db", "new.db"):
        store = SqliteStore(str(tmp_path / name))
        store.projects()
        store.close()
        db = apsw.Connection(str(tmp_path / name))
        forms.append(db.execute("SELECT type, name, sql FROM sqlite_schema ORDER BY name").fetchall())
        db.close()
    assert forms[0] == forms[1]
