"""Tree: rows drawn towards their neighbours and joined two by two, and the cut that tells them apart best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.topics.features import Sparse, unit

Numbers = NDArray[Any]

_ROUNDS = 4  # steps along the graph of neighbours
_COLUMNS = 64  # smoothed rows lie in few directions, and the tree costs what there are columns
_MANY = 500  # rows from which on that matters
_BLOCK = 10_000  # rows that are compared with centres at a time
_GRID = 40  # numbers of groups that are tried
_ENOUGH = 0.98  # of the best is nearly as good


def smoothed(rows: Numbers, nearest: tuple[Numbers, Numbers]) -> Numbers:
    """Rows after a few steps along the graph of neighbours, so that groups stand out; of unit length."""
    found, near = nearest
    size, most = found.shape
    each = np.arange(size)
    left, right, weights = np.repeat(each, most), found.ravel(), near.ravel()
    left, right = np.concatenate((left, right, each)), np.concatenate((right, left, each))
    weights = np.concatenate((weights, weights, np.ones(size, np.float32)))
    degree = np.sqrt(np.bincount(left, weights=weights, minlength=size))
    step = Sparse(left, right, (weights / degree[left] / degree[right]).astype(np.float32), (size, size))
    for _ in range(_ROUNDS):
        rows = step @ rows
    return unit(rows)


class Tree:
    """Rows joined two by two by Ward's rule, from single ones to all."""

    def __init__(self, rows: Numbers) -> None:
        if rows.shape[1] > _COLUMNS and len(rows) > _MANY:
            rows = rows - rows.mean(axis=0)
            _, axes = np.linalg.eigh((rows.T @ rows).astype(np.float64))
            rows = rows @ axes[:, ::-1][:, :_COLUMNS].astype(np.float32)
        self._size = len(rows)
        self._joined = _ward(rows)

    def labels(self, groups: int) -> Numbers:
        """The group of each row when there are so many; groups are numbered in the order of their first rows."""
        return self._cuts([groups])[0]

    def _cuts(self, counts: list[int]) -> list[Numbers]:
        """The labels at each of these numbers of groups."""
        size = self._size
        root = np.arange(2 * size - 1)  # of each row and each join, the join it is in by now
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
        """The cut at which rows are told apart best, and how well: see `distinctness`.

        Of numbers of groups that do nearly as well the smallest is taken.
        """
        counts = sorted({round(count) for count in np.geomspace(fewest, max(fewest, most), _GRID)})
        cuts = self._cuts(counts)
        tried = [float(distinctness(rows, labels).mean()) for labels in cuts]
        top = max(tried)
        chosen = next(at for at, value in enumerate(tried) if value >= top - (1 - _ENOUGH) * abs(top))
        return cuts[chosen], tried[chosen]


def _ward(rows: Numbers) -> Numbers:
    """The two that are joined at each step, lowest joins first: rows by number, then joins.

    Ward's tree by chains of nearest neighbours (Murtagh 1983): a chain ends in two that are each other's nearest.
    """
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
    """Pairs of rows that stand for what they are joined in, as pairs of rows and joins."""
    standing = np.arange(size)  # for each row the join that it stands for
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
    """How much nearer each row is to the centre of its group than to the next best centre, from -1 to 1.

    It is a silhouette by centres; a centre on the opposite side is no farther than one that is unrelated. The row
    itself does not count towards its centre, so groups of one gain nothing.
    """
    whole = sums(rows, labels, int(labels.max()) + 1)
    middle = unit(whole).T
    made = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), _BLOCK):
        some, theirs = rows[start : start + _BLOCK], labels[start : start + _BLOCK]
        near = some @ middle
        near[np.arange(len(some)), theirs] = -2
        other = 1 - np.maximum(near.max(axis=1), 0)
        own = 1 - np.einsum("ij,ij->i", some, unit(whole[theirs] - some))
        made[start : start + _BLOCK] = (other - own) / np.maximum(np.maximum(other, own), 1e-6)
    made[np.bincount(labels)[labels] < 2] = 0
    return made
