"""The engines under test: each knows how to open a store in a place of its own, and how to look behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Protocol

import apsw
import pytest

from polymnia.engine.ports import Analyst, Clock, Store
from polymnia.engine.search import Analysis
from polymnia.models import Text
from polymnia.storage.sqlite import SqliteStore, grams, indexes, rows

__all__ = ["ENGINES", "SHIPPED", "Engine", "SqliteEngine"]

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
        connection = apsw.Connection(str(self.path))
        rows_of = {table: {id for (id,) in connection.execute(f"SELECT id FROM {table}")} for table in _TEXTS}
        known = set().union(*rows_of.values()) | {
            ref for (ref,) in connection.execute("SELECT ref FROM change_item WHERE op = 'd' AND kind <> 'r'")
        }
        found = []
        places: dict[int, set[int]] = {}
        for project, first, count, data in connection.execute("SELECT project, first, count, data FROM passage_block"):
            for number in range(count):
                text, memory = rows.PASSAGE.unpack_from(data, number * rows.PASSAGE.size)[:2]
                if text:
                    places.setdefault(project, set()).add(first + number)
                    if not {text + project * rows.SPAN, memory + project * rows.SPAN} <= known:
                        found.append(f"passage {first + number} of text {text}")
        for project, term, data in connection.execute("SELECT project, term, data FROM posting"):
            for passage, *_ in rows.POSTING.iter_unpack(data):
                if passage not in places.get(project, ()):
                    found.append(f"{term} in passage {passage}")
        vectors = connection.execute("SELECT id, text FROM vector").fetchall()
        found += [f"vector of text {text}" for _, text in vectors if text not in known]
        bits = {id for (id,) in connection.execute("SELECT id FROM vector_bits")}
        found += [f"half a vector: {id}" for id in bits ^ {id for id, _ in vectors}]
        for table in ("gone", "stale"):
            found += [f"{table}: {id}" for (id,) in connection.execute(f"SELECT id FROM {table}") if id not in known]
        tagged = connection.execute("SELECT memory FROM tag").fetchall()
        found += [f"tag of {id}" for (id,) in tagged if id not in rows_of["memory"]]
        connection.close()
        return found

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
        said = Text(id=1, memory=1, name="", kind="", body=text, session=None, created=0)
        terms = {term for passage in Analysis()([said]) for term in passage.terms}
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


ENGINES: dict[str, type[Engine]] = {
    "sqlite": SqliteEngine,
}
