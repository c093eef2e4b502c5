"""Insights: what follows from all that is known of a project: what it lacks, uses, turns to, could save, and says.

Each insight rests on a finding of another analysis, whose confidence it passes on, or on a count or a test of its own
that its explanation names. What was counted is certain; what is told by habit (most of its like have it) is as sure as
the habit; what is told against chance is as sure as one less the false discovery rate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.insights.values import Depth, Horizon, Insight, Insights, Looked
from polymnia.engine.analysis.insights.view import View
from polymnia.engine.analysis.progress import parts
from polymnia.engine.analysis.view import Material
from polymnia.errors import NoLibrary
from polymnia.importing import importing

__all__ = ["TYPES", "Depth", "Horizon", "Insight", "Insights", "insights"]


def _gaps(view: View) -> Looked:
    with importing():
        from polymnia.engine.analysis.insights.gaps import content_gaps

    return content_gaps(view)


def _usage(view: View) -> Looked:
    from polymnia.engine.analysis.insights.used import usage_insights

    return usage_insights(view)


def _trends(view: View) -> Looked:
    with importing():
        from polymnia.engine.analysis.insights.moved import trend_analysis

    return trend_analysis(view)


def _savings(view: View) -> Looked:
    with importing():
        from polymnia.engine.analysis.insights.savings import efficiency_opportunities

    return efficiency_opportunities(view)


def _synthesis(view: View) -> Looked:
    with importing():
        from polymnia.engine.analysis.insights.synthesis import knowledge_synthesis

    return knowledge_synthesis(view)


_LOOKS: dict[str, Callable[[View], Looked]] = {
    "content_gaps": _gaps,
    "usage_insights": _usage,
    "trend_analysis": _trends,
    "efficiency_opportunities": _savings,
    "knowledge_synthesis": _synthesis,
}
TYPES = tuple(_LOOKS)
"""The types of insights there are."""


def insights(
    material: Material,
    *,
    types: Sequence[str] = TYPES,
    depth: Depth = "surface",
    horizon: Horizon = "medium",
    recommend: bool = True,
    among: Sequence[int] | None = None,
) -> Insights:
    """The insights of the given types, type by type, the strongest of each first.

    ``depth`` is how much is looked at and told, ``horizon`` the time that use, trends and staleness are about,
    ``among`` the ids of the records it is all about. A type that needs a library that is missing is a note where other
    types could be told, and raises NoLibrary where none could.
    """
    view = View(material, depth=depth, horizon=horizon, recommend=recommend, among=among)
    found: list[Insight] = []
    looked_at: dict[str, Any] = {
        "memories": len(view.records), "depth": depth, "days": view.days,
        "compared": len(view.records) if view.budget.items is None else min(len(view.records), view.budget.items),
    }  # fmt: skip
    notes: list[Remark | str] = []
    missing: list[NoLibrary] = []
    for type, step in zip(types, parts(material.tick, len(types)), strict=True):
        view.ticking(step)
        step(0, 1)
        try:
            looked = _LOOKS[type](view)
        except NoLibrary as e:
            missing.append(e)
            notes.append(f"{type}: {e.message}. {e.hint}")
            continue
        best = looked.strongest(view.budget.insights)
        found += best
        looked_at[type] = {**looked.looked_at, "insights_found": len(looked.found), "insights_told": len(best)}
        notes += [Remark("insights.of_type", {"type": type, "note": note}) for note in looked.notes]
    if missing and len(missing) == len(types):
        raise missing[0]
    return Insights(insights=found, looked_at=looked_at, notes=notes)
