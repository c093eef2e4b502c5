"""The words in which tests ask memory_analyze, and projects that were written at times of the test's choosing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from polymnia import Memory
from polymnia.engine.content import ItemDraft
from polymnia.engine.ports import Store
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.engine.text.calendar import moment
from polymnia.models import RelationDraft, Seen
from stdio_client import Place, Server

from .speaking import done, error

__all__ = [
    "CONFLICTS", "DAY", "DIMENSIONS", "INSIGHTS", "PATTERNS", "Diary", "analyze", "analyze_all", "denied", "diary",
    "ids_in", "kinds", "lasting", "patterns", "says", "strings",
]  # fmt: skip

DAY = 86_400_000_000
_HOUR = 3_600_000_000

PATTERNS = (
    "topic_clusters", "usage_patterns", "quality_issues", "relationship_patterns", "temporal_patterns", "user_patterns",
)  # fmt: skip
DIMENSIONS = (
    "clarity", "completeness", "accuracy", "relevance", "structure", "consistency", "readability", "actionability",
)  # fmt: skip
CONFLICTS = ("factual_conflicts", "recommendation_conflicts", "temporal_conflicts", "logical_conflicts")
INSIGHTS = ("content_gaps", "usage_insights", "trend_analysis", "efficiency_opportunities", "knowledge_synthesis")
_VOLATILE = ("timestamp", "duration", "cached", "analyzed_at")


def analyze(server: Server, operation: str, project: str, /, **more: Any) -> dict[str, Any]:
    """What an operation of memory_analyze answers."""
    return done(server, "memory_analyze", {"operation": operation, "project_id": project, **more})


def denied(server: Server, operation: str, code: int, project: str, /, **more: Any) -> dict[str, Any]:
    """What an operation of memory_analyze is refused with, which has to have this code."""
    told = error(server, "memory_analyze", {"operation": operation, "project_id": project, **more})
    assert told["code"] == code, told
    return told


def patterns(server: Server, project: str, type: str, /, least: float = 0.0, **more: Any) -> list[dict[str, Any]]:
    """The patterns of one type, however sure they are."""
    options = {"min_confidence": least, **more.pop("options", {})}
    answer = analyze(server, "detect_patterns", project, pattern_types=[type], options=options, **more)
    assert list(answer["counts"]) == [type]
    found: list[dict[str, Any]] = answer["patterns"]
    return found


def kinds(found: list[dict[str, Any]]) -> set[str]:
    """The names of patterns."""
    return {one["name"] for one in found}


def analyze_all(server: Server, project: str, id: str, /, **more: Any) -> list[dict[str, Any]]:
    """The answers of all five operations with all that they may be asked for, about an item and its project."""
    sure = {"min_confidence": 0.0}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("detect_patterns", {"options": sure}),
        ("detect_patterns", {"options": sure, "content_id": id}),
        ("analyze_quality", {"content_id": id, "options": {"include_metrics": True}}),
        ("find_content_relationships", {"content_id": id, "max_depth": 5}),
        ("detect_conflicts", {"options": {"sensitivity": "high"}}),
        ("detect_conflicts", {"content_ids": [id], "options": {"sensitivity": "high"}}),
        ("generate_insights", {"options": {"depth": "comprehensive", "time_horizon": "long"}}),
        ("generate_insights", {"content_ids": [id], "options": {"depth": "comprehensive"}}),
    ]
    return [analyze(server, operation, project, **given, **more) for operation, given in calls]


def lasting(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what differs from call to call."""
    return {key: value for key, value in answer.items() if key not in _VOLATILE}


def strings(value: Any) -> Iterator[str]:
    """Every text in an answer, and every name of a field."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, one in value.items():
            yield str(key)
            yield from strings(one)
    elif isinstance(value, list):
        for one in value:
            yield from strings(one)


def says(answer: Any, *words: str) -> list[str]:
    """Those of the words that stand anywhere in an answer."""
    text = json.dumps(answer, ensure_ascii=False).lower()
    return [word for word in words if word.lower() in text]


def ids_in(value: Any) -> set[str]:
    """Every id of an item that stands by itself anywhere in an answer."""
    return {one for one in strings(value) if one.startswith("content_") and len(one) == len("content_") + 32}


class Diary:
    """A project that is written and read at other times than now, as if by several people."""

    def __init__(self, store: Store, memory: Memory, project: str) -> None:
        self._store = store
        self._memory = memory
        self._project = project
        self.today = time.time_ns() // 1000 // DAY * DAY
        self.now = self.today

    def _at(self, days: float, who: str) -> Memory:
        self.now = self.today - int(days * DAY)
        return self._memory.acting(who, project=self._project)

    def date(self, days: float) -> str:
        """The date of so many days ago."""
        return moment(self.today - int(days * DAY))[:10]

    def note(self, text: str, *, days: float = 0.0, who: str = "Ann", **more: Any) -> str:
        """Store a text so many days before the day began; answers its id."""
        return self._at(days, who).store_item(ItemDraft(text=text, **more)).record.uid

    def change(self, id: str, text: str, *, days: float, who: str = "Ann") -> None:
        """Give an item another text."""
        self._at(days, who).update_item(id, text=text)

    def delete(self, id: str, *, days: float = 0.0, who: str = "Ann", session: str | None = None) -> None:
        """Delete an item."""
        self._at(days, who).delete_item(id, session=session)

    def relate(self, pairs: Iterable[tuple[str, str]], type: str = "related_to") -> None:
        """Draw relationships, all at once."""
        with self._store.write(self._project, "Ann", "create_relationship") as tx:
            tx.relate(RelationDraft(source, target, type) for source, target in pairs)

    def read(self, id: str, *, days: float, who: str = "Ann", times: int = 1) -> None:
        """Open an item so often in one hour."""
        with self._store.write(self._project, "polymnia", "count_reads") as tx:
            memory = tx.ids_of([id])[id]
            hour = (self.today - int(days * DAY)) // _HOUR * _HOUR
            tx.count_reads([Seen(memory, hour, who, times, 0)])


@contextmanager
def diary(place: Place, project: str) -> Iterator[Diary]:
    """A diary in the store of a place, as another process would keep it."""
    time_of: list[Diary] = []
    store = place.open_store(clock=lambda: time_of[0].now, analyst=Analysis())
    memory = Memory(store, finding=LazySearch(lambda: Finder(store, embedders=[])))
    time_of.append(Diary(store, memory, project))
    yield time_of[0]
    memory.close()
