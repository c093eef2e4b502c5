"""Wording: signs in time as findings, with their dates, counts and examples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.temporal.acts import Acts, Bulk
from polymnia.engine.analysis.temporal.beats import Gap
from polymnia.engine.analysis.temporal.chances import confidence
from polymnia.engine.analysis.temporal.evidence import evidence
from polymnia.engine.analysis.temporal.levels import Stretch
from polymnia.engine.analysis.temporal.looking import Calendar, Sign
from polymnia.engine.items import title_of
from polymnia.engine.text.calendar import moment
from polymnia.importing import importing
from polymnia.models import Record

__all__ = ["TYPE", "bulk_pattern", "examples", "pattern"]

TYPE = "temporal_patterns"

_EXAMPLES = 5
_WORDS = 6
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
    answer = sign.answer
    members: tuple[int, ...] = ()
    found = evidence(answer, days)
    details: dict[str, Any] = {} if focus is None else {"focused": True}
    if isinstance(answer, Stretch | Gap):
        details["last"] = moment(days.moment(answer.stop) - 1)
    if isinstance(answer, Stretch):
        chosen = _acts_within(acts, days, answer.start, answer.stop, sign)
        records, members = _touched(acts, chosen, by_id)
        found |= {"words": _words(records, by_id, text), "examples": examples(records)}
    if sign.subject:
        found = {"subject": {sign.subject.field: sign.subject.value}, **found}
        if not members:
            members = _touched(acts, sign.subject.acts, by_id)[1]
    if focus is not None:
        members = (focus,)
    return Pattern(
        type=TYPE,
        name=sign.name,
        confidence=sign.sure,
        evidence=found | {"p": float(f"{sign.p:.3g}")},
        details=details,
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
    what = ", ".join(f"{kind} {count:,}" for kind, count in sorted(bulk.how.items()))
    return Pattern(
        type=TYPE,
        name="bulk",
        confidence=confidence(p),
        evidence={
            "at": moment(bulk.start), "end": moment(bulk.end), "who": bulk.who, "action": bulk.action,
            "memories": bulk.memories, "calls": bulk.calls, "done": what, "examples": examples(records),
        },
        details={"usual": usual, "brought": bulk.act < 0},
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
