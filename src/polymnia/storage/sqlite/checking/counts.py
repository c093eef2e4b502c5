"""What is counted or kept beside the memories and must agree with them: scopes, tags, sessions, counters, vectors."""

from __future__ import annotations

from struct import unpack
from typing import Any

from polymnia.engine.ports.checks import Spot
from polymnia.storage.sqlite.checking.view import View, readable

__all__ = ["consistency", "indexes", "true_tags"]

_SCOPES = """
SELECT path, sum(kept), sum(real) FROM (
  SELECT path, memories AS kept, 0 AS real FROM scope WHERE project = :project
  UNION ALL SELECT coalesce(scope, ''), 0, count(*) FROM memory WHERE project = :project GROUP BY 1
) GROUP BY path HAVING sum(kept) <> sum(real) ORDER BY path
"""
_TAGGED = """
SELECT id, uid, CAST(tags AS BLOB) FROM memory
WHERE id > :low AND id <= :top AND tags IS NOT NULL AND (:session IS NULL OR session = :session)
"""
_TAGS = "SELECT memory, tag FROM tag WHERE project = ? AND memory > ?"
_OF_SESSION = "SELECT session FROM memory WHERE id = ?"
_TEXTS = """
SELECT (SELECT count(*) FROM memory WHERE id > ?1 AND id <= ?2)
  + (SELECT count(*) FROM observation WHERE id > ?1 AND id <= ?2)
"""
_LAST = """
SELECT max(id) FROM (SELECT max(id) AS id FROM memory WHERE id > ?1 AND id <= ?2
  UNION ALL SELECT max(id) FROM observation WHERE id > ?1 AND id <= ?2
  UNION ALL SELECT max(id) FROM relation WHERE id > ?1 AND id <= ?2
  UNION ALL SELECT max(id) FROM session WHERE id > ?1 AND id <= ?2)
"""
_SESSIONS = """
SELECT DISTINCT m.session FROM memory m WHERE m.id > :low AND m.id <= :top AND m.session IS NOT NULL
  AND (:session IS NULL OR m.session = :session)
  AND NOT EXISTS (SELECT 1 FROM session s WHERE s.project = m.project AND s.name = m.session) ORDER BY 1
"""
# The session a scope belongs to is its second part, if the first is `session`.
_FILED = """
SELECT id, uid, scope, session FROM (
  SELECT id, uid, scope, session,
    CASE WHEN scope LIKE 'session/%' THEN substr(scope, 9) || '/' END AS rest
  FROM memory WHERE id > :low AND id <= :top
    AND (:session IS NULL OR session = :session OR scope = 'session/' || :session)
) WHERE session IS NOT CASE WHEN rest IS NOT NULL THEN substr(rest, 1, instr(rest, '/') - 1) END ORDER BY id
"""
_DELETED = """
SELECT i.ref FROM change c JOIN change_item i ON i.change = c.id
WHERE c.project = ? AND i.op = 'd' AND i.kind IN ('m', 'o')
"""
_VECTOR_TEXTS = "SELECT DISTINCT text FROM vector WHERE text > ? AND text <= ?"
_HALF = """
SELECT coalesce(v.id, 0), ?1 << 32 | b.text FROM vector_bits b LEFT JOIN vector v ON v.id = b.id
LEFT JOIN model m ON m.id = b.model
WHERE b.project = ?1 AND (?1 << 32 | b.text) > ?2 AND (
  m.id IS NULL OR v.id IS NULL OR v.text <> (?1 << 32 | b.text) OR v.part <> b.part OR v.model <> b.model
  OR (length(v.half) <> 0 AND length(v.half) <> 2 * m.dimensions)
  OR (length(b.bits) <> 0 AND length(b.bits) <> (m.dimensions + 7) / 8) OR (length(v.half) = 0) <> (length(b.bits) = 0))
UNION ALL
SELECT v.id, v.text FROM vector v WHERE v.text > ?2 AND v.text <= ?3
  AND NOT EXISTS (SELECT 1 FROM vector_bits b WHERE b.project = ?1 AND b.model = v.model AND b.id = v.id)
"""
_ARRIVALS = "SELECT id FROM vector_bits WHERE project = ?1 AND (?1 << 32 | text) > ?2 AND (?1 << 32 | text) <= ?3"
_VECTOR = """
SELECT v.text, v.half, b.bits FROM vector v
JOIN vector_bits b ON b.project = v.text >> 32 AND b.model = v.model AND b.id = v.id WHERE v.id = ?
"""


def _is_vector(half: bytes, bits: bytes) -> bool:
    """Whether the numbers have the length 1 together, and the bits are their signs but for what rounding moves."""
    if len(half) % 2 or len(bits) != (len(half) // 2 + 7) // 8:
        return True  # told by its length
    numbers = unpack(f"<{len(half) // 2}e", half)
    if numbers and not 0.8 < sum(x * x for x in numbers) < 1.25:
        return False
    signs = int("".join("1" if x > 0 else "0" for x in numbers).ljust(len(bits) * 8, "0") or "0", 2)
    return (signs ^ int.from_bytes(bits)).bit_count() <= max(2, len(numbers) // 20)


def consistency(view: View) -> None:
    """Compare everything that is kept twice."""
    _scopes(view)
    _tags(view)
    view.found("session_missing", [Spot(0, name) for (name,) in view.rows(_SESSIONS, "memory")])
    differing = view.rows(_FILED, "memory")
    view.found("session_differs", [Spot(id, uid, (scope, session)) for id, uid, scope, session in differing])
    if view.asked.session is None:
        _counters(view)
        _vectors(view)


def indexes(view: View) -> None:
    """Compare what is made of the memories alone, and is made again by a reindex."""
    _scopes(view)
    _tags(view)
    _texts(view)
    _vectors(view)


def _scopes(view: View) -> None:
    wrong = [
        Spot(0, path or "user/default", (kept, real))
        for path, kept, real in view.run(_SCOPES, {"project": view.number})
    ]
    if view.asked.session is not None:
        own = f"session/{view.asked.session}"
        wrong = [spot for spot in wrong if spot.label == own or spot.label.startswith(own + "/")]
    view.found("scope_count_wrong", wrong)


def true_tags(raw: bytes | None) -> list[str]:
    """The tags of a memory that can be read."""
    whole, value = readable(raw, list)
    return [tag for tag in value if isinstance(tag, str)] if whole else []


def _tags(view: View) -> None:
    real: dict[int, tuple[str, set[str]]] = {
        id: (uid, set(true_tags(raw))) for id, uid, raw in view.rows(_TAGGED, "memory")
    }
    kept: dict[int, set[str]] = {}
    for memory, tag in view.run(_TAGS, (view.number, view.low("memory"))):
        kept.setdefault(memory, set()).add(tag)
    wrong: list[Spot] = []
    for memory in sorted(real.keys() | kept.keys()):
        uid, tags = real.get(memory, ("", set()))
        listed = kept.get(memory, set())
        if tags != listed and (memory in real or _in_sight(view, memory)):
            wrong.append(
                Spot(
                    memory,
                    uid or view.label(memory),
                    {"missing": sorted(tags - listed), "left over": sorted(listed - tags)},
                )
            )
    view.found("tag_rows_wrong", wrong)


def _in_sight(view: View, memory: int) -> bool:
    if view.asked.session is None:
        return True
    row = view.run(_OF_SESSION, (memory,)).fetchone()
    return row is not None and row[0] == view.asked.session


def _texts(view: View) -> None:
    (texts,) = view.run(_TEXTS, (view.base, view.top)).fetchone()
    if texts != view.snapshot._texts:
        view.found("text_count_wrong", [Spot(0, view.project or "", (view.snapshot._texts, texts))])


def _counters(view: View) -> None:
    _texts(view)
    (last,) = view.run(_LAST, (view.base, view.top)).fetchone()
    if last is not None and last - view.base > view.snapshot._seq:
        view.found("row_number_behind", [Spot(0, view.project or "", (view.snapshot._seq, last - view.base))])


def _vectors(view: View) -> None:
    there = view.texts()
    least = view.least()
    deleted = {ref for (ref,) in view.run(_DELETED, (view.number,))}
    stray: list[Any] = [
        text
        for (text,) in view.run(_VECTOR_TEXTS, (view.base + least, view.top))
        if text - view.base not in there and text not in deleted  # an undo brings a deleted text back with its vectors
    ]
    view.found("vector_of_nothing", [Spot(text, str(text - view.base)) for text in sorted(stray)])
    given = (view.number, view.base + least, view.top)
    wrong = dict.fromkeys(text for _, text in view.run(_HALF, given))
    arrivals = [id for (id,) in view.run(_ARRIVALS, given)]
    for id in view.sampled(arrivals, "vectors"):
        row = view.run(_VECTOR, (id,)).fetchone()
        if row is not None and not _is_vector(row[1], row[2]):
            wrong[row[0]] = None
    view.found("vector_broken", [Spot(text, view.label(text)) for text in wrong if text not in set(stray)])
