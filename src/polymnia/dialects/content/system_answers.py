"""What the operations of memory_system answer, field by field."""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired, TypedDict

from msgspec import Meta

from polymnia.dialects.content.answers import Answer, Notes, Object, WriteAnswer

__all__ = [
    "ANSWERS", "AnonymizedExport", "CheckSystemHealthAnswer", "ComponentHealth", "ExportProjectDataAnswer",
    "GenerateCitationAnswer", "ImportProjectDataAnswer", "IntegrityIssue", "IntegrityLook", "IntegritySummary",
    "RequestFigures", "ServerPerformance", "ServerResources", "SystemHealth", "ValidateDataIntegrityAnswer",
]  # fmt: skip

Status = Literal["healthy", "degraded", "unhealthy"]
Format = Literal["json", "csv", "markdown", "zip"]


class ComponentHealth(TypedDict):
    """How one part of the server is."""

    status: Annotated[Status, Meta(description="How it is.")]
    message: Annotated[str, Meta(description="What was tried, and what came of it.")]
    last_check: Annotated[str, Meta(description="When it was checked: UTC, ISO 8601.")]
    metrics: NotRequired[
        Annotated[Object, Meta(description="What was measured; the names differ by component. With detailed.")]
    ]


class RequestFigures(TypedDict):
    """The requests since the server started. Times are in seconds."""

    uptime: Annotated[float, Meta(description="Seconds since the server started.")]
    requests: Annotated[int, Meta(description="How many requests were answered.")]
    errors: Annotated[int, Meta(description="How many of them failed.")]
    error_rate: Annotated[float, Meta(description="The share that failed, from 0 to 1.")]
    recent_requests: Annotated[int, Meta(description="How many requests were answered in the last minute.")]
    recent_error_rate: Annotated[float, Meta(description="The share of those that failed, from 0 to 1.")]
    throughput: Annotated[float, Meta(description="Requests a second in the last minute.")]
    mean: Annotated[float, Meta(description="The mean time of a request.")]
    median: Annotated[float, Meta(description="Half of the requests took at most this long.")]
    p95: Annotated[float, Meta(description="95 of 100 requests took at most this long.")]
    p99: Annotated[float, Meta(description="99 of 100 requests took at most this long.")]
    longest: Annotated[float, Meta(description="The longest request.")]


class ServerPerformance(TypedDict):
    """How fast the server answers."""

    response_time: Annotated[str, Meta(description='The median time of a request, for example "1.5ms".')]
    throughput: Annotated[float, Meta(description="Requests a second in the last minute.")]
    error_rate: Annotated[float, Meta(description="The share of requests that failed, from 0 to 1.")]
    requests: NotRequired[Annotated[RequestFigures, Meta(description="The figures in full. With detailed.")]]


class ServerResources(TypedDict):
    """What the server uses."""

    memory_usage: Annotated[str, Meta(description='Memory of the process, for example "50MB".')]
    storage_usage: Annotated[str, Meta(description='Disk space of the store, for example "0.2MB".')]
    connection_count: Annotated[int, Meta(description="Open connections to the store's database.")]


class SystemHealth(TypedDict):
    """How the server is as a whole, and part by part."""

    status: Annotated[Status, Meta(description="The worst status of all components checked.")]
    version: Annotated[str, Meta(description="The version of the server.")]
    components: Annotated[
        dict[str, ComponentHealth],
        Meta(description="Each component checked, by name: database, vector_store, ai_service, cache."),
    ]
    uptime: NotRequired[Annotated[str, Meta(description='How long the server has been running, for example "3600s".')]]
    performance: NotRequired[Annotated[ServerPerformance, Meta(description="How fast it answers, where counted.")]]
    resources: Annotated[ServerResources, Meta(description="What it uses.")]


class CheckSystemHealthAnswer(Answer):
    """The status of the server and of each of its components."""

    health: Annotated[SystemHealth, Meta(description="The status, the components, and what they use.")]
    notes: NotRequired[Notes]


class AnonymizedExport(TypedDict):
    """What an anonymized export replaced."""

    best_effort: Annotated[bool, Meta(description="Always true: look through the file before you pass it on.")]
    replaced: Annotated[dict[str, int], Meta(description="How many of each kind were replaced.")]
    note: Annotated[str, Meta(description="What may have been missed.")]


class ExportProjectDataAnswer(Answer):
    """What was exported: the data itself, or where it is large the file that holds it."""

    message: Annotated[str, Meta(description="What was done, as a sentence.")]
    format: Annotated[Format, Meta(description="The format asked for.")]
    item_count: Annotated[int, Meta(description="How many items were exported.")]
    relationship_count: Annotated[int, Meta(description="How many relationships were exported.")]
    version_count: Annotated[int, Meta(description="How many earlier versions were exported.")]
    size_bytes: Annotated[int, Meta(description="The size of the export.")]
    data: NotRequired[Annotated[str, Meta(description="The export itself, where it is small enough to be answered.")]]
    encoding: NotRequired[
        Annotated[str, Meta(description="How data is written: utf-8, or base64 for compressed data and zip.")]
    ]
    file_path: NotRequired[
        Annotated[
            str,
            Meta(
                description="The file in the server's export folder, where the export is too large to be answered; "
                "over the network its name only."
            ),
        ]
    ]
    anonymized: NotRequired[Annotated[AnonymizedExport, Meta(description="What was replaced; with options.anonymize.")]]
    left_out: NotRequired[
        Annotated[
            list[str], Meta(description="What was asked for and is not included, because other options forbid it.")
        ]
    ]
    without_embeddings: NotRequired[
        Annotated[int, Meta(description="How many items have no vector; with options.include_embeddings.")]
    ]
    notes: NotRequired[Notes]


class ImportProjectDataAnswer(WriteAnswer):
    """How many items were imported, updated and skipped, and what was wrong with the rest."""

    source: Annotated[str, Meta(description="The source named in the call.")]
    format: Annotated[Format, Meta(description="The format named in the call.")]
    imported_count: Annotated[int, Meta(description="How many items are new.")]
    updated_count: Annotated[int, Meta(description="How many items existed and were changed.")]
    skipped_count: Annotated[int, Meta(description="How many items existed and were left as they are.")]
    relationship_count: Annotated[int, Meta(description="How many relationships were imported.")]
    id_mapping: NotRequired[
        Annotated[
            dict[str, str],
            Meta(description="The new id of each item whose id changed, by its id in the file. Not when repeated."),
        ]
    ]
    validation_errors: NotRequired[
        Annotated[list[str], Meta(description="What was wrong with items that were not imported. Not when repeated.")]
    ]
    dropped: NotRequired[
        Annotated[
            dict[str, int], Meta(description="How much of the file was not imported, by reason. Not when repeated.")
        ]
    ]
    relationships_detected: NotRequired[
        Annotated[int, Meta(description="How many relationships were found; with options.detect_relationships.")]
    ]


class IntegrityIssue(TypedDict):
    """Something that is wrong with the data, or worth knowing."""

    check: Annotated[str, Meta(description="The check that found it.")]
    kind: Annotated[str, Meta(description="What kind of issue it is, as a name.")]
    severity: Annotated[Literal["error", "warning", "info"], Meta(description="How bad it is.")]
    what: Annotated[str, Meta(description="What is wrong, as a sentence.")]
    count: Annotated[int, Meta(description="How many places it was found in.")]
    where: Annotated[
        list[str], Meta(description="The first places; with options.detailed_report as many as are known.")
    ]
    project: NotRequired[Annotated[str, Meta(description="The project it was found in.")]]
    fixable: Annotated[bool, Meta(description="Whether options.fix_issues can repair it.")]
    how: Annotated[str, Meta(description="How it is repaired, or what is left to do by hand.")]
    left: Annotated[int, Meta(description="How many places are still wrong after this call.")]
    failed: NotRequired[Annotated[str, Meta(description="Why repairing it failed.")]]


class IntegritySummary(TypedDict):
    """How many issues there are."""

    error: Annotated[int, Meta(description="Issues that are errors.")]
    warning: Annotated[int, Meta(description="Issues that are warnings.")]
    info: Annotated[int, Meta(description="Issues that are only worth knowing.")]


class IntegrityLook(TypedDict):
    """How much of something was checked."""

    project: Annotated[str | None, Meta(description="The project; null for what belongs to no project.")]
    what: Annotated[str, Meta(description="What was checked.")]
    looked: Annotated[int, Meta(description="How many were checked.")]
    of: Annotated[int, Meta(description="How many there are.")]
    why_not: Annotated[str | None, Meta(description="Why the rest was not checked; null where all was.")]


class ValidateDataIntegrityAnswer(Answer):
    """Whether the data is sound, and each issue that was found."""

    message: Annotated[str, Meta(description="The verdict, as a sentence.")]
    valid: Annotated[bool, Meta(description="Whether nothing is wrong, after repairs where they were asked for.")]
    scope: Annotated[Literal["project", "session", "system"], Meta(description="What was checked.")]
    checks: Annotated[list[str], Meta(description="The checks that were run.")]
    issues: Annotated[list[IntegrityIssue], Meta(description="What was found, worst first.")]
    summary: Annotated[IntegritySummary, Meta(description="The issues, counted by severity.")]
    fixed: Annotated[int, Meta(description="How many places were repaired.")]
    changes: NotRequired[
        Annotated[
            dict[str, int],
            Meta(description="The number of the change that repaired each project: undoing it takes the repair back."),
        ]
    ]
    looked_at: NotRequired[
        Annotated[list[IntegrityLook], Meta(description="How much was checked; with options.detailed_report.")]
    ]
    notes: NotRequired[Notes]


class GenerateCitationAnswer(Answer):
    """The citation as text, HTML, BibTeX and CSL-JSON."""

    content_id: Annotated[str, Meta(description="The id of the item.")]
    style: Annotated[
        Literal["apa", "mla", "chicago", "ieee", "harvard"], Meta(description="The style of the citation.")
    ]
    citation: Annotated[str, Meta(description="The citation as plain text.")]
    html: Annotated[str, Meta(description="The citation as HTML.")]
    bibtex: Annotated[str, Meta(description="The item as a BibTeX entry.")]
    csl: Annotated[Object, Meta(description="The item as CSL-JSON, from which the citation was written.")]
    permalink: NotRequired[
        Annotated[str, Meta(description="The address of the item on this server; with options.include_permalink.")]
    ]
    access_date: NotRequired[
        Annotated[str, Meta(description="The date of access, YYYY-MM-DD; with options.include_access_date.")]
    ]


ANSWERS: dict[str, type] = {
    "check_system_health": CheckSystemHealthAnswer,
    "export_project_data": ExportProjectDataAnswer,
    "import_project_data": ImportProjectDataAnswer,
    "validate_data_integrity": ValidateDataIntegrityAnswer,
    "generate_citation": GenerateCitationAnswer,
}
"""The answer of each operation of memory_system."""
