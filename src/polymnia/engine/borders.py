"""Borders: from which chance on the engine acts on what the judge says of two texts. All of them are here.

``python -m bench.analysis.conflicts --fit`` measures them anew for other weights and prints this table.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

from polymnia.engine.ports.models import Judgement

__all__ = ["AMONG", "COPY", "NAMED", "PROJECT", "SAME", "Border"]

_HIGH, _LOW = 0.3, 0.8
_ITEMS = 500  # of the projects in which borders were fitted
_FEW = 50  # items: with fewer a project is no safer than with so many


class Border(NamedTuple):
    """How what is known of two texts becomes the share of such pairs that clash, or are the same, and from where on.

    The judge has learned on pairs of which a third clash, and all are about one thing. Of the pairs that an index
    brings together far fewer do. So the log odds that the judge gives, how ``near`` the vectors of the two are and how
    much of their words is ``shared`` are weighed anew for each use. ``medium`` is how sure one must be at medium
    sensitivity.
    """

    judged: float
    near: float
    shared: float
    shift: float
    medium: float
    apart: float = 0.0
    """Statements that share less, by meaning and by words, are about different things, whatever the judge says."""
    crowd: float = 0.0
    """What each e-fold of the items beyond 500 adds: the more there are, the more are near to each other by chance."""
    weak: Border | None = None
    """The border for what a weaker network has read, where that is another one."""

    def of(self, judgement: Judgement) -> Border:
        """The border for what was judged."""
        return self if judgement.strong or self.weak is None else self.weak

    def level(self, sensitivity: str) -> float:
        """How sure one must be."""
        return {"high": min(_HIGH, self.medium), "medium": self.medium, "low": max(_LOW, self.medium)}[sensitivity]

    def confidence(self, chance: float, near: float | None, shared: float, among: int = _ITEMS) -> float:
        """How many pairs are so of which the judge gives this chance; None is for texts without vectors.

        ``among`` is the number of items that the two were found in.
        """
        if near is None:
            near = shared
        elif max(near, shared) < self.apart:
            return 0.0
        chance = min(max(chance, 1e-4), 1 - 1e-4)
        odds = self.judged * log(chance / (1 - chance)) + self.near * near + self.shared * shared + self.shift
        odds += self.crowd * log(max(among, _FEW) / _ITEMS)
        return 1 / (1 + exp(-min(max(odds, -30.0), 30.0)))


NAMED = Border(judged=0.96, near=0.18, shared=-0.77, shift=0.31, medium=0.4, apart=0.1)
"""For two items that a caller names together."""

AMONG = NAMED._replace(medium=0.5, apart=0.2)
"""For several: most two of them have nothing to do with each other."""

PROJECT = Border(
    judged=0.91, near=2.41, shared=1.07, shift=-2.29, medium=0.5, crowd=-0.27,
    weak=Border(judged=0.97, near=3.09, shared=3.83, shift=-3.82, medium=0.37, crowd=-0.44),
)  # fmt: skip
"""For pairs that were found in a project."""

SAME = Border(judged=0.97, near=5.04, shared=-3.54, shift=-0.49, medium=0.95)
"""From where on a stored memory is named as saying the same as a new one."""

COPY = SAME._replace(medium=0.975)
"""The same for advice to keep one of two memories."""
