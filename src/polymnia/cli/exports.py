"""Files out: the memory as a graph file, or as an archive with all that is known of each memory."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from argparse import Namespace

from polymnia.cli.console import bar, check_target, counted, existing, print_json, strong
from polymnia.cli.history import instant
from polymnia.cli.imports import only_for
from polymnia.engine.transfer.formats.graph import GraphForm
from polymnia.engine.transfer.graphs import export_graph
from polymnia.errors import ExportFailed, Forbidden, Invalid
from polymnia.models import DEFAULT_SCOPE
from polymnia.settings import Settings

_OF_ARCHIVES = {"scope": "--scope", "format": "--format", "gzip": "--gzip", "no_associations": "--no-associations"}


def export_file(arguments: Namespace, chosen: Settings) -> int:
    """Write the memory as a graph file or an archive, whole or not at all."""
    if arguments.archive:
        only_for(arguments, "without --archive", at="--at")
        return _export_archive(arguments, chosen)
    only_for(arguments, "with --archive", **_OF_ARCHIVES)
    return _export_graph(arguments, chosen)


def _export_graph(arguments: Namespace, chosen: Settings) -> int:
    path = arguments.path
    with existing(chosen) as held:
        at = None if arguments.at is None else instant(held, arguments.at)
        if path == "-":
            with held.store.read(held.project) as snapshot:
                for piece in export_graph(snapshot, "document", at=at):
                    sys.stdout.buffer.write(piece)
            return 0
        form: GraphForm = "lines" if path.endswith(".jsonl") else "document"
        if not path.endswith((".json", ".jsonl")):
            raise Invalid(f"Cannot tell the format of {path}", hint="Let the name end in .json or .jsonl.")
        check_target(path, arguments.force, chosen)
        draft = f"{path}.{os.getpid()}.tmp"
        try:
            with open(draft, "wb") as file, held.store.read(held.project) as snapshot:
                size = sum(file.write(piece) for piece in export_graph(snapshot, form, at=at))
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


def _export_archive(arguments: Namespace, chosen: Settings) -> int:
    path = arguments.path
    name = path.lower()
    by_name = "yaml" if name.removesuffix(".gz").endswith((".yaml", ".yml")) else "json"
    options = {
        "scope": arguments.scope,
        "associations": not arguments.no_associations,
        "form": arguments.format or by_name,
        "gzip": arguments.gzip or name.endswith(".gz"),
    }
    with existing(chosen) as held:
        if path == "-":
            with tempfile.TemporaryDirectory(prefix="polymnia-") as folder:
                held.exports = folder
                held.export_memories(name="archive", **options)
                with open(os.path.join(folder, "archive"), "rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)
            return 0
        check_target(path, arguments.force, chosen)
        # Links on the way are the user's own and are followed.
        held.exports, name = os.path.split(os.path.realpath(path))
        if not os.path.isdir(held.exports):
            raise ExportFailed(f"Cannot write {path}: there is no folder {held.exports}", hint="Make the folder first.")
        with bar("Exporting") as step:
            done = held.export_memories(name=name, step=step, **options)
    if arguments.json:
        print_json({"memories": done.count, "associations": done.associations, "bytes": done.bytes, "file": path})
        return 0
    what = f"{counted(done.count, 'memory')} and {counted(done.associations, 'association')}"
    print(f"Exported {what}, {done.bytes:,} bytes, to {strong(path)}.")
    return 0
