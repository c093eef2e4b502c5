"""A table: the statements of many records with their terms, as rows that can be compared by the hundred thousand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.asides import core
from polymnia.engine.analysis.conflicts.dating import undated
from polymnia.engine.analysis.conflicts.facts import Fact, done, facts
from polymnia.engine.analysis.conflicts.statements import MOST, Statement, plain, statements
from polymnia.engine.analysis.conflicts.terms import Terms, read
from polymnia.models import Record

__all__ = ["SIDES", "WIDTH", "Table"]

SIDES = 8
"""More than any matter has sides of which a thing can be on one."""

WIDTH = 12
"""So many words of a statement are compared at first, the rarest of them."""

_LONG = 320  # characters, with its markup, of a statement that is read as facts at most
_EVERY = 500  # records between two ticks
_COMMON, _FEW_OF = 8, 500  # a word tells what a text is about in so many statements, or in one of so many


def _whole(record: Record, each: int) -> list[Statement]:
    """The statements of a record, or all it says as one where it states nothing: whoever names it means it."""
    found = statements(record, each)
    text = record.observations[0].strip() if record.observations else ""
    if found or not text:
        return found
    start = record.observations[0].find(text)
    return [Statement(0, start, start + len(text), 0, "")]


def _read_as(text: str) -> str:
    """A statement as it is compared: without its own date and asides, and what was given up as denied."""
    return cues.restated(core(undated(text)))


def _unsaid(record: Record, spot: Statement, text: str) -> bool:
    """Whether an observation leaves its subject to the name of its entity."""
    return spot.about == record.name != record.uid and record.name not in text and not cues.has_subject(text)


class Table:
    """Statements in the order of their records.

    ``owner`` is the place of a statement's record, ``stance`` whether it advises (1), warns (-1) or neither, ``state``
    the matter and side of the state it says something is in, or 0. ``keys`` has for each row its words as numbers, the
    rarest first and -1 where there are no more, ``weights`` what a number is worth, ``value`` a number for its figures,
    days and what turns it round, ``days`` one for its days alone. With ``whole`` a record that states nothing is one
    statement all the same.
    """

    def __init__(
        self,
        records: Sequence[Record],
        *,
        each: int = MOST,
        most: int | None = None,
        tick: Callable[[int, int], None] | None = None,
        whole: bool = False,
    ) -> None:
        self.records = records
        self.spots: list[Statement] = []
        self.terms: list[Terms] = []
        self.facts: list[tuple[Fact, ...]] = []
        self.left_out = 0
        self._holds: dict[int, bool] = {}
        owner: list[int] = []
        stance: list[int] = []
        states: list[int] = []
        for at, record in enumerate(records):
            if tick is not None and at % _EVERY == 0:
                tick(at, len(records))
            if most is not None and len(self.spots) >= most:
                self.left_out = len(records) - at
                break
            for spot in _whole(record, each) if whole else statements(record, each):
                text = _read_as(record.observations[spot.part][spot.start : spot.end])
                self.spots.append(spot)
                owner.append(at)
                terms = read(f"{record.name} {text}" if _unsaid(record, spot, text) else text)
                self.terms.append(terms)
                self.facts.append(facts(plain(text)) if len(text) < _LONG else ())
                stance.append(cues.advice(text) if terms.advises else 0)
                state = cues.state(text) if terms.stated else None
                states.append(0 if state is None else state[0] * SIDES + state[1] + 1)
        self.owner: NDArray[Any] = np.array(owner, np.int32)
        self._given_up()
        self.stance: NDArray[Any] = np.array(stance, np.int8)
        self.state: NDArray[Any] = np.array(states, np.int16)
        self._many: NDArray[Any] = np.bincount(self.owner, minlength=max(1, len(records)))
        self._number()

    def _given_up(self) -> None:
        """Where statements say that something was given up, read those that say that it is done."""
        gone = {fact.value for some in self.facts for fact in some if fact.gone and fact.relation.startswith("do ")}
        words = {word for value in gone for word in read(value).words}
        if words:
            for row, terms in enumerate(self.terms):
                if not self.facts[row] and not words.isdisjoint(terms.words):
                    self.facts[row] = done(plain(self.text(row)))

    def __len__(self) -> int:
        return len(self.spots)

    def _number(self) -> None:
        """Give the words numbers, count them, and keep the rarest of each statement."""
        vocabulary: dict[str, int] = {}
        flat: list[int] = []
        sizes: list[int] = []
        for terms in self.terms:
            numbers = {vocabulary.setdefault(word, len(vocabulary)) for word in terms.words}
            flat += numbers
            sizes.append(len(numbers))
        words = np.array(flat, np.int32)
        self.size: NDArray[Any] = np.array(sizes, np.int32)
        self.counts: NDArray[Any] = np.bincount(words, minlength=max(1, len(vocabulary)))
        self.weights: NDArray[Any] = np.log1p(len(self.terms) / np.maximum(1, self.counts)).astype(np.float32)
        rows = np.repeat(np.arange(len(sizes)), self.size)
        order = np.lexsort((words, self.counts[words], rows))
        begins = np.cumsum(self.size) - self.size
        column = np.arange(len(words)) - np.repeat(begins, self.size)
        fits = column < WIDTH
        self.keys: NDArray[Any] = np.full((len(sizes), WIDTH), -1, np.int32)
        self.keys[rows[fits], column[fits]] = words[order][fits]
        values: dict[tuple[tuple[str, ...], ...], int] = {((), (), ()): 0}
        parts = (tuple(tuple(sorted(part)) for part in (t.figures, t.days, t.sides)) for t in self.terms)
        self.value: NDArray[Any] = np.array([values.setdefault(part, len(values)) for part in parts], np.int32)
        days: dict[tuple[str, ...], int] = {(): 0}
        self.days: NDArray[Any] = np.array(
            [days.setdefault(tuple(sorted(t.days)), len(days)) for t in self.terms], np.int32
        )
        self.denied: NDArray[Any] = np.array([t.denied % 2 for t in self.terms], np.int8)

    def apart(self, a: int, b: int) -> bool:
        """Whether two statements differ in a figure, a day, a denial, or a word that turns them round."""
        return bool(self.value[a] != self.value[b]) or bool(self.denied[a] != self.denied[b])

    def record(self, row: int) -> Record:
        """The record of a statement."""
        return self.records[int(self.owner[row])]

    def text(self, row: int) -> str:
        """A statement as it is written."""
        spot = self.spots[row]
        return self.record(row).observations[spot.part][spot.start : spot.end]

    def said(self, row: int) -> str:
        """A statement as it is compared: without markup and its own date, with its subject."""
        text = _read_as(plain(self.text(row)))
        record = self.record(row)
        return f"{record.name} {text}" if _unsaid(record, self.spots[row], text) else text

    def name(self, row: int) -> str:
        """The name of the entity of which a statement is an observation; empty where it is none."""
        record = self.record(row)
        return record.name if self.spots[row].about == record.name != record.uid else ""

    def holds(self, row: int) -> bool:
        """Whether a statement claims something, of the present, and not for the sake of argument."""
        known = self._holds.get(row)
        if known is None:
            text = self.text(row)
            bare = core(plain(text))
            says = bool(self.name(row)) or cues.claims(plain(text)) or (bare != text and cues.claims(bare))
            known = says and not cues.is_past(text) and not cues.is_loose(bare)
            self._holds[row] = known
        return known

    def many(self, row: int) -> int:
        """How many statements the record of a statement has."""
        return int(self._many[self.owner[row]])

    def around(self, row: int) -> set[int]:
        """The telling words, as numbers, of what a statement's record says beside it."""
        owner = self.owner[row]
        first, last = np.searchsorted(self.owner, (owner, owner + 1))
        others = {int(word) for at in range(first, last) if at != row for word in self.keys[at] if word >= 0}
        rare = max(_COMMON, len(self) // _FEW_OF)
        return {word for word in others if self.counts[word] <= rare}

    def about(self, row: int) -> frozenset[str]:
        """The words of what a statement is about beside what it says itself."""
        return frozenset(read(self.spots[row].about).words)
