"""A store with a clock of its own, and analyses of what is in it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from polymnia import EntityDraft, Filters, Memory
from polymnia.engine.analysis.view import ProjectView
from polymnia.engine.search import Analysis
from polymnia.engine.search import LazySearch as Search
from polymnia.engine.search.finder import Finder
from polymnia.models import Record, Seen
from polymnia.storage.sqlite import SqliteStore

from ...search.toys import Toy

__all__ = ["DAY", "NOW", "Desk"]

T = TypeVar("T")
DAY = 86_400_000_000
NOW = 1_750_000_000_000_000  # 15 June 2025


class Desk:
    """A store of one project. Notes say that they were written so many days before now.

    The clock of a store never goes back, so it stands 500 days before now until a test moves it on.
    """

    def __init__(self, path: Path, *, meaning: bool = True) -> None:
        self.now = NOW - 500 * DAY
        self.store = SqliteStore(str(path / "memory.db"), clock=lambda: self.now, analyst=Analysis())
        embedders = [Toy()] if meaning else []
        self.memory = Memory(self.store, finding=Search(lambda: Finder(self.store, embedders=embedders)))
        self._count = 0

    def note(self, text: str, ago: float = 30, **more: Any) -> str:
        """Store a note; answers its id."""
        self._count += 1
        uid = f"content_{self._count:08x}"
        at = NOW - int(ago * DAY)
        fields = {"kind": "content", "content_type": "text/markdown", **more}
        self.memory.create_entities(
            [EntityDraft(name=uid, observations=(text,), uid=uid, created=at, updated=at, **fields)]
        )
        return uid

    def notes(self, texts: Sequence[str], ago: float = 30, **more: Any) -> list[str]:
        """Store several."""
        return [self.note(text, ago, **more) for text in texts]

    def relate(self, source: str, target: str, type: str = "related_to") -> None:
        """Draw a relation."""
        self.memory.create_relations([(source, target, type)])

    def read(self, id: str, times: int, ago: float = 1) -> None:
        """Count so many readings of a note."""
        with self.store.write("default", "reader", "read") as tx:
            number = tx.ids([id])[id]
            hour = (NOW - int(ago * DAY)) // 3_600_000_000 * 3_600_000_000
            tx.count_reads([Seen(number, hour, "reader", times, times)])

    def ask(self, work: Callable[[ProjectView], T], *, focus: str | None = None, wanted: Filters | None = None) -> T:
        """The result of an analysis of the whole project, at the time that is now."""
        finder = self.memory.finding()
        finder.reindex("default", lambda *_: None)

        def run(look: Any) -> T:
            id = look.snapshot.ids_of([focus])[focus] if focus else None
            return work(ProjectView(look, filters=wanted or Filters(any_session=True), now=NOW, focus=id))

        with finder.neighbours("default") as look:
            return run(look)

    def record(self, material: ProjectView, uid: str) -> Record:
        """One of the records of a material."""
        return next(one for one in material.items if one.uid == uid)
