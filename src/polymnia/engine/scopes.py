"""Scopes: the paths memories are filed under, their tree, and sessions."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from polymnia.engine.content import Moved, find_ids, same_there
from polymnia.engine.project import Project, Step
from polymnia.errors import Invalid, NotFound, OverLimit
from polymnia.models import DEFAULT_SCOPE, Filters, JsonObject, Session, closest, legal_name, legal_text, new_id

if TYPE_CHECKING:
    from polymnia.engine.ports import Transaction
    from polymnia.models import Record

SESSIONS = "session"
"""The parent scope of all sessions."""

_LEVELS = 10
_PART = 100
_DAY = 86_400_000_000
_BATCH = 500
_HINT = f"Write it as parts with / between them, such as work/projects: at most {_LEVELS} parts of {_PART} characters."


def begin(tx: Transaction, session: str | None) -> None:
    """Create a session unless it exists or is None."""
    if session is not None and not tx.has_session(session):
        tx.add_session(session)


def legal_scope(scope: str, field: str) -> str:
    """The normalized path of a scope; raises Invalid if it is not a valid path."""
    legal_text(scope, field, 4 * _LEVELS * (_PART + 1) * 4)
    parts = [part.strip() for part in scope.strip().split("/")]
    if len(parts) > 1 and parts[-1] == "":
        parts.pop()  # a trailing slash is ignored
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


def legal_session(session: str, field: str = "session_id") -> str:
    """The normalized name of a session: one part of a scope."""
    name = session.strip()
    if not name or name in (".", "..") or "/" in name or len(name) > _PART:
        why = "is empty" if not name else "has a slash in it" if "/" in name else "cannot be a name"
        if len(name) > _PART:
            why = f"has {len(name)} characters, over {_PART}"
        raise Invalid(f"{field} {name!r:.120} {why}", field=field, hint="Give a short name, such as sprint-12.")
    legal_scope(f"{SESSIONS}/{name}", field)
    return name


def shown(scope: str | None) -> str:
    """The path of a scope as stored; None is the default scope."""
    return DEFAULT_SCOPE if scope is None else scope


def filed(scope: str) -> JsonObject:
    """The columns of a record filed under a path: its scope and session."""
    return {"scope": None if scope == DEFAULT_SCOPE else scope, "session": session_of(scope)}


def session_of(scope: str | None) -> str | None:
    """The session that a scope belongs to."""
    top, _, rest = (scope or "").partition("/")
    return rest.split("/")[0] or None if top == SESSIONS else None


def within(scope: str, parent: str) -> bool:
    """Whether a path equals another or is below it: a/b is not above a/bc."""
    return scope == parent or scope.startswith(parent + "/")


class Scope(Struct, frozen=True, kw_only=True):
    """One scope: the number of memories in it, the total including subscopes, and its direct children."""

    path: str
    memories: int
    total: int
    children: tuple[str, ...]

    @property
    def depth(self) -> int:
        """The number of parts of its path."""
        return self.path.count("/") + 1


def tree(counts: Iterable[tuple[str | None, int]], parent: str | None = None) -> list[Scope]:
    """Every scope with memories in it or below it, ordered by path; optionally only a parent and those below it."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    below: defaultdict[str, list[str]] = defaultdict(list)
    for scope, count in counts:
        path = shown(scope)
        own[path] += count
        while path:
            above = path.rpartition("/")[0]
            if path not in total:
                below[above].append(path)
            total[path] += count
            path = above
    return [
        Scope(path=path, memories=own[path], total=total[path], children=tuple(sorted(below[path])))
        for path in sorted(total, key=lambda path: path.split("/"))
        if parent is None or within(path, parent)
    ]


class Cleaned(Struct, frozen=True):
    """The removed sessions, and the number of their memories."""

    sessions: list[str]
    memories: int


class ScopeVerbs(Project):
    """Scopes, moving memories between them, and sessions."""

    def scopes(self, parent: str | None = None) -> list[Scope]:
        """Every scope with memories in it or below it, ordered by path; optionally only a parent and those below it."""
        top = None if parent is None else legal_scope(parent, "parent_scope")
        with self.store.read(self.project) as snapshot:
            return tree(snapshot.scopes(), top)

    def nearest_scope(self, scope: str) -> str | None:
        """The existing scope most similar to one that does not exist."""
        return closest(scope, [one.path for one in self.scopes()])

    def move(self, ids: Sequence[str], scope: str, *, step: Step | None = None) -> Moved:
        """Move memories to another scope; ids that do not exist are listed in the result."""
        target = legal_scope(scope, "target_scope")
        distinct = list(dict.fromkeys(ids))
        if len(distinct) > self.limits.batch:
            raise OverLimit("memory_ids", len(distinct), "items", self.limits.batch, "max_batch")
        for i, id in enumerate(distinct):
            legal_name(id, f"memory_ids[{i}]", self.limits)

        def move(tx: Transaction) -> Moved:
            moved, there, failed, same = [], [], [], dict[str, int]()
            found = find_ids(tx, distinct)
            records = {record.id: record for record in tx.load(list(found.values()))}
            for i, id in enumerate(distinct):
                if step is not None and i % 1000 == 0:
                    step(i, len(distinct))
                record = records.get(found.get(id, 0))
                if record is None:
                    failed.append((id, f"Memory with ID '{id}' not found"))
                elif _refile(tx, record, target, same):
                    moved.append((record.uid, record.path, target))
                else:
                    there.append(record.uid)
            return Moved(scope=target, moved=moved, there=there, failed=failed, same=_pairs(tx, same))

        return self._write("move", move, step, gives=Moved)

    def rename_scope(self, old: str, new: str, *, step: Step | None = None) -> Moved:
        """Rename a scope with all its subscopes."""
        source, target = legal_scope(old, "source_scope"), legal_scope(new, "target_scope")

        def rename(tx: Transaction) -> Moved:
            moved, same = [], dict[str, int]()
            merges = bool(tx.matching(Filters(scope=target, scopes_below=True), limit=1))
            ids = _matching(tx, Filters(scope=source, scopes_below=True))
            if not ids:
                near = closest(source, [one.path for one in tree(tx.scopes())])
                meant = f"Did you mean {near}? " if near else ""
                raise NotFound([source], "Scope", hint=f"{meant}`polymnia scopes` shows what there is.")
            for start in range(0, len(ids), _BATCH):
                if step is not None:
                    step(start, len(ids))
                for record in tx.load(ids[start : start + _BATCH]):
                    before = record.path
                    path = legal_scope(target + before[len(source) :], "target_scope")
                    if _refile(tx, record, path, same if merges else None):
                        moved.append((record.uid, before, path))
            return Moved(scope=target, moved=moved, same=_pairs(tx, same))

        return self._write("rename_scope", rename, step, gives=Moved)

    def begin_session(self, session: str | None = None) -> tuple[Session, bool]:
        """Create a session, by default with a generated name, or continue an existing one; its scope is session/<name>.

        Returns the session and whether it is new.
        """
        name = new_id() if session is None else legal_session(session)

        def create(tx: Transaction) -> tuple[Session, bool]:
            new = not tx.has_session(name)
            begin(tx, name)
            return next(one for one in tx.sessions() if one.name == name), new

        return self._write("begin_session", create, gives=tuple[Session, bool])

    def sessions(self) -> list[Session]:
        """Every session with the number of its memories, oldest first."""
        with self.store.read(self.project) as snapshot:
            return snapshot.sessions()

    def clean_sessions(
        self, days: float, *, only: Sequence[str] | None = None, now: int | None = None, step: Step | None = None
    ) -> Cleaned:
        """Remove sessions unused for so many days, with their memories. A single undo restores all."""
        border = (time.time_ns() // 1000 if now is None else now) - int(days * _DAY)

        def clean(tx: Transaction) -> Cleaned:
            unused = [one.name for one in tx.sessions() if one.used <= border and (only is None or one.name in only)]
            removed = 0
            for name in unused:
                ids = _matching(tx, Filters(session=name, only_session=True))
                for start in range(0, len(ids), _BATCH):
                    records = tx.load(ids[start : start + _BATCH])
                    tx.remove_relations([r.id for r in tx.relations_of([record.name for record in records])])
                    tx.remove_records([record.id for record in records])
                removed += len(ids)
            tx.remove_sessions(unused)
            return Cleaned(unused, removed)

        return self._write("clean_sessions", clean, step, gives=Cleaned)


def _matching(tx: Transaction, filters: Filters) -> list[int]:
    base = tx.numbers[0] << 32
    return [base + number for number in tx.matching(filters)]


def _refile(tx: Transaction, record: Record, path: str, same: dict[str, int] | None) -> bool:
    """Move a memory to a path; returns False if it was there. One there with the same text is added to ``same``."""
    target = filed(path)
    begin(tx, target["session"])
    other = None if same is None else same_there(tx, record, target["scope"])
    moved = tx.revise(record.id, target)
    if moved and same is not None and other is not None:
        same[record.uid] = other
    return moved


def _pairs(tx: Transaction, same: dict[str, int]) -> list[tuple[str, str]]:
    uids = tx.uids(list(set(same.values()))) if same else {}
    return [(uid, uids[other]) for uid, other in same.items() if other in uids]
