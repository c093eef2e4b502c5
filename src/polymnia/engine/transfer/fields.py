"""Memories and associations as the records of a file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from polymnia.engine import content, scopes
from polymnia.engine.ports import Snapshot
from polymnia.engine.project import Step
from polymnia.engine.text.calendar import moment, parse_time
from polymnia.engine.transfer.formats.records import JsonObject
from polymnia.errors import Invalid
from polymnia.models import (
    EntityDraft,
    Filters,
    Limits,
    Record,
    Relation,
    RelationDraft,
    legal_name,
    legal_text,
    new_id,
)

Ends = tuple[tuple[str, bool], tuple[str, bool], RelationDraft]
"""An association: what its two ends are called and whether that is an id, and the relation without them."""


_MEMORY = {
    *("memory_id", "id", "name", "kind", "content", "observations", "scope", "session", "category", "content_type"),
    *("summary", "tags", "metadata", "extra", "created_at", "updated_at", "version", "associations"),
}
_ASSOCIATION = {
    *("source", "target", "source_id", "target_id", "source_memory_id", "target_memory_id", "source_name"),
    *("target_name", "type", "association_type", "strength", "context", "metadata", "extra", "origin", "created_at"),
    "id",
}
_MOST = 1 << 62
_PART = 500


def records_of(snapshot: Snapshot, filters: Filters, step: Step | None = None) -> Iterator[Record]:
    """The records an export is made of, in the order of their making; a part of them is held at a time."""
    base = snapshot.numbers[0] << 32
    ids = [base + number for number in snapshot.matching(filters)]
    for start in range(0, len(ids), _PART):
        if step is not None:
            step(start, len(ids))
        yield from snapshot.load(ids[start : start + _PART])
    if step is not None and ids:
        step(len(ids), len(ids))


def memory(record: Record) -> JsonObject:
    """A memory as a record of an archive. What it lacks is left out; what is read back is the same memory."""
    told: JsonObject = {"memory_id": record.uid}
    if record.name != record.uid:
        told["name"] = record.name
    if record.kind != content.KIND:
        told["kind"] = record.kind
    if len(record.observations) == 1 and record.observations[0].strip():
        told["content"] = record.observations[0]
    else:
        told["observations"] = list(record.observations)
    told["scope"] = scopes.shown(record.scope)
    for key, value in (
        ("session", record.session if record.session != scopes.session_of(record.scope) else None),
        ("category", record.category),
        ("content_type", record.content_type),
        ("summary", record.summary),
    ):
        if value is not None:
            told[key] = value
    told["tags"] = list(record.tags)
    told["metadata"] = record.metadata
    if record.extra:
        told["extra"] = record.extra
    told["created_at"] = moment(record.created)
    told["updated_at"] = moment(record.updated)
    told["version"] = record.version
    return told


def association(relation: Relation, uids: Mapping[str, str]) -> JsonObject:
    """A relation as a record of an archive; an end that names no memory is told by its name."""
    told: JsonObject = {}
    for end, name in (("source", relation.source), ("target", relation.target)):
        told |= {end: uids[name]} if name in uids else {f"{end}_name": name}
    told["type"] = relation.type
    if relation.strength is not None:
        told["strength"] = relation.strength
    if relation.context is not None:
        told["context"] = relation.context
    for key, value in (("metadata", relation.metadata), ("extra", relation.extra)):
        if value:
            told[key] = value
    told["origin"] = relation.origin
    told["created_at"] = moment(relation.created)
    return told


def draft(told: Mapping[str, Any], limits: Limits, prefix: str | None) -> EntityDraft:
    """The memory a record of an archive stands for; whatever is wrong with it is told by the name of its field."""
    if unknown := [key for key in told if key not in _MEMORY]:
        raise Invalid(f"{unknown[0]!r:.60} is no field of a memory", field=str(unknown[0])[:60])
    uid = _text(told, "memory_id", limits) or _text(told, "id", limits) or None
    name = _text(told, "name", limits)
    said = told.get("observations")
    if (said is None) == (told.get("content") is None):
        raise Invalid("content must be given, or observations, and not both", field="content")
    texts = [told["content"]] if said is None else said
    if not isinstance(texts, list):
        raise Invalid("observations must be a list of texts", field="observations")
    for i, text in enumerate(texts):
        where = "content" if said is None else f"observations[{i}]"
        legal_text(text, where, limits.text_bytes)
        if said is None and not text.strip():
            raise Invalid("content is empty", field="content")
    scope = scopes.legal_scope(_text(told, "scope", limits) or scopes.shown(None), "scope")
    if prefix is not None:
        scope = scopes.legal_scope(f"{prefix}/{scope}", "scope")
    filed = scopes.filed(scope)
    if (session := _text(told, "session", limits)) is not None and filed["session"] is None:
        filed["session"] = scopes.legal_session(session)
    created = None if told.get("created_at") is None else parse_time(told["created_at"], "created_at")
    updated = created if told.get("updated_at") is None else parse_time(told["updated_at"], "updated_at")
    version = told.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version < _MOST:
        raise Invalid(f"version is {version!r:.40}, but must be a whole number from 1 on", field="version")
    if uid is None:
        uid = new_id()
    return EntityDraft(
        name=uid if name is None else name,
        kind=_or(_text(told, "kind", limits), content.KIND),
        observations=tuple(texts),
        extra=_object(told, "extra", limits),
        scope=filed["scope"],
        session=filed["session"],
        category=_text(told, "category", limits) or None,
        content_type=_text(told, "content_type", limits),
        summary=_text(told, "summary", limits),
        tags=content.check_tags(_list(told, "tags"), limits),
        metadata=_object(told, "metadata", limits),
        uid=uid,
        created=created,
        updated=updated,
        version=version,
    )


def link(told: Mapping[str, Any], limits: Limits) -> Ends:
    """The association a record stands for."""
    if unknown := [key for key in told if key not in _ASSOCIATION]:
        raise Invalid(f"{unknown[0]!r:.60} is no field of an association", field=str(unknown[0])[:60])
    ends = []
    for end in ("source", "target"):
        id = next((t for key in (end, f"{end}_id", f"{end}_memory_id") if (t := _text(told, key, limits))), None)
        name = _text(told, f"{end}_name", limits)
        if id is None and name is None:
            raise Invalid(f"{end} must be the id of a memory", field=end)
        ends.append((name or "" if id is None else id, id is not None))
    strength = told.get("strength")
    if strength is not None and (
        isinstance(strength, bool) or not isinstance(strength, int | float) or not 0 <= strength <= 1
    ):
        raise Invalid(f"strength is {strength!r:.40}, but must be a number from 0 to 1", field="strength")
    origin = told.get("origin", "manual")
    if origin not in ("manual", "auto"):
        raise Invalid(f"origin is {origin!r:.40}, but must be manual or auto", field="origin")
    created = None if told.get("created_at") is None else parse_time(told["created_at"], "created_at")
    type = _or(_text(told, "type", limits), _or(_text(told, "association_type", limits), "associated_with"))
    made = RelationDraft(
        source="",
        target="",
        type=type,
        strength=None if strength is None else float(strength),
        context=_text(told, "context", limits),
        metadata=_object(told, "metadata", limits),
        extra=_object(told, "extra", limits),
        origin=origin,
        created=created,
    )
    return ends[0], ends[1], made


def _or(text: str | None, default: str) -> str:
    """A text, which may be empty, or what stands for none."""
    return default if text is None else text


def _text(told: Mapping[str, Any], key: str, limits: Limits) -> str | None:
    value = told.get(key)
    if value is None:
        return None
    return (
        legal_text(value, key, limits.text_bytes) if key in ("summary", "context") else legal_name(value, key, limits)
    )


def _list(told: Mapping[str, Any], key: str) -> list[Any]:
    value = told.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Invalid(f"{key} must be a list, not {type(value).__name__}", field=key)
    return value


def _object(told: Mapping[str, Any], key: str, limits: Limits) -> JsonObject:
    value = told.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid(f"{key} must be an object, not {type(value).__name__}", field=key)
    return content.check_metadata(value, limits)
