"""Trend analysis: what rises, falls, begins and falls silent within the horizon, and what to expect of the next one.

Asked of the acts of the journal (a call is one act), over the horizon and the equally long time before it. What a
subject does is told by its share of all that is done, so that a busier project alone makes nothing rise. All chances
of a project together are turned into false discovery rates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from polymnia.engine.analysis.actions import Action, CheckConflicts
from polymnia.engine.analysis.insights.courses import BINS, Course, courses
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import DAY, View, plural, sure
from polymnia.engine.analysis.temporal.acts import Acts, acts_of
from polymnia.engine.analysis.temporal.chances import adjusted
from polymnia.engine.analysis.temporal.subjects import Subject, subjects_of
from polymnia.engine.analysis.temporal.trends import Forecast, forecast
from polymnia.engine.text.calendar import moment
from polymnia.errors import NoLibrary

__all__ = ["tells", "trend_analysis"]

_LEAST = 0.95
_ACTS = 20  # with fewer, or on fewer days, every test is blind
_ACTIVE = 8
_SUBJECT = 5  # acts on a subject
_MOST = (60, 200, 1000)  # subjects, by depth


def trend_analysis(view: View) -> Looked:
    """What changes with time: of tags, kinds and categories at the surface, of topics as well when it goes deep."""
    material = view.material
    looked = Looked(looked_at={"days": view.days})
    acts = acts_of(material.touches, material.by_id, lambda at: at <= material.now, view.tick)
    active = len(np.unique(acts.at // DAY))
    since = int(acts.at[0]) if len(acts) else material.now
    looked.looked_at |= {"changes": len(acts), "active_days": active}
    if len(acts) < _ACTS or active < _ACTIVE or since > view.start:
        looked.notes.append(
            f"Too little to tell a trend over {view.days} days: {plural(len(acts), 'change')} on "
            f"{plural(active, 'day')}" + (f" since {moment(since)[:10]}" if len(acts) else "") + f"; it takes {_ACTS} "
            f"changes on {_ACTIVE} days, some of them before the last {view.days} days."
        )
        return looked
    subjects = subjects_of(acts, material.by_id, least=_SUBJECT, most=_MOST[view.budget.rank], tick=view.tick)
    if view.at_least(1):
        subjects += _topics(view, acts, looked)
    looked.looked_at["subjects"] = len(subjects)
    found, looks = courses(acts, subjects, material.now, view.days, view.tick)
    rates = adjusted([one.p for one in found], looks)
    looked.looked_at["questions"] = looks
    ahead = _forecasts(found, rates)
    for one, rate, next_ in zip(found, rates, ahead, strict=True):
        if sure(rate) >= _LEAST:
            looked.add(_told(view, one, rate, next_, acts), one.before + one.within)
    if not looked.found:
        looked.notes.append(f"No rise or fall over {view.days} days is sure enough to be told.")
    return looked


def _forecasts(found: Iterable[Course], rates: Iterable[float]) -> list[Forecast | None]:
    """What to expect of the next horizon, for what is sure enough to be told."""
    return [_ahead(one) if sure(rate) >= _LEAST else None for one, rate in zip(found, rates, strict=True)]


def _ahead(one: Course) -> Forecast:
    """From the trend over two horizons; where there is a new level and no trend, from the last one alone."""
    half = max(1, len(one.bins) // 2)
    if one.kind in ("rising", "falling"):
        whole = forecast(one.bins, half)
        if whole.basis == "trend":
            return whole
    return forecast(one.bins[-half:], half)


def tells(one: Forecast) -> bool:
    """Whether a forecast says something: its range is no wider than from half of what it expects to twice as much."""
    return one.basis != "unknown" and 2 * one.total_low >= one.total > 0 and one.total_high <= 2 * one.total


def _topics(view: View, acts: Acts, looked: Looked) -> list[Subject]:
    """The topics of the project as subjects; none where they cannot be told."""
    try:
        clusters = view.clusters
    except NoLibrary as e:
        looked.notes.append(f"Trends of topics are left out. {e.message}. {e.hint}")
        return []
    found = []
    for one in clusters[: _MOST[view.budget.rank]]:
        rows = np.unique(acts.act[np.isin(acts.memory, np.array(one.members, np.int64))])
        if len(rows) >= _SUBJECT:
            found.append(Subject("topic", str(one.evidence.get("label", "")), rows))
    return found


_SAID = {
    "rising": "takes a growing share of what is done",
    "falling": "takes a shrinking share of what is done",
    "new": "is new",
    "silent": "has fallen silent",
}
_TESTS = {
    "rising": "Cochran-Armitage test of the share of changes over two horizons, each day being one observation.",
    "new": "The exact chance that all days on which it came up are in the horizon, if they could be any active days.",
    "silent": "The exact chance that none of the days on which it came up is in the horizon, from its first day on.",
}


def _told(view: View, one: Course, rate: float, next_: Forecast | None, acts: Acts) -> Insight:
    days = view.days
    whole = one.subject is None
    about = "The project" if one.subject is None else f"The {one.subject.title}"
    said = ("is getting busier" if one.kind == "rising" else "is getting quieter") if whole else _SAID[one.kind]
    summary = (
        f"{about} {said}: {plural(one.within, 'change')} in the last {days} days after {one.before} in the {days} days "
        "before."
    )
    evidence: dict[str, Any] = {
        "days": days, "before": one.before, "within": one.within, "counts": one.bins,
        "days_a_count": max(1, days // BINS), "p": float(f"{one.p:.3g}"), "from": moment(view.start),
        "to": moment(view.material.now),
    }  # fmt: skip
    if one.subject is not None:
        evidence = {"subject": {one.subject.field: one.subject.value}, **evidence}
    if next_ is not None and tells(next_):
        low, high = round(next_.total_low), round(next_.total_high)
        summary += f" To be expected in the next {days} days: {next_.total:.0f} ({low} to {high})."
        evidence["forecast"] = {
            "days": days, "expected": round(next_.total, 1), "low": low, "high": high, "range_holds": 0.9,
            "basis": next_.basis,
        }  # fmt: skip
    members = _members(view, one, acts)
    records = [record for id in members if (record := view.record(id)) is not None]
    evidence["records"] = view.shown(records)
    test = "Mann-Kendall test of counts in equal times over two horizons." if whole else _TESTS.get(
        one.kind, _TESTS["rising"]
    )  # fmt: skip
    return Insight(
        type="trend_analysis", name=f"{one.kind}_project" if whole else f"{one.kind}_subject", summary=summary,
        confidence=sure(rate),
        explanation=f"{test} The confidence is 1 less the share of false ones to expect among all questions "
        "(Benjamini-Hochberg). The forecast holds nine of ten outcomes if things go on as they did.",
        evidence=evidence, members=members, **view.advised(*_advice(one, records)),
    )  # fmt: skip


def _members(view: View, one: Course, acts: Acts) -> tuple[int, ...]:
    """The records of a subject that are still there, those touched last first."""
    if one.subject is None:
        return ()
    wanted = np.zeros(len(acts), bool)
    wanted[one.subject.acts] = True
    rows = np.flatnonzero(wanted[acts.act])
    order = rows[np.argsort(-acts.at[acts.act[rows]], kind="stable")]
    field, value = one.subject.field, one.subject.value
    found = []
    for id in dict.fromkeys(acts.memory[order].tolist()):
        record = view.record(id)
        if record is None or (field == "tag" and value not in record.tags):
            continue
        if (field == "kind" and record.kind != value) or (field == "category" and record.category != value):
            continue
        found.append(id)
    return tuple(found)


def _advice(one: Course, records: list[Any]) -> tuple[str | None, *tuple[Action, ...]]:
    if one.subject is None or not records:
        return (None,)
    ids = [record.uid for record in records[:3]]
    match one.kind:
        case "rising" | "new":
            check = CheckConflicts(ids=tuple(record.uid for record in records[:20]))
            return "Much is being added here: see whether it agrees, and sum it up in one memory.", check
        case "silent":
            return (f"Decide whether it is done: if so, say so in {ids[0]}; if not, look at {', '.join(ids)} again.",)
        case _:
            return (f"Check whether {', '.join(ids)} still matter.",)
