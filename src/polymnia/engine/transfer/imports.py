"""Imports the records of a file: each becomes a memory or a link and is matched with the project's existing ones.

Subclasses implement what differs between archives and project files.
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
_PROBLEMS = 1000  # max. number listed; in a file of the wrong kind every line is one

Open = Callable[[], BinaryIO]
"""Opens the file at its start; can be called repeatedly."""


class Importer:
    """Reads the records of a file and imports them into a project that may already have some of them.

    ``dropped`` counts by reason everything that is not imported.
    """

    sections: tuple[str, str]  # of memories, and of the links between them
    id_field: str
    file: str  # what messages call such a file

    def __init__(self, open: Open, limits: Limits) -> None:
        self._open = open
        self._limits = limits
        self._problems: list[str] = []
        self._unlisted = 0
        self._seen_names: set[str] = set()
        self._sessions: set[str] = set()
        self._names: dict[str, str] = {}  # id in the file → name in the project
        self.dropped: dict[str, int] = {}
        self.uids: set[str] = set()
        self.counts: Counter[str] = Counter()

    # ── implemented by each kind of file ──────────────────────────────────────────────────────────────────

    def read(self, source: BinaryIO) -> Iterator[Item]:
        """The items of the file."""
        raise NotImplementedError

    def draft(self, value: JsonObject) -> EntityDraft:
        """Convert a record to a memory."""
        raise NotImplementedError

    def keeps_id(self, one: EntityDraft) -> bool:
        """Whether a memory keeps its id from the file and is matched by it."""
        return True

    def is_known_by_text(self, one: EntityDraft) -> bool:
        """Whether a memory without any other identity is matched by its text."""
        raise NotImplementedError

    def is_same(self, one: EntityDraft, record: Record) -> bool:
        """Whether a record with the same text is the same memory."""
        raise NotImplementedError

    def merge(self, tx: Transaction, existing: Record, one: EntityDraft) -> None:
        """Merge a memory into its existing record, by the chosen strategy."""
        raise NotImplementedError

    def add_new(self, tx: Transaction, drafts: list[EntityDraft]) -> None:
        """Add memories that the project does not have yet."""
        raise NotImplementedError

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────

    def records(self) -> Iterator[tuple[Item, EntityDraft | Ends]]:
        """The valid records, in file order; raises ImportFailed if the file cannot be read."""
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
        elif draft.name in self._seen_names:
            self.refuse(item, f"name {draft.name!r:.80} stands there twice")
        else:
            self.uids.add(draft.uid or "")
            self._seen_names.add(draft.name)
            return True
        return False

    def loose_links(self, *, named: bool) -> list[tuple[Item, list[str]]]:
        """Read the whole file and return links with ends that are not in it; ``named`` includes ends given by name."""
        links = [(item, made) for item, made in self.records() if not isinstance(made, EntityDraft)]
        ends = ((item, [end for end, is_id in made[:2] if is_id or named]) for item, made in links)
        loose = ((item, [end for end in both if end not in self.uids]) for item, both in ends)
        return [(item, some) for item, some in loose if some]

    def refuse(self, item: Item, why: str) -> None:
        """Report that a record cannot be imported."""
        self.drop(f"{item.section}: {why}")
        if len(self._problems) < _PROBLEMS:
            self._problems.append(f"{item.section}[{item.position}]: {why}")
        else:
            self._unlisted += 1

    def drop(self, reason: str) -> None:
        """Count something that is not imported, by reason."""
        if reason not in self.dropped and len(self.dropped) >= _REASONS:
            reason = _OTHER
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def problems(self) -> list[str]:
        """Everything that cannot be imported, in file order, with its position and the reason."""
        return [*self._problems, f"… and {self._unlisted:,} more"] if self._unlisted else self._problems

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────

    def add_memories(self, tx: Transaction, step: Step | None, total: int = 0) -> list[tuple[Item, Ends]]:
        """Add the memories of the file in batches; returns its links, whose ends may come later in the file."""
        before = tx.numbers[1]
        batch: list[EntityDraft] = []
        links: list[tuple[Item, Ends]] = []
        for item, made in self.records():
            if not isinstance(made, EntityDraft):
                links.append((item, made))
                continue
            batch.append(made)
            if len(batch) >= PART:
                self._add(tx, batch, before)
                batch = []
                if step is not None:
                    step(len(self.uids), total)
        self._add(tx, batch, before)
        return links

    def _add(self, tx: Transaction, drafts: list[EntityDraft], before: int) -> None:
        new: list[EntityDraft] = []
        for one, existing in self._matched(tx, drafts, before):
            if one.session is not None and one.session not in self._sessions:
                self._sessions.add(one.session)
                scopes.begin(tx, one.session)
            if existing is None:
                new.append(one)
            else:
                self._names[one.uid or ""] = existing.name
                self.merge(tx, existing, one)
        if new:
            self.add_new(tx, new)
        self.counts["imported"] += len(new)

    def _matched(
        self, tx: Transaction, drafts: list[EntityDraft], before: int
    ) -> Iterator[tuple[EntityDraft, Record | None]]:
        """Each draft with its existing record, matched by id, name or text.

        Matches by text are limited to records up to number ``before``, so that records of this import do not count.
        """
        by_id = tx.ids_of([one.uid or "" for one in drafts if self.keeps_id(one)])
        by_name = tx.ids([one.name for one in drafts if self.keeps_id(one) or one.name != one.uid])
        texts = [one.observations[0] for one in drafts if self.is_known_by_text(one)]
        by_text = tx.with_texts(texts, before) if before and texts else {}
        ids = {*by_id.values(), *by_name.values(), *(id for many in by_text.values() for id in many)}
        records = {record.id: record for record in tx.load(list(ids))} if ids else {}
        for one in drafts:
            found = records.get(by_id.get(one.uid or "", 0)) or records.get(by_name.get(one.name, 0))
            if found is None and self.is_known_by_text(one):
                candidates = (records[id] for id in by_text.get(one.observations[0], ()) if id in records)
                found = next((record for record in candidates if self.is_same(one, record)), None)
            yield one, found

    def relate(self, tx: Transaction, drafts: list[RelationDraft], *, replace: bool = False) -> int:
        """Add the links that do not exist yet; ``replace`` replaces existing links with those of the file."""
        existing = tx.find_relations(list(dict.fromkeys((one.source, one.target, one.type) for one in drafts)))
        if replace:
            tx.remove_relations([relation.id for relation in existing])
            existing = []
        new = absent(existing, drafts, lambda one: (one.source, one.target, one.type))
        tx.relate(new)
        return len(new)


def absent(stored: Iterable[Relation], links: Iterable[T], ends: Callable[[T], tuple[str, str, str]]) -> list[T]:
    """The links that are not stored yet, counting repetitions: a link listed twice is stored twice, not three times."""
    known = Counter(relation.ends for relation in stored)
    new = []
    for one in links:
        if known[ends(one)] > 0:
            known[ends(one)] -= 1
        else:
            new.append(one)
    return new
