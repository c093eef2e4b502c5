"""What is said: a subject, a relation and a value as a statement has them, before they are compared."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Said", "words"]


class Said(NamedTuple):
    """Of a subject, in some relation, a value; for what, if it says so; ``gone`` where it says that it is so no more.

    ``event`` says that it tells how it came about: of two such, one came after the other.
    """

    subject: str
    relation: str
    value: str
    scope: str
    gone: bool = False
    event: bool = False


def words(text: str) -> frozenset[str]:
    """The words of a list that is written as one text."""
    return frozenset(text.split())
