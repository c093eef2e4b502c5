"""Changing one project of a store: every primitive writes its rows and its line in the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import apsw
from msgspec.json import encode

from polymnia.engine.ports import Analyst, Vector
from polymnia.models import Change, EntityDraft, Record, Relation, Text
from polymnia.storage.sqlite import rows, vectors, words
from polymnia.storage.sqlite.snapshot import SqliteSnapshot
from polymnia.storage.sqlite.statements import SQL

__all__ = ["SqliteTransaction"]

# New texts are scanned until there are this many of them, then indexed together: indexing one text costs a
# commit more than everything else it does, a hundred together cost little more than one.
_UNINDEXED = 512
_UNLISTED = 1024  # the same for the word index, whose newest texts every searching process reads for itself
_LONG = 200_000  # characters after which a change does not wait for more: reading them again would cost every process
_MOST_LISTED = 8192  # and no change pays for more than this many texts of others
_VERSION = "words"  # the fact that says how the texts of the word index were read
_ENDS = "\x01\x01"  # two characters after each text, so that a trigram starts at its every character


class SqliteTransaction(SqliteSnapshot):
    """One atomic unit of change, open between begin and finish."""

    def __init__(
        self, connection: apsw.Connection, project: str, who: str, action: str, at: int, analyst: Analyst | None = None
    ) -> None:
        super().__init__(connection, project)
        self._analyst = analyst
        self._who = who
        self._action = action
        self._at = max(at, self._touched + 1)
        self._first = self._seq
        self._items: list[tuple[str, str, int, int, str | None, str | None, str | None]] = []
        self._bumped: set[int] = set()
        self._versions: dict[int, tuple[int, int]] = {}
        self._undoes: int | None = None
        self._noted = False
        self._written = 0
        self.purged = False

    def _no_project(self) -> tuple[int, ...]:
        return cast(tuple[int, ...], self._run(SQL["add_project"], (self._project_name,)).fetchone())

    def finish(self) -> int | None:
        """Write the journal and the counters. Answers the change's number, None when nothing changed."""
        if not self.changed:
            return None
        if self._seq - self._indexed > _UNINDEXED:
            self._index_new()
        if self._seq - self._listed > _UNLISTED or self._written > _LONG:
            most = max(_MOST_LISTED, self._seq - self._first)
            # An index that was read otherwise is made anew at once; when it is too large for that, by a reindex: a
            # part of one would leave the rest to every reader.
            if not self._listed or self._seq <= most or self._is_read_alike():
                self._list_words(most)
        counters = (self._seq, self._indexed, self._texts, self._at, self._listed, self._passages)
        self._run(SQL["touch_project"], (*counters, self._project))
        self._change = self._add_change()
        for n, item in enumerate(self._items):
            self._run(SQL["add_item"], (self._change, n, *item))
        return self._change

    @property
    def changed(self) -> bool:
        """Whether a memory or relation has been changed so far."""
        return bool(self._items) or self._seq > self._first

    @property
    def wrote(self) -> bool:
        """Whether there is anything to commit."""
        return self.changed or self._noted

    def _add_change(self) -> int:
        self._run(
            SQL["add_change"],
            (self._project, self._at, self._who, self._action, self._first, self._seq, self._undoes),
        )
        return self._db.last_insert_rowid()

    def _index_new(self) -> None:
        new = self._run(SQL["unindexed"], (self._base + self._indexed, self._base + self._seq)).fetchall()
        self._db.executemany(SQL["index"], ((id, text + _ENDS) for id, text in new))
        self._indexed = self._seq

    def _index_old(self, id: int, text: str) -> None:
        """Keep the index true for a row whose number it has passed already."""
        if id <= self._base + self._indexed:
            self._run(SQL["index"], (id, text + _ENDS))

    def _unindex(self, id: int) -> None:
        if id <= self._base + self._indexed:
            self._run(SQL["unindex"], (id,))

    def _drop_text(self, id: int) -> None:
        """A text goes: from the index of characters at once, in the word index it is marked."""
        self._unindex(id)
        if id <= self._base + self._listed:
            self._run(SQL["add_gone"], (id,))

    def _return_text(self, id: int, text: str) -> None:
        """A text comes back under its old number."""
        self._index_old(id, text)
        if id <= self._base + self._listed:
            self._run(SQL["drop_gone"], (id,))
            if not self._db.changes():  # it was not there when the index came by
                self._run(SQL["add_stale"], (id,))

    def _reword_head(self, id: int, name: str, kind: str) -> None:
        """A memory's kind, tags or summary are others now: what was made of the old ones goes."""
        vectors.forget(self._run, self._project, id)
        self._unindex(id)
        self._index_old(id, f"{rows.fold(name)}\x01{rows.fold(kind)}")
        if id <= self._base + self._listed:
            self._run(SQL["add_stale"], (id,))

    def _tag(self, id: int, tags: Iterable[str]) -> None:
        for tag in tags:
            self._run(SQL["add_tag"], (self._project, tag, id))

    def _untag(self, id: int, tags: Iterable[str]) -> None:
        for tag in tags:
            self._run(SQL["drop_tag"], (self._project, tag, id))

    def _tags_of(self, id: int) -> list[str]:
        row = self._run(SQL["tags_of"], (id,)).fetchone()
        return rows.decode(row[0]) if row is not None and row[0] else []

    def _next(self) -> int:
        self._seq += 1
        return self._base + self._seq

    def _journal(
        self,
        op: str,
        kind: str,
        ref: int,
        owner: int,
        before: dict[str, Any] | None,
        name: str | None = None,
        other: str | None = None,
    ) -> None:
        text = None if before is None else encode(before).decode()
        self._items.append((op, kind, ref, owner, text, name, other))

    def _bump(self, id: int, **before: Any) -> None:
        """One version more for a record, once in a transaction; ``before`` are other columns it changed."""
        if id > self._base + self._first:
            return  # made by this very change: its first version is still in the making
        if id not in self._bumped:
            self._bumped.add(id)
            version, updated = self._versions.get(id) or self._run(SQL["bookkeeping"], (id,)).fetchone()
            self._run(SQL["touch"], (version + 1, self._at, id))
            before = {**before, "version": version, "updated": updated}
        if before:
            self._journal("u", "m", id, id, before)

    def ids(self, names: Sequence[str]) -> dict[str, int]:
        """The ids of those of the names that exist. Who asks for one name is likely to change it."""
        if len(names) != 1:
            return super().ids(names)
        row = self._run(SQL["id_and_version_of"], (self._project, names[0])).fetchone()
        if row is None:
            return {}
        if row[0] not in self._bumped:
            self._versions[row[0]] = (row[1], row[2])
        return {names[0]: row[0]}

    def add_records(self, drafts: Sequence[EntityDraft]) -> list[Record]:
        """Store new records. The names must be free."""
        made, memories, texts = [], [], []
        at = self._at
        for draft in drafts:
            id, uid = self._next(), rows.new_uid(at)
            row = (
                id, self._project, uid, draft.name, draft.kind, rows.fold_or_none(draft.name),
                rows.fold_or_none(draft.kind), rows.look(draft.name), rows.json_or_none(draft.extra), at, at,
            )  # fmt: skip
            head = rows.head(draft)
            if any(value is not None for value in head):
                self._run(SQL["add_whole_memory"], (*row, *head))
                self._tag(id, draft.tags)
            else:
                memories.append(row)
            for text in draft.observations:
                self._written += len(text)
                texts.append((self._next(), id, rows.digest(text), text, rows.fold_or_none(text)))
            made.append(rows.drafted(draft, id, uid, at))
        self._db.executemany(SQL["add_memory"], memories)
        self._db.executemany(SQL["add_observation"], texts)
        self._texts += len(drafts) + len(texts)
        return made

    def replace_record(self, id: int, draft: EntityDraft) -> Record:
        """Give a record a new kind and new observations."""
        (old,) = self.load([id])
        self._remove_observations(id, self._run(SQL["texts"], (id,)).fetchall())
        before = (old.kind, rows.json_or_none(old.extra), *rows.head(old))
        after = (draft.kind, rows.json_or_none(draft.extra), *rows.head(draft))
        if before != after:
            self._run(SQL["set_head"], (draft.kind, rows.fold_or_none(draft.kind), *after[1:], id))
            changed = zip(("kind", "extra", *rows.HEAD_COLUMNS), before, after, strict=True)
            self._bump(id, **{column: was for column, was, now in changed if was != now})
            self._untag(id, old.tags)
            self._tag(id, draft.tags)
            self._reword_head(id, old.name, draft.kind)
        self.add_observations([(id, draft.observations)])
        self._bump(id)
        (new,) = self.load([id])
        return new

    def add_observations(self, additions: Sequence[tuple[int, Sequence[str]]]) -> None:
        """Append observations to records."""
        for id, texts in additions:
            if texts:
                for text in texts:
                    self._written += len(text)
                    given = (self._next(), id, rows.digest(text), text, rows.fold_or_none(text))
                    self._run(SQL["add_observation"], given)
                self._texts += len(texts)
                self._bump(id)

    def present_observations(self, id: int, texts: Sequence[str]) -> set[str]:
        """Which of the texts are already observations of the record."""
        return {
            text
            for text in set(texts)
            if any(found == text for _, found in self._run(SQL["equal_texts"], (id, rows.digest(text))))
        }

    def remove_observations(self, id: int, texts: Sequence[str]) -> int:
        """Remove every observation equal to one of the texts."""
        going = [
            (row, found)
            for text in dict.fromkeys(texts)
            for row, found in self._run(SQL["equal_texts"], (id, rows.digest(text))).fetchall()
            if found == text
        ]
        self._remove_observations(id, going)
        if going:
            self._bump(id)
        return len(going)

    def _remove_observations(self, memory: int, going: Iterable[tuple[Any, ...]]) -> None:
        for id, text in going:
            self._run(SQL["delete_observation"], (id,))
            self._texts -= 1
            self._drop_text(id)
            self._journal("d", "o", id, memory, {"memory": memory, "text": text})

    def remove_records(self, ids: Sequence[int]) -> None:
        """Remove records with their observations."""
        for id in ids:
            row = self._run(SQL["memory_row"], (id,)).fetchone()
            if row is None:
                continue
            self._remove_observations(id, self._run(SQL["texts"], (id,)).fetchall())
            self._untag(id, self._tags_of(id))
            self._run(SQL["delete_memory"], (id,))
            self._texts -= 1
            self._drop_text(id)
            before = dict(zip(rows.MEMORY_COLUMNS, row, strict=True))
            self._journal("d", "m", id, id, before, before["name"])

    def add_relations(self, relations: Iterable[tuple[str, str, str, dict[str, Any]]]) -> list[Relation]:
        """Store relations given as (source, target, type, extra keys)."""
        made = [
            Relation(id=self._next(), source=s, target=t, type=k, extra=extra, created=self._at)
            for s, t, k, extra in relations
        ]
        self._db.executemany(
            SQL["add_relation"],
            ((r.id, self._project, r.source, r.target, r.type, rows.json_or_none(r.extra), r.created) for r in made),
        )
        return made

    def remove_relations(self, ids: Sequence[int]) -> None:
        """Remove relations."""
        for id in ids:
            row = self._run(SQL["relation_row"], (id,)).fetchone()
            if row is None:
                continue
            self._run(SQL["delete_relation"], (id,))
            before = dict(zip(rows.RELATION_COLUMNS, row, strict=True))
            self._journal("d", "r", id, id, before, before["source"], before["target"])

    def set_extra(self, id: int, extra: dict[str, Any]) -> None:
        """Replace the foreign keys a record carries."""
        (old,) = self.load([id])
        if old.extra != extra:
            self._run(SQL["set_extra"], (rows.json_or_none(extra), id))
            self._bump(id, extra=rows.json_or_none(old.extra))

    def undo(self, change: int | None) -> Change:
        """Take back one change whole, as a change of its own."""
        from polymnia.storage.sqlite.undo import undo

        return undo(self, change)

    def purge(self, ids: Sequence[int]) -> None:
        """Remove records for good, deleted ones too."""
        # Known before anything goes: of several that bore one name, the first takes it from the journal.
        named = {id: {name for (name,) in self._run(SQL["names_of"], (id,)) if name is not None} for id in ids}
        for id, names in named.items():
            if not names or not self._base < id <= self._top:
                continue
            for relation in self.relations_of(sorted(names)):
                self._run(SQL["delete_relation"], (relation.id,))
                self._run(SQL["purge_items"], (relation.id,))
            self._forget_words(id)
            for row, _ in self._run(SQL["texts"], (id,)).fetchall():
                self._run(SQL["delete_observation"], (row,))
                self._unindex(row)
                self._texts -= 1
            if self._run(SQL["bookkeeping"], (id,)).fetchone() is not None:
                self._untag(id, self._tags_of(id))
                self._run(SQL["delete_memory"], (id,))
                self._unindex(id)
                self._texts -= 1
            self._run(SQL["purge_items"], (id,))
            for name in names:
                self._run(SQL["purge_named_items"], (self._base, self._top, name))
            self._journal("p", "m", id, id, None)
            self.purged = True
        if self.purged and self._indexed:
            # Deleting from the index only marks; merging it into one piece leaves nothing of what was deleted.
            self._run(SQL["merge_index"]).fetchall()

    def _forget_words(self, memory: int) -> None:
        """Take the texts of a record out of word index and vectors, whether they are there or were deleted before."""
        there = [memory - self._base, *(row - self._base for row, _ in self._run(SQL["texts"], (memory,)).fetchall())]
        once = {ref - self._base for _, _, kind, ref, *_ in self._run(SQL["items_of_owner"], (memory,)) if kind != "r"}
        texts = {text.id: text for text in self.texts_of(there)}
        for number in self.stale():
            texts.pop(number, None)
        if not self._is_read_alike():
            texts.clear()
        for number in {*there, *once}:
            vectors.forget(self._run, self._project, self._base + number)
            if number <= self._listed:
                alive = [texts[number]] if number in texts else []
                passages = list(self._analyst(alive)) if self._analyst is not None else []
                words.forget(self._run, self._project, number, passages)
                self._run(SQL["drop_gone"], (self._base + number,))
                self._unstale(self._base + number)

    def _unstale(self, id: int) -> None:
        self._run(SQL["drop_stale"], (id - 1, id))

    def list_words(self, most: int) -> int:
        """Bring up to so many texts into the word index; answers how many still wait."""
        self._noted = True
        self._list_words(most)
        self._run(SQL["set_listed"], (self._listed, self._passages, self._project))
        return self._seq - self._listed

    def _list_words(self, most: int) -> None:
        if self._analyst is None:
            return
        if not self._is_read_alike():
            self.drop_words()
            self.note(_VERSION, self._analyst.version)
        last = min(self._listed + most, self._seq)
        if stale := self.texts_of(self.stale()):
            self._add_words(stale)
            for text in stale:  # one that is deleted now and comes back will still have to be indexed
                self._unstale(self._base + text.id)
        while self._listed < last:
            # In slices: what is in the making lies in memory.
            end = min(self._listed + _MOST_LISTED, last)
            self._add_words(self.texts(self._listed, end))
            self._listed = end

    def _is_read_alike(self) -> bool:
        """Whether the texts of the word index were read as our analyst reads them."""
        return self._analyst is not None and self.noted(_VERSION) == self._analyst.version

    def _add_words(self, texts: Iterable[Text]) -> None:
        assert self._analyst is not None
        passages = self._analyst(texts)
        self._passages = words.add(self._run, self._db.executemany, self._project, self._passages, passages)

    def drop_words(self) -> None:
        """Empty the word index."""
        self._noted = True
        for statement in ("drop_blocks", "drop_postings"):
            self._run(SQL[statement], (self._project,))
        for statement in ("drop_all_gone", "drop_stale"):
            self._run(SQL[statement], (self._base, self._top))
        self._listed = self._passages = 0
        self._edition += 1
        self._run(SQL["begin_edition"], (self._edition, self._project))

    def put_vectors(self, model: str, dimensions: int, given: Sequence[Vector]) -> int:
        """Keep vectors of texts that are still there; answers how many were kept."""
        self._noted = True
        return vectors.put(self._db, self._project, self._base, model, dimensions, given)

    def drop_vectors(self, keep: Sequence[str]) -> int:
        """Let go of the vectors of every model but these."""
        self._noted = True
        return vectors.drop(self._run, self._project, (self._base, self._top), keep)

    def note(self, key: str, value: str | None) -> None:
        """Keep a small fact about the project beside its memories."""
        self._noted = True
        if value is None:
            self._run(SQL["forget_fact"], (self._project, key))
        else:
            self._run(SQL["set_fact"], (self._project, key, value))
