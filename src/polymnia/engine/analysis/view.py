"""View: what an analysis reads of a project. Each part is read once, when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.batches import newer_of
from polymnia.engine.content import content
from polymnia.engine.ports import Snapshot
from polymnia.models import Filters, Record, Relation, Seen, Touch

if TYPE_CHECKING:
    from polymnia.engine.search.neighbours import Neighbours

T = TypeVar("T")
Tick = Callable[[int, int], None]


class ProjectView:
    """A snapshot of a project, or of the part of it that is analyzed.

    ``filters`` select the memories, ``start`` and ``end`` (microseconds, end excluded) the period, ``focus`` the one
    record that the analysis is about, if any. ``now`` is the current time: no analysis reads the clock.
    """

    def __init__(
        self,
        neighbours: Neighbours,
        *,
        filters: Filters,
        now: int,
        start: int | None = None,
        end: int | None = None,
        focus: int | None = None,
        tick: Tick | None = None,
        pending_reads: Sequence[Seen] = (),
    ) -> None:
        self.neighbours = neighbours
        self.judging = neighbours.judging
        self.snapshot: Snapshot = neighbours.snapshot
        self.filters = filters
        self.now = now
        self.start = start
        self.end = end
        self.focus = focus
        self._tick = tick
        self.pending_reads = pending_reads

    def tick(self, done: int = 0, total: int = 0) -> None:
        """Report progress; raises if the caller has cancelled. To be called every few hundred steps."""
        if self._tick is not None:
            self._tick(done, total)

    def each(self, some: Sequence[T], every: int = 1000) -> Iterator[T]:
        """Iterate, reporting progress now and then."""
        for at, one in enumerate(some):
            if at % every == 0:
                self.tick(at, len(some))
            yield one

    def text(self, record: Record) -> str:
        """The text of a record."""
        return content(record)

    def superseded(self, records: Sequence[Record]) -> dict[str, str]:
        """The ids of what has replaced records, by their own; a mark whose memory is gone replaces nothing."""
        return {uid: newer.uid for uid, newer in newer_of(self.snapshot, records).items()}

    @cached_property
    def present(self) -> list[Record]:
        """All records by age, whatever the period."""
        self.tick()
        return [record for record in self.snapshot.records() if record.id in self._passing]

    @cached_property
    def items(self) -> list[Record]:
        """The records that were created or changed in the period."""
        return [record for record in self.present if self.in_period(record.created, record.updated)]

    def in_period(self, *times: int) -> bool:
        """Whether one of the times is in the period."""
        return any((self.start is None or at >= self.start) and (self.end is None or at < self.end) for at in times)

    @cached_property
    def by_id(self) -> dict[int, Record]:
        """The records by their ids."""
        return {record.id: record for record in self.items}

    @cached_property
    def known(self) -> dict[int, Record]:
        """All records by their ids, whatever the period."""
        return {record.id: record for record in self.present}

    @cached_property
    def by_name(self) -> dict[str, Record]:
        """The records by their names, which relations refer to."""
        return {record.name: record for record in self.items}

    @cached_property
    def relations(self) -> list[Relation]:
        """The relations between these records, by age."""
        names = self.by_name
        return [one for one in self.snapshot.relations() if one.source in names and one.target in names]

    @cached_property
    def model(self) -> str | None:
        """The model of most of the vectors; None without search by meaning."""
        index = self.neighbours.index
        alive = index.passages["alive"][: index.count]
        known = {name: int((one.has(slice(index.count)) & alive).sum()) for name, one in index.vectors.items()}
        return max(known, key=lambda name: known[name], default=None)

    @property
    def unrelated(self) -> float:
        """The mean cosine of unrelated texts for the model; 0 without one."""
        return 0.0 if self.model is None else self.neighbours.channels[self.model].embedder.unrelated

    @cached_property
    def vectors(self) -> NDArray[Any]:
        """The mean vector of the passages of each item, of unit length; zeros without any."""
        return self.vectors_of([record.id for record in self.items])

    def vectors_of(self, ids: Sequence[int]) -> NDArray[Any]:
        """The same for some records."""
        return self.neighbours.means(self.model, [id - self.neighbours.base for id in ids], self.tick)

    def embed(self, texts: Sequence[str]) -> NDArray[Any] | None:
        """Vectors of texts that are not stored, such as sentences; None without a local model."""
        if self.model is None or not texts:
            return None
        channel = self.neighbours.channels[self.model]
        if not channel.embedder.near:
            return None  # no analysis sends a text to a service
        made = np.zeros((len(texts), channel.embedder.dimensions), np.float32)
        known = [at for at, text in enumerate(texts) if channel.embedder.knows(text)]
        for start in range(0, len(known), 64):
            self.tick()
            some = known[start : start + 64]
            made[some] = channel.embedder.embed([texts[at] for at in some])
        return made

    @cached_property
    def touches(self) -> list[Touch]:
        """Every change to the records (or the focus) in the period, deleted ones too, oldest first."""
        return [one for one in self.snapshot.touches(self.start, self.end) if self._includes_change(one)]

    @cached_property
    def seen(self) -> list[Seen]:
        """How often each record was read in each hour, oldest first; selected as the touches are."""
        hour = 3_600_000_000
        late = (one for one in self.pending_reads if self.in_period(one.hour, one.hour + hour - 1))
        return [one for one in (*self.snapshot.seen(self.start, self.end), *late) if self._includes(one.memory)]

    @cached_property
    def _passing(self) -> frozenset[int]:
        """The ids of all records that pass the filters, whatever the period."""
        return frozenset(self.neighbours.base + number for number in self.snapshot.matching(self.filters))

    def _includes(self, id: int) -> bool:
        return id == self.focus if self.focus is not None else id in self._passing

    def _includes_change(self, touch: Touch) -> bool:
        """Whether a change is of a selected record, or of a deleted one of the same sessions."""
        if self.focus is not None or touch.memory in self._passing:
            return self._includes(touch.memory)
        if touch.memory in self._existing:
            return False
        if self.filters.only_session:
            return touch.session == self.filters.session
        return self.filters.any_session or touch.session in (None, self.filters.session)

    @cached_property
    def _existing(self) -> frozenset[int]:
        return frozenset(record.id for record in self.snapshot.records())
