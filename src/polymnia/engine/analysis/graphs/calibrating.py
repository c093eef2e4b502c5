"""Calibrating: from what is known of a thing to how often such a thing is what it is taken for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scale", "scale"]

Numbers = NDArray[Any]

_HITS = 5  # fewer say nothing
_RIDGE = 1.0
_STEPS = 50
_STRIDE = 1.0  # what a weight changes by in one step at most: with hardly any hits there is no best one to run to
_BEST, _FEW = 0.01, 50  # the things whose scores matter: those of the highest ones
_PRIOR = 5.0  # things of the usual kind that every step of the scale begins with


class Scale(NamedTuple):
    """A score and what it means: from each border on, the share of things that were hits when that was tried.

    ``tried`` things had ``hits`` among them. ``margin`` is by how much a score may be off, having been learnt from what
    happened to be there; it is taken off.
    """

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
        """How often things like each row were hits."""
        at = np.searchsorted(self.borders, self.score(traits) - self.margin, side="right") - 1
        found: Numbers = self.shares[np.maximum(at, 0)]
        return found


def scale(traits: Numbers, hits: Numbers, folds: Numbers) -> Scale | None:
    """Learn a score and what it means; None where there are too few hits.

    The score is a logistic regression. What it means is read off things that it was not learnt from: those of the even
    folds are scored by what the odd ones taught, and the other way round.
    """
    if hits.sum() < _HITS or hits.all():
        return None
    middle = traits.mean(axis=0)
    spread = np.where(traits.std(axis=0) > 0, traits.std(axis=0), 1.0)
    design = _design(traits, middle, spread)
    held = np.zeros(len(hits))
    for side in (0, 1):
        told = folds % 2 == side
        if not hits[~told].any() or not told.any():
            return None
        held[told] = design[told] @ _learnt(design[~told], hits[~told])
    borders, shares = _steps(held, hits)
    weights = _learnt(design, hits)
    scores = design @ weights
    best = np.argsort(-scores, kind="stable")[: max(_FEW, int(_BEST * len(hits)))]
    margin = float(np.abs(scores - held)[best].mean())
    return Scale(weights, middle, spread, margin, borders, shares, len(hits), int(hits.sum()))


def _design(traits: Numbers, middle: Numbers, spread: Numbers) -> Numbers:
    return np.concatenate([(traits - middle) / spread, np.ones((len(traits), 1))], axis=1)


def _learnt(design: Numbers, hits: Numbers) -> Numbers:
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
    """Shares of hits that never fall as the score rises (isotonic regression), each leaning towards the usual share."""
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
