"""A project that is written day by day, so that it is known what there is to be found in it."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from polymnia import EntityDraft, Memory
from polymnia.engine.analysis.insights import TYPES, InsightFinding, Insights
from polymnia.engine.content import ItemDraft
from polymnia.engine.search import Analysis
from polymnia.engine.search import LazySearch as Search
from polymnia.engine.search.finder import Finder
from polymnia.models import Record, Seen
from polymnia.storage.sqlite import SqliteStore

from ...search.toys import Toy

__all__ = ["DAY", "Project", "named", "of_type"]

DAY = 86_400_000_000
_HOUR = DAY // 24


class Project:
    """A store whose clock stands where the test puts it."""

    def __init__(self, path: Path, *, model: bool = True) -> None:
        self.now = time.time_ns() // 1000
        self.at = self.now
        self.store = SqliteStore(str(path / "memory.db"), analyst=Analysis(), clock=lambda: self.at)
        embedders = [Toy()] if model else []
        self.memory = Memory(self.store, finding=Search(lambda: Finder(self.store, embedders=embedders)))
        self._asked = 0

    def note(
        self, text: str, *, days: float = 0.0, tags: Sequence[str] = (), title: str | None = None, **more: Any
    ) -> Record:
        """Store an item so many days ago."""
        self.at = self.now - int(days * DAY)
        metadata = {"title": title} if title is not None else {}
        draft = ItemDraft(text=text, tags=tags, metadata=metadata | more.pop("metadata", {}), **more)
        return self.memory.store_item(draft).record

    def entry(self, text: str, *, days: float, tags: Sequence[str]) -> None:
        """Store an entity so many days ago: cheaper than an item, for nothing is related to it."""
        self.at = self.now - int(days * DAY)
        with self.store.write("default", who="ana", action="create_entities") as tx:
            tx.add_records([EntityDraft(text, "entry", (text,), tags=tuple(tags))])

    def read(self, record: Record, *, days: Sequence[float], opened: int = 0, found: int = 0, who: str = "ana") -> None:
        """Somebody reads an item on each of some days."""
        self.at = self.now
        hours = [(self.now - int(day * DAY)) // _HOUR * _HOUR for day in days]
        with self.store.write("default", who=who, action="read") as tx:
            tx.count_reads([Seen(record.id, hour, who, opened, found) for hour in hours])

    def relate(self, source: str, target: str, type: str = "related_to") -> None:
        """Draw a relation between two names."""
        with self.store.write("default", who="ana", action="relate") as tx:
            tx.add_relations([(source, target, type, {})])

    def insights(self, *types: str, **options: Any) -> Insights:
        """The insights of some types, or of all."""
        self.at = self.now
        self.memory.finding().reindex("default", lambda *_: None)
        return self.memory.insights(types=types or TYPES, **options)[0]


def of_type(found: Insights, type: str) -> list[InsightFinding]:
    """The insights of one type."""
    return [one for one in found.insights if one.type == type]


def named(found: Insights, name: str) -> list[InsightFinding]:
    """The insights of one name."""
    return [one for one in found.insights if one.name == name]


def shuffled(texts: Sequence[str], seed: int = 1) -> list[str]:
    """The same words dealt to the same number of texts by chance."""
    words = [word for text in texts for word in text.split()]
    random.Random(seed).shuffle(words)
    lengths = [len(text.split()) for text in texts]
    found, at = [], 0
    for length in lengths:
        found.append(" ".join(words[at : at + length]))
        at += length
    return found
