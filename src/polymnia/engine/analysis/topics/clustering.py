"""Clustering: groups of texts about the same thing. How many there are is found, not given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from polymnia.engine.analysis.topics.certainty import chance, cohesion, held, lonely, stability
from polymnia.engine.analysis.topics.features import features, unit
from polymnia.engine.analysis.topics.smoothing import laid_on, near_groups, neighbours, smoothed
from polymnia.engine.analysis.topics.tree import Tree, centres, distinctness

__all__ = ["FEWEST", "Clustering", "cluster"]

Numbers = NDArray[Any]

FEWEST = 6
"""So many different texts are needed to speak of groups."""
_UNITS = 6000  # texts that are grouped with each other; all others join the groups of those
_FEW = 20  # below this a pair may be a group, and groups may be many
_NEAREST = 10
_GROUPED = 8  # groups from which on they can be grouped again
_ABOVE = 6  # nearest groups a group is drawn towards, when groups are grouped
_SEED = 11


class Clustering(Struct, frozen=True, kw_only=True):
    """Groups of texts.

    ``labels`` has a group for each text, 0 the largest, -1 where there are no groups. ``outlier`` marks those that fit
    nowhere, whose group is only the nearest; ``lonely`` is the share of them that is more than chance. ``nearness`` is
    how near a text is to the middle of its group (-1 to 1).

    For each group: ``sizes`` without outliers; ``cohesion`` (0-1, see `certainty.cohesion`); ``stability`` (0-1), how
    well it is found again in a part of the texts; ``apart`` (-1 to 1), how much nearer its texts are to its own middle
    than to the next; ``parents``, the group of groups it belongs to, all 0 where there is only one. ``steady`` is the
    stability of each of those. ``chance`` is how well apart groups would be where there are none.
    """

    labels: Numbers
    outlier: Numbers
    lonely: float
    nearness: Numbers
    sizes: Numbers
    cohesion: Numbers
    stability: Numbers
    apart: Numbers
    parents: Numbers
    steady: Numbers
    chance: float

    @property
    def groups(self) -> int:
        """How many groups there are."""
        return len(self.sizes)


def cluster(
    vectors: Numbers | None, texts: Sequence[str], tick: Callable[[], None] = lambda: None, *, units: int = _UNITS
) -> Clustering:
    """Group texts by what they are about.

    ``vectors`` are rows of any model, zeros for texts without one; None where there is no model. Texts that say the
    same but for case and spaces count once. ``tick`` is called now and then. Of more than ``units`` texts so many are
    grouped, and the others join them.
    """
    first, which = _different(texts)
    size = len(first)
    if size < FEWEST:
        return _none(len(texts), same=size == 1 and len(texts) > 1)
    rows = features(None if vectors is None else vectors[first], [texts[at] for at in first], tick)
    chosen = np.sort(np.random.default_rng(_SEED).permutation(size)[:units])
    some = rows[chosen]
    tick()
    most = min(_NEAREST, max(2, int(len(some) ** 0.5 / 2)))
    nearest = neighbours(some, some, most, same=True)
    smooth = smoothed(some, nearest)
    tick()
    labels, _ = Tree(smooth).best(some, 2, len(some) // (2 if size < _FEW else 3))
    tick()
    kept = np.flatnonzero(np.bincount(labels) >= (2 if size < _FEW else 3))
    if not len(kept):
        return _none(len(texts), same=False)
    middle = unit(centres(smooth, labels, int(labels.max()) + 1)[kept])
    labels = (smooth @ middle.T).argmax(axis=1)
    stable = stability(some, labels, len(kept), most, tick)
    by_chance = chance(some, most, tick)
    near = np.zeros(size, np.float32)
    near[chosen] = nearest[1].mean(axis=1)
    whole = np.zeros(size, np.int64)
    whole[chosen] = labels
    others = np.setdiff1d(np.arange(size), chosen, assume_unique=True)
    if len(others):
        found = near_groups(rows[others], some, labels, most)
        whole[others] = (laid_on(found, smooth) @ middle.T).argmax(axis=1)
        near[others] = found[1].mean(axis=1)
        tick()
    return _told(rows, whole, near, stable, by_chance, which)


def _told(
    rows: Numbers, labels: Numbers, close: Numbers, stable: Numbers, by_chance: float, which: Numbers
) -> Clustering:
    """The groups, the largest first, with what is measured of them."""
    alone, sure = lonely(close)
    groups = len(stable)
    sizes = np.bincount(labels[which], weights=~alone[which], minlength=groups).astype(np.int64)
    order = np.argsort(-sizes, kind="stable")
    place = np.empty(groups, np.int64)
    place[order] = np.arange(groups)
    labels = place[labels]
    near = held(rows, labels, groups)
    apart = distinctness(rows, labels)
    there = np.maximum(1, np.bincount(labels, minlength=groups))
    parents, steady = _parents(rows, labels, groups)
    return Clustering(
        labels=labels[which],
        outlier=alone[which],
        lonely=sure,
        nearness=near[which],
        sizes=sizes[order],
        cohesion=cohesion(rows, labels, near, groups),
        stability=stable[order],
        apart=np.bincount(labels, weights=apart, minlength=groups) / there,
        parents=parents,
        steady=steady,
        chance=by_chance,
    )


def _parents(rows: Numbers, labels: Numbers, groups: int) -> tuple[Numbers, Numbers]:
    """Groups of groups, by the same rules, and their stability; all 0 where there are too few groups."""
    if groups < _GROUPED:
        return np.zeros(groups, np.int64), np.ones(1)
    middle = unit(centres(rows, labels, groups))
    middle = unit(middle - middle.mean(axis=0))
    smooth = smoothed(middle, neighbours(middle, middle, _ABOVE, same=True))
    found, _ = Tree(smooth).best(middle, 2, groups // 3, many=True)
    found = found.astype(np.int64)
    return found, stability(middle, found, int(found.max()) + 1, _ABOVE)


def _different(texts: Sequence[str]) -> tuple[Numbers, Numbers]:
    """The numbers of the first of equal texts, and for each text which of those it is."""
    known: dict[str, int] = {}
    which = np.array([known.setdefault(" ".join(text.split()).casefold(), len(known)) for text in texts], np.int64)
    first = np.full(len(known), len(texts), np.int64)
    np.minimum.at(first, which, np.arange(len(texts)))
    return first, which


def _none(size: int, *, same: bool) -> Clustering:
    """No groups; or one, where all texts are the same."""
    groups = int(same)
    ones = np.ones(groups)
    return Clustering(
        labels=np.full(size, groups - 1, np.int64),
        outlier=np.full(size, not same),
        lonely=0.0,
        nearness=np.full(size, float(same), np.float32),
        sizes=np.full(groups, size, np.int64),
        cohesion=ones,
        stability=ones,
        apart=ones,
        parents=np.zeros(groups, np.int64),
        steady=ones,
        chance=0.0,
    )
