"""The tools that store, read, change, delete and list memories."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Struct, convert

from polymnia.dialects.associative.shapes import (
    Category,
    CreatedAt,
    Filed,
    Id,
    Kind,
    LinkedMemory,
    Links,
    MemoryId,
    Metadata,
    Name,
    Remarks,
    Share,
    SimilarMemory,
    Success,
    Tags,
    Text,
    UpdatedAt,
    fields,
    linked,
    reply,
    similar,
    tool,
)
from polymnia.dialects.shapes import about, or_null
from polymnia.engine import scopes
from polymnia.engine.content import Remembered
from polymnia.engine.content import content as text_of
from polymnia.engine.text.calendar import moment
from polymnia.models import DEFAULT_SCOPE, JsonObject, Note, Record
from polymnia.operation import Context, Reply

_PENDING = Note("pending", "Vectors are still being made. Associations with what has none yet appear by themselves.")

Pending = Annotated[bool, about("True when more associations will appear in the background.")]
Scope = Annotated[
    str, about("Where it is filed: parts with / between them, such as work/projects/api.", default=DEFAULT_SCOPE)
]
AllowDuplicates = Annotated[
    bool, about("Store it even if the scope has one that says exactly the same.", default=False)
]
NearlySame = Annotated[
    Share, about("How similar a stored text must be to be named in the answer as nearly the same.", default=0.95)
]
WithLinks = Annotated[bool, about("Tell what it is linked to.", default=True)]


class JoinedDetails(Struct, frozen=True, omit_defaults=True):
    """What a duplicate added to the memory that was there."""

    tags: Annotated[list[str], about("Labels that were added.")] = []
    category: Annotated[str, about("The category that was set.")] | None = None
    metadata: Annotated[JsonObject, about("Metadata that was added or changed.")] = {}
    replaced: Annotated[JsonObject, about("The values that were there before, by key.")] = {}


class StoreAnswer(Struct, frozen=True, omit_defaults=True):
    """The memory that holds the text now, or did before, and what it is linked to."""

    memory_id: MemoryId
    content: Annotated[str, about("The text.")]
    scope: Filed
    created_at: CreatedAt
    is_duplicate: Annotated[
        bool,
        about("True when a memory that says the same was there: nothing new is stored, and memory_id is that one."),
    ]
    associations: Annotated[list[str], about("The ids of the memories it is linked to.")]
    similarity_score: Annotated[float, about("Of a duplicate: how similar the two texts are, from 0 to 1.")] | None = (
        None
    )
    similar_memories: Annotated[
        list[SimilarMemory], about("Memories that are nearly the same and were kept apart.")
    ] = []
    joined: Annotated[JoinedDetails | None, about("What a duplicate added to the memory that was there.")] = None
    associations_pending: Pending = False
    notes: Remarks = []


@tool("memory_store", "Store Memory", StoreAnswer)
def store(
    context: Context,
    content: Annotated[str, about("Required. The text to remember, in full.")],
    scope: Scope = DEFAULT_SCOPE,
    category: Annotated[str, about("What sort of memory it is, for example decision or meeting.")] | None = None,
    tags: Annotated[list[str], about("Labels it can be found by.")] | None = None,
    metadata: Annotated[JsonObject, about("Anything else worth keeping with it, as key and value.")] | None = None,
    allow_duplicates: AllowDuplicates = False,
    auto_associate: Annotated[bool, about("Link it to the memories nearest in meaning.", default=True)] = True,
    similarity_threshold: NearlySame = 0.95,
) -> Reply:
    """Remember a text. If the scope already has one that says the same, nothing is stored and that one is answered;
    texts that differ in a number, a name or a negation are never taken for the same. The new memory is linked to what
    is nearest to it in meaning.
    """
    done = context.memory.remember(
        content,
        scope=scope,
        category=category,
        tags=tags or (),
        metadata=metadata,
        allow_duplicates=allow_duplicates,
        associate=auto_associate,
        threshold=similarity_threshold,
        patient=False,
        step=context.step,
    )
    record = done.record
    answer = StoreAnswer(
        memory_id=record.uid,
        content=text_of(record),
        scope=scopes.shown(record.scope),
        created_at=moment(record.created),
        is_duplicate=done.duplicate,
        associations=[other.uid for other, _ in done.associations],
        similarity_score=1.0 if done.duplicate else None,
        similar_memories=[similar(*one, says_the_same=one[0].uid in done.reworded) for one in done.similar],
        joined=None if done.joined is None else convert(done.joined, JoinedDetails, from_attributes=True),
        associations_pending=done.pending,
    )
    return reply(answer, [*_remarks(done), *context.memory.screen.notes()])


def _remarks(done: Remembered) -> list[Note]:
    """What a caller should know of how a content was stored, or why it was not."""
    notes = [Note("no_meaning", text) for text in done.notes]
    if done.duplicate:
        notes.append(Note("duplicate", "The scope has a memory that says exactly this; its id is answered."))
    if done.joined is not None:
        notes.append(Note("joined", "What was new about its tags, category and metadata was joined to that memory."))
    if done.similar:
        text = (
            "Stored as a memory of its own. similar_memories are nearly the same, those that says_the_same in "
            "other words: if one is no longer needed, or no longer true, update or delete it."
        )
        notes.append(Note("similar", text))
    if done.pending:
        notes.append(_PENDING)
    return notes


class MemoryAnswer(Struct, frozen=True, omit_defaults=True):
    """The memory in full, with what it is linked to."""

    memory_id: MemoryId
    content: Text
    scope: Filed
    metadata: Metadata
    tags: Tags
    category: Annotated[str | None, or_null("string", "What sort of memory it is; null where that was not given.")]
    created_at: CreatedAt
    updated_at: UpdatedAt
    version: Annotated[int, about("Its version, counted from 1.")]
    associations: Links | None = None
    name: Name | None = None
    kind: Kind | None = None
    success: Annotated[bool, about("True in the answer of memory_update.")] | None = None
    similar_memories: Annotated[
        list[SimilarMemory], about("Memories that are nearly the same as the changed text.")
    ] = []
    notes: Remarks = []
    associations_pending: Pending = False


def _memory(record: Record, links: list[LinkedMemory] | None, **more: Any) -> MemoryAnswer:
    return MemoryAnswer(
        **fields(record), updated_at=moment(record.updated), version=record.version, associations=links, **more
    )


@tool("memory_get", "Get Memory", MemoryAnswer, reads=True, idempotent=True)
def get(context: Context, memory_id: Id, include_associations: WithLinks = True) -> Reply:
    """Read one memory in full, with what it is linked to."""
    record, links = context.memory.read(memory_id)
    return reply(_memory(record, [linked(*one) for one in links] if include_associations else None))


@tool("memory_update", "Update Memory", MemoryAnswer, destroys=True, idempotent=True)
def update(
    context: Context,
    memory_id: Id,
    content: Annotated[str, about("The new text.")] | None = None,
    scope: Annotated[str, about("The new scope.")] | None = None,
    tags: Annotated[list[str], about("The new tags, all of them; [] takes them away.")] | None = None,
    category: Annotated[str, about('The new category; "" takes it away.')] | None = None,
    metadata: Annotated[JsonObject, about("The new metadata, all of it.")] | None = None,
    preserve_associations: Annotated[bool, about("Keep the associations; false finds them anew.", default=True)] = True,
) -> Reply:
    """Change a memory. Only what you give is changed; the version before stays in its history."""
    done = context.memory.revise(
        memory_id,
        text=content,
        scope=scope,
        category=category,
        tags=tags,
        metadata=metadata,
        keep_associations=preserve_associations,
        patient=False,
        step=context.step,
    )
    notes = [] if done.changed else [Note("unchanged", "Nothing was changed: it is like that already.")]
    if done.pending:
        notes.append(_PENDING)
    if done.same is not None:
        text = "The memory of this scope named in similar_memories says exactly the same; delete one of the two."
        notes.append(Note("duplicate", text))
    answer = _memory(
        done.record,
        [linked(*one) for one in done.associations],
        success=True,
        similar_memories=[] if done.same is None else [similar(done.same, 1.0)],
        associations_pending=done.pending,
    )
    return reply(answer, notes)


class DeleteAnswer(Struct, frozen=True):
    """Which memory was deleted."""

    success: Success
    memory_id: MemoryId
    message: Annotated[str, about("What was done, as a sentence.")]


@tool("memory_delete", "Delete Memory", DeleteAnswer, destroys=True)
def delete(context: Context, memory_id: Id) -> Reply:
    """Delete a memory for good: text, history and links. This cannot be undone."""
    gone = context.memory.forget(memory_id, step=context.step)
    text = "The memory is deleted for good, with its history and everything that linked to it."
    return reply(DeleteAnswer(True, gone.uid, text))


class ListedMemory(Struct, frozen=True, omit_defaults=True):
    """A memory in a list."""

    memory_id: MemoryId
    content: Text
    scope: Filed
    created_at: CreatedAt
    updated_at: UpdatedAt
    category: Category | None = None
    tags: Tags = []
    metadata: Metadata = {}
    name: Name | None = None
    kind: Kind | None = None


class Pagination(Struct, frozen=True):
    """Where a page stands among all pages."""

    page: Annotated[int, about("The number of this page, counted from 1.")]
    per_page: Annotated[int, about("How many memories a page has at most.")]
    total_items: Annotated[int, about("How many memories there are in all.")]
    total_pages: Annotated[int, about("How many pages there are in all.")]
    has_next: Annotated[bool, about("Whether there is a page after this one.")]
    has_prev: Annotated[bool, about("Whether there is a page before this one.")]


class ListAnswer(Struct, frozen=True):
    """One page of memories."""

    memories: Annotated[list[ListedMemory], about("The memories of this page, newest first.")]
    pagination: Annotated[Pagination, about("Where this page stands among all pages.")]


@tool("memory_list_all", "List Memories", ListAnswer, reads=True, idempotent=True)
def list_all(
    context: Context,
    page: Annotated[int, about("Which page.", ge=1, default=1)] = 1,
    per_page: Annotated[int, about("Memories on a page.", ge=1, le=100, default=10)] = 10,
) -> Reply:
    """Browse all memories, newest first, page by page."""
    records, total = context.memory.page(page, per_page)
    pages = -(-total // per_page)
    memories = [ListedMemory(**fields(record), updated_at=moment(record.updated)) for record in records]
    return reply(ListAnswer(memories, Pagination(page, per_page, total, pages, page < pages, page > 1 and total > 0)))
