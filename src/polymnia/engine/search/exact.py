"""Memories that hold the query as it stands: where they hold it decides their order."""

from __future__ import annotations

from collections.abc import Sequence

from polymnia.models import Record, fold

__all__ = ["PLACES", "place"]

PLACES = (
    "the name itself", "the name", "a word of the name", "the kind", "an observation", "a word of an observation",
)  # fmt: skip
"""Where a query may stand, best first."""


def place(forms: Sequence[str], record: Record) -> int:
    """Which of the places the query has in a record."""
    name = fold(record.name)
    for form in forms:
        if name == form:
            return 0
        if form in name:
            return 1 if _at_word(form, name) else 2
    kind = fold(record.kind)
    if any(form in kind for form in forms):
        return 3
    texts = [fold(text) for text in record.observations]
    return 4 if any(form in text and _at_word(form, text) for text in texts for form in forms) else 5


def _at_word(part: str, text: str) -> bool:
    """Whether the part starts where a word of the text starts."""
    at = text.find(part)
    while at > 0 and text[at - 1].isalnum() and text[at - 1].isascii():
        at = text.find(part, at + 1)
    return at >= 0
