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

_LOW = "SELECT id FROM {table} WHERE id > ? AND id <= ? ORDER BY id DESC LIMIT 1 OFFSET ?"
_COUNT = "SELECT count(*) FROM {table} WHERE id > ? AND id <= ?"


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
        self.facts: list[Fact] = []
        self.looked: dict[str, tuple[int, int]] = {}
        self.passed_over: dict[str, str] = {}
        self._lows: dict[str, int] = {}

    @property
    def checked(self) -> CheckResult:
        """What was found."""
        return CheckResult(self.facts, self.looked, self.passed_over)

    def low(self, table: str) -> int:
        """The rows of a table above this id are looked at: all, or the newest where there are very many."""
        if table not in self._lows:
            row = self.run(_LOW.format(table=table), (self.base, self.top, self.asked.rows)).fetchone()
            self._lows[table] = self.base if row is None else row[0]
            (there,) = self.run(_COUNT.format(table=table), (self.base, self.top)).fetchone()
            self.looked[f"{table} rows"] = (min(there, self.asked.rows), there)
        return self._lows[table]

    def ask(self, name: str, *given: Any) -> Any:
        """The rows of a statement of the checks."""
        return self.run(STATEMENTS[name], given)

    def rows(self, name: str, table: str, **more: Any) -> Iterator[Any]:
        """The rows a statement finds in the part of a table that is looked at.

        It may use ``:low``, ``:top``, ``:project`` and ``:session``.
        """
        given = {"low": self.low(table), "top": self.top, "project": self.number, "session": self.asked.session}
        found: Iterator[Any] = self.run(STATEMENTS[name], given | more)
        return found

    def found(self, kind: str, spots: Iterable[Spot], count: int | None = None) -> None:
        """Write down what was found, if anything was; the spots beyond the asked number are only counted."""
        kept: list[Spot] = []
        number = 0
        for spot in spots:
            number += 1
            if number <= self.asked.spots:
                kept.append(spot)
        if number or count:
            self.facts.append(Fact(kind, self.project, number if count is None else count, tuple(kept)))

    def texts(self) -> set[int]:
        """The numbers of the searchable texts there are, among those that are looked at."""
        found = (*self.rows("memory_ids", "memory"), *self.rows("text_ids", "observation"))
        return {id - self.base for (id,) in found}

    def least(self) -> int:
        """Texts with numbers up to this one are not looked at."""
        return max(self.low("memory"), self.low("observation")) - self.base

    def sampled(self, numbers: Sequence[int], what: str) -> list[int]:
        """So many of the numbers, evenly spread, and all where there are not more."""
        count = len(numbers)
        taken = list(numbers)
        if count > self.asked.sample:
            taken = [numbers[i * count // self.asked.sample] for i in range(self.asked.sample)]
        self.looked[what] = (len(taken), count)
        return taken

    def label(self, text: int) -> str:
        """The public id of the memory that a text belongs to."""
        row = self.ask("uid_of_memory", text).fetchone() or self.ask("uid_of_text", text).fetchone()
        return str(text - self.base) if row is None else bytes(row[0]).decode("utf-8", "replace")


def readable(raw: bytes | None, kind: type) -> tuple[bool, Any]:
    """Whether JSON of a column can be read and is of a kind, and what it says (the raw text where it cannot)."""
    if raw is None:
        return True, kind()
    try:
        value = rows.decode(raw)
    except (DecodeError, UnicodeDecodeError):
        return False, raw.decode("utf-8", "replace")
    return (True, value) if isinstance(value, kind) else (False, raw.decode("utf-8", "replace"))
