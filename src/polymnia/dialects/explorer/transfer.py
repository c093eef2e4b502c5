"""Import with a preview, and export as a download."""

from __future__ import annotations

from base64 import b64decode
from typing import Annotated, Literal

from polymnia.dialects.explorer import shapes
from polymnia.dialects.explorer.shapes import Project, operation
from polymnia.dialects.shapes import about
from polymnia.engine.transfer.downloads import FORMATS
from polymnia.errors import Invalid
from polymnia.models import JsonObject, closest
from polymnia.operation import Context, Download, Reply

Name = Annotated[str, about("The name of the file.", min_length=1, max_length=255)]
Data = Annotated[str, about("The file itself.")]
Base64 = Annotated[bool, about("The data are in base64.")]
Existing = Annotated[Literal["merge", "replace", "keep"], about("What becomes of memories that are there.")]
Prefix = Annotated[str, about("A scope to file the memories of an archive below.")]


@operation("import_preview", "Preview of an import", heavy=True)
def import_preview(
    context: Context,
    name: Name,
    data: Data,
    project: Project | None = None,
    base64: Base64 = False,
    existing: Existing = "merge",
    prefix: Prefix | None = None,
) -> JsonObject:
    """What an import would do: it is done and taken back, and nothing has changed."""
    return _imported(context, name, data, project, base64, existing, prefix, preview=True)


@operation("import", "Import", heavy=True, destroys=True)
def import_(
    context: Context,
    name: Name,
    data: Data,
    project: Project | None = None,
    base64: Base64 = False,
    existing: Existing = "merge",
    prefix: Prefix | None = None,
) -> JsonObject:
    """Import a file of any form that is known, as one change."""
    return _imported(context, name, data, project, base64, existing, prefix, preview=False)


def _imported(
    context: Context, name: str, data: str, project: str | None, base64: bool, existing: Existing, prefix: str | None,
    *, preview: bool,
) -> JsonObject:  # fmt: skip
    memory = shapes.in_project(context.memory, project)
    try:
        raw = b64decode(data, validate=True) if base64 else data.encode("utf-8", "surrogatepass")
    except ValueError:
        raise Invalid("data is no base64", field="data") from None
    done = memory.upload(raw, name, existing=existing, prefix=prefix, preview=preview, step=context.step)
    return {
        "form": done.form,
        "imported": done.imported,
        "problems": list(done.problems),
        "examples": [{"how": "made", **shapes.title(one)} for one in done.examples],
    }


@operation("export", "Export", reads=True, heavy=True)
def export(
    context: Context,
    format: Annotated[str, about("One of the formats that `about` lists.")],
    project: Project | None = None,
    scope: Annotated[str, about("A scope, with what is below it.")] | None = None,
) -> Reply:
    """The project as a file."""
    memory = shapes.in_project(context.memory, project)
    found = FORMATS.get(format)
    if found is None:
        near = closest(format, FORMATS)
        meant = f"Did you mean {near}? " if near else ""
        raise Invalid(
            f"There is no format {format!r:.60}", field="format", hint=f"{meant}One of: {', '.join(FORMATS)}."
        )
    plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in memory.project)[:60]
    name = f"{plain or 'project'}-{format.partition('-')[0]}.{found.ending}"
    return Reply(download=Download(name, found.mime, lambda out: memory.download(out, format, scope=scope)))
