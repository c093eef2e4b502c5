"""Temporal patterns: bursts, rhythms, trends and silences of a project, measured against its own usual course.

Everything is asked of the acts in the journal (a call is one act), day by day and in UTC. Each question has a null
model in which nothing is going on; the chances of a project are corrected for all of its questions together.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.activity.changes import (
    DAY,
    HOUR,
    SUBJECT_DAYS,
    Acts,
    Bulk,
    Drift,
    Subject,
    acts_of,
    drift,
    subjects_of,
)
from polymnia.engine.analysis.activity.levels import LevelChange, Stretch, bursts, turn
from polymnia.engine.analysis.activity.rhythms import WEEKDAYS, Gap, Hours, Week, gaps, hours, week
from polymnia.engine.analysis.activity.trends import LEAST as LEAST_COUNTS
from polymnia.engine.analysis.activity.trends import Trend, fitted, trend
from polymnia.engine.analysis.findings import Findings, Pattern, Remark
from polymnia.engine.analysis.probability import LEAST, all_in, confidence, held
from polymnia.engine.content import title_of
from polymnia.engine.text.calendar import moment
from polymnia.importing import importing
from polymnia.models import JsonObject, Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_TYPE = "temporal_patterns"
_ACTS, _ACTIVE, _DAYS = 20, 8, 14  # with fewer acts, active days or days every test is blind
_RESTING = 0.2  # of the usual number, up to which a day of the week is one of rest
_SURE = 0.01  # the chance up to which a rhythm is taken into what is expected of a day
_DOUBT = 0.05  # and up to which a silence ends the time that other questions are about
_DRIFTED = 1.5  # times the share, from which a subject has risen or fallen
_NEAR = 7  # days; a level that ends where a silence begins is explained by the silence
_GRAIN = 0.05  # of the usual number is expected of the quietest day
_EXAMPLES = 5
_WORDS = 6
_READ = 300  # texts of a burst that its words are taken from, and as many for what the rest says

Numbers = np.ndarray[Any, np.dtype[Any]]


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

    def moment(self, day: int, before: int = 0) -> str:
        """The time a day begins, or so many microseconds before that."""
        return moment((self.first + day) * DAY - before)

    @property
    def step(self) -> int:
        """How many days are one count of a trend: a week, or less where there are not eight of them."""
        return 7 if len(self.counts) >= 7 * LEAST_COUNTS else max(1, len(self.counts) // LEAST_COUNTS)

    def binned(self) -> list[int]:
        """The counts of equally long times up to the last day; the oldest days that fill none are left out."""
        whole = len(self.counts) // self.step * self.step
        return [int(n) for n in self.counts[len(self.counts) - whole :].reshape(-1, self.step).sum(axis=1)]

    def weekdays(self) -> Numbers:
        """The day of the week of each day, Monday being 0; the first day of 1970 was a Thursday."""
        return (self.first + 3 + np.arange(len(self.counts))) % 7


class Sign(Struct, frozen=True):
    """An answer that may be a finding, on which subject, and how sure it is among all the looks."""

    name: str
    answer: Stretch | LevelChange | Trend | Hours | Week | Gap | Drift | Fading
    subject: Subject | None = None
    sure: float = 0.0


def temporal_patterns(project: ProjectView, *, least: float = LEAST) -> Findings:
    """When things were done: ``burst``, ``rhythm``, ``trend``, ``change`` (of level), ``silence`` and ``bulk``.

    Findings that are less sure than ``least`` are left out.
    """
    end = project.now if project.end is None else min(project.end, project.now)
    by_id = project.known
    if project.focus is not None:
        by_id = {id: record for id, record in by_id.items() if id == project.focus}
    acts = acts_of(project.touches, by_id, lambda at: project.within(at) and at <= end, project.tick)
    found = [one for one in (_bulk_pattern(bulk, acts, by_id) for bulk in acts.bulks) if one.confidence >= least]
    if not len(acts):
        return Findings(patterns=found, looked_at={"changes": 0}, notes=[Remark("activity.no_changes")])
    days = _calendar(acts, end)
    active = int((days.counts > 0).sum())
    looked_at = {
        "changes": len(acts),
        "active_days": active,
        "days": len(days.counts),
        "first": moment(int(acts.at[0])),
        "last": moment(int(acts.at[-1])),
        "time_zone": "UTC",
    }
    seen = {"changes": len(acts), "active": active}
    if len(acts) < _ACTS or active < _ACTIVE or len(days.counts) < _DAYS:
        few = {"days": len(days.counts), "since": looked_at["first"], "needed": (_ACTS, _ACTIVE, _DAYS)}
        return Findings(patterns=found, looked_at=looked_at, notes=[Remark("activity.few_changes", seen | few)])
    subjects = [] if project.focus is not None else subjects_of(acts, by_id, tick=project.tick)
    looked_at["subjects"] = len(subjects)
    for sign in _signs(acts, days, subjects, project.tick):
        if sign.sure >= least:
            project.tick()
            found.append(_pattern(sign, acts, days, by_id, project))
    found.sort(key=lambda one: -one.confidence)
    notes = [Remark("activity.no_time_pattern", seen)] if all(one.name == "bulk" for one in found) else []
    if len(days.counts) < 28:
        notes.append(Remark("activity.under_four_weeks"))
    if acts.brought.any():
        notes.append(Remark("activity.imported", {"changes": int(acts.brought.sum())}))
    return Findings(patterns=found, looked_at=looked_at, notes=notes)


def _fading(some: Numbers, all_: Numbers) -> Fading | None:
    """The last day a subject came up, on how many active days it has not since, and the chance of that."""
    days = np.flatnonzero(all_ > 0)
    came = np.flatnonzero(some[days] > 0)
    if len(came) < SUBJECT_DAYS:
        return None
    total, part = len(days) - int(came[0]), int(came[-1]) - int(came[0]) + 1
    return Fading(int(days[came[-1]]), total - part, all_in(len(came) - 1, part - 1, total - 1))


def _calendar(acts: Acts, end: int) -> Calendar:
    """The days from the first act up to ``end``; the day that is not over counts when something was done on it."""
    day = acts.at // DAY
    first = int(day[0])
    last = max(int(day[-1]), end // DAY - 1)
    return Calendar(first, np.bincount(day - first, minlength=last - first + 1), day - first)


def _signs(acts: Acts, days: Calendar, subjects: list[Subject], tick: Callable[[], None]) -> list[Sign]:
    """All signs of a project and of its subjects, each with how sure it is among all looks."""
    rhythm = week(days.counts, days.first)
    resting = None
    if rhythm and rhythm.p <= _SURE:
        rest = [d for d in range(7) if rhythm.means[d] <= _RESTING * float(days.counts.mean())]
        resting = np.isin(days.weekdays(), rest)
    silences = gaps(days.counts > 0, resting)
    signs = [Sign("silence", gap) for gap in silences]
    ended = next((gap for gap in silences if gap.open), None)
    if ended and ended.p <= _DOUBT:
        # What stopped is asked about up to its end: the silence is a finding of its own.
        days = Calendar(days.first, days.counts[: ended.start], days.of)
        rhythm = week(days.counts, days.first)
    signs += [Sign("rhythm", rhythm)] if rhythm else []
    tick()
    course = hours(acts.at[~acts.coarse])
    signs += [Sign("rhythm", course)] if course else []
    line, step = trend(days.binned()), turn(days.counts)
    tick()
    level = _level(days.counts, line, step)
    if level == "step" and step:
        edges = [edge for gap in silences if gap.p <= _SURE for edge in (gap.start, gap.stop)]
        signs += [Sign("change", step)] if all(abs(step.day - edge) > _NEAR for edge in edges) else []
    else:
        signs.append(Sign("trend", line))
    expected = _expected(days, level, step, rhythm)
    signs += [Sign("burst", one) for one in _bursts(acts, days, expected)]
    for subject in subjects:
        tick()
        signs += _of_subject(subject, days)
    chances = held([sign.answer.p for sign in signs], 6 + 3 * len(subjects))
    return [
        Sign(sign.name, sign.answer, sign.subject, confidence(chance))
        for sign, chance in zip(signs, chances, strict=True)
    ]


def _bursts(acts: Acts, days: Calendar, expected: Numbers) -> list[Stretch]:
    """Bursts of acts, and of hours with an act: where sittings differ much, the latter show more. Both are looks."""
    counts = days.counts
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


def _of_subject(subject: Subject, days: Calendar) -> list[Sign]:
    counts = days.counts
    of = days.of[subject.acts]
    some = np.bincount(of[of < len(counts)], minlength=len(counts))
    moved = drift(some, counts)
    if moved is None:
        return []
    found = []
    ratio = (moved.after + 1e-9) / (moved.before + 1e-9)
    if max(ratio, 1 / ratio) >= _DRIFTED:
        found.append(Sign("trend", moved, subject))
    if fading := _fading(some, counts):
        found.append(Sign("silence", fading, subject))
    return found + [Sign("burst", one, subject) for one in bursts(some, counts.astype(float))]


def _level(counts: Numbers, line: Trend, step: LevelChange | None) -> str:
    """What describes the counts best: ``flat``, a ``line`` or a ``step`` (by their likelihood, and BIC)."""
    straight = line.p <= _DOUBT
    if not straight or not step:
        return "line" if straight else "step" if step else "flat"
    y = counts.astype(float)
    on_step = _stepped(y, step)
    noise = max(1.0, float(((y - on_step) ** 2 / np.maximum(on_step, 1e-9)).sum()) / max(1, len(y) - 2))
    gain = (_deviance(y, fitted(y)) - _deviance(y, on_step)) / noise
    return "line" if gain <= math.log(len(y)) else "step"


def _stepped(counts: Numbers, step: LevelChange) -> Numbers:
    before = np.arange(len(counts)) < step.day
    return np.asarray(np.where(before, counts[before].mean(), counts[~before].mean()))


def _deviance(y: Numbers, level: Numbers) -> float:
    level = np.maximum(level, 1e-9)
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(y > 0, y * np.log(y / level), 0.0)
    return float(2 * (parts - (y - level)).sum())


def _expected(days: Calendar, level: str, step: LevelChange | None, rhythm: Week | None) -> Numbers:
    """What is to be expected of each day, from the course of the counts and of the week."""
    calm = np.minimum(days.counts, max(1.0, float(np.quantile(days.counts, 0.95)))).astype(float)
    expected = np.ones(len(calm))
    if level == "line":
        expected = fitted(calm)
    elif level == "step" and step:
        expected = _stepped(calm, step)
    if rhythm and rhythm.p <= _SURE:
        of = days.weekdays()
        means = np.array([float(calm[of == d].mean()) for d in range(7)])
        expected = expected * np.maximum(means / max(float(calm.mean()), 1e-9), _GRAIN)[of]
    return np.asarray(np.maximum(expected, _GRAIN * float(expected.mean())))


def _pattern(sign: Sign, acts: Acts, days: Calendar, by_id: dict[int, Record], project: ProjectView) -> Pattern:
    """A sign as a finding, of the project or of the one memory that the question is about."""
    evidence = _evidence(sign.answer, days)
    details: JsonObject = {} if project.focus is None else {"focused": True}
    touched = sign.subject.acts if sign.subject else np.zeros(0, np.int64)
    if isinstance(sign.answer, Stretch | Gap):
        details["last"] = days.moment(sign.answer.stop, 1)
    if isinstance(sign.answer, Stretch):
        inside = np.flatnonzero((days.of >= sign.answer.start) & (days.of < sign.answer.stop))
        touched = np.intersect1d(inside, touched) if sign.subject else inside
        records = _touched(acts, touched, by_id)
        evidence |= {"words": _words(records, by_id, project), "examples": _examples(records)}
    if sign.subject:
        evidence = {"subject": {sign.subject.field: sign.subject.value}, **evidence}
    members = (one.id for one in _touched(acts, touched, by_id))
    return Pattern(
        type=_TYPE,
        name=sign.name,
        confidence=sign.sure,
        evidence=evidence | {"p": float(f"{sign.answer.p:.3g}")},
        details=details,
        members=tuple(members) if project.focus is None else (project.focus,),
    )


def _evidence(one: Any, days: Calendar) -> JsonObject:
    """The dates and counts an answer rests on."""
    match one:
        case Stretch() | Gap():
            found = {"start": days.moment(one.start), "end": days.moment(one.stop), "days": one.stop - one.start}
            if isinstance(one, Gap):
                return found | {"usual_days": round(one.usual, 1), "ongoing": one.open}
            return found | {"count": one.count, "expected": round(one.expected, 2)}
        case Hours():
            return {
                "period": "day",
                "from_hour": one.start,
                "to_hour": one.stop,
                "share": round(one.share, 3),
                "strength": round(one.strength, 3),
                "days": one.days,
                "by_hour": one.counts,
                "time_zone": "UTC",
            }
        case Week():
            return {
                "period": "week",
                "busy": [WEEKDAYS[d] for d in sorted(one.busy, key=lambda d: (-one.means[d], d))],
                "quiet": [WEEKDAYS[d] for d in sorted(one.quiet, key=lambda d: (one.means[d], d))],
                "strength": round(one.strength, 3),
                "a_day": {WEEKDAYS[d]: round(one.means[d], 2) for d in range(7)},
                "time_zone": "UTC",
            }
        case Trend():
            return {
                "direction": one.direction,
                "first": round(one.first, 2),
                "last": round(one.last, 2),
                "per": "week" if days.step == 7 else "day" if days.step == 1 else f"{days.step} days",
                "change": round(one.change, 3),
                "slope": round(one.slope, 4),
                "points": one.points,
                "start": days.moment(len(days.counts) - one.points * days.step),
                "end": days.moment(len(days.counts)),
            }
        case LevelChange():
            return {
                "at": days.moment(one.day),
                "before_per_week": round(one.before * 7, 2),
                "after_per_week": round(one.after * 7, 2),
                "direction": "rising" if one.after > one.before else "falling",
            }
        case Drift():
            return {
                "direction": "rising" if one.after > one.before else "falling",
                "share_before": round(one.before, 3),
                "share_after": round(one.after, 3),
                "start": days.moment(0),
                "end": days.moment(len(days.counts)),
            }
    return {"last": days.moment(one.day), "active_days_since": one.active_days}


def _bulk_pattern(bulk: Bulk, acts: Acts, by_id: dict[int, Record]) -> Pattern:
    """A call that touched very many memories; its confidence is that no call of the usual sizes is as large."""
    sizes = np.bincount(acts.act[~acts.brought[acts.act]], minlength=len(acts))
    others = np.delete(sizes, [one.act for one in acts.bulks if one.act >= 0])
    others = others[others > 0]
    usual = (float(others.sum()) + 2) / (len(others) + 1)
    p = min(1.0, (1 - 1 / max(usual, 1.0001)) ** (len(bulk.ids) - 1) * (len(others) + 1))
    records = [by_id[id] for id in dict.fromkeys(bulk.ids.tolist()) if id in by_id]
    return Pattern(
        type=_TYPE,
        name="bulk",
        confidence=confidence(p),
        evidence={
            "at": moment(bulk.start),
            "end": moment(bulk.end),
            "who": bulk.who,
            "action": bulk.action,
            "memories": len(bulk.ids),
            "calls": bulk.calls,
            "done": ", ".join(f"{kind} {count:,}" for kind, count in sorted(bulk.how.items())),
            "examples": _examples(records),
        },
        details={"usual": usual, "brought": bulk.act < 0},
        members=tuple(one.id for one in records),
    )


def _examples(records: list[Record]) -> list[dict[str, str]]:
    return [{"id": one.uid, "title": title_of(one)} for one in records[:_EXAMPLES]]


def _touched(acts: Acts, chosen: Numbers, by_id: dict[int, Record]) -> list[Record]:
    """The records of some acts that are still there, the ones touched most first."""
    wanted = np.zeros(len(acts), bool)
    wanted[chosen] = True
    ids, counts = np.unique(acts.memory[wanted[acts.act]], return_counts=True)
    return [by_id[id] for id in ids[np.lexsort((ids, -counts))].tolist() if id in by_id]


def _words(records: list[Record], by_id: dict[int, Record], project: ProjectView) -> list[str]:
    """What the records of a burst are about and the others are not."""
    with importing():
        from polymnia.engine.analysis.topics import telling_terms

    inside = {one.id for one in records}
    others = [one for id, one in by_id.items() if id not in inside]
    others = others[:: max(1, len(others) // _READ)][:_READ]
    told = telling_terms(
        [[project.text(one) for one in records[:_READ]]], [project.text(one) for one in others]
    )  # fmt: skip
    return [str(term) for term in told[0][:_WORDS]] if told else []
