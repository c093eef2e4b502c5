"""Importing a graph file into a project that may already hold memories."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from polymnia.engine.graph import in_place_of
from polymnia.engine.memory import Memory
from polymnia.engine.ports import Transaction
from polymnia.engine.transfer.graph_file import GraphFile

__all__ = ["Existing", "Imported", "import_graph"]

Existing = Literal["merge", "replace", "keep"]
_PART = 2000


class Imported(Struct, frozen=True, kw_only=True):
    """What an import came to."""

    entities_new: int
    entities_extended: int
    entities_replaced: int
    entities_unchanged: int
    observations_new: int
    relations_new: int
    relations_known: int


def import_graph(
    memory: Memory,
    graph: GraphFile,
    *,
    existing: Existing = "merge",
    step: Callable[[int, int], None] | None = None,
) -> Imported:
    """Take a file's entities and relations into the project, all in one change that one undo takes back.

    ``existing`` says what happens to a name the project has: ``merge`` adds the observations it lacks,
    ``replace`` puts the file's version in its place (the earlier one stays in the history), ``keep`` leaves it.
    """
    with memory.store.write(memory.project, memory.author, "import") as tx:
        return _bring(tx, graph, existing, step or (lambda done, total: None))


def _bring(tx: Transaction, graph: GraphFile, existing: Existing, step: Callable[[int, int], None]) -> Imported:
    total = len(graph.entities) + len(graph.relations)
    new = extended = replaced = unchanged = observations = made = known = 0
    for start in range(0, len(graph.entities), _PART):
        step(start, total)
        part = graph.entities[start : start + _PART]
        ids = tx.ids([entity.name for entity in part])
        fresh = [entity for entity in part if entity.name not in ids]
        tx.add_records(fresh)
        new += len(fresh)
        observations += sum(len(entity.observations) for entity in fresh)
        for entity in part if ids else ():
            id = ids.get(entity.name)
            if id is None:
                continue
            if existing == "replace":
                (record,) = tx.load([id])
                same = (record.kind, record.observations) == (entity.kind, tuple(entity.observations))
                if not same:
                    tx.replace_record(id, in_place_of(record, entity))
                replaced += not same
                unchanged += same
            elif existing == "merge":
                present = tx.present_observations(id, entity.observations)
                added = [text for text in dict.fromkeys(entity.observations) if text not in present]
                tx.add_observations([(id, added)])
                observations += len(added)
                extended += bool(added)
                unchanged += not added
            else:
                unchanged += 1
    # One that the file has twice is kept twice; one that is stored already is not stored again.
    distinct = list(dict.fromkeys(link[:3] for link in graph.relations))
    stored = Counter(relation.ends for relation in tx.find_relations(distinct))
    new_links = []
    for link in graph.relations:
        if stored[link[:3]] > 0:
            stored[link[:3]] -= 1
            known += 1
        else:
            new_links.append(link)
    made = len(new_links)
    for start in range(0, made, _PART):
        step(len(graph.entities) + known + start, total)
        tx.add_relations(new_links[start : start + _PART])
    step(total, total)
    return Imported(
        entities_new=new,
        entities_extended=extended,
        entities_replaced=replaced,
        entities_unchanged=unchanged,
        observations_new=observations,
        relations_new=made,
        relations_known=known,
    )
