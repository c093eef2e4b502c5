"""Checks a store for faults by reading its raw rows, and repairs what can be repaired.

How serious a fault is, and how it is worded, is decided in engine/health.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial

import apsw
from msgspec.json import encode
from msgspec.structs import replace

from polymnia.engine.ports.maintenance import CheckRequest, CheckResult, Spot
from polymnia.models import EntityDraft, JsonObject, RelationDraft, new_id
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.checks import indexes, memories
from polymnia.storage.sqlite.checks.view import STATEMENTS, CheckView, parse
from polymnia.storage.sqlite.grams import DAMAGE, ENDS, empty
from polymnia.storage.sqlite.snapshot import SqliteSnapshot
from polymnia.storage.sqlite.statements import SQL
from polymnia.storage.sqlite.transaction import SqliteTransaction

__all__ = ["check", "repair", "repair_file"]

UNREADABLE = "unreadable"
"""The metadata key under which the text of an unreadable column is saved."""

_Check = Callable[[CheckView], None]


def _query(kind: str, table: str) -> _Check:
    return partial(CheckView.find, kind=kind, table=table)


_OF_PROJECT: dict[str, tuple[_Check, ...]] = {
    "orphaned_relationships": (memories.orphans,),
    "missing_embeddings": (indexes.embeddings,),
    "data_consistency": (
        memories.scope_counts, memories.tags, _query("session_missing", "memory"),
        _query("session_differs", "memory"), memories.text_count, memories.row_number, memories.vectors,
        indexes.characters, indexes.words, memories.journal_ranges,
    ),
    "reference_integrity": (memories.marks, memories.mentions, memories.lost_texts, memories.journal_items),
    "schema_compliance": (
        memories.scopes, memories.json, memories.relations, memories.times, _query("name_twice", "memory"),
        _query("id_twice", "memory"), memories.texts,
    ),
    "performance_issues": (indexes.performance,),
    "indexes": (  # what a reindex rebuilds
        memories.scope_counts, memories.tags, memories.text_count, memories.vectors, indexes.characters, indexes.words,
    ),
}  # fmt: skip
_OF_STORE: dict[str, tuple[_Check, ...]] = {
    "reference_integrity": (indexes.foreign_keys,),
    "schema_compliance": (indexes.shape, indexes.damage),
    "file": (indexes.shape, partial(indexes.damage, pragma="quick_check")),  # for a health report
    "indexes": (indexes.shape, indexes.damage),
    "performance_issues": (indexes.log,),
}
_NOT_PER_SESSION = (
    memories.row_number, memories.text_count, memories.vectors, indexes.characters, indexes.words,
    memories.journal_ranges, memories.lost_texts, memories.journal_items,
)  # fmt: skip


def check(snapshot: SqliteSnapshot, project: str | None, request: CheckRequest, now: int) -> CheckResult:
    """Check a project, or (None) what all projects share, for faults."""
    view = CheckView(snapshot, project, request, now)
    for name in request.checks:
        for run in (_OF_STORE if project is None else _OF_PROJECT).get(name, ()):
            if request.session is not None and run in _NOT_PER_SESSION:
                continue
            try:
                run(view)
            except (apsw.CorruptError, UnicodeDecodeError) as e:
                if name not in view.result.skipped:
                    view.found("part_unreadable", [Spot(0, name, str(e))])
                view.result.skipped[name] = f"a part of it could not be read: {e}"
    return view.result


def repair(tx: SqliteTransaction, kinds: Collection[str], request: CheckRequest) -> dict[str, int]:
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
    if "characters_wrong" in kinds and (count := _substrings(tx, request)):
        repaired["characters_wrong"] = count
    if "characters_behind" in kinds and (behind := tx._seq - tx._indexed):
        tx.index_substrings(behind)
        repaired["characters_behind"] = behind
    return repaired


# ── counters ──────────────────────────────────────────────────────────────────────────────────────────────


def _row_number(tx: SqliteTransaction, spots: list[Spot]) -> None:
    # Before this change creates a row, so that no existing row counts as its own.
    tx._seq = tx._first = spots[0].detail[1]
    tx._run("UPDATE project SET seq = ? WHERE id = ?", (tx._seq, tx._project))


def _text_count(tx: SqliteTransaction, spots: list[Spot]) -> None:
    stored, actual = spots[0].detail
    tx._texts += actual - stored
    tx._run("UPDATE project SET texts = ? WHERE id = ?", (tx._texts, tx._project))


def _scopes(tx: SqliteTransaction, spots: list[Spot]) -> None:
    tx._run(SQL["drop_scopes"], (tx._project,))
    tx._run(SQL["count_scopes"], (tx._project,))


def _tags(tx: SqliteTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        tx._untag(spot.id, spot.detail["left over"])
        tx._tag(spot.id, spot.detail["missing"])


# ── indexes ───────────────────────────────────────────────────────────────────────────────────────────────


def _substrings(tx: SqliteTransaction, request: CheckRequest) -> int:
    before = tx._indexed
    view = CheckView(tx, tx._project_name, request, tx._at)
    try:
        if not indexes.is_intact(view):
            raise apsw.CorruptError
        differing, wrong = indexes.compare(view)
        if wrong:  # found in a sample: there may be more
            indexed = view.query("indexed_characters", tx._base, tx._base + tx._indexed)
            texts = {tx._base + number for number in view.texts() if number <= tx._indexed}
            differing = texts.union(id for (id,) in indexed)
        for id in sorted(differing):
            _reindex(tx, id)
        return len(differing)
    except DAMAGE:  # the table itself is damaged, for all projects
        tx.drop_substring_index()
        tx.index_substrings(tx._seq)
        return before


def _reindex(tx: SqliteTransaction, id: int) -> None:
    tx._run(SQL["unindex"], (id,))
    for number, text in tx._run(SQL["unindexed"], (id - 1, id)).fetchall():
        tx._run(SQL["index"], (number, text + ENDS))


def _folds(tx: SqliteTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        row = tx._run("SELECT name, kind FROM memory WHERE id = ?", (spot.id,)).fetchone()
        if row is not None:
            name, kind = row
            values = (rows.fold_or_none(name), rows.fold_or_none(kind), rows.skeleton_hash(name), spot.id)
            tx._run("UPDATE memory SET name_fold = ?, kind_fold = ?, look = ? WHERE id = ?", values)
        else:
            (text,) = tx._run("SELECT text FROM observation WHERE id = ?", (spot.id,)).fetchone()
            tx._run(
                "UPDATE observation SET fold = ?, digest = ? WHERE id = ?",
                (rows.fold_or_none(text), rows.digest(text), spot.id),
            )
        if spot.id <= tx._base + tx._indexed:
            _reindex(tx, spot.id)


def _vectors(tx: SqliteTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        tx._run("DELETE FROM vector_bits WHERE project = ? AND text = ?", (tx._project, spot.id - tx._base))
        tx._run("DELETE FROM vector WHERE text = ?", (spot.id,))


# ── unreadable columns ────────────────────────────────────────────────────────────────────────────────────


def _memory_json(tx: SqliteTransaction, spots: list[Spot]) -> None:
    """Move the text of a broken column into the metadata; an undo leaves it in the journal, not in the column."""
    for spot in spots:
        saved: JsonObject = {}
        metadata: JsonObject = {}
        raw = tx._run(STATEMENTS["json_of_memory"], (spot.id,)).fetchone()
        for column, text, kind in zip(("tags", "metadata", "extra"), raw, (list, dict, dict), strict=True):
            valid, value = parse(text, kind)
            if not valid:
                saved[column] = value
                tx._run(f"UPDATE memory SET {column} = NULL WHERE id = ?", (spot.id,))
            elif column == "metadata":
                metadata = value
        tx.revise(spot.id, {"metadata": {**metadata, UNREADABLE: saved}})


def _mixed_tags(tx: SqliteTransaction, spots: list[Spot]) -> None:
    """Convert tags that are numbers or lists to texts."""
    for spot in spots:
        valid = tuple(tag for tag in spot.detail if isinstance(tag, str))
        tx._run("UPDATE memory SET tags = ? WHERE id = ?", (rows.json_or_none(valid), spot.id))
        texts = (tag if isinstance(tag, str) else encode(tag).decode() for tag in spot.detail if tag is not None)
        tx.revise(spot.id, {"tags": tuple(dict.fromkeys(texts))})


def _relation_json(tx: SqliteTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        saved: JsonObject = {}
        raw = tx._run(STATEMENTS["json_of_relation"], (spot.id,)).fetchone()
        for column, text in zip(("metadata", "extra"), raw, strict=True):
            valid, value = parse(text, dict)
            if not valid:
                saved[column] = value
                tx._run(f"UPDATE relation SET {column} = NULL WHERE id = ?", (spot.id,))
        row = tx._run(SQL["relation_row"], (spot.id,)).fetchone()
        old = rows.relation((row[0], *row[2:]))
        draft = RelationDraft(old.source, old.target, old.type, old.strength, old.context)
        metadata = {**old.metadata, UNREADABLE: saved}
        tx.remove_relations([spot.id])
        tx.relate([replace(draft, metadata=metadata, extra=old.extra, origin=old.origin, created=old.created)])


def _orphans(tx: SqliteTransaction, spots: list[Spot]) -> None:
    """Give texts without a memory a new one, so that they are found again."""
    homes: dict[int, int] = {}
    for spot in spots:
        if spot.detail not in homes:
            name = f"recovered {spot.detail % rows.SPAN}"
            if tx.ids([name]):
                name = f"{name} {new_id()}"
            (record,) = tx.add_records([EntityDraft(name, "recovered")])
            homes[spot.detail] = record.id
        tx._run("UPDATE observation SET memory = ? WHERE id = ?", (homes[spot.detail], spot.id))
        if spot.id <= tx._base + tx._listed:
            tx._run(SQL["add_stale"], (spot.id,))


# Ordered so that none depends on what a later one repairs: row numbers before new rows, columns before derived data.
_REPAIRS: dict[str, tuple[_Check, Callable[[SqliteTransaction, list[Spot]], None]]] = {
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


# ── the file ──────────────────────────────────────────────────────────────────────────────────────────────


def repair_file(connection: apsw.Connection, kinds: Collection[str]) -> dict[str, int]:
    """Rebuild indexes and triggers, and empty the log."""
    repaired: dict[str, int] = {}
    if "shape_differs" in kinds:
        for kind, name, sql in indexes.missing_objects(connection):
            if kind in ("index", "trigger"):
                connection.execute("BEGIN IMMEDIATE")
                try:
                    connection.execute(f"DROP {kind} IF EXISTS {name}")
                    connection.execute(sql)
                    connection.execute("COMMIT")
                    repaired["shape_differs"] = repaired.get("shape_differs", 0) + 1
                except apsw.ConstraintError:
                    pass  # two rows share a unique value, which another check reports
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
    if "index_damaged" in kinds:
        try:
            connection.execute("REINDEX").fetchall()
            repaired["index_damaged"] = 1
        except apsw.ConstraintError:
            pass
    if "characters_wrong" in kinds:
        with connection:
            empty(connection.execute)
        repaired["characters_wrong"] = 1
    if "log_long" in kinds:
        row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if row is not None and row[0] == 0:
            repaired["log_long"] = 1
    return repaired
