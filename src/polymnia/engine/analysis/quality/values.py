"""Values: what is said of the quality of a content, from single faults up to the whole."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

__all__ = ["DIMENSIONS", "Compared", "Dimension", "Fault", "Metric", "Quality", "Suggestion"]

DIMENSIONS = (
    "clarity",
    "completeness",
    "accuracy",
    "relevance",
    "structure",
    "consistency",
    "readability",
    "actionability",
)
"""The eight sides of quality, in the order in which they are told."""


class Fault(Struct, frozen=True):
    """Something wrong in one place: the words as they stand, what is wrong, what to do, and how much it counts."""

    quote: str
    problem: str
    advice: str
    weight: float = 1.0


class Metric(Struct, frozen=True, kw_only=True):
    """One measure: its value, the score from 0 to 1 it gives, how much that counts, and what it is measured against.

    ``faults`` are what lowered it and ``mended`` the score it would have if that one fault were mended.
    """

    name: str
    value: float
    score: float
    weight: float
    against: str
    faults: tuple[Fault, ...] = ()
    mended: tuple[float, ...] = ()


class Suggestion(Struct, frozen=True, kw_only=True):
    """What to mend: the words it is about as they stand, what is wrong, what to do, and by how much the scores rise."""

    dimension: str
    metric: str
    quote: str
    problem: str
    advice: str
    dimension_gain: float
    gain: float


class Dimension(Struct, frozen=True, kw_only=True):
    """One side of quality: its score, or None and in ``note`` why it cannot be told; and the measures it is made of."""

    name: str
    score: float | None
    note: str | None = None
    metrics: tuple[Metric, ...] = ()


class Compared(Struct, frozen=True, kw_only=True):
    """Another content by the same measures, and for each side of quality how much better (+) or worse (-) ours is."""

    id: str
    title: str
    score: float | None
    dimensions: dict[str, float | None] = field(default_factory=dict)
    differences: dict[str, float | None] = field(default_factory=dict)


class Quality(Struct, frozen=True, kw_only=True):
    """The quality of a content: the mean of the sides that could be measured, and everything it rests on.

    ``standing`` has for each side the rank among those it is compared with, and the share of them it is better than.
    """

    id: str
    title: str
    score: float | None
    dimensions: list[Dimension]
    suggestions: list[Suggestion] = []
    compared: list[Compared] = []
    standing: dict[str, dict[str, Any]] = field(default_factory=dict)
    looked_at: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = []
