"""Importing an archive of memories into a project that may already hold some of them."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import content, scopes
from polymnia.engine.graph import Step
from polymnia.engine.ports import Snapshot, Transaction
from polymnia.engine.transfer.memories_records import Ends, Open, Records, items_of
from polymnia.models import EntityDraft, Limits, Record, RelationDraft

__all__ = ["ImportedMemories", "Strategy", "import_memories", "problems"]

Strategy = Literal["skip_duplicates", "overwrite", "create_versions", "merge_metadata"]

_PART = 500


class ImportedMemories(Struct, frozen=True, kw_only=True):
    """What an import came to, memory by memory; ``problems`` are the records that were left out, and why.

    ``dropped`` counts by reason everything in the file that was not taken.
    """

    imported: int = 0
    skipped: int = 0
    overwritten: int = 0
    versions: int = 0
    merged: int = 0
    associations: int = 0
    scopes: list[str] = []
    problems: list[str] = []
    dropped: dict[str, int] = {}


def problems(open: Open, snapshot: Snapshot, limits: Limits, prefix: str | None) -> tuple[list[str], int]:
    """Everything in an archive that cannot be imported, by its place and with the reason; and its memories, counted."""
    records = Records(limits, prefix)
    loose: dict[int, list[str]] = {}
    for one in records.read(items_of(open, limits)):
        if isinstance(one, tuple):
            position, (source, target, _) = one
            if ends := [end for end, is_id in (source, target) if is_id and end not in records.uids]:
                loose[position] = ends
    known = content.finds(snapshot, list({end for ends in loose.values() for end in ends})) if loose else {}
    for position, ends in loose.items():
        if missing := [end for end in ends if end not in known and end not in records.uids]:
            records.wrong_at("associations", position, _nobody(missing))
    return records.all(), len(records.uids)


def _nobody(missing: list[str]) -> str:
    return f"there is no memory {' or '.join(f'{end!r:.80}' for end in dict.fromkeys(missing))} in the archive or here"


def import_memories(
    tx: Transaction,
    open: Open,
    *,
    strategy: Strategy,
    prefix: str | None,
    limits: Limits,
    step: Step | None = None,
    total: int = 0,
) -> ImportedMemories:
    """Take an archive into the project, all of it as one change. What cannot be taken is left out and told.

    A ``prefix`` is where new memories are filed; one that is here stays where it is, whatever the strategy.

    ``total`` is how many memories there are, where that is known.
    """
    records = Records(limits, prefix)
    work = _Importing(tx, strategy, stays=prefix is not None)
    part: list[EntityDraft] = []
    loose: list[tuple[int, Ends]] = []  # associations whose ends are not known yet: they may come later
    done = 0
    for one in records.read(items_of(open, limits)):
        if isinstance(one, EntityDraft):
            part.append(one)
            if len(part) < _PART:
                continue
            done += _PART
            if step is not None:
                step(done, total)
        if part:
            work.take(part)
            part = []
        if isinstance(one, tuple) and work.relate(one[1]):
            loose.append(one)
    work.take(part)
    if step is not None and done < total:
        step(total, total)
    for position, ends in loose:
        if missing := work.relate(ends):
            records.wrong_at("associations", position, _nobody(missing))
    work.finish()
    return ImportedMemories(
        imported=work.imported, skipped=work.skipped, overwritten=work.overwritten, versions=work.versions,
        merged=work.merged, associations=work.associations, scopes=sorted(work.scopes), problems=records.all(),
        dropped=records.dropped,
    )  # fmt: skip


class _Importing:
    """One import at work."""

    def __init__(self, tx: Transaction, strategy: Strategy, *, stays: bool) -> None:
        self._tx = tx
        self._before = tx.numbers[1]
        self._last = (tx.numbers[0] << 32) + self._before
        self._known: dict[tuple[str, str, str], int] = {}  # relations that were here before and stand for one to come
        self._strategy = strategy
        self._stays = stays
        self._names: dict[str, str] = {}  # of the memories of the archive, by their ids: some are here under others
        self._links: list[RelationDraft] = []
        self._sessions: set[str] = set()
        self.imported = self.skipped = self.overwritten = self.versions = self.merged = self.associations = 0
        self.scopes: set[str] = set()

    def take(self, drafts: list[EntityDraft]) -> None:
        """Take some memories in."""
        if not drafts:
            return
        tx = self._tx
        known = tx.ids_of([one.uid or "" for one in drafts])
        named = tx.ids([one.name for one in drafts])
        said = self._said(drafts)
        ids = {*known.values(), *named.values(), *(id for many in said.values() for id in many)}
        here = {record.id: record for record in tx.load(list(ids))} if ids else {}
        new: list[EntityDraft] = []
        for one in drafts:
            self._begin_session(one.session)
            there = here.get(known.get(one.uid or "", 0)) or here.get(named.get(one.name, 0)) or _same(one, said, here)
            if there is None:
                new.append(one)
            else:
                self._names[one.uid or ""] = there.name
                self._meet(there, one)
        for made in tx.add_records(new):
            self._names[made.uid] = made.name
            self.scopes.add(scopes.shown(made.scope))
        self.imported += len(new)

    def _said(self, drafts: list[EntityDraft]) -> dict[str, list[int]]:
        """The records that were here before and say what contents of the archive say."""
        if not self._before:
            return {}
        texts = [one.observations[0] for one in drafts if _is_content(one)]
        return self._tx.saying(texts, self._before) if texts else {}

    def _begin_session(self, session: str | None) -> None:
        if session is not None and session not in self._sessions:
            self._sessions.add(session)
            scopes.begin(self._tx, session)

    def _meet(self, there: Record, one: EntityDraft) -> None:
        """The project has the memory already: what happens is the strategy's choice."""
        tx = self._tx
        if self._strategy == "skip_duplicates":
            self.skipped += 1
            return
        if self._stays:
            one = replace(one, scope=there.scope, session=there.session)
        self.scopes.add(scopes.shown(there.scope if self._strategy == "merge_metadata" else one.scope))
        self.overwritten += 1
        if self._strategy == "overwrite":
            updated = one.updated if one.updated is not None else there.updated
            tx.replace_record(there.id, replace(one, name=there.name, updated=updated))
        elif self._strategy == "create_versions":
            self.versions += 1
            tx.replace_record(there.id, replace(one, name=there.name, updated=None))
        else:
            self.merged += 1
            tags = tuple(dict.fromkeys((*there.tags, *one.tags)))
            tx.revise(there.id, {"metadata": there.metadata | one.metadata, "tags": tags})

    def relate(self, ends: Ends) -> list[str]:
        """Take an association in; answers the ends that are missing, if one is."""
        names: list[str] = []
        missing: list[str] = []
        for end, is_id in ends[:2]:
            name = end if not is_id else self._names.get(end)
            if name is None:
                found = self._tx.load(list(content.finds(self._tx, [end]).values()))
                if not found:
                    missing.append(end)
                    continue
                name = self._names[end] = found[0].name
            names.append(name)
        if missing:
            return missing
        self._links.append(replace(ends[2], source=names[0], target=names[1]))
        if len(self._links) >= _PART:
            self.finish()
        return []

    def finish(self) -> None:
        """Draw the associations that are not there yet; overwriting puts the archive's in their place."""
        links, self._links = self._links, []
        tx = self._tx
        wanted = list(dict.fromkeys((one.source, one.target, one.type) for one in links))
        here = [relation for relation in tx.find_relations(wanted) if relation.id <= self._last]
        if self._strategy == "overwrite":
            tx.remove_relations([relation.id for relation in here])
        else:
            for ends, count in Counter(relation.ends for relation in here).items():
                self._known.setdefault(ends, count)
        new = []
        for one in links:
            ends = (one.source, one.target, one.type)
            if self._known.get(ends, 0) > 0:
                self._known[ends] -= 1
            else:
                new.append(one)
        tx.relate(new)
        self.associations += len(new)


def _is_content(one: EntityDraft) -> bool:
    """Whether a memory bears no name but its id and says one thing."""
    return one.name == one.uid and len(one.observations) == 1


def _same(one: EntityDraft, said: dict[str, list[int]], here: dict[int, Record]) -> Record | None:
    """The content that says the same in the same scope."""
    for id in said.get(one.observations[0], ()) if _is_content(one) else ():
        record = here.get(id)
        if record is not None and record.scope == one.scope and record.name == record.uid:
            return record
    return None
