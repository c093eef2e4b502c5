"""Checking a store: facts about what is wrong in it, read from the rows as they lie, and repairing what can be.

Which fact is bad, and in what words it is told, is the engine's business (engine/health).
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
from polymnia.storage.sqlite.checks.view import STATEMENTS, CheckView, readable
from polymnia.storage.sqlite.grams import DAMAGE, ENDS, empty
from polymnia.storage.sqlite.snapshot import SqliteSnapshot
from polymnia.storage.sqlite.statements import SQL
from polymnia.storage.sqlite.transaction import SqliteTransaction

__all__ = ["check", "mend", "mend_file"]

UNREADABLE = "unreadable"
"""The key in the metadata under which the text of a column is kept that could not be read."""

_Check = Callable[[CheckView], None]


def _listed(kind: str, table: str) -> _Check:
    return partial(CheckView.find, kind=kind, table=table)


_OF_PROJECT: dict[str, tuple[_Check, ...]] = {
    "orphaned_relationships": (memories.orphans,),
    "missing_embeddings": (indexes.embeddings,),
    "data_consistency": (
        memories.scope_counts, memories.tags, _listed("session_missing", "memory"),
        _listed("session_differs", "memory"), memories.text_count, memories.row_number, memories.vectors,
        indexes.characters, indexes.words, memories.journal_ranges,
    ),
    "reference_integrity": (memories.marks, memories.mentions, memories.lost_texts, memories.journal_items),
    "schema_compliance": (
        memories.scopes, memories.json, memories.relations, memories.times, _listed("name_twice", "memory"),
        _listed("id_twice", "memory"), memories.texts,
    ),
    "performance_issues": (indexes.performance,),
    "indexes": (  # what a reindex makes again
        memories.scope_counts, memories.tags, memories.text_count, memories.vectors, indexes.characters, indexes.words,
    ),
}  # fmt: skip
_OF_STORE: dict[str, tuple[_Check, ...]] = {
    "reference_integrity": (indexes.foreign_keys,),
    "schema_compliance": (indexes.shape, indexes.damage),
    "file": (indexes.shape, partial(indexes.damage, pragma="quick_check")),  # for whoever asks after the store's health
    "indexes": (indexes.shape, indexes.damage),
    "performance_issues": (indexes.log,),
}
_OF_NO_SESSION = (
    memories.row_number, memories.text_count, memories.vectors, indexes.characters, indexes.words,
    memories.journal_ranges, memories.lost_texts, memories.journal_items,
)  # fmt: skip


def check(snapshot: SqliteSnapshot, project: str | None, asked: CheckRequest, now: int) -> CheckResult:
    """Look for faults in a project, or (None) in what all projects share."""
    view = CheckView(snapshot, project, asked, now)
    for name in asked.checks:
        for look in (_OF_STORE if project is None else _OF_PROJECT).get(name, ()):
            if asked.session is not None and look in _OF_NO_SESSION:
                continue
            try:
                look(view)
            except (apsw.CorruptError, UnicodeDecodeError) as e:
                if name not in view.result.passed_over:
                    view.found("part_unreadable", [Spot(0, name, str(e))])
                view.result.passed_over[name] = f"a part of it could not be read: {e}"
    return view.result


def mend(tx: SqliteTransaction, kinds: Collection[str], asked: CheckRequest) -> dict[str, int]:
    """Repair faults of these kinds in the project of a transaction; answers how many of each."""
    tx._noted = True
    mended: dict[str, int] = {}
    for kind, (look, repair) in _REPAIRS.items():
        if kind in kinds:
            view = CheckView(tx, tx._project_name, asked, tx._at)
            look(view)
            spots = [spot for fact in view.result.facts if fact.kind == kind for spot in fact.spots]
            if spots:
                repair(tx, spots)
                mended[kind] = len(spots)
    if "characters_wrong" in kinds and (count := _characters(tx, asked)):
        mended["characters_wrong"] = count
    if "characters_behind" in kinds and (behind := tx._seq - tx._indexed):
        tx.index_characters(behind)
        mended["characters_behind"] = behind
    return mended


# ── counters ──────────────────────────────────────────────────────────────────────────────────────────────


def _row_number(tx: SqliteTransaction, spots: list[Spot]) -> None:
    # Before this change makes a row: none of those that are there becomes its own.
    tx._seq = tx._first = spots[0].detail[1]
    tx._run("UPDATE project SET seq = ? WHERE id = ?", (tx._seq, tx._project))


def _text_count(tx: SqliteTransaction, spots: list[Spot]) -> None:
    kept, real = spots[0].detail
    tx._texts += real - kept
    tx._run("UPDATE project SET texts = ? WHERE id = ?", (tx._texts, tx._project))


def _scopes(tx: SqliteTransaction, spots: list[Spot]) -> None:
    tx._run(SQL["drop_scopes"], (tx._project,))
    tx._run(SQL["count_scopes"], (tx._project,))


def _tags(tx: SqliteTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        tx._untag(spot.id, spot.detail["left over"])
        tx._tag(spot.id, spot.detail["missing"])


# ── indexes ───────────────────────────────────────────────────────────────────────────────────────────────


def _characters(tx: SqliteTransaction, asked: CheckRequest) -> int:
    before = tx._indexed
    view = CheckView(tx, tx._project_name, asked, tx._at)
    try:
        if not indexes.is_whole(view):
            raise apsw.CorruptError
        apart, unlike = indexes.compared(view)
        if unlike:  # found in a sample: there may be more
            listed = view.ask("indexed_characters", tx._base, tx._base + tx._indexed)
            apart = {id for (id,) in listed} | {tx._base + number for number in view.texts() if number <= tx._indexed}
        for id in sorted(apart):
            _index_again(tx, id)
        return len(apart)
    except DAMAGE:  # the table itself is damaged, for all projects
        tx.drop_characters()
        tx.index_characters(tx._seq)
        return before


def _index_again(tx: SqliteTransaction, id: int) -> None:
    tx._run(SQL["unindex"], (id,))
    for number, text in tx._run(SQL["unindexed"], (id - 1, id)).fetchall():
        tx._run(SQL["index"], (number, text + ENDS))


def _folds(tx: SqliteTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        row = tx._run("SELECT name, kind FROM memory WHERE id = ?", (spot.id,)).fetchone()
        if row is not None:
            name, kind = row
            given = (rows.fold_or_none(name), rows.fold_or_none(kind), rows.look(name), spot.id)
            tx._run("UPDATE memory SET name_fold = ?, kind_fold = ?, look = ? WHERE id = ?", given)
        else:
            (text,) = tx._run("SELECT text FROM observation WHERE id = ?", (spot.id,)).fetchone()
            given_text = (rows.fold_or_none(text), rows.digest(text), spot.id)
            tx._run("UPDATE observation SET fold = ?, digest = ? WHERE id = ?", given_text)
        if spot.id <= tx._base + tx._indexed:
            _index_again(tx, spot.id)


def _vectors(tx: SqliteTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        tx._run("DELETE FROM vector_bits WHERE project = ? AND text = ?", (tx._project, spot.id - tx._base))
        tx._run("DELETE FROM vector WHERE text = ?", (spot.id,))


# ── what cannot be read ───────────────────────────────────────────────────────────────────────────────────


def _memory_json(tx: SqliteTransaction, spots: list[Spot]) -> None:
    """The text of a broken column moves into the metadata; an undo leaves it in the journal, not in the column."""
    for spot in spots:
        kept: JsonObject = {}
        metadata: JsonObject = {}
        raw = tx._run(STATEMENTS["json_of_memory"], (spot.id,)).fetchone()
        for column, text, kind in zip(("tags", "metadata", "extra"), raw, (list, dict, dict), strict=True):
            whole, value = readable(text, kind)
            if not whole:
                kept[column] = value
                tx._run(f"UPDATE memory SET {column} = NULL WHERE id = ?", (spot.id,))
            elif column == "metadata":
                metadata = value
        tx.revise(spot.id, {"metadata": {**metadata, UNREADABLE: kept}})


def _mixed_tags(tx: SqliteTransaction, spots: list[Spot]) -> None:
    """Tags that are numbers or lists become texts."""
    for spot in spots:
        legal = tuple(tag for tag in spot.detail if isinstance(tag, str))
        tx._run("UPDATE memory SET tags = ? WHERE id = ?", (rows.json_or_none(legal), spot.id))
        texts = (tag if isinstance(tag, str) else encode(tag).decode() for tag in spot.detail if tag is not None)
        tx.revise(spot.id, {"tags": tuple(dict.fromkeys(texts))})


def _relation_json(tx: SqliteTransaction, spots: list[Spot]) -> None:
    for spot in spots:
        kept: JsonObject = {}
        raw = tx._run(STATEMENTS["json_of_relation"], (spot.id,)).fetchone()
        for column, text in zip(("metadata", "extra"), raw, strict=True):
            whole, value = readable(text, dict)
            if not whole:
                kept[column] = value
                tx._run(f"UPDATE relation SET {column} = NULL WHERE id = ?", (spot.id,))
        row = tx._run(SQL["relation_row"], (spot.id,)).fetchone()
        old = rows.relation((row[0], *row[2:]))
        draft = RelationDraft(old.source, old.target, old.type, old.strength, old.context)
        metadata = {**old.metadata, UNREADABLE: kept}
        tx.remove_relations([spot.id])
        tx.relate([replace(draft, metadata=metadata, extra=old.extra, origin=old.origin, created=old.created)])


def _orphans(tx: SqliteTransaction, spots: list[Spot]) -> None:
    """Texts whose memory is gone get a new one, so that they are found again."""
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


# In an order in which none stands on what a later one repairs: numbers before new rows, columns before what is made of
# them.
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


def mend_file(connection: apsw.Connection, kinds: Collection[str]) -> dict[str, int]:
    """Make indexes and triggers again, and empty the log."""
    mended: dict[str, int] = {}
    if "shape_differs" in kinds:
        for kind, name, sql in indexes.missing_objects(connection):
            if kind in ("index", "trigger"):
                connection.execute("BEGIN IMMEDIATE")
                try:
                    connection.execute(f"DROP {kind} IF EXISTS {name}")
                    connection.execute(sql)
                    connection.execute("COMMIT")
                    mended["shape_differs"] = mended.get("shape_differs", 0) + 1
                except apsw.ConstraintError:
                    pass  # two rows have what must be unique: told by another check
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
    if "index_damaged" in kinds:
        try:
            connection.execute("REINDEX").fetchall()
            mended["index_damaged"] = 1
        except apsw.ConstraintError:
            pass
    if "characters_wrong" in kinds:
        with connection:
            empty(connection.execute)
        mended["characters_wrong"] = 1
    if "log_long" in kinds:
        row = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if row is not None and row[0] == 0:
            mended["log_long"] = 1
    return mended
