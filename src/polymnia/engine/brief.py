"""A brief: what an agent should know before it starts, from the newest memories of each kind that matters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from polymnia.engine.batches import GUESSED, TURN, newer_of
from polymnia.engine.content import CONTENT, KIND
from polymnia.engine.knowledge import KnowledgeVerbs
from polymnia.engine.known_conflicts import MOST, Statement, note, unsettled
from polymnia.engine.ports import BACKGROUND
from polymnia.engine.scopes import Scope, tree
from polymnia.models import Change, Record

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot

SECTIONS = ("instruction", "preference", "decision", "question", "plan")
"""The kinds of memories a brief is made of, most binding first."""
_UNSORTED = frozenset((KIND, CONTENT, "note"))  # kinds that say nothing about what a memory is
_SORTED_OUT = frozenset((*SECTIONS, *_UNSORTED, "fact", "other", TURN, "message"))
_EACH = 8
_READ = (64, 1_000)  # newest memories of a kind that are read; more where most have a kind that was guessed
_GUESSED, _SURE = 200, 0.7  # newest memories whose kind is guessed, and how sure a guess must be
_ENTITY_KINDS = 6
_SCOPES = 12
_LATEST = 5  # changes among which is one that somebody made


class EntityKind(Struct, frozen=True):
    """A kind of entities: how many there are, and the newest of them."""

    kind: str
    count: int
    newest: list[Record]


class Brief(Struct, frozen=True, kw_only=True):
    """What a project holds, in short.

    ``sections`` has the newest memories that were given one of the ``SECTIONS`` as their kind (of the kinds in
    ``older`` there are others), ``guessed`` those whose kind only a model has guessed: whatever reads like an
    instruction need not be one. ``conflicts`` are pairs of
    memories that were found to contradict each other and were not settled since (``more_conflicts``: there are others),
    ``newest`` other memories.
    ``relations`` counts those by similarity as well.
    """

    memories: int
    relations: int
    sections: dict[str, list[Record]]
    older: frozenset[str]
    guessed: dict[str, list[Record]]
    entities: list[EntityKind]
    scopes: list[Scope]
    conflicts: list[tuple[Record, Record]]
    more_conflicts: bool
    newest: list[Record]
    last: Change | None


class BriefVerbs(KnowledgeVerbs):
    """Say what an agent should know at the start."""

    def brief(self, *, guess: bool = True) -> Brief:
        """What the project holds. The cost depends on the number of kinds and scopes, hardly on that of memories.

        With ``guess``, the newest memories of no telling kind are sorted by what their texts are likely to be.
        """
        with self.store.read(self.project) as snapshot:
            kinds = snapshot.kinds()
            sections: dict[str, list[Record]] = {}
            guessed: dict[str, list[Record]] = {}
            older: set[str] = set()
            for one in SECTIONS:
                if one in kinds:
                    read, sections[one], guesses = _newest(snapshot, one)
                    guessed[one] = guesses[:_EACH]
                    if read < kinds[one]:
                        older.add(one)
            entities = [
                EntityKind(kind, count, _current(snapshot, snapshot.newest(_EACH, [kind])))
                for kind, count in kinds.items()
                if kind not in _SORTED_OUT
            ][:_ENTITY_KINDS]
            unsorted = [kind for kind in kinds if kind in _UNSORTED or kind == "fact"]
            newest = _current(snapshot, snapshot.newest(_GUESSED if guess else _EACH * 2, unsorted)) if unsorted else []
            scopes = [one for one in tree(snapshot.scopes()) if one.depth == 1 or one.memories]
            if len(scopes) > _SCOPES:  # the upper ones say more than the first by name
                largest = sorted(scopes, key=lambda one: (one.depth, -one.total))[:_SCOPES]
                scopes = sorted(largest, key=lambda one: one.path)
            conflicts = list(islice(unsettled(snapshot), MOST + 1))
            last = next((one for one in snapshot.changes(_LATEST) if one.action != BACKGROUND), None)
            relations = snapshot.count()[1]
        if guess and newest:
            newest = self._sort(newest, guessed)
        newest = newest[:_EACH]
        return Brief(
            memories=sum(kinds.values()), relations=relations, sections=sections, older=frozenset(older),
            guessed=guessed, entities=entities, scopes=scopes, conflicts=conflicts[:MOST],
            more_conflicts=len(conflicts) > MOST, newest=newest, last=last,
        )  # fmt: skip

    def _sort(self, records: list[Record], sections: dict[str, list[Record]]) -> list[Record]:
        """Put memories into the sections they are likely to belong to, where there is room; the others are returned."""
        rest = []
        for record, guesses in zip(records, self.kinds_of(records), strict=True):
            first = guesses[0] if guesses and record.kind != "fact" else None
            section = sections.setdefault(first.kind, []) if first is not None and first.kind in SECTIONS else None
            if first is None or section is None or first.probability < _SURE or len(section) >= _EACH:
                rest.append(record)
            else:
                section.append(record)
        return rest

    def note(self, key: str, value: str | None) -> None:
        """Keep a small value about the project beside its memories; None deletes it."""
        self._write("note", lambda tx: tx.note(key, value))

    def noted_conflicts(self, among: Collection[str] | None = None) -> list[tuple[Record, Record]]:
        """The pairs of memories that were found to contradict each other while storing, and not settled since.

        With ``among``, those that one of these ids is part of.
        """
        with self.store.read(self.project) as snapshot:
            return list(islice(unsettled(snapshot, among), MOST))

    def note_conflicts(self, pairs: Iterable[tuple[Statement, Statement]]) -> None:
        """Note that memories contradict each other, until one is superseded or says something else."""
        found = list(pairs)
        if found:
            self._write("note", lambda tx: note(tx, found))


def _newest(snapshot: Snapshot, kind: str) -> tuple[int, list[Record], list[Record]]:
    """The newest memories that were given a kind, and those of which it was guessed, with how many were read.

    Guesses are made of every conversation; they do not push what was given out of sight.
    """
    for most in _READ:
        records = snapshot.newest(most, [kind])
        current = _current(snapshot, records)
        given = [one for one in current if GUESSED not in one.metadata]
        if len(given) >= _EACH or len(records) < most:
            break
    return len(records), given, [one for one in current if GUESSED in one.metadata]


def _current(snapshot: Snapshot, records: Sequence[Record]) -> list[Record]:
    replaced = newer_of(snapshot, records)
    return [one for one in records if one.uid not in replaced]
