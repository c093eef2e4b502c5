"""View: what an analysis reads of a project. Each part is read once, and only when an analysis asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.content import content
from polymnia.engine.ports import Snapshot
from polymnia.models import Filters, Record, Relation, Seen, Touch

if TYPE_CHECKING:
    from polymnia.engine.search.neighbours import Neighbours

T = TypeVar("T")
Tick = Callable[[int, int], None]


class ProjectView:
    """One moment of a project, or of the part of it that is analysed.

    ``wanted`` says which memories belong to it, ``start`` and ``end`` (microseconds, end excluded) the time it is
    about, ``focus`` the one record it is about, if any, ``now`` what is measured against: no analysis asks the clock.
    """

    def __init__(
        self,
        look: Neighbours,
        *,
        wanted: Filters,
        now: int,
        start: int | None = None,
        end: int | None = None,
        focus: int | None = None,
        tick: Tick | None = None,
        unwritten: Sequence[Seen] = (),
    ) -> None:
        self.look = look
        self.judging = look.judging
        self.snapshot: Snapshot = look.snapshot
        self.wanted = wanted
        self.now = now
        self.start = start
        self.end = end
        self.focus = focus
        self._tick = tick
        self.unwritten = unwritten

    def tick(self, done: int = 0, total: int = 0) -> None:
        """Tell how far it is; raises when the caller has called it off. To be called every few hundred steps."""
        if self._tick is not None:
            self._tick(done, total)

    def each(self, some: Sequence[T], every: int = 1000) -> Iterator[T]:
        """One after the other, telling now and then how far it is."""
        for at, one in enumerate(some):
            if at % every == 0:
                self.tick(at, len(some))
            yield one

    def text(self, record: Record) -> str:
        """What a record says."""
        return content(record)

    @cached_property
    def present(self) -> list[Record]:
        """All records that are there, in the order of their making, whatever the time asked about."""
        self.tick()
        return [record for record in self.snapshot.records() if record.id in self._passing]

    @cached_property
    def items(self) -> list[Record]:
        """The records that were made or changed in the time asked about."""
        return [record for record in self.present if self.within(record.created, record.updated)]

    def within(self, *times: int) -> bool:
        """Whether one of the times is in the time asked about."""
        return any((self.start is None or at >= self.start) and (self.end is None or at < self.end) for at in times)

    @cached_property
    def by_id(self) -> dict[int, Record]:
        """The records by their ids."""
        return {record.id: record for record in self.items}

    @cached_property
    def known(self) -> dict[int, Record]:
        """All records that are there by their ids, whatever the time asked about."""
        return {record.id: record for record in self.present}

    @cached_property
    def by_name(self) -> dict[str, Record]:
        """The records by their names, which is what relations call them."""
        return {record.name: record for record in self.items}

    @cached_property
    def relations(self) -> list[Relation]:
        """The relations between records of the project, in the order of their making."""
        names = self.by_name
        return [one for one in self.snapshot.relations() if one.source in names and one.target in names]

    @cached_property
    def model(self) -> str | None:
        """The model whose vectors most of the texts have; None where there is no search by meaning."""
        index = self.look.index
        alive = index.passages["alive"][: index.count]
        known = {name: int((one.has(slice(index.count)) & alive).sum()) for name, one in index.vectors.items()}
        return max(known, key=lambda name: known[name], default=None)

    @property
    def unrelated(self) -> float:
        """The mean cosine that the model gives unrelated texts; 0 where there is none."""
        return 0.0 if self.model is None else self.look.channels[self.model].embedder.unrelated

    @cached_property
    def vectors(self) -> NDArray[Any]:
        """The mean of the passages of each item, of unit length; zeros where there is none."""
        return self.vectors_of([record.id for record in self.items])

    def vectors_of(self, ids: Sequence[int]) -> NDArray[Any]:
        """The same for some records."""
        return self.look.means(self.model, [id - self.look.base for id in ids], self.tick)

    def embed(self, texts: Sequence[str]) -> NDArray[Any] | None:
        """Vectors of texts that are not stored as they are, such as sentences; None where no model here makes them."""
        if self.model is None or not texts:
            return None
        channel = self.look.channels[self.model]
        if not channel.embedder.near:
            return None  # no analysis sends a text anywhere
        made = np.zeros((len(texts), channel.embedder.dimensions), np.float32)
        known = [at for at, text in enumerate(texts) if channel.embedder.knows(text)]
        for start in range(0, len(known), 64):
            self.tick()
            some = known[start : start + 64]
            made[some] = channel.embedder.embed([texts[at] for at in some])
        return made

    @cached_property
    def touches(self) -> list[Touch]:
        """Every change to the records (or the focus) in the time asked about, deleted ones too, oldest first."""
        return [one for one in self.snapshot.touches(self.start, self.end) if self._tells(one)]

    @cached_property
    def seen(self) -> list[Seen]:
        """How often each record was read in each hour, oldest first; limited as the touches are."""
        hour = 3_600_000_000
        late = (one for one in self.unwritten if self.within(one.hour, one.hour + hour - 1))
        return [one for one in (*self.snapshot.seen(self.start, self.end), *late) if self._told(one.memory)]

    @cached_property
    def _passing(self) -> frozenset[int]:
        """The ids of all records that pass, whatever the time asked about."""
        return frozenset(self.look.base + number for number in self.snapshot.matching(self.wanted))

    def _told(self, id: int) -> bool:
        return id == self.focus if self.focus is not None else id in self._passing

    def _tells(self, touch: Touch) -> bool:
        """Whether a change is told: of what is there, or was there and belonged to the same sessions."""
        if self.focus is not None or touch.memory in self._passing:
            return self._told(touch.memory)
        if touch.memory in self._there:
            return False
        wanted = self.wanted
        if wanted.only_session:
            return touch.session == wanted.session
        return wanted.any_session or touch.session in (None, wanted.session)

    @cached_property
    def _there(self) -> frozenset[int]:
        return frozenset(record.id for record in self.snapshot.records())
