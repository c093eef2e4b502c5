"""The records of an archive on their way in: what can be taken of them, and why the others cannot."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, TypeVar

from polymnia.engine.transfer import archive
from polymnia.engine.transfer.archive import ArchiveLimits, Broken, Item
from polymnia.engine.transfer.memories import draft, link
from polymnia.errors import ImportFailed, Invalid
from polymnia.models import EntityDraft, Limits, RelationDraft

__all__ = ["Ends", "Open", "Records", "items_of"]

T = TypeVar("T")

_REASONS = 50
_OTHER = "for other reasons"
_TOLD = 1000  # problems told one by one; a file of another kind has as many as it has lines

Open = Callable[[], BinaryIO]
"""Gives the archive from its beginning, as often as it is asked."""

Ends = tuple[tuple[str, bool], tuple[str, bool], RelationDraft]
"""An association: what its two ends are called and whether that is an id, and the relation it becomes."""


def items_of(open: Open, limits: Limits) -> Iterator[Item]:
    """Everything that stands in an archive, in its order."""
    bounds = ArchiveLimits(total=limits.import_bytes, text=limits.text_bytes)
    try:
        with open() as source:
            yield from archive.read(source, bounds)
    except Invalid as e:
        raise ImportFailed(e.message, hint=e.hint) from e


class Records:
    """The records of an archive with everything that is wrong with them."""

    def __init__(self, limits: Limits, prefix: str | None) -> None:
        self._limits = limits
        self._prefix = prefix
        self.problems: list[str] = []
        self.dropped: dict[str, int] = {}
        self.more = 0
        self.uids: set[str] = set()
        self.names: set[str] = set()

    def read(self, items: Iterable[Item]) -> Iterator[EntityDraft | tuple[int, Ends]]:
        """The memories and associations that can be taken, in the order of the file; these with their places."""
        for item in items:
            if item.section == "memories":
                if (made := self._draft(item)) is not None:
                    yield made
            elif item.section == "associations":
                if (ends := self._link(item)) is not None:
                    yield item.position, ends
            elif item.section == "unknown":
                self._drop(f"{item.value!r:.80} is no part of an archive")

    def _link(self, item: Item) -> Ends | None:
        return self._made(item, lambda value: link(value, self._limits))

    def _draft(self, item: Item) -> EntityDraft | None:
        made = self._made(item, lambda value: draft(value, self._limits, self._prefix))
        if made is None:
            return None
        if made.uid in self.uids:
            self.wrong(item, f"memory_id {made.uid!r:.80} stands there twice")
            return None
        if made.name in self.names:
            self.wrong(item, f"name {made.name!r:.80} stands there twice")
            return None
        self.uids.add(made.uid or "")
        self.names.add(made.name)
        return made

    def _made(self, item: Item, make: Callable[[dict[str, Any]], T]) -> T | None:
        """What a record is made into; None, and the reason noted, where it cannot be."""
        if isinstance(item.value, Broken):
            self.wrong(item, f"{item.value.reason} (line {item.value.line})")
            return None
        try:
            assert isinstance(item.value, dict)
            return make(item.value)
        except Invalid as e:
            self.wrong(item, e.message)
            return None

    def wrong(self, item: Item, why: str) -> None:
        """Something cannot be taken."""
        self.wrong_at(item.section, item.position, why)

    def wrong_at(self, section: str, position: int, why: str) -> None:
        """The same, by its place."""
        self._drop(f"{section}: {why}")
        if len(self.problems) < _TOLD:
            self.problems.append(f"{section}[{position}]: {why}")
        else:
            self.more += 1

    def _drop(self, reason: str) -> None:
        if reason in self.dropped or len(self.dropped) < _REASONS:
            self.dropped[reason] = self.dropped.get(reason, 0) + 1
        else:
            self.dropped[_OTHER] = self.dropped.get(_OTHER, 0) + 1

    def all(self) -> list[str]:
        """Everything that is wrong, in the order of the file."""
        return [*self.problems, f"… and {self.more:,} more"] if self.more else self.problems
