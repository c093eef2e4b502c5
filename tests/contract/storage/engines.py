"""The engines under test: each knows how to open a store in a place of its own, and how to look behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Protocol

import apsw
import pytest

from polymnia.engine.ports import Clock, Store
from polymnia.storage.sqlite import SqliteStore, rows, snapshot, transaction

__all__ = ["ENGINES", "SHIPPED", "Engine", "SqliteEngine"]

SHIPPED = "as shipped"


class Engine(Protocol):
    """One kind of store and one place, empty at first, where it keeps things. Can be sent to another process."""

    routes: ClassVar[tuple[str, ...]]
    """The ways in which the engine finds a text; ``SHIPPED`` lets it choose."""

    def __init__(self, folder: Path) -> None: ...

    def open(self, *, clock: Clock | None = None, busy_timeout: float = 30.0) -> Store:
        """A store on the place, as a process of its own would open it."""

    def take_route(self, route: str, patch: pytest.MonkeyPatch) -> None:
        """Make stores of this process find texts in this way, whatever their size."""

    def traces(self, text: str) -> list[str]:
        """Where in tables, indexes and files the text, or a telling part of it, can still be read."""


class SqliteEngine:
    """The embedded store: one file, and what SQLite puts beside it."""

    routes: ClassVar[tuple[str, ...]] = (SHIPPED, "scan", "index", "index, short queries too")

    def __init__(self, folder: Path) -> None:
        self.path = folder / "memory.db"

    def open(self, *, clock: Clock | None = None, busy_timeout: float = 30.0) -> SqliteStore:
        return SqliteStore(str(self.path), clock=clock or rows.now, busy_timeout=busy_timeout)

    def take_route(self, route: str, patch: pytest.MonkeyPatch) -> None:
        if route != SHIPPED:
            patch.setattr(transaction, "_UNINDEXED", 1 << 40 if route == "scan" else 0)
            patch.setattr(snapshot, "_SCAN_BELOW", 0)
        if route.endswith("too"):
            patch.setattr(snapshot, "_SCAN_SHORT_BELOW", 0)

    def traces(self, text: str) -> list[str]:
        return [*self._in_tables(text), *self._in_index(text), *self._in_files(text)]

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
        grams = {folded[i : i + 3] for i in range(len(folded) - 2)}
        connection = apsw.Connection(str(self.path))
        for number, block in connection.execute("SELECT id, block FROM gram_data").fetchall():
            # Terms are stored without what they share with the one before: a rare first letter stands out.
            yield from (f"index block {number}: {gram}" for gram in grams if gram.encode() in block)
        connection.close()

    def _in_files(self, text: str) -> Iterator[str]:
        forms = {text.encode(), rows.fold(text).encode()}
        for path in sorted(self.path.parent.iterdir()):
            data = path.read_bytes()
            yield from (f"file {path.name}" for form in forms if form in data)


ENGINES: dict[str, type[Engine]] = {
    "sqlite": SqliteEngine,
}
