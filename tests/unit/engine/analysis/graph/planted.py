"""Networks in which the right answer is known, and projects made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

from polymnia import EntityDraft, Memory
from polymnia.engine.analysis.findings import Finding, Findings
from polymnia.engine.analysis.graph.patterns import relationship_patterns
from polymnia.engine.search import Analysis, LazySearch
from polymnia.engine.search.finder import Finder
from polymnia.models import Record
from polymnia.storage.sqlite import SqliteStore

from ...search.toys import Toy

__all__ = ["Pairs", "chance", "cliques", "named", "patterns", "project", "record"]

Pairs = list[tuple[int, int]]


def cliques(groups: int, size: int, *, share: float = 0.7, between: int = 1, seed: int = 1) -> Pairs:
    """Groups in which most pairs are linked, each linked with the next by so many pairs."""
    draw = Random(seed)
    made: Pairs = []
    for group in range(groups):
        nodes = range(group * size, (group + 1) * size)
        made += [(a, b) for a in nodes for b in nodes if a < b and draw.random() < share]
    for group in range(groups - 1):
        for at in range(between):
            made.append((group * size + at, (group + 1) * size + size - 1 - at))
    return made


def chance(nodes: int, links: int, seed: int = 1) -> Pairs:
    """Pairs drawn by lot."""
    draw = Random(seed)
    made: set[tuple[int, int]] = set()
    while len(made) < links:
        a, b = draw.sample(range(nodes), 2)
        made.add((min(a, b), max(a, b)))
    return sorted(made)


@contextmanager
def project(
    path: Path,
    links: Iterable[tuple[int, int]] | Iterable[tuple[str, str, str]],
    *,
    texts: Callable[[int], str] = lambda at: f"note {at}",
    alone: int = 0,
    model: bool = False,
) -> Iterator[Memory]:
    """A project with a record for every end of a link (``n0``, ``n1`` …), and some that are linked with none."""
    drawn = [link if len(link) == 3 else (f"n{link[0]}", f"n{link[1]}", "related_to") for link in links]
    names = list(dict.fromkeys(name for source, target, _ in drawn for name in (source, target)))
    names += [f"alone {at}" for at in range(alone)]
    toy = [Toy()] if model else []
    store = SqliteStore(str(path / "memory.db"), analyst=Analysis())
    memory = Memory(store, finding=LazySearch(lambda: Finder(store, embedders=toy)))
    numbers = [int(name[1:]) if name[1:].isdigit() else at for at, name in enumerate(names)]
    if names:
        memory.create_entities(
            [EntityDraft(name, "thing", (texts(at),)) for name, at in zip(names, numbers, strict=True)]
        )
    if drawn:
        memory.create_relations(drawn)
    if model:
        memory.finding().reindex("default", lambda *_: None)
    yield memory
    memory.close()


def record(memory: Memory, name: str) -> Record:
    """The record of a name."""
    with memory.store.read(memory.project) as snapshot:
        (found,) = snapshot.load([snapshot.ids([name])[name]])
    return found


def patterns(memory: Memory, focus: str | None = None) -> Findings:
    """What is found in the project; the focus is a name."""
    uid = None if focus is None else record(memory, focus).uid
    return memory.analysed(relationship_patterns, key="relationship_patterns", focus=uid)[0]


def named(found: Findings, name: str) -> list[Finding]:
    """The patterns of one kind."""
    return [one for one in found.patterns if one.name == name]
