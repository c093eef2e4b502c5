"""Exports and imports knowledge graphs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct
from msgspec.json import encode

from polymnia.engine.graph import in_place_of
from polymnia.engine.ports import Snapshot, Transaction
from polymnia.engine.project import Step
from polymnia.engine.transfer.formats.graph import GraphFile, GraphForm, Link, write
from polymnia.engine.transfer.imports import absent
from polymnia.models import EntityDraft, Record, Relation

Existing = Literal["merge", "replace", "keep"]
_BATCH = 2000


def links(relations: Iterable[Relation]) -> Iterator[Link]:
    """Convert relations to the links of a graph file."""
    return ((one.source, one.target, one.type, one.extra) for one in relations)


def export_graph(snapshot: Snapshot, form: GraphForm, *, at: int | None = None) -> Iterator[bytes]:
    """Write the project as a graph file, in chunks; with ``at``, as it was at that time."""
    if at is None:
        return write(form, snapshot.records(), links(snapshot.relations()))
    records, relations = snapshot.as_of(at)
    return write(form, records, links(relations))


class ImportedGraph(Struct, frozen=True, kw_only=True):
    """The result of an import."""

    entities_new: int = 0
    entities_extended: int = 0
    entities_replaced: int = 0
    entities_unchanged: int = 0
    observations_new: int = 0
    relations_new: int = 0
    relations_known: int = 0


def import_graph(
    tx: Transaction,
    graph: GraphFile,
    *,
    existing: Existing = "merge",
    step: Step | None = None,
) -> ImportedGraph:
    """Add a file's entities and relations to the project.

    ``existing`` decides about names the project already has: ``merge`` adds missing observations, ``replace``
    stores the file's version (the earlier one stays in the history), ``keep`` leaves them unchanged.
    """
    step = step or (lambda done, total: None)
    total = len(graph.entities) + len(graph.relations)
    counts: Counter[str] = Counter()
    for start in range(0, len(graph.entities), _BATCH):
        step(start, total)
        batch = graph.entities[start : start + _BATCH]
        ids = tx.ids([entity.name for entity in batch])
        fresh = [entity for entity in batch if entity.name not in ids]
        tx.add_records(fresh)
        counts["entities_new"] += len(fresh)
        counts["observations_new"] += sum(len(entity.observations) for entity in fresh)
        for entity in batch if ids else ():
            id = ids.get(entity.name)
            if id is None:
                continue
            if existing == "replace":
                (record,) = tx.load([id])
                same = (record.kind, record.observations) == (entity.kind, tuple(entity.observations))
                if not same:
                    tx.replace_record(id, in_place_of(record, entity))
                counts["entities_unchanged" if same else "entities_replaced"] += 1
            elif existing == "merge":
                present = tx.present_observations(id, entity.observations)
                added = [text for text in dict.fromkeys(entity.observations) if text not in present]
                tx.add_observations([(id, added)])
                counts["observations_new"] += len(added)
                counts["entities_extended" if added else "entities_unchanged"] += 1
            else:
                counts["entities_unchanged"] += 1
    stored = tx.find_relations(list(dict.fromkeys(map(_ends, graph.relations))))
    new_links = absent(stored, graph.relations, _ends)
    known = len(graph.relations) - len(new_links)
    for start in range(0, len(new_links), _BATCH):
        step(len(graph.entities) + known + start, total)
        tx.add_relations(new_links[start : start + _BATCH])
    step(total, total)
    return ImportedGraph(**counts, relations_new=len(new_links), relations_known=known)


def match(tx: Transaction, graph: GraphFile) -> None:
    """Make the project equal to the file with the fewest changes."""
    stored = {record.name: record for record in tx.records()}
    names = {entity.name for entity in graph.entities}
    tx.remove_records([record.id for name, record in stored.items() if name not in names])
    _match_records(tx, graph.entities, stored)
    missing = Counter(_identity(link) for link in graph.relations)
    surplus = []
    for relation in tx.relations():
        key = _identity((*relation.ends, relation.extra))
        if missing[key] > 0:
            missing[key] -= 1
        else:
            surplus.append(relation.id)
    tx.remove_relations(surplus)
    new = []
    for link in reversed(graph.relations):
        if missing[_identity(link)] > 0:
            missing[_identity(link)] -= 1
            new.append(link)
    tx.add_relations(reversed(new))


def _match_records(tx: Transaction, entities: list[EntityDraft], stored: dict[str, Record]) -> None:
    tx.add_records([entity for entity in entities if entity.name not in stored])
    for entity in entities:
        record = stored.get(entity.name)
        if record is None:
            continue
        old, new = record.observations, entity.observations
        if record.kind == entity.kind and new[: len(old)] == old:
            tx.add_observations([(record.id, new[len(old) :])])
            tx.set_extra(record.id, entity.extra)
        elif record.kind != entity.kind or old != new:
            tx.replace_record(record.id, in_place_of(record, entity))


def add_missing(tx: Transaction, graph: GraphFile) -> None:
    """Add what the file has and the project lacks; remove nothing. Used for damaged files and the first sync."""
    stored = {record.name: record for record in tx.records()}
    tx.add_records([entity for entity in graph.entities if entity.name not in stored])
    for entity in graph.entities:
        if (record := stored.get(entity.name)) is not None:
            known = set(record.observations)
            tx.add_observations([(record.id, [text for text in entity.observations if text not in known])])
            tx.set_extra(record.id, {**entity.extra, **record.extra})
    tx.add_relations(absent(tx.relations(), graph.relations, _ends))


def _ends(link: Link) -> tuple[str, str, str]:
    return link[:3]


def _identity(link: Link) -> tuple[str, str, str, bytes]:
    return (*link[:3], encode(link[3]) if link[3] else b"")
