"""Project files: the items and relationships of a project as one file, in JSON, CSV, Markdown or zip.

All four preserve every field of every item and relationship; CSV has no head. The same records give the same bytes, and
reading and writing hold one record in memory at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO, Literal

from msgspec import Struct

from polymnia.engine.transfer.formats.json_records import json_pieces, read_json
from polymnia.engine.transfer.formats.records import (
    FileLimits,
    Item,
    JsonObject,
    Layout,
    Source,
    cannot_read,
    write_pieces,
)
from polymnia.importing import importing

ProjectForm = Literal["json", "csv", "markdown", "zip"]

PROJECT = Layout(
    format="polymnia-project",
    head=("format", "version", "project"),
    sections={
        "items": "items",
        "contents": "items",
        "content": "items",
        "memories": "items",
        "relationships": "relationships",
        "associations": "relationships",
        "relations": "relationships",
    },
    otherwise="it holds no project: it has neither items nor relationships nor a format",
)
ITEM = (
    *("content_id", "title", "content_type", "kind", "scope", "session_id", "tags", "metadata"),
    *("created_at", "updated_at", "version", "summary", "content", "history", "embeddings"),
)
RELATIONSHIP = ("source_id", "target_id", "type", "strength", "context", "metadata", "origin", "created_at")
# Metadata may be nested a hundred deep, and that of an earlier version is a few brackets deeper in its item.
DEPTH = 110
_ALIASES = {"id": "content_id", "memory_id": "content_id", "created": "created_at", "updated": "updated_at"}
_ZIP = b"PK\x03\x04", b"PK\x05\x06"


class Written(Struct):
    """What was written: the number of items, relationships and earlier versions, and the size of the file."""

    items: int = 0
    relationships: int = 0
    versions: int = 0
    bytes: int = 0


def write(
    out: BinaryIO,
    form: ProjectForm,
    items: Iterable[Mapping[str, Any]],
    relationships: Iterable[Mapping[str, Any]],
    *,
    compress: bool = False,
) -> Written:
    """Write a project file. Items are consumed before relationships, each once; the caller closes ``out``.

    ``compress`` applies gzip to text formats and deflates the entries of a zip.
    """
    done = Written()
    records = _counted_items(items, done), _counted_relationships(relationships, done)
    if form == "zip":
        with importing():
            from polymnia.engine.transfer.formats.project_zip import write_zip

        done.bytes = write_zip(out, *records, done, compress=compress)
        return done
    if form == "json":
        pieces = json_pieces(PROJECT, {}, *records)
    elif form == "csv":
        from polymnia.engine.transfer.formats.project_csv import csv_pieces

        pieces = csv_pieces(*records)
    else:
        with importing():
            from polymnia.engine.transfer.formats.project_markdown import markdown_pieces

        pieces = markdown_pieces(*records)
    done.bytes = write_pieces(out, pieces, gzip=compress)
    return done


def read(source: BinaryIO, form: ProjectForm, limits: FileLimits | None = None) -> Iterator[Item]:
    """Read the items of a project file from the current position of ``source``; gzip and zip are detected.

    An unreadable record is returned as ``Broken`` and reading continues after it. If the rest of the file cannot be
    read, a fault names the position: validate the whole file before importing any of it.
    """
    limits = limits or FileLimits(depth=DEPTH)
    begin = source.tell()
    start = source.read(4)
    source.seek(begin)
    if start in _ZIP:
        with importing():
            from polymnia.engine.transfer.formats.project_zip import read_zip

        return read_zip(source, limits)
    if form == "zip":
        raise cannot_read("it is no zip file")
    if not start:
        raise cannot_read("it is empty")
    unpacked = Source(source, limits.total)
    if form == "json":
        return read_json(unpacked, limits, PROJECT)
    if form == "csv":
        from polymnia.engine.transfer.formats.project_csv import read_csv

        return read_csv(unpacked, limits)
    with importing():
        from polymnia.engine.transfer.formats.project_markdown import read_markdown

    return read_markdown(unpacked, limits)


def _counted_items(items: Iterable[Mapping[str, Any]], done: Written) -> Iterator[JsonObject]:
    for item in items:
        done.items += 1
        done.versions += len(item.get("history") or ())
        yield ordered(item, ITEM)


def _counted_relationships(relationships: Iterable[Mapping[str, Any]], done: Written) -> Iterator[JsonObject]:
    for relationship in relationships:
        done.relationships += 1
        yield ordered(relationship, RELATIONSHIP)


def ordered(record: Mapping[str, Any], fields: tuple[str, ...]) -> JsonObject:
    """A record with the known fields first, in order, then all others; null fields are left out."""
    known = {field: record[field] for field in fields if record.get(field) is not None}
    if len(known) < len(record):
        known |= {field: value for field, value in record.items() if field not in known and value is not None}
    return known


def folded(record: Mapping[str, Any], fields: tuple[str, ...]) -> JsonObject:
    """A record with unknown fields collected under ``other``."""
    known = {field: value for field, value in record.items() if field in fields}
    if len(known) < len(record):
        known["other"] = {field: value for field, value in record.items() if field not in fields}
    return known


def unfolded(raw: Mapping[str, Any], fields: tuple[str, ...]) -> JsonObject | str:
    """Undo ``folded``; a string is the reason it cannot be read. Custom fields become metadata."""
    record: JsonObject = {}
    custom: JsonObject = {}
    for name, value in raw.items():
        field = name if name in fields or name == "other" else _ALIASES.get(name, name)
        if value is None or field == "other":
            continue
        if field not in fields:
            custom[name] = value
        elif field in record:
            return f"it tells its {field} twice"
        else:
            record[field] = value
    if isinstance(tags := record.get("tags"), str):
        record["tags"] = [tag for part in tags.replace(";", ",").split(",") if (tag := part.strip())]
    if custom:
        metadata = record.get("metadata", {})
        if not isinstance(metadata, dict):
            return "metadata is no object"
        record["metadata"] = metadata | {name: value for name, value in custom.items() if name not in metadata}
    other = raw.get("other")
    if other is not None and not isinstance(other, dict):
        return "other is no object"
    return ordered((other or {}) | record, fields)
