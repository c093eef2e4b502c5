"""Graph files in and out; archives have a module of their own."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any

import msgspec

from polymnia.app import limits, memory
from polymnia.cli import archives
from polymnia.cli.output import bar, counted, dim, print_json, red, strong
from polymnia.cli.past import instant
from polymnia.engine.transfer.exporting import export_graph
from polymnia.engine.transfer.graph_file import Finding, Form, GraphFile, read, recover
from polymnia.engine.transfer.importing import Imported, import_graph
from polymnia.errors import BrokenFile, Forbidden, Invalid
from polymnia.models import DEFAULT_SCOPE
from polymnia.settings import Settings

__all__ = ["export_file", "import_file"]

_SHOWN = 20


def import_file(arguments: Namespace, chosen: Settings) -> int:
    """Take in a graph file, and report what was taken, repaired and refused, and why; or an archive."""
    if arguments.archive:
        _only_for(arguments, "without --archive", existing="--existing")
        return archives.import_archive(arguments, chosen)
    _only_for(arguments, "with --archive", strategy="--strategy", prefix="--prefix", no_validate="--no-validate")
    path = arguments.path
    data = _bytes(path)
    if archives.is_archive(data):
        raise Invalid(f"{path} is an archive", hint="Add --archive to import it.")
    damage = None
    try:
        graph = read(data, path, limits=limits(chosen))
    except BrokenFile as e:
        graph, damage = recover(data, path, limits=limits(chosen)), e.message
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


def _only_for(arguments: Namespace, when: str, **options: str) -> None:
    """Refuse options that say nothing here, instead of passing them over."""
    for name, option in options.items():
        if getattr(arguments, name):
            raise Invalid(f"{option} goes only {when}", field=name, hint=f"Leave out {option}.")


def _bytes(path: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read()
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as e:
        raise Forbidden(f"Cannot read {path}: {e.strerror}", hint="Check the path and try again.") from e


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
    with memory(chosen, "cli", create=False) as held:
        at = None if arguments.at is None else instant(held, arguments.at)
        if path == "-":
            for piece in export_graph(held, "document", at=at):
                sys.stdout.buffer.write(piece)
            return 0
        form: Form = "lines" if path.endswith(".jsonl") else "document"
        if not path.endswith((".json", ".jsonl")):
            raise Invalid(f"Cannot tell the format of {path}", hint="Let the name end in .json or .jsonl.")
        if os.path.exists(path) and not arguments.force:
            raise Invalid(f"{path} exists", hint="Choose another name, or pass --force to replace it.")
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
            raise Forbidden(f"Cannot write {path}: {e.strerror}", hint="Check the folder and free space.") from e
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
