"""Checking a store: facts about what is wrong in it, read from the rows as they lie, and repairing what can be.

Which fact is bad, and in what words it is told, is the engine's business (engine/health).
"""

from __future__ import annotations

from collections.abc import Callable

import apsw

from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Spot
from polymnia.storage.sqlite.checks import file, indexes, memories, references
from polymnia.storage.sqlite.checks.repairs import mend, mend_file
from polymnia.storage.sqlite.checks.view import CheckView
from polymnia.storage.sqlite.snapshot import SqliteSnapshot

__all__ = ["check", "mend", "mend_file"]


def check(snapshot: SqliteSnapshot, path: str, project: str | None, asked: CheckRequest, now: int) -> CheckResult:
    """Look for faults in a project, or (None) in what all projects share."""
    view = CheckView(snapshot, project, asked, now)
    for name in asked.checks:
        for look in (_STORE if project is None else _PROJECT).get(name, ()):
            if asked.session is not None and look in _OF_NO_SESSION:
                continue
            try:
                look(view)
            except (apsw.CorruptError, UnicodeDecodeError) as e:
                view.found("part_unreadable", [Spot(0, name, str(e))])
                view.passed_over[name] = f"a part of it could not be read: {e}"
    if project is None and "performance_issues" in asked.checks:
        file.log(view, path)
    return view.checked


_Look = Callable[[CheckView], None]
_OF_NO_SESSION = (indexes.characters, indexes.words, references.journal_ranges, references.journal_items)
_PROJECT: dict[str, tuple[_Look, ...]] = {
    "orphaned_relationships": (references.orphans,),
    "missing_embeddings": (indexes.embeddings,),
    "data_consistency": (memories.consistency, indexes.characters, indexes.words, references.journal_ranges),
    "reference_integrity": (references.references, references.journal_items),
    "schema_compliance": (memories.schema,),
    "performance_issues": (indexes.performance,),
    "indexes": (memories.indexes, indexes.characters, indexes.words),  # what a reindex makes again
}
_STORE: dict[str, tuple[_Look, ...]] = {
    "reference_integrity": (file.foreign_keys,),
    "schema_compliance": (file.shape, file.damage),
    "file": (file.shape, file.first_look),  # for whoever asks after the health of the store
    "indexes": (file.shape, file.damage),
}
