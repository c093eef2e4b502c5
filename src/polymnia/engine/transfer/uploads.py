"""Uploads: a file of any form that can be imported, recognised by its content and imported into a project."""

from __future__ import annotations

import time
from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from polymnia.engine.transfer.detection import START, detect, recognize
from polymnia.engine.transfer.formats.graph import GraphFile, read, recover
from polymnia.engine.transfer.graphs import Existing, import_graph
from polymnia.errors import BrokenFile, ImportFailed, Invalid
from polymnia.models import JsonObject, Limits, Record

if TYPE_CHECKING:
    from polymnia.engine.ports import Transaction
    from polymnia.engine.project import Step
    from polymnia.engine.transfer.archives import Strategy
    from polymnia.engine.transfer.foreign.items import ForeignSource
    from polymnia.engine.transfer.project_import import Merging

_ARCHIVES: dict[str, Strategy] = {"merge": "merge_metadata", "replace": "overwrite", "keep": "skip_duplicates"}
_PROJECTS: dict[str, Merging] = {"merge": "merge", "replace": "replace", "keep": "skip_existing"}
_EXAMPLES = 20
_KINDS = {
    "store": "a Polymnia store",
    "database": "an SQLite database",
    "zip": "a zip file without a project, an export or notes in it",
    "pdf": "a PDF document",
    "binary": "binary data",
    "gzip": "a gzip file of something that is no archive and no project",
    "damaged gzip": "a gzip file whose data are damaged",
}
_HINT = (
    "Knowledge graphs (JSON, JSON lines), archives, project files, tables with a column content, and exports of other "
    "programs (JSON, zip) can be imported; databases by `polymnia import` on the machine of the store."
)

_COUNTS = {"new": "entities_new", "changed": "entities_replaced", "unchanged": "entities_unchanged", "kept": "skipped"}

Form = Literal["graph", "archive", "json", "csv", "markdown", "zip"]


class Upload(Struct, frozen=True, kw_only=True):
    """What an import did: the form of the file, counts, what could not be imported, and some of the new memories."""

    form: str
    imported: JsonObject
    problems: Sequence[str]
    examples: list[Record]


def form_of(data: bytes, name: str) -> Form:
    """The form of a file of ours; raises ImportFailed for one that cannot be imported."""
    found = detect(data[:START])
    if found.kind == "archive":
        return "archive"
    if found.kind == "project":
        return found.form or "json"
    form = recognize(data, name) if found.kind == "graph?" else None
    if form is None:
        what = _KINDS.get(found.kind, "a text without memories in it")
        raise ImportFailed(f"{name!r:.80} was not imported: it is {what}", hint=_HINT)
    return form


def _foreign(data: bytes, name: str, limits: Limits) -> ForeignSource | None:
    """What a file of another program holds; None if it is of none."""
    found = detect(data[:START])
    if found.kind not in ("graph?", "zip", "gzip") and found.form != "zip":
        return None
    from polymnia.engine.transfer.foreign.recognition import recognize_file

    try:
        return recognize_file(data, name, limits.import_bytes)
    except Invalid as e:
        raise ImportFailed(e.message, hint=e.hint) from e


def upload(
    tx: Transaction,
    data: bytes,
    name: str,
    *,
    existing: Existing,
    prefix: str | None,
    limits: Limits,
    step: Step | None = None,
) -> Upload:
    """Import a file into the project of a transaction."""
    base, last = tx.numbers[0] << 32, tx.numbers[1]
    counts: JsonObject
    problems: Sequence[str]
    found = 0  # memories of another program, which may all be known
    source = _foreign(data, name, limits)
    form: str
    if source is not None:
        form = source.label
        counts, problems, found = _other_program(tx, source, existing, prefix, limits, step)
    elif (form := form_of(data, name)) == "graph":
        counts, problems = _graph(tx, data, name, existing, limits)
    elif form == "archive":
        from polymnia.engine.transfer.archives import import_memories

        done = import_memories(
            tx, lambda: BytesIO(data), strategy=_ARCHIVES[existing], prefix=prefix, limits=limits, step=step
        )
        counts, problems = msgspec.to_builtins(done), done.problems
    else:
        from polymnia.engine.transfer.project_import import import_project

        # The ids of the file are preserved, so that importing it twice changes nothing.
        result = import_project(
            tx, lambda: BytesIO(data), form, merging=_PROJECTS[existing], keep_ids=True, limits=limits, step=step
        )
        counts, problems = msgspec.to_builtins(result), result.problems
        del counts["ids"]
    counts.pop("problems", None)
    if problems and not tx.changed and not found:
        raise ImportFailed(f"Nothing of {name!r:.80} can be imported: {problems[0]}", problems=problems)
    examples = list(tx.records(base + last, _EXAMPLES))
    return Upload(form=form, imported=counts, problems=problems, examples=examples)


def _other_program(
    tx: Transaction, source: ForeignSource, existing: Existing, prefix: str | None, limits: Limits, step: Step | None
) -> tuple[JsonObject, list[str], int]:
    from polymnia.engine.transfer.foreign_import import import_foreign

    now = time.time_ns() // 1000
    done = import_foreign(tx, source, existing=existing, prefix=prefix, limits=limits, changed=now, step=step)
    counts = {name: sum(kind.get(what, 0) for kind in done.kinds.values()) for what, name in _COUNTS.items()}
    left_out = [reason if count == 1 else f"{count:,} × {reason}" for reason, count in done.dropped.items()]
    return {**counts, "relations_new": done.relations, "relations_known": done.relations_known}, left_out, done.found


def _graph(tx: Transaction, data: bytes, name: str, existing: Existing, limits: Limits) -> tuple[JsonObject, list[str]]:
    problems = []
    try:
        graph: GraphFile = read(data, name, limits=limits)
    except BrokenFile as e:
        graph = recover(data, name, limits=limits)
        problems.append(e.message)
    problems += [f"{note.where}: {note.why}" for note in graph.report.refused]
    return msgspec.to_builtins(import_graph(tx, graph, existing=existing)), problems
