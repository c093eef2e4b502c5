"""The two forms of a knowledge-graph file, as they are written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from polymnia.engine.transfer.contents import Entity, Form, Link, Unread
from polymnia.engine.transfer.gathering import gathered
from polymnia.engine.transfer.item import (
    ENCODER,
    MEMBERS,
    SECTIONS,
    UNFIT,
    EntityItem,
    EntityLine,
    RelationItem,
    RelationLine,
)

__all__ = ["write"]

_CHUNK = 64 * 1024


def write(
    form: Form,
    entities: Iterable[Entity],
    relations: Iterable[Link],
    *,
    extra: Mapping[str, Any] | None = None,
    unread: Sequence[Unread] = (),
) -> Iterator[bytes]:
    """The file in pieces, letter by letter as ``JSON.stringify`` makes it; holds one piece at a time.

    Lines have no place for the foreign keys of a document: they leave ``extra`` out.
    """
    if form == "lines":
        return gathered(_lines(entities, relations, unread), _CHUNK)
    return gathered(_document(entities, relations, extra or {}, unread), _CHUNK)


def _lines(entities: Iterable[Entity], relations: Iterable[Link], unread: Sequence[Unread]) -> Iterator[bytes]:
    separator = b""
    for e in entities:
        yield separator + _with(EntityLine(e.name, e.kind, e.observations), e.extra)
        separator = b"\n"
    for source, target, type_, extra in relations:
        yield separator + _with(RelationLine(source, target, type_), extra)
        separator = b"\n"
    for left in unread:
        yield separator + left.raw.encode()
        separator = b"\n"


def _document(
    entities: Iterable[Entity],
    relations: Iterable[Link],
    extra: Mapping[str, Any],
    unread: Sequence[Unread],
) -> Iterator[bytes]:
    yield b'{\n  "entities": '
    items = (_with(EntityItem(e.name, e.kind, e.observations), e.extra) for e in entities)
    yield from _members(items, [left for left in unread if left.section in ("entities", "lines")])
    yield b',\n  "relations": '
    items = (_with(RelationItem(source, target, type_), more) for source, target, type_, more in relations)
    yield from _members(items, [left for left in unread if left.section == "relations"])
    for key, value in extra.items():
        if key not in SECTIONS:
            yield b",\n  %b: %b" % (ENCODER.encode(key), _indented(ENCODER.encode(value), b"\n  "))
    for left in unread:
        if left.section == "document":
            yield b",\n  " + _indented(left.raw.encode(), b"\n")[1:-1].strip()
    yield b"\n}"


def _members(items: Iterable[bytes], unread: Sequence[Unread]) -> Iterator[bytes]:
    opening = b"["
    for item in items:
        yield opening + b"\n    " + _indented(item, b"\n    ")
        opening = b","
    for left in unread:
        yield opening + b"\n    " + _indented(left.raw.encode(), b"\n    ")
        opening = b","
    yield b"[]" if opening == b"[" else b"\n  ]"


def _with(item: Struct, extra: Mapping[str, Any]) -> bytes:
    """The item as JSON, its foreign keys after its own; a foreign key never hides one of its own."""
    encoded = ENCODER.encode(item)
    if extra:
        own = MEMBERS.decode(encoded)
        if more := {key: value for key, value in extra.items() if key not in own}:
            return encoded[:-1] + b"," + ENCODER.encode(more)[1:]
    return encoded


def _indented(encoded: bytes, margin: bytes) -> bytes:
    try:
        return msgspec.json.format(encoded, indent=2).replace(b"\n", margin)
    except UNFIT:
        # Half a surrogate pair, or nested too deeply to be laid out: it stays on one line.
        return encoded
