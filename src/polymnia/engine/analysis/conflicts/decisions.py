"""Decisions: two that choose and reject the same in one matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from polymnia.engine.items import DECISION
from polymnia.engine.knowledge.duplicates import words
from polymnia.models import Record

__all__ = ["Opposed", "opposed"]

_MATTER = 0.34  # the share of words that two titles or contexts have in common where they are about one matter
_GRAMMAR = 3  # letters of a word that says little
_EACH = 40  # decisions a decision is compared with


class Opposed(NamedTuple):
    """Two decisions, by their places; what one chooses and the other rejects; how much their matters have in common."""

    a: int
    b: int
    choice: str
    matter: float


class _Decided(NamedTuple):
    at: int
    title: frozenset[str]
    matter: frozenset[str]
    choice: frozenset[str]
    said: str
    rejected: list[tuple[frozenset[str], str]]


def opposed(records: Sequence[Record]) -> list[Opposed]:
    """Pairs of decisions of which one has chosen what the other has considered and left."""
    decided = [one for at, record in enumerate(records) if (one := _decided(at, record)) is not None]
    shelves: dict[str, list[_Decided]] = {}
    for one in decided:
        for word in one.choice:
            shelves.setdefault(word, []).append(one)
    found: dict[tuple[int, int], Opposed] = {}
    for one in decided:
        for chosen, said in one.rejected:
            near = (other for word in sorted(chosen, key=len)[-3:] for other in shelves.get(word, ())[:_EACH])
            for other in near:
                share = max(_share(one.title, other.title), _share(one.matter, other.matter))
                if other.at != one.at and chosen <= other.choice and not chosen <= one.choice and share >= _MATTER:
                    key = (min(one.at, other.at), max(one.at, other.at))
                    found.setdefault(key, Opposed(*key, said, share))
    return list(found.values())


def _decided(at: int, record: Record) -> _Decided | None:
    told: Any = record.metadata.get("decision")
    if record.kind != DECISION or not isinstance(told, dict):
        return None
    choice = told.get("decision")
    others = told.get("alternatives")
    if not isinstance(choice, str):
        return None
    title = str(told.get("title") or record.metadata.get("title") or "")
    rejected = [
        (frozenset(words(one)), one)
        for one in (others if isinstance(others, list) else ())
        if isinstance(one, str) and words(one)
    ]
    context = str(told.get("context") or "")
    return _Decided(at, _telling(title), _telling(context), frozenset(words(choice)), choice, rejected)


def _telling(text: str) -> frozenset[str]:
    """The words of a text that are not mostly grammar."""
    return frozenset(word for word in words(text) if len(word) > _GRAMMAR or not word.isascii())


def _share(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other))) if one and other else 0.0
