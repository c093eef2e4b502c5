"""View: what insights are computed from, and how they are collected."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Literal

from msgspec import Struct, field

from polymnia.engine.analysis.actions import Action
from polymnia.engine.analysis.activity.changes import DAY
from polymnia.engine.analysis.findings import Finding, Findings, Remark, example
from polymnia.engine.analysis.probability import CAP
from polymnia.engine.analysis.view import ProjectView, Tick
from polymnia.importing import importing
from polymnia.models import JsonObject, Record

Depth = Literal["surface", "deep", "comprehensive"]
Horizon = Literal["short", "medium", "long"]


class InsightFinding(Finding, frozen=True, kw_only=True):
    """A conclusion and what to do about it; ``source`` is the finding of another analysis that it passes on, if any."""

    actions: tuple[Action, ...] = ()
    source: Any = None


class Insights(Struct, frozen=True, kw_only=True):
    """The insights by type, the strongest of each first."""

    insights: list[InsightFinding] = []
    looked_at: JsonObject = field(default_factory=dict)
    notes: list[Remark] = []


class InsightResults(Struct, kw_only=True):
    """The insights of one type so far, each with its weight among those of its name; figures, and notes."""

    type: str
    found: list[tuple[float, InsightFinding]] = field(default_factory=list)
    looked_at: JsonObject = field(default_factory=dict)
    notes: list[Remark] = field(default_factory=list)

    def add(self, name: str, confidence: float, evidence: JsonObject, weight: float = 0.0, **more: Any) -> None:
        """Add an insight."""
        one = InsightFinding(type=self.type, name=name, confidence=confidence, evidence=evidence, **more)
        self.found.append((weight, one))

    def note(self, code: str, **values: Any) -> None:
        """Add a remark."""
        self.notes.append(Remark(f"insights.{code}", values))

    def strongest(self, most: int | None) -> list[InsightFinding]:
        """The strongest insights, the best of each name before the second best of any."""
        by_name: dict[str, list[tuple[float, InsightFinding]]] = {}
        for weight, one in self.found:
            by_name.setdefault(one.name, []).append((weight, one))
        ranked = []
        for some in by_name.values():
            some.sort(key=lambda pair: (-pair[1].confidence, -pair[0], pair[1].members, str(pair[1].evidence)))
            ranked += [(place, -one.confidence, one.name, one) for place, (_, one) in enumerate(some)]
        ranked.sort(key=lambda four: four[:3])
        return [one for *_, one in ranked[:most]]


class Budget(Struct, frozen=True, kw_only=True):
    """How much a depth reads and reports; None for no limit."""

    rank: int
    insights: int | None
    items: int | None
    examples: int
    topics: int | None
    sources: int
    statements: int


_DAYS: dict[Horizon, int] = {"short": 7, "medium": 30, "long": 365}
_DEPTHS: dict[Depth, Budget] = {
    "surface": Budget(rank=0, insights=3, items=2_000, examples=3, topics=3, sources=20, statements=3),
    "deep": Budget(rank=1, insights=10, items=20_000, examples=10, topics=10, sources=60, statements=5),
    "comprehensive": Budget(rank=2, insights=None, items=None, examples=10, topics=None, sources=150, statements=8),
}


class Part(ProjectView):
    """Some records of a project, in a period of their own."""

    def __init__(
        self,
        whole: ProjectView,
        records: Sequence[Record] | None = None,
        *,
        start: int | None = None,
        tick: Tick | None = None,
    ) -> None:
        """Without ``records`` it has all of them, and changes of deleted ones."""
        super().__init__(
            whole.neighbours,
            filters=whole.filters,
            now=whole.now,
            start=start,
            end=whole.end,
            focus=whole.focus,
            tick=tick or whole.tick,
            pending_reads=whole.pending_reads,
        )
        self._whole = whole
        self._some = records is not None
        self.__dict__["items"] = whole.items if records is None else list(records)
        self.__dict__["present"] = whole.present if records is None else list(records)

    def _includes(self, id: int) -> bool:
        return id in self.by_id if self._some else self._whole._includes(id)


class InsightView:
    """What insights are computed from: the records, the budget of the depth, and the horizon."""

    def __init__(
        self, project: ProjectView, *, depth: Depth, horizon: Horizon, recommend: bool, among: Sequence[int] | None
    ) -> None:
        self.report: Tick = project.tick
        self.whole = project
        self.among = None if among is None else set(among)
        chosen = None if self.among is None else [one for one in project.items if one.id in self.among]
        self.project = Part(project, chosen, tick=self.tick)
        self.budget = _DEPTHS[depth]
        self.days = _DAYS[horizon]
        self.recommend = recommend
        self.start = project.now - self.days * DAY

    def tick(self, done: int = 0, total: int = 0) -> None:
        """Report the progress of the current type."""
        self.report(done, total)

    @property
    def records(self) -> list[Record]:
        """The records."""
        return self.project.items

    @property
    def deep(self) -> bool:
        """Whether it goes below the surface."""
        return self.budget.rank > 0

    @cached_property
    def sample(self) -> Part:
        """The records that are compared with each other at this depth, evenly over time."""
        return self.part(self.records)

    def part(self, records: Sequence[Record]) -> Part:
        """A sample of some records."""
        most = self.budget.items
        if most is not None and len(records) > most:
            records = [records[at * len(records) // most] for at in range(most)]
        elif records is self.records:
            return self.project
        return Part(self.project, records, tick=self.tick)

    @cached_property
    def recent(self) -> Part:
        """All records, with the changes and reads of the horizon alone."""
        return Part(self.project, self.records if self.among is not None else None, start=self.start, tick=self.tick)

    @cached_property
    def topics(self) -> Findings:
        """The topics of the sample."""
        with importing():
            from polymnia.engine.analysis.topics import topic_clusters

        return topic_clusters(self.sample)

    @property
    def clusters(self) -> list[Finding]:
        """The topics that have members, the largest first."""
        found = [one for one in self.topics.patterns if one.name == "cluster" and one.members]
        return sorted(found, key=lambda one: (-len(one.members), one.members))

    def loaded(self, ids: Iterable[int]) -> list[Record]:
        """The records of some ids, without those outside this view."""
        return [record for id in ids if (record := self.project.by_id.get(id)) is not None]

    def shown(self, records: Iterable[Record]) -> list[JsonObject]:
        """The first few of some records as evidence shows them."""
        return [example(one) for one in islice(records, self.budget.examples)]

    def steps(self, *actions: Action) -> tuple[Action, ...]:
        """The actions; none if recommendations are turned off."""
        return actions if self.recommend else ()


def habit(times: int, of: int) -> float:
    """The chance that the next one has it after ``times`` out of ``of`` had it (Laplace's rule of succession)."""
    return (times + 1) / (max(times, of) + 2)


def sure(chance: float) -> float:
    """The confidence of a finding with this false discovery rate."""
    return round(min(CAP, max(0.0, 1.0 - chance)), 4)
