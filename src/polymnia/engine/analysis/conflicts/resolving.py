"""Resolving: what may be done about a clash, and the actions that do it."""

from __future__ import annotations

import re

from polymnia.engine.analysis.actions import Action, AddObservations, Delete, DeleteObservations, Update
from polymnia.engine.analysis.conflicts.newer import Newer
from polymnia.engine.analysis.conflicts.statements import Statement
from polymnia.engine.analysis.conflicts.values import Resolution, Side
from polymnia.engine.items import title_of
from polymnia.engine.moments import moment
from polymnia.models import Record

__all__ = ["asked", "outdated", "resolved"]

_DAY = 86_400_000_000
_LINE = re.compile(r"[ \t]*(?:[-*+•◦‣·]|\d{1,3}[.)])?[ \t]*(?:\[[ xX]\][ \t]+)?$")
_SAYS = re.compile(r"[^\W_]")
_HANGUL = re.compile("[가-힣]")
_SHOWN = 80


def resolved(
    left: tuple[Side, Statement], right: tuple[Side, Statement], late: Newer, subtype: str, sure: bool
) -> Resolution:
    """What to do about two statements: the older one goes or is dated, or a person is asked which of them holds.

    Nothing is to be taken out or dated unless it is certain which is the older one, and ``sure`` that they clash.
    """
    (here, _), (there, _) = left, right
    if not late.certain or not sure or subtype.startswith(("impossible_order", "meaning")):
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
    sequel = subtype.startswith("superseded")
    why = f"{_quoted(new.sentence)} was said {when}"
    why += " and says that it changed" if sequel else "; check that it is no mistake"
    return Resolution("keep_newest", why, _taken_out(old.record, spot))


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


def _replaced(record: Record, spot: Statement, text: str) -> tuple[Action, ...]:
    """What puts another text in the place of an observation; an empty one takes it out."""
    says = _SAYS.search("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))) is not None
    if record.name == record.uid:
        if not says and len(record.observations) == 1:
            return (Delete(id=record.uid),)
        parts = [text if at == spot.part else one for at, one in enumerate(record.observations)]
        whole = "\n".join(part for part in parts if part.strip())
        return (Update(id=record.uid, content=whole),)
    out = DeleteObservations(name=record.name, texts=(record.observations[spot.part],))
    return (out, AddObservations(name=record.name, texts=(text,))) if says else (out,)


def _taken_out(record: Record, spot: Statement) -> tuple[Action, ...]:
    text = record.observations[spot.part]
    start, end = spot.start, spot.end
    line = text.rfind("\n", 0, start) + 1
    if _LINE.match(text[line:start]) and (end == len(text) or text[end] == "\n"):
        rest = text[:line] + text[end:].removeprefix("\n")  # a line of its own goes with its bullet
    else:
        rest = text[:start].rstrip(" ") + (" " if line < start else "") + text[end:].lstrip(" ")
    return _replaced(record, spot, rest.strip("\n").rstrip())


def _dated(record: Record, spot: Statement, until: str) -> tuple[Action, ...]:
    text = record.observations[spot.part]
    said = text[spot.start : spot.end]
    stop = said[len(said.rstrip(".。!")) :]
    mark = f" ({until}까지)" if _HANGUL.search(said) else f" (until {until})"
    changed = said.rstrip(".。!") + mark + stop
    return _replaced(record, spot, text[: spot.start] + changed + text[spot.end :])
