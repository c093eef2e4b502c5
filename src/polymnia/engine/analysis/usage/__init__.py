"""Usage patterns: what is read and what is not, what is rewritten, and what is read together.

From the journal and the counts of reads. Each question is asked of all memories at once, against a project in which all
are used alike; the number of memories and of questions is taken into the confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from polymnia.engine.analysis.findings import Found, Pattern
from polymnia.engine.analysis.temporal.acts import DAY, HOUR
from polymnia.engine.analysis.temporal.beats import hours, week
from polymnia.engine.analysis.temporal.chances import LEAST, adjusted, confidence
from polymnia.engine.analysis.temporal.sentences import date_of, plural
from polymnia.engine.analysis.usage import questions
from polymnia.engine.analysis.usage.reads import Reads, reads_of
from polymnia.engine.analysis.usage.together import pairs
from polymnia.engine.analysis.usage.wording import (
    balance_told,
    left_told,
    listed,
    pair_told,
    rhythm_told,
    spread_told,
)
from polymnia.models import Touch

if TYPE_CHECKING:
    from polymnia.engine.analysis.material import Material

__all__ = ["LEAST", "usage_patterns"]

_ASKED = 10  # questions; each is held to its part of the error that is allowed
_MEMORIES = 5  # with fewer memories, readings or changes nothing can be told
_READINGS = 20
_CHANGES = 20
_LOPSIDED = 5.0  # times as much read as written, or the other way round, from which it is a finding

_OF_EACH: tuple[tuple[str, Callable[[Reads], dict[int, float]]], ...] = (
    ("most_read", questions.read_most),
    ("found_not_opened", questions.passed_over),
    ("read_not_updated", questions.hot_and_old),
    ("rewritten", questions.changed_often),
)


def usage_patterns(material: Material, *, least: float = LEAST) -> Found:
    """What is read and written: ``most_read``, ``found_not_opened``, ``never_read``, ``read_not_updated``,
    ``rewritten``, ``read_together``, ``concentration``, ``read_write_balance`` and ``reading_rhythm``.

    Findings that are less sure than ``least`` are left out.
    """
    end = material.now if material.end is None else min(material.end, material.now)
    reads = reads_of(material.present, material.seen, material.touches, end, material.tick)
    writes = _writes(material.touches)
    looked_at = {
        "memories": len(reads.records), "readings": reads.readings, "opened": int(reads.times_opened.sum()),
        "found": int(reads.times_found.sum()), "changes": len(writes), "readers": len(reads.readers),
        "read_to_write": round(reads.readings / len(writes), 3) if len(writes) else None,
    }  # fmt: skip
    notes = _missing(reads, len(writes))
    found: list[Pattern] = []
    if len(reads.records) >= _MEMORIES:
        if reads.readings >= _READINGS:
            found += _of_reading(reads, material.tick, least)
            found += _of_time(reads, writes, least)
        if reads.readings >= _READINGS or int(reads.changed.sum()) >= _CHANGES:
            found += _of_each(reads, material.tick, least)
    found.sort(key=lambda one: -one.confidence)
    if not found and not notes:
        read = int(((reads.opened > 0) | (reads.found > 0)).sum())
        notes.append(
            f"No pattern of use is sure enough to be told: {plural(reads.readings, 'reading')} of {read:,} of "
            f"{len(reads.records):,} memories, {plural(len(writes), 'change')}."
        )
    return Found(patterns=found, looked_at=looked_at, notes=notes)


def _of_each(reads: Reads, tick: Callable[[], None], least: float) -> list[Pattern]:
    found = []
    for name, question in _OF_EACH:
        tick()
        chances = question(reads)
        places = list(chances)
        rates = adjusted([chances[at] for at in places], len(reads.records))
        passing = [(chances[at], at, rate) for at, rate in zip(places, rates, strict=True)]
        passing = sorted(one for one in passing if confidence(one[2] * _ASKED) >= least)
        if passing:
            worst = confidence(max(rate for _, _, rate in passing) * _ASKED)
            found.append(listed(name, [at for _, at, _ in passing], reads, worst))
    return found


def _of_reading(reads: Reads, tick: Callable[[], None], least: float) -> list[Pattern]:
    found = []
    uneven = questions.spread(reads)
    if uneven and (sure := confidence(uneven.p * _ASKED)) >= least:
        found.append(spread_told(uneven, sure))
    tick()
    left = questions.left_unread(reads, least)
    if left and left.unread and (sure := min(confidence(left.p * _ASKED), round(left.stays, 4))) >= least:
        found.append(left_told(left, reads, sure))
    tick()
    place, hour, who, opened = reads.rows
    met, possible = pairs(place[opened], hour[opened], who[opened])
    rates = adjusted([pair.p for pair in met], possible)
    passing = sorted(
        ((pair.p, pair.one, pair.other, pair, rate) for pair, rate in zip(met, rates, strict=True)),
        key=lambda one: one[:3],
    )
    passing = [one for one in passing if confidence(one[4] * _ASKED) >= least]
    if passing:
        worst = confidence(max(one[4] for one in passing) * _ASKED)
        found.append(pair_told([one[3] for one in passing], reads, worst))
    return found


def _of_time(reads: Reads, writes: Sequence[int], least: float) -> list[Pattern]:
    found = []
    _, hour, who, _ = reads.rows
    sittings = np.unique(hour // HOUR * len(reads.readers) + who) // len(reads.readers) * HOUR
    course = hours(sittings + HOUR // 2)
    if course and (sure := confidence(course.p * _ASKED)) >= least:
        found.append(rhythm_told(course, sure))
    first = reads.begin // DAY
    counts = np.bincount(sittings // DAY - first, minlength=max(1, reads.end // DAY - first))
    rhythm = week(counts, first)
    if rhythm and (sure := confidence(rhythm.p * _ASKED)) >= least:
        found.append(rhythm_told(rhythm, sure))
    # Writes from before reads were counted say nothing about the balance.
    written = np.array([at // DAY for at in writes if at >= reads.begin], np.int64)
    balance = questions.balance(reads.days, written)
    ratio = reads.readings / max(1, len(written))
    if max(ratio, 1 / ratio) >= _LOPSIDED and (sure := confidence(balance[2] * _ASKED)) >= least:
        found.append(balance_told(reads, len(written), balance, sure))
    return found


def _writes(touches: Sequence[Touch]) -> list[int]:
    """The times of the calls that changed something."""
    return sorted({one.at for one in touches})


def _missing(reads: Reads, writes: int) -> list[str]:
    notes = []
    if len(reads.records) < _MEMORIES:
        notes.append(f"Too little to tell a pattern of use: {len(reads.records)} memories; it takes {_MEMORIES}.")
    elif reads.readings < _READINGS:
        since = f" since {date_of(reads.begin)}" if reads.readings else ""
        notes.append(
            f"Too little reading to tell a pattern: {plural(reads.readings, 'reading')}{since}; it takes {_READINGS}. "
            f"({plural(writes, 'change')}.)"
        )
    return notes
