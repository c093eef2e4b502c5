"""Memories and associations as the records of a file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from polymnia.engine import content, scopes
from polymnia.engine.graph import Step
from polymnia.engine.ports import Snapshot
from polymnia.engine.text.calendar import moment, read_moment
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
    fields: JsonObject = {"memory_id": record.uid}
    if record.name != record.uid:
        fields["name"] = record.name
    if record.kind != content.KIND:
        fields["kind"] = record.kind
    if len(record.observations) == 1 and record.observations[0].strip():
        fields["content"] = record.observations[0]
    else:
        fields["observations"] = list(record.observations)
    fields["scope"] = scopes.shown(record.scope)
    for key, value in (
        ("session", record.session if record.session != scopes.session_of(record.scope) else None),
        ("category", record.category),
        ("content_type", record.content_type),
        ("summary", record.summary),
    ):
        if value is not None:
            fields[key] = value
    fields["tags"] = list(record.tags)
    fields["metadata"] = record.metadata
    if record.extra:
        fields["extra"] = record.extra
    fields["created_at"] = moment(record.created)
    fields["updated_at"] = moment(record.updated)
    fields["version"] = record.version
    return fields


def association(relation: Relation, uids: Mapping[str, str]) -> JsonObject:
    """A relation as a record of an archive; an end that is no memory is given by its name."""
    fields: JsonObject = {}
    for end, name in (("source", relation.source), ("target", relation.target)):
        fields |= {end: uids[name]} if name in uids else {f"{end}_name": name}
    fields["type"] = relation.type
    if relation.strength is not None:
        fields["strength"] = relation.strength
    if relation.context is not None:
        fields["context"] = relation.context
    for key, value in (("metadata", relation.metadata), ("extra", relation.extra)):
        if value:
            fields[key] = value
    fields["origin"] = relation.origin
    fields["created_at"] = moment(relation.created)
    return fields


def draft(fields: Mapping[str, Any], limits: Limits, prefix: str | None) -> EntityDraft:
    """The memory a record of an archive stands for; a fault names the field that is wrong."""
    if unknown := [key for key in fields if key not in _MEMORY]:
        raise Invalid(f"{unknown[0]!r:.60} is no field of a memory", field=str(unknown[0])[:60])
    uid = _text(fields, "memory_id", limits) or _text(fields, "id", limits) or None
    name = _text(fields, "name", limits)
    observed = fields.get("observations")
    if (observed is None) == (fields.get("content") is None):
        raise Invalid("content must be given, or observations, and not both", field="content")
    texts = [fields["content"]] if observed is None else observed
    if not isinstance(texts, list):
        raise Invalid("observations must be a list of texts", field="observations")
    for i, text in enumerate(texts):
        where = "content" if observed is None else f"observations[{i}]"
        legal_text(text, where, limits.text_bytes)
        if observed is None and not text.strip():
            raise Invalid("content is empty", field="content")
    scope = scopes.legal_scope(_text(fields, "scope", limits) or scopes.shown(None), "scope")
    if prefix is not None:
        scope = scopes.legal_scope(f"{prefix}/{scope}", "scope")
    filed = scopes.filed(scope)
    if (session := _text(fields, "session", limits)) is not None and filed["session"] is None:
        filed["session"] = scopes.legal_session(session)
    created = None if fields.get("created_at") is None else read_moment(fields["created_at"], "created_at")
    updated = created if fields.get("updated_at") is None else read_moment(fields["updated_at"], "updated_at")
    version = fields.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version < _MOST:
        raise Invalid(f"version is {version!r:.40}, but must be a whole number from 1 on", field="version")
    if uid is None:
        uid = new_id()
    return EntityDraft(
        name=uid if name is None else name,
        kind=_or(_text(fields, "kind", limits), content.KIND),
        observations=tuple(texts),
        extra=_object(fields, "extra", limits),
        scope=filed["scope"],
        session=filed["session"],
        category=_text(fields, "category", limits) or None,
        content_type=_text(fields, "content_type", limits),
        summary=_text(fields, "summary", limits),
        tags=content.check_tags(_list(fields, "tags"), limits),
        metadata=_object(fields, "metadata", limits),
        uid=uid,
        created=created,
        updated=updated,
        version=version,
    )


def link(fields: Mapping[str, Any], limits: Limits) -> Ends:
    """The association a record stands for."""
    if unknown := [key for key in fields if key not in _ASSOCIATION]:
        raise Invalid(f"{unknown[0]!r:.60} is no field of an association", field=str(unknown[0])[:60])
    ends = []
    for end in ("source", "target"):
        id = next((t for key in (end, f"{end}_id", f"{end}_memory_id") if (t := _text(fields, key, limits))), None)
        name = _text(fields, f"{end}_name", limits)
        if id is None and name is None:
            raise Invalid(f"{end} must be the id of a memory", field=end)
        ends.append((name or "" if id is None else id, id is not None))
    strength = fields.get("strength")
    if strength is not None and (
        isinstance(strength, bool) or not isinstance(strength, int | float) or not 0 <= strength <= 1
    ):
        raise Invalid(f"strength is {strength!r:.40}, but must be a number from 0 to 1", field="strength")
    origin = fields.get("origin", "manual")
    if origin not in ("manual", "auto"):
        raise Invalid(f"origin is {origin!r:.40}, but must be manual or auto", field="origin")
    created = None if fields.get("created_at") is None else read_moment(fields["created_at"], "created_at")
    type = _or(_text(fields, "type", limits), _or(_text(fields, "association_type", limits), "associated_with"))
    made = RelationDraft(
        source="",
        target="",
        type=type,
        strength=None if strength is None else float(strength),
        context=_text(fields, "context", limits),
        metadata=_object(fields, "metadata", limits),
        extra=_object(fields, "extra", limits),
        origin=origin,
        created=created,
    )
    return ends[0], ends[1], made


def _or(text: str | None, default: str) -> str:
    """A text, which may be empty, or what stands for none."""
    return default if text is None else text


def _text(fields: Mapping[str, Any], key: str, limits: Limits) -> str | None:
    value = fields.get(key)
    if value is None:
        return None
    return (
        legal_text(value, key, limits.text_bytes) if key in ("summary", "context") else legal_name(value, key, limits)
    )


def _list(fields: Mapping[str, Any], key: str) -> list[Any]:
    value = fields.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise Invalid(f"{key} must be a list, not {type(value).__name__}", field=key)
    return value


def _object(fields: Mapping[str, Any], key: str, limits: Limits) -> JsonObject:
    value = fields.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Invalid(f"{key} must be an object, not {type(value).__name__}", field=key)
    return content.check_metadata(value, limits)
