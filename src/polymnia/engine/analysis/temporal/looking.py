"""Looking: every question about time that is asked of a project, and what the answers are worth together."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.temporal.acts import DAY, HOUR, Acts
from polymnia.engine.analysis.temporal.beats import Gap, Hours, Week, gaps, hours, week
from polymnia.engine.analysis.temporal.chances import confidence, held
from polymnia.engine.analysis.temporal.levels import Stretch, Turn, bursts, turns
from polymnia.engine.analysis.temporal.subjects import Drift, Subject, drift, fallen_silent
from polymnia.engine.analysis.temporal.trends import LEAST, Trend, fitted, trend

__all__ = ["Calendar", "Fading", "Sign", "calendar", "look"]

_RESTING = 0.2  # of the usual number, up to which a day of the week is one of rest
_SURE = 0.01  # the chance up to which a rhythm is taken into what is expected of a day
_DOUBT = 0.05  # and up to which a silence ends the time that other questions are about
_DRIFTED = 1.5  # times the share, from which a subject has risen or fallen
_NEAR = 7  # days; a level that ends where a silence begins is told by the silence
_GRAIN = 0.05  # of the usual number is expected of the quietest day

Numbers = np.ndarray[Any, np.dtype[Any]]
Answer = Stretch | Turn | Trend | Hours | Week | Gap | Drift


class Fading(Struct, frozen=True):
    """A subject that has not come up since ``day``, on so many active days."""

    day: int
    active_days: int
    p: float


class Calendar(Struct, frozen=True):
    """The acts of each day. ``first`` is the first day, counted from 1970; ``of`` the day of each act."""

    first: int
    counts: Numbers
    of: Numbers

    def moment(self, day: int) -> int:
        """The time a day begins, in microseconds."""
        return (self.first + day) * DAY

    @property
    def step(self) -> int:
        """How many days are one count of a trend: a week, or less where there are not eight of them."""
        return 7 if len(self.counts) >= 7 * LEAST else max(1, len(self.counts) // LEAST)

    def binned(self, counts: Numbers) -> list[int]:
        """The counts of equally long times up to the last day; the oldest days that fill none are left out."""
        whole = len(counts) // self.step * self.step
        return [int(n) for n in counts[len(counts) - whole :].reshape(-1, self.step).sum(axis=1)]


class Sign(Struct, frozen=True):
    """An answer that may be a finding, on which subject, its chance, and how sure it is among all the looks."""

    name: str
    answer: Answer | Fading
    p: float
    subject: Subject | None = None
    sure: float = 0.0


def calendar(acts: Acts, end: int) -> Calendar:
    """The days from the first act up to ``end``; the day that is not over counts when something was done on it."""
    day = acts.at // DAY
    first = int(day[0])
    last = max(int(day[-1]), end // DAY - 1)
    of = (day - first).astype(np.int64)
    return Calendar(first, np.bincount(of, minlength=last - first + 1), of)


def look(acts: Acts, days: Calendar, subjects: list[Subject], tick: Callable[[], None]) -> list[Sign]:
    """All signs of a project and of its subjects, each with how sure it is among all looks."""
    signs: list[Sign] = []
    counts = days.counts
    looks = 6
    rhythm = week(counts, days.first)
    resting = _resting(rhythm, days) if rhythm and rhythm.p <= _SURE else None
    signs += [Sign("silence", gap, gap.p) for gap in gaps(counts > 0, resting)]
    ended = next((sign.answer for sign in signs if isinstance(sign.answer, Gap) and sign.answer.open), None)
    if ended and ended.p <= _DOUBT:
        # What stopped is asked about up to its end: the silence is told for itself.
        counts = counts[: ended.start]
        rhythm = week(counts, days.first)
    if rhythm:
        signs.append(Sign("rhythm", rhythm, rhythm.p))
    tick()
    course = hours(acts.at[~acts.coarse])
    if course:
        signs.append(Sign("rhythm", course, course.p))
    binned = Calendar(days.first, counts, days.of)
    line = trend(binned.binned(counts))
    steps = turns(counts)
    tick()
    level = _level(counts, line, steps)
    if level == "steps":
        edges = [
            edge
            for sign in signs
            if isinstance(sign.answer, Gap) and sign.p <= _SURE
            for edge in (sign.answer.start, sign.answer.stop)
        ]
        signs += [Sign("change", turn, turn.p) for turn in steps if all(abs(turn.day - edge) > _NEAR for edge in edges)]
    else:
        signs.append(Sign("trend", line, line.p))
    expected = _expected(counts, days.first, level, steps, rhythm)
    signs += [Sign("burst", one, one.p) for one in _bursts(acts, days, counts, expected)]
    for subject in subjects:
        tick()
        looks += 3
        signs += _of_subject(subject, days, counts)
    chances = held([sign.p for sign in signs], looks)
    return [
        Sign(sign.name, sign.answer, sign.p, sign.subject, confidence(chance))
        for sign, chance in zip(signs, chances, strict=True)
    ]


def _bursts(acts: Acts, days: Calendar, counts: Numbers, expected: Numbers) -> list[Stretch]:
    """Bursts of acts, and of hours with an act: where sittings differ much, the latter tell more. Both are looks."""
    hour = np.where(acts.coarse, -1 - np.arange(len(acts)), acts.at // HOUR)
    _, at = np.unique(hour, return_index=True)
    sittings = np.bincount(days.of[at], minlength=len(counts))[: len(counts)]
    found: list[Stretch] = []
    for one in sorted(bursts(counts, expected) + bursts(sittings, expected), key=lambda one: one.p):
        if all(one.stop <= other.start or one.start >= other.stop for other in found):
            inside, mean = int(counts[one.start : one.stop].sum()), float(expected[one.start : one.stop].sum())
            rate = (float(counts.sum()) - inside) / max(float(expected.sum()) - mean, 1e-9)
            found.append(Stretch(one.start, one.stop, inside, rate * mean, min(1.0, 2 * one.p)))
    return found


def _of_subject(subject: Subject, days: Calendar, counts: Numbers) -> list[Sign]:
    of = days.of[subject.acts]
    some = np.bincount(of[of < len(counts)], minlength=len(counts))
    found = []
    moved = drift(some, counts)
    if moved is None:
        return []
    ratio = (moved.after + 1e-9) / (moved.before + 1e-9)
    fading = fallen_silent(some, counts)
    if max(ratio, 1 / ratio) >= _DRIFTED:
        found.append(Sign("trend", moved, moved.p, subject))
    if fading:
        found.append(Sign("silence", Fading(*fading), fading[2], subject))
    found += [Sign("burst", one, one.p, subject) for one in bursts(some, counts.astype(float))]
    return found


def _resting(rhythm: Week, days: Calendar) -> Numbers:
    usual = float(days.counts.mean())
    rest = [d for d in range(7) if rhythm.means[d] <= _RESTING * usual]
    return np.isin((days.first + 3 + np.arange(len(days.counts))) % 7, rest)


def _level(counts: Numbers, line: Trend, steps: list[Turn]) -> str:
    """What describes the counts best: ``flat``, a ``line`` or ``steps`` (by their likelihood, and BIC)."""
    straight = line.p <= _DOUBT
    if not straight or not steps:
        return "line" if straight else "steps" if steps else "flat"
    y = counts.astype(float)
    on_line, on_steps = fitted(y), _steps(y, steps)
    noise = max(1.0, float(((y - on_steps) ** 2 / np.maximum(on_steps, 1e-9)).sum()) / max(1, len(y) - len(steps) - 1))
    penalty = math.log(len(y))
    one = _deviance(y, on_line) / noise + penalty
    many = _deviance(y, on_steps) / noise + 2 * len(steps) * penalty
    return "line" if one <= many else "steps"


def _steps(counts: Numbers, steps: list[Turn]) -> Numbers:
    edges = [0, *(turn.day for turn in steps), len(counts)]
    levels = np.empty(len(counts))
    for start, stop in pairwise(edges):
        levels[start:stop] = counts[start:stop].mean()
    return levels


def _deviance(y: Numbers, level: Numbers) -> float:
    level = np.maximum(level, 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(y > 0, y * np.log(y / level), 0.0)
    return float(2 * (parts - (y - level)).sum())


def _expected(counts: Numbers, first: int, level: str, steps: list[Turn], rhythm: Week | None) -> Numbers:
    """What is to be expected of each day, from the course of the counts and of the week."""
    calm = np.minimum(counts, max(1.0, float(np.quantile(counts, 0.95)))).astype(float)
    expected = fitted(calm) if level == "line" else _steps(calm, steps) if level == "steps" else np.ones(len(counts))
    if rhythm and rhythm.p <= _SURE:
        of = (first + 3 + np.arange(len(counts))) % 7
        means = np.array([float(calm[of == d].mean()) for d in range(7)])
        expected = expected * np.maximum(means / max(float(calm.mean()), 1e-9), _GRAIN)[of]
    return np.asarray(np.maximum(expected, _GRAIN * float(expected.mean())))
