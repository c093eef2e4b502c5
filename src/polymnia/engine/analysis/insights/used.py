"""Usage insights: what is used and by whom within the horizon, and what follows from it."""

from __future__ import annotations

from polymnia.engine.analysis.actions import (
    UNWRITTEN,
    Action,
    CheckConflicts,
    CheckQuality,
    Relate,
    Show,
    ShowHistory,
    Update,
)
from polymnia.engine.analysis.findings import Pattern, Remark
from polymnia.engine.analysis.insights.values import Looked
from polymnia.engine.analysis.insights.view import View, plural
from polymnia.importing import importing

__all__ = ["usage_insights"]

_IDS = 3  # that a recommendation names
_COUNTED = frozenset(("most_read", "found_not_opened", "never_read", "read_not_updated", "concentration"))
"""What a look at the surface asks about; the rest comes when it goes deep."""


def usage_insights(view: View) -> Looked:
    """What the patterns of use and of users mean, each as sure as the pattern is."""
    with importing():
        from polymnia.engine.analysis.activity.usage import usage_patterns

    looked = Looked()
    recent = view.recent
    used = usage_patterns(recent)
    looked.looked_at |= {**used.looked_at, "days": view.days, "questions": ["usage"]}
    looked.notes += [Remark("insights.recent", {"note": note, "days": view.days}) for note in used.notes]
    for one in used.patterns:
        if view.at_least(1) or one.name in _COUNTED:
            looked.add(view.passed_on("usage_insights", one, _advice(view, one), days=view.days), len(one.members))
    if view.at_least(1):
        with importing():
            from polymnia.engine.analysis.activity.users import user_patterns

        people = user_patterns(recent)
        looked.looked_at |= {"users": people.looked_at.get("users"), "questions": ["usage", "users"]}
        looked.notes += people.notes
        for one in people.patterns:
            looked.add(view.passed_on("usage_insights", one, _advice(view, one), days=view.days), len(one.members))
    return looked


def _ids(view: View, one: Pattern) -> list[str]:
    found = [record.uid for id in one.members if (record := view.record(id)) is not None]
    return found[:_IDS]


def _advice(view: View, one: Pattern) -> tuple[str, *tuple[Action, ...]] | None:
    """What to do about a pattern of use; None where nothing follows."""
    ids = _ids(view, one)
    if not ids:
        return None
    first, named = ids[0], ", ".join(ids)
    match one.name:
        case "most_read":
            return f"Keep {named} right before anything else, as it is what people rely on.", CheckQuality(id=first)
        case "found_not_opened":
            return (
                f"Give {named} a title and a summary that say what is in it, or delete it if it only gets in the way.",
                Update(id=first, summary=UNWRITTEN, draft=True),
            )
        case "never_read":
            others = len(one.members) - len(ids)
            more = f" and {plural(others, 'other')}" if others > 0 else ""
            return (
                f"Look at {named}{more}, and delete what nobody needs, which can be undone.",
                *(Show(id=id) for id in ids),
            )
        case "read_not_updated":
            return f"See whether {named} still holds.", CheckConflicts(ids=tuple(ids))
        case "rewritten":
            return f"See what keeps changing in {first} and keep that apart from what stays.", ShowHistory(id=first)
        case "read_together":
            source, target = one.evidence["pairs"][0]["ids"]
            return "Relate what is read together.", Relate(source=source, target=target, type="related_to")
        case "sole_keeper" | "specialty":
            return f"Let a second person read {named}: only {one.evidence['user']} keeps it up.", Show(id=first)
        case "gone":
            return (f"Find somebody who takes over what {one.evidence['user']} kept up, first of all {named}.",)
        case _:
            return None
