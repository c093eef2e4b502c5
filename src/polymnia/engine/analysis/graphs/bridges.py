"""Bridges: nodes and links without which a network would fall apart, and nodes that many shortest ways go through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.graphs.network import Network
from polymnia.importing import importing

__all__ = ["Cut", "Cuts", "betweenness", "cuts"]

Numbers = NDArray[Any]
Tick = Callable[[], None]

_SEED = 20_261_115
_EXACT = 1000  # nodes up to which every shortest way is counted
_SAMPLES = 40  # nodes whose ways are counted in a larger network


class Cut(NamedTuple):
    """What falls apart without a node, or without a link: the sizes of the parts, largest first."""

    nodes: tuple[int, ...]
    parts: tuple[int, ...]

    @property
    def lost(self) -> int:
        """How many nodes would hang together apart from the largest part; single ones do not count."""
        return sum(part for part in self.parts[1:] if part > 1)


class Cuts(NamedTuple):
    """Every node and every link without which a part would fall off."""

    by_node: list[Cut]
    by_link: list[Cut]


def cuts(network: Network, tick: Tick = lambda: None) -> Cuts:
    """Find all of them in one walk through the network."""
    starts, to = network.starts.tolist(), network.neighbours.tolist()
    order, lowest, below = [0] * network.size, [0] * network.size, [1] * network.size
    parts: dict[int, list[int]] = {}
    by_node: list[Cut] = []
    by_link: list[Cut] = []
    count = 0
    for component in network.components:
        tick()
        root, whole = component[0], len(component)
        count += 1
        order[root] = lowest[root] = count
        stack = [(root, -1, starts[root])]
        while stack:
            node, parent, at = stack.pop()
            if at < starts[node + 1]:
                stack.append((node, parent, at + 1))
                other = to[at]
                if not order[other]:
                    count += 1
                    order[other] = lowest[other] = count
                    stack.append((other, node, starts[other]))
                elif other != parent:
                    lowest[node] = min(lowest[node], order[other])
            elif parent >= 0:
                lowest[parent] = min(lowest[parent], lowest[node])
                below[parent] += below[node]
                if lowest[node] >= order[parent]:
                    parts.setdefault(parent, []).append(below[node])
                if lowest[node] > order[parent]:
                    sizes = sorted((below[node], whole - below[node]), reverse=True)
                    by_link.append(Cut((min(parent, node), max(parent, node)), tuple(sizes)))
        for node in component:
            if node in parts:
                rest = whole - 1 - sum(parts[node])
                sizes = sorted((*parts[node], *((rest,) if rest else ())), reverse=True)
                if len(sizes) > 1:
                    by_node.append(Cut((node,), tuple(sizes)))
    return Cuts(by_node, sorted(by_link))


def betweenness(network: Network, tick: Tick = lambda: None) -> Numbers:
    """The share of shortest ways that go through each node; of a sample of them where there are many nodes."""
    if network.size <= _EXACT:
        with importing():
            import rustworkx as rx

        graph = rx.PyGraph(multigraph=False)
        graph.add_nodes_from(range(network.size))
        graph.extend_from_edge_list(list(zip(network.low.tolist(), network.high.tolist(), strict=True)))
        held = rx.graph_betweenness_centrality(graph, normalized=True, parallel_threshold=_EXACT + 1)
        return np.array([held[node] for node in range(network.size)])
    linked = np.flatnonzero(network.degrees)
    chosen = np.random.default_rng(_SEED).choice(linked, min(_SAMPLES, len(linked)), replace=False)
    through = np.zeros(network.size)
    for source in chosen.tolist():
        tick()
        through += _through(network, source)
    found: Numbers = through / (len(chosen) * max(1, network.size - 2))
    return found


def _through(network: Network, source: int) -> Numbers:
    """What each node carries of the shortest ways from one node to all others (the method of Brandes)."""
    distance = np.full(network.size, -1, np.int32)
    ways = np.zeros(network.size)
    distance[source], ways[source] = 0, 1.0
    levels: list[tuple[Numbers, Numbers]] = []
    reached = np.array([source])
    depth = 0
    while len(reached):
        depth += 1
        sources, targets = network.arcs(reached)
        distance[targets[distance[targets] < 0]] = depth
        on = distance[targets] == depth
        sources, targets = sources[on], targets[on]
        reached, places = np.unique(targets, return_inverse=True)
        ways[reached] = np.bincount(places, ways[sources], len(reached)) if len(reached) else 0.0
        levels.append((sources, targets))
    carried = np.zeros(network.size)
    for sources, targets in reversed(levels):
        if len(sources):
            nodes, places = np.unique(sources, return_inverse=True)
            carried[nodes] += np.bincount(places, ways[sources] / ways[targets] * (1 + carried[targets]), len(nodes))
    carried[source] = 0.0
    return carried
