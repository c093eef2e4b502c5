"""Tree: groups within groups, and at how many groups the texts are told apart best."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.extra import need
from polymnia.engine.analysis.topics.features import unit

__all__ = ["Tree", "centres", "distinctness"]

Numbers = NDArray[Any]

_COLUMNS = 64  # smoothed rows lie in few directions, and the tree costs what there are columns
_MANY = 500  # rows from which on that matters
_BLOCK = 10_000  # rows that are compared at a time
_GRID = 40  # numbers of groups that are tried
_ENOUGH = 0.98  # what is nearly as well as the best, when few groups are wanted
_NEARLY = 0.92  # and when many are


class Tree:
    """Rows joined two by two by Ward's rule, from single ones to all."""

    def __init__(self, smooth: Numbers) -> None:
        hierarchy = need("scipy.cluster.hierarchy")
        if smooth.shape[1] > _COLUMNS and len(smooth) > _MANY:
            rows = smooth - smooth.mean(axis=0)
            _, axes = np.linalg.eigh((rows.T @ rows).astype(np.float64))
            smooth = rows @ axes[:, ::-1][:, :_COLUMNS].astype(np.float32)
        self._size = len(smooth)
        self._joined = hierarchy.linkage(smooth, "ward")[:, :2].astype(np.int64)

    def labels(self, groups: int) -> Numbers:
        """The group of each row when there are so many; groups are numbered in the order of their first rows."""
        return self._cuts([groups])[0]

    def _cuts(self, counts: list[int]) -> list[Numbers]:
        """The labels at each of these numbers of groups. scipy's cut_tree does the same row by row, and slowly."""
        size = self._size
        order = sorted(set(counts), reverse=True)
        root = np.arange(2 * size - 1)  # of each row and each join, the join it is in by now
        made: dict[int, Numbers] = {}
        done = 0
        for groups in order:
            upto = max(0, size - groups)
            for at in range(done, upto):
                root[self._joined[at]] = size + at
            done = max(done, upto)
            settled = root.copy()
            while True:
                further = settled[settled]
                if np.array_equal(further, settled):
                    break
                settled = further
            _, first, numbers = np.unique(settled[:size], return_index=True, return_inverse=True)
            place = np.empty(len(first), np.int64)
            place[np.argsort(first)] = np.arange(len(first))
            made[groups] = place[numbers]
        return [made[groups] for groups in counts]

    def best(self, rows: Numbers, fewest: int, most: int, *, many: bool = False) -> tuple[Numbers, float]:
        """The cut at which rows are told apart best, and how well: see `distinctness`.

        Of numbers of groups that do nearly as well the smallest is taken, or with ``many`` the largest.
        """
        counts = sorted({round(count) for count in np.geomspace(fewest, max(fewest, most), _GRID)})
        cuts = self._cuts(counts)
        tried = [float(distinctness(rows, labels).mean()) for labels in cuts]
        top = max(tried)
        enough = top - (1 - (_NEARLY if many else _ENOUGH)) * abs(top)
        good = [at for at, value in enumerate(tried) if value >= enough]
        chosen = good[-1] if many else good[0]
        return cuts[chosen], tried[chosen]


def centres(rows: Numbers, labels: Numbers, groups: int) -> Numbers:
    """The sum of the rows of each group."""
    sums = np.zeros((groups, rows.shape[1]), np.float32)
    order = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[order], np.arange(groups))
    there = np.bincount(labels, minlength=groups) > 0
    sums[there] = np.add.reduceat(rows[order], firsts[there], axis=0)
    return sums


def distinctness(rows: Numbers, labels: Numbers) -> Numbers:
    """How much nearer each row is to the centre of its group than to the next best centre, from -1 to 1.

    It is a silhouette by centres; a centre on the opposite side is no farther than one that is unrelated. The row
    itself does not count towards its centre, so groups of one gain nothing.
    """
    sums = centres(rows, labels, int(labels.max()) + 1)
    middle = unit(sums).T
    made = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), _BLOCK):
        some, theirs = rows[start : start + _BLOCK], labels[start : start + _BLOCK]
        near = some @ middle
        near[np.arange(len(some)), theirs] = -2
        other = 1 - np.maximum(near.max(axis=1), 0)
        own = 1 - np.einsum("ij,ij->i", some, unit(sums[theirs] - some))
        made[start : start + _BLOCK] = (other - own) / np.maximum(np.maximum(other, own), 1e-6)
    made[np.bincount(labels)[labels] < 2] = 0
    return made
