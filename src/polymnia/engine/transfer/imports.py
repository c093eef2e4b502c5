"""Importing the records of a file: each is made a memory or a link, and matched with what the project has already.

What an archive and a project file do differently is what their importers add.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, TypeVar

from polymnia.engine import scopes
from polymnia.engine.ports import Transaction
from polymnia.engine.project import Step
from polymnia.engine.transfer.fields import Ends, link
from polymnia.engine.transfer.formats.records import Broken, Item, JsonObject
from polymnia.errors import ImportFailed, Invalid
from polymnia.models import EntityDraft, Limits, Record, Relation, RelationDraft

T = TypeVar("T")

PART = 500
_REASONS = 50
_OTHER = "for other reasons"
_PROBLEMS = 1000  # listed one by one; a file of another kind has as many as it has lines

Open = Callable[[], BinaryIO]
"""Gives the file from its beginning, as often as it is asked."""


class Importer:
    """Reads the records of a file, and takes them into a project that may have some of them.

    ``dropped`` counts by reason everything that is not imported.
    """

    sections: tuple[str, str]  # of the memories, and of the links between them
    id_field: str
    file: str  # what such a file is called

    def __init__(self, open: Open, limits: Limits) -> None:
        self._open = open
        self._limits = limits
        self._problems: list[str] = []
        self._more = 0
        self._taken: set[str] = set()
        self._sessions: set[str] = set()
        self._names: dict[str, str] = {}  # of the memories of the file, by their ids: some are here under others
        self.dropped: dict[str, int] = {}
        self.uids: set[str] = set()
        self.counts: Counter[str] = Counter()

    # ── what a kind of file decides ───────────────────────────────────────────────────────────────────────

    def read(self, source: BinaryIO) -> Iterator[Item]:
        """The items of the file."""
        raise NotImplementedError

    def draft(self, value: JsonObject) -> EntityDraft:
        """The memory a record stands for."""
        raise NotImplementedError

    def keeps_id(self, one: EntityDraft) -> bool:
        """Whether a memory keeps the id it has in the file, and is known by it."""
        return True

    def is_known_by_text(self, one: EntityDraft) -> bool:
        """Whether a memory that has no other mark is known by what it says."""
        raise NotImplementedError

    def is_same(self, one: EntityDraft, record: Record) -> bool:
        """Whether a record that says the same is the same memory."""
        raise NotImplementedError

    def merge(self, tx: Transaction, there: Record, one: EntityDraft) -> None:
        """Do with a memory that the project has already what was chosen."""
        raise NotImplementedError

    def add_new(self, tx: Transaction, drafts: list[EntityDraft]) -> None:
        """Add memories that the project has not."""
        raise NotImplementedError

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────

    def records(self) -> Iterator[tuple[Item, EntityDraft | Ends]]:
        """The records that can be imported, in the order of the file; one that cannot be read fails the import."""
        memories, links = self.sections
        try:
            with self._open() as source:
                for item in self.read(source):
                    if item.section == memories:
                        if (draft := self._made(item, self.draft)) is not None and self._is_new(item, draft):
                            yield item, draft
                    elif item.section == links:
                        if (ends := self._made(item, lambda value: link(value, self._limits))) is not None:
                            yield item, ends
                    elif item.section == "unknown":
                        self.drop(f"{item.value!r:.80} is no part of {self.file}")
        except Invalid as e:
            raise ImportFailed(e.message, hint=e.hint) from e

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
            self.refuse(item, f"{self.id_field} {draft.uid!r:.80} stands there twice")
        elif draft.name in self._taken:
            self.refuse(item, f"name {draft.name!r:.80} stands there twice")
        else:
            self.uids.add(draft.uid or "")
            self._taken.add(draft.name)
            return True
        return False

    def loose_links(self, *, named: bool) -> list[tuple[Item, list[str]]]:
        """Read the whole file; the links with ends that are not in it. ``named`` counts those given by name too."""
        links = [(item, made) for item, made in self.records() if not isinstance(made, EntityDraft)]
        ends = ((item, [end for end, is_id in made[:2] if is_id or named]) for item, made in links)
        loose = ((item, [end for end in both if end not in self.uids]) for item, both in ends)
        return [(item, some) for item, some in loose if some]

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

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────

    def add_memories(self, tx: Transaction, step: Step | None, total: int = 0) -> list[tuple[Item, Ends]]:
        """Add the memories of the file, a part at a time. Answers its links: their ends may come later in it."""
        before = tx.numbers[1]
        part: list[EntityDraft] = []
        links: list[tuple[Item, Ends]] = []
        for item, made in self.records():
            if not isinstance(made, EntityDraft):
                links.append((item, made))
                continue
            part.append(made)
            if len(part) >= PART:
                self._add(tx, part, before)
                part = []
                if step is not None:
                    step(len(self.uids), total)
        self._add(tx, part, before)
        return links

    def _add(self, tx: Transaction, drafts: list[EntityDraft], before: int) -> None:
        new: list[EntityDraft] = []
        for one, there in self._matched(tx, drafts, before):
            if one.session is not None and one.session not in self._sessions:
                self._sessions.add(one.session)
                scopes.begin(tx, one.session)
            if there is None:
                new.append(one)
            else:
                self._names[one.uid or ""] = there.name
                self.merge(tx, there, one)
        if new:
            self.add_new(tx, new)
        self.counts["imported"] += len(new)

    def _matched(
        self, tx: Transaction, drafts: list[EntityDraft], before: int
    ) -> Iterator[tuple[EntityDraft, Record | None]]:
        """Each draft with the record that stands for it already: by its id, by its name, or by what it says.

        Of the records found by a text only those up to number ``before`` count: what this import added does not.
        """
        known = tx.ids_of([one.uid or "" for one in drafts if self.keeps_id(one)])
        named = tx.ids([one.name for one in drafts if self.keeps_id(one) or one.name != one.uid])
        texts = [one.observations[0] for one in drafts if self.is_known_by_text(one)]
        saying = tx.saying(texts, before) if before and texts else {}
        ids = {*known.values(), *named.values(), *(id for many in saying.values() for id in many)}
        here = {record.id: record for record in tx.load(list(ids))} if ids else {}
        for one in drafts:
            found = here.get(known.get(one.uid or "", 0)) or here.get(named.get(one.name, 0))
            if found is None and self.is_known_by_text(one):
                alike = (here[id] for id in saying.get(one.observations[0], ()) if id in here)
                found = next((record for record in alike if self.is_same(one, record)), None)
            yield one, found

    def relate(self, tx: Transaction, drafts: list[RelationDraft], *, anew: bool = False) -> int:
        """Draw the links that are not there yet; ``anew`` puts those of the file in place of the ones that are."""
        here = tx.find_relations(list(dict.fromkeys((one.source, one.target, one.type) for one in drafts)))
        if anew:
            tx.remove_relations([relation.id for relation in here])
            here = []
        new = absent(here, drafts, lambda one: (one.source, one.target, one.type))
        tx.relate(new)
        return len(new)


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
