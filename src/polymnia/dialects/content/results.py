"""What the operations answer: items, relationships and versions as the seed's clients read them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from polymnia.engine.content import content
from polymnia.engine.items import PLAIN, Version, title_of
from polymnia.engine.text.calendar import moment
from polymnia.models import Record, Relation

if TYPE_CHECKING:
    from polymnia.dialects.content.answers import ContentVersion, Relationship, SurroundingTurn
    from polymnia.engine.search.results import Turn

__all__ = ["answer", "item", "minimal", "relationship", "summarised", "turn", "version"]

_SUMMARY = 300


def answer(begun: float, message: str | None = None, **fields: Any) -> dict[str, Any]:
    """An answer of success with its time and how long it took."""
    told: dict[str, Any] = {"success": True}
    if message is not None:
        told["message"] = message
    told["timestamp"] = moment(time.time_ns() // 1000)
    told["duration"] = f"{(time.perf_counter() - begun) * 1000:.0f}ms"
    return told | fields


def item(record: Record, *, metadata: bool = True) -> dict[str, Any]:
    """An item in full."""
    told: dict[str, Any] = {
        "content_id": record.uid,
        "title": title_of(record),
        "content": content(record),
        "content_type": record.content_type or PLAIN,
        "kind": record.kind,
        "tags": list(record.tags),
    }
    if record.summary is not None:
        told["summary"] = record.summary
    if metadata:
        told["metadata"] = record.metadata
    if record.session is not None:
        told["session_id"] = record.session
    told["created_at"] = moment(record.created)
    told["updated_at"] = moment(record.updated)
    told["version"] = record.version
    return told


def summarised(record: Record, *, metadata: bool = True) -> dict[str, Any]:
    """An item with its summary, or its beginning, in place of its text."""
    told = item(record, metadata=metadata)
    text = told.pop("content")
    told.setdefault("summary", text if len(text) <= _SUMMARY else text[:_SUMMARY].rstrip() + "…")
    return told


def minimal(record: Record) -> dict[str, Any]:
    """What an item is called."""
    return {
        "content_id": record.uid,
        "title": title_of(record),
        "content_type": record.content_type or PLAIN,
        "version": record.version,
    }


def turn(said: Turn) -> SurroundingTurn:
    """What was said just before or after an item that is a turn of a dialogue; of a long one the beginning."""
    told: SurroundingTurn = {"content_id": said.id, "content": said.text}
    if said.who is not None:
        told["who"] = said.who
    if said.cut:
        told["truncated"] = True
    return told


def relationship(relation: Relation, source: str | None, target: str | None) -> Relationship:
    """A relationship between two items, told by their ids; an end that is gone is told by its name."""
    told: Relationship = {
        "relationship_id": relation.uid,
        "source_id": relation.source if source is None else source,
        "target_id": relation.target if target is None else target,
        "type": relation.type,
        "origin": relation.origin,
        "created_at": moment(relation.created),
    }
    if relation.strength is not None:
        told["strength"] = relation.strength
    if relation.context is not None:
        told["context"] = relation.context
    if relation.metadata:
        told["metadata"] = relation.metadata
    if source is None or target is None or relation.metadata.get("deleted"):
        told["deleted"] = True
    return told


def version(one: Version, before: Version | None, diffs: bool) -> ContentVersion:
    """A version of an item, and what it changed if that is wanted."""
    record = one.record
    told: ContentVersion = {
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
        told["diff"] = _difference(None if before is None else before.record, record)
        told["changed_fields"] = _changed(None if before is None else before.record, record)
    return told


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
