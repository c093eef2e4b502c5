"""Exports and imports archives: all memories of a project, or those of a scope and its subscopes."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Iterator
from typing import Any, BinaryIO, Literal

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import content, scopes
from polymnia.engine.ports import Snapshot, Transaction
from polymnia.engine.project import Step
from polymnia.engine.transfer.fields import Ends, association, draft, memory, records_of
from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.formats import archive
from polymnia.engine.transfer.formats.archive import ArchiveForm
from polymnia.engine.transfer.formats.records import FileLimits, Item, JsonObject
from polymnia.engine.transfer.imports import PART, Importer, Open
from polymnia.errors import ExportFailed, Forbidden, NoSpace
from polymnia.models import EntityDraft, Filters, Limits, Record

Strategy = Literal["skip_duplicates", "overwrite", "create_versions", "merge_metadata"]


# ── export ────────────────────────────────────────────────────────────────────────────────────────────────


class Exported(Struct, frozen=True, kw_only=True):
    """The result of an export. ``path`` is the file's path; without one ``data`` is the archive itself.

    Compressed data is base64-encoded. ``replaced`` tells whether a file of that name was overwritten.
    """

    count: int
    associations: int
    bytes: int
    path: str | None = None
    data: str | None = None
    replaced: bool = False


def export_memories(
    snapshot: Snapshot,
    *,
    scope: str | None,
    form: ArchiveForm,
    gzip: bool,
    associations: bool,
    folder: Folder,
    name: str | None,
    limits: Limits,
    step: Step | None = None,
) -> Exported:
    """Write an archive to a file in the folder, or return it inline if there is no name."""

    def write(out: BinaryIO) -> tuple[int, int, int]:
        return write_archive(snapshot, out, scope=scope, form=form, gzip=gzip, associations=associations, step=step)

    if name is None:
        out = _Bounded(limits.inline_bytes)
        count, linked, size = write(out)
        data = base64.b64encode(out.getvalue()).decode() if gzip else out.getvalue().decode()
        return Exported(count=count, associations=linked, bytes=size, data=data)
    path = os.path.join(folder.path, name)
    try:
        with folder.create(name) as file:
            replaced = os.path.lexists(path)
            count, linked, size = write(file)
    except (Forbidden, NoSpace) as e:
        raise ExportFailed(e.message, hint=e.hint) from e
    return Exported(count=count, associations=linked, bytes=size, path=path, replaced=replaced)


def write_archive(
    snapshot: Snapshot,
    out: BinaryIO,
    *,
    scope: str | None = None,
    form: ArchiveForm = "json",
    gzip: bool = False,
    associations: bool = True,
    step: Step | None = None,
) -> tuple[int, int, int]:
    """Write an archive; returns its number of memories and of associations, and its size."""
    filters = Filters() if scope is None else Filters(scope=scope, scopes_below=True)
    uids: dict[str, str] = {}
    linked = 0

    def memories() -> Iterator[JsonObject]:
        for record in records_of(snapshot, filters, step):
            uids[record.name] = record.uid
            yield memory(record)

    def links() -> Iterator[JsonObject]:
        """Relations with both ends in the archive; a full export also has those with dangling ends."""
        nonlocal linked
        for relation in snapshot.relations() if associations else ():
            if scope is None or (relation.source in uids and relation.target in uids):
                linked += 1
                yield association(relation, uids)

    size = archive.write(out, form, scope, memories(), links(), gzip=gzip)
    return len(uids), linked, size


class _Bounded(io.BytesIO):
    """A buffer with a maximum size, because a result has to fit into a message."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__()
        self._max_bytes = max_bytes

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self._max_bytes:
            raise ExportFailed(
                f"The archive is larger than {self._max_bytes:,} bytes, which is the most that an answer can carry",
                hint="Give a file_path to write it to a file, or a scope to export less.",
            )
        return super().write(data)


# ── import ────────────────────────────────────────────────────────────────────────────────────────────────


class ImportedMemories(Struct, frozen=True, kw_only=True):
    """The result of an import, counted in memories; ``problems`` lists the skipped records and why.

    ``dropped`` counts by reason everything in the file that was not imported.
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
    """List everything in an archive that cannot be imported, with position and reason; also count its memories."""
    file = _Archive(open, limits, prefix, "skip_duplicates")
    loose = file.loose_links(named=False)
    known = content.find_ids(snapshot, list({end for _, ends in loose for end in ends})) if loose else {}
    for item, ends in loose:
        if missing := [end for end in ends if end not in known]:
            file.refuse(item, _missing_ends(missing))
    return file.problems(), len(file.uids)


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
    """Import an archive into the project as one change; invalid records are skipped and reported.

    New memories are filed below ``prefix``; existing ones stay in their scope, whatever the strategy.
    ``total`` is the number of memories in the archive, 0 if unknown.
    """
    file = _Archive(open, limits, prefix, strategy)
    links = file.add_memories(tx, step, total)
    if step is not None and len(file.uids) % PART:
        step(total or len(file.uids), total)
    relations = []
    for item, ends in links:
        names, missing = file.names_of(tx, ends)
        if missing:
            file.refuse(item, _missing_ends(missing))
        else:
            relations.append(replace(ends[2], source=names[0], target=names[1]))
    related_count = file.relate(tx, relations, replace=strategy == "overwrite")
    return ImportedMemories(
        **file.counts,
        associations=related_count,
        scopes=sorted(file.scopes),
        problems=file.problems(),
        dropped=file.dropped,
    )


def _missing_ends(missing: list[str]) -> str:
    return f"there is no memory {' or '.join(f'{end!r:.80}' for end in dict.fromkeys(missing))} in the archive or here"


class _Archive(Importer):
    sections = ("memories", "associations")
    id_field = "memory_id"
    file = "an archive"

    def __init__(self, open: Open, limits: Limits, prefix: str | None, strategy: Strategy) -> None:
        super().__init__(open, limits)
        self._prefix = prefix
        self._strategy = strategy
        self.scopes: set[str] = set()

    def read(self, source: BinaryIO) -> Iterator[Item]:
        return archive.read(source, FileLimits(total=self._limits.import_bytes))

    def draft(self, value: JsonObject) -> EntityDraft:
        return draft(value, self._limits, self._prefix)

    def is_known_by_text(self, one: EntityDraft) -> bool:
        """Whether a memory has no name other than its id and a single observation."""
        return one.name == one.uid and len(one.observations) == 1

    def is_same(self, one: EntityDraft, record: Record) -> bool:
        return record.scope == one.scope and record.name == record.uid

    def add_new(self, tx: Transaction, drafts: list[EntityDraft]) -> None:
        for record in tx.add_records(drafts):
            self._names[record.uid] = record.name
            self.scopes.add(record.path)

    def merge(self, tx: Transaction, existing: Record, one: EntityDraft) -> None:
        strategy = self._strategy
        if strategy == "skip_duplicates":
            self.counts["skipped"] += 1
            return
        if self._prefix is not None:
            one = replace(one, scope=existing.scope, session=existing.session)
        self.scopes.add(scopes.shown(existing.scope if strategy == "merge_metadata" else one.scope))
        self.counts["overwritten"] += 1
        if strategy == "overwrite":
            updated = one.updated if one.updated is not None else existing.updated
            tx.replace_record(existing.id, replace(one, name=existing.name, updated=updated))
        elif strategy == "create_versions":
            self.counts["versions"] += 1
            tx.replace_record(existing.id, replace(one, name=existing.name, updated=None))
        else:
            self.counts["merged"] += 1
            tags = tuple(dict.fromkeys((*existing.tags, *one.tags)))
            tx.revise(existing.id, {"metadata": existing.metadata | one.metadata, "tags": tags})

    def names_of(self, tx: Transaction, ends: Ends) -> tuple[list[str], list[str]]:
        """The names of the memories at the ends of an association, and the ends that do not exist."""
        names: list[str] = []
        missing: list[str] = []
        for end, is_id in ends[:2]:
            name = self._names.get(end) if is_id else end
            if name is None and (found := tx.load(list(content.find_ids(tx, [end]).values()))):
                name = self._names[end] = found[0].name
            if name is None:
                missing.append(end)
            else:
                names.append(name)
        return names, missing
