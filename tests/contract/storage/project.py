"""One project of a store under test: each verb is one change, made of the primitives of the ports alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from polymnia.engine.ports import Snapshot, Store, Transaction
from polymnia.models import Change, EntityDraft, Record, Relation

__all__ = ["Project", "State", "draft", "plain", "state"]

T = TypeVar("T")


@dataclass(frozen=True)
class State:
    """Everything a project shows, in its order."""

    records: tuple[Record, ...]
    relations: tuple[Relation, ...]


def state(snapshot: Snapshot) -> State:
    """Everything the snapshot shows."""
    return State(tuple(snapshot.records()), tuple(snapshot.relations()))


def plain(state: State) -> tuple[Any, ...]:
    """The state without what moves with every change, undo included: versions and times of update."""
    return (
        [(r.id, r.uid, r.name, r.kind, r.observations, r.extra, r.created, r.scope, r.tags) for r in state.records],
        list(state.relations),
    )


def draft(
    name: str, *observations: str, kind: str = "thing", extra: dict[str, Any] | None = None, **head: Any
) -> EntityDraft:
    """What a caller gives to make a record."""
    return EntityDraft(name, kind, observations, extra or {}, **head)


class Project:
    """A project by its name; ``store`` may be shared with others."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name

    @contextmanager
    def changing(self, action: str = "change", who: str = "ann") -> Iterator[Transaction]:
        """One change of several primitives."""
        with self.store.write(self.name, who, action) as tx:
            yield tx

    def see(self, look: Callable[[Snapshot], T]) -> T:
        """What a look at the project answers."""
        with self.store.read(self.name) as snapshot:
            return look(snapshot)

    def state(self) -> State:
        return self.see(state)

    def names(self) -> list[str]:
        return [record.name for record in self.state().records]

    def get(self, name: str) -> Record:
        (record,) = [record for record in self.state().records if record.name == name]
        return record

    def id(self, name: str) -> int:
        return self.see(lambda snapshot: snapshot.ids([name]))[name]

    def last(self) -> Change:
        """The newest change."""
        (change,) = self.see(lambda snapshot: snapshot.changes(1))
        return change

    def finds(self, *forms: str) -> list[str]:
        """Names of the records that hold one of the folded forms."""
        return self.see(lambda snapshot: [record.name for record in snapshot.load(snapshot.containing(forms))])

    # Each of these is one change and answers its number.

    def create(self, *drafts: EntityDraft) -> int:
        with self.changing("create") as tx:
            tx.add_records(drafts)
        return self.last().id

    def observe(self, name: str, *texts: str) -> int:
        with self.changing("observe") as tx:
            tx.add_observations([(tx.ids([name])[name], texts)])
        return self.last().id

    def unobserve(self, name: str, *texts: str) -> int:
        with self.changing("unobserve") as tx:
            tx.remove_observations(tx.ids([name])[name], texts)
        return self.last().id

    def replace(
        self, name: str, *texts: str, kind: str = "thing", extra: dict[str, Any] | None = None, **head: Any
    ) -> int:
        with self.changing("replace") as tx:
            tx.replace_record(tx.ids([name])[name], draft(name, *texts, kind=kind, extra=extra, **head))
        return self.last().id

    def mark(self, name: str, **extra: Any) -> int:
        """Replace the foreign keys of a record."""
        with self.changing("mark") as tx:
            tx.set_extra(tx.ids([name])[name], extra)
        return self.last().id

    def relate(self, source: str, type: str, target: str, **extra: Any) -> int:
        with self.changing("relate") as tx:
            tx.add_relations([(source, target, type, extra)])
        return self.last().id

    def unrelate(self, source: str, type: str, target: str) -> int:
        with self.changing("unrelate") as tx:
            tx.remove_relations([relation.id for relation in tx.find_relations([(source, target, type)])])
        return self.last().id

    def delete(self, *names: str) -> int:
        """Delete records with every relation they take part in."""
        with self.changing("delete") as tx:
            tx.remove_relations([relation.id for relation in tx.relations_of(names)])
            tx.remove_records(list(tx.ids(names).values()))
        return self.last().id

    def undo(self, change: int | None = None) -> int:
        with self.changing("undo") as tx:
            tx.undo(change)
        return self.last().id

    def purge(self, *names: str) -> int:
        with self.changing("purge") as tx:
            tx.purge(list(tx.ids(names).values()))
        return self.last().id
