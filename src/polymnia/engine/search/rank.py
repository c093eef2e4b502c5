"""Order: pure functions from a query and its candidates to a ranking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from polymnia.engine.search.plan import Plan
from polymnia.models import Record, fold

__all__ = ["Hit", "order"]


Hit: TypeAlias = tuple[tuple[int, float, int], Record]
"""A record with the key it is ranked by: its tier, its place in the tier, its id."""


def order(wanted: Plan, exact: Iterable[Record], similar: Iterable[Record], shares: Mapping[int, float]) -> list[Hit]:
    """Those that hold the whole query first, by where they hold it; then the similar ones by what they share."""
    hits = [((0, float(_place(wanted, record)), record.id), record) for record in exact]
    hits += [((1, -shares[record.id] * _neatness(wanted, record), record.id), record) for record in similar]
    return sorted(hits, key=lambda hit: hit[0])


def _place(wanted: Plan, record: Record) -> int:
    """0 when the name is the query, then the name holds it as words, holds it, the kind, an observation."""
    name = fold(record.name)
    for form in wanted.forms:
        if name == form:
            return 0
        if form in name:
            return 1 if _at_word(form, name) else 2
    kind = fold(record.kind)
    if any(form in kind for form in wanted.forms):
        return 3
    texts = [fold(text) for text in record.observations]
    return 4 if any(form in text and _at_word(form, text) for text in texts for form in wanted.forms) else 5


def _at_word(part: str, text: str) -> bool:
    """Whether the part starts where a word of the text starts."""
    at = text.find(part)
    while at > 0 and text[at - 1].isalnum() and text[at - 1].isascii():
        at = text.find(part, at + 1)
    return at >= 0


def _neatness(wanted: Plan, record: Record) -> float:
    """Near 1 when the query's words stand in the record as words, more when they stand in its name."""
    name, body = fold(record.name), fold(" ".join((record.kind, *record.observations)))
    held = [word for word in wanted.words if word in name or word in body]
    if not held:
        return 0.5
    points = sum(
        1.5 if word in name and _at_word(word, name) else 1.0 if _at_word(word, body) else 0.5 for word in held
    )
    return points / len(held)
