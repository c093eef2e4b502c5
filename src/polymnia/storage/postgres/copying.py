"""A schema of a database as the source and as the target of a copy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import psycopg

from polymnia.errors import Conflict, Fault, Invalid
from polymnia.models import new_id
from polymnia.storage.copying import (
    FOLDS,
    MADE_AGAIN,
    MODEL_COLUMNS,
    PROJECT_COLUMNS,
    TABLES,
    Row,
    Table,
    folded,
    held_content,
    later,
)
from polymnia.storage.postgres import schema
from polymnia.storage.postgres.connections import DatabaseConnection, PostgresStatements, connect
from polymnia.storage.postgres.faults import translated, unreachable
from polymnia.storage.postgres.grams import index_entries
from polymnia.storage.postgres.statements import MIGRATIONS
from polymnia.storage.schema import UNDER_WAY, migration_command
from polymnia.storage.statements import StatementRunner

if TYPE_CHECKING:
    from polymnia.storage.postgres.store import PostgresStore

_MARK = f"""
CREATE TABLE migration (key text PRIMARY KEY, value text NOT NULL);
-- For servers that have opened the empty store before.
ALTER TABLE project ADD CONSTRAINT {UNDER_WAY} CHECK (false);
"""
_UNMARK = f"ALTER TABLE project DROP CONSTRAINT {UNDER_WAY}; DROP TABLE migration"
_NOTE = "INSERT INTO migration (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_HELD = "SELECT name, texts FROM project ORDER BY id"


class DatabaseSource:
    """A store that is copied."""

    def __init__(self, store: PostgresStore) -> None:
        self.place = store.place
        self._store = store

    @contextmanager
    def reading(self) -> Iterator[StatementRunner]:
        """One moment of the store."""
        with translated(self.place):
            run, _ = self._store.begin(writes=False, first=lambda run: run.execute("SELECT 1").fetchone())
            try:
                yield run
            finally:
                self._store.end(run)

    def where(self, table: Table, project: int, after: Row | None) -> tuple[str, Sequence[Any]]:
        """The condition for the rows of a project after a key."""
        return _where(table, project, after)

    def last_numbers(self, run: StatementRunner) -> tuple[int, int]:
        """The highest numbers that were given to a change and to a vector."""
        return _last_number(run, "change_id"), _last_number(run, "vector_id")


def _where(table: Table, project: int, after: Row | None) -> tuple[str, Sequence[Any]]:
    return f"project = ?{later(table, after)}", (project, *(after or ()))


def _last_number(run: StatementRunner, sequence: str) -> int:
    statement = f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}"
    return int(run.text(statement, ()).fetchone()[0])


class _Filled:
    """Tables that are filled on one connection, outside of a pipeline: COPY does not go with one."""

    def __init__(self, store: PostgresStore) -> None:
        self.place = store.place
        self._store = store
        self._schema = store.address.schema
        self._connection: DatabaseConnection | None = None

    def _run(self) -> PostgresStatements:
        if self._connection is None:
            try:
                self._connection = connect(self._store.address.url, prepares=False)  # a pooler may be in between
            except psycopg.OperationalError as e:
                raise unreachable(e, self.place) from e
        return PostgresStatements(self._connection)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextmanager
    def _transaction(self) -> Iterator[PostgresStatements]:
        with translated(self.place):
            run = self._run()
            with run.connection.transaction():
                run.execute(schema.search_path(self._schema))
                yield run

    def where(self, table: Table, project: int, after: Row | None) -> tuple[str, Sequence[Any]]:
        """The condition for the rows of a project after a key."""
        return _where(table, project, after)

    def last_numbers(self, run: StatementRunner) -> tuple[int, int]:
        """The highest numbers that were given to a change and to a vector."""
        return _last_number(run, "change_id"), _last_number(run, "vector_id")

    def insert(self, run: StatementRunner, table: Table, project: int, rows: Sequence[Row]) -> None:
        """Add rows, with their folded forms and their entries in the substring index."""
        assert isinstance(run, PostgresStatements)
        folds = FOLDS.get(table.name, ())
        types = [
            "int8", *["int8"] * len(table.integers), *["text"] * len(table.texts), *["bytea"] * len(table.blobs),
            *["float8"] * len(table.floats), *["bytea"] * len(folds),
        ]  # fmt: skip
        columns = ", ".join(("project", *table.columns, *(column for column, _ in folds)))
        plain = [table.columns.index(column) for _, column in folds]
        index = []
        with run.connection.cursor().copy(f"COPY {table.name} ({columns}) FROM STDIN (FORMAT BINARY)") as copy:
            copy.set_types(types)
            for row in rows:
                if not folds:
                    copy.write_row((project, *row))
                    continue
                forms = folded(table, row)
                differing = (None if f == row[at] else f.encode() for f, at in zip(forms, plain, strict=True))
                copy.write_row((project, *row, *differing))
                index.append((row[0], index_entries(project, "\x01".join(forms))))
        run.many("index", index)

    def clear(self, run: StatementRunner, table: Table, project: int) -> None:
        """Remove the rows of a project."""
        if table.name in FOLDS:
            ids = f"SELECT id FROM {table.name} WHERE project = ?"
            run.text(f"DELETE FROM gram WHERE project = ? AND id IN ({ids})", (project, project))
        run.text(f"DELETE FROM {table.name} WHERE project = ?", (project,))

    def _add_heads(
        self, run: PostgresStatements, models: Sequence[Row], projects: Sequence[Row], numbers: tuple[int, int]
    ) -> None:
        """Add the models and the projects, and continue all numbers after the last ones."""
        for name, columns, rows in (("model", MODEL_COLUMNS, models), ("project", PROJECT_COLUMNS, projects)):
            types = ["text" if column == "name" else "int8" for column in columns]
            # COPY writes an identity column as it is given.
            with run.connection.cursor().copy(f"COPY {name} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)") as copy:
                copy.set_types(types)
                for row in rows:
                    copy.write_row(row)
        last = {
            "change_id": numbers[0],
            "vector_id": numbers[1],
            "project_id_seq": max((row[0] for row in projects), default=0),
            "model_id_seq": max((row[0] for row in models), default=0),
        }
        for sequence, number in last.items():
            number = max(number, _last_number(run, sequence))
            if number:
                run.text("SELECT setval(?::text::regclass, ?)", (sequence, number))
        for name in (*(table.name for table in TABLES), *MADE_AGAIN):
            run.execute(f"ANALYZE {name}")  # or the first plans would be those of empty tables


class DatabaseTarget(_Filled):
    """A schema that is filled: a new one, an empty store, or one that an interrupted copy left."""

    def __init__(self, store: PostgresStore) -> None:
        super().__init__(store)
        self._claim = new_id()

    def claim(self, source: str) -> dict[int, str]:
        """Make the tables, or continue with those that an interrupted copy of the same source left."""
        with translated(self.place):
            connection, address = self._run().connection, self._store.address
            former = self._former()
            if former is None:
                schema.prepare(connection, self.place, address.schema, address.partitions, create=True)
                self._mark(source)
            elif former != source:
                raise Invalid(
                    f"{self.place} holds an unfinished copy of {former}",
                    hint=f"Finish it with `{migration_command(former, self.place)}`, "
                    f'or remove it first: DROP SCHEMA "{self._schema}" CASCADE',
                )
        with self._transaction() as run:
            run.execute("SELECT 1 FROM store FOR UPDATE")
            run.text(_NOTE, ("claim", self._claim))
            found = run.text("SELECT key, value FROM migration WHERE key ~ '^[0-9]'", ()).fetchall()
        return {int(key): value for key, value in found}

    def _former(self) -> str | None:
        """The source of the migration that is under way; None if there is none."""
        try:
            with self._transaction() as run:
                row = run.text("SELECT value FROM migration WHERE key = 'source'", ()).fetchone()
        except Fault as e:
            if isinstance(e.__cause__, psycopg.errors.UndefinedTable):
                return None
            raise
        return None if row is None else str(row[0])

    def _mark(self, source: str) -> None:
        with self._transaction() as run:
            run.execute("LOCK TABLE project IN ACCESS EXCLUSIVE MODE")  # nobody adds a project from here on
            held = run.execute(_HELD).fetchall()
            if held:
                raise Invalid(
                    f"{self.place} is not empty: it holds {held_content(held)}",
                    hint="Name another database, or another schema of it (?schema=NAME). "
                    f'To remove for good what is there: DROP SCHEMA "{self._schema}" CASCADE',
                )
            run.connection.execute(_MARK, prepare=False)
            run.text(_NOTE, ("source", source))
            run.execute(f"UPDATE store SET version = {schema.UNFINISHED}")

    @contextmanager
    def reading(self) -> Iterator[StatementRunner]:
        """One transaction."""
        with self._transaction() as run:
            yield run

    @contextmanager
    def writing(self) -> Iterator[StatementRunner]:
        """A transaction; refused once another process has claimed the target."""
        with self._transaction() as run:
            # What a crash of the server takes with it is copied again.
            run.execute("SET LOCAL synchronous_commit = off")
            # The row of the store is locked: only one migration writes at a time.
            (version,) = run.text("SELECT version FROM store FOR UPDATE", ()).fetchone()
            claim = "SELECT value FROM migration WHERE key = 'claim'"
            if version != schema.UNFINISHED or run.text(claim, ()).fetchone()[0] != self._claim:
                raise Conflict(f"Another migration into {self.place} has taken over", hint="Wait until it has ended.")
            yield run

    def note(self, run: StatementRunner, project: int, value: str) -> None:
        """Note something about a project, for whoever continues."""
        run.text(_NOTE, (str(project), value))

    def finish(
        self, run: StatementRunner, models: Sequence[Row], projects: Sequence[Row], numbers: tuple[int, int]
    ) -> None:
        """Add the models and the projects, continue the numbers after the last ones, and remove the mark."""
        assert isinstance(run, PostgresStatements)
        run.execute("SET LOCAL synchronous_commit = on")
        run.connection.execute(_UNMARK, prepare=False)
        self._add_heads(run, models, projects, numbers)
        run.execute(f"UPDATE store SET version = {len(MIGRATIONS)}")


class ReplacedContent(_Filled):
    """A store whose content is replaced in one transaction: everybody else sees all of it or nothing."""

    def __init__(self, store: PostgresStore, run: PostgresStatements) -> None:
        super().__init__(store)
        self._held = run

    @classmethod
    @contextmanager
    def open(cls, store: PostgresStore) -> Iterator[ReplacedContent]:
        """Begin the transaction. Writers wait for its end, readers do not."""
        filled = _Filled(store)
        try:
            with filled._transaction() as run:
                run.execute(f"SET LOCAL lock_timeout = {store.lock_ms}")
                run.execute("LOCK TABLE project IN EXCLUSIVE MODE")
                yield cls(store, run)
        finally:
            filled.close()

    def is_empty(self) -> bool:
        """Whether there is nothing to save."""
        return self._held.execute("SELECT 1 FROM project LIMIT 1").fetchone() is None

    @contextmanager
    def reading(self) -> Iterator[StatementRunner]:
        """The transaction."""
        yield self._held

    def writing(self) -> AbstractContextManager[StatementRunner]:
        """The transaction."""
        return self.reading()

    def claim(self, source: str) -> dict[int, str]:
        """Remove the former content."""
        self._held.execute("ALTER TABLE memory DISABLE TRIGGER scope_loses")  # all counts go with it
        for name in (*(table.name for table in TABLES), *MADE_AGAIN, "project", "model"):
            self._held.execute(f"DELETE FROM {name}")
        self._held.execute("ALTER TABLE memory ENABLE TRIGGER scope_loses")
        return {}

    def note(self, run: StatementRunner, project: int, value: str) -> None:
        """Nothing: an interrupted restore has changed nothing."""

    def finish(
        self, run: StatementRunner, models: Sequence[Row], projects: Sequence[Row], numbers: tuple[int, int]
    ) -> None:
        """Add the models and the projects, and give the store another id."""
        self._add_heads(self._held, models, projects, numbers)
        self._held.execute("UPDATE store SET id = $1", (new_id(),))
