"""Whose call it is: the project, the session, the user, and the request that may come again."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from msgspec.json import decode, encode
from msgspec.structs import replace

from polymnia.dialects.content.parameters import Standard
from polymnia.engine.once import Once, Repeated
from polymnia.errors import NotFound, Refused
from polymnia.models import Note
from polymnia.operation import Context, Memory, Reply

__all__ = ["Asking", "replied"]

_KEPT = frozenset((
    "success", "message", "timestamp", "duration", "content_id", "decision_id", "relationship_id", "version",
    "created_at", "updated_at", "created", "deleted", "hard", "relationships_deleted", "references_preserved",
    "source", "format", "imported_count", "updated_count", "skipped_count", "relationship_count",
))  # fmt: skip


class Asking:
    """One call on its way: the memory of its project in the hands of its user."""

    def __init__(self, context: Context, given: Standard) -> None:
        self.begun = time.perf_counter()
        self.asked = time.time_ns() // 1000
        if given.request_id is None and context.request_id is not None:
            given = replace(given, request_id=context.request_id)
        self.given = given
        self.session = given.session_id
        self.step = context.step
        self.wrote = False
        self._context = context
        author = context.memory.author
        self._author = author if given.user_id is None else replace(author, user=given.user_id)
        self.memory: Memory = context.memory.acting(self._author, project=given.project_id)
        if context.log is not None and given.request_id is not None:
            context.log("info", f"{given.operation}: request {given.request_id!r}")

    def unknown_project(self, *, nearest_only: bool = False) -> str | None:
        """That the project of the call is not there, as a sentence; None where it is, or where none has such a name."""
        if self.given.project_id is None or self.memory.stamp():
            return None
        near = self.memory.nearest_project()
        if near is None and nearest_only:
            return None
        meant = f"; did you mean {near!r}?" if near else "."
        return f"There is no project {self.given.project_id!r} yet, so it has no content{meant}"

    def check_session(self) -> None:
        """Refuse to write without a session where the server wants one."""
        if self._context.require_session and self.session is None:
            raise Refused(
                "This server writes only within a session: session_id is missing",
                hint="Give a session_id, or start the server without --require-session.",
            )

    def writing(self, tell: Callable[[Any], dict[str, Any]]) -> Memory:
        """The memory to write to. What is done for a request_id is told again when that comes again."""
        self.check_session()
        self.wrote = True
        if self.given.request_id is None:
            return self.memory
        asked = encode({key: value for key, value in _fields(self.given).items() if key not in ("user_id",)})
        from hashlib import sha256

        def kept(done: Any) -> str:
            # Nothing of the content itself: it must be gone when the content is.
            return encode({key: value for key, value in tell(done).items() if key in _KEPT}).decode()

        once = Once(self.given.request_id, sha256(asked).hexdigest(), kept)
        return self.memory.acting(self._author, project=self.given.project_id, once=once)


def _fields(given: Any) -> dict[str, Any]:
    from msgspec import to_builtins

    told: dict[str, Any] = to_builtins(given)
    return told


def replied(asking: Asking, work: Callable[[], dict[str, Any]]) -> Reply:
    """The answer to a call, with its request_id; a call that was done before is answered as it was then."""
    try:
        told = work()
    except Repeated as again:
        told = decode(again.told) | {"repeated": True}
        if "version" in told and isinstance(id := told.get("content_id"), str):  # the answer of one that was stored
            with suppress(NotFound):
                told["metadata"] = asking.memory.item(id, session=asking.session).metadata
    except NotFound as e:
        e.details.setdefault("project", asking.given.project_id)
        e.details.setdefault("near", asking.memory.nearest_id(e.names[0], session=asking.session))
        e.details.setdefault("no_project", asking.unknown_project(nearest_only=True))
        raise
    found = asking.wrote or told.get("content_id") or told.get("results")  # then the project is there
    if not found and (unknown := asking.unknown_project()) is not None:
        notes = told.get("notes", [])
        typed = "patterns" in told  # of detect_patterns, whose notes have a type
        told["notes"] = [{"type": "project", "note": unknown} if typed else unknown, *notes]
    if asking.given.request_id is not None:
        told["request_id"] = asking.given.request_id
    notes = [Note("note", text) for text in told.get("notes", ()) if isinstance(text, str)]
    return Reply(value=told, structured=told, flat=True, notes=notes)
