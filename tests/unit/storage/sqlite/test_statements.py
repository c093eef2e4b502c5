"""The named statements: each is used, and each finds its rows by a key or says why it does not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from polymnia.models import EntityDraft
from polymnia.storage import sqlite
from polymnia.storage.sqlite import SqliteStore
from polymnia.storage.sqlite.statements import MIGRATIONS, SQL, migration
from polymnia.storage.statements import named

_SOURCE = Path(sqlite.__file__).parent
_SHARED = _SOURCE.parent

# These read a range of ids on purpose: the rows of one project, or of one change.
RANGES = {
    "memories_after": "a page of the whole graph",
    "relations": "the whole graph",
    "loose_relations": "the last page of the whole graph",
    "count": "a count has to count",
    "count_texts": "a count has to count",
    "newest_indexed": "read from the end, one row",
    "unlisted_tags": "read from the end, with a limit",
    "ids_before": "the next few numbers below one",
    "ids_after": "the next few numbers above one",
    "page": "read from the end, with a limit; far pages count their way",
    "session_rows_between": "the rows one change made",
    "unindexed": "the rows that are not in the index yet",
    "containing": "the rows that are not in the index yet; the others come from the index",
    "containing_by_scan": "a project too small, or a query too short, for the index",
    "memory_rows_between": "the rows one change made, or everything for a look at the past",
    "observation_rows_between": "the rows one change made, or everything for a look at the past",
    "relation_ends_between": "the rows one change made",
    "relation_rows_between": "the rows one change made, or everything for a look at the past",
    "texts_between": "the texts that are not in the word index yet, or all of them to make it anew",
    "gone": "the marks of one project, read when its index is loaded",
    "drop_gone": "the marks of one project, or of one text",
    "stale": "the marks of one project, few",
    "memory_ids": "an analysis tells of every memory",
    "observation_owners": "an analysis tells of every memory",
    "drop_stale": "one mark, or those of one project when its word index is made anew",
}
# These read a whole table on purpose.
WHOLE = {"projects": "all projects are asked for", "model_in_use": "one look into each project"}

# These walk over the changes of one project on purpose.
JOURNALS = {
    "changes_in_order": "an analysis reads the whole journal",
    "items_of_project": "an analysis reads the whole journal",
    "changes": "newest first, with a limit",
    "change_at": "from the newest back to a time",
    "items_after": "a look at the past takes back every later change",
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    """A connection of our own to a store."""
    store = SqliteStore(str(tmp_path_factory.mktemp("plans") / "memory.db"))
    with store.write("default", "test", "create") as tx:
        tx.add_records([EntityDraft("a", "b", ("c",))])
    store.close()
    connection = apsw.Connection(store.path)
    yield connection
    connection.close()


def _plan(connection: apsw.Connection, statement: str) -> list[str]:
    numbered = [int(number) for number in re.findall(r"\?(\d+)", statement)]
    values = (None,) * (max(numbered) if numbered else statement.count("?"))
    return [step[3] for step in connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)]


def _steps(connection: apsw.Connection) -> list[tuple[str, str]]:
    """Each step of each statement's plan, with the statement's name."""
    return [(name, step) for name in SQL for step in _plan(connection, SQL[name])]


def test_no_statement_reads_a_whole_table(connection: apsw.Connection) -> None:
    # Virtual tables are asked by a match, a row or a list; a subquery is what its own steps are.
    fine = re.compile(r"SCAN (\w+ VIRTUAL TABLE INDEX|CONSTANT ROW|\()")
    scans = [
        (name, step)
        for name, step in _steps(connection)
        if name not in WHOLE and ((step.startswith("SCAN") and not fine.match(step)) or "AUTOMATIC" in step)
    ]
    assert not scans


def test_every_row_is_found_by_its_key_unless_a_range_is_meant(connection: apsw.Connection) -> None:
    searches = [(name, step) for name, step in _steps(connection) if step.startswith("SEARCH")]
    assert {name for name, step in searches if re.search(r"\(rowid[<>]", step)} == RANGES.keys()
    assert {name for name, step in searches if step.endswith("change_project (project=?)")} == JOURNALS.keys()


def test_rows_of_a_virtual_table_are_found_by_a_match_or_a_row(connection: apsw.Connection) -> None:
    asked = re.compile(r"SCAN (?:g|gram) VIRTUAL TABLE INDEX \d+:(.*)")
    unbounded = [(name, step) for name, step in _steps(connection) if (found := asked.match(step)) and not found[1]]
    assert not unbounded


def test_the_lists_of_exceptions_name_statements_that_exist() -> None:
    assert RANGES.keys() | JOURNALS.keys() | WHOLE.keys() <= SQL.keys()


def test_every_statement_is_used_and_every_one_used_exists() -> None:
    source = "".join(path.read_text(encoding="utf-8") for where in (_SOURCE, _SHARED) for path in where.glob("*.py"))
    assert set(re.findall(r'_?run\(\s*"(\w+)"', source)) <= SQL.keys()
    assert [name for name in SQL if f'"{name}"' not in source] == []


def test_every_migration_is_listed_and_numbered_in_order() -> None:
    files = sorted(path.name for path in (_SOURCE / "migrations").glob("*.sql"))
    assert list(MIGRATIONS) == files
    assert [int(name[:4]) for name in files] == list(range(1, len(files) + 1))
    assert all(migration(name).strip() for name in files)


def test_every_statement_of_the_checks_is_used() -> None:
    folders = (_SOURCE / "checks", _SHARED / "checks")
    source = "".join(path.read_text() for folder in folders for path in folder.glob("*.py"))
    statements = named("sqlite", "checks", "checks.sql")
    assert statements
    by_table = re.compile(
        r"(ids|newest|count|clear|clear_relation)_(memory|observation|relation|session|tags|metadata|extra)"
    )
    assert [name for name in statements if f'"{name}"' not in source and not by_table.fullmatch(name)] == []
