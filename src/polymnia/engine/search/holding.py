"""What is held in memory of the projects of a store, and how it follows the store."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.ports import Snapshot, Store
from polymnia.engine.search import Analysis
from polymnia.engine.search.index import Index
from polymnia.engine.search.listing import script_number
from polymnia.engine.search.pages import Pages
from polymnia.engine.search.vectors import Vectors
from polymnia.engine.search.worker import Channel
from polymnia.errors import Fault

__all__ = ["Held", "Holding"]

_PROJECTS = 64  # so many projects are held in memory at once
_LISTED = 8192  # texts indexed between two commits
_BEHIND = 1 << 14  # with more texts that wait to be indexed, it is time to do it


class Held:
    """One project in memory, and the lock under which it is read and changed."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.index = Index(Analysis())
        self.pages = Pages()
        self.place: object = None
        self.listed = False  # whether the store has been asked to index what waits


class Holding:
    """The projects in memory, each brought up to the store whenever it is read."""

    def __init__(self, store: Store, channels: Sequence[Channel]) -> None:
        self._store = store
        self.channels = channels
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._holding = threading.Lock()

    def _in_use(self, index: Index) -> Sequence[Channel]:
        """The models that read a project: the first alone until something turns up that it does not know."""
        alone = not index.mixed and self.channels and self.channels[0].fault is None
        return self.channels[:1] if alone else self.channels

    def models(self, project: str) -> Sequence[Channel]:
        """The models that read a project now."""
        return self._in_use(self._hold(project).index)

    def held(self) -> dict[str, Index]:
        """The projects that are in memory, by their names."""
        with self._holding:
            return {name: one.index for name, one in self._held.items()}

    def forget(self, project: str | None = None) -> None:
        """Let go of a project, or of all: what is asked of it next is read from the store anew."""
        with self._holding:
            if project is None:
                self._held.clear()
            else:
                self._held.pop(project, None)

    def _hold(self, project: str) -> Held:
        with self._holding:
            held = self._held.get(project)
            if held is None:
                held = self._held[project] = Held()
                if len(self._held) > _PROJECTS:
                    self._held.popitem(last=False)
            self._held.move_to_end(project)
            return held

    def _reading(self, project: str, held: Held) -> _Following:
        return _Following(self, project, held)

    def _follow(self, held: Held, snapshot: Snapshot, place: object) -> None:
        if held.place != place:
            held.index = Index(Analysis(), mixed=held.index.mixed)
            held.place = place
        index = held.index
        for channel in self.channels:
            if channel.name not in index.vectors and channel.ready.is_set():
                index.vectors[channel.name] = Vectors(channel.name, channel.embedder.dimensions)
        index.follow(snapshot)
        if len(self.channels) > 1 and not index.mixed:
            vectors = index.vectors.get(self.channels[0].name)
            passed_over = vectors is not None and vectors.arrival[: index.count] < 0
            other = passed_over | (index.passages["script"] > script_number("a"))
            index.mixed = bool((index.passages["alive"] & other).any())

    def _pending(self, index: Index, channel: Channel) -> int:
        return int(np.count_nonzero(self._without(index, channel)))

    def _without(self, index: Index, channel: Channel) -> NDArray[Any]:
        """Which passages should have a vector of the model and have none."""
        wanted: NDArray[Any] = index.passages["alive"] & index.passages["embeds"]
        vectors = index.vectors.get(channel.name)
        if vectors is not None:
            wanted = wanted & (vectors.arrival[: index.count] == 0)
        return wanted

    def _waiting(self, project: str, channel: Channel, most: int) -> list[tuple[int, int]]:
        """Passages without a vector, the newest first: what was just written is likely to be asked for."""
        held = self._hold(project)
        with held.lock, self._reading(project, held):
            rows = np.flatnonzero(self._without(held.index, channel))[-most:]
            passages = held.index.passages
            return list(zip(passages["text"][rows].tolist(), passages["part"][rows].tolist(), strict=True))

    def _pass_over(self, project: str, channel: Channel, wanted: list[tuple[int, int]]) -> None:
        """These passages get no vector of the model: it does not know their language."""
        held = self._hold(project)
        with held.lock:
            vectors = held.index.vectors.get(channel.name)
            if vectors is not None:
                keys = np.array([text << 16 | part for text, part in wanted], np.uint64)
                vectors.pass_over(held.index.rows(keys))

    def _index_characters(self, project: str) -> None:
        left, before = 1, 0
        while 0 < left != before:
            before = left
            with self._store.write(project, "polymnia", "reindex") as tx:
                left = tx.index_characters(_LISTED)

    def _list_words(self, project: str, step: Callable[[str, int, int], None]) -> None:
        with self._store.read(project) as snapshot:
            _, seq, listed, _ = snapshot.numbers
        total = seq - listed
        left, before = 1, 0
        # Once in any case: there may be texts to index once more, or all of them to be read otherwise.
        while 0 < left != before:
            before = left
            with self._store.write(project, "polymnia", "reindex") as tx:
                left = tx.list_words(_LISTED)
            total = max(total, left)
            if total:
                step("words", total - left, total)


class _Following:
    """A snapshot with the index brought up to it. Opened under the lock, so that no index runs ahead of its reader."""

    def __init__(self, holding: Holding, project: str, held: Held) -> None:
        self._holding = holding
        self._project = project
        self._held = held
        self._reading = holding._store.read(project)

    def __enter__(self) -> Snapshot:
        snapshot = self._reading.__enter__()
        try:
            if not self._held.listed:
                snapshot = self._listed(snapshot)
            self._holding._follow(self._held, snapshot, self._holding._store.place())
        except BaseException as e:
            self._reading.__exit__(type(e), e, e.__traceback__)
            raise
        return snapshot

    def _listed(self, snapshot: Snapshot) -> Snapshot:
        """The snapshot, of a store that has indexed its texts: else every process would have to read them all."""
        self._held.listed = True
        _, seq, listed, _ = snapshot.numbers
        if seq - listed <= _BEHIND:
            return snapshot
        self._reading.__exit__(None, None, None)
        try:
            self._holding._list_words(self._project, lambda lane, done, total: None)
        except Fault:
            pass  # somebody writes; what waits is read here this time
        finally:
            self._reading = self._holding._store.read(self._project)
            snapshot = self._reading.__enter__()
        return snapshot

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._reading.__exit__(kind, error, trace)
