"""Records: what a memory says and is called, how one is found, what may be stored, and the pages of a listing."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from polymnia.errors import Invalid, ManyTexts, NotFound, OverLimit
from polymnia.models import (
    Change,
    EntityDraft,
    Filters,
    JsonObject,
    Limits,
    Record,
    Relation,
    RelationDraft,
    Text,
    legal_name,
    legal_text,
)

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction

KIND = "memory"
"""The kind of a memory whose author gave it none."""
CONTENT = "content"
DECISION = "decision"
PLAIN = "text/plain"
EARLIER = "history"
"""The foreign key under which an imported item keeps the versions it had elsewhere."""
MOST = 10_000
"""The largest page one can ask for."""

RelationshipType = Literal[
    "similar_to", "related_to", "references", "cites", "contains", "part_of", "follows", "precedes", "causes",
    "resolves", "implements", "describes",
]  # fmt: skip
RELATIONSHIPS: tuple[str, ...] = get_args(RelationshipType)

_TAGS = 1000
_DEPTH = 100
_TITLE = 120
_DELETED = "It was deleted. Its history shows what it was, and it can be restored."


class Joined(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a duplicate added to the memory that was there; ``replaced`` are the values it had before."""

    tags: list[str] = []
    category: str | None = None
    metadata: JsonObject = {}
    replaced: JsonObject = {}


class Remembered(Struct, frozen=True, kw_only=True):
    """What became of a content that was to be stored.

    When it is a ``duplicate``, ``record`` is the memory that says exactly the same already; what was new about the
    tags, category and metadata that came with it is ``joined`` to that one. Otherwise ``similar`` are memories that
    are nearly the same, with how similar they are; of these ``reworded`` (their ids) say the same in other words, by
    the judge of pairs. ``associations`` are the relations of the record, strongest first,
    with the record at their other end; more of them come in the background while they are ``pending``.
    """

    record: Record
    duplicate: bool = False
    joined: Joined | None = None
    similar: list[tuple[Record, float]] = []
    reworded: frozenset[str] = frozenset()
    associations: list[tuple[Record, Relation]] = []
    pending: bool = False
    notes: list[str] = []


class Revised(Struct, frozen=True, kw_only=True):
    """A memory after a revision, and whether anything has changed.

    ``same`` is another memory of its scope that says exactly what it says now. While associations are ``pending``,
    more of them come in the background.
    """

    record: Record
    changed: bool
    same: Record | None = None
    associations: list[tuple[Record, Relation]] = []
    pending: bool = False


class Moved(Struct, frozen=True, kw_only=True):
    """What became of memories that were to be moved: (id, old scope, new scope); ids that were there; (id, why not).

    ``same`` are pairs of ids: one that was moved, and one of its new scope that says exactly the same.
    """

    scope: str
    moved: list[tuple[str, str, str]] = []
    there: list[str] = []
    failed: list[tuple[str, str]] = []
    same: list[tuple[str, str]] = []


class ItemDraft(Struct, frozen=True, kw_only=True):
    """A document or decision to be stored."""

    text: str
    kind: str = CONTENT
    content_type: str = PLAIN
    summary: str | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}
    session: str | None = None


class StoredItem(Struct, frozen=True):
    """A stored item, and the relationships that were found for it."""

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


def decision_text(decision: Decision) -> str:
    """A decision as people read it."""
    text = [f"# {decision.title}"]
    for field, heading in HEADINGS.items():
        if part := getattr(decision, field):
            lines = part if isinstance(part, str) else "\n".join(f"- {one}" for one in part)
            text.append(f"## {heading}\n\n{lines}")
    return "\n\n".join(text) + "\n"


# ── a record ──────────────────────────────────────────────────────────────────────────────────────────


def content(record: Record) -> str:
    """What a memory says: its observations line by line, or the name its author gave it when it has none."""
    return "\n".join(record.observations) or ("" if record.name == record.uid else record.name)


def title_of(record: Record) -> str:
    """What a memory is called: its title, its name, or how it begins."""
    title = record.metadata.get("title")
    if isinstance(title, str) and title.strip():
        return title.strip()
    if record.name != record.uid:
        return record.name
    for line in (record.observations[0] if record.observations else "").splitlines():
        if text := line.strip().lstrip("#").strip():
            return text if len(text) <= _TITLE else text[:_TITLE].rstrip() + "…"
    return record.uid


def read_as(record: Record) -> tuple[Text, Text]:
    """The head and the text of a memory that says one thing, as search reads them; they are numbered 0 and 1."""
    name = "" if record.name == record.uid else record.name  # a name that is the id says nothing
    head = Text(
        id=0, memory=0, name=name, kind=record.kind, body=None, session=record.session, created=record.created,
        tags=record.tags, category=record.category, summary=record.summary, bare=not record.observations,
        scope=record.scope,
    )  # fmt: skip
    return head, replace(head, id=1, body=content(record), tags=(), category=None, summary=None, bare=False)


def as_draft(record: Record) -> EntityDraft:
    """The draft of a record that says the same."""
    return EntityDraft(
        record.name, record.kind, record.observations, record.extra, record.scope, record.session, record.category,
        record.content_type, record.summary, record.tags, record.metadata, record.uid,
    )  # fmt: skip


def new_item_id(uid: str) -> str:
    """The public id of an item, made from a new id."""
    return f"content_{uid.replace('-', '')}"


# ── finding records ───────────────────────────────────────────────────────────────────────────────────


def finds(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, int]:
    """The records with these public ids, or with these names where no record has such an id."""
    found = snapshot.ids_of(ids) if ids else {}
    if others := [id for id in ids if id not in found]:
        found |= snapshot.ids(others)
    return found


def find(snapshot: Snapshot, id: str) -> Record:
    """The memory with a public id or a name."""
    records = snapshot.load(list(finds(snapshot, [id]).values()))
    if not records:
        raise NotFound([id], "Memory", hint="Search for it, or list what there is.")
    return records[0]


def visible(session: str | None) -> Filters:
    """What a call sees: the project's own items, and with a session that session's too."""
    return Filters(session=session, any_session=False)


def find_item(snapshot: Snapshot, id: str, session: str | None) -> Record:
    """An item by its id. One of another session counts as missing, and nothing tells whose it is."""
    records = snapshot.load(list(snapshot.ids_of([id]).values()))
    if not records or records[0].session not in (None, session):
        missing = NotFound([id], "Content", hint="Check the id, or search for its words.")
        if not records and find_deleted(snapshot, id, session) is not None:
            missing = NotFound([id], "Content", hint=_DELETED)
            missing.details["deleted"] = True
        raise missing
    return records[0]


def find_deleted(snapshot: Snapshot, id: str, session: str | None) -> Record | None:
    """The last state of an item that was deleted but is still in the journal; None where there is none to see."""
    if snapshot.ids_of([id]):
        return None
    for number in snapshot.ids_ever(id):
        for _, record in snapshot.versions(number)[:1]:
            if record.uid == id and record.session in (None, session):
                return record
    return None


def same_there(snapshot: Snapshot, record: Record, scope: str | None) -> int | None:
    """Another memory of a scope that says exactly what this one says; None also for what has several texts."""
    if len(record.observations) != 1:
        return None
    found = snapshot.same_text(record.observations[0], scope)
    return None if found == record.id else found


def still_there(tx: Transaction, drawn: Sequence[RelationDraft]) -> list[RelationDraft]:
    """The drafts whose target nobody has deleted meanwhile."""
    there = tx.ids([one.target for one in drawn]) if drawn else {}
    return [one for one in drawn if one.target in there]


def linked(relations: Iterable[Relation], name: str) -> dict[str, Relation]:
    """The names at the other ends of a name's relations, each with the first that leads there."""
    found: dict[str, Relation] = {}
    for relation in relations:
        other = relation.target if relation.source == name else relation.source
        if other != name:
            found.setdefault(other, relation)
    return found


def links_of(snapshot: Snapshot, records: Sequence[Record], each: int) -> dict[str, list[tuple[Record, Relation]]]:
    """For each memory, by its id, those it is linked to in one moment of the store, strongest first."""
    relations = snapshot.strongest([record.name for record in records], each) if records else {}
    links = {one.uid: list(linked(relations.get(one.name, ()), one.name).items())[:each] for one in records}
    names = list(dict.fromkeys(name for many in links.values() for name, _ in many))
    ids = snapshot.ids(names) if names else {}
    loaded = {record.name: record for record in snapshot.load(list(ids.values()))} if ids else {}
    return {uid: [(loaded[name], relation) for name, relation in many if name in loaded] for uid, many in links.items()}


def brought(record: Record) -> list[Version]:
    """The versions an imported item had elsewhere, newest first."""
    from polymnia.engine.text.calendar import read_moment

    earlier = record.extra.get(EARLIER)
    found = []
    for one in reversed(earlier) if isinstance(earlier, list) else ():
        at = read_moment(one["updated_at"], "updated_at") if one.get("updated_at") else record.created
        version = replace(
            record, observations=(str(one.get("content", "")),), summary=one.get("summary"), updated=at,
            tags=tuple(one.get("tags", ())), metadata=one.get("metadata", {}), version=one.get("version", 1),
        )  # fmt: skip
        found.append(Version(Change(id=0, at=at, who="elsewhere", action="imported"), version))
    return found


# ── what may be stored ────────────────────────────────────────────────────────────────────────────────


def check_content(text: str, field: str, limits: Limits, hint: str) -> None:
    """Refuse a text that is illegal or empty."""
    legal_text(text, field, limits.text_bytes)
    if not text.strip():
        raise Invalid(f"{field} is empty", field=field, hint=hint)


def check_one_text(record: Record, text: str | None) -> None:
    """Refuse a text that would replace several."""
    if text is not None and len(record.observations) > 1 and text != content(record):
        raise ManyTexts(record.name, len(record.observations))


def check_tags(tags: Sequence[str], limits: Limits) -> tuple[str, ...]:
    """Tags as they are stored: each once, in order, trimmed."""
    if isinstance(tags, str):
        raise Invalid("tags must be a list of texts, not a text", field="tags", hint="Put it in brackets: [tag].")
    if len(tags) > limits.batch:
        raise OverLimit("tags", len(tags), "items", limits.batch, "max_batch")
    trimmed: dict[str, None] = {}
    for i, tag in enumerate(tags):
        text = legal_name(tag, f"tags[{i}]", limits).strip()
        if not text:
            raise Invalid(f"tags[{i}] is empty", field=f"tags[{i}]")
        trimmed[text] = None
    if len(trimmed) > _TAGS:
        raise Invalid(f"tags has {len(trimmed):,} items, over {_TAGS:,}", field="tags")
    return tuple(trimmed)


def check_metadata(metadata: Mapping[str, Any] | None, limits: Limits) -> JsonObject:
    """Metadata as it is stored: any JSON object whose texts are legal and whose numbers fit 64 bits."""
    if not metadata:
        return {}
    check_room(metadata, limits)
    check_value(metadata, "metadata")
    try:
        encode(metadata)
    except (TypeError, ValueError, OverflowError) as e:
        raise Invalid(f"metadata cannot be kept: {e}", field="metadata") from None
    return dict(metadata)


def check_room(metadata: Mapping[str, Any] | None, limits: Limits) -> None:
    """Refuse metadata that is too large, before anybody looks at what is in it."""
    try:
        size = len(encode(metadata))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return  # check_metadata says what is wrong with it
    if size > limits.text_bytes:
        raise OverLimit("metadata", size, "bytes", limits.text_bytes, "max_text_bytes")


def check_value(value: Any, where: str, depth: int = 0) -> None:
    """Refuse what is no JSON, or holds what cannot be stored, and name the place."""
    if depth > _DEPTH:
        raise Invalid(f"{where} is nested deeper than {_DEPTH}", field=where)
    if isinstance(value, str):
        legal_text(value, where, 1 << 40)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise Invalid(f"{where} is a whole number beyond 64 bits", field=where)
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            raise Invalid(f"{where} is {value}, which is no number that can be kept", field=where)
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise Invalid(f"{where} has a key that is no text: {key!r}", field=where)
            legal_text(key, f"{where} (a key of it)", 1 << 40)
            check_value(inner, f"{where}.{key}", depth + 1)
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            check_value(inner, f"{where}[{i}]", depth + 1)
    else:
        raise Invalid(f"{where} is {type(value).__name__}, which is no JSON", field=where)


# ── pages ─────────────────────────────────────────────────────────────────────────────────────────────


def page_size(limit: int | None) -> int:
    """The limit if there is one, at most the largest page."""
    if limit is not None and (not isinstance(limit, int) or not 1 <= limit <= MOST):
        raise Invalid(f"limit is {limit}, but must be from 1 to {MOST:,}", field="limit")
    return limit or MOST


def cursor(kind: str, *place: float) -> str:
    """An opaque cursor for a place in a listing: the sort key of the last item of the page.

    A key, unlike a count, stays true while others add and delete.
    """
    return urlsafe_b64encode(":".join((kind, *map(repr, place))).encode()).decode().rstrip("=")


def position(kind: str, text: str | None, parts: int | None = None) -> tuple[float, ...]:
    """The key a cursor stands for, which has so many parts; before everything without a cursor."""
    if text is None:
        return ()
    try:
        owner, *place = urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().split(":")
        if owner == kind and place and len(place) == (parts or len(place)):
            key = tuple(float(part) if "." in part or "e" in part else int(part) for part in place)
            if all(abs(number) < 1 << 63 for number in key):
                return key
    except ValueError:
        pass
    raise foreign(text)


def foreign(text: str | None) -> Invalid:
    """The refusal of a cursor that belongs to another listing."""
    return Invalid(
        f"The cursor {text!r} does not belong to this listing",
        hint="Pass the cursor of the page before (nextCursor, next) unchanged to the same call; or start without one.",
        field="cursor",
    )
