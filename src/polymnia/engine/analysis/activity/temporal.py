"""Temporal patterns: bursts, rhythms, trends and silences, in UTC (docs/decisions/0028-rhythms.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.activity.changes import DAY, HOUR, Acts, Subject, acts_of, subjects_of
from polymnia.engine.analysis.activity.series import (
    LEAST_COUNTS,
    Burst,
    LevelChange,
    Trend,
    bursts,
    fitted,
    level_change,
    trend,
)
from polymnia.engine.analysis.findings import Finding, Findings, Remark, example
from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.probability import LEAST, confidence, even_chi_square, holm, longest_gap
from polymnia.engine.text.calendar import moment
from polymnia.importing import importing
from polymnia.models import JsonObject, Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ACTS, _ACTIVE, _DAYS = 20, 8, 14  # no test has power with fewer changes, active days or days
_WEEKS = 4  # at least, for a weekly rhythm
_RESTING = 0.2  # of the mean count, up to which a weekday is a day of rest
_SURE = 0.01  # the p value up to which a rhythm is part of the expected counts,
_DOUBT = 0.05  # and up to which a silence ends the period of the other tests
_NEAR = 7  # days; a level that ends where a silence begins is explained by it
_GRAIN = 0.05  # of the mean count is expected of the quietest day
_FULL = 0.8  # of all changes are in the hours that are named
_MORE = 1.2  # times the mean, from which a weekday is named
_LONGER, _SHORTEST = 3.0, 3  # times the usual gap, and days, from which a gap is a silence
_EXAMPLES = 5
_WORDS = 6
_READ = 300  # texts of a burst that its words are taken from, and as many for comparison


class Calendar(Struct, frozen=True):
    """The changes of each day. ``first`` is the first day, counted from 1970; ``of`` is the day of each change."""

    first: int
    counts: Numbers
    of: Numbers

    def moment(self, day: int, before: int = 0) -> str:
        """The start of a day, or so many microseconds before it."""
        return moment((self.first + day) * DAY - before)

    def span(self, start: int, stop: int) -> JsonObject:
        """Days from ``start`` up to ``stop`` (excluded) as evidence."""
        return {"start": self.moment(start), "end": self.moment(stop), "days": stop - start}

    @property
    def weekdays(self) -> Numbers:
        """The weekday of each day, Monday being 0; 1970 began on a Thursday."""
        return (self.first + 3 + np.arange(len(self.counts))) % 7


class Sign(Struct, frozen=True, kw_only=True):
    """A candidate for a finding: its p value, and the days and the subject it is about."""

    name: str
    p: float
    evidence: JsonObject
    span: tuple[int, int] | None = None
    subject: Subject | None = None


def temporal_patterns(project: ProjectView, *, least: float = LEAST) -> Findings:
    """When a project was worked on: ``burst``, ``rhythm``, ``trend``, ``change`` (of level) and ``silence``."""
    end = project.now if project.end is None else min(project.end, project.now)
    by_id = project.known
    if project.focus is not None:
        by_id = {id: record for id, record in by_id.items() if id == project.focus}
    acts = acts_of(project, by_id, end)
    if not len(acts):
        return Findings(looked_at={"changes": 0}, notes=[Remark("activity.no_changes")])
    day = acts.at // DAY
    first = int(day[0])
    # The current day counts only if something was done on it.
    days = Calendar(first, np.bincount(day - first, minlength=max(int(day[-1]) + 1, end // DAY) - first), day - first)
    active = int((days.counts > 0).sum())
    looked_at = {
        "changes": len(acts),
        "active_days": active,
        "days": len(days.counts),
        "first": moment(int(acts.at[0])),
        "last": moment(int(acts.at[-1])),
        "time_zone": "UTC",
    }
    counts = {"changes": len(acts), "active": active}
    if len(acts) < _ACTS or active < _ACTIVE or len(days.counts) < _DAYS:
        few = {"days": len(days.counts), "since": looked_at["first"], "needed": (_ACTS, _ACTIVE, _DAYS)}
        return Findings(looked_at=looked_at, notes=[Remark("activity.few_changes", counts | few)])
    subjects = [] if project.focus is not None else subjects_of(acts, by_id, project.tick)
    looked_at["subjects"] = len(subjects)
    signs = _signs(acts, days, subjects, project.tick)
    found = []
    for sign, p in zip(signs, holm([sign.p for sign in signs], 6 + len(subjects)), strict=True):
        if (sure := confidence(p)) >= least:
            project.tick()
            found.append(_finding(sign, sure, acts, days, by_id, project))
    found.sort(key=lambda one: -one.confidence)
    notes = [] if found else [Remark("activity.no_time_pattern", counts)]
    if len(days.counts) < 7 * _WEEKS:
        notes.append(Remark("activity.under_four_weeks"))
    if acts.brought.any():
        notes.append(Remark("activity.imported", {"changes": int(acts.brought.sum())}))
    return Findings(patterns=found, looked_at=looked_at, notes=notes)


def _signs(acts: Acts, days: Calendar, subjects: list[Subject], tick: Callable[[], None]) -> list[Sign]:
    rhythm, means = _weekly(days)
    resting = np.zeros(len(days.counts), bool)
    if rhythm and rhythm.p <= _SURE:
        resting = (means <= _RESTING * float(days.counts.mean()))[days.weekdays]
    signs = _silences(days, resting)
    ongoing = next((one for one in signs if one.evidence["ongoing"]), None)
    if ongoing and ongoing.span and ongoing.p <= _DOUBT:
        # The other tests end where the silence begins, which is a finding of its own.
        days = Calendar(days.first, days.counts[: ongoing.span[0]], days.of)
        rhythm, _ = _weekly(days)
    tick()
    signs += [one for one in (rhythm, _daily(acts.at[~acts.coarse])) if one]
    step = 7 if len(days.counts) >= 7 * LEAST_COUNTS else max(1, len(days.counts) // LEAST_COUNTS)
    whole = days.counts[len(days.counts) % step :]  # without the oldest days that fill no step
    line, turn = trend(whole.reshape(-1, step).sum(axis=1).tolist()), level_change(days.counts)
    tick()
    if turn and line.p <= _DOUBT and not _steps(days.counts, turn):
        turn = None
    edges = [edge for one in signs if one.p <= _SURE for edge in one.span or ()]
    if turn is None:
        signs.append(_trend(line, days, step))
    elif all(abs(turn.day - edge) > _NEAR for edge in edges):
        signs.append(_change(turn, days))
    expected = _expected(days, line, turn, bool(rhythm and rhythm.p <= _SURE))
    signs += [_burst(one, days) for one in _bursts(acts, days, expected)]
    for subject in subjects:
        tick()
        of = days.of[subject.acts]
        own = np.bincount(of[of < len(days.counts)], minlength=len(days.counts))
        signs += [_burst(one, days, subject) for one in bursts(own, days.counts.astype(float))]
    return signs


def _daily(times: Numbers) -> Sign | None:
    """The daily rhythm (Rayleigh's test with a vector for each day on a clock of 24 hours); None of too few days."""
    angle = (times % DAY) * (2 * math.pi / DAY)
    _, of = np.unique(times // DAY, return_inverse=True)
    count = np.bincount(of)
    n = len(count)
    if n < _ACTIVE:
        return None
    # A day with more changes has a longer vector, but not in proportion.
    size = np.sqrt(count)
    x, y = np.bincount(of, np.cos(angle)) / size, np.bincount(of, np.sin(angle)) / size
    z = (float(x.sum()) ** 2 + float(y.sum()) ** 2) / max(float((x**2 + y**2).sum()), 1e-300)
    # The second term is Greenwood and Durand's correction for few days.
    p = min(1.0, math.exp(-z) * max(0.0, 1 + (2 * z - z**2) / (4 * n))) if z < n else 0.0
    by_hour = np.bincount(((times % DAY) // HOUR).astype(int), minlength=24)
    start, width = _core(by_hour)
    evidence = {
        "period": "day",
        "from_hour": start,
        "to_hour": (start + width) % 24,
        "share": round(float(np.take(by_hour, range(start, start + width), mode="wrap").sum() / len(times)), 3),
        "strength": round(math.hypot(float(np.cos(angle).mean()), float(np.sin(angle).mean())), 3),
        "days": n,
        "by_hour": by_hour.tolist(),
        "time_zone": "UTC",
    }
    return Sign(name="rhythm", p=max(p, math.exp(-n)), evidence=evidence)


def _core(by_hour: Numbers) -> tuple[int, int]:
    """The start and the length of the shortest run of hours with most of the changes."""
    twice = np.concatenate([[0], np.cumsum(np.concatenate([by_hour, by_hour]))])
    for width in range(1, 24):
        inside = twice[width : width + 24] - twice[:24]
        if inside.max() >= _FULL * by_hour.sum():
            return int(np.argmax(inside)), width
    return 0, 24


def _weekly(days: Calendar) -> tuple[Sign | None, Numbers]:
    """The weekly rhythm (Kruskal-Wallis), and the mean of each weekday; None under four weeks."""
    counts, of = days.counts, days.weekdays
    if len(counts) < 7 * _WEEKS:
        return None, np.zeros(7)
    _, at = np.unique(counts, return_inverse=True)
    many = np.bincount(at)
    ranks = (np.cumsum(many) - (many - 1) / 2)[at]
    spread = float(((ranks - ranks.mean()) ** 2).sum())
    means = np.bincount(of, counts, 7) / np.bincount(of, minlength=7)
    if spread <= 0:
        return None, means
    between = sum(int((of == d).sum()) * float(ranks[of == d].mean() - ranks.mean()) ** 2 for d in range(7))
    usual = float(counts.mean())
    evidence = {
        "period": "week",
        "busy": [_WEEKDAYS[d] for d in np.argsort(-means, kind="stable") if means[d] >= _MORE * usual],
        "quiet": [_WEEKDAYS[d] for d in np.argsort(means, kind="stable") if means[d] * _MORE <= usual],
        "strength": round(between / spread, 3),
        "a_day": {_WEEKDAYS[d]: round(float(means[d]), 2) for d in range(7)},
        "time_zone": "UTC",
    }
    p = even_chi_square((len(counts) - 1) * between / spread, 6)
    return Sign(name="rhythm", p=p, evidence=evidence), means


def _silences(days: Calendar, resting: Numbers) -> list[Sign]:
    """Gaps far longer than the usual ones of the project; days of rest do not count."""
    active = days.counts > 0
    place = np.flatnonzero(~resting | active)
    marked = np.flatnonzero(active[place])
    if len(marked) < 2:
        return []
    total = len(place)
    ends = np.append(marked[1:], total)
    empty = ends - marked - 1
    found = []
    for at in sorted(np.flatnonzero(empty >= _SHORTEST).tolist(), key=lambda i: (-int(empty[i]), i)):
        size = int(empty[at])
        usual = max(1.0, float(np.quantile(np.delete(empty, at), 0.9)))
        if size < _LONGER * usual:
            continue
        p = longest_gap(size, len(marked), total)
        if p > 0.5:
            break
        lasts = bool(ends[at] >= total)
        span = int(place[marked[at]]) + 1, len(active) if lasts else int(place[ends[at]])
        evidence = days.span(*span) | {"usual_days": round(usual, 1), "ongoing": lasts}
        found.append(Sign(name="silence", p=p, evidence=evidence, span=span))
    return found


def _trend(line: Trend, days: Calendar, step: int) -> Sign:
    evidence = {
        "direction": line.direction,
        "first": round(line.first, 2),
        "last": round(line.last, 2),
        "per": "week" if step == 7 else "day" if step == 1 else f"{step} days",
        "change": round(line.change, 3),
        "slope": round(line.slope, 4),
        "points": line.points,
        "start": days.moment(len(days.counts) - line.points * step),
        "end": days.moment(len(days.counts)),
    }
    return Sign(name="trend", p=line.p, evidence=evidence)


def _change(turn: LevelChange, days: Calendar) -> Sign:
    evidence = {
        "at": days.moment(turn.day),
        "before_per_week": round(turn.before * 7, 2),
        "after_per_week": round(turn.after * 7, 2),
        "direction": "rising" if turn.after > turn.before else "falling",
    }
    return Sign(name="change", p=turn.p, evidence=evidence)


def _steps(counts: Numbers, turn: LevelChange) -> bool:
    """Whether a new level fits the counts better than a line (BIC)."""
    y = counts.astype(float)
    step = _stepped(y, turn)
    noise = max(1.0, float(((y - step) ** 2 / np.maximum(step, 1e-9)).sum()) / max(1, len(y) - 2))
    return (_deviance(y, fitted(y)[0]) - _deviance(y, step)) / noise > math.log(len(y))


def _stepped(counts: Numbers, turn: LevelChange) -> Numbers:
    before = np.arange(len(counts)) < turn.day
    return np.asarray(np.where(before, counts[before].mean(), counts[~before].mean()))


def _deviance(y: Numbers, level: Numbers) -> float:
    level = np.maximum(level, 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(y > 0, y * np.log(y / level), 0.0)
    return float(2 * (parts - (y - level)).sum())


def _expected(days: Calendar, line: Trend, turn: LevelChange | None, weekly: bool) -> Numbers:
    """The expected count of each day, from the trend or the level and the weekly rhythm."""
    calm = np.minimum(days.counts, max(1.0, float(np.quantile(days.counts, 0.95)))).astype(float)
    expected = _stepped(calm, turn) if turn else fitted(calm)[0] if line.p <= _DOUBT else np.ones(len(calm))
    if weekly:
        means = np.bincount(days.weekdays, calm, 7) / np.bincount(days.weekdays, minlength=7)
        expected = expected * np.maximum(means / max(float(calm.mean()), 1e-9), _GRAIN)[days.weekdays]
    return np.asarray(np.maximum(expected, _GRAIN * float(expected.mean())))


def _bursts(acts: Acts, days: Calendar, expected: Numbers) -> list[Burst]:
    """Bursts of changes, and of hours with a change: the latter show more where sessions differ much in size."""
    counts = days.counts
    hour = np.where(acts.coarse, -1 - np.arange(len(acts)), acts.at // HOUR)
    _, at = np.unique(hour, return_index=True)
    sessions = np.bincount(days.of[at], minlength=len(counts))[: len(counts)]
    found: list[Burst] = []
    for one in sorted(bursts(counts, expected) + bursts(sessions, expected), key=lambda one: one.p):
        if all(one.stop <= other.start or one.start >= other.stop for other in found):
            inside, mean = int(counts[one.start : one.stop].sum()), float(expected[one.start : one.stop].sum())
            rate = (float(counts.sum()) - inside) / max(float(expected.sum()) - mean, 1e-9)
            found.append(Burst(one.start, one.stop, inside, rate * mean, min(1.0, 2 * one.p)))  # two tests
    return found


def _burst(one: Burst, days: Calendar, subject: Subject | None = None) -> Sign:
    evidence = days.span(one.start, one.stop) | {"count": one.count, "expected": round(one.expected, 2)}
    return Sign(name="burst", p=one.p, evidence=evidence, span=(one.start, one.stop), subject=subject)


def _finding(
    sign: Sign, sure: float, acts: Acts, days: Calendar, by_id: dict[int, Record], project: ProjectView
) -> Finding:
    """A sign as a finding on the project or on the memory in focus."""
    evidence = sign.evidence
    details: JsonObject = {} if project.focus is None else {"focused": True}
    touched = sign.subject.acts if sign.subject else np.zeros(0, np.int64)
    if sign.span:
        details["last"] = days.moment(sign.span[1], 1)
    if sign.name == "burst" and sign.span:
        inside = np.flatnonzero((days.of >= sign.span[0]) & (days.of < sign.span[1]))
        touched = np.intersect1d(inside, touched) if sign.subject else inside
    # The records that still exist, the most changed first.
    ids, counts = np.unique(acts.memory[acts.touched(touched)], return_counts=True)
    records = [by_id[id] for id in ids[np.lexsort((ids, -counts))].tolist() if id in by_id]
    if sign.name == "burst":
        evidence = evidence | {
            "words": _words(records, by_id, project),
            "examples": [example(one) for one in records[:_EXAMPLES]],
        }
    if sign.subject:
        evidence = {"subject": {sign.subject.field: sign.subject.value}, **evidence}
    return Finding(
        type="temporal_patterns",
        name=sign.name,
        confidence=sure,
        evidence=evidence | {"p": float(f"{sign.p:.3g}")},
        details=details,
        members=tuple(one.id for one in records) if project.focus is None else (project.focus,),
    )


def _words(records: list[Record], by_id: dict[int, Record], project: ProjectView) -> list[str]:
    with importing():
        from polymnia.engine.analysis.topics import distinctive_terms

    inside = {one.id for one in records}
    others = [one for id, one in by_id.items() if id not in inside]
    others = others[:: max(1, len(others) // _READ)][:_READ]
    (terms,) = distinctive_terms(
        [[project.text(one) for one in records[:_READ]]], [project.text(one) for one in others]
    )
    return terms[:_WORDS]
