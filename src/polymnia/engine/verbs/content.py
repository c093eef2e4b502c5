"""Memories by their ids: reading, moving and forgetting what was stored as a content rather than an entity."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from polymnia.engine import content, items, scopes
from polymnia.engine.content import Moved
from polymnia.engine.graph import Step
from polymnia.engine.ports import Snapshot, Transaction
from polymnia.engine.text.calendar import moment
from polymnia.engine.verbs.base import Verbs
from polymnia.errors import Invalid, NotFound, OverLimit
from polymnia.models import Record, Relation, legal_name

if TYPE_CHECKING:
    from polymnia.engine.knowledge.associations import Discovery
    from polymnia.engine.search.nearness import Look, Said

__all__ = ["ContentVerbs"]

_LINKS = 50
_SHORTEST_ID = 8  # characters of an id that may stand for all of it
_AMBIGUOUS = 5  # ids listed when a beginning fits more than one


def _gone(snapshot: Snapshot, name: str) -> NotFound:
    """A memory that is not there: because it was deleted, or because there never was one."""
    if (events := snapshot.history(name)) and (last := events[-1]).deleted:
        hint = f"`polymnia undo --change {last.change.id}` brings it back, `polymnia history` tells what it said."
        return NotFound([name], message=f"{name!r} was deleted at {moment(last.change.at)}", hint=hint)
    return NotFound([name], "Memory", hint="Search for it, or list what there is.")


class ContentVerbs(Verbs):
    """Reading, moving and forgetting memories by their ids, and what links them."""

    def read(self, id: str) -> tuple[Record, list[tuple[Record, Relation]]]:
        """A memory by its id (or its name), and those it is linked to with the relation, strongest first."""
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
            return record, self._associated(snapshot, record)

    def resolve(self, text: str) -> Record:
        """The memory of an id, a name, or the beginning of an id: eight characters or more that only one id has."""
        with self.store.read(self.project) as snapshot:
            found = list(content.finds(snapshot, [text]).values())
            if not found and len(text) >= _SHORTEST_ID:
                prefixes = (text, items.new_item_id(text))
                uids = [uid for prefix in prefixes for uid in snapshot.uids_starting(prefix, _AMBIGUOUS + 1)]
                if len(uids) > 1:
                    listed = ", ".join(uids[:_AMBIGUOUS]) + (", …" if len(uids) > _AMBIGUOUS else "")
                    raise Invalid(f"More than one id starts with {text!r}", hint=f"Write more of it: {listed}.")
                found = list(snapshot.ids_of(uids).values()) if uids else []
            if not found:
                raise _gone(snapshot, text)
            return snapshot.load(found)[0]

    def page(self, page: int, size: int) -> tuple[list[Record], int]:
        """A page of all memories, newest first, counted from 1; and how many memories there are in all."""
        with self.store.read(self.project) as snapshot:
            total = sum(count for _, count in snapshot.scopes())
            skip = (page - 1) * size
            return snapshot.page(skip, size) if skip < total else [], total

    def discover(self, id: str, *, limit: int = 10, threshold: float = 0.1) -> Discovery:
        """What else has to do with a memory: by meaning, shared tags and names, time, and existing relations."""
        finder = self.finding()
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
        with finder.look(self.project) as look:
            if (said := look.held(record.id - look.base)) is not None:
                return _discovered(look, record, said, limit, threshold)
        said = finder.said(self.project, *content.read_as(record))
        with finder.look(self.project) as look:
            return _discovered(look, record, said, limit, threshold)

    def _associated(self, snapshot: Snapshot, record: Record) -> list[tuple[Record, Relation]]:
        from polymnia.engine.knowledge.associations import links_of

        return links_of(snapshot, [record], _LINKS)[record.uid]

    # ── changing ──────────────────────────────────────────────────────────────────────────────────────

    def forget(self, id: str, *, step: Step | None = None) -> Record:
        """Delete a memory for good, with its history and everything that links to it. Cannot be undone."""

        def purge(tx: Transaction) -> Record:
            record = content.find(tx, id)
            tx.purge([record.id])
            return record

        return self._write("forget", purge, step, gives=Record)

    def move(self, ids: Sequence[str], scope: str, *, step: Step | None = None) -> Moved:
        """File memories under another scope; those that are not there are told, the others are moved."""
        target = scopes.legal_scope(scope, "target_scope")
        wanted = list(dict.fromkeys(ids))
        if len(wanted) > self.limits.batch:
            raise OverLimit("memory_ids", len(wanted), "items", self.limits.batch, "max_batch")
        for i, id in enumerate(wanted):
            legal_name(id, f"memory_ids[{i}]", self.limits)

        def move(tx: Transaction) -> Moved:
            found = content.finds(tx, wanted)
            moved, there, failed, same = [], [], [], dict[str, int]()
            records = {record.id: record for record in tx.load(list(found.values()))}
            if records:
                scopes.begin(tx, scopes.session_of(target))
            for i, id in enumerate(wanted):
                if step is not None and i % 1000 == 0:
                    step(i, len(wanted))
                record = records.get(found.get(id, 0))
                if record is None:
                    failed.append((id, f"Memory with ID '{id}' not found"))
                    continue
                other = content.same_there(tx, record, scopes.filed(target)["scope"])
                if tx.revise(record.id, scopes.filed(target)):
                    moved.append((record.uid, scopes.shown(record.scope), target))
                    if other is not None:
                        same[record.uid] = other
                else:
                    there.append(record.uid)
            return Moved(scope=target, moved=moved, there=there, failed=failed, same=content.pairs(tx, same))

        return self._write("move", move, step, gives=Moved)


def _discovered(look: Look, record: Record, said: Said, limit: int, threshold: float) -> Discovery:
    """What is around a memory, as the memory is now."""
    from polymnia.engine.knowledge import associations

    now = look.load([record.id - look.base]).get(record.id - look.base, record)
    return associations.discover(look, now, said, limit=limit, threshold=threshold)
