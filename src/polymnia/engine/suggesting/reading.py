"""A text as it is read for a suggestion: once, for everything that looks at its words."""

from __future__ import annotations

from typing import NamedTuple

from polymnia.engine.search.words import Group, groups, terms

__all__ = ["READ", "Reading", "read"]

READ = 1000
"""So many characters tell what a text is about; more only cost time."""


class Reading(NamedTuple):
    """The beginning of a text, what a query of it would ask for, and its index terms."""

    text: str
    groups: list[Group]
    """Without what counts as a bonus only."""
    terms: frozenset[str]


def read(text: str) -> Reading:
    """Read the beginning of a text."""
    head = text[:READ]
    return Reading(head, [group for group in groups(head) if not group.bonus], frozenset(terms(head).counts))
