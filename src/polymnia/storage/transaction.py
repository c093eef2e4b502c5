"""Changes one project: every primitive writes its rows and journals them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from msgspec.json import encode

from polymnia.engine.ports import Analyst
from polymnia.models import Author, Change, EntityDraft, JsonObject, Record, Relation, RelationDraft, new_id
from polymnia.storage import rows
from polymnia.storage.indexes import IndexWriter
from polymnia.storage.statements import StatementRunner

_AHEAD = 3_600_000_000  # microseconds by which the clocks of two machines may differ
_HEAD_TEXT = frozenset(("kind", "category", "summary", "tags"))  # the columns of a memory that are in the word index


class ProjectTransaction(IndexWriter):
    """One atomic unit of change."""

    def __init__(
        self,
        run: StatementRunner,
        project: str,
        who: Author | str,
        action: str,
        at: int,
        analyst: Analyst | None = None,
        row: tuple[int, ...] | None = None,
    ) -> None:
        super().__init__(run, project, analyst, row)
        self._author = who if isinstance(who, Author) else Author(who)
        self._action = action
        # Times do not run backwards, unless an earlier change was dated far ahead by a wrong clock.
        self._at = at if self._touched - at > _AHEAD else max(at, self._touched + 1)
        self._items: list[tuple[str, str, int, int, str | None, str | None, str | None]] = []
        self._bumped: set[int] = set()
        self._versions: dict[int, tuple[int, int]] = {}
        self._undoes: int | None = None
        self._number: int | None = None  # of this change, if it is known already
        self.purged = False

    def _no_project(self) -> tuple[int, ...]:
        return cast(tuple[int, ...], self._run("add_project", (self._project_name,)).fetchone())

    def number(self) -> int:
        """The number this change will have."""
        if self._number is None:
            self._number = int(self._run("next_change").fetchone()[0])
        return self._number

    def finish(self) -> None:
        """Write the journal and the counters, if anything changed."""
        if not self.changed:
            return
        self._index_due()
        counters = (self._seq, self._indexed, self._texts, self._at, self._listed, self._passages)
        self._run("touch_project", (*counters, self._project))
        by = self._author
        change = (self._project, self._at, by.who, self._action, self._first, self._seq, self._undoes)
        made = self._run("add_change", (self._number, *change, by.account, by.client, by.dialect, by.tool))
        if self._items:
            ((number,),) = made.fetchall()
            self._run.many("add_item", ((number, n, *item) for n, item in enumerate(self._items)))

    @property
    def changed(self) -> bool:
        return bool(self._items) or self._seq > self._first

    @property
    def wrote(self) -> bool:
        """Whether there is anything to commit."""
        return self.changed or self._noted

    def _next(self) -> int:
        self._seq += 1
        return self._base + self._seq

    def _journal(self, op: str, kind: str, ref: int, owner: int, before: JsonObject | None, *names: str | None) -> None:
        """Add an item to the journal; ``names`` are the name of a record, or both ends of a relation."""
        text = None if before is None else encode(before).decode()
        name, other = (*names, None, None)[:2]
        self._items.append((op, kind, ref, owner, text, name, other))

    def _bump(self, id: int, **before: Any) -> None:
        """Increase the version of a record, once per transaction; ``before`` are the other columns it changed."""
        if id > self._base + self._first:
            return  # created by this change, so this is still its first version
        if id not in self._bumped:
            self._bumped.add(id)
            version, updated = self._versions.get(id) or self._run("bookkeeping", (id,)).fetchone()
            self._run("touch", (version + 1, self._at, id))
            before = {**before, "version": version, "updated": updated}
        if before:
            self._journal("u", "m", id, id, before)

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids by name. The version of a single record is read too, as it is likely to be changed."""
        if len(names) != 1:
            return super().ids(names)
        row = self._run("id_and_version_of", (self._project, names[0])).fetchone()
        if row is None:
            return {}
        if row[0] not in self._bumped:
            self._versions[row[0]] = (row[1], row[2])
        return {names[0]: row[0]}

    def add_records(self, drafts: Sequence[EntityDraft]) -> list[Record]:
        made, memories, texts = [], [], []
        for draft in drafts:
            id, uid = self._next(), draft.uid or new_id()
            record = rows.drafted(draft, id, uid, self._at)
            row = (
                id, self._project, uid, draft.name, draft.kind, self._run.folded(draft.name),
                self._run.folded(draft.kind), rows.skeleton_hash(draft.name), rows.json_or_none(draft.extra),
                record.created, record.updated, record.version,
            )  # fmt: skip
            head = rows.head(draft)
            if any(value is not None for value in head):
                self._run("add_whole_memory", (*row, *head))
                self._tag(id, draft.tags)
            else:
                memories.append(row)
            for text in draft.observations:
                self._written += len(text)
                texts.append((self._next(), id, rows.digest(text), text, self._run.folded(text)))
            made.append(record)
        self._run.many("add_memory", memories)
        self._run.many("add_observation", texts)
        self._texts += len(drafts) + len(texts)
        return made

    def replace_record(self, id: int, draft: EntityDraft) -> Record:
        (old,) = self.load([id])
        self._remove_observations(id, self._run("texts", (id,)).fetchall())
        before = (old.kind, rows.json_or_none(old.extra), *rows.head(old))
        after = (draft.kind, rows.json_or_none(draft.extra), *rows.head(draft))
        if before != after:
            self._run("set_head", (draft.kind, self._run.folded(draft.kind), *after[1:], id))
            changed = zip(("kind", "extra", *rows.HEAD_COLUMNS), before, after, strict=True)
            self._bump(id, **{column: was for column, was, now in changed if was != now})
            self._untag(id, old.tags)
            self._tag(id, draft.tags)
            self._change_head(id, old.name, draft.kind)
        self.add_observations([(id, draft.observations)])
        self._bump(id)
        if draft.updated is not None:
            created = old.created if draft.created is None else draft.created
            if created != old.created:
                self._journal("u", "m", id, id, {"created": old.created})
            self._run("date", (draft.version, draft.updated, created, id))
        (new,) = self.load([id])
        return new

    def add_observations(self, additions: Sequence[tuple[int, Sequence[str]]]) -> None:
        for id, texts in additions:
            if texts:
                for text in texts:
                    self._written += len(text)
                    row = (self._next(), id, rows.digest(text), text, self._run.folded(text))
                    self._run("add_observation", row)
                self._texts += len(texts)
                self._bump(id)

    def present_observations(self, id: int, texts: Sequence[str]) -> set[str]:
        return {
            text
            for text in set(texts)
            if any(found == text for _, found in self._run("equal_texts", (id, rows.digest(text))))
        }

    def remove_observations(self, id: int, texts: Sequence[str]) -> int:
        removed = [
            (row, found)
            for text in dict.fromkeys(texts)
            for row, found in self._run("equal_texts", (id, rows.digest(text))).fetchall()
            if found == text
        ]
        self._remove_observations(id, removed)
        if removed:
            self._bump(id)
            if self._run("has_observation", (id,)).fetchone() is None:
                self._reindex_head(id)
        return len(removed)

    def _remove_observations(self, memory: int, observations: Iterable[tuple[Any, ...]]) -> None:
        for id, text in observations:
            self._run("delete_observation", (id,))
            self._texts -= 1
            self._unindex_deleted(id)
            self._journal("d", "o", id, memory, {"memory": memory, "text": text})

    def remove_records(self, ids: Sequence[int]) -> None:
        for id in ids:
            row = self._run("memory_row", (id,)).fetchone()
            if row is None:
                continue
            self._remove_observations(id, self._run("texts", (id,)).fetchall())
            self._untag(id, self._tags_of(id))
            self._run("delete_memory", (id,))
            self._texts -= 1
            self._unindex_deleted(id)
            before = dict(zip(rows.MEMORY_COLUMNS, row, strict=True))
            self._journal("d", "m", id, id, before, before["name"])

    def add_relations(self, relations: Iterable[tuple[str, str, str, JsonObject]]) -> list[Relation]:
        return self.relate(RelationDraft(s, t, k, extra=extra) for s, t, k, extra in relations)

    def relate(self, drafts: Iterable[RelationDraft]) -> list[Relation]:
        made = [
            Relation(
                id=self._next(), source=d.source, target=d.target, type=d.type, strength=d.strength, context=d.context,
                metadata=d.metadata, extra=d.extra, origin=d.origin,
                created=self._at if d.created is None else d.created,
            )
            for d in drafts
        ]  # fmt: skip
        rows_of_relations = (
            (
                r.id, self._project, r.source, r.target, r.type, r.strength, r.context, rows.json_or_none(r.metadata),
                rows.json_or_none(r.extra), r.origin, r.created,
            )
            for r in made
        )  # fmt: skip
        self._run.many("restore_relation", rows_of_relations)
        return made

    def remove_relations(self, ids: Sequence[int]) -> None:
        for id in ids:
            row = self._run("relation_row", (id,)).fetchone()
            if row is None:
                continue
            self._run("delete_relation", (id,))
            before = dict(zip(rows.RELATION_COLUMNS, row, strict=True))
            self._journal("d", "r", id, id, before, before["source"], before["target"])

    def set_extra(self, id: int, extra: JsonObject) -> None:
        (old,) = self.load([id])
        if old.extra != extra:
            self.revise(id, {"extra": extra})

    def revise(self, id: int, changes: Mapping[str, Any]) -> bool:
        row = self._run("memory_row", (id,)).fetchone()
        old = dict(zip(rows.MEMORY_COLUMNS, row, strict=True))
        new = {column: rows.cell(column, value) for column, value in changes.items()}
        before = {column: old[column] for column, value in new.items() if old[column] != value}
        if not before:
            return False
        record = rows.record(tuple(value for c, value in (old | new).items() if c != "project"), [])
        head = (record.kind, self._run.folded(record.kind), rows.json_or_none(record.extra), *rows.head(record))
        self._run("set_head", (*head, id))
        self._bump(id, **before)
        if "tags" in before:
            self._untag(id, rows.decode(before["tags"]) if before["tags"] else ())
            self._tag(id, record.tags)
        if not _HEAD_TEXT.isdisjoint(before):
            self._change_head(id, record.name, record.kind)
        return True

    def add_session(self, name: str) -> None:
        self._run("add_session", (self._next(), self._project, name, self._at))

    def remove_sessions(self, names: Sequence[str]) -> None:
        for name in names:
            row = self._run("session", (self._project, name)).fetchone()
            if row is not None:
                self._remove_session(row)

    def _remove_session(self, row: tuple[Any, ...]) -> None:
        self._run("delete_session", (row[0],))
        self._journal("d", "s", row[0], row[0], dict(zip(rows.SESSION_COLUMNS, row, strict=True)))

    def undo(self, change: int | None) -> Change:
        from polymnia.storage.undo import undo

        return undo(self, change)

    def restore_record(self, id: int) -> None:
        from polymnia.storage.undo import restore_record

        restore_record(self, id)

    def purge(self, ids: Sequence[int]) -> None:
        from polymnia.storage.journal import purge

        purge(self, ids)

    def purge_versions(self, id: int) -> None:
        from polymnia.storage.journal import purge_versions

        purge_versions(self, id)
