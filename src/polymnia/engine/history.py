"""History: the verbs that look back, take back, and delete for good."""

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
    """What a change did to one memory: made, changed, deleted or restored it. One that is gone has no title."""

    how: str
    memory: int
    title: str | None


class HistoryVerbs(Project):
    """Every change is journalled: it can be read, dated and undone; only a purge leaves nothing."""

    def purge(self, names: Iterable[str]) -> int:
        """Remove entities for good, deleted ones too: from store, indexes and journal.

        Cannot be undone; answers how many went.
        """
        given = listed(names)

        def purge(tx: Transaction) -> int:
            ids = list(dict.fromkeys(id for name in given for id in tx.ids_ever(name)))
            tx.purge(ids)
            return len(ids)

        return self._write("purge", purge)

    def undo(self, change: int | None = None) -> Change:
        """Take back a change whole, a cascade of deletes included; the newest one when none is named.

        The undo is a change of its own and can be undone. A change that later ones build on is refused with
        :class:`~polymnia.errors.Conflict`, which names them.
        """
        if change is not None:
            _check_number(change)
        return self._write("undo", lambda tx: tx.undo(change))

    def get(self, name: str, *, at: int | None = None) -> tuple[Record, list[Relation]]:
        """One entity and its relations, now or as they were at a time (microseconds since 1970, UTC)."""
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
        """The whole graph as it was at a time (microseconds since 1970, UTC)."""
        with self.store.read(self.project) as snapshot:
            return Graph(*snapshot.as_of(at))

    def history(self, name: str) -> list[Event]:
        """Everything that happened to the name, oldest first; also when it is deleted by now."""
        with self.store.read(self.project) as snapshot:
            if events := snapshot.history(name):
                return events
            near = nearest(snapshot, [name])
            raise NotFound([name], "Memory", hint="Search for it, or list what there is.", near=near)

    def changes(self, limit: int = 20) -> list[Change]:
        """The newest changes of the project, newest first."""
        page_size(limit)
        with self.store.read(self.project) as snapshot:
            return snapshot.changes(limit)

    def deeds(self, changes: Sequence[Change]) -> dict[int, list[Deed]]:
        """What each of these changes did to which memory. A change of relations alone did nothing to one."""
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
        """One change of the project by its number."""
        _check_number(number)
        with self.store.read(self.project) as snapshot:
            return snapshot.change(number)


def _not_then(name: str, at: int, events: Sequence[Event]) -> NotFound:
    """A memory that was not there yet at a time, or was deleted then."""
    before = [event.change.at for event in events if event.change.at <= at]
    when = f"deleted at {moment(before[-1])}" if before else f"created at {moment(events[0].change.at)}"
    return NotFound(
        [name], message=f"{name!r} did not exist at {moment(at)}",
        hint=f"It was {when}; ask for a time {'before' if before else 'after'} that.",
    )  # fmt: skip


def _check_number(change: int) -> None:
    if not 0 < change < 1 << 63:
        raise NotFound([str(change)], "Change", hint="`polymnia changes` lists their numbers.")
