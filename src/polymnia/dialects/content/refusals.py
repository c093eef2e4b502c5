"""How the content dialect refuses: JSON-RPC errors with codes like those of HTTP, and what to do."""

from __future__ import annotations

from polymnia import errors
from polymnia.dialects.content.resources import ERRORS, PARAMETERS
from polymnia.errors import BadArguments, Fault, Violation
from polymnia.models import JsonObject
from polymnia.operation import Reply

_RESTORE = (
    "It was deleted. get_content_history shows what it was; update_content with updates {} and options.restore true "
    "brings it back."
)

CODES: dict[type[Fault], tuple[int, str]] = {
    Fault: (500, "internal_error"),
    errors.Invalid: (422, "validation_error"),
    errors.BadArguments: (422, "validation_error"),
    errors.BadText: (422, "validation_error"),
    errors.EmptyList: (422, "validation_error"),
    errors.OverLimit: (422, "validation_error"),
    errors.UnknownOperation: (400, "unknown_operation"),
    errors.NotFound: (404, "resource_not_found"),
    errors.AlreadyExists: (409, "conflict"),
    errors.MissingEnds: (404, "resource_not_found"),
    errors.ManyTexts: (409, "conflict"),
    errors.Conflict: (409, "conflict"),
    errors.Cancelled: (500, "cancelled"),
    errors.Refused: (403, "forbidden"),
    errors.NotAllowed: (403, "forbidden"),
    errors.ExportFailed: (500, "export_error"),
    errors.ImportFailed: (422, "import_error"),
    errors.Unavailable: (500, "storage_error"),
    errors.Busy: (504, "timeout"),
    errors.TooNew: (500, "storage_error"),
    errors.NotAStore: (500, "storage_error"),
    errors.Damaged: (500, "storage_error"),
    errors.BrokenFile: (500, "storage_error"),
    errors.NoLibrary: (502, "service_unavailable"),
    errors.NoModel: (502, "service_unavailable"),
    errors.NoSpace: (500, "storage_error"),
    errors.Forbidden: (500, "storage_error"),
}
"""Every fault has a code and a type; a test holds the table complete."""

_MESSAGES = {422: "Parameter validation failed", 404: "Content not found"}


def word(fault: Fault) -> Reply:
    """A fault as the dialect answers it."""
    code, kind = CODES[type(fault)]
    details, suggestions = _explained(fault)
    message = fault.message
    if isinstance(fault, errors.Invalid) and code in _MESSAGES:
        reason = "; ".join(map(str, fault.violations)) if isinstance(fault, BadArguments) else fault.message
        field = details.get("field")
        if isinstance(field, str) and field not in reason:
            reason = f"`{field}`: {reason}"
        message = f"{_MESSAGES[code]}: {reason}"  # many clients show nothing else
        if not isinstance(fault, BadArguments):  # their details say it all
            details.setdefault("reason", fault.message)
    elif isinstance(fault, errors.NotFound) and fault.message.startswith("Content"):
        message = _MESSAGES[404]
    return refused(code, message, kind, details, suggestions)


def refused(code: int, message: str, kind: str, details: JsonObject, suggestions: list[str]) -> Reply:
    """An error of this dialect."""
    data = {"error_type": kind, "details": details, "suggestions": suggestions}
    if code != 404:  # the seed has none there
        data["documentation_url"] = PARAMETERS if code == 422 else ERRORS  # resources/read answers both
    return Reply(refusal=(code, message, data))


def _explained(fault: Fault) -> tuple[JsonObject, list[str]]:
    if isinstance(fault, BadArguments):
        first = fault.violations[0]
        details: JsonObject = {
            "field": first.path,
            "violation": _violation(first),
            "provided": first.provided,
        }
        if first.given != "undefined":
            details["expected"] = first.expected
        if len(fault.violations) > 1:
            details["violations"] = [
                {"field": one.path, "violation": _violation(one), "expected": one.expected, "provided": one.provided}
                for one in fault.violations
            ]
        return details, [text for one in fault.violations for text in _advice(one)]
    if isinstance(fault, errors.NotFound) and fault.message.startswith("Content"):
        project = fault.details.get("project")
        details = {"resource_type": "content", "resource_id": fault.names[0]}
        if project is not None:
            details["project_id"] = project
        if len(fault.names) > 1:
            details["resource_ids"] = fault.names
        if fault.details.get("deleted"):
            return {**details, "deleted": True}, [_RESTORE]
        return details, [
            "Verify the content ID is correct",
            "Check if the content was deleted",
            "Ensure you have access to this project",
            *([f"The closest there is: {near}"] if (near := fault.details.get("near")) else []),
            *([str(unknown)] if (unknown := fault.details.get("no_project")) else []),
        ]
    details = {key: value for key, value in fault.details.items() if value is not None}
    if isinstance(fault, errors.Invalid):
        details.setdefault("violation", "invalid")
    return details, [fault.hint]


def _violation(one: Violation) -> str:
    if one.given == "undefined":
        return "required"
    if one.given == "unknown":
        return "unknown_parameter"
    return "out_of_range" if one.range is not None else "invalid"


def _advice(one: Violation) -> list[str]:
    if one.given == "undefined":
        more = ["Use an existing project ID from your account"] if one.path == "project_id" else []
        return [f"Provide a valid {one.path} parameter", *more]
    if one.given == "unknown":
        return (
            [f"Use {one.near} instead of {one.path}"] if one.near else [f"Leave out {one.path}, or use {one.expected}"]
        )
    return [f"Give {one.path} as {one.wanted}"]
