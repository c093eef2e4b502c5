"""Aligning: which words of two statements stand for each other."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.contradiction.statement import Statement, Token
from polymnia.engine.duplicates.opposites import excludes
from polymnia.engine.duplicates.roots import HANGUL, same_root
from polymnia.engine.duplicates.synonyms import synonymous

__all__ = ["Alignment", "align"]

_SAME = 1.0
_SYNONYM = 0.95
_OPEN = 0.85  # a word with less than this has no counterpart


class Alignment(NamedTuple):
    """How well each word is matched by the best word of the other side (0-1), which that is, and the opposites."""

    left: NDArray[Any]
    right: NDArray[Any]
    to_right: NDArray[Any]
    to_left: NDArray[Any]
    opposites: tuple[tuple[int, int], ...]


def align(a: Statement, b: Statement) -> Alignment:
    """Match the words of two statements, none of them empty."""
    likeness = np.array([[_likeness(s, t) for t in b.tokens] for s in a.tokens], np.float32)
    left, right = likeness.max(1), likeness.max(0)
    free_left, free_right = np.flatnonzero(left < _OPEN), np.flatnonzero(right < _OPEN)
    opposites = tuple(
        (int(i), int(j))
        for i in free_left
        for j in free_right
        if _opposite(a.tokens[i].said, a.tokens[i].key, b.tokens[j].said, b.tokens[j].key)
    )
    return Alignment(left, right, likeness.argmax(1), likeness.argmax(0), opposites)


def _likeness(s: Token, t: Token) -> float:
    if s.key == t.key:
        return _SAME
    if s.kind in ("number", "day") or t.kind in ("number", "day"):
        return 0.0
    return _alike(s.said, s.key, t.said, t.key)


@lru_cache(maxsize=200_000)
def _alike(said: str, key: str, other: str, other_key: str) -> float:
    """How alike two words are: forms of one, synonyms, or by the beginning they share."""
    if same_root(said, other):
        return _SAME
    if synonymous((said, key), (other, other_key)):
        return _SYNONYM
    same = 0
    for c, d in zip(said, other, strict=False):
        if c != d:
            break
        same += 1
    least = 2 if HANGUL.match(said) else 4
    return 0.8 * same / max(len(said), len(other)) if same >= least else 0.0


@lru_cache(maxsize=200_000)
def _opposite(said: str, key: str, other: str, other_key: str) -> bool:
    return excludes((said, key), (other, other_key))
