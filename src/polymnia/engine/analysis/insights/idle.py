"""Idle: memories and sessions that nobody has touched for long, and how often such ones came back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from polymnia.engine.analysis.actions import CleanSessions, Delete, ExportAll
from polymnia.engine.analysis.insights.habits import habit
from polymnia.engine.analysis.insights.values import Insight, Looked
from polymnia.engine.analysis.insights.view import DAY, View, plural
from polymnia.engine.text.calendar import moment

__all__ = ["Idle", "idle", "idle_sessions", "to_archive"]

_TWICE = 2  # horizons without use, from which a memory lies idle
_SPELLS = 10  # that must be known to say how often such a memory is used again
_LEAST = 0.8  # a memory that comes back one time in five is not to be put away

Numbers = np.ndarray[Any, np.dtype[Any]]


class Idle(NamedTuple):
    """Which items lie idle now, since when each was last used, and of earlier spells how many there were and ended."""

    places: Numbers
    last: Numbers
    spells: int
    revived: int


def idle(place: Numbers, at: Numbers, many: int, now: int, after: int, ahead: int) -> Idle:
    """Who has not been used for ``after``, from all uses (whose, when); all times in one unit.

    A spell is a time of ``after`` without use. How it went on is known if it ended within ``ahead`` or lasted longer.
    """
    order = np.lexsort((at, place))
    place, at = place[order], at[order]
    last = np.full(many, now, np.int64)
    if not len(place):
        return Idle(np.zeros(0, np.int64), last, 0, 0)
    ends = np.flatnonzero(np.diff(place, append=-1))
    last[place[ends]] = at[ends]
    same = place[1:] == place[:-1]
    gaps = (at[1:] - at[:-1])[same]
    open_ = now - at[ends]
    over = int((gaps >= after).sum())
    revived = int(((gaps >= after) & (gaps < after + ahead)).sum())
    return Idle(place[ends][open_ >= after], last, over + int((open_ >= after + ahead).sum()), revived)


def to_archive(view: View, looked: Looked) -> None:
    """Memories that lie idle, where such ones hardly ever came back."""
    material = view.material
    places = {record.id: at for at, record in enumerate(view.records)}
    uses = [(places[one.memory], one.at) for one in material.touches if one.memory in places]
    reads = [(places[one.memory], one.hour) for one in material.seen if one.memory in places]
    after = _TWICE * view.days
    if not reads:
        looked.notes.append("No reads are counted, so what lies idle cannot be told from what is only read.")
        return
    pairs = np.array(uses + reads, np.int64).reshape(-1, 2)
    since = min(hour for _, hour in reads)  # what was done before reads were counted says nothing about idleness
    found = idle(pairs[:, 0], np.maximum(pairs[:, 1], since), len(places), material.now, after * DAY, view.days * DAY)
    looked.looked_at |= {"idle_memories": len(found.places), "earlier_idle_spells": found.spells}
    if not len(found.places):
        return
    if found.spells < _SPELLS:
        looked.notes.append(
            f"{plural(len(found.places), 'memory was', 'memories were')} not touched for {after} days, but how often "
            f"such "
            f"ones are used again is known of {found.spells} only; it takes {_SPELLS}."
        )
        return
    stays = 1.0 - habit(found.revived, found.spells)
    if stays < _LEAST:
        return
    order = found.places[np.lexsort((found.places, found.last[found.places]))]
    records = [view.records[at] for at in order.tolist()]
    saved = sum(len(material.text(one)) for one in records)
    shown = view.shown(records)
    for line, at in zip(shown, order.tolist(), strict=False):
        line["last_used"] = moment(int(found.last[at]))
    looked.add(
        Insight(
            type="efficiency_opportunities", name="archive",
            summary=f"{plural(len(records), 'memory was', 'memories were')} not touched for {after} days or more "
            f"({saved:,} characters); of {found.spells} that lay so before, {found.revived} were used again within "
            f"{view.days} days.",
            confidence=round(stays, 4),
            explanation=f"From changes and reads since {moment(since)[:10]}: how many of the memories that lay idle "
            f"for {after} days before stayed so for "
            f"another {view.days}, as (those + 1) / (all + 2).",
            evidence={"count": len(records), "days": after, "earlier": found.spells, "used_again": found.revived,
                      "saved_characters": saved, "records": shown},
            members=tuple(one.id for one in records),
            **view.advised(
                "Export the project, then delete what nobody misses, oldest first.",
                ExportAll(), Delete(id=records[0].uid),
            ),
        ),
        saved,
    )  # fmt: skip


def idle_sessions(view: View, looked: Looked) -> None:
    """Sessions nobody has used within the horizon. How many, not which: what is in a session is its own affair."""
    wanted = view.whole.wanted
    if view.among is not None or wanted.only_session:
        return
    sessions = view.whole.snapshot.sessions()
    looked.looked_at["sessions"] = len(sessions)
    old = [one for one in sessions if one.used < view.start and one.memories and one.name != wanted.session]
    if not old:
        return
    held = sum(one.memories for one in old)
    days = (view.material.now - min(one.used for one in old)) // DAY
    looked.add(
        Insight(
            type="efficiency_opportunities", name="clean_sessions",
            summary=f"{plural(len(old), 'session')} of {len(sessions)} with {plural(held, 'memory', 'memories')} "
            f"{'was' if len(old) == 1 else 'were'} not used for {view.days} days or more (the oldest for {days}).",
            confidence=1.0, explanation="Counted.",
            evidence={"sessions": len(old), "of": len(sessions), "saved_memories": held, "oldest_days": days},
            **view.advised("Clean up, which can be undone.", CleanSessions(days=view.days)),
        ),
        held,
    )  # fmt: skip
