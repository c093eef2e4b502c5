"""Review: what a person should look at side by side: conflicts, duplicates, open questions, and what is stale."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Literal, get_args

from msgspec import Struct

from polymnia.engine.analysis.actions import Action
from polymnia.engine.analysis.conflicts import Clash, conflicts
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.insights.gaps import find_open_questions
from polymnia.engine.analysis.insights.view import InsightResults, InsightView
from polymnia.engine.analysis.issues import groups_of_copies, stale_items
from polymnia.engine.analysis.view import ProjectView
from polymnia.models import Record

ReviewKind = Literal["conflicts", "duplicates", "questions", "stale"]
KINDS: tuple[str, ...] = get_args(ReviewKind)
_QUOTED = 400  # characters


class ReviewSide(Struct, frozen=True, kw_only=True):
    """One of the memories to look at, what of it matters, and since when it holds."""

    record: Record
    quote: str
    at: int
    newer: bool = False


class ReviewItem(Struct, frozen=True, kw_only=True):
    """One thing to settle: how sure it is, why, the memories, and what is suggested, if anything certain can be."""

    kind: ReviewKind
    confidence: float
    why: Remark
    sides: list[ReviewSide]
    suggested: tuple[Action, ...] = ()

    @property
    def id(self) -> str:
        """Its id, which is another one as soon as one of its memories has changed."""
        parts = (f"{one.record.uid} {one.record.version} {one.quote}" for one in self.sides)
        return sha256("\n".join((self.kind, *parts)).encode()).hexdigest()[:24]


def conflict_of(one: Record, other: Record) -> ReviewItem:
    """Two memories that were noted as contradicting each other."""
    older, newer = sorted((one, other), key=lambda record: record.updated)
    sides = [
        ReviewSide(record=record, quote=_quoted(_text(record)), at=record.updated, newer=record is newer)
        for record in (older, newer)
    ]
    return ReviewItem(kind="conflicts", confidence=1.0, why=Remark("noted"), sides=sides)


def review(project: ProjectView, kind: ReviewKind) -> tuple[list[ReviewItem], list[Remark]]:
    """Everything of a kind in the project, most certain first; and notes."""
    found, notes = _REVIEWS[kind](project)
    return sorted(found, key=lambda one: -one.confidence), notes


def _conflicts(project: ProjectView) -> tuple[list[ReviewItem], list[Remark]]:
    made = conflicts(project, suggest=True)
    return [_clash(one) for one in made.clashes], list(made.notes)


def _clash(one: Clash) -> ReviewItem:
    sides = [
        ReviewSide(record=side.record, quote=side.sentence, at=side.at, newer=one.newer == name)
        for name, side in (("left", one.left), ("right", one.right))
    ]
    return ReviewItem(
        kind="conflicts",
        confidence=one.confidence,
        why=Remark(one.subtype, {"type": one.type, "differs": one.differs, "certain": one.order.certain}),
        sides=sides,
        suggested=() if one.resolution is None else one.resolution.steps,
    )


def _duplicates(project: ProjectView) -> tuple[list[ReviewItem], list[Remark]]:
    groups, notes = groups_of_copies(project)
    found = []
    for records, certain in groups:
        newest = max(records, key=lambda record: record.updated)
        sides = [
            ReviewSide(record=one, quote=_quoted(project.text(one)), at=one.updated, newer=one is newest)
            for one in records
        ]
        why = Remark("same_text" if certain == 1.0 else "nearly_same")
        found.append(ReviewItem(kind="duplicates", confidence=round(certain, 4), why=why, sides=sides))
    return found, notes


def _questions(project: ProjectView) -> tuple[list[ReviewItem], list[Remark]]:
    results = InsightResults(type="content_gaps")
    find_open_questions(InsightView(project, depth="deep", horizon="long", recommend=False, among=None), results)
    found = []
    for _, one in results.found:
        record = project.by_id[one.members[0]]
        for asked in one.evidence["questions"]:
            side = ReviewSide(record=record, quote=asked["question"], at=record.updated)
            why = Remark("open_question", {"nearest": asked["nearest"]})
            found.append(ReviewItem(kind="questions", confidence=asked["confidence"], why=why, sides=[side]))
    return found, list(results.notes)


def _stale(project: ProjectView) -> tuple[list[ReviewItem], list[Remark]]:
    by_uid = {record.uid: record for record in project.items}
    found = []
    for record, _, why, quote in stale_items(project, project.items):
        sides = [ReviewSide(record=record, quote=_quoted(quote), at=record.updated)]
        newer = by_uid.get(str(why.values.get("by")))
        if newer is not None:
            sides.append(ReviewSide(record=newer, quote=_quoted(project.text(newer)), at=newer.updated, newer=True))
        found.append(
            ReviewItem(
                kind="stale", confidence=1.0, why=Remark(why.code.removeprefix("issues."), why.values), sides=sides
            )
        )
    return found, []


_REVIEWS: dict[str, Callable[[ProjectView], tuple[list[ReviewItem], list[Remark]]]] = {
    "conflicts": _conflicts,
    "duplicates": _duplicates,
    "questions": _questions,
    "stale": _stale,
}


def _text(record: Record) -> str:
    return "\n".join(record.observations) or record.name


def _quoted(text: str) -> str:
    return text if len(text) <= _QUOTED else text[:_QUOTED].rstrip() + "…"
