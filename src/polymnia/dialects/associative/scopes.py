"""The tools for where memories are filed: scopes, what belongs where, and sessions."""

from __future__ import annotations

import time
from typing import Annotated, Literal

from msgspec import Struct

from polymnia.dialects.associative import shapes
from polymnia.dialects.budget import NextCursor
from polymnia.dialects.shapes import about, or_null
from polymnia.engine.scopes import SESSIONS as SESSION_SCOPE
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Invalid, Violation
from polymnia.models import Note, Session
from polymnia.operation import Context, Reply

_SHOWN = 1000  # memories of a renamed scope that are listed
_DAY = 86_400_000_000

Action = Annotated[
    Literal["create", "list", "cleanup"],
    about("Required. create begins a session, list shows all, cleanup removes old ones."),
]
MovedIds = Annotated[list[str], about("Required, unless source_scope is given. The memories to move.")]
SourceScope = Annotated[str, about("Instead of memory_ids: rename this scope, with everything below it.")]


class ListedScope(Struct, frozen=True, omit_defaults=True):
    """One scope: how many memories are in it, how many with everything below it, and what is right below."""

    scope: Annotated[str, about("The scope.")]
    child_scopes: Annotated[list[str], about("The scopes right below it.")]
    depth: Annotated[int, about("How deep it is in the tree, counted from 1.")]
    memory_count: (
        Annotated[int, about("How many memories are filed in it; unless include_memory_counts is false.")] | None
    ) = None
    total_memory_count: (
        Annotated[int, about("How many memories are filed in it and below it; unless include_memory_counts is false.")]
        | None
    ) = None


class ListScopesAnswer(Struct, frozen=True, omit_defaults=True):
    """The scopes, each with how many memories are in it."""

    scopes: Annotated[list[ListedScope], about("The scopes.")]
    total_scopes: Annotated[int, about("How many scopes this answer has.")]
    hierarchy_depth: Annotated[int, about("How deep the tree is.")]
    notes: shapes.Remarks = []
    next_cursor: NextCursor | None = None


@shapes.tool("scope_list", "List Scopes", ListScopesAnswer, lists=["scopes"], reads=True, idempotent=True)
def list_scopes(
    context: Context,
    parent_scope: Annotated[str, about("Only this scope and what is below it.")] | None = None,
    include_memory_counts: Annotated[bool, about("Count the memories.", default=True)] = True,
) -> Reply:
    """Show the tree of scopes and how many memories are in each."""
    found = context.memory.scopes(parent_scope)
    listed = [
        ListedScope(
            one.path, list(one.children), one.depth, *((one.memories, one.total) if include_memory_counts else ())
        )
        for one in found
    ]
    notes = [] if found or parent_scope is None else [shapes.unknown_scope(context.memory, parent_scope)]
    return shapes.reply(ListScopesAnswer(listed, len(listed), max((one.depth for one in found), default=0)), notes)


class ScopeAlternative(Struct, frozen=True):
    """Another scope a text may belong to."""

    scope: Annotated[str, about("The scope.")]
    confidence: Annotated[float, about("How certain it is, from 0 to 1.")]
    reasoning: Annotated[str, about("Why, as a sentence.")]


class TextAnalysis(Struct, frozen=True):
    """What was seen in the text."""

    detected_keywords: Annotated[list[str], about("The words that tell most about the text.")]
    suggested_category: Annotated[
        str | None, or_null("string", "What sort of memory it would be; null where that cannot be told.")
    ]
    content_type: Annotated[str, about("What sort of text it is.")]


class SuggestAnswer(Struct, frozen=True, omit_defaults=True):
    """The scope the text belongs to, how certain that is, and other scopes."""

    suggested_scope: Annotated[str, about("The scope the text belongs to.")]
    confidence: Annotated[float, about("How certain that is, from 0 to 1.")]
    alternatives: Annotated[list[ScopeAlternative], about("Other scopes it may belong to, most certain first.")]
    analysis: Annotated[TextAnalysis, about("What was seen in the text.")]
    reasoning: Annotated[str, about("Why, as a sentence.")]
    abstained: Annotated[
        bool, about("True when the memories that are filed cannot tell: suggested_scope is a place to fall back to.")
    ]
    notes: shapes.Remarks = []
    next_cursor: NextCursor | None = None


@shapes.tool("scope_suggest", "Suggest Scope", SuggestAnswer, lists=["alternatives"], reads=True, idempotent=True)
def suggest(
    context: Context,
    content: Annotated[str, about("Required. The text to find a place for.")],
    current_scope: Annotated[str, about("Where you are working; places near it are preferred.")] | None = None,
) -> Reply:
    """Where a text belongs, judged by the memories that are filed already. When those cannot tell, it says so and
    names a place to fall back to.
    """
    found = context.memory.suggest_scope(content, current=current_scope)
    shapes.check_meaning(context.memory)
    return shapes.reply(
        SuggestAnswer(
            suggested_scope=found.scope,
            confidence=found.confidence,
            alternatives=[ScopeAlternative(one.scope, one.confidence, one.reasoning) for one in found.alternatives],
            analysis=TextAnalysis(list(found.keywords), found.category, found.content_type),
            reasoning=found.reasoning,
            abstained=found.abstained,
        )
    )


class MovedMemory(Struct, frozen=True):
    """A memory that was moved."""

    memory_id: shapes.MemoryId
    old_scope: Annotated[str, about("The scope it was in.")]
    new_scope: Annotated[str, about("The scope it is in now.")]


class FailedMove(Struct, frozen=True):
    """A memory that could not be moved, and why."""

    memory_id: shapes.MemoryId
    error: Annotated[str, about("Why it could not be moved.")]


class DuplicateMemory(Struct, frozen=True):
    """A memory that was moved into a scope where another one says exactly the same."""

    memory_id: shapes.MemoryId
    duplicate_of: Annotated[str, about("The id of the memory of that scope that says exactly the same.")]


class MoveAnswer(Struct, frozen=True, omit_defaults=True):
    """How many memories were moved, and which could not be."""

    moved_count: Annotated[int, about("How many memories were moved.")]
    failed_moves: Annotated[list[FailedMove], about("Memories that could not be moved, with the reason.")]
    target_scope: Annotated[str, about("The scope they were moved to.")]
    moved_memories: Annotated[list[MovedMemory], about("The memories that were moved; the first of very many.")]
    duplicates: Annotated[
        list[DuplicateMemory], about("Moved memories that say exactly what another one of the scope says.")
    ] = []
    notes: shapes.Remarks = []


@shapes.tool("memory_move", "Move Memories", MoveAnswer, idempotent=True)
def move(
    context: Context,
    target_scope: Annotated[str, about("Required. The scope to move to.")],
    memory_ids: MovedIds | None = None,
    source_scope: SourceScope | None = None,
) -> Reply:
    """File memories under another scope, or rename a scope with everything below it. Each memory that could not be
    moved is told, with the reason.
    """
    if memory_ids is None and source_scope is None:
        raise BadArguments("memory_move", [Violation("memory_ids", "array", "undefined")])
    if memory_ids is not None and source_scope is not None:
        raise Invalid("Give either memory_ids or source_scope, not both", field="source_scope")
    if source_scope is not None:
        done, most = context.memory.rename_scope(source_scope, target_scope, step=context.step), _SHOWN
    else:
        done = context.memory.move(memory_ids or [], target_scope, step=context.step)
        most = len(done.moved)
    notes = []
    if len(done.moved) > most:
        notes.append(Note("more", f"The first {most} of them are listed."))
    if done.there:
        notes.append(Note("unchanged", f"{len(done.there):,} of them were there already."))
    if done.same:
        text = "Each of duplicates says exactly what another memory of its new scope says; delete one of the two."
        notes.append(Note("duplicate", text))
    answer = MoveAnswer(
        moved_count=len(done.moved),
        failed_moves=[FailedMove(*one) for one in done.failed],
        target_scope=done.scope,
        moved_memories=[MovedMemory(*one) for one in done.moved[:most]],
        duplicates=[DuplicateMemory(*one) for one in done.same[:_SHOWN]],
    )
    return shapes.reply(answer, notes)


class SessionInfo(Struct, frozen=True):
    """A session."""

    session_id: Annotated[str, about("The id of the session.")]
    scope: Annotated[str, about("The scope of its memories.")]
    memory_count: Annotated[int, about("How many memories it has.")]
    created_at: Annotated[str, about("When it began: UTC, ISO 8601.")]
    last_used_at: Annotated[str, about("When it was used last: UTC, ISO 8601.")]
    age_days: Annotated[int, about("Whole days since it was used last.")]


class SessionAnswer(Struct, frozen=True, omit_defaults=True):
    """What the action did: which fields there are depends on it."""

    action: Annotated[str, about("The action of the call: it tells which of the other fields there are.")]
    session_id: Annotated[str, about("create: the id of the session.")] | None = None
    session_scope: Annotated[str, about("create: the scope of its memories.")] | None = None
    created_at: Annotated[str, about("create: when it began, UTC, ISO 8601.")] | None = None
    already_existed: Annotated[bool, about("create: true when the session was there before.")] | None = None
    sessions: Annotated[list[SessionInfo], about("list: the sessions.")] | None = None
    total_sessions: Annotated[int, about("list: how many there are.")] | None = None
    removed_sessions: Annotated[int, about("cleanup: how many sessions were removed.")] | None = None
    freed_memories: Annotated[int, about("cleanup: how many memories went with them.")] | None = None
    max_age_days: Annotated[float, about("cleanup: sessions unused for longer than this were removed.")] | None = None
    removed_session_ids: Annotated[list[str], about("cleanup: the ids of the removed sessions.")] | None = None
    notes: shapes.Remarks = []


@shapes.tool("session_manage", "Manage Sessions", SessionAnswer, destroys=True)
def sessions(
    context: Context,
    action: Action,
    session_id: Annotated[str, about("The session; create makes a name if none is given.")] | None = None,
    max_age_days: Annotated[float, about("cleanup: unused for longer than this.", ge=0, le=36_500, default=7)] = 7,
) -> Reply:
    """Sessions keep temporary memories apart, in the scope session/<id>: create one, list them, or clean up those that
    have not been used for some days.
    """
    if action == "create":
        return _create_session(context, session_id)
    if action == "list":
        now = time.time_ns() // 1000
        found = [_info(one, now) for one in context.memory.sessions() if session_id in (None, one.name)]
        return shapes.reply(SessionAnswer("list", sessions=found, total_sessions=len(found)))
    days = int(max_age_days) if max_age_days == int(max_age_days) else max_age_days
    only = None if session_id is None else [session_id]
    done = context.memory.clean_sessions(days, only=only, step=context.step)
    answer = SessionAnswer(
        "cleanup",
        removed_sessions=len(done.sessions),
        freed_memories=done.memories,
        max_age_days=days,
        removed_session_ids=done.sessions,
    )
    return shapes.reply(answer, [Note("undo", "One undo (`polymnia undo`) brings them back.")] if done.sessions else ())


def _create_session(context: Context, id: str | None) -> Reply:
    session, made = context.memory.begin_session(id)
    answer = SessionAnswer(
        "create",
        session_id=session.name,
        session_scope=f"{SESSION_SCOPE}/{session.name}",
        created_at=moment(session.created),
        already_existed=None if made else True,
    )
    note = Note("existed", f"The session {session.name!r} was there already; it goes on.")
    return shapes.reply(answer, () if made else [note])


def _info(session: Session, now: int) -> SessionInfo:
    return SessionInfo(
        session_id=session.name,
        scope=f"{SESSION_SCOPE}/{session.name}",
        memory_count=session.memories,
        created_at=moment(session.created),
        last_used_at=moment(session.used),
        age_days=max(0, now - session.used) // _DAY,
    )
