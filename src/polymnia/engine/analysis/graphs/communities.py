"""Communities: groups whose members are linked with each other more than with others (the method of Louvain)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.graphs.network import Network

__all__ = ["Community", "communities", "modularity"]

Numbers = NDArray[Any]
Tick = Callable[[], None]

_SEED = 20_261_115
_GAIN = 1e-12  # below this a move is a rounding error
_LEVELS = 20
_TICK = 5000


class Community(NamedTuple):
    """A group: its nodes, the links inside it, and the ends of links its nodes have in all."""

    nodes: list[int]
    inside: int
    ends: int

    @property
    def share(self) -> float:
        """The share of its members' links that stay inside."""
        return 2 * self.inside / self.ends if self.ends else 0.0


def communities(network: Network, tick: Tick = lambda: None) -> list[Community]:
    """The communities of a network, largest first. Nodes without links are in none; each hangs together."""
    if not network.links:
        return []
    ends = network.neighbours.astype(np.int64)
    # Whoever has one neighbour is in its community: there is no better place.
    label = np.arange(network.size)
    leaves = np.flatnonzero(network.degrees == 1)
    label[leaves] = np.where(network.degrees[ends[network.starts[leaves]]] > 1, ends[network.starts[leaves]], leaves)
    label = np.unique(label, return_inverse=True)[1]
    starts, ends, weights, loops = _joined(network.starts, ends, np.ones(len(ends)), np.zeros(network.size), label)
    for level in range(_LEVELS):
        moved = _moved(starts, ends, weights, loops, level, tick)
        if moved is None:
            break
        label = moved[label]
        starts, ends, weights, loops = _joined(starts, ends, weights, loops, moved)
    return _listed(network, label)


def modularity(network: Network, found: list[Community]) -> float:
    """How many more links are inside the communities than chance would put there, as a share of all links."""
    both = 2 * network.links
    return sum(2 * one.inside / both - (one.ends / both) ** 2 for one in found) if both else 0.0


def _moved(starts: Numbers, ends: Numbers, weights: Numbers, loops: Numbers, level: int, tick: Tick) -> Numbers | None:
    """Each node's group after all have gone where they gain most, numbered from 0; None where nobody moves."""
    size = len(starts) - 1
    first, to, weight = starts.tolist(), ends.tolist(), weights.tolist()
    around = [list(zip(to[a:b], weight[a:b], strict=True)) for a, b in pairwise(first)]
    degree = (np.bincount(np.repeat(np.arange(size), np.diff(starts)), weights, size) + loops).tolist()
    total = sum(degree)
    group, volume = list(range(size)), list(degree)
    waiting = deque(np.random.default_rng(_SEED + level).permutation(size).tolist())
    queued = [True] * size
    changed, steps = False, 0
    while waiting:
        node = waiting.popleft()
        queued[node] = False
        steps += 1
        if steps % _TICK == 0:
            tick()
        here, own = group[node], degree[node]
        near: dict[int, float] = {}
        for other, links in around[node]:
            there = group[other]
            near[there] = near.get(there, 0.0) + links
        volume[here] -= own
        best, gain = here, near.get(here, 0.0) - volume[here] * own / total
        for there, links in near.items():
            value = links - volume[there] * own / total
            if value > gain + _GAIN or (value > gain - _GAIN and there < best and there != here and best != here):
                best, gain = there, value
        volume[best] += own
        if best != here:
            changed = True
            group[node] = best
            for other, _ in around[node]:
                if group[other] != best and not queued[other]:
                    queued[other] = True
                    waiting.append(other)
    return np.unique(np.array(group), return_inverse=True)[1] if changed else None


def _joined(
    starts: Numbers, ends: Numbers, weights: Numbers, loops: Numbers, group: Numbers
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """The network whose nodes are the groups."""
    size = int(group.max()) + 1
    sources, targets = group[np.repeat(np.arange(len(starts) - 1), np.diff(starts))], group[ends]
    inner = sources == targets
    loops = np.bincount(group, loops, size) + np.bincount(sources[inner], weights[inner], size)
    keys, places = np.unique(sources[~inner] * size + targets[~inner], return_inverse=True)
    counts = np.bincount(keys // size, minlength=size)
    return (
        np.concatenate([[0], np.cumsum(counts)]), keys % size, np.bincount(places, weights[~inner], len(keys)), loops,
    )  # fmt: skip


def _listed(network: Network, label: Numbers) -> list[Community]:
    """The groups as communities; one that does not hang together is as many as it has parts."""
    inner = label[network.low] == label[network.high]
    parts = Network.of_keys(network.size, network.keys[inner]).components
    place = np.full(network.size, -1)
    for at, part in enumerate(parts):
        place[part] = at
    inside = np.bincount(place[network.low[inner]], minlength=len(parts))
    found = [Community(part, int(inside[at]), int(network.degrees[part].sum())) for at, part in enumerate(parts)]
    return sorted(found, key=lambda one: (-len(one.nodes), one.nodes[0]))
