"""Missing links: pairs near in meaning with neighbours in common, but no relation (docs/decisions/0027-graphs.md).

Existing links are hidden, a tenth at a time: the confidence of a pair is the share of pairs like it that were links.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from polymnia.engine.analysis.graph.structure import Network
from polymnia.engine.analysis.pairs import Numbers, cosines

Tick = Callable[[], None]

FEWEST = 50
"""Links needed to measure what a pair without one means."""

_SEED = 20_261_115
_PARTS = 10  # one of them is hidden at a time
_ALL_PARTS = 20_000  # links up to which each part is hidden once; of more, one part is enough
_TRIPLES = 4_000_000  # of node, neighbour and its neighbour; beyond, the busiest neighbours are skipped
_COMPARED = 50_000  # pairs compared by vectors: those with the closest neighbours in common
_RANDOM = 4000  # pairs drawn to learn the similarity of any two
_NEAR = 0.9  # closer in meaning than this share of them

_HITS = 5  # at least
_RIDGE = 1.0
_STEPS = 50
_STRIDE = 1.0  # the largest change of a weight in one step, since few hits have no best weights
_BEST, _FEW = 0.01, 50  # the highest scores, which matter
_PRIOR = 5.0  # average pairs that every step of the scale begins with


class Missing(NamedTuple):
    """A pair without a link: its nodes, common neighbours, cosine and confidence."""

    low: int
    high: int
    shared: list[int]
    cosine: float | None
    confidence: float


class Pairs(NamedTuple):
    """Pairs without a link: keys, resource allocation index, number of common neighbours."""

    keys: Numbers
    allocation: Numbers
    shared: Numbers


def missing(
    network: Network, vectors: Numbers | None, most: int, least: float, tick: Tick = lambda: None, always: int = -1
) -> tuple[list[Missing], Scale | None]:
    """The most certain pairs, up to so many (and those of the node ``always``), and the scale from hidden links."""
    if network.links < FEWEST:
        return [], None
    near = _nearness(network, vectors)
    measured = _measured(network, vectors, near, tick)
    if measured is None:
        return [], None
    found, traits = _described(network, vectors, near)
    if not len(found.keys):
        return [], measured
    sure = measured.confidence(traits)
    order = np.lexsort((found.keys, -measured.score(traits), -sure))
    low, high = found.keys // network.size, found.keys % network.size
    own = set(np.flatnonzero((low == always) | (high == always)).tolist())
    surest = []
    for place, at in enumerate(order.tolist()):
        if sure[at] < least or (place >= most and not own):
            break
        if place < most or at in own:
            own.discard(at)
            ends = int(low[at]), int(high[at])
            one, other = (network.neighbours[network.starts[end] : network.starts[end + 1]] for end in ends)
            both = sorted(np.intersect1d(one, other).tolist(), key=lambda node: (int(network.degrees[node]), node))
            cosine = None if vectors is None else float(vectors[ends[0]] @ vectors[ends[1]])
            surest.append(Missing(*ends, both, cosine, float(sure[at])))
    return surest, measured


def pairs(network: Network) -> Pairs:
    """The pairs two steps apart with the highest resource allocation index (Zhou, Lü and Zhang 2009)."""
    size, degrees = network.size, network.degrees
    by_degree = np.sort(degrees[degrees > 1])
    fits = int(np.searchsorted(np.cumsum(by_degree**2), _TRIPLES, side="right"))
    busiest = int(by_degree[fits - 1]) if fits else 0
    middles = np.repeat(np.arange(size), degrees)  # the node of each entry of the neighbours
    passed = np.flatnonzero((degrees > 1)[middles] & (degrees <= busiest)[middles])
    middle, one = middles[passed], network.neighbours[passed]
    counts = degrees[middle]
    offsets = np.repeat(network.starts[middle] - np.cumsum(counts) + counts, counts)
    other = network.neighbours[offsets + np.arange(len(offsets))]
    one, weight = np.repeat(one, counts).astype(np.int64), np.repeat(1.0 / degrees[middle], counts)
    ahead = one < other
    keys, places = np.unique(one[ahead] * size + other[ahead], return_inverse=True)
    index, shared = np.bincount(places, weight[ahead], len(keys)), np.bincount(places, minlength=len(keys))
    unlinked = ~np.isin(keys, network.keys)
    keys, index, shared = keys[unlinked], index[unlinked], shared[unlinked]
    if len(keys) > _COMPARED:
        best = np.sort(np.lexsort((keys, -shared, -index))[:_COMPARED])
        keys, index, shared = keys[best], index[best], shared[best]
    return Pairs(keys, index, shared)


def _described(network: Network, vectors: Numbers | None, near: float) -> tuple[Pairs, Numbers]:
    """The pairs that are close in meaning, with their features."""
    found = pairs(network)
    low, high = found.keys // network.size, found.keys % network.size
    degrees = network.degrees.astype(float)
    columns = [
        np.log(np.maximum(found.allocation, 1e-9)),
        np.log(np.maximum(found.shared, 1)),
        found.shared / np.maximum(1.0, np.minimum(degrees[low], degrees[high])),
        np.log(np.maximum(1.0, degrees[low] * degrees[high])),
    ]
    if vectors is not None:
        near_by = cosines(vectors, np.stack((low, high), axis=1))
        columns.append(near_by)
        close = near_by >= near
        found = Pairs(*(column[close] for column in found))
        columns = [column[close] for column in columns]
    return found, np.stack(columns, axis=1)


def _measured(network: Network, vectors: Numbers | None, near: float, tick: Tick) -> Scale | None:
    """Learn a scale from hidden links."""
    order = np.random.default_rng(_SEED).permutation(network.links)
    parts = np.array_split(order, _PARTS)
    traits, hits, folds = [], [], []
    for fold, part in enumerate(parts if network.links <= _ALL_PARTS else parts[:1]):
        tick()
        seen = np.delete(network.keys, part)
        found, described = _described(Network.of_keys(network.size, seen), vectors, near)
        traits.append(described)
        hits.append(np.isin(found.keys, network.keys[part]))
        # With one part alone its pairs are halved at random.
        folds.append(np.full(len(found.keys), fold) if network.links <= _ALL_PARTS else found.keys % 2)
    return scale(np.concatenate(traits), np.concatenate(hits), np.concatenate(folds))


def _nearness(network: Network, vectors: Numbers | None) -> float:
    """The cosine above which two nodes are closer in meaning than nearly any two."""
    if vectors is None:
        return -1.0
    known = np.flatnonzero((network.degrees > 0) & vectors.any(axis=1))
    if len(known) < 2:
        return -1.0
    random = np.random.default_rng(_SEED)
    one, other = random.choice(known, _RANDOM), random.choice(known, _RANDOM)
    apart = one != other
    return float(np.quantile(cosines(vectors, np.stack((one[apart], other[apart]), axis=1)), _NEAR))


class Scale(NamedTuple):
    """A score and its calibration: from each border on, the share of hits."""

    weights: Numbers
    middle: Numbers
    spread: Numbers
    margin: float
    borders: Numbers
    shares: Numbers
    tried: int
    hits: int

    def score(self, traits: Numbers) -> Numbers:
        """The log odds of each row."""
        found: Numbers = _design(traits, self.middle, self.spread) @ self.weights
        return found

    def confidence(self, traits: Numbers) -> Numbers:
        """How often rows like each were hits."""
        at = np.searchsorted(self.borders, self.score(traits) - self.margin, side="right") - 1
        found: Numbers = self.shares[np.maximum(at, 0)]
        return found


def scale(traits: Numbers, hits: Numbers, folds: Numbers) -> Scale | None:
    """Fit a score (logistic regression) and calibrate it on folds it was not fitted to."""
    if hits.sum() < _HITS or hits.all():
        return None
    middle = traits.mean(axis=0)
    spread = np.where(traits.std(axis=0) > 0, traits.std(axis=0), 1.0)
    design = _design(traits, middle, spread)
    held = np.zeros(len(hits))
    for side in (0, 1):
        own = folds % 2 == side
        if not hits[~own].any() or not own.any():
            return None
        held[own] = design[own] @ _fit(design[~own], hits[~own])
    borders, shares = _steps(held, hits)
    weights = _fit(design, hits)
    scores = design @ weights
    best = np.argsort(-scores, kind="stable")[: max(_FEW, int(_BEST * len(hits)))]
    margin = float(np.abs(scores - held)[best].mean())
    return Scale(weights, middle, spread, margin, borders, shares, len(hits), int(hits.sum()))


def _design(traits: Numbers, middle: Numbers, spread: Numbers) -> Numbers:
    return np.concatenate([(traits - middle) / spread, np.ones((len(traits), 1))], axis=1)


def _fit(design: Numbers, hits: Numbers) -> Numbers:
    """The weights of a logistic regression, by Newton's method."""
    weights = np.zeros(design.shape[1])
    share = hits.mean()
    weights[-1] = np.log(share / (1 - share)) if 0 < share < 1 else 0.0
    ridge = np.full(design.shape[1], _RIDGE)
    ridge[-1] = 1e-6
    for _ in range(_STEPS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(design @ weights, -30, 30)))
        slope = design.T @ (chance - hits) + ridge * weights
        bend = (design * (chance * (1 - chance))[:, None]).T @ design + np.diag(ridge)
        step = np.clip(np.linalg.solve(bend, slope), -_STRIDE, _STRIDE)
        weights = weights - step
        if np.abs(step).max() < 1e-6:
            break
    return weights


def _steps(scores: Numbers, hits: Numbers) -> tuple[Numbers, Numbers]:
    """Shares of hits by score (isotonic regression), shrunk towards the mean share."""
    usual = float(hits.mean())
    levels, places = np.unique(scores, return_inverse=True)
    counts = np.bincount(places).tolist()
    rights = np.bincount(places, hits).tolist()
    blocks: list[list[float]] = []
    for level, count, right in zip(levels.tolist(), counts, rights, strict=True):
        blocks.append([level, count, right])
        while len(blocks) > 1 and blocks[-2][2] * blocks[-1][1] >= blocks[-1][2] * blocks[-2][1]:
            _, count, right = blocks.pop()
            blocks[-1][1] += count
            blocks[-1][2] += right
    shares = [(right + _PRIOR * usual) / (count + _PRIOR) for _, count, right in blocks]
    return np.array([block[0] for block in blocks]), np.maximum.accumulate(np.array(shares))
