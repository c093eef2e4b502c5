"""Import and export of graphs, archives and project files. The format of an import is detected by its content."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
import tempfile
from argparse import Namespace
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from typing import IO

import msgspec

from polymnia.app import limits
from polymnia.cli import foreign
from polymnia.cli.console import CommandResult, bar, check_target, counted, dim, on_one_line, open_existing, red, strong
from polymnia.cli.history import instant
from polymnia.engine.memory import Memory
from polymnia.engine.transfer import archives, project_import
from polymnia.engine.transfer.detection import (
    CHAT_KEYS,
    GRAPH_SIGN,
    START,
    Detected,
    detect,
    recognize,
)
from polymnia.engine.transfer.foreign import recognition
from polymnia.engine.transfer.formats.graph import GraphFile, GraphForm, read, recover
from polymnia.engine.transfer.formats.graph_items import GraphNote
from polymnia.engine.transfer.formats.project import ProjectForm
from polymnia.engine.transfer.formats.project_csv import has_content
from polymnia.engine.transfer.graphs import ImportedGraph, export_graph
from polymnia.errors import BrokenFile, ExportFailed, Forbidden, ImportFailed, Invalid
from polymnia.models import DEFAULT_SCOPE, JsonObject
from polymnia.settings import Settings

_SHOWN = 20
_UNDO = "`polymnia undo` takes the whole import back."
_UNCHANGED = "So nothing was changed."
_OF_ARCHIVES_IN = ("strategy", "prefix", "no_validate")
_OF_ARCHIVES_OUT = ("scope", "format", "gzip", "no_associations")
_MERGING: dict[str, project_import.Merging] = {"merge": "merge", "replace": "replace", "keep": "skip_existing"}


def import_file(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Import a file or folder of any known format, and report what was imported, repaired and refused."""
    if arguments.watch or os.path.isdir(arguments.path):
        return _import_folder(arguments, chosen)
    with _readable(arguments.path, chosen) as (folder, name):
        with open(os.path.join(folder, name), "rb") as file:
            start = file.read(START)
            found = detect(start)
            if (
                not arguments.archive
                and (result := _import_foreign(arguments, chosen, folder, name, found)) is not None
            ):
                return result
            if arguments.archive or found.kind == "archive":
                _only(arguments, "with a graph or a project", "existing")
                return _import_archive(arguments, chosen, folder, name)
            if found.kind not in ("graph?", "project"):
                raise _unknown(arguments.path, *_described_kind(found))
            data = start + file.read() if found.kind == "graph?" else b""
        form = recognize(data, arguments.path) if found.kind == "graph?" else found.form or "json"
        if form is None:
            raise _unknown(arguments.path, _described(data))
        if form == "archive":
            return _import_archive(arguments, chosen, folder, name)
        _only(arguments, "with an archive or another program's file", *_OF_ARCHIVES_IN)
        if form == "graph":
            return _import_graph(arguments, chosen, data)
        return _import_project(arguments, chosen, folder, name, form)


def _import_folder(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Import a folder of notes or an export that was unpacked; with --watch, and keep following it."""
    _only(arguments, "with an archive", "archive", "strategy", "no_validate")
    if arguments.watch:
        if not os.path.isdir(arguments.path):
            raise Invalid(f"--watch follows a folder, and {arguments.path} is none", hint="Name a folder of Markdown.")
        return foreign.watch(arguments, chosen)
    source = recognition.recognize(arguments.path, chosen.max_import_bytes)
    if source is None:
        raise _unknown(
            arguments.path, "a folder without pages of Markdown or JSON of a known export", _files_in(arguments.path)
        )
    root = os.path.realpath(arguments.path)
    return foreign.import_source(arguments, chosen, source, os.stat(root).st_mtime_ns // 1000, root)


def _files_in(folder: str) -> str:
    """The advice to name a file of a folder, for forms that are imported as files alone."""
    with os.scandir(folder) as entries:
        names = sorted(entry.path for entry in entries if entry.is_file() and not entry.name.startswith("."))
    return f"If it is one of its files, name that: {', '.join(names[:3])}{' …' * (len(names) > 3)}" if names else ""


def _import_foreign(
    arguments: Namespace, chosen: Settings, folder: str, name: str, found: Detected
) -> CommandResult | None:
    """Import a file of another program; None if it is none."""
    if found.kind not in ("graph?", "database", "zip", "gzip") and found.form != "zip":
        return None
    path = os.path.join(folder, name)
    try:
        source = recognition.recognize(path, chosen.max_import_bytes)
    except Invalid as e:
        raise ImportFailed(e.message, hint=e.hint) from e
    if source is None:
        return None
    _only(arguments, "with an archive", "strategy", "no_validate")
    return foreign.import_source(arguments, chosen, source, os.stat(path).st_mtime_ns // 1000, None)


def _only(arguments: Namespace, when: str, *names: str) -> None:
    """Refuse options that do not apply instead of ignoring them."""
    for name in names:
        if getattr(arguments, name):
            option = f"--{name.replace('_', '-')}"
            raise Invalid(f"{option} goes only {when}", field=name, hint=f"Leave out {option}.")


@contextmanager
def _readable(path: str, chosen: Settings) -> Iterator[tuple[str, str]]:
    """The folder and name of a file that can be read more than once; a pipe is copied to a temporary file."""
    if path != "-":
        try:
            mode = os.stat(path).st_mode
        except OSError as e:
            raise Forbidden(f"Cannot read {path}: {e.strerror}", hint="Check the path and try again.") from e
        if stat.S_ISREG(mode):
            yield os.path.split(os.path.realpath(path))
            return
        if stat.S_ISDIR(mode):
            raise Forbidden(f"Cannot read {path}: it is a folder", hint="Name the file in it.")  # a file a moment ago
    with tempfile.TemporaryDirectory(prefix="polymnia-") as folder:
        with open(os.path.join(folder, "archive"), "wb") as draft:
            if path == "-":
                _copy(sys.stdin.buffer, draft, chosen)
            else:
                with open(path, "rb") as source:
                    _copy(source, draft, chosen)
        yield folder, "archive"


def _copy(source: IO[bytes], draft: IO[bytes], chosen: Settings) -> None:
    left = chosen.max_import_bytes
    while piece := source.read(1 << 20):
        left -= len(piece)
        if left < 0:
            raise ImportFailed(
                f"The archive is larger than {chosen.max_import_bytes:,} bytes (setting max_import_bytes)",
                hint="Raise the setting if you trust where it comes from.",
            )
        draft.write(piece)


# ── graphs ───────────────────────────────────────────────────────────────────────────────────────────────


def _import_graph(arguments: Namespace, chosen: Settings, data: bytes) -> CommandResult:
    path = arguments.path
    damage = None
    try:
        graph = read(data, path, limits=limits(chosen))
    except BrokenFile as e:
        graph, damage = recover(data, path, limits=limits(chosen)), _damage(data, e)
    report = graph.report
    if report.refused and not report.entities and not report.relations:
        first, count = report.refused[0], counted(len(report.refused), "item")
        raise _unknown(path, f"{_described(data)}: none of its {count} is a memory ({first.where}: {first.why})")
    del data
    if graph.extra:
        keys = ", ".join(map(repr, graph.extra))
        report.refused.append(GraphNote("the document", f"Not imported, for it is no memory: {keys}."))
    with foreign.memory_to_fill(arguments, chosen) as memory, bar("Importing") as step:
        done = memory.import_graph(graph, existing=arguments.existing or "merge", dry_run=arguments.dry_run, step=step)
    return CommandResult(
        _graph_data(graph, done, damage), _graph_lines(path, graph, done, damage, dry_run=arguments.dry_run)
    )


def _damage(data: bytes, e: BrokenFile) -> str:
    """Describe the damage of a file for its user."""
    last = data.rstrip()
    if e.details.get("line") == last.count(b"\n") + 1 and last[-1:] not in (b"}", b"]"):
        return f"it ends in the middle of line {e.details['line']}, as if it had not been copied whole"
    return e.message.partition("storage file: ")[2] or e.message


def _unsearched(graph: GraphFile) -> dict[str, int]:
    """Count the fields a graph does not define: they are stored with their item but not searched."""
    keys = Counter(key for entity in graph.entities for key in entity.extra)
    keys.update(key for link in graph.relations for key in link[3])
    return dict(keys.most_common())


def _graph_data(graph: GraphFile, done: ImportedGraph, damage: str | None) -> JsonObject:
    report = msgspec.to_builtins(graph.report)
    counts = {name: report[name] for name in ("entities", "relations", "observations", "dangling")}
    return {
        "file": {"form": graph.form, **counts, "damage": damage},
        "imported": msgspec.to_builtins(done),
        "repaired": report["repaired"],
        "refused": report["refused"],
        "dropped": Counter(note.why for note in graph.report.refused),
        "unsearched": _unsearched(graph),
    }


def _graph_lines(
    path: str, graph: GraphFile, done: ImportedGraph, damage: str | None, *, dry_run: bool
) -> Iterator[str]:
    report = graph.report
    yield (
        f"{strong(path)} holds {counted(report.entities, 'entity')} with "
        f"{counted(report.observations, 'observation')} and {counted(report.relations, 'relation')}."
    )
    if damage:
        taken = "would be" if dry_run else "was"
        yield red(f"The file is damaged: {damage}. It was left as it is; what could be read {taken} taken.")
    if report.dangling:
        yield f"An end that the file does not have: {counted(report.dangling, 'relation')}, kept all the same."
    if dry_run:
        yield foreign.DRY_RUN
    yield (
        f"Entities: {done.entities_new:,} new, {done.entities_extended:,} extended, "
        f"{done.entities_replaced:,} replaced, {done.entities_unchanged:,} unchanged. "
        f"Observations: {done.observations_new:,} new. "
        f"Relations: {done.relations_new:,} new, {done.relations_known:,} known already."
    )
    changed = bool(done.entities_new or done.observations_new or done.entities_replaced or done.relations_new)
    if not changed and not dry_run:
        yield _UNCHANGED
    if unsearched := _unsearched(graph):
        keys = ", ".join(f"{key!r} ({count:,})" for key, count in list(unsearched.items())[:_SHOWN])
        yield f"Fields that a graph has no place for, kept with their items but not searched: {keys}."
    for title, notes in (("Repaired", report.repaired), ("Refused", report.refused)):
        if notes:
            yield f"{title}: {len(notes):,}"
        for reason, count in Counter(note.why for note in notes).items() if len(notes) > _SHOWN else ():
            yield f"  {count:,} × {on_one_line(reason)}"
        yield from _first([f"{note.where}: {note.why}" for note in notes], dim)
    if changed and not dry_run:
        yield dim(_UNDO)


def _first(texts: list[str], paint: Callable[[str], str] = str) -> Iterator[str]:
    """The first texts, and a count of the rest."""
    yield from (f"  {text}" for text in texts[:_SHOWN])
    if len(texts) > _SHOWN:
        yield paint(f"  … and {len(texts) - _SHOWN:,} more (--json lists them all)")


# ── archives ─────────────────────────────────────────────────────────────────────────────────────────────


def _import_archive(arguments: Namespace, chosen: Settings, folder: str, name: str) -> CommandResult:
    done: archives.ImportedMemories | None = None
    try:
        with foreign.memory_to_fill(arguments, chosen) as memory, bar("Importing") as step:
            memory.exports = folder
            done = memory.import_memories(
                name=name,
                strategy=arguments.strategy or "skip_duplicates",
                prefix=arguments.prefix,
                validate=not arguments.no_validate,
                dry_run=arguments.dry_run,
                step=step,
            )
        wrong = done.problems
    except ImportFailed as e:
        if not e.problems:
            raise
        wrong = e.problems
    imported = msgspec.to_builtins(done)
    if imported is not None:
        del imported["problems"]
    data = {"imported": imported, "problems": wrong}
    notes = _problem_notes(arguments.path, wrong)
    if wrong and done is None:
        notes.append("Correct them, or take the others with --no-validate.")
    lines = _archive_lines(done, wrong, dry_run=arguments.dry_run)
    return CommandResult(data, lines, notes, code=1 if wrong and not arguments.no_validate else 0)


def _archive_lines(done: archives.ImportedMemories | None, wrong: list[str], *, dry_run: bool) -> Iterator[str]:
    if done is None:
        yield red("Nothing was imported.")
        return
    if dry_run:
        yield foreign.DRY_RUN
    yield (
        f"Memories: {done.imported:,} new, {done.overwritten:,} changed, {done.skipped:,} left as they are. "
        f"Associations: {done.associations:,} new."
    )
    # While there are few, records are listed one by one below.
    listed = () if len(wrong) > _SHOWN else ("memories: ", "associations: ")
    yield from _dropped({why: count for why, count in done.dropped.items() if not why.startswith(tuple(listed))})
    if not dry_run:
        yield dim(_UNDO) if done.imported or done.overwritten or done.associations else _UNCHANGED


def _dropped(dropped: dict[str, int]) -> Iterator[str]:
    """What was not imported, with counts and reasons."""
    if dropped:
        yield f"Not taken: {sum(dropped.values()):,}"
        for reason, count in dropped.items():
            yield f"  {count:,} × {on_one_line(reason)}" if count > 1 else f"  {on_one_line(reason)}"


def _problem_notes(path: str, wrong: list[str]) -> list[str]:
    head = f"polymnia: {counted(len(wrong), 'record')} of {path} cannot be imported:"
    return [head, *_first(wrong)] if wrong else []


# ── project files ────────────────────────────────────────────────────────────────────────────────────────


def _import_project(arguments: Namespace, chosen: Settings, folder: str, name: str, form: ProjectForm) -> CommandResult:
    """Import a project file completely or not at all."""
    done: project_import.ProjectImport | None = None
    wrong: list[str] = []
    try:
        with foreign.memory_to_fill(arguments, chosen) as memory, bar("Importing") as step:
            memory.exports = folder
            # The file's ids are preserved, so that importing it twice changes nothing.
            done, _ = memory.import_project(
                form, name=name, merging=_MERGING[arguments.existing or "merge"], keep_ids=True,
                dry_run=arguments.dry_run, step=step,
            )  # fmt: skip
    except ImportFailed as e:
        if not e.problems:
            raise
        wrong = e.problems
    imported = None
    lines = [f"{strong(arguments.path)} is read as a project ({form})."]
    if done is None:
        lines.append(red("Nothing was imported."))
    else:
        if arguments.dry_run:
            lines.append(foreign.DRY_RUN)
        imported = {
            "items_new": done.imported,
            "items_updated": done.updated,
            "items_kept": done.skipped,
            "relationships_new": done.relationships,
        }
        lines.append(
            f"Items: {done.imported:,} new, {done.updated:,} updated, {done.skipped:,} left as they are. "
            f"Relationships: {done.relationships:,} new."
        )
        lines += _dropped(done.dropped)
        if not arguments.dry_run:
            lines.append(dim(_UNDO) if done.imported or done.updated or done.relationships else _UNCHANGED)
    dropped = {} if done is None else done.dropped
    data = {"file": {"form": form}, "imported": imported, "problems": wrong, "dropped": dropped}
    notes = _problem_notes(arguments.path, wrong)
    if wrong:
        notes.append("Correct them and import it again: such a file is taken whole or not at all.")
    return CommandResult(data, lines, notes, code=1 if wrong else 0)


# ── files of another kind ────────────────────────────────────────────────────────────────────────────────

_FORMS = """These can be:
  - knowledge graphs (JSON or JSON lines, as memory servers write them)
  - archives (written by `polymnia export --archive` or memory_export; JSON or YAML, also gzip)
  - project files (written by export_project_data; JSON, CSV, Markdown or zip, also gzip)
  - exports of ChatGPT and Claude (the zip, or the JSON in it), mem0, mcp-memory-service (JSON, or its SQLite store), \
Letta (archival memory, agent files)
  - a folder of Markdown, or a zip of one: Obsidian, basic-memory, `polymnia export FOLDER/`, or plain pages
  - contents of your own: a JSON list of objects or JSON lines with content or text, a table (CSV) with \
a column content or text, a \
Markdown text whose name ends in .md
To remember a text: polymnia add TEXT."""
_KINDS = {
    "store": "a Polymnia store",
    "database": "an SQLite database",
    "zip": "a zip file without a project in it",
    "pdf": "a PDF document",
    "binary": "binary data",
    "damaged gzip": "a gzip file whose data are damaged",
    "project": "a zip file",
}
_STORE_HINT = (
    "Open it with --store FILE; put it in place of your store: polymnia restore FILE; "
    "or copy its memories: polymnia export --archive --store FILE out.json."
)
_HEADING = re.compile(rb"^(?:#{1,6}|[ \t]{0,12}[-*]) \S", re.MULTILINE)
_NOT_JSON = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def _unknown(path: str, what: str, hint: str = "") -> ImportFailed:
    """The error for a file of an unknown format."""
    return ImportFailed(
        f"{path} was not imported: it is {what}, which is no form that can be imported",
        hint=(f"{hint}\n" if hint else "") + _FORMS,
    )


def _described_kind(found: Detected) -> tuple[str, str]:
    """Describe a file whose start shows an unsupported format, and say what to do with it."""
    if found.kind != "gzip":
        return _KINDS[found.kind], _STORE_HINT if found.kind == "store" else ""
    inner = detect(found.start)
    if inner.kind == "graph?":
        what = "a knowledge graph" if GRAPH_SIGN.search(found.start) else _described(found.start)
        return f"a gzip file of {what}", "Unpack it first: gunzip FILE."
    what, hint = _described_kind(inner)
    return f"a gzip file of {what}", hint


def _described(data: bytes) -> str:
    """Describe what a file of an unknown format looks like."""
    if data.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "text in UTF-16 (save it as UTF-8 and import it again)"
    text = data.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        return "an empty file"
    if text[:1] in b"{[":
        try:
            return _described_json(msgspec.json.decode(text))
        except _NOT_JSON:
            pass
        try:
            first = msgspec.json.decode(text.partition(b"\n")[0])
        except _NOT_JSON:
            return f"JSON that breaks off or is damaged{_place_of_damage(text)}, and nothing in it looks like a memory"
        return f"JSON lines; the first is {_described_json(first)}"
    line, _, rest = text.partition(b"\n")
    second = rest.partition(b"\n")[0]
    for mark in (b",", b";", b"\t", b"|"):
        names = line.decode("utf-8", "replace").split(mark.decode())
        if len(names) > 1 and has_content(names):
            return f"a table whose first row does not fit its columns {_quoted(names)} (a quotation mark left open?)"
        if line.count(mark) and line.count(mark) == second.count(mark):
            return f"a table with the columns {_quoted(names)}"
    return "a Markdown text" if _HEADING.search(text[:START]) else "a text"


def _place_of_damage(text: bytes) -> str:
    try:
        json.loads(text)
    except json.JSONDecodeError as e:
        return f" at line {e.lineno:,}, column {e.colno:,}"
    except (ValueError, RecursionError):
        pass
    return ""


def _described_json(value: object) -> str:
    one = value[0] if isinstance(value, list) and value else value
    if isinstance(one, dict):
        if one.keys() & CHAT_KEYS or {"role", "content"} <= one.keys():
            return "a conversation export"
        keys = f"with the keys {_quoted(list(one))}" if one else "without a key"
        return f"a JSON list of objects {keys}" if isinstance(value, list) else f"a JSON object {keys}"
    return "a JSON list" if isinstance(value, list) else "a JSON value"


def _quoted(names: list[str]) -> str:
    shown = [repr(name.strip().strip('"'))[:60] for name in names[:6]]
    return ", ".join(shown) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


# ── exports ──────────────────────────────────────────────────────────────────────────────────────────────


def export_file(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Export the memory as a graph file or an archive, completely or not at all."""
    if arguments.path == "-":
        _only(arguments, "with a file: - writes the export itself", "json", "force")
    if arguments.archive:
        _only(arguments, "without --archive", "at")
        return _export_archive(arguments, chosen)
    _only(arguments, "with --archive", *_OF_ARCHIVES_OUT)
    if arguments.markdown or arguments.path.endswith(("/", os.sep)) or os.path.isdir(arguments.path):
        _only(arguments, "without --markdown", "at")
        return foreign.export_pages(arguments, chosen)
    return _export_graph(arguments, chosen)


def _export_graph(arguments: Namespace, chosen: Settings) -> CommandResult:
    path = arguments.path
    with open_existing(chosen) as memory:
        at = None if arguments.at is None else instant(memory, arguments.at)
        if path == "-":
            with closing(_pieces(memory, "document", at)) as pieces:
                sys.stdout.buffer.writelines(pieces)
            return CommandResult()
        form: GraphForm = "lines" if path.endswith(".jsonl") else "document"
        if not path.endswith((".json", ".jsonl")):
            raise Invalid(
                f"Cannot tell the format of {path}",
                hint="Let the name end in .json or .jsonl, or in / for a folder of Markdown.",
            )
        check_target(path, arguments.force, chosen)
        draft = f"{path}.{os.getpid()}.tmp"
        try:
            with open(draft, "wb") as file, closing(_pieces(memory, form, at)) as pieces:
                size = sum(map(file.write, pieces))
                file.flush()
                os.fsync(file.fileno())
            os.replace(draft, path)
        except OSError as e:
            where = os.path.dirname(os.path.abspath(path))
            hint = f"Check the folder {where}, its permissions and free space, or name another file."
            raise Forbidden(f"Cannot write {path}: {e.strerror}", hint=hint) from e
        finally:
            if os.path.exists(draft):
                os.unlink(draft)
        entities, relations = memory.count()
        filed = any(scope.memories for scope in memory.scopes() if scope.path != DEFAULT_SCOPE)
    counts = f"{counted(entities, 'entity')} and {counted(relations, 'relation')}, " if at is None else ""
    lost = "A graph file has no scopes, tags, ids or times; `polymnia export --archive` keeps them."
    return CommandResult(
        {"entities": entities, "relations": relations, "bytes": size, "file": path},
        [f"Exported {counts}{size:,} bytes, to {strong(path)}."],
        [lost] if filed else [],
    )


def _pieces(memory: Memory, form: GraphForm, at: int | None) -> Generator[bytes, None, None]:
    """The pieces of a graph file. What fails in writing them is no fault of the store they are read from."""
    with memory.store.read(memory.project) as snapshot:
        yield from export_graph(snapshot, form, at=at)


def _export_archive(arguments: Namespace, chosen: Settings) -> CommandResult:
    path = arguments.path
    name = path.lower()
    by_name = "yaml" if name.removesuffix(".gz").endswith((".yaml", ".yml")) else "json"
    options = {
        "scope": arguments.scope,
        "associations": not arguments.no_associations,
        "form": arguments.format or by_name,
        "gzip": arguments.gzip or name.endswith(".gz"),
    }
    with open_existing(chosen) as memory:
        if path == "-":
            with tempfile.TemporaryDirectory(prefix="polymnia-") as folder:
                memory.exports = folder
                memory.export_memories(name="archive", **options)
                with open(os.path.join(folder, "archive"), "rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)
            return CommandResult()
        check_target(path, arguments.force, chosen)
        # Symlinks on the path are the user's own and are followed.
        memory.exports, name = os.path.split(os.path.realpath(path))
        if not os.path.isdir(memory.exports):
            raise ExportFailed(
                f"Cannot write {path}: there is no folder {memory.exports}", hint="Make the folder first."
            )
        with bar("Exporting") as step:
            done = memory.export_memories(name=name, step=step, **options)
    data = {"memories": done.count, "associations": done.associations, "bytes": done.bytes, "file": path}
    what = f"{counted(done.count, 'memory')} and {counted(done.associations, 'association')}"
    return CommandResult(data, [f"Exported {what}, {done.bytes:,} bytes, to {strong(path)}."])
