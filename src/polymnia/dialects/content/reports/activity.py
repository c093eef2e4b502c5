"""Activity in words: what was changed and read in a project, when and by whom."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from polymnia.dialects.content.reports import Description, Words, day, memories_are, plural
from polymnia.models import JsonObject

_CORRECTED = (
    "The confidence is that of this chance, corrected for all looks at this project (Holm), when a pattern is as "
    "likely as not beforehand."
)


def _about(of: JsonObject, details: JsonObject) -> str:
    for field, value in of.get("subject", {}).items():
        return f"The {field} “{value}”"
    return "The memory" if details.get("focused") else "The project"


def _burst(of: JsonObject, details: JsonObject) -> Description:
    span = day(of["start"]) if of["days"] == 1 else f"{day(of['start'])} to {day(details['last'])}"
    against = "of all that was done then" if "subject" in of else "at the usual rate"
    times = f", {of['count'] / of['expected']:.1f} times as many" if of["expected"] >= 0.1 else ""
    words = f" Much of it is about {', '.join(of['words'][:3])}." if of["words"] else ""
    return Description(
        f"{_about(of, details)} had a burst ({span}): {plural(of['count'], 'change')} where {of['expected']:.1f} were "
        f"to be expected {against}{times}.{words}",
        "Every stretch of 1 to 28 days was compared with the days outside of it; the chance is that of the most "
        f"striking one among projects drawn with the same level, week and scatter of days. {_CORRECTED}",
    )


def _rhythm(of: JsonObject, details: JsonObject) -> Description:
    if of["period"] == "day":
        return Description(
            f"{_about(of, details)} has a daily rhythm: {of['share']:.0%} of the changes come from "
            f"{of['from_hour']:02}:00 to {of['to_hour']:02}:00 UTC.",
            f"Rayleigh's test on the clock, each day being one observation. {_CORRECTED}",
        )
    parts = [f"most on {', '.join(of['busy'])}"] if of["busy"] else []
    parts += [f"least on {', '.join(of['quiet'])}"] if of["quiet"] else []
    return Description(
        f"{_about(of, details)} has a weekly rhythm: {'; '.join(parts) or 'days of the week differ'} (UTC).",
        f"Ranks of the days compared between days of the week (Kruskal-Wallis). {_CORRECTED}",
    )


def _trend(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{_about(of, details)} is {of['direction']}: from {of['first']:.1f} changes a {of['per']} to {of['last']:.1f} "
        f"({of['slope']:+.1%} each {of['per']}).",
        "Mann-Kendall test of the counts in equal steps of time; the levels are those of a Poisson regression. "
        f"{_CORRECTED}",
    )


def _change(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{_about(of, details)} {'rose' if of['direction'] == 'rising' else 'fell'} on {day(of['at'])}: "
        f"{of['before_per_week']:.1f} changes a week before, {of['after_per_week']:.1f} after.",
        "Every day was tried as the one that divides the time into two levels (Poisson likelihood); the chance is that "
        f"of the best division when the same days are put into any order. {_CORRECTED}",
    )


def _silence(of: JsonObject, details: JsonObject) -> Description:
    start = day(of["start"])
    verb = f"has been silent since {start}" if of["ongoing"] else f"was silent from {start}"
    until = "" if of["ongoing"] else f" to {day(details['last'])}"
    return Description(
        f"{_about(of, details)} {verb}{until}: {plural(of['days'], 'day')} without a change, where nine of ten gaps "
        f"are at most {plural(int(of['usual_days']), 'day')}.",
        "The exact chance of so long a gap anywhere when as many active days are put into any order. " + _CORRECTED,
    )


_DAYS_OF_READERS = (
    "Days of readers are counted, so that a reader who opens a memory ten times a day reads it once. The confidence is "
    "that of the chance, corrected for all memories (Benjamini-Hochberg) and all questions."
)


def _listed(of: JsonObject, head: str, what: str, test: str) -> Description:
    first = of["memories"][0]
    return Description(
        f"{memories_are(of['count'])} {head}; first of all “{first['title']}”, {what}.",
        f"Of each memory the {test}. {_DAYS_OF_READERS}",
    )


def _most_read(of: JsonObject, details: JsonObject) -> Description:
    first = of["memories"][0]
    what = f"opened {plural(first['opened'], 'time')}, found {first['found']:,}"
    return _listed(of, "read far more than others", what, "Poisson chance of so many readings at the rate of its age")


def _found_not_opened(of: JsonObject, details: JsonObject) -> Description:
    what = f"found {plural(of['memories'][0]['found'], 'time')}"
    return _listed(
        of, "found again and again but never opened", what, "chance of no opening in so many findings"
    )  # fmt: skip


def _read_not_updated(of: JsonObject, details: JsonObject) -> Description:
    first = of["memories"][0]
    what = f"read on {plural(first['readings_since'], 'day')} since {day(first['last_change'])}"
    return _listed(of, "read on and on but not updated", what, "chance of no change in so many readings")


def _rewritten(of: JsonObject, details: JsonObject) -> Description:
    what = f"changed on {plural(of['memories'][0]['days_changed'], 'day')}"
    test = "Poisson chance of so many days with changes at its age"
    return _listed(of, "rewritten far more often than others", what, test)


def _never_read(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['count']:,} of {of['of']:,} memories of {of['days']:.0f} days or more were never read (if all were read "
        f"alike, {of['expected']:.0f} would be left).",
        "Against the number that equal reading would leave. Of memories unread at that age, "
        f"{of['stays_unread']:.0%} stayed unread for another 30 days; the confidence is the lower of this and of that "
        f"of the chance, corrected for all questions. Reads are counted since {day(of['counted_since'])}.",
    )


def _read_together(of: JsonObject, details: JsonObject) -> Description:
    first = of["pairs"][0]
    return Description(
        f"{plural(of['count'], 'pair')} of memories opened by the same reader within the same hour; first "
        f"of all “{first['titles'][0]}” and “{first['titles'][1]}”, {first['hours']} times where {first['expected']} "
        "were to be expected.",
        "Poisson chance of so many common hours when what was opened is dealt anew to the same hours, corrected for "
        "all pairs (Benjamini-Hochberg) and all questions.",
    )


def _concentration(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"A tenth of the memories gets {of['top_tenth_share']:.0%} of the readings; equal reading would give it "
        f"{of['expected_share']:.0%}.",
        "Against 100 projects in which as many readings fall on memories of the same ages by chance.",
    )


_USERS_CORRECTED = (
    "The confidence is that of the chance, corrected within the question (Holm) and for all questions, when a pattern "
    "is as likely as not beforehand."
)


def _main_user(what: str, who: str, of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['user']} has {of['hours'] / of['of']:.0%} of all hours of {what}; equal shares of "
        f"{details['among']} users would be {1 / details['among']:.0%}.",
        f"Binomial chance of so many hours of {what} with an equal share among all who {who}. {_USERS_CORRECTED}",
    )


def _specialty(of: JsonObject, details: JsonObject) -> Description:
    field = next(name for name in ("tag", "kind", "category") if name in of)
    return Description(
        f"{of['user']} writes about the {field} “{of[field]}” more than others: {of['count']} of "
        f"{plural(of['of'], 'change')}, where {of['expected']:.1f} were to be expected.",
        "Chance that so many of the changes about it are this user's when they are drawn at random; changes of one day "
        f"count as one as far as they are alike. {_USERS_CORRECTED}",
    )


def _sole_keeper(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{memories_are(of['count'])} changed again and again by {of['user']} alone; nobody else ever touched them.",
        "Chance that all days on which a memory was changed are one user's, by how much each changes. "
        + _USERS_CORRECTED,
    )


def _newcomer(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['user']} is new: first there on {day(of['at'])}, after {plural(of['missed_days'], 'active day')} of the "
        f"project, and then on {plural(of['active_days'], 'day')}.",
        "Chance that none of the days a user was there is among the first active days of the project. "
        + _USERS_CORRECTED,
    )


def _gone(of: JsonObject, details: JsonObject) -> Description:
    return Description(
        f"{of['user']} is gone: last there on {day(of['at'])}; the project had "
        f"{plural(of['missed_days'], 'active day')} since ({of['user']} was there on {of['active_days']} before).",
        "Chance that none of the days a user was there is among the last active days of the project. "
        + _USERS_CORRECTED,
    )


def _few_changes(*, changes: int, active: int, days: int, since: str, needed: tuple[int, int, int]) -> str:
    return (
        f"Too little to tell a pattern in time: {plural(changes, 'change')} on {plural(active, 'day')} within "
        f"{plural(days, 'day')} (since {day(since)}); it takes {needed[0]} changes on {needed[1]} days within "
        f"{needed[2]} days. A call that makes many memories is one change."
    )


def _few_reads(*, readings: int, since: str | None, needed: int, changes: int) -> str:
    from_ = f" since {day(since)}" if since else ""
    return (
        f"Too little reading to tell a pattern: {plural(readings, 'reading')}{from_}; it takes {needed}. "
        f"({plural(changes, 'change')}.)"
    )


def _few_hours(*, users: int, hours: int, needed: int, there: int) -> str:
    return (
        f"Too little to tell a pattern of users: {plural(users, 'user')} wrote or read within {plural(hours, 'hour')} "
        f"of the clock; what counts is an hour of one user, and it takes {needed} of them; there "
        f"{'is' if there == 1 else 'are'} {there}."
    )


DESCRIPTIONS: dict[str, Words] = {
    "burst": _burst,
    "rhythm": _rhythm,
    "trend": _trend,
    "change": _change,
    "silence": _silence,
    "most_read": _most_read,
    "found_not_opened": _found_not_opened,
    "read_not_updated": _read_not_updated,
    "rewritten": _rewritten,
    "never_read": _never_read,
    "read_together": _read_together,
    "concentration": _concentration,
    "main_writer": partial(_main_user, "writing", "write"),
    "main_reader": partial(_main_user, "reading", "read"),
    "specialty": _specialty,
    "sole_keeper": _sole_keeper,
    "newcomer": _newcomer,
    "gone": _gone,
}

REMARKS: dict[str, str | Callable[..., str]] = {
    "no_changes": "Nothing was made or changed in this time.",
    "few_changes": _few_changes,
    "no_time_pattern": lambda changes, active: (
        f"No pattern in time is sure enough to be told: {plural(changes, 'change')} on {plural(active, 'day')}."
    ),
    "under_four_weeks": "A weekly rhythm takes four weeks to tell.",
    "imported": lambda changes: (
        f"{plural(changes, 'change')} came with imported memories and count at their own dates."
    ),
    "few_memories": "Too little to tell a pattern of use: {memories} memories; it takes {needed}.",
    "few_reads": _few_reads,
    "no_use_pattern": lambda readings, read, memories, changes: (
        f"No pattern of use is sure enough to be told: {plural(readings, 'reading')} of {read:,} of {memories:,} "
        f"memories, {plural(changes, 'change')}."
    ),
    "few_hours": _few_hours,
    "one_user": "Everything was done by one user; users can be compared from two on.",
    "more_users": "{more:,} more of {name} were found; the clearest are told.",
    "no_user_pattern": lambda users, changes, readings: (
        f"No pattern of users is sure enough to be told: {plural(users, 'user')} with {plural(changes, 'change')} and "
        f"{plural(readings, 'reading')}."
    ),
}
