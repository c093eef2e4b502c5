"""Resolving: what may be done about a clash, as a call that does it."""

from __future__ import annotations

import re
from typing import Any, Literal

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
    left: tuple[Side, Statement],
    right: tuple[Side, Statement],
    newer: Literal["left", "right", "same"],
    type: str,
    subtype: str,
    project: str,
) -> Resolution:
    """What to do about two statements: the older one goes or is dated, or a person is asked which of them holds."""
    (here, _), (there, _) = left, right
    apart = abs(here.at - there.at)
    sequel = subtype.startswith("superseded")
    if newer == "same" or subtype.startswith(("impossible_order", "meaning")) or (apart < _DAY and not sequel):
        return asked(here, there)
    old, spot = right if newer == "left" else left
    new = here if newer == "left" else there
    if old.dated and new.dated:
        until = moment(new.at)[:10]
        call, then = _dated(old.record, spot, until, project)
        why = f"both say when they hold: the older one held until {until}"
        return Resolution("keep_both_with_dates", why, call, then)
    call, then = _taken_out(old.record, spot, project)
    days = apart // _DAY
    when = f"{days:,} days later ({moment(new.at)[:10]})" if days else "later"
    why = f"the other was said {when}" + (" and says that it changed" if sequel else "; check that it is no mistake")
    return Resolution("keep_newest", why, call, then)


def asked(here: Side, there: Side) -> Resolution:
    """The question to put to a person."""
    if (here.record.id, here.place) == (there.record.id, there.place):
        where = f"{title_of(here.record)[:_SHOWN]}, {moment(here.record.updated)[:10]}"
        return Resolution("ask", f"What is right instead of {_quoted(here.sentence)} ({where})?")
    return Resolution(
        "ask",
        f"Which holds: {_quoted(here.sentence)} ({title_of(here.record)[:_SHOWN]}, {moment(here.at)[:10]}) or "
        f"{_quoted(there.sentence)} ({title_of(there.record)[:_SHOWN]}, {moment(there.at)[:10]})?",
    )


def outdated(old: Record, new: Record, project: str) -> Resolution:
    """A decision that a later one has taken the place of is marked so."""
    updates = {"metadata": {"superseded_by": new.uid}}
    why = f"the other was decided later ({moment(new.updated)[:10]}); the older one stays, marked as superseded by it"
    return Resolution("keep_newest", why, _content(old, "update_content", project, {"updates": updates}))


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f'"{text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN].rstrip() + "…"}"'


def _content(record: Record, operation: str, project: str, more: dict[str, Any]) -> dict[str, Any]:
    arguments: dict[str, Any] = {"operation": operation, "project_id": project, "content_id": record.uid}
    if record.session is not None:
        arguments["session_id"] = record.session
    return {"tool": "memory_store", "arguments": arguments | more}


def _replaced(record: Record, spot: Statement, text: str, project: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The calls that put another text in the place of an observation; an empty one takes it out."""
    says = _SAYS.search("\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))) is not None
    if record.name == record.uid:
        if not says and len(record.observations) == 1:
            return _content(record, "delete_content", project, {}), None
        parts = [text if at == spot.part else one for at, one in enumerate(record.observations)]
        whole = "\n".join(part for part in parts if part.strip())
        return _content(record, "update_content", project, {"updates": {"content": whole}}), None
    gone = {"entityName": record.name, "observations": [record.observations[spot.part]]}
    out = {"tool": "delete_observations", "arguments": {"deletions": [gone]}}
    if not says:
        return out, None
    made = {"entityName": record.name, "contents": [text]}
    return out, {"tool": "add_observations", "arguments": {"observations": [made]}}


def _taken_out(record: Record, spot: Statement, project: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    text = record.observations[spot.part]
    start, end = spot.start, spot.end
    line = text.rfind("\n", 0, start) + 1
    if _LINE.match(text[line:start]) and (end == len(text) or text[end] == "\n"):
        rest = text[:line] + text[end:].removeprefix("\n")  # a line of its own goes with its bullet
    else:
        rest = text[:start].rstrip(" ") + (" " if line < start else "") + text[end:].lstrip(" ")
    return _replaced(record, spot, rest.strip("\n").rstrip(), project)


def _dated(record: Record, spot: Statement, until: str, project: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    text = record.observations[spot.part]
    said = text[spot.start : spot.end]
    stop = said[len(said.rstrip(".。!")) :]
    mark = f" ({until}까지)" if _HANGUL.search(said) else f" (until {until})"
    changed = said.rstrip(".。!") + mark + stop
    return _replaced(record, spot, text[: spot.start] + changed + text[spot.end :], project)
