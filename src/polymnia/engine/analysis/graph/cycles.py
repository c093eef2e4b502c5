"""Cycles: relations that lead back to where they began, of types that put things in an order.

The more relations of a type keep to its order in this project, the surer it is that a circle is a mistake.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from polymnia.engine.knowledge.relationships import order_of
from polymnia.importing import importing
from polymnia.models import Relation

Tick = Callable[[], None]

_TRUST = 19  # relations; with one against them, nineteen in twenty
_LOOKED = 200  # nodes of one knot from which the shortest way back is looked for
_UNSAID = 0.5  # how sure a relation is that drew itself and has no strength


class Cycle(NamedTuple):
    """Names in order, the last leading to the first; ``kept`` of all ``relations`` of this order are in no circle."""

    order: str
    names: tuple[str, ...]
    steps: tuple[Relation, ...]
    relations: int
    kept: int

    @property
    def confidence(self) -> float:
        """How sure it is that there should be none: no surer than the weakest of its relations."""
        usual = (self.kept + _TRUST) / (self.relations + _TRUST + 1)
        weakest = min(
            1.0 if one.origin == "manual" else _UNSAID if one.strength is None else one.strength for one in self.steps
        )
        return min(usual, weakest)


def cycles(relations: Iterable[Relation], most: int, tick: Tick = lambda: None) -> list[Cycle]:
    """The circles in every order, shortest first, up to so many of each; a relation with itself is one of length 1."""
    ways: dict[str, dict[tuple[str, str], Relation]] = {}
    known: dict[str, tuple[str, bool] | None] = {}
    for one in relations:
        if one.type not in known:
            known[one.type] = order_of(one.type)
        if found := known[one.type]:
            order, forwards = found
            ends = (one.source, one.target) if forwards else (one.target, one.source)
            ways.setdefault(order, {}).setdefault(ends, one)
    made: list[Cycle] = []
    for order, some in ways.items():
        tick()
        made += _in_order(order, some, most)
    return sorted(made, key=lambda one: (len(one.names), one.order, one.names))


def _in_order(order: str, ways: dict[tuple[str, str], Relation], most: int) -> list[Cycle]:
    with importing():
        import rustworkx as rx

    names = {name: at for at, name in enumerate(dict.fromkeys(name for ends in ways for name in ends))}
    graph = rx.PyDiGraph(multigraph=False)
    graph.add_nodes_from(list(names))
    graph.extend_from_edge_list([(names[source], names[target]) for source, target in ways])
    knots = [set(part) for part in rx.strongly_connected_components(graph) if len(part) > 1]
    place = {node: at for at, knot in enumerate(knots) for node in knot}
    tied = sum(
        source == target or place.get(names[source], -1) == place.get(names[target], -2) for source, target in ways
    )
    circles: set[tuple[int, ...]] = {(names[source],) for source, target in ways if source == target}
    for knot in sorted(knots, key=lambda knot: (len(knot), min(knot))):
        circles |= {_turned(found) for node in sorted(knot)[:_LOOKED] if (found := _shortest(graph, node, knot))}
    listed = list(names)
    told = []
    for circle in sorted(circles, key=lambda circle: (len(circle), circle))[:most]:
        members = tuple(listed[node] for node in circle)
        steps = tuple(ways[pair] for pair in zip(members, (*members[1:], members[0]), strict=True))
        told.append(Cycle(order, members, steps, len(ways), len(ways) - tied))
    return told


def _shortest(graph: object, start: int, within: set[int]) -> tuple[int, ...] | None:
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
            if other in within and other not in came and other != start:
                came[other] = node
                waiting.append(other)
    return None


def _turned(circle: tuple[int, ...]) -> tuple[int, ...]:
    """A circle as it is written: from its smallest member on."""
    at = circle.index(min(circle))
    return circle[at:] + circle[:at]
