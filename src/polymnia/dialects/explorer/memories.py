"""One memory: reading it with its relations and versions, and every way to change it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from polymnia.dialects.explorer import shapes
from polymnia.dialects.explorer.shapes import Cursor, Id, Ids, Project, decoded, encoded, operation, replacement
from polymnia.dialects.shapes import about, at_time
from polymnia.engine.batches import SUPERSEDED, MemoryDraft
from polymnia.engine.content import KIND
from polymnia.engine.text.calendar import moment
from polymnia.errors import EmptyList, Invalid, NotFound
from polymnia.models import DEFAULT_SCOPE, EntityDraft, JsonObject, Record, Relation
from polymnia.operation import Context, Memory

_RELATIONS = 500  # of a memory that are shown
_COMPARED = ("kind", "observations", "tags", "scope", "session", "category", "content_type", "summary", "metadata")

Name = Annotated[str, about("The name of a memory, or its id.")]
Type = Annotated[str, about("The type of the relation.")]


@operation("memory", "A memory", reads=True)
def memory(
    context: Context,
    id: Id,
    project: Project | None = None,
    at: Annotated[str, about("As it was then.")] | None = None,
    whole: Annotated[bool, about("Long texts without a cut.")] = False,
) -> JsonObject:
    """A memory with its observations, its relations and who stored it; a deleted one as it last was."""
    here = shapes.in_project(context.memory, project)
    if at is not None:
        return _past(here, id, at_time(at, "at"), whole)
    states, deleted = here.versions(id)
    record = states[0][1]
    with here.store.read(here.project) as snapshot:
        newer = replacement(snapshot, record)
        relations = [] if deleted else snapshot.relations_of([record.name])
        makers = snapshot.makers([record.id])
    if not deleted:
        here.count_opened(record)
    return {
        "memory": shapes.memory(record, here.project, newer=newer, whole=whole),
        "stored": shapes.change(makers[record.id], here.project) if record.id in makers else None,
        "deleted": None if deleted is None else shapes.change(deleted, here.project),
        "supersedes": _superseded(here, record),
        **_relations(here, record, relations),
    }


def _past(here: Memory, id: str, at: int, whole: bool) -> JsonObject:
    states, _ = here.versions(id)
    record, relations = here.get(states[0][1].name, at=at)
    return {
        "memory": shapes.memory(record, here.project, whole=whole),
        "stored": None,
        "deleted": None,
        "supersedes": [],
        **_relations(here, record, relations),
    }


def _relations(here: Memory, record: Record, relations: Sequence[Relation]) -> JsonObject:
    """The strongest relations of a memory, and how many there are."""
    strongest = sorted(relations, key=lambda one: (-1.0 if one.strength is None else -one.strength, one.id))
    shown = strongest[:_RELATIONS]
    others = [one.target if one.source == record.name else one.source for one in shown]
    with here.store.read(here.project) as snapshot:
        ids = snapshot.ids(list(dict.fromkeys(others))) if others else {}
        known = {other.name: other for other in snapshot.load(list(ids.values()))}
    return {
        "relations": [
            {
                "id": one.uid,
                "from": one.source,
                "to": one.target,
                "type": one.type,
                "direction": "out" if one.source == record.name else "in",
                "strength": one.strength,
                "context": one.context,
                "origin": one.origin,
                "created": moment(one.created),
                "other": shapes.title(known[name]) if name in known else None,
            }
            for one, name in zip(shown, others, strict=True)
        ],
        "relations_total": len(relations),
    }


def _superseded(here: Memory, record: Record) -> list[JsonObject]:
    """The memories that this one has replaced: those that name it so, among the ones it is related to or near to."""
    with here.store.read(here.project) as snapshot:
        relations = snapshot.relations_of([record.name])
        names = {end for one in relations for end in (one.source, one.target)} - {record.name}
        ids = snapshot.ids(sorted(names)) if names else {}
        return [
            shapes.title(one) for one in snapshot.load(list(ids.values())) if one.metadata.get(SUPERSEDED) == record.uid
        ]


@operation("versions", "Versions", reads=True)
def versions(
    context: Context,
    id: Id,
    project: Project | None = None,
    limit: Annotated[int, about("Versions of a page.", ge=1, le=100)] = 20,
    cursor: Cursor | None = None,
) -> JsonObject:
    """A memory as each change left it, newest first, with who made it and what differs from the one before."""
    here = shapes.in_project(context.memory, project)
    states, deleted = here.versions(id)
    before = decoded(cursor, int, id, here.project)
    start = 0 if before is None else next((i for i, (by, _) in enumerate(states) if by.id < before), len(states))
    shown = []
    for at in range(start, min(start + limit, len(states))):
        by, record = states[at]
        older = states[at + 1][1] if at + 1 < len(states) else None
        differs = [] if older is None else [one for one in _COMPARED if getattr(record, one) != getattr(older, one)]
        shown.append(
            {
                "change": shapes.change(by, here.project),
                "memory": shapes.memory(record, here.project),
                "current": at == 0 and deleted is None,
                "differs": differs,
            }
        )
    more = start + limit < len(states)
    return {"versions": shown, "next": encoded(states[start + limit - 1][0].id, id, here.project) if more else None}


@operation("restore", "Restore a version", destroys=True)
def restore(
    context: Context,
    id: Id,
    change: Annotated[int, about("The change that had left it so.")],
    project: Project | None = None,
) -> JsonObject:
    """Set a memory back to one of its versions, or a deleted one to its last, as one change."""
    here = shapes.in_project(context.memory, project)
    return {"memory": _shown(here, here.restore_version(id, change))}


@operation("edit", "Edit", destroys=True)
def edit(
    context: Context,
    id: Id,
    project: Project | None = None,
    text: Annotated[str, about("The new text of a memory of one text.")] | None = None,
    observations: Annotated[list[str], about("All observations, in their order.")] | None = None,
    add: Annotated[list[str], about("Observations to add.")] | None = None,
    remove: Annotated[list[str], about("Observations to remove, word for word.")] | None = None,
    kind: str | None = None,
    tags: list[str] | None = None,
    scope: str | None = None,
    metadata: Annotated[JsonObject, about("Merged into what is there; null removes a key.")] | None = None,
    superseded_by: Annotated[str, about("What has replaced it; empty takes the mark away.")] | None = None,
    version: Annotated[int, about("The version that was looked at: refused where it is another one by now.")]
    | None = None,
) -> JsonObject:
    """Change what is given of a memory, in one change."""
    here = shapes.in_project(context.memory, project)
    given = (text, observations, add, remove, kind, tags, scope, metadata, superseded_by)
    if all(one is None for one in given):
        raise Invalid("Nothing to change was given", hint="Give text, observations, kind, tags, scope or metadata.")
    done = here.amend(
        id, text=text, observations=observations, add=add or (), remove=remove or (), kind=kind, tags=tags,
        scope=None if scope is None else scope.strip("/"), metadata=metadata, superseded_by=superseded_by,
        version=version, step=context.step,
    )  # fmt: skip
    return {"memory": _shown(here, done.record), "missing": list(done.missing)}


@operation("store", "Store")
def store(
    context: Context,
    text: str,
    project: Project | None = None,
    name: Annotated[str, about("A name makes it an entity.")] | None = None,
    kind: str | None = None,
    tags: list[str] | None = None,
    scope: str | None = None,
) -> JsonObject:
    """Store a memory, or with a name an entity; what is stored already is joined with it."""
    here = shapes.in_project(context.memory, project)
    if name is not None:
        entity = EntityDraft(name, kind or "entity", (text,), tags=tuple(tags or ()), scope=scope)
        (put,) = here.store_batch(entities=[entity], step=context.step).entities
        return {"memory": _shown(here, put.record), "joined": put.outcome == "joined"}
    draft = MemoryDraft(text=text, kind=kind or KIND, tags=tuple(tags or ()), scope=scope or DEFAULT_SCOPE)
    (stored,) = here.store_batch([draft], step=context.step).memories
    return {"memory": _shown(here, stored.record), "joined": stored.outcome == "joined"}


@operation("delete", "Delete", destroys=True)
def delete(context: Context, ids: Ids, project: Project | None = None) -> JsonObject:
    """Delete memories with their relations, as one change that undo takes back."""
    here = shapes.in_project(context.memory, project)
    records = _resolved(here, ids)
    gone = here.forget_all([record.name for record in records], step=context.step)
    return {"deleted": [shapes.title(one) for one in gone.records], "relations": len(gone.relations)}


@operation("relate", "Relate")
def relate(context: Context, from_: Name, to: Name, type: Type, project: Project | None = None) -> JsonObject:
    """Make a relation between two memories."""
    here = shapes.in_project(context.memory, project)
    (done,) = here.store_batch(relations=[(from_, to, type)], step=context.step).relations
    return {"new": done.outcome == "new"}


@operation("unrelate", "Take a relation away", destroys=True)
def unrelate(context: Context, from_: Name, to: Name, type: Type, project: Project | None = None) -> JsonObject:
    """Delete a relation between two memories."""
    here = shapes.in_project(context.memory, project)
    gone = here.forget_all((), [(from_, to, type)], step=context.step)
    if not gone.relations:
        raise NotFound([f"{from_} -{type}-> {to}"], "Relation", hint="Look at the relations of the memory.")
    return {}


@operation("move", "Move", destroys=True)
def move(context: Context, ids: Ids, scope: str, project: Project | None = None) -> JsonObject:
    """Move memories to a scope, as one change."""
    here = shapes.in_project(context.memory, project)
    if not ids:
        raise EmptyList("ids")
    done = here.move(ids, scope.strip("/"), step=context.step)
    with here.store.read(here.project) as snapshot:
        numbers = snapshot.ids_of([id for id, _, _ in done.moved]) if done.moved else {}
        moved = [shapes.title(record) for record in snapshot.load(list(numbers.values()))]
    return {"moved": moved, "there": done.there, "missing": [id for id, _ in done.failed]}


def _resolved(here: Memory, ids: Sequence[str]) -> list[Record]:
    if not ids:
        raise EmptyList("ids")
    return list({record.uid: record for record in map(here.resolve, ids)}.values())


def _shown(here: Memory, record: Record) -> JsonObject:
    with here.store.read(here.project) as snapshot:
        return shapes.memory(record, here.project, newer=replacement(snapshot, record))
