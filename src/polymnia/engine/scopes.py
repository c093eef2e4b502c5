"""Scopes: the paths memories are filed under, the tree they make, and the sessions among them."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from polymnia.engine.ports import Transaction
from polymnia.errors import Invalid
from polymnia.models import DEFAULT_SCOPE, JsonObject, legal_text

SESSIONS = "session"
"""The scope that sessions live below."""

_LEVELS = 10
_PART = 100
_HINT = f"Write it as parts with / between them, such as work/projects: at most {_LEVELS} parts of {_PART} characters."


def begin(tx: Transaction, session: str | None) -> None:
    """Begin a session that is not there yet, if one is meant."""
    if session is not None and not tx.has_session(session):
        tx.add_session(session)


def legal_scope(scope: str, field: str) -> str:
    """A scope as it is kept: parts trimmed, any language; what makes no path is refused."""
    legal_text(scope, field, 4 * _LEVELS * (_PART + 1) * 4)
    parts = [part.strip() for part in scope.strip().split("/")]
    if len(parts) > 1 and parts[-1] == "":
        parts.pop()  # a slash at the end says nothing
    for part in parts:
        if not part:
            raise Invalid(f"{field} {scope!r} has an empty part", field=field, hint=_HINT)
        if part in (".", ".."):
            raise Invalid(f"{field} {scope!r} has a part {part!r}, which leads nowhere", field=field, hint=_HINT)
        if len(part) > _PART:
            raise Invalid(f"{field} has a part of {len(part)} characters, over {_PART}", field=field, hint=_HINT)
        if any(c < " " or c == "\x7f" for c in part):
            raise Invalid(f"{field} {scope!r} has a control character in it", field=field, hint=_HINT)
    if len(parts) > _LEVELS:
        raise Invalid(f"{field} {scope!r} has {len(parts)} levels, over {_LEVELS}", field=field, hint=_HINT)
    return "/".join(parts)


def legal_session(session: str) -> str:
    """The id of a session as it is kept: one part of a scope."""
    name = session.strip()
    if not name or name in (".", "..") or "/" in name or len(name) > _PART:
        why = "is empty" if not name else "has a slash in it" if "/" in name else "cannot be a name"
        if len(name) > _PART:
            why = f"has {len(name)} characters, over {_PART}"
        raise Invalid(
            f"session_id {name!r:.120} {why}", field="session_id", hint="Give a short name, such as sprint-12."
        )
    legal_scope(f"{SESSIONS}/{name}", "session_id")
    return name


def shown(scope: str | None) -> str:
    """The path of a memory's scope."""
    return DEFAULT_SCOPE if scope is None else scope


def filed(scope: str) -> JsonObject:
    """What a record has that is filed under a path: its scope, and the session that scope belongs to."""
    return {"scope": None if scope == DEFAULT_SCOPE else scope, "session": session_of(scope)}


def session_of(scope: str | None) -> str | None:
    """The session whose memories live in a scope."""
    top, _, rest = (scope or "").partition("/")
    return rest.split("/")[0] or None if top == SESSIONS else None


def within(scope: str, parent: str) -> bool:
    """Whether a path is another one or below it: a/b is not above a/bc."""
    return scope == parent or scope.startswith(parent + "/")


def renamed(scope: str, old: str, new: str) -> str:
    """What a path is when the scope ``old``, which it is in, is called ``new``."""
    return new + scope[len(old) :]


class Scope(Struct, frozen=True, kw_only=True):
    """One scope of the tree: how many memories are in it, in it and below, and what is right below it."""

    path: str
    memories: int
    total: int
    children: tuple[str, ...]

    @property
    def depth(self) -> int:
        """How many parts its path has."""
        return self.path.count("/") + 1


def tree(counts: Iterable[tuple[str | None, int]], parent: str | None = None) -> list[Scope]:
    """Every scope with memories in it or below it, in the order of their paths; with a parent, those within it."""
    own: dict[str, int] = {}
    total: dict[str, int] = {}
    below: dict[str, set[str]] = {}
    for scope, count in counts:
        path = shown(scope)
        own[path] = own.get(path, 0) + count
        child = None
        while True:
            total[path] = total.get(path, 0) + count
            children = below.setdefault(path, set())
            if child is not None:
                children.add(child)
            if "/" not in path:
                break
            child, path = path, path.rpartition("/")[0]
    return [
        Scope(path=path, memories=own.get(path, 0), total=total[path], children=tuple(sorted(below[path])))
        for path in sorted(total, key=lambda path: path.split("/"))
        if parent is None or within(path, parent)
    ]
