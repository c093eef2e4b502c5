"""Resolving: what may be done about a clash, and the actions that do it. None of them loses a text."""

from __future__ import annotations

import re

from polymnia.engine.analysis.actions import Action, AddObservations, DeleteObservations, Update
from polymnia.engine.analysis.conflicts.newer import Newer
from polymnia.engine.analysis.conflicts.statements import Statement
from polymnia.engine.analysis.conflicts.values import Resolution, Side
from polymnia.engine.items import title_of
from polymnia.engine.text.calendar import moment
from polymnia.models import Record

__all__ = ["asked", "outdated", "resolved"]

_DAY = 86_400_000_000
_HANGUL = re.compile("[가-힣]")
_SHOWN = 80


def resolved(left: tuple[Side, Statement], right: tuple[Side, Statement], late: Newer, sure: bool) -> Resolution:
    """What to do about two statements: the older one is marked as such, or a person is asked which of them holds.

    Nothing is to be marked unless it is certain which is the older one, and ``sure`` that they clash.
    """
    (here, _), (there, _) = left, right
    if not late.certain or not sure:
        return asked(here, there)
    old, spot = right if late.side == "left" else left
    new = here if late.side == "left" else there
    if late.until is not None:
        until = moment(late.until)[:10]
        both = old.dated and new.dated
        why = f"{'both say when they hold' if both else 'one says since when it holds'}: {_quoted(old.sentence)} "
        return Resolution("keep_both_with_dates", why + f"held until {until}", _dated(old.record, spot, until))
    days = (new.record.updated - old.record.updated) // _DAY
    when = f"{days:,} days later ({moment(new.at)[:10]})" if days > 1 else "later"
    why = f"{_quoted(new.sentence)} was said {when}; check that it is no mistake. The older one stays, marked as such"
    return Resolution("keep_newest", why, _marked(old, spot, new))


def asked(here: Side, there: Side) -> Resolution:
    """The question to put to a person."""
    if (here.record.id, here.place) == (there.record.id, there.place):
        return Resolution("ask", f"What is right instead of {_quoted(here.sentence)} {_where(here)}?")
    return Resolution(
        "ask",
        f"Which holds: {_quoted(here.sentence)} {_where(here)} or {_quoted(there.sentence)} {_where(there)}?",
    )


def _where(side: Side) -> str:
    """Where and when a sentence was said; a text that says nothing else has no other title."""
    title = title_of(side.record)
    said = " ".join(side.sentence.split())
    when = f"{'of' if side.dated else 'stored'} {moment(side.at)[:10]}"
    start = title.rstrip(".…")[:_SHOWN]
    return f"({when})" if said.startswith(start) else f"(in {title[:_SHOWN]!r}, {when})"


def outdated(old: Record, new: Record) -> Resolution:
    """A decision that a later one has taken the place of is marked so."""
    when = moment(new.updated)[:10]
    why = f"{_quoted(title_of(new))} was decided later ({when}); the other stays, marked as superseded by it"
    return Resolution("keep_newest", why, (Update(id=old.uid, metadata={"superseded_by": new.uid}),))


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f'"{text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN].rstrip() + "…"}"'


def _marked(old: Side, spot: Statement, new: Side) -> tuple[Action, ...]:
    """An item that says nothing else is marked as superseded; of any other the sentence gets the day it ended."""
    record = old.record
    if record.name == record.uid and " ".join(record.observations) == old.sentence and record.id != new.record.id:
        return (Update(id=record.uid, metadata={"superseded_by": new.record.uid}),)
    return _dated(record, spot, moment(new.at)[:10])


def _dated(record: Record, spot: Statement, until: str) -> tuple[Action, ...]:
    text = record.observations[spot.part]
    said = text[spot.start : spot.end]
    stop = said[len(said.rstrip(".。!")) :]
    mark = f" ({until}까지)" if _HANGUL.search(said) else f" (until {until})"
    changed = said.rstrip(".。!") + mark + stop
    whole = text[: spot.start] + changed + text[spot.end :]
    if record.name == record.uid:
        parts = [whole if at == spot.part else one for at, one in enumerate(record.observations)]
        return (Update(id=record.uid, content="\n".join(part for part in parts if part.strip())),)
    return (
        DeleteObservations(name=record.name, texts=(text,)),
        AddObservations(name=record.name, texts=(whole,)),
    )
