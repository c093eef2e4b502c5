"""What a suggestion is made from, and what it says."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Alternative", "Neighbour", "Suggestion"]


class Neighbour(Struct, frozen=True, gc=False):
    """A filed memory near the text in question.

    ``cosine`` is None where there is no model or no vector yet. ``words`` is the share of the text's words that the
    memory says, as the search scores them. ``crowd`` is how near the memory is to the other neighbours, as
    :func:`crowding` measures it; None when that was not measured.
    """

    scope: str
    cosine: float | None
    words: float
    text: str = ""
    category: str | None = None
    content_type: str | None = None
    crowd: float | None = None


class Alternative(Struct, frozen=True):
    """Another scope the text may belong to, how likely that is, and why."""

    scope: str
    confidence: float
    reasoning: str


class Suggestion(Struct, frozen=True, kw_only=True):
    """Where a text belongs.

    ``confidence`` is how often such a suggestion is right. When it ``abstained``, nothing filed was near enough or
    the neighbours did not agree: the scope is the one to fall back to, and what was likeliest is among the
    alternatives, which are in the order of their confidence.
    """

    scope: str
    confidence: float
    reasoning: str
    alternatives: tuple[Alternative, ...] = ()
    keywords: tuple[str, ...] = ()
    category: str | None = None
    content_type: str = "notes"
    abstained: bool = False
