"""The tools that store, read, change, delete, list, export and import memories."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Struct, convert

from polymnia.dialects.associative import shapes
from polymnia.dialects.budget import NextCursor
from polymnia.dialects.shapes import about, or_null
from polymnia.engine import scopes
from polymnia.engine.content import Remembered
from polymnia.engine.content import content as text_of
from polymnia.engine.text.calendar import moment
from polymnia.models import DEFAULT_SCOPE, JsonObject, Note, Record
from polymnia.operation import Context, Reply, credential_notes

_PENDING = Note("pending", "Vectors are still being made. Associations with what has none yet appear by themselves.")

Pending = Annotated[bool, about("True when more associations will appear in the background.")]
Scope = Annotated[
    str, about("Where it is filed: parts with / between them, such as work/projects/api.", default=DEFAULT_SCOPE)
]
AllowDuplicates = Annotated[
    bool, about("Store it even if the scope has one that says exactly the same.", default=False)
]
NearlySame = Annotated[
    shapes.Share, about("How similar a stored text must be to be named in the answer as nearly the same.", default=0.95)
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

    memory_id: shapes.MemoryId
    content: Annotated[str, about("The text.")]
    scope: shapes.Filed
    created_at: shapes.CreatedAt
    is_duplicate: Annotated[
        bool,
        about("True when a memory that says the same was there: nothing new is stored, and memory_id is that one."),
    ]
    associations: Annotated[list[str], about("The ids of the memories it is linked to.")]
    similarity_score: Annotated[float, about("Of a duplicate: how similar the two texts are, from 0 to 1.")] | None = (
        None
    )
    similar_memories: Annotated[
        list[shapes.SimilarMemory], about("Memories that are nearly the same and were kept apart.")
    ] = []
    joined: Annotated[JoinedDetails | None, about("What a duplicate added to the memory that was there.")] = None
    associations_pending: Pending = False
    notes: shapes.Remarks = []


@shapes.tool("memory_store", "Store Memory", StoreAnswer)
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
        scope=record.path,
        created_at=moment(record.created),
        is_duplicate=done.duplicate,
        associations=[other.uid for other, _ in done.associations],
        similarity_score=1.0 if done.duplicate else None,
        similar_memories=[shapes.similar(*one, says_the_same=one[0].uid in done.reworded) for one in done.similar],
        joined=None if done.joined is None else convert(done.joined, JoinedDetails, from_attributes=True),
        associations_pending=done.pending,
    )
    return shapes.reply(answer, [*_remarks(done), *credential_notes(context.memory.screen)])


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

    memory_id: shapes.MemoryId
    content: shapes.Text
    scope: shapes.Filed
    metadata: shapes.Metadata
    tags: shapes.Tags
    category: Annotated[str | None, or_null("string", "What sort of memory it is; null where that was not given.")]
    created_at: shapes.CreatedAt
    updated_at: shapes.UpdatedAt
    version: Annotated[int, about("Its version, counted from 1.")]
    associations: shapes.Links | None = None
    name: shapes.Name | None = None
    kind: shapes.Kind | None = None
    success: Annotated[bool, about("True in the answer of memory_update.")] | None = None
    similar_memories: Annotated[
        list[shapes.SimilarMemory], about("Memories that are nearly the same as the changed text.")
    ] = []
    notes: shapes.Remarks = []
    associations_pending: Pending = False
    next_cursor: NextCursor | None = None


def _memory(record: Record, links: list[shapes.LinkedMemory] | None, **more: Any) -> MemoryAnswer:
    return MemoryAnswer(
        **shapes.fields(record), updated_at=moment(record.updated), version=record.version, associations=links, **more
    )


@shapes.tool("memory_get", "Get Memory", MemoryAnswer, lists=["associations"], reads=True, idempotent=True)
def get(context: Context, memory_id: shapes.Id, include_associations: WithLinks = True) -> Reply:
    """Read one memory in full, with what it is linked to."""
    record, links = context.memory.read(memory_id)
    return shapes.reply(_memory(record, [shapes.linked(*one) for one in links] if include_associations else None))


@shapes.tool("memory_update", "Update Memory", MemoryAnswer, destroys=True, idempotent=True)
def update(
    context: Context,
    memory_id: shapes.Id,
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
        [shapes.linked(*one) for one in done.associations],
        success=True,
        similar_memories=[] if done.same is None else [shapes.similar(done.same, 1.0)],
        associations_pending=done.pending,
    )
    return shapes.reply(answer, notes)


class DeleteAnswer(Struct, frozen=True, omit_defaults=True):
    """Which memory was deleted."""

    success: shapes.Success
    memory_id: shapes.MemoryId
    message: Annotated[str, about("What was done, as a sentence.")]
    notes: shapes.Remarks = []


@shapes.tool("memory_delete", "Delete Memory", DeleteAnswer, destroys=True)
def delete(context: Context, memory_id: shapes.Id) -> Reply:
    """Delete a memory for good: text, history and links. This cannot be undone."""
    gone = context.memory.forget(memory_id, step=context.step)
    text = "The memory is deleted for good, with its history and everything that linked to it."
    return shapes.reply(DeleteAnswer(True, gone.uid, text))


class ListedMemory(Struct, frozen=True, omit_defaults=True):
    """A memory in a list."""

    memory_id: shapes.MemoryId
    content: shapes.Text
    scope: shapes.Filed
    created_at: shapes.CreatedAt
    updated_at: shapes.UpdatedAt
    category: shapes.Category | None = None
    tags: shapes.Tags = []
    metadata: shapes.Metadata = {}
    name: shapes.Name | None = None
    kind: shapes.Kind | None = None


class Pagination(Struct, frozen=True):
    """Where a page stands among all pages."""

    page: Annotated[int, about("The number of this page, counted from 1.")]
    per_page: Annotated[int, about("How many memories a page has at most.")]
    total_items: Annotated[int, about("How many memories there are in all.")]
    total_pages: Annotated[int, about("How many pages there are in all.")]
    has_next: Annotated[bool, about("Whether there is a page after this one.")]
    has_prev: Annotated[bool, about("Whether there is a page before this one.")]


class ListAnswer(Struct, frozen=True, omit_defaults=True):
    """One page of memories."""

    memories: Annotated[list[ListedMemory], about("The memories of this page, newest first.")]
    pagination: Annotated[Pagination, about("Where this page stands among all pages.")]
    notes: shapes.Remarks = []
    next_cursor: NextCursor | None = None


@shapes.tool("memory_list_all", "List Memories", ListAnswer, lists=["memories"], reads=True, idempotent=True)
def list_all(
    context: Context,
    page: Annotated[int, about("Which page.", ge=1, default=1)] = 1,
    per_page: Annotated[int, about("Memories on a page.", ge=1, le=100, default=10)] = 10,
) -> Reply:
    """Browse all memories, newest first, page by page."""
    records, total = context.memory.page(page, per_page)
    pages = -(-total // per_page)
    memories = [ListedMemory(**shapes.fields(record), updated_at=moment(record.updated)) for record in records]
    return shapes.reply(
        ListAnswer(memories, Pagination(page, per_page, total, pages, page < pages, page > 1 and total > 0))
    )


FilePath = Annotated[str, about("A file name inside the server's export folder; without one the data is answered.")]
ExportFormat = Annotated[
    Literal["json", "yaml"], about("The format; by default what the file's ending says.", default="json")
]
MergeStrategy = Annotated[
    Literal["skip_duplicates", "overwrite", "create_versions", "merge_metadata"],
    about(
        "What happens to memories that exist: keep them, replace them, add the imported text as a new version, "
        "or keep the text and combine tags and metadata.",
        default="skip_duplicates",
    ),
]
Validate = Annotated[
    bool, about("Import nothing unless every record is sound; false imports the sound ones.", default=True)
]


class ExportAnswer(Struct, frozen=True, omit_defaults=True):
    """How much was exported, and the data or the file it was written to."""

    success: shapes.Success
    exported_count: Annotated[int, about("How many memories were exported.")]
    export_size: Annotated[int, about("The size of the export in bytes.")]
    export_scope: Annotated[str | None, or_null("string", "The scope that was exported; null where all were.")]
    compression_used: Annotated[bool, about("Whether it is compressed (gzip).")]
    associations_count: Annotated[int, about("How many links were exported.")]
    file_path: (
        Annotated[str, about("The file it was written to, where file_path was given; over the network its name only.")]
        | None
    ) = None
    export_data: Annotated[str, about("The export itself, where no file was named; base64 when compressed.")] | None = (
        None
    )
    replaced: Annotated[bool, about("True when the file was there before.")] = False
    notes: shapes.Remarks = []


@shapes.tool(
    "memory_export", "Export Memories", ExportAnswer, whole=["export_data"], heavy=True, destroys=True, idempotent=True
)
def export(
    context: Context,
    scope: Annotated[str, about("Export this scope and everything below it (default: all memories).")] | None = None,
    file_path: FilePath | None = None,
    export_format: ExportFormat | None = None,
    compression: Annotated[bool, about("Compress it with gzip.", default=False)] | None = None,
    include_associations: Annotated[bool, about("Export what links the memories, too.", default=True)] = True,
) -> Reply:
    """Write memories to a file of the export folder, or answer them as data: JSON or YAML, whole or one scope. What is
    exported imports again with nothing lost. A file of the same name is replaced.
    """
    name = (file_path or "").casefold()
    gzip = name.endswith(".gz") if compression is None else compression
    yaml = name.removesuffix(".gz").endswith((".yaml", ".yml"))
    done = context.memory.export_memories(
        scope=scope,
        name=file_path,
        form=export_format or ("yaml" if yaml else "json"),
        gzip=gzip,
        associations=include_associations,
        step=context.step,
    )
    scope = None if scope is None else scopes.legal_scope(scope, "scope")
    notes = [] if done.count or scope is None else [shapes.unknown_scope(context.memory, scope)]
    if done.replaced:
        notes.append(Note("replaced", "A file of that name was there before; this export has replaced it."))
    answer = ExportAnswer(
        success=True,
        exported_count=done.count,
        export_size=done.bytes,
        export_scope=scope,
        compression_used=gzip,
        associations_count=done.associations,
        file_path=None if done.path is None else context.place(done.path),
        export_data=done.data,
        replaced=done.replaced,
    )
    return shapes.reply(answer, notes)


class ImportAnswer(Struct, frozen=True, omit_defaults=True):
    """How many memories were imported, skipped and overwritten, and what was wrong with the rest."""

    success: shapes.Success
    imported_count: Annotated[int, about("How many memories are new.")]
    skipped_count: Annotated[int, about("How many are here already and were left as they are.")]
    overwritten_count: Annotated[int, about("How many existed and were changed.")]
    import_source: Annotated[str, about("direct for data of the call, else file: and the name of the file.")]
    merge_strategy_used: Annotated[str, about("What was done with memories that exist.")]
    validation_errors: Annotated[list[str], about("What was wrong with records that were not imported.")]
    imported_scopes: Annotated[list[str], about("The scopes of the imported memories.")]
    associations_count: Annotated[int, about("How many links were imported.")]
    dropped: Annotated[dict[str, int], about("What the file has and was not taken, counted by reason.")]
    notes: shapes.Remarks = []


@shapes.tool("memory_import", "Import Memories", ImportAnswer, heavy=True, destroys=True)
def take_in(
    context: Context,
    file_path: Annotated[str, about("A file inside the server's export folder.")] | None = None,
    import_data: Annotated[str, about("Instead of a file: the exported data itself, JSON or YAML.")] | None = None,
    merge_strategy: MergeStrategy = "skip_duplicates",
    target_scope_prefix: Annotated[str, about("File everything below this scope.")] | None = None,
    validate_data: Validate = True,
) -> Reply:
    """Take in exported memories. By default nothing is imported unless every record is sound, and memories that exist
    are kept. One undo takes the whole import back.
    """
    done = context.memory.import_memories(
        name=file_path,
        data=import_data,
        strategy=merge_strategy,
        prefix=target_scope_prefix,
        validate=validate_data,
        step=context.step,
    )
    answer = ImportAnswer(
        success=True,
        imported_count=done.imported,
        skipped_count=done.skipped,
        overwritten_count=done.overwritten,
        import_source="direct" if file_path is None else f"file:{file_path}",
        merge_strategy_used=merge_strategy,
        validation_errors=done.problems,
        imported_scopes=done.scopes,
        associations_count=done.associations,
        dropped=done.dropped,
    )
    kept = f"{done.skipped:,} memories are here already and were kept as they are; merge_strategy has other ways."
    return shapes.reply(answer, [Note("skipped", kept)] if done.skipped else ())
