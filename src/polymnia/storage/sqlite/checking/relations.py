"""Relations whose ends are not there, and references to what is not there."""

from __future__ import annotations

import re
from collections.abc import Iterator

from polymnia.engine.ports.checks import Spot
from polymnia.storage.sqlite.checking.view import View, readable

__all__ = ["orphans", "references"]

_LOOSE = """
SELECT r.id, r.source, r.target, r.type, r.origin, CAST(r.metadata AS BLOB), s.id, t.id
FROM relation r
LEFT JOIN memory s ON s.project = r.project AND s.name = r.source
LEFT JOIN memory t ON t.project = r.project AND t.name = r.target
WHERE r.id > :low AND r.id <= :top AND (s.id IS NULL OR t.id IS NULL)
  AND (:session IS NULL OR s.session = :session OR t.session = :session)
ORDER BY r.id
"""
# A relation that was drawn before one of its ends was made, and is marked: that end was deleted and stored again.
_MARKED = """
SELECT r.id, r.source, r.target, r.type, CAST(r.metadata AS BLOB)
FROM relation r
JOIN memory s ON s.project = r.project AND s.name = r.source
JOIN memory t ON t.project = r.project AND t.name = r.target
WHERE r.id > :low AND r.id <= :top AND (s.id > r.id OR t.id > r.id) AND r.metadata LIKE '%"deleted"%'
  AND (:session IS NULL OR s.session = :session OR t.session = :session)
ORDER BY r.id
"""
# Only what was drawn before the deletion has lost its end by it; what was drawn later waits for a new one.
_WAS = """
SELECT 1 FROM change_item i JOIN change c ON c.id = i.change
WHERE i.kind = 'm' AND i.op = 'd' AND i.name = ? AND i.owner > ? AND i.owner <= ? AND c.first >= ? LIMIT 1
"""
_DELETED = "deleted"

_METADATA = """
SELECT id, uid, CAST(metadata AS BLOB) FROM memory
WHERE id > :low AND id <= :top AND metadata IS NOT NULL AND (:session IS NULL OR session = :session) ORDER BY id
"""
_CONTEXT = """
SELECT r.id, CAST(r.context AS BLOB), CAST(r.metadata AS BLOB) FROM relation r
WHERE r.id > :low AND r.id <= :top AND (r.context IS NOT NULL OR r.metadata IS NOT NULL)
  AND (:session IS NULL OR EXISTS (
    SELECT 1 FROM memory m WHERE m.project = r.project AND m.session = :session AND m.name IN (r.source, r.target)))
ORDER BY r.id
"""
_THERE = "SELECT 1 FROM memory WHERE project = ? AND uid = ?"
_DELETED_UIDS = """
SELECT CAST(i.before AS BLOB) FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? AND i.op = 'd' AND i.kind = 'm'
"""
# The ids this server gives. One of the second form may be anybody's, so it counts only if it was a memory's once.
_ITEM = re.compile(rb"content_[0-9a-f]{32}(?![0-9a-f])")
_ANY = re.compile(rb"(?<![0-9a-f-])[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])")

_ORPHANS = """
SELECT o.id, o.memory FROM observation o
WHERE o.id > :low AND o.id <= :top AND NOT EXISTS (SELECT 1 FROM memory m WHERE m.id = o.memory) ORDER BY o.id
"""


def arrow(id: int, source: str, target: str, type: str) -> Spot:
    """Where a relation is."""
    return Spot(id, f"relation_{id:x}", (source, target, type))


def orphans(view: View) -> None:
    """Relations an end of which names no memory: broken, or waiting for one as some clients draw them."""
    broken: list[Spot] = []
    waiting: list[Spot] = []
    for id, source, target, type, origin, metadata, s, t in view.rows(_LOOSE, "relation"):
        if _marked(metadata):
            continue  # kept on purpose when one of its ends was deleted
        missing = [name for name, there in ((source, s), (target, t)) if there is None]
        was = any(view.run(_WAS, (name, view.base, view.top, id - view.base)).fetchone() for name in missing)
        (broken if was or origin == "auto" else waiting).append(arrow(id, source, target, type))
    view.found("relation_end_gone", broken)
    view.found("relation_end_waits", waiting)


def references(view: View) -> None:
    """Ids that are mentioned and are nobody's, marks that say or hide a deletion, and texts of no memory."""
    loose = view.rows(_LOOSE, "relation")
    view.found("reference_kept", [arrow(*row[:4]) for row in loose if _marked(row[5])])
    marked = view.rows(_MARKED, "relation")
    view.found("reference_mark_wrong", [arrow(*row[:4]) for row in marked if _marked(row[4])])
    view.found("mention_missing", _mentions(view))
    if view.asked.session is None:
        lost = view.rows(_ORPHANS, "observation")
        view.found("observation_orphan", [Spot(id, str(id - view.base), memory) for id, memory in lost])


def _marked(metadata: bytes | None) -> bool:
    whole, value = readable(metadata, dict)
    return whole and value.get(_DELETED) is True


def _mentions(view: View) -> Iterator[Spot]:
    once: set[bytes] | None = None
    there: dict[bytes, bool] = {}

    def missing(raw: bytes) -> list[str]:
        nonlocal once
        told = list(dict.fromkeys(_ITEM.findall(raw)))
        others = _ANY.findall(raw)
        if others:
            if once is None:
                once = {
                    uid for (before,) in view.run(_DELETED_UIDS, (view.number,)) for uid in _ANY.findall(before or b"")
                }
            told += [uid for uid in dict.fromkeys(others) if uid in once]
        for uid in told:
            if uid not in there:
                there[uid] = view.run(_THERE, (view.number, uid.decode())).fetchone() is not None
        return [uid.decode() for uid in told if not there[uid]]

    for id, uid, metadata in view.rows(_METADATA, "memory"):
        if gone := missing(metadata):
            yield Spot(id, uid, gone)
    for id, context, metadata in view.rows(_CONTEXT, "relation"):
        if gone := missing((context or b"") + b" " + (metadata or b"")):
            yield Spot(id, f"relation_{id:x}", gone)
