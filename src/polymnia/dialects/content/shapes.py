"""What the operations share: periods, items, relationships and versions as they are taken and answered; their schema.

The types of answers describe dictionaries. The reference, the generator of the clients and the tests read them: every
answer of the contract tests must fit its type and have no field that the type does not name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import TYPE_CHECKING, Annotated, Any, NotRequired, TypeAlias, TypedDict

from msgspec import Meta, Struct

from polymnia.dialects.budget import NextCursor
from polymnia.dialects.shapes import about
from polymnia.engine.content import PLAIN, Version, content, title_of
from polymnia.engine.text.calendar import moment, parse_time
from polymnia.errors import Invalid
from polymnia.models import Filters, JsonObject, Record, Relation
from polymnia.operation import schema

if TYPE_CHECKING:
    from polymnia.dialects.content.call import Operations
    from polymnia.engine.search.results import Turn

_SUMMARY = 300
_DAY = 86_400_000_000
_FIELDS = "summary tags metadata content_type kind scope session category"
_EVERYWHERE = frozenset(("operation", "project_id", "session_id", "user_id", "request_id", "max_tokens", "cursor"))
_COMPARED = {"content": "observations"} | {name: name for name in _FIELDS.split()}

Text = Annotated[str, Meta(min_length=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Object: TypeAlias = JsonObject
Item = Annotated[str, about("The id of the item.")]
Labels = Annotated[list[str], about("Labels.")]
More = Annotated[Object, about("Anything else to keep with it.")]
Types = Annotated[list[str], about("Only items of these MIME types.")]
Tagged = Annotated[list[str], about("Only items with one of these labels.")]
Notes = Annotated[list[str], about("Remarks that help to read the answer, for example why nothing was found.")]


class DateRange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A time from start to end; each of them may be left out."""

    start: Annotated[str, about("From this ISO date or time.")] | None = None
    end: Annotated[str, about("Up to this ISO date or time; a date includes its whole day.")] | None = None


Period = Annotated[DateRange | None, about("Only items stored in this time.")]


def period(given: DateRange | None, where: str) -> tuple[int | None, int | None]:
    """From and to in microseconds; a bare date as the end means the end of its day."""
    if given is None:
        return None, None
    start = None if given.start is None else parse_time(given.start, f"{where}.start")
    end = None
    if given.end is not None:
        is_date = len(given.end.strip()) <= len("2025-07-10")
        end = parse_time(given.end, f"{where}.end") + (_DAY if is_date else 1)
    if start is not None and end is not None and start >= end:
        raise Invalid(f"{where}.start is after {where}.end", field=f"{where}.start", hint="Exchange the two.")
    return start, end


def selection(given: Any, session: str | None) -> Filters:
    """The items that the filters of a search or an export let through, as a session sees them."""
    start, end = period(given.date_range, "filters.date_range")
    return Filters(
        session=session,
        any_session=False,
        content_types=tuple(given.content_types or ()),
        tags=tuple(given.tags or ()),
        created_from=start,
        created_to=end,
        metadata=getattr(given, "metadata", None) or {},
    )


class Answer(TypedDict):
    """What every operation answers."""

    success: Annotated[bool, about("Always true: an operation that fails answers with an error instead.")]
    timestamp: Annotated[str, about("When the operation was done: UTC, ISO 8601.")]
    duration: Annotated[str, about('How long the server took, for example "12ms".')]
    request_id: NotRequired[Annotated[str, about("The request_id of the call, where it had one.")]]
    next_cursor: NotRequired[NextCursor]


class WriteAnswer(Answer):
    """What every operation that writes answers."""

    message: Annotated[str, about("What was done, as a sentence.")]
    repeated: NotRequired[
        Annotated[
            bool,
            about(
                "True when a call with this request_id was done before: this is the answer of that call, and nothing "
                "was written again."
            ),
        ]
    ]
    notes: NotRequired[Notes]


class ContentItem(TypedDict):
    """An item with its text."""

    content_id: Annotated[str, about("The id of the item.")]
    title: Annotated[str, about("Its title: given, read from the text, or the beginning of the text.")]
    content: Annotated[str, about("The text.")]
    content_type: Annotated[str, about("The MIME type of the text.")]
    kind: Annotated[str, about("content, decision, or the type of an entity of the graph.")]
    tags: Annotated[list[str], about("Its labels.")]
    summary: NotRequired[Annotated[str, about("A summary, where one was stored.")]]
    metadata: NotRequired[Annotated[Object, about("Whatever was stored with it.")]]
    session_id: NotRequired[Annotated[str, about("The session it belongs to, where it belongs to one.")]]
    created_at: Annotated[str, about("When it was stored first: UTC, ISO 8601.")]
    updated_at: Annotated[str, about("When it was changed last: UTC, ISO 8601.")]
    version: Annotated[int, about("Its version, counted from 1.")]


def present(**fields: Any) -> Object:
    """The fields that have a value."""
    return {key: value for key, value in fields.items() if value is not None}


def item(record: Record, *, metadata: bool = True) -> Object:
    """An item in full."""
    return present(
        content_id=record.uid,
        title=title_of(record),
        content=content(record),
        content_type=record.content_type or PLAIN,
        kind=record.kind,
        tags=list(record.tags),
        summary=record.summary,
        metadata=record.metadata if metadata else None,
        session_id=record.session,
        created_at=moment(record.created),
        updated_at=moment(record.updated),
        version=record.version,
    )


def summarised(record: Record, *, metadata: bool = True) -> Object:
    """An item with its summary, or its beginning, in place of its text."""
    fields = item(record, metadata=metadata)
    text = fields.pop("content")
    fields.setdefault("summary", text if len(text) <= _SUMMARY else text[:_SUMMARY].rstrip() + "…")
    return fields


def minimal(record: Record) -> Object:
    """What an item is called."""
    fields = item(record)
    return {name: fields[name] for name in ("content_id", "title", "content_type", "version")}


class SurroundingTurn(TypedDict):
    """What was said just before or after a result that is a turn of a dialogue."""

    content_id: Annotated[str, about("The id of that turn.")]
    content: Annotated[str, about("What was said; the beginning of it where it is long.")]
    who: NotRequired[Annotated[str, about("Who said it, where that is known.")]]
    truncated: NotRequired[Annotated[bool, about("True when only the beginning is given.")]]


def turn(said: Turn | None) -> Object | None:
    """What was said just before or after an item that is a turn of a dialogue; of a long one the beginning."""
    if said is None:
        return None
    return present(content_id=said.id, content=said.text, who=said.who, truncated=said.cut or None)


class Relationship(TypedDict):
    """A directed relationship between two items."""

    relationship_id: Annotated[str, about("The id of the relationship.")]
    source_id: Annotated[str, about("The item it starts at.")]
    target_id: Annotated[str, about("The item it leads to.")]
    type: Annotated[str, about("What the source is to the target, for example references or part_of.")]
    origin: Annotated[str, about("Who made it: manual (a caller) or auto (the server found it).")]
    created_at: Annotated[str, about("When it was made: UTC, ISO 8601.")]
    strength: NotRequired[Annotated[float, about("How strong it is, from 0 to 1, where that is known.")]]
    context: NotRequired[Annotated[str, about("Why it was made, where that was given or found.")]]
    metadata: NotRequired[Annotated[Object, about("Whatever was stored with it.")]]
    deleted: NotRequired[Annotated[bool, about("True when one of its two items was deleted.")]]


def relationship(relation: Relation, source: str | None, target: str | None) -> Object:
    """A relationship between two items by their ids; an end that is gone by its name."""
    return present(
        relationship_id=relation.uid,
        source_id=relation.source if source is None else source,
        target_id=relation.target if target is None else target,
        type=relation.type,
        origin=relation.origin,
        created_at=moment(relation.created),
        strength=relation.strength,
        context=relation.context,
        metadata=relation.metadata or None,
        deleted=True if source is None or target is None or relation.metadata.get("deleted") else None,
    )


class ContentVersion(TypedDict):
    """One version of an item, and who made it."""

    version: Annotated[int, about("The number of the version, counted from 1.")]
    content: Annotated[str, about("The text of this version.")]
    summary: Annotated[str | None, about("Its summary; null where it had none.")]
    tags: Annotated[list[str], about("Its labels.")]
    metadata: Annotated[Object, about("Its metadata.")]
    updated_at: Annotated[str, about("When this version was made: UTC, ISO 8601.")]
    changed_by: Annotated[str, about("Who made it, in one line.")]
    account: Annotated[str | None, about("The account that made it, where that is known.")]
    client: Annotated[str | None, about("The program that made it, where that is known.")]
    dialect: Annotated[str | None, about("The dialect it was made through, where that is known.")]
    tool: Annotated[str | None, about("The tool that made it, where that is known.")]
    change: Annotated[str, about("What the call did, in a word or two.")]
    change_id: Annotated[int, about("The number of the change in the history of the store.")]
    diff: NotRequired[Annotated[str, about("What it changed in the text, as a unified diff; with include_diffs.")]]
    changed_fields: NotRequired[
        Annotated[list[str], about("Which fields it changed; with include_diffs. created for the first.")]
    ]


def version(one: Version, before: Version | None, diffs: bool) -> Object:
    """A version of an item, and with ``diffs`` what it changed."""
    record, change = one.record, one.change
    fields: Object = {
        "version": record.version,
        "content": content(record),
        "summary": record.summary,
        "tags": list(record.tags),
        "metadata": record.metadata,
        "updated_at": moment(record.updated),
        "changed_by": change.who,
        "account": change.account,
        "client": change.client,
        "dialect": change.dialect,
        "tool": change.tool,
        "change": change.action,
        "change_id": change.id,
    }
    return fields | _changes(None if before is None else before.record, record) if diffs else fields


def _changes(old: Record | None, new: Record) -> Object:
    """What a version changed: the lines that differ, as a unified diff, and the names of the fields."""
    from difflib import unified_diff

    names = ("nothing" if old is None else f"version {old.version}", f"version {new.version}")
    lines = unified_diff((content(old) if old else "").splitlines(), content(new).splitlines(), *names, lineterm="")
    changed = [name for name, field in _COMPARED.items() if old and getattr(old, field) != getattr(new, field)]
    return {"diff": "\n".join(lines), "changed_fields": changed if old else ["created"]}


def united(operations: Operations) -> Object:
    """The schema of a tool: the operation says which parameters each takes, a parameter what its limits are where."""
    shapes: dict[str, dict[str, Object]] = {}
    takes = []
    for name, one in operations.items():
        own = schema(one.params)
        takes.append(f"{name}({', '.join(_signature(one.project, own))})")
        for key, value in own["properties"].items():
            shapes.setdefault(key, {})[name] = value
    properties = {key: _parameter(by) for key, by in shapes.items()}
    properties["operation"] = {
        "type": "string",
        "enum": list(operations),
        "description": f"Each takes project_id and (? is optional): {'; '.join(takes)}.",
    }
    return {"type": "object", "properties": properties, "required": ["operation"]}


def _signature(project: bool, shape: Object) -> Iterator[str]:
    """The parameters of an operation as a call shows them, without those that every operation takes."""
    for key, part in shape["properties"].items():
        if key not in _EVERYWHERE or (key == "project_id" and not project):
            optional = "" if key in shape["required"] else "?"
            parts = f"{{{', '.join(part['properties'])}}}" if key == "options" else ""
            yield f"{key}{optional}{parts}"


def _parameter(by_operation: Mapping[str, Object]) -> Object:
    """A parameter of several operations as one."""
    whole = reduce(_either, by_operation.values())
    limits: dict[str, list[str]] = {}
    for name, shape in by_operation.items():
        limits.setdefault(_limits(shape), []).append(name)
    about = [whole.get("description", "")]
    if len(limits) > 1:
        about += [f"{text} for {', '.join(names)}." for text, names in limits.items() if text]
    return {**whole, "description": " ".join(filter(None, about))}


def _limits(one: Object) -> str:
    """The limits and the default of a number in words."""
    if one.get("type") not in ("integer", "number"):
        return ""
    least, most, default = one.get("minimum"), one.get("maximum"), one.get("default")
    text = f"{least} to {most}" if None not in (least, most) else ""
    return text if default is None else f"{text} (default {default})"


def _either(one: Object, other: Object) -> Object:
    """A schema that allows what either allows, and says what holds for both."""
    if one.get("type") != other.get("type"):
        return {k: v for k, v in one.items() if k == "description"}
    united = {key: value for key, value in one.items() if other.get(key) == value or key in ("type", "description")}
    if one.get("type") == "object":
        mine, yours = one.get("properties", {}), other.get("properties", {})
        both = {**mine, **yours}
        both |= {key: _either(mine[key], yours[key]) for key in mine if key in yours}
        return {**united, "properties": both} if both else united
    if "enum" in one and "enum" in other:
        united["enum"] = list(dict.fromkeys((*one["enum"], *other["enum"])))
    for limit, wider in (("minimum", min), ("maximum", max), ("minLength", min), ("maxLength", max)):
        if limit in one and limit in other:
            united[limit] = wider(one[limit], other[limit])
    return united
