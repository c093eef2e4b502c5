"""Wording: what was found about the use of memories, as sentences with the counts and dates they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.temporal.acts import split_who
from polymnia.engine.analysis.temporal.beats import WEEKDAYS, Hours, Week
from polymnia.engine.analysis.temporal.sentences import date_of, plural
from polymnia.engine.analysis.usage.questions import Left, Spread
from polymnia.engine.analysis.usage.reads import Reads
from polymnia.engine.analysis.usage.together import Pair
from polymnia.engine.items import title_of
from polymnia.engine.text.calendar import moment

__all__ = ["TYPE", "balance_told", "left_told", "listed", "pair_told", "rhythm_told", "spread_told"]

TYPE = "usage_patterns"

_EXAMPLES = 10
_READERS = 3
_PARTIAL = (
    "Days of readers are counted, so that a reader who opens a memory ten times a day reads it once. The confidence is "
    "that of the chance, corrected for all memories (Benjamini-Hochberg) and all questions."
)
_HEADS = {
    "most_read": ("{n} read far more than others", "Poisson chance of so many readings at the rate of its age"),
    "found_not_opened": ("{n} found again and again but never opened", "chance of no opening in so many findings"),
    "read_not_updated": ("{n} read on and on but not updated", "chance of no change in so many readings"),
    "rewritten": ("{n} rewritten far more often than others", "Poisson chance of so many days with changes at its age"),
}


def listed(name: str, places: Sequence[int], reads: Reads, sure: float) -> Pattern:
    """A finding about single memories, the most telling first."""
    head, test = _HEADS[name]
    shown = [_line(name, place, reads) for place in places[:_EXAMPLES]]
    at = places[0]
    word = "1 memory is" if len(places) == 1 else f"{len(places):,} memories are"
    what = {
        "most_read": f"opened {plural(int(reads.times_opened[at]), 'time')}, found {int(reads.times_found[at]):,}",
        "found_not_opened": f"found {plural(int(reads.times_found[at]), 'time')}",
        "read_not_updated": f"read on {plural(int(reads.since[at]), 'day')} since "
        f"{date_of(int(reads.last_change[at]))}",
        "rewritten": f"changed on {plural(int(reads.changed[at]), 'day')}",
    }[name]
    return Pattern(
        type=TYPE,
        name=name,
        summary=f"{head.format(n=word)}; first of all “{title_of(reads.records[at])}”, {what}.",
        confidence=sure,
        explanation=f"Of each memory the {test}. {_PARTIAL}",
        evidence={"count": len(places), "memories": shown},
        members=tuple(reads.records[place].id for place in places),
    )


def _line(name: str, at: int, reads: Reads) -> dict[str, Any]:
    record = reads.records[at]
    line: dict[str, Any] = {"id": record.uid, "title": title_of(record)}
    if name == "rewritten":
        return line | {"days_changed": int(reads.changed[at]), "last_change": moment(int(reads.last_change[at]))}
    line |= {"opened": int(reads.times_opened[at]), "found": int(reads.times_found[at])}
    if name == "read_not_updated":
        return line | {"readings_since": int(reads.since[at]), "last_change": moment(int(reads.last_change[at]))}
    place, hour, who, _ = reads.rows
    mine = np.flatnonzero(place == at)
    readers, counts = np.unique(who[mine], return_counts=True)
    order = np.lexsort((readers, -counts))[:_READERS]
    line["readers"] = [split_who(reads.readers[int(readers[i])])[0] for i in order]
    line["last_read"] = moment(int(hour[mine].max()))
    return line


def left_told(one: Left, reads: Reads, sure: float) -> Pattern:
    """Memories that nobody reads, oldest first."""
    order = one.places[np.argsort(-reads.exposed[one.places], kind="stable")]
    shown = [
        {"id": reads.records[at].uid, "title": title_of(reads.records[at]), "days_unread": int(reads.exposed[at])}
        for at in order[:_EXAMPLES].tolist()
    ]
    total = int((reads.exposed >= one.age).sum())
    return Pattern(
        type=TYPE,
        name="never_read",
        summary=f"{one.unread:,} of {total:,} memories of {one.age:.0f} days or more were never read "
        f"(if all were read alike, {one.expected:.0f} would be left).",
        confidence=sure,
        explanation="Against the number that equal reading would leave. Of memories unread at that age, "
        f"{one.stays:.0%} stayed unread for another 30 days; the confidence is the lower of this and of that of "
        "the chance, corrected for all questions. Reads are counted since "
        f"{date_of(reads.begin)}.",
        evidence={
            "count": one.unread, "of": total, "expected": round(one.expected, 1), "days": one.age,
            "stays_unread": round(one.stays, 3), "counted_since": moment(reads.begin), "memories": shown,
        },
        members=tuple(reads.records[at].id for at in order.tolist()),
    )  # fmt: skip


def pair_told(pairs: Sequence[Pair], reads: Reads, sure: float) -> Pattern:
    """Memories that are opened together, the most certain pair first."""
    members: dict[int, None] = {}
    shown: list[dict[str, Any]] = []
    for pair in pairs:
        one, other = reads.records[pair.one], reads.records[pair.other]
        members[one.id] = members[other.id] = None
        if len(shown) < _EXAMPLES:
            shown.append(
                {
                    "ids": [one.uid, other.uid], "titles": [title_of(one), title_of(other)], "hours": pair.count,
                    "expected": round(pair.expected, 2), "lift": round(pair.count / max(pair.expected, 1e-9), 1),
                }
            )  # fmt: skip
    first = shown[0]
    return Pattern(
        type=TYPE,
        name="read_together",
        summary=f"{plural(len(pairs), 'pair')} of memories opened by the same reader within the same hour; first of "
        f"all “{first['titles'][0]}” and “{first['titles'][1]}”, {first['hours']} times where {first['expected']} "
        "were to be expected.",
        confidence=sure,
        explanation="Poisson chance of so many common hours when what was opened is dealt anew to the same "
        "hours, corrected for all pairs (Benjamini-Hochberg) and all questions.",
        evidence={"count": len(pairs), "pairs": shown},
        members=tuple(members),
    )


def spread_told(one: Spread, sure: float) -> Pattern:
    """How uneven the reading is."""
    return Pattern(
        type=TYPE,
        name="concentration",
        summary=f"A tenth of the memories gets {one.top_share:.0%} of the readings; equal reading would give it "
        f"{one.expected_share:.0%}.",
        confidence=sure,
        explanation="Against 100 projects in which as many readings fall on memories of the same ages by chance.",
        evidence={
            "top_tenth_share": round(one.top_share, 3), "expected_share": round(one.expected_share, 3),
            "gini": round(one.gini, 3), "p": float(f"{one.p:.3g}"),
        },
    )  # fmt: skip


def balance_told(reads: Reads, writes: int, days: tuple[int, int, float], sure: float) -> Pattern:
    """Whether more is read or written."""
    more, less, p = days
    ratio = reads.readings / max(1, writes)
    word = "read than written" if more > less else "written than read"
    return Pattern(
        type=TYPE,
        name="read_write_balance",
        summary=f"More is {word}: {plural(reads.readings, 'reading')} and {plural(writes, 'change')} "
        f"({ratio:.2g} readings for a change).",
        confidence=sure,
        explanation="Sign test over days: on how many more was read than written, and on how many less.",
        evidence={
            "readings": reads.readings, "changes": writes, "ratio": round(ratio, 3), "days_more_read": more,
            "days_more_written": less, "p": float(f"{p:.3g}"),
        },
    )  # fmt: skip


def rhythm_told(one: Hours | Week, sure: float) -> Pattern:
    """When memories are read."""
    evidence: dict[str, Any]
    if isinstance(one, Hours):
        when = f"{one.share:.0%} of the readings come from {one.start:02}:00 to {one.stop:02}:00 UTC"
        evidence = {
            "period": "day", "from_hour": one.start, "to_hour": one.stop, "share": round(one.share, 3),
            "strength": round(one.strength, 3), "by_hour": one.counts,
        }  # fmt: skip
        test = "Rayleigh's test on the clock, each day being one observation"
    else:
        busy = [WEEKDAYS[d] for d in sorted(one.busy, key=lambda d: (-one.means[d], d))]
        quiet = [WEEKDAYS[d] for d in sorted(one.quiet, key=lambda d: (one.means[d], d))]
        when = (
            f"memories are read most on {', '.join(busy) or '(none)'} and least on {', '.join(quiet) or '(none)'} (UTC)"
        )
        evidence = {"period": "week", "busy": busy, "quiet": quiet, "strength": round(one.strength, 3)}
        test = "Ranks of the days compared between days of the week (Kruskal-Wallis)"
    return Pattern(
        type=TYPE,
        name="reading_rhythm",
        summary=f"Reading has a {'daily' if isinstance(one, Hours) else 'weekly'} rhythm: {when}.",
        confidence=sure,
        explanation=f"{test}; its chance is corrected for all questions.",
        evidence=evidence | {"time_zone": "UTC", "p": float(f"{one.p:.3g}")},
    )
