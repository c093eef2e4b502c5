"""Reading an archive in JSON."""

from __future__ import annotations

from collections.abc import Iterator

from polymnia.engine.transfer.archive_item import HEAD, SECTIONS, ArchiveLimits, Item, check_head, check_whole
from polymnia.engine.transfer.archive_source import Source
from polymnia.engine.transfer.json_document import DocumentForm, read_document

__all__ = ["read_json"]

_ARCHIVE = DocumentForm(SECTIONS, "memories", HEAD, check_head, check_whole, Item)


def read_json(source: Source, limits: ArchiveLimits) -> Iterator[Item]:
    """The items of an archive in JSON, in the order they stand in it; a bare list is one of memories."""
    return read_document(source, limits, _ARCHIVE)
