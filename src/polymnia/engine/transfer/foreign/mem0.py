"""Memories exported from mem0."""

from __future__ import annotations

from collections.abc import Iterator

from polymnia.engine.transfer.foreign.items import left_out, memory_item, rest_of, scope_of, stable_id, text_of, time_of
from polymnia.engine.transfer.formats.records import Item, JsonObject

_OWN = ("id", "memory", "hash", "created_at", "updated_at", "score", "metadata", "user_id", "categories")


def is_mem0(record: JsonObject) -> bool:
    """Whether a record is a memory of mem0."""
    return isinstance(record.get("memory"), str) and bool(
        record.keys() & {"id", "hash", "user_id", "agent_id", "run_id", "created_at"}
    )


def read_mem0(record: JsonObject) -> Iterator[Item]:
    """A memory; one of a user is filed under the scope of the user."""
    text, given = record["memory"], record.get("metadata")
    if not text.strip():
        yield left_out("memories without a text")
        return
    user, categories = text_of(record.get("user_id")), record.get("categories")
    owners = [(key.removesuffix("_id"), text_of(record.get(key))) for key in ("user_id", "agent_id", "run_id")]
    owner = next(((kind, id) for kind, id in owners if id), None)
    yield memory_item(
        stable_id("mem0", text_of(record.get("id")) or f"{user}\n{text}"), text,
        scope=scope_of(*owner) if owner else None,
        tags=[tag for tag in categories if isinstance(tag, str)] if isinstance(categories, list) else (),
        metadata=(rest_of(given) if isinstance(given, dict) else {}) | rest_of(record, *_OWN),
        created=time_of(record.get("created_at")), updated=time_of(record.get("updated_at")),
    )  # fmt: skip
