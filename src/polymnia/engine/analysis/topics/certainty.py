"""Certainty: whether a group of texts is more than chance, by finding it again and by comparing it with no groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.topics.features import unit
from polymnia.engine.analysis.topics.smoothing import neighbours, smoothed
from polymnia.engine.analysis.topics.tree import Tree, centres

__all__ = ["chance", "cohesion", "held", "lonely", "stability"]

Numbers = NDArray[Any]

_ROUNDS, _MANY, _FEWER = 8, 1500, 3  # samples; and of how many texts on fewer samples do
_SMALL, _TIMES = 300, 6  # up to so many texts so many times as many draws: they cost little there, and luck weighs more
_SHARE = 0.7  # of the texts in each sample
_DRAWS = 20  # random groups of each size
_NULL = 1000  # rows that are mixed
_MIXED = 3  # so many times
_FENCE = 1.0  # how many times the width of the middle half a text must lie below it
_BY_CHANCE = 0.0215  # the share of a bell curve below that
_FAR = 0.75  # and it must be less near than this share of what is usual
_LITTLE = 0.3
_FARTHEST = 0.01  # what is less near than this is not near at all
_SEED = 23


def stability(
    rows: Numbers, labels: Numbers, groups: int, most: int, tick: Callable[[], None] = lambda: None
) -> Numbers:
    """How well each group is found again when part of the texts is grouped anew: the mean Jaccard index, 0-1."""
    random = np.random.default_rng(_SEED)
    size = max(3, round(_SHARE * len(rows)))
    sums = np.zeros(groups)
    times = np.zeros(groups)
    for _ in range((_ROUNDS if len(rows) <= _MANY else _FEWER) * _more(rows)):
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
        sums[seen] += best[seen]
        times[seen] += 1
    made: Numbers = np.divide(sums, times, out=np.zeros(groups), where=times > 0)
    return made


def _more(rows: Numbers) -> int:
    return _TIMES if len(rows) <= _SMALL else 1


def chance(rows: Numbers, most: int, tick: Callable[[], None] = lambda: None) -> float:
    """How well apart the groups are that the same rules find where there are none, -1 to 1.

    Rows without groups are made of the rows themselves: each number is drawn from another row.
    """
    random = np.random.default_rng(_SEED)
    some = rows[np.sort(random.permutation(len(rows))[:_NULL])]
    found = []
    for _ in range(_MIXED * _more(rows)):
        tick()
        mixed = unit(np.column_stack([random.permutation(column) for column in some.T]))
        tree = Tree(smoothed(mixed, neighbours(mixed, mixed, most, same=True)))
        found.append(tree.best(mixed, 2, max(2, len(mixed) // 3))[1])
    return float(np.mean(found))


def held(rows: Numbers, labels: Numbers, groups: int) -> Numbers:
    """How near each row is to the middle of the others of its group, -1 to 1."""
    sums = centres(rows, labels, groups)
    made = np.zeros(len(rows), np.float32)
    for start in range(0, len(rows), 10_000):
        part = slice(start, start + 10_000)
        made[part] = np.einsum("ij,ij->i", rows[part], unit(sums[labels[part]] - rows[part]))
    return made


def cohesion(rows: Numbers, labels: Numbers, near: Numbers, groups: int) -> Numbers:
    """How much of what random texts lack the texts of each group have together, 0-1.

    It is the mean nearness of texts to the middle of the others of their group, on a scale on which random groups of
    the same size are 0 and groups of equal texts 1.
    """
    random = np.random.default_rng(_SEED)
    made = np.zeros(groups)
    sizes = np.bincount(labels, minlength=groups)
    chance: dict[int, float] = {}
    for group, size in enumerate(sizes):
        if size < 2:
            continue
        about = min(1024, 1 << int(np.log2(size)))  # sizes that differ little have one measure
        if about not in chance:
            draws = [random.choice(len(rows), min(about, len(rows)), replace=False) for _ in range(_DRAWS)]
            zeros = np.zeros(min(about, len(rows)), np.int64)
            chance[about] = float(np.mean([held(rows[draw], zeros, 1).mean() for draw in draws]))
        mean = float(near[labels == group].mean())
        made[group] = min(1.0, max(0.0, (mean - chance[about]) / max(1e-6, 1 - chance[about])))
    return made


def lonely(near: Numbers) -> tuple[Numbers, float]:
    """Which texts are far from everything, given how near each is to its nearest neighbours; and how sure that is.

    The logarithm of nearness is compared with that of all: below the lower quarter by more than the middle half is
    wide, and a quarter below the median. A bell curve as wide has a known share there; what is found beyond that share
    is the share that is right. Where that is little, no text counts as lonely.
    """
    told = np.log(np.maximum(near, _FARTHEST))
    low, high = np.quantile(told, (0.25, 0.75))
    made: Numbers = (told < low - _FENCE * (high - low)) & (near < _FAR * np.median(near))
    found = int(made.sum())
    right = 1 - _BY_CHANCE * len(near) / max(1, found)
    if not found or right < _LITTLE:
        return np.zeros(len(near), bool), 0.0
    return made, right
