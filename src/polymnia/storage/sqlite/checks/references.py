"""References: relations, mentions, texts and items of the journal that lead to what is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from polymnia.engine.ports.maintenance import Spot
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.checks.view import CheckView, readable

_DELETED = "deleted"
# The ids this server gives. One of the second form may be anybody's, so it counts only if it was a memory's once.
_ITEM = re.compile(rb"content_[0-9a-f]{32}(?![0-9a-f])")
_ANY = re.compile(rb"(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])")
_TABLES = {"m": "memory", "o": "observation", "r": "relation", "s": "session"}
_COLUMNS = {
    "m": rows.MEMORY_COLUMNS,
    "o": rows.OBSERVATION_COLUMNS[1:],
    "r": rows.RELATION_COLUMNS,
    "s": rows.SESSION_COLUMNS,
}


def arrow(id: int, source: str, target: str, type: str) -> Spot:
    """Where a relation is."""
    return Spot(id, f"relation_{id:x}", (source, target, type))


def orphans(view: CheckView) -> None:
    """Relations an end of which names no memory: broken, or waiting for one as some clients draw them."""
    broken: list[Spot] = []
    waiting: list[Spot] = []
    for id, source, target, type, origin, metadata, s, t in view.rows("relations_loose", "relation"):
        if _marked(metadata):
            continue  # kept on purpose when one of its ends was deleted
        missing = [name for name, there in ((source, s), (target, t)) if there is None]
        was = any(
            view.ask("was_deleted_after", name, view.base, view.top, id - view.base).fetchone() for name in missing
        )
        (broken if was or origin == "auto" else waiting).append(arrow(id, source, target, type))
    view.found("relation_end_gone", broken)
    view.found("relation_end_waits", waiting)


def references(view: CheckView) -> None:
    """Ids that are mentioned and are nobody's, marks that say or hide a deletion, and texts of no memory."""
    loose = view.rows("relations_loose", "relation")
    view.found("reference_kept", [arrow(*row[:4]) for row in loose if _marked(row[5])])
    marked = view.rows("relations_marked", "relation")
    view.found("reference_mark_wrong", [arrow(*row[:4]) for row in marked if _marked(row[4])])
    view.found("mention_missing", _mentions(view))
    if view.asked.session is None:
        lost = view.rows("texts_of_nothing", "observation")
        view.found("observation_orphan", [Spot(id, str(id - view.base), memory) for id, memory in lost])


def _marked(metadata: bytes | None) -> bool:
    whole, value = readable(metadata, dict)
    return whole and value.get(_DELETED) is True


def _mentions(view: CheckView) -> Iterator[Spot]:
    once: set[bytes] | None = None
    there: dict[bytes, bool] = {}

    def missing(raw: bytes) -> list[str]:
        nonlocal once
        told = list(dict.fromkeys(_ITEM.findall(raw)))
        others = _ANY.findall(raw)
        if others:
            if once is None:
                once = {
                    uid
                    for (before,) in view.ask(
                        "deleted_states",
                        view.number,
                    )
                    for uid in _ANY.findall(before or b"")
                }
            told += [uid for uid in dict.fromkeys(others) if uid in once]
        for uid in told:
            if uid not in there:
                there[uid] = view.ask("has_uid", view.number, uid.decode()).fetchone() is not None
        return [uid.decode() for uid in told if not there[uid]]

    for id, uid, metadata in view.rows("memory_metadata", "memory"):
        if gone := missing(metadata):
            yield Spot(id, uid, gone)
    for id, context, metadata in view.rows("relation_contexts", "relation"):
        if gone := missing((context or b"") + b" " + (metadata or b"")):
            yield Spot(id, f"relation_{id:x}", gone)


# ── the journal ────────────────────────────────────────────────────────────────────────────────────────


def journal_ranges(view: CheckView) -> None:
    """The rows that no change has made, and the changes that claim the rows of another."""
    overlaps, alone = [], []
    covered = 0
    for id, first, last in view.ask(
        "change_ranges",
        view.number,
    ).fetchall():
        if first < covered:
            overlaps.append(Spot(id, f"change {id}", (first, last)))
        elif first > covered:
            alone += view.ask("rows_between", view.base + covered, view.base + first).fetchall()
        covered = max(covered, last)
    alone += view.ask("rows_between", view.base + covered, view.top).fetchall()
    view.found("journal_overlap", overlaps)
    view.found("row_unjournalled", [Spot(id, view.label(id)) for (id,) in alone])


def journal_items(view: CheckView) -> None:
    """The items about rows that never were, and those whose earlier state cannot be read."""
    lost: list[Spot] = []
    known: dict[str, set[int]] = {}
    for kind, table in _TABLES.items():
        known[kind] = {
            id for (id,) in view.run(f"SELECT id FROM {table} WHERE id > ? AND id <= ?", (view.base, view.top))
        }
    gone: set[tuple[str, int]] = set()
    for _, _, op, kind, ref, _ in view.ask(
        "journal_items",
        view.number,
    ):
        if op in ("d", "p"):
            gone.add((kind, ref))
    top = view.base + view.snapshot._seq
    for change, n, op, kind, ref, before in view.ask(
        "journal_items",
        view.number,
    ):
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
        for id, other in view.ask(
            "undoes_nothing",
            view.number,
        )
    ]
    (count,) = view.ask(
        "count_journal_items",
        view.number,
    ).fetchone()
    view.looked["items of the journal"] = (count, count)
    view.found("journal_item_lost", lost)


def _is_state(before: bytes | None, kind: str, op: str) -> bool:
    whole, value = readable(before, dict)
    if before is None or not whole:
        return False
    return op == "u" or all(column in value for column in _COLUMNS[kind])
