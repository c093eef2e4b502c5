"""Records: the content and title of a memory, looking one up, validating what is stored, and paging listings."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

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
    fold,
    legal_name,
    legal_text,
)

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction

KIND = "memory"
"""The kind of a memory stored without one."""
CONTENT = "content"
DECISION = "decision"
PLAIN = "text/plain"
EARLIER = "history"
"""The key in ``extra`` under which an imported item stores the versions it had elsewhere."""
MOST = 10_000
"""The largest page that can be requested."""
PERMALINKS = "polymnia://project/"
"""What every permalink begins with."""

RelationshipType = Literal[
    "similar_to", "related_to", "references", "cites", "contains", "part_of", "follows", "precedes", "causes",
    "resolves", "implements", "describes",
]  # fmt: skip
RELATIONSHIPS: tuple[str, ...] = get_args(RelationshipType)

_IN_PROJECT, _IN_SESSION = "/content/", "?session_id="
_TAGS = 1000
_DEPTH = 100
_TITLE = 120
_DELETED = "It was deleted. Its history shows what it was, and it can be restored."


class Joined(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a duplicate added to the existing memory; ``replaced`` are the values it had before."""

    tags: list[str] = []
    category: str | None = None
    metadata: JsonObject = {}
    replaced: JsonObject = {}


class Remembered(Struct, frozen=True, kw_only=True):
    """The outcome of storing a content.

    For a ``duplicate``, ``record`` is the existing memory that says exactly the same, and ``joined`` what the new
    tags, category and metadata added to it. Otherwise ``similar`` are near-duplicates with their similarity, and
    ``reworded`` the ids of those that say the same in other words, as the judge model sees it. ``associations`` are
    the relations of the record, strongest first, with the record at their other end; while ``pending``, more of them
    are added in the background.
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
    """A memory after a revision, and whether anything changed.

    ``same`` is another memory of its scope that now says exactly the same. While ``pending``, more associations are
    added in the background.
    """

    record: Record
    changed: bool
    same: Record | None = None
    associations: list[tuple[Record, Relation]] = []
    pending: bool = False


class Moved(Struct, frozen=True, kw_only=True):
    """The outcome of moving memories.

    ``moved`` are (id, old scope, new scope), ``there`` the ids already in the scope, ``failed`` (id, reason), and
    ``same`` pairs of ids: a moved memory, and one of its new scope that says exactly the same.
    """

    scope: str
    moved: list[tuple[str, str, str]] = []
    there: list[str] = []
    failed: list[tuple[str, str]] = []
    same: list[tuple[str, str]] = []


class ItemDraft(Struct, frozen=True, kw_only=True):
    """The input for a new document or decision."""

    text: str
    kind: str = CONTENT
    content_type: str = PLAIN
    summary: str | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}
    session: str | None = None


class StoredItem(Struct, frozen=True):
    """A stored item, and the relationships detected for it."""

    record: Record
    relationships: list[Relation] = []


class Version(Struct, frozen=True):
    """An item as one change left it."""

    change: Change
    record: Record


class Decision(Struct, frozen=True, kw_only=True):
    """The parts of a decision."""

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
"""The heading of each part of a decision, in text order."""


def decision_text(decision: Decision) -> str:
    """Render a decision as Markdown."""
    text = [f"# {decision.title}"]
    for field, heading in HEADINGS.items():
        if part := getattr(decision, field):
            lines = part if isinstance(part, str) else "\n".join(f"- {one}" for one in part)
            text.append(f"## {heading}\n\n{lines}")
    return "\n\n".join(text) + "\n"


# ── a record ──────────────────────────────────────────────────────────────────────────────────────────


def content(record: Record) -> str:
    """The content of a memory: its observations, one per line; without any, the name its author chose."""
    return "\n".join(record.observations) or ("" if record.name == record.uid else record.name)


def passes(record: Record, filters: Filters, who: str) -> bool:
    """Whether a memory that ``who`` stored or changed passes filters by kind, tag, scope, person and times.

    For states that no index has any more; what is there now is asked of the store.
    """
    scope, path = filters.scope, record.path
    tagged = all if filters.all_tags else any
    return (
        (scope is None or path == scope or (filters.scopes_below and path.startswith(f"{scope}/")))
        and (not filters.kinds or record.kind in filters.kinds)
        and (not filters.tags or tagged(tag in record.tags for tag in filters.tags))
        and (filters.created_from is None or record.created >= filters.created_from)
        and (filters.created_to is None or record.created < filters.created_to)
        and (filters.updated_from is None or record.updated >= filters.updated_from)
        and (filters.who is None or fold(filters.who) in fold(f"{who}\n{record.metadata.get('speaker', '')}"))
    )


class Then(NamedTuple):
    """A time in the past, and what the first change after it did to each memory that was touched since."""

    at: int
    first: dict[int, str]

    @classmethod
    def before(cls, snapshot: Snapshot, at: int, later: Sequence[Change]) -> Then:
        """The time before some changes, the newest of which is the first."""
        return cls(at, {one.memory: one.how for change in later for one in snapshot.effects(change.id)})


def state_at(snapshot: Snapshot, id: int, then: Then) -> Record | None:
    """A memory as it was at a time; None where it did not exist then."""
    how = then.first.get(id)
    if how is None:
        return next(iter(snapshot.load([id])), None)
    if how in ("made", "restored"):
        return None
    return next((record for change, record in snapshot.versions(id) if change.at <= then.at), None)


def states(snapshot: Snapshot, uids: Sequence[str], then: Then | None) -> dict[str, Record]:
    """The memories with these public ids that there are, or that there were at a time, as they were then."""
    ids = snapshot.ids_of(uids) if uids else {}
    if then is None:
        return {one.uid: one for one in snapshot.load(list(ids.values()))} if ids else {}
    gone = {uid: snapshot.ids_ever(uid) or snapshot.deleted_uid(uid) for uid in uids if uid not in ids}
    numbers = [*ids.values(), *(number for ever in gone.values() for number in ever)]
    found = (state_at(snapshot, number, then) for number in numbers)
    return {one.uid: one for one in found if one is not None}


def title_of(record: Record) -> str:
    """The title of a memory: from its metadata, its name, or its first line."""
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
    """The head and the text of a memory with one observation, as search analyses them; numbered 0 and 1."""
    name = "" if record.name == record.uid else record.name  # an id is not searchable
    head = Text(
        id=0, memory=0, name=name, kind=record.kind, body=None, session=record.session, created=record.created,
        tags=record.tags, category=record.category, summary=record.summary, bare=not record.observations,
        scope=record.scope,
    )  # fmt: skip
    return head, replace(head, id=1, body=content(record), tags=(), category=None, summary=None, bare=False)


def as_draft(record: Record) -> EntityDraft:
    """A draft with the content of a record."""
    return EntityDraft(
        record.name, record.kind, record.observations, record.extra, record.scope, record.session, record.category,
        record.content_type, record.summary, record.tags, record.metadata, record.uid,
    )  # fmt: skip


def new_item_id(uid: str) -> str:
    """The public id of an item, derived from a new id."""
    return f"content_{uid.replace('-', '')}"


# ── finding records ───────────────────────────────────────────────────────────────────────────────────


def permalink(project: str, id: str, session: str | None) -> str:
    """The address of a memory on this server, with its session, without which it is not visible."""
    from urllib.parse import quote

    in_session = "" if session is None else _IN_SESSION + quote(session, safe="")
    return f"{PERMALINKS}{quote(project, safe='')}{_IN_PROJECT}{quote(id, safe='')}{in_session}"


def read_permalink(address: str) -> tuple[str | None, str, str | None]:
    """The project, id and session of an unquoted permalink without its prefix; the project is None if it is invalid."""
    project, _, rest = address.rpartition(_IN_PROJECT)
    id, _, session = rest.partition(_IN_SESSION)
    return project or None, id, session or None


def find_ids(snapshot: Snapshot, ids: Sequence[str]) -> dict[str, int]:
    """The record ids by public id or name."""
    found = snapshot.ids_of(ids) if ids else {}
    if others := [id for id in ids if id not in found]:
        found |= snapshot.ids(others)
    return found


def find(snapshot: Snapshot, id: str) -> Record:
    """The memory with a public id or a name."""
    records = snapshot.load(list(find_ids(snapshot, [id]).values()))
    if not records:
        raise NotFound([id], "Memory", hint="Search for it, or list what there is.")
    return records[0]


def visible(session: str | None) -> Filters:
    """The filters for what a call sees: the project's own items, and those of its session if it has one."""
    return Filters(session=session, any_session=False)


def find_item(snapshot: Snapshot, id: str, session: str | None) -> Record:
    """An item by its id. One of another session counts as missing; the error does not reveal that it exists."""
    records = snapshot.load(list(snapshot.ids_of([id]).values()))
    if not records or records[0].session not in (None, session):
        missing = NotFound([id], "Content", hint="Check the id, or search for its words.")
        if not records and find_deleted(snapshot, id, session) is not None:
            missing = NotFound([id], "Content", hint=_DELETED)
            missing.details["deleted"] = True
        raise missing
    return records[0]


def find_deleted(snapshot: Snapshot, id: str, session: str | None) -> Record | None:
    """The last state of a deleted item that is still in the journal; None if there is none the session may see."""
    if snapshot.ids_of([id]):
        return None
    for number in snapshot.ids_ever(id):
        for _, record in snapshot.versions(number)[:1]:
            if record.uid == id and record.session in (None, session):
                return record
    return None


def same_there(snapshot: Snapshot, record: Record, scope: str | None) -> int | None:
    """Another memory of the scope that says exactly the same; always None for a record with several texts."""
    if len(record.observations) != 1:
        return None
    found = snapshot.same_text(record.observations[0], scope)
    return None if found == record.id else found


def with_targets(tx: Transaction, drawn: Sequence[RelationDraft]) -> list[RelationDraft]:
    """The drafts whose target has not been deleted meanwhile."""
    there = tx.ids([one.target for one in drawn]) if drawn else {}
    return [one for one in drawn if one.target in there]


def linked(relations: Iterable[Relation], name: str) -> dict[str, Relation]:
    """The names at the other ends of a name's relations, each with the first relation that leads to it."""
    found: dict[str, Relation] = {}
    for relation in relations:
        other = relation.target if relation.source == name else relation.source
        if other != name:
            found.setdefault(other, relation)
    return found


def links_of(snapshot: Snapshot, records: Sequence[Record], each: int) -> dict[str, list[tuple[Record, Relation]]]:
    """The memories each memory is linked to in one snapshot, by its public id, strongest first."""
    relations = snapshot.strongest([record.name for record in records], each) if records else {}
    links = {one.uid: list(linked(relations.get(one.name, ()), one.name).items())[:each] for one in records}
    names = list(dict.fromkeys(name for many in links.values() for name, _ in many))
    ids = snapshot.ids(names) if names else {}
    loaded = {record.name: record for record in snapshot.load(list(ids.values()))} if ids else {}
    return {uid: [(loaded[name], relation) for name, relation in many if name in loaded] for uid, many in links.items()}


def imported_versions(record: Record) -> list[Version]:
    """The versions an imported item had elsewhere, newest first."""
    from polymnia.engine.text.calendar import parse_time

    earlier = record.extra.get(EARLIER)
    found = []
    for one in reversed(earlier) if isinstance(earlier, list) else ():
        at = parse_time(one["updated_at"], "updated_at") if one.get("updated_at") else record.created
        version = replace(
            record, observations=(str(one.get("content", "")),), summary=one.get("summary"), updated=at,
            tags=tuple(one.get("tags", ())), metadata=one.get("metadata", {}), version=one.get("version", 1),
        )  # fmt: skip
        found.append(Version(Change(id=0, at=at, who="elsewhere", action="imported"), version))
    return found


# ── validation ────────────────────────────────────────────────────────────────────────────────────────


def check_content(text: str, field: str, limits: Limits, hint: str) -> None:
    """Refuse a text that is illegal or empty."""
    legal_text(text, field, limits.text_bytes)
    if not text.strip():
        raise Invalid(f"{field} is empty", field=field, hint=hint)


def check_one_text(record: Record, text: str | None) -> None:
    """Refuse a text that would replace several observations."""
    if text is not None and len(record.observations) > 1 and text != content(record):
        raise ManyTexts(record.name, len(record.observations))


def check_tags(tags: Sequence[str], limits: Limits, field: str = "tags") -> tuple[str, ...]:
    """Return the tags as they are stored: distinct, in order, trimmed."""
    if isinstance(tags, str):
        raise Invalid(f"{field} must be a list of texts, not a text", field=field, hint="Put it in brackets: [tag].")
    if len(tags) > limits.batch:
        raise OverLimit(field, len(tags), "items", limits.batch, "max_batch")
    trimmed: dict[str, None] = {}
    for i, tag in enumerate(tags):
        text = legal_name(tag, f"{field}[{i}]", limits).strip()
        if not text:
            raise Invalid(f"{field}[{i}] is empty", field=f"{field}[{i}]")
        trimmed[text] = None
    if len(trimmed) > _TAGS:
        raise Invalid(f"{field} has {len(trimmed):,} items, over {_TAGS:,}", field=field)
    return tuple(trimmed)


def check_metadata(metadata: Mapping[str, Any] | None, limits: Limits) -> JsonObject:
    """Return the metadata as it is stored: any JSON object whose texts are legal and whose integers fit 64 bits."""
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
    """Refuse metadata that is too large, before its values are examined."""
    try:
        size = len(encode(metadata))
    except (TypeError, ValueError, OverflowError, RecursionError):
        return  # check_metadata reports what is wrong
    if size > limits.text_bytes:
        raise OverLimit("metadata", size, "bytes", limits.text_bytes, "max_text_bytes")


def check_value(value: Any, where: str, depth: int = 0) -> None:
    """Refuse a value that is not JSON or contains what cannot be stored, and name the place."""
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
    """The limit, or the largest page without one; refuses a limit out of range."""
    if limit is not None and (not isinstance(limit, int) or not 1 <= limit <= MOST):
        raise Invalid(f"limit is {limit}, but must be from 1 to {MOST:,}", field="limit")
    return limit or MOST


def cursor(kind: str, *place: float) -> str:
    """An opaque cursor for a position in a listing: the sort key of the last item of the page.

    A key, unlike an offset, stays valid while items are added and deleted.
    """
    return urlsafe_b64encode(":".join((kind, *map(repr, place))).encode()).decode().rstrip("=")


def position(kind: str, text: str | None, parts: int | None = None) -> tuple[float, ...]:
    """The sort key in a cursor, which must have ``parts`` parts if set; empty without a cursor."""
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
    """The error for a cursor that belongs to another listing."""
    return Invalid(
        f"The cursor {text!r} does not belong to this listing",
        hint="Pass the cursor of the page before (nextCursor, next) unchanged to the same call; or start without one.",
        field="cursor",
    )
