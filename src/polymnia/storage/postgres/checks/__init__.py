"""Checks of the index of substrings; what all projects share is the database's own to check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from polymnia.engine.ports.maintenance import CheckRequest, Spot
from polymnia.storage.checks import Check
from polymnia.storage.checks.view import CheckView
from polymnia.storage.postgres.grams import entries_of
from polymnia.storage.transaction import ProjectTransaction


class DatabaseChecks:
    """What a PostgreSQL store checks by itself."""

    damage: tuple[type[Exception], ...] = ()
    of_store: Mapping[str, Sequence[Check]] = {}

    def substrings(self, view: CheckView) -> None:
        """Compare the index of substrings with the texts it should hold, of which a sample is looked up."""
        if view.snapshot._indexed:
            wrong = _wrong(view)
            view.found("characters_wrong", [Spot(id, view.label(id)) for id in sorted(wrong)])

    def repair_substrings(self, tx: ProjectTransaction, request: CheckRequest) -> int:
        """Index again what is indexed wrongly."""
        view = CheckView(tx, tx._project_name, request, tx._at)
        wrong = _wrong(view) if tx._indexed else set()
        for id in sorted(wrong):
            tx.reindex_text(id)
        return len(wrong)


def _wrong(view: CheckView) -> set[int]:
    """The ids in either the texts or the index but not both, and those of a sample that are indexed wrongly."""
    border, lowest = view.base + view.snapshot._indexed, view.base + view.lowest()
    indexed = {id for (id,) in view.query("indexed_characters", lowest, border)}
    texts = {view.base + number for number in view.texts() if lowest < view.base + number <= border}
    sample = view.sampled(sorted(texts & indexed), "texts in the index of characters")
    return (indexed ^ texts) | {id for id in sample if not _is_indexed(view, id)}


def _is_indexed(view: CheckView, id: int) -> bool:
    for row in view.run("unindexed", (id - 1, id)).fetchall():
        return view.run("is_indexed", (entries_of(view.number, *row[1:]), id)).fetchone() is not None
    return True  # it is gone: another check reports it
