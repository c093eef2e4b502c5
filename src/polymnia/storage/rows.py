"""Converts records and relations to rows, and back."""

from __future__ import annotations

import time
from struct import Struct
from typing import Any
from zlib import crc32

from msgspec.json import Decoder, encode

from polymnia.models import EntityDraft, JsonObject, Record, Relation, normal, skeleton
from polymnia.models import fold as fold

SPAN = 1 << 32
"""The number of row numbers that a project has."""

HOUR = 3_600_000_000
"""In microseconds; reads are counted by the hour."""

MEMORY_COLUMNS = (
    "id", "project", "uid", "name", "kind", "scope", "session", "category", "content_type", "summary",
    "tags", "metadata", "extra", "created", "updated", "version",
)  # fmt: skip
OBSERVATION_COLUMNS = ("id", "memory", "text")
RELATION_COLUMNS = (
    "id", "project", "source", "target", "type", "strength", "context", "metadata", "extra", "origin", "created",
)  # fmt: skip

SESSION_COLUMNS = ("id", "project", "name", "created")

# The binary format of the word index, also read by engine/search/index.py.
PASSAGE = Struct("<IIIHHBBBB")  # text, memory, thread, day, part, script, length, whether it has a vector, weight
POSTING = Struct("<IBB")  # passage, frequency, length of the passage

decode = Decoder().decode


def digest(text: str) -> int:
    """A hash of the normal form, to find texts that say the same."""
    return crc32(normal(text).encode())


def skeleton_hash(name: str) -> int:
    """A hash of what a name looks like, to find look-alikes."""
    return crc32(skeleton(name).encode())


def fold_or_none(text: str) -> str | None:
    """The folded form, if it differs from the text."""
    folded = fold(text)
    return None if folded == text else folded


def json_or_none(value: JsonObject | tuple[str, ...] | None) -> str | None:
    """JSON for a column; None for an empty value."""
    return encode(value).decode() if value else None


HEAD_COLUMNS = ("scope", "session", "category", "content_type", "summary", "tags", "metadata")
"""The optional columns of a record."""


def cell(column: str, value: Any) -> Any:
    """A value as stored in its column."""
    return json_or_none(value) if column in ("tags", "metadata", "extra") else value


def head(given: EntityDraft | Record) -> tuple[str | None, ...]:
    """The values of these columns."""
    return (
        given.scope, given.session, given.category, given.content_type, given.summary,
        json_or_none(given.tags), json_or_none(given.metadata),
    )  # fmt: skip


def drafted(draft: EntityDraft, id: int, uid: str, at: int) -> Record:
    """The record made from a draft."""
    return Record(
        id=id, uid=uid, name=draft.name, kind=draft.kind, observations=tuple(draft.observations), extra=draft.extra,
        scope=draft.scope, session=draft.session, category=draft.category, content_type=draft.content_type,
        summary=draft.summary, tags=draft.tags, metadata=draft.metadata, version=draft.version,
        created=at if draft.created is None else draft.created,
        updated=at if draft.updated is None else draft.updated,
    )  # fmt: skip


def record(row: tuple[Any, ...], texts: list[str]) -> Record:
    """A record from the columns of the statements `memory`, `memories` and `memories_after`."""
    tags, metadata, extra = row[9:12]
    return Record(
        id=row[0], uid=row[1], name=row[2], kind=row[3], observations=tuple(texts), scope=row[4], session=row[5],
        category=row[6], content_type=row[7], summary=row[8], tags=tuple(decode(tags)) if tags else (),
        metadata=decode(metadata) if metadata else {}, extra=decode(extra) if extra else {},
        created=row[12], updated=row[13], version=row[14],
    )  # fmt: skip


def relation(row: tuple[Any, ...]) -> Relation:
    """A relation from the columns of the relation statements."""
    id, source, target, type, strength, context, metadata, extra, origin, created = row
    return Relation(
        id=id, source=source, target=target, type=type, strength=strength, context=context,
        metadata=decode(metadata) if metadata else {}, extra=decode(extra) if extra else {},
        origin=origin, created=created,
    )  # fmt: skip


def now() -> int:
    """Microseconds since 1970 in UTC."""
    return time.time_ns() // 1000
