"""Usage patterns: what is read and what is not, what is rewritten, and what is read together.

From the journal and the counts of reads. Each question is asked of all memories at once, against a project in which all
are used alike; the number of memories and of questions is taken into the confidence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.activity.changes import DAY, HOUR, split_who
from polymnia.engine.analysis.activity.reads import ReadCounts, reads_of
from polymnia.engine.analysis.findings import Findings, Pattern, Remark
from polymnia.engine.analysis.probability import LEAST, adjusted, at_least, confidence, two_sided
from polymnia.engine.content import title_of
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_TYPE = "usage_patterns"
_ASKED = 7  # questions; each is held to its part of the error that is allowed
_MEMORIES, _READINGS, _CHANGES = 5, 20, 20  # with fewer memories, readings or changes nothing can be said
_EXAMPLES = 10
_READERS = 3

_OFTEN = 2.0  # times what is expected of a memory
_REWRITTEN = 3  # days on which a memory was changed, at least
_OLD = 30.0  # days without a change
_AHEAD = 30.0  # days for which nobody will read a memory that counts as unread
_AGES = (7.0, 14.0, 30.0, 60.0, 90.0, 180.0, 365.0)
_OPENINGS = 20  # with fewer, openings alone say nothing
_FOLLOWED = 10  # memories that were watched for so long at least
_DRAWN = 100  # projects in which all memories are read alike
_SEED = 28

_CROWD = 30  # memories opened in one hour; more is somebody who goes through everything
_OPENED = 4  # hours in which a memory of a pair was opened, at least
_PAIRED = 3000  # memories that are paired, those opened most
_SHARED = 3  # hours that a pair has in common, at least

Numbers = np.ndarray[Any, np.dtype[Any]]


class Unread(Struct, frozen=True):
    """Memories nobody read for ``age`` days or more, oldest first, of how many; how many equal reading would leave.

    ``stays`` is how many of a hundred such memories stay unread for another month, as a share.
    """

    places: Numbers
    of: int
    expected: float
    p: float
    age: float
    stays: float


class Pair(Struct, frozen=True, order=True):
    """Two places that were opened together ``count`` times where ``expected`` were; ``p`` is the chance of that."""

    p: float
    one: int
    other: int
    count: int
    expected: float


def usage_patterns(project: ProjectView) -> Findings:
    """What is read and written: ``most_read``, ``found_not_opened``, ``never_read``, ``read_not_updated``,
    ``rewritten``, ``read_together`` and ``concentration``.

    Findings that are less sure than ``LEAST`` are left out.
    """
    end = project.now if project.end is None else min(project.end, project.now)
    reads = reads_of(project.present, project.seen, project.touches, end, project.tick)
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
    found: list[Pattern] = []
    if reads.readings >= _READINGS:
        found += [*_concentration(reads), *_never_read(reads, project.tick), *_read_together(reads)]
        project.tick()
    if reads.readings >= _READINGS or int(reads.changed.sum()) >= _CHANGES:
        for name, chances in (
            ("most_read", read_most(reads)),
            ("found_not_opened", _passed_over(reads)),
            ("read_not_updated", _read_and_old(reads)),
            ("rewritten", _above(reads.changed, reads.usual_changed, _REWRITTEN)),
        ):
            project.tick()
            found += _listed(name, chances, reads)
    found = sorted((one for one in found if one.confidence >= LEAST), key=lambda one: -one.confidence)
    notes = []
    if reads.readings < _READINGS:
        since = moment(reads.begin) if reads.readings else None
        few_reads = {"readings": reads.readings, "since": since, "needed": _READINGS, "changes": writes}
        notes = [Remark("activity.few_reads", few_reads)]
    elif not found:
        read = int(((reads.opened > 0) | (reads.found > 0)).sum())
        seen = {"readings": reads.readings, "read": read, "memories": len(reads.records), "changes": writes}
        notes = [Remark("activity.no_use_pattern", seen)]
    return Findings(patterns=found, looked_at=looked_at, notes=notes)


def read_most(reads: ReadCounts) -> dict[int, float]:
    """The chance of each memory that was read much more than others of its age."""
    return _above(*_main(reads), 2)


def _passed_over(reads: ReadCounts) -> dict[int, float]:
    """The chance of each memory that was found again and again and never opened, when all are opened as often."""
    found = int(reads.found.sum())
    rate = float(reads.both.sum()) / found if found else 0.0
    chosen = (reads.opened == 0) & (reads.found > 0) & (0 < rate < 1)
    return {int(at): (1 - rate) ** int(reads.found[at]) for at in np.flatnonzero(chosen)}


def _read_and_old(reads: ReadCounts) -> dict[int, float]:
    """The chance of each memory that is read on and on without a change, when a reading leads to one as often."""
    changes = int(reads.changed.sum())
    rate = changes / (changes + int(reads.opened.sum())) if changes else 0.0
    chosen = (reads.since > 0) & (reads.end - reads.last_change >= _OLD * DAY) & (rate > 0)
    return {int(at): (1 - rate) ** int(reads.since[at]) for at in np.flatnonzero(chosen)}


def _main(reads: ReadCounts) -> tuple[Numbers, Numbers]:
    """Openings, or where there are few all readings; and what is usual of them."""
    if reads.opened.sum() >= _OPENINGS:
        return reads.opened, reads.usual_opened
    return reads.opened + reads.found - reads.both, reads.usual_read


def _above(counts: Numbers, expected: Numbers, least: int) -> dict[int, float]:
    chosen = np.flatnonzero((counts >= least) & (counts >= _OFTEN * expected))
    return {int(at): at_least(int(counts[at]), float(expected[at])) for at in chosen}


def _listed(name: str, chances: dict[int, float], reads: ReadCounts) -> list[Pattern]:
    """A finding about single memories, the most striking first."""
    rates = adjusted(list(chances.values()), len(reads.records))
    passing = sorted(
        (chance, at, sure)
        for (at, chance), rate in zip(chances.items(), rates, strict=True)
        if (sure := confidence(rate * _ASKED)) >= LEAST
    )
    if not passing:
        return []
    places = [at for _, at, _ in passing]
    return [
        Pattern(
            type=_TYPE,
            name=name,
            confidence=min(sure for _, _, sure in passing),
            evidence={"count": len(places), "memories": [_line(name, at, reads) for at in places[:_EXAMPLES]]},
            members=tuple(reads.records[at].id for at in places),
        )
    ]


def _line(name: str, at: int, reads: ReadCounts) -> JsonObject:
    line = _example(reads, at)
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


def _example(reads: ReadCounts, at: int) -> JsonObject:
    return {"id": reads.records[at].uid, "title": title_of(reads.records[at])}


def _concentration(reads: ReadCounts) -> list[Pattern]:
    """How unevenly readings are spread over the memories, against equal reading."""
    counts, usual = _main(reads)
    total = int(counts.sum())
    if total < len(counts) // 4 or len(counts) < 10:
        return []
    share = np.maximum(usual, 1e-9) / np.maximum(usual, 1e-9).sum()
    rng = np.random.default_rng(_SEED)
    drawn = [_top(rng.multinomial(total, share)) for _ in range(_DRAWN)]
    mean, deviation = float(np.mean(drawn)), max(float(np.std(drawn)), 1e-6)
    top = _top(counts)
    n = len(counts)
    gini = float((2 * np.arange(1, n + 1) - n - 1) @ np.sort(counts)) / (n * total)
    p = two_sided((top - mean) / deviation) / 2 if top > mean else 1.0
    evidence = {"top_tenth_share": round(top, 3), "expected_share": round(mean, 3), "gini": round(gini, 3)}
    return [
        Pattern(
            type=_TYPE,
            name="concentration",
            confidence=confidence(p * _ASKED),
            evidence=evidence | {"p": float(f"{p:.3g}")},
        )
    ]


def _top(counts: Numbers) -> float:
    """The share of the tenth read most."""
    many = max(1, len(counts) // 10)
    return float(np.partition(counts, len(counts) - many)[len(counts) - many :].sum() / counts.sum())


def _never_read(reads: ReadCounts, tick: Callable[[], None]) -> list[Pattern]:
    tick()
    one = _unread(reads)
    if one is None or not len(one.places):
        return []
    oldest = one.places[:_EXAMPLES].tolist()
    return [
        Pattern(
            type=_TYPE,
            name="never_read",
            confidence=min(confidence(one.p * _ASKED), round(one.stays, 4)),
            evidence={
                "count": len(one.places),
                "of": one.of,
                "expected": round(one.expected, 1),
                "days": one.age,
                "stays_unread": round(one.stays, 3),
                "counted_since": moment(reads.begin),
                "memories": [_example(reads, at) | {"days_unread": int(reads.exposed[at])} for at in oldest],
            },
            members=tuple(reads.records[at].id for at in one.places.tolist()),
        )
    ]


def _unread(reads: ReadCounts) -> Unread | None:
    """What nobody reads, if it is more than equal reading would leave; None where that cannot be said.

    The age from which a memory counts is the lowest at which so many stay unread for another month: ``LEAST``.
    """
    never = np.isinf(reads.first_read)
    chance = np.exp(-reads.usual_read)
    watched = np.where(never, reads.exposed, np.minimum(reads.first_read, reads.exposed))
    for age in _AGES:
        days = float(np.maximum(0.0, watched - age).sum())
        events = int((reads.first_read[~never] >= age).sum())
        stays = math.exp(-_AHEAD * (events + 0.5) / days) if days > 0 else 0.0
        if int((watched >= age + _AHEAD).sum()) >= _FOLLOWED and stays >= LEAST:
            old = reads.exposed >= age
            unread = np.flatnonzero(never & old)
            mean = float(chance[old].sum())
            deviation = math.sqrt(max(1e-12, float((chance[old] * (1 - chance[old])).sum())))
            gap = (len(unread) - 0.5 - mean) / deviation
            p = two_sided(gap) / 2 if gap > 0 else 1.0
            oldest = unread[np.argsort(-reads.exposed[unread], kind="stable")]
            return Unread(oldest, int(old.sum()), mean, p, age, stays)
    return None


def _read_together(reads: ReadCounts) -> list[Pattern]:
    """Memories that the same reader opens within the same hour, the most certain pair first."""
    found, possible = _pairs(*(column[reads.rows[3]] for column in reads.rows[:3]))
    rates = adjusted([pair.p for pair in found], possible)
    judged = [(pair, confidence(rate * _ASKED)) for pair, rate in zip(found, rates, strict=True)]
    pairs = sorted(pair for pair, sure in judged if sure >= LEAST)
    if not pairs:
        return []
    shown = []
    for pair in pairs[:_EXAMPLES]:
        both = reads.records[pair.one], reads.records[pair.other]
        shown.append(
            {
                "ids": [one.uid for one in both],
                "titles": [title_of(one) for one in both],
                "hours": pair.count,
                "expected": round(pair.expected, 2),
                "lift": round(pair.count / max(pair.expected, 1e-9), 1),
            }
        )
    return [
        Pattern(
            type=_TYPE,
            name="read_together",
            confidence=min(sure for _, sure in judged if sure >= LEAST),
            evidence={"count": len(pairs), "pairs": shown},
            members=tuple(dict.fromkeys(reads.records[at].id for pair in pairs for at in (pair.one, pair.other))),
        )
    ]


def _pairs(place: Numbers, hour: Numbers, who: Numbers) -> tuple[list[Pair], int]:
    """The pairs that are opened together more often than chance brings them together, and how many could be.

    What is expected follows from how often each is opened and how many are opened in an hour: as if what was opened
    were dealt anew to the same hours.
    """
    if not len(place):
        return [], 0
    _, sitting = np.unique(hour // HOUR * (int(who.max()) + 1) + who, return_inverse=True)
    sitting, place = np.divmod(np.unique(sitting * (int(place.max()) + 1) + place), int(place.max()) + 1)
    fits = np.bincount(sitting)[sitting] <= _CROWD
    sitting, place = sitting[fits], place[fits]
    if len(place) < 2:
        return [], 0
    opened = np.bincount(place)
    size = np.bincount(sitting).astype(float)
    meetings = float((size * (size - 1)).sum()) / (len(place) * (len(place) - 1.0))
    eligible = np.flatnonzero(opened >= _OPENED)
    eligible = eligible[np.argsort(-opened[eligible], kind="stable")][:_PAIRED]
    chosen = np.isin(place, eligible)
    sitting, place = sitting[chosen], place[chosen]
    keys = [np.zeros(0, np.int64)]
    for apart in range(1, min(_CROWD, len(place))):
        same = sitting[apart:] == sitting[:-apart]
        keys.append(place[:-apart][same] * len(opened) + place[apart:][same])
    met, counts = np.unique(np.concatenate(keys), return_counts=True)
    found = []
    for key, count in zip(met[counts >= _SHARED].tolist(), counts[counts >= _SHARED].tolist(), strict=True):
        one, other = divmod(key, len(opened))
        expected = float(opened[one]) * float(opened[other]) * meetings
        if count >= _OFTEN * expected:
            found.append(Pair(at_least(count, expected), one, other, count, expected))
    return found, len(eligible) * (len(eligible) - 1) // 2
