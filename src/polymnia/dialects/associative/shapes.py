"""What the tools share: the base of their parameters, the fields of memories and links, and how an answer is made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import asdict, replace

from polymnia.dialects.budget import FIELDS, LIMIT, fitted
from polymnia.dialects.shapes import about, or_null, parameters
from polymnia.engine.content import content
from polymnia.engine.text.calendar import moment
from polymnia.errors import NoModel
from polymnia.models import JsonObject, Note, Record, Relation
from polymnia.operation import Context, Memory, Operation, Reply

_BEGINNING = 300  # characters of a memory that is only mentioned beside another

Id = Annotated[str, about("Required. The memory's id.")]
Share = Annotated[float, Meta(ge=0, le=1)]
MemoryId = Annotated[str, about("The id of the memory.")]
Text = Annotated[str, about("Its text.")]
Beginning = Annotated[str, about("Its text; the beginning of it where it is long.")]
Cut = Annotated[bool, about("True when only the beginning of the text is given.")]
Filed = Annotated[str, about("The scope it is filed in.")]
CreatedAt = Annotated[str, about("When it was stored first: UTC, ISO 8601.")]
UpdatedAt = Annotated[str, about("When it was changed last: UTC, ISO 8601.")]
Score = Annotated[float, about("How similar it is, from 0 to 1.")]
Tags = Annotated[list[str], about("Its labels.")]
Category = Annotated[str, about("What sort of memory it is, where that was given.")]
Metadata = Annotated[JsonObject, about("Whatever was stored with it.")]
Name = Annotated[str, about("The name, where it is an entity of the graph.")]
Kind = Annotated[str, about("The type, where it is an entity of the graph.")]
LinkType = Annotated[str, about("The type of the link between the two.")]
Direction = Annotated[str, about("outgoing: the link leads to this memory; incoming: it comes from it.")]
Remarks = Annotated[list[str], about("Remarks that help to read the answer.")]
Success = Annotated[bool, about("Always true: what fails is answered as an error.")]


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What a tool takes. Unknown parameters are refused; an optional one may be left out or be null."""


class SimilarMemory(Struct, frozen=True, omit_defaults=True):
    """A memory that is nearly the same as one that was stored."""

    memory_id: MemoryId
    content: Beginning
    scope: Filed
    similarity_score: Score
    truncated: Cut = False
    name: Name | None = None
    says_the_same: Annotated[bool, about("True when it says the same in other words, as the model judges.")] = False


class LinkedMemory(Struct, frozen=True, omit_defaults=True):
    """A memory that another one is linked to, and by what relation."""

    memory_id: MemoryId
    content: Beginning
    similarity_score: Annotated[
        float | None,
        or_null("number", "How similar the two are, from 0 to 1, for a link made by similarity; null for any other."),
    ]
    relation_type: LinkType
    direction: Direction
    strength: (
        Annotated[float, about("How strong the link is, from 0 to 1, where somebody gave that with it.")] | None
    ) = None
    truncated: Cut = False
    name: Name | None = None


Links = Annotated[list[LinkedMemory], about("The memories it is linked to; unless include_associations is false.")]


def tool(
    name: str, title: str, output: type, *, lists: Sequence[str] = (), whole: Sequence[str] = (), **hints: Any
) -> Callable[[Callable[..., Reply]], Operation]:
    """A function as a tool of this dialect: its signature has the parameters, its docstring explains it.

    The parameters may all come in ``request``. ``lists`` and ``whole`` are the parts of a long answer: see ``fitted``.
    """
    more = [one for one in FIELDS if hints.get("reads") or (whole and one[0] == "max_tokens")]

    def made(run: Callable[..., Reply]) -> Operation:
        own_limit = "limit" in run.__code__.co_varnames[: run.__code__.co_argcount]
        extra = [*more, *([LIMIT] if lists and hints.get("reads") and not own_limit else [])]

        def call(context: Context, params: Struct) -> Reply:
            given = {key: value for key, value in asdict(params).items() if value is not None}
            most, cursor = (given.pop(name, None) for name, *_ in FIELDS)
            limit = None if own_limit else given.pop("limit", None)
            reply = run(context, **given)
            room = most or context.budget
            return fitted(reply, room, lists=lists, whole=whole, cursor=cursor, limit=limit, takes_budget=bool(more))

        return Operation(
            name=name,
            title=title,
            params=parameters(run, Parameters, more=extra),
            run=call,
            output=output,
            help=" ".join((run.__doc__ or "").split()),
            wrapped="request",
            **hints,
        )

    return made


def reply(value: Struct, notes: Sequence[Note] = ()) -> Reply:
    """An answer as text and as structure. A model reads the notes in a field of it."""
    if notes:
        value = replace(value, notes=[note.text for note in notes])
    return Reply(value=value, structured=value, notes=notes)


def entity_name(record: Record) -> str | None:
    """The name of a graph entity; a content is called by its id alone."""
    return None if record.name == record.uid else record.name


def fields(record: Record) -> JsonObject:
    """What every answer that has a memory in full says of it; of a graph entity its name and kind, too."""
    entity = {} if record.name == record.uid else {"name": record.name, "kind": record.kind}
    return {
        "memory_id": record.uid,
        "content": content(record),
        "scope": record.path,
        "created_at": moment(record.created),
        "category": record.category,
        "tags": list(record.tags),
        "metadata": record.metadata,
        **entity,
    }


def beginning(record: Record) -> tuple[str, bool]:
    """The beginning of a memory, and whether it was cut."""
    whole = content(record)
    return (whole, False) if len(whole) <= _BEGINNING else (whole[:_BEGINNING] + "…", True)


def linked(record: Record, relation: Relation) -> LinkedMemory:
    """A memory at the other end of a relation."""
    text, cut = beginning(record)
    strength = None if relation.strength is None else round(relation.strength, 4)
    auto = relation.origin == "auto"
    return LinkedMemory(
        memory_id=record.uid,
        content=text,
        similarity_score=strength if auto else None,
        relation_type=relation.type,
        direction=direction(relation, record),
        strength=None if auto else strength,
        truncated=cut,
        name=entity_name(record),
    )


def direction(relation: Relation, other: Record) -> str:
    """Whether a relation leads to another memory or comes from it."""
    return "incoming" if relation.source == other.name else "outgoing"


def similar(record: Record, similarity: float, *, says_the_same: bool = False) -> SimilarMemory:
    """A memory that is nearly the same."""
    text, cut = beginning(record)
    scope = record.path
    return SimilarMemory(record.uid, text, scope, similarity, cut, entity_name(record), says_the_same)


def check_meaning(memory: Memory) -> None:
    """A search whose model is broken is no search by meaning, and must not look like one."""
    if (fault := memory.finding().broken()) is not None:
        raise NoModel(
            f"Search by meaning failed: {fault.message}",
            hint=f"{fault.hint} Nothing is lost. To search by words alone, start with --embedder none.",
        )


def unknown_scope(memory: Memory, scope: str) -> Note:
    """A scope in which nothing was found, because there is no such scope."""
    near = memory.nearest_scope(scope)
    what_to_do = "scope_list shows what there is." if near is None else f"did you mean {near!r}?"
    return Note("no_scope", f"There is no scope {scope!r}; {what_to_do}")
