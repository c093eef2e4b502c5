"""Content: memories whose name is their id and whose single observation is what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from polymnia.engine.ports import Snapshot, Transaction
from polymnia.errors import Invalid, ManyTexts, NotFound, OverLimit
from polymnia.models import (
    EntityDraft,
    JsonObject,
    Limits,
    Record,
    Relation,
    RelationDraft,
    Text,
    legal_name,
    legal_text,
)

KIND = "memory"
"""The kind of a memory whose author gave it none."""

_TAGS = 1000


class Joined(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a duplicate added to the memory that was there; ``replaced`` are the values it had before."""

    tags: list[str] = []
    category: str | None = None
    metadata: JsonObject = {}
    replaced: JsonObject = {}


class Remembered(Struct, frozen=True, kw_only=True):
    """What became of a content that was given to be stored.

    When it is a ``duplicate``, ``record`` is the memory that says exactly the same already; what was new about the
    tags, category and metadata that came with it is ``joined`` to that one. Otherwise ``similar`` are memories that
    are nearly the same, with how similar they are; of these ``reworded`` (their ids) say the same in other words, by
    the judge of pairs. ``associations`` are the relations of the record, strongest first,
    with the record at their other end; more of them come in the background while they are ``pending``.
    """

    record: Record
    duplicate: bool = False
    joined: Joined | None = None
    similar: list[tuple[Record, float]] = []
    reworded: frozenset[str] = frozenset()
    associations: list[tuple[Record, Relation]] = []
    pending: bool = False
    notes: list[str] = []


class Revised(Struct, frozen=True, kw_only=True):
    """A memory as it is after a revision, and whether anything is another now.

    ``same`` is another memory of its scope that says exactly what it says now. While associations are ``pending``,
    more of them come in the background.
    """

    record: Record
    changed: bool
    same: Record | None = None
    associations: list[tuple[Record, Relation]] = []
    pending: bool = False


class Moved(Struct, frozen=True, kw_only=True):
    """What became of memories that were to be moved: (id, old scope, new scope); ids that were there; (id, why not).

    ``same`` are pairs of ids: one that was moved, and one of its new scope that says exactly the same.
    """

    scope: str
    moved: list[tuple[str, str, str]] = []
    there: list[str] = []
    failed: list[tuple[str, str]] = []
    same: list[tuple[str, str]] = []


def content(record: Record) -> str:
    """What a memory says: its observations line by line, or its name when it has none but was given one."""
    return "\n".join(record.observations) or ("" if record.name == record.uid else record.name)


def read_as(record: Record) -> tuple[Text, Text]:
    """The head and the text of a memory that says one thing, as search reads them; they are numbered 0 and 1."""
    name = "" if record.name == record.uid else record.name  # a name that is the id says nothing
    head = Text(
        id=0, memory=0, name=name, kind=record.kind, body=None, session=record.session, created=record.created,
        tags=record.tags, category=record.category, summary=record.summary, bare=not record.observations,
        scope=record.scope,
    )  # fmt: skip
    body = Text(
        id=1, memory=0, name=name, kind=record.kind, body=content(record), session=record.session,
        created=record.created, scope=record.scope,
    )  # fmt: skip
    return head, body


def same_there(snapshot: Snapshot, record: Record, scope: str | None) -> int | None:
    """Another memory of a scope that says exactly what this one says; None also for what has several texts."""
    if len(record.observations) != 1:
        return None
    found = snapshot.same_text(record.observations[0], scope)
    return None if found == record.id else found


def pairs(snapshot: Snapshot, same: Mapping[str, int]) -> list[tuple[str, str]]:
    """Ids of memories with the ids of those that say the same."""
    uids = {record.id: record.uid for record in snapshot.load(list(set(same.values())))} if same else {}
    return [(uid, uids[other]) for uid, other in same.items() if other in uids]


def as_draft(record: Record) -> EntityDraft:
    """A record as the draft of one that says the same."""
    return EntityDraft(
        record.name, record.kind, record.observations, record.extra, record.scope, record.session, record.category,
        record.content_type, record.summary, record.tags, record.metadata, record.uid,
    )  # fmt: skip


def joined(there: Record, tags: Sequence[str], category: str | None, metadata: Mapping[str, Any]) -> Joined | None:
    """What these would add to a memory; None when it has all of it. Of two values the new one stands."""
    new_tags = [tag for tag in tags if tag not in there.tags]
    new_category = category if category != there.category else None
    new_metadata = {k: v for k, v in metadata.items() if k not in there.metadata or there.metadata[k] != v}
    if not (new_tags or new_category or new_metadata):
        return None
    replaced: JsonObject = {}
    if new_category and there.category:
        replaced["category"] = there.category
    if old := {key: there.metadata[key] for key in new_metadata if key in there.metadata}:
        replaced["metadata"] = old
    return Joined(tags=new_tags, category=new_category, metadata=new_metadata, replaced=replaced)


def join(tx: Transaction, there: Record, added: Joined) -> Record:
    """A memory with what a duplicate of it brought along."""
    changes: JsonObject = {}
    if added.tags:
        changes["tags"] = (*there.tags, *added.tags)
    if added.category:
        changes["category"] = added.category
    if added.metadata:
        changes["metadata"] = there.metadata | added.metadata
    tx.revise(there.id, changes)
    (now,) = tx.load([there.id])
    return now


def still_there(tx: Transaction, drawn: Sequence[RelationDraft]) -> list[RelationDraft]:
    """The drafts whose target nobody has deleted meanwhile."""
    there = tx.ids([one.target for one in drawn]) if drawn else {}
    return [one for one in drawn if one.target in there]


def finds(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, int]:
    """The records of these public ids, or of these names where no id is so called."""
    found = snapshot.ids_of(ids) if ids else {}
    if others := [id for id in ids if id not in found]:
        found |= snapshot.ids(others)
    return found


def find(snapshot: Snapshot, id: str) -> Record:
    """The memory of a public id, or of a name."""
    records = snapshot.load(list(finds(snapshot, [id]).values()))
    if not records:
        raise NotFound([id], "Memory", hint="Search for it, or list what there is.")
    return records[0]


def check_one_text(record: Record, text: str) -> None:
    """Refuse a text that would replace several."""
    if len(record.observations) > 1 and text != content(record):
        raise ManyTexts(record.name, len(record.observations))


def check_tags(tags: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """Tags as they are kept: each once, in order, trimmed."""
    if isinstance(tags, str):
        raise Invalid("tags must be a list of texts, not a text", field="tags", hint="Put it in brackets: [tag].")
    if len(tags) > limits.batch:
        raise OverLimit("tags", len(tags), "items", limits.batch, "max_batch")
    kept: dict[str, None] = {}
    for i, tag in enumerate(tags):
        trimmed = legal_name(tag, f"tags[{i}]", limits).strip()
        if not trimmed:
            raise Invalid(f"tags[{i}] is empty", field=f"tags[{i}]")
        kept[trimmed] = None
    if len(kept) > _TAGS:
        raise Invalid(f"tags has {len(kept):,} items, over {_TAGS:,}", field="tags")
    return tuple(kept)


def check_metadata(metadata: Mapping[str, Any], limits: Limits) -> JsonObject:
    """Metadata as it is kept: any JSON object whose texts are legal and whose numbers fit 64 bits."""
    from msgspec.json import encode

    check_room(metadata, limits)
    check_value(metadata, "metadata")
    try:
        encode(metadata)
    except (TypeError, ValueError, OverflowError) as e:
        raise Invalid(f"metadata cannot be kept: {e}", field="metadata") from None
    return dict(metadata)


def check_room(metadata: Mapping[str, Any] | None, limits: Limits) -> None:
    """Refuse metadata that is too large, before anybody looks at what is in it."""
    from msgspec.json import encode

    try:
        size = len(encode(metadata))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return  # what is wrong with it is told by whoever looks at it closely
    if size > limits.text_bytes:
        raise OverLimit("metadata", size, "bytes", limits.text_bytes, "max_text_bytes")


def check_value(value: Any, where: str, depth: int = 0) -> None:
    """Refuse what is no JSON, or holds what cannot be stored, and name the place."""
    if depth > 100:
        raise Invalid(f"{where} is nested deeper than 100", field=where)
    if isinstance(value, str):
        legal_text(value, where, 1 << 40)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise Invalid(f"{where} is a whole number beyond 64 bits", field=where)
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise Invalid(f"{where} is {value}, which is no number that can be kept", field=where)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise Invalid(f"{where} has a key that is no text: {key!r}", field=where)
            legal_text(key, f"{where} (a key of it)", 1 << 40)
            check_value(inner, f"{where}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            check_value(inner, f"{where}[{i}]", depth + 1)
    else:
        raise Invalid(f"{where} is {type(value).__name__}, which is no JSON", field=where)
