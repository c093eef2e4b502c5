"""What the rules of memory need from a store: the lower waist of the house.

An engine opens a :class:`Snapshot` to read and a :class:`Transaction` to change. Whatever a transaction
does is journalled by the store in the same atomic unit: the rules cannot forget to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from polymnia.models import Change, EntityDraft, Event, Record, Relation

__all__ = ["Clock", "Snapshot", "Store", "Transaction", "Turn"]


class Clock(Protocol):
    """Tells the time."""

    def __call__(self) -> int:
        """Now, in microseconds since 1970 in UTC."""


class Snapshot(Protocol):
    """One consistent view of one project, whatever others write meanwhile."""

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those of the names that exist."""

    def ids_ever(self, name: str) -> list[int]:
        """The ids of all records that bear the name or bore it when they were deleted."""

    def load(self, ids: Sequence[int]) -> list[Record]:
        """The records of these ids in the order of their making; ids that are gone are left out."""

    def records(self, after: int = 0, limit: int | None = None) -> Iterator[Record]:
        """Every record whose id is above ``after``, in the order of their making."""

    def newest(self, limit: int) -> list[Record]:
        """The records made last, newest first."""

    def relations(self) -> Iterator[Relation]:
        """Every relation, in the order of their making."""

    def relations_of(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start or end at one of the names, each once, in the order of their making."""

    def relations_from(self, names: Sequence[str]) -> list[Relation]:
        """The relations that start at one of the names, in the order of their making."""

    def loose_relations(self) -> list[Relation]:
        """The relations whose source names nothing."""

    def find_relations(self, ends: Sequence[tuple[str, str, str]]) -> list[Relation]:
        """Every stored relation with one of these (source, target, type)."""

    def containing(self, forms: Sequence[str]) -> list[int]:
        """Ids of the records whose name, kind or an observation contains one of the folded forms.

        Exact, and in ascending order.
        """

    def is_common(self, forms: Sequence[str], limit: int) -> bool:
        """Whether about ``limit`` or more texts hold one of the folded forms; cheap, may err a little."""

    def names_starting(self, prefix: str, limit: int) -> list[str]:
        """Names that start with the prefix (exact case), in alphabetical order."""

    def look_alikes(self, names: Sequence[str]) -> list[tuple[str, str]]:
        """Pairs (given name, stored name) that differ but could be taken for one another."""

    def size(self) -> int:
        """About how many texts there are, at least 1; costs nothing."""

    def count(self) -> tuple[int, int]:
        """How many records and relations there are."""

    def noted(self, key: str) -> str | None:
        """What was kept under the key."""

    def changes(self, limit: int) -> list[Change]:
        """The newest changes of this project, newest first."""

    def change(self, number: int) -> Change | None:
        """One change of this project by its number."""

    def history(self, name: str) -> list[Event]:
        """Everything that happened to memories of this name, oldest first."""

    def as_of(self, at: int, name: str | None = None) -> tuple[list[Record], list[Relation]]:
        """The project (or the one name with its relations) as it was at a time in microseconds."""


class Transaction(Snapshot, Protocol):
    """One atomic unit of change. What it reads includes what it has written."""

    @property
    def changed(self) -> bool:
        """Whether a memory or relation has been changed so far."""

    def add_records(self, drafts: Sequence[EntityDraft]) -> list[Record]:
        """Store new records. The names must be free."""

    def replace_record(self, id: int, draft: EntityDraft) -> Record:
        """Give a record a new kind and new observations; its earlier version stays in the journal."""

    def add_observations(self, additions: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Append observations to records."""

    def present_observations(self, id: int, texts: Sequence[str]) -> set[str]:
        """Which of the texts are already observations of the record."""

    def remove_observations(self, id: int, texts: Sequence[str]) -> int:
        """Remove every observation equal to one of the texts; answers how many went."""

    def remove_records(self, ids: Sequence[int]) -> None:
        """Remove records with their observations. Their relations are the caller's to remove."""

    def add_relations(self, relations: Iterable[tuple[str, str, str, dict[str, Any]]]) -> list[Relation]:
        """Store relations given as (source, target, type, extra keys)."""

    def remove_relations(self, ids: Sequence[int]) -> None:
        """Remove relations."""

    def set_extra(self, id: int, extra: dict[str, Any]) -> None:
        """Replace the foreign keys a record carries."""

    def undo(self, change: int | None) -> Change:
        """Take back one change whole, as a change of its own; the newest one when none is named.

        Answers the change that was undone; its ``undone_by`` is the number of the undo.
        """

    def purge(self, ids: Sequence[int]) -> None:
        """Remove records for good, deleted ones too: from the store, the indexes and the journal.

        Cannot be undone.
        """

    def note(self, key: str, value: str | None) -> None:
        """Keep a small fact about the project beside its memories (None forgets it)."""


class Turn(Protocol):
    """A right that one thread of one process has at a time; others wait in line."""

    def take(self) -> None:
        """Wait for the turn. Raises Busy when it does not come in time."""

    def give(self) -> None:
        """End the turn."""

    def close(self) -> bool:
        """Let go of whatever the line is kept in, unless somebody here has the turn; answers whether it did."""


class Store(Protocol):
    """Keeps memories. Every engine passes tests/contract/storage unchanged."""

    def read(self, project: str) -> AbstractContextManager[Snapshot]:
        """One consistent view of a project. Never waits for a writer."""

    def write(self, project: str, who: str, action: str) -> AbstractContextManager[Transaction]:
        """One atomic unit: on disk when the block is left, rolled back whole on any exception."""

    def stamp(self, project: str) -> int:
        """A number that changes whenever any process has committed a change to the project."""

    def close(self) -> None:
        """Let go of every file. Closing twice is fine."""
