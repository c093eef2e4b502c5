"""History: reading, undoing and permanently deleting what happened."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from polymnia.engine.content import as_draft, find_ids, new_item_id, page_size, passes, title_of
from polymnia.engine.graph import listed, nearest
from polymnia.engine.ports import BACKGROUND
from polymnia.engine.project import Project
from polymnia.engine.text.calendar import moment
from polymnia.errors import Conflict, Fault, Invalid, NotFound, Unavailable
from polymnia.models import SHORTEST_ID, Change, Event, Filters, Graph, Record, Relation, RelationTouch

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction


_MOST_UNDONE = 1_000
"""Changes that one call may undo."""
_PAGE = 200  # changes that are read together
_DELETED = 100  # deleted memories whose titles are looked up
_MOST_SHOWN = 200  # memories of one change that are gone on with
_MOST_COMPARED = 2_000  # changes between two moments that are compared


class ChangeEffect(NamedTuple):
    """What a change did to one memory: as it was ``before`` (None: not there), and as the change left it, ``after``."""

    how: str
    before: Record | None
    after: Record | None


class ChangeEffects(NamedTuple):
    """A change, what it did to memories (the first so many of them), how many it touched in all, and to relations.

    ``final`` is a change that cannot be undone, since what it did was deleted for good.
    """

    change: Change
    effects: list[ChangeEffect]
    total: int
    relations: Sequence[RelationTouch] = ()
    final: bool = False


class Comparison(NamedTuple):
    """What a project has at one moment and not at an earlier one.

    ``changes`` were made between them. ``total`` counts the memories they made, deleted or changed; where there are
    more than were asked for (``cut``), the others are left out.
    """

    changes: int
    made: list[Record]
    deleted: list[Record]
    changed: list[tuple[Record, Record]]
    total: int
    cut: bool


class _Tried(Exception):
    """Takes back what was only tried."""


class Deed(NamedTuple):
    """What a change did to one memory: made, changed, deleted or restored it.

    Of very many deleted memories only some have a title, and none of those that were purged.
    """

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

    def changes(self, limit: int = 20, before: int | None = None) -> list[Change]:
        """Return the latest changes of the project, or the latest before a change, newest first."""
        page_size(limit)
        with self.store.read(self.project) as snapshot:
            return snapshot.changes(limit, before)

    def versions(self, id: str) -> tuple[list[tuple[Change, Record]], Change | None]:
        """A memory as each change left it, newest first, and the change that deleted it, if it is not there any more.

        It is found by its id, its name, or the beginning of its id; a deleted one by its whole id or the name it had.
        """
        with self.store.read(self.project) as snapshot:
            number = _ever(snapshot, id)
            states = snapshot.versions(number)
            there = bool(snapshot.load([number]))
            events = () if there else reversed(snapshot.history(states[0][1].name))
            return states, next((event.change for event in events if event.deleted), None)

    def restore_version(self, id: str, change: int) -> Record:
        """Set a memory back to what a change had left, be it there or deleted; the versions between stay."""
        _check_number(change)

        def restore(tx: Transaction) -> Record:
            number = _ever(tx, id)
            then = next((record for by, record in tx.versions(number) if by.id == change), None)
            if then is None:
                raise NotFound([str(change)], "Version", hint="The versions of a memory name their changes.")
            if not tx.load([number]):
                tx.restore_record(number)
            (now,) = tx.load([number])
            if _without_version(now) != _without_version(then):
                tx.replace_record(number, replace(as_draft(then), name=now.name))
            return tx.load([number])[0]

        return self._write("restore_version", restore)

    def compare(self, start: int, end: int, *, limit: int = 200) -> Comparison:
        """What was made, deleted and changed between two times; more than 2,000 changes are refused."""
        made, deleted, changed = list[Record](), list[Record](), list[tuple[Record, Record]]()
        with self.store.read(self.project) as snapshot:
            later = snapshot.changes_since(start, _MOST_COMPARED + 1)
            found = [one for one in reversed(later) if one.at <= end]
            if len(later) > _MOST_COMPARED:
                hint = "Compare moments that are nearer to each other, and to now."
                raise Invalid(f"More than {_MOST_COMPARED:,} changes were made since then", field="from", hint=hint)
            touched: dict[int, list[str]] = {}
            for one in found:
                for touch in snapshot.effects(one.id):
                    touched.setdefault(touch.memory, []).append(touch.how)
            ends = {
                memory: (how[0] not in ("made", "restored"), how[-1] != "deleted") for memory, how in touched.items()
            }
            ends = {memory: both for memory, both in ends.items() if any(both)}
            for memory, (was, stays) in list(ends.items())[:limit]:
                states = snapshot.versions(memory)
                before = next((record for by, record in states if by.at <= start), None) if was else None
                after = next((record for by, record in states if by.at <= end), None) if stays else None
                if before is None and after is not None:
                    made.append(after)
                elif before is not None and after is None:
                    deleted.append(before)
                elif before is not None and after is not None and _without_version(before) != _without_version(after):
                    changed.append((before, after))
        return Comparison(len(found), made, deleted, changed, len(ends), len(ends) > limit)

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
            touched = sorted({one.memory for one in touches})
            titles = {record.id: title_of(record) for record in snapshot.load(touched)}
            for id in [id for id in touched if id not in titles][:_DELETED]:
                if states := snapshot.versions(id):
                    titles[id] = title_of(states[0][1])
        for one in touches:
            deeds[numbers[one.at, one.who, one.action]].append(Deed(one.how, one.memory, titles.get(one.memory)))
        return deeds

    def undoable(
        self, *, change: int | None = None, since: int | None = None, session: str | None = None, shown: int = 10
    ) -> list[ChangeEffects]:
        """The changes that an undo would take back, newest first, with what each of them did; nothing is changed.

        One change by its number, all that were made after a time, all that touched memories of a session, or without
        any of these the newest one that can be taken back. Undos themselves, and what was undone already, are passed
        over; a change that is final comes with those that are not, and is none of them.
        """
        with self.store.read(self.project) as snapshot:
            if change is not None:
                _check_number(change)
                one = snapshot.change(change)
                if one is None:
                    raise NotFound([str(change)], "Change", hint="Leave it out to undo the newest change.")
                found = [one]
            else:
                open_ = (one for one in _newest_first(snapshot, since or 0) if one.undoes is None)
                open_ = (one for one in open_ if one.undone_by is None and one.action != BACKGROUND)
                if session is not None:
                    own = _kept_with(snapshot, session)
                    open_ = (one for one in open_ if _touches_session(snapshot, one, session, own))
                found = list(islice(open_, _MOST_UNDONE + 1))
            if len(found) > _MOST_UNDONE and (since is not None or session is not None):
                hint = "Name a later time, or restore a backup."
                raise Invalid(f"More than {_MOST_UNDONE:,} changes would have to be undone", hint=hint)
        planned = []
        for one in found:
            with self.store.read(self.project) as snapshot:
                effects, total = _effects(snapshot, one.id, shown)
                ties = _ties(snapshot, one.id)
            refused = self._refused(one.id) if not total else None
            # One that others build on can be undone, once these are.
            final = refused is not None and not refused.changes
            planned.append(ChangeEffects(one, effects, total, ties, final))
            if since is None and session is None and not planned[-1].final:
                break
        return planned

    def check_undo(self, change: int) -> None:
        """Raise what an undo of a change would raise; nothing is changed."""
        if (refused := self._refused(change)) is not None:
            raise refused

    def _refused(self, number: int) -> Conflict | None:
        """Why a change cannot be undone; None if it can, or for somebody who may only read."""

        def attempt(tx: Transaction) -> None:
            tx.undo(number)
            raise _Tried

        try:
            if self.grant.write:
                self._write("undo", attempt)
        except _Tried:
            pass
        except Conflict as e:
            return e
        return None

    def undo_all(self, changes: Sequence[int]) -> list[Change]:
        """Undo several changes, newest first; if one of them cannot be undone, none of them is.

        Where the store fails so that not even those before it can be set back, the fault names them.
        """
        done: list[Change] = []
        try:
            for number in sorted(changes, reverse=True):
                done.append(self.undo(number))
        except Fault as e:
            self._set_back(done, e)
            raise
        return done

    def _set_back(self, undone: Sequence[Change], why: Fault) -> None:
        for left in range(len(undone), 0, -1):
            try:
                self.undo(undone[left - 1].undone_by)
            except Fault as e:
                numbers = ", ".join(str(one.id) for one in undone[:left])
                said = f"{why.message}. Undone before that, and not to be set back: {numbers}"
                raise Unavailable(said, hint=f"{e.hint} Then call again, or undo what undid these.") from why

    def changed_since(
        self,
        at: int,
        *,
        until: int | None = None,
        before: int | None = None,
        filters: Filters | None = None,
        limit: int = 100,
        shown: int = 10,
        skip: int = 0,
    ) -> list[ChangeEffects]:
        """The changes after a time, and before ``until``, newest first, with what each did to which memories.

        ``before`` goes on below a change; with ``skip`` it goes on in that change, after so many of its memories.
        With filters, only changes of memories that pass them as they were then: ``who`` made the change or speaks in
        the memory.
        """
        found: list[ChangeEffects] = []
        with self.store.read(self.project) as snapshot:
            again = snapshot.change(before) if skip and before is not None else None
            for one in chain([] if again is None else [again], _newest_first(snapshot, at, before)):
                if one.action == BACKGROUND or (until is not None and one.at >= until):
                    continue
                first, most = (skip, _MOST_SHOWN) if one is again else (0, shown)
                effects, total = (
                    _effects(snapshot, one.id, most, first) if filters is None else _effects(snapshot, one.id, None)
                )
                if filters is not None:
                    passing = [
                        effect for effect in effects
                        if any(state and passes(state, filters, one.who) for state in (effect.after, effect.before))
                    ]  # fmt: skip
                    if not passing:
                        continue
                    effects, total = passing[first : first + most], len(passing)
                ties = _ties(snapshot, one.id) if filters is None else []
                found.append(ChangeEffects(one, effects, total, ties))
                if len(found) == limit:
                    break
        return found

    def effects(self, number: int, skip: int, limit: int) -> tuple[list[ChangeEffect], int]:
        """What a change did to some of the memories it touched, and how many these are."""
        with self.store.read(self.project) as snapshot:
            return _effects(snapshot, number, limit, skip)

    def change(self, number: int) -> Change | None:
        """Return a change of the project by its number; None if there is none."""
        _check_number(number)
        with self.store.read(self.project) as snapshot:
            return snapshot.change(number)


def _ever(snapshot: Snapshot, id: str) -> int:
    """The number of a memory that is there, or was: by its id, its name, or the beginning of its id."""
    if there := find_ids(snapshot, [id]):
        return there[id]
    prefixes = (id, new_item_id(id)) if len(id) >= SHORTEST_ID else ()
    begun = [uid for prefix in prefixes for uid in snapshot.uids_starting(prefix, 2)]
    if len(begun) == 1:
        return snapshot.ids_of(begun)[begun[0]]
    if len(begun) > 1:
        raise Invalid(f"More than one id starts with {id!r}", field="id", hint=f"Write more of it: {', '.join(begun)}.")
    gone = {name for prefix in (id, *prefixes) for name in snapshot.deleted_starting(prefix, 2)}
    name = id if id in gone else gone.pop() if len(gone) == 1 and prefixes else None
    ever = snapshot.ids_ever(name) if name is not None else snapshot.deleted_uid(id)
    numbers = [number for number in ever if snapshot.versions(number)]
    if not numbers:
        near = nearest(snapshot, [id])
        raise NotFound([id], "Memory", hint="Search for it, or list what there is.", near=near)
    return max(numbers, key=lambda number: snapshot.versions(number)[0][0].id)


def _without_version(record: Record) -> Record:
    return replace(record, version=0, updated=0)


def _newest_first(snapshot: Snapshot, since: int, before: int | None = None) -> Iterator[Change]:
    """The changes after a time, newest first, read as they are needed; those below a change, if one is given."""
    while page := snapshot.changes(_PAGE, before):
        for one in page:
            if one.at <= since:
                return
            yield one
        before = page[-1].id


def _kept_with(snapshot: Snapshot, session: str) -> frozenset[int]:
    """The ids of memories that name a session as the one they are from, without being its turns."""
    base = snapshot.numbers[0] << 32
    return frozenset(base | number for number in snapshot.matching(Filters(metadata={"session": session})))


def _touches_session(snapshot: Snapshot, change: Change, session: str, own: frozenset[int]) -> bool:
    return any(one.session == session or one.memory in own for one in snapshot.effects(change.id))


def _effects(snapshot: Snapshot, change: int, shown: int | None, skip: int = 0) -> tuple[list[ChangeEffect], int]:
    touches = snapshot.effects(change)
    found = []
    for one in touches[skip : None if shown is None else skip + shown]:
        states = snapshot.versions(one.memory)
        before = next((record for by, record in states if by.id < change), None)
        after = next((record for by, record in states if by.id == change), None)
        if before is not None or after is not None:  # otherwise it was deleted for good
            found.append(ChangeEffect(one.how, None if one.how in ("made", "restored") else before, after))
    return found, len(touches)


def _ties(snapshot: Snapshot, change: int) -> list[RelationTouch]:
    """What a change did to relations that somebody made; those by similarity come and go with their memories."""
    return [one for one in snapshot.relation_effects(change) if one.origin != "auto"]


def _not_then(name: str, at: int, events: Sequence[Event]) -> NotFound:
    """The error for a memory that did not exist yet, or no longer, at a time."""
    before = [event.change.at for event in events if event.change.at <= at]
    when = f"deleted at {moment(before[-1])}" if before else f"created at {moment(events[0].change.at)}"
    hint = f"It was {when}; ask for a time {'before' if before else 'after'} that."
    return NotFound([name], message=f"{name!r} did not exist at {moment(at)}", hint=hint)


def _check_number(change: int) -> None:
    if not 0 < change < 1 << 63:
        raise NotFound([str(change)], "Change", hint="`polymnia changes` lists their numbers.")
