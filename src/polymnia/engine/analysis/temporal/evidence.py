"""Evidence: the dates and counts that each sign in time rests on."""

from __future__ import annotations

from typing import Any

from polymnia.engine.analysis.temporal.beats import WEEKDAYS, Gap, Hours, Week
from polymnia.engine.analysis.temporal.levels import Stretch, Turn
from polymnia.engine.analysis.temporal.looking import Calendar, Fading
from polymnia.engine.analysis.temporal.subjects import Drift
from polymnia.engine.analysis.temporal.trends import Trend
from polymnia.engine.text.calendar import moment

__all__ = ["evidence"]

_ZONE = "UTC"


def evidence(one: Stretch | Week | Hours | Trend | Turn | Drift | Gap | Fading, days: Calendar) -> dict[str, Any]:
    """What an answer rests on, for the user."""
    match one:
        case Stretch():
            return {
                "start": moment(days.moment(one.start)), "end": moment(days.moment(one.stop)),
                "days": one.stop - one.start, "count": one.count, "expected": round(one.expected, 2),
            }  # fmt: skip
        case Hours():
            return {
                "period": "day", "from_hour": one.start, "to_hour": one.stop, "share": round(one.share, 3),
                "strength": round(one.strength, 3), "days": one.days, "by_hour": one.counts, "time_zone": _ZONE,
            }  # fmt: skip
        case Week():
            return {
                "period": "week", "busy": [WEEKDAYS[d] for d in sorted(one.busy, key=lambda d: (-one.means[d], d))],
                "quiet": [WEEKDAYS[d] for d in sorted(one.quiet, key=lambda d: (one.means[d], d))],
                "strength": round(one.strength, 3),
                "a_day": {WEEKDAYS[d]: round(one.means[d], 2) for d in range(7)}, "time_zone": _ZONE,
            }  # fmt: skip
        case Trend():
            return {
                "direction": one.direction, "first": round(one.first, 2), "last": round(one.last, 2),
                "per": "week" if days.step == 7 else "day" if days.step == 1 else f"{days.step} days",
                "change": round(one.change, 3), "slope": round(one.slope, 4), "points": one.points,
                "start": moment(days.moment(len(days.counts) - one.points * days.step)),
                "end": moment(days.moment(len(days.counts))),
            }  # fmt: skip
        case Turn():
            return {
                "at": moment(days.moment(one.day)), "before_per_week": round(one.before * 7, 2),
                "after_per_week": round(one.after * 7, 2),
                "direction": "rising" if one.after > one.before else "falling",
            }  # fmt: skip
        case Drift():
            return {
                "direction": "rising" if one.after > one.before else "falling",
                "share_before": round(one.before, 3), "share_after": round(one.after, 3),
                "start": moment(days.moment(0)), "end": moment(days.moment(len(days.counts))),
            }  # fmt: skip
        case Gap():
            return {
                "start": moment(days.moment(one.start)), "end": moment(days.moment(one.stop)),
                "days": one.stop - one.start, "usual_days": round(one.usual, 1), "ongoing": one.open,
            }  # fmt: skip
        case Fading():
            return {"last": moment(days.moment(one.day)), "active_days_since": one.active_days}
