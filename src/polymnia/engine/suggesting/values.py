"""What a suggestion is made from, and what it says."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

__all__ = ["Alternative", "Example", "Suggestion", "View"]


class Example(Struct, frozen=True, gc=False):
    """A filed memory: where it is filed, its text, and its category."""

    scope: str
    text: str
    category: str | None = None


class View(Struct, frozen=True):
    """What one embedder makes of the text (``asked``), of the examples (``filed``) and of the names of their scopes.

    Rows are unit vectors, or zeros where the embedder does not know the language or has not come to the text yet.
    ``names`` has a row for each scope in the order in which the examples mention them first. ``strong`` and
    ``unrelated`` are the embedder's.
    """

    asked: Any
    filed: Any
    names: Any
    strong: bool = False
    unrelated: float = 0.0


class Alternative(Struct, frozen=True):
    """Another scope the text may belong to, how likely that is, and why."""

    scope: str
    confidence: float
    reasoning: str


class Suggestion(Struct, frozen=True, kw_only=True):
    """Where a text belongs.

    ``confidence`` is how often such a suggestion is right; no alternative has more. When it ``abstained``, the text is
    probably of no kind that is filed: the scope is the one to fall back to, and the likeliest filed ones are among the
    alternatives.
    """

    scope: str
    confidence: float
    reasoning: str
    alternatives: tuple[Alternative, ...] = ()
    keywords: tuple[str, ...] = ()
    category: str | None = None
    content_type: str = "notes"
    abstained: bool = False
