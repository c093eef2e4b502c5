"""Usage insights: what is used and by whom within the horizon, and what follows from it."""

from __future__ import annotations

from typing import Any

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.insights.values import Looked
from polymnia.engine.analysis.insights.view import View, call, plural
from polymnia.importing import importing

__all__ = ["usage_insights"]

_IDS = 3  # that a recommendation names
_COUNTED = frozenset(("most_read", "found_not_opened", "never_read", "read_not_updated", "concentration"))
"""What a look at the surface asks about; the rest comes when it goes deep."""


def usage_insights(view: View) -> Looked:
    """What the patterns of use and of users mean, each as sure as the pattern is."""
    with importing():
        from polymnia.engine.analysis.usage import usage_patterns

    looked = Looked()
    recent = view.recent
    used = usage_patterns(recent)
    looked.looked_at |= {**used.looked_at, "days": view.days, "questions": ["usage"]}
    looked.notes += [f"{note} (The last {view.days} days were looked at.)" for note in used.notes]
    for one in used.patterns:
        if view.at_least(1) or one.name in _COUNTED:
            looked.add(view.passed_on("usage_insights", one, _advice(view, one), days=view.days), len(one.members))
    if view.at_least(1):
        with importing():
            from polymnia.engine.analysis.users import user_patterns

        people = user_patterns(recent)
        looked.looked_at |= {"users": people.looked_at.get("users"), "questions": ["usage", "users"]}
        looked.notes += people.notes
        for one in people.patterns:
            looked.add(view.passed_on("usage_insights", one, _advice(view, one), days=view.days), len(one.members))
    return looked


def _ids(view: View, one: Pattern) -> list[str]:
    found = [record.uid for id in one.members if (record := view.record(id)) is not None]
    return found[:_IDS]


def _advice(view: View, one: Pattern) -> str | None:
    """What to do about a pattern of use; None where nothing follows."""
    ids = _ids(view, one)
    if not ids and one.name not in ("concentration", "reading_rhythm", "gone"):
        return None
    first = ids[0] if ids else "…"
    named = ", ".join(ids)
    update: dict[str, Any] = {"content_id": first, "updates": {"summary": "…"}}
    match one.name:
        case "most_read":
            check = call("memory_analyze", "analyze_quality", content_id=first)
            return f"Keep {named} right before anything else, as it is what people rely on: {check}"
        case "found_not_opened":
            return (
                f"Give {named} a title and a summary that say what is in it, or delete it if it only gets in the way: "
                + call("memory_store", "update_content", **update)
            )
        case "never_read":
            return (
                f"Look at {named} and {plural(max(0, len(one.members) - len(ids)), 'other')}, and delete what nobody "
                "needs (it can be undone): " + call("memory_store", "delete_content", content_id=first)
            )
        case "read_not_updated":
            check = call("memory_analyze", "detect_conflicts", scope="content_set", content_ids=ids)
            return f"See whether {named} still holds: {check}"
        case "rewritten":
            return f"See what keeps changing in {first} and keep that apart from what stays: " + call(
                "memory_retrieve", "get_content_history", content_id=first, include_diffs=True
            )
        case "read_together":
            pair = one.evidence["pairs"][0]["ids"]
            return "Relate what is read together: " + call(
                "memory_store", "create_relationship", source_id=pair[0], target_id=pair[1], type="related_to"
            )
        case "sole_keeper" | "specialty":
            return (
                f"Let a second person read {named}: only {one.evidence.get('user', 'one user')} keeps it up. "
                + call("memory_retrieve", "get_content", content_id=first, include_history=True)
            )
        case "gone":
            return (
                f"Find somebody who takes over what {one.evidence.get('user', 'this user')} kept up"
                + (f", first of all {named}" if ids else "")
                + "."
            )
        case _:
            return None
