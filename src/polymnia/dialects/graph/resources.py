"""What a client can read by address: the whole graph, and one memory by its name."""

from __future__ import annotations

from msgspec.json import encode, format

from polymnia.dialects.graph import shapes
from polymnia.dialects.graph.shapes import entity, link
from polymnia.operation import Context, Resource, Template

__all__ = ["RESOURCES", "TEMPLATES"]


def _graph(context: Context) -> str:
    found = context.memory.read_graph()
    value = shapes.GraphResult([entity(r) for r in found.records], [link(r) for r in found.relations])
    return format(encode(value), indent=2).decode()


def _one(context: Context, name: str) -> str:
    record, relations = context.memory.get(name)
    value = shapes.Node(record.name, record.kind, list(record.observations), [link(r) for r in relations])
    return format(encode(value), indent=2).decode()


def _names(context: Context, prefix: str) -> list[str]:
    return context.memory.names(prefix, 101)


RESOURCES = (
    Resource(
        uri="memory://knowledge-graph",
        name="knowledge-graph",
        title="Knowledge Graph",
        help="All entities and relations of the project.",
        mime="application/json",
        read=_graph,
    ),
)

TEMPLATES = (
    Template(
        prefix="memory://memory/",
        variable="name",
        name="memory",
        title="One Memory",
        help="One entity by its name, with its observations and relations.",
        mime="application/json",
        read=_one,
        complete=_names,
    ),
)
