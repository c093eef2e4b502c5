"""What the operations of memory_system take, as the seed lists it."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta, Struct

from polymnia.dialects.content.parameters import DateRange, Standard

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

    content: Annotated[bool, Meta(description="Default true.")] | None = None
    relationships: Annotated[bool, Meta(description="Default true.")] | None = None
    metadata: Annotated[bool, Meta(description="Default true.")] | None = None
    history: Annotated[bool, Meta(description="Earlier versions (default false).")] | None = None


class ExportFilters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which items export_project_data takes."""

    date_range: DateRange | None = None
    content_types: list[str] | None = None
    tags: list[str] | None = None


class ExportOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of export_project_data."""

    compress: Annotated[bool, Meta(description="gzip; the data travels as base64.")] | None = None
    include_embeddings: bool | None = None
    anonymize: (
        Annotated[bool, Meta(description="Replace names, mails, phone numbers, keys and ids, alike everywhere.")] | None
    ) = None


class ExportProject(Standard, frozen=True, kw_only=True):
    """export_project_data."""

    format: Literal["json", "csv", "markdown", "zip"]
    include: ExportInclude | None = None
    filters: ExportFilters | None = None
    options: ExportOptions | None = None


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
    format: Literal["json", "csv", "markdown", "zip"]
    data: Annotated[str, Meta(description="The data itself (base64 where it is compressed).")] | None = None
    options: ImportOptions | None = None


class IntegrityOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of validate_data_integrity."""

    fix_issues: Annotated[bool, Meta(description="Mend what can be mended; undoable.")] | None = None
    detailed_report: Annotated[bool, Meta(description="Name every place and what was looked at.")] | None = None


class ValidateIntegrity(Standard, frozen=True, kw_only=True):
    """validate_data_integrity."""

    scope: Literal["project", "session", "system"] | None = None
    checks: (
        list[
            Literal[
                "orphaned_relationships",
                "missing_embeddings",
                "data_consistency",
                "reference_integrity",
                "schema_compliance",
                "performance_issues",
            ]
        ]
        | None
    ) = None
    options: IntegrityOptions | None = None


class CitationOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of generate_citation."""

    include_permalink: bool | None = None
    include_access_date: bool | None = None


class GenerateCitation(Standard, frozen=True, kw_only=True):
    """generate_citation."""

    content_id: str
    style: Annotated[Literal["apa", "mla", "chicago", "ieee", "harvard"], Meta(description="Default apa.")] | None = (
        None
    )
    options: CitationOptions | None = None
