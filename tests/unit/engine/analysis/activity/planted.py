"""Projects in which it is known when what was done, by whom, and what was read; kept in a real store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from polymnia import EntityDraft, Memory
from polymnia.engine.analysis.view import ProjectView
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.models import Filters, Seen
from polymnia.storage.sqlite import SqliteStore

__all__ = ["BASE", "DAY", "HOUR", "Place", "anywhere", "names", "one_named"]

T = TypeVar("T")

HOUR = 3_600_000_000
DAY = 24 * HOUR
BASE = 20_000 * DAY  # the fourth of October 2024, a Friday


class Place:
    """A project whose clock is set by hand. Times are counted from ``BASE``."""

    def __init__(self, path: Path) -> None:
        self._now = BASE
        store = SqliteStore(str(path / "m.db"), analyst=Analysis(), clock=lambda: self._now)
        self.memory = Memory(store, finding=LazySearch(lambda: Finder(store, embedders=[])))

    def write(self, at: int, name: str, who: str = "ana via desk 1", **more: object) -> None:
        """Make a note at a time; its name is its text too unless ``text`` says otherwise."""
        self._now = BASE + at
        text = str(more.pop("text", name))
        self.memory.acting(who).create_entities([EntityDraft(name, "note", (text,), **more)])  # type: ignore[arg-type]

    def many(self, at: int, names: Iterable[str], who: str = "ana via desk 1") -> None:
        """Make many notes with one call."""
        self._now = BASE + at
        self.memory.acting(who).create_entities([EntityDraft(name, "note", (name,)) for name in names])

    def change(self, at: int, name: str, who: str = "ana via desk 1") -> None:
        """Add a line to a note."""
        self._now = BASE + at
        self.memory.acting(who).add_observations([(name, [f"seen again at {at}"])])

    def bring(self, at: int, times: Sequence[int], tags: Callable[[int], Sequence[str]] = lambda at: ()) -> None:
        """Import notes that were made elsewhere at these times, with one call."""
        self._now = BASE + at
        self.memory.acting("import").create_entities(
            [
                EntityDraft(
                    f"n{i}", "note", (f"note {i}",), created=BASE + when, updated=BASE + when, tags=tuple(tags(when))
                )
                for i, when in enumerate(times)
            ]
        )

    def read(self, rows: Iterable[tuple[str, int, str, int, int]]) -> None:
        """Count reads: name, time, reader, how often opened and found."""
        with self.memory.store.read("default") as snapshot:
            ids = {record.name: record.id for record in snapshot.records()}
        seen = [
            Seen(ids[name], (BASE + at) // HOUR * HOUR, who, opened, found) for name, at, who, opened, found in rows
        ]
        with self.memory.store.write("default", "polymnia", "count_reads") as tx:
            tx.count_reads(seen)

    def ask(
        self, work: Callable[[ProjectView], T], now: int, *, start: int | None = None, end: int | None = None,
        focus: str | None = None,
    ) -> T:  # fmt: skip
        """What an analysis says at a time."""

        def run(look):  # type: ignore[no-untyped-def]
            about = next((r.id for r in look.snapshot.records() if r.name == focus), None)
            return work(
                ProjectView(
                    look, filters=Filters(), now=BASE + now, focus=about,
                    start=None if start is None else BASE + start, end=None if end is None else BASE + end,
                )
            )  # fmt: skip

        finder = self.memory.finding()
        finder.reindex("default", lambda *_: None)
        with finder.neighbours("default") as look:
            return run(look)


def anywhere(rng: np.random.Generator, count: int, days: int, first: int = 0) -> list[int]:
    """Times drawn evenly from some days."""
    return sorted((first * DAY + rng.integers(0, days * DAY, count)).tolist())


def names(found) -> list[str]:  # type: ignore[no-untyped-def]
    """The names of what was found."""
    return [one.name for one in found.patterns]


def one_named(found, name: str):  # type: ignore[no-untyped-def]
    """The one finding of a name."""
    (only,) = [one for one in found.patterns if one.name == name]
    return only
