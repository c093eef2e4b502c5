"""Trend analysis: what rises, falls, begins and falls silent within the horizon.

Asked of the acts of the journal (a call is one act), over the horizon and the equally long time before it. What a
subject does is told by its share of all that is done, so that a busier project alone makes nothing rise. All chances
of a project together are turned into false discovery rates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.actions import Action, CheckConflicts
from polymnia.engine.analysis.activity.changes import Acts, Subject, acts_of, drift, subjects_of
from polymnia.engine.analysis.activity.series import trend
from polymnia.engine.analysis.insights.view import DAY, InsightView, Looked, sure
from polymnia.engine.analysis.probability import adjusted, all_in
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject, Record

_LEAST = 0.95
_ACTS = 20  # with fewer, or on fewer days, every test is blind
_ACTIVE = 8
_SUBJECT = 5  # acts on a subject
_MOST = (60, 200, 1000)  # subjects, by depth
_BINS = 10  # equal times of one horizon, so that two of them show a trend
_TIMES = 1.5  # times the share before, from which a subject has risen or fallen

Numbers = NDArray[Any]


class _Course(NamedTuple):
    """How the acts on one subject (None: all acts) went: what it did, the acts before and within, and the chance.

    ``kind`` is ``rising``, ``falling``, ``new`` or ``silent``.
    """

    kind: str
    subject: Subject | None
    before: int
    within: int
    p: float
    bins: list[int]


def trend_analysis(view: InsightView, looked: Looked) -> None:
    """What changes with time: of tags, kinds and categories at the surface, of topics as well when it goes deep."""
    project = view.project
    acts = acts_of(project, project.by_id, project.now)
    active = len(np.unique(acts.at // DAY))
    since = int(acts.at[0]) if len(acts) else project.now
    looked.looked_at |= {"days": view.days, "changes": len(acts), "active_days": active}
    if len(acts) < _ACTS or active < _ACTIVE or since > view.start:
        looked.note(
            "few_changes",
            days=view.days,
            changes=len(acts),
            active=active,
            since=moment(since) if len(acts) else None,
            needed=(_ACTS, _ACTIVE),
        )
        return
    subjects = subjects_of(acts, project.by_id, view.tick, least=_SUBJECT, most=_MOST[view.budget.rank])
    if view.deep:
        subjects += _topics(view, acts)
    found = _Times(acts, project.now, view.days).courses(subjects, view.tick)
    questions = 1 + len(subjects)  # a subject is new, silent or neither, so it is asked one question
    looked.looked_at |= {"subjects": len(subjects), "questions": questions}
    for one, rate in zip(found, adjusted([one.p for one in found], questions), strict=True):
        if sure(rate) >= _LEAST:
            _tell(view, looked, one, rate, acts)
    if not looked.found:
        looked.note("no_trend", days=view.days)


def _topics(view: InsightView, acts: Acts) -> list[Subject]:
    """The topics of the project as subjects."""
    found = []
    for one in view.clusters[: _MOST[view.budget.rank]]:
        rows = np.unique(acts.act[np.isin(acts.memory, np.array(one.members, np.int64))])
        if len(rows) >= _SUBJECT:
            found.append(Subject("topic", str(one.evidence.get("label", "")), rows))
    return found


class _Times:
    """The acts day by day, and where the horizon begins among these days."""

    def __init__(self, acts: Acts, now: int, days: int) -> None:
        first = int(acts.at[0]) // DAY
        self.total = max(now // DAY, int(acts.at[-1]) // DAY) - first + 1
        self.start = max(0, self.total - days)
        self.days = days
        self.of = (acts.at // DAY - first).astype(np.int64)
        self.all = self.counts(self.of)

    def counts(self, of: Numbers) -> Numbers:
        """How many acts are on each day."""
        return np.bincount(of, minlength=self.total)

    def sides(self, counts: Numbers) -> tuple[int, int]:
        """The acts of the equally long time before the horizon, and of the horizon."""
        early = max(0, 2 * self.start - self.total)
        return int(counts[early : self.start].sum()), int(counts[self.start :].sum())

    def bins(self, counts: Numbers) -> list[int]:
        """Two horizons of counts in equal bins, the last one ending now."""
        step = max(1, self.days // _BINS)
        last = counts[max(0, self.total - 2 * (self.total - self.start)) :]
        whole = len(last) // step * step
        return [int(n) for n in last[len(last) - whole :].reshape(-1, step).sum(axis=1)]

    def courses(self, subjects: list[Subject], tick: Callable[[], None]) -> list[_Course]:
        """What may have changed within the horizon, with its chance."""
        found = []
        line = self.bins(self.all)
        whole = trend(line)
        if whole.p < 1 and max(whole.change, 1 / max(whole.change, 1e-9)) >= _TIMES:
            kind = "rising" if whole.slope > 0 else "falling"
            found.append(_Course(kind, None, *self.sides(self.all), whole.p, line))
        for subject in subjects:
            tick()
            if (course := self.course(subject)) is not None:
                found.append(course)
        return found

    def course(self, subject: Subject) -> _Course | None:
        """The one thing a subject did that chance explains least, if any."""
        some, busy = self.counts(self.of[subject.acts]), self.all > 0
        came = some > 0
        days, late = int(came.sum()), int(busy[self.start :].sum())
        if not came[: self.start].any():
            kind, p = "new", all_in(days, late, int(busy.sum()))
        elif not came[self.start :].any() and late:
            # Counted from its first day on: before it began it could not be silent.
            since = int(busy[int(np.flatnonzero(came)[0]) :].sum())
            kind, p = "silent", all_in(days - 1, since - 1 - late, since - 1)
        else:
            recent = max(0, self.total - 2 * self.days)
            moved = drift(some[recent:], self.all[recent:])
            if moved is None:
                return None
            if max(moved.ratio, 1 / moved.ratio) < _TIMES:
                return None
            kind, p = "rising" if moved.ratio > 1 else "falling", moved.p
        return _Course(kind, subject, *self.sides(some), p, self.bins(some))


def _tell(view: InsightView, looked: Looked, one: _Course, rate: float, acts: Acts) -> None:
    records = _records(view, one.subject, acts) if one.subject is not None else []
    evidence: JsonObject = {
        "days": view.days,
        "before": one.before,
        "within": one.within,
        "counts": one.bins,
        "days_a_count": max(1, view.days // _BINS),
        "p": float(f"{one.p:.3g}"),
        "from": moment(view.start),
        "to": moment(view.project.now),
        "records": view.shown(records),
    }
    if one.subject is not None:
        evidence = {"subject": {one.subject.field: one.subject.value}, **evidence}
    steps: tuple[Action, ...] = ()
    if records and one.kind in ("rising", "new"):
        steps = (CheckConflicts(ids=tuple(record.uid for record in records[:20])),)
    looked.add(
        f"{one.kind}_project" if one.subject is None else f"{one.kind}_subject",
        sure(rate),
        evidence,
        one.before + one.within,
        details={"ids": [record.uid for record in records[:3]]},
        members=tuple(record.id for record in records),
        actions=view.steps(*steps),
    )


def _records(view: InsightView, subject: Subject, acts: Acts) -> list[Record]:
    """The records of a subject that are still there, those touched last first."""
    rows = np.flatnonzero(acts.touched(subject.acts))
    order = rows[np.argsort(-acts.at[acts.act[rows]], kind="stable")]
    records = view.loaded(dict.fromkeys(acts.memory[order].tolist()))
    return [one for one in records if subject.field == "topic" or subject.has(one)]
