"""Activity: who changed and who read which memory when, from the journal and the counts of reads."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from polymnia.models import Seen, Touch
from polymnia.storage.sqlite.journal import decode
from polymnia.storage.sqlite.statements import SQL

__all__ = ["count", "seen", "touches"]

Run: TypeAlias = Callable[..., Any]
_HOUR = 3_600_000_000
_LONG_AGO, _FAR_AHEAD = -(1 << 62), 1 << 62
_HOW = {("m", "d"): "deleted", ("m", "i"): "restored"}


def touches(run: Run, project: int, base: int, top: int, start: int | None, end: int | None) -> list[Touch]:
    """What every change did to every memory, oldest first."""
    changes = {row[0]: row for row in run(SQL["changes_in_order"], (project,))}
    made_by = [row for row in changes.values() if row[5] > row[4]]
    lasts = [row[5] for row in made_by]
    found: dict[tuple[int, int, str], None] = {}  # each once, in the order of the changes

    def maker(id: int) -> int | None:
        at = bisect_left(lasts, id - base)
        return made_by[at][0] if at < len(made_by) and made_by[at][4] < id - base else None

    def mark(change: int | None, memory: int, how: str) -> None:
        if change is not None:
            found[change, memory, how] = None

    sessions: dict[int, str | None] = dict(run(SQL["memory_ids"], (base, top)))
    there = frozenset(sessions)
    owners: dict[int, int | None] = {id: maker(id) for id in sessions}
    for change, op, kind, ref, owner, before in run(SQL["items_of_project"], (project,)):
        if op == "p" or kind not in "mo":
            continue
        if owner not in owners:
            owners[owner] = maker(owner)
        if before is not None and owner not in there:
            sessions[owner] = decode(before).get("session")
        how = _HOW.get((kind, op), "changed")
        if kind == "o" and op == "d" and (by := maker(ref)) is not None and by != owners[owner]:
            mark(by, owner, "changed")
        mark(change, owner, how)
    for id, made in owners.items():
        mark(made, id, "made")
    for ref, owner in run(SQL["observation_owners"], (base, top)):
        if (by := maker(ref)) != owners.get(owner):
            mark(by, owner, "changed")
    settled = [one for one in found if one[2] != "changed" or not _is_whole(found, one)]
    low, high = _LONG_AGO if start is None else start, _FAR_AHEAD if end is None else end
    told = []
    for change, memory, how in sorted(settled):
        _, at, who, action, *_ = changes[change]
        if low <= at < high:
            told.append(Touch(memory, at, who, action, how, sessions.get(memory)))
    return told


def _is_whole(found: dict[tuple[int, int, str], None], one: tuple[int, int, str]) -> bool:
    """Whether the same change made, deleted or brought back the memory as a whole."""
    change, memory, _ = one
    return any((change, memory, how) in found for how in ("made", "deleted", "restored"))


def seen(run: Run, base: int, top: int, start: int | None, end: int | None) -> list[Seen]:
    """The counts of reads, oldest first."""
    low = _LONG_AGO if start is None else start // _HOUR
    high = _FAR_AHEAD if end is None else -(-end // _HOUR)
    return [
        Seen(memory, hour * _HOUR, who, opened, found)
        for memory, hour, who, opened, found in run(SQL["seen"], (base, top, low, high))
    ]


def count(run: Run, base: int, top: int, reads: Iterable[Seen]) -> None:
    """Add counts of reads to those there are."""
    for one in reads:
        if base < one.memory <= top:
            run(SQL["count_seen"], (one.memory, one.hour // _HOUR, one.who, one.opened, one.found))
