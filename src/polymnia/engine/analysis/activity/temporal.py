"""Temporal patterns: bursts, rhythms, trends and silences, in UTC (docs/decisions/0028-rhythms.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.activity.changes import (
    DAY,
    HOUR,
    SUBJECT_DAYS,
    Acts,
    Bulk,
    Subject,
    acts_of,
    drift,
    subjects_of,
)
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
from polymnia.engine.analysis.probability import LEAST, all_in, confidence, even_chi_square, held, longest_gap
from polymnia.engine.text.calendar import moment
from polymnia.importing import importing
from polymnia.models import JsonObject, Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_TYPE = "temporal_patterns"
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ACTS, _ACTIVE, _DAYS = 20, 8, 14  # with fewer acts, active days or days every test is blind
_WEEKS = 4  # without which there is no weekly rhythm
_RESTING = 0.2  # of the usual number, up to which a day of the week is one of rest
_SURE = 0.01  # the chance up to which a rhythm is taken into what is expected of a day
_DOUBT = 0.05  # and up to which a silence ends the time that other questions are about
_DRIFTED = 1.5  # times the share, from which a subject has risen or fallen
_NEAR = 7  # days; a level that ends where a silence begins is explained by the silence
_GRAIN = 0.05  # of the usual number is expected of the quietest day
_FULL = 0.8  # of all acts lie in the hours that are named
_MORE = 1.2  # times its share, from which a day of the week is named
_LONGER, _SHORTEST = 3.0, 3  # times what gaps usually are, and days, from which one is a silence
_EXAMPLES = 5
_WORDS = 6
_READ = 300  # texts of a burst that its words are taken from, and as many for what the rest says


class Calendar(Struct, frozen=True):
    """The acts of each day. ``first`` is the first day, counted from 1970; ``of`` the day of each act."""

    first: int
    counts: Numbers
    of: Numbers

    def moment(self, day: int, before: int = 0) -> str:
        """The time a day begins, or so many microseconds before that."""
        return moment((self.first + day) * DAY - before)

    def span(self, start: int, stop: int) -> JsonObject:
        """Days from one up to another (excluded) as evidence."""
        return {"start": self.moment(start), "end": self.moment(stop), "days": stop - start}

    @property
    def weekdays(self) -> Numbers:
        """The day of the week of each day, Monday being 0; the first day of 1970 was a Thursday."""
        return (self.first + 3 + np.arange(len(self.counts))) % 7


class Sign(Struct, frozen=True, kw_only=True):
    """An answer that may be a finding: its chance, and the days and the subject whose memories it is about."""

    name: str
    p: float
    evidence: JsonObject
    span: tuple[int, int] | None = None
    subject: Subject | None = None


def temporal_patterns(project: ProjectView, *, least: float = LEAST) -> Findings:
    """When things were done: ``burst``, ``rhythm``, ``trend``, ``change`` (of level), ``silence`` and ``bulk``."""
    end = project.now if project.end is None else min(project.end, project.now)
    by_id = project.known
    if project.focus is not None:
        by_id = {id: record for id, record in by_id.items() if id == project.focus}
    acts = acts_of(project, by_id, end)
    found = [one for one in (_bulk_pattern(bulk, acts, by_id) for bulk in acts.bulks) if one.confidence >= least]
    if not len(acts):
        return Findings(patterns=found, looked_at={"changes": 0}, notes=[Remark("activity.no_changes")])
    day = acts.at // DAY
    first = int(day[0])
    # The day that is not over counts when something was done on it.
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
    seen = {"changes": len(acts), "active": active}
    if len(acts) < _ACTS or active < _ACTIVE or len(days.counts) < _DAYS:
        few = {"days": len(days.counts), "since": looked_at["first"], "needed": (_ACTS, _ACTIVE, _DAYS)}
        return Findings(patterns=found, looked_at=looked_at, notes=[Remark("activity.few_changes", seen | few)])
    subjects = [] if project.focus is not None else subjects_of(acts, by_id, project.tick)
    looked_at["subjects"] = len(subjects)
    signs = _signs(acts, days, subjects, project.tick)
    for sign, chance in zip(signs, held([sign.p for sign in signs], 6 + 3 * len(subjects)), strict=True):
        if (sure := confidence(chance)) >= least:
            project.tick()
            found.append(_pattern(sign, sure, acts, days, by_id, project))
    found.sort(key=lambda one: -one.confidence)
    notes = [Remark("activity.no_time_pattern", seen)] if all(one.name == "bulk" for one in found) else []
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
    ended = next((one for one in signs if one.evidence["ongoing"]), None)
    if ended and ended.span and ended.p <= _DOUBT:
        # What stopped is asked about up to its end: the silence is a finding of its own.
        days = Calendar(days.first, days.counts[: ended.span[0]], days.of)
        rhythm, _ = _weekly(days)
    tick()
    signs += [one for one in (rhythm, _daily(acts.at[~acts.coarse])) if one]
    step = 7 if len(days.counts) >= 7 * LEAST_COUNTS else max(1, len(days.counts) // LEAST_COUNTS)
    whole = days.counts[len(days.counts) % step :]  # the oldest days that fill no count are left out
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
        signs += _of_subject(subject, days)
    return signs


def _daily(times: Numbers) -> Sign | None:
    """The course of a day (Rayleigh's test of the days' arrows on a clock of 24 hours); None where days are too few."""
    angle = (times % DAY) * (2 * math.pi / DAY)
    _, of = np.unique(times // DAY, return_inverse=True)
    count = np.bincount(of)
    n = len(count)
    if n < _ACTIVE:
        return None
    # A day's arrow is the mean of its acts, longer when there are more of them but not in proportion.
    size = np.sqrt(count)
    x, y = np.bincount(of, np.cos(angle)) / size, np.bincount(of, np.sin(angle)) / size
    z = (float(x.sum()) ** 2 + float(y.sum()) ** 2) / max(float((x**2 + y**2).sum()), 1e-300)
    # The second term is Greenwood and Durand's, which makes it right for few days as well.
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
    """The shortest stretch of hours that holds most of the acts, and its length; of equally long ones the fullest."""
    twice = np.concatenate([[0], np.cumsum(np.concatenate([by_hour, by_hour]))])
    for width in range(1, 24):
        inside = twice[width : width + 24] - twice[:24]
        if inside.max() >= _FULL * by_hour.sum():
            return int(np.argmax(inside)), width
    return 0, 24


def _weekly(days: Calendar) -> tuple[Sign | None, Numbers]:
    """The course of a week (Kruskal and Wallis), and the mean of each of its days; None under four weeks."""
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
    """Days without an act, for longer than the project's own gaps explain; resting days do not count."""
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
    """Whether a new level describes the counts better than a line (by their likelihood, and BIC)."""
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
    """What is to be expected of each day, from the course of the counts and of the week."""
    calm = np.minimum(days.counts, max(1.0, float(np.quantile(days.counts, 0.95)))).astype(float)
    expected = _stepped(calm, turn) if turn else fitted(calm)[0] if line.p <= _DOUBT else np.ones(len(calm))
    if weekly:
        means = np.bincount(days.weekdays, calm, 7) / np.bincount(days.weekdays, minlength=7)
        expected = expected * np.maximum(means / max(float(calm.mean()), 1e-9), _GRAIN)[days.weekdays]
    return np.asarray(np.maximum(expected, _GRAIN * float(expected.mean())))


def _bursts(acts: Acts, days: Calendar, expected: Numbers) -> list[Burst]:
    """Bursts of acts, and of hours with an act: where sittings differ much, the latter show more. Both are looks."""
    counts = days.counts
    hour = np.where(acts.coarse, -1 - np.arange(len(acts)), acts.at // HOUR)
    _, at = np.unique(hour, return_index=True)
    sittings = np.bincount(days.of[at], minlength=len(counts))[: len(counts)]
    found: list[Burst] = []
    for one in sorted(bursts(counts, expected) + bursts(sittings, expected), key=lambda one: one.p):
        if all(one.stop <= other.start or one.start >= other.stop for other in found):
            inside, mean = int(counts[one.start : one.stop].sum()), float(expected[one.start : one.stop].sum())
            rate = (float(counts.sum()) - inside) / max(float(expected.sum()) - mean, 1e-9)
            found.append(Burst(one.start, one.stop, inside, rate * mean, min(1.0, 2 * one.p)))
    return found


def _burst(one: Burst, days: Calendar, subject: Subject | None = None) -> Sign:
    evidence = days.span(one.start, one.stop) | {"count": one.count, "expected": round(one.expected, 2)}
    return Sign(name="burst", p=one.p, evidence=evidence, span=(one.start, one.stop), subject=subject)


def _of_subject(subject: Subject, days: Calendar) -> list[Sign]:
    counts = days.counts
    of = days.of[subject.acts]
    some = np.bincount(of[of < len(counts)], minlength=len(counts))
    moved = drift(some, counts)
    if moved is None:
        return []
    found = []
    if moved.times >= _DRIFTED:
        evidence = {
            "direction": moved.direction,
            "share_before": round(moved.before, 3),
            "share_after": round(moved.after, 3),
            "start": days.moment(0),
            "end": days.moment(len(counts)),
        }
        found.append(Sign(name="trend", p=moved.p, evidence=evidence, subject=subject))
    active = np.flatnonzero(counts > 0)
    came = np.flatnonzero(some[active] > 0)
    if len(came) >= SUBJECT_DAYS:
        since, last = len(active) - int(came[0]), int(came[-1] - came[0]) + 1
        evidence = {"last": days.moment(int(active[came[-1]])), "active_days_since": since - last}
        p = all_in(len(came) - 1, last - 1, since - 1)
        found.append(Sign(name="silence", p=p, evidence=evidence, subject=subject))
    return found + [_burst(one, days, subject) for one in bursts(some, counts.astype(float))]


def _pattern(
    sign: Sign, sure: float, acts: Acts, days: Calendar, by_id: dict[int, Record], project: ProjectView
) -> Finding:
    """A sign as a finding, of the project or of the one memory that the question is about."""
    evidence = sign.evidence
    details: JsonObject = {} if project.focus is None else {"focused": True}
    touched = sign.subject.acts if sign.subject else np.zeros(0, np.int64)
    if sign.span:
        details["last"] = days.moment(sign.span[1], 1)
    if sign.name == "burst" and sign.span:
        inside = np.flatnonzero((days.of >= sign.span[0]) & (days.of < sign.span[1]))
        touched = np.intersect1d(inside, touched) if sign.subject else inside
    # The records that are still there, the ones touched most first.
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
        type=_TYPE,
        name=sign.name,
        confidence=sure,
        evidence=evidence | {"p": float(f"{sign.p:.3g}")},
        details=details,
        members=tuple(one.id for one in records) if project.focus is None else (project.focus,),
    )


def _bulk_pattern(bulk: Bulk, acts: Acts, by_id: dict[int, Record]) -> Finding:
    """A call that touched very many memories; its confidence is that no call of the usual sizes is as large."""
    sizes = np.bincount(acts.act[~acts.brought[acts.act]], minlength=len(acts))
    others = np.delete(sizes, [one.act for one in acts.bulks if one.act >= 0])
    others = others[others > 0]
    usual = (float(others.sum()) + 2) / (len(others) + 1)
    p = min(1.0, (1 - 1 / max(usual, 1.0001)) ** (len(bulk.ids) - 1) * (len(others) + 1))
    records = [by_id[id] for id in dict.fromkeys(bulk.ids.tolist()) if id in by_id]
    return Finding(
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
            "examples": [example(one) for one in records[:_EXAMPLES]],
        },
        details={"usual": usual, "brought": bulk.act < 0},
        members=tuple(one.id for one in records),
    )


def _words(records: list[Record], by_id: dict[int, Record], project: ProjectView) -> list[str]:
    with importing():
        from polymnia.engine.analysis.topics import telling_terms

    inside = {one.id for one in records}
    others = [one for id, one in by_id.items() if id not in inside]
    others = others[:: max(1, len(others) // _READ)][:_READ]
    (terms,) = telling_terms([[project.text(one) for one in records[:_READ]]], [project.text(one) for one in others])
    return terms[:_WORDS]
