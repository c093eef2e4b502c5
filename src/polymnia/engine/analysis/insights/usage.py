"""Usage insights: what was used and by whom in the horizon, and what to do about it."""

from __future__ import annotations

from polymnia.engine.analysis import actions
from polymnia.engine.analysis.actions import UNWRITTEN, Action
from polymnia.engine.analysis.findings import Finding, Findings
from polymnia.engine.analysis.insights.view import InsightResults, InsightView
from polymnia.importing import importing

_IDS = 3  # that a recommendation names
_COUNTED = frozenset(("most_read", "found_not_opened", "never_read", "read_not_updated", "concentration"))
"""What the surface reports; the rest comes when it goes deep."""


def usage_insights(view: InsightView, results: InsightResults) -> None:
    """The patterns of use and of users with recommendations, each as certain as the pattern."""
    with importing():
        from polymnia.engine.analysis.activity.usage import usage_patterns

    used = usage_patterns(view.recent)
    results.looked_at |= {**used.looked_at, "days": view.days, "questions": ["usage"]}
    for note in used.notes:
        results.note("recent", note=note, days=view.days)
    _pass_on(view, results, used)
    if view.deep:
        with importing():
            from polymnia.engine.analysis.activity.users import user_patterns

        people = user_patterns(view.recent)
        results.looked_at |= {"users": people.looked_at.get("users"), "questions": ["usage", "users"]}
        results.notes += people.notes
        _pass_on(view, results, people)


def _pass_on(view: InsightView, results: InsightResults, found: Findings) -> None:
    for one in found.patterns:
        if not view.deep and one.name not in _COUNTED:
            continue
        ids = [record.uid for record in view.loaded(one.members)][:_IDS]
        results.add(
            one.name,
            one.confidence,
            {**one.evidence, "days": view.days},
            len(one.members),
            source=one,
            details={"ids": ids},
            members=one.members,
            actions=view.steps(*_steps(one, ids)) if ids else (),
        )


def _steps(one: Finding, ids: list[str]) -> tuple[Action, ...]:
    """What to do about a pattern of use, if anything."""
    match one.name:
        case "most_read":
            return (actions.CheckQuality(id=ids[0]),)
        case "found_not_opened":
            return (actions.Update(id=ids[0], summary=UNWRITTEN, draft=True),)
        case "never_read":
            return tuple(actions.Show(id=id) for id in ids)
        case "read_not_updated":
            return (actions.CheckConflicts(ids=tuple(ids)),)
        case "rewritten":
            return (actions.ShowHistory(id=ids[0]),)
        case "read_together":
            source, target = one.evidence["pairs"][0]["ids"]
            return (actions.Relate(source=source, target=target, type="related_to"),)
        case "sole_keeper" | "specialty":
            return (actions.Show(id=ids[0]),)
        case _:
            return ()
