"""memory_system: health, project files, integrity and citations."""

from __future__ import annotations

from typing import Any

from msgspec import to_builtins

from polymnia.dialects.content import system_parameters as parameters
from polymnia.dialects.content.asking import Asking, replied
from polymnia.dialects.content.reading import Verb
from polymnia.dialects.content.results import answer
from polymnia.dialects.content.retrieving import period
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Violation
from polymnia.importing import importing
from polymnia.models import Filters
from polymnia.operation import Context, Reply

__all__ = ["VERBS"]


_BEST_EFFORT = (
    "Names and places are found by rules that miss some and may take a few words for names; mail addresses, numbers "
    "and the like by their form. Look through the file before you pass it on."
)


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _count(items: int) -> str:
    return "1 item" if items == 1 else f"{items:,} items"


def _health(context: Context, given: parameters.CheckHealth) -> Reply:
    asking = Asking(context, given)

    def work() -> dict[str, Any]:
        with importing():
            from polymnia.engine.health.checkup import check

        found = check(
            asking.memory,
            projects=asking.memory.store.projects() if given.project_id is None else (),
            components=given.components,
            detailed=_or(given.detailed, False),
            counters=context.counters,
        )
        components = {
            name: {"status": one.status, "message": one.message, "last_check": moment(one.checked)}
            | ({"metrics": one.metrics} if given.detailed else {})
            for name, one in found.components.items()
        }
        health: dict[str, Any] = {"status": found.status, "version": context.version, "components": components}
        if (counted := found.performance) is not None:
            health["uptime"] = f"{counted.uptime:.0f}s"
            health["performance"] = {
                "response_time": f"{counted.median * 1000:.1f}ms",
                "throughput": round(counted.throughput, 3),
                "error_rate": round(counted.error_rate, 4),
            } | ({"requests": to_builtins(counted)} if given.detailed else {})
        health["resources"] = {
            "memory_usage": f"{found.resources.memory / 2**20:.0f}MB",
            "storage_usage": f"{found.resources.storage / 2**20:.1f}MB",
            "connection_count": found.resources.connections,
        }
        return answer(asking.begun, health=health)

    return replied(asking, work)


def _export(context: Context, given: parameters.ExportProject) -> Reply:
    from polymnia.engine.transfer.project_export import Including

    asking = Asking(context, given)
    include, filters = given.include or parameters.ExportInclude(), given.filters or parameters.ExportFilters()
    options = given.options or parameters.ExportOptions()
    start, end = period(filters.date_range, "filters.date_range")
    wanted = Filters(
        session=given.session_id, any_session=False, content_types=tuple(_or(filters.content_types, ())),
        tags=tuple(_or(filters.tags, ())), created_from=start, created_to=end,
    )  # fmt: skip
    including = Including(
        content=_or(include.content, True), relationships=_or(include.relationships, True),
        metadata=_or(include.metadata, True), history=_or(include.history, False),
        embeddings=_or(options.include_embeddings, False), anonymize=_or(options.anonymize, False),
    )  # fmt: skip

    def work() -> dict[str, Any]:
        done = asking.memory.export_project(
            given.format,
            filters=wanted,
            including=including,
            compress=_or(options.compress, False),
            step=asking.step,
        )
        fields: dict[str, Any] = {
            "format": given.format, "item_count": done.items, "relationship_count": done.relationships,
            "version_count": done.versions, "size_bytes": done.bytes,
        }  # fmt: skip
        if done.replaced is not None:
            fields["anonymized"] = {"best_effort": True, "replaced": done.replaced, "note": _BEST_EFFORT}
        left_out = [
            name
            for name, out in (
                ("embeddings", including.embeddings and (including.anonymize or not including.content)),
                ("relationship contexts", including.relationships and not including.content),
            )
            if out
        ]
        if left_out:
            fields["left_out"] = left_out
        if done.unembedded:
            fields["without_embeddings"] = done.unembedded
        if done.path is not None:
            fields["file_path"] = context.place(done.path)
        else:
            fields |= {"data": done.data, "encoding": done.encoding}
        return answer(asking.begun, f"Exported {_count(done.items)}", **fields)

    return replied(asking, work)


def _import(context: Context, given: parameters.ImportProject) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.ImportOptions()

    def tell(done: Any) -> dict[str, Any]:
        return answer(
            asking.begun,
            f"Imported {_count(done.imported)}",
            source=given.source,
            format=given.format,
            imported_count=done.imported,
            updated_count=done.updated,
            skipped_count=done.skipped,
            relationship_count=done.relationships,
            id_mapping=done.ids,
            validation_errors=done.problems,
            dropped=done.dropped,
        )

    def work() -> dict[str, Any]:
        done, drawn = asking.writing(tell).import_project(
            given.format,
            name=None if given.data is not None else given.source,
            data=given.data,
            merging=_or(options.merge_strategy, "merge"),
            validate=_or(options.validate_data, True),
            keep_ids=_or(options.preserve_ids, False),
            embed=options.generate_embeddings,
            relate=_or(options.detect_relationships, False),
            step=asking.step,
        )
        return tell(done) | ({"relationships_detected": drawn} if options.detect_relationships else {})

    return replied(asking, work)


def _validate(context: Context, given: parameters.ValidateIntegrity) -> Reply:
    scope = _or(given.scope, "project")
    if scope != "system" and given.project_id is None:
        raise BadArguments("validate_data_integrity", [Violation("project_id", "string", "undefined")])
    if scope == "session" and given.session_id is None:
        raise BadArguments("validate_data_integrity", [Violation("session_id", "string", "undefined")])
    asking = Asking(context, given)
    options = given.options or parameters.IntegrityOptions()

    def work() -> dict[str, Any]:
        fix = _or(options.fix_issues, False)
        if fix:
            asking.check_session()
        report = asking.memory.validate(
            scope=scope, session=given.session_id if scope == "session" else None, checks=given.checks, fix=fix
        )
        detailed = _or(options.detailed_report, False)
        findings = [_finding(one, detailed) for one in report.findings]
        fields: dict[str, Any] = {
            "valid": report.sound,
            "scope": report.scope,
            "checks": list(report.checks),
            "issues": findings,
            "summary": {severity: report.count(severity) for severity in ("error", "warning", "info")},
            "fixed": sum(one.count - one.left for one in report.findings) if fix else 0,
        }
        if report.changes:
            fields["changes"] = report.changes
        if detailed:
            fields["looked_at"] = to_builtins(report.looked)
        return answer(asking.begun, _verdict(report), **fields)

    return replied(asking, work)


def _verdict(report: Any) -> str:
    if not report.sound:
        return "Issues were found"
    unembedded = sum(one.left for one in report.findings if one.kind == "embedding_none")
    told = f"{unembedded:,} passage{'s have' if unembedded > 1 else ' has'} no vector, so meaning does not find "
    return "The data is sound" if not unembedded else f"Nothing is damaged; {told}{'them' if unembedded > 1 else 'it'}"


def _finding(one: Any, detailed: bool) -> dict[str, Any]:
    told: dict[str, Any] = to_builtins(one)
    if not detailed:
        told["where"] = list(told["where"])[:5]
    return {key: value for key, value in told.items() if value is not None}


def _cite(context: Context, given: parameters.GenerateCitation) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.CitationOptions()

    def work() -> dict[str, Any]:
        found = asking.memory.cite(
            given.content_id,
            _or(given.style, "apa"),
            session=given.session_id,
            permalink=_or(options.include_permalink, False),
            access_date=_or(options.include_access_date, False),
        )
        fields: dict[str, Any] = {
            "content_id": given.content_id, "style": found.style, "citation": found.text, "html": found.html,
            "bibtex": found.bibtex, "csl": found.csl,
        }  # fmt: skip
        if found.permalink is not None:
            fields["permalink"] = found.permalink
        if found.accessed is not None:
            fields["access_date"] = found.accessed
        return answer(asking.begun, **fields)

    return replied(asking, work)


VERBS = {
    "check_system_health": Verb(
        params=parameters.CheckHealth,
        run=_health,
        help="Check whether the server works: its database, vector store, model and cache, how fast it answers, "
        "and what it uses.",
        reads=True,
        project=False,
    ),
    "export_project_data": Verb(
        params=parameters.ExportProject,
        run=_export,
        help="Export the items of a project as JSON, CSV, Markdown or ZIP. A small export is in the answer, a "
        "large one in a file of the server.",
        reads=True,
        heavy=True,
    ),
    "import_project_data": Verb(
        params=parameters.ImportProject,
        run=_import,
        help="Import items from an export, or from a file of the same format: given as data, or a file in the "
        "server's export folder.",
        heavy=True,
    ),
    "validate_data_integrity": Verb(
        params=parameters.ValidateIntegrity,
        run=_validate,
        help="Check the stored data for damage and inconsistencies, and with options.fix_issues repair what can "
        "be repaired.",
        project=False,
    ),
    "generate_citation": Verb(
        params=parameters.GenerateCitation,
        run=_cite,
        help="Write a citation of an item in one of five styles, as text, HTML, BibTeX and CSL-JSON.",
        reads=True,
    ),
}
