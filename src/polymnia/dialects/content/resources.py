"""What a client can read by address: an item by its permalink, and the help that errors point to."""

from __future__ import annotations

from msgspec.json import encode, format

from polymnia.engine.citations.item import PERMALINKS, read_permalink
from polymnia.errors import NotFound
from polymnia.models import JsonObject
from polymnia.operation import Context, Resource, Template

ERRORS = "polymnia://docs/errors"
PARAMETERS = "polymnia://docs/parameters"


def _item(context: Context, address: str) -> str:
    project, id, session = read_permalink(address)
    if project is None:
        raise NotFound([address], "Content")
    from polymnia.dialects.content.shapes import item

    memory = context.memory.acting(context.memory.who, project=project)
    return format(encode(item(memory.item(id, session=session))), indent=2).decode()


def _errors(context: Context) -> str:
    """Every error of this dialect: its code, its type, what it means and what to do."""
    from polymnia.dialects.content.refusals import CODES

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
