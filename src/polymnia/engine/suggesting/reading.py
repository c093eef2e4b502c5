"""A text as it is read for a suggestion: once, for everything that looks at its words."""

from __future__ import annotations

from typing import NamedTuple

from polymnia.engine.text.words import Group, groups, terms

__all__ = ["READ", "Reading", "read", "scope_words", "words_of"]

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


def words_of(text: str) -> list[str]:
    """The index terms of the beginning of a text, in order."""
    return list(terms(text[:READ]).counts)


def scope_words(scope: str) -> str:
    """What a scope is called, as words: the last part of its path."""
    return scope.rpartition("/")[2].replace("_", " ").replace("-", " ")
