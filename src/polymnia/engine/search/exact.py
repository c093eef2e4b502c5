"""Memories that hold the query as it stands: where they hold it decides their order and their score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from polymnia.models import Record, fold

__all__ = ["IDENTICAL", "PLACES", "Place", "place", "score"]


class Place(NamedTuple):
    """Where a query may stand: in words, in which field, and the scores of memories that hold it there."""

    said: str
    field: str
    least: float
    most: float


PLACES = (
    Place("the name itself", "name", 1.0, 1.0),
    Place("a whole observation", "observation", 1.0, 1.0),
    Place("what it is called by", "observation", 1.0, 1.0),
    Place("the name", "name", 0.9, 0.99),
    Place("a word of the name", "name", 0.85, 0.9),
    Place("the kind", "kind", 0.8, 0.85),
    Place("an observation", "observation", 0.7, 0.8),
    Place("a word of an observation", "observation", 0.5, 0.7),
)
"""Best first. The scores of two places do not overlap, so a score says the place and the order goes by the score."""

IDENTICAL = 1
"""Up to this place the memory is the query, and does not only hold it."""


def score(at: int, own: float) -> float:
    """The score of a memory that holds the query at a place, given the one it has by its words and meaning."""
    return PLACES[at].least + (PLACES[at].most - PLACES[at].least) * own


def place(forms: Sequence[str], record: Record) -> int:
    """Which of the places the query has in a record."""
    name = fold(record.name)
    if name in forms:
        return 0
    texts = [fold(text) for text in record.observations]
    if any(text.strip() in forms for text in texts):
        return 1
    if any(_called(text, form) for form in forms if _is_identifier(form) for text in (name, *texts)):
        return 2
    for form in forms:
        if form in name:
            return 3 if _at_word(form, name) else 4
    kind = fold(record.kind)
    if any(form in kind for form in forms):
        return 5
    return 6 if any(form in text and _at_word(form, text) for text in texts for form in forms) else 7


def _is_identifier(form: str) -> bool:
    """Whether a query is one token with letters and digits, as ADR-012: somebody's name for one thing."""
    return not any(map(str.isspace, form)) and any(map(str.isdigit, form)) and any(map(str.isalpha, form))


def _called(text: str, form: str) -> bool:
    """Whether a text begins with an identifier, whole: that is what the text is called by."""
    rest = text.lstrip("#*_[( \t")
    return rest.startswith(form) and not rest[len(form) : len(form) + 1].isalnum()


def _at_word(part: str, text: str) -> bool:
    """Whether the part starts where a word of the text starts."""
    at = text.find(part)
    while at > 0 and text[at - 1].isalnum() and text[at - 1].isascii():
        at = text.find(part, at + 1)
    return at >= 0
