"""What a check reads of a project, and where it records its findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from msgspec import DecodeError

from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Fact, Spot
from polymnia.storage import rows
from polymnia.storage.snapshot import ProjectSnapshot


class CheckView:
    """One project being checked. Texts are read as bytes: a broken one must not end the check."""

    def __init__(self, snapshot: ProjectSnapshot, project: str | None, request: CheckRequest, now: int) -> None:
        self.snapshot = snapshot
        self.run = snapshot._run
        self.project = project
        self.request = request
        self.now = now
        self.number = snapshot._project
        self.base, self.top = snapshot._base, snapshot._top
        self.result = CheckResult([], {}, {})
        self._lows: dict[str, int] = {}

    def low(self, table: str) -> int:
        """The id above which the rows of a table are examined: all, or the newest ones of a very large table."""
        if table not in self._lows:
            row = self.first(f"newest_{table}", self.base, self.top, self.request.rows)
            self._lows[table] = self.base if row is None else row[0]
            (total,) = self.first(f"count_{table}", self.base, self.top)
            self.result.examined[f"{table} rows"] = (min(total, self.request.rows), total)
        return self._lows[table]

    def lowest(self) -> int:
        """The number up to which texts are not examined."""
        return max(self.low("memory"), self.low("observation")) - self.base

    def query(self, name: str, *values: Any) -> Iterator[Any]:
        """The rows of a statement."""
        return iter(self.run.check(name, values))

    def first(self, name: str, *values: Any) -> Any:
        """The first row of a statement, or None."""
        return self.run.check(name, values).fetchone()

    def rows(self, name: str, table: str, **more: Any) -> Iterator[Any]:
        """The rows a statement finds among the examined rows of a table, given by ``:low`` and ``:top``."""
        values = {"low": self.low(table), "top": self.top, "project": self.number, "session": self.request.session}
        return iter(self.run.check(name, values | more))

    def find(self, kind: str, table: str, **more: Any) -> None:
        """Record the rows that the statement of a kind finds: each an id, a label and details."""
        rows = self.rows(kind, table, **more)
        details = ((id, str(label), rest[0] if len(rest) == 1 else rest or None) for id, label, *rest in rows)
        self.found(kind, [Spot(*one) for one in details])

    def found(self, kind: str, spots: Iterable[Spot], count: int | None = None) -> None:
        """Record a finding, unless it is empty; spots beyond the requested number are only counted."""
        spots = list(spots)
        if spots or count:
            shown = tuple(spots[: self.request.spots])
            self.result.facts.append(Fact(kind, self.project, len(spots) if count is None else count, shown))

    def texts(self) -> set[int]:
        """The numbers of the searchable texts, among the examined rows."""
        ids = (*self.rows("memory_ids", "memory"), *self.rows("text_ids", "observation"))
        return {id - self.base for (id,) in ids}

    def sampled(self, numbers: Sequence[int], what: str) -> list[int]:
        """An evenly spread sample of the numbers, of the requested size."""
        count = len(numbers)
        size = min(count, self.request.sample)
        self.result.examined[what] = (size, count)
        return [numbers[i * count // size] for i in range(size)]

    def label(self, text: int) -> str:
        """The public id of the memory that a text belongs to."""
        row = self.first("uid_of_memory", text) or self.first("uid_of_text", text)
        return str(text - self.base) if row is None else bytes(row[0]).decode("utf-8", "replace")


def parse(raw: bytes | None, kind: type) -> tuple[bool, Any]:
    """Whether a column is valid JSON of a type, and its value (the raw text if it is not)."""
    if raw is None:
        return True, kind()
    with suppress(DecodeError, UnicodeDecodeError):
        value = rows.decode(raw)
        if isinstance(value, kind):
            return True, value
    return False, raw.decode("utf-8", "replace")
