"""What the thirteen tools answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from polymnia.engine import scopes
from polymnia.engine.content import content
from polymnia.engine.text.calendar import moment
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


def _about(text: str) -> Meta:
    return Meta(description=text)


def _or_null(kind: str, text: str) -> Meta:
    return Meta(description=text, extra_json_schema={"type": [kind, "null"]})


MemoryId = Annotated[str, _about("The id of the memory.")]
Text = Annotated[str, _about("Its text.")]
Beginning = Annotated[str, _about("Its text; the beginning of it where it is long.")]
Cut = Annotated[bool, _about("True when only the beginning of the text is given.")]
Filed = Annotated[str, _about("The scope it is filed in.")]
Created = Annotated[str, _about("When it was stored first: UTC, ISO 8601.")]
Updated = Annotated[str, _about("When it was changed last: UTC, ISO 8601.")]
Score = Annotated[float, _about("How similar it is, from 0 to 1.")]
Tags = Annotated[list[str], _about("Its labels.")]
Category = Annotated[str, _about("What sort of memory it is, where that was given.")]
Metadata = Annotated[dict[str, Any], _about("Whatever was stored with it.")]
Name = Annotated[str, _about("The name, where it is an entity of the graph.")]
Kind = Annotated[str, _about("The type, where it is an entity of the graph.")]
LinkType = Annotated[str, _about("The type of the link between the two.")]
Direction = Annotated[str, _about("outgoing: the link leads to this memory; incoming: it comes from it.")]
Remarks = Annotated[list[str], _about("Remarks that help to read the answer.")]
Success = Annotated[bool, _about("Always true: what fails is answered as an error.")]
Pending = Annotated[bool, _about("True when more associations will appear in the background.")]
_SHORT = 300  # characters of a memory that is only told of beside another


class Similar(Struct, frozen=True, omit_defaults=True):
    """A memory that is nearly the same as one that was stored."""

    memory_id: MemoryId
    content: Beginning
    scope: Filed
    similarity_score: Score
    truncated: Cut = False
    name: Name | None = None
    says_the_same: Annotated[bool, _about("True when it says the same in other words, as the model judges.")] = False


class Joined(Struct, frozen=True, omit_defaults=True):
    """What a duplicate added to the memory that was there."""

    tags: Annotated[list[str], _about("Labels that were added.")] = []
    category: Annotated[str, _about("The category that was set.")] | None = None
    metadata: Annotated[dict[str, Any], _about("Metadata that was added or changed.")] = {}
    replaced: Annotated[dict[str, Any], _about("The values that were there before, by key.")] = {}


class Stored(Struct, frozen=True, omit_defaults=True):
    """The memory that holds the text now, or did before, and what it is linked to."""

    memory_id: MemoryId
    content: Annotated[str, _about("The text.")]
    scope: Annotated[str, _about("The scope it is filed in.")]
    created_at: Created
    is_duplicate: Annotated[
        bool,
        _about("True when a memory that says the same was there: nothing new is stored, and memory_id is that one."),
    ]
    associations: Annotated[list[str], _about("The ids of the memories it is linked to.")]
    similarity_score: Annotated[float, _about("Of a duplicate: how similar the two texts are, from 0 to 1.")] | None = (
        None
    )
    similar_memories: Annotated[list[Similar], _about("Memories that are nearly the same and were kept apart.")] = []
    joined: Annotated[Joined | None, _about("What a duplicate added to the memory that was there.")] = None
    associations_pending: Pending = False
    notes: Remarks = []


class Association(Struct, frozen=True, omit_defaults=True):
    """A memory that another one is linked to, and by what relation."""

    memory_id: MemoryId
    content: Beginning
    similarity_score: Annotated[
        float | None,
        _or_null("number", "How similar the two are, from 0 to 1, for a link made by similarity; null for any other."),
    ]
    relation_type: LinkType
    direction: Direction
    strength: (
        Annotated[float, _about("How strong the link is, from 0 to 1, where somebody gave that with it.")] | None
    ) = None
    truncated: Cut = False
    name: Name | None = None


class Turn(Struct, frozen=True, omit_defaults=True):
    """What was said just before or after a turn of a dialogue."""

    memory_id: MemoryId
    content: Beginning
    who: Annotated[str, _about("Who said it, where that is known.")] | None = None
    truncated: Cut = False
    name: Name | None = None


class FoundMemory(Struct, frozen=True, omit_defaults=True):
    """A memory that a search found, and how similar it is."""

    memory_id: MemoryId
    content: Text
    scope: Filed
    similarity_score: Score
    created_at: Created
    associations: (
        Annotated[list[Association], _about("The memories it is linked to; unless include_associations is false.")]
        | None
    ) = None
    category: Category | None = None
    tags: Tags = []
    metadata: Metadata = {}
    name: Name | None = None
    kind: Kind | None = None
    previous_turn: Annotated[Turn | None, _about("Of a turn of a dialogue: what was said just before it.")] = None
    next_turn: Annotated[Turn | None, _about("Of a turn of a dialogue: what was said just after it.")] = None


class Found(Struct, frozen=True, omit_defaults=True):
    """The memories found, most relevant first."""

    memories: Annotated[list[FoundMemory], _about("The memories found, most relevant first.")]
    total_found: Annotated[int, _about("How many memories match in all.")]
    search_scope: Annotated[str | None, _or_null("string", "The scope that was searched; null where all were.")]
    notes: Remarks = []


class Memory(Struct, frozen=True, omit_defaults=True):
    """The memory in full, with what it is linked to."""

    memory_id: MemoryId
    content: Text
    scope: Filed
    metadata: Metadata
    tags: Tags
    category: Annotated[str | None, _or_null("string", "What sort of memory it is; null where that was not given.")]
    created_at: Created
    updated_at: Updated
    version: Annotated[int, _about("Its version, counted from 1.")]
    associations: (
        Annotated[list[Association], _about("The memories it is linked to; unless include_associations is false.")]
        | None
    ) = None
    name: Name | None = None
    kind: Kind | None = None
    success: Annotated[bool, _about("True in the answer of memory_update.")] | None = None
    similar_memories: Annotated[list[Similar], _about("Memories that are nearly the same as the changed text.")] = []
    notes: Remarks = []
    associations_pending: Pending = False


class ListedMemory(Struct, frozen=True, omit_defaults=True):
    """A memory in a list."""

    memory_id: MemoryId
    content: Text
    scope: Filed
    created_at: Created
    updated_at: Updated
    category: Category | None = None
    tags: Tags = []
    metadata: Metadata = {}
    name: Name | None = None
    kind: Kind | None = None


class Deleted(Struct, frozen=True):
    """Which memory was deleted."""

    success: Success
    memory_id: MemoryId
    message: Annotated[str, _about("What was done, as a sentence.")]


class Source(Struct, frozen=True):
    """The memory that associations were discovered for."""

    memory_id: MemoryId
    content: Text


class Discovered(Struct, frozen=True, omit_defaults=True):
    """One association: how strong, what carries it, and why."""

    memory_id: MemoryId
    content: Beginning
    similarity_score: Score
    association_type: Annotated[str, _about("What carries the association, for example meaning, tags or a link.")]
    reason: Annotated[str, _about("Why the two have to do with each other, as a sentence.")]
    scope: Filed
    relation_type: LinkType | None = None
    direction: Direction | None = None
    truncated: Cut = False
    name: Name | None = None


class Stats(Struct, frozen=True):
    """How many memories were looked at, how many are answered, and how strong those are on average."""

    total_candidates: Annotated[int, _about("How many memories were compared.")]
    filtered_results: Annotated[int, _about("How many of them are answered.")]
    avg_similarity: Annotated[float, _about("Their mean similarity, from 0 to 1.")]


class Discovery(Struct, frozen=True):
    """The memories that have to do with one, strongest first, each with the reason."""

    source_memory: Annotated[Source, _about("The memory that was asked about.")]
    associations: Annotated[list[Discovered], _about("What has to do with it, strongest first.")]
    discovery_stats: Annotated[Stats, _about("How many memories were compared.")]


class Scope(Struct, frozen=True, omit_defaults=True):
    """One scope: how many memories are in it, how many with everything below it, and what is right below."""

    scope: Annotated[str, _about("The scope.")]
    child_scopes: Annotated[list[str], _about("The scopes right below it.")]
    depth: Annotated[int, _about("How deep it is in the tree, counted from 1.")]
    memory_count: (
        Annotated[int, _about("How many memories are filed in it; unless include_memory_counts is false.")] | None
    ) = None
    total_memory_count: (
        Annotated[int, _about("How many memories are filed in it and below it; unless include_memory_counts is false.")]
        | None
    ) = None


class Scopes(Struct, frozen=True, omit_defaults=True):
    """The scopes, each with how many memories are in it."""

    scopes: Annotated[list[Scope], _about("The scopes.")]
    total_scopes: Annotated[int, _about("How many scopes this answer has.")]
    hierarchy_depth: Annotated[int, _about("How deep the tree is.")]
    notes: Remarks = []


class Alternative(Struct, frozen=True):
    """Another scope a text may belong to."""

    scope: Annotated[str, _about("The scope.")]
    confidence: Annotated[float, _about("How certain it is, from 0 to 1.")]
    reasoning: Annotated[str, _about("Why, as a sentence.")]


class Analysis(Struct, frozen=True):
    """What was seen in the text."""

    detected_keywords: Annotated[list[str], _about("The words that tell most about the text.")]
    suggested_category: Annotated[
        str | None, _or_null("string", "What sort of memory it would be; null where that cannot be told.")
    ]
    content_type: Annotated[str, _about("What sort of text it is.")]


class Suggested(Struct, frozen=True):
    """The scope the text belongs to, how certain that is, and other scopes."""

    suggested_scope: Annotated[str, _about("The scope the text belongs to.")]
    confidence: Annotated[float, _about("How certain that is, from 0 to 1.")]
    alternatives: Annotated[list[Alternative], _about("Other scopes it may belong to, most certain first.")]
    analysis: Annotated[Analysis, _about("What was seen in the text.")]
    reasoning: Annotated[str, _about("Why, as a sentence.")]
    abstained: Annotated[
        bool, _about("True when the memories that are filed cannot tell: suggested_scope is a place to fall back to.")
    ]


class MovedMemory(Struct, frozen=True):
    """A memory that was moved."""

    memory_id: MemoryId
    old_scope: Annotated[str, _about("The scope it was in.")]
    new_scope: Annotated[str, _about("The scope it is in now.")]


class FailedMove(Struct, frozen=True):
    """A memory that could not be moved, and why."""

    memory_id: MemoryId
    error: Annotated[str, _about("Why it could not be moved.")]


class Duplicate(Struct, frozen=True):
    """A memory that was moved into a scope where another one says exactly the same."""

    memory_id: MemoryId
    duplicate_of: Annotated[str, _about("The id of the memory of that scope that says exactly the same.")]


class MovedMemories(Struct, frozen=True, omit_defaults=True):
    """How many memories were moved, and which could not be."""

    moved_count: Annotated[int, _about("How many memories were moved.")]
    failed_moves: Annotated[list[FailedMove], _about("Memories that could not be moved, with the reason.")]
    target_scope: Annotated[str, _about("The scope they were moved to.")]
    moved_memories: Annotated[list[MovedMemory], _about("The memories that were moved; the first of very many.")]
    duplicates: Annotated[
        list[Duplicate], _about("Moved memories that say exactly what another one of the scope says.")
    ] = []
    notes: Remarks = []


class Pagination(Struct, frozen=True):
    """Where a page stands among all pages."""

    page: Annotated[int, _about("The number of this page, counted from 1.")]
    per_page: Annotated[int, _about("How many memories a page has at most.")]
    total_items: Annotated[int, _about("How many memories there are in all.")]
    total_pages: Annotated[int, _about("How many pages there are in all.")]
    has_next: Annotated[bool, _about("Whether there is a page after this one.")]
    has_prev: Annotated[bool, _about("Whether there is a page before this one.")]


class Page(Struct, frozen=True):
    """One page of memories."""

    memories: Annotated[list[ListedMemory], _about("The memories of this page, newest first.")]
    pagination: Annotated[Pagination, _about("Where this page stands among all pages.")]


class Exported(Struct, frozen=True, omit_defaults=True):
    """How much was exported, and the data or the file it was written to."""

    success: Success
    exported_count: Annotated[int, _about("How many memories were exported.")]
    export_size: Annotated[int, _about("The size of the export in bytes.")]
    export_scope: Annotated[str | None, _or_null("string", "The scope that was exported; null where all were.")]
    compression_used: Annotated[bool, _about("Whether it is compressed (gzip).")]
    associations_count: Annotated[int, _about("How many links were exported.")]
    file_path: (
        Annotated[str, _about("The file it was written to, where file_path was given; over the network its name only.")]
        | None
    ) = None
    export_data: (
        Annotated[str, _about("The export itself, where no file was named; base64 when compressed.")] | None
    ) = None
    replaced: Annotated[bool, _about("True when the file was there before.")] = False
    notes: Remarks = []


class Imported(Struct, frozen=True, omit_defaults=True):
    """How many memories were imported, skipped and overwritten, and what was wrong with the rest."""

    success: Success
    imported_count: Annotated[int, _about("How many memories are new.")]
    skipped_count: Annotated[int, _about("How many are here already and were left as they are.")]
    overwritten_count: Annotated[int, _about("How many existed and were changed.")]
    import_source: Annotated[str, _about("direct for data of the call, else file: and the name of the file.")]
    merge_strategy_used: Annotated[str, _about("What was done with memories that exist.")]
    validation_errors: Annotated[list[str], _about("What was wrong with records that were not imported.")]
    imported_scopes: Annotated[list[str], _about("The scopes of the imported memories.")]
    associations_count: Annotated[int, _about("How many links were imported.")]
    dropped: Annotated[dict[str, int], Meta(description="What the file has and was not taken, counted by reason.")]
    notes: Remarks = []


class Session(Struct, frozen=True):
    """A session."""

    session_id: Annotated[str, _about("The id of the session.")]
    scope: Annotated[str, _about("The scope of its memories.")]
    memory_count: Annotated[int, _about("How many memories it has.")]
    created_at: Annotated[str, _about("When it began: UTC, ISO 8601.")]
    last_used_at: Annotated[str, _about("When it was used last: UTC, ISO 8601.")]
    age_days: Annotated[int, _about("Whole days since it was used last.")]


class SessionAnswer(Struct, frozen=True, omit_defaults=True):
    """What the action did: which fields there are depends on it."""

    action: Annotated[str, _about("The action of the call: it tells which of the other fields there are.")]
    session_id: Annotated[str, _about("create: the id of the session.")] | None = None
    session_scope: Annotated[str, _about("create: the scope of its memories.")] | None = None
    created_at: Annotated[str, _about("create: when it began, UTC, ISO 8601.")] | None = None
    already_existed: Annotated[bool, _about("create: true when the session was there before.")] | None = None
    sessions: Annotated[list[Session], _about("list: the sessions.")] | None = None
    total_sessions: Annotated[int, _about("list: how many there are.")] | None = None
    removed_sessions: Annotated[int, _about("cleanup: how many sessions were removed.")] | None = None
    freed_memories: Annotated[int, _about("cleanup: how many memories went with them.")] | None = None
    max_age_days: Annotated[float, _about("cleanup: sessions unused for longer than this were removed.")] | None = None
    removed_session_ids: Annotated[list[str], _about("cleanup: the ids of the removed sessions.")] | None = None
    notes: Remarks = []


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
