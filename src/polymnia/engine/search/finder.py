"""The finder of one store: holds its projects in memory, searches them, and looks for what is near to a text.

``with finder.at(project) as view`` gives one moment of a project, brought up to the store whenever it is read.
"""

from __future__ import annotations

import os
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import numpy as np

from polymnia.engine.knowledge.judge import Judging
from polymnia.engine.ports import Embedder, Judge, KindModel, Reranker, Snapshot, Store
from polymnia.engine.search import Analysis, worker
from polymnia.engine.search.answer import answer, planned
from polymnia.engine.search.index import DamagedIndex, Index, Numbers, Vectors
from polymnia.engine.search.neighbours import EmbeddedText, Neighbours, said
from polymnia.engine.search.passages import read
from polymnia.engine.search.query import parse
from polymnia.engine.search.ranking import Ranked, RankedSearch
from polymnia.engine.search.results import Found, Plan, Query, ResultPage
from polymnia.engine.text.language import script_number
from polymnia.errors import Fault, Invalid
from polymnia.models import Text

_PROJECTS = 64  # so many projects are held in memory at once,
_APART = 4  # and so many more whose analyses have an index of their own
_BEHIND = 1 << 14  # with more texts that wait to be indexed, it is time to do it
_REMEMBERED = 64  # orders of answers
_NAMES = 4_000  # vectors of names that are remembered
_LARGE = 2_000  # from so many passages on, words and query are worth two threads
_LOADING = 5.0  # seconds a search waits for a model that is being loaded,
_ASKING = 3.0  # for the vector of the query,
_CATCHING_UP = 0.8  # and for passages that have no vector yet,
_WORTH_WAITING = 1.2  # if those will have theirs within about this time
_SOON = 5.0  # seconds somebody waits who stores and has others to compare with
_CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
_AGAIN = 30.0  # seconds until a model that could not be had is tried once more

Progress = Callable[[str, int, int], None]
_Embed = Callable[[], Mapping[str, Numbers]]


class Channel:
    """One embedder and its state: not asked for yet, loading, ready, or broken with the fault that tells why."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self.fault: Fault | None = None
        self.ready = threading.Event()
        self._loading = threading.Lock()
        self._tried = 0.0
        self.since: float | None = None  # when the loading began that goes on
        self.pace = 0.003  # seconds a passage took of late

    @property
    def name(self) -> str:
        """The model's id."""
        return self.embedder.id

    def load(self, *, patient: bool = True) -> bool:
        """Make ready in this thread, unless it failed a moment ago and one is patient; answers whether it is."""
        with self._loading:
            if self.ready.is_set():
                return True
            if patient and self.fault is not None and time.monotonic() - self._tried < _AGAIN:
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
        """Vectors of texts, or None when the model gave none; the fault is kept."""
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
        """Vectors of texts, or None when there are none in time; a model so slow is left alone for a while."""
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
        """Remember why there are no vectors; the next try comes later."""
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
        self._held: OrderedDict[str, Held] = OrderedDict()
        self._apart: OrderedDict[str, Held] = OrderedDict()
        self._lock = threading.Lock()
        self._searching = 0
        self._names: dict[tuple[str, str], Numbers | None] = {}
        self._worker = worker.Worker(self, self._settle)

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

    # ── the projects in memory ────────────────────────────────────────────────────────────────────────

    @contextmanager
    def at(self, project: str, held: Held | None = None) -> Iterator[ProjectIndex]:
        """A moment of the project. Its index stays as it is until the end of the block."""
        held = held or self._hold(project)
        me = threading.get_ident()
        with ExitStack() as reading:
            with held.turn:
                while True:
                    # Opened under the lock, so that no index runs ahead of its reader.
                    snapshot = reading.enter_context(self.store.read(project))
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
        place = self.store.place()
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
            worker.list_words(self.store, project, lambda lane, done, total: None)
        return reading.enter_context(self.store.read(project))

    def _hold(self, project: str, *, apart: bool = False) -> Held:
        projects, most = (self._apart, _APART) if apart else (self._held, _PROJECTS)
        with self._lock:
            held = projects.get(project)
            if held is None:
                held = projects[project] = Held()
                if len(projects) > most:
                    projects.popitem(last=False)
            projects.move_to_end(project)
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

    def in_use(self, index: Index) -> Sequence[Channel]:
        """The models that read a project: the first alone until something turns up that it does not know."""
        alone = not index.mixed and self.channels and self.channels[0].fault is None
        return self.channels[:1] if alone else self.channels

    def each_model(self, project: str) -> Iterator[Channel]:
        """The models that read the project, as many as turn out to while the first ones are at work."""
        for at, channel in enumerate(self.channels):
            if at < len(self.models(project)):
                yield channel

    def models(self, project: str) -> Sequence[Channel]:
        """The models that read a project now."""
        return self.in_use(self._hold(project).index)

    def waiting(self, project: str, channel: Channel, most: int) -> list[tuple[int, int]]:
        """Passages without a vector, the newest first: what was just written is likely to be asked for."""
        with self.at(project) as view:
            rows = np.flatnonzero(view.index.unread(channel.name))[-most:]
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

    def health(self, project: str) -> worker.Health:
        """How far search is with the project. Loads nothing that is not loaded."""
        return worker.health(self, project)

    def reindex(self, project: str, progress: Progress, *, anew: bool = False) -> worker.Health:
        """Bring everything up to date that is made of texts; with ``anew``, make all of it again."""
        return worker.reindex(self, project, progress, anew=anew)

    def catch_up(self, project: str, progress: Progress) -> None:
        """Give every passage its vectors now. A model that cannot be had is passed over."""
        worker.catch_up(self, project, progress)

    # ── searching ─────────────────────────────────────────────────────────────────────────────────────

    @contextmanager
    def searched(self, project: str, query: Query, page: ResultPage) -> Iterator[tuple[Found, Snapshot]]:
        """A page of the memories that answer a query, with the moment of the store it was made from."""
        with self._search(project, query) as (search, view):
            yield answer(search, view.pages, page, self._behind(view.index)[0]), view.snapshot

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
        parsed = parse(query)
        which = query.lanes or self._lanes
        embed = None if which == "words" else self._embed(project, query.text)
        with self._caught_up(project, patient=embed is not None) as view:
            with self._lock:
                self._searching += 1
            try:
                search = RankedSearch(
                    view.index,
                    view.snapshot,
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
                    view.reread()
                    search.index = view.index
                    search.run()
                yield search, view
            finally:
                with self._lock:
                    self._searching -= 1

    @contextmanager
    def _caught_up(self, project: str, *, patient: bool) -> Iterator[ProjectIndex]:
        """A moment of the project; whoever is patient waits for a few missing vectors first."""
        self._worker.searched = time.monotonic()
        with self.at(project) as view:
            need = self._behind(view.index)[1] if patient else 0.0
            if need:
                self._worker.notice(project)
            if not 0 < need < _WORTH_WAITING:
                yield view
                return
        # A few passages have no vector yet: it takes less to wait for them than to miss them.
        self._worker.wait(project, _CATCHING_UP)
        with self.at(project) as view:
            yield view

    def _behind(self, index: Index) -> tuple[int, float]:
        """How many passages some model that is ready has given no vector yet, and how many seconds they will take."""
        pending = [(index.pending(one.name), one.pace) for one in self.in_use(index) if one.ready.is_set()]
        return max((count for count, _ in pending), default=0), max(
            (count * pace for count, pace in pending), default=0.0
        )

    def _embed(self, project: str, text: str) -> _Embed | None:
        """What gives a query as each model sees it; in a large project that is made while its words are searched.

        Waits for models that are being loaded, within reason. None where no model can read the query.
        """
        if not self.channels or not text.strip():
            return None
        held = self._hold(project)
        if not held.index.mixed and not self.channels[0].embedder.knows(text):
            with held.turn:  # what is asked in another language is looked for in all of them
                held.index.mixed = True
        ready = [channel for channel in self._awaited(project) if channel.embedder.knows(text)]
        if not ready:
            return None

        def embed() -> Mapping[str, Numbers]:
            made = ((channel.name, channel.soon([text], _ASKING, query=True)) for channel in ready)
            return {name: vectors[0] for name, vectors in made if vectors is not None}

        return embed if held.index.count < _LARGE else self._embedding.submit(embed).result

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
        with self.store.read(project) as snapshot:
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
        held = self._hold(project, apart=True)
        while not held.alone.acquire(timeout=0.1):
            tick()
        try:
            with self.at(project) as view:
                lags = self._behind(view.index)[0]
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
            look.index.pending(one.name) > 0 if one.ready.is_set() else one.fault is None
            for one in self.in_use(look.index)
        )

    def _settle(self, project: str) -> None:
        """Every memory of the project has its vectors: draw the associations that have waited for them."""
        from polymnia.engine.knowledge import associations

        associations.draw_put_off(self.store, project, lambda: self.look(project, patient=False))

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
