"""Tending what search needs of a project: how far it is, and bringing all of it up to date."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from polymnia.engine.ports.checks import Asked
from polymnia.engine.search import Analysis
from polymnia.engine.search.holding import Holding
from polymnia.engine.search.worker import Channel, embed_some
from polymnia.models import Text

__all__ = ["Health", "Tending"]

_AT_ONCE = 64  # passages embedded between two commits of a reindex: what is done stays done


class Health:
    """How far search is with one project."""

    def __init__(self, passages: int, waiting_words: int, models: dict[str, dict[str, Any]]) -> None:
        self.passages = passages
        self.waiting_words = waiting_words
        self.models = models

    @property
    def pending(self) -> int:
        """Passages that have no vector yet of one model at least."""
        return max((model["pending"] for model in self.models.values()), default=0)


class Tending(Holding):
    """The projects in memory, and the means to make everything again that is made of their texts."""

    def health(self, project: str) -> Health:
        """How far search is with the project. Loads nothing that is not loaded."""
        held = self._hold(project)
        with held.lock, self._reading(project, held) as snapshot:
            index = held.index
            _, seq, listed, _ = snapshot.numbers
            stored = snapshot.models()
            embeds = int(np.count_nonzero(index.passages["alive"] & index.passages["embeds"]))
            models: dict[str, dict[str, Any]] = {}
            for channel in self.channels:
                kept = stored.get(channel.name, (0, 0))[1]
                ready = channel.ready.is_set()
                pending = self._pending(index, channel) if ready else max(0, embeds - kept)
                state = "ready" if ready else "broken" if channel.fault else "not loaded"
                if channel not in self._in_use(index):
                    pending, state = 0, "not needed"
                fault = channel.fault.message if channel.fault else None
                models[channel.name] = {"vectors": kept, "pending": pending, "state": state, "why": fault}
            for name, (_, kept) in stored.items():
                models.setdefault(name, {"vectors": kept, "pending": 0, "state": "not in use", "why": None})
            alive = int(np.count_nonzero(index.passages["alive"]))
            return Health(alive, seq - listed, models)

    def reindex(self, project: str, step: Callable[[str, int, int], None], *, anew: bool = False) -> Health:
        """Bring everything up to date: all words indexed, every passage with its vectors, other models' vectors gone.

        Can be stopped at any moment and goes on where it stopped. ``anew`` makes everything again from the texts.
        """
        if anew:
            with self._store.write(project, "polymnia", "reindex") as tx:
                tx.drop_indexes()
            asked = Asked(checks=(), is_scope=bool, analyst=Analysis())
            self._store.mend(None, ("shape_differs", "index_damaged"), asked)
            self.forget(project)  # the vectors it holds are no longer the store's
            for other in self._store.projects():
                self._index_characters(other)
        self._list_words(project, step)
        for channel in self.each_model(project):
            if not channel.load(patient=False) and channel.fault is not None:
                raise channel.fault
            self._embed_all(project, channel, step)
        if self.channels:
            with self._store.write(project, "polymnia", "reindex") as tx:
                tx.drop_vectors([channel.name for channel in self.channels])
        return self.health(project)

    def catch_up(self, project: str, step: Callable[[str, int, int], None]) -> None:
        """Give every passage its vectors now. A model that cannot be had is passed over."""
        for channel in self.each_model(project):
            if channel.load():
                self._embed_all(project, channel, step)

    def each_model(self, project: str) -> Iterator[Channel]:
        """The models that read the project, as many as turn out to while the first ones are at work."""
        for at, channel in enumerate(self.channels):
            if at < len(self.models(project)):
                yield channel

    def _embed_all(self, project: str, channel: Channel, step: Callable[[str, int, int], None]) -> None:
        total = None
        done = 0
        last: tuple[list[tuple[int, int]], list[Text]] | None = None
        while wanted := self._waiting(project, channel, _AT_ONCE):
            held = self._hold(project)
            with held.lock, self._reading(project, held) as snapshot:
                if total is None:
                    total = self._pending(held.index, channel)
                texts = snapshot.texts_of(sorted({number for number, _ in wanted}))
            if last == (wanted, texts):
                self._pass_over(project, channel, wanted)
                continue
            last = wanted, texts
            _, foreign = embed_some(self._store, project, channel, texts, wanted)
            if channel.fault is not None:
                raise channel.fault
            there = {text.id for text in texts}
            self._pass_over(project, channel, foreign + [one for one in wanted if one[0] not in there])
            done += len(wanted)
            step(channel.name, min(done, total), total)
