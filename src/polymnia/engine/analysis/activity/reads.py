"""Reads: how often each memory was read and changed, counted so that one sitting of one reader is one reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.activity.changes import DAY, HOUR
from polymnia.models import Record, Seen, Touch

Numbers = np.ndarray[Any, np.dtype[Any]]

_FAR = np.iinfo(np.int64).max


class ReadCounts(Struct, frozen=True, kw_only=True):
    """What was read and written, a place in each array for each of the ``records``.

    ``opened`` and ``found`` count days of readers: two readers on one day are two, ten openings by one are one.
    ``both`` are those on which a reader found and opened it. ``times_opened`` and ``times_found`` are the plain counts.
    ``changed`` counts the days on which it was changed after its making, ``since`` the readings after its last change.
    The ``usual_`` counts are what it would have if each reading (or change) fell on any memory that was there that day.
    ``exposed`` is for how long it could be read and was counted, ``first_read`` the age at which it was first read,
    both in days; the latter is endless where it never was. ``rows`` are the single readings: place, hour, reader and
    whether it was opened; ``days`` the day of each day of a reader.
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
    days: Numbers
    readers: list[str]
    begin: int
    end: int

    @property
    def readings(self) -> int:
        """How many readings there were, of both kinds."""
        return len(self.days)


def reads_of(
    records: Sequence[Record], seen: Sequence[Seen], touches: Sequence[Touch], end: int, tick: Callable[[], None]
) -> ReadCounts:
    """Count what was read and changed up to ``end``, of the given memories alone."""
    many = len(records)
    place_of = {record.id: at for at, record in enumerate(records)}
    numbers: dict[str, int] = {}
    place = np.fromiter((place_of.get(one.memory, -1) for one in seen), np.int64, len(seen))
    tick()
    hour = np.fromiter((one.hour for one in seen), np.int64, len(seen))
    who = np.fromiter((numbers.setdefault(one.who, len(numbers)) for one in seen), np.int64, len(seen))
    tick()
    opened = np.fromiter((one.opened for one in seen), np.int64, len(seen))
    found = np.fromiter((one.found for one in seen), np.int64, len(seen))
    tick()
    known = place >= 0
    place, hour, who, opened, found = (column[known] for column in (place, hour, who, opened, found))
    made, last, changed, change_days = _changes(records, place_of, touches)
    tick()
    begin = int(hour.min()) if len(hour) else end
    from_ = np.maximum(made, begin)
    days_opened = _reader_days(place, hour, who, opened > 0)
    days_found = _reader_days(place, hour, who, found > 0)
    days_read = _reader_days(place, hour, who, (opened > 0) | (found > 0))
    first = np.full(many, _FAR)
    np.minimum.at(first, place, hour + HOUR // 2)
    later = hour + HOUR > last[place] if len(place) else np.zeros(0, bool)
    since = _reader_days(place, hour, who, (opened > 0) & later)
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
        usual_opened=_dealt(days_opened[2], made // DAY),
        usual_read=_dealt(days_read[2], made // DAY),
        usual_changed=_dealt(change_days, made // DAY + 1),
        exposed=np.maximum(0, end - from_) / DAY,
        first_read=np.where(first == _FAR, np.inf, np.maximum(0, first - from_) / DAY),
        rows=(place, hour, who, opened > 0),
        days=days_read[2],
        readers=list(numbers),
        begin=begin,
        end=end,
    )


def _changes(
    records: Sequence[Record], place_of: dict[int, int], touches: Sequence[Touch]
) -> tuple[Numbers, Numbers, Numbers, Numbers]:
    """Of each record when it came here, when it was changed last, and on how many days after that; and these days."""
    made = np.fromiter((record.created for record in records), np.int64, len(records))
    last = made.copy()
    place = np.fromiter((place_of.get(one.memory, -1) for one in touches), np.int64, len(touches))
    at = np.fromiter((one.at for one in touches), np.int64, len(touches))
    came = np.fromiter((one.how in ("made", "restored") for one in touches), bool, len(touches))
    known = place >= 0
    place, at, came = place[known], at[known], came[known]
    np.maximum.at(last, place, at)
    # What was brought with an old date could not be read here before it came.
    np.maximum.at(made, place[came], at[came])
    first = made // DAY
    day = at // DAY
    later = ~came & (day > first[place])
    keys = np.unique(place[later] * 1_000_000 + day[later])
    return made, last, np.bincount(keys // 1_000_000, minlength=len(records)), keys % 1_000_000


def _reader_days(place: Numbers, hour: Numbers, who: Numbers, chosen: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """The places of the days of readers among some readings, a key that tells each from all others, and its day."""
    readers = int(who.max()) + 1 if len(who) else 1
    day = hour // DAY
    low, span = (int(day.min()), int(day.max() - day.min()) + 1) if len(day) else (0, 1)
    keys = np.unique(((place * readers + who) * span + (day - low))[chosen])
    return keys // (readers * span), keys, keys % span + low


def _dealt(days: Numbers, born: Numbers) -> Numbers:
    """What each memory gets when what happens on a day is dealt evenly to all that are there by then."""
    if not len(days) or not len(born):
        return np.zeros(len(born))
    low = int(days.min())
    counts = np.bincount(days - low)
    start = np.maximum(born - low, 0)
    there = np.cumsum(np.bincount(np.minimum(start, len(counts)), minlength=len(counts) + 1))[: len(counts)]
    each = counts / np.maximum(there, 1)
    left = np.append(np.cumsum(each[::-1])[::-1], 0.0)
    return np.asarray(left[np.minimum(start, len(counts))])
