"""Memories of mcp-memory-service: its JSON export, and its SQLite store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING

from polymnia.engine.transfer.foreign.items import (
    left_out,
    memory_item,
    relation_item,
    rest_of,
    scope_of,
    stable_id,
    tags_of,
    text_of,
    time_of,
)
from polymnia.engine.transfer.formats.records import Item, JsonObject, cannot_read, shortened
from polymnia.importing import importing

if TYPE_CHECKING:
    import sqlite3

LABEL = "a store of mcp-memory-service"
_SOURCE = "mcp-memory-service"
_COLUMNS = (
    *("content_hash", "content", "tags", "memory_type", "metadata", "created_at", "updated_at", "deleted_at"),
    *("store", "superseded_by", "confidence"),
)
_LINKS = ("source_hash", "target_hash", "similarity", "relationship_type", "connection_types", "created_at")
_LARGEST = 64 * 1024**2  # bytes of a value


def is_exported(record: JsonObject) -> bool:
    """Whether a record is a memory of an export."""
    return isinstance(record.get("content_hash"), str) and isinstance(record.get("content"), str)


def read_exported(record: JsonObject) -> Iterator[Item]:
    """A memory of an export."""
    if record.get("embedding") is not None:
        yield left_out("embeddings: vectors are made anew from the texts")
    yield from _memory(record)


def _memory(record: JsonObject) -> Iterator[Item]:
    digest, text = text_of(record.get("content_hash")), text_of(record.get("content"))
    if not text.strip():
        yield left_out("memories without a text")
        return
    store = text_of(record.get("store"))
    given = record.get("metadata")
    metadata: JsonObject = given if isinstance(given, dict) else {}
    yield memory_item(
        stable_id(_SOURCE, digest), text, kind=text_of(record.get("memory_type")).strip() or None,
        scope=None if store in ("", "default") else scope_of(store), tags=tags_of(record.get("tags")),
        metadata=rest_of(metadata) | rest_of({key: record.get(key) for key in ("superseded_by", "confidence")}),
        created=time_of(record.get("created_at")), updated=time_of(record.get("updated_at")),
    )  # fmt: skip


# ── the store ─────────────────────────────────────────────────────────────────────────────────────────────


def is_store(path: str) -> bool:
    """Whether an SQLite file has the tables of a store; a file that only begins like one has none."""
    with importing():
        import sqlite3

    try:
        with closing(_opened(path)) as database:
            return {"content_hash", "content"} <= set(_columns(database, "memories"))
    except sqlite3.Error:
        return False


def read_store(path: str) -> Iterator[Item]:
    """The memories of a store and what links them, without those that were deleted."""
    with importing():
        import json
        import sqlite3

    def decoded(text: object) -> object:
        try:
            return json.loads(text) if isinstance(text, str) and text.strip() else None
        except (ValueError, RecursionError):
            return None

    try:
        with closing(_opened(path)) as database:
            present = [column for column in _COLUMNS if column in _columns(database, "memories")]
            for row in database.execute(f"SELECT {', '.join(present)} FROM memories ORDER BY rowid"):
                record = dict(zip(present, row, strict=True))
                if record.get("deleted_at") is not None:
                    yield left_out("memories that were deleted there")
                    continue
                yield from _memory(record | {"metadata": decoded(record.get("metadata"))})
            yield from _links(database, decoded)
    except (sqlite3.Error, UnicodeDecodeError) as e:
        raise cannot_read(f"its database is damaged: {shortened(str(e))}") from None


def _links(database: sqlite3.Connection, decoded: object) -> Iterator[Item]:
    present = [column for column in _LINKS if column in _columns(database, "memory_graph")]
    if not {"source_hash", "target_hash"} <= set(present):
        return
    for row in database.execute(f"SELECT {', '.join(present)} FROM memory_graph ORDER BY rowid"):
        link = dict(zip(present, row, strict=True))
        similarity = link.get("similarity")
        yield relation_item(
            text_of(link.get("relationship_type")).strip() or "related",
            source=stable_id(_SOURCE, str(link["source_hash"])), target=stable_id(_SOURCE, str(link["target_hash"])),
            strength=min(max(float(similarity), 0.0), 1.0) if isinstance(similarity, int | float) else None,
            context=text_of(link.get("connection_types")) or None, created_at=time_of(link.get("created_at")),
        )  # fmt: skip


def _opened(path: str) -> sqlite3.Connection:
    """The database, opened to be read alone. Nothing in its schema may call a function with side effects."""
    with importing():
        import sqlite3
        from urllib.parse import quote

    # Without a log beside it, the file is all there is, and nothing is written next to it.
    mode = "mode=ro" if os.path.exists(f"{path}-wal") else "mode=ro&immutable=1"
    database = sqlite3.connect(f"file:{quote(path)}?{mode}", uri=True)
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LARGEST)
    database.execute("PRAGMA trusted_schema = OFF")
    database.execute("PRAGMA cell_size_check = ON")
    database.execute("PRAGMA query_only = ON")
    return database


def _columns(database: sqlite3.Connection, table: str) -> list[str]:
    """The columns of an ordinary table; a view or a virtual table of that name is not read."""
    row = database.execute("SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ?", (table,)).fetchone()
    if row is None or not text_of(row[0]).upper().lstrip().startswith("CREATE TABLE"):
        return []
    return [name for _, name, *_ in database.execute(f"PRAGMA table_info({table})")]
