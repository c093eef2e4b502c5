"""Courses: what a subject did within a time, against what all subjects did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from polymnia.engine.analysis.activity.changes import Acts, Subject, drift
from polymnia.engine.analysis.activity.trends import trend
from polymnia.engine.analysis.insights.view import DAY
from polymnia.engine.analysis.probability import all_in

__all__ = ["BINS", "Course", "courses"]

BINS = 10
"""Equal times of one horizon, so that two of them show a trend."""

_TIMES = 1.5  # times the share before, from which a subject has risen or fallen

Numbers = np.ndarray[Any, np.dtype[Any]]


class Course(NamedTuple):
    """How the acts on one subject (None: all acts) went: what it did, the acts before and within, and the chance.

    ``kind`` is ``rising``, ``falling``, ``new`` or ``silent``.
    """

    kind: str
    subject: Subject | None
    before: int
    within: int
    p: float
    bins: list[int]


class _Time(NamedTuple):
    """Days: of each act, from the first; where the horizon begins, and how many of its days are one bin."""

    of: Numbers
    total: int
    start: int
    step: int

    def counts(self, acts: Numbers | None = None) -> Numbers:
        of = self.of if acts is None else self.of[acts]
        return np.bincount(of, minlength=self.total)

    def bins(self, counts: Numbers) -> list[int]:
        """Two horizons of counts in equal bins, the last one ending now."""
        days = 2 * (self.total - self.start)
        last = counts[max(0, self.total - days) :]
        whole = len(last) // self.step * self.step
        return [int(n) for n in last[len(last) - whole :].reshape(-1, self.step).sum(axis=1)]


def courses(
    acts: Acts, subjects: list[Subject], now: int, days: int, tick: Callable[[], None]
) -> tuple[list[Course], int]:
    """What may have changed within the last ``days``, with its chance, and how many questions were asked."""
    first = int(acts.at[0]) // DAY
    total = max(now // DAY, int(acts.at[-1]) // DAY) - first + 1
    time = _Time((acts.at // DAY - first).astype(np.int64), total, max(0, total - days), max(1, days // BINS))
    everything = time.counts()
    looks = 1 + len(subjects)  # a subject is new, silent or neither, so it is asked one question
    found = []
    line = time.bins(everything)
    whole = trend(line)
    before, within = _sides(everything, time)
    if whole.p < 1 and max(whole.change, 1 / max(whole.change, 1e-9)) >= _TIMES:
        found.append(Course("rising" if whole.slope > 0 else "falling", None, before, within, whole.p, line))
    recent = max(0, total - 2 * days)
    busy = everything > 0
    for subject in subjects:
        tick()
        some = time.counts(subject.acts)
        course = _course(subject, some, everything, busy, time, recent)
        if course is not None:
            found.append(course)
    return found, looks


def _sides(counts: Numbers, time: _Time) -> tuple[int, int]:
    """The acts of the equally long time before the horizon, and of the horizon."""
    early = max(0, 2 * time.start - time.total)
    return int(counts[early : time.start].sum()), int(counts[time.start :].sum())


def _course(
    subject: Subject, some: Numbers, everything: Numbers, busy: Numbers, time: _Time, recent: int
) -> Course | None:
    """The one thing a subject did that chance explains least, if any."""
    came = some > 0
    days, active = int(came.sum()), int(busy.sum())
    late = int(busy[time.start :].sum())
    before, within = _sides(some, time)
    bins = time.bins(some)
    if not came[: time.start].any():
        return Course("new", subject, before, within, all_in(days, late, active), bins)
    if not came[time.start :].any() and late:
        # Counted from its first day on: before it began it could not be silent.
        first = int(np.flatnonzero(came)[0])
        since = int(busy[first:].sum())
        return Course("silent", subject, before, within, all_in(days - 1, since - 1 - late, since - 1), bins)
    moved = drift(some[recent:], everything[recent:])
    if moved is None:
        return None
    ratio = (moved.after + 1e-9) / (moved.before + 1e-9)
    if max(ratio, 1 / ratio) < _TIMES:
        return None
    return Course("rising" if ratio > 1 else "falling", subject, before, within, moved.p, bins)
