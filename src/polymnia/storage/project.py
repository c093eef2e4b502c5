"""One project of an open store: its counters, and what search reads of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from polymnia.models import Filters, Text
from polymnia.storage import rows
from polymnia.storage.statements import StatementRunner

TOUCHED = 4
"""The column of a project's row that changes with every change."""
EMPTY = (0,) * 8
"""The row of a project that does not exist yet."""


class OpenProject:
    """The counters of a project. One that does not exist yet is empty."""

    def __init__(self, run: StatementRunner, project: str, row: tuple[int, ...] | None = None) -> None:
        self._run = run
        self._project_name = project
        counters: tuple[int, ...] = row or self._run("project", (project,)).fetchone() or self._no_project()
        # The last rows in the substring index and in the word index are _indexed and _listed.
        self._project, self._seq, self._indexed, self._texts = counters[:4]
        self._touched, self._listed, self._passages, self._edition = counters[TOUCHED:]
        self._last_change: int | None = None
        self.damage: set[str] = set()
        self._base = self._project * rows.SPAN
        self._top = self._base + rows.SPAN - 1

    def _no_project(self) -> tuple[int, ...]:
        return EMPTY

    def size(self) -> int:
        return max(1, self._texts)

    @property
    def stamp(self) -> int:
        return self._touched

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        if self._last_change is None:
            self._last_change = int(self._run("last_change", (self._project,)).fetchone()[0])
        return self._project, self._seq, self._listed, self._last_change

    @property
    def edition(self) -> tuple[int, int]:
        return self._edition, self._passages


class SearchReads(OpenProject):
    """What search reads of a project. A text or memory is identified by its number: its id within the project."""

    def texts(self, after: int, last: int) -> Iterator[Text]:
        return map(_text, self._run("texts_between", (self._base + after, self._base + last)))

    def texts_of(self, numbers: Sequence[int]) -> list[Text]:
        return list(map(_text, self._run("texts_among", (self._base, self._run.array(numbers)))))

    def passages(self, after: int = 0) -> Iterator[tuple[int, int, bytes]]:
        return iter(self._run("blocks", (self._project, after)))

    def postings(self, term: str) -> list[bytes]:
        return [data for (data,) in self._run("postings", (self._project, term))]

    def terms(self, start: str, end: str, limit: int) -> list[str]:
        return [term for (term,) in self._run("words_starting", (self._project, start, end, limit))]

    def deleted_texts(self) -> list[int]:
        return [id - self._base for (id,) in self._run("gone", (self._base, self._top))]

    def stale(self) -> list[int]:
        return [id - self._base for (id,) in self._run("stale", (self._base, self._top))]

    def changed_texts(self, change: int) -> list[int]:
        return [id - self._base for (id,) in self._run("changed_texts", (change, self._project))]

    def vectors(self, model: str, after: int, limit: int) -> list[tuple[int, int, int, bytes]]:
        known = self._run("model", (model,)).fetchone()
        if known is None:
            return []
        found = self._run("vectors", (self._project, known[0], after, limit))
        return list(found)

    def halves(self, arrivals: Sequence[int]) -> list[tuple[int, bytes]]:
        return list(self._run("halves", (self._project, self._run.array(arrivals))))

    def vectors_of(self, number: int) -> dict[str, list[bytes]]:
        id, found = self._base + number, dict[str, list[bytes]]()
        for ref in (id, *(row for row, _ in sorted(self._run("texts", (id,)).fetchall()))):
            for model, half in self._run("halves_of_text", (ref,)):
                if half:
                    found.setdefault(model, []).append(half)
        return found

    def observation_vectors(self, numbers: Sequence[int]) -> list[tuple[int, int, str, bytes]]:
        """The vectors of the observations of these memories: the memory's number, which observation, model, vector."""
        found: list[tuple[int, int, str, bytes]] = []
        memory = text = at = -1
        ids = self._run.array([self._base + number for number in numbers])
        for owner, id, model, half in self._run("halves_of_observations", (self._project, ids)):
            if (owner, id) != (memory, text):
                at = at + 1 if owner == memory else 0
                memory, text = owner, id
            if half:
                found.append((owner - self._base, at, model, half))
        return found

    def models(self) -> dict[str, tuple[int, int]]:
        return {name: (dimensions, count) for _, name, dimensions, count in self._run("models", (self._project,))}

    def matching(self, requested: Filters, among: Sequence[int] | None = None, limit: int | None = None) -> list[int]:
        from polymnia.storage import filters

        statement, values = filters.statement(self._run.filters, requested, self._project, self._base, among, limit)
        return sorted(id - self._base for (id,) in self._filtered(requested, statement, values))

    def _filtered(self, requested: Filters, statement: str, values: tuple[Any, ...]) -> list[tuple[int]]:
        found: list[tuple[int]] = self._run.text(statement, values).fetchall()
        if not found and requested.tags and not self._has_tag_rows():
            found = self._run.text(self._run.filters.listed_tags + statement, values).fetchall()
        return found

    def _has_tag_rows(self) -> bool:
        """Whether the tags of the newest tagged memory are in the table of tags."""
        if self._run("unlisted_tags", (self._base, self._top)).fetchone() is None:
            return True
        self.damage.add("list of tags")
        return False

    def passes_more(self, requested: Filters, count: int) -> bool:
        from polymnia.storage import filters

        statement, values = filters.statement(self._run.filters, requested, self._project, self._base, None, 1)
        return bool(self._filtered(requested, f"{statement} OFFSET ?", (*values, count)))

    def facets(self, numbers: Sequence[int], limit: int) -> dict[str, list[tuple[str, int]]]:
        from polymnia.storage import filters

        values = (self._base, self._run.array(numbers), limit)
        return {facet: self._run(name, values).fetchall() for facet, name in filters.FACETS.items()}


def _text(row: tuple[Any, ...]) -> Text:
    id, memory, name, kind, body, session, created, tags, category, summary, uid, bare, scope = row
    if name == uid:
        name = ""  # an id is not worth searching
    return Text(
        id=id % rows.SPAN, memory=memory % rows.SPAN, name=name, kind=kind, body=body, session=session, created=created,
        tags=tuple(rows.decode(tags)) if tags else (), category=category, summary=summary, bare=bool(bare), scope=scope,
    )  # fmt: skip
