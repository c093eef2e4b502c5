"""Converts memories and associations to records of a file, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar, cast

from polymnia.engine import content, scopes
from polymnia.engine.ports import Snapshot
from polymnia.engine.project import Step
from polymnia.engine.text.calendar import moment, parse_time
from polymnia.engine.transfer.formats.records import JsonObject, digest_of
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

T = TypeVar("T")
Ends = tuple[tuple[str, bool], tuple[str, bool], RelationDraft]
"""An association: its two ends, each a name or id and whether it is an id, and the relation without its ends."""


_MEMORY = {
    *("memory_id", "id", "name", "kind", "content", "observations", "scope", "session", "category", "content_type"),
    *("summary", "tags", "metadata", "extra", "created_at", "updated_at", "version", "associations"),
}
_ASSOCIATION = {
    *("source", "target", "source_id", "target_id", "source_memory_id", "target_memory_id", "source_name"),
    *("target_name", "type", "association_type", "strength", "context", "metadata", "extra", "origin", "created_at"),
    "id",
}
_VERSION_LIMIT = 1 << 62
_BATCH = 500


def records_of(snapshot: Snapshot, filters: Filters, step: Step | None = None) -> Iterator[Record]:
    """The records to export in the order of creation, loaded in batches."""
    base = snapshot.numbers[0] << 32
    ids = [base + number for number in snapshot.matching(filters)]
    for start in range(0, len(ids), _BATCH):
        if step is not None:
            step(start, len(ids))
        yield from snapshot.load(ids[start : start + _BATCH])
    if step is not None and ids:
        step(len(ids), len(ids))


def memory(record: Record) -> JsonObject:
    """Convert a memory to a record of an archive, without empty fields. Reading it back gives the same memory."""
    is_content = len(record.observations) == 1 and bool(record.observations[0].strip())
    return _present(
        {
            "memory_id": record.uid,
            "name": record.name if record.name != record.uid else None,
            "kind": record.kind if record.kind != content.KIND else None,
            "content": record.observations[0] if is_content else None,
            "observations": None if is_content else list(record.observations),
            "scope": record.path,
            "session": record.session if record.session != scopes.session_of(record.scope) else None,
            "category": record.category,
            "content_type": record.content_type,
            "summary": record.summary,
            "tags": list(record.tags),
            "metadata": record.metadata,
            "extra": record.extra or None,
            "created_at": moment(record.created),
            "updated_at": moment(record.updated),
            "version": record.version,
        }
    )


def association(relation: Relation, uids: Mapping[str, str]) -> JsonObject:
    """Convert a relation to a record of an archive; an end that is not a memory is given by name."""
    ends = {"source": relation.source, "target": relation.target}
    return {end if name in uids else f"{end}_name": uids.get(name, name) for end, name in ends.items()} | _present(
        {
            "type": relation.type,
            "strength": relation.strength,
            "context": relation.context,
            "metadata": relation.metadata or None,
            "extra": relation.extra or None,
            "origin": relation.origin,
            "created_at": moment(relation.created),
        }
    )


def page_relation(relation: Relation | RelationDraft) -> JsonObject:
    """Convert a relation to a record on the page of its source, whose other end is given by name."""
    return _present(
        {
            "type": relation.type,
            "to": relation.target,
            "strength": relation.strength,
            "context": relation.context,
            "metadata": relation.metadata or None,
            "extra": relation.extra or None,
            "origin": relation.origin,
            "created_at": None if relation.created is None else moment(relation.created),
        }
    )


def digest(draft: EntityDraft) -> str:
    """A digest of what a memory says, which is the same in its source and in the store as long as neither changes."""
    return digest_of(
        [
            draft.kind, draft.observations, draft.extra, draft.scope, draft.session, draft.category,
            draft.content_type, draft.summary, draft.tags, draft.metadata,
        ]
    )  # fmt: skip


def _present(fields: JsonObject) -> JsonObject:
    return {key: value for key, value in fields.items() if value is not None}


def draft(fields: Mapping[str, Any], limits: Limits, prefix: str | None) -> EntityDraft:
    """Convert a record of an archive to a memory; faults name the invalid field."""
    _check_known(fields, _MEMORY, "a memory")
    uid = _text(fields, "memory_id", limits) or _text(fields, "id", limits) or new_id()
    name = _text(fields, "name", limits)
    texts = _observations(fields, limits)
    scope = scopes.legal_scope(_text(fields, "scope", limits) or scopes.shown(None), "scope")
    if prefix is not None:
        scope = scopes.legal_scope(f"{prefix}/{scope}", "scope")
    filed = scopes.filed(scope)
    if (session := _text(fields, "session", limits)) is not None and filed["session"] is None:
        filed["session"] = scopes.legal_session(session)
    version = fields.get("version", 1)
    if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version < _VERSION_LIMIT:
        raise Invalid(f"version is {version!r:.40}, but must be a whole number from 1 on", field="version")
    kind = _text(fields, "kind", limits)
    created = _time(fields, "created_at")
    return EntityDraft(
        name=uid if name is None else name,
        kind=content.KIND if kind is None else kind,
        observations=texts,
        extra=_object(fields, "extra", limits),
        scope=filed["scope"],
        session=filed["session"],
        category=_text(fields, "category", limits) or None,
        content_type=_text(fields, "content_type", limits),
        summary=_text(fields, "summary", limits),
        tags=content.check_tags(_typed(fields, "tags", list, "a list") or [], limits),
        metadata=_object(fields, "metadata", limits),
        uid=uid,
        created=created,
        updated=_time(fields, "updated_at", created),
        version=version,
    )


def _observations(fields: Mapping[str, Any], limits: Limits) -> tuple[str, ...]:
    observed, text = fields.get("observations"), fields.get("content")
    if (observed is None) == (text is None):
        raise Invalid("content must be given, or observations, and not both", field="content")
    if observed is None:
        if not legal_text(cast(str, text), "content", limits.text_bytes).strip():
            raise Invalid("content is empty", field="content")
        return (cast(str, text),)
    if not isinstance(observed, list):
        raise Invalid("observations must be a list of texts", field="observations")
    return tuple(legal_text(one, f"observations[{i}]", limits.text_bytes) for i, one in enumerate(observed))


def link(fields: Mapping[str, Any], limits: Limits) -> Ends:
    """Convert a record to an association."""
    _check_known(fields, _ASSOCIATION, "an association")
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
    types = (_text(fields, key, limits) for key in ("type", "association_type"))
    relation = RelationDraft(
        source="",
        target="",
        type=next((type for type in types if type is not None), "associated_with"),
        strength=None if strength is None else float(strength),
        context=_text(fields, "context", limits),
        metadata=_object(fields, "metadata", limits),
        extra=_object(fields, "extra", limits),
        origin=origin,
        created=_time(fields, "created_at"),
    )
    return ends[0], ends[1], relation


def _check_known(fields: Mapping[str, Any], known: set[str], what: str) -> None:
    for key in fields:
        if key not in known:
            raise Invalid(f"{key!r:.60} is no field of {what}", field=str(key)[:60])


def _text(fields: Mapping[str, Any], key: str, limits: Limits) -> str | None:
    value = fields.get(key)
    if value is None:
        return None
    if key in ("summary", "context"):
        return legal_text(value, key, limits.text_bytes)
    return legal_name(value, key, limits)


def _time(fields: Mapping[str, Any], key: str, default: int | None = None) -> int | None:
    value = fields.get(key)
    return default if value is None else parse_time(value, key)


def _typed(fields: Mapping[str, Any], key: str, kind: type[T], expected: str) -> T | None:
    value = fields.get(key)
    if value is not None and not isinstance(value, kind):
        raise Invalid(f"{key} must be {expected}, not {type(value).__name__}", field=key)
    return value


def _object(fields: Mapping[str, Any], key: str, limits: Limits) -> JsonObject:
    value = _typed(fields, key, dict, "an object")
    return {} if value is None else content.check_metadata(value, limits)
