"""What the thirteen tools answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from polymnia.engine import scopes
from polymnia.engine.content import content
from polymnia.engine.moments import moment
from polymnia.models import Note, Record, Relation
from polymnia.operation import Reply

if TYPE_CHECKING:
    from polymnia.engine.search.results import Hit
    from polymnia.engine.search.results import Turn as Said

__all__ = [
    "Alternative",
    "Analysis",
    "Association",
    "Deleted",
    "Discovered",
    "Discovery",
    "Duplicate",
    "Exported",
    "FailedMove",
    "Found",
    "FoundMemory",
    "Imported",
    "Joined",
    "ListedMemory",
    "Memory",
    "MovedMemories",
    "MovedMemory",
    "Page",
    "Pagination",
    "Scope",
    "Scopes",
    "Session",
    "SessionAnswer",
    "Source",
    "Similar",
    "Stats",
    "Stored",
    "Suggested",
    "Turn",
    "association",
    "direction",
    "found",
    "listed",
    "memory",
    "reply",
    "similar",
    "short",
]

Nothing = Meta(extra_json_schema={"type": ["string", "null"]})
Number = Meta(extra_json_schema={"type": ["number", "null"]})
_SHORT = 300  # characters of a memory that is only told of beside another


class Similar(Struct, frozen=True, omit_defaults=True):
    """A memory that is nearly the same as one that was stored. Of a long one the beginning is shown.

    ``says_the_same``: in other words, by the judge of pairs.
    """

    memory_id: str
    content: str
    scope: str
    similarity_score: float
    truncated: bool = False
    name: str | None = None
    says_the_same: bool = False


class Joined(Struct, frozen=True, omit_defaults=True):
    """What a duplicate added to the memory that is there; ``replaced`` are the values that memory had before."""

    tags: list[str] = []
    category: str | None = None
    metadata: dict[str, Any] = {}
    replaced: dict[str, Any] = {}


class Stored(Struct, frozen=True, omit_defaults=True):
    """memory_store: the memory that keeps the content now, or has kept it before.

    ``similar_memories`` are nearly the same and were kept apart. ``joined`` is what was new about the tags, category
    and metadata of a duplicate. ``associations_pending``: more associations appear in the background.
    """

    memory_id: str
    content: str
    scope: str
    created_at: str
    is_duplicate: bool
    associations: list[str]
    similarity_score: float | None = None
    similar_memories: list[Similar] = []
    joined: Joined | None = None
    associations_pending: bool = False
    notes: list[str] = []


class Association(Struct, frozen=True, omit_defaults=True):
    """A memory that another one is linked to, and by what relation. Of a long one the beginning is shown.

    ``similarity_score`` is that of a link that was drawn by similarity, and null for any other. ``strength`` is what
    was given with a link that somebody drew.
    """

    memory_id: str
    content: str
    similarity_score: Annotated[float | None, Number]
    relation_type: str
    direction: str
    strength: float | None = None
    truncated: bool = False
    name: str | None = None


class Turn(Struct, frozen=True, omit_defaults=True):
    """What was said just before or after a turn of a dialogue. Of a long one the beginning is shown."""

    memory_id: str
    content: str
    who: str | None = None
    truncated: bool = False
    name: str | None = None


class FoundMemory(Struct, frozen=True, omit_defaults=True):
    """A memory that memory_search found. ``name`` and ``kind`` are those of a graph entity.

    ``previous_turn`` and ``next_turn`` are given for a turn of a dialogue.
    """

    memory_id: str
    content: str
    scope: str
    similarity_score: float
    created_at: str
    associations: list[Association] | None = None
    category: str | None = None
    tags: list[str] = []
    metadata: dict[str, Any] = {}
    name: str | None = None
    kind: str | None = None
    previous_turn: Turn | None = None
    next_turn: Turn | None = None


class Found(Struct, frozen=True, omit_defaults=True):
    """memory_search. ``notes`` say what a reader of the results should know: why there are none, what is near."""

    memories: list[FoundMemory]
    total_found: int
    search_scope: Annotated[str | None, Nothing]
    notes: list[str] = []


class Memory(Struct, frozen=True, omit_defaults=True):
    """A memory with everything that is known of it (memory_get, memory_update)."""

    memory_id: str
    content: str
    scope: str
    metadata: dict[str, Any]
    tags: list[str]
    category: Annotated[str | None, Nothing]
    created_at: str
    updated_at: str
    version: int
    associations: list[Association] | None = None
    name: str | None = None
    kind: str | None = None
    success: bool | None = None
    similar_memories: list[Similar] = []
    notes: list[str] = []
    associations_pending: bool = False


class ListedMemory(Struct, frozen=True, omit_defaults=True):
    """A memory of memory_list_all."""

    memory_id: str
    content: str
    scope: str
    created_at: str
    updated_at: str
    category: str | None = None
    tags: list[str] = []
    metadata: dict[str, Any] = {}
    name: str | None = None
    kind: str | None = None


class Deleted(Struct, frozen=True):
    """memory_delete: what is gone for good."""

    success: bool
    memory_id: str
    message: str


class Source(Struct, frozen=True):
    """The memory that associations were discovered for."""

    memory_id: str
    content: str


class Discovered(Struct, frozen=True, omit_defaults=True):
    """One association: how strong, what carries it, and why."""

    memory_id: str
    content: str
    similarity_score: float
    association_type: str
    reason: str
    scope: str
    relation_type: str | None = None
    direction: str | None = None
    truncated: bool = False
    name: str | None = None


class Stats(Struct, frozen=True):
    """How many memories were looked at, how many are answered, and how strong those are on average."""

    total_candidates: int
    filtered_results: int
    avg_similarity: float


class Discovery(Struct, frozen=True):
    """memory_discover_associations."""

    source_memory: Source
    associations: list[Discovered]
    discovery_stats: Stats


class Scope(Struct, frozen=True, omit_defaults=True):
    """One scope: how many memories are in it, how many with everything below it, and what is right below."""

    scope: str
    child_scopes: list[str]
    depth: int
    memory_count: int | None = None
    total_memory_count: int | None = None


class Scopes(Struct, frozen=True, omit_defaults=True):
    """scope_list."""

    scopes: list[Scope]
    total_scopes: int
    hierarchy_depth: int
    notes: list[str] = []


class Alternative(Struct, frozen=True):
    """Another scope a text may belong to."""

    scope: str
    confidence: float
    reasoning: str


class Analysis(Struct, frozen=True):
    """What was seen in the text."""

    detected_keywords: list[str]
    suggested_category: Annotated[str | None, Nothing]
    content_type: str


class Suggested(Struct, frozen=True):
    """scope_suggest."""

    suggested_scope: str
    confidence: float
    alternatives: list[Alternative]
    analysis: Analysis
    reasoning: str
    abstained: bool


class MovedMemory(Struct, frozen=True):
    """A memory that was moved."""

    memory_id: str
    old_scope: str
    new_scope: str


class FailedMove(Struct, frozen=True):
    """A memory that could not be moved, and why."""

    memory_id: str
    error: str


class Duplicate(Struct, frozen=True):
    """A memory that was moved into a scope where another one says exactly the same."""

    memory_id: str
    duplicate_of: str


class MovedMemories(Struct, frozen=True, omit_defaults=True):
    """memory_move."""

    moved_count: int
    failed_moves: list[FailedMove]
    target_scope: str
    moved_memories: list[MovedMemory]
    duplicates: list[Duplicate] = []
    notes: list[str] = []


class Pagination(Struct, frozen=True):
    """Where a page stands among all pages."""

    page: int
    per_page: int
    total_items: int
    total_pages: int
    has_next: bool
    has_prev: bool


class Page(Struct, frozen=True):
    """memory_list_all."""

    memories: list[ListedMemory]
    pagination: Pagination


class Exported(Struct, frozen=True, omit_defaults=True):
    """memory_export: to a file, or as data (base64 when compressed). ``replaced``: the file was there before."""

    success: bool
    exported_count: int
    export_size: int
    export_scope: Annotated[str | None, Nothing]
    compression_used: bool
    associations_count: int
    file_path: str | None = None
    export_data: str | None = None
    replaced: bool = False
    notes: list[str] = []


class Imported(Struct, frozen=True, omit_defaults=True):
    """memory_import. ``overwritten_count`` are the memories that existed and were changed, whatever the strategy."""

    success: bool
    imported_count: int
    skipped_count: int
    overwritten_count: int
    import_source: str
    merge_strategy_used: str
    validation_errors: list[str]
    imported_scopes: list[str]
    associations_count: int
    dropped: Annotated[dict[str, int], Meta(description="What the file has and was not taken, counted by reason.")]
    notes: list[str] = []


class Session(Struct, frozen=True):
    """One session of session_manage."""

    session_id: str
    scope: str
    memory_count: int
    created_at: str
    last_used_at: str
    age_days: int


class SessionAnswer(Struct, frozen=True, omit_defaults=True):
    """session_manage, with the fields of its action."""

    action: str
    session_id: str | None = None
    session_scope: str | None = None
    created_at: str | None = None
    already_existed: bool | None = None
    sessions: list[Session] | None = None
    total_sessions: int | None = None
    removed_sessions: int | None = None
    freed_memories: int | None = None
    max_age_days: float | None = None
    removed_session_ids: list[str] | None = None
    notes: list[str] = []


def reply(value: Any, notes: Sequence[Note] | None = None) -> Reply:
    """An answer: one of these results, as text and as structure. A model reads the notes in a field of it."""
    if notes:
        value = replace(value, notes=[note.text for note in notes])
    return Reply(value=value, structured=value, notes=notes or ())


def _called(record: Record) -> dict[str, Any]:
    """The name and kind of a graph entity; a content is called by its id alone."""
    return {} if record.name == record.uid else {"name": record.name, "kind": record.kind}


def short(record: Record) -> tuple[str, bool]:
    """The beginning of a memory, and whether it was cut."""
    whole = content(record)
    return (whole, False) if len(whole) <= _SHORT else (whole[:_SHORT] + "…", True)


def association(record: Record, relation: Relation) -> Association:
    """A linked memory."""
    text, cut = short(record)
    name = None if record.name == record.uid else record.name
    strength = None if relation.strength is None else round(relation.strength, 4)
    auto = relation.origin == "auto"
    return Association(
        record.uid, text, strength if auto else None, relation.type, direction(relation, record),
        None if auto else strength, cut, name,
    )  # fmt: skip


def direction(relation: Relation, other: Record) -> str:
    """Whether a relation leads to another memory or comes from it."""
    return "incoming" if relation.source == other.name else "outgoing"


def similar(record: Record, similarity: float, *, says_the_same: bool = False) -> Similar:
    """A memory that is nearly the same."""
    text, cut = short(record)
    name = None if record.name == record.uid else record.name
    return Similar(record.uid, text, scopes.shown(record.scope), similarity, cut, name, says_the_same)


def found(hit: Hit, links: list[Association] | None) -> FoundMemory:
    """A hit."""
    record = hit.record
    return FoundMemory(
        record.uid, content(record), scopes.shown(record.scope), round(hit.score, 4), moment(record.created), links,
        record.category, list(record.tags), record.metadata, **_called(record),
        previous_turn=_turn(hit.previous), next_turn=_turn(hit.next),
    )  # fmt: skip


def _turn(told: Said | None) -> Turn | None:
    if told is None:
        return None
    return Turn(told.id, told.text, told.who, told.cut, None if told.name == told.id else told.name)


def memory(record: Record, links: list[Association] | None, success: bool | None = None) -> Memory:
    """A memory in full."""
    return Memory(
        record.uid, content(record), scopes.shown(record.scope), record.metadata, list(record.tags), record.category,
        moment(record.created), moment(record.updated), record.version, links, success=success, **_called(record),
    )  # fmt: skip


def listed(record: Record) -> ListedMemory:
    """A memory in a list."""
    return ListedMemory(
        record.uid, content(record), scopes.shown(record.scope), moment(record.created), moment(record.updated),
        record.category, list(record.tags), record.metadata, **_called(record),
    )  # fmt: skip
