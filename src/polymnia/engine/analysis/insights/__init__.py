"""Insights: gaps, usage, trends, savings and syntheses of a project (docs/decisions/0029-insights.md)."""

from __future__ import annotations

from collections.abc import Sequence

from polymnia.engine.analysis.cache import parts
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.insights.view import Depth, Horizon, InsightFinding, InsightResults, Insights, InsightView
from polymnia.engine.analysis.view import ProjectView
from polymnia.importing import load
from polymnia.models import JsonObject

__all__ = ["TYPES", "Depth", "Horizon", "InsightFinding", "Insights", "insights"]

_MODULES = {
    "content_gaps": "gaps",
    "usage_insights": "usage",
    "trend_analysis": "trends",
    "efficiency_opportunities": "savings",
    "knowledge_synthesis": "synthesis",
}
TYPES = tuple(_MODULES)
"""The types of insights; each has a function of its name in a module, which is loaded when it is needed."""


def insights(
    project: ProjectView,
    *,
    types: Sequence[str] = TYPES,
    depth: Depth = "surface",
    horizon: Horizon = "medium",
    recommend: bool = True,
    among: Sequence[int] | None = None,
) -> Insights:
    """The insights of the given types, the strongest of each first; ``among`` are the ids of the records."""
    view = InsightView(project, depth=depth, horizon=horizon, recommend=recommend, among=among)
    many, most = len(view.records), view.budget.items
    looked_at: JsonObject = {"memories": many, "depth": depth, "days": view.days}
    looked_at["compared"] = many if most is None else min(many, most)
    found: list[InsightFinding] = []
    notes: list[Remark] = []
    for type, step in zip(types, parts(project.tick, len(types)), strict=True):
        view.report = step
        step(0, 1)
        results = InsightResults(type=type)
        getattr(load(f"{__name__}.{_MODULES[type]}"), type)(view, results)
        best = results.strongest(view.budget.insights)
        found += best
        looked_at[type] = {**results.looked_at, "insights_found": len(results.found), "insights_told": len(best)}
        notes += [Remark("insights.of_type", {"type": type, "note": note}) for note in results.notes]
    return Insights(insights=found, looked_at=looked_at, notes=notes)
