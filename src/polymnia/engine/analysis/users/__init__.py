"""User patterns: who writes and reads, when, about what, on whose memories, and who came or went.

From the journal and the counts of reads. A user is the part before "via" of who did something. Each question has a null
model in which users are alike; the number of users, subjects and questions is taken into the confidence.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from polymnia.engine.analysis.findings import Found, Pattern
from polymnia.engine.analysis.temporal.acts import acts_of
from polymnia.engine.analysis.temporal.chances import LEAST, confidence, held
from polymnia.engine.analysis.temporal.sentences import plural
from polymnia.engine.analysis.temporal.subjects import subjects_of
from polymnia.engine.analysis.users import questions
from polymnia.engine.analysis.users.people import People, authors_of, people_of
from polymnia.engine.analysis.users.questions import Answer
from polymnia.engine.analysis.users.wording import hours_told, keeper_told, told

if TYPE_CHECKING:
    from polymnia.engine.analysis.material import Material

__all__ = ["LEAST", "user_patterns"]

_ASKED = 6  # questions; each is held to its part of the error that is allowed
_HOURS = 20  # in which somebody wrote or read; fewer tell nothing about anybody
_LISTED = 20  # users
_SUBJECTS = 200
_SHOWN = 12  # answers to a question, the clearest


def user_patterns(material: Material, *, least: float = LEAST) -> Found:
    """What users do: ``main_writer``, ``main_reader``, ``working_hours``, ``specialty``, ``handover``,
    ``sole_keeper``, ``newcomer`` and ``gone``.

    Findings that are less sure than ``least`` are left out.
    """
    end = material.now if material.end is None else min(material.end, material.now)
    acts = acts_of(material.touches, material.known, lambda at: material.within(at) and at <= end, material.tick)
    people = people_of(acts, material.seen, material.tick)
    there = len(people.writes[0]) + len(people.reads[0])
    looked_at = {
        "users": len(people.users), "changes": int(people.calls.sum()), "readings": int(people.readings.sum()),
        "hours": there, "by_user": _table(people),
    }  # fmt: skip
    if there < _HOURS:
        note = (
            f"Too little to tell a pattern of users: {plural(len(people.users), 'user')} wrote or read within "
            f"{plural(_hours(people), 'hour')} of the clock; what counts is an hour of one user, and it takes "
            f"{_HOURS} of them; there {'is' if there == 1 else 'are'} {there}."
        )
        return Found(looked_at=looked_at, notes=[note])
    notes = [] if len(people.users) > 1 else ["Everything was done by one user; users can be compared from two on."]
    authors = authors_of(acts, people)
    looked_at["memories_by_one_user"] = _by_one(authors.ids, authors.maker, authors.changes)
    found: list[Pattern] = []
    courses = questions.working_hours(people, acts)
    for (user, course), rate in zip(courses, held([one.p for _, one in courses]), strict=True):
        if (sure := confidence(rate * _ASKED)) >= least:
            found.append(hours_told(user, course, people, sure))
    material.tick()
    if len(people.users) > 1:
        subjects = subjects_of(acts, material.known, least=5, most=_SUBJECTS, tick=material.tick)
        special, special_looks = questions.specialties(people, acts, subjects)
        handed, handed_looks = questions.handovers(people, authors)
        present = questions.presences(people)
        material.tick()
        for answers, looks in (
            (questions.shares(people), 2 * len(people.users)),
            (special, special_looks),
            (handed, handed_looks),
            (present, 2 * len(people.users)),
        ):
            passing = sorted(_sure(answers, looks, least), key=lambda pair: (pair[0].p, pair[0].user))
            for one, sure in passing[:_SHOWN]:
                found.append(told(one, acts, people, authors, material.known, sure))
            if len(passing) > _SHOWN:
                notes.append(
                    f"{len(passing) - _SHOWN:,} more of {passing[0][0].name} were found; the clearest are told."
                )
        kept = _sure(*questions.sole_keepers(people, authors), least)
        for user in sorted({one.user for one, _ in kept}):
            own = sorted(((one, sure) for one, sure in kept if one.user == user), key=lambda pair: -pair[0].count)
            worst = min(sure for _, sure in own)
            found.append(keeper_told([one for one, _ in own], people, authors, material.known, worst))
    found.sort(key=lambda one: -one.confidence)
    if not found and not notes:
        notes.append(
            f"No pattern of users is sure enough to be told: {plural(len(people.users), 'user')} with "
            f"{plural(int(people.calls.sum()), 'change')} and {plural(int(people.readings.sum()), 'reading')}."
        )
    return Found(patterns=found, looked_at=looked_at, notes=notes)


def _hours(people: People) -> int:
    """The hours in which anybody wrote or read."""
    return len(np.unique(np.concatenate([people.writes[1], people.reads[1]])))


def _sure(answers: list[Answer], looks: int, least: float) -> list[tuple[Answer, float]]:
    rates = held([one.p for one in answers], looks)
    judged = [(one, confidence(rate * _ASKED)) for one, rate in zip(answers, rates, strict=True)]
    return [(one, sure) for one, sure in judged if sure >= least]


def _table(people: People) -> list[dict[str, Any]]:
    calls, readings = max(1, int(people.calls.sum())), max(1, int(people.readings.sum()))
    return [
        {
            "user": user, "clients": people.clients[at], "changes": int(people.calls[at]),
            "share_of_changes": round(int(people.calls[at]) / calls, 3), "readings": int(people.readings[at]),
            "share_of_readings": round(int(people.readings[at]) / readings, 3),
        }
        for at, user in enumerate(people.users[:_LISTED])
    ]  # fmt: skip


def _by_one(ids: Any, maker: Any, changes: tuple[Any, Any, Any]) -> int:
    """How many memories only one user ever touched."""
    place, user, _ = changes
    low, high = maker.copy(), maker.copy()
    low[low < 0] = np.iinfo(np.int64).max
    np.minimum.at(low, place, user)
    np.maximum.at(high, place, user)
    return int((low == high).sum())
