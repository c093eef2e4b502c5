"""Commands on scopes and sessions, and the suggested scope for a text."""

from __future__ import annotations

import time
from argparse import Namespace
from typing import TYPE_CHECKING

from polymnia.app import open_memory
from polymnia.cli.console import (
    CommandResult,
    columns,
    counted,
    dim,
    existing_scope,
    fields,
    format_time,
    green,
    on_one_line,
    open_existing,
    padded,
    read_text,
    strong,
    table,
    width,
)
from polymnia.engine import scopes as paths
from polymnia.engine.memory import Memory
from polymnia.engine.scopes import Scope
from polymnia.errors import Invalid, NotFound
from polymnia.models import JsonObject
from polymnia.settings import Settings

if TYPE_CHECKING:
    from polymnia.engine.knowledge.suggestions import Suggestion

_DAY = 86_400_000_000
_DAYS = 7.0


# ── scopes ───────────────────────────────────────────────────────────────────────────────────────────────


def scopes(arguments: Namespace, chosen: Settings) -> CommandResult:
    """Show the tree of scopes, or where a text belongs."""
    with open_existing(chosen) as memory:
        if arguments.suggest is not None:
            suggestion = memory.suggest_scope(read_text(arguments.suggest), current=arguments.parent)
            notes = model_notes(memory)
            return CommandResult(suggestion_data(suggestion) | {"notes": notes}, suggestion_lines(suggestion), notes)
        found = memory.scopes(None if arguments.parent is None else existing_scope(memory, arguments.parent))
    data = [{"scope": one.path, **fields(one, "memories total children")} for one in found]
    if not found:
        return CommandResult(data, notes=["Nothing is filed yet."])
    filed = counted(sum(one.memories for one in found), "memory")
    used = counted(sum(1 for one in found if one.memories), "scope")
    return CommandResult(data, [*_tree(found), dim(f"{filed} in {used}.")])


def _tree(found: list[Scope]) -> list[str]:
    """The tree, with the number of memories in each scope itself and including those below it."""
    by_path = {one.path: one for one in found}
    rows = [("", "own", "all")]
    for one in found:
        if one.path.rpartition("/")[0] not in by_path:
            rows += _branches(by_path, one, one.path, "")
    names, own, total = (max(map(width, column)) for column in zip(*rows, strict=True))
    if (room := columns()) is not None:
        names = min(names, max(room - own - total - 4, 10))
    head, *lines = (f"{padded(name, names)}  {few:>{own}}  {many:>{total}}" for name, few, many in rows)
    return [dim(head), *lines]


def _branches(by_path: dict[str, Scope], one: Scope, name: str, lead: str) -> list[tuple[str, str, str]]:
    rows = [(on_one_line(name), f"{one.memories:,}", f"{one.total:,}")]
    for child in one.children:
        last = child == one.children[-1]
        below = lead + ("    " if last else "│   ")
        name = lead + ("└── " if last else "├── ") + child.rpartition("/")[2]
        rows += _branches(by_path, by_path[child], name, below)
    return rows


def model_notes(memory: Memory) -> list[str]:
    """A note if a model that should have been used was not available."""
    fault = memory.finding().broken()
    return [] if fault is None else [f"By words alone, not by meaning: {fault.message}. {fault.hint}"]


def suggestion_lines(found: Suggestion, *, alternatives: bool = True) -> list[str]:
    """The suggested scope for a text, with its confidence and reason."""
    lines = [
        f"{found.confidence:.2f}  {strong(on_one_line(found.scope))}{'  (not sure)' if found.abstained else ''}",
        dim(f"      {on_one_line(found.reasoning)}"),
    ]
    if alternatives:
        for one in found.alternatives:
            lines += [f"{one.confidence:.2f}  {on_one_line(one.scope)}", dim(f"      {on_one_line(one.reasoning)}")]
        if found.keywords:
            lines.append(f"keywords: {', '.join(map(on_one_line, found.keywords))}")
    return lines


def suggestion_data(found: Suggestion) -> JsonObject:
    """The suggestion as JSON data."""
    alternatives = [fields(one, "scope confidence reasoning") for one in found.alternatives]
    head = fields(found, "scope confidence abstained reasoning")
    return {**head, "alternatives": alternatives, **fields(found, "keywords category content_type")}


# ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────


def sessions(arguments: Namespace, chosen: Settings) -> CommandResult:
    """List, create or clean up sessions."""
    if arguments.older_than is not None and arguments.action != "cleanup":
        raise Invalid("--older-than is for cleanup", hint="polymnia sessions cleanup --older-than 30.")
    if arguments.action == "create":
        with open_memory(chosen, "cli") as memory:
            return _create(arguments.session, memory)
    with open_existing(chosen) as memory:
        named = arguments.session
        if named is not None and all(one.name != named for one in memory.sessions()):
            raise NotFound([named], "Session", hint="`polymnia sessions` lists them.")
        if arguments.action == "list":
            return _list(named, memory)
        return _clean_up(named, _DAYS if arguments.older_than is None else arguments.older_than, memory)


def _list(named: str | None, memory: Memory) -> CommandResult:
    found = [one for one in memory.sessions() if named in (None, one.name)]
    now = time.time_ns() // 1000
    days = [max(now - one.used, 0) // _DAY for one in found]
    data = [
        {
            "session": one.name,
            "scope": f"{paths.SESSIONS}/{one.name}",
            "memories": one.memories,
            "created": format_time(one.created),
            "used": format_time(one.used),
            "ageDays": age,
        }
        for one, age in zip(found, days, strict=True)
    ]
    rows: list[tuple[str, ...]]
    if columns() is None:
        rows = [(one.name, str(one.memories), format_time(one.used), format_time(one.created)) for one in found]
    else:
        used = [f"used {counted(age, 'day')} ago" if age else "used today" for age in days]
        rows = [(one.name, counted(one.memories, "memory"), ago) for one, ago in zip(found, used, strict=True)]
    return CommandResult(data, table(rows, paint=(strong,)), [] if found else ["There are no sessions."])


def _create(named: str | None, memory: Memory) -> CommandResult:
    session, new = memory.begin_session(named)
    scope, created = f"{paths.SESSIONS}/{session.name}", format_time(session.created)
    name = strong(on_one_line(session.name))
    text = f"The session {name} goes on; it began {created}."
    if new:
        text = f"Began the session {name}; its memories go to {green(on_one_line(scope))}."
    return CommandResult({"session": session.name, "scope": scope, "created": created, "new": new}, [text])


def _clean_up(named: str | None, days: float, memory: Memory) -> CommandResult:
    done = memory.clean_sessions(days, only=None if named is None else [named])
    data = {"olderThanDays": days, "removed": done.sessions, "memories": done.memories}
    if not done.sessions:
        return CommandResult(data, [f"Nothing to remove: no session was left alone for {days:g} days."])
    lines = [f"Removed {strong(on_one_line(name))}." for name in done.sessions]
    lines.append(f"{counted(len(done.sessions), 'session')}, {counted(done.memories, 'memory')}.")
    return CommandResult(data, [*lines, dim("`polymnia undo` brings them back.")])
