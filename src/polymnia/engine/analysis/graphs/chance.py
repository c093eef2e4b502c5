"""Chance: how sure a finding is, by how often networks made by chance show one like it.

Whatever is measured in a network is measured in its twins too, in which only the degrees are the same. The twins say
how many things as outstanding are to be expected by chance; beyond what they show, their tail is taken to fall off
exponentially. Expected over found is what a p value is after correcting for all that was looked at (the method of
Benjamini and Hochberg), and :func:`belief` says how sure that makes the finding.
"""

from __future__ import annotations

from collections.abc import Callable
from math import e, log
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.graphs.bridges import Cut, betweenness, cuts
from polymnia.engine.analysis.graphs.communities import Community, communities, modularity
from polymnia.engine.analysis.graphs.network import Network, twin

__all__ = ["WAYS", "Chance", "belief", "by_chance", "certainty", "joining", "keeping", "losing"]

Numbers = NDArray[Any]

WAYS = 0.02
"""Of the shortest ways, the share that must go through a record to count."""

_SMALLEST = 4  # members of a community; fewer come about by chance everywhere
_MOST, _LEAST = 30, 2  # twins; a network of many links has many findings to compare with in each of them
_LINKS = 150_000  # in all twins together, about
_TAIL, _FEWEST = 0.1, 10  # the share of what the twins show that its tail is fitted to, and how much at least


class Chance(NamedTuple):
    """What the twins of a network show, each measure of all of them together."""

    twins: int
    modularity: float
    communities: Numbers
    cuts: Numbers
    link_cuts: Numbers
    ways: Numbers


def by_chance(network: Network, tick: Callable[[int, int], None]) -> Chance:
    """Measure networks in which every node has as many neighbours as in this one, and all else is chance."""
    twins = max(_LEAST, min(_MOST, _LINKS // max(1, network.links)))
    kept: list[Numbers] = []
    lost: list[Numbers] = []
    by_link: list[Numbers] = []
    ways: list[Numbers] = []
    total = 0.0
    done = 0

    def step() -> None:
        tick(done, twins)

    for done in range(twins):
        step()
        other = twin(network, done + 1)
        found = communities(other, step)
        total += modularity(other, found)
        kept.append(keeping(other, found)[1])
        apart = cuts(other, step)
        lost.append(losing(apart.by_node)[1])
        by_link.append(losing(apart.by_link)[1])
        ways.append(joining(other, betweenness(other, step))[1])
    return Chance(
        twins, total / twins, np.concatenate(kept), np.concatenate(lost), np.concatenate(by_link), np.concatenate(ways),
    )  # fmt: skip


def keeping(network: Network, found: list[Community]) -> tuple[list[Community], Numbers]:
    """The communities that may be told, and of each the share of links that stay inside, and its size in links.

    One that nothing joins to the rest is no community but a group apart.
    """
    whole = {part[0]: len(part) for part in network.components}
    told = [one for one in found if len(one.nodes) >= _SMALLEST and whole.get(one.nodes[0]) != len(one.nodes)]
    return told, np.array([[one.share, log(one.ends)] for one in told]).reshape(-1, 2)


def losing(found: list[Cut]) -> tuple[list[Cut], Numbers]:
    """The cuts that may be told, and of each how many would be lost (as a logarithm: few cut off much)."""
    told = [one for one in found if one.lost > 1]
    return told, np.log(np.array([[one.lost] for one in told], float).reshape(-1, 1))


def joining(network: Network, ways: Numbers) -> tuple[Numbers, Numbers]:
    """The nodes that many shortest ways go through, and of each how many, and its degree (both as logarithms)."""
    nodes = np.flatnonzero(ways >= WAYS)
    return nodes, np.log(np.stack([ways[nodes], network.degrees[nodes].astype(float)], axis=1))


def certainty(found: Numbers, made: Numbers, twins: int) -> Numbers:
    """The confidence of each row of ``found``; ``made`` has the rows of all twins.

    The first column is what is outstanding. A second is what it goes along with anyway, which is allowed for.
    """
    if not len(found):
        return np.zeros(0)
    if found.shape[1] > 1 and len(made) > _FEWEST:
        span = made[:, 1].min(), made[:, 1].max()
        slope, base = np.polyfit(made[:, 1], made[:, 0], 1) if span[1] > span[0] else (0.0, 0.0)
        found = found[:, 0] - slope * np.clip(found[:, 1], *span) - base
        made = made[:, 0] - slope * made[:, 1] - base
    else:
        found, made = found[:, 0], made[:, 0]
    expected = _expected(found, np.sort(made), twins)
    order = np.argsort(found, kind="stable")
    like = len(found) - np.searchsorted(found[order], found[order], side="left")
    least = np.minimum.accumulate(expected[order] / like)
    sure = np.empty(len(found))
    sure[order] = [belief(float(one)) for one in least]
    return sure


def _expected(found: Numbers, made: Numbers, twins: int) -> Numbers:
    """How many as outstanding as each of the found ones a network made by chance has."""
    counted: Numbers = (len(made) - np.searchsorted(made, found, side="left") + 1) / (twins + 1)
    tail = max(_FEWEST, int(_TAIL * len(made)))
    if len(made) < 2 * _FEWEST:
        return counted
    start = float(made[-tail])
    fall = float((made[-tail:] - start).mean())
    if fall <= 0:
        return counted
    beyond = tail / twins * np.exp(-np.maximum(0.0, found - start) / fall)
    return np.where(found > made[-1], np.minimum(counted, beyond), counted)


def belief(p: float) -> float:
    """How sure a finding with this p value is, if it was as likely to be there as not.

    A p value of .05 is weak evidence: the bound of Sellke, Bayarri and Berger (2001) on what it can say makes it .71.
    """
    if p <= 0.0:
        return 1.0
    if p >= 1 / e:
        return 0.5 * max(0.0, 1 - p) / (1 - 1 / e)
    against = -e * p * log(p)
    return 1 / (1 + against)
