"""Review: conflicts, duplicates, open questions and stale memories, each with ways to settle it that can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from msgspec import DecodeError, Struct, field
from msgspec.json import decode

from polymnia.dialects.explorer import shapes
from polymnia.dialects.explorer.shapes import Cursor, Project, decoded, encoded, operation
from polymnia.dialects.explorer.timeline import undo_made
from polymnia.dialects.shapes import about
from polymnia.engine.analysis.actions import Action, AddObservations, DeleteObservations, DeleteRelations, Update
from polymnia.engine.batches import SUPERSEDED, MemoryDraft
from polymnia.engine.text.calendar import moment
from polymnia.errors import EmptyList, Fault, Invalid
from polymnia.importing import importing
from polymnia.models import DEFAULT_SCOPE, JsonObject
from polymnia.operation import Context, Memory

_DISMISSED = "dismissed "  # the beginning of the key under which an item is noted
_MOST_STEPS = 100
_ANSWERS = "answers"  # the type of the relation from an answer to its question

Kind = Literal["conflicts", "duplicates", "questions", "stale"]


class _Asked(Struct, frozen=True):
    """What decides how much work a review is."""

    kind: str = ""
    deep: bool = False


def _is_heavy(raw: bytes) -> bool:
    try:
        asked = decode(raw, type=_Asked)
    except DecodeError:
        return True
    return asked.kind != "conflicts" or asked.deep


@operation("review", "Review", reads=True, heavy=_is_heavy)
def review(
    context: Context,
    kind: Kind,
    project: Project | None = None,
    deep: Annotated[bool, about("Conflicts: read the whole project, not only what was noted.")] = False,
    dismissed: Annotated[bool, about("With items that were dismissed.")] = False,
    limit: Annotated[int, about("Items of a page.", ge=1, le=100)] = 20,
    cursor: Cursor | None = None,
) -> JsonObject:
    """What is to be settled: conflicts, duplicates, open questions or stale memories, most certain first."""
    memory = shapes.in_project(context.memory, project)
    at: int | None = None
    notes: list[JsonObject] = []
    if kind == "conflicts" and not deep:
        with importing():
            from polymnia.engine.analysis.review import conflict_of

        items = [conflict_of(*pair) for pair in memory.noted_conflicts()]
    else:
        items, remarks, at = memory.review(kind, step=context.step)
        notes = [{"code": one.code, "text": "", "values": one.values} for one in remarks]
    start = decoded(cursor, int, kind, deep, dismissed, memory.project) or 0
    with memory.store.read(memory.project) as snapshot:
        passed = {one.id for one in items if snapshot.noted(_DISMISSED + one.id) is not None}
    shown = [one for one in items if dismissed or one.id not in passed]
    more = start + limit < len(shown)
    return {
        "kind": kind,
        "total": len(shown),
        "next": encoded(start + limit, kind, deep, dismissed, memory.project) if more else None,
        "at": None if at is None else moment(at),
        "notes": notes,
        "items": [_item(one, memory.project, one.id in passed) for one in shown[start : start + limit]],
    }


def _item(item: Any, project: str, dismissed: bool) -> JsonObject:
    return {
        "item": item.id,
        "confidence": item.confidence,
        "why": {"code": item.why.code, "text": "", "values": item.why.values},
        "dismissed": dismissed,
        "sides": [
            {
                "memory": shapes.memory(side.record, project),
                "quote": side.quote,
                "at": moment(side.at),
                "newer": side.newer,
            }
            for side in item.sides
        ],
        "resolutions": list(_resolutions(item)),
    }


def _resolutions(item: Any) -> Iterator[JsonObject]:
    """Ways to settle an item: what each of them keeps, and its steps."""
    ids = [side.record.uid for side in item.sides]
    if item.kind == "conflicts":
        if steps := [_step(one) for one in item.suggested]:
            newer = next((at for at, side in enumerate(item.sides) if side.newer), None)
            yield {"name": "suggested", "keeps": newer, "steps": steps}
        if len(set(ids)) == 2:
            for keeps, gone in ((1, 0), (0, 1)):
                mark = {"do": "edit", "id": ids[gone], SUPERSEDED: ids[keeps]}
                yield {"name": "supersede", "keeps": keeps, "steps": [mark]}
            for keeps, gone in ((1, 0), (0, 1)):
                yield {"name": "delete", "keeps": keeps, "steps": [{"do": "delete", "id": ids[gone]}]}
    elif item.kind == "duplicates":
        for keeps, kept in enumerate(item.sides):
            tags = list(dict.fromkeys(tag for side in (kept, *item.sides) for tag in side.record.tags))
            steps = [{"do": "delete", "id": id} for at, id in enumerate(ids) if at != keeps]
            if tags != list(kept.record.tags):
                steps.insert(0, {"do": "edit", "id": kept.record.uid, "tags": tags})
            yield {"name": "keep_first" if keeps == 0 else "keep", "keeps": keeps, "steps": steps}
    elif item.kind == "questions":
        yield {"name": "answer", "keeps": 0, "steps": [{"do": "store", "text": None, "answers": ids[0]}]}
        yield {"name": "delete", "keeps": None, "steps": [{"do": "delete", "id": ids[0]}]}
    else:
        yield {"name": "archive", "keeps": 1 if len(ids) > 1 else None, "steps": [{"do": "delete", "id": ids[0]}]}
        if item.sides[0].record.metadata.get(SUPERSEDED):
            yield {"name": "renew", "keeps": 0, "steps": [{"do": "edit", "id": ids[0], SUPERSEDED: ""}]}


def _step(action: Action) -> JsonObject:
    """What the engine advises, as a step."""
    if isinstance(action, Update):
        step: JsonObject = {"do": "edit", "id": action.id}
        if action.content is not None:
            step["text"] = action.content
        if action.tags is not None:
            step["tags"] = list(action.tags)
        metadata = dict(action.metadata or {})
        if SUPERSEDED in metadata:
            step[SUPERSEDED] = metadata.pop(SUPERSEDED)
        return {**step, **({"metadata": metadata} if metadata else {})}
    if isinstance(action, AddObservations):
        return {"do": "edit", "id": action.name, "add": list(action.texts)}
    if isinstance(action, DeleteObservations):
        return {"do": "edit", "id": action.name, "remove": list(action.texts)}
    if isinstance(action, DeleteRelations):
        source, target, kind = action.relations[0]
        return {"do": "unrelate", "from": source, "to": target, "type": kind}
    raise TypeError(f"A conflict is not settled by {type(action).__name__}")


class ResolutionStep(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One step of a resolution."""

    do: Literal["edit", "delete", "store", "relate", "unrelate"]
    id: str | None = None
    text: str | None = None
    observations: list[str] | None = None
    add: list[str] | None = None
    remove: list[str] | None = None
    kind: str | None = None
    tags: list[str] | None = None
    scope: str | None = None
    metadata: JsonObject | None = None
    superseded_by: str | None = None
    answers: str | None = None
    from_: str | None = field(default=None, name="from")
    to: str | None = None
    type: str | None = None


@operation("resolve", "Settle", destroys=True)
def resolve(
    context: Context,
    steps: Annotated[list[ResolutionStep], about("The steps of a resolution.")],
    project: Project | None = None,
) -> JsonObject:
    """Take the steps of a resolution, all of them or none; undo with their changes takes all of them back."""
    memory = shapes.in_project(context.memory, project)
    if not steps:
        raise EmptyList("steps")
    if len(steps) > _MOST_STEPS:
        raise Invalid(f"steps has {len(steps)} items, over {_MOST_STEPS}", field="steps")
    try:
        for at, step in enumerate(steps):
            _take(memory, step, at)
    except Fault:
        undo_made(memory)
        raise
    return {}


def _take(memory: Memory, step: ResolutionStep, at: int) -> None:
    if step.do == "edit":
        memory.amend(
            _given(step.id, at, "id"), text=step.text, observations=step.observations, add=step.add or (),
            remove=step.remove or (), kind=step.kind, tags=step.tags, scope=step.scope, metadata=step.metadata,
            superseded_by=step.superseded_by,
        )  # fmt: skip
    elif step.do == "delete":
        memory.forget_all([memory.resolve(_given(step.id, at, "id")).name])
    elif step.do == "store":
        asked = None if step.answers is None else memory.resolve(step.answers)
        scope = step.scope or (DEFAULT_SCOPE if asked is None else asked.path)
        draft = MemoryDraft(text=_given(step.text, at, "text"), tags=tuple(step.tags or ()), scope=scope)
        (stored,) = memory.store_batch([draft]).memories
        if asked is not None:
            memory.store_batch(relations=[(stored.record.name, asked.name, _ANSWERS)])
    else:
        ends = (_given(step.from_, at, "from"), _given(step.to, at, "to"), _given(step.type, at, "type"))
        if step.do == "relate":
            memory.store_batch(relations=[ends])
        else:
            memory.forget_all((), [ends])


def _given(value: str | None, at: int, name: str) -> str:
    if not value:
        raise Invalid(f"steps[{at}].{name} is missing", field=f"steps[{at}].{name}")
    return value


@operation("dismiss", "Dismiss")
def dismiss(
    context: Context,
    item: Annotated[str, about("The item of a review.", max_length=64)],
    project: Project | None = None,
    dismissed: bool = True,
) -> JsonObject:
    """Do not show an item of a review again, until one of its memories changes; or take it up again."""
    memory = shapes.in_project(context.memory, project)
    memory.note(_DISMISSED + item, "yes" if dismissed else None)
    return {"item": item, "dismissed": dismissed}
