"""Stores copied from engine to engine: everything is the same afterwards, and nothing half done is taken for whole."""

from __future__ import annotations

import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

import postgres
from form import mostly_long
from polymnia import Conflict, EntityDraft, Filters, Unavailable, app, connect, inference
from polymnia.models import fold
from polymnia.storage import copying, indexes
from polymnia.storage.postgres import copying as postgres_copying
from polymnia.storage.postgres import grams as postgres_grams
from polymnia.storage.sqlite import copying as sqlite_copying
from polymnia.storage.sqlite import grams
from polymnia.storage.sqlite.statements import MIGRATIONS, migration

from ..engine.search.toys import Toy
from .desk import Desk

_ENGINES = ("sqlite", "postgres")
_NewPlace = Callable[[str], str]


@pytest.fixture
def new_place(tmp_path: Path) -> Iterator[_NewPlace]:
    """Gives the place of a store of an engine, where there is none yet."""
    with ExitStack() as open, pytest.MonkeyPatch.context() as patch:
        patch.setattr(indexes, "_UNINDEXED", 30)
        patch.setattr(indexes, "_UNLISTED", 30)
        for module in (grams, postgres_grams):
            patch.setattr(module, "_SCAN_BELOW", 30)

        numbers = itertools.count(1)

        def place(engine: str) -> str:
            if engine == "sqlite":
                return str(tmp_path / f"a store {next(numbers)}.db")
            return f"{open.enter_context(postgres.database())}?partitions=2"

        yield place


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch, desk: Desk) -> Toy:
    """The only model."""
    toy = Toy()
    monkeypatch.setattr(inference, "choose", lambda *a, **k: [toy])
    monkeypatch.setenv("POLYMNIA_EMBEDDER", "use")
    return toy


def _fill(desk: Desk, place: str) -> None:
    """Something in every table: two projects, and everything that can happen to a memory."""
    for text, *more in (
        ("Ann drinks green tea in the Große Straße", "--tag", "drinks", "--tag", r"C:\udata", "--scope", "work/tea"),
        ("벨로는 산책을 좋아한다", "--meta", "dog=yes", "--category", "animals"),
        ("İstanbul has 15 million inhabitants", "--scope", "session/trip/notes"),
    ):
        assert desk.run("add", text, *more, "--store", place).code == 0
    with connect(place) as memory:
        pebbles = [EntityDraft(f"pebble {i}", "Stein", (f"lies {i} steps away", "grey")) for i in range(40)]
        memory.create_entities(pebbles)
        memory.create_relations([("pebble 1", "pebble 2", "touches"), ("pebble 3", "pebble 4", "touches")])
        memory.add_observations([("pebble 5", ["rolled away"])])
        memory.delete_entities(["pebble 3", "pebble 6"])
        memory.undo()
        memory.delete_entities(["pebble 7", "pebble 8"])
        memory.purge(["pebble 8"])
        memory.search("green tea")
        memory.finding().reindex("default", lambda *a: None)
    with connect(place, project="other") as memory:
        memory.create_entities([EntityDraft("lone", "kind", ("stands in another project",))])


def _state(place: str) -> dict[str, Any]:
    """What a user sees of a store, and what its vectors are."""
    found: dict[str, Any] = {}
    with closing(app.open_store(place, create=False)) as store:
        names = store.projects()
    for project in names:
        with connect(place, project=project) as memory:
            for channel in memory.finding().channels:
                channel.load()
            changes = memory.changes(1000)
            graph = memory.read_graph()
            found[project] = {
                "graph": graph,
                "changes": changes,
                "then": [memory.as_of(change.at) for change in changes],
                "histories": {record.name: memory.history(record.name) for record in graph.records},
                "gone": memory.history("pebble 7") if len(graph.records) > 40 else None,
                "scopes": memory.scopes(),
                "sessions": memory.sessions(),
                "tagged": [len(memory.search("tea", filters=Filters(tags=(tag,))).hits) for tag in (r"C:\udata", "x")],
                "found": [(hit.record.name, round(hit.score, 6)) for hit in memory.search("green tea stone").hits],
            }
            with memory.store.read(project) as snapshot:
                texts = ("grosse stra", "산책", "eb", "stein", "15 m", "lies 7 steps", "nothing like it")
                found[project]["containing"] = [snapshot.containing([fold(text)]) for text in texts]
                found[project]["vectors"] = snapshot.vectors("toy", 0, -1)
                found[project]["noted"] = snapshot.noted("words")
                found[project]["numbers"] = snapshot.numbers[:3]
    return found


@pytest.mark.promise("migrate.same")
@pytest.mark.parametrize(
    ("source", "target"),
    mostly_long([("sqlite", "postgres"), ("postgres", "sqlite"), ("sqlite", "sqlite"), ("postgres", "postgres")]),
)
def test_everything_is_the_same_on_the_other_side(
    desk: Desk, toy: Toy, new_place: _NewPlace, source: str, target: str
) -> None:
    here, there = new_place(source), new_place(target)
    _fill(desk, here)
    before = _state(here)
    told = desk.run("migrate", "--from", here, "--to", there, "--json")
    assert told.code == 0, told.err
    assert told.value["projects"] == 2 and told.value["tables"]["memory"] == 42
    assert before["default"]["vectors"]
    assert before["default"]["tagged"] == [1, 0]
    toy.embedded.clear()
    _assert_same(there, before)
    _assert_same(here, before)
    health = desk.run("health", "--store", there, "--json")
    assert health.code == 0 and health.value["damaged"] == [] and health.value["waitingWords"] == 0
    assert toy.embedded == []

    # Both continue in the same way: numbers, ids, an undo of an old change, and what is found.
    first = min(change.id for change in before["default"]["changes"])
    for place in (here, there):
        with connect(place) as memory:
            made = memory.create_entities([EntityDraft("new one", "kind", ("made after the migration",))])
            assert made and memory.changes(1)[0].id > max(change.id for change in before["default"]["changes"])
            memory.undo(first)
            assert [r.name for r in memory.search_nodes("after the migr").records] == ["new one"]
            assert not memory.search_nodes("grosse stra").records
            memory.finding().reindex("default", lambda *a: None)
    seen = [
        {record.name: (record.id, record.observations) for record in _state(place)["default"]["graph"].records}
        for place in (here, there)
    ]
    assert seen[0] == seen[1]
    with connect(there, project="third") as memory:
        memory.create_entities([EntityDraft("x", "y", ("z",))])
    assert list(_state(there)) == ["default", "other", "third"]


_OF_NEW_VECTORS = ("vectors", "found")
"""What differs while each side makes the vectors of its newest texts in the background."""


def _assert_same(there: str, here: str | dict[str, Any], but: tuple[str, ...] = ()) -> None:
    """Compare two stores part by part, so that a difference can be read."""
    found, expected = _state(there), _state(here) if isinstance(here, str) else here
    assert list(found) == list(expected)
    for project, parts in expected.items():
        for part, value in parts.items():
            if part in but:
                continue
            assert found[project][part] == value, f"{part} of {project}"


_KILLED = """
import os, signal, sys
from polymnia import app
from polymnia.storage import copying
copying._FIRST_ROWS, copying._MOST_ROWS = 7, 7
app.migrate(sys.argv[1], sys.argv[2], lambda done, total: os.kill(os.getpid(), 9) if done > total * 0.2 else None)
"""


def _shown(place: str) -> str:
    """A place as messages name it."""
    with closing(app.open_store(place, create=False)) as store:
        return str(store.as_source().place)


@pytest.mark.promise("migrate.resumed")
@pytest.mark.parametrize("changed", mostly_long([True, False]))
@pytest.mark.parametrize(("source", "target"), [("sqlite", "postgres"), ("postgres", "sqlite")])
def test_a_killed_migration_is_no_store_and_goes_on_when_it_is_run_again(
    desk: Desk, toy: Toy, new_place: _NewPlace, source: str, target: str, changed: bool
) -> None:
    here, there = new_place(source), new_place(target)
    _fill(desk, here)
    assert subprocess.run([sys.executable, "-c", _KILLED, here, there], timeout=60).returncode == -9
    for command in (["list"], ["add", "a text"], ["health"], ["backup", "copy.db"]):
        told = desk.run(*command, "--store", there)
        assert told.code == 1
        assert "not whole" in told.err and "polymnia migrate --from" in told.err
    advised = shlex.split(told.err[told.err.index("polymnia migrate --from") :])
    assert advised == ["polymnia", "migrate", "--from", _shown(here), "--to", _shown(there)]
    other = new_place("sqlite")
    assert desk.run("add", "another store", "--store", other).code == 0
    told = desk.run("migrate", "--from", other, "--to", there)
    assert told.code == 1 and "unfinished copy of" in told.err

    if changed:
        with connect(here) as memory:
            memory.delete_entities(["pebble 1"])
            memory.create_entities([EntityDraft("late", "kind", ("came while nothing was copied",))])
        with connect(here, project="late one") as memory:
            memory.create_entities([EntityDraft("later", "kind", ("still",))])
    told = desk.run("migrate", "--from", here, "--to", there, "--json")
    assert told.code == 0 and told.value["projects"] == (3 if changed else 2)
    _assert_same(there, here, but=_OF_NEW_VECTORS if changed else ())


@pytest.mark.promise("migrate.refused")
@pytest.mark.parametrize("target", _ENGINES)
def test_a_store_that_holds_something_is_left_as_it_is(desk: Desk, toy: Toy, new_place: _NewPlace, target: str) -> None:
    here, there = new_place("sqlite"), new_place(target)
    nowhere = new_place("sqlite")
    told = desk.run("migrate", "--from", nowhere, "--to", there)
    assert told.code == 1 and "There is no store" in told.err
    assert desk.run("add", "Ann likes tea", "--store", here).code == 0
    assert desk.run("migrate", "--from", here, "--to", here).code == 1
    assert desk.run("add", "Bob likes coffee", "--store", there).code == 0
    before = _state(there)
    told = desk.run("migrate", "--from", here, "--to", there)
    assert told.code == 1
    assert "is not empty: it holds" in told.err and "default" in told.err
    assert ("?schema=" if target == "postgres" else "file") in told.err
    _assert_same(there, before)
    assert desk.run("migrate", "--from", here, "--to", there, "--store", here).code == 2


@pytest.mark.promise("migrate.refused")
@pytest.mark.parametrize(("kept", "why"), [(0, "is not a Polymnia store"), (5000, "is damaged")])
def test_a_file_that_is_no_store_is_refused_and_left_as_it_is(
    desk: Desk, new_place: _NewPlace, kept: int, why: str
) -> None:
    here, there = new_place("sqlite"), Path(new_place("sqlite"))
    assert desk.run("add", "Ann likes tea", "--store", here).code == 0
    content = Path(here).read_bytes()[:kept] or b"tea and biscuits"
    there.write_bytes(content)
    told = desk.run("migrate", "--from", here, "--to", str(there))
    assert told.code == 1 and why in told.err
    assert there.read_bytes() == content


@pytest.mark.promise("migrate.verified")
@pytest.mark.parametrize("target", _ENGINES)
def test_a_copy_that_differs_is_told_and_made_right_by_the_next_run(
    desk: Desk, toy: Toy, new_place: _NewPlace, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, there = new_place("sqlite"), new_place(target)
    _fill(desk, here)
    filled: Any = sqlite_copying.FileTarget if target == "sqlite" else postgres_copying.DatabaseTarget
    insert = filled.insert

    def spoil(self: Any, run: Any, table: copying.Table, project: int, rows: list[Any]) -> None:
        if table.name == "observation":
            at = table.columns.index("text")
            rows = [(*row[:at], row[at].replace("green", "brown"), *row[at + 1 :]) for row in rows]
        insert(self, run, table, project, rows)

    with monkeypatch.context() as patch:
        patch.setattr(filled, "insert", spoil)
        told = desk.run("migrate", "--from", here, "--to", there)
    assert told.code == 1
    assert re.search("is not what .* holds: other rows in the table observation of the project default", told.err)
    assert "run it again" in told.err
    assert desk.run("list", "--store", there).code == 1
    assert desk.run("migrate", "--from", here, "--to", there).code == 0
    _assert_same(there, here)


@pytest.mark.long
@pytest.mark.parametrize(("source", "target"), mostly_long([("sqlite", "postgres"), ("postgres", "sqlite")]))
def test_servers_that_use_both_ends_meanwhile_see_whole_stores(
    desk: Desk, toy: Toy, new_place: _NewPlace, source: str, target: str
) -> None:
    here, there = new_place(source), new_place(target)
    _fill(desk, here)
    with connect(here) as writer, connect(there) as reader:
        assert reader.read_graph().records == []
        steps: list[int] = []

        def step(done: int, total: int) -> None:
            if len(steps) == 3:
                writer.delete_entities(["pebble 30"])
                writer.create_entities([EntityDraft("meanwhile", "kind", ("written while it was copied",))])
                assert reader.read_graph().records == []
                with pytest.raises(Unavailable, match="A migration into the store"):
                    reader.create_entities([EntityDraft("too early", "kind", ("text",))])
            steps.append(done)

        app.migrate(here, there, step)
        names = {record.name for record in reader.read_graph().records}
        assert "meanwhile" in names and not {"pebble 30", "too early"} & names
        assert reader.search_nodes("while it was cop").records[0].name == "meanwhile"
    _assert_same(there, here, but=_OF_NEW_VECTORS)


@pytest.mark.long
@pytest.mark.promise("migrate.refused")
def test_a_later_migration_takes_over(desk: Desk, toy: Toy, new_place: _NewPlace) -> None:
    for target in _ENGINES:
        here, there = new_place("sqlite"), new_place(target)
        _fill(desk, here)
        steps: list[int] = []

        def step(done: int, total: int, here: str = here, there: str = there, steps: list[int] = steps) -> None:
            steps.append(done)
            if len(steps) == 3:
                app.migrate(here, there, lambda done, total: None)

        with pytest.raises(Conflict, match="has taken over"):
            app.migrate(here, there, step)
        _assert_same(there, here)


@pytest.mark.promise("backup.database")
def test_a_database_is_backed_up_to_a_file_and_restored_while_it_is_used(
    desk: Desk, toy: Toy, new_place: _NewPlace, tmp_path: Path
) -> None:
    place, backup = new_place("postgres"), str(tmp_path / "backup.db")
    _fill(desk, place)
    before = _state(place)
    told = desk.run("backup", backup, "--store", place, "--json")
    assert told.code == 0, told.err
    assert told.value["memories"] == 42 and told.value["bytes"] == os.path.getsize(backup)
    assert desk.run("backup", backup, "--store", place).code == 1
    assert desk.run("backup", backup, "--store", place, "--force").code == 0
    assert [path.name for path in tmp_path.glob(".*")] == []
    _assert_same(backup, before)

    with connect(place) as memory:
        memory.create_entities([EntityDraft("lost", "kind", ("a word that only this one has: zeppelin",))])
        assert [hit.record.name for hit in memory.search("zeppelin").hits][:1] == ["lost"]
        restored = desk.run("restore", backup, "--store", place, "--json")
        assert restored.code == 0, restored.err
        assert "lost" not in {record.name for record in memory.read_graph().records}
        assert "lost" not in [hit.record.name for hit in memory.search("zeppelin").hits]
        assert "lost" not in [record.name for record in memory.search_nodes("zeppelin").records]
    _assert_same(place, before)
    kept = Path(restored.value["kept"])
    assert kept.parent == tmp_path and kept.name.startswith("polymnia.replaced-")
    assert "lost" in {record.name for record in _state(str(kept))["default"]["graph"].records}
    assert desk.run("restore", str(kept), "--store", place).code == 0
    with connect(place) as memory:
        assert [record.name for record in memory.search_nodes("zeppelin").records] == ["lost"]


@pytest.mark.long
@pytest.mark.promise("backup.database")
def test_a_backup_of_one_engine_is_restored_into_the_other(
    desk: Desk, toy: Toy, new_place: _NewPlace, tmp_path: Path
) -> None:
    file, database, backup = new_place("sqlite"), new_place("postgres"), str(tmp_path / "backup.db")
    _fill(desk, file)
    before = _state(file)
    assert desk.run("backup", backup, "--store", file).code == 0
    told = desk.run("restore", backup, "--store", database, "--json")
    assert told.code == 0 and told.value["kept"] is None
    _assert_same(database, before)
    (tmp_path / "diary.txt").write_text("Dear diary\n" * 100)
    told = desk.run("restore", str(tmp_path / "diary.txt"), "--store", database)
    assert told.code == 1 and "is not a backup" in told.err
    assert desk.run("backup", str(tmp_path / "second.db"), "--store", database).code == 0
    other = new_place("sqlite")
    assert desk.run("restore", str(tmp_path / "second.db"), "--store", other).code == 0
    _assert_same(other, before)
    _assert_same(database, before)


_OF_THE_ENGINE = {
    *("store", "gram_term", "gram_data", "gram_idx", "gram_docsize", "gram_config", "sqlite_sequence"),
    *("shared_secret", "shared_process", "shared_session", "shared_window"),
}
"""Tables that hold nothing of their own, or that an engine or its running servers have for themselves."""


def test_every_table_is_copied_or_made_again(new_place: _NewPlace) -> None:
    known = {*(table.name for table in copying.TABLES), *copying.MADE_AGAIN, "project", "model", *_OF_THE_ENGINE}
    file = apsw.Connection(":memory:")
    for name in MIGRATIONS:
        file.execute(migration(name)).fetchall()
    columns = {
        table: {column for _, column, *_ in file.execute(f"PRAGMA table_info({table})")}
        for (table,) in file.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall()
    }
    assert set(columns) <= known, "new tables: copy them, or say how they are made again"
    for table in copying.TABLES:
        made = {column for column, _ in copying.FOLDS.get(table.name, ())} | {"project"}
        assert columns[table.name] - made == set(table.columns) - made, table.name
    assert columns["project"] == set(copying.PROJECT_COLUMNS) and columns["model"] == set(copying.MODEL_COLUMNS)

    url = new_place("postgres")
    with connect(url) as memory:
        assert not memory.read_graph().records
    with psycopg.connect(url.partition("?")[0]) as connection:
        rows = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns c JOIN pg_class t ON t.relname = table_name"
            " WHERE table_schema = 'polymnia' AND NOT t.relispartition AND t.relkind IN ('r', 'p')"
        ).fetchall()
    there: dict[str, set[str]] = {}
    for name, column in rows:
        there.setdefault(name, set()).add(column)
    assert set(there) <= known, "new tables: copy them, or say how they are made again"
    for table in copying.TABLES:
        made = {column for column, _ in copying.FOLDS.get(table.name, ())} | {"project"}
        assert there[table.name] == set(table.columns) | made, table.name
