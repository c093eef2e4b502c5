"""Trust: how sure a relation is that nobody drew by hand, and which types say the same as others."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection

__all__ = ["ALIKE", "SYMMETRIC", "inverse", "trust", "widened"]

ALIKE = frozenset({"similar_to", "related_to", "associated_with"})
"""Types that say that two records are about the same, and no more."""
SYMMETRIC = ALIKE
"""Types that say the same from either end."""

_BY_MEANING = frozenset({"similar_to", "associated_with"})
_INVERSE = {"contains": "part_of", "part_of": "contains", "follows": "precedes", "precedes": "follows"}
# Of pairs of sentences with this similarity, the share that people place at "about the same topic" or closer (graded
# 2.5 or more of 5), English and Korean together; see docs/decisions/0027-graphs.md.
_KNOTS = (0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95)
_SHARES = (0.03, 0.08, 0.17, 0.34, 0.50, 0.63, 0.76, 0.86, 0.91, 0.96)


def trust(type: str, origin: str, strength: float) -> float:
    """How sure a relation is, from 0 to 1. What somebody drew is certain.

    A relation drawn from a similarity is as sure as people agree on pairs so similar. One read off a text (a name, a
    title, a series) is as sure as the rule that read it, which is its strength.
    """
    if origin == "manual":
        return 1.0
    return _agreed(strength) if type in _BY_MEANING else strength


def _agreed(similarity: float) -> float:
    if similarity <= _KNOTS[0]:
        return _SHARES[0] * max(0.0, similarity) / _KNOTS[0]
    if similarity >= _KNOTS[-1]:
        return _SHARES[-1] + (1 - _SHARES[-1]) * (min(1.0, similarity) - _KNOTS[-1]) / (1 - _KNOTS[-1])
    at = bisect_right(_KNOTS, similarity)
    share = (similarity - _KNOTS[at - 1]) / (_KNOTS[at] - _KNOTS[at - 1])
    return _SHARES[at - 1] + share * (_SHARES[at] - _SHARES[at - 1])


def inverse(type: str) -> str | None:
    """The type that says the same from the other end; None where there is none."""
    return type if type in SYMMETRIC else _INVERSE.get(type)


def widened(types: Collection[str] | None) -> frozenset[str] | None:
    """The types asked for, and those that say the same from the other end; None where all are asked for."""
    if types is None:
        return None
    return frozenset(types) | {_INVERSE[type] for type in types if type in _INVERSE}
