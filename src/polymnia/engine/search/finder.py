"""The finder of one store: what is held in memory to search it, and the work in the background."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.knowledge.judge import Judging
from polymnia.engine.ports import Snapshot, Store
from polymnia.engine.ports.models import Embedder, Judge, Reranker
from polymnia.engine.search.answer import answered
from polymnia.engine.search.holding import Held
from polymnia.engine.search.index import DamagedIndex, Index
from polymnia.engine.search.nearness import Look, Said, said
from polymnia.engine.search.planning import planned
from polymnia.engine.search.query import Query, Wanted, read
from polymnia.engine.search.results import Found, Plan
from polymnia.engine.search.search import Search
from polymnia.engine.search.tending import Tending
from polymnia.engine.search.worker import Channel, Worker
from polymnia.errors import Fault
from polymnia.models import Text

__all__ = ["Finder"]

T = TypeVar("T")

Asking = Callable[[], Mapping[str, NDArray[Any]]]
"""Gives a query as each model sees it, when that is needed."""

_LOADING = 5.0  # seconds a search waits for a model that is being loaded
_ASKING = 3.0  # and for the vector of the query
_CATCHING_UP = 0.8  # and for passages that have no vector yet,
_WORTH_WAITING = 1.2  # if those will have theirs within about this time
_APART = 4  # projects whose analyses keep an index of their own
_LARGE = 2_000  # from so many passages on, words and query are worth two threads
_NAMES = 4_000  # vectors of names that are remembered


class Finder(Tending):
    """Searches a store by words and by meaning. Safe to use from several threads."""

    def __init__(
        self,
        store: Store,
        *,
        embedders: Sequence[Embedder] = (),
        reranker: Reranker | None = None,
        judge: Judge | None = None,
        lanes: str = "all",
        effort: str = "balanced",
    ) -> None:
        super().__init__(store, [Channel(embedder) for embedder in embedders])
        self._lanes = lanes
        self._effort = effort
        self._by_name = {channel.name: channel for channel in self.channels}
        self.reranker = reranker
        self.judging = None if judge is None else Judging(judge)
        # One reader is enough: a far model is waited for in a thread of its own, a near one computes.
        self._readers = ThreadPoolExecutor(1, "polymnia-asking")
        self._apart: OrderedDict[str, Held] = OrderedDict()
        self._names: dict[tuple[str, str], NDArray[Any] | None] = {}
        self._worker = Worker(store, self.models, self._waiting, self._pass_over, self._settle)

    def close(self) -> None:
        """Stop the work in the background and forget what is held."""
        self._worker.stop()
        self._readers.shutdown(wait=False, cancel_futures=True)
        self.forget()
        self._apart.clear()

    def noticed(self, project: str) -> None:
        """Something was written to the project."""
        if self.channels:
            self._worker.notice(project)

    # ── searching ─────────────────────────────────────────────────────────────────────────────────────

    def search(
        self,
        project: str,
        query: Query,
        *,
        limit: int | None,
        cursor: str | None = None,
        max_tokens: int | None = None,
        facets: bool = False,
        reasons: bool = True,
        offset: int | None = None,
        turns: bool = True,
        within: Callable[[Snapshot, Found], None] | None = None,
    ) -> Found:
        """The memories that answer a query. Without a limit: all that hold it as it stands, and the best others.

        With ``turns``, a hit that is a turn of a dialogue has the turns before and after it.
        ``within`` is called with the answer and the snapshot it was made from.
        """
        wanted = read(query)
        held = self._hold(project)

        def answer(search: Search) -> Found:
            found = answered(
                search, held.pages, limit=limit, cursor=cursor, max_tokens=max_tokens, facets=facets,
                reasons=reasons, pending=self._unsearched(held.index), offset=offset,
                turns=turns,
            )  # fmt: skip
            if within is not None:
                within(search.snapshot, found)
            return found

        return self._run(held, project, query, wanted, answer)

    def explain(self, project: str, query: Query, *, limit: int) -> Plan:
        """How a query is read and answered."""
        wanted = read(query)
        held = self._hold(project)
        return self._run(held, project, query, wanted, lambda search: planned(search, held.pages, limit))

    def _run(self, held: Held, project: str, query: Query, wanted: Wanted, work: Callable[[Search], T]) -> T:
        which = query.lanes or self._lanes
        asking = _nobody if which == "words" else self._asking(project, query.text)

        def search(snapshot: Snapshot) -> T:
            return work(
                Search(
                    held.index,
                    snapshot,
                    query,
                    wanted,
                    which=which,
                    channels={channel.name: channel for channel in self._in_use(held.index)},
                    asking=asking,
                    reranker=self.reranker,
                    effort=query.effort or self._effort,
                )
            )

        return self._settled(held, project, search, patient=asking is not _nobody)

    def _settled(self, held: Held, project: str, work: Callable[[Snapshot], T], *, patient: bool) -> T:
        """Work on a snapshot the index is brought up to; whoever is patient waits for a few missing vectors."""
        self._worker.ease()
        patience = _CATCHING_UP if patient else 0.0
        while True:
            with held.lock, self._reading(project, held) as snapshot:
                need = self._seconds_behind(held.index) if patience else 0.0
                if not 0 < need < _WORTH_WAITING:
                    if need:
                        self._worker.notice(project)
                    return self._worked(held.index, snapshot, work)
            # A few passages have no vector yet: it takes less to wait for them than to miss them.
            self._worker.notice(project)
            self._worker.wait(project, patience)
            patience = 0.0

    def _worked(self, index: Index, snapshot: Snapshot, work: Callable[[Snapshot], T]) -> T:
        """Work, and once more on the texts themselves where the word index proves to be damaged."""
        try:
            return work(snapshot)
        except DamagedIndex:
            index.distrust(snapshot)
            return work(snapshot)

    # ── neighbours ────────────────────────────────────────────────────────────────────────────────────

    def said(self, project: str, head: Text, body: Text, *, needed: bool = False, patient: bool = True) -> Said:
        """A text as the models see it; by none of them while the project is empty and none is loaded, unless needed.

        Who is not patient gets what the models make of it that are loaded.
        """
        return said(head, body, self._awaited(project, needed=needed) if patient else self._ready(project))

    def embedder(self, model: str) -> Embedder:
        """The embedder of this id."""
        return self._by_name[model].embedder

    def embedded(self, texts: Sequence[str], models: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Short texts as these models see them, a row each, zeros where a model does not know the language.

        They are remembered: names are asked about again and again. A model that gives no vectors is left out.
        """
        found: dict[str, NDArray[Any]] = {}
        for model in models:
            channel = self._by_name[model]
            missing = [one for one in dict.fromkeys(texts) if (model, one) not in self._names]
            known = [one for one in missing if channel.embedder.knows(one)]
            made = channel.soon(known) if known else ()
            if made is None:
                continue
            if len(self._names) > _NAMES:
                self._names = {}
            names = self._names
            names.update(((model, one), None) for one in missing)
            names.update(((model, one), vector) for one, vector in zip(known, made, strict=True))
            rows = np.zeros((len(texts), channel.embedder.dimensions), np.float32)
            for row, one in zip(rows, texts, strict=True):
                if (vector := names.get((model, one))) is not None:
                    row[:] = vector
            found[model] = rows
        return found

    def look(self, project: str, work: Callable[[Look], T], *, patient: bool = True) -> T:
        """Look for neighbours in one moment of the project."""
        held = self._hold(project)
        return self._settled(
            held, project, lambda snapshot: work(Look(held.index, snapshot, self._by_name, self.judging)),
            patient=patient and bool(self.channels),
        )  # fmt: skip

    def lacks_vectors(self, look: Look) -> bool:
        """Whether some memories have no vector yet, but will have: their neighbours are not known before."""
        if not np.count_nonzero(look.index.passages["alive"]):
            return False
        return any(
            self._pending(look.index, one) > 0 if one.ready.is_set() else one.fault is None
            for one in self._in_use(look.index)
        )

    def _ready(self, project: str) -> list[Channel]:
        return [channel for channel in self.models(project) if channel.ready.is_set()]

    def _settle(self, project: str) -> None:
        """Every memory of the project has its vectors: draw the associations that have waited for them."""
        from polymnia.engine.knowledge import associations

        held = self._hold(project)

        def look(work: Callable[[Look], T]) -> T:
            with held.lock, self._reading(project, held) as snapshot:
                return work(Look(held.index, snapshot, self._by_name, self.judging))

        associations.draw_put_off(self._store, project, look)

    def ready(self, project: str) -> None:
        """Wait for models that are being loaded, within reason."""
        self._awaited(project)

    def apart(self, project: str, work: Callable[[Look], T], tick: Callable[[], None]) -> T:
        """The same for work that takes long: on an index of its own, so that no search has to wait.

        ``tick`` is called while another such work is under way; it may raise to give up.
        """
        self._awaited(project)
        with self._holding:
            held = self._apart.get(project)
            if held is None:
                held = self._apart[project] = Held()
                if len(self._apart) > _APART:
                    self._apart.popitem(last=False)
            self._apart.move_to_end(project)
        while not held.lock.acquire(timeout=0.1):
            tick()
        try:
            if self._lags(project):
                self._worker.notice(project)
                self._worker.wait(project, _CATCHING_UP)
            with self._reading(project, held) as snapshot:
                return self._worked(
                    held.index, snapshot, lambda snapshot: work(Look(held.index, snapshot, self._by_name, self.judging))
                )
        finally:
            held.lock.release()

    def _lags(self, project: str) -> bool:
        held = self._hold(project)
        with held.lock, self._reading(project, held):
            return self._seconds_behind(held.index) > 0

    def broken(self) -> Fault | None:
        """Why there is no search by meaning though a model was asked for; None while one of them works."""
        faults = [channel.fault for channel in self.channels]
        return faults[0] if faults and all(faults) else None

    def _is_empty(self, project: str) -> bool:
        with self._store.read(project) as snapshot:
            return snapshot.numbers[1] == 0

    def _seconds_behind(self, index: Index) -> float:
        """How long the passages without vectors will take."""
        return max((self._pending(index, c) * c.pace for c in self._in_use(index) if c.ready.is_set()), default=0.0)

    def _unsearched(self, index: Index) -> int:
        """Passages that some model that is ready has given no vector yet."""
        return max((self._pending(index, c) for c in self._in_use(index) if c.ready.is_set()), default=0)

    def _asking(self, project: str, text: str) -> Asking:
        """Have the query read by each model that is ready, in a large project while its words are searched.

        Waits for models that are being loaded, within reason.
        """
        if not self.channels or not text.strip():
            return _nobody
        held = self._hold(project)
        if not held.index.mixed and not self.channels[0].embedder.knows(text):
            with held.lock:  # what is asked in another language is looked for in all of them
                held.index.mixed = True
        ready = [channel for channel in self._awaited(project) if channel.embedder.knows(text)]
        if not ready:
            return _nobody

        def ask() -> Mapping[str, NDArray[Any]]:
            asked = ((channel.name, channel.ask(text, _ASKING)) for channel in ready)
            return {name: vector for name, vector in asked if vector is not None}

        if self._hold(project).index.count < _LARGE:
            return ask
        return self._readers.submit(ask).result

    def _awaited(self, project: str, *, needed: bool = False) -> list[Channel]:
        """The models that read the project and are ready.

        Those that are being loaded are waited for, each of them once, unless there is nothing to find.
        """
        waited: list[Channel] = []
        while loading := [one for one in self._reading_models(project) if not one.ready.is_set() and one not in waited]:
            if not needed and not waited and self._is_empty(project):
                break
            self._worker.notice(project)
            for channel in loading:
                # Only so long after its loading began: one that hangs holds up the first search and no other.
                until = (channel.since or time.monotonic()) + _LOADING
                while not channel.ready.is_set() and channel.fault is None and (left := until - time.monotonic()) > 0:
                    channel.ready.wait(min(left, 0.05))
            waited += loading
        return self._ready(project)

    def _reading_models(self, project: str) -> Sequence[Channel]:
        """The models that read a project.

        Its texts tell, and once the first model is ready, what it has passed over: both are read here where they have
        not been read yet.
        """
        held = self._hold(project)
        if len(self.channels) > 1 and not held.index.mixed:
            first = self.channels[0]
            if held.index.count <= 1 or (first.ready.is_set() and first.name not in held.index.vectors):
                with held.lock, self._reading(project, held):
                    pass
        return self._in_use(held.index)


def _nobody() -> Mapping[str, NDArray[Any]]:
    """No model reads the query."""
    return {}
