"""What the operations share: how a function becomes one, its projects, and memories and changes as JSON."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any
from zlib import crc32

import msgspec
from msgspec import Struct
from msgspec.structs import asdict

from polymnia.dialects.notes import sentence
from polymnia.dialects.shapes import about, parameters
from polymnia.engine.batches import SUPERSEDED
from polymnia.engine.content import title_of
from polymnia.engine.ports import BACKGROUND, Snapshot
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid
from polymnia.models import Change, JsonObject, Record, Remark, Touch
from polymnia.operation import Context, Memory, Operation, Reply, credential_notes

Project = Annotated[str, about("The project.")]
Id = Annotated[str, about("An id, the beginning of one, or a name.")]
Ids = Annotated[list[str], about("Ids or names.")]
Time = Annotated[str, about("A date, a time, or words: last week.")]
Cursor = Annotated[str, about("The `next` of the page before.")]

_CHARACTERS = 100_000  # of a memory's texts that are shown unless the whole is asked for
_EFFECTS = 5


def _plain(name: str) -> str:
    """A parameter without the _ that tells it from a keyword of the language."""
    return name.rstrip("_")


class ApiParameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, rename=_plain):
    """What an operation takes. Unknown parameters are refused; an optional one may be left out or be null."""


def operation(name: str, title: str, **hints: Any) -> Callable[[Callable[..., JsonObject | Reply]], Operation]:
    """A function as an operation: its signature has the parameters, its docstring explains it.

    The answer of one that writes gets the numbers of the changes it made.
    """

    def made(run: Callable[..., JsonObject | Reply]) -> Operation:
        params = parameters(run, ApiParameters)

        def call(context: Context, given: Struct) -> Reply:
            arguments = {key: value for key, value in asdict(given).items() if value is not None}
            answer = run(context, **arguments)
            if isinstance(answer, Reply):
                return answer
            if not hints.get("reads"):
                notes = [{"code": one.code, "text": one.text} for one in credential_notes(context.memory.screen)]
                answer = {**answer, "changes": list(context.memory.made or ()), **({"notes": notes} if notes else {})}
            return Reply(value=answer)

        return Operation(
            name=name,
            title=title,
            params=params,
            run=call,
            output=None,
            help=" ".join((run.__doc__ or "").split()),
            project="project" if "project" in params.__struct_fields__ else None,
            **hints,
        )

    return made


def in_project(memory: Memory, project: str | None) -> Memory:
    """The memory of a project; the server's own without a name."""
    return memory if project is None else memory.acting(memory.author, project=project)


def opened(memory: Memory, project: str | None = None) -> list[Memory]:
    """The memories of a project, or of all projects that the caller may see."""
    names = memory.store.projects() if project is None else [project]
    return [in_project(memory, name) for name in names]


# ── cursors ───────────────────────────────────────────────────────────────────────────────────────────────


def encoded(place: Any, *asked: object) -> str:
    """An opaque cursor for a place in a listing, which is of use for the same question alone."""
    data = msgspec.json.encode([crc32(repr(asked).encode()), place])
    return urlsafe_b64encode(data).decode().rstrip("=")


def decoded(cursor: str | None, kind: Any, *asked: object) -> Any:
    """The place in a cursor; None without one."""
    if cursor is None:
        return None
    try:
        data = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        mark, place = msgspec.json.decode(data, type=tuple[int, kind])
        if mark == crc32(repr(asked).encode()):
            return place
    except (ValueError, msgspec.MsgspecError):
        pass
    hint = "Give the `next` of the page before, beside the same parameters; or start without one."
    raise Invalid("The cursor does not belong to this listing", field="cursor", hint=hint)


# ── values ────────────────────────────────────────────────────────────────────────────────────────────────


def title(record: Record) -> JsonObject:
    """A memory by its name."""
    return {"id": record.uid, "title": title_of(record), "kind": record.kind}


def head(record: Record, project: str) -> JsonObject:
    """A memory without its texts."""
    return {
        "project": project,
        "id": record.uid,
        "name": None if record.name == record.uid else record.name,
        "title": title_of(record),
        "kind": record.kind,
        "scope": record.path,
        "tags": list(record.tags),
        "created": moment(record.created),
        "updated": moment(record.updated),
        "version": record.version,
    }


def memory(record: Record, project: str, *, newer: Record | None = None, whole: bool = False) -> JsonObject:
    """A memory; of long texts only the beginning, unless the ``whole`` is asked for. ``newer`` has replaced it."""
    left = None if whole else _CHARACTERS
    observations = []
    for text in record.observations:
        shown = text if left is None else text[:left]
        left = None if left is None else left - len(shown)
        observations.append({"text": shown, "length": len(text), "cut": len(shown) < len(text)})
    return {
        **head(record, project),
        "session": record.session,
        "category": record.category,
        "summary": record.summary,
        "content_type": record.content_type,
        "metadata": record.metadata,
        "observations": observations,
        "superseded_by": None if newer is None else title(newer),
    }


def replacement(snapshot: Snapshot, record: Record) -> Record | None:
    """The memory that has replaced one, if any has and is there."""
    mark = record.metadata.get(SUPERSEDED)
    ids = snapshot.ids_of([mark]) if isinstance(mark, str) and mark else {}
    return next(iter(snapshot.load(list(ids.values()))), None)


def change(one: Change, project: str) -> JsonObject:
    """A change: when, by whom, and through what."""
    return {
        "project": project,
        "change": one.id,
        "at": moment(one.at),
        "action": one.action,
        "who": one.who,
        "account": one.account,
        "client": one.client,
        "dialect": one.dialect,
        "tool": one.tool,
        "background": one.action == BACKGROUND,
        "undoes": one.undoes,
        "undone_by": one.undone_by,
    }


def effects(snapshot: Snapshot, number: int) -> JsonObject:
    """What a change did to the first few memories and relations, and to how many in all."""
    touches = snapshot.effects(number)
    records = {one.id: one for one in snapshot.load([touch.memory for touch in touches[:_EFFECTS]])}
    return {
        "effects": [_effect(snapshot, one, records) for one in touches[:_EFFECTS]],
        "total": len(touches),
        **relation_effects(snapshot, number),
    }


def relation_effects(snapshot: Snapshot, number: int) -> JsonObject:
    """What a change did to the first few relations, those that somebody made first, and to how many in all."""
    touches = snapshot.relation_effects(number)
    shown = sorted(touches, key=lambda one: one.origin == "auto")[:_EFFECTS]
    ids = snapshot.ids(list(dict.fromkeys(name for one in shown for name in (one.source, one.target))))
    records = {record.name: record for record in snapshot.load(list(ids.values()))}

    def end(name: str) -> JsonObject:
        found = records.get(name)
        return {"id": None, "title": name, "kind": None} if found is None else title(found)

    relations = [
        {
            "how": one.how,
            "from": end(one.source),
            "to": end(one.target),
            "type": one.type,
            "automatic": one.origin == "auto",
        }
        for one in shown
    ]
    return {
        "relations": relations,
        "relations_total": len(touches),
        "relations_automatic": sum(one.origin == "auto" for one in touches),
    }


def _effect(snapshot: Snapshot, touch: Touch, records: dict[int, Record]) -> JsonObject:
    record = records.get(touch.memory)
    if record is not None:
        return {"how": touch.how, **title(record)}
    states = snapshot.versions(touch.memory)
    if not states:  # deleted for good
        return {"how": touch.how, "id": None, "title": None, "kind": None}
    gone = states[0][1]
    return {"how": touch.how, **title(gone), "id": gone.name}  # it is found by its name


def remarks(notes: Iterable[Remark], words: Callable[[Remark], str] = sentence) -> list[JsonObject]:
    """Notes of the engine: a code, the values, and a sentence."""
    return [{"code": one.code, "text": words(one), "values": one.values} for one in notes]


def most_frequent(counts: Sequence[dict[str, int]], most: int = 20) -> list[tuple[str, int]]:
    """Counts added up, most frequent first."""
    total: dict[str, int] = {}
    for some in counts:
        for value, count in some.items():
            total[value] = total.get(value, 0) + count
    return sorted(total.items(), key=lambda one: (-one[1], one[0]))[:most]
