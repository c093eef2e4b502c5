"""Contrary: contents that say what another one denies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polymnia.engine.analysis.findings import Pattern, Remark
from polymnia.engine.analysis.issues.subjects import many, pattern, quoted, subjects
from polymnia.engine.items import title_of
from polymnia.importing import importing
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["contradictory"]


def contradictory(material: Material) -> tuple[Pattern | None, Sequence[Remark | str]]:
    """The contents that clash with others, by the conflicts that the project shows, and what was not compared."""
    with importing():
        from polymnia.engine.analysis.conflicts import conflicts, conflicts_of

    asked = subjects(material)
    if material.focus is None:
        made = conflicts(material, suggest=False)
    elif asked:
        made = conflicts_of(material, asked[0], suggest=False)
    else:
        return None, []
    found, notes = made.clashes, made.notes
    if not found:
        return None, notes
    members: dict[int, Record] = {}
    for one in found:
        for side in (one.left, one.right):
            members.setdefault(side.record.id, side.record)
    kinds: dict[str, int] = {}
    for one in found:
        kinds[one.type] = kinds.get(one.type, 0) + 1
    return pattern(
        "contradictory",
        f"{many(len(found), 'conflict')} between statements of {many(len(members), 'content')}.",
        "Found by the look for conflicts, with sensitivity medium. The confidence is the mean of how often conflicts "
        "like these are real.",
        sum(one.confidence for one in found) / len(found),
        list(members.values()),
        len(asked),
        (
            {
                "id": one.left.record.uid,
                "title": quoted(title_of(one.left.record)),
                "relation" if one.left.drawn else "quote": quoted(one.left.sentence),
                "other_id": one.right.record.uid,
                "other_title": quoted(title_of(one.right.record)),
                "other_relation" if one.right.drawn else "other_quote": quoted(one.right.sentence),
                "why": one.differs,
                "confidence": round(one.confidence, 3),
            }
            for one in found
        ),
        conflicts=len(found),
        by_reason=kinds,
    ), notes
