"""Activity in words: bursts, rhythms, trends, changes of level, silences and bulk calls."""

from __future__ import annotations

from collections.abc import Callable

from polymnia.dialects.content.reports import Description
from polymnia.dialects.content.reports.phrases import day, plural
from polymnia.engine.analysis.findings import Pattern

__all__ = ["DESCRIPTIONS", "REMARKS"]

_CORRECTED = (
    "The confidence is that of this chance, corrected for all looks at this project (Holm), when a pattern is as "
    "likely as not beforehand."
)


def _about(found: Pattern) -> str:
    for field, value in found.evidence.get("subject", {}).items():
        return f"The {field} “{value}”"
    return "The memory" if found.details.get("focused") else "The project"


def _burst(found: Pattern) -> Description:
    of = found.evidence
    span = day(of["start"]) if of["days"] == 1 else f"{day(of['start'])} to {day(found.details['last'])}"
    against = "of all that was done then" if "subject" in of else "at the usual rate"
    times = f", {of['count'] / of['expected']:.1f} times as many" if of["expected"] >= 0.1 else ""
    words = f" Much of it is about {', '.join(of['words'][:3])}." if of["words"] else ""
    return Description(
        f"{_about(found)} had a burst ({span}): {plural(of['count'], 'change')} where {of['expected']:.1f} were to be "
        f"expected {against}{times}.{words}",
        "Every stretch of 1 to 28 days was compared with the days outside of it; the chance is that of the most "
        f"striking one among projects drawn with the same level, week and scatter of days. {_CORRECTED}",
    )


def _rhythm(found: Pattern) -> Description:
    of = found.evidence
    if of["period"] == "day":
        return Description(
            f"{_about(found)} has a daily rhythm: {of['share']:.0%} of the changes come from {of['from_hour']:02}:00 "
            f"to {of['to_hour']:02}:00 UTC.",
            f"Rayleigh's test on the clock, each day being one observation. {_CORRECTED}",
        )
    parts = [f"most on {', '.join(of['busy'])}"] if of["busy"] else []
    parts += [f"least on {', '.join(of['quiet'])}"] if of["quiet"] else []
    return Description(
        f"{_about(found)} has a weekly rhythm: {'; '.join(parts) or 'days of the week differ'} (UTC).",
        f"Ranks of the days compared between days of the week (Kruskal-Wallis). {_CORRECTED}",
    )


def _trend(found: Pattern) -> Description:
    of = found.evidence
    if "subject" in of:
        return Description(
            f"{_about(found)} is {of['direction']}: {of['share_before']:.0%} of the changes in the earlier half, "
            f"{of['share_after']:.0%} in the later one.",
            f"Cochran-Armitage test of the share of changes over time, each day being one observation. {_CORRECTED}",
        )
    return Description(
        f"{_about(found)} is {of['direction']}: from {of['first']:.1f} changes a {of['per']} to {of['last']:.1f} "
        f"({of['slope']:+.1%} each {of['per']}).",
        "Mann-Kendall test of the counts in equal steps of time; the levels are those of a Poisson regression. "
        f"{_CORRECTED}",
    )


def _change(found: Pattern) -> Description:
    of = found.evidence
    return Description(
        f"{_about(found)} {'rose' if of['direction'] == 'rising' else 'fell'} on {day(of['at'])}: "
        f"{of['before_per_week']:.1f} changes a week before, {of['after_per_week']:.1f} after.",
        "Every day was tried as the one that divides the time into two levels (Poisson likelihood); the chance is that "
        f"of the best division when the same days are put into any order. {_CORRECTED}",
    )


def _silence(found: Pattern) -> Description:
    of = found.evidence
    if "subject" in of:
        return Description(
            f"{_about(found)} has not come up since {day(of['last'])}, on "
            f"{plural(of['active_days_since'], 'active day')} since then.",
            "The exact chance that a subject that came up on so many days is on none of the last active days. "
            f"{_CORRECTED}",
        )
    start = day(of["start"])
    said = f"has been silent since {start}" if of["ongoing"] else f"was silent from {start}"
    until = "" if of["ongoing"] else f" to {day(found.details['last'])}"
    return Description(
        f"{_about(found)} {said}{until}: {plural(of['days'], 'day')} without a change, where nine of ten gaps are at "
        f"most {plural(int(of['usual_days']), 'day')}.",
        "The exact chance of so long a gap anywhere when as many active days are put into any order. " + _CORRECTED,
    )


def _bulk(found: Pattern) -> Description:
    of = found.evidence
    calls = "One call" if of["calls"] == 1 else f"{of['calls']} calls in a row"
    counted = "they count at the dates they came with" if found.details["brought"] else "it counts as one event"
    return Description(
        f"{calls} ({of['action']}) by {of['who']} on {day(of['at'])} touched {of['memories']:,} memories at once; "
        f"{counted}.",
        "The size of a call against the sizes of all others, taken for a geometric law; others touch "
        f"{found.details['usual']:.1f} memories on average.",
    )


def _few_changes(*, changes: int, active: int, days: int, since: str, needed: tuple[int, int, int]) -> str:
    return (
        f"Too little to tell a pattern in time: {plural(changes, 'change')} on {plural(active, 'day')} within "
        f"{plural(days, 'day')} (since {day(since)}); it takes {needed[0]} changes on {needed[1]} days within "
        f"{needed[2]} days. A call that makes many memories is one change."
    )


def _no_time_pattern(*, changes: int, active: int) -> str:
    return f"No pattern in time is sure enough to be told: {plural(changes, 'change')} on {plural(active, 'day')}."


DESCRIPTIONS: dict[str, Callable[[Pattern], Description]] = {
    "burst": _burst,
    "rhythm": _rhythm,
    "trend": _trend,
    "change": _change,
    "silence": _silence,
    "bulk": _bulk,
}

REMARKS: dict[str, Callable[..., str]] = {
    "no_changes": lambda: "Nothing was made or changed in this time.",
    "few_changes": _few_changes,
    "no_time_pattern": _no_time_pattern,
    "under_four_weeks": lambda: "A weekly rhythm takes four weeks to tell.",
    "imported": lambda changes: (
        f"{plural(changes, 'change')} came with imported memories and count at their own dates."
    ),
}
