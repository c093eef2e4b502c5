"""Wording: what was found about users, as sentences with the counts and dates they rest on."""

from __future__ import annotations

from typing import Any

import numpy as np

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.temporal.acts import Acts
from polymnia.engine.analysis.temporal.beats import Hours
from polymnia.engine.analysis.temporal.sentences import date_of, plural
from polymnia.engine.analysis.temporal.subjects import Subject, said_of
from polymnia.engine.analysis.users.people import Authors, People
from polymnia.engine.analysis.users.questions import Answer
from polymnia.engine.items import title_of
from polymnia.engine.text.calendar import moment
from polymnia.models import Record

__all__ = ["TYPE", "hours_told", "keeper_told", "told"]

TYPE = "user_patterns"

_EXAMPLES = 10
_CORRECTED = (
    "The confidence is that of the chance, corrected within the question (Holm) and for all questions, when a "
    "pattern is as likely as not beforehand."
)
_TESTS = {
    "main_writer": "Binomial chance of so many hours of writing with an equal share among all who write.",
    "main_reader": "Binomial chance of so many hours of reading with an equal share among all who read.",
    "specialty": "Chance that so many of the changes about it are this user's when they are drawn at random; changes "
    "of one day count as one as far as they are alike.",
    "handover": "Binomial chance of so many memories of one author among those changed, by how many the author made.",
    "newcomer": "Chance that none of the days a user was there is among the first active days of the project.",
    "gone": "Chance that none of the days a user was there is among the last active days of the project.",
    "sole_keeper": "Chance that all days on which a memory was changed are one user's, by how much each changes.",
}


def told(one: Answer, acts: Acts, people: People, authors: Authors, by_id: dict[int, Record], sure: float) -> Pattern:
    """An answer about one user as a finding."""
    user = people.users[one.user]
    summary, evidence = _said(one, user, people)
    members: tuple[int, ...] = ()
    if one.places is not None:
        records = [by_id[id] for id in authors.ids[one.places].tolist() if id in by_id]
        members = tuple(record.id for record in records)
        evidence["memories"] = [{"id": record.uid, "title": title_of(record)} for record in records[:_EXAMPLES]]
    elif isinstance(one.about, Subject):
        evidence = {one.about.field: one.about.value, **evidence}
        own = one.about.acts[people.writer[one.about.acts] == one.user]
        members = tuple(
            id for id in np.unique(acts.memory[np.isin(acts.act, own)]).tolist() if _about(by_id.get(id), one)
        )
    return _pattern(one.name, user, summary, evidence | {"p": float(f"{one.p:.3g}")}, members, sure, _TESTS[one.name])


def keeper_told(
    answers: list[Answer], people: People, authors: Authors, by_id: dict[int, Record], sure: float
) -> Pattern:
    """The memories that one user alone keeps, those changed most first."""
    user = people.users[answers[0].user]
    places = [int(one.places[0]) for one in answers if one.places is not None]
    kept = [
        (by_id[id], one.count) for id, one in zip(authors.ids[places].tolist(), answers, strict=True) if id in by_id
    ]
    shown = [{"id": r.uid, "title": title_of(r), "days_changed": days} for r, days in kept[:_EXAMPLES]]
    word = "1 memory is" if len(places) == 1 else f"{len(places):,} memories are"
    summary = f"{word} changed again and again by {user} alone; nobody else ever touched them."
    evidence = {"count": len(places), "memories": shown}
    members = tuple(record.id for record, _ in kept)
    return _pattern("sole_keeper", user, summary, evidence, members, sure, _TESTS["sole_keeper"])


def hours_told(user: int, course: Hours, people: People, sure: float) -> Pattern:
    """When a user works."""
    name = people.users[user]
    span = f"{course.start:02}:00 to {course.stop:02}:00"
    summary = f"{name} works from {span} UTC: {course.share:.0%} of what {name} wrote and read, on {course.days} days."
    evidence = {
        "from_hour": course.start, "to_hour": course.stop, "share": round(course.share, 3), "days": course.days,
        "strength": round(course.strength, 3), "time_zone": "UTC", "p": float(f"{course.p:.3g}"),
    }  # fmt: skip
    test = "Rayleigh's test on the clock, each day of the user being one observation."
    return _pattern("working_hours", name, summary, evidence, (), sure, test)


def _pattern(
    name: str, user: str, summary: str, evidence: dict[str, Any], members: tuple[int, ...], sure: float, test: str
) -> Pattern:
    return Pattern(
        type=TYPE,
        name=name,
        summary=summary,
        confidence=sure,
        explanation=f"{test} {_CORRECTED}",
        evidence={"user": user, **evidence},
        members=members,
    )


def _said(one: Answer, user: str, people: People) -> tuple[str, dict[str, Any]]:
    evidence: dict[str, Any] = {"count": one.count, "expected": round(one.expected, 1), "of": one.of}
    if one.name in ("main_writer", "main_reader"):
        what = "writing" if one.name == "main_writer" else "reading"
        evidence = {
            "hours": one.count, "of": one.of, "share": round(one.count / one.of, 3),
            "equal_share": round(1 / one.about, 3), "calls": int(people.calls[one.user]),
            "readings": int(people.readings[one.user]),
            "clients": people.clients[one.user],
        }  # fmt: skip
        summary = (
            f"{user} has {one.count / one.of:.0%} of all hours of {what}; equal shares of {one.about} users would be "
            f"{1 / one.about:.0%}."
        )
    elif one.name == "specialty":
        summary = (
            f"{user} writes about the {one.about.title} more than others: {one.count} of {plural(one.of, 'change')}, "
            f"where {one.expected:.1f} were to be expected."
        )
    elif one.name == "handover":
        author = people.users[one.about]
        evidence["author"] = author
        summary = (
            f"{user} works on the memories of {author}: {one.count} of {one.of} memories changed, where "
            f"{one.expected:.1f} were to be expected."
        )
    else:
        evidence = {"active_days": one.count, "missed_days": one.of, "at": moment(one.about)}
        if one.name == "newcomer":
            summary = (
                f"{user} is new: first there on {date_of(one.about)}, after {plural(one.of, 'active day')} of the "
                f"project, and then on {plural(one.count, 'day')}."
            )
        else:
            summary = (
                f"{user} is gone: last there on {date_of(one.about)}; the project had {plural(one.of, 'active day')} "
                f"since ({user} was there on {one.count} before)."
            )
    return summary, evidence


def _about(record: Record | None, one: Answer) -> bool:
    return record is not None and (one.about.field, one.about.value) in said_of(record)
