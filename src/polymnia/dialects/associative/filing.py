"""The tools for where memories are filed: scopes, what belongs where, and sessions."""

from __future__ import annotations

import time

from polymnia.dialects.associative import parameters, results
from polymnia.dialects.associative.parameters import or_else
from polymnia.dialects.associative.results import reply
from polymnia.dialects.associative.wording import meaning_or_fault, unknown_scope
from polymnia.engine import scopes
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Invalid, Violation
from polymnia.models import Note, Session
from polymnia.operation import Context, Reply

__all__ = ["list_scopes", "move", "sessions", "suggest"]

_SHOWN = 1000  # memories of a renamed scope that are listed
_DAY = 86_400_000_000


def list_scopes(context: Context, given: parameters.ListScopes) -> Reply:
    """scope_list."""
    found = context.memory.scopes(given.parent_scope)
    counts = or_else(given.include_memory_counts, True)
    told = [
        results.Scope(
            one.path, list(one.children), one.depth, one.memories if counts else None, one.total if counts else None
        )
        for one in found
    ]
    notes = [] if found or given.parent_scope is None else [unknown_scope(context.memory, given.parent_scope)]
    return reply(results.Scopes(told, len(told), max((one.depth for one in found), default=0)), notes)


def suggest(context: Context, given: parameters.Suggest) -> Reply:
    """scope_suggest."""
    found = context.memory.suggest_scope(given.content, current=given.current_scope)
    meaning_or_fault(context.memory)
    return reply(
        results.Suggested(
            found.scope,
            found.confidence,
            [results.Alternative(one.scope, one.confidence, one.reasoning) for one in found.alternatives],
            results.Analysis(list(found.keywords), found.category, found.content_type),
            found.reasoning,
            found.abstained,
        )
    )


def move(context: Context, given: parameters.Move) -> Reply:
    """memory_move: by ids, or a whole scope."""
    memory = context.memory
    if (given.memory_ids is None) == (given.source_scope is None):
        if given.memory_ids is None:
            raise BadArguments("memory_move", [Violation("memory_ids", "array", "undefined")])
        raise Invalid("Give either memory_ids or source_scope, not both", field="source_scope")
    if given.source_scope is not None:
        done, most = memory.rename_scope(given.source_scope, given.target_scope, step=context.step), _SHOWN
    else:
        done = memory.move(given.memory_ids or [], given.target_scope, step=context.step)
        most = len(done.moved)
    notes = []
    if len(done.moved) > most:
        notes.append(Note("more", f"The first {most} of them are listed."))
    if done.there:
        notes.append(Note("unchanged", f"{len(done.there):,} of them were there already."))
    if done.same:
        notes.append(
            Note(
                "duplicate",
                "Each of duplicates says exactly what another memory of its new scope says; delete one of the two.",
            )
        )
    return reply(
        results.MovedMemories(
            len(done.moved),
            [results.FailedMove(*one) for one in done.failed],
            done.scope,
            [results.MovedMemory(*one) for one in done.moved[:most]],
            [results.Duplicate(*one) for one in done.same[:_SHOWN]],
        ),
        notes,
    )


def sessions(context: Context, given: parameters.Sessions) -> Reply:
    """session_manage."""
    memory, days = context.memory, or_else(given.max_age_days, 7)
    days = int(days) if days == int(days) else days
    if given.action == "create":
        session, made = memory.begin_session(given.session_id)
        value = results.SessionAnswer(
            "create", session.name, f"{scopes.SESSIONS}/{session.name}", moment(session.created), None if made else True
        )
        notes = [] if made else [Note("existed", f"The session {session.name!r} was there already; it goes on.")]
        return reply(value, notes)
    if given.action == "list":
        now = time.time_ns() // 1000
        told = [_session(one, now) for one in memory.sessions() if given.session_id in (None, one.name)]
        return reply(results.SessionAnswer("list", sessions=told, total_sessions=len(told)))
    only = None if given.session_id is None else [given.session_id]
    done = memory.clean_sessions(days, only=only, step=context.step)
    value = results.SessionAnswer(
        "cleanup", removed_sessions=len(done.sessions), freed_memories=done.memories, max_age_days=days,
        removed_session_ids=done.sessions,
    )  # fmt: skip
    return reply(value, [Note("undo", "One undo (`polymnia undo`) brings them back.")] if done.sessions else None)


def _session(session: Session, now: int) -> results.Session:
    return results.Session(
        session.name, f"{scopes.SESSIONS}/{session.name}", session.memories, moment(session.created),
        moment(session.used), max(0, now - session.used) // _DAY,
    )  # fmt: skip
