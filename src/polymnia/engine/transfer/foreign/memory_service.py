"""Memories of mcp-memory-service: its JSON export, and its SQLite store."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any

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
from polymnia.errors import Fault, Invalid
from polymnia.importing import importing

if TYPE_CHECKING:
    import sqlite3

LABEL = "a store of mcp-memory-service"
_SOURCE = "mcp-memory-service"
_COLUMNS = (
    *("content_hash", "content", "tags", "memory_type", "metadata", "created_at", "updated_at", "deleted_at"),
    *("store", "superseded_by", "confidence"),
)
_LINKS = ("source_hash", "target_hash", "similarity", "relationship_type", "connection_types", "metadata", "created_at")
_BELIEFS = ("belief_hash", "content", "status", "confidence", "derived_from", "contradicted_by", "metadata")
_ENTITY = "has_entity"  # the type of a link whose target is a name, not a memory
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
    metadata = rest_of(given) if isinstance(given, dict) else {}
    if newer := text_of(record.get("superseded_by")) or text_of(metadata.get("superseded_by")):
        metadata["superseded_by"] = stable_id(_SOURCE, newer)
    if record.get("confidence") not in (None, 1.0):  # the value of a memory that nobody has rated
        metadata["confidence"] = record["confidence"]
    yield memory_item(
        stable_id(_SOURCE, digest), text, kind=text_of(record.get("memory_type")).strip() or None,
        scope=None if store in ("", "default") else scope_of(store), tags=tags_of(record.get("tags")),
        metadata=metadata, created=time_of(record.get("created_at")), updated=time_of(record.get("updated_at")),
    )  # fmt: skip


# ── the store ─────────────────────────────────────────────────────────────────────────────────────────────


def is_store(path: str) -> bool:
    """Whether an SQLite file has the tables of a store; a file that only begins like one has none."""
    with importing():
        import sqlite3

    try:
        with closing(_opened(path)) as database:
            return {"content_hash", "content"} <= set(_columns(database, "memories"))
    except sqlite3.Error as e:
        if e.sqlite_errorcode == sqlite3.SQLITE_NOTADB:
            return False
        raise _unreadable(e) from None


def read_store(path: str) -> Iterator[Item]:
    """The memories of a store, what it concluded from them and what links them; not what was deleted there."""
    with importing():
        import sqlite3

    try:
        with closing(_opened(path)) as database:
            for record in _rows(database, "memories", _COLUMNS):
                if record.get("deleted_at") is not None:
                    yield left_out("memories that were deleted there")
                    continue
                metadata = _decoded(record.get("metadata"))
                if metadata is None:
                    yield left_out("metadata that are no JSON; their memories are taken")
                yield from _memory(record | {"metadata": metadata})
            yield from _beliefs(database)
            yield from _links(database)
    except (sqlite3.Error, UnicodeDecodeError) as e:
        raise _unreadable(e) from None


def _unreadable(e: sqlite3.Error | UnicodeDecodeError) -> Fault:
    """The fault for a database that cannot be read: it is in use, in a folder where nothing can be made, or damaged."""
    with importing():
        import sqlite3

    code = getattr(e, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN):
        return Invalid(
            f"The database cannot be opened where it is: {shortened(str(e))}",
            hint="Copy it to a folder of yours, with the -wal file beside it if there is one, and import the copy.",
        )
    return cannot_read(f"its database is damaged: {shortened(str(e))}")


def _rows(database: sqlite3.Connection, table: str, wanted: Sequence[str]) -> Iterator[JsonObject]:
    """The rows of a table, with those of the wanted columns that this version of the program has."""
    have = _columns(database, table)
    present = [column for column in wanted if column in have]
    if present[:1] == [wanted[0]]:
        for row in database.execute(f"SELECT {', '.join(present)} FROM {table} ORDER BY rowid"):
            yield dict(zip(present, row, strict=True))


def _decoded(text: object) -> Any:
    """The value of a column with JSON; an empty object for an empty column, None if it is no JSON."""
    with importing():
        import json

    try:
        return json.loads(text) if isinstance(text, str) and text.strip() else {}
    except (ValueError, RecursionError):
        return None


def _beliefs(database: sqlite3.Connection) -> Iterator[Item]:
    for belief in _rows(database, "beliefs", (*_BELIEFS, "created_at", "updated_at")):
        id, text = stable_id(_SOURCE, "belief", str(belief["belief_hash"])), text_of(belief.get("content"))
        if not text.strip():
            yield left_out("beliefs without a text")
            continue
        metadata = _decoded(belief.get("metadata"))
        yield memory_item(
            id, text, kind="belief",
            metadata=rest_of({**(metadata or {}), **{key: belief.get(key) for key in ("status", "confidence")}}),
            created=time_of(belief.get("created_at")), updated=time_of(belief.get("updated_at")),
        )  # fmt: skip
        for type in ("derived_from", "contradicted_by"):
            digests = _decoded(belief.get(type))
            for digest in digests if isinstance(digests, list) else ():
                yield relation_item(type, source=id, target=stable_id(_SOURCE, str(digest)))


def _links(database: sqlite3.Connection) -> Iterator[Item]:
    for link in _rows(database, "memory_graph", _LINKS):
        type = text_of(link.get("relationship_type")).strip() or "related"
        target = str(link.get("target_hash"))
        kinds, metadata = _decoded(link.get("connection_types")), _decoded(link.get("metadata"))
        about: JsonObject = rest_of(metadata) if isinstance(metadata, dict) else {}
        if kinds and type != _ENTITY:
            about["connection_types"] = kinds
        similarity = link.get("similarity")
        yield relation_item(
            type, source=stable_id(_SOURCE, str(link["source_hash"])),
            strength=min(max(float(similarity), 0.0), 1.0) if isinstance(similarity, int | float) else None,
            context=text_of(about.pop("context", None)) or None, metadata=about or None,
            created_at=time_of(link.get("created_at")),
            **({"target_name": target} if type == _ENTITY else {"target": stable_id(_SOURCE, target)}),
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
