"""Indexing: every passage gets its words indexed and its vectors, in the background or while a caller waits.

Writing never waits for it, and a search only for a limited time. Whatever goes wrong here, the words are searched all
the same, and the result says what is missing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from polymnia.engine.ports import Store, Transaction, Vector
from polymnia.engine.ports.maintenance import CheckRequest
from polymnia.engine.search import Analysis
from polymnia.engine.search.index import packed
from polymnia.engine.search.passages import embedder_text
from polymnia.errors import Fault
from polymnia.models import JsonObject, Text

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Channel, Finder, Progress

_LISTED = 8192  # texts indexed between two commits
_BATCH = 32
_UNINTERRUPTED = 8  # passages of a model in this process that are embedded before a request to stop is heard
_REMOTE, _NEAR = 2.0, 30.0  # seconds that stopping waits for another machine, and for a model in this process
_AT_ONCE = 64  # passages embedded between two commits of a reindex: what is done stays done
_QUIET = 0.1  # seconds after a search in which the background work pauses,
_LONGEST_QUIET = 1.0  # and the longest pause between two batches

Unread = tuple[int, int]
"""A passage without a vector: its text and its part."""
_Batch = tuple[list[Unread], list[Text]]


def embed_some(
    store: Store,
    project: str,
    channel: Channel,
    texts: Sequence[Text],
    passages: Sequence[Unread],
    stopped: Callable[[], bool] = bool,
) -> tuple[int, list[Unread]]:
    """Embed passages and store the vectors; returns how many were stored, and which passages the model cannot read.

    The latter are stored without a vector. If the head of a memory has changed meanwhile, nothing is stored for it.
    Once ``stopped``, no further passage is embedded and nothing is stored.
    """
    by_number = {text.id: text for text in texts}
    there = [one for one in passages if one[0] in by_number]
    inputs = [embedder_text(by_number[number], part) for number, part in there]
    known = [i for i, text in enumerate(inputs) if channel.embedder.knows(text)]
    foreign = [there[i] for i in sorted({*range(len(there))}.difference(known))]
    given: list[Vector] = [(*one, b"", b"") for one in foreign]
    if known:
        size = _UNINTERRUPTED if channel.embedder.near else len(known)
        for start in range(0, len(known), size):
            some = known[start : start + size]
            made = None if stopped() else channel.embed([inputs[i] for i in some])
            if made is None:
                return 0, foreign
            given += [(*there[i], half, bits) for i, (half, bits) in zip(some, packed(made), strict=True)]
    if not given:
        return 0, foreign
    heads = [number for number, _, _, _ in given if by_number[number].body is None]
    with store.write(project, "polymnia", "embed") as tx:
        if heads:
            now = {text.id: text for text in tx.texts_of(heads)}
            given = [one for one in given if one[0] not in heads or now.get(one[0]) == by_number[one[0]]]
        return tx.put_vectors(channel.name, channel.embedder.dimensions, given), foreign


class Health(Struct, frozen=True):
    """The state of the search indexes of one project."""

    passages: int
    waiting_words: int
    models: dict[str, JsonObject]

    @property
    def pending(self) -> int:
        """The number of passages without a vector, of the model that lacks most."""
        return max((model["pending"] for model in self.models.values()), default=0)


def health(finder: Finder, project: str) -> Health:
    """The state of the search indexes of a project. Loads no model."""
    with finder.at(project) as view:
        index = view.index
        _, seq, listed, _ = view.snapshot.numbers
        stored = dict(view.snapshot.models())
        embeds = int(np.count_nonzero(index.passages["alive"] & index.passages["embeds"]))
        models: dict[str, JsonObject] = {}
        for channel in finder.channels:
            count = stored.pop(channel.name, (0, 0))[1]
            ready = channel.ready.is_set()
            pending = index.pending(channel.name) if ready else max(0, embeds - count)
            state = "ready" if ready else "broken" if channel.fault else "not loaded"
            if channel not in finder.in_use(index):
                pending, state = 0, "not needed"
            fault = channel.fault.message if channel.fault else None
            models[channel.name] = {"vectors": count, "pending": pending, "state": state, "why": fault}
        for name, (_, count) in stored.items():
            models[name] = {"vectors": count, "pending": 0, "state": "not in use", "why": None}
        return Health(int(np.count_nonzero(index.passages["alive"])), seq - listed, models)


def reindex(finder: Finder, project: str, progress: Progress, *, anew: bool = False) -> Health:
    """Index all words, give every passage its vectors, and delete the vectors of other models.

    Can be stopped at any moment and continues from there. With ``anew``, everything is built again from the texts.
    """
    store = finder.store
    if anew:
        with store.write(project, "polymnia", "reindex") as tx:
            tx.drop_indexes()
        request = CheckRequest(checks=(), is_scope=bool, analyst=Analysis())
        store.repair(None, ("shape_differs", "index_damaged"), request)
        finder.forget(project)  # its vectors are no longer the store's
        for other in store.projects():
            for _ in _steps(store, other, lambda tx: tx.index_substrings(_LISTED)):
                pass
    list_words(store, project, progress)
    for channel in finder.each_model(project):
        if not channel.load(patient=False) and channel.fault is not None:
            raise channel.fault
        _embed_all(finder, project, channel, progress)
    if finder.channels:
        with store.write(project, "polymnia", "reindex") as tx:
            tx.drop_vectors([channel.name for channel in finder.channels])
    return health(finder, project)


def catch_up(finder: Finder, project: str, progress: Progress) -> None:
    """Give every passage its vectors now. A model that cannot be loaded is skipped."""
    for channel in finder.each_model(project):
        if channel.load():
            _embed_all(finder, project, channel, progress)


def list_words(store: Store, project: str, progress: Progress) -> None:
    """Add the backlog of texts to the word index of the store."""
    with store.read(project) as snapshot:
        _, seq, listed, _ = snapshot.numbers
    total = seq - listed
    for left in _steps(store, project, lambda tx: tx.index_words(_LISTED)):
        total = max(total, left)
        if total:
            progress("words", total - left, total)


def _steps(store: Store, project: str, work: Callable[[Transaction], int]) -> Iterator[int]:
    """Work in steps while the rest becomes less; once in any case, since the analysis of texts may have changed."""
    left, before = 1, 0
    while 0 < left != before:
        before = left
        with store.write(project, "polymnia", "reindex") as tx:
            left = work(tx)
        yield left


def _embed_all(finder: Finder, project: str, channel: Channel, progress: Progress) -> None:
    with finder.at(project) as view:
        total = view.index.pending(channel.name)
    done, last = 0, None
    while passages := finder.waiting(project, channel, _AT_ONCE):
        last = _embed_batch(finder, project, channel, passages, last)
        if channel.fault is not None:
            raise channel.fault
        done += len(passages)
        progress(channel.name, min(done, total), total)


def _embed_batch(
    finder: Finder,
    project: str,
    channel: Channel,
    passages: list[Unread],
    last: _Batch | None,
    stopped: Callable[[], bool] = bool,
) -> _Batch:
    """Embed passages, or record that they get no vector; returns the ``last`` of the next call."""
    with finder.store.read(project) as snapshot:
        texts = snapshot.texts_of(sorted({number for number, _ in passages}))
    if last == (passages, texts):
        # The same batch got no vectors before: another try would fail too.
        finder.skip(project, channel, passages)
    else:
        _, foreign = embed_some(finder.store, project, channel, texts, passages, stopped)
        there = {text.id for text in texts}
        finder.skip(project, channel, foreign + [one for one in passages if one[0] not in there])
    return passages, texts


class Worker:
    """A thread that embeds passages without a vector, project by project, until there are none."""

    def __init__(self, finder: Finder, settled: Callable[[str], None]) -> None:
        self._finder = finder
        self._settled = settled  # called with a project whose passages all have vectors
        self._wake = threading.Condition()
        self._projects: dict[str, None] = {}
        self._thread: threading.Thread | None = None
        self._stop = False
        self._notices = 0
        self.searched = 0.0  # the time of the last search, after which the work pauses
        self._awaited = 0
        self._last: dict[tuple[str, str], _Batch] = {}

    def notify(self, project: str) -> None:
        """Report that passages of the project may lack vectors."""
        with self._wake:
            self._projects[project] = None
            self._notices += 1
            self._stop = False
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="polymnia-embedding", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def stop(self) -> None:
        """End the thread. A model in this process is waited for: the process must not end while it computes."""
        with self._wake:
            self._stop = True
            self._projects.clear()
            self._wake.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(_NEAR if all(one.embedder.near for one in self._finder.channels) else _REMOTE)

    def wait(self, project: str, seconds: float) -> None:
        """Wait until the project is done, at most so long."""
        end = time.monotonic() + seconds
        with self._wake:
            self._awaited += 1
            self._wake.notify_all()
            while project in self._projects and not self._stop and (left := end - time.monotonic()) > 0:
                self._wake.wait(left)
            self._awaited -= 1

    def _pause(self) -> None:
        """Wait while others search, unless one of them waits for this very work; but never for long."""
        end = time.monotonic() + _LONGEST_QUIET
        while not self._stop and not self._awaited:
            left = min(self.searched + _QUIET, end) - time.monotonic()
            if left <= 0:
                return
            self._wake.wait(left)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._projects and not self._stop:
                    if not self._wake.wait(60) and not self._projects:
                        self._thread = None  # the next notice starts a new one
                        return
                if self._stop:
                    self._thread = None
                    return
                self._pause()
                project = next(iter(self._projects), None)
            if project is not None:
                self._work(project)

    def _work(self, project: str) -> None:
        with self._wake:
            notices = self._notices
        in_use = self._finder.models(project)
        # All of them first: a search waits for the last one to load, not for a batch of the first.
        ready = [channel for channel in in_use if channel.load()]
        left, failed = False, len(ready) < len(in_use)
        for channel in ready:
            try:
                left = self._batch(project, channel) or left
                done = channel.fault is None
            except Fault:
                # An error of the store (a full disk, a long queue) is no fault of the model: the passages wait for the
                # next notice.
                done = False
            if not done:
                failed = True
                self._last.pop((project, channel.name), None)
        if not left and not failed and not self._stop:
            with suppress(Fault):  # tried again with the next notice
                self._settled(project)
        with self._wake:
            if not left and self._notices == notices:
                self._projects.pop(project, None)
            self._wake.notify_all()

    def _batch(self, project: str, channel: Channel) -> bool:
        passages = self._finder.waiting(project, channel, _BATCH)
        key = project, channel.name
        if not passages or self._stop:
            self._last.pop(key, None)
            return False
        last = self._last.pop(key, None)
        done = _embed_batch(self._finder, project, channel, passages, last, lambda: self._stop)
        if not self._stop:
            self._last[key] = done
        return channel.fault is None
