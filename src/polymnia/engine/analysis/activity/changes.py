"""Changes: what was changed in a project, when, by whom and about what. One call is one act, whatever its size."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.pairs import Numbers
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

HOUR = 3_600_000_000
DAY = 24 * HOUR

_BULK = 50  # memories of one call, more than anybody writes by hand
_UNUSUAL = 20  # times the median size of a call, from which it is a bulk call in a project of large ones
_USUAL = 10  # calls, from which the median means something
_TOGETHER = HOUR // 6  # between the calls of one import
_NEVER = 1 << 62  # a time after all others
_EARLIER = 1_000_000  # a memory created longer than this before it was stored is imported

_MOST_SUBJECTS = 60  # the most frequent ones
_LEAST_ACTS = 12  # of a subject
_NEARLY_ALL = 0.8  # of the acts; such a subject says nothing that the project does not

Call = tuple[int, str, str]
"""When, by whom, and which action."""


class Acts(Struct, frozen=True, kw_only=True):
    """The acts of a project, oldest first.

    ``at`` is the time of each, ``who`` the number of its author in ``people``. ``memory``, ``act`` and ``how`` have a
    row for each memory that an act touched. ``coarse`` marks acts of which only the day is known, ``brought`` those
    that were imported with their dates, ``bulk`` those that touched very many memories.
    """

    at: Numbers
    who: Numbers
    people: list[str]
    memory: Numbers
    act: Numbers
    how: Numbers
    coarse: Numbers
    brought: Numbers
    bulk: Numbers

    def __len__(self) -> int:
        return len(self.at)

    def touched(self, chosen: Numbers) -> Numbers:
        """Whether each row belongs to one of the chosen acts."""
        return np.isin(self.act, chosen)


class Subject(Struct, frozen=True):
    """A tag, kind or category, and the acts that touched a memory with it, in order."""

    field: str
    value: str
    acts: Numbers

    def has(self, record: Record) -> bool:
        """Whether a record has it."""
        return (self.field, self.value) in labels_of(record)


def split_who(who: str) -> tuple[str, str | None]:
    """User and client of a ``who`` such as "ana via claude-desktop 1.2"; the whole and None without a client."""
    user, via, client = who.partition(" via ")
    return (user.strip(), client.strip()) if via and user.strip() and client.strip() else (who, None)


def acts_of(project: ProjectView, by_id: dict[int, Record], end: int) -> Acts:
    """The acts that changed some memories up to ``end``.

    An imported memory counts at its own dates, and the call that imported it only for what else it did. So does one
    that was stored outside the period of the analysis.
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
    runs = _bulk_calls(calls, np.bincount(np.array(call, np.int64), minlength=len(calls)))
    first_of = {one: run[0] for run in runs for one in run[1:]}
    busy = {call for call, id, kind in zip(call, memory, how, strict=True) if kind != "made" or id not in older}
    # Imported memories of one microsecond are one act, unless their dates have no time.
    elsewhere: dict[tuple[int, int], int] = {}
    for id in (id for id in by_id if id in older):
        record = by_id[id]
        dates = [(record.created, "made")]
        if record.created + _EARLIER < record.updated < came[id] - _EARLIER:
            dates.append((record.updated, "changed"))
        for when, kind in dates:
            if project.in_period(when) and when <= end:
                key = (when, id if when % DAY == 0 else 0)
                call.append(len(calls) + elsewhere.setdefault(key, len(elsewhere)))
                memory.append(id)
                how.append(kind)
    at = np.array([one[0] for one in calls] + [when for when, _ in elsewhere], np.int64)
    foreign = np.arange(len(at)) >= len(calls)
    # In order of time, without calls that only imported memories or belong to an earlier one.
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
        bulk=place[[run[0] for run in runs]],
    )


def _bulk_calls(calls: list[Call], sizes: Numbers) -> list[list[int]]:
    """The calls that touched very many memories; those that follow each other closely are together."""
    least = max(_BULK, _UNUSUAL * float(np.median(sizes))) if len(sizes) >= _USUAL else _BULK
    runs: list[list[int]] = []
    for one in sorted(np.flatnonzero(sizes >= least).tolist(), key=lambda one: calls[one]):
        last = calls[runs[-1][-1]] if runs else None
        if last and last[1:] == calls[one][1:] and calls[one][0] - last[0] <= _TOGETHER:
            runs[-1].append(one)
        else:
            runs.append([one])
    return runs


def labels_of(record: Record) -> set[tuple[str, str]]:
    """The tags, the kind and the category of a record, each with the name of its field."""
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
    """The tags, kinds and categories of at least so many acts, the most frequent first."""
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
