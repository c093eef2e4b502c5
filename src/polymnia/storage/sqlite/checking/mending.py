"""Mending what is made of other data, and putting what cannot be read where it can be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from apsw import CorruptError
from msgspec.json import encode

from polymnia.engine.ports.checks import Asked, Spot
from polymnia.models import EntityDraft, RelationDraft, new_id
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.checking import counts, form, indexes, relations
from polymnia.storage.sqlite.checking.view import View, readable
from polymnia.storage.sqlite.grams import DAMAGE, ENDS
from polymnia.storage.sqlite.statements import SQL
from polymnia.storage.sqlite.transaction import SqliteTransaction

__all__ = ["mend"]

UNREADABLE = "unreadable"
"""The key in the metadata under which the text of a column is kept that could not be read."""

_MEMORY_JSON = "SELECT CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(extra AS BLOB) FROM memory WHERE id = ?"
_RELATION_JSON = "SELECT CAST(metadata AS BLOB), CAST(extra AS BLOB) FROM relation WHERE id = ?"


def mend(tx: SqliteTransaction, kinds: set[str], asked: Asked) -> dict[str, int]:
    """Mend what is wrong of these kinds; answers how many of each."""
    tx._noted = True
    mended: dict[str, int] = {}
    for kind, work in _WORK.items():
        if kind in kinds and (count := work(tx, asked)):
            mended[kind] = count
    return mended


def _facts(tx: SqliteTransaction, asked: Asked, look: Callable[[View], None], kind: str) -> list[Spot]:
    view = View(tx, tx._project_name, asked, tx._at)
    look(view)
    return [spot for fact in view.facts if fact.kind == kind for spot in fact.spots]


# ── counters ──────────────────────────────────────────────────────────────────────────────────────────────


def _row_number(tx: SqliteTransaction, asked: Asked) -> int:
    for spot in _facts(tx, asked, counts.consistency, "row_number_behind"):
        # Before this change makes a row: none of those that are there becomes its own.
        tx._seq = tx._first = spot.detail[1]
        tx._run("UPDATE project SET seq = ? WHERE id = ?", (tx._seq, tx._project))
        return 1
    return 0


def _text_count(tx: SqliteTransaction, asked: Asked) -> int:
    for spot in _facts(tx, asked, counts.consistency, "text_count_wrong"):
        kept, real = spot.detail
        tx._texts += real - kept
        tx._run("UPDATE project SET texts = ? WHERE id = ?", (tx._texts, tx._project))
        return 1
    return 0


def _scopes(tx: SqliteTransaction, asked: Asked) -> int:
    wrong = _facts(tx, asked, counts.consistency, "scope_count_wrong")
    if wrong:
        tx._run(SQL["drop_scopes"], (tx._project,))
        tx._run(SQL["count_scopes"], (tx._project,))
    return len(wrong)


def _tags(tx: SqliteTransaction, asked: Asked) -> int:
    wrong = _facts(tx, asked, counts.consistency, "tag_rows_wrong")
    for spot in wrong:
        tx._untag(spot.id, spot.detail["left over"])
        tx._tag(spot.id, spot.detail["missing"])
    return len(wrong)


# ── indexes ───────────────────────────────────────────────────────────────────────────────────────────────


def _characters(tx: SqliteTransaction, asked: Asked) -> int:
    before = tx._indexed
    try:
        return _indexed_again(tx, asked)
    except DAMAGE:  # the table itself is damaged, for all projects
        tx.drop_characters()
        tx.index_characters(tx._seq)
        return before


def _indexed_again(tx: SqliteTransaction, asked: Asked) -> int:
    view = View(tx, tx._project_name, asked, tx._at)
    if not indexes.is_whole(view):
        raise CorruptError
    apart, unlike = indexes.compared(view)
    if unlike:  # found in a sample: there may be more
        border = tx._base + tx._indexed
        listed = tx._run("SELECT id FROM gram_docsize WHERE id > ? AND id <= ?", (tx._base, border)).fetchall()
        apart = {id for (id,) in listed} | {tx._base + number for number in view.texts() if number <= tx._indexed}
    for id in sorted(apart):
        tx._run(SQL["unindex"], (id,))
        for number, text in tx._run(SQL["unindexed"], (id - 1, id)).fetchall():
            tx._run(SQL["index"], (number, text + ENDS))
    return len(apart)


def _characters_behind(tx: SqliteTransaction, asked: Asked) -> int:
    behind = tx._seq - tx._indexed
    tx.index_characters(behind)
    return behind


def _folds(tx: SqliteTransaction, asked: Asked) -> int:
    wrong = _facts(tx, asked, form.schema, "fold_wrong")
    for spot in wrong:
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
            tx._run(SQL["unindex"], (spot.id,))
            for number, folded in tx._run(SQL["unindexed"], (spot.id - 1, spot.id)).fetchall():
                tx._run(SQL["index"], (number, folded + ENDS))
    return len(wrong)


def _vectors(kind: str) -> Callable[[SqliteTransaction, Asked], int]:
    def forget(tx: SqliteTransaction, asked: Asked) -> int:
        wrong = _facts(tx, asked, counts.consistency, kind)
        for spot in wrong:
            tx._run("DELETE FROM vector_bits WHERE project = ? AND text = ?", (tx._project, spot.id - tx._base))
            tx._run("DELETE FROM vector WHERE text = ?", (spot.id,))
        return len(wrong)

    return forget


# ── what cannot be read ───────────────────────────────────────────────────────────────────────────────────


def _json(tx: SqliteTransaction, asked: Asked) -> int:
    """The text of a broken column moves into the metadata; an undo leaves it in the journal, not in the column."""
    wrong = _facts(tx, asked, form.schema, "json_broken")
    for spot in wrong:
        kept: dict[str, Any] = {}
        metadata: dict[str, Any] = {}
        raw = tx._run(_MEMORY_JSON, (spot.id,)).fetchone()
        for column, text, kind in zip(("tags", "metadata", "extra"), raw, (list, dict, dict), strict=True):
            whole, value = readable(text, kind)
            if not whole:
                kept[column] = value
                tx._run(f"UPDATE memory SET {column} = NULL WHERE id = ?", (spot.id,))
            elif column == "metadata":
                metadata = value
        tx.revise(spot.id, {"metadata": {**metadata, UNREADABLE: kept}})
    return len(wrong)


def _mixed_tags(tx: SqliteTransaction, asked: Asked) -> int:
    """Tags that are numbers or lists become texts."""
    wrong = _facts(tx, asked, form.schema, "tag_no_text")
    for spot in wrong:
        legal = tuple(tag for tag in spot.detail if isinstance(tag, str))
        tx._run("UPDATE memory SET tags = ? WHERE id = ?", (rows.json_or_none(legal), spot.id))
        texts = (tag if isinstance(tag, str) else encode(tag).decode() for tag in spot.detail if tag is not None)
        tx.revise(spot.id, {"tags": tuple(dict.fromkeys(texts))})
    return len(wrong)


def _relation_json(tx: SqliteTransaction, asked: Asked) -> int:
    wrong = _facts(tx, asked, form.schema, "relation_json_broken")
    for spot in wrong:
        kept: dict[str, Any] = {}
        raw = tx._run(_RELATION_JSON, (spot.id,)).fetchone()
        for column, text in zip(("metadata", "extra"), raw, strict=True):
            whole, value = readable(text, dict)
            if not whole:
                kept[column] = value
                tx._run(f"UPDATE relation SET {column} = NULL WHERE id = ?", (spot.id,))
        row = tx._run(SQL["relation_row"], (spot.id,)).fetchone()
        old = rows.relation((row[0], *row[2:]))
        tx.remove_relations([spot.id])
        tx.relate(
            [
                RelationDraft(
                    old.source, old.target, old.type, old.strength, old.context, {**old.metadata, UNREADABLE: kept},
                    old.extra, old.origin, old.created,
                )
            ]
        )  # fmt: skip
    return len(wrong)


def _orphans(tx: SqliteTransaction, asked: Asked) -> int:
    """Texts whose memory is gone get a new one, so that they are found again."""
    wrong = _facts(tx, asked, relations.references, "observation_orphan")
    homes: dict[int, int] = {}
    for spot in wrong:
        if spot.detail not in homes:
            name = f"recovered {spot.detail % rows.SPAN}"
            if tx.ids([name]):
                name = f"{name} {new_id()}"
            (record,) = tx.add_records([EntityDraft(name, "recovered")])
            homes[spot.detail] = record.id
        tx._run("UPDATE observation SET memory = ? WHERE id = ?", (homes[spot.detail], spot.id))
        if spot.id <= tx._base + tx._listed:
            tx._run(SQL["add_stale"], (spot.id,))
    return len(wrong)


# In an order in which none stands on what a later one mends: numbers before new rows, columns before what is made of
# them.
_WORK: dict[str, Callable[[SqliteTransaction, Asked], int]] = {
    "row_number_behind": _row_number,
    "json_broken": _json,
    "tag_no_text": _mixed_tags,
    "relation_json_broken": _relation_json,
    "observation_orphan": _orphans,
    "fold_wrong": _folds,
    "text_count_wrong": _text_count,
    "scope_count_wrong": _scopes,
    "tag_rows_wrong": _tags,
    "vector_of_nothing": _vectors("vector_of_nothing"),
    "vector_broken": _vectors("vector_broken"),
    "characters_wrong": _characters,
    "characters_behind": _characters_behind,
}
