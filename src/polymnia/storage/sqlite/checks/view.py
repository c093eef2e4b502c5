"""What a check sees of a project: its rows as they lie, and where it writes down what it found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec import DecodeError

from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Fact, Spot
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.snapshot import SqliteSnapshot
from polymnia.storage.sqlite.statements import named

STATEMENTS = named("checks", "checks.sql")


class CheckView:
    """One project under examination. Texts are read as bytes: a broken one must not end the check."""

    def __init__(self, snapshot: SqliteSnapshot, project: str | None, asked: CheckRequest, now: int) -> None:
        self.snapshot = snapshot
        self.run = snapshot._run
        self.project = project
        self.asked = asked
        self.now = now
        self.number = snapshot._project
        self.base, self.top = snapshot._base, snapshot._top
        self.result = CheckResult([], {}, {})
        self._lows: dict[str, int] = {}

    def low(self, table: str) -> int:
        """The rows of a table above this id are looked at: all, or the newest where there are very many."""
        if table not in self._lows:
            where = f"FROM {table} WHERE id > ? AND id <= ?"
            newest = f"SELECT id {where} ORDER BY id DESC LIMIT 1 OFFSET ?"
            row = self.run(newest, (self.base, self.top, self.asked.rows)).fetchone()
            self._lows[table] = self.base if row is None else row[0]
            (there,) = self.run(f"SELECT count(*) {where}", (self.base, self.top)).fetchone()
            self.result.looked[f"{table} rows"] = (min(there, self.asked.rows), there)
        return self._lows[table]

    def least(self) -> int:
        """Texts with numbers up to this one are not looked at."""
        return max(self.low("memory"), self.low("observation")) - self.base

    def ask(self, name: str, *values: Any) -> Iterator[Any]:
        """The rows of a statement of the checks."""
        found: Iterator[Any] = self.run(STATEMENTS[name], values)
        return found

    def first(self, name: str, *values: Any) -> Any:
        """The first row of a statement, or None."""
        return self.run(STATEMENTS[name], values).fetchone()

    def rows(self, name: str, table: str, **more: Any) -> Iterator[Any]:
        """The rows a statement finds in the part of a table that is looked at.

        It may use ``:low``, ``:top``, ``:project`` and ``:session``.
        """
        values = {"low": self.low(table), "top": self.top, "project": self.number, "session": self.asked.session}
        found: Iterator[Any] = self.run(STATEMENTS[name], values | more)
        return found

    def find(self, kind: str, table: str, **more: Any) -> None:
        """Write down what the statement of a kind finds: rows of an id, a label and what more there is to say."""
        self.found(kind, [spot(*row) for row in self.rows(kind, table, **more)])

    def found(self, kind: str, spots: Iterable[Spot], count: int | None = None) -> None:
        """Write down what was found, if anything was; the spots beyond the asked number are only counted."""
        spots = list(spots)
        if spots or count:
            shown = tuple(spots[: self.asked.spots])
            self.result.facts.append(Fact(kind, self.project, len(spots) if count is None else count, shown))

    def texts(self) -> set[int]:
        """The numbers of the searchable texts there are, among those that are looked at."""
        ids = (*self.rows("memory_ids", "memory"), *self.rows("text_ids", "observation"))
        return {id - self.base for (id,) in ids}

    def sampled(self, numbers: Sequence[int], what: str) -> list[int]:
        """So many of the numbers, evenly spread, and all where there are not more."""
        count = len(numbers)
        size = min(count, self.asked.sample)
        self.result.looked[what] = (size, count)
        return [numbers[i * count // size] for i in range(size)]

    def label(self, text: int) -> str:
        """The public id of the memory that a text belongs to."""
        row = self.first("uid_of_memory", text) or self.first("uid_of_text", text)
        return str(text - self.base) if row is None else bytes(row[0]).decode("utf-8", "replace")


def spot(id: int, label: object, *detail: Any) -> Spot:
    """A place from the columns of a row."""
    return Spot(id, str(label), detail[0] if len(detail) == 1 else detail or None)


def readable(raw: bytes | None, kind: type) -> tuple[bool, Any]:
    """Whether JSON of a column can be read and is of a kind, and what it says (the raw text where it cannot)."""
    if raw is None:
        return True, kind()
    try:
        value = rows.decode(raw)
    except (DecodeError, UnicodeDecodeError):
        return False, raw.decode("utf-8", "replace")
    return (True, value) if isinstance(value, kind) else (False, raw.decode("utf-8", "replace"))
