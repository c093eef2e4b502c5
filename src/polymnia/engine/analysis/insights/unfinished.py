"""Unfinished: places that say of themselves that something is still to come, and headings with nothing under them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from polymnia.engine.analysis.actions import UNWRITTEN, Update
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import View, plural

__all__ = ["placeholders", "unfinished"]

_MARK = re.compile(
    r"\b(?:TO[D]O|TBD|TBA|TBC|FIX[M]E)\b|\?\?\?+"
    r"|(?i:\bto be (?:defined|decided|determined|written|added|announced|done)\b"
    r"|\b(?:coming soon|fill (?:this )?in later|needs to be (?:written|filled in)|lorem ipsum)\b)"
    r"|추후\s?(?:작성|결정|추가|보완|기재|확정)|작성\s?(?:예정|필요)|(?:내용|설명)\s?(?:추가|작성)\s?(?:예정|필요)"
    r"|(?<![가-힣])미정(?![가-힣])|(?<![가-힣])미작성"
)
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})[ \t]+(.*\S)")
_FENCE = re.compile(r"[ \t]{0,3}(?:```|~~~)")
_LONGEST = 160


def placeholders(text: str) -> Iterator[tuple[str, str]]:
    """What is unfinished in a text: how (``marked`` or ``empty heading``), and the line as it stands."""
    if "#" not in text and not _MARK.search(text):
        return
    heading: tuple[int, str] | None = None
    fenced = False
    for line in text.splitlines():
        if _FENCE.match(line):
            fenced, heading = not fenced, None
        if fenced or not line.strip():
            continue
        head = _HEADING.match(line)
        if head and heading and len(head[1]) <= heading[0]:
            yield "empty heading", heading[1]
        heading = (len(head[1]), line.strip()) if head else None
        if _MARK.search(line):
            yield "marked", line.strip()[:_LONGEST]
            heading = None
    if heading and heading[0] > 1:  # a text that is one title says what it has to say
        yield "empty heading", heading[1]


def unfinished(view: View, looked: Looked) -> None:
    """Records that say that something is still to come."""
    total = 0
    for at, record in enumerate(view.records):
        if at % 500 == 0:
            view.tick(at, len(view.records))
        some = list(placeholders(view.material.text(record)))
        if not some:
            continue
        total += len(some)
        days = (view.material.now - record.updated) // 86_400_000_000
        how, line = some[0]
        what = "has nothing under" if how == "empty heading" else "leaves open:"
        more = f" and {plural(len(some) - 1, 'more place')}" if len(some) > 1 else ""
        write = Update(id=record.uid, content=UNWRITTEN, draft=True)
        looked.add(
            Insight(
                type="content_gaps", name="unfinished",
                summary=f"{view.title(record)} {what} “{line}”{more}; it was last changed {plural(days, 'day')} ago.",
                confidence=1.0,
                explanation="Counted: the lines are quoted as they stand. Code is not read.",
                evidence={
                    "places": [{"how": how, "line": line} for how, line in some[: view.budget.examples]],
                    "count": len(some), "days_since_change": days,
                },
                members=(record.id,),
                **view.advised("Write what is missing, or take the place out.", write),
            ),
            len(some) + days / 365,
        )  # fmt: skip
    looked.looked_at["unfinished_places"] = total
