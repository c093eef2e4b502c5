"""Central: which sentences of many say what most of them say, and which of those say different things."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polymnia.engine.text.words import terms

__all__ = ["bags", "central", "chosen"]

_JUMP = 0.15  # how often the walk starts anew, as in PageRank
_STEPS = 50
_SETTLED = 1e-6
_NOVELTY = 0.5  # how much what was said already counts against a sentence (maximal marginal relevance)
_SPACE = 4096  # columns of words where there is no model

Numbers = np.ndarray[Any, np.dtype[Any]]


def central(rows: Numbers, owners: Numbers) -> Numbers:
    """How much each sentence says of what all say (LexRank): rows of unit length, and whose each is.

    Sentences of the same owner do not speak for each other: a text that repeats itself is one voice.
    """
    many = len(rows)
    if many == 0:
        return np.zeros(0)
    alike = np.maximum(0.0, rows @ rows.T).astype(np.float64)
    alike[owners[:, None] == owners[None, :]] = 0.0
    sums = alike.sum(axis=1, keepdims=True)
    walk = np.divide(alike, sums, out=np.full_like(alike, 1.0 / many), where=sums > 0)
    rank = np.full(many, 1.0 / many)
    for _ in range(_STEPS):
        new = _JUMP / many + (1 - _JUMP) * (rank @ walk)
        if float(np.abs(new - rank).sum()) < _SETTLED:
            break
        rank = new
    return np.asarray(new)


def chosen(rows: Numbers, rank: Numbers, most: int) -> list[int]:
    """The places of the sentences that say most and repeat each other least, best first."""
    if not len(rows):
        return []
    worth = rank / max(float(rank.max()), 1e-12)
    found = [int(np.lexsort((np.arange(len(rank)), -worth))[0])]
    while len(found) < min(most, len(rows)):
        told = (rows @ rows[found].T).max(axis=1)
        gain = (1 - _NOVELTY) * worth - _NOVELTY * np.maximum(0.0, told)
        gain[found] = -np.inf
        found.append(int(np.lexsort((np.arange(len(gain)), -gain))[0]))
    return found


def bags(texts: Sequence[str]) -> Numbers:
    """Sentences as rows of their words, rare ones weighing more; for projects without a model."""
    from zlib import crc32

    rows = np.zeros((len(texts), _SPACE), np.float32)
    for at, text in enumerate(texts):
        for term in terms(text).counts:
            rows[at, crc32(term.encode()) % _SPACE] = 1.0
    there = (rows > 0).sum(axis=0)
    rows *= np.log((len(texts) + 1) / (there + 1)).astype(np.float32) + 0.1
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows
