"""User patterns: who writes, reads, specializes, maintains alone, joined or left (docs/decisions/0028-rhythms.md)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.activity.changes import DAY, HOUR, Acts, Subject, acts_of, split_who, subjects_of
from polymnia.engine.analysis.findings import Finding, Findings, Remark, example
from polymnia.engine.analysis.pairs import Numbers
from polymnia.engine.analysis.probability import LEAST, all_in, at_least_of, confidence, drawn_at_least, holm
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject, Record, Seen

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_TESTS = 4  # families of tests that share the allowed error
_HOURS = 20  # of activity; fewer say nothing about anybody
_LISTED = 20  # users
_SUBJECTS = 200
_SHOWN = 12  # findings of a kind, the clearest
_EXAMPLES = 10
_MOST = 50  # users, the most active
_MORE = 1.5  # times the expected count, from which it is reported
_DAYS = 3  # active days of somebody who joined or left
_CHANGED = 3  # days on which a memory with a sole maintainer was changed


class People(Struct, frozen=True, kw_only=True):
    """The users of a project, the most active first, and when each was active.

    ``writer`` is the user of each act (-1 if it was imported). ``writes`` and ``reads`` are the hours in which a user
    wrote or read, as user and hour since 1970, so that a session of many notes counts once.
    """

    users: list[str]
    clients: list[list[str]]
    writer: Numbers
    calls: Numbers
    readings: Numbers
    writes: tuple[Numbers, Numbers]
    reads: tuple[Numbers, Numbers]


class UserSign(Struct, frozen=True, kw_only=True):
    """A candidate for a finding about a user: its p value if all users are alike, its evidence and its subject."""

    name: str
    user: int
    p: float
    evidence: JsonObject
    details: JsonObject = {}
    subject: Subject | None = None


def user_patterns(project: ProjectView) -> Findings:
    """How users differ, against a project in which all are alike."""
    end = project.now if project.end is None else min(project.end, project.now)
    acts = acts_of(project, project.known, end)
    people = _people(acts, project.seen)
    project.tick()
    there = len(people.writes[0]) + len(people.reads[0])
    looked_at = {
        "users": len(people.users),
        "changes": int(people.calls.sum()),
        "readings": int(people.readings.sum()),
        "hours": there,
        "by_user": _table(people),
    }
    if there < _HOURS:
        hours = len(np.unique(np.concatenate([people.writes[1], people.reads[1]])))
        few = {"users": len(people.users), "hours": hours, "needed": _HOURS, "there": there}
        return Findings(looked_at=looked_at, notes=[Remark("activity.few_hours", few)])
    maintained, looked_at["memories_by_one_user"] = _sole_maintainers(people, acts, project.known)
    if len(people.users) == 1:
        return Findings(looked_at=looked_at, notes=[Remark("activity.one_user")])
    subjects = subjects_of(acts, project.known, project.tick, least=5, most=_SUBJECTS)
    notes: list[Remark] = []
    found: list[Finding] = []
    for signs, tests in (
        (_shares(people), 2 * len(people.users)),
        _specialties(people, acts, subjects),
        (_presences(people), 2 * len(people.users)),
    ):
        project.tick()
        sure = _sure([one.p for one in signs], tests)
        passing = [pair for pair in zip(signs, sure, strict=True) if pair[1] >= LEAST]
        passing.sort(key=lambda pair: (pair[0].p, pair[0].user))
        found += [_finding(one, sure, people, acts, project.known) for one, sure in passing[:_SHOWN]]
        if len(passing) > _SHOWN:
            notes.append(Remark("activity.more_users", {"more": len(passing) - _SHOWN, "name": passing[0][0].name}))
    found += maintained
    found.sort(key=lambda one: -one.confidence)
    if not found and not notes:
        counts = {name: looked_at[name] for name in ("users", "changes", "readings")}
        notes.append(Remark("activity.no_user_pattern", counts))
    return Findings(patterns=found, looked_at=looked_at, notes=notes)


def _people(acts: Acts, seen: Sequence[Seen]) -> People:
    did = set(acts.who.tolist())  # without calls that only imported memories
    names = [who if at in did else None for at, who in enumerate(acts.people)]
    split = {who: split_who(who) for who in (*(who for who in names if who), *(one.who for one in seen))}
    number = {user: at for at, user in enumerate(dict.fromkeys(user for user, _ in split.values()))}
    of = {who: number[user] for who, (user, _) in split.items()}
    writer = np.array([*(of[who] if who else -1 for who in names), -1], np.int64)[acts.who]
    reader = np.fromiter((of[one.who] for one in seen), np.int64, len(seen))
    hour = np.fromiter((one.hour // HOUR for one in seen), np.int64, len(seen))
    times = np.fromiter((one.opened + one.found for one in seen), np.int64, len(seen))
    own, many = writer >= 0, len(number)
    calls = np.bincount(writer[own], minlength=many)
    readings = np.bincount(reader, times, minlength=many).astype(np.int64)
    users = list(number)
    order = sorted(range(many), key=lambda at: (-calls[at], -readings[at], users[at]))
    rank = np.full(many + 1, -1)
    rank[order] = np.arange(many)
    clients = {user: sorted({client for who, client in split.values() if who == user and client}) for user in users}
    return People(
        users=[users[at] for at in order],
        clients=[clients[users[at]] for at in order],
        writer=rank[writer],
        calls=calls[order],
        readings=readings[order],
        writes=_hours(rank[writer[own]], acts.at[own] // HOUR, many),
        reads=_hours(rank[reader], hour, many),
    )


def _hours(user: Numbers, hour: Numbers, many: int) -> tuple[Numbers, Numbers]:
    hour, user = np.divmod(np.unique(hour * max(1, many) + user), max(1, many))
    return user, hour


def _table(people: People) -> list[JsonObject]:
    calls, readings = max(1, int(people.calls.sum())), max(1, int(people.readings.sum()))
    return [
        {
            "user": user,
            "clients": people.clients[at],
            "changes": int(people.calls[at]),
            "share_of_changes": round(int(people.calls[at]) / calls, 3),
            "readings": int(people.readings[at]),
            "share_of_readings": round(int(people.readings[at]) / readings, 3),
        }
        for at, user in enumerate(people.users[:_LISTED])
    ]


def _sure(chances: list[float], tests: int) -> list[float]:
    return [confidence(p * _TESTS) for p in holm(chances, tests)]


def _finding(one: UserSign, sure: float, people: People, acts: Acts, by_id: dict[int, Record]) -> Finding:
    members: list[int] = []
    if one.subject is not None:
        own = one.subject.acts[people.writer[one.subject.acts] == one.user]
        touched = np.unique(acts.memory[acts.touched(own)]).tolist()
        members = [id for id in touched if id in by_id and one.subject.has(by_id[id])]
    return Finding(
        type="user_patterns",
        name=one.name,
        confidence=sure,
        evidence={"user": people.users[one.user], **one.evidence, "p": float(f"{one.p:.3g}")},
        details=one.details,
        members=tuple(members),
    )


def _shares(people: People) -> list[UserSign]:
    found = []
    for name, (user, _) in (("main_writer", people.writes), ("main_reader", people.reads)):
        present = np.bincount(user, minlength=len(people.users))
        among, total = int((present > 0).sum()), int(present.sum())
        for one in range(min(_MOST, len(people.users)) if among > 1 else 0):
            count = int(present[one])
            if count * among >= _MORE * total:
                evidence = {
                    "hours": count,
                    "of": total,
                    "share": round(count / total, 3),
                    "equal_share": round(1 / among, 3),
                    "calls": int(people.calls[one]),
                    "readings": int(people.readings[one]),
                    "clients": people.clients[one],
                }
                p = at_least_of(count, total, 1 / among)
                found.append(UserSign(name=name, user=one, p=p, evidence=evidence, details={"among": among}))
    return found


def _specialties(people: People, acts: Acts, subjects: list[Subject]) -> tuple[list[UserSign], int]:
    """What a user writes about more than others; acts of one day on one subject are discounted."""
    own, many = people.writer >= 0, len(people.users)
    day = acts.at // DAY
    span = int(day.max()) + 1 if len(day) else 1
    units, unit = np.unique((people.writer * span + day)[own], return_inverse=True)
    of = np.full(len(acts), -1, np.int64)
    of[own] = unit
    size = np.bincount(unit, minlength=len(units)).astype(float)
    user = units // span
    written = np.bincount(user, size, minlength=many)
    total = float(size.sum())
    found = []
    for subject in subjects:
        mine = of[subject.acts]
        some = np.bincount(mine[mine >= 0], minlength=len(units)).astype(float)
        count = np.bincount(user, some, minlength=many)
        share = float(some.sum()) / total
        if not 0 < share < 1:
            continue
        gap = some - (count / np.maximum(written, 1))[user] * size
        free = max(1, len(units) - int((written > 0).sum()))
        clumped = max(1.0, float((gap**2 / (share * (1 - share) * size)).sum()) / free)
        for one in range(min(_MOST, many)):
            expected = share * float(written[one])
            if count[one] >= 2 and count[one] >= _MORE * expected:
                marked, drawn, all_ = (round(n / clumped) for n in (float(some.sum()), float(written[one]), total))
                figures = {"count": int(count[one]), "expected": round(expected, 1), "of": int(written[one])}
                p = drawn_at_least(int(count[one] / clumped), marked, drawn, all_)
                evidence = {subject.field: subject.value, **figures}
                found.append(UserSign(name="specialty", user=one, p=p, evidence=evidence, subject=subject))
    return found, len(subjects) * min(_MOST, int((written > 0).sum()))


def _presences(people: People) -> list[UserSign]:
    who, hour = (np.concatenate(pair) for pair in zip(people.writes, people.reads, strict=True))
    days = np.unique(hour // 24)
    found = []
    for one in range(min(_MOST, len(people.users))):
        at = np.searchsorted(days, np.unique(hour[who == one] // 24))
        if len(at) < _DAYS:
            continue
        before, after = int(at[0]), len(days) - 1 - int(at[-1])
        for name, missed, day in (("newcomer", before, days[at[0]]), ("gone", after, days[at[-1]])):
            if missed:
                evidence = {"active_days": len(at), "missed_days": missed, "at": moment(int(day) * DAY)}
                p = all_in(len(at), len(days) - missed, len(days))
                found.append(UserSign(name=name, user=one, p=p, evidence=evidence))
    return found


def _sole_maintainers(people: People, acts: Acts, by_id: dict[int, Record]) -> tuple[list[Finding], int]:
    """What only one user changed on several days, a finding for each user; and how many memories only one touched.

    The p value is that of one user on all these days when the users of days are drawn by their activity.
    """
    many = max(1, len(people.users))
    ids, place = np.unique(acts.memory, return_inverse=True)
    user = people.writer[acts.act]
    bulk = acts.touched(acts.bulk)
    maker = np.full(len(ids), -1, np.int64)
    made = (acts.how == "made") & (user >= 0)
    maker[place[made]] = user[made]
    rows = np.flatnonzero((acts.how == "changed") & (user >= 0) & ~bulk)
    day = acts.at[acts.act[rows]] // DAY
    span = int(day.max()) + 1 if len(day) else 1
    place, user = np.divmod(np.unique((place[rows] * many + user[rows]) * span + day) // span, many)
    lowest = np.where(maker < 0, many, maker)
    highest = maker.copy()
    np.minimum.at(lowest, place, user)
    np.maximum.at(highest, place, user)
    alone = int((lowest == highest).sum())
    if len(np.unique(user)) < 2:
        return [], alone
    share = np.bincount(user, minlength=many) / len(user)
    days = np.bincount(place, minlength=len(ids))
    often = np.flatnonzero(days >= _CHANGED)
    sole = often[(lowest == highest)[often]].tolist()
    sure = dict(zip(sole, _sure([float((share ** int(days[at])).sum()) for at in sole], len(often)), strict=True))
    found = []
    for one in sorted({int(lowest[at]) for at in sole if sure[at] >= LEAST}):
        own = sorted((at for at in sole if lowest[at] == one and sure[at] >= LEAST), key=lambda at: -int(days[at]))
        there = [(by_id[int(ids[at])], int(days[at])) for at in own if int(ids[at]) in by_id]
        shown = [example(r) | {"days_changed": changed} for r, changed in there[:_EXAMPLES]]
        found.append(
            Finding(
                type="user_patterns",
                name="sole_keeper",
                confidence=min(sure[at] for at in own),
                evidence={"user": people.users[one], "count": len(own), "memories": shown},
                members=tuple(record.id for record, _ in there),
            )
        )
    return found, alone
