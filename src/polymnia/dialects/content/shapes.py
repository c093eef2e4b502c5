"""What the operations share: periods, items, relationships and versions as they are taken and answered.

The types of answers describe dictionaries. The reference, the generator of the clients and the tests read them: every
answer of the contract tests must fit its type and have no field that the type does not name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, NotRequired, TypeAlias, TypedDict

from msgspec import Meta, Struct

from polymnia.dialects.shapes import about
from polymnia.engine.content import PLAIN, Version, content, title_of
from polymnia.engine.text.calendar import moment, read_moment
from polymnia.errors import Invalid
from polymnia.models import JsonObject, Record, Relation

if TYPE_CHECKING:
    from polymnia.engine.search.results import Turn

_SUMMARY = 300
_DAY = 86_400_000_000

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
    start = None if given.start is None else read_moment(given.start, f"{where}.start")
    end = None
    if given.end is not None:
        is_date = len(given.end.strip()) <= len("2025-07-10")
        end = read_moment(given.end, f"{where}.end") + (_DAY if is_date else 1)
    if start is not None and end is not None and start >= end:
        raise Invalid(f"{where}.start is after {where}.end", field=f"{where}.start", hint="Exchange the two.")
    return start, end


class Answer(TypedDict):
    """What every operation answers."""

    success: Annotated[bool, about("Always true: an operation that fails answers with an error instead.")]
    timestamp: Annotated[str, about("When the operation was done: UTC, ISO 8601.")]
    duration: Annotated[str, about('How long the server took, for example "12ms".')]
    request_id: NotRequired[Annotated[str, about("The request_id of the call, where it had one.")]]


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


def item(record: Record, *, metadata: bool = True) -> Object:
    """An item in full."""
    fields: Object = {
        "content_id": record.uid,
        "title": title_of(record),
        "content": content(record),
        "content_type": record.content_type or PLAIN,
        "kind": record.kind,
        "tags": list(record.tags),
    }
    if record.summary is not None:
        fields["summary"] = record.summary
    if metadata:
        fields["metadata"] = record.metadata
    if record.session is not None:
        fields["session_id"] = record.session
    fields["created_at"] = moment(record.created)
    fields["updated_at"] = moment(record.updated)
    fields["version"] = record.version
    return fields


def summarised(record: Record, *, metadata: bool = True) -> Object:
    """An item with its summary, or its beginning, in place of its text."""
    fields = item(record, metadata=metadata)
    text = fields.pop("content")
    fields.setdefault("summary", text if len(text) <= _SUMMARY else text[:_SUMMARY].rstrip() + "…")
    return fields


def minimal(record: Record) -> Object:
    """What an item is called."""
    return {
        "content_id": record.uid,
        "title": title_of(record),
        "content_type": record.content_type or PLAIN,
        "version": record.version,
    }


class SurroundingTurn(TypedDict):
    """What was said just before or after a result that is a turn of a dialogue."""

    content_id: Annotated[str, about("The id of that turn.")]
    content: Annotated[str, about("What was said; the beginning of it where it is long.")]
    who: NotRequired[Annotated[str, about("Who said it, where that is known.")]]
    truncated: NotRequired[Annotated[bool, about("True when only the beginning is given.")]]


def turn(said: Turn) -> SurroundingTurn:
    """What was said just before or after an item that is a turn of a dialogue; of a long one the beginning."""
    fields: SurroundingTurn = {"content_id": said.id, "content": said.text}
    if said.who is not None:
        fields["who"] = said.who
    if said.cut:
        fields["truncated"] = True
    return fields


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


def relationship(relation: Relation, source: str | None, target: str | None) -> Relationship:
    """A relationship between two items by their ids; an end that is gone by its name."""
    fields: Relationship = {
        "relationship_id": relation.uid,
        "source_id": relation.source if source is None else source,
        "target_id": relation.target if target is None else target,
        "type": relation.type,
        "origin": relation.origin,
        "created_at": moment(relation.created),
    }
    if relation.strength is not None:
        fields["strength"] = relation.strength
    if relation.context is not None:
        fields["context"] = relation.context
    if relation.metadata:
        fields["metadata"] = relation.metadata
    if source is None or target is None or relation.metadata.get("deleted"):
        fields["deleted"] = True
    return fields


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


def version(one: Version, before: Version | None, diffs: bool) -> ContentVersion:
    """A version of an item, and with ``diffs`` what it changed."""
    record = one.record
    fields: ContentVersion = {
        "version": record.version,
        "content": content(record),
        "summary": record.summary,
        "tags": list(record.tags),
        "metadata": record.metadata,
        "updated_at": moment(record.updated),
        "changed_by": one.change.who,
        "account": one.change.account,
        "client": one.change.client,
        "dialect": one.change.dialect,
        "tool": one.change.tool,
        "change": one.change.action,
        "change_id": one.change.id,
    }
    if diffs:
        fields["diff"] = _difference(None if before is None else before.record, record)
        fields["changed_fields"] = _changed(None if before is None else before.record, record)
    return fields


def _difference(old: Record | None, new: Record) -> str:
    """The lines that differ, as a unified diff; empty where the text is the same."""
    from difflib import unified_diff

    was = "" if old is None else content(old)
    names = ("nothing" if old is None else f"version {old.version}", f"version {new.version}")
    lines = unified_diff(was.splitlines(), content(new).splitlines(), *names, lineterm="")
    return "\n".join(lines)


def _changed(old: Record | None, new: Record) -> list[str]:
    if old is None:
        return ["created"]
    fields = ("summary", "tags", "metadata", "content_type", "kind", "scope", "session", "category")
    changed = [field for field in fields if getattr(old, field) != getattr(new, field)]
    return (["content"] if old.observations != new.observations else []) + changed
