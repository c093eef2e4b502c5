"""Archives: memories and associations as one file, in JSON or YAML, plain or gzip.

An archive is one document, ``{"format", "version", "scope", "memories": […], "associations": […]}``. It holds nothing
that depends on the moment it was made. Reading and writing hold one record at a time, whatever the size of the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from msgspec import Struct

from polymnia.engine.transfer.archive_item import ArchiveForm, ArchiveLimits, Broken, Item, Section, cannot_read
from polymnia.engine.transfer.archive_source import Source
from polymnia.importing import importing

__all__ = ["ArchiveForm", "ArchiveLimits", "Broken", "Item", "Section", "Written", "read", "write"]

# JSON shows in its first two marks; what looks otherwise, such as {a: 1}, may still be YAML.
_JSON = re.compile(rb'[ \t\r\n]*(?:\{[ \t\r\n]*["}]|\[[ \t\r\n]*(?:\{[ \t\r\n]*["}]|[\[\]"0-9tfn-]))')
_LOOK = 64 * 1024


class Written(Struct, frozen=True):
    """What an archive came to: its memories, its associations, its bytes as they lie in the file."""

    count: int
    associations: int
    bytes: int


def write(
    out: BinaryIO,
    form: ArchiveForm,
    scope: str | None,
    memories: Iterable[dict[str, Any]],
    associations: Iterable[dict[str, Any]],
    *,
    gzip: bool = False,
) -> Written:
    """Write an archive; the same records give the same bytes. The caller closes ``out``."""
    from polymnia.engine.transfer.archive_writing import Counted, compressed, pieces

    counted, linked = Counted(memories), Counted(associations)
    parts = pieces(form, scope, counted, linked)
    size = 0
    for part in compressed(parts) if gzip else parts:
        out.write(part)
        size += len(part)
    return Written(counted.count, linked.count, size)


def read(source: BinaryIO, limits: ArchiveLimits | None = None) -> Iterator[Item]:
    """The items of an archive from where ``source`` stands; whether it is gzip, JSON or YAML it shows by itself.

    A record that cannot be taken comes as ``Broken`` and reading goes on behind it. What makes the rest of the file
    unreadable is raised as a fault that names the place: check the whole before taking any of it.
    """
    limits = limits or ArchiveLimits()
    unpacked = Source(source, limits.total)
    start = unpacked.peek(_LOOK)
    if not start.strip():
        raise cannot_read("it is empty" if len(start) < _LOOK else "it begins with nothing but white space")
    if _JSON.match(start):
        from polymnia.engine.transfer.archive_json import read_json

        return read_json(unpacked, limits)
    with importing():
        from polymnia.engine.transfer.archive_yaml import read_yaml

    return read_yaml(unpacked, limits)
