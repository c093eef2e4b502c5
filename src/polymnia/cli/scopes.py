"""Where memories are filed: the tree of scopes, where a text belongs, and sessions."""

from __future__ import annotations

import sys
import time
from argparse import Namespace
from typing import TYPE_CHECKING

from polymnia.app import memory
from polymnia.cli.console import (
    columns,
    counted,
    dim,
    existing,
    green,
    known_scope,
    on_one_line,
    padded,
    print_json,
    print_notes,
    print_rows,
    shown,
    strong,
    text,
    width,
)
from polymnia.engine import scopes as paths
from polymnia.engine.memory import Memory
from polymnia.engine.scopes import Scope
from polymnia.errors import Invalid, NotFound
from polymnia.models import JsonObject, Session
from polymnia.settings import Settings

if TYPE_CHECKING:
    from polymnia.engine.knowledge.suggestions import Suggestion

_DAY = 86_400_000_000
_DAYS = 7.0


# ── scopes ───────────────────────────────────────────────────────────────────────────────────────────────


def scopes(arguments: Namespace, chosen: Settings) -> int:
    """Show the tree of scopes, or where a text belongs."""
    if arguments.suggest is not None:
        return _suggest(arguments, chosen)
    with existing(chosen) as held:
        found = held.scopes(None if arguments.parent is None else known_scope(held, arguments.parent))
    if arguments.json:
        print_json([_scope(one) for one in found])
        return 0
    if not found:
        print("Nothing is filed yet.", file=sys.stderr)
        return 0
    _print_tree(found)
    filed = sum(one.memories for one in found)
    print(dim(f"{counted(filed, 'memory')} in {counted(sum(1 for one in found if one.memories), 'scope')}."))
    return 0


def _print_tree(found: list[Scope]) -> None:
    """The tree, and beside it how many memories each scope has of its own and with everything below it."""
    by_path = {one.path: one for one in found}
    rows = [("", "own", "all")]
    for one in found:
        if one.path.rpartition("/")[0] not in by_path:
            rows += _branches(by_path, one, one.path, "")
    names, own, total = (max(map(width, column)) for column in zip(*rows, strict=True))
    for i, (name, few, many) in enumerate(rows):
        told = f"{padded(name, names)}  {few:>{own}}  {many:>{total}}"
        print(told if i else dim(told))


def _branches(by_path: dict[str, Scope], one: Scope, name: str, lead: str) -> list[tuple[str, str, str]]:
    rows = [(on_one_line(name), f"{one.memories:,}", f"{one.total:,}")]
    for child in one.children:
        last = child == one.children[-1]
        below = lead + ("    " if last else "│   ")
        name = lead + ("└── " if last else "├── ") + child.rpartition("/")[2]
        rows += _branches(by_path, by_path[child], name, below)
    return rows


def _scope(one: Scope) -> JsonObject:
    return {"scope": one.path, "memories": one.memories, "total": one.total, "children": one.children}


def _suggest(arguments: Namespace, chosen: Settings) -> int:
    with existing(chosen) as held:
        found = held.suggest_scope(text(arguments.suggest), current=arguments.parent)
        notes = judged_by(held)
    if arguments.json:
        print_json(suggested(found) | {"notes": notes})
        return 0
    print_suggestion(found)
    print_notes(notes)
    return 0


def judged_by(held: Memory) -> list[str]:
    """What is to be told where a model was to take part and could not."""
    fault = held.finding().broken()
    return [] if fault is None else [f"By words alone, not by meaning: {fault.message}. {fault.hint}"]


def print_suggestion(found: Suggestion, *, alternatives: bool = True) -> None:
    """Print where a text belongs, how sure that is, and why."""
    print(f"{found.confidence:.2f}  {strong(on_one_line(found.scope))}{'  (not sure)' if found.abstained else ''}")
    print(dim(f"      {on_one_line(found.reasoning)}"))
    for one in found.alternatives if alternatives else ():
        print(f"{one.confidence:.2f}  {on_one_line(one.scope)}")
        print(dim(f"      {on_one_line(one.reasoning)}"))
    if alternatives and found.keywords:
        print(f"keywords: {', '.join(map(on_one_line, found.keywords))}")


def suggested(found: Suggestion) -> JsonObject:
    """The same for programs."""
    return {
        "scope": found.scope,
        "confidence": found.confidence,
        "abstained": found.abstained,
        "reasoning": found.reasoning,
        "alternatives": [
            {"scope": one.scope, "confidence": one.confidence, "reasoning": one.reasoning} for one in found.alternatives
        ],
        "keywords": found.keywords,
        "category": found.category,
        "contentType": found.content_type,
    }


# ── sessions ─────────────────────────────────────────────────────────────────────────────────────────────


def sessions(arguments: Namespace, chosen: Settings) -> int:
    """List, begin or clean up sessions."""
    if arguments.older_than is not None and arguments.action != "cleanup":
        raise Invalid("--older-than is for cleanup", hint="polymnia sessions cleanup --older-than 30.")
    with memory(chosen, "cli") if arguments.action == "create" else existing(chosen) as held:
        named = arguments.session if arguments.action != "create" else None
        if named is not None and all(one.name != named for one in held.sessions()):
            raise NotFound([named], "Session", hint="`polymnia sessions` lists them.")
        return {"list": _list, "create": _create, "cleanup": _clean_up}[arguments.action](arguments, held)


def _list(arguments: Namespace, held: Memory) -> int:
    found = [one for one in held.sessions() if arguments.session in (None, one.name)]
    now = time.time_ns() // 1000
    if arguments.json:
        print_json([_session(one, now) for one in found])
        return 0
    rows: list[tuple[str, ...]]
    if columns() is None:
        rows = [(one.name, str(one.memories), shown(one.used), shown(one.created)) for one in found]
    else:
        rows = [(one.name, counted(one.memories, "memory"), f"used {_ago(now - one.used)}") for one in found]
    print_rows(rows, paint=(strong,))
    if not found:
        print("There are no sessions.", file=sys.stderr)
    return 0


def _ago(microseconds: int) -> str:
    days = max(microseconds, 0) // _DAY
    return "today" if not days else f"{counted(days, 'day')} ago"


def _session(one: Session, now: int) -> JsonObject:
    return {
        "session": one.name,
        "scope": f"{paths.SESSIONS}/{one.name}",
        "memories": one.memories,
        "created": shown(one.created),
        "used": shown(one.used),
        "ageDays": max(now - one.used, 0) // _DAY,
    }


def _create(arguments: Namespace, held: Memory) -> int:
    session, new = held.begin_session(arguments.session)
    scope = f"{paths.SESSIONS}/{session.name}"
    if arguments.json:
        print_json({"session": session.name, "scope": scope, "created": shown(session.created), "new": new})
    elif new:
        print(f"Began the session {strong(on_one_line(session.name))}; its memories go to {green(on_one_line(scope))}.")
    else:
        print(f"The session {strong(on_one_line(session.name))} goes on; it began {shown(session.created)}.")
    return 0


def _clean_up(arguments: Namespace, held: Memory) -> int:
    days = _DAYS if arguments.older_than is None else arguments.older_than
    only = None if arguments.session is None else [arguments.session]
    done = held.clean_sessions(days, only=only)
    if arguments.json:
        print_json({"olderThanDays": days, "removed": done.sessions, "memories": done.memories})
        return 0
    if not done.sessions:
        print(f"Nothing to remove: no session was left alone for {days:g} days.")
        return 0
    for name in done.sessions:
        print(f"Removed {strong(on_one_line(name))}.")
    print(f"{counted(len(done.sessions), 'session')}, {counted(done.memories, 'memory')}.")
    print(dim("`polymnia undo` brings them back."))
    return 0
