"""A project at times of the test's choosing, with a judge whose opinions are known."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from polymnia import EntityDraft, Filters, Memory
from polymnia.engine.analysis.actions import Action, AddObservations, DeleteObservations, Update
from polymnia.engine.analysis.conflicts import Clashes, conflicts
from polymnia.engine.analysis.view import ProjectView
from polymnia.engine.ports import Judgement
from polymnia.engine.search import Analysis
from polymnia.engine.search import LazySearch as Search
from polymnia.engine.search.finder import Finder
from polymnia.storage.sqlite import SqliteStore

from ...search.toys import Toy

__all__ = ["DAY", "NOW", "Desk", "Opinion"]

T = TypeVar("T")

DAY = 86_400_000_000
NOW = 1_750_000_000_000_000


class Opinion:
    """A judge that knows some pairs of texts, in one order or both, and takes all others for unrelated."""

    id = "opinion"

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], Judgement] = {}
        self.asked: list[tuple[str, str]] = []

    def of(self, a: str, b: str, *labels: str) -> None:
        """What the second text is to the first, and the first to the second if that is something else."""
        first, second = (labels * 2)[:2]
        self.held[a, b], self.held[b, a] = _sure(first), _sure(second)

    def load(self) -> None:
        """Nothing is to be loaded."""

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        self.asked += pairs
        return [self.held.get(pair, _sure("unrelated")) for pair in pairs]


def _sure(label: str) -> Judgement:
    return Judgement(**{name: 0.995 if name == label else 0.001 for name in Judgement._fields[:6]})


class Desk:
    """A store of one project, and questions to it."""

    def __init__(self, path: Path, *, meaning: bool = True, judge: Any = None) -> None:
        self._made = 0
        store = SqliteStore(str(path / "memory.db"), analyst=Analysis())
        embedders = [Toy()] if meaning else []
        self.memory = Memory(store, finding=Search(lambda: Finder(store, embedders=embedders, judge=judge)))

    def note(self, text: str, day: float = 0, **more: Any) -> str:
        """Store a note as it would have been so many days after the first; answers its id."""
        at = NOW - 300 * DAY + round(day * DAY)
        self._made += 1
        uid = f"content_{self._made:012x}"
        self.memory.create_entities(
            [EntityDraft(uid, more.pop("kind", "content"), (text,), uid=uid, created=at, updated=at, **more)]
        )
        return uid

    def notes(self, texts: list[str], day: int = 0) -> list[str]:
        return [self.note(text, day) for text in texts]

    def entity(self, name: str, *observations: str, day: int = 0) -> None:
        at = NOW - 300 * DAY + day * DAY
        self.memory.create_entities([EntityDraft(name, "thing", observations, created=at, updated=at)])

    def apply(self, steps: tuple[Action, ...]) -> None:
        """Do what was suggested."""
        assert steps
        for step in steps:
            self._do(step)

    def _do(self, step: Action) -> None:
        match step:
            case Update():
                self.memory.update_item(step.id, text=step.content, metadata=step.metadata)
            case DeleteObservations():
                self.memory.delete_observations([(step.name, list(step.texts))])
            case AddObservations():
                self.memory.add_observations([(step.name, list(step.texts))])
            case _:
                raise AssertionError(step)

    def read(self, ask: Callable[[ProjectView], T], **wanted: Any) -> T:
        finder = self.memory.finding()
        finder.reindex(self.memory.project, lambda *_: None)
        with finder.neighbours(self.memory.project) as look:
            return ask(ProjectView(look, filters=Filters(**wanted), now=NOW))

    def conflicts(self, *ids: str, **asked: Any) -> Clashes:
        """What is found in the project, or among some items."""
        wanted = asked.pop("wanted", {})

        def ask(material: ProjectView) -> Clashes:
            among = list(material.snapshot.ids_of(ids).values()) if ids else None
            return conflicts(material, among=among, **asked)

        return self.read(ask, **wanted)
