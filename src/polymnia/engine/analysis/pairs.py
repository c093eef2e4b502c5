"""Pairs: vectors or texts that are close to each other, found without comparing all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[Any]
Pairs = Numbers
"""Two columns of row numbers, the smaller first."""

_WINDOW = 8  # members of a block that each is paired with
_NEAREST = 6  # of a row
_EXACT = 20_000  # rows up to which all are compared; of more, those with the same hash of signs
_TABLES, _SIGNS = 12, 16
_SEED = 20_240
_COMPARED = 1000  # rows compared with all others at once
_STEP = 10_000  # pairs compared at once: some tens of megabytes


def neighbours(rows: Numbers, among: Numbers, most: int, *, same: bool) -> tuple[Numbers, Numbers]:
    """The nearest of ``among`` for each row, and their cosines; if both are the ``same``, none is its own."""
    size = len(rows)
    found = np.zeros((size, most), np.int64)
    near = np.zeros((size, most), np.float32)
    for start in range(0, size, _COMPARED):
        close = rows[start : start + _COMPARED] @ among.T
        if same:
            at = np.arange(len(close))
            close[at, at + start] = -2
        best = np.argpartition(-close, most - 1, axis=1)[:, :most]
        found[start : start + _COMPARED] = best
        near[start : start + _COMPARED] = np.take_along_axis(close, best, 1)
    return found, np.maximum(near, 0)


def nearest(vectors: Numbers) -> tuple[Pairs, Numbers]:
    """The pairs of each vector with its nearest ones, and their cosines."""
    if len(vectors) < 2:
        return np.zeros((0, 2), np.int64), np.zeros(0, np.float32)
    if len(vectors) > _EXACT:
        signs = vectors > vectors.mean(axis=0)
        draw = np.random.default_rng(_SEED)
        blocks = []
        for table in range(_TABLES):
            chosen = draw.choice(signs.shape[1], min(_SIGNS, signs.shape[1]), replace=False)
            blocks.append((signs[:, chosen] @ (1 << np.arange(len(chosen)))) | (table << 40))
        pairs = together(np.concatenate(blocks), np.tile(np.arange(len(vectors)), _TABLES))
    else:
        many = min(_NEAREST, len(vectors) - 1)
        found = neighbours(vectors, vectors, many, same=True)[0].ravel()
        rows = np.repeat(np.arange(len(vectors)), many)
        pairs = decoded(np.unique(encoded(rows, found)))
    return pairs, cosines(vectors, pairs)


def cosines(vectors: Numbers, pairs: Pairs) -> Numbers:
    """The cosine of each pair."""
    found = np.zeros(len(pairs), np.float32)
    for start in range(0, len(pairs), _STEP):
        some = pairs[start : start + _STEP]
        found[start : start + _STEP] = np.einsum("ij,ij->i", vectors[some[:, 0]], vectors[some[:, 1]])
    return found


def together(blocks: Numbers, members: Numbers) -> Pairs:
    """The pairs of members that are close to each other in one block."""
    order = np.lexsort((members, blocks))
    blocks, members = blocks[order], members[order]
    found = [np.zeros(0, np.int64)]
    for distance in range(1, _WINDOW + 1):
        same = blocks[distance:] == blocks[:-distance]
        found.append(encoded(members[:-distance][same], members[distance:][same]))
    return decoded(np.unique(np.concatenate(found)))


def encoded(one: Numbers, other: Numbers) -> Numbers:
    """Each pair as one number, with the smaller row in the upper half."""
    codes: Numbers = np.minimum(one, other) << 32 | np.maximum(one, other)
    return codes


def decoded(codes: Numbers) -> Pairs:
    """The pairs of such numbers, without pairs of a row with itself."""
    pairs = np.stack((codes >> 32, codes & 0xFFFFFFFF), axis=1)
    apart: Pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return apart
