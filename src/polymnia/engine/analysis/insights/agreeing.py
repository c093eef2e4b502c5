"""Agreeing: which other memories say what a sentence says, and which say otherwise. What is merely near is no voice.

A memory says the same if one of its sentences has the same words, or the judge calls it the same and nothing in it
shows that it is not. It says otherwise where the look for conflicts says so, or what differs is provable.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from polymnia.engine.analysis.conflicts.judging import shown
from polymnia.engine.analysis.conflicts.statements import Statements
from polymnia.engine.analysis.conflicts.values import Clash
from polymnia.engine.knowledge import duplicates as exact
from polymnia.engine.knowledge.duplicates import shared
from polymnia.engine.knowledge.judge import COPY, Judging

__all__ = ["Contrary", "Voices", "heard"]

_MEANT = 0.5  # of the words of the shorter sentence: with less in common the judge is not asked
_ASKED = 40  # sentences the judge is asked about


class Contrary(NamedTuple):
    """A statement that says otherwise: its row, and what differs."""

    row: int
    differs: str


class Voices(NamedTuple):
    """Of a statement, the row of one statement of each other memory that says the same, and of each that does not."""

    same: list[int]
    otherwise: list[Contrary]


def heard(
    table: Statements, row: int, rows: Iterable[int], clashes: Iterable[Clash], judging: Judging | None
) -> Voices:
    """What the memories of some rows say to one statement; ``clashes`` are the conflicts that are known among them."""
    rows = [at for at in rows if table.owner[at] != table.owner[row]]
    text = table.said(row)
    against = {at: Contrary(at, differs) for at, differs in _clashing(table, row, rows, clashes)}
    same: dict[int, int] = {}
    otherwise: dict[int, Contrary] = {}
    unsure = []
    for at in rows:
        other = table.said(at)
        apart = exact.clash(text, other)
        found = against.get(at) or (None if apart is None else Contrary(at, shown(apart)))
        if found is not None:
            otherwise.setdefault(int(table.owner[at]), found)
        elif exact.same_words(text, other):
            same.setdefault(int(table.owner[at]), at)
        elif _near(text, other) and not exact.unlike(text, other):
            unsure.append(at)
    if unsure and judging is not None and judging.load():
        asked = unsure[:_ASKED]
        for at, verdict in zip(asked, judging.verdicts([(text, table.said(at)) for at in asked]), strict=True):
            if verdict is None:
                continue
            if COPY.confidence(verdict.same, None, shared(text, table.said(at))) >= COPY.medium:
                same.setdefault(int(table.owner[at]), at)
    return Voices([at for owner, at in same.items() if owner not in otherwise], list(otherwise.values()))


def _near(one: str, other: str) -> bool:
    here, there = set(exact.words(one)), set(exact.words(other))
    return len(here & there) >= _MEANT * max(1, min(len(here), len(there)))


def _clashing(table: Statements, row: int, rows: Iterable[int], clashes: Iterable[Clash]) -> list[tuple[int, str]]:
    """The rows that a known conflict sets against a row."""
    places = {(table.record(at).id, table.text(at)): at for at in (row, *rows)}
    found = []
    for one in clashes:
        left, right = (places.get((side.record.id, side.sentence)) for side in (one.left, one.right))
        if left is not None and right is not None and row in (left, right):
            found.append((right if row == left else left, one.differs))
    return found
