"""Archives in and out: every memory with all that is known of it, in a file of the user's own choice."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import msgspec

from polymnia.app import default_store, memory
from polymnia.cli.output import bar, counted, dim, on_one_line, print_dropped, print_json, red, strong
from polymnia.cli.reading import check_target, existing
from polymnia.engine import scopes
from polymnia.engine.transfer import archive
from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.memories_export import Exported
from polymnia.engine.transfer.memories_import import ImportedMemories, problems
from polymnia.errors import ExportFailed, Forbidden, ImportFailed, Invalid
from polymnia.settings import Settings

__all__ = ["export_archive", "import_archive", "readable"]

_SHOWN = 20


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────────


def export_archive(arguments: Namespace, chosen: Settings) -> int:
    """Write an archive, whole or not at all."""
    path = arguments.path
    form, gzip = _form(path)
    given = {"form": arguments.format or form, "gzip": arguments.gzip or gzip}
    with existing(chosen) as held:
        told = {"scope": arguments.scope, "associations": not arguments.no_associations, **given}
        if path == "-":
            with tempfile.TemporaryDirectory(prefix="polymnia-") as folder:
                held.exports = folder
                held.export_memories(name="archive", **told)
                with open(os.path.join(folder, "archive"), "rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)
            return 0
        held.exports, name = _place(path, arguments.force, chosen)
        with bar("Exporting") as step:
            done = held.export_memories(name=name, step=step, **told)
    if arguments.json:
        _print_exported(done, path)
        return 0
    what = f"{counted(done.count, 'memory')} and {counted(done.associations, 'association')}"
    print(f"Exported {what}, {done.bytes:,} bytes, to {strong(path)}.")
    return 0


def _print_exported(done: Exported, path: str) -> None:
    print_json({"memories": done.count, "associations": done.associations, "bytes": done.bytes, "file": path})


def _form(path: str) -> tuple[str, bool]:
    """What the name of a file says about its format, and whether it is compressed."""
    name = path.lower()
    gzip = name.endswith(".gz")
    return "yaml" if name.removesuffix(".gz").endswith((".yaml", ".yml")) else "json", gzip


def _place(path: str, force: bool, chosen: Settings) -> tuple[str, str]:
    """The folder and the name of a file to write; links on the way are the user's own and are followed."""
    real = os.path.realpath(path)
    check_target(path, force, chosen)
    folder, name = os.path.split(real)
    if not os.path.isdir(folder):
        raise ExportFailed(f"Cannot write {path}: there is no folder {folder}", hint="Make the folder first.")
    return folder, name


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────────


def import_archive(arguments: Namespace, chosen: Settings, folder: str, name: str) -> int:
    """Take in an archive, and report what was taken, what was there, and what cannot be taken."""
    path = arguments.path
    done, counts = None, dict[str, int]()
    try:
        if arguments.dry_run:
            counts, wrong = _looked_through(folder, name, arguments.prefix, chosen)
        else:
            done = _taken(folder, name, arguments, chosen)
            wrong = done.problems
    except ImportFailed as e:
        if not e.problems:
            raise
        wrong = e.problems
    if arguments.json:
        print_json(_report(done, counts, wrong))
    else:
        _print_report(path, done, counts, wrong)
    return 1 if wrong and not arguments.no_validate else 0


@contextmanager
def readable(path: str, chosen: Settings) -> Iterator[tuple[str, str]]:
    """The folder and name of a file that can be read more than once; what comes through a pipe is set down first."""
    if path != "-":
        try:
            mode = os.stat(path).st_mode
        except OSError as e:
            raise Forbidden(f"Cannot read {path}: {e.strerror}", hint="Check the path and try again.") from e
        if stat.S_ISREG(mode):
            yield os.path.split(os.path.realpath(path))
            return
        if stat.S_ISDIR(mode):
            raise Forbidden(f"Cannot read {path}: it is a folder", hint="Name the file in it.")
    with tempfile.TemporaryDirectory(prefix="polymnia-") as folder:
        with open(os.path.join(folder, "archive"), "wb") as draft:
            if path == "-":
                _set_down(sys.stdin.buffer, draft, chosen)
            else:
                with open(path, "rb") as source:
                    _set_down(source, draft, chosen)
        yield folder, "archive"


def _set_down(source: Any, draft: Any, chosen: Settings) -> None:
    left = chosen.max_import_bytes
    while piece := source.read(1 << 20):
        left -= len(piece)
        if left < 0:
            raise ImportFailed(
                f"The archive is larger than {chosen.max_import_bytes:,} bytes (setting max_import_bytes)",
                hint="Raise the setting if you trust where it comes from.",
            )
        draft.write(piece)


def _taken(folder: str, name: str, arguments: Namespace, chosen: Settings) -> ImportedMemories:
    with memory(chosen, f"import of {os.path.basename(arguments.path)}") as held, bar("Importing") as step:
        held.exports = folder
        return held.import_memories(
            name=name,
            strategy=arguments.strategy or "skip_duplicates",
            prefix=arguments.prefix,
            validate=not arguments.no_validate,
            step=step,
        )


def _looked_through(folder: str, name: str, prefix: str | None, chosen: Settings) -> tuple[dict[str, int], list[str]]:
    """How much an archive holds, and what of it cannot be imported. Makes no store where there is none."""
    below = None if prefix is None else scopes.legal_scope(prefix, "prefix")
    bounds = archive.ArchiveLimits(total=chosen.max_import_bytes, text=chosen.max_text_bytes)
    counts = {"memories": 0, "associations": 0}
    try:
        with Folder(folder).open(name) as file:
            for item in archive.read(file, bounds):
                if item.section in counts:
                    counts[item.section] += 1
    except Invalid as e:
        raise ImportFailed(e.message, hint=e.hint) from e
    with ExitStack() as stack:
        if not os.path.exists(chosen.store or default_store()):
            chosen.store = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "memory.db")
        held = stack.enter_context(memory(chosen, "cli"))
        snapshot = stack.enter_context(held.store.read(held.project))
        return counts, problems(lambda: Folder(folder).open(name), snapshot, held.limits, below)[0]


def _report(done: ImportedMemories | None, counts: dict[str, int], wrong: list[str]) -> dict[str, Any]:
    told = None if done is None else msgspec.to_builtins(done)
    if told is not None:
        del told["problems"]
    return {"file": counts or None, "imported": told, "problems": wrong}


def _print_report(path: str, done: ImportedMemories | None, counts: dict[str, int], wrong: list[str]) -> None:
    if counts:
        what = f"{counted(counts['memories'], 'memory')} and {counted(counts['associations'], 'association')}"
        print(f"{strong(path)} holds {what}.")
    if done is not None:
        print(
            f"Memories: {done.imported:,} new, {done.overwritten:,} changed, {done.skipped:,} left as they are. "
            f"Associations: {done.associations:,} new."
        )
        # Records are listed below one by one, while there are few.
        listed = () if len(wrong) > _SHOWN else ("memories: ", "associations: ")
        print_dropped({why: count for why, count in done.dropped.items() if not why.startswith(tuple(listed))})
    elif counts:
        print("Nothing was imported (dry run).")
    else:
        print(red("Nothing was imported."))
    sys.stdout.flush()
    if wrong:
        what = "record" if len(wrong) == 1 else "records"
        print(f"polymnia: {len(wrong):,} {what} of {path} cannot be imported:", file=sys.stderr)
        for one in wrong[:_SHOWN]:
            print(f"  {on_one_line(one)}", file=sys.stderr)
        if len(wrong) > _SHOWN:
            print(f"  … and {len(wrong) - _SHOWN:,} more (--json lists them all)", file=sys.stderr)
        if done is None and not counts:
            print("Correct them, or take the others with --no-validate.", file=sys.stderr)
    if done is not None and (done.imported or done.overwritten or done.associations):
        print(dim("`polymnia undo` takes the whole import back."))
