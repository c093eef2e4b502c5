"""Values: what a search for conflicts answers with."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from msgspec import Struct, field

from polymnia.engine.analysis.actions import Action
from polymnia.models import Record

__all__ = ["SENSITIVITIES", "TYPES", "Clash", "Clashes", "ConflictType", "Resolution", "Sensitivity", "Side"]

ConflictType = Literal["factual_conflicts", "temporal_conflicts", "recommendation_conflicts", "logical_conflicts"]
TYPES: tuple[str, ...] = get_args(ConflictType)
Sensitivity = Literal["high", "medium", "low"]
SENSITIVITIES: tuple[str, ...] = get_args(Sensitivity)


class Side(Struct, frozen=True):
    """One of two statements that clash: the record it stands in, the sentence as it is written, when it was said.

    ``at`` is the date the sentence gives itself, else the time its record was last changed, in microseconds;
    ``dated`` tells which. ``place`` is the number of the sentence in its record, counted from 0. A relation is told as
    a sentence too: then ``drawn`` is set, and ``at`` is when it was drawn.
    """

    record: Record
    sentence: str
    at: int
    place: int
    dated: bool = False
    drawn: bool = False

    @property
    def kind(self) -> str:
        """What was said: a ``sentence`` that stands in the record, or a ``relation`` that was drawn."""
        return "relation" if self.drawn else "sentence"


class Resolution(Struct, frozen=True):
    """What may be done about a clash, why, and the steps that do it, in order.

    With ``ask`` there are none, and ``why`` is the question to put to a person.
    """

    action: Literal["keep_newest", "keep_both_with_dates", "ask"]
    why: str
    steps: tuple[Action, ...] = ()


class Clash(Struct, frozen=True, kw_only=True):
    """Two statements that cannot both hold, or a ring of relations that must have none.

    ``differs`` quotes what differs; ``newer`` is the side that was said later. ``confidence`` is how often a clash like
    this one is real. ``members`` are the ids of all records it is about.
    """

    type: ConflictType
    subtype: str
    left: Side
    right: Side
    differs: str
    newer: Literal["left", "right", "same"]
    confidence: float
    explanation: str
    resolution: Resolution | None = None
    members: tuple[int, ...] = ()


class Clashes(Struct, frozen=True, kw_only=True):
    """The clashes that were found, most certain first; what was looked at, in numbers; and what was not compared."""

    clashes: list[Clash] = []
    looked_at: dict[str, int] = field(default_factory=dict)
    notes: list[str] = []

    def __iter__(self) -> Iterator[Clash]:
        return iter(self.clashes)

    def __len__(self) -> int:
        return len(self.clashes)
