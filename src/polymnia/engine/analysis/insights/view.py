"""View: the part of a project that insights are about, and what several kinds of insights need of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from polymnia.engine.analysis.actions import Action
from polymnia.engine.analysis.findings import Found, Pattern
from polymnia.engine.analysis.insights.values import DAYS, DEPTHS, Depth, Horizon, Insight
from polymnia.engine.analysis.view import Material
from polymnia.engine.items import title_of
from polymnia.importing import importing
from polymnia.models import Record

__all__ = ["DAY", "Part", "View", "plural", "sure"]

DAY = 86_400_000_000

_TITLE = 60  # characters of a title in a sentence
_CERTAIN = 0.999  # the most that is said of what was inferred; only what was counted is certain


class Part(Material):
    """Some records of a material, in a time of their own. All that is told of it is told of these records."""

    def __init__(
        self,
        whole: Material,
        records: Sequence[Record] | None = None,
        *,
        start: int | None = None,
        tick: Callable[[int, int], None] | None = None,
    ) -> None:
        """Without ``records`` it is all of them, and changes of deleted ones are told too."""
        super().__init__(
            whole.look, wanted=whole.wanted, now=whole.now, start=start, end=whole.end, focus=whole.focus,
            tick=tick or whole.tick, unwritten=whole.unwritten,
        )  # fmt: skip
        self._whole = whole
        self._some = records is not None
        self.__dict__["items"] = whole.items if records is None else list(records)
        self.__dict__["present"] = whole.present if records is None else list(records)

    def _told(self, id: int) -> bool:
        return id in self.by_id if self._some else self._whole._told(id)


class View:
    """What insights are made from, how much of it is looked at, and the time that counts."""

    def __init__(
        self, material: Material, *, depth: Depth, horizon: Horizon, recommend: bool, among: Sequence[int] | None
    ) -> None:
        self._tick: Callable[[int, int], None] = material.tick
        wanted = None if among is None else set(among)
        chosen = None if wanted is None else [one for one in material.items if one.id in wanted]
        self.whole = material
        self.among = wanted
        self.material = Part(material, chosen, tick=self.tick)
        self.budget = DEPTHS[depth]
        self.horizon = horizon
        self.days = DAYS[horizon]
        self.recommend = recommend
        self.start = material.now - self.days * DAY

    def tick(self, done: int = 0, total: int = 0) -> None:
        """How far the type that is being looked for is."""
        self._tick(done, total)

    def ticking(self, tick: Callable[[int, int], None]) -> None:
        """Tell how far it is to another from now on."""
        self._tick = tick

    @property
    def records(self) -> list[Record]:
        """The records."""
        return self.material.items

    def at_least(self, rank: int) -> bool:
        """Whether the depth is so deep: 0 surface, 1 deep, 2 comprehensive."""
        return self.budget.rank >= rank

    @cached_property
    def sample(self) -> Part:
        """As many of the records as are compared with each other at this depth, evenly over their time."""
        return self.part(self.records)

    def part(self, records: Sequence[Record]) -> Part:
        """The same for some records."""
        most = self.budget.items
        if most is not None and len(records) > most:
            records = [records[at * len(records) // most] for at in range(most)]
        elif records is self.records:
            return self.material
        return Part(self.material, records, tick=self.tick)

    @cached_property
    def recent(self) -> Part:
        """All records, with what was done to them within the horizon alone."""
        return Part(self.material, self.records if self.among is not None else None, start=self.start, tick=self.tick)

    @cached_property
    def topics(self) -> Found:
        """The topics of the sample. Raises NoLibrary where they cannot be told."""
        with importing():
            from polymnia.engine.analysis.topics import topic_clusters

        return topic_clusters(self.sample)

    @property
    def clusters(self) -> list[Pattern]:
        """The topics that have members, the largest first."""
        found = [one for one in self.topics.patterns if one.name == "cluster" and one.members]
        return sorted(found, key=lambda one: (-len(one.members), one.members))

    def record(self, id: int) -> Record | None:
        """A record by its id, where it belongs to this view."""
        return self.material.by_id.get(id)

    def shown(self, records: Iterable[Record], **more: Any) -> list[dict[str, Any]]:
        """The first few of some records as they stand in evidence."""
        found = []
        for one in records:
            found.append({"id": one.uid, "title": title_of(one), **more})
            if len(found) == self.budget.examples:
                break
        return found

    def title(self, record: Record) -> str:
        """A title as it stands in a sentence."""
        title = title_of(record)
        return f"“{title if len(title) <= _TITLE else title[:_TITLE].rstrip() + '…'}”"

    def advised(self, text: str | None, *actions: Action) -> dict[str, Any]:
        """A recommendation and its steps as fields of an insight; empty where none is wanted or there is none."""
        return {"recommendation": text, "actions": actions} if self.recommend and text else {}

    def passed_on(
        self, type: str, one: Pattern, advice: tuple[str, *tuple[Action, ...]] | None, **more: Any
    ) -> Insight:
        """A finding of another analysis as an insight, as sure as it was there."""
        return Insight(
            type=type, name=one.name, summary=one.summary, confidence=one.confidence, explanation=one.explanation,
            evidence={**one.evidence, **more}, members=one.members, source=one,
            **(self.advised(*advice) if advice else {}),
        )  # fmt: skip


def plural(count: int, what: str, many: str | None = None) -> str:
    """A number with its noun."""
    return f"{count:,} {what if count == 1 else many or what + 's'}"


def sure(chance: float) -> float:
    """The confidence of something that chance alone would show so often."""
    return round(min(_CERTAIN, max(0.0, 1.0 - chance)), 4)
