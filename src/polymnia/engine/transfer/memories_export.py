"""Exporting memories to an archive: all of them, or those of a scope and everything below it."""

from __future__ import annotations

import base64
import io
import os
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from msgspec import Struct

from polymnia.engine.graph import Step
from polymnia.engine.ports import Snapshot
from polymnia.engine.transfer import archive
from polymnia.engine.transfer.archive import ArchiveForm
from polymnia.engine.transfer.folder import Folder
from polymnia.engine.transfer.memories import association, memory
from polymnia.errors import ExportFailed, Forbidden, NoSpace
from polymnia.models import Filters, Limits

__all__ = ["Exported", "export_memories"]

_PART = 500


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
    source = _Source(snapshot, scope, step)

    def write(out: BinaryIO) -> archive.Written:
        links = source.associations() if associations else iter(())
        return archive.write(out, form, scope, source.memories(), links, gzip=gzip)

    if name is None:
        return _inline(write, gzip, limits)
    path = os.path.join(folder.path, name)
    try:
        with folder.create(name) as file:
            replaced = os.path.lexists(path)
            written = write(file)
    except (Forbidden, NoSpace) as e:
        raise ExportFailed(e.message, hint=e.hint) from e
    return Exported(
        count=written.count, associations=written.associations, bytes=written.bytes, path=path, replaced=replaced
    )


def _inline(write: Callable[[BinaryIO], archive.Written], gzip: bool, limits: Limits) -> Exported:
    out = _Bounded(limits.inline_bytes)
    written = write(out)
    held = out.getvalue()
    data = base64.b64encode(held).decode() if gzip else held.decode()
    return Exported(count=written.count, associations=written.associations, bytes=written.bytes, data=data)


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


class _Source:
    """The records of an export, in the order of their making, a part at a time."""

    def __init__(self, snapshot: Snapshot, scope: str | None, step: Step | None) -> None:
        self._snapshot = snapshot
        self._scope = scope
        self._step = step
        self._uids: dict[str, str] = {}

    def memories(self) -> Iterator[dict[str, Any]]:
        base = self._snapshot.numbers[0] << 32
        wanted = Filters() if self._scope is None else Filters(scope=self._scope, scopes_below=True)
        ids = [base + number for number in self._snapshot.matching(wanted)]
        for start in range(0, len(ids), _PART):
            self._tell(start, len(ids))
            for record in self._snapshot.load(ids[start : start + _PART]):
                self._uids[record.name] = record.uid
                yield memory(record)
        self._tell(len(ids), len(ids))

    def associations(self) -> Iterator[dict[str, Any]]:
        """Those with both ends in the archive; of everything, also those whose ends name nothing yet."""
        for relation in self._snapshot.relations():
            inside = relation.source in self._uids and relation.target in self._uids
            if inside or self._scope is None:
                yield association(relation, self._uids)

    def _tell(self, done: int, total: int) -> None:
        if self._step is not None and total:
            self._step(done, total)
