"""One project of an open file: its number, its counters, and the ids that are its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import apsw

from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.statements import SQL

__all__ = ["OpenProject"]


class OpenProject:
    """Where a project stands at one moment. A project that does not exist yet is empty."""

    def __init__(self, connection: apsw.Connection, project: str) -> None:
        self._db = connection
        self._run: Callable[..., Any] = connection.execute
        self._project_name = project
        row = self._run(SQL["project"], (project,)).fetchone()
        if row is None:
            row = self._no_project()
        self._project: int = row[0]
        self._seq: int = row[1]
        self._indexed: int = row[2]
        self._texts: int = row[3]
        self._touched: int = row[4]
        self._listed: int = row[5]
        self._passages: int = row[6]
        self._edition: int = row[7]
        self._last_change: int | None = None
        self.damage: set[str] = set()
        self._base = self._project * rows.SPAN
        self._top = self._base + rows.SPAN - 1

    def _no_project(self) -> tuple[int, ...]:
        return (0, 0, 0, 0, 0, 0, 0, 0)

    def size(self) -> int:
        """About how many texts there are, at least 1."""
        return max(1, self._texts)

    @property
    def stamp(self) -> int:
        """A number that another change of the project makes another one."""
        return self._touched

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """The project, its last row, its last indexed text, and the last change of the store."""
        if self._last_change is None:
            self._last_change = self._run(SQL["last_change"]).fetchone()[0]
        return self._project, self._seq, self._listed, self._last_change

    @property
    def edition(self) -> tuple[int, int]:
        """How often the word index was begun anew, and the number of its last passage."""
        return self._edition, self._passages
