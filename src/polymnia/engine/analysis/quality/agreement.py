"""Agreement: where a content says something that another content of the project denies."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from polymnia.engine.items import title_of
from polymnia.importing import importing

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material
    from polymnia.models import Record

__all__ = ["Contrary", "contraries"]


class Contrary(NamedTuple):
    """Two sentences that cannot both hold: ours, theirs, whose that is, what differs, and how sure it is."""

    ours: str
    theirs: str
    id: str
    title: str
    difference: str
    confidence: float


def contraries(material: Material, record: Record) -> list[Contrary]:
    """What other contents say against this one, surest first."""
    with importing():
        from polymnia.engine.analysis.conflicts import conflicts_of, once

    told = []
    for one in once(conflicts_of(material, record, suggest=False).clashes):
        ours, theirs = (one.left, one.right) if one.left.record.id == record.id else (one.right, one.left)
        if ours.record.id == record.id and theirs.record.id != record.id and ours.sentence:
            other = theirs.record
            told.append(
                Contrary(ours.sentence, theirs.sentence, other.uid, title_of(other), one.differs, one.confidence)
            )
    return sorted(told, key=lambda one: (-one.confidence, one.id, one.ours))
