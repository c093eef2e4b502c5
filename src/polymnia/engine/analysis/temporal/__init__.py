"""Temporal patterns: bursts, rhythms, trends and silences of a project, measured against its own usual course.

Everything is asked of the acts in the journal (a call is one act), day by day and in UTC. Each question has a null
model in which nothing is going on; the chances of a project are corrected for all of its questions together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polymnia.engine.analysis.findings import Found
from polymnia.engine.analysis.temporal.acts import acts_of
from polymnia.engine.analysis.temporal.chances import LEAST
from polymnia.engine.analysis.temporal.looking import calendar, look
from polymnia.engine.analysis.temporal.sentences import date_of, plural
from polymnia.engine.analysis.temporal.subjects import subjects_of
from polymnia.engine.analysis.temporal.trends import Forecast, Trend, forecast, trend
from polymnia.engine.analysis.temporal.wording import bulk_pattern, pattern
from polymnia.engine.text.calendar import moment

if TYPE_CHECKING:
    from polymnia.engine.analysis.material import Material

__all__ = ["LEAST", "Forecast", "Trend", "forecast", "temporal_patterns", "trend"]

_ACTS = 20  # with fewer, on fewer days or in less time every test is blind
_ACTIVE = 8
_DAYS = 14


def temporal_patterns(material: Material, *, least: float = LEAST) -> Found:
    """When things were done: ``burst``, ``rhythm``, ``trend``, ``change`` (of level), ``silence`` and ``bulk``.

    Findings that are less sure than ``least`` are left out.
    """
    end = material.now if material.end is None else min(material.end, material.now)
    by_id = material.known
    if material.focus is not None:
        by_id = {id: record for id, record in by_id.items() if id == material.focus}
    acts = acts_of(material.touches, by_id, lambda at: material.within(at) and at <= end, material.tick)
    found = [bulk_pattern(bulk, acts, by_id) for bulk in acts.bulks]
    found = [one for one in found if one.confidence >= least]
    if not len(acts):
        return Found(patterns=found, looked_at={"changes": 0}, notes=["Nothing was made or changed in this time."])
    days = calendar(acts, end)
    active = int((days.counts > 0).sum())
    looked_at = {
        "changes": len(acts), "active_days": active, "days": len(days.counts), "first": moment(int(acts.at[0])),
        "last": moment(int(acts.at[-1])), "time_zone": "UTC",
    }  # fmt: skip
    if len(acts) < _ACTS or active < _ACTIVE or len(days.counts) < _DAYS:
        note = (
            f"Too little to tell a pattern in time: {plural(len(acts), 'change')} on {plural(active, 'day')} within "
            f"{plural(len(days.counts), 'day')} (since {date_of(int(acts.at[0]))}); it takes {_ACTS} changes on "
            f"{_ACTIVE} days within {_DAYS} days. A call that makes many memories is one change."
        )
        return Found(patterns=found, looked_at=looked_at, notes=[note])
    subjects = [] if material.focus is not None else subjects_of(acts, by_id, tick=material.tick)
    signs = look(acts, days, subjects, material.tick)
    looked_at["subjects"] = len(subjects)
    for sign in signs:
        if sign.sure >= least:
            material.tick()
            found.append(pattern(sign, acts, days, by_id, material.text, material.focus))
    found.sort(key=lambda one: -one.confidence)
    told = any(one.name != "bulk" for one in found)
    notes = [] if told else [
        f"No pattern in time is sure enough to be told: {plural(len(acts), 'change')} on {plural(active, 'day')}."
    ]  # fmt: skip
    if len(days.counts) < 28:
        notes.append("A weekly rhythm takes four weeks to tell.")
    if bool(np.any(acts.brought)):
        notes.append(
            f"{plural(int(acts.brought.sum()), 'change')} came with imported memories and count at their own dates."
        )
    return Found(patterns=found, looked_at=looked_at, notes=notes)
