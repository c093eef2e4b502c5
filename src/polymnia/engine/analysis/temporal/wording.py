"""Wording: signs in time as findings that people read, with their dates, counts and examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.temporal.acts import Acts, Bulk
from polymnia.engine.analysis.temporal.beats import Gap, Hours, Week
from polymnia.engine.analysis.temporal.chances import confidence
from polymnia.engine.analysis.temporal.levels import Stretch, Turn
from polymnia.engine.analysis.temporal.looking import Calendar, Sign
from polymnia.engine.analysis.temporal.sentences import (
    burst_told,
    date_of,
    drift_told,
    fading_told,
    gap_told,
    rhythm_told,
    trend_told,
    turn_told,
)
from polymnia.engine.analysis.temporal.subjects import Drift
from polymnia.engine.analysis.temporal.trends import Trend
from polymnia.engine.items import title_of
from polymnia.engine.text.calendar import moment
from polymnia.importing import importing
from polymnia.models import Record

__all__ = ["TYPE", "bulk_pattern", "examples", "pattern"]

TYPE = "temporal_patterns"

_EXAMPLES = 5
_WORDS = 6
_COUNTS = ("; it counts as one event", "; they count at the dates they came with")
_READ = 300  # texts of a burst that its words are taken from, and as many for what the rest says

Numbers = np.ndarray[Any, np.dtype[Any]]
Text = Callable[[Record], str]


def examples(records: Sequence[Record]) -> list[dict[str, str]]:
    """The first few of some records, by id and title."""
    return [{"id": one.uid, "title": title_of(one)} for one in records[:_EXAMPLES]]


def pattern(
    sign: Sign, acts: Acts, days: Calendar, by_id: dict[int, Record], text: Text, focus: int | None = None
) -> Pattern:
    """A sign as a finding, of the project or of the one memory that the question is about."""
    whole = "The project" if focus is None else "The memory"
    about = f"The {sign.subject.title}" if sign.subject else whole
    answer = sign.answer
    members: tuple[int, ...] = ()
    evidence: dict[str, Any]
    if isinstance(answer, Stretch):
        chosen = _acts_within(acts, days, answer.start, answer.stop, sign)
        records, members = _touched(acts, chosen, by_id)
        summary, evidence = burst_told(about, answer, days, sign)
        evidence |= {"words": _words(records, by_id, text), "examples": examples(records)}
        if words := evidence["words"]:
            summary += f" Much of it is about {', '.join(words[:3])}."
        how = (
            "Every stretch of 1 to 28 days was compared with the days outside of it; the chance is that of the most "
            "striking one among projects drawn with the same level, week and scatter of days."
        )
    elif isinstance(answer, Week | Hours):
        summary, evidence = rhythm_told(whole, answer)
        how = (
            "Ranks of the days compared between days of the week (Kruskal-Wallis)."
            if isinstance(answer, Week)
            else "Rayleigh's test on the clock, each day being one observation."
        )
    elif isinstance(answer, Trend):
        summary, evidence = trend_told(whole, answer, days)
        how = "Mann-Kendall test of the counts in equal steps of time; the levels are those of a Poisson regression."
    elif isinstance(answer, Turn):
        summary, evidence = turn_told(whole, answer, days)
        how = (
            "Every day was tried as the one that divides the time into two levels (Poisson likelihood); the chance is "
            "that of the best division when the same days are put into any order."
        )
    elif isinstance(answer, Drift):
        summary, evidence = drift_told(about, answer, days)
        how = "Cochran-Armitage test of the share of changes over time, each day being one observation."
    elif isinstance(answer, Gap):
        summary, evidence = gap_told(whole, answer, days)
        how = "The exact chance of so long a gap anywhere when as many active days are put into any order."
    else:
        summary, evidence = fading_told(about, answer, days)
        how = "The exact chance that a subject that came up on so many days is on none of the last active days."
    if sign.subject:
        evidence = {"subject": {sign.subject.field: sign.subject.value}, **evidence}
        if not members:
            members = _touched(acts, sign.subject.acts, by_id)[1]
    if focus is not None:
        members = (focus,)
    evidence["p"] = float(f"{sign.p:.3g}")
    return Pattern(
        type=TYPE,
        name=sign.name,
        summary=summary,
        confidence=sign.sure,
        explanation=f"{how} The confidence is that of this chance, corrected for all looks at this project (Holm), "
        "when a pattern is as likely as not beforehand.",
        evidence=evidence,
        members=members,
    )


def bulk_pattern(bulk: Bulk, acts: Acts, by_id: dict[int, Record]) -> Pattern:
    """A call that touched very many memories; its confidence is that no call of the usual sizes is as large."""
    sizes = np.bincount(acts.act[~acts.brought[acts.act]], minlength=len(acts))
    others = np.delete(sizes, [one.act for one in acts.bulks if one.act >= 0])
    others = others[others > 0]
    usual = (float(others.sum()) + 2) / (len(others) + 1)
    p = min(1.0, (1 - 1 / max(usual, 1.0001)) ** (bulk.memories - 1) * (len(others) + 1))
    records = [by_id[id] for id in dict.fromkeys(bulk.ids.tolist()) if id in by_id]
    calls = "One call" if bulk.calls == 1 else f"{bulk.calls} calls in a row"
    what = ", ".join(f"{kind} {count:,}" for kind, count in sorted(bulk.how.items()))
    return Pattern(
        type=TYPE,
        name="bulk",
        summary=f"{calls} ({bulk.action}) by {bulk.who} on {date_of(bulk.start)} touched {bulk.memories:,} memories at "
        f"once{_COUNTS[bulk.act < 0]}.",
        confidence=confidence(p),
        explanation="The size of a call against the sizes of all others, taken for a geometric law; "
        f"others touch {usual:.1f} memories on average.",
        evidence={
            "at": moment(bulk.start), "end": moment(bulk.end), "who": bulk.who, "action": bulk.action,
            "memories": bulk.memories, "calls": bulk.calls, "done": what, "examples": examples(records),
        },
        members=tuple(one.id for one in records),
    )  # fmt: skip


def _acts_within(acts: Acts, days: Calendar, start: int, stop: int, sign: Sign) -> Numbers:
    chosen = np.flatnonzero((days.of >= start) & (days.of < stop))
    return np.intersect1d(chosen, sign.subject.acts) if sign.subject else chosen


def _touched(acts: Acts, chosen: Numbers, by_id: dict[int, Record]) -> tuple[list[Record], tuple[int, ...]]:
    """The records of some acts that are still there, the ones touched most first."""
    wanted = np.zeros(len(acts), bool)
    wanted[chosen] = True
    ids, counts = np.unique(acts.memory[wanted[acts.act]], return_counts=True)
    order = np.lexsort((ids, -counts))
    records = [by_id[id] for id in ids[order].tolist() if id in by_id]
    return records, tuple(one.id for one in records)


def _words(records: list[Record], by_id: dict[int, Record], text: Text) -> list[str]:
    """What the records of a burst are about and the others are not."""
    inside = {one.id for one in records}
    others = [one for id, one in by_id.items() if id not in inside]
    others = others[:: max(1, len(others) // _READ)][:_READ]
    with importing():
        from polymnia.engine.analysis.topics import telling_terms

    groups = [[text(one) for one in records[:_READ]]]
    told = telling_terms(groups, [text(one) for one in others])
    return [str(term) for term in told[0][:_WORDS]] if told else []
