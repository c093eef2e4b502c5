"""A project in JSON: one document, one item or relationship a line. It keeps everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.json import Encoder

from polymnia.engine.transfer.archive_item import ArchiveLimits
from polymnia.engine.transfer.archive_source import Source
from polymnia.engine.transfer.json_document import DocumentForm, read_document
from polymnia.engine.transfer.project_item import (
    FORMAT,
    HEAD,
    SECTIONS,
    VERSION,
    ProjectItem,
    check_head,
    check_whole,
    written,
)

__all__ = ["json_pieces", "read_json_project"]

_encode = Encoder().encode
_PROJECT = DocumentForm(SECTIONS, "items", HEAD, check_head, check_whole, ProjectItem)


def json_pieces(
    head: dict[str, Any], items: Iterable[dict[str, Any]], relationships: Iterable[dict[str, Any]]
) -> Iterator[bytes]:
    """The document in pieces."""
    written(head, "project")
    for key, value in zip(HEAD, (FORMAT, VERSION, head), strict=True):
        yield (b"{" if key == HEAD[0] else b",") + b'\n  "%b": %b' % (key.encode(), _encode(value))
    for section, records in (("items", items), ("relationships", relationships)):
        yield b',\n  "%b": ' % section.encode()
        before = b"[\n    "
        for record in records:
            yield before + _encode(record)
            before = b",\n    "
        yield b"[]" if before.startswith(b"[") else b"\n  ]"
    yield b"\n}\n"


def read_json_project(source: Source, limits: ArchiveLimits) -> Iterator[ProjectItem]:
    """The items of a document in the order they stand in it; a bare list is one of items."""
    return read_document(source, limits, _PROJECT)
