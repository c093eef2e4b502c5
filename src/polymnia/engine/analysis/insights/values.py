"""What an insight is, and what looking for insights of one type answers."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct, field

from polymnia.engine.analysis.actions import Action
from polymnia.engine.analysis.findings import Pattern, Remark

__all__ = ["DAYS", "DEPTHS", "Budget", "Depth", "Horizon", "Insight", "Insights", "Looked"]

Depth = Literal["surface", "deep", "comprehensive"]
Horizon = Literal["short", "medium", "long"]

DAYS: dict[Horizon, int] = {"short": 7, "medium": 30, "long": 365}
"""How many days each horizon is long, back and ahead."""


class Insight(Struct, frozen=True, kw_only=True):
    """Something that follows from what a project holds, and what to do about it.

    ``name`` is the kind of insight, ``summary`` says it with its numbers, ``evidence`` is plain data (counts, dates,
    public ids, sentences as they are stored), ``members`` the ids of all records it is about. ``confidence`` is how
    often an insight like this one is right; ``explanation`` says how it was measured. ``recommendation`` says in words
    what to do with which ids, and ``actions`` are the steps of it; None and none where no advice was asked for or
    nothing follows. ``source`` is the finding of another analysis that it passes on, with the words of that one.
    """

    type: str
    name: str
    summary: str
    confidence: float
    explanation: str
    evidence: dict[str, Any] = field(default_factory=dict)
    members: tuple[int, ...] = ()
    recommendation: str | None = None
    source: Pattern | None = None
    actions: tuple[Action, ...] = ()


class Insights(Struct, frozen=True, kw_only=True):
    """The insights of all types, those of one type together and the strongest first."""

    insights: list[Insight] = []
    looked_at: dict[str, Any] = field(default_factory=dict)
    notes: list[Remark | str] = []


class Looked(Struct, kw_only=True):
    """What one type found so far: insights with what each weighs among its like, what was looked at, and notes."""

    found: list[tuple[float, Insight]] = field(default_factory=list)
    looked_at: dict[str, Any] = field(default_factory=dict)
    notes: list[Remark | str] = field(default_factory=list)

    def add(self, insight: Insight, weight: float = 0.0) -> None:
        """Keep an insight."""
        self.found.append((weight, insight))

    def strongest(self, most: int | None) -> list[Insight]:
        """The insights by their strength, the best of each name before the second best of any."""
        by_name: dict[str, list[tuple[float, Insight]]] = {}
        for weight, one in self.found:
            by_name.setdefault(one.name, []).append((weight, one))
        ranked = []
        for some in by_name.values():
            some.sort(key=lambda pair: (-pair[1].confidence, -pair[0], pair[1].members, pair[1].summary))
            ranked += [(place, -one.confidence, one.name, one) for place, (_, one) in enumerate(some)]
        ranked.sort(key=lambda four: four[:3])
        return [one for *_, one in ranked[:most]]


class Budget(Struct, frozen=True, kw_only=True):
    """How much a depth looks at and tells.

    ``items`` is how many memories are compared with each other (None: all), ``topics`` how many topics are summed up,
    from ``sources`` memories each, with so many ``statements``.
    """

    rank: int
    insights: int | None
    items: int | None
    examples: int
    topics: int | None
    sources: int
    statements: int


DEPTHS: dict[Depth, Budget] = {
    "surface": Budget(rank=0, insights=3, items=2_000, examples=3, topics=3, sources=20, statements=3),
    "deep": Budget(rank=1, insights=10, items=20_000, examples=10, topics=10, sources=60, statements=5),
    "comprehensive": Budget(rank=2, insights=None, items=None, examples=10, topics=None, sources=150, statements=8),
}
