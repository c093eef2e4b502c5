"""Checking a store: facts about what is wrong in it, read from the rows as they lie, and mending what can be mended.

Which fact is bad, and in what words it is told, is the engine's business (engine/health).
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import apsw

from polymnia.engine.ports.checks import Asked, Checked, Spot
from polymnia.storage.sqlite.checking import counts, file, form, indexes, load, past, relations
from polymnia.storage.sqlite.checking.view import View
from polymnia.storage.sqlite.snapshot import SqliteSnapshot
from polymnia.storage.sqlite.transaction import SqliteTransaction

__all__ = ["check", "mend", "mend_file"]


def check(snapshot: SqliteSnapshot, path: str, project: str | None, asked: Asked, now: int) -> Checked:
    """Look for faults in a project, or (None) in what all projects share."""
    view = View(snapshot, project, asked, now)
    for name in asked.checks:
        for look in _PROJECT.get(name, ()) if project is not None else _STORE.get(name, ()):
            _guarded(view, name, look)
    if project is None and "performance_issues" in asked.checks:
        file.log(view, path)
    return view.checked


def _guarded(view: View, name: str, look: Callable[[View], None]) -> None:
    """Look, and if a part cannot be read, write that down and go on with the others."""
    try:
        look(view)
    except (apsw.CorruptError, UnicodeDecodeError) as e:
        view.found("part_unreadable", [Spot(0, name, str(e))])
        view.passed_over[name] = f"a part of it could not be read: {e}"


def mend(tx: SqliteTransaction, kinds: Collection[str], asked: Asked) -> dict[str, int]:
    """Mend faults of these kinds in the project of a transaction; answers how many of each."""
    from polymnia.storage.sqlite.checking.mending import mend

    return mend(tx, set(kinds), asked)


def mend_file(connection: apsw.Connection, kinds: Collection[str]) -> dict[str, int]:
    """Mend what all projects share."""
    return file.mend_file(connection, set(kinds))


def _whole(look: Callable[[View], None]) -> Callable[[View], None]:
    """A look at what belongs to no session."""
    return lambda view: look(view) if view.asked.session is None else None


_PROJECT: dict[str, tuple[Callable[[View], None], ...]] = {
    "orphaned_relationships": (relations.orphans,),
    "missing_embeddings": (indexes.embeddings,),
    "data_consistency": (counts.consistency, _whole(indexes.characters), _whole(indexes.words), _whole(past.ranges)),
    "reference_integrity": (relations.references, _whole(past.items)),
    "schema_compliance": (form.schema,),
    "performance_issues": (load.performance,),
    "indexes": (counts.indexes, indexes.characters, indexes.words),  # what a reindex makes again
}
_STORE: dict[str, tuple[Callable[[View], None], ...]] = {
    "reference_integrity": (file.foreign_keys,),
    "schema_compliance": (file.shape, file.damage),
    "file": (file.shape, file.first_look),  # for whoever asks after the health of the store
    "indexes": (file.shape, file.damage),
}
