"""Usage patterns: what is read, not read, rewritten and read together (docs/decisions/0028-rhythms.md)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.activity.changes import DAY, HOUR, split_who
from polymnia.engine.analysis.findings import Finding, Findings, Remark, example
from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.probability import LEAST, at_least, benjamini_hochberg, confidence, two_sided
from polymnia.engine.content import title_of
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject, Record, Touch

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_TESTS = 7  # families of tests that share the allowed error
_MEMORIES, _READINGS, _CHANGES = 5, 20, 20  # with fewer of any, nothing can be concluded
_EXAMPLES = 10
_READERS = 3

_OFTEN = 2.0  # times the expected count of a memory
_REWRITTEN = 3  # days on which a memory was changed, at least
_OLD = 30.0  # days without a change
_AHEAD = 30.0  # days for which an unread memory is expected to stay unread
_AGES = (7.0, 14.0, 30.0, 60.0, 90.0, 180.0, 365.0)
_OPENINGS = 20  # at least, to go by openings alone
_FOLLOWED = 10  # memories observed for so long, at least
_DRAWN = 100  # projects drawn in which all memories are read alike
_SEED = 28

_CROWD = 30  # memories opened in one hour; more is somebody who reads everything
_OPENED = 4  # hours in which a memory of a pair was opened, at least
_PAIRED = 3000  # memories that are paired, the most opened
_SHARED = 3  # hours in common of a pair, at least

_FAR = np.iinfo(np.int64).max


class ReadCounts(Struct, frozen=True, kw_only=True):
    """Reads and writes by record: each array is parallel to ``records``; ``rows`` are the single readings.

    ``opened``, ``found``, ``both`` and ``since`` (the last change) count reader-days: ten openings by one are one.
    The ``usual_`` counts are expected if each reading or change falls on any memory of that day alike. ``exposed`` and
    ``first_read`` are in days; the latter is infinite if it was never read.
    """

    records: Sequence[Record]
    opened: Numbers
    found: Numbers
    both: Numbers
    times_opened: Numbers
    times_found: Numbers
    changed: Numbers
    last_change: Numbers
    since: Numbers
    usual_opened: Numbers
    usual_read: Numbers
    usual_changed: Numbers
    exposed: Numbers
    first_read: Numbers
    rows: tuple[Numbers, Numbers, Numbers, Numbers]
    readings: int
    readers: list[str]
    begin: int
    end: int

    @property
    def main(self) -> tuple[Numbers, Numbers]:
        """The openings, or all readings if these are few; and the expected counts."""
        if self.opened.sum() >= _OPENINGS:
            return self.opened, self.usual_opened
        return self.opened + self.found - self.both, self.usual_read


def usage_patterns(project: ProjectView) -> Findings:
    """How memories are read and changed, against a project in which all are used alike."""
    reads = _counted(project)
    writes = len({one.at for one in project.touches})
    looked_at = {
        "memories": len(reads.records),
        "readings": reads.readings,
        "opened": int(reads.times_opened.sum()),
        "found": int(reads.times_found.sum()),
        "changes": writes,
        "readers": len(reads.readers),
        "read_to_write": round(reads.readings / writes, 3) if writes else None,
    }
    if len(reads.records) < _MEMORIES:
        few = Remark("activity.few_memories", {"memories": len(reads.records), "needed": _MEMORIES})
        return Findings(looked_at=looked_at, notes=[few])
    found: list[Finding | None] = []
    if reads.readings >= _READINGS:
        found += [_concentration(reads), _never_read(reads), _read_together(reads)]
        project.tick()
    if reads.readings >= _READINGS or int(reads.changed.sum()) >= _CHANGES:
        for name, chances in (
            ("most_read", _above(*reads.main, 2)),
            ("found_not_opened", _passed_over(reads)),
            ("read_not_updated", _read_and_old(reads)),
            ("rewritten", _above(reads.changed, reads.usual_changed, _REWRITTEN)),
        ):
            project.tick()
            found.append(_listed(name, chances, reads))
    certain = sorted((one for one in found if one and one.confidence >= LEAST), key=lambda one: -one.confidence)
    notes = []
    if reads.readings < _READINGS:
        since = moment(reads.begin) if reads.readings else None
        few_reads = {"readings": reads.readings, "since": since, "needed": _READINGS, "changes": writes}
        notes = [Remark("activity.few_reads", few_reads)]
    elif not certain:
        read = int(((reads.opened > 0) | (reads.found > 0)).sum())
        counts = {"readings": reads.readings, "read": read, "memories": len(reads.records), "changes": writes}
        notes = [Remark("activity.no_use_pattern", counts)]
    return Findings(patterns=certain, looked_at=looked_at, notes=notes)


def _counted(project: ProjectView) -> ReadCounts:
    end = project.now if project.end is None else min(project.end, project.now)
    records, seen = project.present, project.seen
    many = len(records)
    place_of = {record.id: at for at, record in enumerate(records)}
    numbers: dict[str, int] = {}
    place = np.fromiter((place_of.get(one.memory, -1) for one in seen), np.int64, len(seen))
    project.tick()
    hour = np.fromiter((one.hour for one in seen), np.int64, len(seen))
    who = np.fromiter((numbers.setdefault(one.who, len(numbers)) for one in seen), np.int64, len(seen))
    project.tick()
    opened = np.fromiter((one.opened for one in seen), np.int64, len(seen))
    found = np.fromiter((one.found for one in seen), np.int64, len(seen))
    project.tick()
    known = place >= 0
    place, hour, who, opened, found = (column[known] for column in (place, hour, who, opened, found))
    made, last, changed, change_days = _changes(records, place_of, project.touches)
    project.tick()
    begin = int(hour.min()) if len(hour) else end
    from_ = np.maximum(made, begin)
    days_opened = _reader_days(place, hour, who, opened > 0)
    days_found = _reader_days(place, hour, who, found > 0)
    days_read = _reader_days(place, hour, who, (opened > 0) | (found > 0))
    first = np.full(many, _FAR)
    np.minimum.at(first, place, hour + HOUR // 2)
    since = _reader_days(place, hour, who, (opened > 0) & (hour + HOUR > last[place]))
    return ReadCounts(
        records=records,
        opened=np.bincount(days_opened[0], minlength=many),
        found=np.bincount(days_found[0], minlength=many),
        both=np.bincount(days_found[0][np.isin(days_found[1], days_opened[1])], minlength=many),
        times_opened=np.bincount(place, opened, minlength=many).astype(np.int64),
        times_found=np.bincount(place, found, minlength=many).astype(np.int64),
        changed=changed,
        last_change=last,
        since=np.bincount(since[0], minlength=many),
        usual_opened=_expected(days_opened[2], made // DAY),
        usual_read=_expected(days_read[2], made // DAY),
        usual_changed=_expected(change_days, made // DAY + 1),
        exposed=np.maximum(0, end - from_) / DAY,
        first_read=np.where(first == _FAR, np.inf, np.maximum(0, first - from_) / DAY),
        rows=(place, hour, who, opened > 0),
        readings=len(days_read[0]),
        readers=list(numbers),
        begin=begin,
        end=end,
    )


def _changes(
    records: Sequence[Record], place_of: dict[int, int], touches: Sequence[Touch]
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """When each record was stored, when it was last changed and on how many later days; and these days."""
    made = np.fromiter((record.created for record in records), np.int64, len(records))
    last = made.copy()
    place = np.fromiter((place_of.get(one.memory, -1) for one in touches), np.int64, len(touches))
    at = np.fromiter((one.at for one in touches), np.int64, len(touches))
    came = np.fromiter((one.how in ("made", "restored") for one in touches), bool, len(touches))
    known = place >= 0
    place, at, came = place[known], at[known], came[known]
    np.maximum.at(last, place, at)
    # An imported memory could not be read here before the import.
    np.maximum.at(made, place[came], at[came])
    day = at // DAY
    later = ~came & (day > (made // DAY)[place])
    keys = np.unique(place[later] * 1_000_000 + day[later])
    return made, last, np.bincount(keys // 1_000_000, minlength=len(records)), keys % 1_000_000


def _reader_days(place: Numbers, hour: Numbers, who: Numbers, chosen: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The reader-days of the chosen readings: the place of each, a unique key and the day."""
    readers = int(who.max()) + 1 if len(who) else 1
    day = hour // DAY
    low, span = (int(day.min()), int(day.max() - day.min()) + 1) if len(day) else (0, 1)
    keys = np.unique(((place * readers + who) * span + (day - low))[chosen])
    return keys // (readers * span), keys, keys % span + low


def _expected(days: Numbers, born: Numbers) -> Numbers:
    """The expected count of each memory if the events of a day fall on all that exist by then alike."""
    if not len(days) or not len(born):
        return np.zeros(len(born))
    low = int(days.min())
    counts = np.bincount(days - low)
    start = np.maximum(born - low, 0)
    there = np.cumsum(np.bincount(np.minimum(start, len(counts)), minlength=len(counts) + 1))[: len(counts)]
    each = counts / np.maximum(there, 1)
    left = np.append(np.cumsum(each[::-1])[::-1], 0.0)
    return np.asarray(left[np.minimum(start, len(counts))])


def _finding(name: str, sure: float, evidence: JsonObject, reads: ReadCounts, places: Sequence[int] = ()) -> Finding:
    members = tuple(reads.records[at].id for at in places)
    return Finding(type="usage_patterns", name=name, confidence=sure, evidence=evidence, members=members)


def _passed_over(reads: ReadCounts) -> dict[int, float]:
    """The p value of each memory that was found but never opened, if all are opened as often."""
    found = int(reads.found.sum())
    rate = float(reads.both.sum()) / found if found else 0.0
    chosen = (reads.opened == 0) & (reads.found > 0) & (0 < rate < 1)
    return {int(at): (1 - rate) ** int(reads.found[at]) for at in np.flatnonzero(chosen)}


def _read_and_old(reads: ReadCounts) -> dict[int, float]:
    """The p value of each old memory that is still read but not changed, if all are changed as often."""
    changes = int(reads.changed.sum())
    rate = changes / (changes + int(reads.opened.sum())) if changes else 0.0
    chosen = (reads.since > 0) & (reads.end - reads.last_change >= _OLD * DAY) & (rate > 0)
    return {int(at): (1 - rate) ** int(reads.since[at]) for at in np.flatnonzero(chosen)}


def _above(counts: Numbers, expected: Numbers, least: int) -> dict[int, float]:
    chosen = np.flatnonzero((counts >= least) & (counts >= _OFTEN * expected))
    return {int(at): at_least(int(counts[at]), float(expected[at])) for at in chosen}


def _listed(name: str, chances: dict[int, float], reads: ReadCounts) -> Finding | None:
    rates = benjamini_hochberg(list(chances.values()), len(reads.records))
    passing = sorted(
        (chance, at, sure)
        for (at, chance), rate in zip(chances.items(), rates, strict=True)
        if (sure := confidence(rate * _TESTS)) >= LEAST
    )
    if not passing:
        return None
    places = [at for _, at, _ in passing]
    evidence = {"count": len(places), "memories": [_line(name, at, reads) for at in places[:_EXAMPLES]]}
    return _finding(name, min(sure for _, _, sure in passing), evidence, reads, places)


def _line(name: str, at: int, reads: ReadCounts) -> JsonObject:
    line = example(reads.records[at])
    changed = {"last_change": moment(int(reads.last_change[at]))}
    if name == "rewritten":
        return line | {"days_changed": int(reads.changed[at])} | changed
    line |= {"opened": int(reads.times_opened[at]), "found": int(reads.times_found[at])}
    if name == "read_not_updated":
        return line | {"readings_since": int(reads.since[at])} | changed
    place, hour, who, _ = reads.rows
    mine = np.flatnonzero(place == at)
    readers, counts = np.unique(who[mine], return_counts=True)
    order = np.lexsort((readers, -counts))[:_READERS]
    line["readers"] = [split_who(reads.readers[int(readers[i])])[0] for i in order]
    line["last_read"] = moment(int(hour[mine].max()))
    return line


def _concentration(reads: ReadCounts) -> Finding | None:
    counts, usual = reads.main
    total, n = int(counts.sum()), len(counts)
    if total < n // 4 or n < 10:
        return None
    share = np.maximum(usual, 1e-9) / np.maximum(usual, 1e-9).sum()
    rng = np.random.default_rng(_SEED)
    drawn = [_top(rng.multinomial(total, share)) for _ in range(_DRAWN)]
    mean, deviation = float(np.mean(drawn)), max(float(np.std(drawn)), 1e-6)
    top = _top(counts)
    p = two_sided((top - mean) / deviation) / 2 if top > mean else 1.0
    evidence = {"top_tenth_share": round(top, 3), "expected_share": round(mean, 3)}
    return _finding("concentration", confidence(p * _TESTS), evidence | {"p": float(f"{p:.3g}")}, reads)


def _top(counts: Numbers) -> float:
    many = max(1, len(counts) // 10)
    return float(np.partition(counts, len(counts) - many)[len(counts) - many :].sum() / counts.sum())


def _never_read(reads: ReadCounts) -> Finding | None:
    """What nobody reads, if that is more than equal reading would leave.

    Memories count from the lowest age at which a share of ``LEAST`` stays unread for another month.
    """
    never = np.isinf(reads.first_read)
    chance = np.exp(-reads.usual_read)
    observed = np.where(never, reads.exposed, np.minimum(reads.first_read, reads.exposed))
    for age in _AGES:
        days = float(np.maximum(0.0, observed - age).sum())
        events = int((reads.first_read[~never] >= age).sum())
        stays = math.exp(-_AHEAD * (events + 0.5) / days) if days > 0 else 0.0
        if int((observed >= age + _AHEAD).sum()) >= _FOLLOWED and stays >= LEAST:
            break
    else:
        return None
    old = reads.exposed >= age
    unread = np.flatnonzero(never & old)
    oldest = unread[np.argsort(-reads.exposed[unread], kind="stable")].tolist()
    if not oldest:
        return None
    mean = float(chance[old].sum())
    deviation = math.sqrt(max(1e-12, float((chance[old] * (1 - chance[old])).sum())))
    gap = (len(oldest) - 0.5 - mean) / deviation
    p = two_sided(gap) / 2 if gap > 0 else 1.0
    evidence = {
        "count": len(oldest),
        "of": int(old.sum()),
        "expected": round(mean, 1),
        "days": age,
        "stays_unread": round(stays, 3),
        "counted_since": moment(reads.begin),
        "memories": [example(reads.records[at]) | {"days_unread": int(reads.exposed[at])} for at in oldest[:_EXAMPLES]],
    }
    return _finding("never_read", min(confidence(p * _TESTS), round(stays, 4)), evidence, reads, oldest)


def _read_together(reads: ReadCounts) -> Finding | None:
    found, possible = _pairs(*(column[reads.rows[3]] for column in reads.rows[:3]))
    rates = benjamini_hochberg([pair[0] for pair in found], possible)
    judged = [(pair, confidence(rate * _TESTS)) for pair, rate in zip(found, rates, strict=True)]
    pairs = sorted(pair for pair, sure in judged if sure >= LEAST)
    if not pairs:
        return None
    shown = []
    for _, one, other, count, expected in pairs[:_EXAMPLES]:
        both = reads.records[one], reads.records[other]
        shown.append(
            {
                "ids": [record.uid for record in both],
                "titles": [title_of(record) for record in both],
                "hours": count,
                "expected": round(expected, 2),
                "lift": round(count / max(expected, 1e-9), 1),
            }
        )
    places = list(dict.fromkeys(at for pair in pairs for at in pair[1:3]))
    sure = min(sure for _, sure in judged if sure >= LEAST)
    return _finding("read_together", sure, {"count": len(pairs), "pairs": shown}, reads, places)


def _pairs(place: Numbers, hour: Numbers, who: Numbers) -> tuple[list[tuple[float, int, int, int, float]], int]:
    """The pairs opened together more often than expected, and how many pairs are possible.

    Each has its p value, its two places, and the observed and the expected number of common hours.
    """
    if not len(place):
        return [], 0
    _, session = np.unique(hour // HOUR * (int(who.max()) + 1) + who, return_inverse=True)
    session, place = np.divmod(np.unique(session * (int(place.max()) + 1) + place), int(place.max()) + 1)
    fits = np.bincount(session)[session] <= _CROWD
    session, place = session[fits], place[fits]
    if len(place) < 2:
        return [], 0
    opened = np.bincount(place)
    size = np.bincount(session).astype(float)
    meetings = float((size * (size - 1)).sum()) / (len(place) * (len(place) - 1.0))
    eligible = np.flatnonzero(opened >= _OPENED)
    eligible = eligible[np.argsort(-opened[eligible], kind="stable")][:_PAIRED]
    chosen = np.isin(place, eligible)
    session, place = session[chosen], place[chosen]
    keys = [np.zeros(0, np.int64)]
    for apart in range(1, min(_CROWD, len(place))):
        same = session[apart:] == session[:-apart]
        keys.append(place[:-apart][same] * len(opened) + place[apart:][same])
    met, counts = np.unique(np.concatenate(keys), return_counts=True)
    found = []
    for key, count in zip(met[counts >= _SHARED].tolist(), counts[counts >= _SHARED].tolist(), strict=True):
        one, other = divmod(key, len(opened))
        expected = float(opened[one]) * float(opened[other]) * meetings
        if count >= _OFTEN * expected:
            found.append((at_least(count, expected), one, other, count, expected))
    return found, len(eligible) * (len(eligible) - 1) // 2
