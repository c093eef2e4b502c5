"""What makes a project slow: logs, backlogs, marks, very long texts, hubs, and vectors nobody uses."""

from __future__ import annotations

from polymnia.engine.ports.checks import Spot
from polymnia.storage.sqlite.checking.indexes import read_alike
from polymnia.storage.sqlite.checking.view import View

__all__ = ["performance"]

_UNINDEXED = 5_000  # a healthy store takes in the newest texts by the five hundred,
_UNLISTED = 8_000  # and by the thousand into the word index
_GONE = 1_000
_GONE_SHARE = 0.2
_LONG = 1_000_000  # characters
_HUB = 2_000  # relations

_LENGTHS = """
SELECT o.id, m.uid, length(o.text) FROM observation o JOIN memory m ON m.id = o.memory
WHERE o.id > :low AND o.id <= :top AND octet_length(o.text) > {long} AND length(o.text) > {long}
  AND (:session IS NULL OR m.session = :session) ORDER BY 3 DESC
"""
_HUBS = """
SELECT name, sum(links) FROM (
  SELECT source AS name, count(*) AS links FROM relation WHERE project = :project GROUP BY source
  UNION ALL
  SELECT target, count(*) FROM relation WHERE project = :project GROUP BY target
) GROUP BY name HAVING sum(links) > {hub} ORDER BY 2 DESC
"""
_OF_NAME = "SELECT id, uid, session FROM memory WHERE project = ? AND name = ?"


def performance(view: View) -> None:
    """Measure what grows."""
    view.found(
        "text_very_long",
        [Spot(id, uid, size) for id, uid, size in view.rows(_LENGTHS.format(long=_LONG), "observation")],
    )
    view.found("hub", _hubs(view))
    if view.asked.session is not None:
        return
    snapshot, name = view.snapshot, view.project or ""
    behind = snapshot._seq - snapshot._indexed
    if behind > _UNINDEXED:
        view.found("characters_behind", [Spot(0, name, behind)], behind)
    if snapshot._listed and not read_alike(view):
        view.found("words_outdated", [Spot(0, name, snapshot._listed)])
    elif (waiting := snapshot._seq - snapshot._listed) > _UNLISTED:
        view.found("words_behind", [Spot(0, name, waiting)], waiting)
    marks = len(snapshot.gone())
    if marks > _GONE and marks > _GONE_SHARE * snapshot._texts:
        view.found("marks_many", [Spot(0, name, marks)], marks)
    if view.asked.models:
        for model, (_, count) in snapshot.models().items():
            if model not in view.asked.models:
                view.found("vectors_unused", [Spot(0, model, count)], count)


def _hubs(view: View) -> list[Spot]:
    found = []
    for name, links in view.rows(_HUBS.format(hub=_HUB), "relation"):
        row = view.run(_OF_NAME, (view.number, name)).fetchone()
        if row is not None and view.asked.session in (None, row[2]):
            found.append(Spot(row[0], row[1], links))
    return found
