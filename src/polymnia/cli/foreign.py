"""Import from other programs, following a folder, and export to pages of Markdown."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import msgspec

from polymnia.app import has_no_store, open_memory
from polymnia.cli.console import CommandResult, as_json_text, bar, counted, dim, on_one_line, open_existing, red, strong
from polymnia.engine.memory import Memory
from polymnia.engine.transfer.foreign.items import ForeignSource
from polymnia.engine.transfer.foreign_import import ForeignImport
from polymnia.engine.transfer.graphs import Existing
from polymnia.engine.transfer.watching import FolderWatch
from polymnia.errors import Busy, Interrupted, Invalid
from polymnia.models import JsonObject
from polymnia.operation import credential_notes
from polymnia.settings import Settings

DRY_RUN = "Nothing was imported (dry run). An import would do this:"
_SHOWN = 20
_UNDO = "`polymnia undo` takes the whole import back."
_WORDS = {"new": "new", "changed": "changed", "unchanged": "unchanged", "kept": "kept as they are here"}


def import_source(
    arguments: Namespace, chosen: Settings, source: ForeignSource, changed: int, root: str | None
) -> CommandResult:
    """Import a recognized source and report what became of each kind of memory in it."""
    existing: Existing = arguments.existing or "merge"
    with memory_to_fill(arguments, chosen) as memory, bar("Importing") as step:
        gone = _gone(memory, root)
        done = memory.import_foreign(
            source, existing=existing, prefix=arguments.prefix, changed=changed, root=root, gone=gone,
            delete_gone=False, dry_run=arguments.dry_run, step=step,
        )  # fmt: skip
        credentials = [note.text for note in credential_notes(memory.screen)]
        gone = [file for file in gone if file not in done.moved]
    data = {**_data(source.label, done), "gone": gone, "credentials": len(memory.screen.found)}
    lines = [*_lines(arguments.path, source.label, done, arguments.dry_run)]
    if gone:
        lines.append(
            f"Gone from the folder since an earlier import: {counted(len(gone), 'file')}. Their memories are kept; "
            "--watch deletes them."
        )
    if done.changed and not arguments.dry_run:
        lines.append(dim(_UNDO))
    return CommandResult(data, lines, credentials, code=1 if not done.found and done.problems else 0)


def _gone(memory: Memory, root: str | None) -> list[str]:
    """The files that an earlier import took from a folder and that are no longer in it."""
    if root is None:
        return []
    from polymnia.engine.transfer.folder import Folder
    from polymnia.engine.transfer.foreign.notes import listed

    return memory.gone_files(root, listed(Folder(root)))


@contextmanager
def memory_to_fill(arguments: Namespace, chosen: Settings) -> Iterator[Memory]:
    """The memory to import into; a dry run never creates a store."""
    with ExitStack() as stack:
        if arguments.dry_run and chosen.file is None and has_no_store(chosen):
            chosen.store = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "memory.db")
        name = os.path.basename(os.path.abspath(arguments.path))
        yield stack.enter_context(open_memory(chosen, f"import of {name}"))


def _data(label: str, done: ForeignImport) -> JsonObject:
    told: JsonObject = msgspec.to_builtins(done)
    names = ("relations", "relations_known", "relations_removed")
    relations = {key: told[name] for key, name in zip(("new", "known", "removed"), names, strict=True)}
    return {
        "source": label,
        "memories": told["kinds"],
        "relations": relations,
        "deleted": told["removed"],
        "moved": told["moved"],
        "dropped": told["dropped"],
        "problems": told["problems"],
    }


def _lines(path: str, label: str, done: ForeignImport, dry_run: bool) -> Iterator[str]:
    yield f"{strong(path)} is {label}: {counted(done.found, 'memory')}."
    if dry_run:
        yield DRY_RUN
    yield from _report(done)
    if not dry_run and not done.changed:
        yield "So nothing was changed." if done.found else red("Nothing was imported.")


def _report(done: ForeignImport) -> Iterator[str]:
    for kind, counts in done.kinds.items():
        yield f"  {on_one_line(kind)}: " + ", ".join(
            f"{counts[key]:,} {word}" for key, word in _WORDS.items() if key in counts
        )
    if done.relations or done.relations_known or done.relations_removed:
        removed = f", {done.relations_removed:,} removed" if done.relations_removed else ""
        yield f"  relations: {done.relations:,} new, {done.relations_known:,} known already{removed}"
    if done.removed:
        yield f"  deleted, for their files are gone: {counted(done.removed, 'memory')}"
    if done.dropped:
        yield f"Not taken: {sum(done.dropped.values()):,}"
        for reason, count in list(done.dropped.items())[:_SHOWN]:
            yield f"  {count:,} × {on_one_line(reason)}" if count > 1 else f"  {on_one_line(reason)}"
        if len(done.dropped) > _SHOWN:
            yield dim(f"  … and {len(done.dropped) - _SHOWN:,} more reasons (--json lists them all)")


# ── following a folder ────────────────────────────────────────────────────────────────────────────────────


def watch(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Follow a folder until the user stops it. Each change of the folder is a change of its own."""
    if arguments.dry_run:
        raise Invalid("--watch goes only without --dry-run", hint="Leave out one of them.")
    imports = 0
    with memory_to_fill(arguments, chosen) as memory, _stopped_by_signals():
        folder = FolderWatch(memory, arguments.path, prefix=arguments.prefix)
        warned = None
        try:
            while True:
                try:
                    with bar("Importing") as step:
                        done = folder.sync(existing=arguments.existing or "merge", step=step)
                except (Busy, Interrupted) as e:  # the next look tries it again
                    print(f"polymnia: {e.message}", file=sys.stderr)
                    done = None
                if done is not None:
                    _print(arguments, done, first=not imports)
                    imports += 1
                if folder.warning not in (None, warned):
                    print(f"polymnia: {arguments.path}: {folder.warning}", file=sys.stderr)
                warned = folder.warning
                time.sleep(folder.pause)
        except KeyboardInterrupt:
            pass
    return CommandResult(None, [f"No longer following {arguments.path}."])


@contextmanager
def _stopped_by_signals() -> Iterator[None]:
    """Let a request to end the process end the watch as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print(arguments: Namespace, done: ForeignImport, *, first: bool) -> None:
    if arguments.json:
        print(as_json_text(_data("a folder of Markdown", done)), flush=True)
        return
    if first:
        lines = [*_lines(arguments.path, "a folder of Markdown", done, False), dim("Following it; Ctrl-C ends that.")]
    else:
        lines = [time.strftime("%H:%M:%S"), *_report(done)]
    print("\n".join(lines), flush=True)


# ── pages of Markdown ─────────────────────────────────────────────────────────────────────────────────────


def export_pages(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Write every memory as a page of Markdown into a folder."""
    with open_existing(chosen) as memory, bar("Exporting") as step:
        done = memory.export_pages(arguments.path, replace=arguments.force, step=step)
    outdated = f"; removed {counted(done.removed, 'outdated page')}" if done.removed else ""
    what = f"{counted(done.pages, 'page')} with {counted(done.relations, 'relation')}, {done.bytes:,} bytes"
    return CommandResult(
        {**msgspec.to_builtins(done), "folder": arguments.path},
        [f"Exported {what}, to {strong(arguments.path)}{outdated}.", dim("Edit them, then: polymnia import FOLDER")],
    )
