"""Hubs: nodes with more neighbours than the others lead to expect.

The degrees of nine nodes in ten are taken for a draw from a negative binomial distribution (links that come by chance
to nodes that are more or less sought after); of the rest only that they lie above is used. All such distributions
count, each as far as it fits, so little data leaves much open. What they expect above a degree, beside what is found
there, is the share of nodes that are no hubs though they look like it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["FEWEST", "Hub", "hubs"]

Numbers = NDArray[Any]

FEWEST = 10
"""Nodes with neighbours that there must be; fewer say nothing about what is usual."""

_BODY = 0.9  # of the nodes; hubs are rarer than one in ten
_LEAST = 5  # neighbours of a hub
_TIMES = 2  # the neighbours of a node in the middle
_MEANS, _SIZES = 40, 24  # steps of the grid over distributions
_WIDEST, _NARROWEST = 0.05, 100.0  # the shape, from nearly logarithmic to nearly Poisson


class Hub(NamedTuple):
    """A node with many neighbours, and how sure it is that this is out of the ordinary."""

    node: int
    degree: int
    expected: float
    found: int
    confidence: float


def hubs(degrees: Numbers, most: int, least: float, always: int = -1) -> list[Hub]:
    """The nodes with the most neighbours, up to so many and ``always``, where it is so sure that they are hubs."""
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
    told = []
    for node in dict.fromkeys([*order[:most], *(node for node in order if node == always)]):
        degree = int(degrees[node])
        expected, found = len(held) * float(above[degree]), int((held >= degree).sum())
        sure = max(0.0, 1.0 - expected / found)
        if sure >= least:
            told.append(Hub(node, degree, expected, found, sure))
    return told


def _above(held: Numbers, middle: int) -> Numbers:
    """For each number of neighbours, the chance of having so many or more, given the degrees up to ``middle``."""
    top = int(held.max())
    counts = np.bincount(held[held <= middle], minlength=middle + 1)[1:]
    beyond = len(held) - int(counts.sum())
    means = np.geomspace(0.05, 2.0 * middle + 1.0, _MEANS)
    weights, tails = [], []
    steps = np.arange(top)
    for shape in np.geomspace(_WIDEST, _NARROWEST, _SIZES):
        for mean in means:
            share = mean / (mean + shape)
            # log P(j + 1) - log P(j), from P(0) on
            rise = np.log((steps + shape) / (steps + 1)) + np.log(share)
            chances = np.exp(shape * np.log1p(-share) + np.cumsum(rise))
            linked = -np.expm1(shape * np.log1p(-share))
            chances = chances / linked  # of those that have neighbours at all
            rest = max(0.0, 1.0 - float(chances.sum()))
            tail = np.cumsum(chances[::-1])[::-1] + rest
            over = float(tail[middle]) if middle < top else rest
            with np.errstate(divide="ignore"):
                fit = float((counts * np.log(chances[:middle])).sum()) + (beyond * np.log(over) if beyond else 0.0)
            weights.append(fit)
            tails.append(tail)
    believed = np.exp(np.array(weights) - max(weights))
    believed /= believed.sum()
    above: Numbers = np.concatenate([[1.0], believed @ np.array(tails)])
    return above
