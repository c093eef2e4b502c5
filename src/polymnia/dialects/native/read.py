"""read opens what is known by name, id or path: a memory, an entity, a conversation, the tree of scopes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated
from zlib import crc32

from polymnia.dialects.native import shapes
from polymnia.dialects.native.shapes import tool
from polymnia.dialects.native.text import (
    TextAnswer,
    arrow,
    count,
    day,
    gist,
    label,
    mention,
    minute,
    short_id,
    shortened,
    stored_by,
)
from polymnia.dialects.shapes import about, at_time
from polymnia.engine.content import content, position
from polymnia.engine.content import cursor as cursor_at
from polymnia.engine.scopes import SESSIONS
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid, NotFound
from polymnia.models import SHORTEST_ID, Event, Record, Relation
from polymnia.operation import Context, Memory, Reply

if TYPE_CHECKING:
    from polymnia.engine.past import Past

_BUDGET = 8_000
_FOOT = 70  # tokens for the last line
_TREE = 400  # scopes from which on only the upper levels of a tree are shown
_ASKED = 2_000  # characters of what is no name that memories are searched by
_AROUND = " \t\n\"'`[]()<>"  # what may stand around an id that was copied
_IDS = re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}(?:-[0-9a-f]+)*")


@tool("read", "Read", reads=True, idempotent=True)
def read(
    context: Context,
    ids: Annotated[list[str], about("Names, ids, a session, or a scope path for its tree; / for all scopes.")],
    depth: Annotated[int, about("Steps of relations to follow.", ge=0, le=5)] = 1,
    history: bool = False,
    as_of: str | None = None,
    limit: Annotated[int, about("Lines the answer may have.", ge=1, le=10_000)] | None = None,
    budget: shapes.Budget = _BUDGET,
    cursor: str | None = None,
    project: shapes.Project | None = None,
) -> Reply:
    """Open memories or entities whole, with relations and, if asked, history; a conversation; the tree of scopes."""
    memory = context.memory
    if not ids:
        raise Invalid("ids is empty", field="ids", hint="Give a name, an id, or / for the tree of scopes.")
    ids = list(dict.fromkeys(ids))
    at = at_time(as_of, "as_of", end=True) if as_of else None
    asked = crc32(repr((ids, depth, history, as_of)).encode()) & 0xFFFF
    first, start, done, question = map(int, position("read", cursor, 4) or (0, 0, 0, asked))
    if question != asked:
        raise Invalid("The cursor is of another call", field="cursor", hint="Repeat that one, or leave cursor out.")
    past = None
    if at is not None:
        from polymnia.engine.past import Past

        past = Past(memory.as_of(at))
    answer = TextAnswer(budget)
    shown = 0
    for at_id in range(first, len(ids)):
        lines = enumerate(_lines(memory, past, ids[at_id], depth, history, at, alone=len(ids) == 1))
        for at_line, line in lines:
            if at_id == first and at_line < start:
                continue
            rest = line[done:].lstrip() if (at_id, at_line) == (first, start) else line
            full = limit is not None and shown >= limit
            if not full and answer.add(rest, _FOOT):
                shown += 1
                continue
            long = answer.size(rest) > budget // 2 or not str(answer)
            part = answer.begin(rest, _FOOT) if long and not full else ""
            cut = len(line) - len(rest) + len(part) if part else 0
            place = cursor_at("read", at_id, at_line, cut, asked)
            left = _left(1 + sum(1 for _ in lines), len(ids) - at_id - 1)
            way = "" if full else ", or a larger budget"
            answer.force(f'{"Cut here; " if part else ""}{left}: cursor "{place}"{way}.')
            return Reply(text=str(answer))
    return Reply(text=str(answer))


def _left(lines: int, ids: int) -> str:
    """What was not shown; memories that are not opened yet are not opened to count their lines."""
    if not ids:
        return f"{count(lines, 'line is', 'lines are')} left"
    return f"{count(lines, 'line', 'lines')} and {count(ids, 'id', 'ids')} are left"


def _lines(
    memory: Memory, past: Past | None, id: str, depth: int, history: bool, at: int | None, *, alone: bool
) -> Iterator[str]:
    """What is known by a name, id or path; of one among several that nothing is known by, just that."""
    try:
        if past is None or at is None:
            yield from _session(memory, id) or _tree(memory, id) or _opened(memory, id, depth, history)
        elif lines := _session(past, id) or _tree(past, id):
            yield f"As of {day(at - 1)}:"
            yield from lines
        else:
            yield from _opened_then(memory, past, id, depth, history, at)
    except NotFound as e:
        if alone:
            raise
        yield f"{e.message}. {e.hint}"


def _session(memory: Memory | Past, path: str) -> list[str]:
    """The turns of a conversation, by the name of its session or its path."""
    name = path.strip().strip("/").removeprefix(f"{SESSIONS}/")
    if not name or "/" in name or (name == path.strip() and _named(memory, path) is not None):
        return []
    turns = memory.turns(name)
    lines = [f"{short_id(one)} {minute(one.created)} {content(one)}" for one in turns]
    return [f"Session {name!r}, {count(len(turns), 'turn', 'turns')}:", *lines] if turns else []


def _tree(memory: Memory | Past, path: str) -> list[str]:
    """The scopes at a path and below, where it is one and no memory has that name."""
    whole = path.strip() in ("/", "")
    try:
        scopes = memory.scopes(None if whole else shapes.path(path.strip()))
    except Invalid:  # no path
        return []
    if whole and not scopes:
        there = shapes.empty_project(memory) if isinstance(memory, Memory) else "There were no memories in the project."
        return [there]
    if not scopes or (not whole and _named(memory, path) is not None):
        return []
    depth, least = max(one.depth for one in scopes), 1 if whole else 1 + min(one.depth for one in scopes)
    while depth > least and sum(one.depth <= depth for one in scopes) > _TREE:
        depth -= 1
    upper = [one for one in scopes if one.depth <= depth]
    lines = [f"{'  ' * (one.depth - 1)}{one.path.rpartition('/')[2]} ({one.total:,})" for one in upper]
    if below := len(scopes) - len(upper):
        lines.insert(0, f"{count(below, 'scope is', 'scopes are')} further below; read the path above them.")
    return [f"Scopes{'' if whole else f' at {path}'}, with how many memories:", *lines]


def _named(memory: Memory | Past, text: str) -> Record | None:
    try:
        return memory.resolve(text)
    except (NotFound, Invalid):
        return None


def _opened(memory: Memory, id: str, depth: int, history: bool) -> Iterator[str]:
    if (ties := memory.relations_naming(id)) and _named(memory, id) is None:
        yield f"Nothing is stored as {id!r}, but {count(len(ties), 'relation names', 'relations name')} it:"
        yield from (f"  {arrow(one)}" for one in ties)
        return
    record = found(memory, id)
    around = memory.neighbourhood(record, depth)
    yield label(record, stored_by(around.stored), f"version {record.version}")
    yield from _whole(record, around.superseded_by, around.relations, around.records)
    if around.cut:
        yield "  There are more relations than are followed here; read what they lead to."
    if history:
        yield from _history(memory, record.name)


def _opened_then(memory: Memory, past: Past, id: str, depth: int, history: bool, at: int) -> Iterator[str]:
    """A memory as it was at a time, with what it was related to and replaced by then."""
    if (record := _named(past, id)) is None:
        if ties := past.relations_naming(id):
            yield f"Nothing was stored as {id!r} then, but {count(len(ties), 'relation named', 'relations named')} it:"
            yield from (f"  {arrow(one)}" for one in ties)
            return
        if _session(memory, id) or _tree(memory, id) or (memory.relations_naming(id) and _named(memory, id) is None):
            hint = "It is there now: leave as_of out, or ask for a later time."
            raise NotFound([id], message=f"Nothing was known as {id!r} at {moment(at)}", hint=hint)
        record, _ = memory.get(memory.deleted_name(id) or found(memory, id).name, at=at)
    yield f"{label(record, f'version {record.version}')} as of {day(at - 1)}"
    yield from _whole(record, past.superseded_by(record), *past.around(record, depth))
    if history:
        yield from _history(memory, record.name)


def _whole(
    record: Record, newer: Record | None, relations: Sequence[Relation], records: Sequence[Record]
) -> Iterator[str]:
    """All that a memory says, what has replaced it, and what is around it."""
    if short_id(record) not in (record.name, record.uid) and record.name != record.uid:
        yield f"Name: {record.name}"
    yield from record.observations
    if record.summary:
        yield f"Summary: {record.summary}"
    if record.metadata:
        yield "Metadata: " + ", ".join(f"{key}={value}" for key, value in record.metadata.items())
    if newer is not None:
        yield f"Superseded by {mention(newer)}"
    names = {one.name: short_id(one) for one in (record, *records)}
    for one in relations:
        auto = " (by similarity)" if one.origin == "auto" else ""
        yield f"  {names.get(one.source, one.source)} -{one.type}-> {names.get(one.target, one.target)}{auto}"
    yield from (f"  {label(one)} {gist(one)}" for one in records)


def _history(memory: Memory, name: str) -> Iterator[str]:
    yield "History:"
    yield from (f"  {_event(event)}" for event in memory.history(name))


def found(memory: Memory, id: str) -> Record:
    """A memory by name, id, the beginning of its id, or all it says; a deleted one is refused with the way back."""
    if not id.strip():
        raise Invalid("The id is empty", field="id", hint="Give a name or an id; recall finds them.")
    try:
        return memory.resolve(id)
    except NotFound:
        name = memory.deleted_name(id)
    if name is None:
        return _meant(memory, id)
    change = memory.history(name)[-1].change
    before = moment(change.at - 1)
    hint = f"undo(change={change.id}) brings it back; read with as_of {before!r} shows what it said."
    raise NotFound([id], message=f"{id!r} was deleted at {moment(change.at)}", hint=hint)


def _meant(memory: Memory, id: str) -> Record:
    """The one memory that can be meant: named so but for case and quotes, or saying exactly this."""
    bare = id.strip(_AROUND)
    if bare != id and (record := _named(memory, bare)) is not None:
        return record
    near: list[str] = []
    try:
        memory.history(bare)
    except NotFound as e:
        nearest = e.details.get("nearest")
        near = nearest if isinstance(nearest, list) else []
    same = memory.names_alike(bare)
    if len(same) == 1 and same[0].casefold() == bare.casefold():
        return memory.resolve(same[0])
    for inside in (bare.lower(), *_IDS.findall(bare.lower())[:1]):
        if (record := _named(memory, inside)) is not None and record.name == record.uid:
            return record
    recalled = memory.recall(id[:_ASKED])
    said = [one.hit.record for one in recalled.memories if content(one.hit.record) == id.strip()]
    if len(said) == 1:
        return said[0]
    meant = f"Did you mean {', '.join(map(repr, same or near))}? " if same or near else _place(memory, bare)
    if memory.relations_naming(bare):
        meant += "Only relations name it: read shows them, forget takes them as `relations`. "
    if re.fullmatch(f"(?=.*[0-9])[0-9a-fA-F-]{{4,{SHORTEST_ID - 1}}}", bare):
        meant += f"Of an id, give at least {SHORTEST_ID} characters. "
    if not meant and recalled.memories and all(note.code != "nothing_fits" for note in recalled.notes):
        meant = f"Did you mean {mention(recalled.memories[0].hit.record)}? "
    raise NotFound([shortened(id)], "Memory", hint=f"{meant}recall finds memories by what they say.")


def _place(memory: Memory, text: str) -> str:
    """What to do with a session or a scope that was named in place of a memory; nothing where it is none."""
    if _session(memory, text):
        name = text.strip("/").removeprefix(f"{SESSIONS}/")
        return f"It is a session: read shows its turns, undo(session={name!r}) takes back what was stored of it. "
    if shapes.path(text) and _tree(memory, text):
        return f"It is a scope: recall(scope={shapes.path(text)!r}) lists its memories. "
    return ""


def _event(event: Event) -> str:
    change = event.change
    did = "created" if event.created else "deleted" if event.deleted else "changed"
    parts = [f"+ {text!r:.120}" for text in event.added] + [f"- {text!r:.120}" for text in event.removed]
    parts += [f"linked {one}" for one in event.related] + [f"unlinked {one}" for one in event.unrelated]
    parts += [f"{key} was {value!r:.80}" for key, value in event.changed.items() if key not in ("kind_fold",)]
    undone = f" (undone by change {change.undone_by})" if change.undone_by else ""
    return f"{minute(change.at)} change {change.id} by {change.who}: {did} {'; '.join(parts)}{undone}".rstrip()
