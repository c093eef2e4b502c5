"""Project files of memory_system: export_project_data and import_project_data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, TypedDict

from msgspec import Struct

from polymnia.dialects.content.call import ContentCall, Fields, operation
from polymnia.dialects.content.shapes import Answer, Notes, Period, Tagged, Types, WriteAnswer, present, selection
from polymnia.dialects.shapes import about

if TYPE_CHECKING:
    from polymnia.engine.transfer.project_import import ProjectImport

_BEST_EFFORT = (
    "Names and places are found by rules that miss some and may take a few words for names; mail addresses, numbers "
    "and the like by their form. Look through the file before you pass it on."
)

Format = Literal["json", "csv", "markdown", "zip"]
Merging = Literal["replace", "merge", "skip_existing"]


def _count(items: int) -> str:
    return "1 item" if items == 1 else f"{items:,} items"


class ExportInclude(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What of each item export_project_data includes."""

    content: Annotated[bool, about("The texts (default true).")] | None = None
    relationships: Annotated[bool, about("Its relationships (default true).")] | None = None
    metadata: Annotated[bool, about("Its metadata (default true).")] | None = None
    history: Annotated[bool, about("Earlier versions (default false).")] | None = None


class ExportFilters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which items export_project_data takes."""

    date_range: Period = None
    content_types: Types | None = None
    tags: Tagged | None = None


class AnonymizedExport(TypedDict):
    """What an anonymized export replaced."""

    best_effort: Annotated[bool, about("Always true: look through the file before you pass it on.")]
    replaced: Annotated[dict[str, int], about("How many of each kind were replaced.")]
    note: Annotated[str, about("What may have been missed.")]


class ExportProjectDataAnswer(Answer):
    """What was exported: the data itself, or where it is large the file that holds it."""

    message: Annotated[str, about("What was done, as a sentence.")]
    format: Annotated[Format, about("The format asked for.")]
    item_count: Annotated[int, about("How many items were exported.")]
    relationship_count: Annotated[int, about("How many relationships were exported.")]
    version_count: Annotated[int, about("How many earlier versions were exported.")]
    size_bytes: Annotated[int, about("The size of the export.")]
    data: NotRequired[Annotated[str, about("The export itself, where it is small enough to be answered.")]]
    encoding: NotRequired[Annotated[str, about("How data is written: utf-8, or base64 for compressed data and zip.")]]
    file_path: NotRequired[
        Annotated[
            str,
            about(
                "The file in the server's export folder, where the export is too large to be answered; over the "
                "network its name only."
            ),
        ]
    ]
    anonymized: NotRequired[Annotated[AnonymizedExport, about("What was replaced; with options.anonymize.")]]
    left_out: NotRequired[
        Annotated[list[str], about("What was asked for and is not included, because other options forbid it.")]
    ]
    without_embeddings: NotRequired[
        Annotated[int, about("How many items have no vector; with options.include_embeddings.")]
    ]
    notes: NotRequired[Notes]


@operation(ExportProjectDataAnswer, options=("ExportOptions", "How to write it."), reads=True, heavy=True)
def export_project_data(
    call: ContentCall,
    format: Annotated[Format, about("The format of the file.")],
    include: Annotated[ExportInclude | None, about("What of each item.")] = None,
    filters: Annotated[ExportFilters | None, about("Which items.")] = None,
    *,
    compress: Annotated[bool, about("gzip; the data travels as base64.")] = False,
    include_embeddings: Annotated[bool, about("The vectors (default false).")] = False,
    anonymize: Annotated[bool, about("Replace names, mails, phone numbers, keys and ids, alike everywhere.")] = False,
) -> Fields:
    """Export the items of a project as JSON, CSV, Markdown or ZIP. A small export is in the answer, a large one in a
    file of the server.
    """
    from polymnia.engine.transfer.project_export import Including

    include, filters = include or ExportInclude(), filters or ExportFilters()
    including = Including(
        content=include.content is not False,
        relationships=include.relationships is not False,
        metadata=include.metadata is not False,
        history=include.history is True,
        embeddings=include_embeddings,
        anonymize=anonymize,
    )
    done = call.memory.export_project(
        format,
        filters=selection(filters, call.session),
        including=including,
        compress=compress,
        step=call.step,
    )
    left_out = []
    if include_embeddings and (anonymize or not including.content):
        left_out.append("embeddings")
    if including.relationships and not including.content:
        left_out.append("relationship contexts")
    replaced = {"best_effort": True, "replaced": done.replaced, "note": _BEST_EFFORT}
    return call.answer(
        f"Exported {_count(done.items)}",
        format=format,
        item_count=done.items,
        relationship_count=done.relationships,
        version_count=done.versions,
        size_bytes=done.bytes,
        **present(
            anonymized=None if done.replaced is None else replaced,
            left_out=left_out or None,
            without_embeddings=done.unembedded or None,
            data=done.data,
            encoding=done.encoding if done.path is None else None,
            file_path=None if done.path is None else call.context.place(done.path),
        ),
    )


class ImportProjectDataAnswer(WriteAnswer):
    """How many items were imported, updated and skipped, and what was wrong with the rest."""

    source: Annotated[str, about("The source named in the call.")]
    format: Annotated[Format, about("The format named in the call.")]
    imported_count: Annotated[int, about("How many items are new.")]
    updated_count: Annotated[int, about("How many items existed and were changed.")]
    skipped_count: Annotated[int, about("How many items existed and were left as they are.")]
    relationship_count: Annotated[int, about("How many relationships were imported.")]
    id_mapping: NotRequired[
        Annotated[
            dict[str, str], about("The new id of each item whose id changed, by its id in the file. Not when repeated.")
        ]
    ]
    validation_errors: NotRequired[
        Annotated[list[str], about("What was wrong with items that were not imported. Not when repeated.")]
    ]
    dropped: NotRequired[
        Annotated[dict[str, int], about("How much of the file was not imported, by reason. Not when repeated.")]
    ]
    relationships_detected: NotRequired[
        Annotated[int, about("How many relationships were found; with options.detect_relationships.")]
    ]


@operation(ImportProjectDataAnswer, options=("ImportOptions", "How to do it."), heavy=True)
def import_project_data(
    call: ContentCall,
    source: Annotated[str, about("A file of the export folder; with data, what to call it.")],
    format: Annotated[Format, about("The format of the file.")],
    data: Annotated[str, about("The data itself (base64 where it is compressed).")] | None = None,
    *,
    merge_strategy: Annotated[Merging, about("What happens to items that exist (default merge).")] = "merge",
    validate_data: Annotated[bool, about("Import nothing unless all is sound (default true).")] = True,
    generate_embeddings: Annotated[bool, about("Make the vectors before answering.")] | None = None,
    detect_relationships: Annotated[bool, about("Find relationships of what is imported.")] = False,
    preserve_ids: Annotated[bool, about("Keep the ids of the file (default false).")] = False,
) -> Fields:
    """Import items from an export, or from a file of the same format: given as data, or a file in the server's export
    folder.
    """

    def answer(done: ProjectImport) -> Fields:
        return call.answer(
            f"Imported {_count(done.imported)}",
            source=source,
            format=format,
            imported_count=done.imported,
            updated_count=done.updated,
            skipped_count=done.skipped,
            relationship_count=done.relationships,
            id_mapping=done.ids,
            validation_errors=done.problems,
            dropped=done.dropped,
        )

    done, drawn = call.writing(answer).import_project(
        format,
        name=None if data is not None else source,
        data=data,
        merging=merge_strategy,
        validate=validate_data,
        keep_ids=preserve_ids,
        embed=generate_embeddings,
        relate=detect_relationships,
        step=call.step,
    )
    return answer(done) | ({"relationships_detected": drawn} if detect_relationships else {})
