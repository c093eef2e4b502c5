"""How the content dialect refuses: JSON-RPC errors with codes like those of HTTP; and the resources it offers: the help
that errors point to, and an item by its permalink."""

from __future__ import annotations

from msgspec.json import encode, format

from polymnia import errors
from polymnia.dialects.shapes import inherited
from polymnia.engine.content import PERMALINKS, read_permalink
from polymnia.errors import BadArguments, Fault, Invalid, NotFound, Violation
from polymnia.models import JsonObject
from polymnia.operation import Context, Reply, Resource, Template

ERRORS = "polymnia://docs/errors"
PARAMETERS = "polymnia://docs/parameters"
_RESTORE = (
    "It was deleted. get_content_history shows what it was; update_content with updates {} and options.restore true "
    "brings it back."
)

CODES = inherited(
    {
        Fault: (500, "internal_error"),
        Invalid: (422, "validation_error"),
        errors.UnknownOperation: (400, "unknown_operation"),
        NotFound: (404, "resource_not_found"),
        errors.AlreadyExists: (409, "conflict"),
        errors.ManyTexts: (409, "conflict"),
        errors.Conflict: (409, "conflict"),
        errors.Cancelled: (500, "cancelled"),
        errors.Refused: (403, "forbidden"),
        errors.ExportFailed: (500, "export_error"),
        errors.ImportFailed: (422, "import_error"),
        errors.Unavailable: (500, "storage_error"),
        errors.Busy: (504, "timeout"),
        errors.Interrupted: (502, "service_unavailable"),
        errors.NoLibrary: (502, "service_unavailable"),
        errors.NoModel: (502, "service_unavailable"),
    }
)
"""The code and the type of every fault."""

_MESSAGES = {422: "Parameter validation failed", 404: "Content not found"}


def word(fault: Fault) -> Reply:
    """A fault as the dialect answers it."""
    code, kind = CODES[type(fault)]
    details, suggestions = _explained(fault)
    message = fault.message
    if isinstance(fault, Invalid) and code in _MESSAGES:
        reason = "; ".join(map(str, fault.violations)) if isinstance(fault, BadArguments) else fault.message
        field = details.get("field")
        if isinstance(field, str) and field not in reason:
            reason = f"`{field}`: {reason}"
        message = f"{_MESSAGES[code]}: {reason}"  # many clients show nothing else
        if not isinstance(fault, BadArguments):  # their details say it all
            details.setdefault("reason", fault.message)
    elif isinstance(fault, NotFound) and fault.message.startswith("Content"):
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
        details: JsonObject = {"field": first.path, "violation": _violation(first), "provided": first.provided}
        if first.given != "undefined":
            details["expected"] = first.expected
        if len(fault.violations) > 1:
            details["violations"] = [
                {"field": one.path, "violation": _violation(one), "expected": one.expected, "provided": one.provided}
                for one in fault.violations
            ]
        return details, [text for one in fault.violations for text in _advice(one)]
    if isinstance(fault, NotFound) and fault.message.startswith("Content"):
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
    if isinstance(fault, Invalid):
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


def _item(context: Context, address: str) -> str:
    project, id, session = read_permalink(address)
    if project is None:
        raise NotFound([address], "Content")
    from polymnia.dialects.content.shapes import item

    memory = context.memory.acting(context.memory.who, project=project)
    return format(encode(item(memory.item(id, session=session))), indent=2).decode()


def _errors(context: Context) -> str:
    """Every error of this dialect: its code, its type, what it means and what to do."""
    lines = ["# Errors", "", "| code | error_type | what happened | what to do |", "|---|---|---|---|"]
    for fault, (code, kind) in sorted(CODES.items(), key=lambda one: one[1]):
        means = " ".join((fault.__doc__ or "").split()).replace("|", "\\|").replace("``", "`")
        lines.append(f"| {code} | `{kind}` | {means} | {fault.hint} |")
    return "\n".join(lines) + "\n"


def _parameters(context: Context) -> str:
    """Every parameter of every operation, from the same types that check the calls."""
    from msgspec.json import schema_components

    from polymnia.dialects.content import TOOLS

    lines = ["# Parameters", ""]
    for name, tool in TOOLS.items():
        lines += [f"## {name}", "", tool.help, ""]
        for operation, one in tool.operations().items():
            (schema,), parts = schema_components([one.params], ref_template="{name}")
            lines += [f"### {operation}", "", one.help, "", "| parameter | type | required | |", "|---|---|---|---|"]
            lines += _rows(parts[schema["$ref"]], parts, "")
            lines.append("")
    return "\n".join(lines)


def _rows(schema: JsonObject, parts: JsonObject, above: str) -> list[str]:
    rows = []
    for name, value in schema.get("properties", {}).items():
        kinds = [one for one in value.get("anyOf", [value]) if one.get("type") != "null"]
        inner = next((parts[one["$ref"]] for one in kinds if "$ref" in one), None)
        shown = "object" if inner is not None else " or ".join(_type(one) for one in kinds)
        about = value.get("description") or next((one["description"] for one in kinds if "description" in one), "")
        required = "yes" if name in schema.get("required", ()) else "no"
        rows.append(f"| `{above}{name}` | {shown} | {required} | {about} |")
        if inner is not None:
            rows += _rows(inner, parts, f"{above}{name}.")
    return rows


def _type(schema: JsonObject) -> str:
    if "enum" in schema:
        return ", ".join(f"`{one}`" for one in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


RESOURCES = (
    Resource(
        uri=ERRORS,
        name="errors",
        title="Errors",
        help="Every error: its code, what it means and what to do.",
        mime="text/markdown",
        read=_errors,
    ),
    Resource(
        uri=PARAMETERS,
        name="parameters",
        title="Parameters",
        help="Every parameter of every operation.",
        mime="text/markdown",
        read=_parameters,
    ),
)

TEMPLATES = (
    Template(
        prefix=PERMALINKS,
        variable="+address",
        name="content",
        title="One Item",
        help="One item by the permalink that a citation has: polymnia://project/{project_id}/content/{content_id}.",
        mime="application/json",
        read=_item,
        complete=lambda context, prefix: [],
    ),
)
