"""What a project file is made of: items, relationships, and the words that stand around them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple

from polymnia.engine.transfer import archive_item
from polymnia.engine.transfer.archive_item import ArchiveLimits, Broken, cannot_read, cannot_write
from polymnia.engine.transfer.archive_legal import flaw

__all__ = [
    "DEPTH", "FORMAT", "HEAD", "ITEM", "RELATIONSHIP", "SECTIONS", "VERSION", "Counting", "ProjectForm", "ProjectItem",
    "ProjectSection", "check_head", "check_whole", "folded", "ordered", "unfolded", "written",
]  # fmt: skip

ProjectForm = Literal["json", "csv", "markdown", "zip"]
ProjectSection = Literal["head", "items", "relationships", "unknown"]

FORMAT = "polymnia-project"
VERSION = 1
HEAD = ("format", "version", "project")
# Other exports call the same things by other names.
SECTIONS: dict[str, ProjectSection] = {
    "items": "items", "contents": "items", "content": "items", "memories": "items",
    "relationships": "relationships", "associations": "relationships", "relations": "relationships",
}  # fmt: skip
ITEM = (
    "content_id", "title", "content_type", "kind", "scope", "session_id", "tags", "metadata", "created_at",
    "updated_at", "version", "summary", "content", "history", "embeddings",
)  # fmt: skip
RELATIONSHIP = ("source_id", "target_id", "type", "strength", "context", "metadata", "origin", "created_at")
# Metadata may be nested a hundred deep, and those of an earlier version stand a few brackets deeper in its item.
DEPTH = 110
# What a project holds was found legal when it was stored, by whatever limits there were.
_WRITTEN = ArchiveLimits(text=1 << 40, depth=DEPTH)
_ALIASES = {"id": "content_id", "memory_id": "content_id", "created": "created_at", "updated": "updated_at"}


class ProjectItem(NamedTuple):
    """One thing read from a project file.

    An item or relationship has its place in its section, counted from 0, and is an object or ``Broken``. ``head``
    items are one-key objects, ``unknown`` ones the names of what means nothing here and was passed over.
    """

    section: ProjectSection
    position: int
    value: dict[str, Any] | Broken | str


class Counting:
    """Items or relationships on their way into a file: each in order and found legal, and all of them counted."""

    def __init__(self, records: Iterable[Mapping[str, Any]], section: ProjectSection, fields: tuple[str, ...]) -> None:
        self._records = records
        self._section = section
        self._fields = fields
        self.count = self.versions = 0

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for record in self._records:
            told = ordered(record, self._fields)
            written(told, f"{self._section}[{self.count}]")
            self.count += 1
            if isinstance(earlier := told.get("history"), list):
                self.versions += len(earlier)
            yield told


def ordered(record: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """A record with its fields in their order, then all others; a field that is null is not there."""
    told = {field: record[field] for field in fields if record.get(field) is not None}
    if len(told) < len(record):
        told |= {field: value for field, value in record.items() if field not in told and value is not None}
    return told


def folded(record: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any]:
    """A record in which fields that are not known stand together under ``other``."""
    told = {field: value for field, value in record.items() if field in fields}
    if len(told) < len(record):
        told["other"] = {field: value for field, value in record.items() if field not in fields}
    return told


def unfolded(told: Mapping[str, Any], fields: tuple[str, ...]) -> dict[str, Any] | str:
    """The record a folded one stands for, or why it stands for none. What is not known, its author's own words, is
    metadata."""
    record: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for name, value in told.items():
        field = name if name in fields or name == "other" else _ALIASES.get(name, name)
        if value is None or field == "other":
            continue
        if field not in fields:
            own[name] = value
        elif field in record:
            return f"it tells its {field} twice"
        else:
            record[field] = value
    if isinstance(tags := record.get("tags"), str):
        record["tags"] = [tag for part in tags.replace(";", ",").split(",") if (tag := part.strip())]
    if own:
        metadata = record.get("metadata", {})
        if not isinstance(metadata, dict):
            return "metadata is no object"
        record["metadata"] = metadata | {name: value for name, value in own.items() if name not in metadata}
    other = told.get("other")
    if other is not None and not isinstance(other, dict):
        return "other is no object"
    return ordered(record | {k: v for k, v in (other or {}).items() if k not in record}, fields)


def written(value: Any, where: str) -> None:
    """Refuse to write what could not be read again."""
    if (why := flaw(value, _WRITTEN)) is not None:
        raise cannot_write(why, where=where)


def check_head(key: str, value: object, where: str | None = None) -> None:
    """Refuse a file that says it is something else, or newer than this reader."""
    archive_item.check_head(key, value, where, format=FORMAT, version=VERSION)


def check_whole(keys: Collection[str]) -> None:
    """Refuse a document that has nothing of a project in it, rather than find no items there."""
    if "format" not in keys and not any(key in keys for key in SECTIONS):
        keys = ", ".join(f"{key!r:.40}" for key in list(keys)[:6]) or "none"
        raise cannot_read(
            f"it holds no project: it has neither items nor relationships nor a format; its keys are {keys}"
        )
