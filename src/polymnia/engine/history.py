"""History: reading, undoing and permanently deleting what happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from polymnia.engine.content import SHORTEST_ID, new_item_id, page_size, title_of
from polymnia.engine.graph import listed, nearest
from polymnia.engine.ports import BACKGROUND
from polymnia.engine.project import Project
from polymnia.engine.text.calendar import moment
from polymnia.errors import Fault, Invalid, NotFound
from polymnia.models import Change, Event, Graph, Record, Relation

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction


_MOST_UNDONE = 1_000
"""Changes that one call may undo."""


class ChangeEffect(NamedTuple):
    """What a change did to one memory; ``record`` is as it is now, or as it was when it was deleted."""

    how: str
    record: Record


class ChangeEffects(NamedTuple):
    """A change, what it did to memories (the first so many of them), and how many it touched in all."""

    change: Change
    effects: list[ChangeEffect]
    total: int


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

    def deleted_name(self, text: str) -> str | None:
        """The name of a deleted memory, given whole or by the beginning of its id; None if it is not one alone."""
        with self.store.read(self.project) as snapshot:
            names = [*snapshot.deleted_starting(text, 2), *snapshot.deleted_starting(new_item_id(text), 2)]
        return text if text in names else names[0] if len(names) == 1 and len(text) >= SHORTEST_ID else None

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

    def undoable(
        self, *, change: int | None = None, since: int | None = None, session: str | None = None, shown: int = 10
    ) -> list[ChangeEffects]:
        """The changes that an undo would take back, newest first, with what each of them did; nothing is changed.

        One change by its number, all that were made after a time, all that touched memories of a session, or without
        any of these the newest one. Undos themselves, and what was undone already, are passed over.
        """
        with self.store.read(self.project) as snapshot:
            if change is not None:
                _check_number(change)
                one = snapshot.change(change)
                if one is None:
                    raise NotFound([str(change)], "Change", hint="Leave it out to undo the newest change.")
                found = [one]
            elif since is not None or session is not None:
                found = snapshot.changes_since(since or 0, _MOST_UNDONE + 1)
            else:
                found = snapshot.changes(_MOST_UNDONE)
            if change is None:
                found = [one for one in found if one.undoes is None and one.undone_by is None]
                found = [one for one in found if one.action != BACKGROUND]
                if session is not None:
                    found = [one for one in found if any(t.session == session for t in snapshot.effects(one.id))]
                if since is None and session is None:
                    found = found[:1]
            if len(found) > _MOST_UNDONE:
                hint = "Name a later time, or restore a backup."
                raise Invalid(f"More than {_MOST_UNDONE:,} changes would have to be undone", hint=hint)
            return [ChangeEffects(one, *_effects(snapshot, one.id, shown)) for one in found]

    def undo_all(self, changes: Sequence[int]) -> list[Change]:
        """Undo several changes, newest first; if one of them cannot be undone, none of them is."""
        done: list[Change] = []
        try:
            for number in sorted(changes, reverse=True):
                done.append(self.undo(number))
        except Fault:
            for one in reversed(done):
                self.undo(one.undone_by)
            raise
        return done

    def changed_since(self, at: int, *, limit: int = 100, shown: int = 10) -> list[ChangeEffects]:
        """The changes after a time, newest first, with what each did to which memories."""
        with self.store.read(self.project) as snapshot:
            found = [one for one in snapshot.changes_since(at, limit) if one.action != BACKGROUND]
            return [ChangeEffects(one, *_effects(snapshot, one.id, shown)) for one in found]

    def change(self, number: int) -> Change | None:
        """Return a change of the project by its number; None if there is none."""
        _check_number(number)
        with self.store.read(self.project) as snapshot:
            return snapshot.change(number)


def _effects(snapshot: Snapshot, change: int, shown: int) -> tuple[list[ChangeEffect], int]:
    touches = snapshot.effects(change)
    there = {record.id: record for record in snapshot.load([one.memory for one in touches[:shown]])}
    found = []
    for one in touches[:shown]:
        record = there.get(one.memory)
        if record is None:
            record = next((past for _, past in snapshot.versions(one.memory)), None)
        if record is not None:  # it was deleted for good
            found.append(ChangeEffect(one.how, record))
    return found, len(touches)


def _not_then(name: str, at: int, events: Sequence[Event]) -> NotFound:
    """The error for a memory that did not exist yet, or no longer, at a time."""
    before = [event.change.at for event in events if event.change.at <= at]
    when = f"deleted at {moment(before[-1])}" if before else f"created at {moment(events[0].change.at)}"
    hint = f"It was {when}; ask for a time {'before' if before else 'after'} that."
    return NotFound([name], message=f"{name!r} did not exist at {moment(at)}", hint=hint)


def _check_number(change: int) -> None:
    if not 0 < change < 1 << 63:
        raise NotFound([str(change)], "Change", hint="`polymnia changes` lists their numbers.")
