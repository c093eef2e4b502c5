"""Imports what another program remembered as one change, and keeps a folder of notes in step with the memory.

A memory is known again by its id, which is made from what identifies it in its source. Where the source and the memory
here differ, the one that was changed wins; if both were, the one that was changed last.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import BinaryIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import content, scopes
from polymnia.engine.ports import Snapshot, Transaction
from polymnia.engine.project import Step
from polymnia.engine.text.calendar import parse_time
from polymnia.engine.transfer.fields import Ends, digest, draft, page_relation
from polymnia.engine.transfer.foreign.items import (
    EDITED,
    FILE,
    LEFT_OUT,
    MEMORIES,
    RELATIONS,
    TURN,
    ForeignSource,
    stable_id,
    text_id,
)
from polymnia.engine.transfer.foreign.notes import BASE
from polymnia.engine.transfer.formats.page import relations_digest
from polymnia.engine.transfer.formats.records import Item, JsonObject
from polymnia.engine.transfer.graphs import Existing
from polymnia.engine.transfer.imports import PART, Importer
from polymnia.models import EntityDraft, Limits, Record, RelationDraft

_FOLDER = "folder"


class ForeignImport(Struct, frozen=True, kw_only=True):
    """The result of an import. ``kinds`` counts for each kind of memory how many are new, changed, unchanged and kept.

    A memory is kept where it is newer here than in the source. ``removed`` are memories whose files are gone, ``moved``
    the former files of memories that have another one now.
    ``dropped`` counts by reason what the source has and was not imported, ``problems`` lists the records among them.
    """

    kinds: dict[str, dict[str, int]] = {}
    relations: int = 0
    relations_known: int = 0
    relations_removed: int = 0
    removed: int = 0
    moved: list[str] = []
    dropped: dict[str, int] = {}
    problems: list[str] = []

    @property
    def changed(self) -> bool:
        """Whether anything is different now."""
        done = sum(counts.get("new", 0) + counts.get("changed", 0) for counts in self.kinds.values())
        return bool(done or self.relations or self.relations_removed or self.removed)

    @property
    def found(self) -> int:
        """The number of memories in the source."""
        return sum(sum(counts.values()) for counts in self.kinds.values())


class FileState(Struct, omit_defaults=True):
    """What a file of a folder became at its last import: ids of memories, their digests, and its relations."""

    ids: dict[str, str] = {}
    links: list[tuple[str, str, str]] = []


def import_foreign(
    tx: Transaction,
    source: ForeignSource,
    *,
    existing: Existing,
    prefix: str | None,
    limits: Limits,
    changed: int,
    root: str | None = None,
    gone: Sequence[str] = (),
    delete_gone: bool = True,
    step: Step | None = None,
) -> ForeignImport:
    """Import a source. ``changed`` is when it was last changed, in microseconds, where it does not tell itself.

    ``root`` is the folder that its items tell files of. A note that was moved in it, so that its file is ``gone`` and
    another one has its title, stays the same memory; memories of other files that are gone are deleted if so chosen.
    """
    file = _Foreign(source, limits, existing, prefix, changed, None if root is None else _Folder(tx, root, gone))
    links = file.add_memories(tx, step)
    if step is not None:
        step(len(file.uids), len(file.uids))
    removed = file.delete(tx, gone) if delete_gone else 0
    file.relate_all(tx, links)
    return file.result(tx, removed)


def missing_files(snapshot: Snapshot, root: str, present: Iterable[str]) -> list[str]:
    """The files of a folder that an earlier import took and that are no longer there."""
    start = _Folder(snapshot, root).key("")
    end = start[:-1] + chr(ord(start[-1]) + 1)
    there = set(present)
    keys: list[str] = []
    while True:
        some = snapshot.notes(start if not keys else keys[-1] + "\0", end, PART)
        keys += some
        if len(some) < PART:
            return [name for key in keys if (name := key.partition("/")[2].partition("/")[2]) not in there]


class _Folder:
    """What is known of the files of a folder."""

    def __init__(self, snapshot: Snapshot, root: str, gone: Iterable[str] = ()) -> None:
        self._snapshot = snapshot
        self._root = sha256(root.encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._before: dict[str, FileState] = {}
        self.states: dict[str, FileState] = {}  # of this import, by file
        self.moved: dict[str, str] = {}  # file → what it was before
        files = {id: file for file in gone for id in self.before(file).ids}
        records = snapshot.load(list(snapshot.ids_of(list(files)).values())) if files else []
        self._left = {record.name: files[record.uid] for record in records}  # name of a memory → its file that is gone

    def key(self, file: str) -> str:
        return f"{_FOLDER}/{self._root}/{file}"

    def before(self, file: str) -> FileState:
        """What a file was when it was last imported."""
        file = self.moved.get(file, file)
        if file not in self._before:
            noted = self._snapshot.noted(self.key(file))
            self._before[file] = FileState() if noted is None else msgspec.json.decode(noted, type=FileState)
        return self._before[file]

    def id_of(self, file: str, id: str, name: str) -> str:
        """The id of the memory of a note: that of its first file, or ``id`` if it is new and no moved note has it."""
        if not self.before(file).ids and name in self._left:
            self.moved[file] = self._left.pop(name)
        if ids := self.before(file).ids:
            return id if id in ids else next(iter(ids))
        found = self._snapshot.ids_of([id])
        taken = self._snapshot.load(list(found.values())) if found else []
        return stable_id(id, file) if any(record.metadata.get(FILE, file) != file for record in taken) else id


class _Foreign(Importer):
    sections = (MEMORIES, RELATIONS)
    id_field = "id"
    file = "the source"

    def __init__(
        self,
        source: ForeignSource,
        limits: Limits,
        existing: Existing,
        prefix: str | None,
        changed: int,
        folder: _Folder | None,
    ) -> None:
        super().__init__(io.BytesIO, limits)
        self._source = source
        self._existing = existing
        self._prefix = prefix
        self._changed = changed
        self._folder = folder
        self._about: dict[str, JsonObject] = {}  # what a record tells beside the memory, until it is written
        self._files: dict[str, str] = {}  # id → file
        self._link_files: dict[int, str] = {}  # position of a relation → file
        self._first: dict[str, str] = {}  # id → the first file that has it
        self._copies: set[str] = set()  # files with the memory of another one
        self._called: dict[str, str] = {}  # id of an end → the name it is given by
        self._ids: dict[str, str] = {}  # id of a note by its file → id of its memory, where that is another
        self._edited: dict[str, str] = {}  # id of a page whose relations were edited → their digest before
        self._misread: set[str] = set()  # pages and files with a relation that cannot be read, which may be a known one
        self._kinds: dict[str, Counter[str]] = {}
        self._relations: Counter[str] = Counter()

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────────

    def read(self, source: BinaryIO) -> Iterator[Item]:
        positions: Counter[str] = Counter()
        for section, _, value in self._source.read():
            if section == LEFT_OUT:
                self.drop(str(value))
                continue
            assert isinstance(value, dict)
            name = value.pop(FILE, None)
            if section == MEMORIES:
                about = {key: value.pop(key, None) for key in (EDITED, BASE)}
                id = str(value.get("memory_id", ""))
                self._about[id] = about
                if name is not None:
                    self._files[id] = name
                    self._state(name)
            elif section == RELATIONS:
                if name is not None:
                    self._link_files[positions[section]] = name
                for end in ("source", "target"):
                    if end in value and (called := value.pop(f"{end}_name", None)) is not None:
                        self._called[str(value[end])] = str(called)
            else:
                self._edited[str(value["memory_id"])] = str(value[BASE])
                continue
            yield Item(section, positions[section], value)
            positions[section] += 1

    def _state(self, file: str) -> FileState:
        assert self._folder is not None or file
        return self._folder.states.setdefault(file, FileState()) if self._folder is not None else FileState()

    def draft(self, value: JsonObject) -> EntityDraft:
        in_session = str(value.get("scope", "")).startswith(f"{scopes.SESSIONS}/")
        made = draft(value, self._limits, None if in_session else self._prefix)
        if (file := self._files.get(made.uid or "")) is not None:
            if self._folder is not None and self._about[made.uid or ""][BASE] is None:
                made = self._known(made, file, self._folder)
            self._state(file).ids[made.uid or ""] = digest(made)
        return made

    def _known(self, made: EntityDraft, file: str, folder: _Folder) -> EntityDraft:
        """A note with the id of its memory, which it has from its first file."""
        own = made.uid or ""
        id = folder.id_of(file, own, made.name)
        if id == own:
            return made
        self._about[id], self._files[id], self._ids[own] = self._about[own], file, id
        return replace(made, uid=id)

    def _is_new(self, item: Item, draft: EntityDraft) -> bool:
        file = self._files.get(draft.uid or "")
        if draft.uid in self.uids:
            first = self._first.get(draft.uid or "")
            if file is None or first is None:
                self.drop("memories that the source has twice")
            else:
                self._copies.add(file)
                if self._folder is not None:
                    self._folder.states.pop(file, None)
                self.drop(f"{file}: it has the memory_id of {first}, which was taken")
            return False
        if file is not None:
            self._first[draft.uid or ""] = file
        return super()._is_new(item, draft)

    def refuse(self, item: Item, why: str) -> None:
        value = item.value if isinstance(item.value, dict) else {}
        if item.section == RELATIONS:
            file = self._link_files.get(item.position)
            self._misread |= {str(value.get("source")), file or ""}
        else:
            file = self._files.get(str(value.get("memory_id")))
        super().refuse(item, why if file is None else f"{file}: {why}")

    # ── writing ───────────────────────────────────────────────────────────────────────────────────────────

    def is_known_by_text(self, one: EntityDraft) -> bool:
        """Whether a memory that says exactly the same is the same one: a turn is not, for people repeat themselves."""
        return one.name == one.uid and len(one.observations) == 1 and one.kind != TURN

    def is_same(self, one: EntityDraft, record: Record) -> bool:
        return record.scope == one.scope and record.name == record.uid

    def _matched(
        self, tx: Transaction, drafts: list[EntityDraft], before: int
    ) -> Iterator[tuple[EntityDraft, Record | None]]:
        for one, found in super()._matched(tx, drafts, before):
            taken = found is not None and found.uid != one.uid and found.name == one.name
            if found is not None and taken and digest(one) != digest(content.as_draft(found)):
                # The name belongs to something else: both are kept, and this one is told apart by where it comes from.
                yield replace(one, name=self._other_name(tx, one)), None
            else:
                yield one, found

    def _other_name(self, tx: Transaction, one: EntityDraft) -> str:
        file = self._files.get(one.uid or "")
        name = f"{one.name} ({file or (one.uid or '')[:8]})"
        return name if not tx.ids([name]) else f"{one.name} ({one.uid})"

    def add_new(self, tx: Transaction, drafts: list[EntityDraft]) -> None:
        for record in tx.add_records(drafts):
            self._names[record.uid] = record.name
            self._count(record.kind, "new")

    def merge(self, tx: Transaction, existing: Record, one: EntityDraft) -> None:
        if existing.uid == one.uid and existing.name != one.name and self._about.get(one.uid, {}).get(BASE) is not None:
            self.drop(f"{self._files[one.uid]}: its memory is called {existing.name!r:.80} here, and keeps that name")
        here, there = digest(content.as_draft(existing)), digest(one)
        texts = one.observations
        same_text = len(texts) == 1 and texts == existing.observations and one.uid == text_id(texts[0])
        if existing.uid != one.uid or (same_text and self._existing != "replace"):
            # It says the same and may come from elsewhere: what the source adds is joined to it.
            added = {} if self._existing == "keep" else _added(existing, one)
            if added:
                tx.revise(existing.id, added)
            self._count(one.kind, "changed" if added else "unchanged")
        elif here == there or self._existing == "keep":
            self._count(one.kind, "unchanged" if here == there else "kept")
        elif self._existing == "replace" or self._is_newer(existing, one, here, there):
            scopes.begin(tx, one.session)
            created = existing.created if one.created is None else one.created
            tx.replace_record(existing.id, replace(one, name=existing.name, created=created, updated=None))
            self._count(one.kind, "changed")
        else:
            self._count(one.kind, "kept")

    def _is_newer(self, existing: Record, one: EntityDraft, here: str, there: str) -> bool:
        """Whether the source has changed a memory since it was imported or exported, and later than it changed here."""
        about = self._about.get(one.uid or "", {})
        base = None
        if self._folder is not None and (name := self._files.get(one.uid or "")) is not None:
            base = self._folder.before(name).ids.get(one.uid or "")
        base = base or about.get(BASE)
        if there == base:
            return False
        if here == base:
            return True
        edited = about.get(EDITED)
        at = parse_time(edited, EDITED) if edited is not None else one.updated or self._changed
        return at > existing.updated

    def _count(self, kind: str, what: str) -> None:
        self._kinds.setdefault(kind, Counter())[what] += 1

    # ── relations ─────────────────────────────────────────────────────────────────────────────────────────

    def relate_all(self, tx: Transaction, links: list[tuple[Item, Ends]]) -> None:
        """Add the relations, and remove those that a file no longer has."""
        drafts: list[RelationDraft] = []
        ends_by_id = (end for _, ends in links for end, is_id in ends[:2] if is_id)
        unknown = {id for end in ends_by_id if (id := self._ids.get(end, end)) not in self._names}
        found = tx.ids_of(list(unknown)) if unknown else {}
        uids = {id: uid for uid, id in found.items()}
        self._names.update({uids[record.id]: record.name for record in tx.load(list(found.values()))})
        for item, (source, target, relation) in links:
            if self._link_files.get(item.position) in self._copies:
                continue
            names = [self._name_of(*end) for end in (source, target)]
            if None in names:
                self.drop("relations: an end is not in the source")
                continue
            made = replace(relation, source=names[0] or "", target=names[1] or "")
            drafts.append(made)
            if (file := self._link_files.get(item.position)) is not None:
                self._state(file).links.append((made.source, made.target, made.type))
        self._remove_edited(tx, drafts)
        for start in range(0, len(drafts), PART):
            some = drafts[start : start + PART]
            new = self.relate(tx, some)
            self._relations["new"] += new
            self._relations["known"] += len(some) - new
        if self._folder is not None:
            self._remove_links(tx, self._folder)

    def _name_of(self, end: str, is_id: bool) -> str | None:
        return self._names.get(self._ids.get(end, end)) or self._called.get(end) if is_id else end

    def _remove_links(self, tx: Transaction, folder: _Folder) -> None:
        for name, state in folder.states.items():
            now = set(state.links)
            gone = [ends for ends in folder.before(name).links if tuple(ends) not in now]
            if name in self._misread:
                state.links += gone
            elif gone:
                self._remove(tx, [one.id for one in tx.find_relations(gone)])

    def _remove_edited(self, tx: Transaction, drafts: list[RelationDraft]) -> None:
        """Remove relations that were edited or taken off a page, unless there are others here since it was written."""
        listed = {msgspec.json.encode((one.source, page_relation(one))) for one in drafts} if self._edited else set()
        for id, base in self._edited.items():
            name = None if id in self._misread else self._names.get(id)
            stored = [(one, page_relation(one)) for one in tx.relations_from([name])] if name is not None else []
            if relations_digest(shown for _, shown in stored) == base:
                old = [one.id for one, shown in stored if msgspec.json.encode((one.source, shown)) not in listed]
                self._remove(tx, old)

    def _remove(self, tx: Transaction, ids: list[int]) -> None:
        tx.remove_relations(ids)
        self._relations["removed"] += len(ids)

    # ── the result ────────────────────────────────────────────────────────────────────────────────────────

    def result(self, tx: Transaction, removed: int) -> ForeignImport:
        """Remember what became of each file, and count."""
        if self._folder is not None:
            for file in self._folder.moved.values():
                tx.note(self._folder.key(file), None)
            for file, state in self._folder.states.items():
                tx.note(self._folder.key(file), msgspec.json.encode(state).decode())
        return ForeignImport(
            kinds={kind: dict(counts) for kind, counts in self._kinds.items()},
            relations=self._relations["new"],
            relations_known=self._relations["known"],
            relations_removed=self._relations["removed"],
            removed=removed,
            moved=[] if self._folder is None else sorted(self._folder.moved.values()),
            dropped=self.dropped,
            problems=self.problems(),
        )

    def delete(self, tx: Transaction, gone: Iterable[str]) -> int:
        """Delete the memories of files that are gone, unless another file has them now."""
        if self._folder is None:
            return 0
        removed = 0
        for file in gone:
            ids = [id for id in self._folder.before(file).ids if id not in self.uids]
            records = tx.load(list(tx.ids_of(ids).values())) if ids else []
            names = [record.name for record in records]
            tx.remove_relations([one.id for one in tx.relations_of(names)] if names else [])
            tx.remove_records([record.id for record in records])
            removed += len(records)
            if file not in self._folder.moved.values():
                tx.note(self._folder.key(file), None)
        return removed


def _added(there: Record, one: EntityDraft) -> JsonObject:
    """What a memory of the source has beyond one here that says the same."""
    changes: JsonObject = {
        "tags": (*there.tags, *(tag for tag in one.tags if tag not in there.tags)),
        "metadata": one.metadata | there.metadata,
        "kind": one.kind if there.kind == content.KIND else there.kind,
    }
    return {key: value for key, value in changes.items() if value != getattr(there, key)}
