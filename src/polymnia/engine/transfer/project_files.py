"""Project files: the items and relationships of a project as one file, in JSON, CSV, Markdown or zip.

All four keep every field of every item and relationship; CSV has no place for the head. The same records give the same
bytes, and one record is held at a time, both ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, BinaryIO

from msgspec import Struct

from polymnia.engine.transfer.archive_item import ArchiveLimits, Broken, cannot_read
from polymnia.engine.transfer.archive_source import Source
from polymnia.engine.transfer.gathering import gathered
from polymnia.engine.transfer.project_item import DEPTH, ITEM, RELATIONSHIP, Counting, ProjectForm, ProjectItem

__all__ = ["ArchiveLimits", "Broken", "ProjectForm", "ProjectItem", "Written", "read", "write"]

_CHUNK = 128 * 1024
_ZIP = b"PK\x03\x04", b"PK\x05\x06"


class Written(Struct, frozen=True):
    """What a file came to: its items, relationships and earlier versions, and its bytes as they lie in it."""

    items: int
    relationships: int
    versions: int
    bytes: int


def write(
    out: BinaryIO,
    form: ProjectForm,
    head: Mapping[str, Any],
    items: Iterable[Mapping[str, Any]],
    relationships: Iterable[Mapping[str, Any]],
    *,
    compress: bool = False,
    bom: bool = True,
) -> Written:
    """Write a project file. The items are read before the relationships, each once; the caller closes ``out``.

    ``compress`` makes gzip of a text and deflates the entries of a zip. ``bom`` begins CSV with a byte order mark.
    """
    told = Counting(items, "items", ITEM)
    linked = Counting(relationships, "relationships", RELATIONSHIP)
    parts = _pieces(form, dict(head), told, linked, compress, bom)
    if compress and form != "zip":
        from polymnia.engine.transfer.archive_writing import compressed

        parts = compressed(gathered(parts, _CHUNK))
    size = 0
    for part in gathered(parts, _CHUNK):
        out.write(part)
        size += len(part)
    return Written(told.count, linked.count, told.versions, size)


def read(source: BinaryIO, form: ProjectForm, limits: ArchiveLimits | None = None) -> Iterator[ProjectItem]:
    """The items of a project file from where ``source`` stands; gzip and zip show by themselves.

    A record that cannot be taken comes as ``Broken`` and reading goes on behind it. What makes the rest of the file
    unreadable is raised as a fault that names the place: check the whole before taking any of it.
    """
    limits = limits or ArchiveLimits(depth=DEPTH)
    start = source.read(4)
    if start in _ZIP:
        from polymnia.engine.transfer.project_zip_reading import read_zip_project

        return read_zip_project(start, source, limits)
    if form == "zip":
        raise cannot_read("it is no zip file")
    unpacked = Source(_Again(start, source), limits.total)  # type: ignore[arg-type]
    if not unpacked.peek(1):
        raise cannot_read("it is empty")
    if form == "json":
        from polymnia.engine.transfer.project_json import read_json_project

        return read_json_project(unpacked, limits)
    if form == "csv":
        from polymnia.engine.transfer.project_csv import read_csv_project

        return read_csv_project(unpacked, limits)
    from polymnia.engine.transfer.project_markdown import read_markdown_project

    return read_markdown_project(unpacked, limits)


class _Again:
    """A file some bytes of which were read already."""

    def __init__(self, start: bytes, file: BinaryIO) -> None:
        self._start = start
        self._file = file

    def read(self, size: int) -> bytes:
        """The bytes that were read, and then those that follow."""
        if not self._start:
            return self._file.read(size)
        given, self._start = self._start, b""
        return given + self._file.read(max(0, size - len(given)))


def _pieces(
    form: ProjectForm, head: dict[str, Any], items: Counting, relationships: Counting, compress: bool, bom: bool
) -> Iterator[bytes]:
    if form == "json":
        from polymnia.engine.transfer.project_json import json_pieces

        return json_pieces(head, items, relationships)
    if form == "csv":
        from polymnia.engine.transfer.project_csv import csv_pieces

        return csv_pieces(items, relationships, bom=bom)
    if form == "markdown":
        from polymnia.engine.transfer.project_markdown import markdown_pieces

        return markdown_pieces(head, items, relationships)
    from polymnia.engine.transfer.project_zip import zip_pieces

    return zip_pieces(head, items, relationships, compress=compress)
