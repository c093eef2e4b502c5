"""A small project, held in memory until it changes.

Most memories are small, and most calls read. A project of a few hundred texts that is read twice without a change in
between is kept as values; whether it still is what it was takes one look at its time of change.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress

import apsw

from polymnia.models import Record, Relation, fold
from polymnia.storage.sqlite.project import TOUCHED
from polymnia.storage.sqlite.snapshot import SqliteSnapshot

MOST_TEXTS = 256
_MOST_RELATIONS = 1000


class _Values:
    """What a small project holds, and the time of change it stands for."""

    def __init__(self, snapshot: SqliteSnapshot) -> None:
        self.touched = snapshot.stamp
        self.records = list(snapshot.records())
        self.relations = list(snapshot.relations())
        self.by_id = {record.id: record for record in self.records}
        self.ids = {record.name: record.id for record in self.records}
        self.texts = [
            (record.id, "\0".join(map(fold, (record.name, record.kind, *record.observations))))
            for record in self.records
        ]
        self.linked: dict[str, list[Relation]] = {}
        for relation in self.relations:
            for end in {relation.source, relation.target}:
                self.linked.setdefault(end, []).append(relation)


class SmallProject(SqliteSnapshot):
    """One consistent view of a small project. What it does not hold, it reads from the file, at the same moment."""

    def __init__(self, connection: apsw.Connection, project: str, row: tuple[int, ...], values: _Values) -> None:
        super().__init__(connection, project, row)
        self._values = values

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those of the names that exist."""
        ids = self._values.ids
        return {name: ids[name] for name in names if name in ids}

    def load(self, ids: Sequence[int]) -> list[Record]:
        """The records of these ids in the order of their making."""
        by_id = self._values.by_id
        return [by_id[id] for id in sorted(ids) if id in by_id]

    def records(self, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Every record above an id, in the order of their making."""
        return iter([record for record in self._values.records if record.id > after][:limit])

    def newest(self, limit: int) -> list[Record]:
        """The records made last, newest first."""
        return self._values.records[: -limit - 1 : -1]

    def relations(self) -> Iterator[Relation]:
        """Every relation, in the order of their making."""
        return iter(self._values.relations)

    def relations_of(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start or end at one of the names, each once, in the order of their making."""
        found = {relation.id: relation for name in names for relation in self._values.linked.get(name, ())}
        return [found[id] for id in sorted(found)]

    def relations_from(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start at one of the names, in the order of their making."""
        wanted = set(names)
        return [relation for relation in self._values.relations if relation.source in wanted]

    def loose_relations(self) -> list[Relation]:
        """The relations whose source names nothing."""
        return [relation for relation in self._values.relations if relation.source not in self._values.ids]

    def find_relations(self, ends: Sequence[tuple[str, str, str]]) -> list[Relation]:
        """Every stored relation with one of these (source, target, type)."""
        linked = self._values.linked
        return [relation for one in ends for relation in linked.get(one[0], ()) if relation.ends == one]

    def containing(self, forms: Sequence[str]) -> list[int]:
        """Ids of the records that contain one of the folded forms in name, kind or an observation."""
        return [id for id, text in self._values.texts if any(form in text for form in forms)]

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        """Whether about ``limit`` or more texts hold one of the folded forms."""
        return False

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        """Names that start with the prefix, in alphabetical order."""
        return sorted(name for name in self._values.ids if name.startswith(prefix))[:limit]

    def count(self) -> tuple[int, int]:
        """How many records and relations there are."""
        return len(self._values.records), len(self._values.relations)


class SmallProjectCache:
    """The small projects a store holds in memory."""

    def __init__(self) -> None:
        self._held: dict[str, _Values] = {}
        self._seen: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._held)

    def clear(self) -> None:
        """Forget everything: another file may be open next."""
        self._held.clear()
        self._seen.clear()

    def open(self, connection: apsw.Connection, project: str, row: tuple[int, ...]) -> SqliteSnapshot:
        """A project whose row was read: from memory if it is held and has not changed.

        The second time without a change in between, it is put here if it is small.
        """
        touched = row[TOUCHED]
        held = self._held.get(project)
        if held is not None:
            if held.touched == touched:
                return SmallProject(connection, project, row, held)
            self._held.pop(project, None)
        snapshot = SqliteSnapshot(connection, project, row)
        if self._seen.get(project) != touched:
            if len(self._seen) > 100:
                self.clear()
            self._seen[project] = touched
        elif snapshot.size() <= MOST_TEXTS and snapshot.count()[1] <= _MOST_RELATIONS:
            # One row that cannot be read must not take all others with it: they are read from the file.
            with suppress(ValueError):
                self._held[project] = _Values(snapshot)
        return snapshot
