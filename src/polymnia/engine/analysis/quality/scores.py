"""Scores: what is measured of a text, from single faults up to a dimension of quality.

A metric is the share of the places that were checked and have no fault, as ISO/IEC 25024 measures the quality of data.
A dimension is the product of its metrics, the rolled throughput yield: the share that passes every check.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from msgspec import Struct, field

from polymnia.engine.analysis.findings import Remark
from polymnia.models import JsonObject

_KEPT = 12  # faults of one metric that are kept to be suggested; all of them count


class Flaw(Struct, frozen=True):
    """Something wrong in one place: the words as they stand, what it is, the values of its sentence, its weight."""

    quote: str
    name: str
    values: JsonObject = field(default_factory=dict)
    weight: float = 1.0


class Metric(Struct, frozen=True, kw_only=True):
    """One measure: its value, and the score from 0 to 1 that it gives. One of no weight only explains others.

    Of so many ``places``, which ``unit`` names, ``count`` have a fault. ``faults`` are the heaviest of them and
    ``mended`` the score without that one fault.
    """

    name: str
    value: float
    score: float
    places: int
    unit: str
    count: int = 0
    weight: float = 1.0
    faults: tuple[Flaw, ...] = ()
    mended: tuple[float, ...] = ()


class Dimension(Struct, frozen=True, kw_only=True):
    """One dimension of quality: its score, or None and in ``note`` why it is unknown; and the metrics it is made of."""

    name: str
    score: float | None
    note: Remark | None = None
    metrics: tuple[Metric, ...] = ()


def share(name: str, faults: Sequence[Flaw], places: int, unit: str = "sentences") -> Metric:
    """The share of so many places that has no fault."""
    total = sum(fault.weight for fault in faults)
    kept = tuple(sorted(faults, key=lambda fault: -fault.weight)[:_KEPT])

    def score(weight: float) -> float:
        return max(0.0, 1.0 - max(0.0, weight) / max(1, places))

    return Metric(
        name=name,
        value=round(total / max(1, places), 4),
        score=score(total),
        places=places,
        unit=unit,
        count=len(faults),
        faults=kept,
        mended=tuple(score(total - fault.weight) for fault in kept),
    )


def product(metrics: Sequence[Metric]) -> float:
    """The score of a dimension with these metrics."""
    return prod(one.score for one in metrics if one.weight)


def dimension(
    name: str, metrics: Sequence[Metric | None], note: Remark | None = None, empty: Remark | None = None
) -> Dimension:
    """A dimension from those of its metrics that could be measured; ``empty`` is why there may be none."""
    taken = tuple(one for one in metrics if one is not None)
    if not taken:
        return unknown(name, empty or note or Remark("quality.nothing"))
    return Dimension(name=name, score=round(product(taken), 4), note=note, metrics=taken)


def unknown(name: str, why: Remark) -> Dimension:
    """A dimension that cannot be measured."""
    return Dimension(name=name, score=None, note=why)


def few(name: str, words: int, least: int) -> Dimension:
    """A dimension that so few words say nothing about."""
    return unknown(name, Remark("quality.few_words", {"words": words, "least": least}))
