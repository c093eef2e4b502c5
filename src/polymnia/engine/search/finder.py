"""The finder of one store: searches it, and looks for what is near to a text."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import numpy as np

from polymnia.engine.knowledge.judge import Judging
from polymnia.engine.ports import Embedder, Judge, Reranker, Snapshot, Store
from polymnia.engine.search.answer import ResultPage, answer, planned
from polymnia.engine.search.cache import Held, ProjectIndex
from polymnia.engine.search.index import DamagedIndex, Index, Numbers
from polymnia.engine.search.neighbours import EmbeddedText, Neighbours, said
from polymnia.engine.search.passages import read
from polymnia.engine.search.query import Query, parse
from polymnia.engine.search.ranking import RankedSearch
from polymnia.engine.search.results import Found, Plan
from polymnia.engine.search.vectors import Channel
from polymnia.engine.search.worker import Reindexer, Worker
from polymnia.errors import Fault
from polymnia.models import Text

_LOADING = 5.0  # seconds a search waits for a model that is being loaded
_ASKING = 3.0  # and for the vector of the query
_CATCHING_UP = 0.8  # and for passages that have no vector yet,
_WORTH_WAITING = 1.2  # if those will have theirs within about this time
_APART = 4  # projects whose analyses keep an index of their own
_LARGE = 2_000  # from so many passages on, words and query are worth two threads
_NAMES = 4_000  # vectors of names that are remembered

_Embed = Callable[[], Mapping[str, Numbers]]


class Finder(Reindexer):
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
        self._embedding = ThreadPoolExecutor(2, "polymnia-query")
        self._apart: OrderedDict[str, Held] = OrderedDict()
        self._names: dict[tuple[str, str], Numbers | None] = {}
        self._worker = Worker(self, self._settle)

    def close(self) -> None:
        """Stop the work in the background and forget what is held."""
        self._worker.stop()
        self._embedding.shutdown(wait=False, cancel_futures=True)
        self.forget()
        self._apart.clear()

    def noticed(self, project: str) -> None:
        """Something was written to the project."""
        if self.channels:
            self._worker.notice(project)

    # ── searching ─────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def searched(self, project: str, query: Query, page: ResultPage) -> Iterator[tuple[Found, Snapshot]]:
        """A page of the memories that answer a query, with the moment of the store it was made from."""
        with self._search(project, query) as (search, view):
            yield answer(search, view.pages, page, self._unsearched(view.index)), view.snapshot

    def search(self, project: str, query: Query, page: ResultPage) -> Found:
        """A page of the memories that answer a query."""
        with self.searched(project, query, page) as (found, _):
            return found

    def explain(self, project: str, query: Query, *, limit: int) -> Plan:
        """How a query is read and answered."""
        with self._search(project, query) as (search, view):
            return planned(search, view.pages, limit)

    @contextmanager
    def _search(self, project: str, query: Query) -> Iterator[tuple[RankedSearch, ProjectIndex]]:
        """A search that has been run."""
        parsed = parse(query)
        which = query.lanes or self._lanes
        embed = None if which == "words" else self._embed(project, query.text)
        with self._caught_up(project, patient=embed is not None) as view:
            search = RankedSearch(
                view.index,
                view.snapshot,
                query,
                parsed,
                which=which,
                channels={channel.name: channel for channel in self._in_use(view.index)},
                embed=embed or dict,
                reranker=self.reranker,
                effort=query.effort or self._effort,
            )
            try:
                search.run()
            except DamagedIndex:
                view.reread()
                search.index = view.index
                search.run()
            yield search, view

    @contextmanager
    def _caught_up(self, project: str, *, patient: bool) -> Iterator[ProjectIndex]:
        """A moment of the project; whoever is patient waits for a few missing vectors first."""
        self._worker.searched = time.monotonic()
        with self.at(project) as view:
            need = self._seconds_behind(view.index) if patient else 0.0
            if need:
                self._worker.notice(project)
            if not 0 < need < _WORTH_WAITING:
                yield view
                return
        # A few passages have no vector yet: it takes less to wait for them than to miss them.
        self._worker.wait(project, _CATCHING_UP)
        with self.at(project) as view:
            yield view

    def _seconds_behind(self, index: Index) -> float:
        """How long the passages without vectors will take."""
        return max((self._pending(index, c) * c.pace for c in self._in_use(index) if c.ready.is_set()), default=0.0)

    def _unsearched(self, index: Index) -> int:
        """Passages that some model that is ready has given no vector yet."""
        return max((self._pending(index, c) for c in self._in_use(index) if c.ready.is_set()), default=0)

    def _embed(self, project: str, text: str) -> _Embed | None:
        """What gives a query as each model sees it; in a large project that is made while its words are searched.

        Waits for models that are being loaded, within reason. None where no model can read the query.
        """
        if not self.channels or not text.strip():
            return None
        if not self._hold(project).index.mixed and not self.channels[0].embedder.knows(text):
            held = self._hold(project)
            with held.turn:  # what is asked in another language is looked for in all of them
                held.index.mixed = True
        ready = [channel for channel in self._awaited(project) if channel.embedder.knows(text)]
        if not ready:
            return None

        def embed() -> Mapping[str, Numbers]:
            made = ((channel.name, channel.soon([text], _ASKING, query=True)) for channel in ready)
            return {name: vectors[0] for name, vectors in made if vectors is not None}

        return embed if self._hold(project).index.count < _LARGE else self._embedding.submit(embed).result

    def broken(self) -> Fault | None:
        """Why there is no search by meaning though a model was asked for; None while one of them works."""
        faults = [channel.fault for channel in self.channels]
        return faults[0] if faults and all(faults) else None

    # ── waiting for models ────────────────────────────────────────────────────────────────────────────

    def ready(self, project: str) -> None:
        """Wait for models that are being loaded, within reason."""
        self._awaited(project)

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
        return self._loaded(project)

    def _loaded(self, project: str) -> list[Channel]:
        return [channel for channel in self.models(project) if channel.ready.is_set()]

    def _is_empty(self, project: str) -> bool:
        with self._store.read(project) as snapshot:
            return snapshot.numbers[1] == 0

    def _reading_models(self, project: str) -> Sequence[Channel]:
        """The models that read a project.

        Its texts tell, and once the first model is ready, what it has passed over: both are read here where they have
        not been read yet.
        """
        index = self._hold(project).index
        if len(self.channels) > 1 and not index.mixed:
            first = self.channels[0]
            if index.count <= 1 or (first.ready.is_set() and first.name not in index.vectors):
                with self.at(project):
                    pass
        return self.models(project)

    # ── neighbours ────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def look(self, project: str, *, patient: bool = True) -> Iterator[Neighbours]:
        """Look for neighbours in one moment of the project."""
        with self._caught_up(project, patient=patient and bool(self.channels)) as view:
            yield Neighbours(view, self._by_name, self.judging)

    @contextmanager
    def apart(self, project: str, tick: Callable[[], None]) -> Iterator[Neighbours]:
        """The same for work that takes long: on an index of its own, so that no search has to wait.

        ``tick`` is called while another such work is under way; it may raise to give up.
        """
        self._awaited(project)
        with self._lock:
            held = self._apart.get(project)
            if held is None:
                held = self._apart[project] = Held()
                if len(self._apart) > _APART:
                    self._apart.popitem(last=False)
            self._apart.move_to_end(project)
        while not held.alone.acquire(timeout=0.1):
            tick()
        try:
            with self.at(project) as view:
                lags = self._seconds_behind(view.index) > 0
            if lags:
                self._worker.notice(project)
                self._worker.wait(project, _CATCHING_UP)
            with self.at(project, held) as view:
                yield Neighbours(view, self._by_name, self.judging)
        finally:
            held.alone.release()

    def lacks_vectors(self, look: Neighbours) -> bool:
        """Whether some memories have no vector yet, but will have: their neighbours are not known before."""
        if not np.count_nonzero(look.index.passages["alive"]):
            return False
        return any(
            self._pending(look.index, one) > 0 if one.ready.is_set() else one.fault is None
            for one in self._in_use(look.index)
        )

    def _settle(self, project: str) -> None:
        """Every memory of the project has its vectors: draw the associations that have waited for them."""
        from polymnia.engine.knowledge import associations

        associations.draw_put_off(self._store, project, lambda: self.look(project, patient=False))

    # ── texts as the models see them ──────────────────────────────────────────────────────────────────

    def said(self, project: str, head: Text, body: Text, *, needed: bool = False, patient: bool = True) -> EmbeddedText:
        """A text as the models see it; by none of them while the project is empty and none is loaded, unless needed.

        Who is not patient gets what the models make of it that are loaded.
        """
        return said(head, body, self._awaited(project, needed=needed) if patient else self._loaded(project))

    def unread(self, head: Text, body: Text) -> EmbeddedText:
        """A text that no model is to read: it has zeros in place of vectors."""
        places = [(one.text == head.id, one.part) for one in read([head, body]) if one.embeds]
        sizes = {channel.name: channel.embedder.dimensions for channel in self.channels}
        return EmbeddedText(places, {name: np.zeros((len(places), size), np.float32) for name, size in sizes.items()})

    def embedder(self, model: str) -> Embedder:
        """The embedder of this id."""
        return self._by_name[model].embedder

    def embedded(self, texts: Sequence[str], models: Sequence[str]) -> dict[str, Numbers]:
        """Short texts as these models see them, a row each, zeros where a model does not know the language.

        They are remembered: names are asked about again and again. A model that gives no vectors is left out.
        """
        found: dict[str, Numbers] = {}
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
