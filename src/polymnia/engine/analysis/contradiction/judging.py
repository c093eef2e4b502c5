"""Judging: whether two statements contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from math import exp, log
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from polymnia.engine.analysis.contradiction.differing import contrast
from polymnia.engine.analysis.contradiction.features import row, setting
from polymnia.engine.analysis.contradiction.model import Model, shipped
from polymnia.engine.analysis.contradiction.statement import statement
from polymnia.engine.duplicates.reading import plain, spoken

__all__ = ["PRIOR", "THRESHOLD", "Judgement", "judge", "probability", "readings", "scores"]

PRIOR = 1 / 3
"""The share of contradictions for which scores are calibrated: that of three labels, each as frequent."""

THRESHOLD = -0.6
"""The score from which a pair counts as a contradiction where misses weigh as false alarms do (F1): 35 % at PRIOR."""

_SURELY_NOT = -9.0  # the score of a text and itself


class Judgement(Struct, frozen=True):
    """Whether two statements cannot both hold: the log odds of it at :data:`PRIOR`, and what differs.

    ``kind`` is one of number, date, name, negation, antonym, value, meaning; ``differs`` quotes the words.
    """

    score: float
    kind: str
    differs: str


def probability(score: float, prior: float = PRIOR) -> float:
    """How likely a contradiction is, given a score and the share of contradictions among pairs like this one."""
    odds = score + log(prior / (1 - prior)) - log(PRIOR / (1 - PRIOR))
    return 1 / (1 + exp(-odds)) if odds > -700 else 0.0


def judge(
    pairs: Sequence[tuple[str, str]],
    vectors: tuple[NDArray[Any], NDArray[Any]] | None = None,
    *,
    model: str | None = None,
) -> list[Judgement]:
    """Judge pairs of statements, what was said first before what is held against it.

    Contradiction is mutual, but people who contradict write differently from those who began: the order tells a little.
    ``vectors`` are the rows of the left and of the right sides, of unit length, zeros where unknown; ``model`` is the
    model they are of. Those of a model that the judge has not learned are left aside: words decide then, as they do
    without vectors.
    """
    if not pairs:
        return []
    found = scores(shipped(), pairs, vectors if model in (None, shipped().of) else None)
    return [
        Judgement(_SURELY_NOT if plain(a) == plain(b) else float(score), *contrast(a, b))
        for (a, b), score in zip(pairs, found, strict=True)
    ]


def scores(
    model: Model, pairs: Sequence[tuple[str, str]], vectors: tuple[NDArray[Any], NDArray[Any]] | None
) -> NDArray[Any]:
    """The log odds of pairs by a model."""
    rows, settings = readings(pairs)
    found = model.weighed(rows, "words")
    if vectors is None or vectors[0].shape[1] != model.arrays["bare"].shape[1]:
        return found
    left, right = vectors
    known = np.flatnonzero(left.any(1) & right.any(1))
    if len(known):
        told = model.told(left[known], right[known], settings[known])
        found[known] = model.weighed_both(rows[known], told)
    return found


def readings(pairs: Sequence[tuple[str, str]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The features of pairs, and which of their sides are denied."""
    rows, settings = [], []
    for a, b in pairs:
        tongue = spoken(a, b)
        first, second = statement(a, tongue), statement(b, tongue)
        rows.append(row(first, second))
        settings.append(setting(first, second))
    return np.array(rows, np.float32), np.array(settings)
