"""memory_system: health, integrity and citations; project files are in transfer.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, TypedDict

from msgspec import to_builtins

from polymnia.dialects.content.call import ContentCall, Fields, by_name, operation
from polymnia.dialects.content.shapes import Answer, Item, Notes, Object, present
from polymnia.dialects.content.transfer import export_project_data, import_project_data
from polymnia.dialects.shapes import about
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Violation
from polymnia.importing import importing

if TYPE_CHECKING:
    from polymnia.engine.health.integrity import IntegrityReport

_SHOWN = 5  # places of an issue that are named without a detailed report

Status = Literal["healthy", "degraded", "unhealthy"]
Component = Literal["database", "vector_store", "ai_service", "cache"]
Scope = Literal["project", "session", "system"]
Check = Literal[
    "orphaned_relationships",
    "missing_embeddings",
    "data_consistency",
    "reference_integrity",
    "schema_compliance",
    "performance_issues",
]
CitationStyle = Literal["apa", "mla", "chicago", "ieee", "harvard"]


class ComponentHealth(TypedDict):
    """How one part of the server is."""

    status: Annotated[Status, about("How it is.")]
    message: Annotated[str, about("What was tried, and what came of it.")]
    last_check: Annotated[str, about("When it was checked: UTC, ISO 8601.")]
    metrics: NotRequired[Annotated[Object, about("What was measured; the names differ by component. With detailed.")]]


class RequestFigures(TypedDict):
    """The requests since the server started. Times are in seconds."""

    uptime: Annotated[float, about("Seconds since the server started.")]
    requests: Annotated[int, about("How many requests were answered.")]
    errors: Annotated[int, about("How many of them failed.")]
    error_rate: Annotated[float, about("The share that failed, from 0 to 1.")]
    recent_requests: Annotated[int, about("How many requests were answered in the last minute.")]
    recent_error_rate: Annotated[float, about("The share of those that failed, from 0 to 1.")]
    throughput: Annotated[float, about("Requests a second in the last minute.")]
    mean: Annotated[float, about("The mean time of a request.")]
    median: Annotated[float, about("Half of the requests took at most this long.")]
    p95: Annotated[float, about("95 of 100 requests took at most this long.")]
    p99: Annotated[float, about("99 of 100 requests took at most this long.")]
    longest: Annotated[float, about("The longest request.")]


class ServerPerformance(TypedDict):
    """How fast the server answers."""

    response_time: Annotated[str, about('The median time of a request, for example "1.5ms".')]
    throughput: Annotated[float, about("Requests a second in the last minute.")]
    error_rate: Annotated[float, about("The share of requests that failed, from 0 to 1.")]
    requests: NotRequired[Annotated[RequestFigures, about("The figures in full. With detailed.")]]


class ServerResources(TypedDict):
    """What the server uses."""

    memory_usage: Annotated[str, about('Memory of the process, for example "50MB".')]
    storage_usage: Annotated[str, about('Disk space of the store, for example "0.2MB".')]
    connection_count: Annotated[int, about("Open connections to the store's database.")]


class SystemHealth(TypedDict):
    """How the server is as a whole, and part by part."""

    status: Annotated[Status, about("The worst status of all components checked.")]
    version: Annotated[str, about("The version of the server.")]
    components: Annotated[
        dict[str, ComponentHealth], about("Each component checked, by name: database, vector_store, ai_service, cache.")
    ]
    uptime: NotRequired[Annotated[str, about('How long the server has been running, for example "3600s".')]]
    performance: NotRequired[Annotated[ServerPerformance, about("How fast it answers, where counted.")]]
    resources: Annotated[ServerResources, about("What it uses.")]


class CheckSystemHealthAnswer(Answer):
    """The status of the server and of each of its components."""

    health: Annotated[SystemHealth, about("The status, the components, and what they use.")]
    notes: NotRequired[Notes]


@operation(CheckSystemHealthAnswer, reads=True, project=False)
def check_system_health(
    call: ContentCall,
    detailed: Annotated[bool, about("With the figures behind each state.")] = False,
    components: Annotated[list[Component], about("Only these (default all).")] | None = None,
) -> Fields:
    """Check whether the server works: its database, vector store, model and cache, how fast it answers, and what it
    uses.
    """
    with importing():
        from polymnia.dialects.content.reports.health import message
        from polymnia.engine.health.checkup import check

    found = check(
        call.memory,
        projects=call.memory.store.projects() if call.project is None else (),
        components=components,
        detailed=detailed,
        counters=call.context.counters,
    )
    parts = {
        name: {"status": one.status, "message": message(one), "last_check": moment(one.checked)}
        | ({"metrics": one.metrics} if detailed else {})
        for name, one in found.components.items()
    }
    health: Fields = {"status": found.status, "version": call.context.version, "components": parts}
    if (counted := found.performance) is not None:
        health["uptime"] = f"{counted.uptime:.0f}s"
        health["performance"] = {
            "response_time": f"{counted.median * 1000:.1f}ms",
            "throughput": round(counted.throughput, 3),
            "error_rate": round(counted.error_rate, 4),
        } | ({"requests": to_builtins(counted)} if detailed else {})
    health["resources"] = {
        "memory_usage": f"{found.resources.memory / 2**20:.0f}MB",
        "storage_usage": f"{found.resources.storage / 2**20:.1f}MB",
        "connection_count": found.resources.connections,
    }
    return call.answer(health=health)


class IntegrityIssue(TypedDict):
    """Something that is wrong with the data, or worth knowing."""

    check: Annotated[str, about("The check that found it.")]
    kind: Annotated[str, about("What kind of issue it is, as a name.")]
    severity: Annotated[Literal["error", "warning", "info"], about("How bad it is.")]
    what: Annotated[str, about("What is wrong, as a sentence.")]
    count: Annotated[int, about("How many places it was found in.")]
    where: Annotated[list[str], about("The first places; with options.detailed_report as many as are known.")]
    project: NotRequired[Annotated[str, about("The project it was found in.")]]
    fixable: Annotated[bool, about("Whether options.fix_issues can repair it.")]
    how: Annotated[str, about("How it is repaired, or what is left to do by hand.")]
    left: Annotated[int, about("How many places are still wrong after this call.")]
    failed: NotRequired[Annotated[str, about("Why repairing it failed.")]]


class IntegritySummary(TypedDict):
    """How many issues there are."""

    error: Annotated[int, about("Issues that are errors.")]
    warning: Annotated[int, about("Issues that are warnings.")]
    info: Annotated[int, about("Issues that are only worth knowing.")]


class IntegrityLook(TypedDict):
    """How much of something was checked."""

    project: Annotated[str | None, about("The project; null for what belongs to no project.")]
    what: Annotated[str, about("What was checked.")]
    looked: Annotated[int, about("How many were checked.")]
    of: Annotated[int, about("How many there are.")]
    why_not: Annotated[str | None, about("Why the rest was not checked; null where all was.")]


class ValidateDataIntegrityAnswer(Answer):
    """Whether the data is sound, and each issue that was found."""

    message: Annotated[str, about("The verdict, as a sentence.")]
    valid: Annotated[bool, about("Whether nothing is wrong, after repairs where they were asked for.")]
    scope: Annotated[Scope, about("What was checked.")]
    checks: Annotated[list[str], about("The checks that were run.")]
    issues: Annotated[list[IntegrityIssue], about("What was found, worst first.")]
    summary: Annotated[IntegritySummary, about("The issues, counted by severity.")]
    fixed: Annotated[int, about("How many places were repaired.")]
    changes: NotRequired[
        Annotated[
            dict[str, int],
            about("The number of the change that repaired each project: undoing it takes the repair back."),
        ]
    ]
    looked_at: NotRequired[Annotated[list[IntegrityLook], about("How much was checked; with options.detailed_report.")]]
    notes: NotRequired[Notes]


@operation(
    ValidateDataIntegrityAnswer,
    options=("IntegrityOptions", "Whether to repair, and how much to tell."),
    project=False,
    long=True,
)
def validate_data_integrity(
    call: ContentCall,
    scope: Annotated[Scope, about("Of what: project needs project_id, session session_id too (default project).")] = (
        "project"
    ),
    checks: Annotated[list[Check], about("Only these (default all).")] | None = None,
    *,
    fix_issues: Annotated[bool, about("Mend what can be mended; undoable.")] = False,
    detailed_report: Annotated[bool, about("Name every place and what was looked at.")] = False,
) -> Fields:
    """Check the stored data for damage and inconsistencies, and with options.fix_issues repair what can be repaired."""
    for field, value in (("project_id", call.project), ("session_id", call.session)):
        if value is None and (scope == "session" or (scope, field) == ("project", "project_id")):
            raise BadArguments("validate_data_integrity", [Violation(field, "string", "undefined")])
    if fix_issues:
        call.check_session()
    session = call.session if scope == "session" else None
    report = call.memory.validate(scope=scope, session=session, checks=checks, fix=fix_issues)
    with importing():
        from polymnia.dialects.content.reports.health import examined, issue

    issues = [issue(one) for one in report.findings]
    for one in issues if not detailed_report else ():
        del one["where"][_SHOWN:]
    looked_at = [examined(one) for one in report.looked] if detailed_report else None
    return call.answer(
        _verdict(report),
        valid=report.sound,
        scope=report.scope,
        checks=list(report.checks),
        issues=[present(**one) for one in issues],
        summary={severity: report.count(severity) for severity in ("error", "warning", "info")},
        fixed=sum(one.count - one.left for one in report.findings) if fix_issues else 0,
        **present(changes=report.changes or None, looked_at=looked_at),
    )


def _verdict(report: IntegrityReport) -> str:
    if not report.sound:
        return "Issues were found"
    unembedded = sum(one.left for one in report.findings if one.kind == "embedding_none")
    if not unembedded:
        return "The data is sound"
    passages = "1 passage has" if unembedded == 1 else f"{unembedded:,} passages have"
    them = "it" if unembedded == 1 else "them"
    return f"Nothing is damaged; {passages} no vector, so meaning does not find {them}"


class GenerateCitationAnswer(Answer):
    """The citation as text, HTML, BibTeX and CSL-JSON."""

    content_id: Annotated[str, about("The id of the item.")]
    style: Annotated[CitationStyle, about("The style of the citation.")]
    citation: Annotated[str, about("The citation as plain text.")]
    html: Annotated[str, about("The citation as HTML.")]
    bibtex: Annotated[str, about("The item as a BibTeX entry.")]
    csl: Annotated[Object, about("The item as CSL-JSON, from which the citation was written.")]
    permalink: NotRequired[
        Annotated[str, about("The address of the item on this server; with options.include_permalink.")]
    ]
    access_date: NotRequired[Annotated[str, about("The date of access, YYYY-MM-DD; with options.include_access_date.")]]
    notes: NotRequired[Notes]


@operation(GenerateCitationAnswer, options=("CitationOptions", "What to cite beside the item."), reads=True)
def generate_citation(
    call: ContentCall,
    content_id: Item,
    style: Annotated[CitationStyle, about("The style (default apa).")] = "apa",
    *,
    include_permalink: Annotated[bool, about("The address of the item (default false).")] = False,
    include_access_date: Annotated[bool, about("The date of today (default false).")] = False,
) -> Fields:
    """Write a citation of an item in one of five styles, as text, HTML, BibTeX and CSL-JSON."""
    found = call.memory.cite(
        content_id, style, session=call.session, permalink=include_permalink, access_date=include_access_date
    )
    return call.answer(
        content_id=content_id,
        style=found.style,
        citation=found.text,
        html=found.html,
        bibtex=found.bibtex,
        csl=found.csl,
        **present(permalink=found.permalink, access_date=found.accessed),
    )


OPERATIONS = by_name(
    check_system_health, export_project_data, import_project_data, validate_data_integrity, generate_citation
)
