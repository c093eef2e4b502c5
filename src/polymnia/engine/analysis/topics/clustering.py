"""Clustering: groups of texts about the same thing, however many there are (docs/decisions/0025-topics.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.pairs import Numbers, neighbours
from polymnia.engine.analysis.topics.features import Sparse, features, unit

_STEPS = 4  # of smoothing along the graph of neighbours
_COLUMNS = 64  # of the rows of a tree,
_WIDE = 500  # if they are more than this
_AT_ONCE = 10_000  # rows compared with centres at once
_GRID = 40  # numbers of groups tried
_ENOUGH = 0.98  # of the best score is good enough


def smoothed(rows: Numbers, nearest: tuple[Numbers, Numbers]) -> Numbers:
    """Rows smoothed along the graph of neighbours, of unit length."""
    found, near = nearest
    size, most = found.shape
    each = np.arange(size)
    left, right, weights = np.repeat(each, most), found.ravel(), near.ravel()
    left, right = np.concatenate((left, right, each)), np.concatenate((right, left, each))
    weights = np.concatenate((weights, weights, np.ones(size, np.float32)))
    degree = np.sqrt(np.bincount(left, weights=weights, minlength=size))
    step = Sparse(left, right, (weights / degree[left] / degree[right]).astype(np.float32), (size, size))
    for _ in range(_STEPS):
        rows = step @ rows
    return unit(rows)


class Tree:
    """Hierarchical clustering by Ward's rule."""

    def __init__(self, rows: Numbers) -> None:
        if rows.shape[1] > _COLUMNS and len(rows) > _WIDE:
            rows = rows - rows.mean(axis=0)
            _, axes = np.linalg.eigh((rows.T @ rows).astype(np.float64))
            rows = rows @ axes[:, ::-1][:, :_COLUMNS].astype(np.float32)
        self._size = len(rows)
        self._joined = _ward(rows)

    def labels(self, groups: int) -> Numbers:
        """The group of each row for a number of groups, numbered in the order of their first rows."""
        return self._cuts([groups])[0]

    def _cuts(self, counts: list[int]) -> list[Numbers]:
        """The labels for each of these numbers of groups."""
        size = self._size
        root = np.arange(2 * size - 1)  # the current join of each row and each join
        made: dict[int, Numbers] = {}
        done = 0
        for groups in sorted(set(counts), reverse=True):
            upto = max(0, size - groups)
            for at in range(done, upto):
                root[self._joined[at]] = size + at
            done = max(done, upto)
            settled = root.copy()
            while not np.array_equal(settled[settled], settled):
                settled = settled[settled]
            _, first, numbers = np.unique(settled[:size], return_index=True, return_inverse=True)
            place = np.empty(len(first), np.int64)
            place[np.argsort(first)] = np.arange(len(first))
            made[groups] = place[numbers]
        return [made[groups] for groups in counts]

    def best(self, rows: Numbers, fewest: int, most: int) -> tuple[Numbers, float]:
        """The labels with the best distinctness, and its mean; of nearly equal ones those with the fewest groups."""
        counts = sorted({round(count) for count in np.geomspace(fewest, max(fewest, most), _GRID)})
        cuts = self._cuts(counts)
        tried = [float(distinctness(rows, labels).mean()) for labels in cuts]
        top = max(tried)
        chosen = next(at for at, value in enumerate(tried) if value >= top - (1 - _ENOUGH) * abs(top))
        return cuts[chosen], tried[chosen]


def _ward(rows: Numbers) -> Numbers:
    """The pair joined at each step, by Ward's rule and nearest-neighbour chains (Murtagh 1983)."""
    size = len(rows)
    squares = np.einsum("ij,ij->i", rows, rows)
    apart = np.maximum(squares[:, None] + squares[None, :] - 2 * (rows @ rows.T), 0).astype(np.float32)
    np.fill_diagonal(apart, np.inf)
    counts = np.ones(size, np.float32)
    pairs = np.zeros((size - 1, 2), np.int64)
    heights = np.zeros(size - 1, np.float32)
    chain: list[int] = []
    first = 0
    for at in range(size - 1):
        if not chain:
            while not counts[first]:
                first += 1
            chain.append(first)
        while True:
            last = chain[-1]
            nearest = int(apart[last].argmin())
            if len(chain) > 1 and apart[last, nearest] >= apart[last, chain[-2]]:
                break
            chain.append(nearest)
        one, other = sorted((chain.pop(), chain.pop()))
        height = apart[one, other]
        pairs[at], heights[at] = (one, other), height
        total = counts[one] + counts[other] + counts
        joined = (counts[one] + counts) * apart[one] + (counts[other] + counts) * apart[other] - counts * height
        joined = np.where(counts > 0, joined / total, np.inf)
        joined[[one, other]] = np.inf
        apart[other], apart[:, other] = joined, joined
        apart[one], apart[:, one] = np.inf, np.inf
        counts[other] += counts[one]
        counts[one] = 0
    return _numbered(pairs[np.argsort(heights, kind="stable")], size)


def _numbered(pairs: Numbers, size: int) -> Numbers:
    """Pairs of representative rows as pairs of rows and joins."""
    standing = np.arange(size)  # the join that each row represents
    made = np.zeros_like(pairs)
    for at, (one, other) in enumerate(pairs):
        made[at] = standing[one], standing[other]
        standing[other] = size + at
    return made


def sums(rows: Numbers, labels: Numbers, groups: int) -> Numbers:
    """The sum of the rows of each group."""
    made = np.zeros((groups, rows.shape[1]), np.float32)
    order = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[order], np.arange(groups))
    there = np.bincount(labels, minlength=groups) > 0
    made[there] = np.add.reduceat(rows[order], firsts[there], axis=0)
    return made


def distinctness(rows: Numbers, labels: Numbers) -> Numbers:
    """The silhouette of each row by the centres of its group (without itself) and of the next one."""
    whole = sums(rows, labels, int(labels.max()) + 1)
    middle = unit(whole).T
    made = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), _AT_ONCE):
        some, theirs = rows[start : start + _AT_ONCE], labels[start : start + _AT_ONCE]
        near = some @ middle
        near[np.arange(len(some)), theirs] = -2
        other = 1 - np.maximum(near.max(axis=1), 0)
        own = 1 - np.einsum("ij,ij->i", some, unit(whole[theirs] - some))
        made[start : start + _AT_ONCE] = (other - own) / np.maximum(np.maximum(other, own), 1e-6)
    made[np.bincount(labels)[labels] < 2] = 0
    return made


Tick = Callable[[], None]

FEWEST = 6
"""Different texts needed for groups."""
_UNITS = 6000  # texts that are clustered; all others are assigned
_FEW = 20  # texts below which a pair may be a group
_NEAREST = 10
_BLOCK = 1000  # rows compared at once

_ROUNDS, _MANY, _FEWER = 8, 1500, 3  # samples; and beyond so many texts fewer samples
_SMALL, _TIMES = 300, 6  # up to so many texts, so many times as many draws
_SHARE = 0.7  # of the texts in each sample
_DRAWS = 20  # random groups of each size
_MIXED, _MIXES = 1000, 3  # rows that are permuted, and how often
_FENCE = 1.0  # interquartile ranges below the lower quartile, from which a text is an outlier
_BY_CHANCE = 0.0215  # the share of a normal distribution below that
_FAR = 0.75  # of the median similarity, below which an outlier must be
_LITTLE = 0.3
_FARTHEST = 0.01  # the least similarity
_SEED = 23

# The logistic curve of `confidence`.
_BASE = -8.12
_STABLE, _APART = 2.20, 7.00  # of the group itself
_ALL_STABLE, _ALL_APART = 6.22, 6.84  # of all groups together, the separation beyond chance
_SIZE = -0.33  # for each doubling of the size


class Clustering(Struct, frozen=True, kw_only=True):
    """Groups of texts: a label for each text, 0 for the largest group, and measures of each group.

    The group of an ``outlier`` is only the nearest one; ``outlier_confidence`` is the share of outliers beyond chance.
    ``nearness`` is the similarity of a text to the centre of its group, ``stability`` how well a group is found again
    in a part of the texts, ``separation`` its mean silhouette, ``chance`` that of texts without groups.
    """

    labels: Numbers
    outlier: Numbers
    outlier_confidence: float
    nearness: Numbers
    sizes: Numbers
    cohesion: Numbers
    stability: Numbers
    separation: Numbers
    chance: float

    @property
    def groups(self) -> int:
        """The number of groups."""
        return len(self.sizes)


def cluster(
    vectors: Numbers | None, texts: Sequence[str], tick: Tick = lambda: None, *, units: int = _UNITS
) -> Clustering:
    """Cluster texts by topic.

    ``vectors`` has a row for each text, zeros without a vector; None without a model. Texts that differ only in case
    and spaces count once. Of more than ``units`` texts so many are clustered, and the others are assigned.
    """
    first, which = _different(texts)
    size = len(first)
    if size < FEWEST:
        return _none(len(texts), same=size == 1 and len(texts) > 1)
    rows = features(None if vectors is None else vectors[first], [texts[at] for at in first], tick)
    chosen = np.sort(np.random.default_rng(11).permutation(size)[:units])
    some = rows[chosen]
    tick()
    most = min(_NEAREST, max(2, int(len(some) ** 0.5 / 2)))
    nearest = neighbours(some, some, most, same=True)
    smooth = smoothed(some, nearest)
    tick()
    labels, _ = Tree(smooth).best(some, 2, len(some) // (2 if size < _FEW else 3))
    tick()
    large = np.flatnonzero(np.bincount(labels) >= (2 if size < _FEW else 3))
    if not len(large):
        return _none(len(texts), same=False)
    middle = unit(sums(smooth, labels, int(labels.max()) + 1)[large])
    labels = (smooth @ middle.T).argmax(axis=1)
    stable = _stability(some, labels, len(large), most, tick)
    by_chance = _chance(some, most, tick)
    near = np.zeros(size, np.float32)
    near[chosen] = nearest[1].mean(axis=1)
    whole = np.zeros(size, np.int64)
    whole[chosen] = labels
    others = np.setdiff1d(np.arange(size), chosen, assume_unique=True)
    if len(others):
        found, close = neighbours(rows[others], some, most, same=False)
        joined = np.zeros((len(others), smooth.shape[1]), np.float32)
        for at in range(most):
            joined += close[:, at, None] * smooth[found[:, at]]
        whole[others] = (unit(joined) @ middle.T).argmax(axis=1)
        near[others] = close.mean(axis=1)
        tick()
    return _described(rows, whole, near, stable, by_chance, which)


def confidence(made: Clustering) -> Numbers:
    """How often groups like these are right (0-1): two thirds of the texts have one topic as people labelled them.

    The curve was fitted on 3,927 groups of 170 labelled projects and on shuffled twins of them in which no group is
    right. On other sets it is off by .03 (docs/decisions/0025-topics.md).
    """
    if not made.groups:
        return np.zeros(0)
    weights = np.maximum(made.sizes, 1)
    stable = float(np.average(made.stability, weights=weights))
    separation = float(np.average(made.separation, weights=weights)) - made.chance
    own = _BASE + _STABLE * made.stability + _APART * made.separation + _SIZE * np.log2(weights)
    found: Numbers = 1 / (1 + np.exp(-(own + _ALL_STABLE * stable + _ALL_APART * separation)))
    return found


def _described(
    rows: Numbers, labels: Numbers, close: Numbers, stable: Numbers, by_chance: float, which: Numbers
) -> Clustering:
    outlier, sure = outliers(close)
    groups = len(stable)
    sizes = np.bincount(labels[which], weights=~outlier[which], minlength=groups).astype(np.int64)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(groups, np.int64)
    place[order] = np.arange(groups)
    labels = place[labels]
    near = nearness(rows, labels, groups)
    counts = np.maximum(1, np.bincount(labels, minlength=groups))
    return Clustering(
        labels=labels[which],
        outlier=outlier[which],
        outlier_confidence=sure,
        nearness=near[which],
        sizes=sizes[order],
        cohesion=cohesion(rows, labels, near, groups),
        stability=stable[order],
        separation=np.bincount(labels, weights=distinctness(rows, labels), minlength=groups) / counts,
        chance=by_chance,
    )


def _different(texts: Sequence[str]) -> tuple[Numbers, Numbers]:
    """The first of each set of equal texts, and the set of each text."""
    known: dict[str, int] = {}
    which = np.array([known.setdefault(" ".join(text.split()).casefold(), len(known)) for text in texts], np.int64)
    first = np.full(len(known), len(texts), np.int64)
    np.minimum.at(first, which, np.arange(len(texts)))
    return first, which


def _none(size: int, *, same: bool) -> Clustering:
    """No groups, or one if all texts are the same."""
    groups = int(same)
    ones = np.ones(groups)
    return Clustering(
        labels=np.full(size, groups - 1, np.int64),
        outlier=np.full(size, not same),
        outlier_confidence=0.0,
        nearness=np.full(size, float(same), np.float32),
        sizes=np.full(groups, size, np.int64),
        cohesion=ones,
        stability=ones,
        separation=ones,
        chance=0.0,
    )


def _draws(rows: Numbers) -> int:
    return _TIMES if len(rows) <= _SMALL else 1


def _stability(rows: Numbers, labels: Numbers, groups: int, most: int, tick: Tick) -> Numbers:
    """The mean Jaccard index of each group with the best one when a part of the texts is clustered again."""
    random = np.random.default_rng(_SEED)
    size = max(3, round(_SHARE * len(rows)))
    found = np.zeros(groups)
    times = np.zeros(groups)
    for _ in range((_ROUNDS if len(rows) <= _MANY else _FEWER) * _draws(rows)):
        tick()
        some = np.sort(random.permutation(len(rows))[:size])
        again = Tree(smoothed(rows[some], neighbours(rows[some], rows[some], min(most, size - 1), same=True)))
        there = np.bincount(labels[some], minlength=groups)
        anew = again.labels(max(2, min(size, int((there > 0).sum()))))
        both = np.zeros((groups, int(anew.max()) + 1))
        np.add.at(both, (labels[some], anew), 1)
        union = there[:, None] + both.sum(axis=0)[None, :] - both
        best = (both / np.maximum(union, 1)).max(axis=1)
        seen = there > 1
        found[seen] += best[seen]
        times[seen] += 1
    made: Numbers = np.divide(found, times, out=np.zeros(groups), where=times > 0)
    return made


def _chance(rows: Numbers, most: int, tick: Tick) -> float:
    """The mean silhouette of groups that are found in rows with permuted columns."""
    random = np.random.default_rng(_SEED)
    some = rows[np.sort(random.permutation(len(rows))[:_MIXED])]
    found = []
    for _ in range(_MIXES * _draws(rows)):
        tick()
        mixed = unit(np.column_stack([random.permutation(column) for column in some.T]))
        tree = Tree(smoothed(mixed, neighbours(mixed, mixed, most, same=True)))
        found.append(tree.best(mixed, 2, max(2, len(mixed) // 3))[1])
    return float(np.mean(found))


def nearness(rows: Numbers, labels: Numbers, groups: int) -> Numbers:
    """The similarity of each row to the centre of the others of its group, -1 to 1."""
    whole = sums(rows, labels, groups)
    made = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), 10 * _BLOCK):
        part = slice(start, start + 10 * _BLOCK)
        made[part] = np.einsum("ij,ij->i", rows[part], unit(whole[labels[part]] - rows[part]))
    return made


def cohesion(rows: Numbers, labels: Numbers, near: Numbers, groups: int) -> Numbers:
    """The mean nearness of each group, scaled to 0 for random groups and 1 for equal texts."""
    random = np.random.default_rng(_SEED)
    made = np.zeros(groups)
    sizes = np.bincount(labels, minlength=groups)
    chance: dict[int, float] = {}
    for group, size in enumerate(sizes):
        if size < 2:
            continue
        about = min(1024, 1 << int(np.log2(size)))  # similar sizes share one value
        if about not in chance:
            draws = [random.choice(len(rows), min(about, len(rows)), replace=False) for _ in range(_DRAWS)]
            zeros = np.zeros(min(about, len(rows)), np.int64)
            chance[about] = float(np.mean([nearness(rows[draw], zeros, 1).mean() for draw in draws]))
        mean = float(near[labels == group].mean())
        made[group] = min(1.0, max(0.0, (mean - chance[about]) / max(1e-6, 1 - chance[about])))
    return made


def outliers(near: Numbers) -> tuple[Numbers, float]:
    """Which texts are outliers by their similarity to their nearest neighbours; and the confidence.

    Outliers are more than an interquartile range below the lower quartile of the logarithms. The confidence is their
    share beyond that of a normal distribution.
    """
    logarithms = np.log(np.maximum(near, _FARTHEST))
    low, high = np.quantile(logarithms, (0.25, 0.75))
    made: Numbers = (logarithms < low - _FENCE * (high - low)) & (near < _FAR * np.median(near))
    found = int(made.sum())
    right = 1 - _BY_CHANCE * len(near) / max(1, found)
    if not found or right < _LITTLE:
        return np.zeros(len(near), bool), 0.0
    return made, right
