"""Long texts: only the words by which they differ are looked at."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["LONG", "differing"]

LONG = 20_000
"""So many characters in two texts together make them long."""
_MANY = 400  # words that one has and the other lacks: no rewording
_PASSAGE = 1_000  # characters without a space: no word
_BREAK = re.compile(r"[\s。！？、，；]+")


def differing(a: str, b: str) -> tuple[str, str, float] | None:
    """What only the one and only the other text says, and how many words they have together; None when it is much.

    Where their words are the same and only the order is not, that is much too.
    """
    here, there = _BREAK.split(a), _BREAK.split(b)
    counts, others = Counter(here), Counter(there)
    left, right = counts - others, others - counts
    if not left and not right:
        return None
    if left.total() > _MANY or right.total() > _MANY or any(len(word) > _PASSAGE for word in (*left, *right)):
        return None
    return _kept(here, left), _kept(there, right), float(len(here) + len(there))


def _kept(words: list[str], wanted: Counter[str]) -> str:
    found = []
    for word in words:
        if wanted.get(word, 0) > 0:
            wanted[word] -= 1
            found.append(word)
    return " ".join(found)
