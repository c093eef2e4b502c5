"""Changes: what was done in a project, when, by whom and about what. One call is one act, whatever it made."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.probability import two_sided
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

HOUR = 3_600_000_000
DAY = 24 * HOUR

_BULK = 50  # memories; what one call makes of them by hand is fewer
_UNUSUAL = 20  # times the usual size of a call, from which it is a bulk in a project of large calls
_USUAL = 10  # calls, from which there is a usual size
_TOGETHER = HOUR // 6  # calls of one import follow each other within minutes
_NEVER = 1 << 62  # a time after all others
_EARLIER = 1_000_000  # a memory that is older than its making by more than this was brought from elsewhere

_MOST_SUBJECTS = 60  # the most frequent ones
_LEAST_ACTS = 12  # of a subject
SUBJECT_DAYS = 6
"""On which a subject must have come up to have a course."""
_NEARLY_ALL = 0.8  # of the acts: what is nearly everything goes as everything goes

Call = tuple[int, str, str]
"""When, by whom, and which action."""


class Bulk(Struct, frozen=True):
    """A call, or several in a row, that touched very many memories; ``act`` is -1 where these have their own dates."""

    act: int
    start: int
    end: int
    who: str
    action: str
    calls: int
    ids: Numbers
    how: dict[str, int]


class Acts(Struct, frozen=True, kw_only=True):
    """The acts of a project, oldest first.

    ``at`` is the time of each, ``who`` the number of its author in ``people``. ``memory``, ``act`` and ``how`` are a
    row for each memory that an act touched. ``coarse`` marks acts of which only the day is known, ``brought`` those
    that were done elsewhere and came with their dates.
    """

    at: Numbers
    who: Numbers
    people: list[str]
    memory: Numbers
    act: Numbers
    how: Numbers
    coarse: Numbers
    brought: Numbers
    bulks: list[Bulk]

    def __len__(self) -> int:
        return len(self.at)

    def touched(self, chosen: Numbers) -> Numbers:
        """Whether each row belongs to one of the acts chosen."""
        wanted = np.zeros(len(self), bool)
        wanted[chosen] = True
        return wanted[self.act]


class Subject(Struct, frozen=True):
    """A tag, kind or category, and the acts that touched a memory that has it, in order."""

    field: str
    value: str
    acts: Numbers

    def has(self, record: Record) -> bool:
        """Whether a record is about it."""
        return (self.field, self.value) in labels_of(record)


class Drift(Struct, frozen=True):
    """How a subject's share of all acts changed: in the first and the second half of the time, and the chance."""

    before: float
    after: float
    p: float

    @property
    def times(self) -> float:
        """How many times the smaller of both shares the larger one is."""
        return (max(self.before, self.after) + 1e-9) / (min(self.before, self.after) + 1e-9)

    @property
    def direction(self) -> str:
        """Where it goes."""
        return "rising" if self.after > self.before else "falling"


def split_who(who: str) -> tuple[str, str | None]:
    """User and client of a ``who`` such as "ana via claude-desktop 1.2"; the whole where there is no such division."""
    user, via, client = who.partition(" via ")
    return (user.strip(), client.strip()) if via and user.strip() and client.strip() else (who, None)


def acts_of(project: ProjectView, by_id: dict[int, Record], end: int) -> Acts:
    """The acts behind what was done to some memories up to ``end``.

    A memory that came with dates of its own (an import) counts at those dates, and the call that brought it only for
    what it did besides; so does one whose making is not among the touches, for it was brought at another time than the
    one asked about.
    """
    touches = project.touches
    project.tick()
    numbers: dict[Call, int] = {}
    call = [numbers.setdefault((one.at, one.who, one.action), len(numbers)) for one in touches]
    memory, how = [one.memory for one in touches], [one.how for one in touches]
    calls = list(numbers)
    project.tick()
    made = {one.memory: one.at for one in reversed(touches) if one.how == "made"}
    touched = set(memory)
    came = {id: made.get(id, record.created if id in touched else _NEVER) for id, record in by_id.items()}
    older = {id for id, record in by_id.items() if record.created < came[id] - _EARLIER}
    first_of, bulks = _bulks(calls, np.array(call, np.int64), np.array(memory, np.int64), how)
    busy = {call for call, id, kind in zip(call, memory, how, strict=True) if kind != "made" or id not in older}
    # Of a date without a time each memory counts; at one microsecond it was one call, elsewhere too.
    elsewhere: dict[tuple[int, int], int] = {}
    for id in (id for id in by_id if id in older):
        record = by_id[id]
        dates = [(record.created, "made")]
        if record.created + _EARLIER < record.updated < came[id] - _EARLIER:
            dates.append((record.updated, "changed"))
        for when, kind in dates:
            if project.within(when) and when <= end:
                key = (when, id if when % DAY == 0 else 0)
                call.append(len(calls) + elsewhere.setdefault(key, len(elsewhere)))
                memory.append(id)
                how.append(kind)
    at = np.array([one[0] for one in calls] + [when for when, _ in elsewhere], np.int64)
    foreign = np.arange(len(at)) >= len(calls)
    # In order of time, without calls that only brought memories or are one act with an earlier one.
    own = sorted({first_of.get(one, one) for one in busy})
    chosen = np.array([*own, *range(len(calls), len(at))], np.int64)
    chosen = chosen[np.argsort(at[chosen], kind="stable")]
    place = np.full(len(at), -1, np.int64)
    place[chosen] = np.arange(len(chosen))
    for one, first in first_of.items():
        place[one] = place[first]
    people = list(dict.fromkeys(who for _, who, _ in calls))
    number = {who: at for at, who in enumerate(people)}
    author = np.array([number[who] for _, who, _ in calls] + [-1] * len(elsewhere), np.int64)
    act = place[np.array(call, np.int64)]
    counted = act >= 0
    return Acts(
        at=at[chosen],
        who=author[chosen],
        people=people,
        memory=np.array(memory, np.int64)[counted],
        act=act[counted],
        how=np.array(how, object)[counted],
        coarse=(foreign & (at % DAY == 0))[chosen],
        brought=foreign[chosen],
        bulks=[replace(bulk, act=int(place[bulk.act])) for bulk in bulks],
    )


def _bulks(calls: list[Call], call: Numbers, memory: Numbers, how: list[str]) -> tuple[dict[int, int], list[Bulk]]:
    """Which calls are one act with an earlier one, and the acts that touched very many memories."""
    sizes = np.bincount(call, minlength=len(calls))
    least = max(_BULK, _UNUSUAL * float(np.median(sizes))) if len(sizes) >= _USUAL else _BULK
    runs: list[list[int]] = []
    for one in sorted(np.flatnonzero(sizes >= least).tolist(), key=lambda one: calls[one]):
        last = calls[runs[-1][-1]] if runs else None
        if last and last[1:] == calls[one][1:] and calls[one][0] - last[0] <= _TOGETHER:
            runs[-1].append(one)
        else:
            runs.append([one])
    bulks = []
    for run in runs:
        at, who, action = calls[run[0]]
        rows = np.flatnonzero(np.isin(call, run))
        done = Counter(how[row] for row in rows.tolist())
        bulks.append(Bulk(run[0], at, calls[run[-1]][0], who, action, len(run), memory[rows], dict(done)))
    return {one: run[0] for run in runs for one in run[1:]}, bulks


def labels_of(record: Record) -> set[tuple[str, str]]:
    """The tags, the kind and the category of a record, each with what it is."""
    found = {("tag", tag) for tag in record.tags} | {("kind", record.kind)}
    return found | {("category", record.category)} if record.category else found


def subjects_of(
    acts: Acts,
    by_id: dict[int, Record],
    tick: Callable[[], None],
    *,
    least: int = _LEAST_ACTS,
    most: int = _MOST_SUBJECTS,
) -> list[Subject]:
    """The tags, kinds and categories that came up often enough to say something about, the most frequent first."""
    of: dict[tuple[str, str], dict[int, None]] = {}
    known = {id: labels_of(by_id[id]) for id in set(acts.memory.tolist()) if id in by_id}
    order = np.argsort(acts.act, kind="stable")
    for done, (memory, act) in enumerate(zip(acts.memory[order].tolist(), acts.act[order].tolist(), strict=True)):
        if done % 5000 == 0:
            tick()
        for one in known.get(memory, ()):
            of.setdefault(one, {})[act] = None
    enough = [(key, rows) for key, rows in of.items() if least <= len(rows) <= _NEARLY_ALL * len(acts)]
    enough.sort(key=lambda one: (-len(one[1]), one[0]))
    return [Subject(*key, np.array(list(rows), np.int64)) for key, rows in enough[:most]]


def drift(some: Numbers, all_: Numbers) -> Drift | None:
    """Whether a subject's share of what is done rises or falls (Cochran and Armitage, days for observations)."""
    if (some > 0).sum() < SUBJECT_DAYS:
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
    p = two_sided(float(lever @ gap) / math.sqrt(variance))
    return Drift(float(some[:half].sum()) / early, float(some[half:].sum()) / late, p)
