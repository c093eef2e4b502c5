"""Stale: contents that time has passed by: superseded ones, deadlines that are over, and what nobody keeps up."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, NamedTuple

from polymnia.engine.analysis.findings import Pattern, Remark
from polymnia.engine.analysis.issues.issue import example, issue, subjects
from polymnia.engine.analysis.quality.accuracy import days
from polymnia.engine.text.calendar import moment
from polymnia.engine.text.sentences import lines_of
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_HOUR, _DAY = 3_600_000_000, 86_400_000_000
_READ = 20_000  # characters in which deadlines are looked for
_GAPS = 20  # pauses between changes of one content that tell the rhythm of a project
_KEPT = 0.5  # the share of a kind that has been changed later, from which the kind is one that is kept up,
_FEWEST = 5  # among at least so many
_LONGER = 0.95  # of the pauses must be shorter than the silence of a content,
_SILENT = 30 * _DAY  # which lasts at least so long
_GONE = frozenset({"superseded", "deprecated", "obsolete", "replaced", "outdated", "expired", "폐기", "대체됨", "만료"})
_REPLACES = frozenset({"supersedes", "replaces", "obsoletes", "대체"})
_REPLACED = frozenset({"superseded_by", "replaced_by", "obsoleted_by"})
_DATED = re.compile(r"\d{4}[-./년]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)|\d{1,2}월", re.IGNORECASE)
_AHEAD = re.compile(
    r"\b(?:will|shall|going to|due|deadline|until|by|no later than|scheduled|plan(?:s|ned)?|upcoming|expires?|should"
    r"|must|target|goal)\b|예정|계획|까지|할 것|하기로|마감|기한|목표|만료",
    re.IGNORECASE,
)
"""Words of a sentence about what is to come."""
_PAST = re.compile(
    r"\b(?<!be )(?<!to )(?:was|were|did|had|has been|have been|done|sent|finished|completed"
    r"|released|shipped|closed|cancel+ed)\b|\[[xX]\]|[가-힣](?:했|었|았|였|됐|렸|졌|갔|왔)(?:다|습니다|어요|음)|완료|취소|끝났",
    re.IGNORECASE,
)
"""Words of a sentence about what has been."""


class _Old(NamedTuple):
    record: Record
    sort: str
    why: Remark
    quote: str
    sure: float = 1.0


def stale(project: ProjectView) -> tuple[Pattern | None, list[Remark]]:
    """The contents that are out of date, and what could not be told."""
    asked = subjects(project)
    replaced = _replaced(project)
    today = datetime.fromtimestamp(project.now / 1_000_000, UTC).date()
    found: dict[int, _Old] = {}
    for at, record in enumerate(asked):
        if at % 1000 == 0:
            project.tick(at, len(asked))
        text = project.text(record)
        status = str(record.metadata.get("status", "")).strip().casefold()
        if by := record.metadata.get("superseded_by") or replaced.get(record.name):
            found[record.id] = _Old(record, "superseded", Remark("issues.superseded_by", {"by": by}), text)
        elif status in _GONE:
            found[record.id] = _Old(record, "superseded", Remark("issues.status", {"status": status}), text)
        elif passed := _passed(record, text, today):
            day, sentence = passed
            found[record.id] = _Old(record, "past_deadline", Remark("issues.over", {"day": str(day)}), sentence)
    silent, notes = _silent(project, asked)
    found = {one.record.id: one for one in silent} | found
    if not found:
        return None, notes
    order = sorted(found.values(), key=lambda one: (-one.sure, one.record.updated, one.record.id))
    return issue(
        "stale",
        sum(one.sure for one in order) / len(order),
        [one.record for one in order],
        len(asked),
        (example(one.record, one.why, one.quote) for one in order),
        by_reason=dict(Counter(one.sort for one in order)),
    ), notes


def _replaced(project: ProjectView) -> dict[str, str]:
    """Names that a relation says are superseded, and by what."""
    found: dict[str, str] = {}
    names = project.by_name
    for one in project.relations:
        kind = one.type.casefold().replace(" ", "_").replace("-", "_")
        if kind in _REPLACES:
            found[one.target] = names[one.source].uid
        elif kind in _REPLACED:
            found[one.source] = names[one.target].uid
    return found


def _passed(record: Record, text: str, today: date) -> tuple[date, str] | None:
    """A day that was ahead when a text was last changed, is over now, and is still spoken of as one to come."""
    text = text[:_READ]
    if not _DATED.search(text) or not _AHEAD.search(text):
        return None
    written = datetime.fromtimestamp(record.updated / 1_000_000, UTC).date()
    for sentence in lines_of(text):
        if not _DATED.search(sentence) or not _AHEAD.search(sentence) or _PAST.search(sentence):
            continue
        for day in days(sentence):
            at = day.date if day.year else day._replace(year=written.year).date
            if at is not None and written < at < today:
                return at, sentence
    return None


def _silent(project: ProjectView, asked: Iterable[Record]) -> tuple[list[_Old], list[Remark]]:
    """Contents of kinds that are kept up which nobody has changed or read for longer than such pauses last."""
    last: dict[int, int] = {}
    pauses: list[int] = []
    later: set[int] = set()
    for one in project.touches:
        before = last.get(one.memory)
        if before is not None and one.at - before > _HOUR:
            pauses.append(one.at - before)
            later.add(one.memory)
        last[one.memory] = max(one.at, before or 0)
    if len(pauses) < _GAPS:
        return [], [Remark("issues.few_changes", {"changes": len(pauses), "least": _GAPS})]
    pauses.sort()
    middle = pauses[len(pauses) // 2]
    kinds: dict[str, list[bool]] = {}
    for record in project.items:
        if project.now - record.created >= middle:
            kinds.setdefault(record.kind, []).append(record.id in later)
    kept = {kind for kind, changed in kinds.items() if len(changed) >= _FEWEST and sum(changed) >= _KEPT * len(changed)}
    seen: dict[int, int] = {}
    for read in project.seen:
        seen[read.memory] = max(seen.get(read.memory, 0), read.hour)
    found = []
    for record in asked:
        touched = max(record.updated, seen.get(record.id, 0))
        silence = project.now - touched
        shorter = bisect_left(pauses, silence)
        if record.kind in kept and silence >= _SILENT and shorter >= _LONGER * len(pauses):
            values = {"since": moment(touched), "days": silence // _DAY, "shorter": shorter, "pauses": len(pauses)}
            sure = (shorter + 1) / (len(pauses) + 2)
            found.append(_Old(record, "silent", Remark("issues.silent", values), project.text(record), sure))
    return found, []
