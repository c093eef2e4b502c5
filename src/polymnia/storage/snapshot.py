"""Reads one project, from its store or, if it is small and unchanged, from a cache."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from polymnia.models import (
    SHORTEST_ID,
    Change,
    Event,
    Record,
    Relation,
    RelationTouch,
    Seen,
    Session,
    Touch,
    fold,
    normal,
    skeleton,
)
from polymnia.storage import rows
from polymnia.storage.project import TOUCHED, SearchReads
from polymnia.storage.statements import StatementRunner

_PAGE = 1000
FEW = 16
"""Up to so many ids or names have statements of their own."""


class ProjectSnapshot(SearchReads):
    """A consistent view of one project: its memories, relations and history."""

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        if len(names) == 1:
            row = self._run("id_of", (self._project, names[0])).fetchone()
            return {} if row is None else {names[0]: row[0]}
        return dict(self._run("ids_of", (self._project, self._run.array(names))))

    def ids_ever(self, name: str) -> list[int]:
        deleted = self._run("deleted_named", (self._base, self._top, name))
        return sorted({*self.ids([name]).values(), *(id for (id,) in deleted)})

    def deleted_starting(self, prefix: str, limit: int) -> list[str]:
        bounds = (self._base, self._top, prefix, prefix + "\U0010ffff", limit)
        return [name for (name,) in self._run("deleted_names_starting", bounds)]

    def deleted_uid(self, uid: str) -> list[int]:
        return [id for (id,) in self._run("deleted_with_uid", (self._base, self._top, uid))]

    def ids_of(self, uids: Sequence[str]) -> dict[str, int]:
        return dict(self._run("ids_of_uids", (self._project, self._run.array(uids))))

    def uids(self, ids: Sequence[int]) -> dict[int, str]:
        mine = [id for id in ids if self._base < id <= self._top]
        return dict(self._run("uids_of_ids", (self._project, self._run.array(mine))))

    def load(self, ids: Sequence[int]) -> list[Record]:
        loaded: list[Record] = []
        ordered = sorted({id for id in ids if self._base < id <= self._top})
        if not ordered:
            return loaded
        if len(ordered) <= FEW:
            return self._load_few(ordered)
        for start in range(0, len(ordered), _PAGE):
            page = (self._project, self._run.array(ordered[start : start + _PAGE]))
            loaded += self._with_texts(self._run("memories", page).fetchall())
        return loaded

    def _load_few(self, ids: list[int]) -> list[Record]:
        """The memories with these ids, which are sorted."""
        texts: dict[int, list[str]] = {id: [] for id in ids}
        for _, memory, text in sorted(self._run.few("texts_of_few", self._project, ids)):
            texts[memory].append(text)
        return [rows.record(row, texts[row[0]]) for row in sorted(self._run.few("few_memories", self._project, ids))]

    def _with_texts(self, memories: list[Any]) -> list[Record]:
        texts: dict[int, list[str]] = {row[0]: [] for row in memories}
        for _, memory, text in sorted(self._run("texts_of_many", (self._project, self._run.array(texts)))):
            texts[memory].append(text)
        return [rows.record(row, texts[row[0]]) for row in memories]

    def records(self, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        after = max(after, self._base)
        while limit is None or limit > 0:
            size = _PAGE if limit is None else min(limit, _PAGE)
            page = self._run("memories_after", (after, self._top, size)).fetchall()
            if page:
                yield from self._with_texts(page)
                after = page[-1][0]
            if len(page) < size:
                return
            if limit is not None:
                limit -= size

    def newest(self, limit: int, kinds: Sequence[str] = ()) -> list[Record]:
        if not kinds:
            return self.page(0, limit)
        found = (self._run("newest_of_kind", (self._project, kind, limit)) for kind in kinds)
        ids = sorted((id for some in found for (id,) in some), reverse=True)[:limit]
        return self.load(ids)[::-1] if ids else []

    def kinds(self) -> dict[str, int]:
        return dict(self._run("kinds", (self._project,)))

    def page(self, skip: int, limit: int) -> list[Record]:
        ids = [id for (id,) in self._run("page", (self._base, self._top, limit, skip))]
        return self.load(ids)[::-1] if ids else []

    def around(self, id: int, reach: int) -> list[int]:
        before = self._run("ids_before", (self._base, id, reach)).fetchall()
        after = self._run("ids_after", (id, self._top, reach)).fetchall()
        return [near for (near,) in (*reversed(before), *after)]

    def scopes(self) -> list[tuple[str | None, int]]:
        found = self._run("scopes", (self._project,)).fetchall()
        if not found and self._texts:  # the counts are missing
            self.damage.add("counts of scopes")
            found = self._run("counted_scopes", (self._project,)).fetchall()
        return [(path or None, count) for path, count in found]

    def sessions(self) -> list[Session]:
        found = self._run("sessions", (self._project,))
        return [
            Session(name, min(began, created or began), updated or began, memories)
            for name, began, memories, created, updated in found
        ]

    def has_session(self, name: str) -> bool:
        return self._run("session", (self._project, name)).fetchone() is not None

    def strongest(self, names: Sequence[str], each: int) -> dict[str, list[Relation]]:
        found: dict[str, dict[int, Relation]] = {}
        for row in self._run("strongest", (self._project, self._run.array(names), each)):
            found.setdefault(row[0], {})[row[1]] = rows.relation(row[1:])
        return {name: sorted(many.values(), key=_weakness)[:each] for name, many in found.items()}

    def relations(self) -> Iterator[Relation]:
        return map(rows.relation, self._run("relations", (self._base, self._top, -1)))

    def relations_of(self, names: Sequence[str]) -> list[Relation]:
        # A relation with both ends among the names comes twice; sorting here is cheaper than a UNION.
        if not names:
            return []
        if len(names) <= FEW:
            found = {row[0]: row for row in self._run.few("relations_of", self._project, names)}
        else:
            many = (self._project, self._run.array(names))
            found = {row[0]: row for row in self._run("relations_of_many", many)}
        return [rows.relation(found[id]) for id in sorted(found)]

    def relations_from(self, names: Sequence[str]) -> list[Relation]:
        return list(map(rows.relation, self._run("relations_from", (self._project, self._run.array(names)))))

    def loose_relations(self) -> list[Relation]:
        return list(map(rows.relation, self._run("loose_relations", (self._project, self._base, self._top))))

    def find_relations(self, ends: Sequence[tuple[str, str, str]]) -> list[Relation]:
        return [rows.relation(row) for one in ends for row in self._run("same_relation", (self._project, *one))]

    def with_texts(self, texts: Sequence[str], last: int) -> dict[str, list[int]]:
        digests = self._run.array([rows.digest(text) for text in texts])
        requested, found = set(texts), dict[str, list[int]]()
        for memory, text in self._run("with_digests", (self._base, self._base + last, digests)):
            if text in requested:
                found.setdefault(text, []).append(memory)
        return found

    def same_text(self, text: str, scope: str | None) -> int | None:
        form = normal(text)
        found = self._run("same_text", (rows.digest(text), self._base, self._top, scope))
        return next((memory for memory, other in found if normal(other) == form), None)

    def containing(self, forms: Sequence[str]) -> list[int]:
        raise NotImplementedError  # each engine has its own index of substrings

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        raise NotImplementedError

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        found = self._run("names_starting", (self._project, prefix, self._run.above(prefix), limit))
        return [name for (name,) in found]

    def uids_starting(self, prefix: str, limit: int) -> list[str]:
        found = self._run("uids_starting", (self._project, prefix, self._run.above(prefix), limit))
        return [uid for (uid,) in found]

    def look_alikes(self, names: Sequence[str]) -> list[tuple[str, str]]:
        return [
            (name, other)
            for name in names
            for (other,) in self._run("same_look", (self._project, rows.skeleton_hash(name), name))
            if skeleton(other) == skeleton(name)
        ]

    def count(self) -> tuple[int, int]:
        row = self._run("count", (self._base, self._top)).fetchone()
        return (row[0], row[1]) if row else (0, 0)

    def noted(self, key: str) -> str | None:
        row = self._run("fact", (self._project, key)).fetchone()
        return row[0] if row else None

    def notes(self, start: str, end: str, limit: int) -> list[str]:
        return [key for (key,) in self._run("facts", (self._project, start, end, limit))]

    def changes(self, limit: int, before: int | None = None) -> list[Change]:
        from polymnia.storage.journal import change

        if before is None:
            rows = self._run("changes", (self._project, limit))
        else:
            rows = self._run("changes_before", (self._project, before, limit))
        return [change(self._run, self._project, row) for row in rows.fetchall()]

    def changes_since(self, at: int, limit: int) -> list[Change]:
        from itertools import takewhile

        from polymnia.storage.journal import change

        rows = takewhile(lambda row: row[1] > at, self._run("changes", (self._project, limit)).fetchall())
        return [change(self._run, self._project, row) for row in rows]

    def effects(self, change: int) -> list[Touch]:
        from polymnia.storage.journal import effects

        return effects(self._run, self._project, self._base, change)

    def relation_effects(self, change: int) -> list[RelationTouch]:
        from polymnia.storage.journal import relation_effects

        return relation_effects(self._run, self._project, self._base, change)

    def makers(self, ids: Sequence[int]) -> dict[int, Change]:
        from polymnia.storage.journal import change

        found = {id: self._run("change_that_made", (self._project, id - self._base)).fetchone() for id in ids}
        return {id: change(self._run, self._project, row) for id, row in found.items() if row is not None}

    def change(self, number: int) -> Change | None:
        from polymnia.storage.journal import change

        row = self._run("change", (self._project, number)).fetchone()
        return None if row is None else change(self._run, self._project, row)

    def history(self, name: str) -> list[Event]:
        from polymnia.storage.journal import history

        return history(self._run, self._project, name)

    def versions(self, id: int) -> list[tuple[Change, Record]]:
        from polymnia.storage.journal import versions

        return versions(self._run, self._project, id)

    def as_of(self, at: int, name: str | None = None) -> tuple[list[Record], list[Relation]]:
        from polymnia.storage.journal import as_of

        return as_of(self._run, self._project, at, name)

    def touches(self, start: int | None = None, end: int | None = None) -> list[Touch]:
        from polymnia.storage import journal

        return journal.touches(self._run, self._project, self._base, self._top, start, end)

    def seen(self, start: int | None = None, end: int | None = None) -> list[Seen]:
        from polymnia.storage import journal

        return journal.seen(self._run, self._base, self._top, start, end)


def _weakness(relation: Relation) -> tuple[float, int]:
    """The sort key of relations, strongest first; one without a strength was made by a person and counts as 1."""
    return (-1.0 if relation.strength is None else -relation.strength, relation.id)


MAX_TEXTS = 256
_MAX_RELATIONS = 1000


class _CachedProject:
    """The content of a small project as of a change."""

    def __init__(self, snapshot: ProjectSnapshot) -> None:
        self.touched = snapshot.stamp
        self.records = list(snapshot.records())
        self.relations = list(snapshot.relations())
        self.by_id = {record.id: record for record in self.records}
        self.ids = {record.name: record.id for record in self.records}
        self.texts = []  # ids, texts, and what only a long query is looked for in: an id that stands for a name
        for record in self.records:
            text = "\0".join(map(fold, (record.kind, *record.observations)))
            name = fold(record.name)
            self.texts.append(
                (record.id, text, name) if record.name == record.uid else (record.id, f"{name}\0{text}", "")
            )
        self.linked: dict[str, list[Relation]] = {}
        for relation in self.relations:
            for end in {relation.source, relation.target}:
                self.linked.setdefault(end, []).append(relation)


class SmallProject(ProjectSnapshot):
    """A consistent view of a small project; what is not cached is read from the store, as of the same moment."""

    def __init__(self, run: StatementRunner, project: str, row: tuple[int, ...], cached: _CachedProject) -> None:
        super().__init__(run, project, row)
        self._cached = cached

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        ids = self._cached.ids
        return {name: ids[name] for name in names if name in ids}

    def load(self, ids: Sequence[int]) -> list[Record]:
        by_id = self._cached.by_id
        return [by_id[id] for id in sorted(ids) if id in by_id]

    def records(self, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        return iter([record for record in self._cached.records if record.id > after][:limit])

    def newest(self, limit: int, kinds: Sequence[str] = ()) -> list[Record]:
        if not kinds:
            return self._cached.records[: -limit - 1 : -1]
        return [record for record in reversed(self._cached.records) if record.kind in kinds][:limit]

    def relations(self) -> Iterator[Relation]:
        return iter(self._cached.relations)

    def relations_of(self, names: Sequence[str]) -> list[Relation]:
        found = {relation.id: relation for name in names for relation in self._cached.linked.get(name, ())}
        return [found[id] for id in sorted(found)]

    def relations_from(self, names: Sequence[str]) -> list[Relation]:
        sources = set(names)
        return [relation for relation in self._cached.relations if relation.source in sources]

    def loose_relations(self) -> list[Relation]:
        return [relation for relation in self._cached.relations if relation.source not in self._cached.ids]

    def find_relations(self, ends: Sequence[tuple[str, str, str]]) -> list[Relation]:
        linked = self._cached.linked
        return [relation for one in ends for relation in linked.get(one[0], ()) if relation.ends == one]

    def containing(self, forms: Sequence[str]) -> list[int]:
        return [
            id
            for id, text, own in self._cached.texts
            if any(form in text or (len(form) >= SHORTEST_ID and form in own) for form in forms)
        ]

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        return False

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        return sorted(name for name in self._cached.ids if name.startswith(prefix))[:limit]

    def count(self) -> tuple[int, int]:
        return len(self._cached.records), len(self._cached.relations)


class SmallProjectCache:
    """The small projects a store has in memory."""

    def __init__(self, snapshot: type[ProjectSnapshot], small: type[SmallProject]) -> None:
        self._snapshot, self._small = snapshot, small
        self._cached: dict[str, _CachedProject] = {}
        self._seen: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._cached)

    def clear(self) -> None:
        """Drop everything: another store may be opened next."""
        self._cached.clear()
        self._seen.clear()

    def open(self, run: StatementRunner, project: str, row: tuple[int, ...]) -> ProjectSnapshot:
        """Open a project whose row was read: from memory if it is cached and unchanged.

        A small project is cached the second time it is opened without a change in between.
        """
        touched = row[TOUCHED]
        cached = self._cached.get(project)
        if cached is not None:
            if cached.touched == touched:
                return self._small(run, project, row, cached)
            self._cached.pop(project, None)
        snapshot = self._snapshot(run, project, row)
        if self._seen.get(project) != touched:
            if len(self._seen) > 100:
                self.clear()
            self._seen[project] = touched
        elif snapshot.size() <= MAX_TEXTS and snapshot.count()[1] <= _MAX_RELATIONS:
            # One unreadable row must not make all others unreadable: the project is then read row by row.
            with suppress(ValueError):
                self._cached[project] = _CachedProject(snapshot)
        return snapshot
