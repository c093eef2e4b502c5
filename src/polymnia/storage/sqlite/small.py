"""A small project, held in memory until it changes.

Most memories are small, and most calls read. A project of a few hundred texts that is read twice without a change in
between is kept as values; whether it still is what it was takes one look at its time of change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from polymnia.models import Change, Event, Record, Relation, fold
from polymnia.storage.sqlite.snapshot import SqliteSnapshot

if TYPE_CHECKING:
    from polymnia.storage.sqlite.store import SqliteStore

__all__ = ["Shelf", "SmallProject"]

T = TypeVar("T")

MOST_TEXTS = 256
_MOST_RELATIONS = 1000


class SmallProject:
    """One consistent view of a small project. What it does not hold, it asks the store for."""

    def __init__(self, store: SqliteStore, project: str, snapshot: SqliteSnapshot) -> None:
        self._store = store
        self._project = project
        self._records = list(snapshot.records())
        self._relations = list(snapshot.relations())
        self._by_id = {record.id: record for record in self._records}
        self._ids = {record.name: record.id for record in self._records}
        self._texts = [
            (record.id, "\0".join(map(fold, (record.name, record.kind, *record.observations))))
            for record in self._records
        ]
        self._linked: dict[str, list[Relation]] = {}
        for relation in self._relations:
            for end in {relation.source, relation.target}:
                self._linked.setdefault(end, []).append(relation)

    @classmethod
    def of(cls, store: SqliteStore, project: str, snapshot: SqliteSnapshot) -> SmallProject | None:
        """The project as values, if it is small."""
        if snapshot.size() > MOST_TEXTS or snapshot.count()[1] > _MOST_RELATIONS:
            return None
        return cls(store, project, snapshot)

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those of the names that exist."""
        return {name: self._ids[name] for name in names if name in self._ids}

    def load(self, ids: Sequence[int]) -> list[Record]:
        """The records of these ids in the order of their making."""
        return [self._by_id[id] for id in sorted(ids) if id in self._by_id]

    def records(self, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Every record above an id, in the order of their making."""
        return iter([record for record in self._records if record.id > after][:limit])

    def newest(self, limit: int) -> list[Record]:
        """The records made last, newest first."""
        return self._records[: -limit - 1 : -1]

    def relations(self) -> Iterator[Relation]:
        """Every relation, in the order of their making."""
        return iter(self._relations)

    def relations_of(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start or end at one of the names, each once, in the order of their making."""
        found = {relation.id: relation for name in names for relation in self._linked.get(name, ())}
        return [found[id] for id in sorted(found)]

    def relations_from(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start at one of the names, in the order of their making."""
        wanted = set(names)
        return [relation for relation in self._relations if relation.source in wanted]

    def loose_relations(self) -> list[Relation]:
        """The relations whose source names nothing."""
        return [relation for relation in self._relations if relation.source not in self._ids]

    def find_relations(self, ends: Sequence[tuple[str, str, str]]) -> list[Relation]:
        """Every stored relation with one of these (source, target, type)."""
        return [relation for one in ends for relation in self._linked.get(one[0], ()) if relation.ends == one]

    def containing(self, forms: Sequence[str]) -> list[int]:
        """Ids of the records that contain one of the folded forms in name, kind or an observation."""
        return [id for id, text in self._texts if any(form in text for form in forms)]

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        """Whether about ``limit`` or more texts hold one of the folded forms."""
        return False

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        """Names that start with the prefix, in alphabetical order."""
        return sorted(name for name in self._ids if name.startswith(prefix))[:limit]

    def size(self) -> int:
        """About how many texts there are, at least 1."""
        return max(1, sum(1 + len(record.observations) for record in self._records))

    def count(self) -> tuple[int, int]:
        """How many records and relations there are."""
        return len(self._records), len(self._relations)

    # ── what only the store knows ─────────────────────────────────────────────────────────────────────

    def _ask(self, question: Callable[[SqliteSnapshot], T]) -> T:
        with self._store.read_file(self._project) as snapshot:
            return question(snapshot)

    def ids_ever(self, name: str) -> list[int]:
        """The ids of all records that bear the name or bore it when they were deleted."""
        return self._ask(lambda snapshot: snapshot.ids_ever(name))

    def look_alikes(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs (given name, stored name) that differ but could be taken for one another."""
        return self._ask(lambda snapshot: snapshot.look_alikes(names))

    def noted(self, key: str) -> str | None:
        """What was kept under the key."""
        return self._ask(lambda snapshot: snapshot.noted(key))

    def changes(self, limit: int) -> list[Change]:
        """The newest changes of this project, newest first."""
        return self._ask(lambda snapshot: snapshot.changes(limit))

    def change(self, number: int) -> Change | None:
        """One change of this project by its number."""
        return self._ask(lambda snapshot: snapshot.change(number))

    def history(self, name: str) -> list[Event]:
        """Everything that happened to memories of this name, oldest first."""
        return self._ask(lambda snapshot: snapshot.history(name))

    def as_of(self, at: int, name: str | None = None) -> tuple[list[Record], list[Relation]]:
        """The project (or the one name with its relations) as it was at a time."""
        return self._ask(lambda snapshot: snapshot.as_of(at, name))


class Shelf:
    """The small projects a store holds in memory, each with the time of change it stands for."""

    def __init__(self, store: SqliteStore) -> None:
        self._store = store
        self._held: dict[str, tuple[int, SmallProject]] = {}
        self._seen: dict[str, int] = {}

    def clear(self) -> None:
        """Forget everything: another file may be open next."""
        self._held.clear()
        self._seen.clear()

    def knows(self, project: str) -> bool:
        """Whether it is worth asking for the time of the last change."""
        return project in self._held

    def take(self, project: str, touched: int | None) -> SmallProject | None:
        """The project, if it has not changed since it was put here."""
        held = self._held.get(project)
        if held is not None and held[0] == touched:
            return held[1]
        self._held.pop(project, None)
        return None

    def see(self, project: str, snapshot: SqliteSnapshot) -> None:
        """A project was opened. The second time without a change in between, it is put here if it is small."""
        touched = snapshot.touched
        if self._seen.get(project) != touched:
            if len(self._seen) > 100:
                self.clear()
            self._seen[project] = touched
        elif snapshot.size() <= MOST_TEXTS and (small := SmallProject.of(self._store, project, snapshot)):
            self._held[project] = (touched, small)
