"""Spelling: how alike a misspelt word and a known one are."""

from __future__ import annotations

from polymnia.engine.search.languages import fold

__all__ = ["similar"]


def similar(word: str, term: str) -> float:
    """How alike a misspelt word and an index term are, 0 to 1; 0 when they differ by more than a slip or two.

    A slip is a letter too many, too few, wrong, or swapped with the next one. Short words allow one.
    """
    word = fold(word)
    allowed = 0 if len(word) < 4 else 1 if len(word) < 8 else 2
    if abs(len(word) - len(term)) > allowed:
        return 0.0
    # A slip breaks three pairs of letters at most; looking for them is quicker than counting slips.
    pairs = [word[i : i + 2] for i in range(len(word) - 1)]
    if sum(pair in term for pair in pairs) < len(pairs) - 3 * allowed:
        return 0.0
    slips = _slips(word, term, allowed)
    return 1 - slips / max(len(word), len(term)) if slips <= allowed else 0.0


def _slips(a: str, b: str, allowed: int) -> int:
    """Slips between two words, counted no further than one more than allowed."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, row, older = row, [i], before
        for j, y in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > allowed:
            return allowed + 1
        before = last
    return row[-1]
