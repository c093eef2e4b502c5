"""Cycles: relations that lead back to where they began, of types that put things in an order.

Whether a type does so in this project is judged by how it is used: the more of its relations keep to an order, the
surer it is that a circle is a mistake. Types that are named for an order begin with the trust that a few relations in
order would give them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from polymnia.importing import importing

__all__ = ["ORDERS", "Cycle", "Order", "cycles", "order_of"]

Tick = Callable[[], None]
Arc = tuple[str, str, str]
"""Source, target and type of a relation."""

_TRUST = 19  # relations; with one against them, nineteen in twenty
_LOOKED = 200  # nodes of one knot from which the shortest way back is looked for


class Order(NamedTuple):
    """An order among things: the types that tell it forwards, and those that tell it backwards."""

    name: str
    forwards: frozenset[str]
    backwards: frozenset[str]


class Cycle(NamedTuple):
    """Names in the order of their relations, the last leading back to the first; the types along the way, as stored.

    ``kept`` of ``relations`` that tell this order are in no circle.
    """

    order: str
    names: tuple[str, ...]
    types: tuple[str, ...]
    relations: int
    kept: int

    @property
    def confidence(self) -> float:
        """How sure it is that there should be none."""
        return (self.kept + _TRUST) / (self.relations + _TRUST + 1)


def _order(name: str, forwards: str, backwards: str = "") -> Order:
    return Order(name, frozenset(forwards.split()), frozenset(backwards.split()))


ORDERS: tuple[Order, ...] = (
    _order(
        "containment",
        "contains has_part includes comprises parent_of parent has_child part_meronym member_meronym "
        "substance_meronym 포함 포함한다 포함하다 부모",
        "part_of contained_in belongs_to member_of child_of has_parent inside part_holonym member_holonym "
        "substance_holonym 일부 부분 소속 속한다 자식",
    ),
    _order(
        "sequence",
        "precedes before followed_by next leads_to_next 선행 이전 앞선다",
        "follows after preceded_by previous succeeds 후행 다음 따른다 이어진다",
    ),
    _order(
        "cause",
        "causes cause leads_to results_in triggers 원인 유발 유발한다 초래한다",
        "caused_by results_from due_to",
    ),
    _order(
        "dependency",
        "depends_on requires needs blocked_by prerequisite imports 의존 의존한다 필요하다 요구한다",
        "required_by blocks needed_by dependency_of enables imported_by",
    ),
    _order("implementation", "implements realizes fulfils fulfills 구현 구현한다", "implemented_by"),
    _order(
        "derivation",
        "derived_from based_on extends inherits inherits_from is_a subclass_of specializes hypernym instance_hypernym "
        "상속 파생",
        "extended_by superclass_of generalizes hyponym instance_hyponym",
    ),
    _order("replacement", "replaces supersedes overrides 대체 대체한다", "replaced_by superseded_by overridden_by"),
)
"""What must lead nowhere back."""

_KNOWN = {
    type: (order, forwards)
    for order in ORDERS
    for types, forwards in ((order.forwards, True), (order.backwards, False))
    for type in types
}


def order_of(type: str) -> tuple[Order, bool] | None:
    """The order a relation of this type tells, and whether forwards; None where it tells none."""
    return _KNOWN.get(re.sub(r"[\W_]+", "_", type.strip()).strip("_").lower())


def cycles(relations: Iterable[Arc], most: int, tick: Tick = lambda: None) -> list[Cycle]:
    """The circles in every order, shortest first, up to so many of each; a relation with itself is one of length 1."""
    ways: dict[str, dict[tuple[str, str], str]] = {}
    known: dict[str, tuple[Order, bool] | None] = {}
    for source, target, type in relations:
        if type not in known:
            known[type] = order_of(type)
        if found := known[type]:
            order, forwards = found
            ends = (source, target) if forwards else (target, source)
            ways.setdefault(order.name, {}).setdefault(ends, type)
    made: list[Cycle] = []
    for order in ORDERS:
        if order.name in ways:
            tick()
            made += _in_order(order.name, ways[order.name], most)
    return sorted(made, key=lambda one: (len(one.names), one.order, one.names))


def _in_order(order: str, ways: dict[tuple[str, str], str], most: int) -> list[Cycle]:
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
        types = tuple(ways[pair] for pair in zip(members, (*members[1:], members[0]), strict=True))
        told.append(Cycle(order, members, types, len(ways), len(ways) - tied))
    return told


def _shortest(graph: object, start: int, within: set[int]) -> tuple[int, ...] | None:
    """The shortest way from a node back to it."""
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
