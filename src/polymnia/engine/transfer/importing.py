"""Importing a graph file into a project that may already hold memories."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

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
    with memory.store.write(memory.project, memory.who, "import") as tx:
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
                tx.replace_record(id, entity)
                replaced += 1
            elif existing == "merge":
                present = tx.present_observations(id, entity.observations)
                added = [text for text in dict.fromkeys(entity.observations) if text not in present]
                tx.add_observations([(id, added)])
                observations += len(added)
                extended += bool(added)
                unchanged += not added
            else:
                unchanged += 1
    for start in range(0, len(graph.relations), _PART):
        step(len(graph.entities) + start, total)
        links = {link[:3]: link for link in graph.relations[start : start + _PART]}
        stored = {relation.ends for relation in tx.find_relations(list(links))}
        tx.add_relations(link for ends, link in links.items() if ends not in stored)
        made += len(links) - len(stored)
        known += len(graph.relations[start : start + _PART]) - len(links) + len(stored)
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
