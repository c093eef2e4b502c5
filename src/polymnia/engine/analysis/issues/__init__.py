"""Issues: which contents of a project are empty, copied, out of date, contradictory, lone or untidy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from polymnia.engine.analysis.findings import Found, Remark
from polymnia.engine.analysis.issues.contrary import contradictory
from polymnia.engine.analysis.issues.copies import duplicated
from polymnia.engine.analysis.issues.empty import empty
from polymnia.engine.analysis.issues.orphans import orphaned
from polymnia.engine.analysis.issues.stale import stale
from polymnia.engine.analysis.issues.subjects import subjects
from polymnia.engine.analysis.issues.untidy import badly_structured

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["quality_issues"]


def quality_issues(material: Material) -> Found:
    """The issues of a project, one pattern a kind, most certain first; of the content in focus if there is one."""
    asked = subjects(material)
    if not asked:
        return Found(looked_at={"contents": 0}, notes=["There is no content to look at."])
    patterns = []
    notes: list[Remark | str] = []
    if (none := empty(material)) is not None:
        patterns.append(none)
    for look in (duplicated, stale, contradictory, orphaned, badly_structured):
        found, said = look(material)
        if found is not None:
            patterns.append(found)
        notes += said
    patterns.sort(key=lambda one: (-one.confidence, -one.evidence["count"], one.name))
    return Found(patterns=patterns, looked_at={"contents": len(asked), "of": len(material.items)}, notes=notes)
