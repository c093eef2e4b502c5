"""The timeline: changes of every project and client, what each did, undoing them, and two moments compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from heapq import merge
from typing import Annotated, Any

from polymnia.dialects.explorer import shapes
from polymnia.dialects.explorer.shapes import Cursor, Project, Time, decoded, encoded, operation
from polymnia.dialects.shapes import about, at_time
from polymnia.engine.history import ChangeEffects
from polymnia.engine.ports import BACKGROUND
from polymnia.engine.scopes import legal_session
from polymnia.engine.text.calendar import moment
from polymnia.errors import Conflict, EmptyList, Invalid, NotFound
from polymnia.models import Change, JsonObject, Record
from polymnia.operation import Context, Memory

NEWS = 200
"""Changes that a follower who was away is told of at most."""
_BATCH = 100  # changes read at once
_READ = 5_000  # for one page
_LATEST = 1_000  # whose clients, tools and people are listed
_UNDONE = {"made": "deletes", "restored": "deletes", "deleted": "restores", "changed": "sets back"}
_MOST = 1_000  # changes of one undo


@operation("timeline", "Timeline", reads=True)
def timeline(
    context: Context,
    project: Project | None = None,
    client: str | None = None,
    tool: str | None = None,
    who: str | None = None,
    since: Time | None = None,
    until: Time | None = None,
    background: Annotated[bool, about("With relations that the server draws itself.")] = False,
    limit: Annotated[int, about("Changes of a page.", ge=1, le=200)] = 50,
    cursor: Cursor | None = None,
) -> JsonObject:
    """The changes of one project or of all, newest first, each with what it did to which memories."""
    memories = {one.project: one for one in shapes.opened(context.memory, project)}
    start = None if since is None else at_time(since, "since")
    end = None if until is None else at_time(until, "until", end=True)
    asked = (project, client, tool, who, since, until, background)
    top, places = decoded(cursor, tuple[int, dict[str, int | None]], *asked) or (None, dict.fromkeys(memories))

    def passes(one: Change) -> bool:
        return (
            (client is None or one.client == client)
            and (tool is None or one.tool == tool)
            and (who is None or one.who == who)
            and (end is None or one.at < end)
            and (background or one.action != BACKGROUND)
            and (top is None or one.id <= top)  # later ones came after the first page
        )

    streams = [_from(memories[name], before) for name, before in places.items() if name in memories]
    found: list[tuple[str, Change]] = []
    following = dict(places)
    newest, more = top or 0, False
    for read, (_, name, one) in enumerate(merge(*streams, key=lambda entry: -entry[0])):
        if start is not None and one.at < start:
            break
        if len(found) == limit or read == _READ:
            more = True
            break
        following[name] = one.id
        newest = newest if top is not None else max(newest, one.id)
        if passes(one):
            found.append((name, one))
    return {
        "changes": [_described(memories[name], one) for name, one in found],
        "next": encoded((newest, following), *asked) if more else None,
        **({} if cursor else _involved(list(memories.values()))),
    }


def _from(memory: Memory, before: int | None) -> Iterator[tuple[int, str, Change]]:
    """The changes of a project before one of them, newest first, read as they are needed."""
    while True:
        found = memory.changes(_BATCH, before)
        yield from ((one.at, memory.project, one) for one in found)
        if len(found) < _BATCH:
            return
        before = found[-1].id


def _described(memory: Memory, one: Change) -> JsonObject:
    with memory.store.read(memory.project) as snapshot:
        return {**shapes.change(one, memory.project), **shapes.effects(snapshot, one.id)}


def _involved(memories: Sequence[Memory]) -> JsonObject:
    """The clients, tools and people of the newest changes, most recent first."""
    each = max(_BATCH, _LATEST // max(1, len(memories)))
    newest = sorted((one for memory in memories for one in memory.changes(each)), key=lambda one: -one.at)[:_LATEST]

    def distinct(value: Callable[[Change], str | None]) -> list[str]:
        return list(dict.fromkeys(found for one in newest if (found := value(one)) is not None))

    return {
        "clients": distinct(lambda one: one.client),
        "tools": distinct(lambda one: one.tool),
        "people": distinct(lambda one: one.who),
    }


@operation("news", "News", reads=True)
def news(
    context: Context,
    after: Annotated[int, about("The number of the last change that is known.")] | None = None,
    projects: Annotated[list[str], about("Where something may have changed.")] | None = None,
) -> JsonObject:
    """The changes of all projects after one of them, oldest first, and the number of the newest change."""
    memories = shapes.opened(context.memory)
    if projects is not None:
        memories = [one for one in memories if one.project in projects]
    last, found = after or 0, []
    for memory in memories:
        for one in memory.changes(1 if after is None else NEWS):
            last = max(last, one.id)
            if after is None or one.id <= after:
                break
            found.append((one.id, memory, one))
    found.sort(key=lambda entry: entry[0])
    shown = [
        {"project": memory.project, "change": shapes.change(one, memory.project), **_effects(memory, one)}
        for _, memory, one in found[-NEWS:]
    ]
    return {"changes": shown, "last": last}


def _effects(memory: Memory, one: Change) -> JsonObject:
    with memory.store.read(memory.project) as snapshot:
        return shapes.effects(snapshot, one.id)


@operation("change", "A change", reads=True)
def change(
    context: Context,
    change: Annotated[int, about("Its number.")],
    project: Project | None = None,
    limit: Annotated[int, about("Memories of a page.", ge=1, le=500)] = 50,
    cursor: Cursor | None = None,
) -> JsonObject:
    """One change, with each memory before and after it."""
    memory = shapes.in_project(context.memory, project)
    start = decoded(cursor, int, change, memory.project) or 0
    one = memory.change(change)
    if one is None:
        raise NotFound([str(change)], "Change", hint="The timeline has their numbers.")
    effects, total = memory.effects(change, start, limit)
    more = start + limit < total
    return {
        "change": shapes.change(one, memory.project),
        "effects": [
            {"how": how, "before": _shown(before, memory), "after": _shown(after, memory)}
            for how, before, after in effects
        ],
        "total": total,
        **_relations(memory, change),
        "next": encoded(start + limit, change, memory.project) if more else None,
    }


def _relations(memory: Memory, number: int) -> JsonObject:
    with memory.store.read(memory.project) as snapshot:
        return shapes.relation_effects(snapshot, number)


def _shown(record: Record | None, memory: Memory) -> JsonObject | None:
    return None if record is None else shapes.memory(record, memory.project)


@operation("undo_preview", "Preview of an undo", reads=True)
def undo_preview(
    context: Context,
    project: Project | None = None,
    change: Annotated[int, about("One change.")] | None = None,
    changes: Annotated[list[int], about("Several changes.")] | None = None,
    since: Annotated[str, about("All changes since then.")] | None = None,
    session: Annotated[str, about("All changes to memories of a session.")] | None = None,
) -> JsonObject:
    """What an undo would do; nothing is changed. Without a parameter, of the last change."""
    memory = shapes.in_project(context.memory, project)
    if sum(one is not None for one in (change, changes, since, session)) > 1:
        raise Invalid("Give one of change, changes, since and session", field="change")
    if changes is not None:
        _check_count(changes)
        planned = [found for one in sorted(set(changes), reverse=True) for found in memory.undoable(change=one)]
    else:
        planned = memory.undoable(
            change=change,
            since=None if since is None else at_time(since, "since"),
            session=None if session is None else legal_session(session),
        )
    return {
        "project": memory.project,
        "changes": [one.change.id for one in planned if not one.final],
        "final": [one.change.id for one in planned if one.final],
        "steps": [_step(one, memory) for one in planned if not one.final],
    }


def _step(one: ChangeEffects, memory: Memory) -> JsonObject:
    """What the undo of a change does: as it was after the change is ``before``, as it was before it is ``after``."""
    return {
        "change": shapes.change(one.change, memory.project),
        "effects": [
            {"how": _UNDONE[how], "before": _shown(after, memory), "after": _shown(before, memory)}
            for how, before, after in one.effects
        ],
        "total": one.total,
        **_relations(memory, one.change.id),
    }


@operation("undo", "Undo", destroys=True)
def undo(
    context: Context,
    changes: Annotated[list[int], about("The numbers of the changes to take back.")],
    project: Project | None = None,
) -> JsonObject:
    """Take back the changes that are named, newest first, all of them or none."""
    memory = shapes.in_project(context.memory, project)
    _check_count(changes)
    done = memory.undo_all(sorted(set(changes)))
    return {"undone": [{"change": one.id, "by": one.undone_by} for one in done]}


def _check_count(changes: Sequence[int]) -> None:
    if not changes:
        raise EmptyList("changes")
    if len(changes) > _MOST:
        raise Invalid(f"changes has {len(changes):,} numbers, over {_MOST:,}", field="changes")


@operation("compare", "Compare two moments", reads=True, heavy=True)
def compare(
    context: Context,
    from_: Annotated[str, about("The earlier moment.")],
    to: Annotated[str, about("The later one; now by default.")] | None = None,
    project: Project | None = None,
    limit: Annotated[int, about("Memories to compare.", ge=1, le=1000)] = 200,
) -> JsonObject:
    """What was made, deleted and changed between two moments, as it was at both."""
    memory = shapes.in_project(context.memory, project)
    start = at_time(from_, "from")
    end = time.time_ns() // 1000 if to is None else at_time(to, "to", end=True)
    if end <= start:
        raise Invalid("to is not after from", field="to", hint="Give the later moment as to.")
    found = memory.compare(start, end, limit=limit)

    def shown(records: Sequence[Record]) -> list[Any]:
        return [_shown(one, memory) for one in records]

    return {
        "from": moment(start),
        "to": moment(end),
        "changes": found.changes,
        "made": shown(found.made),
        "deleted": shown(found.deleted),
        "changed": [{"before": _shown(old, memory), "after": _shown(new, memory)} for old, new in found.changed],
        "total": found.total,
        "cut": found.cut,
    }


def undo_made(memory: Memory) -> None:
    """Take back what a call has made so far, newest first, where a later part of it has failed."""
    made = memory.made or []
    for number in reversed(made[:]):
        try:
            memory.undo(number)
        except Conflict:
            return  # somebody builds on it already
    made.clear()
