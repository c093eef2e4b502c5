"""A seeded walk: random changes of every kind, with the state after each of them kept.

Every observation is a text of its own, so that a text tells which observation it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

from polymnia.errors import Conflict
from polymnia.models import Change

from .project import Project, State, draft

__all__ = ["Walk"]

_NAMES = tuple("abcdefgh")
_TYPES = ("knows", "part of")


class Walk:
    """Changes a project at random. ``states[i]`` is how it was after ``changes[i]``; before all there was nothing."""

    def __init__(self, project: Project, seed: str) -> None:
        self.project = project
        self.random = Random(seed)
        self.changes: list[Change] = []
        self.states: list[State] = []
        self.conflicts = 0
        self._texts = 0
        self._steps: tuple[tuple[Callable[[], object], int], ...] = (
            (self._create, 5),
            (self._observe, 5),
            (self._unobserve, 3),
            (self._replace, 3),
            (self._mark, 1),
            (self._revise, 3),
            (self._session, 1),
            (self._relate, 5),
            (self._unrelate, 2),
            (self._delete, 3),
            (self._delete_alone, 1),
            (self._several, 3),
            (self._undo_newest, 2),
            (self._undo_any, 3),
        )

    @property
    def now(self) -> State:
        """How the project is."""
        return self.states[-1] if self.states else State((), ())

    def before(self, index: int) -> State:
        """How the project was before a change."""
        return self.states[index - 1] if index else State((), ())

    def run(self, count: int) -> None:
        """Go on until there are that many changes."""
        steps, weights = zip(*self._steps, strict=True)
        while len(self.changes) < count:
            (step,) = self.random.choices(steps, weights)
            step()
            self.look()

    def look(self) -> None:
        """Keep the state if there is a new change."""
        if self.project.store.stamp(self.project.name) == (self.changes[-1].at if self.changes else 0):
            return
        last = self.project.last()
        if not self.changes or last.id != self.changes[-1].id:
            self.changes.append(last)
            self.states.append(self.project.state())
            scopes = Counter(record.scope for record in self.now.records)
            assert dict(self.project.see(lambda snapshot: snapshot.scopes())) == scopes

    def _text(self) -> str:
        self._texts += 1
        return f"text {self._texts}"

    def _new_texts(self) -> list[str]:
        return [self._text() for _ in range(self.random.randint(0, 3))]

    def _there(self) -> str | None:
        records = self.now.records
        return self.random.choice(records).name if records else None

    def _create(self) -> None:
        there = {record.name for record in self.now.records}
        free = [name for name in _NAMES if name not in there]
        self.random.shuffle(free)
        if free:
            self.project.create(*(draft(name, *self._new_texts()) for name in free[: self.random.randint(1, 3)]))

    def _observe(self) -> None:
        if name := self._there():
            self.project.observe(name, self._text(), *self._new_texts())

    def _unobserve(self) -> None:
        held = [record for record in self.now.records if record.observations]
        if held:
            record = self.random.choice(held)
            texts = self.random.sample(record.observations, self.random.randint(1, len(record.observations)))
            self.project.unobserve(record.name, *texts)

    def _replace(self) -> None:
        if name := self._there():
            kind, key = self.random.choice(("thing", "other", "third")), self.random.choice((None, 1, 2))
            self.project.replace(name, *self._new_texts(), kind=kind, extra={"key": key} if key else None)

    def _mark(self) -> None:
        if name := self._there():
            self.project.mark(name, key=self.random.randint(1, 9))

    def _revise(self) -> None:
        if name := self._there():
            scope, tag = self.random.choice((None, "a", "a/b", "a/bc")), self.random.choice(("", "x", "y"))
            with self.project.changing("revise") as tx:
                tx.revise(tx.ids([name])[name], {"scope": scope, "tags": (tag,) if tag else ()})

    def _session(self) -> None:
        name = self.random.choice(("monday", "tuesday"))
        with self.project.changing("session") as tx:
            if tx.has_session(name):
                tx.remove_sessions([name])
            else:
                tx.add_session(name)

    def _relate(self) -> None:
        source, target = self.random.choice(_NAMES), self.random.choice(_NAMES)
        self.project.relate(source, self.random.choice(_TYPES), target)

    def _unrelate(self) -> None:
        if self.now.relations:
            source, target, type = self.random.choice(self.now.relations).ends
            self.project.unrelate(source, type, target)

    def _delete(self) -> None:
        names = [record.name for record in self.now.records]
        if names:
            self.project.delete(*self.random.sample(names, min(len(names), self.random.randint(1, 2))))

    def _delete_alone(self) -> None:
        """Delete a record and leave its relations."""
        if name := self._there():
            with self.project.changing("delete") as tx:
                tx.remove_records([tx.ids([name])[name]])

    def _several(self) -> None:
        """Several primitives in one change, some of them on the same record."""
        name = self._there()
        if name is None:
            return
        with self.project.changing("several") as tx:
            id = tx.ids([name])[name]
            tx.add_observations([(id, [self._text(), self._text()])])
            tx.replace_record(id, draft(name, self._text(), kind="between"))
            tx.set_extra(id, {"key": self.random.randint(1, 9)})
            last = self._text()
            tx.add_observations([(id, [self._text(), last])])
            tx.remove_observations(id, [last])
            tx.add_relations([(name, name, "several", {})])
            if self.random.random() < 0.3:
                tx.remove_records([id])
                tx.add_records([draft(name, self._text(), kind="after")])

    def _undo_newest(self) -> None:
        standing = [c for c in self.project.see(lambda snapshot: snapshot.changes(50)) if not c.undoes]
        if standing:
            self._undo(None)

    def _undo_any(self) -> None:
        if self.changes:
            self._undo(self.random.choice(self.changes[-25:]).id)

    def _undo(self, number: int | None) -> None:
        try:
            self.project.undo(number)
        except Conflict:
            self.conflicts += 1
            assert self.project.state() == self.now
