"""Forgetting for good: out of the rows, the indexes and the journal, so that no undo brings it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polymnia.storage.sqlite.statements import SQL

if TYPE_CHECKING:
    from polymnia.storage.sqlite.transaction import SqliteTransaction

__all__ = ["forget_past", "purge"]


def purge(tx: SqliteTransaction, ids: Sequence[int]) -> None:
    """Remove records for good, deleted ones too."""
    # Known before anything goes: of several that bore one name, the first takes it from the journal.
    named = {id: {name for (name,) in tx._run(SQL["names_of"], (id,)) if name is not None} for id in ids}
    for id, names in named.items():
        if not names or not tx._base < id <= tx._top:
            continue
        for relation in tx.relations_of(sorted(names)):
            tx._run(SQL["delete_relation"], (relation.id,))
            tx._run(SQL["purge_items"], (relation.id,))
        tx._forget_words(id)
        tx._run(SQL["forget_seen"], (id,))
        for row, _ in tx._run(SQL["texts"], (id,)).fetchall():
            tx._run(SQL["delete_observation"], (row,))
            tx._unindex(row)
            tx._texts -= 1
        if tx._run(SQL["bookkeeping"], (id,)).fetchone() is not None:
            tx._untag(id, tx._tags_of(id))
            tx._run(SQL["delete_memory"], (id,))
            tx._unindex(id)
            tx._texts -= 1
        tx._run(SQL["purge_items"], (id,))
        for name in names:
            # Earlier lives of the name lose theirs, so nothing else of them may stay behind to be brought back.
            for (other,) in tx._run(SQL["deleted_named"], (tx._base, tx._top, name)).fetchall():
                tx._forget_words(other)
                tx._run(SQL["purge_items"], (other,))
            tx._run(SQL["purge_named_items"], (tx._base, tx._top, name))
        tx._journal("p", "m", id, id, None)
        tx.purged = True
    if tx.purged and tx._indexed:
        # Deleting from the index only marks; merging it into one piece leaves nothing of what was deleted.
        tx._run(SQL["merge_index"]).fetchall()


def forget_past(tx: SqliteTransaction, id: int) -> None:
    """Remove for good what is kept of a record's earlier versions."""
    there = {row for row, _ in tx._run(SQL["texts"], (id,)).fetchall()}
    once = {ref for _, _, kind, ref, *_ in tx._run(SQL["items_of_owner"], (id,)) if kind == "o"} - there
    for ref in once:
        tx._forget_text(ref)
    tx._run(SQL["purge_items"], (id,))
    # What this very change has replaced is not in the journal yet.
    kept = []
    for op, kind, ref, owner, before, name, other in tx._items:
        if owner == id and kind == "o" and op == "d":
            tx._forget_text(ref)
            op, before = "p", None
        elif owner == id and kind == "m" and op == "u":
            op, before = "p", None
        kept.append((op, kind, ref, owner, before, name, other))
    tx._items = kept
    tx._noted = tx.purged = True
    if tx._indexed:
        tx._run(SQL["merge_index"]).fetchall()
