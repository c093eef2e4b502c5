"""History: reading, undoing and permanently deleting what happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from polymnia.engine.content import page_size, title_of
from polymnia.engine.graph import listed, nearest
from polymnia.engine.project import Project
from polymnia.engine.text.calendar import moment
from polymnia.errors import NotFound
from polymnia.models import Change, Event, Graph, Record, Relation

if TYPE_CHECKING:
    from polymnia.engine.ports import Transaction


class Deed(NamedTuple):
    """What a change did to one memory: made, changed, deleted or restored it. A deleted memory has no title."""

    how: str
    memory: int
    title: str | None


class HistoryVerbs(Project):
    """Read and undo journalled changes, and see the past; only a purge leaves no trace."""

    def purge(self, names: Iterable[str]) -> int:
        """Permanently delete entities, including deleted ones, from store, indexes and journal.

        Cannot be undone. Returns how many were removed.
        """
        requested = listed(names)

        def purge(tx: Transaction) -> int:
            ids = list(dict.fromkeys(id for name in requested for id in tx.ids_ever(name)))
            tx.purge(ids)
            return len(ids)

        return self._write("purge", purge)

    def undo(self, change: int | None = None) -> Change:
        """Undo a change completely, including cascaded deletes; by default the newest one.

        The undo is itself a change and can be undone. If later changes build on the change, raises
        :class:`~polymnia.errors.Conflict`, which names them.
        """
        if change is not None:
            _check_number(change)
        return self._write("undo", lambda tx: tx.undo(change))

    def get(self, name: str, *, at: int | None = None) -> tuple[Record, list[Relation]]:
        """Return an entity and its relations, now or as they were at a time (microseconds since 1970, UTC)."""
        with self.store.read(self.project) as snapshot:
            if at is None:
                records = snapshot.load(list(snapshot.ids([name]).values()))
                relations = snapshot.relations_of([name]) if records else []
            else:
                records, relations = snapshot.as_of(at, name)
                if not records and (events := snapshot.history(name)):
                    raise _not_then(name, at, events)
            if not records:
                raise NotFound([name], near=[] if at is not None else nearest(snapshot, [name]))
        if at is None:
            self._count_reads([records[0].id], opened=True)
        return records[0], relations

    def as_of(self, at: int) -> Graph:
        """Return the whole graph as it was at a time (microseconds since 1970, UTC)."""
        with self.store.read(self.project) as snapshot:
            return Graph(*snapshot.as_of(at))

    def history(self, name: str) -> list[Event]:
        """Return everything that happened to a name, oldest first, even if it has been deleted."""
        with self.store.read(self.project) as snapshot:
            if events := snapshot.history(name):
                return events
            near = nearest(snapshot, [name])
            raise NotFound([name], "Memory", hint="Search for it, or list what there is.", near=near)

    def changes(self, limit: int = 20) -> list[Change]:
        """Return the latest changes of the project, newest first."""
        page_size(limit)
        with self.store.read(self.project) as snapshot:
            return snapshot.changes(limit)

    def deeds(self, changes: Sequence[Change]) -> dict[int, list[Deed]]:
        """Return what each change did to which memories, by change number; empty for a change of relations alone."""
        deeds: dict[int, list[Deed]] = {change.id: [] for change in changes}
        numbers = {(change.at, change.who, change.action): change.id for change in changes}
        if not changes:
            return deeds
        times = [change.at for change in changes]
        with self.store.read(self.project) as snapshot:
            touches = [
                one for one in snapshot.touches(min(times), max(times) + 1) if (one.at, one.who, one.action) in numbers
            ]
            titles = {record.id: title_of(record) for record in snapshot.load(sorted({one.memory for one in touches}))}
        for one in touches:
            deeds[numbers[one.at, one.who, one.action]].append(Deed(one.how, one.memory, titles.get(one.memory)))
        return deeds

    def change(self, number: int) -> Change | None:
        """Return a change of the project by its number; None if there is none."""
        _check_number(number)
        with self.store.read(self.project) as snapshot:
            return snapshot.change(number)


def _not_then(name: str, at: int, events: Sequence[Event]) -> NotFound:
    """The error for a memory that did not exist yet, or no longer, at a time."""
    before = [event.change.at for event in events if event.change.at <= at]
    when = f"deleted at {moment(before[-1])}" if before else f"created at {moment(events[0].change.at)}"
    hint = f"It was {when}; ask for a time {'before' if before else 'after'} that."
    return NotFound([name], message=f"{name!r} did not exist at {moment(at)}", hint=hint)


def _check_number(change: int) -> None:
    if not 0 < change < 1 << 63:
        raise NotFound([str(change)], "Change", hint="`polymnia changes` lists their numbers.")
