"""Agreeing: which other memories say what a sentence says, and which say otherwise. Words decide, not nearness.

A memory says the same if one of its sentences has every word of content of the first or a form or synonym of it and no
other, denies as much and is as sure. It says otherwise if that is all but true, and what is left is
another figure, a denial or an opposite; or where the look for conflicts says so. Whatever else is near is no voice.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.frames import framed
from polymnia.engine.analysis.conflicts.statements import plain
from polymnia.engine.analysis.conflicts.table import Table
from polymnia.engine.analysis.conflicts.values import Clash
from polymnia.engine.analysis.contradiction import judge, probability
from polymnia.engine.duplicates.conflicts import examined
from polymnia.engine.duplicates.reading import plain as bare

__all__ = ["Contrary", "Voices", "heard", "says"]

_MEANT = 0.5  # of the words of the shorter sentence: less in common, and two sentences are about different things
_SURE = 0.5  # how likely a contradiction must be
_MODAL = frozenset({"should", "must", "shall", "may", "might", "could", "would", "can", "will", "ought", "supposed"})


class Contrary(NamedTuple):
    """A statement that says otherwise: its row, and what differs."""

    row: int
    differs: str


class Voices(NamedTuple):
    """Of a statement, the row of one statement of each other memory that says the same, and of each that does not."""

    same: list[int]
    otherwise: list[Contrary]


def says(sentence: str, other: str) -> bool:
    """Whether another sentence says what a sentence says and no more, of the same time and as surely."""
    here, there = plain(sentence), plain(other)
    if bare(here) == bare(there):
        return True
    if cues.is_past(there) != cues.is_past(here) or cues.is_loose(there) != cues.is_loose(here):
        return False
    apart, reason = examined(here, there)
    if apart is None or reason is not None or apart.left or apart.right:
        return False  # one word more may take it all back: who has stopped to do it, who wants to
    return {word.said for word in apart.left_small} & _MODAL == {word.said for word in apart.right_small} & _MODAL


def heard(table: Table, row: int, rows: Iterable[int], clashes: Iterable[Clash]) -> Voices:
    """What the memories of some rows say to one statement; ``clashes`` are the conflicts that are known among them."""
    own = int(table.owner[row])
    text = table.text(row)
    same: dict[int, int] = {}
    against = {at: Contrary(at, differs) for at, differs in _clashing(table, row, rows, clashes)}
    otherwise: dict[int, Contrary] = {}
    words = set(table.terms[row].words)
    for at in rows:
        owner = int(table.owner[at])
        if owner == own:
            continue
        others = set(table.terms[at].words)
        if at not in against and len(words & others) < _MEANT * max(1, min(len(words), len(others))):
            continue
        found = against.get(at) or _contrary(table, row, at)
        if found is not None:
            otherwise.setdefault(owner, found)
        elif says(text, table.text(at)):
            same.setdefault(owner, at)
    return Voices([at for owner, at in same.items() if owner not in otherwise], list(otherwise.values()))


def _clashing(table: Table, row: int, rows: Iterable[int], clashes: Iterable[Clash]) -> list[tuple[int, str]]:
    """The rows that a known conflict sets against a row."""
    places = {(table.record(at).id, table.text(at)): at for at in rows}
    found = []
    for one in clashes:
        left, right = (places.get((side.record.id, side.sentence)) for side in (one.left, one.right))
        if left is not None and right is not None and row in (left, right):
            found.append((right if row == left else left, one.differs))
    return found


def _contrary(table: Table, row: int, other: int) -> Contrary | None:
    """What another statement has against one with the same words, if it has."""
    if not (table.holds(row) and table.holds(other)):
        return None
    frame = framed(table, row, other)
    if frame.apart or frame.narrow or frame.several or frame.dates or frame.shared < 2 or frame.left or frame.right:
        return None
    if not (frame.value or frame.denied or frame.opposed):
        return None
    (judged,) = judge([(plain(table.text(row)), plain(table.text(other)))])
    return Contrary(other, judged.differs) if probability(judged.score) >= _SURE else None
