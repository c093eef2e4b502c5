"""Downloads: a project as one file, written to a stream, in every format there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from polymnia.errors import Invalid
from polymnia.models import Filters

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot


class Format(NamedTuple):
    """A format of files: its MIME type, the ending of its files, and how its own module calls it."""

    mime: str
    ending: str
    form: str


_JSON = "application/json"
FORMATS = {
    "graph-json": Format(_JSON, "json", "document"),
    "graph-jsonl": Format("application/jsonl", "jsonl", "lines"),
    "archive-json": Format(_JSON, "json", "json"),
    "archive-yaml": Format("application/yaml", "yaml", "yaml"),
    "project-json": Format(_JSON, "json", "json"),
    "project-csv": Format("text/csv; charset=utf-8", "csv", "csv"),
    "project-markdown": Format("text/markdown; charset=utf-8", "md", "markdown"),
    "project-zip": Format("application/zip", "zip", "zip"),
}
"""The formats by name: what kind of file, and how it is written."""


def download(snapshot: Snapshot, out: BinaryIO, format: str, scope: str | None) -> None:
    """Write a project, or of archives and project files only a scope and what is below it."""
    kind, form = format.partition("-")[0], FORMATS[format].form
    if kind == "graph":
        if scope is not None:
            hint = "Export an archive or a project file, or leave the scope out."
            raise Invalid("A graph file has no scopes", field="scope", hint=hint)
        from polymnia.engine.transfer.graphs import export_graph

        for piece in export_graph(snapshot, form):  # type: ignore[arg-type]
            out.write(piece)
    elif kind == "archive":
        from polymnia.engine.transfer.archives import write_archive

        write_archive(snapshot, out, scope=scope, form=form)  # type: ignore[arg-type]
    else:
        from polymnia.engine.transfer.project_export import Including, write_project

        filters = Filters() if scope is None else Filters(scope=scope, scopes_below=True)
        write_project(snapshot, out, form, filters, Including())  # type: ignore[arg-type]
