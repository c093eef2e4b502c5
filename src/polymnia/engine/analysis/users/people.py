"""People: who did and read what, with the clients of one user taken together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.temporal.acts import DAY, HOUR, Acts, split_who
from polymnia.models import Seen

__all__ = ["Authors", "People", "authors_of", "people_of"]

Numbers = np.ndarray[Any, np.dtype[Any]]


class People(Struct, frozen=True, kw_only=True):
    """The users of a project, by name, and when each was there.

    ``writer`` is the user of each act (-1 where it was done elsewhere). ``writes`` and ``reads`` are hours in which
    a user wrote or read, as user and hour since 1970: a sitting of many notes counts once.
    """

    users: list[str]
    clients: list[list[str]]
    writer: Numbers
    calls: Numbers
    readings: Numbers
    writes: tuple[Numbers, Numbers]
    reads: tuple[Numbers, Numbers]

    def days(self, user: int) -> Numbers:
        """The days on which a user wrote or read, counted from 1970."""
        return np.unique(np.concatenate([hour[who == user] // 24 for who, hour in (self.writes, self.reads)]))

    def project_days(self) -> Numbers:
        """The days on which anybody did."""
        return np.unique(np.concatenate([self.writes[1], self.reads[1]]) // 24)


class Authors(Struct, frozen=True):
    """Of each memory who made it (-1 where that is not told) and the days on which each user changed it.

    ``changes`` has a row for each day of a user: the place among ``ids``, the user and the day. Bulk calls are left
    out.
    """

    ids: Numbers
    maker: Numbers
    changes: tuple[Numbers, Numbers, Numbers]


def people_of(acts: Acts, seen: Sequence[Seen], tick: Callable[[], None]) -> People:
    """The users who changed or read something, those who did most first."""
    of: dict[str, int] = {}
    clients: list[set[str]] = []
    known: dict[str, int] = {}

    def user_of(who: str) -> int:
        found = known.get(who)
        if found is None:
            user, client = split_who(who)
            found = known[who] = of.setdefault(user, len(of))
            if found == len(clients):
                clients.append(set())
            if client:
                clients[found].add(client)
        return found

    did = set(acts.who.tolist())  # a call that only brought memories from elsewhere is no act of its own
    names = np.array([user_of(who) if at in did else -1 for at, who in enumerate(acts.people)] + [-1], np.int64)
    writer = names[acts.who]
    reader = np.fromiter((user_of(one.who) for one in seen), np.int64, len(seen))
    tick()
    hour = np.fromiter((one.hour // HOUR for one in seen), np.int64, len(seen))
    times = np.fromiter((one.opened + one.found for one in seen), np.int64, len(seen))
    many = len(of)
    own = writer >= 0
    calls = np.bincount(writer[own], minlength=many)
    readings = np.bincount(reader, times, minlength=many).astype(np.int64)
    order = np.lexsort((np.array(list(of)) if of else np.zeros(0), -readings, -calls)) if many else np.zeros(0, int)
    rank = np.empty(many + 1, np.int64)
    rank[order] = np.arange(many)
    rank[-1] = -1
    users = list(of)
    return People(
        users=[users[i] for i in order],
        clients=[sorted(clients[i]) for i in order],
        writer=rank[writer],
        calls=calls[order],
        readings=readings[order],
        writes=_hours(rank[writer[own]], acts.at[own] // HOUR, many),
        reads=_hours(rank[reader], hour, many),
    )


def authors_of(acts: Acts, people: People) -> Authors:
    """Who made and who changed each memory."""
    ids, place = np.unique(acts.memory, return_inverse=True)
    bulk = np.zeros(len(acts) + 1, bool)
    bulk[[one.act for one in acts.bulks if one.act >= 0]] = True
    user = people.writer[acts.act]
    made = np.array([how == "made" for how in acts.how], bool)
    changed = np.array([how == "changed" for how in acts.how], bool)
    maker = np.full(len(ids), -1, np.int64)
    told = made & (user >= 0)
    maker[place[told]] = user[told]
    rows = np.flatnonzero(changed & (user >= 0) & ~bulk[acts.act])
    many = max(1, len(people.users))
    day = acts.at[acts.act[rows]] // DAY
    span = int(day.max()) + 1 if len(day) else 1
    keys = np.unique((place[rows] * many + user[rows]) * span + day)
    head, day = np.divmod(keys, span)
    return Authors(ids, maker, (head // many, head % many, day))


def _hours(user: Numbers, hour: Numbers, many: int) -> tuple[Numbers, Numbers]:
    keys = np.unique(hour * max(1, many) + user)
    hour, user = np.divmod(keys, max(1, many))
    return user, hour
