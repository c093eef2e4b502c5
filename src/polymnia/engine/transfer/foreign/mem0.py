"""Memories exported from mem0."""

from __future__ import annotations

from collections.abc import Iterator

from polymnia.engine.transfer.foreign.items import (
    left_out,
    memory_item,
    relation_item,
    rest_of,
    scope_of,
    stable_id,
    text_of,
    time_of,
)
from polymnia.engine.transfer.formats.records import Item, JsonObject

_OWN = ("id", "memory", "hash", "created_at", "updated_at", "score", "metadata", "user_id", "categories")


def is_mem0(record: JsonObject) -> bool:
    """Whether a record is a memory of mem0, or a relation of its graph."""
    is_memory = isinstance(record.get("memory"), str) and bool(
        record.keys() & {"id", "hash", "user_id", "agent_id", "run_id", "created_at"}
    )
    return is_memory or all(_relation(record))


def _relation(record: JsonObject) -> tuple[str, str, str]:
    other = record.get("target", record.get("destination"))
    return text_of(record.get("source")), text_of(record.get("relationship")), text_of(other)


def read_mem0(record: JsonObject) -> Iterator[Item]:
    """A memory; one of a user is filed under the scope of the user. Ends of relations are names."""
    if "memory" not in record:
        source, type, target = _relation(record)
        yield relation_item(type, source_name=source, target_name=target)
        return
    text, given = record["memory"], record.get("metadata")
    if not text.strip():
        yield left_out("memories without a text")
        return
    user, categories = text_of(record.get("user_id")), record.get("categories")
    owners = [(key.removesuffix("_id"), text_of(record.get(key))) for key in ("user_id", "agent_id", "run_id")]
    owner = next(((kind, id) for kind, id in owners if id), None)
    scope = scope_of(*owner) if owner else None
    own = (
        _OWN if scope == f"user/{user}" else [key for key in _OWN if key != "user_id"]
    )  # a scope may not hold all of it
    yield memory_item(
        stable_id("mem0", text_of(record.get("id")) or f"{user}\n{text}"), text,
        scope=scope,
        tags=[tag for tag in categories if isinstance(tag, str)] if isinstance(categories, list) else (),
        metadata=(rest_of(given) if isinstance(given, dict) else {}) | rest_of(record, *own),
        created=time_of(record.get("created_at")), updated=time_of(record.get("updated_at")),
    )  # fmt: skip
