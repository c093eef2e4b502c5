"""Dialogue: which memories are turns that follow each other, by what is stored around them.

A speaker before a text is no proof: notes begin with "Budget: " or "Berlin: " too, and facts about people with their
names. A memory is a turn when its kind says so, when an assistant speaks, when it is a question that somebody else
answers (or that answer), or when near it a speaker comes back after another one spoke. Turns of one conversation are at
most REACH memories and a day apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.search.fusion import REACH
from polymnia.engine.search.threads import ASKS, CONVERSATION, SPEAKER, SURE, place_of, spoken
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.search.index import Index
    from polymnia.engine.search.search import Search

__all__ = ["links", "neighbours", "turns"]

Numbers = NDArray[Any]

_STEPS = tuple(step for away in range(1, REACH + 1) for step in (-away, away))


def turns(index: Index, rows: Numbers) -> Numbers:
    """Which of these rows of memories are turns of a dialogue."""
    found = index.memories["thread"][rows] > 0
    if found.any():
        found[found] = _are_turns(index, rows[found])
    return found


def links(index: Index, rows: Numbers, is_turn: Numbers) -> Numbers | None:
    """For each row the turns one before, one after, two before, ..., as places in ``rows``; -1 where there is none.

    ``rows`` ascend. None where there is no turn at all.
    """
    if not is_turn.any():
        return None
    found = np.full((len(rows), len(_STEPS)), -1, np.int64)
    talking = np.flatnonzero(is_turn)
    own = rows[talking].astype(np.int64)
    for at, step in enumerate(_STEPS):
        near = own + step
        place = np.searchsorted(rows, near)
        place[place == len(rows)] = 0
        same = (rows[place] == near) & is_turn[place]
        same[same] = _together(index, own[same], near[same])
        found[talking[same], at] = place[same]
    return found


def neighbours(search: Search, numbers: Sequence[int]) -> dict[int, tuple[Record | None, Record | None]]:
    """The turns before and after those of these memories that are turns, by the numbers of these."""
    index = search.index
    rows = index.memory_rows(np.array(numbers, np.uint32)).astype(np.int64)
    is_turn = turns(index, rows)
    if not is_turn.any():
        return {}
    own = rows[is_turn]
    around = own[:, None] + np.array(_STEPS)
    around[(around < 0) | (around >= index.memories.count)] = 0
    flat = around.ravel()
    follows = (_together(index, np.repeat(own, len(_STEPS)), flat) & turns(index, flat)).reshape(around.shape)
    near: dict[int, list[int]] = {}
    for number, places, fits in zip(np.array(numbers)[is_turn].tolist(), around, follows, strict=True):
        nearest = [side[there][:1] for side, there in ((places[::2], fits[::2]), (places[1::2], fits[1::2]))]
        near[number] = index.memories["number"][np.concatenate(nearest)].tolist()
    search.load(list({number for row in (near, *near.values()) for number in row}))
    found = {}
    for number, others in near.items():
        if number in search.records and spoken(search.records[number]):
            sides = _sides(search.records[number], [search.records[one] for one in others if one in search.records])
            if any(sides):
                found[number] = sides
    return found


def _sides(record: Record, others: Sequence[Record]) -> tuple[Record | None, Record | None]:
    """Which of the memories stored next to a turn come before and after it, as the memories are now."""
    place, number = place_of(record)
    before: list[tuple[tuple[int | None, int], Record]] = []
    after: list[tuple[tuple[int | None, int], Record]] = []
    for other in others:
        where, its_number = place_of(other)
        if where == place and spoken(other):
            key = its_number, other.id
            (before if key < (number, record.id) else after).append((key, other))
    return (max(before)[1] if before else None), (min(after)[1] if after else None)


def _are_turns(index: Index, rows: Numbers) -> Numbers:
    """The same for rows of memories that may be turns."""
    thread = index.memories["thread"]
    sure: Numbers = (thread[rows] & SURE > 0) & _single(index, rows)
    unsure = np.flatnonzero(~sure & _single(index, rows))
    if len(unsure):
        sure[unsure] = _in_exchange(index, rows[unsure])
    return sure


def _in_exchange(index: Index, rows: Numbers) -> Numbers:
    """Whether somebody answers, or a speaker comes back after another, within REACH of each row."""
    thread = index.memories["thread"]
    around = rows.astype(np.int64)[:, None] + np.arange(-REACH, REACH + 1)
    around[(around < 0) | (around >= len(thread))] = 0
    flat = around.ravel()
    there = _together(index, np.repeat(rows.astype(np.int64), 2 * REACH + 1), flat).reshape(around.shape)
    near = thread[around]
    speaker = np.where(there, (near & SPEAKER).astype(np.int64), -1)
    before, here, after = REACH - 1, REACH, REACH + 1
    found = np.zeros(len(rows), bool)
    for beside, first in ((before, before), (after, here)):
        other = there[:, beside] & (speaker[:, beside] != speaker[:, here])
        found |= other & ((near[:, first] & ASKS > 0) | (near[:, beside] & SURE > 0))
    for apart in range(2, REACH + 1):
        returns = (speaker[:, :-apart] >= 0) & (speaker[:, :-apart] == speaker[:, apart:])
        another = np.zeros_like(returns)
        for at in range(1, apart):
            between = speaker[:, at : at - apart]
            another |= (between >= 0) & (between != speaker[:, :-apart])
        found |= (returns & another).any(axis=1)
    return found


def _together(index: Index, rows: Numbers, others: Numbers) -> Numbers:
    """Whether each two memories may be turns of one conversation."""
    thread, head = index.memories["thread"], index.memories["head"]
    same: Numbers = (thread[rows] ^ thread[others]) & CONVERSATION == 0
    same &= (thread[others] > 0) & _single(index, others)
    same &= index.passages["alive"][head[others]]
    day = index.passages["day"]
    same &= np.abs(day[head[rows]].astype(np.int32) - day[head[others]]) <= 1
    return same


def _single(index: Index, rows: Numbers) -> Numbers:
    """Whether each memory says one thing. One with several observations is a whole conversation, not a turn."""
    found: Numbers = index.sizes.texts[rows] == 1
    return found
