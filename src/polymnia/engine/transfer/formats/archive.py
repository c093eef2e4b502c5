"""Archives: memories and associations as one file, in JSON or YAML, plain or gzip.

An archive is one document, ``{"format", "version", "scope", "memories": […], "associations": […]}``. Nothing in it
depends on when it was made. Reading and writing hold one record in memory at a time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO, Literal

from polymnia.engine.transfer.formats.json_records import json_pieces, read_json
from polymnia.engine.transfer.formats.records import (
    FileLimits,
    Item,
    JsonObject,
    Layout,
    Source,
    cannot_read,
    write_pieces,
)
from polymnia.importing import importing

ArchiveForm = Literal["json", "yaml"]

ARCHIVE = Layout(
    format="polymnia-memories",
    head=("format", "version", "scope"),
    sections={"memories": "memories", "associations": "associations"},
    otherwise="it is no archive: it has neither memories nor associations nor a format",
)
# JSON is recognized by its first two tokens; anything else, such as {a: 1}, may be YAML.
_JSON = re.compile(rb'[ \t\r\n]*(?:\{[ \t\r\n]*["}]|\[[ \t\r\n]*(?:\{[ \t\r\n]*["}]|[\[\]"0-9tfn-]))')
_START = 64 * 1024


def write(
    out: BinaryIO,
    form: ArchiveForm,
    scope: str | None,
    memories: Iterable[JsonObject],
    associations: Iterable[JsonObject],
    *,
    gzip: bool = False,
) -> int:
    """Write an archive and return its size; the same records give the same bytes. The caller closes ``out``."""
    pieces = json_pieces
    if form == "yaml":
        with importing():
            from polymnia.engine.transfer.formats.yaml_records import yaml_pieces as pieces
    return write_pieces(out, pieces(ARCHIVE, scope, memories, associations), gzip=gzip)


def read(source: BinaryIO, limits: FileLimits | None = None) -> Iterator[Item]:
    """Read the items of an archive from the current position of ``source``; gzip, JSON and YAML are detected.

    An unreadable record is returned as ``Broken`` and reading continues after it. If the rest of the file cannot be
    read, a fault names the position: validate the whole file before importing any of it.
    """
    limits = limits or FileLimits()
    unpacked = Source(source, limits.total)
    start = unpacked.peek(_START)
    if not start.strip():
        raise cannot_read("it is empty" if len(start) < _START else "it begins with nothing but white space")
    if _JSON.match(start):
        return read_json(unpacked, limits, ARCHIVE)
    with importing():
        from polymnia.engine.transfer.formats.yaml_records import read_yaml

    return read_yaml(unpacked, limits, ARCHIVE)
