"""What the operations of memory_system take, as the seed lists it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from polymnia.dialects.content.parameters import Item, Period, Standard, Tagged, Types

__all__ = [
    "CheckHealth", "CitationOptions", "ExportFilters", "ExportInclude", "ExportOptions", "ExportProject",
    "GenerateCitation", "ImportOptions", "ImportProject", "IntegrityOptions", "ValidateIntegrity",
]  # fmt: skip


class CheckHealth(Standard, frozen=True, kw_only=True):
    """check_system_health."""

    detailed: Annotated[bool, Meta(description="With the figures behind each state.")] | None = None
    components: (
        Annotated[
            list[Literal["database", "vector_store", "ai_service", "cache"]],
            Meta(description="Only these (default all)."),
        ]
        | None
    ) = None


class ExportInclude(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What of each item export_project_data includes."""

    content: Annotated[bool, Meta(description="The texts (default true).")] | None = None
    relationships: Annotated[bool, Meta(description="Its relationships (default true).")] | None = None
    metadata: Annotated[bool, Meta(description="Its metadata (default true).")] | None = None
    history: Annotated[bool, Meta(description="Earlier versions (default false).")] | None = None


class ExportFilters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which items export_project_data takes."""

    date_range: Period = None
    content_types: Types | None = None
    tags: Tagged | None = None


class ExportOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of export_project_data."""

    compress: Annotated[bool, Meta(description="gzip; the data travels as base64.")] | None = None
    include_embeddings: Annotated[bool, Meta(description="The vectors (default false).")] | None = None
    anonymize: (
        Annotated[bool, Meta(description="Replace names, mails, phone numbers, keys and ids, alike everywhere.")] | None
    ) = None


class ExportProject(Standard, frozen=True, kw_only=True):
    """export_project_data."""

    format: Annotated[Literal["json", "csv", "markdown", "zip"], Meta(description="The format of the file.")]
    include: Annotated[ExportInclude | None, Meta(description="What of each item.")] = None
    filters: Annotated[ExportFilters | None, Meta(description="Which items.")] = None
    options: Annotated[ExportOptions | None, Meta(description="How to write it.")] = None


class ImportOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of import_project_data."""

    merge_strategy: (
        Annotated[
            Literal["replace", "merge", "skip_existing"],
            Meta(description="What happens to items that exist (default merge)."),
        ]
        | None
    ) = None
    validate_data: Annotated[bool, Meta(description="Import nothing unless all is sound (default true).")] | None = None
    generate_embeddings: Annotated[bool, Meta(description="Make the vectors before answering.")] | None = None
    detect_relationships: Annotated[bool, Meta(description="Find relationships of what is imported.")] | None = None
    preserve_ids: Annotated[bool, Meta(description="Keep the ids of the file (default false).")] | None = None


class ImportProject(Standard, frozen=True, kw_only=True):
    """import_project_data."""

    source: Annotated[str, Meta(description="A file of the export folder; with data, what to call it.")]
    format: Annotated[Literal["json", "csv", "markdown", "zip"], Meta(description="The format of the file.")]
    data: Annotated[str, Meta(description="The data itself (base64 where it is compressed).")] | None = None
    options: Annotated[ImportOptions | None, Meta(description="How to do it.")] = None


class IntegrityOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of validate_data_integrity."""

    fix_issues: Annotated[bool, Meta(description="Mend what can be mended; undoable.")] | None = None
    detailed_report: Annotated[bool, Meta(description="Name every place and what was looked at.")] | None = None


class ValidateIntegrity(Standard, frozen=True, kw_only=True):
    """validate_data_integrity."""

    scope: (
        Annotated[
            Literal["project", "session", "system"],
            Meta(description="Of what: project needs project_id, session session_id too (default project)."),
        ]
        | None
    ) = None
    checks: (
        Annotated[
            list[
                Literal[
                    "orphaned_relationships",
                    "missing_embeddings",
                    "data_consistency",
                    "reference_integrity",
                    "schema_compliance",
                    "performance_issues",
                ]
            ],
            Meta(description="Only these (default all)."),
        ]
        | None
    ) = None
    options: Annotated[IntegrityOptions | None, Meta(description="Whether to repair, and how much to tell.")] = None


class CitationOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of generate_citation."""

    include_permalink: Annotated[bool, Meta(description="The address of the item (default false).")] | None = None
    include_access_date: Annotated[bool, Meta(description="The date of today (default false).")] | None = None


class GenerateCitation(Standard, frozen=True, kw_only=True):
    """generate_citation."""

    content_id: Item
    style: (
        Annotated[Literal["apa", "mla", "chicago", "ieee", "harvard"], Meta(description="The style (default apa).")]
        | None
    ) = None
    options: Annotated[CitationOptions | None, Meta(description="What to cite beside the item.")] = None
