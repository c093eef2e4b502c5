"""Sentences: each sign in time as a sentence, and the dates and counts it rests on."""

from __future__ import annotations

from typing import Any

from polymnia.engine.analysis.temporal.beats import WEEKDAYS, Gap, Hours, Week
from polymnia.engine.analysis.temporal.levels import Stretch, Turn
from polymnia.engine.analysis.temporal.looking import Calendar, Fading, Sign
from polymnia.engine.analysis.temporal.subjects import Drift
from polymnia.engine.analysis.temporal.trends import Trend
from polymnia.engine.text.calendar import moment

__all__ = [
    "Told", "burst_told", "date_of", "drift_told", "fading_told", "gap_told", "plural", "rhythm_told", "trend_told",
    "turn_told",
]  # fmt: skip

Told = tuple[str, dict[str, Any]]

_ZONE = "UTC"


def date_of(microseconds: int) -> str:
    """The day of a time."""
    return moment(microseconds)[:10]


def plural(count: int, one: str) -> str:
    """A count with its word: 1 change, 2 changes."""
    return f"{count:,} {one}" if count == 1 else f"{count:,} {one}s"


def burst_told(about: str, one: Stretch, days: Calendar, sign: Sign) -> Told:
    """More was done than expected."""
    start, end = days.moment(one.start), days.moment(one.stop)
    span = date_of(start) if one.stop - one.start == 1 else f"{date_of(start)} to {date_of(end - 1)}"
    against = "of all that was done then" if sign.subject else "at the usual rate"
    times = f", {one.count / one.expected:.1f} times as many" if one.expected >= 0.1 else ""
    summary = (
        f"{about} had a burst ({span}): {plural(one.count, 'change')} where {one.expected:.1f} were to be expected "
        f"{against}{times}."
    )
    return summary, {
        "start": moment(start), "end": moment(end), "days": one.stop - one.start, "count": one.count,
        "expected": round(one.expected, 2),
    }  # fmt: skip


def rhythm_told(about: str, one: Week | Hours) -> Told:
    """The course of a week or of a day."""
    if isinstance(one, Hours):
        span = f"{one.start:02}:00 to {one.stop:02}:00"
        summary = f"{about} has a daily rhythm: {one.share:.0%} of the changes come from {span} {_ZONE}."
        return summary, {
            "period": "day", "from_hour": one.start, "to_hour": one.stop, "share": round(one.share, 3),
            "strength": round(one.strength, 3), "days": one.days, "by_hour": one.counts, "time_zone": _ZONE,
        }  # fmt: skip
    busy = [WEEKDAYS[d] for d in sorted(one.busy, key=lambda d: (-one.means[d], d))]
    quiet = [WEEKDAYS[d] for d in sorted(one.quiet, key=lambda d: (one.means[d], d))]
    parts = ([f"most on {', '.join(busy)}"] if busy else []) + ([f"least on {', '.join(quiet)}"] if quiet else [])
    summary = f"{about} has a weekly rhythm: {'; '.join(parts) or 'days of the week differ'} ({_ZONE})."
    return summary, {
        "period": "week", "busy": busy, "quiet": quiet, "strength": round(one.strength, 3),
        "a_day": {WEEKDAYS[d]: round(one.means[d], 2) for d in range(7)}, "time_zone": _ZONE,
    }  # fmt: skip


def trend_told(about: str, one: Trend, days: Calendar) -> Told:
    """A steady rise or fall."""
    each = "week" if days.step == 7 else "day" if days.step == 1 else f"{days.step} days"
    end = days.moment(len(days.counts))
    summary = (
        f"{about} is {one.direction}: from {one.first:.1f} changes a {each} to {one.last:.1f} "
        f"({one.slope:+.1%} each {each})."
    )
    return summary, {
        "direction": one.direction, "first": round(one.first, 2), "last": round(one.last, 2), "per": each,
        "change": round(one.change, 3), "slope": round(one.slope, 4), "points": one.points,
        "start": moment(days.moment(len(days.counts) - one.points * days.step)), "end": moment(end),
    }  # fmt: skip


def turn_told(about: str, one: Turn, days: Calendar) -> Told:
    """A new level from a day on."""
    at = days.moment(one.day)
    word = "rose" if one.after > one.before else "fell"
    summary = f"{about} {word} on {date_of(at)}: {one.before * 7:.1f} changes a week before, {one.after * 7:.1f} after."
    return summary, {
        "at": moment(at), "before_per_week": round(one.before * 7, 2), "after_per_week": round(one.after * 7, 2),
        "direction": "rising" if one.after > one.before else "falling",
    }  # fmt: skip


def drift_told(about: str, one: Drift, days: Calendar) -> Told:
    """A subject that takes more or less of what is done."""
    word = "rising" if one.after > one.before else "falling"
    summary = (
        f"{about} is {word}: {one.before:.0%} of the changes in the earlier half, {one.after:.0%} in the later one."
    )
    return summary, {
        "direction": word, "share_before": round(one.before, 3), "share_after": round(one.after, 3),
        "start": moment(days.moment(0)), "end": moment(days.moment(len(days.counts))),
    }  # fmt: skip


def gap_told(about: str, one: Gap, days: Calendar) -> Told:
    """Days on which nothing was done."""
    start, end, long = days.moment(one.start), days.moment(one.stop), one.stop - one.start
    said = "has been silent since" if one.open else "was silent from"
    until = "" if one.open else f" to {date_of(end - 1)}"
    summary = (
        f"{about} {said} {date_of(start)}{until}: {plural(long, 'day')} without a change, where nine of ten gaps "
        f"are at most {plural(int(one.usual), 'day')}."
    )
    return summary, {
        "start": moment(start), "end": moment(end), "days": long, "usual_days": round(one.usual, 1), "ongoing": one.open
    }  # fmt: skip


def fading_told(about: str, one: Fading, days: Calendar) -> Told:
    """A subject that comes up no more."""
    last = days.moment(one.day)
    summary = f"{about} has not come up since {date_of(last)}, on {plural(one.active_days, 'active day')} since then."
    return summary, {"last": moment(last), "active_days_since": one.active_days}
