"""Bringing a project in line with a JSON file, by the fewest changes."""

from __future__ import annotations

from collections import Counter

from msgspec.json import encode

from polymnia.engine.graph import in_place_of
from polymnia.engine.ports import Transaction
from polymnia.engine.transfer.graph_file import GraphFile, Link
from polymnia.models import EntityDraft, Record

__all__ = ["add_missing", "match"]


def match(tx: Transaction, graph: GraphFile) -> None:
    """Make the project equal to the file, by the fewest changes."""
    there = {record.name: record for record in tx.records()}
    wanted = {entity.name for entity in graph.entities}
    tx.remove_records([record.id for name, record in there.items() if name not in wanted])
    _bring_records(tx, graph.entities, there)
    missing = Counter(_key(link) for link in graph.relations)
    going = []
    for relation in tx.relations():
        key = _key((*relation.ends, relation.extra))
        if missing[key] > 0:
            missing[key] -= 1
        else:
            going.append(relation.id)
    tx.remove_relations(going)
    new = []
    for link in reversed(graph.relations):
        if missing[_key(link)] > 0:
            missing[_key(link)] -= 1
            new.append(link)
    tx.add_relations(reversed(new))


def _bring_records(tx: Transaction, entities: list[EntityDraft], there: dict[str, Record]) -> None:
    tx.add_records([entity for entity in entities if entity.name not in there])
    for entity in entities:
        record = there.get(entity.name)
        if record is None:
            continue
        old, new = record.observations, entity.observations
        if record.kind == entity.kind and new[: len(old)] == old:
            tx.add_observations([(record.id, new[len(old) :])])
            tx.set_extra(record.id, entity.extra)
        elif record.kind != entity.kind or old != new:
            tx.replace_record(record.id, in_place_of(record, entity))


def add_missing(tx: Transaction, graph: GraphFile) -> None:
    """Add to the project what a damaged file has and the project lacks; take nothing away."""
    there = {record.name: record for record in tx.records()}
    tx.add_records([entity for entity in graph.entities if entity.name not in there])
    for entity in graph.entities:
        if (record := there.get(entity.name)) is not None:
            known = set(record.observations)
            tx.add_observations([(record.id, [text for text in entity.observations if text not in known])])
            tx.set_extra(record.id, {**entity.extra, **record.extra})
    stored = Counter(relation.ends for relation in tx.relations())
    new = []
    for link in graph.relations:
        if stored[link[:3]] > 0:
            stored[link[:3]] -= 1
        else:
            new.append(link)
    tx.add_relations(new)


def _key(link: Link) -> tuple[str, str, str, bytes]:
    return (*link[:3], encode(link[3]) if link[3] else b"")
