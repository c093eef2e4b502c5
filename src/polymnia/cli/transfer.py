"""Graph files in and out; archives have a module of their own."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections import Counter
from typing import Any

import msgspec

from polymnia.app import limits, memory
from polymnia.cli import archives
from polymnia.cli.output import bar, counted, dim, on_one_line, print_json, red, strong
from polymnia.cli.past import instant
from polymnia.cli.projects import import_project_file
from polymnia.cli.reading import check_target, existing
from polymnia.engine.transfer.exporting import export_graph
from polymnia.engine.transfer.graph_file import Finding, Form, GraphFile, read, recover
from polymnia.engine.transfer.importing import Imported, import_graph
from polymnia.engine.transfer.recognizing import (
    FORMS,
    START,
    described,
    is_graph,
    is_memories,
    project_form,
    recognized,
)
from polymnia.errors import BrokenFile, Forbidden, ImportFailed, Invalid
from polymnia.models import DEFAULT_SCOPE
from polymnia.settings import Settings

__all__ = ["export_file", "import_file"]

_SHOWN = 20


def import_file(arguments: Namespace, chosen: Settings) -> int:
    """Take in a file of any form we know, told by its content, and report what was taken, repaired and refused."""
    with archives.readable(arguments.path, chosen) as (folder, name):
        with open(os.path.join(folder, name), "rb") as file:
            start = file.read(START)
            found = recognized(start)
            if arguments.archive or found.kind == "archive":
                _only_for(arguments, "with a graph or a project", existing="--existing")
                return archives.import_archive(arguments, chosen, folder, name)
            of_archives = {"strategy": "--strategy", "prefix": "--prefix", "no_validate": "--no-validate"}
            if found.kind == "project":
                _only_for(arguments, "with an archive", **of_archives)
                return import_project_file(arguments, chosen, folder, name, found.form or "json")
            if found.kind == "other":
                raise _unknown(arguments.path, found.what, found.hint)
            data = start + file.read()
        if not is_graph(data):
            if is_memories(data):
                return archives.import_archive(arguments, chosen, folder, name)
            if (form := project_form(data, arguments.path)) is not None:
                _only_for(arguments, "with an archive", **of_archives)
                return import_project_file(arguments, chosen, folder, name, form)
            raise _unknown(arguments.path, described(data))
        _only_for(arguments, "with an archive", **of_archives)
        return _import_graph(arguments, chosen, data)


def _unknown(path: str, what: str, hint: str | None = None) -> ImportFailed:
    """The refusal of a file that is none of ours."""
    forms = "".join(f"\n  - {form}" for form in FORMS)
    return ImportFailed(
        f"{path} was not imported: it is {what}, which is no form that can be imported",
        hint=(f"{hint}\n" if hint else "") + f"These can be:{forms}\nTo remember a text: polymnia add TEXT.",
    )


def _import_graph(arguments: Namespace, chosen: Settings, data: bytes) -> int:
    path = arguments.path
    damage = None
    try:
        graph = read(data, path, limits=limits(chosen))
    except BrokenFile as e:
        graph, damage = recover(data, path, limits=limits(chosen)), _damage(data, e)
    if graph.report.refused and not graph.report.entities and not graph.report.relations:
        first = graph.report.refused[0]
        count = counted(len(graph.report.refused), "item")
        raise _unknown(path, f"{described(data)}: none of its {count} is a memory ({first.where}: {first.why})")
    del data
    if graph.extra:
        keys = ", ".join(map(repr, graph.extra))
        graph.report.refused.append(Finding("the document", f"Not imported, for it is no memory: {keys}."))
    done = None
    if not arguments.dry_run:
        with memory(chosen, f"import of {os.path.basename(path)}") as held, bar("Importing") as step:
            done = import_graph(held, graph, existing=arguments.existing or "merge", step=step)
    if arguments.json:
        print_json(_report(graph, done, damage))
    else:
        _print_report(path, graph, done, damage)
    return 0


def _damage(data: bytes, e: BrokenFile) -> str:
    """What is wrong with a damaged file, in words for whoever has it before them."""
    last = data.rstrip()
    if e.details.get("line") == last.count(b"\n") + 1 and last[-1:] not in (b"}", b"]"):
        return f"it ends in the middle of line {e.details['line']}, as if it had not been copied whole"
    return e.message.partition("storage file: ")[2] or e.message


def _only_for(arguments: Namespace, when: str, **options: str) -> None:
    """Refuse options that say nothing here, instead of passing them over."""
    for name, option in options.items():
        if getattr(arguments, name):
            raise Invalid(f"{option} goes only {when}", field=name, hint=f"Leave out {option}.")


def _reasons(findings: list[Finding]) -> dict[str, int]:
    """How often each reason was given."""
    return dict(Counter(finding.why for finding in findings))


def _aside(graph: GraphFile) -> dict[str, int]:
    """The fields a graph has no place for: they stay with their item, and no search reads them."""
    keys = Counter(key for entity in graph.entities for key in entity.extra)
    keys.update(key for link in graph.relations for key in link[3])
    return dict(keys.most_common())


def _report(graph: GraphFile, done: Imported | None, damage: str | None) -> dict[str, Any]:
    report = graph.report
    return {
        "file": {
            "form": graph.form,
            "entities": report.entities,
            "relations": report.relations,
            "observations": report.observations,
            "dangling": report.dangling,
            "damage": damage,
        },
        "imported": None if done is None else msgspec.to_builtins(done),
        "repaired": [msgspec.to_builtins(finding) for finding in report.repaired],
        "refused": [msgspec.to_builtins(finding) for finding in report.refused],
        "dropped": _reasons(report.refused),
        "unsearched": _aside(graph),
    }


def _print_report(path: str, graph: GraphFile, done: Imported | None, damage: str | None) -> None:
    report = graph.report
    print(
        f"{strong(path)} holds {counted(report.entities, 'entity')} with "
        f"{counted(report.observations, 'observation')} and {counted(report.relations, 'relation')}."
    )
    if damage:
        print(red(f"The file is damaged: {damage}. It was left as it is; what could be read was taken."))
    if report.dangling:
        print(f"An end that the file does not have: {counted(report.dangling, 'relation')}, kept all the same.")
    if done is None:
        print("Nothing was imported (dry run).")
    else:
        print(
            f"Entities: {done.entities_new:,} new, {done.entities_extended:,} extended, "
            f"{done.entities_replaced:,} replaced, {done.entities_unchanged:,} unchanged. "
            f"Observations: {done.observations_new:,} new. "
            f"Relations: {done.relations_new:,} new, {done.relations_known:,} known already."
        )
        if not _changed(done):
            print("So nothing was changed.")
    if aside := _aside(graph):
        keys = ", ".join(f"{key!r} ({count:,})" for key, count in list(aside.items())[:_SHOWN])
        print(f"Fields that a graph has no place for, kept with their items but not searched: {keys}.")
    _print_findings("Repaired", report.repaired)
    _print_findings("Refused", report.refused)
    if done is not None and _changed(done):
        print(dim("`polymnia undo` takes the whole import back."))


def _changed(done: Imported) -> bool:
    return bool(done.entities_new or done.observations_new or done.entities_replaced or done.relations_new)


def _print_findings(title: str, findings: list[Finding]) -> None:
    if not findings:
        return
    print(f"{title}: {len(findings):,}")
    for reason, count in _reasons(findings).items() if len(findings) > _SHOWN else ():
        print(f"  {count:,} × {on_one_line(reason)}")
    for finding in findings[:_SHOWN]:
        print(f"  {finding.where}: {finding.why}")
    if len(findings) > _SHOWN:
        print(dim(f"  … and {len(findings) - _SHOWN:,} more (--json lists them all)"))


def export_file(arguments: Namespace, chosen: Settings) -> int:
    """Write the memory as a graph file, whole or not at all; or as an archive."""
    if arguments.archive:
        _only_for(arguments, "without --archive", at="--at")
        return archives.export_archive(arguments, chosen)
    _only_for(
        arguments, "with --archive", scope="--scope", format="--format", gzip="--gzip",
        no_associations="--no-associations",
    )  # fmt: skip
    path = arguments.path
    with existing(chosen) as held:
        at = None if arguments.at is None else instant(held, arguments.at)
        if path == "-":
            for piece in export_graph(held, "document", at=at):
                sys.stdout.buffer.write(piece)
            return 0
        form: Form = "lines" if path.endswith(".jsonl") else "document"
        if not path.endswith((".json", ".jsonl")):
            raise Invalid(f"Cannot tell the format of {path}", hint="Let the name end in .json or .jsonl.")
        check_target(path, arguments.force, chosen)
        draft = f"{path}.{os.getpid()}.tmp"
        try:
            with open(draft, "wb") as file:
                size = 0
                for piece in export_graph(held, form, at=at):
                    size += file.write(piece)
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
        entities, relations = held.count()
        filed = any(scope.memories for scope in held.scopes() if scope.path != DEFAULT_SCOPE)
    if arguments.json:
        print_json({"entities": entities, "relations": relations, "bytes": size, "file": path})
        return 0
    counts = f"{counted(entities, 'entity')} and {counted(relations, 'relation')}, " if at is None else ""
    print(f"Exported {counts}{size:,} bytes, to {strong(path)}.")
    if filed:
        lost = "A graph file has no scopes, tags, ids or times; `polymnia export --archive` keeps them."
        print(lost, file=sys.stderr)
    return 0
