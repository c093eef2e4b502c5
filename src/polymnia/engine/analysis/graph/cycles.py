"""Cycles of relations whose type puts things in an order.

The more relations of a type respect its order in this project, the more certain it is that a cycle is a mistake.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from polymnia.engine.knowledge.relationships import order_of
from polymnia.importing import importing
from polymnia.models import Relation

Tick = Callable[[], None]

_PRIOR = 19  # relations that respect the order, with one that does not
_STARTS = 200  # nodes of a component from which the shortest cycle is searched
_UNKNOWN = 0.5  # the confidence of an automatic relation without a strength


class Cycle(NamedTuple):
    """Names in order, the last leading to the first; ``acyclic`` of all ``relations`` of this order are in no cycle."""

    order: str
    names: tuple[str, ...]
    steps: tuple[Relation, ...]
    relations: int
    acyclic: int

    @property
    def confidence(self) -> float:
        """How certain a mistake is; no more than the weakest of its relations."""
        usual = (self.acyclic + _PRIOR) / (self.relations + _PRIOR + 1)
        weakest = min(
            1.0 if one.origin == "manual" else _UNKNOWN if one.strength is None else one.strength for one in self.steps
        )
        return min(usual, weakest)


def cycles(relations: Iterable[Relation], most: int, tick: Tick = lambda: None) -> list[Cycle]:
    """The cycles of every order, shortest first, up to so many of each; a loop has length 1."""
    edges: dict[str, dict[tuple[str, str], Relation]] = {}
    known: dict[str, tuple[str, bool] | None] = {}
    for one in relations:
        if one.type not in known:
            known[one.type] = order_of(one.type)
        if ordered := known[one.type]:
            order, forwards = ordered
            ends = (one.source, one.target) if forwards else (one.target, one.source)
            edges.setdefault(order, {}).setdefault(ends, one)
    found: list[Cycle] = []
    for order, some in edges.items():
        tick()
        found += _in_order(order, some, most)
    return sorted(found, key=lambda one: (len(one.names), one.order, one.names))


def _in_order(order: str, edges: dict[tuple[str, str], Relation], most: int) -> list[Cycle]:
    with importing():
        import rustworkx as rx

    names = {name: at for at, name in enumerate(dict.fromkeys(name for ends in edges for name in ends))}
    graph = rx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(list(names))
    graph.extend_from_edge_list([(names[source], names[target]) for source, target in edges])
    components = [set(part) for part in rx.strongly_connected_components(graph) if len(part) > 1]
    place = {node: at for at, part in enumerate(components) for node in part}
    cyclic = sum(
        source == target or place.get(names[source], -1) == place.get(names[target], -2) for source, target in edges
    )
    paths: set[tuple[int, ...]] = {(names[source],) for source, target in edges if source == target}
    for part in sorted(components, key=lambda part: (len(part), min(part))):
        paths |= {_rotated(found) for node in sorted(part)[:_STARTS] if (found := _shortest(graph, node, part))}
    listed = list(names)
    made = []
    for cycle in sorted(paths, key=lambda cycle: (len(cycle), cycle))[:most]:
        members = tuple(listed[node] for node in cycle)
        steps = tuple(edges[pair] for pair in zip(members, (*members[1:], members[0]), strict=True))
        made.append(Cycle(order, members, steps, len(edges), len(edges) - cyclic))
    return made


def _shortest(graph: object, start: int, component: set[int]) -> tuple[int, ...] | None:
    came: dict[int, int] = {}
    waiting = deque([start])
    while waiting:
        node = waiting.popleft()
        for other in sorted(graph.successor_indices(node)):  # type: ignore[attr-defined]
            if other == start and node != start:
                way = [node]
                while way[-1] != start:
                    way.append(came[way[-1]])
                return tuple(reversed(way))
            if other in component and other not in came and other != start:
                came[other] = node
                waiting.append(other)
    return None


def _rotated(cycle: tuple[int, ...]) -> tuple[int, ...]:
    """A cycle from its smallest member on."""
    at = cycle.index(min(cycle))
    return cycle[at:] + cycle[:at]
