"""Whether every row is what its column promises: scopes, JSON, tags, times, versions, names and texts."""

from __future__ import annotations

from collections.abc import Iterator

from polymnia.engine.ports.checks import Spot
from polymnia.storage.sqlite import rows
from polymnia.storage.sqlite.checking.relations import arrow
from polymnia.storage.sqlite.checking.view import View, readable

__all__ = ["schema"]

_AHEAD = 300_000_000  # clocks of two machines differ by less: five minutes, in microseconds

_SCOPES = """
SELECT DISTINCT scope FROM memory WHERE project = :project AND id > :low AND id <= :top AND scope IS NOT NULL
  AND (:session IS NULL OR session = :session)
"""
_IN_SCOPE = "SELECT id, uid, scope FROM memory WHERE project = ? AND scope = ? ORDER BY id"
_HEADS = """
SELECT id, uid, CAST(tags AS BLOB), CAST(metadata AS BLOB), CAST(extra AS BLOB) FROM memory
WHERE id > :low AND id <= :top AND (tags IS NOT NULL OR metadata IS NOT NULL OR extra IS NOT NULL)
  AND (:session IS NULL OR session = :session) ORDER BY id
"""
_LINKS = """
SELECT id, source, target, type, strength, CAST(metadata AS BLOB), CAST(extra AS BLOB) FROM relation
WHERE id > :low AND id <= :top AND (metadata IS NOT NULL OR extra IS NOT NULL OR strength IS NOT NULL)
  AND (:session IS NULL OR EXISTS (
    SELECT 1 FROM memory m WHERE m.project = relation.project AND m.session = :session AND m.name IN (source, target)))
ORDER BY id
"""
_TIMES = """
SELECT id, uid, created, updated, version FROM memory WHERE id > :low AND id <= :top
  AND (updated < created OR version < 1 OR max(created, updated) > {now})
  AND (:session IS NULL OR session = :session) ORDER BY id
"""
_TWICE = """
SELECT {column}, count(*), max(id) FROM memory NOT INDEXED WHERE project = :project AND id > :low AND id <= :top
  AND (:session IS NULL OR session = :session) GROUP BY {column} HAVING count(*) > 1
"""
_NAMES = """
SELECT id, CAST(uid AS BLOB), CAST(name AS BLOB), CAST(kind AS BLOB), CAST(summary AS BLOB), CAST(category AS BLOB),
  CAST(name_fold AS BLOB), CAST(kind_fold AS BLOB), look
FROM memory WHERE id > :low AND id <= :top AND (:session IS NULL OR session = :session) ORDER BY id
"""
_BODIES = """
SELECT o.id, o.memory, CAST(o.text AS BLOB), CAST(o.fold AS BLOB), o.digest FROM observation o
LEFT JOIN memory m ON m.id = o.memory
WHERE o.id > :low AND o.id <= :top AND (:session IS NULL OR m.session = :session) ORDER BY o.id
"""


def schema(view: View) -> None:
    """Look at every row."""
    view.found("scope_illegal", list(_scopes(view)))
    _json(view)
    _links(view)
    _times(view)
    for column, kind in (("name", "name_twice"), ("uid", "id_twice")):
        twice = view.rows(_TWICE.format(column=column), "memory")
        view.found(kind, [Spot(id, str(value), count) for value, count, id in twice])
    _texts(view)


def _scopes(view: View) -> Iterator[Spot]:
    for (scope,) in view.rows(_SCOPES, "memory"):
        if not view.asked.is_scope(scope):
            for id, uid, path in view.run(_IN_SCOPE, (view.number, scope)):
                yield Spot(id, uid, path)


def _json(view: View) -> None:
    broken, mixed = [], []
    for id, uid, *raw in view.rows(_HEADS, "memory"):
        read = [readable(value, kind) for value, kind in zip(raw, (list, dict, dict), strict=True)]
        bad = [name for name, (whole, _) in zip(("tags", "metadata", "extra"), read, strict=True) if not whole]
        if bad:
            broken.append(Spot(id, uid, bad))
        whole, tags = read[0]
        if whole and not all(isinstance(tag, str) for tag in tags):
            mixed.append(Spot(id, uid, tags))
    view.found("json_broken", broken)
    view.found("tag_no_text", mixed)


def _links(view: View) -> None:
    broken, outside = [], []
    for id, source, target, type, strength, *raw in view.rows(_LINKS, "relation"):
        if not all(readable(value, dict)[0] for value in raw):
            broken.append(arrow(id, source, target, type))
        elif strength is not None and not 0 <= strength <= 1:
            outside.append(arrow(id, source, target, type))
    view.found("relation_json_broken", broken)
    view.found("strength_outside", outside)


def _times(view: View) -> None:
    border = view.now + _AHEAD
    ahead, back, low = [], [], []
    for id, uid, created, updated, version in view.rows(_TIMES.format(now=border), "memory"):
        if max(created, updated) > border:
            ahead.append(Spot(id, uid, (created, updated)))
        elif updated < created:
            back.append(Spot(id, uid, (created, updated)))
        if version < 1:
            low.append(Spot(id, uid, version))
    view.found("time_ahead", ahead)
    view.found("time_backwards", back)
    view.found("version_low", low)


def _texts(view: View) -> None:
    nul, named, broken, folded = [], [], [], []
    for id, uid, name, kind, summary, category, name_fold, kind_fold, look in view.rows(_NAMES, "memory"):
        label = uid.decode("utf-8", "replace")
        if any(b"\0" in text for text in (uid, name, kind)):
            named.append(Spot(id, label))
            continue
        if any(text is not None and b"\0" in text for text in (summary, category)):
            nul.append(Spot(id, label, id))
        try:
            for text in (uid, summary, category):
                if text is not None:
                    text.decode()
            true = (_fold(name.decode()), _fold(kind.decode()), rows.look(name.decode()))
        except UnicodeDecodeError:
            broken.append(Spot(id, label, id))
            continue
        if true != (name_fold, kind_fold, look):
            folded.append(Spot(id, label))
    for id, memory, text, fold, digest in view.rows(_BODIES, "observation"):
        if b"\0" in text:
            nul.append(Spot(id, view.label(id), memory))
            continue
        try:
            body = text.decode()
        except UnicodeDecodeError:
            broken.append(Spot(id, view.label(id), memory))
            continue
        if rows.digest(body) != digest or _fold(body) != fold:
            folded.append(Spot(id, view.label(id)))
    view.found("text_has_nul", nul)
    view.found("name_has_nul", named)
    view.found("text_no_unicode", broken)
    view.found("fold_wrong", folded)


def _fold(text: str) -> bytes | None:
    folded = rows.fold_or_none(text)
    return None if folded is None else folded.encode("utf-8", "surrogatepass")
