"""Borders: from which chance on the engine acts on what the judge says of two texts. All of them are here.

``python -m bench.analysis.conflicts --fit`` measures them anew for other weights and prints this table.
"""

from __future__ import annotations

from math import exp, log
from typing import NamedTuple

__all__ = ["COPY", "NAMED", "PROJECT", "SAME", "Border"]


class Border(NamedTuple):
    """How what is known of two texts becomes the share of such pairs that clash, or are the same, and from where on.

    The judge has learned on pairs of which a third clash, and all are about one thing. Of the pairs that an index
    brings together far fewer do. So the log odds that the judge gives, how ``near`` the vectors of the two are and how
    much of their words is ``shared`` are weighed anew for each use.
    """

    judged: float
    near: float
    shared: float
    shift: float
    medium: float
    apart: float = 0.0
    """Statements that share less, by meaning and by words, are about different things, whatever the judge says."""

    def confidence(self, chance: float, near: float | None, shared: float) -> float:
        """How many pairs are so of which the judge gives this chance; None is for texts without vectors."""
        if near is None:
            near = shared
        elif max(near, shared) < self.apart:
            return 0.0
        chance = min(max(chance, 1e-4), 1 - 1e-4)
        odds = self.judged * log(chance / (1 - chance)) + self.near * near + self.shared * shared + self.shift
        return 1 / (1 + exp(-min(max(odds, -30.0), 30.0)))


NAMED = Border(judged=1.01, near=1.72, shared=-0.69, shift=-0.37, medium=0.25, apart=0.2)
"""For items that a caller names together."""

PROJECT = Border(judged=0.93, near=2.93, shared=3.98, shift=-3.89, medium=0.7)
"""For pairs that were found in a project."""

SAME = Border(judged=1.0, near=6.47, shared=-4.0, shift=-1.31, medium=0.97)
"""From where on a stored memory is named as saying the same as a new one."""

COPY = SAME._replace(medium=0.995)
"""The same for advice to keep one of two memories."""
