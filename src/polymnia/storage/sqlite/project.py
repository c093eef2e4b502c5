"""One project of an open file: its number, its counters, and what search reads of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apsw
from msgspec.json import encode

from polymnia.models import Filters, Text
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.statements import SQL

TOUCHED = 4
"""The column of a project's row that every change makes another one."""
EMPTY = (0,) * 8
"""The row of a project that does not exist yet."""


class OpenProject:
    """Where a project stands at one moment. A project that does not exist yet is empty."""

    def __init__(self, connection: apsw.Connection, project: str, row: tuple[int, ...] | None = None) -> None:
        self._db = connection
        self._run: Callable[..., Any] = connection.execute
        self._project_name = project
        row = row or self._run(SQL["project"], (project,)).fetchone() or self._no_project()
        self._project: int = row[0]
        self._seq: int = row[1]
        self._indexed: int = row[2]
        self._texts: int = row[3]
        self._touched: int = row[TOUCHED]
        self._listed: int = row[5]
        self._passages: int = row[6]
        self._edition: int = row[7]
        self._last_change: int | None = None
        self.damage: set[str] = set()
        self._base = self._project * rows.SPAN
        self._top = self._base + rows.SPAN - 1

    def _no_project(self) -> tuple[int, ...]:
        return EMPTY

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


class Searched(OpenProject):
    """A project as search sees it. A text or memory is called by its number: its id within the project."""

    def texts(self, after: int, last: int) -> Iterator[Text]:
        """The searchable texts with numbers above one and up to another, in order."""
        return map(_text, self._run(SQL["texts_between"], (self._base + after, self._base + last)))

    def texts_of(self, numbers: Sequence[int]) -> list[Text]:
        """The searchable texts of these numbers that are there, in order."""
        return list(map(_text, self._run(SQL["texts_among"], (self._base, encode(list(numbers)).decode()))))

    def passages(self, after: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """The indexed passages above a number, block by block."""
        blocks: Iterator[tuple[int, int, bytes]] = self._run(SQL["blocks"], (self._project, after))
        return blocks

    def postings(self, term: str) -> list[bytes]:
        """Where a term stands."""
        return [data for (data,) in self._run(SQL["postings"], (self._project, term))]

    def terms(self, start: str, end: str, limit: int) -> list[str]:
        """Terms of the word index in a range, in order."""
        return [term for (term,) in self._run(SQL["words_starting"], (self._project, start, end, limit))]

    def gone(self) -> list[int]:
        """The numbers of indexed texts that have been deleted."""
        return [id - self._base for (id,) in self._run(SQL["gone"], (self._base, self._top))]

    def stale(self) -> list[int]:
        """The numbers of texts that the word index has passed but does not hold as they are."""
        return [id - self._base for (id,) in self._run(SQL["stale"], (self._base, self._top))]

    def moved(self, change: int) -> list[int]:
        """The numbers of texts that came, went or changed otherwise than by being made, since a change."""
        return [id - self._base for (id,) in self._run(SQL["moved"], (change, self._project))]

    def vectors(self, model: str, after: int, limit: int) -> list[tuple[int, int, int, bytes]]:
        """Vectors that arrived after another one, in the order of arrival."""
        known = self._run(SQL["model"], (model,)).fetchone()
        if known is None:
            return []
        found: list[tuple[int, int, int, bytes]] = self._run(
            SQL["vectors"], (self._project, known[0], after, limit)
        ).fetchall()
        return found

    def halves(self, arrivals: Sequence[int]) -> list[tuple[int, bytes]]:
        """The vectors with these arrival numbers."""
        found: list[tuple[int, bytes]] = self._run(SQL["halves"], (encode(list(arrivals)).decode(),)).fetchall()
        return found

    def vectors_of(self, number: int) -> dict[str, list[bytes]]:
        """The vectors of a memory's texts, model by model."""
        id, found = self._base + number, dict[str, list[bytes]]()
        for ref in (id, *(row for row, _ in sorted(self._run(SQL["texts"], (id,)).fetchall()))):
            for model, half in self._run(SQL["halves_of_text"], (ref,)):
                if half:
                    found.setdefault(model, []).append(half)
        return found

    def observation_vectors(self, numbers: Sequence[int]) -> list[tuple[int, int, str, bytes]]:
        """The vectors of the observations of these memories: the memory's number, which observation, model, vector."""
        found: list[tuple[int, int, str, bytes]] = []
        memory = text = at = -1
        ids = encode([self._base + number for number in numbers]).decode()
        for owner, id, model, half in self._run(SQL["halves_of_observations"], (ids,)):
            if (owner, id) != (memory, text):
                at = at + 1 if owner == memory else 0
                memory, text = owner, id
            if half:
                found.append((owner - self._base, at, model, half))
        return found

    def models(self) -> dict[str, tuple[int, int]]:
        """The models there are vectors of, each with its dimensions and how many vectors there are."""
        return {name: (dimensions, count) for _, name, dimensions, count in self._run(SQL["models"], (self._project,))}

    def matching(self, wanted: Filters, among: Sequence[int] | None = None, limit: int | None = None) -> list[int]:
        """The numbers of the memories that pass the filters, of all or of some; in order, with a limit any so many."""
        from polymnia.storage.sqlite import filters

        statement, values = filters.statement(wanted, self._project, self._base, among, limit)
        found = self._run(statement, values).fetchall()
        if not found and wanted.tags and not self._lists_tags():
            found = self._run(filters.UNLISTED_TAGS + statement, values).fetchall()
        return sorted(id - self._base for (id,) in found)

    def _lists_tags(self) -> bool:
        """Whether the tags of the newest memory that has some are listed."""
        if self._run(SQL["unlisted_tags"], (self._base, self._top)).fetchone() is None:
            return True
        self.damage.add("list of tags")
        return False

    def passes_more(self, wanted: Filters, count: int) -> bool:
        """Whether more than so many memories pass the filters."""
        from polymnia.storage.sqlite import filters

        statement, values = filters.statement(wanted, self._project, self._base, None, 1)
        more = self._run(f"{statement} OFFSET ?", (*values, count)).fetchone() is not None
        if not more and wanted.tags and not self._lists_tags():
            statement = filters.UNLISTED_TAGS + statement
            more = self._run(f"{statement} OFFSET ?", (*values, count)).fetchone() is not None
        return more

    def facets(self, numbers: Sequence[int], limit: int) -> dict[str, list[tuple[str, int]]]:
        """How often each value occurs among these memories, most often first."""
        from polymnia.storage.sqlite import filters

        given = (self._base, encode(list(numbers)).decode(), limit)
        return {facet: self._run(SQL[name], given).fetchall() for facet, name in filters.FACETS.items()}


def _text(row: tuple[Any, ...]) -> Text:
    return Text(
        id=row[0] % rows.SPAN,
        memory=row[1] % rows.SPAN,
        name="" if row[2] == row[10] else row[2],  # a name that is the id says nothing
        kind=row[3],
        body=row[4],
        session=row[5],
        created=row[6],
        tags=tuple(rows.decode(row[7])) if row[7] else (),
        category=row[8],
        summary=row[9],
        bare=bool(row[11]),
        scope=row[12],
    )
