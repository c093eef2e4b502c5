"""Graphs to carry about: random ones, and the plain form in which two are compared."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from polymnia.engine.memory import Memory
from polymnia.engine.transfer.formats.graph import GraphFile, GraphForm
from polymnia.engine.transfer.graphs import ImportedGraph, export_graph, import_graph
from polymnia.models import EntityDraft, Graph

__all__ = ["GRAPHS", "VALUES", "bring", "exported", "fill", "plain"]

Link = tuple[str, str, str, dict[str, Any]]

_TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_WORDS = st.sampled_from(["knows", "서울", "a/b", "", "Ünï", "type", "from"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(1 << 53), 1 << 53) | st.floats(-1e9, 1e9) | _TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXTS, inner, max_size=3),
    max_leaves=5,
)
# Keys that mean nothing to us, and none that does in any file.
_FOREIGN = st.dictionaries(st.sampled_from(["colour", "id", "createdAt", "태그", "x-y"]), VALUES, max_size=2)

_ENTITIES = st.lists(
    st.builds(EntityDraft, _TEXTS, _TEXTS, st.lists(_TEXTS, max_size=4).map(tuple), _FOREIGN),
    max_size=6,
    unique_by=lambda draft: draft.name,
)
_RELATIONS = st.lists(
    st.tuples(_WORDS | _TEXTS, _WORDS | _TEXTS, _WORDS, _FOREIGN), max_size=6, unique_by=lambda link: link[:3]
)

GRAPHS = st.tuples(_ENTITIES, _RELATIONS)
"""Entities and relations with foreign keys; texts may repeat, relations do not."""


def fill(memory: Memory, entities: list[EntityDraft], relations: list[Link]) -> None:
    """Store a graph as it is."""
    with memory.store.write(memory.project, "test", "fill") as tx:
        tx.add_records(entities)
        tx.add_relations(relations)


def plain(graph: Graph) -> tuple[list[Any], list[Any]]:
    """What a graph says, without what only our store knows about it."""
    return (
        [(r.name, r.kind, r.observations, r.extra) for r in graph.records],
        [(*r.ends, r.extra) for r in graph.relations],
    )


def exported(memory: Memory, form: GraphForm, at: int | None = None) -> bytes:
    """The memory as a graph file."""
    with memory.store.read(memory.project) as snapshot:
        return b"".join(export_graph(snapshot, form, at=at))


def bring(memory: Memory, file: GraphFile, **options: Any) -> ImportedGraph:
    """Import a graph file."""
    with memory.store.write(memory.project, memory.author, "import") as tx:
        return import_graph(tx, file, **options)
