"""Network: who is related to whom, as arrays; and twins of it in which only the degrees are the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.importing import importing

Numbers = NDArray[Any]

_ROUNDS = 8  # each offers every link one swap; nothing is left of the order then
_MORE_ROUNDS = 60  # where links are so few that many swaps are refused
_FEW = 200


class Network:
    """Nodes numbered from 0 and the links between them: each pair once, whatever its direction, no node with itself."""

    def __init__(self, size: int, sources: Sequence[int] | Numbers, targets: Sequence[int] | Numbers) -> None:
        self.size = size
        one, other = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
        low, high = np.minimum(one, other), np.maximum(one, other)
        apart = low != high
        keys = np.sort(low[apart] * max(1, size) + high[apart])
        self.keys: Numbers = keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if len(keys) else keys
        """The links in order, each as low * size + high."""

    @classmethod
    def of_keys(cls, size: int, keys: Numbers) -> Network:
        """The network with these links."""
        return cls(size, keys // max(1, size), keys % max(1, size))

    @property
    def links(self) -> int:
        """How many there are."""
        return len(self.keys)

    @cached_property
    def low(self) -> Numbers:
        """The end of each link with the smaller number."""
        return self.keys // max(1, self.size)

    @cached_property
    def high(self) -> Numbers:
        """The end of each link with the greater number."""
        return self.keys % max(1, self.size)

    @cached_property
    def degrees(self) -> Numbers:
        """How many neighbours each node has."""
        ends = np.concatenate([self.low, self.high])
        return np.bincount(ends, minlength=self.size).astype(np.int64)

    @cached_property
    def starts(self) -> Numbers:
        """Where the neighbours of each node begin in ``neighbours``; one more at the end."""
        return np.concatenate([[0], np.cumsum(self.degrees)]).astype(np.int64)

    @cached_property
    def neighbours(self) -> Numbers:
        """The neighbours of node 0, of node 1 and so on, each in ascending order."""
        sources = np.concatenate([self.low, self.high])
        targets = np.concatenate([self.high, self.low])
        order = np.lexsort((targets, sources))
        found: Numbers = targets[order].astype(np.int32)
        return found

    @cached_property
    def components(self) -> list[list[int]]:
        """The groups of nodes that hang together, largest first; a node without neighbours is in none."""
        with importing():
            import rustworkx as rx

        graph = rx.PyGraph(multigraph=False)
        graph.add_nodes_from(range(self.size))
        graph.extend_from_edge_list(list(zip(self.low.tolist(), self.high.tolist(), strict=True)))
        found = [sorted(part) for part in rx.connected_components(graph) if len(part) > 1]
        return sorted(found, key=lambda part: (-len(part), part[0]))


def twin(network: Network, seed: int) -> Network:
    """A network in which every node has as many neighbours as in this one, and all else is chance.

    Two links swap their ends, again and again, wherever that makes neither a loop nor a link that is there already. It
    falls into no more groups than this one where that can be had: a tree is compared with trees.
    """
    random = np.random.default_rng(seed)
    size, keys = network.size, network.keys.copy()
    for _ in range(_ROUNDS if len(keys) > _FEW else _MORE_ROUNDS):
        keys = keys[random.permutation(len(keys))]
        half = len(keys) // 2
        one, other = keys[:half], keys[half : 2 * half]
        a, b = one // size, one % size
        c, d = other // size, other % size
        turned = random.random(half) < 0.5
        c, d = np.where(turned, d, c), np.where(turned, c, d)
        first = np.minimum(a, d) * size + np.maximum(a, d)
        second = np.minimum(c, b) * size + np.maximum(c, b)
        offered = np.concatenate([first, second])
        _, place, times = np.unique(offered, return_inverse=True, return_counts=True)
        new = (times[place] == 1) & ~np.isin(offered, keys)
        taken = new[:half] & new[half:] & (a != d) & (c != b)
        keys[:half][taken] = first[taken]
        keys[half : 2 * half][taken] = second[taken]
    return _gathered(Network.of_keys(size, keys), len(network.components))


def _gathered(network: Network, groups: int) -> Network:
    """The network with groups joined until there are so many, by swaps of a link that is part of a circle.

    Such a link can go without anything falling apart; swapping ends with a link of another group joins both groups.
    """
    if len(network.components) <= groups:
        return network
    group = {node: at for at, part in enumerate(network.components) for node in part}
    root = list(range(network.size))
    spare: dict[int, list[int]] = {}
    first: dict[int, int] = {}
    for at, (a, b) in enumerate(zip(network.low.tolist(), network.high.tolist(), strict=True)):
        first.setdefault(group[a], at)
        one, other = _root(root, a), _root(root, b)
        if one == other:
            spare.setdefault(group[a], []).append(at)
        else:
            root[one] = other
    # Groups with circles of their own come first: they bring links to join others with.
    order = sorted(spare, key=lambda at: (-len(spare[at]), at))
    order += [at for at in range(len(network.components)) if at not in spare]
    if not order or order[0] not in spare:
        return network
    keys, left = network.keys.copy(), list(spare[order[0]])
    low, high, size = network.low, network.high, network.size
    for at in order[1 : 1 + len(order) - groups]:
        if not left:
            break
        one, other = left.pop(), first[at]
        a, b, c, d = int(low[one]), int(high[one]), int(low[other]), int(high[other])
        keys[one], keys[other] = min(a, d) * size + max(a, d), min(c, b) * size + max(c, b)
        left += [link for link in spare.get(at, ()) if link != other]
    return Network.of_keys(size, keys)


def _root(root: list[int], node: int) -> int:
    while root[node] != node:
        root[node] = root[root[node]]
        node = root[node]
    return node
