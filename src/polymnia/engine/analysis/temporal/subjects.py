"""Subjects: the tags, kinds and categories acts are about, each with the days on which it came up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.temporal.acts import Acts
from polymnia.engine.analysis.temporal.chances import all_in, two_sided
from polymnia.models import Record

__all__ = ["Drift", "Subject", "drift", "fallen_silent", "said_of", "subjects_of"]

_MOST = 60  # subjects that are looked at, the most frequent ones
_LEAST_ACTS = 12
_LEAST_DAYS = 6
_NEARLY_ALL = 0.8  # of the acts: what is nearly everything goes as everything goes

Numbers = np.ndarray[Any, np.dtype[Any]]


class Subject(Struct, frozen=True):
    """A tag, kind or category, and the acts that touched a memory that has it, in order."""

    field: str
    value: str
    acts: Numbers

    @property
    def title(self) -> str:
        """How it is called in a sentence."""
        return f"{self.field} “{self.value}”"


class Drift(Struct, frozen=True):
    """How a subject's share of all acts changed: in the first and the second half of the time, and the chance."""

    before: float
    after: float
    p: float


def said_of(record: Record) -> set[tuple[str, str]]:
    """The tags, the kind and the category of a record, each with what it is."""
    found = {("tag", tag) for tag in record.tags}
    found.add(("kind", record.kind))
    if record.category:
        found.add(("category", record.category))
    return found


def subjects_of(
    acts: Acts, by_id: dict[int, Record], *, least: int = _LEAST_ACTS, most: int = _MOST, tick: Callable[[], None]
) -> list[Subject]:
    """The subjects that came up often enough to say something about, the most frequent first."""
    of: dict[tuple[str, str], list[int]] = {}
    known: dict[int, set[tuple[str, str]]] = {}
    order = np.argsort(acts.act, kind="stable")
    for done, (memory, act) in enumerate(zip(acts.memory[order].tolist(), acts.act[order].tolist(), strict=True)):
        if done % 5000 == 0:
            tick()
        said = known.get(memory)
        if said is None:
            record = by_id.get(memory)
            said = known[memory] = said_of(record) if record else set()
        for one in said:
            rows = of.setdefault(one, [])
            if not rows or rows[-1] != act:
                rows.append(act)
    enough = [(key, rows) for key, rows in of.items() if least <= len(rows) <= _NEARLY_ALL * len(acts)]
    enough.sort(key=lambda one: (-len(one[1]), one[0]))
    return [Subject(*key, np.array(rows, np.int64)) for key, rows in enough[:most]]


def drift(some: Numbers, all_: Numbers) -> Drift | None:
    """Whether a subject takes more or less of what is done as time goes on; None where it came up on too few days.

    A test for a trend in a share (Cochran and Armitage) with days for observations: a sitting on one subject
    is one observation, however many notes came of it.
    """
    if (some > 0).sum() < _LEAST_DAYS:
        return None
    total = float(all_.sum())
    share = float(some.sum()) / total
    day = np.arange(len(all_), dtype=float)
    lever = day - float((all_ * day).sum()) / total
    gap = some - share * all_
    free = share * (1 - share) * float((lever**2 * all_).sum())
    variance = max(float((lever**2 * gap**2).sum()), free)
    if variance <= 0:
        return None
    half = int(np.searchsorted(np.cumsum(all_), total / 2)) + 1
    early, late = float(all_[:half].sum()), float(all_[half:].sum())
    if early == 0 or late == 0:
        return None
    before, after = float(some[:half].sum()) / early, float(some[half:].sum()) / late
    return Drift(before, after, two_sided(float((lever * gap).sum()) / math.sqrt(variance)))


def fallen_silent(some: Numbers, all_: Numbers) -> tuple[int, int, float] | None:
    """The last day a subject came up, on how many active days it has not since, and the chance of that."""
    days = np.flatnonzero(all_ > 0)
    came = np.flatnonzero(some[days] > 0)
    if len(came) < _LEAST_DAYS:
        return None
    total, part = len(days) - int(came[0]), int(came[-1]) - int(came[0]) + 1
    return int(days[came[-1]]), total - part, all_in(len(came) - 1, part - 1, total - 1)
