"""Whether the journal is whole: every row made by one change, every item about something, every state readable."""

from __future__ import annotations

from polymnia.engine.ports.checks import Spot
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.checking.view import View, readable

__all__ = ["items", "ranges"]

_CHANGES = "SELECT id, first, last FROM change WHERE project = ? AND last > first ORDER BY first, id"
_MADE = """
SELECT id FROM memory WHERE id > ?1 AND id <= ?2 UNION ALL SELECT id FROM observation WHERE id > ?1 AND id <= ?2
UNION ALL SELECT id FROM relation WHERE id > ?1 AND id <= ?2 UNION ALL SELECT id FROM session WHERE id > ?1 AND id <= ?2
"""
_ITEMS = """
SELECT i.change, i.n, i.op, i.kind, i.ref, CAST(i.before AS BLOB) FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? ORDER BY i.change, i.n
"""
_COUNT = "SELECT count(*) FROM change c JOIN change_item i ON i.change = c.id WHERE c.project = ?"
_UNDOES = """
SELECT c.id, c.undoes FROM change c WHERE c.project = ?1 AND c.undoes IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM change o WHERE o.id = c.undoes AND o.project = ?1)
"""
_TABLES = {"m": "memory", "o": "observation", "r": "relation", "s": "session"}
_COLUMNS = {
    "m": rows.MEMORY_COLUMNS, "o": rows.OBSERVATION_COLUMNS[1:], "r": rows.RELATION_COLUMNS, "s": rows.SESSION_COLUMNS,
}  # fmt: skip


def ranges(view: View) -> None:
    """The rows that no change has made, and the changes that claim the rows of another."""
    overlaps, alone = [], []
    covered = 0
    for id, first, last in view.run(_CHANGES, (view.number,)).fetchall():
        if first < covered:
            overlaps.append(Spot(id, f"change {id}", (first, last)))
        elif first > covered:
            alone += view.run(_MADE, (view.base + covered, view.base + first)).fetchall()
        covered = max(covered, last)
    alone += view.run(_MADE, (view.base + covered, view.top)).fetchall()
    view.found("journal_overlap", overlaps)
    view.found("row_unjournalled", [Spot(id, view.label(id)) for (id,) in alone])


def items(view: View) -> None:
    """The items about rows that never were, and those whose earlier state cannot be read."""
    lost: list[Spot] = []
    known: dict[str, set[int]] = {}
    for kind, table in _TABLES.items():
        known[kind] = {
            id for (id,) in view.run(f"SELECT id FROM {table} WHERE id > ? AND id <= ?", (view.base, view.top))
        }
    gone: set[tuple[str, int]] = set()
    for _, _, op, kind, ref, _ in view.run(_ITEMS, (view.number,)):
        if op in ("d", "p"):
            gone.add((kind, ref))
    top = view.base + view.snapshot._seq
    for change, n, op, kind, ref, before in view.run(_ITEMS, (view.number,)):
        why = None
        if kind not in _TABLES or not view.base < ref <= top:
            why = "about a row that was never made"
        elif ref not in known[kind] and (kind, ref) not in gone:
            why = "about a row that is not there and was not deleted"
        elif op in ("u", "d") and not _is_state(before, kind, op):
            why = "with an earlier state that cannot be read"
        if why is not None:
            lost.append(Spot(change, f"change {change}", f"item {n}, {why}"))
    lost += [
        Spot(id, f"change {id}", f"undoes change {other}, which is not there")
        for id, other in view.run(_UNDOES, (view.number,))
    ]
    (count,) = view.run(_COUNT, (view.number,)).fetchone()
    view.looked["items of the journal"] = (count, count)
    view.found("journal_item_lost", lost)


def _is_state(before: bytes | None, kind: str, op: str) -> bool:
    whole, value = readable(before, dict)
    if before is None or not whole:
        return False
    return op == "u" or all(column in value for column in _COLUMNS[kind])
