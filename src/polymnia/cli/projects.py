"""Project files in: the items and relationships of a project, as export_project_data writes them."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any

from polymnia.app import limits, memory
from polymnia.cli.output import bar, counted, dim, on_one_line, print_dropped, print_json, red, strong
from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.project_import import Merging, ProjectImport, problems
from polymnia.engine.transfer.project_item import ProjectForm
from polymnia.errors import ImportFailed
from polymnia.settings import Settings

__all__ = ["import_project_file"]

_SHOWN = 20
_MERGING: dict[str | None, Merging] = {None: "merge", "merge": "merge", "replace": "replace", "keep": "skip_existing"}


def import_project_file(arguments: Namespace, chosen: Settings, folder: str, name: str, form: ProjectForm) -> int:
    """Take in a project file, whole or not at all, and report what was taken and what was not."""
    done: ProjectImport | None = None
    if arguments.dry_run:
        wrong = problems(lambda: Folder(folder).open(name), form, limits(chosen))
    else:
        try:
            done, wrong = _taken(arguments, chosen, folder, name, form), []
        except ImportFailed as e:
            if not e.problems:
                raise
            wrong = e.problems
    if arguments.json:
        print_json(_report(form, done, wrong))
    else:
        _print_report(arguments.path, form, done, wrong, dry=arguments.dry_run)
    return 1 if wrong else 0


def _taken(arguments: Namespace, chosen: Settings, folder: str, name: str, form: ProjectForm) -> ProjectImport:
    with memory(chosen, f"import of {os.path.basename(arguments.path)}") as held, bar("Importing") as step:
        held.exports = folder
        # The ids of the file are kept, so that importing it twice changes nothing.
        done, _ = held.import_project(form, name=name, merging=_MERGING[arguments.existing], keep_ids=True, step=step)
        return done


def _report(form: str, done: ProjectImport | None, wrong: list[str]) -> dict[str, Any]:
    told = None
    if done is not None:
        told = {
            "items_new": done.imported, "items_updated": done.updated, "items_kept": done.skipped,
            "relationships_new": done.relationships,
        }  # fmt: skip
    dropped = {} if done is None else done.dropped
    return {"file": {"form": form}, "imported": told, "problems": wrong, "dropped": dropped}


def _print_report(path: str, form: str, done: ProjectImport | None, wrong: list[str], *, dry: bool) -> None:
    print(f"{strong(path)} is read as a project ({form}).")
    if done is not None:
        print(
            f"Items: {done.imported:,} new, {done.updated:,} updated, {done.skipped:,} left as they are. "
            f"Relationships: {done.relationships:,} new."
        )
        print_dropped(done.dropped)
        if done.imported or done.updated or done.relationships:
            print(dim("`polymnia undo` takes the whole import back."))
        return
    print("Nothing was imported (dry run)." if dry else red("Nothing was imported."))
    sys.stdout.flush()
    if wrong:
        print(f"polymnia: {counted(len(wrong), 'record')} of {path} cannot be imported:", file=sys.stderr)
        for one in wrong[:_SHOWN]:
            print(f"  {on_one_line(one)}", file=sys.stderr)
        if len(wrong) > _SHOWN:
            print(f"  … and {len(wrong) - _SHOWN:,} more (--json lists them all)", file=sys.stderr)
