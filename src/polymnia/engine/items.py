"""Items: contents as documents and decisions, with a type, a title, versions and typed relationships."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.ports import Snapshot
from polymnia.engine.text.calendar import read_moment
from polymnia.errors import Invalid, NotFound
from polymnia.models import Change, Filters, Record, Relation

EARLIER = "history"
"""The foreign key under which an imported item keeps the versions it had elsewhere."""
CONTENT = "content"
DECISION = "decision"
PLAIN = "text/plain"

RelationshipType = Literal[
    "similar_to", "related_to", "references", "cites", "contains", "part_of", "follows", "precedes", "causes",
    "resolves", "implements", "describes",
]  # fmt: skip
RELATIONSHIPS: tuple[str, ...] = get_args(RelationshipType)

_TITLE = 120
_DELETED = "It was deleted. Its history shows what it was, and it can be restored."


class ItemDraft(Struct, frozen=True, kw_only=True):
    """What a caller gives to make an item."""

    text: str
    kind: str = CONTENT
    content_type: str = PLAIN
    summary: str | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}
    session: str | None = None


class StoredItem(Struct, frozen=True):
    """An item as it is kept, and the relationships that were found for it."""

    record: Record
    relationships: list[Relation] = []


class Version(Struct, frozen=True):
    """An item as one change left it."""

    change: Change
    record: Record


class Decision(Struct, frozen=True, kw_only=True):
    """A decision in its parts."""

    title: str
    context: str
    decision: str
    rationale: str
    alternatives: Sequence[str] = ()
    impact: str | None = None
    stakeholders: Sequence[str] = ()


HEADINGS = {
    "context": "Context", "decision": "Decision", "rationale": "Rationale",
    "alternatives": "Alternatives considered", "impact": "Impact", "stakeholders": "Stakeholders",
}  # fmt: skip
"""The heading of each part of a decision, in the order of its text."""


def decision_text(given: Decision) -> str:
    """A decision as people read it."""
    text = [f"# {given.title}"]
    for field, heading in HEADINGS.items():
        part = getattr(given, field)
        if part:
            text.append(
                f"## {heading}\n\n{part if isinstance(part, str) else chr(10).join(f'- {one}' for one in part)}"
            )
    return "\n\n".join(text) + "\n"


def new_item_id(uid: str) -> str:
    """The public id of an item, made from a new id."""
    return f"content_{uid.replace('-', '')}"


def title_of(record: Record) -> str:
    """What an item is called: its title, its name, or how it begins."""
    title = record.metadata.get("title")
    if isinstance(title, str) and title.strip():
        return title.strip()
    if record.name != record.uid:
        return record.name
    for line in (record.observations[0] if record.observations else "").splitlines():
        if text := line.strip().lstrip("#").strip():
            return text if len(text) <= _TITLE else text[:_TITLE].rstrip() + "…"
    return record.uid


def visible(session: str | None) -> Filters:
    """What a call sees: the project's own items, and with a session that session's too."""
    return Filters(session=session, any_session=False)


def find_item(snapshot: Snapshot, id: str, session: str | None) -> Record:
    """An item by its id. One of another session is not there; whose it is, is not told."""
    records = snapshot.load(list(snapshot.ids_of([id]).values()))
    if not records or records[0].session not in (None, session):
        missing = NotFound([id], "Content", hint="Check the id, or search for its words.")
        if not records and find_deleted(snapshot, id, session) is not None:
            missing = NotFound([id], "Content", hint=_DELETED)
            missing.details["deleted"] = True
        raise missing
    return records[0]


def find_deleted(snapshot: Snapshot, id: str, session: str | None) -> Record | None:
    """An item that was deleted but is still in the journal, as it was last; None where there is none to see."""
    if snapshot.ids_of([id]):
        return None
    for number in snapshot.ids_ever(id):
        for _, record in snapshot.versions(number)[:1]:
            if record.uid == id and record.session in (None, session):
                return record
    return None


def brought(record: Record) -> list[Version]:
    """The versions an imported item had elsewhere, newest first."""
    told = record.extra.get(EARLIER)
    found = []
    for one in reversed(told) if isinstance(told, list) else ():
        at = read_moment(one["updated_at"], "updated_at") if one.get("updated_at") else record.created
        earlier = replace(
            record, observations=(str(one.get("content", "")),), summary=one.get("summary"), updated=at,
            tags=tuple(one.get("tags", ())), metadata=one.get("metadata", {}), version=one.get("version", 1),
        )  # fmt: skip
        found.append(Version(Change(id=0, at=at, who="elsewhere", action="imported"), earlier))
    return found


def check_content_type(content_type: str) -> str:
    """A MIME type, with or without parameters: text/plain; charset=utf-8."""
    top, _, sub = content_type.partition(";")[0].strip().partition("/")
    if not top or not sub or any(c.isspace() for c in top + sub):
        raise Invalid(
            f"content_type is {content_type!r:.60}, which is no MIME type",
            field="content_type",
            hint="Write it as type/subtype, such as text/markdown.",
        )
    return content_type.strip()


def check_type(type: str) -> str:
    """A relationship type that there is."""
    if type not in RELATIONSHIPS:
        raise Invalid(f"type is {type!r:.60}, but must be one of: {', '.join(RELATIONSHIPS)}", field="type")
    return type
