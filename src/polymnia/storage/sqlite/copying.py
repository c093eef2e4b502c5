"""A store's file as the source and as the target of a copy."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any

import apsw

from polymnia.errors import Conflict, Invalid
from polymnia.models import new_id
from polymnia.storage import rows as cells
from polymnia.storage.copying import FOLDS, MODEL_COLUMNS, PROJECT_COLUMNS, Row, Table, folded, held_content, later
from polymnia.storage.schema import UNDER_WAY, migration_command
from polymnia.storage.sqlite.connections import SqliteStatements
from polymnia.storage.sqlite.faults import translated
from polymnia.storage.sqlite.grams import ENDS
from polymnia.storage.sqlite.schema import APPLICATION, UNFINISHED, create, is_current
from polymnia.storage.statements import StatementRunner

if TYPE_CHECKING:
    from polymnia.storage.sqlite.store import SqliteStore

_WITHOUT_PROJECT = {"observation", "change_item", "seen", "gone", "stale", "vector"}
_MARK = f"""
CREATE TABLE migration (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
-- For servers that have opened the empty store before.
CREATE TRIGGER {UNDER_WAY} BEFORE INSERT ON project BEGIN
  SELECT RAISE(ABORT, '{UNDER_WAY}');
END;
"""
_UNMARK = f"DROP TRIGGER {UNDER_WAY}; DROP TABLE migration"
_NOTE = "INSERT INTO migration (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


def _where(table: Table, project: int, after: Row | None) -> tuple[str, Sequence[Any]]:
    base = project * cells.SPAN
    if not table.spans:
        return f"project = ?{later(table, after)}", (project, *(after or ()))
    first = table.key[0]
    if after is None:
        return f"{first} > ? AND {first} < ?", (base, base + cells.SPAN)
    return f"{first} < ?{later(table, after)}", (base + cells.SPAN, *after)


class FileSource:
    """A store that is copied."""

    def __init__(self, store: SqliteStore) -> None:
        self.place = store.path
        self._store = store

    @contextmanager
    def reading(self) -> Iterator[StatementRunner]:
        """One moment of the store."""
        with translated(self.place), self._store.reader() as reader:
            reader.execute("BEGIN")
            try:
                yield SqliteStatements(reader)
            finally:
                if reader.in_transaction:
                    reader.execute("ROLLBACK")

    def where(self, table: Table, project: int, after: Row | None) -> tuple[str, Sequence[Any]]:
        """The condition for the rows of a project after a key."""
        return _where(table, project, after)

    def last_numbers(self, run: StatementRunner) -> tuple[int, int]:
        """The highest numbers that were given to a change and to a vector."""
        return _last_numbers(run)


def _last_numbers(run: StatementRunner) -> tuple[int, int]:
    (change,) = run.text("SELECT coalesce(max(id), 0) FROM change", ()).fetchone()
    (vector,) = run.text("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'vector'", ()).fetchone()
    return int(change), int(vector)


class FileTarget:
    """A file that is filled: a new one, an empty store, or one that an interrupted copy left."""

    def __init__(self, path: str, lock: AbstractContextManager[None]) -> None:
        self.place = path
        self._lock = lock
        self._connection: apsw.Connection | None = None
        self._claim = new_id()

    def close(self) -> None:
        """Close the file, with all of it on disk."""
        if self._connection is not None:
            # A server has opened it already, and will do it; or it is not a store at all.
            with suppress(apsw.BusyError, apsw.NotADBError, apsw.CorruptError):
                self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            self._connection.close()
            self._connection = None

    def claim(self, source: str) -> dict[int, str]:
        """Make the file, or continue with one that an interrupted copy of the same source left."""
        os.makedirs(os.path.dirname(self.place), mode=0o700, exist_ok=True)
        with translated(self.place), self._lock:
            if not os.path.exists(self.place):
                create(self.place)
            self._connection = connection = apsw.Connection(self.place)
            connection.set_busy_timeout(30_000)
            # What a crash may take is copied again; a commit must not break the file, that is all.
            connection.execute("PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY").fetchall()
            if connection.pragma("application_id") != UNFINISHED and not is_current(connection, self.place):
                raise Invalid(
                    f"{self.place} is a store of an older format", hint="Name a file that does not exist yet."
                )
            with self._transaction() as run:
                if connection.pragma("application_id") == UNFINISHED:
                    self._check_source(run, source)
                else:
                    self._mark(connection, source)
                run.text(_NOTE, ("claim", self._claim))
                found = run.text("SELECT key, value FROM migration WHERE key GLOB '[0-9]*'", ()).fetchall()
        return {int(key): value for key, value in found}

    def _check_source(self, run: StatementRunner, source: str) -> None:
        (former,) = run.text("SELECT value FROM migration WHERE key = 'source'", ()).fetchone()
        if former != source:
            raise Invalid(
                f"{self.place} holds an unfinished copy of {former}",
                hint=f"Finish it with `{migration_command(former, self.place)}`, or delete the file first.",
            )

    def _mark(self, connection: apsw.Connection, source: str) -> None:
        held = connection.execute("SELECT name, texts FROM project ORDER BY id").fetchall()
        if held:
            raise Invalid(
                f"{self.place} is not empty: it holds {held_content(held)}",
                hint="Name a file that does not exist yet, or move this one away first.",
            )
        connection.execute(_MARK).fetchall()
        connection.execute(_NOTE, ("source", source)).fetchall()
        connection.execute(f"PRAGMA application_id = {UNFINISHED}").fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[StatementRunner]:
        assert self._connection is not None
        with translated(self.place):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield SqliteStatements(self._connection)
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def reading(self) -> Iterator[StatementRunner]:
        """The connection that also writes."""
        assert self._connection is not None
        with translated(self.place):
            yield SqliteStatements(self._connection)

    @contextmanager
    def writing(self) -> Iterator[StatementRunner]:
        """A transaction; refused once another process has claimed the file."""
        with self._transaction() as run:
            assert self._connection is not None
            if (
                self._connection.pragma("application_id") != UNFINISHED
                or run.text("SELECT value FROM migration WHERE key = 'claim'", ()).fetchone()[0] != self._claim
            ):
                raise Conflict(f"Another migration into {self.place} has taken over", hint="Wait until it has ended.")
            yield run

    def where(self, table: Table, project: int, after: Row | None) -> tuple[str, Sequence[Any]]:
        """The condition for the rows of a project after a key."""
        return _where(table, project, after)

    def last_numbers(self, run: StatementRunner) -> tuple[int, int]:
        """The highest numbers that were given to a change and to a vector."""
        return _last_numbers(run)

    def insert(self, run: StatementRunner, table: Table, project: int, rows: Sequence[Row]) -> None:
        """Add rows, with their folded forms and their entries in the substring index."""
        assert isinstance(run, SqliteStatements)
        folds = FOLDS.get(table.name, ())
        columns = [*table.columns, *(column for column, _ in folds)]
        new: list[Row] = list(rows)
        if folds:
            forms = [folded(table, row) for row in rows]
            plain = [table.columns.index(column) for _, column in folds]
            new = [
                (*row, *(None if form == row[at] else form for form, at in zip(some, plain, strict=True)))
                for row, some in zip(rows, forms, strict=True)
            ]
            run.many("index", ((row[0], "\x01".join(some) + ENDS) for row, some in zip(rows, forms, strict=True)))
        if table.name not in _WITHOUT_PROJECT:
            columns.append("project")
            new = [(*row, project) for row in new]
        marks = ", ".join("?" * len(columns))
        run.connection.executemany(f"INSERT INTO {table.name} ({', '.join(columns)}) VALUES ({marks})", new)

    def clear(self, run: StatementRunner, table: Table, project: int) -> None:
        """Remove the rows of a project."""
        condition, values = _where(table, project, None)
        if table.name in FOLDS:
            run.text(f"DELETE FROM gram WHERE rowid IN (SELECT id FROM {table.name} WHERE {condition})", values)
        run.text(f"DELETE FROM {table.name} WHERE {condition}", values)

    def note(self, run: StatementRunner, project: int, value: str) -> None:
        """Note something about a project, for whoever continues."""
        run.text(_NOTE, (str(project), value))

    def finish(
        self, run: StatementRunner, models: Sequence[Row], projects: Sequence[Row], numbers: tuple[int, int]
    ) -> None:
        """Add the models and the projects, continue the numbers after the last ones, and remove the mark."""
        assert isinstance(run, SqliteStatements)
        run.connection.execute(_UNMARK).fetchall()
        for name, columns, rows in (("model", MODEL_COLUMNS, models), ("project", PROJECT_COLUMNS, projects)):
            marks = ", ".join("?" * len(columns))
            run.connection.executemany(f"INSERT INTO {name} ({', '.join(columns)}) VALUES ({marks})", rows)
        run.text("DELETE FROM sqlite_sequence WHERE name = 'vector'", ()).fetchall()
        run.text("INSERT INTO sqlite_sequence (name, seq) VALUES ('vector', ?)", (numbers[1],)).fetchall()
        run.connection.execute(f"PRAGMA application_id = {APPLICATION}").fetchall()
