"""What imports have in common: reading the records of a file, and finding those the project has already."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, TypeVar

from polymnia.engine.ports import Transaction
from polymnia.engine.transfer.fields import Ends, link
from polymnia.engine.transfer.formats.records import Broken, Item, JsonObject
from polymnia.errors import ImportFailed, Invalid
from polymnia.models import EntityDraft, Limits, Record, Relation

T = TypeVar("T")

_REASONS = 50
_OTHER = "for other reasons"
_PROBLEMS = 1000  # listed one by one; a file of another kind has as many as it has lines

Open = Callable[[], BinaryIO]
"""Gives the file from its beginning, as often as it is asked."""


def reading(open: Open, read: Callable[[BinaryIO], Iterable[Item]]) -> Iterator[Item]:
    """The items of a file; one that cannot be read fails the import."""
    try:
        with open() as source:
            yield from read(source)
    except Invalid as e:
        raise ImportFailed(e.message, hint=e.hint) from e


class Records:
    """The records of a file, with everything that is wrong with them.

    ``dropped`` counts by reason everything that is not imported.
    """

    def __init__(
        self,
        limits: Limits,
        make: Callable[[JsonObject], EntityDraft],
        *,
        sections: tuple[str, str],
        id_field: str,
        file: str,
    ) -> None:
        self._limits = limits
        self._make = make
        self._sections = sections
        self._id_field = id_field
        self._file = file
        self._problems: list[str] = []
        self._more = 0
        self.dropped: dict[str, int] = {}
        self.uids: set[str] = set()
        self._names: set[str] = set()

    def read(self, items: Iterable[Item]) -> Iterator[tuple[Item, EntityDraft | Ends]]:
        """The records that can be imported, in the order of the file."""
        records, links = self._sections
        for item in items:
            if item.section == records:
                if (draft := self._made(item, self._make)) is not None and self._is_new(item, draft):
                    yield item, draft
            elif item.section == links:
                if (ends := self._made(item, lambda value: link(value, self._limits))) is not None:
                    yield item, ends
            elif item.section == "unknown":
                self.drop(f"{item.value!r:.80} is no part of {self._file}")

    def _made(self, item: Item, make: Callable[[JsonObject], T]) -> T | None:
        try:
            if isinstance(item.value, Broken):
                raise Invalid(f"{item.value.reason} (line {item.value.line})")
            assert isinstance(item.value, dict)
            return make(item.value)
        except Invalid as e:
            self.refuse(item, e.message)
            return None

    def _is_new(self, item: Item, draft: EntityDraft) -> bool:
        if draft.uid in self.uids:
            self.refuse(item, f"{self._id_field} {draft.uid!r:.80} stands there twice")
        elif draft.name in self._names:
            self.refuse(item, f"name {draft.name!r:.80} stands there twice")
        else:
            self.uids.add(draft.uid or "")
            self._names.add(draft.name)
            return True
        return False

    def refuse(self, item: Item, why: str) -> None:
        """Note that a record cannot be imported."""
        self.drop(f"{item.section}: {why}")
        if len(self._problems) < _PROBLEMS:
            self._problems.append(f"{item.section}[{item.position}]: {why}")
        else:
            self._more += 1

    def drop(self, reason: str) -> None:
        """Count something that is not imported."""
        if reason not in self.dropped and len(self.dropped) >= _REASONS:
            reason = _OTHER
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def problems(self) -> list[str]:
        """Everything that cannot be imported, in the order of the file, with its place and the reason."""
        return [*self._problems, f"… and {self._more:,} more"] if self._more else self._problems


def known_records(
    tx: Transaction,
    drafts: list[EntityDraft],
    *,
    before: int,
    by_id: Callable[[EntityDraft], bool],
    by_text: Callable[[EntityDraft], bool],
    same: Callable[[EntityDraft, Record], bool],
) -> Iterator[tuple[EntityDraft, Record | None]]:
    """Each draft with the record that stands for it already: by its id, by its name, or by what it says.

    Of the records found by a text only those up to number ``before`` count, and only those that are the ``same``.
    """
    known = tx.ids_of([one.uid or "" for one in drafts if by_id(one)])
    named = tx.ids([one.name for one in drafts if by_id(one) or one.name != one.uid])
    texts = [one.observations[0] for one in drafts if by_text(one)]
    said = tx.saying(texts, before) if before and texts else {}
    ids = {*known.values(), *named.values(), *(id for many in said.values() for id in many)}
    here = {record.id: record for record in tx.load(list(ids))} if ids else {}
    for one in drafts:
        found = here.get(known.get(one.uid or "", 0)) or here.get(named.get(one.name, 0))
        if found is None and by_text(one):
            alike = (here[id] for id in said.get(one.observations[0], ()) if id in here)
            found = next((record for record in alike if same(one, record)), None)
        yield one, found


def absent(stored: Iterable[Relation], links: Iterable[T], ends: Callable[[T], tuple[str, str, str]]) -> list[T]:
    """The links that are not stored yet. One that a file has twice is stored twice, and never once more."""
    known = Counter(relation.ends for relation in stored)
    new = []
    for one in links:
        if known[ends(one)] > 0:
            known[ends(one)] -= 1
        else:
            new.append(one)
    return new
