"""Efficiency opportunities: what a project could do without, or draw together, and what that would save."""

from __future__ import annotations

from typing import Any

from polymnia.engine.analysis.actions import Relate
from polymnia.engine.analysis.clashing import once
from polymnia.engine.analysis.insights.idle import idle_sessions, to_archive
from polymnia.engine.analysis.insights.labels import same_tags
from polymnia.engine.analysis.insights.repeated import duplicates
from polymnia.engine.analysis.insights.sizes import to_join, to_split
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View
from polymnia.engine.text.calendar import moment
from polymnia.importing import importing

__all__ = ["TYPE", "conflict_insight", "efficiency_opportunities"]

TYPE = "efficiency_opportunities"

_MOST = 100  # conflicts that are passed on


def efficiency_opportunities(view: View) -> Looked:
    """What can be counted at the surface; conflicts, near copies and links that are missing when it goes deep."""
    looked = Looked(looked_at={"memories": len(view.records)})
    duplicates(view, looked)
    same_tags(view, looked)
    to_split(view, looked)
    to_join(view, looked)
    to_archive(view, looked)
    idle_sessions(view, looked)
    if view.at_least(1):
        _conflicts(view, looked)
        _links(view, looked)
    return looked


def _conflicts(view: View, looked: Looked) -> None:
    with importing():
        from polymnia.engine.analysis.conflicts import TYPES, conflicts

    found = conflicts(view.sample, types=TYPES, sensitivity="medium", among=None, suggest=view.recommend)
    looked.looked_at["compared_for_conflicts"] = found.looked_at.get("items", len(view.sample.items))
    looked.notes += found.notes
    for one in once(found.clashes)[:_MOST]:
        looked.add(conflict_insight(view, one), one.confidence)


def conflict_insight(view: View, clash: Any) -> Insight:
    """Two statements that cannot both hold, as something to settle."""
    left, right = clash.left, clash.right
    settle = clash.resolution
    advice = {} if settle is None else view.advised(settle.why, *settle.steps)
    return Insight(
        type=TYPE, name="settle_conflict",
        summary=f"{view.title(left.record)} and {view.title(right.record)} cannot both be right: {clash.differs}.",
        confidence=clash.confidence, explanation=clash.explanation,
        evidence={
            "kind": clash.type, "subtype": clash.subtype, "newer": clash.newer,
            "statements": [
                {"id": side.record.uid, side.kind: side.sentence, "at": moment(side.at)} for side in (left, right)
            ],
        },
        members=clash.members, **advice,
    )  # fmt: skip


def _links(view: View, looked: Looked) -> None:
    with importing():
        from polymnia.engine.analysis.graphs import relationship_patterns

    found = relationship_patterns(view.material)
    looked.looked_at["relations"] = found.looked_at.get("relations", len(view.material.relations))
    for one in found.patterns:
        if one.name != "missing_link":
            continue
        ids = [record.uid for id in one.members if (record := view.record(id)) is not None]
        advice = None
        if len(ids) == 2:
            draw = Relate(source=ids[0], target=ids[1], type="related_to", context=one.summary)
            advice = ("Draw the relation if it holds.", draw)
        looked.add(view.passed_on(TYPE, one, advice))
