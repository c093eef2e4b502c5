"""The cache: what is held in memory of the projects of a store, each brought up to the store whenever it is read."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING

import numpy as np

from polymnia.engine.ports import Snapshot, Store
from polymnia.engine.search import Analysis
from polymnia.engine.search.index import Index, Numbers
from polymnia.engine.search.passages import script_number
from polymnia.engine.search.vectors import Channel, Vectors
from polymnia.errors import Fault

if TYPE_CHECKING:
    from polymnia.engine.search.ranking import Ranked

_PROJECTS = 64  # so many projects are held in memory at once
_LISTED = 8192  # texts indexed between two commits
_BEHIND = 1 << 14  # with more texts that wait to be indexed, it is time to do it
_REMEMBERED = 64  # orders of answers


class Pages:
    """The orders of answers whose later pages may still be asked for, so that these stay as they were."""

    def __init__(self) -> None:
        self._orders: OrderedDict[int, list[Ranked]] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, order: list[Ranked], name: int | None = None) -> int:
        """Remember an order, under a name of the caller's or one that is made; answers the name."""
        name = secrets.randbits(48) if name is None else name
        with self._lock:
            self._orders[name] = order
            self._orders.move_to_end(name)
            if len(self._orders) > _REMEMBERED:
                self._orders.popitem(last=False)
        return name

    def find(self, name: int) -> list[Ranked] | None:
        """The order of that name, if it is still known."""
        return self._orders.get(name)


class Held:
    """One project in memory. Many may read its index at once; who changes it waits until nobody does."""

    def __init__(self) -> None:
        self.turn = threading.Condition()
        self.readers: list[int] = []  # the threads that read the index now
        self.index = Index(Analysis())
        self.pages = Pages()
        self.place: object = None
        self.listed = False  # whether the store has been asked to index what waits
        self.alone = threading.Lock()  # for work that takes long, one at a time


class ProjectIndex:
    """One moment of a project: a snapshot of the store, and the index brought up to it."""

    def __init__(self, held: Held, snapshot: Snapshot) -> None:
        self._held = held
        self.index = held.index
        self.snapshot = snapshot
        self.pages = held.pages

    def reread(self) -> None:
        """Make the index anew, of the texts themselves: the word index of the store proved to be damaged."""
        fresh = self.index.reread(self.snapshot)
        with self._held.turn:
            if self._held.index is self.index:
                self._held.index = fresh
        self.index = fresh


class IndexCache:
    """The projects in memory. ``at`` gives one of them, as the store has it now."""

    def __init__(self, store: Store, channels: Sequence[Channel]) -> None:
        self._store = store
        self.channels = channels
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def at(self, project: str, held: Held | None = None) -> Iterator[ProjectIndex]:
        """A moment of the project. Its index stays as it is until the end of the block."""
        held = held or self._hold(project)
        me = threading.get_ident()
        with ExitStack() as reading:
            with held.turn:
                while True:
                    # Opened under the lock, so that no index runs ahead of its reader.
                    snapshot = reading.enter_context(self._store.read(project))
                    if not held.listed:
                        held.listed = True
                        snapshot = self._listed(project, snapshot, reading)
                    if self._follow(held, snapshot):
                        break
                    reading.close()
                    if me in held.readers:
                        raise RuntimeError("Who reads a moment of a project must leave it first to get a later one")
                    held.turn.wait()
                view = ProjectIndex(held, snapshot)
                held.readers.append(me)
            try:
                yield view
            finally:
                with held.turn:
                    held.readers.remove(me)
                    held.turn.notify_all()

    def _follow(self, held: Held, snapshot: Snapshot) -> bool:
        """Bring the index up to the snapshot; False where it would have to change while somebody reads it."""
        place = self._store.place()
        if held.place != place:
            held.index, held.place = Index(Analysis(), mixed=held.index.mixed), place
        index = held.index
        ready = [one for one in self.channels if one.name not in index.vectors and one.ready.is_set()]
        if not ready and not index.is_behind(snapshot):
            return True
        if held.readers:
            return False
        index.vectors |= {one.name: Vectors(one.name, one.embedder.dimensions) for one in ready}
        index.follow(snapshot)
        self._note_languages(index)
        return True

    def _note_languages(self, index: Index) -> None:
        """Whether something is in a language that the first model does not know."""
        if len(self.channels) > 1 and not index.mixed:
            vectors = index.vectors.get(self.channels[0].name)
            passed_over = vectors is not None and vectors.arrival[: index.count] < 0
            other = passed_over | (index.passages["script"] > script_number("a"))
            index.mixed = bool((index.passages["alive"] & other).any())

    def _listed(self, project: str, snapshot: Snapshot, reading: ExitStack) -> Snapshot:
        """The snapshot, of a store that has indexed its texts: else every process would have to read them all."""
        _, seq, listed, _ = snapshot.numbers
        if seq - listed <= _BEHIND:
            return snapshot
        reading.close()
        with suppress(Fault):  # somebody writes; what waits is read here this time
            self._list_words(project, lambda lane, done, total: None)
        return reading.enter_context(self._store.read(project))

    def _hold(self, project: str) -> Held:
        with self._lock:
            held = self._held.get(project)
            if held is None:
                held = self._held[project] = Held()
                if len(self._held) > _PROJECTS:
                    self._held.popitem(last=False)
            self._held.move_to_end(project)
            return held

    def held(self) -> dict[str, Index]:
        """The projects that are in memory, by their names."""
        with self._lock:
            return {name: one.index for name, one in self._held.items()}

    def forget(self, project: str | None = None) -> None:
        """Let go of a project, or of all: what is asked of it next is read from the store anew."""
        with self._lock:
            if project is None:
                self._held.clear()
            else:
                self._held.pop(project, None)

    # ── models and what they have not read yet ────────────────────────────────────────────────────────

    def _in_use(self, index: Index) -> Sequence[Channel]:
        """The models that read a project: the first alone until something turns up that it does not know."""
        alone = not index.mixed and self.channels and self.channels[0].fault is None
        return self.channels[:1] if alone else self.channels

    def models(self, project: str) -> Sequence[Channel]:
        """The models that read a project now."""
        return self._in_use(self._hold(project).index)

    def _pending(self, index: Index, channel: Channel) -> int:
        return int(np.count_nonzero(self._without(index, channel)))

    def _without(self, index: Index, channel: Channel) -> Numbers:
        """Which passages should have a vector of the model and have none."""
        wanted: Numbers = index.passages["alive"] & index.passages["embeds"]
        vectors = index.vectors.get(channel.name)
        return wanted if vectors is None else wanted & (vectors.arrival[: index.count] == 0)

    def waiting(self, project: str, channel: Channel, most: int) -> list[tuple[int, int]]:
        """Passages without a vector, the newest first: what was just written is likely to be asked for."""
        with self.at(project) as view:
            rows = np.flatnonzero(self._without(view.index, channel))[-most:]
            passages = view.index.passages
            return list(zip(passages["text"][rows].tolist(), passages["part"][rows].tolist(), strict=True))

    def pass_over(self, project: str, channel: Channel, wanted: list[tuple[int, int]]) -> None:
        """These passages get no vector of the model: it does not know their language."""
        held = self._hold(project)
        with held.turn:
            vectors = held.index.vectors.get(channel.name)
            if vectors is not None and wanted:
                keys = np.array([text << 16 | part for text, part in wanted], np.uint64)
                vectors.pass_over(held.index.rows(keys))
                self._note_languages(held.index)

    # ── the indexes of the store ──────────────────────────────────────────────────────────────────────

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
