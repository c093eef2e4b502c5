"""The tools that write memories to archives and take them in again."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Struct

from polymnia.dialects.associative.shapes import Remarks, Success, reply, tool, unknown_scope
from polymnia.dialects.shapes import about, or_null
from polymnia.engine import scopes
from polymnia.models import Note
from polymnia.operation import Context, Reply

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

    success: Success
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
    notes: Remarks = []


@tool("memory_export", "Export Memories", ExportAnswer, heavy=True, destroys=True, idempotent=True)
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
    notes = [] if done.count or scope is None else [unknown_scope(context.memory, scope)]
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
    return reply(answer, notes)


class ImportAnswer(Struct, frozen=True, omit_defaults=True):
    """How many memories were imported, skipped and overwritten, and what was wrong with the rest."""

    success: Success
    imported_count: Annotated[int, about("How many memories are new.")]
    skipped_count: Annotated[int, about("How many are here already and were left as they are.")]
    overwritten_count: Annotated[int, about("How many existed and were changed.")]
    import_source: Annotated[str, about("direct for data of the call, else file: and the name of the file.")]
    merge_strategy_used: Annotated[str, about("What was done with memories that exist.")]
    validation_errors: Annotated[list[str], about("What was wrong with records that were not imported.")]
    imported_scopes: Annotated[list[str], about("The scopes of the imported memories.")]
    associations_count: Annotated[int, about("How many links were imported.")]
    dropped: Annotated[dict[str, int], about("What the file has and was not taken, counted by reason.")]
    notes: Remarks = []


@tool("memory_import", "Import Memories", ImportAnswer, heavy=True, destroys=True)
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
    return reply(answer, [Note("skipped", kept)] if done.skipped else ())
