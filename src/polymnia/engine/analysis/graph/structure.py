"""Structure: a network, its communities, hubs and bridges, against random twins (docs/decisions/0027-graphs.md)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np

from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.probability import confidence
from polymnia.importing import importing

_ROUNDS = 8  # of swaps, one for each link, after which the order is random
_MORE_ROUNDS = 60  # of few links, since many swaps are refused
_FEW_LINKS = 200


class Network:
    """An undirected network without loops: nodes numbered from 0, each linked pair once."""

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
        """The number of links."""
        return len(self.keys)

    @cached_property
    def low(self) -> Numbers:
        """The smaller end of each link."""
        return self.keys // max(1, self.size)

    @cached_property
    def high(self) -> Numbers:
        """The greater end of each link."""
        return self.keys % max(1, self.size)

    @cached_property
    def degrees(self) -> Numbers:
        """The number of neighbours of each node."""
        ends = np.concatenate([self.low, self.high])
        return np.bincount(ends, minlength=self.size).astype(np.int64)

    @cached_property
    def starts(self) -> Numbers:
        """The start of each node in ``neighbours``, and the end."""
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
        """The connected components, largest first, without single nodes."""
        with importing():
            import rustworkx as rx

        graph = rx.PyGraph(multigraph=False)
        graph.add_nodes_from(range(self.size))
        graph.extend_from_edge_list(list(zip(self.low.tolist(), self.high.tolist(), strict=True)))
        found = [sorted(part) for part in rx.connected_components(graph) if len(part) > 1]
        return sorted(found, key=lambda part: (-len(part), part[0]))


def twin(network: Network, seed: int) -> Network:
    """A random network with the same degrees.

    Pairs of links swap their ends where that makes neither a loop nor a duplicate. It has no more components than this
    network where possible, so that a tree is compared with trees.
    """
    random = np.random.default_rng(seed)
    size, keys = network.size, network.keys.copy()
    for _ in range(_ROUNDS if len(keys) > _FEW_LINKS else _MORE_ROUNDS):
        keys = keys[random.permutation(len(keys))]
        half = len(keys) // 2
        one, other = keys[:half], keys[half : 2 * half]
        a, b = one // size, one % size
        c, d = other // size, other % size
        turned = random.random(half) < 0.5
        c, d = np.where(turned, d, c), np.where(turned, c, d)
        first = np.minimum(a, d) * size + np.maximum(a, d)
        second = np.minimum(c, b) * size + np.maximum(c, b)
        swapped = np.concatenate([first, second])
        _, place, times = np.unique(swapped, return_inverse=True, return_counts=True)
        new = (times[place] == 1) & ~np.isin(swapped, keys)
        taken = new[:half] & new[half:] & (a != d) & (c != b)
        keys[:half][taken] = first[taken]
        keys[half : 2 * half][taken] = second[taken]
    return _connected(Network.of_keys(size, keys), len(network.components))


def _connected(network: Network, groups: int) -> Network:
    """The network with components joined until there are so many, by swaps of a link in a cycle."""
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
    # Components with cycles come first: they have links to join others with.
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


Tick = Callable[[], None]

_SEED = 20_261_115
_GAIN = 1e-12  # less is a rounding error
_LEVELS = 20
_TICK = 5000
_SMALLEST = 4  # members of a community; smaller ones are everywhere by chance

FEWEST = 10
"""Linked nodes needed to see a hub."""
_BODY = 0.9  # of the nodes; hubs are rarer than one in ten
_LEAST = 5  # neighbours of a hub
_TIMES = 2  # the neighbours of a node in the middle
_MEANS, _SHAPES = 40, 24  # steps of the grid over distributions
_WIDEST, _NARROWEST = 0.05, 100.0  # the shape, from nearly logarithmic to nearly Poisson

_MOST_TWINS, _LEAST_TWINS = 30, 2  # fewer of large networks, which have more to compare with
_LINKS = 150_000  # in all twins together, about
_TAIL, _ENOUGH = 0.1, 10  # the share of the twins' values that the tail is fitted to, and the least number


class Community(NamedTuple):
    """A community: its nodes, the links inside it, and the sum of its degrees."""

    nodes: list[int]
    inside: int
    ends: int

    @property
    def share(self) -> float:
        """The share of its members' links that are inside."""
        return 2 * self.inside / self.ends if self.ends else 0.0


def communities(network: Network, tick: Tick = lambda: None) -> list[Community]:
    """The communities of a network (Louvain), largest first, each connected; nodes without links are in none."""
    if not network.links:
        return []
    ends = network.neighbours.astype(np.int64)
    # A leaf belongs to the community of its neighbour.
    label = np.arange(network.size)
    leaves = np.flatnonzero(network.degrees == 1)
    label[leaves] = np.where(network.degrees[ends[network.starts[leaves]]] > 1, ends[network.starts[leaves]], leaves)
    label = np.unique(label, return_inverse=True)[1]
    starts, ends, weights, loops = _joined(network.starts, ends, np.ones(len(ends)), np.zeros(network.size), label)
    for level in range(_LEVELS):
        group = _local_moves(starts, ends, weights, loops, level, tick)
        if group is None:
            break
        label = group[label]
        starts, ends, weights, loops = _joined(starts, ends, weights, loops, group)
    return _listed(network, label)


def modularity(network: Network, found: list[Community]) -> float:
    """The modularity: the share of links inside the communities beyond chance."""
    both = 2 * network.links
    return sum(2 * one.inside / both - (one.ends / both) ** 2 for one in found) if both else 0.0


def _local_moves(
    starts: Numbers, ends: Numbers, weights: Numbers, loops: Numbers, level: int, tick: Tick
) -> Numbers | None:
    """The group of each node after local moves, numbered from 0; None if no node changed its group."""
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
    inner = label[network.low] == label[network.high]
    parts = Network.of_keys(network.size, network.keys[inner]).components
    place = np.full(network.size, -1)
    for at, part in enumerate(parts):
        place[part] = at
    inside = np.bincount(place[network.low[inner]], minlength=len(parts))
    found = [Community(part, int(inside[at]), int(network.degrees[part].sum())) for at, part in enumerate(parts)]
    return sorted(found, key=lambda one: (-len(one.nodes), one.nodes[0]))


class Hub(NamedTuple):
    """A node with many neighbours, and how certain it is that this is unusual."""

    node: int
    degree: int
    expected: float
    found: int
    confidence: float


def hubs(degrees: Numbers, most: int, least: float, always: int = -1) -> list[Hub]:
    """The nodes with the most neighbours (and ``always``) that are hubs with this confidence, up to so many."""
    held = degrees[degrees > 0]
    if len(held) < FEWEST:
        return []
    usual = int(np.quantile(held, _BODY, method="lower"))
    border = max(_LEAST, _TIMES * float(np.median(held)), usual + 1)
    chosen = np.flatnonzero(degrees >= border)
    if not len(chosen):
        return []
    order = chosen[np.lexsort((chosen, -degrees[chosen]))].tolist()
    above = _above(held, usual)
    found_hubs = []
    for node in dict.fromkeys([*order[:most], *(node for node in order if node == always)]):
        degree = int(degrees[node])
        expected, found = len(held) * float(above[degree]), int((held >= degree).sum())
        sure = max(0.0, 1.0 - expected / found)
        if sure >= least:
            found_hubs.append(Hub(node, degree, expected, found, sure))
    return found_hubs


def _above(held: Numbers, middle: int) -> Numbers:
    """The chance of each degree or more, given the degrees up to ``middle``.

    The mean over negative binomial distributions, weighted by their likelihood.
    """
    top = int(held.max())
    counts = np.bincount(held[held <= middle], minlength=middle + 1)[1:]
    beyond = len(held) - int(counts.sum())
    steps = np.arange(top)
    means = np.geomspace(0.05, 2.0 * middle + 1.0, _MEANS)[:, None]
    fits, tails = [], []
    for shape in np.geomspace(_WIDEST, _NARROWEST, _SHAPES):
        share = means / (means + shape)
        none = shape * np.log1p(-share)
        # log P(j + 1) - log P(j), from P(0) on; of those that have neighbours at all
        rise = np.log((steps + shape) / (steps + 1)) + np.log(share)
        chances = np.exp(none + np.cumsum(rise, axis=1)) / -np.expm1(none)
        rest = np.maximum(0.0, 1.0 - chances.sum(axis=1, keepdims=True))
        tail = np.concatenate([np.cumsum(chances[:, ::-1], axis=1)[:, ::-1] + rest, rest], axis=1)
        with np.errstate(divide="ignore"):
            over = beyond * np.log(tail[:, middle]) if beyond else 0.0
            fits.append(np.log(chances[:, :middle]) @ counts + over)
        tails.append(tail[:, :top])
    fit = np.concatenate(fits)
    believed = np.exp(fit - fit.max())
    above: Numbers = np.concatenate([[1.0], believed / believed.sum() @ np.concatenate(tails)])
    return above


class CutVertex(NamedTuple):
    """A node or link whose removal splits a component, and the sizes of the parts, largest first."""

    nodes: tuple[int, ...]
    parts: tuple[int, ...]

    @property
    def lost(self) -> int:
        """The nodes cut off from the largest part, without single ones."""
        return sum(part for part in self.parts[1:] if part > 1)


def cuts(network: Network, tick: Tick = lambda: None) -> tuple[list[CutVertex], list[CutVertex]]:
    """Every cut vertex and every bridge, with the sizes of the parts (Hopcroft and Tarjan)."""
    starts, to = network.starts.tolist(), network.neighbours.tolist()
    order, lowest, below = [0] * network.size, [0] * network.size, [1] * network.size
    parts: dict[int, list[int]] = {}
    by_node: list[CutVertex] = []
    by_link: list[CutVertex] = []
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
                    by_link.append(CutVertex((min(parent, node), max(parent, node)), tuple(sizes)))
        for node in component:
            if node in parts:
                rest = whole - 1 - sum(parts[node])
                sizes = sorted((*parts[node], *((rest,) if rest else ())), reverse=True)
                if len(sizes) > 1:
                    by_node.append(CutVertex((node,), tuple(sizes)))
    return by_node, sorted(by_link)


class Chance(NamedTuple):
    """The measures of all twins of a network."""

    twins: int
    modularity: float
    communities: Numbers
    node_cuts: Numbers
    link_cuts: Numbers


def by_chance(network: Network, tick: Callable[[int, int], None]) -> Chance:
    """Measure random networks with the same degrees."""
    twins = max(_LEAST_TWINS, min(_MOST_TWINS, _LINKS // max(1, network.links)))
    shares, by_node, by_link = [], [], []
    total = 0.0
    for done in range(twins):
        step = partial(tick, done, twins)
        step()
        other = twin(network, done + 1)
        found = communities(other, step)
        total += modularity(other, found)
        shares.append(separate(other, found)[1])
        nodes, links = cuts(other, step)
        by_node.append(deep(nodes)[1])
        by_link.append(deep(links)[1])
    return Chance(twins, total / twins, *map(np.concatenate, (shares, by_node, by_link)))


def separate(network: Network, found: list[Community]) -> tuple[list[Community], Numbers]:
    """The communities that are no component, and of each the share of links inside and the logarithm of its size."""
    whole = {part[0]: len(part) for part in network.components}
    part = [one for one in found if len(one.nodes) >= _SMALLEST and whole.get(one.nodes[0]) != len(one.nodes)]
    return part, np.array([[one.share, log(one.ends)] for one in part]).reshape(-1, 2)


def deep(found: list[CutVertex]) -> tuple[list[CutVertex], Numbers]:
    """The cuts that cut off several nodes, and of each the logarithm of their number."""
    deep = [one for one in found if one.lost > 1]
    return deep, np.log(np.array([[one.lost] for one in deep], float).reshape(-1, 1))


def certainty(found: Numbers, made: Numbers, twins: int) -> Numbers:
    """The confidence of each row of ``found``; ``made`` has the rows of all twins.

    The first column is the measure, a second a covariate that is regressed out.
    """
    if not len(found):
        return np.zeros(0)
    if found.shape[1] > 1 and len(made) > _ENOUGH:
        span = made[:, 1].min(), made[:, 1].max()
        slope, base = np.polyfit(made[:, 1], made[:, 0], 1) if span[1] > span[0] else (0.0, 0.0)
        found = found[:, 0] - slope * np.clip(found[:, 1], *span) - base
        made = made[:, 0] - slope * made[:, 1] - base
    else:
        found, made = found[:, 0], made[:, 0]
    expected = _expected(found, np.sort(made), twins)
    order = np.argsort(found, kind="stable")
    like = len(found) - np.searchsorted(found[order], found[order], side="left")
    least = np.minimum.accumulate(expected[order] / like)
    sure = np.empty(len(found))
    sure[order] = [confidence(float(one)) for one in least]
    return sure


def _expected(found: Numbers, made: Numbers, twins: int) -> Numbers:
    """The expected number of values as high as each of the found ones in a random network."""
    counted: Numbers = (len(made) - np.searchsorted(made, found, side="left") + 1) / (twins + 1)
    tail = max(_ENOUGH, int(_TAIL * len(made)))
    if len(made) < 2 * _ENOUGH:
        return counted
    start = float(made[-tail])
    fall = float((made[-tail:] - start).mean())
    if fall <= 0:
        return counted
    beyond = tail / twins * np.exp(-np.maximum(0.0, found - start) / fall)
    return np.where(found > made[-1], np.minimum(counted, beyond), counted)
