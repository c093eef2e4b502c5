"""The finder of one store: caches the indexes of its projects, searches them, and finds neighbours of a text.

``with finder.at(project) as view`` gives a consistent view of a project, brought up to date with the store.
"""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any
from zlib import crc32

import numpy as np
from msgspec.msgpack import decode, encode

from polymnia.engine.knowledge.judge import Judging
from polymnia.engine.ports import Embedder, Judge, KindModel, Reranker, Snapshot, Store
from polymnia.engine.search import Analysis, worker
from polymnia.engine.search.answer import answer, plan
from polymnia.engine.search.index import DamagedIndex, Index, Numbers, Vectors
from polymnia.engine.search.lanes import parse
from polymnia.engine.search.neighbours import EmbeddedText, Neighbours, embed_text
from polymnia.engine.search.passages import read
from polymnia.engine.search.ranking import Ranked, RankedSearch
from polymnia.engine.search.results import Found, Plan, Query, ResultPage
from polymnia.engine.text.language import script_number
from polymnia.errors import Fault, Invalid
from polymnia.models import Text

_PROJECTS = 64  # indexes that are cached,
_SEPARATE = 4  # and those of analyses
_BACKLOG = 1 << 14  # with more texts that are not indexed yet, they are indexed first
_ORDERS = 64  # orders of results that are cached
_NAMES = 4_000  # vectors of names that are cached
_LARGE = 2_000  # from so many passages on, the query is embedded in a thread of its own
_LOADING = 5.0  # seconds a search waits for a model that is being loaded,
_EMBEDDING = 3.0  # for the vector of the query,
_CATCHING_UP = 0.8  # and for passages without a vector,
_WORTH_WAITING = 1.2  # if these will have theirs in about this time
_SOON = 5.0  # seconds that storing a text waits for its vectors
_RETRY = 30.0  # seconds until a model that failed is tried again
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

Progress = Callable[[str, int, int], None]
_Embed = Callable[[], Mapping[str, Numbers]]


class Channel:
    """One embedder and its state: not needed yet, loading, ready, or broken with a fault."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.name = embedder.id
        self.fault: Fault | None = None
        self.ready = threading.Event()
        self._loading = threading.Lock()
        self._tried = 0.0
        self.since: float | None = None  # when the loading in progress began
        self.pace = 0.003  # seconds for a passage, averaged

    def load(self, *, patient: bool = True) -> bool:
        """Load the model in this thread and return whether it is ready; a ``patient`` caller does not retry at once."""
        with self._loading:
            if self.ready.is_set():
                return True
            if patient and self.fault is not None and time.monotonic() - self._tried < _RETRY:
                return False
            self.since = time.monotonic()
            try:
                self.embedder.load()
            except Exception as e:
                self.failed(e)
                return False
            finally:
                self.since = None
            self.fault = None
            self.ready.set()
            return True

    def embed(self, texts: Sequence[str], *, query: bool = False) -> Any:
        """The vectors of texts, or None if the model fails, with the reason in ``fault``."""
        began = time.monotonic()
        try:
            found = self.embedder.embed(texts, query=query)
        except Exception as e:
            self.failed(e)
            return None
        if not query and texts:
            self.pace = 0.5 * self.pace + 0.5 * (time.monotonic() - began) / len(texts)
        return found

    def soon(self, texts: Sequence[str], seconds: float = _SOON, *, query: bool = False) -> Any:
        """The vectors of texts, or None if a remote model takes too long; such a model counts as failed."""
        if self.embedder.near:
            return self.embed(texts, query=query)
        made: list[Any] = []
        thread = threading.Thread(
            target=lambda: made.append(self.embed(texts, query=query)), name="polymnia-query", daemon=True
        )
        thread.start()
        thread.join(seconds)
        if not made:
            self.failed(TimeoutError(f"no vector within {seconds:g} s"))
            return None
        return made[0]

    def failed(self, error: Exception) -> None:
        """Record why there are no vectors; the model is tried again later."""
        self.ready.clear()
        self._tried = time.monotonic()
        if isinstance(error, Fault):
            self.fault = error
        else:
            self.fault = Invalid(
                f"The model {self.embedder.id} failed: {type(error).__name__}: {error}",
                hint="Choose another one with --embedder, or none.",
            )


class Pages:
    """A cache of the orders of results, so that later pages continue the first one.

    Orders are cached in encoded form: an order of many thousand memories takes a sixth of the space.
    """

    def __init__(self) -> None:
        self._orders: OrderedDict[int, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def keep(self, order: list[Ranked], name: int | None = None) -> int:
        """Cache an order and return its key; if the caller has none, one that only the same order has."""
        encoded = encode(order)
        name = crc32(encoded) or 1 if name is None else name
        with self._lock:
            self._orders[name] = encoded
            self._orders.move_to_end(name)
            if len(self._orders) > _ORDERS:
                self._orders.popitem(last=False)
        return name

    def find(self, name: int) -> list[Ranked] | None:
        """The order with this key, if it is still cached."""
        order = self._orders.get(name)
        return None if order is None else decode(order, type=list[Ranked])


class CachedProject:
    """The index of one project in memory. Many threads may read it at once; changing it waits for them."""

    def __init__(self) -> None:
        self.turn = threading.Condition()
        self.readers: list[int] = []  # the threads that read the index now
        self.index = Index(Analysis())
        self.pages = Pages()
        self.place: object = None
        self.listed = False  # whether the backlog of the store has been indexed
        self.exclusive = threading.Lock()  # for long work, one at a time


class ProjectIndex:
    """A consistent view of a project: a snapshot of the store, and the index as of that snapshot."""

    def __init__(self, cached: CachedProject, snapshot: Snapshot) -> None:
        self._cached = cached
        self.index = cached.index
        self.snapshot = snapshot
        self.pages = cached.pages

    def rebuild(self) -> None:
        """Rebuild the index from the texts themselves, since the word index of the store is damaged."""
        fresh = self.index.rebuilt(self.snapshot)
        with self._cached.turn:
            if self._cached.index is self.index:
                self._cached.index = fresh
        self.index = fresh


class Finder:
    """Searches a store by words and by meaning. Safe to use from several threads."""

    def __init__(
        self,
        store: Store,
        *,
        embedders: Sequence[Embedder] = (),
        reranker: Reranker | None = None,
        judge: Judge | None = None,
        kinds: KindModel | None = None,
        lanes: str = "all",
        effort: str = "balanced",
    ) -> None:
        self.store = store
        self.channels = [Channel(embedder) for embedder in embedders]
        self._lanes = lanes
        self._effort = effort
        self._by_name = {channel.name: channel for channel in self.channels}
        self.reranker = reranker
        self.judging = None if judge is None else Judging(judge)
        self.kinds = kinds
        self._embedding = ThreadPoolExecutor(2, "polymnia-query")
        self._cached: OrderedDict[str, CachedProject] = OrderedDict()
        self._separate: OrderedDict[str, CachedProject] = OrderedDict()
        self._lock = threading.Lock()
        self._searching = 0
        self._names: dict[tuple[str, str], Numbers | None] = {}
        self._worker = worker.Worker(self, self._settle)

    def close(self) -> None:
        """Stop the background work and drop the cached indexes."""
        self._worker.stop()
        self._embedding.shutdown(wait=False, cancel_futures=True)
        self.forget()
        self._separate.clear()

    def notify(self, project: str) -> None:
        """Report a write to the project."""
        if self.channels:
            self._worker.notify(project)

    # ── cached projects ───────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def at(self, project: str, cached: CachedProject | None = None) -> Iterator[ProjectIndex]:
        """A view of the project as it is now. Its index does not change until the end of the block."""
        cached = cached or self._cache(project)
        me = threading.get_ident()
        with ExitStack() as reading:
            with cached.turn:
                while True:
                    # Opened under the lock, so that no index runs ahead of its reader.
                    snapshot = reading.enter_context(self.store.read(project))
                    if not cached.listed:
                        cached.listed = True
                        snapshot = self._without_backlog(project, snapshot, reading)
                    if self._follow(cached, snapshot):
                        break
                    reading.close()
                    if me in cached.readers:
                        raise RuntimeError("Who reads a moment of a project must leave it first to get a later one")
                    cached.turn.wait()
                view = ProjectIndex(cached, snapshot)
                cached.readers.append(me)
            held = reading.pop_all()
        try:
            with held:  # closed before it waits for the lock: whoever has that may be waiting for its connection
                yield view
        finally:
            with cached.turn:
                cached.readers.remove(me)
                cached.turn.notify_all()

    def _follow(self, cached: CachedProject, snapshot: Snapshot) -> bool:
        """Bring the index up to the snapshot; False if it would have to change while somebody reads it."""
        place = self.store.identity()
        if cached.place != place:
            cached.index, cached.place = Index(Analysis(), mixed=cached.index.mixed), place
        index = cached.index
        ready = [one for one in self.channels if one.name not in index.vectors and one.ready.is_set()]
        if not ready and not index.is_behind(snapshot):
            return True
        if cached.readers:
            return False
        index.vectors |= {one.name: Vectors(one.name, one.embedder.dimensions) for one in ready}
        index.follow(snapshot)
        self._note_languages(index)
        return True

    def _note_languages(self, index: Index) -> None:
        if len(self.channels) > 1 and not index.mixed:
            vectors = index.vectors.get(self.channels[0].name)
            skipped = vectors is not None and vectors.arrival[: index.count] < 0
            other = skipped | (index.passages["script"] > script_number("a"))
            index.mixed = bool((index.passages["alive"] & other).any())

    def _without_backlog(self, project: str, snapshot: Snapshot, reading: ExitStack) -> Snapshot:
        """The snapshot after a long backlog was indexed; otherwise every process would have to read it."""
        _, seq, listed, _ = snapshot.numbers
        if seq - listed <= _BACKLOG:
            return snapshot
        reading.close()
        with suppress(Fault):  # somebody writes; the backlog is read here this time
            worker.list_words(self.store, project, lambda lane, done, total: None)
        return reading.enter_context(self.store.read(project))

    def _cache(self, project: str, *, separate: bool = False) -> CachedProject:
        projects, most = (self._separate, _SEPARATE) if separate else (self._cached, _PROJECTS)
        with self._lock:
            if project not in projects:
                projects[project] = CachedProject()
                if len(projects) > most:
                    projects.popitem(last=False)
            projects.move_to_end(project)
            return projects[project]

    def cached(self) -> dict[str, Index]:
        """The cached indexes, by project."""
        with self._lock:
            return {name: one.index for name, one in self._cached.items()}

    def forget(self, project: str | None = None) -> None:
        """Drop the cached index of a project, or of all."""
        with self._lock:
            if project is None:
                self._cached.clear()
            else:
                self._cached.pop(project, None)

    # ── models and passages without a vector ──────────────────────────────────────────────────────────

    def in_use(self, index: Index) -> Sequence[Channel]:
        """The models a project needs: the first alone until something turns up that it does not know."""
        alone = not index.mixed and self.channels and self.channels[0].fault is None
        return self.channels[:1] if alone else self.channels

    def each_model(self, project: str) -> Iterator[Channel]:
        """The models a project needs, including those that turn out to be needed meanwhile."""
        for at, channel in enumerate(self.channels):
            if at < len(self.models(project)):
                yield channel

    def models(self, project: str) -> Sequence[Channel]:
        """The models a project needs now."""
        return self.in_use(self._cache(project).index)

    def waiting(self, project: str, channel: Channel, most: int) -> list[tuple[int, int]]:
        """Passages without a vector, the newest ones: these are likely to be searched for."""
        with self.at(project) as view:
            rows = np.flatnonzero(view.index.unread(channel.name))[-most:]
            passages = view.index.passages
            return list(zip(passages["text"][rows].tolist(), passages["part"][rows].tolist(), strict=True))

    def skip(self, project: str, channel: Channel, passages: list[tuple[int, int]]) -> None:
        """Record that these passages get no vector of the model, since it does not know their language."""
        cached = self._cache(project)
        with cached.turn:
            vectors = cached.index.vectors.get(channel.name)
            if vectors is not None and passages:
                keys = np.array([text << 16 | part for text, part in passages], np.uint64)
                vectors.skip(cached.index.rows(keys))
                self._note_languages(cached.index)

    def health(self, project: str) -> worker.Health:
        """The state of the search indexes of a project. Loads no model."""
        return worker.health(self, project)

    def reindex(self, project: str, progress: Progress, *, anew: bool = False) -> worker.Health:
        """Bring everything derived from texts up to date; with ``anew``, build all of it again."""
        return worker.reindex(self, project, progress, anew=anew)

    def catch_up(self, project: str, progress: Progress) -> None:
        """Give every passage its vectors now. A model that cannot be loaded is skipped."""
        worker.catch_up(self, project, progress)

    # ── searching ─────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def searched(self, project: str, query: Query, page: ResultPage) -> Iterator[tuple[Found, Snapshot]]:
        """A page of the memories that answer a query, with the snapshot of the store it was made from."""
        with self._search(project, query) as (search, view):
            yield answer(search, view.pages, page, self._behind(view.index)[0]), view.snapshot

    def search(self, project: str, query: Query, page: ResultPage) -> Found:
        """A page of the memories that answer a query."""
        with self.searched(project, query, page) as (found, _):
            return found

    def explain(self, project: str, query: Query, *, limit: int) -> Plan:
        """How a query is parsed and answered."""
        with self._search(project, query) as (search, view):
            return plan(search, view.pages, limit)

    @contextmanager
    def _search(self, project: str, query: Query) -> Iterator[tuple[RankedSearch, ProjectIndex]]:
        parsed = parse(query)
        which = query.lanes or self._lanes
        embed = None if which == "words" else self._embed(project, query.text)
        with self._caught_up(project, patient=embed is not None) as view:
            with self._lock:
                self._searching += 1
            try:
                search = RankedSearch(
                    view,
                    query,
                    parsed,
                    which=which,
                    channels=self.in_use(view.index),
                    embed=embed or dict,
                    reranker=self.reranker,
                    effort=query.effort or self._effort,
                    crowd=max(1.0, self._searching / _CORES),
                )
                try:
                    search.run()
                except DamagedIndex:
                    view.rebuild()
                    search.index = view.index
                    search.run()
                yield search, view
            finally:
                with self._lock:
                    self._searching -= 1

    @contextmanager
    def _caught_up(self, project: str, *, patient: bool) -> Iterator[ProjectIndex]:
        """A view of the project; a ``patient`` caller waits for a few missing vectors first."""
        self._worker.searched = time.monotonic()
        with self.at(project) as view:
            seconds = self._behind(view.index)[1] if patient else 0.0
            if seconds:
                self._worker.notify(project)
            if not 0 < seconds < _WORTH_WAITING:
                yield view
                return
        # A few passages have no vector yet: waiting for them costs less than missing them.
        self._worker.wait(project, _CATCHING_UP)
        with self.at(project) as view:
            yield view

    def _behind(self, index: Index) -> tuple[int, float]:
        """How many passages lack a vector of some model that is ready, and how many seconds these will take."""
        pending = [(index.pending(one.name), one.pace) for one in self.in_use(index) if one.ready.is_set()]
        seconds = max((count * pace for count, pace in pending), default=0.0)
        return max((count for count, _ in pending), default=0), seconds

    def _embed(self, project: str, text: str) -> _Embed | None:
        """A function that returns the vectors of a query by model; None if no model can read the query.

        Waits for models that are being loaded. In a large project the query is embedded while its words are searched.
        """
        if not self.channels or not text.strip():
            return None
        cached = self._cache(project)
        if not cached.index.mixed and not self.channels[0].embedder.knows(text):
            with cached.turn:  # a query in another language needs all models
                cached.index.mixed = True
        ready = [channel for channel in self._awaited(project) if channel.embedder.knows(text)]
        if not ready:
            return None

        def embed() -> Mapping[str, Numbers]:
            made = ((channel.name, channel.soon([text], _EMBEDDING, query=True)) for channel in ready)
            return {name: vectors[0] for name, vectors in made if vectors is not None}

        return embed if cached.index.count < _LARGE else self._embedding.submit(embed).result

    def broken(self) -> Fault | None:
        """Why no model works; None if one does, or if there is none."""
        faults = [channel.fault for channel in self.channels]
        return faults[0] if faults and all(faults) else None

    # ── waiting for models ────────────────────────────────────────────────────────────────────────────

    def wait_for_models(self, project: str) -> None:
        """Wait for models that are being loaded, for a limited time."""
        self._awaited(project)

    def _awaited(self, project: str, *, needed: bool = False) -> list[Channel]:
        """The models that the project needs and that are ready.

        Waits for those that are being loaded, once for each, unless the project is empty.
        """
        waited: list[Channel] = []
        while loading := [one for one in self._needed(project) if not one.ready.is_set() and one not in waited]:
            if not needed and not waited:
                with self.store.read(project) as snapshot:
                    if snapshot.numbers[1] == 0:
                        break
            self._worker.notify(project)
            for channel in loading:
                # Counted from the start of its loading: one that hangs delays the first search and no other.
                until = (channel.since or time.monotonic()) + _LOADING
                while not channel.ready.is_set() and channel.fault is None and (left := until - time.monotonic()) > 0:
                    channel.ready.wait(min(left, 0.05))
            waited += loading
        return self._loaded(project)

    def _loaded(self, project: str) -> list[Channel]:
        return [channel for channel in self.models(project) if channel.ready.is_set()]

    def _needed(self, project: str) -> Sequence[Channel]:
        """The models a project needs, by its texts and, once the first model is ready, by what that one skipped."""
        index = self._cache(project).index
        if len(self.channels) > 1 and not index.mixed:
            first = self.channels[0]
            if index.count <= 1 or (first.ready.is_set() and first.name not in index.vectors):
                with self.at(project):
                    pass
        return self.models(project)

    # ── neighbours ────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def neighbours(self, project: str, *, patient: bool = True) -> Iterator[Neighbours]:
        """The neighbours in one view of the project."""
        with self._caught_up(project, patient=patient and bool(self.channels)) as view:
            yield Neighbours(view, self._by_name, self.judging)

    @contextmanager
    def separate_neighbours(self, project: str, tick: Callable[[], None]) -> Iterator[Neighbours]:
        """The same for long work: with an index of its own, so that no search has to wait.

        ``tick`` is called while other such work runs; it may raise to cancel.
        """
        self._awaited(project)
        cached = self._cache(project, separate=True)
        while not cached.exclusive.acquire(timeout=0.1):
            tick()
        try:
            with self.at(project) as view:
                lags = self._behind(view.index)[0]
            if lags:
                self._worker.notify(project)
                self._worker.wait(project, _CATCHING_UP)
            with self.at(project, cached) as view:
                yield Neighbours(view, self._by_name, self.judging)
        finally:
            cached.exclusive.release()

    def lacks_vectors(self, near: Neighbours) -> bool:
        """Whether some memories have no vector yet but will have one, so that their neighbours are unknown."""
        if not np.count_nonzero(near.index.passages["alive"]):
            return False
        return any(
            near.index.pending(one.name) > 0 if one.ready.is_set() else one.fault is None
            for one in self.in_use(near.index)
        )

    def _settle(self, project: str) -> None:
        """Create the associations that were deferred until every memory has its vectors."""
        from polymnia.engine.knowledge import associations

        associations.add_deferred(self.store, project, lambda: self.neighbours(project, patient=False))

    # ── vectors of texts ──────────────────────────────────────────────────────────────────────────────

    def embed_text(
        self, project: str, head: Text, body: Text, *, needed: bool = False, patient: bool = True
    ) -> EmbeddedText:
        """A text with its vectors; without any while the project is empty and no model is loaded, unless ``needed``.

        A caller that is not ``patient`` gets the vectors of the models that are loaded.
        """
        return embed_text(head, body, self._awaited(project, needed=needed) if patient else self._loaded(project))

    def unread(self, head: Text, body: Text) -> EmbeddedText:
        """A text that no model is to read, with zeros for vectors."""
        places = [(one.text == head.id, one.part) for one in read([head, body]) if one.embeds]
        sizes = {channel.name: channel.embedder.dimensions for channel in self.channels}
        return EmbeddedText(places, {name: np.zeros((len(places), size), np.float32) for name, size in sizes.items()})

    def embedder(self, model: str) -> Embedder:
        """The embedder with this id."""
        return self._by_name[model].embedder

    def embedded(self, texts: Sequence[str], models: Sequence[str]) -> dict[str, Numbers]:
        """The vectors of short texts by model, a row each; zeros if a model does not know the language.

        They are cached, since names recur. A model that fails is left out.
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
