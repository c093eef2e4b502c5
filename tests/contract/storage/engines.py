"""The engines under test: each knows how to open a store in a place of its own, and how to look behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, ClassVar, Protocol

import apsw
import psycopg
import pytest
from psycopg import sql

import postgres
from polymnia.engine.ports import Analyst, Clock, Store
from polymnia.engine.search import Analysis
from polymnia.models import Text
from polymnia.storage import indexes, rows
from polymnia.storage.postgres import PostgresStore
from polymnia.storage.postgres import grams as postgres_grams
from polymnia.storage.sqlite import SqliteStore, grams
from stdio_client import STORE

__all__ = ["ENGINES", "SHIPPED", "Engine", "PostgresEngine", "SqliteEngine"]

SHIPPED = "as shipped"
_TEXTS = ("memory", "observation")


class Engine(Protocol):
    """One kind of store and one place, empty at first, where it keeps things. Can be sent to another process."""

    routes: ClassVar[tuple[str, ...]]
    """The ways in which the engine finds a text; ``SHIPPED`` lets it choose."""

    def __init__(self, folder: Path) -> None: ...

    def open(self, *, clock: Clock | None = None, busy_timeout: float = 30.0, analyst: Analyst | None = None) -> Store:
        """A store on the place, as a process of its own would open it."""

    def take_route(self, route: str, patch: pytest.MonkeyPatch) -> None:
        """Make stores of this process find texts in this way, whatever their size."""

    def traces(self, text: str) -> list[str]:
        """Where in tables, indexes and files the text, or a telling part of it, can still be read."""

    def strays(self) -> list[str]:
        """What the word index and the vectors hold for texts that are neither there nor can come back."""

    def close(self) -> None:
        """Give the place back."""


def _strays(run: Callable[[str], list[tuple[Any, ...]]]) -> list[str]:
    rows_of = {table: {id for (id,) in run(f"SELECT id FROM {table}")} for table in _TEXTS}
    known = set().union(*rows_of.values()) | {
        ref for (ref,) in run("SELECT ref FROM change_item WHERE op = 'd' AND kind <> 'r'")
    }
    found = []
    places: dict[int, set[int]] = {}
    for project, first, count, data in run("SELECT project, first, count, data FROM passage_block"):
        for number in range(count):
            text, memory = rows.PASSAGE.unpack_from(data, number * rows.PASSAGE.size)[:2]
            if text:
                places.setdefault(project, set()).add(first + number)
                if not {text + project * rows.SPAN, memory + project * rows.SPAN} <= known:
                    found.append(f"passage {first + number} of text {text}")
    for project, term, data in run("SELECT project, term, data FROM posting"):
        for passage, *_ in rows.POSTING.iter_unpack(data):
            if passage not in places.get(project, ()):
                found.append(f"{term} in passage {passage}")
    vectors = run("SELECT id, text FROM vector")
    found += [f"vector of text {text}" for _, text in vectors if text not in known]
    bits = {id for (id,) in run("SELECT id FROM vector_bits")}
    found += [f"half a vector: {id}" for id in bits ^ {id for id, _ in vectors}]
    for table in ("gone", "stale"):
        found += [f"{table}: {id}" for (id,) in run(f"SELECT id FROM {table}") if id not in known]
    tagged = run("SELECT memory FROM tag")
    return found + [f"tag of {id}" for (id,) in tagged if id not in rows_of["memory"]]


def _terms(text: str) -> set[str]:
    said = Text(id=1, memory=1, name="", kind="", body=text, session=None, created=0)
    return {term for passage in Analysis()([said]) for term in passage.terms}


class SqliteEngine:
    """The embedded store: one file, and what SQLite puts beside it."""

    routes: ClassVar[tuple[str, ...]] = (SHIPPED, "scan", "index", "index, short queries too")

    def __init__(self, folder: Path) -> None:
        self.path = folder / "memory.db"

    def open(
        self, *, clock: Clock | None = None, busy_timeout: float = 30.0, analyst: Analyst | None = None
    ) -> SqliteStore:
        return SqliteStore(
            str(self.path), clock=clock or rows.now, busy_timeout=busy_timeout, analyst=analyst or Analysis()
        )

    def take_route(self, route: str, patch: pytest.MonkeyPatch) -> None:
        if route != SHIPPED:
            patch.setattr(indexes, "_UNINDEXED", 1 << 40 if route == "scan" else 0)
            patch.setattr(indexes, "_UNLISTED", 1 << 40 if route == "scan" else 0)
            patch.setattr(grams, "_SCAN_BELOW", 0)
        if route.endswith("too"):
            patch.setattr(grams, "_SCAN_SHORT_BELOW", 0)

    def traces(self, text: str) -> list[str]:
        return [*self._in_tables(text), *self._in_index(text), *self._in_words(text), *self._in_files(text)]

    def strays(self) -> list[str]:
        with closing(apsw.Connection(str(self.path))) as connection:
            return _strays(lambda statement: connection.execute(statement).fetchall())

    def close(self) -> None:
        pass

    def _in_tables(self, text: str) -> Iterator[str]:
        connection = apsw.Connection(str(self.path))
        # The virtual tables hold nothing of their own: what is behind gram is looked at as its parts.
        tables = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        for (table,) in connection.execute(tables).fetchall():
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                if any(isinstance(value, str) and text in value for value in row):
                    yield f"table {table}: {row}"
        connection.close()

    def _in_index(self, text: str) -> Iterator[str]:
        folded = rows.fold(text)
        trigrams = {folded[i : i + 3] for i in range(len(folded) - 2)}
        connection = apsw.Connection(str(self.path))
        for number, block in connection.execute("SELECT id, block FROM gram_data").fetchall():
            # Terms are stored without what they share with the one before: a rare first letter stands out.
            yield from (f"index block {number}: {gram}" for gram in trigrams if gram.encode() in block)
        connection.close()

    def _in_words(self, text: str) -> Iterator[str]:
        terms = _terms(text)
        connection = apsw.Connection(str(self.path))
        for (term,) in connection.execute("SELECT term FROM posting").fetchall():
            if term in terms:
                yield f"word index: {term}"
        connection.close()

    def _in_files(self, text: str) -> Iterator[str]:
        forms = {text.encode(), rows.fold(text).encode()}
        for path in sorted(self.path.parent.iterdir()):
            data = path.read_bytes()
            yield from (f"file {path.name}" for form in forms if form in data)


def empty_shared_tables(url: str) -> None:
    """Lose what server processes share, as a database does that crashed."""
    with psycopg.connect(url) as connection:
        connection.execute("SET search_path TO polymnia")
        connection.execute("TRUNCATE shared_secret, shared_process, shared_session, shared_window")


class PostgresEngine:
    """The store for teams: a database of the test's own on a server that the tests start."""

    routes: ClassVar[tuple[str, ...]] = (SHIPPED, "scan", "index")

    def __init__(self, folder: Path) -> None:
        self._place = ExitStack()
        self.address = self._place.enter_context(postgres.store())

    def __getstate__(self) -> dict[str, Any]:
        return {"address": self.address, "_place": None}

    def open(
        self, *, clock: Clock | None = None, busy_timeout: float = 30.0, analyst: Analyst | None = None
    ) -> PostgresStore:
        return PostgresStore(
            self.address, clock=clock or rows.now, busy_timeout=busy_timeout, analyst=analyst or Analysis()
        )

    def take_route(self, route: str, patch: pytest.MonkeyPatch) -> None:
        if route != SHIPPED:
            patch.setattr(indexes, "_UNINDEXED", 1 << 40 if route == "scan" else 0)
            patch.setattr(indexes, "_UNLISTED", 1 << 40 if route == "scan" else 0)
            patch.setattr(postgres_grams, "_SCAN_BELOW", 0)

    def traces(self, text: str) -> list[str]:
        # Of the tables alone: what PostgreSQL leaves in its files until they are reused is its own.
        terms, found = _terms(text), []
        for table in self._run(
            "SELECT relname FROM pg_class WHERE relnamespace = 'polymnia'::regnamespace AND relkind = 'r'"
        ):
            for row in self._run(sql.SQL("SELECT * FROM {}").format(sql.Identifier(*table))):
                said = [value for value in row if isinstance(value, str) and text in value]
                held = [value for value in row if isinstance(value, bytes) and rows.fold(text).encode() in value]
                listed = table[0].startswith("posting") and terms.intersection(map(str, row))
                if said or held or listed:
                    found.append(f"table {table[0]}: {row}")
        return found

    def strays(self) -> list[str]:
        return _strays(self._run)

    def close(self) -> None:
        self._place.close()

    def _run(self, statement: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.address.partition("?")[0]) as connection:
            connection.execute("SET search_path TO polymnia")
            return connection.execute(statement).fetchall()


_ALL: dict[str, type[Engine]] = {"sqlite": SqliteEngine, "postgres": PostgresEngine}
ENGINES = _ALL if STORE == "sqlite" else {STORE: _ALL[STORE]}
"""Every engine; where POLYMNIA_TEST_STORE names another than SQLite, that one."""
