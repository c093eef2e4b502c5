"""Issue: which contents are asked about, and an issue with its examples."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TYPE_CHECKING, Any

from polymnia.engine.analysis.findings import Pattern, Remark
from polymnia.engine.content import title_of
from polymnia.models import JsonObject, Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_EXAMPLES = 10
_QUOTED = 160  # characters of a quotation
_READ = 4000


def subjects(project: ProjectView) -> list[Record]:
    """The contents a question is about: the one in focus, or all."""
    if project.focus is not None:
        one = project.by_id.get(project.focus)
        return [one] if one is not None else []
    return project.items


def quoted(text: str) -> str:
    """The beginning of a text as it stands, on one line."""
    flat = " ".join(text[:_READ].split())
    return flat if len(flat) <= _QUOTED else flat[:_QUOTED].rstrip() + "…"


def example(record: Record, why: Remark, quote: str) -> JsonObject:
    """A content as evidence: its id, its title, what is wrong, and the words that show it."""
    return {"id": record.uid, "title": quoted(title_of(record)), "why": why, "quote": quoted(quote)}


def issue(
    name: str, confidence: float, members: list[Record], total: int, examples: Iterable[JsonObject], **more: Any
) -> Pattern:
    """A pattern of one kind of issue, among so many contents that were asked about."""
    return Pattern(
        type="quality_issues",
        name=name,
        confidence=round(confidence, 4),
        evidence={
            "count": len(members),
            "share": round(len(members) / max(1, total), 4),
            **more,
            "examples": list(islice(examples, _EXAMPLES)),
        },
        details={"total": total},
        members=tuple(one.id for one in members),
    )
