"""The classifier: softmax regression over the filed memories near a text, trained when it is asked.

It is trained on a few hundred examples of the dozen scopes nearest to the text, which takes some milliseconds, so
nothing is stored, nothing goes stale and the cost does not grow with the store. The curves were fitted; see
docs/decisions/0042-scope-classifier.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

Numbers = NDArray[Any]

_HASHED = 1024  # columns that words and pairs of words are hashed to
_SECOND = 0.4  # the weight of an embedder beside a stronger one
_WORDS, _WORDS_STRONG = 0.7, 0.4  # the weight of the words beside an embedder, and beside a strong one
_PENALTY = 0.01
_STEPS = 40
_NEAREST = 3
_AROUND = 5
_ALIKE = 1.3
_SPARSE = 0.3  # examples farther apart than this do not make far look near

_SHARP = 1.6  # what the log-odds are multiplied with, so that shares are as large as they are often right
# How often a text belongs to any of the scopes: by how near the likeliest scope's best examples are, and by how near
# the text is to its nearest examples compared with how near those are to their own neighbours.
_BELONGS = (-6.7, 3.17, 10.05)


class ScopeView(Struct, frozen=True):
    """What one embedder makes of the text (``asked``), of the examples (``filed``) and of the names of their scopes.

    Rows are unit vectors, or zeros where the embedder does not know the language or has not come to the text yet.
    ``names`` has a row for each scope in the order in which the examples mention them first. ``strong`` and
    ``unrelated`` are the embedder's.
    """

    asked: Numbers
    filed: Numbers
    names: Numbers
    strong: bool = False
    unrelated: float = 0.0


class Odds(NamedTuple):
    """How likely each scope is, if the text belongs to any; how likely it belongs to any; how near each example is."""

    shares: Numbers
    belongs: float
    near: Numbers


def classify(
    words: Sequence[str],
    texts: Sequence[Sequence[str]],
    names: Sequence[Sequence[str]],
    labels: Sequence[int],
    views: Sequence[ScopeView],
    prior: Sequence[float],
) -> Odds:
    """Judge a text, given as its words, by the words and vectors of examples, whose scopes ``labels`` gives by number.

    ``names`` are the words of each scope's name, which is one more example of it. ``prior`` is added to each scope's
    log-odds.
    """
    label = np.array(labels)
    hashed = np.stack([_hashed(one) for one in (words, *texts, *names)])
    parts = _weighted(views, hashed)
    near, crowd = _nearness(parts, len(texts))
    rows = _features(parts)
    targets = np.concatenate((label, np.arange(len(names))))
    logits = _SHARP * _trained(rows[1:], targets, len(names), rows[0]) + np.array(prior)
    shares = np.exp(logits - logits.max())
    shares /= shares.sum()
    best = int(shares.argmax())
    # Fewer than three examples say little: those that are missing count as far away.
    own = np.sort(near[label == best])[::-1][:_NEAREST].sum() / _NEAREST
    best_near = np.sort(near)[::-1][:_NEAREST]
    among = min(_ALIKE, max(0.0, float(best_near.mean()) / max(_SPARSE, crowd))) * len(best_near) / _NEAREST
    belongs = float(1 / (1 + np.exp(-(_BELONGS[0] + _BELONGS[1] * own + _BELONGS[2] * among))))
    return Odds(shares, belongs, near)


def _hashed(words: Sequence[str]) -> Numbers:
    """Words and pairs of words as a unit vector."""
    found = np.zeros(_HASHED, np.float32)
    pairs = [f"{one} {other}" for one, other in pairwise(words)]
    for term in (*words, *pairs):
        at = crc32(term.encode())
        found[at % _HASHED] += 1.0 if at >> 20 & 1 else -1.0
    length = np.linalg.norm(found)
    return found / length if length else found


class _Part(NamedTuple):
    """One kind of features: a row for the text, for each example and for each name; its weight; what is unrelated."""

    rows: Numbers
    weight: float
    unrelated: float


def _weighted(views: Sequence[ScopeView], hashed: Numbers) -> list[_Part]:
    told = [one for one in views if np.any(one.asked) or np.any(one.filed)]
    strong = any(one.strong for one in told)
    parts = [
        _Part(
            np.concatenate((np.asarray(one.asked, np.float32)[None], one.filed, one.names)),
            _SECOND if strong and not one.strong else 1.0,
            one.unrelated,
        )
        for one in told
    ]
    return [*parts, _Part(hashed, (_WORDS_STRONG if strong else _WORDS) if parts else 1.0, 0.0)]


def _features(parts: Sequence[_Part]) -> Numbers:
    """All parts side by side, each centred, rows of unit length."""
    made = []
    for part in parts[:-1]:
        known = np.any(part.rows, axis=1, keepdims=True)
        centred = np.where(known, part.rows - part.rows[1:][known[1:, 0]].mean(axis=0), 0.0)
        spread = float(np.sqrt((centred[1:] ** 2).sum(axis=1)[known[1:, 0]].mean()))
        made.append(centred * (part.weight / spread if spread > 0 else 0.0))
    joined = np.concatenate(made, axis=1) if made else np.zeros((len(parts[-1].rows), 0), np.float32)
    joined = _unit(joined)
    return _unit(np.concatenate((joined, parts[-1].weight * parts[-1].rows), axis=1)).astype(np.float32)


def _unit(rows: Numbers) -> Numbers:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    found: Numbers = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return found


def _nearness(parts: Sequence[_Part], examples: int) -> tuple[Numbers, float]:
    """How near the text is to each example, and how near the nearest examples are to their own neighbours."""

    def compared(one: Numbers, other: Numbers) -> Numbers:
        """Row by row; a part that one of two rows lacks says nothing about them."""
        total, weights = np.zeros((len(one), len(other))), np.zeros((len(one), len(other)))
        for part in parts:
            a, b = part.rows[one], part.rows[other]
            both = np.any(a, axis=1)[:, None] & np.any(b, axis=1)[None]
            total += both * part.weight * (a @ b.T - part.unrelated) / (1 - part.unrelated)
            weights += both * part.weight
        return np.divide(total, weights, out=np.zeros_like(total), where=weights > 0)

    every = np.arange(1, examples + 1)
    near = compared(np.array([0]), every)[0]
    if examples < 2:
        return near, 0.0
    around = every[np.argsort(-near, kind="stable")[:_AROUND]]
    crowd = compared(around, every)
    crowd[np.arange(len(around)), around - 1] = -np.inf
    most = min(_NEAREST, examples - 1)
    return near, float(np.sort(crowd, axis=1)[:, -most:].mean())


def _trained(rows: Numbers, targets: Numbers, classes: int, asked: Numbers) -> Numbers:
    """The log-odds of each class for a row, by softmax regression on how near it is to each of the others.

    Rows are of unit length, and nearness falls off as a bell does (a Gaussian kernel). The steps are Böhning's (1992),
    whose bound of the curvature is the same at every point, with Nesterov's momentum.
    """
    near = np.exp(rows @ rows.T - 1).astype(np.float64)
    step = np.linalg.inv(near / 2 + _PENALTY * np.eye(len(rows)))
    right = np.eye(classes)[targets]
    weights = ahead = np.zeros((len(rows), classes))
    for n in range(_STEPS):
        logits = near @ ahead
        odds = np.exp(logits - logits.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        before, weights = weights, ahead - step @ (odds - right + _PENALTY * ahead)
        ahead = weights + n / (n + 3) * (weights - before)
    found: Numbers = np.exp(rows @ asked - 1) @ weights
    return found
