"""Trend analysis: subjects whose share of the changes rises, falls, begins or ends in the horizon."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from polymnia.engine.analysis.actions import CheckConflicts
from polymnia.engine.analysis.activity.changes import DAY, Acts, Subject, acts_of, subjects_of
from polymnia.engine.analysis.activity.series import trend
from polymnia.engine.analysis.insights.view import InsightResults, InsightView, sure
from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.probability import all_in, benjamini_hochberg, two_sided
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject, Record

_LEAST = 0.95
_ACTS, _ACTIVE = 20, 8  # no test has power with fewer acts or active days
_SUBJECT, _SUBJECT_DAYS = 5, 6  # acts on a subject, and the days of one that rises or falls
_MOST = (60, 200, 1000)  # subjects, by depth
_BINS = 10  # periods of one horizon
_TIMES = 1.5  # times the share before, from which a subject rises or falls


def trend_analysis(view: InsightView, results: InsightResults) -> None:
    """What changes with time: tags, kinds and categories at the surface, topics as well when it goes deep."""
    project = view.project
    acts = acts_of(project, project.by_id, project.now)
    active = len(np.unique(acts.at // DAY))
    since = int(acts.at[0]) if len(acts) else project.now
    results.looked_at |= {"days": view.days, "changes": len(acts), "active_days": active}
    if len(acts) < _ACTS or active < _ACTIVE or since > view.start:
        began = moment(since) if len(acts) else None
        few = {"days": view.days, "changes": len(acts), "active": active, "since": began, "needed": (_ACTS, _ACTIVE)}
        results.note("few_changes", **few)
        return
    subjects = subjects_of(acts, project.by_id, view.tick, least=_SUBJECT, most=_MOST[view.budget.rank])
    for one in view.clusters[: _MOST[view.budget.rank]] if view.deep else ():
        rows = np.unique(acts.act[np.isin(acts.memory, np.array(one.members, np.int64))])
        if len(rows) >= _SUBJECT:
            subjects.append(Subject("topic", str(one.evidence.get("label", "")), rows))
    found = list(_courses(view, acts, subjects))
    questions = 1 + len(subjects)  # one test for each subject
    results.looked_at |= {"subjects": len(subjects), "questions": questions}
    for (kind, subject, p, figures), rate in zip(
        found, benjamini_hochberg([one[2] for one in found], questions), strict=True
    ):
        if sure(rate) >= _LEAST:
            records = _records(view, subject, acts) if subject is not None else []
            evidence = {
                **({} if subject is None else {"subject": {subject.field: subject.value}}),
                "days": view.days,
                **figures,
                "days_a_count": max(1, view.days // _BINS),
                "p": float(f"{p:.3g}"),
                "from": moment(view.start),
                "to": moment(project.now),
                "records": view.shown(records),
            }
            advised = records and kind in ("rising", "new")
            results.add(
                f"{kind}_project" if subject is None else f"{kind}_subject",
                sure(rate),
                evidence,
                figures["before"] + figures["within"],
                details={"ids": [record.uid for record in records[:3]]},
                members=tuple(record.id for record in records),
                actions=view.steps(CheckConflicts(ids=tuple(one.uid for one in records[:20]))) if advised else (),
            )
    if not results.found:
        results.note("no_trend", days=view.days)


def _courses(
    view: InsightView, acts: Acts, subjects: list[Subject]
) -> Iterator[tuple[str, Subject | None, float, JsonObject]]:
    """What may have changed in the horizon: ``rising``, ``falling``, ``new`` or ``silent``, with its p value."""
    first = int(acts.at[0]) // DAY
    of = acts.at // DAY - first
    total = max(view.project.now // DAY - first, int(of[-1])) + 1
    start = max(0, total - view.days)
    before = max(0, start - view.days)  # the equally long period before the horizon
    everything = np.bincount(of, minlength=total)
    busy = everything > 0
    late = int(busy[start:].sum())

    def figures(counts: Numbers) -> JsonObject:
        step = max(1, view.days // _BINS)
        bins = counts[before + (total - before) % step :].reshape(-1, step).sum(axis=1).tolist()
        return {"before": int(counts[before:start].sum()), "within": int(counts[start:].sum()), "counts": bins}

    whole = figures(everything)
    line = trend(whole["counts"])
    if line.p < 1 and max(line.change, 1 / max(line.change, 1e-9)) >= _TIMES:
        yield "rising" if line.slope > 0 else "falling", None, line.p, whole
    for subject in subjects:
        view.tick()
        some = np.bincount(of[subject.acts], minlength=total)
        came = np.flatnonzero(some)
        if came[0] >= start:
            yield "new", subject, all_in(len(came), late, int(busy.sum())), figures(some)
        elif came[-1] < start and late:
            # Counted from its first day on.
            since = int(busy[came[0] :].sum())
            yield "silent", subject, all_in(len(came) - 1, since - 1 - late, since - 1), figures(some)
        elif (drift := _drift(some[before:], everything[before:])) and max(drift[0], 1 / drift[0]) >= _TIMES:
            yield "rising" if drift[0] > 1 else "falling", subject, drift[1], figures(some)


def _drift(some: Numbers, all_: Numbers) -> tuple[float, float] | None:
    """How many times its earlier share a subject has later, and the p value (Cochran-Armitage with days)."""
    if (some > 0).sum() < _SUBJECT_DAYS:
        return None
    total = float(all_.sum())
    share = float(some.sum()) / total
    day = np.arange(len(all_), dtype=float)
    lever = day - float(all_ @ day) / total
    gap = some - share * all_
    variance = max(float((lever**2 * gap**2).sum()), share * (1 - share) * float(lever**2 @ all_))
    half = int(np.searchsorted(np.cumsum(all_), total / 2)) + 1
    early, late = float(all_[:half].sum()), float(all_[half:].sum())
    if variance <= 0 or early == 0 or late == 0:
        return None
    before, after = float(some[:half].sum()) / early, float(some[half:].sum()) / late
    return (after + 1e-9) / (before + 1e-9), two_sided(float(lever @ gap) / math.sqrt(variance))


def _records(view: InsightView, subject: Subject, acts: Acts) -> list[Record]:
    rows = np.flatnonzero(acts.touched(subject.acts))
    order = rows[np.argsort(-acts.at[acts.act[rows]], kind="stable")]
    records = view.loaded(dict.fromkeys(acts.memory[order].tolist()))
    return [one for one in records if subject.field == "topic" or subject.has(one)]
