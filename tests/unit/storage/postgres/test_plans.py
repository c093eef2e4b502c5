"""What PostgreSQL does for a call: it reads and writes one partition, by an index, however full the tables are."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import psycopg
import pytest

import postgres
from polymnia import EntityDraft, Filters, Memory, connect
from polymnia.storage.postgres import PostgresStore, connections
from polymnia.storage.postgres.snapshot import PostgresSnapshot


@pytest.fixture
def url(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A database with a store of many partitions."""
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "none")
    with postgres.database() as url:
        yield f"{url}?partitions=16"


@pytest.mark.long
def test_whatever_a_project_is_asked_touches_one_partition(url: str) -> None:
    with closing(_memory(url, "others")) as others:
        _fill(others)
        _call_everything(others)
    before = _scans(url)
    with closing(_memory(url, "mine")) as mine:
        _fill(mine)
        _call_everything(mine)
    touched = {name for name, scans in _scans(url).items() if scans != before.get(name)}
    assert len(touched) > 8, touched
    partitions = {name.rpartition("_")[2] for name in touched}
    assert len(partitions) == 1, sorted(touched)


@pytest.mark.long
def test_plans_made_for_an_empty_project_serve_a_full_one(url: str) -> None:
    with closing(PostgresStore(f"{url}&pool=1")) as store, closing(_memory(url, "growing")) as memory:
        memory.remember("Exists")
        for _ in range(2):
            _rows_read(store)  # every statement is planned now, for the one connection there is
        memory.create_entities([EntityDraft(f"person {n}", "person", (f"Lives at number {n}",)) for n in range(1500)])
        memory.create_relations([(f"person {n}", f"person {n + 1}", "knows") for n in range(1400)])
        assert _rows_read(store) < 500  # of 4,400


@pytest.mark.long
@pytest.mark.parametrize("few", [8, 32])
def test_with_many_partitions_a_call_locks_its_own_alone(url: str, monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """A plan that is kept names every partition, and locks it: that is for stores with few of them."""
    monkeypatch.setattr(connections, "_FEW_PARTITIONS", few)
    with closing(_memory(url, "mine")) as memory, closing(PostgresStore(f"{url}&pool=1")) as store:
        _fill(memory)
        _call_everything(memory)
        with store.read_rows("mine") as snapshot:
            assert isinstance(snapshot, PostgresSnapshot)
            assert snapshot.load(list(snapshot.ids(["note 7"]).values()))
            assert snapshot.relations_of(["note 1"])
            locked = (
                "SELECT c.relname FROM pg_locks l JOIN pg_class c ON c.oid = l.relation "
                "WHERE pid = pg_backend_pid() AND c.relispartition AND c.relkind = 'r'"
            )
            names = [name for (name,) in snapshot._run.text(locked, ())]
    partitions = {name.rpartition("_")[2] for name in names}
    assert len(partitions) == (1 if few < 16 else 16), names


def _memory(url: str, project: str) -> Memory:
    return connect(url, project=project)


def _fill(memory: Memory) -> None:
    memory.create_entities([EntityDraft(f"note {n}", "note", (f"The tea of day {n} is green",)) for n in range(600)])
    memory.create_relations([("note 1", "note 2", "follows")])
    memory.remember("A cup broke", scope="kitchen", tags=("cups",))


def _read(memory: Memory, name: str) -> None:
    memory.open_nodes([name, "nobody"])
    memory.history(name)
    memory.relations_naming(name)
    memory.names_alike(name)


def _call_everything(memory: Memory) -> None:
    start = memory.changes(1)[0].at
    _read(memory, "note 7")
    assert memory.search("green tea", filters=Filters(kinds=("note",))).hits
    assert memory.search_nodes("day 599").records
    memory.move([memory.search("cup").hits[0].record.uid], "hall")
    memory.scopes()
    memory.sessions()
    memory.page(1, 10)
    memory.read_graph()
    memory.delete_entities(["note 3"])
    memory.undo()
    memory.changed_since(start)
    memory.as_of(start)
    memory.purge(["note 4"])
    memory.brief()


def _query(url: str, statement: str) -> list[tuple[str, int]]:
    with psycopg.connect(url.partition("?")[0], autocommit=True) as connection:
        return connection.execute(statement).fetchall()


def _scans(url: str) -> dict[str, int]:
    """How often each partition was scanned, once the counts of closed connections have arrived."""
    deadline = time.monotonic() + postgres.DEADLINE
    others = (
        "SELECT 'others', count(*) FROM pg_stat_activity "
        "WHERE application_name = 'polymnia' AND datname = current_database()"
    )
    while _query(url, others)[0][1]:
        assert time.monotonic() < deadline
    statement = (
        "SELECT s.relname, seq_scan + coalesce(idx_scan, 0) + n_tup_ins FROM pg_stat_user_tables s "
        "JOIN pg_inherits i ON i.inhrelid = s.relid"
    )
    return dict(_query(url, statement))


def _rows_read(store: PostgresStore) -> int:
    """How many rows the server reads to answer a few questions about two of many memories."""
    with store.read_rows("growing") as snapshot:
        for names in (["person 7"], [f"person {n}" for n in range(5, 9)], [f"person {n}" for n in range(20)]):
            ids = list(snapshot.ids(names).values())
            snapshot.load(ids)
            snapshot.relations_of(names)
            snapshot.relations_from(names)
            snapshot.uids(ids)
        snapshot.ids_of(["nobody"])
        snapshot.strongest(["person 7"], 3)
        snapshot.names_starting("person 77", 5)
        snapshot.with_texts(["Lives at number 7"], 1 << 31)
        snapshot.same_text("Lives at number 7", None)
        snapshot.history("person 7")
        counts = "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0)) FROM pg_stat_xact_user_tables"
        assert isinstance(snapshot, PostgresSnapshot)
        return int(snapshot._run.text(counts, ()).fetchone()[0])
