"""Smoothing: each row drawn towards its nearest neighbours, so that groups stand out from what lies between them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.extra import need
from polymnia.engine.analysis.topics.features import unit
from polymnia.engine.analysis.topics.tree import centres

__all__ = ["Neighbours", "laid_on", "near_groups", "neighbours", "smoothed"]

Numbers = NDArray[Any]
Neighbours = tuple[Numbers, Numbers]
"""For each row the numbers of its nearest rows, and how near they are."""

_ROUNDS = 4
_BLOCK = 1000
_GROUPS = 8  # groups whose members are looked through


def neighbours(rows: Numbers, among: Numbers, most: int, *, same: bool) -> Neighbours:
    """The nearest of ``among`` for each row. ``same``: both are the same rows, and none is its own neighbour."""
    size = len(rows)
    found = np.zeros((size, most), np.int64)
    near = np.zeros((size, most), np.float32)
    for start in range(0, size, _BLOCK):
        close = rows[start : start + _BLOCK] @ among.T
        if same:
            at = np.arange(len(close))
            close[at, at + start] = -2
        best = np.argpartition(-close, most - 1, axis=1)[:, :most]
        found[start : start + _BLOCK] = best
        near[start : start + _BLOCK] = np.take_along_axis(close, best, 1)
    return found, np.maximum(near, 0)


def near_groups(rows: Numbers, among: Numbers, labels: Numbers, most: int) -> Neighbours:
    """Nearly the same for many rows: the nearest of those that belong to the groups nearest to a row's best group."""
    groups = int(labels.max()) + 1
    middle = unit(centres(among, labels, groups))
    best = np.concatenate(
        [(rows[start : start + _BLOCK] @ middle.T).argmax(axis=1) for start in range(0, len(rows), _BLOCK)]
    )
    order = np.argsort(-(middle @ middle.T), axis=1)
    found = np.zeros((len(rows), most), np.int64)
    near = np.zeros((len(rows), most), np.float32)
    for group in np.unique(best):
        theirs = np.flatnonzero(best == group)
        there = np.flatnonzero(np.isin(labels, order[group, :_GROUPS]))
        if len(there) < most:
            there = np.arange(len(among))
        which, close = neighbours(rows[theirs], among[there], most, same=False)
        found[theirs], near[theirs] = there[which], close
    return found, near


def smoothed(rows: Numbers, nearest: Neighbours) -> Numbers:
    """Rows after a few steps along the graph of neighbours; of unit length."""
    sparse = need("scipy.sparse")
    found, near = nearest
    size, most = found.shape
    ends = np.arange(0, size * most + 1, most)
    graph = sparse.csr_matrix((near.ravel(), found.ravel(), ends), shape=(size, size))
    graph = graph + graph.T + sparse.identity(size, dtype=np.float32, format="csr")
    share = sparse.diags(1 / np.sqrt(np.asarray(graph.sum(axis=1)).ravel()))
    step = (share @ graph @ share).astype(np.float32)
    for _ in range(_ROUNDS):
        rows = step @ rows
    return unit(rows)


def laid_on(nearest: Neighbours, smooth: Numbers) -> Numbers:
    """Where further rows would stand among smoothed ones: the mean of their neighbours, weighted by nearness."""
    found, near = nearest
    made = np.zeros((len(found), smooth.shape[1]), np.float32)
    for column in range(found.shape[1]):
        made += near[:, column, None] * smooth[found[:, column]]
    return unit(made)
