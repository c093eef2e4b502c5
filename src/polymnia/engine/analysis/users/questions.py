"""Questions: what is asked about each user, and the chance of the answer when users are all alike."""

from __future__ import annotations

from typing import Any

import numpy as np
from msgspec import Struct

from polymnia.engine.analysis.temporal.acts import DAY, HOUR, Acts
from polymnia.engine.analysis.temporal.beats import Hours, hours
from polymnia.engine.analysis.temporal.chances import all_in, at_least_of, drawn_at_least
from polymnia.engine.analysis.temporal.subjects import Subject
from polymnia.engine.analysis.users.people import Authors, People

__all__ = ["Answer", "handovers", "presences", "shares", "sole_keepers", "specialties", "working_hours"]

_MOST = 50  # users, those who did most
_MORE = 1.5  # times what is expected, from which it is said
_DAYS = 3  # on which somebody was there, to have come or gone
_CHANGED = 3  # days on which a memory was changed, to have a keeper

Numbers = np.ndarray[Any, np.dtype[Any]]


class Answer(Struct, frozen=True):
    """An answer about a user: how often something was so, how often expected, of how many, and the chance.

    ``about`` is what or whom it is about besides; ``places`` are memories, by their place among the authors'.
    """

    name: str
    user: int
    count: int
    expected: float
    of: int
    p: float
    about: Any = None
    places: Numbers | None = None


def shares(people: People) -> list[Answer]:
    """Who writes, and who reads, in more hours than an equal share."""
    found = []
    for name, (user, _) in (("main_writer", people.writes), ("main_reader", people.reads)):
        present = np.bincount(user, minlength=len(people.users))
        among = int((present > 0).sum())
        total = int(present.sum())
        for one in range(min(_MOST, len(people.users)) if among > 1 else 0):
            count = int(present[one])
            if count * among >= _MORE * total:
                p = at_least_of(count, total, 1 / among)
                found.append(Answer(name, one, count, total / among, total, p, among))
    return found


def working_hours(people: People, acts: Acts) -> list[tuple[int, Hours]]:
    """The course of the day of each user who wrote or read on enough days."""
    found = []
    for one in range(min(_MOST, len(people.users))):
        wrote = acts.at[(people.writer == one) & ~acts.coarse]
        user, hour = people.reads
        read = hour[user == one] * HOUR + HOUR // 2
        course = hours(np.concatenate([wrote, read]))
        if course:
            found.append((one, course))
    return found


def specialties(people: People, acts: Acts, subjects: list[Subject]) -> tuple[list[Answer], int]:
    """What takes more of what a user writes than of what others write, and how many looks that took.

    Acts of one day are often about one thing. By how much the days of a user differ for that is measured, and so many
    acts count as one.
    """
    own = people.writer >= 0
    many = len(people.users)
    day = acts.at // DAY
    low = int(day.min()) if len(day) else 0
    span = int(day.max()) - low + 1 if len(day) else 1
    units, unit = np.unique((people.writer * span + day - low)[own], return_inverse=True)
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
                p = drawn_at_least(
                    int(count[one] / clumped), round(float(some.sum()) / clumped), round(float(written[one]) / clumped),
                    round(total / clumped),
                )  # fmt: skip
                found.append(Answer("specialty", one, int(count[one]), expected, int(written[one]), p, subject))
    return found, len(subjects) * min(_MOST, int((written > 0).sum()))


def handovers(people: People, authors: Authors) -> tuple[list[Answer], int]:
    """Who changes the memories of whom more than expected, and how many looks that took.

    What is expected of an author's memories goes by how many there are and how many others change them. With three
    authors or more, what people change of their own is left out: most do that most.
    """
    place, user = np.divmod(
        np.unique(authors.changes[0] * len(people.users) + authors.changes[1]), max(1, len(people.users))
    )
    told = authors.maker >= 0
    writers = np.unique(authors.maker[told])
    found = []
    looks = 0
    for one in range(min(_MOST, len(people.users)) if len(writers) > 1 else 0):
        mine = place[user == one]
        weight = np.where(told, 1.0 + np.bincount(place[user != one], minlength=len(told)), 0.0)
        written = np.bincount(authors.maker[told], weight[told], minlength=len(people.users))
        maker = authors.maker[mine]
        apart = len(writers) > 2
        counted = mine[(maker >= 0) & ((maker != one) | (not apart))]
        whole = float(written.sum() - (written[one] if apart else 0))
        made = authors.maker[counted]
        for other in writers[writers != one][:_MOST].tolist():
            looks += 1
            count = int((made == other).sum())
            chance = written[other] / whole if whole else 0.0
            # As odds, for of two authors' memories none can have much more than half expects.
            if (count + 0.5) * (1 - chance) >= _MORE * (len(counted) - count + 0.5) * chance:
                p = at_least_of(count, len(counted), chance)
                places = counted[made == other]
                found.append(Answer("handover", one, count, len(counted) * chance, len(counted), p, other, places))
    return found, looks


def sole_keepers(people: People, authors: Authors) -> tuple[list[Answer], int]:
    """Memories changed on several days that only one user ever touched, and how many looks that took.

    The chance is that of one user alone on all these days when each day's user is drawn by how much they change.
    """
    place, user, _ = authors.changes
    if not len(place) or len(np.unique(user)) < 2:
        return [], 0
    share = np.bincount(user, minlength=len(people.users)) / len(user)
    days = np.bincount(place, minlength=len(authors.ids))
    lowest = np.full(len(authors.ids), len(people.users))
    highest = np.full(len(authors.ids), -1)
    np.minimum.at(lowest, place, user)
    np.maximum.at(highest, place, user)
    often = np.flatnonzero(days >= _CHANGED)
    same = (lowest == highest) & ((authors.maker == lowest) | (authors.maker < 0))
    found = []
    for at in often[same[often]].tolist():
        one, many = int(lowest[at]), int(days[at])
        p = float((share**many).sum())
        found.append(Answer("sole_keeper", one, many, share[one] * many, many, p, None, np.array([at])))
    return found, len(often)


def presences(people: People) -> list[Answer]:
    """Who came late, or is no longer there, although others were."""
    days = people.project_days()
    found = []
    for one in range(min(_MOST, len(people.users)) if len(people.users) > 1 else 0):
        at = np.searchsorted(days, people.days(one))
        if len(at) < _DAYS:
            continue
        before, after = int(at[0]), len(days) - 1 - int(at[-1])
        for name, missed, day in (("newcomer", before, days[at[0]]), ("gone", after, days[at[-1]])):
            if missed:
                p = all_in(len(at), len(days) - missed, len(days))
                found.append(Answer(name, one, len(at), 0.0, missed, p, int(day) * DAY))
    return found
