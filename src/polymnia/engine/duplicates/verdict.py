"""Verdict: whether a text says again what another one says."""

from __future__ import annotations

from typing import NamedTuple

from polymnia.engine.duplicates.conflicts import examined
from polymnia.engine.duplicates.reading import plain

__all__ = ["Verdict", "is_duplicate", "judged", "least"]

# What is left of the distance of two vectors when both texts are made of the same words, and how much more of it
# counts for words that stand for others, and for words that only one text has: those would be lost.
_SAME_WORDS = 0.1
_REPLACED = 1.0
_ADDED = 2.0
_LONG = 20_000  # characters; longer texts are one only when they are equal but for what a writer may leave out,
_AS_LONG = 0.8  # which changes their length by less than this


class Verdict(NamedTuple):
    """Whether two texts count as one, how alike they are by meaning and words, and what speaks against it."""

    duplicate: bool
    score: float
    reason: str | None


def judged(a: str, b: str, similarity: float, threshold: float) -> Verdict:
    """Judge two texts by the :mod:`similarity` of their vectors and by their words.

    They count as one when nothing in them conflicts and the score reaches the threshold; a lower threshold merges
    more, and at 1 only texts merge that are equal but for case, white space, punctuation and Unicode form. So do long
    texts at any threshold.
    """
    if a == b:
        return Verdict(True, 1.0, None)
    long, short = max(len(a), len(b)), min(len(a), len(b))
    if long > _LONG and short < _AS_LONG * long:
        return Verdict(False, 0.0, "one of them is much longer")
    if plain(a) == plain(b):
        return Verdict(True, 1.0, None)
    if long > _LONG:
        # A long text differs somewhere in the end, and comparing every word of both takes seconds.
        return Verdict(False, 0.0, "long texts that are not equal")
    apart, reason = examined(a, b)
    if apart is None:
        return Verdict(False, 0.0, reason)
    distance = 1.0 - min(1.0, max(0.0, similarity))
    score = 1.0 - min(1.0, distance * (_SAME_WORDS + _REPLACED * apart.replaced + _ADDED * apart.added))
    if reason is None and score < threshold:
        reason = "not alike enough"
    return Verdict(reason is None, score, reason)


def is_duplicate(a: str, b: str, similarity: float, threshold: float) -> bool:
    """Whether two texts count as one: see :func:`judged`."""
    return judged(a, b, similarity, threshold).duplicate


def least(threshold: float) -> float:
    """The similarity below which no rewording reaches a threshold: memories further away need not be judged."""
    return max(0.0, 1.0 - (1.0 - threshold) / _SAME_WORDS)
