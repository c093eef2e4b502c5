"""Archives out of and into a project: all memories, or those of a scope and everything below it."""

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
    """What an export came to. ``path`` is where the file lies; without one ``data`` is the archive itself.

    Compressed data travels as base64. ``replaced`` says that a file of that name was there before.
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
    """Write an archive to a file of the folder, or into the answer."""
    filters = Filters() if scope is None else Filters(scope=scope, scopes_below=True)
    uids: dict[str, str] = {}
    linked = 0

    def memories() -> Iterator[JsonObject]:
        for record in records_of(snapshot, filters, step):
            uids[record.name] = record.uid
            yield memory(record)

    def links() -> Iterator[JsonObject]:
        """Those with both ends in the archive; of everything, also those whose ends name nothing yet."""
        nonlocal linked
        for relation in snapshot.relations() if associations else ():
            if scope is None or (relation.source in uids and relation.target in uids):
                linked += 1
                yield association(relation, uids)

    if name is None:
        out = _Bounded(limits.inline_bytes)
        size = archive.write(out, form, scope, memories(), links(), gzip=gzip)
        data = base64.b64encode(out.getvalue()).decode() if gzip else out.getvalue().decode()
        return Exported(count=len(uids), associations=linked, bytes=size, data=data)
    path = os.path.join(folder.path, name)
    try:
        with folder.create(name) as file:
            replaced = os.path.lexists(path)
            size = archive.write(file, form, scope, memories(), links(), gzip=gzip)
    except (Forbidden, NoSpace) as e:
        raise ExportFailed(e.message, hint=e.hint) from e
    return Exported(count=len(uids), associations=linked, bytes=size, path=path, replaced=replaced)


class _Bounded(io.BytesIO):
    """Takes so many bytes and no more: an answer has to fit into a message."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def write(self, data: Any) -> int:
        if self.tell() + len(data) > self._most:
            raise ExportFailed(
                f"The archive is larger than {self._most:,} bytes, which is the most that an answer can carry",
                hint="Give a file_path to write it to a file, or a scope to export less.",
            )
        return super().write(data)


# ── import ────────────────────────────────────────────────────────────────────────────────────────────────


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
    file = _Archive(open, limits, prefix, "skip_duplicates")
    loose = file.loose_links(named=False)
    known = content.finds(snapshot, list({end for _, ends in loose for end in ends})) if loose else {}
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
    """Take an archive into the project, all of it as one change. What cannot be taken is left out and reported.

    A ``prefix`` is where new memories are filed; one that is here stays where it is, whatever the strategy.

    ``total`` is how many memories there are, where that is known.
    """
    file = _Archive(open, limits, prefix, strategy)
    links = file.add_memories(tx, step, total)
    if step is not None and len(file.uids) % PART:
        step(total or len(file.uids), total)
    drawn = []
    for item, ends in links:
        names, missing = file.names_of(tx, ends)
        if missing:
            file.refuse(item, _missing_ends(missing))
        else:
            drawn.append(replace(ends[2], source=names[0], target=names[1]))
    related = file.relate(tx, drawn, anew=strategy == "overwrite")
    return ImportedMemories(
        **file.counts,
        associations=related,
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
        """Whether a memory bears no name but its id and says one thing."""
        return one.name == one.uid and len(one.observations) == 1

    def is_same(self, one: EntityDraft, record: Record) -> bool:
        return record.scope == one.scope and record.name == record.uid

    def add_new(self, tx: Transaction, drafts: list[EntityDraft]) -> None:
        for made in tx.add_records(drafts):
            self._names[made.uid] = made.name
            self.scopes.add(made.path)

    def merge(self, tx: Transaction, there: Record, one: EntityDraft) -> None:
        strategy = self._strategy
        if strategy == "skip_duplicates":
            self.counts["skipped"] += 1
            return
        if self._prefix is not None:
            one = replace(one, scope=there.scope, session=there.session)
        self.scopes.add(scopes.shown(there.scope if strategy == "merge_metadata" else one.scope))
        self.counts["overwritten"] += 1
        if strategy == "overwrite":
            updated = one.updated if one.updated is not None else there.updated
            tx.replace_record(there.id, replace(one, name=there.name, updated=updated))
        elif strategy == "create_versions":
            self.counts["versions"] += 1
            tx.replace_record(there.id, replace(one, name=there.name, updated=None))
        else:
            self.counts["merged"] += 1
            tags = tuple(dict.fromkeys((*there.tags, *one.tags)))
            tx.revise(there.id, {"metadata": there.metadata | one.metadata, "tags": tags})

    def names_of(self, tx: Transaction, ends: Ends) -> tuple[list[str], list[str]]:
        """The names of the memories at the ends of an association, and the ends that are nowhere."""
        names: list[str] = []
        missing: list[str] = []
        for end, is_id in ends[:2]:
            name = self._names.get(end) if is_id else end
            if name is None and (found := tx.load(list(content.finds(tx, [end]).values()))):
                name = self._names[end] = found[0].name
            if name is None:
                missing.append(end)
            else:
                names.append(name)
        return names, missing
