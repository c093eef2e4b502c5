"""Checks a store for faults by reading its raw rows, and repairs what can be repaired.

How serious a fault is, and how it is worded, is decided in engine/health.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Protocol

from msgspec.json import encode
from msgspec.structs import replace

from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Spot
from polymnia.models import EntityDraft, JsonObject, RelationDraft, new_id
from polymnia.storage import rows
from polymnia.storage.checks import indexes, memories
from polymnia.storage.checks.view import CheckView, parse
from polymnia.storage.snapshot import ProjectSnapshot
from polymnia.storage.transaction import ProjectTransaction

__all__ = ["Check", "EngineChecks", "check", "repair"]

UNREADABLE = "unreadable"
"""The metadata key under which the text of an unreadable column is saved."""

Check = Callable[[CheckView], None]


def _query(kind: str, table: str) -> Check:
    return partial(CheckView.find, kind=kind, table=table)


_OF_PROJECT: dict[str, tuple[Check, ...]] = {
    "orphaned_relationships": (memories.orphans,),
    "missing_embeddings": (indexes.embeddings,),
    "data_consistency": (
        memories.scope_counts, memories.tags, _query("session_missing", "memory"),
        _query("session_differs", "memory"), memories.text_count, memories.row_number, memories.vectors,
        indexes.words, memories.journal_ranges,
    ),
    "reference_integrity": (memories.marks, memories.mentions, memories.lost_texts, memories.journal_items),
    "schema_compliance": (
        memories.scopes, memories.json, memories.relations, memories.times, _query("name_twice", "memory"),
        _query("id_twice", "memory"), memories.texts,
    ),
    "performance_issues": (indexes.performance,),
    "indexes": (  # what a reindex rebuilds
        memories.scope_counts, memories.tags, memories.text_count, memories.vectors, indexes.words,
    ),
}  # fmt: skip
_WITH_SUBSTRINGS = ("data_consistency", "indexes")
_NOT_PER_SESSION = (
    memories.row_number, memories.text_count, memories.vectors, indexes.words,
    memories.journal_ranges, memories.lost_texts, memories.journal_items,
)  # fmt: skip


class EngineChecks(Protocol):
    """What an engine checks by itself: what all projects share, and its index of substrings."""

    @property
    def of_store(self) -> Mapping[str, Sequence[Check]]:
        """The checks of what all projects share, by the name they are asked for with."""

    @property
    def damage(self) -> tuple[type[Exception], ...]:
        """The exceptions that mean that a part cannot be read."""

    def substrings(self, view: CheckView) -> None:
        """Compare the index of substrings with the texts it should hold."""

    def repair_substrings(self, tx: ProjectTransaction, request: CheckRequest) -> int:
        """Repair that index; returns how many texts were indexed again."""


def check(
    engine: EngineChecks, snapshot: ProjectSnapshot, project: str | None, request: CheckRequest, now: int
) -> CheckResult:
    """Check a project, or (None) what all projects share, for faults."""
    view = CheckView(snapshot, project, request, now)
    unreadable: tuple[type[Exception], ...] = (*engine.damage, UnicodeDecodeError)
    for name in request.checks:
        runs = list(engine.of_store.get(name, ()) if project is None else _OF_PROJECT.get(name, ()))
        if project is not None and name in _WITH_SUBSTRINGS and request.session is None:
            runs.append(engine.substrings)
        for run in runs:
            if request.session is not None and run in _NOT_PER_SESSION:
                continue
            try:
                run(view)
            except unreadable as e:
                if name not in view.result.skipped:
                    view.found("part_unreadable", [Spot(0, name, str(e))])
                view.result.skipped[name] = f"a part of it could not be read: {e}"
    return view.result


def repair(
    engine: EngineChecks, tx: ProjectTransaction, kinds: Collection[str], request: CheckRequest
) -> dict[str, int]:
    """Repair faults of these kinds in the project of a transaction; returns how many of each."""
    tx._noted = True
    repaired: dict[str, int] = {}
    for kind, (check, fix) in _REPAIRS.items():
        if kind in kinds:
            view = CheckView(tx, tx._project_name, request, tx._at)
            check(view)
            spots = [spot for fact in view.result.facts if fact.kind == kind for spot in fact.spots]
            if spots:
                fix(tx, spots)
                repaired[kind] = len(spots)
    if "characters_wrong" in kinds and (count := engine.repair_substrings(tx, request)):
        repaired["characters_wrong"] = count
    if "characters_behind" in kinds and (behind := tx._seq - tx._indexed):
        tx.index_substrings(behind)
        repaired["characters_behind"] = behind
    return repaired


# ── counters ──────────────────────────────────────────────────────────────────────────────────────────────


def _row_number(tx: ProjectTransaction, spots: list[Spot]) -> None:
    # Before this change creates a row, so that no existing row counts as its own.
    tx._seq = tx._first = spots[0].detail[1]
    tx._run.check("set_seq", (tx._seq, tx._project))


def _text_count(tx: ProjectTransaction, spots: list[Spot]) -> None:
    stored, actual = spots[0].detail
    tx._texts += actual - stored
    tx._run("set_texts", (tx._texts, tx._project))


def _scopes(tx: ProjectTransaction, spots: list[Spot]) -> None:
    tx._run("drop_scopes", (tx._project,))
    tx._run("count_scopes", (tx._project,))


def _tags(tx: ProjectTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        tx._untag(spot.id, spot.detail["left over"])
        tx._tag(spot.id, spot.detail["missing"])


# ── indexes ───────────────────────────────────────────────────────────────────────────────────────────────


def _folds(tx: ProjectTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        row = tx._run.check("name_and_kind", (spot.id,)).fetchone()
        if row is not None:
            name, kind = row
            values = (tx._run.folded(name), tx._run.folded(kind), rows.skeleton_hash(name), spot.id)
            tx._run.check("set_head_folds", values)
        else:
            (text,) = tx._run.check("observation_text", (spot.id,)).fetchone()
            tx._run.check("set_text_fold", (tx._run.folded(text), rows.digest(text), spot.id))
        if spot.id <= tx._base + tx._indexed:
            tx.reindex_text(spot.id)


def _vectors(tx: ProjectTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        tx._run.check("drop_bits_of_text", (tx._project, spot.id - tx._base))
        tx._run.check("drop_vectors_of_text", (spot.id,))


# ── unreadable columns ────────────────────────────────────────────────────────────────────────────────────


def _memory_json(tx: ProjectTransaction, spots: list[Spot]) -> None:
    """Move the text of a broken column into the metadata; an undo leaves it in the journal, not in the column."""
    for spot in spots:
        saved: JsonObject = {}
        metadata: JsonObject = {}
        raw = tx._run.check("json_of_memory", (spot.id,)).fetchone()
        for column, text, kind in zip(("tags", "metadata", "extra"), raw, (list, dict, dict), strict=True):
            valid, value = parse(text, kind)
            if not valid:
                saved[column] = value
                tx._run.check(f"clear_{column}", (spot.id,))
            elif column == "metadata":
                metadata = value
        tx.revise(spot.id, {"metadata": {**metadata, UNREADABLE: saved}})


def _mixed_tags(tx: ProjectTransaction, spots: list[Spot]) -> None:
    """Convert tags that are numbers or lists to texts."""
    for spot in spots:
        valid = tuple(tag for tag in spot.detail if isinstance(tag, str))
        tx._run.check("set_tags", (rows.json_or_none(valid), spot.id))
        texts = (tag if isinstance(tag, str) else encode(tag).decode() for tag in spot.detail if tag is not None)
        tx.revise(spot.id, {"tags": tuple(dict.fromkeys(texts))})


def _relation_json(tx: ProjectTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        saved: JsonObject = {}
        raw = tx._run.check("json_of_relation", (spot.id,)).fetchone()
        for column, text in zip(("metadata", "extra"), raw, strict=True):
            valid, value = parse(text, dict)
            if not valid:
                saved[column] = value
                tx._run.check(f"clear_relation_{column}", (spot.id,))
        row = tx._run("relation_row", (spot.id,)).fetchone()
        old = rows.relation((row[0], *row[2:]))
        draft = RelationDraft(old.source, old.target, old.type, old.strength, old.context)
        metadata = {**old.metadata, UNREADABLE: saved}
        tx.remove_relations([spot.id])
        tx.relate([replace(draft, metadata=metadata, extra=old.extra, origin=old.origin, created=old.created)])


def _orphans(tx: ProjectTransaction, spots: list[Spot]) -> None:
    """Give texts without a memory a new one, so that they are found again."""
    homes: dict[int, int] = {}
    for spot in spots:
        if spot.detail not in homes:
            name = f"recovered {spot.detail % rows.SPAN}"
            if tx.ids([name]):
                name = f"{name} {new_id()}"
            (record,) = tx.add_records([EntityDraft(name, "recovered")])
            homes[spot.detail] = record.id
        tx._run.check("set_owner", (homes[spot.detail], spot.id))
        if spot.id <= tx._base + tx._listed:
            tx._run("add_stale", (spot.id,))


# Ordered so that none depends on what a later one repairs: row numbers before new rows, columns before derived data.
_REPAIRS: dict[str, tuple[Check, Callable[[ProjectTransaction, list[Spot]], None]]] = {
    "row_number_behind": (memories.row_number, _row_number),
    "json_broken": (memories.json, _memory_json),
    "tag_no_text": (memories.json, _mixed_tags),
    "relation_json_broken": (memories.relations, _relation_json),
    "observation_orphan": (memories.lost_texts, _orphans),
    "fold_wrong": (memories.texts, _folds),
    "text_count_wrong": (memories.text_count, _text_count),
    "scope_count_wrong": (memories.scope_counts, _scopes),
    "tag_rows_wrong": (memories.tags, _tags),
    "vector_of_nothing": (memories.vectors, _vectors),
    "vector_broken": (memories.vectors, _vectors),
}
