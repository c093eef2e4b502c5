"""Decided: decisions that lack a part which the other decisions of the project have."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polymnia.engine.analysis.actions import UNWRITTEN, Action, Relate, Update
from polymnia.engine.analysis.insights.habits import habit
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View, plural
from polymnia.engine.items import DECISION
from polymnia.models import Record

__all__ = ["PARTS", "decisions", "lacking", "thin_decisions"]

PARTS: dict[str, tuple[str, re.Pattern[str]]] = {
    "rationale": (
        "reason",
        re.compile(
            r"^#+\s*(?:rationale|reasons?|why)\b|\bbecause\b|\bin order to\b|\bdue to\b|(?m:^#+\s*(?:근거|이유))|때문"
            r"|이유는|위해",
            re.IGNORECASE | re.MULTILINE,
        ),
    ),
    "alternatives": (
        "alternative",
        re.compile(
            r"\balternativ|\binstead of\b|\brather than\b|\bconsidered\b|\boptions?\b|\brejected\b|대안|대신|검토한"
            r"|후보",
            re.IGNORECASE,
        ),
    ),
    "impact": (
        "consequence",
        re.compile(r"^#+\s*(?:impact|consequences?|effects?)\b|\bconsequence|영향|결과", re.IGNORECASE | re.MULTILINE),
    ),
}
"""What a decision should have: what it is called, and what shows that it is there."""

_LEAST = 0.5  # below this, decisions here mostly do without the part
_FOLLOWS = re.compile(r"implement|resolv|follow|supersed|describ|part_of|causes|구현|후속", re.IGNORECASE)


def decisions(records: Sequence[Record]) -> list[Record]:
    """The records that are decisions, by their kind or a tag."""
    words = {DECISION, "decisions", "adr", "결정"}
    return [one for one in records if one.kind.casefold() in words or any(t.casefold() in words for t in one.tags)]


def lacking(record: Record, text: str, part: str) -> bool:
    """Whether a decision says nothing of a part: neither in its fields nor in its words."""
    fields = record.metadata.get("decision")
    if isinstance(fields, dict) and fields.get(part):
        return False
    return PARTS[part][1].search(text) is None


def thin_decisions(view: View, looked: Looked) -> None:
    """For each part of a decision, those that do without it where most have it; and those nothing followed from."""
    all_ = decisions(view.records)
    looked.looked_at["decisions"] = len(all_)
    if not all_:
        return
    for part, (called, _) in PARTS.items():
        missing = [one for one in all_ if lacking(one, view.material.text(one), part)]
        _tell(view, looked, f"decision_without_{part}", all_, missing, f"no {called} is named")
    if view.at_least(1):
        names = {one.name for one in all_}
        followed: set[str] = set()
        for relation in view.material.relations:
            if _FOLLOWS.search(relation.type):
                followed |= names & {relation.source, relation.target}
        old = [one for one in all_ if one.created < view.start]
        _tell(view, looked, "decision_without_follow_up", old, [one for one in old if one.name not in followed],
              f"nothing follows from it in {plural(view.days, 'day')} and more")  # fmt: skip


def _tell(view: View, looked: Looked, name: str, all_: list[Record], missing: list[Record], what: str) -> None:
    have = len(all_) - len(missing)
    usual = habit(have, len(all_) - 1)
    if not missing or usual < _LEAST:
        return
    first = missing[0]
    step: Action = Update(id=first.uid, content=UNWRITTEN, draft=True)
    if name.endswith("follow_up"):
        step = Relate(source=UNWRITTEN, target=first.uid, type="implements", draft=True)
    ids = ", ".join(one.uid for one in missing[: view.budget.examples])
    looked.add(
        Insight(
            type="content_gaps", name=name,
            summary=f"In {plural(len(missing), 'decision')} of {len(all_)} {what}, first in {view.title(first)}; the "
            f"other {have} are complete in that.",
            confidence=round(usual, 4),
            explanation="How usual the part is among the decisions of this project: (those that have it + 1) / (the "
            "others "
            "+ 2), the mean of what is likely after seeing them.",
            evidence={"lacking": view.shown(missing), "count": len(missing), "having": have, "decisions": len(all_)},
            members=tuple(one.id for one in missing),
            **view.advised(f"Add it to {ids}.", step),
        ),
        len(missing),
    )  # fmt: skip
