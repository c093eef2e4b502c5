"""History: the verbs that look back, take back, and delete for good."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from polymnia.engine.graph import nearest
from polymnia.engine.items import title_of
from polymnia.engine.paging import size
from polymnia.engine.ports import Transaction
from polymnia.engine.text.calendar import moment
from polymnia.engine.verbs.base import Verbs, listed
from polymnia.errors import NotFound
from polymnia.models import Change, Event, Graph, Record, Relation


class Deed(NamedTuple):
    """What a change did to one memory: made, changed, deleted or restored it. One that is gone has no title."""

    how: str
    memory: int
    title: str | None


class HistoryVerbs(Verbs):
    """Every change is journalled: it can be read, dated and undone; only a purge leaves nothing."""

    def purge(self, names: Iterable[str]) -> int:
        """Remove entities for good, deleted ones too: from store, indexes and journal.

        Cannot be undone; answers how many went.
        """
        going = listed(names)

        def purge(tx: Transaction) -> int:
            ids = list(dict.fromkeys(id for name in going for id in tx.ids_ever(name)))
            tx.purge(ids)
            return len(ids)

        return self._write("purge", purge)

    def undo(self, change: int | None = None) -> Change:
        """Take back a change whole, a cascade of deletes included; the newest one when none is named.

        The undo is a change of its own and can be undone. A change that later ones build on is refused with
        :class:`~polymnia.errors.Conflict`, which names them.
        """
        if change is not None:
            _known_number(change)
        return self._write("undo", lambda tx: tx.undo(change))

    def get(self, name: str, *, at: int | None = None) -> tuple[Record, list[Relation]]:
        """One entity and its relations, now or as they were at a time (microseconds since 1970, UTC)."""
        with self.store.read(self.project) as snapshot:
            if at is None:
                ids = snapshot.ids([name])
                records = snapshot.load(list(ids.values())) if ids else []
                relations = snapshot.relations_of([name]) if ids else []
            else:
                records, relations = snapshot.as_of(at, name)
            near = [] if records or at is not None else nearest(snapshot, [name])
            events = [] if records or at is None else snapshot.history(name)
        if not records and at is not None and events:
            raise _not_then(name, at, events)
        if not records:
            raise NotFound([name], near=near)
        if at is None:
            self._read_by([records[0].id], opened=True)
        return records[0], relations

    def as_of(self, at: int) -> Graph:
        """The whole graph as it was at a time (microseconds since 1970, UTC)."""
        with self.store.read(self.project) as snapshot:
            return Graph(*snapshot.as_of(at))

    def history(self, name: str) -> list[Event]:
        """Everything that happened to the name, oldest first; also when it is deleted by now."""
        with self.store.read(self.project) as snapshot:
            events = snapshot.history(name)
            near = [] if events else nearest(snapshot, [name])
        if not events:
            raise NotFound([name], "Memory", hint="Search for it, or list what there is.", near=near)
        return events

    def changes(self, limit: int = 20) -> list[Change]:
        """The newest changes of the project, newest first."""
        size(limit)
        with self.store.read(self.project) as snapshot:
            return snapshot.changes(limit)

    def deeds(self, changes: Sequence[Change]) -> dict[int, list[Deed]]:
        """What each of these changes did to which memory. A change of relations alone did nothing to one."""
        told: dict[int, list[Deed]] = {change.id: [] for change in changes}
        numbers = {(change.at, change.who, change.action): change.id for change in changes}
        if not changes:
            return told
        times = [change.at for change in changes]
        with self.store.read(self.project) as snapshot:
            done = [
                one for one in snapshot.touches(min(times), max(times) + 1) if (one.at, one.who, one.action) in numbers
            ]
            titles = {record.id: title_of(record) for record in snapshot.load(sorted({one.memory for one in done}))}
        for one in done:
            told[numbers[one.at, one.who, one.action]].append(Deed(one.how, one.memory, titles.get(one.memory)))
        return told

    def change(self, number: int) -> Change | None:
        """One change of the project by its number."""
        _known_number(number)
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


def _known_number(change: int) -> None:
    if not 0 < change < 1 << 63:
        raise NotFound([str(change)], "Change", hint="`polymnia changes` lists their numbers.")
