"""One project of an open database, for reading and for writing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from polymnia.models import Filters, Record
from polymnia.storage import rows
from polymnia.storage.postgres.grams import GramIndex, GramSearch
from polymnia.storage.project import SearchReads
from polymnia.storage.snapshot import FEW, ProjectSnapshot, SmallProject
from polymnia.storage.statements import StatementRunner
from polymnia.storage.transaction import ProjectTransaction

if TYPE_CHECKING:
    from polymnia.storage.postgres.connections import PostgresStatements


class _MetadataFilters(SearchReads):
    """Compares metadata outside the database, which would lose the difference between 1 and 1.0, or refuse a NUL."""

    def matching(self, requested: Filters, among: Sequence[int] | None = None, limit: int | None = None) -> list[int]:
        if not requested.metadata:
            return super().matching(requested, among, limit)
        found = self._with_metadata(requested, super().matching(requested, among))
        return found if limit is None else found[:limit]

    def passes_more(self, requested: Filters, count: int) -> bool:
        if not requested.metadata:
            return super().passes_more(requested, count)
        return len(self.matching(requested)) > count

    def _with_metadata(self, requested: Filters, numbers: list[int]) -> list[int]:
        from polymnia.storage.postgres.filters import passes

        ids = self._run.array([self._base + number for number in numbers])
        return [
            id - self._base
            for id, metadata in self._run("metadata_of", (self._project, ids))
            if passes(rows.decode(metadata), requested.metadata)
        ]


class _OneStatement(ProjectSnapshot):
    """Loads a few memories with their observations in one round trip."""

    def _load_few(self, ids: list[int]) -> list[Record]:
        return _records(self._run.few("few_memories", self._project, ids))


class PostgresSnapshot(_OneStatement, GramSearch, _MetadataFilters, ProjectSnapshot):
    """A consistent view of one project. Memories asked for by name are loaded at once: they are read next."""

    def __init__(self, run: StatementRunner, project: str, row: tuple[int, ...] | None = None) -> None:
        super().__init__(run, project, row)
        self._named: dict[int, Record] = {}

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids by name, and the memories with them."""
        if len(names) > FEW:
            return super().ids(names)
        found = _records(self._run.few("few_memories_named", self._project, names))
        self._named.update((record.id, record) for record in found)
        return {record.name: record.id for record in found}

    def _load_few(self, ids: list[int]) -> list[Record]:
        if all(id in self._named for id in ids):
            return [self._named[id] for id in ids]
        return super()._load_few(ids)


def _records(found: Iterable[tuple[Any, ...]]) -> list[Record]:
    return [rows.record(row, row[-1]) for row in sorted(found, key=itemgetter(0))]


class PostgresSmallProject(SmallProject, PostgresSnapshot):
    """A consistent view of a small project, most of it cached."""


class PostgresTransaction(_OneStatement, GramIndex, _MetadataFilters, ProjectTransaction):
    """One atomic unit of change."""

    def was_made(self, run: PostgresStatements, xid: str) -> bool:
        """Whether this change, which has ended, was committed: asked on another connection."""
        if self.changed:
            # After a crash the server gives the numbers of lost transactions to others; the journal tells them apart.
            return bool(run("has_change", (self._project, self._first, self._seq, self._at)).fetchone())
        return bool(run("transaction_status", (xid,)).fetchone()[0] == "committed")
