"""The background: loads the models when they are first needed, and gives every passage its vectors.

Writing never waits for it and a search waits only so long. Whatever goes wrong here, the words are searched all the
same, and the answer says what is missing.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from polymnia.engine.ports import Snapshot, Store, Vector
from polymnia.engine.ports.models import Embedder
from polymnia.engine.search.listing import spoken
from polymnia.engine.search.vectors import packed
from polymnia.errors import Fault, Invalid
from polymnia.models import Text

__all__ = ["Channel", "Worker", "embed_some"]

_BATCH = 32
_QUIET = 0.1  # seconds after a search in which the background gives way,
_LONGEST_QUIET = 1.0  # and how long it does so between two batches at most
_SOON = 5.0  # seconds somebody waits who stores and has others to compare with
_AGAIN = 30.0  # seconds until a model that could not be had is tried once more


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

    def ask(self, query: str, seconds: float) -> Any:
        """The vector of a query, or None when there is none in time; a model so slow is left alone for a while."""
        found = self.soon([query], seconds, query=True)
        return None if found is None else found[0]

    def soon(self, texts: Sequence[str], seconds: float = _SOON, *, query: bool = False) -> Any:
        """Vectors of texts, or None when there are none in time."""
        if self.embedder.near:
            return self.embed(texts, query=query)
        made: list[Any] = []
        asking = threading.Thread(
            target=lambda: made.append(self.embed(texts, query=query)), name="polymnia-asking", daemon=True
        )
        asking.start()
        asking.join(seconds)
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


Wanted = tuple[int, int]
"""A passage without a vector: its text and its part."""


def embed_some(
    store: Store, project: str, channel: Channel, texts: Sequence[Text], wanted: Sequence[Wanted]
) -> tuple[int, list[Wanted]]:
    """Give passages their vectors and keep these; answers how many were kept, and which ones the model does not know.

    For the latter it is kept that there will be none. The head of a memory may have changed while its vector was made:
    then nothing is kept for it.
    """
    by_number = {text.id: text for text in texts}
    there = [one for one in wanted if one[0] in by_number]
    said = [spoken(by_number[number], part) for number, part in there]
    known = [i for i, text in enumerate(said) if channel.embedder.knows(text)]
    foreign = [there[i] for i in sorted({*range(len(there))}.difference(known))]
    given: list[Vector] = [(*one, b"", b"") for one in foreign]
    if known:
        made = channel.embed([said[i] for i in known])
        if made is None:
            return 0, foreign
        given += [(*there[i], half, bits) for i, (half, bits) in zip(known, packed(made), strict=True)]
    if not given:
        return 0, foreign
    heads = [number for number, _, _, _ in given if by_number[number].body is None]
    with store.write(project, "polymnia", "embed") as tx:
        if heads:
            now = {text.id: text for text in tx.texts_of(heads)}
            given = [one for one in given if one[0] not in heads or now.get(one[0]) == by_number[one[0]]]
        return tx.put_vectors(channel.name, channel.embedder.dimensions, given), foreign


class Worker:
    """A thread that embeds what waits, project by project, until there is nothing left."""

    def __init__(
        self,
        store: Store,
        channels: Callable[[str], Sequence[Channel]],
        pending: Callable[[str, Channel, int], list[Wanted]],
        skip: Callable[[str, Channel, list[Wanted]], None],
        settled: Callable[[str], None],
    ) -> None:
        self._store = store
        self._channels = channels
        self._pending = pending
        self._skip = skip
        self._settled = settled
        self._wake = threading.Condition()
        self._projects: dict[str, None] = {}
        self._thread: threading.Thread | None = None
        self._stop = False
        self._notices = 0
        self._quiet_until = 0.0
        self._awaited = 0
        self._last: dict[tuple[str, str], tuple[list[Wanted], list[Text]]] = {}

    def notice(self, project: str) -> None:
        """Something may wait in the project."""
        with self._wake:
            self._projects[project] = None
            self._notices += 1
            self._stop = False
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="polymnia-embedding", daemon=True)
                self._thread.start()
            self._wake.notify_all()

    def stop(self) -> None:
        """End the thread after the batch at hand."""
        with self._wake:
            self._stop = True
            self._projects.clear()
            self._wake.notify_all()
            thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(2)

    def wait(self, project: str, seconds: float) -> None:
        """Wait until nothing waits in the project any more, at most so long."""
        end = time.monotonic() + seconds
        with self._wake:
            self._awaited += 1
            self._wake.notify_all()
            while project in self._projects and not self._stop and (left := end - time.monotonic()) > 0:
                self._wake.wait(left)
            self._awaited -= 1

    def ease(self) -> None:
        """Somebody searches: leave him the machine for a moment."""
        self._quiet_until = time.monotonic() + _QUIET

    def _give_way(self) -> None:
        """Wait while others search, unless one of them waits for this very work; but never for long."""
        end = time.monotonic() + _LONGEST_QUIET
        while not self._stop and not self._awaited:
            left = min(self._quiet_until, end) - time.monotonic()
            if left <= 0:
                return
            self._wake.wait(left)

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._projects and not self._stop:
                    if not self._wake.wait(60) and not self._projects:
                        self._thread = None  # a new one is started when it is needed
                        return
                if self._stop:
                    self._thread = None
                    return
                self._give_way()
                project = next(iter(self._projects), None)
            if project is not None:
                self._work(project)

    def _work(self, project: str) -> None:
        with self._wake:
            notices = self._notices
        in_use = self._channels(project)
        # All of them before any work: who searches waits for the last one, not for a batch of the first.
        ready = [channel for channel in in_use if channel.load()]
        left, failed = False, len(ready) < len(in_use)
        for channel in ready:
            try:
                left = self._batch(project, channel) or left
                had_turn = channel.fault is None
            except Fault:
                # What the store refuses (a full disk, a long queue) is no fault of the model: the passages wait, and
                # whoever notices the project next tries again.
                had_turn = False
            if not had_turn:
                failed = True
                self._last.pop((project, channel.name), None)
        if not left and not failed and not self._stop:
            with suppress(Fault):  # where the store refuses, it is asked again with the next notice
                self._settled(project)
        with self._wake:
            if not left and self._notices == notices:
                self._projects.pop(project, None)
            self._wake.notify_all()

    def _batch(self, project: str, channel: Channel) -> bool:
        """Embed one batch; answers whether there may be more."""
        wanted = self._pending(project, channel, _BATCH)
        if not wanted or self._stop:
            return False
        with self._store.read(project) as snapshot:
            texts = _texts(snapshot, wanted)
        if self._last.get((project, channel.name)) == (wanted, texts):
            # They have had their turn as they are and no vector came of it: another try would end alike.
            self._skip(project, channel, wanted)
            return True
        self._last[project, channel.name] = wanted, texts
        there = {text.id for text in texts}
        _, foreign = embed_some(self._store, project, channel, texts, wanted)
        foreign += [one for one in wanted if one[0] not in there]
        if foreign:
            self._skip(project, channel, foreign)
        return channel.fault is None


def _texts(snapshot: Snapshot, wanted: Sequence[Wanted]) -> list[Text]:
    return snapshot.texts_of(sorted({number for number, _ in wanted}))
