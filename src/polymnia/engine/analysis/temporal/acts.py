"""Acts: what was done in a project, when and by whom. One call is one act, whether it made one memory or a thousand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from polymnia.models import Record, Touch

__all__ = ["DAY", "HOUR", "WEEK", "Acts", "Bulk", "acts_of", "split_who"]

HOUR = 3_600_000_000
DAY = 24 * HOUR
WEEK = 7 * DAY

_BULK = 50  # memories; what one call makes of them by hand is fewer
_UNUSUAL = 20  # times the usual size of a call, from which it is a bulk in a project of large calls
_USUAL = 10  # calls, from which there is a usual size
_TOGETHER = HOUR // 6  # calls of one import follow each other within minutes
_NEVER = 1 << 62  # a time after all others
_EARLIER = 1_000_000  # a memory that is older than its making by more than this was brought from elsewhere

Times = np.ndarray[Any, np.dtype[np.int64]]


class Bulk(Struct, frozen=True):
    """A call, or several in a row, that touched very many memories at once: an import, a clean-up.

    ``act`` is the number of its act, -1 where it only brought memories that count at their own dates.
    """

    act: int
    start: int
    end: int
    who: str
    action: str
    memories: int
    calls: int
    ids: Times
    how: dict[str, int]


class Acts(Struct, frozen=True, kw_only=True):
    """The acts of a project, oldest first.

    ``at`` is the time of each, ``who`` the number of its author in ``people``. ``memory``, ``act`` and ``how`` are a
    row for each memory that an act touched. ``coarse`` marks acts of which only the day is known, ``brought`` those
    that were done elsewhere and came with their dates.
    """

    at: Times
    who: Times
    people: list[str]
    memory: Times
    act: Times
    how: list[str]
    coarse: Any
    brought: Any
    bulks: list[Bulk]

    def __len__(self) -> int:
        return len(self.at)


def split_who(who: str) -> tuple[str, str | None]:
    """User and client of a ``who`` such as "ana via claude-desktop 1.2"; the whole where there is no such division."""
    user, via, client = who.partition(" via ")
    return (user.strip(), client.strip()) if via and user.strip() and client.strip() else (who, None)


def acts_of(
    touches: Sequence[Touch],
    by_id: dict[int, Record],
    within: Callable[[int], bool] = lambda at: True,
    tick: Callable[[], None] = lambda: None,
) -> Acts:
    """The acts behind what was done to memories.

    A memory that came with dates of its own (an import) counts at those dates, and the call that brought it only for
    what it did besides; so does one whose making is not among the touches, for it was brought at another time than the
    one asked about. ``within`` says which of these dates are in that time.
    """
    calls: dict[tuple[int, str, str], int] = {}
    rows_memory: list[int] = []
    rows_act: list[int] = []
    how: list[str] = []
    dated: dict[int, int] = {}
    for at, one in enumerate(touches):
        if at % 5000 == 0:
            tick()
        call = calls.setdefault((one.at, one.who, one.action), len(calls))
        rows_memory.append(one.memory)
        rows_act.append(call)
        how.append(one.how)
        if one.how == "made":
            dated.setdefault(one.memory, one.at)
    keys = list(calls)
    touched = set(rows_memory)
    older = {
        id: made
        for id, record in by_id.items()
        if record.created < (made := dated.get(id, record.created if id in touched else _NEVER)) - _EARLIER
    }
    of_call = np.array(rows_act, np.int64)
    memory = np.array(rows_memory, np.int64)
    one_of, bulks = _bulks(keys, of_call, memory, how)
    carried = np.fromiter((kind == "made" and id in older for kind, id in zip(how, rows_memory, strict=True)), bool)
    carried = carried if len(carried) else np.zeros(0, bool)
    busy = np.bincount(of_call[~carried], minlength=len(keys)) > 0
    elsewhere: dict[tuple[int, int], int] = {}
    for id, made in older.items():
        for when, kind in _dates(by_id[id], made):
            if within(when):
                # Of a date without a time each memory counts; at one microsecond it was one call, elsewhere too.
                key = (when, id if when % DAY == 0 else 0)
                rows_act.append(len(keys) + elsewhere.setdefault(key, len(elsewhere)))
                rows_memory.append(id)
                how.append(kind)
    return _sorted(keys, list(elsewhere), one_of, bulks, (rows_memory, rows_act, how), busy)


def _dates(record: Record, made: int) -> Iterable[tuple[int, str]]:
    yield record.created, "made"
    if record.created + _EARLIER < record.updated < made - _EARLIER:
        yield record.updated, "changed"


def _bulks(
    keys: list[tuple[int, str, str]], of_call: Times, memory: Times, how: list[str]
) -> tuple[dict[int, int], list[Bulk]]:
    """Which calls are one act with an earlier one, and the acts that touched very many memories."""
    sizes = np.bincount(of_call, minlength=len(keys))
    least = max(_BULK, _UNUSUAL * float(np.median(sizes))) if len(sizes) >= _USUAL else _BULK
    large = sorted(np.flatnonzero(sizes >= least).tolist(), key=lambda call: keys[call])
    runs: list[list[int]] = []
    for call in large:
        at, who, action = keys[call]
        last = keys[runs[-1][-1]] if runs else None
        if last and last[1:] == (who, action) and at - last[0] <= _TOGETHER:
            runs[-1].append(call)
        else:
            runs.append([call])
    bulks = []
    for run in runs:
        at, who, action = keys[run[0]]
        rows = np.flatnonzero(np.isin(of_call, run))
        done = Counter(how[row] for row in rows.tolist())
        bulks.append(
            Bulk(run[0], at, keys[run[-1]][0], who, action, len(rows), len(run), memory[rows], dict(done))
        )  # fmt: skip
    return {call: run[0] for run in runs for call in run[1:]}, bulks


def _sorted(
    keys: list[tuple[int, str, str]],
    elsewhere: list[tuple[int, int]],
    one_of: dict[int, int],
    bulks: list[Bulk],
    rows: tuple[list[int], list[int], list[str]],
    busy: Any,
) -> Acts:
    """The acts in order of time, without calls that only brought memories."""
    numbers: dict[str, int] = {}
    who = [numbers.setdefault(key[1], len(numbers)) for key in keys]
    at = np.array([key[0] for key in keys] + [when for when, _ in elsewhere], np.int64)
    author = np.array(who + [-1] * len(elsewhere), np.int64)
    foreign = np.arange(len(at)) >= len(keys)
    for call, first in one_of.items():
        busy[first] |= busy[call]
        busy[call] = False
    kept = np.flatnonzero(np.concatenate([busy, np.ones(len(elsewhere), bool)]))
    kept = kept[np.argsort(at[kept], kind="stable")]
    place = np.full(len(at), -1, np.int64)
    place[kept] = np.arange(len(kept))
    for call, first in one_of.items():
        place[call] = place[first]
    act = place[np.array(rows[1], np.int64)]
    told = act >= 0
    return Acts(
        at=at[kept],
        who=author[kept],
        people=list(numbers),
        memory=np.array(rows[0], np.int64)[told],
        act=act[told],
        how=[how for how, one in zip(rows[2], told.tolist(), strict=True) if one],
        coarse=(foreign & (at % DAY == 0))[kept],
        brought=foreign[kept],
        bulks=[replace(bulk, act=int(place[bulk.act])) for bulk in bulks],
    )
