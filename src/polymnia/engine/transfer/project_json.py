"""A project in JSON: one document, one item or relationship a line. It keeps everything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec.json import Encoder

from polymnia.engine.transfer.archive_item import ArchiveLimits, cannot_read
from polymnia.engine.transfer.archive_json import _Reader as _RecordReader
from polymnia.engine.transfer.archive_json_record import careful
from polymnia.engine.transfer.archive_legal import shown
from polymnia.engine.transfer.archive_source import Source
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
_LIST, _OPENING, _CLOSING, _QUOTE, _COLON, _COMMA = b'[{}":,'


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
    return _ProjectReader(source, limits).project()


class _ProjectReader(_RecordReader):
    """Reads the records as an archive's are read, in sections of its own."""

    def project(self) -> Iterator[ProjectItem]:
        first = self._next()
        if first == _LIST:
            yield from self._section("items")
        elif first == _OPENING:
            yield from self._whole()
        else:
            self._stop("an object or a list was expected")
        if self._next() is not None:
            self._stop("something follows its end")

    def _whole(self) -> Iterator[ProjectItem]:
        self._at += 1
        seen: dict[str, None] = {}
        while self._next() != _CLOSING:
            if seen:
                if self._next() != _COMMA:
                    self._stop("a comma or the end of the object was expected")
                self._at += 1
            if self._next() != _QUOTE:
                self._stop("a key in quotes was expected")
            begin = self._at
            key = self._key()
            name = SECTIONS.get(key, key)
            if name in seen:
                self._stop(f"the key {shown(key)!r} appears twice", begin)
            seen[name] = None
            if self._next() != _COLON:
                self._stop("a colon was expected")
            self._at += 1
            yield from self._part(key, len(seen) - 1)
        self._at += 1
        check_whole(seen)

    def _part(self, key: str, position: int) -> Iterator[ProjectItem]:
        first, section = self._next(), SECTIONS.get(key)
        if section and first == _LIST:
            yield from self._section(key)
        elif section:
            if self._cut(key) != b"null":
                self._stop(f"{key} is no list")
        elif key in HEAD:
            where = self._where(self._at)
            value = careful(b'{"%b":%b}' % (key.encode(), self._cut(key)), self._limits)
            if isinstance(value, str):
                raise cannot_read(value, where=where)
            check_head(key, value[key], where)
            yield ProjectItem("head", position, value)
        else:
            self._cut(shown(key), keep=False)
            yield ProjectItem("unknown", position, key)

    def _section(self, key: str) -> Iterator[ProjectItem]:
        # The name of the section serves only its messages there.
        for _, position, value in self._list(key):  # type: ignore[arg-type]
            yield ProjectItem(SECTIONS[key], position, value)
