"""Reads and writes knowledge-graph files, compatible with the tools that use them.

Two forms exist. A *document* is ``{"entities": [...], "relations": [...]}`` over many lines; *lines* is one
``{"type": "entity" | "relation", ...}`` per line. The content decides, not the file name: the npm server has
written lines into files called memory.json.

:func:`read` raises BrokenFile for a file that is not JSON; :func:`recover` reads what it can from any bytes.
Both repair common mistakes and report them. Content that cannot become a memory is preserved verbatim, and
:func:`write` writes it back.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec
from msgspec import Struct

from polymnia.engine.transfer.formats.graph_items import (
    ENCODER,
    SECTIONS,
    UNFIT,
    EntityItem,
    EntityLine,
    GraphBuilder,
    GraphFile,
    GraphForm,
    Link,
    NotJson,
    RelationItem,
    RelationLine,
    UnreadItem,
    is_document,
    members,
    shape,
)
from polymnia.errors import BrokenFile
from polymnia.models import EntityDraft, Limits, Record

__all__ = ["GraphFile", "GraphForm", "Link", "UnreadItem", "detect_form", "read", "recover", "write"]

_DOCUMENT_START = re.compile(rb'\{\s*"(?:entities|relations)"\s*:')
_LINE_START = re.compile(rb'\{\s*"type"\s*:\s*"(?:entity|relation)"')
_SIGN = re.compile(
    rb'(?P<section>"(?:entities|relations)"\s*:\s*[\[{])'
    rb'|^[ \t]*\{[ \t]*"type"[ \t]*:[ \t]*"(?:entity|relation)"',
    re.MULTILINE,
)
_NON_BLANK = re.compile(rb"[^ \t\r\n]")


def detect_form(data: bytes, path: str) -> GraphForm:
    """Detect the form of a file; an empty file has the form its extension suggests."""
    data, _, _ = _decoded(data)
    start = len(data) - len(data.lstrip(b" \t\r\n\0"))
    if start == len(data):
        return _form_of_extension(path)
    if _LINE_START.match(data, start):
        return "lines"
    if data[start] == ord("[") or _DOCUMENT_START.match(data, start):
        return "document"
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    try:
        first = msgspec.json.decode(memoryview(data)[start:end])
    except UNFIT:
        # Spread over several lines, or damaged: the first sign of either form decides.
        sign = _SIGN.search(data, start)
        if sign is None:
            return _form_of_extension(path)
        return "document" if sign["section"] else "lines"
    if isinstance(first, dict):
        if is_document(first):
            return "document"
        if shape(first) or _NON_BLANK.search(data, end):
            return "lines"
    return _form_of_extension(path)


def read(data: bytes, path: str, *, limits: Limits | None = None) -> GraphFile:
    """Read a file that is valid JSON; otherwise raises BrokenFile with the line and byte of the error.

    Items over the limits are left unread, so that a single huge item does not block the rest of the file.
    """
    form = detect_form(data, path)
    data, skipped, mark = _decoded(data)
    builder = GraphBuilder(form, limits or Limits(), check_all=b"\\u0000" in data)
    if mark:
        builder.repair("line 1", mark)
    try:
        if form == "lines":
            _read_lines(data, builder)
        else:
            _read_document(data, builder)
    except NotJson as e:
        flaw = _flaw(data) or e if form == "document" else e
        line, byte = data.count(b"\n", 0, flaw.at) + 1, flaw.at + skipped
        message = f"Failed to parse storage file: Invalid JSON at line {line}, byte {byte}: {flaw.message}"
        raise BrokenFile(message, path=path, line=line, byte=byte) from None
    return builder.done()


def _flaw(data: bytes) -> NotJson | None:
    """The error in a document and its byte offset, which an item alone does not give."""
    from polymnia.engine.transfer.formats.graph_recovery import diagnose

    try:
        diagnose(data)
    except NotJson as e:
        return e
    return None


def recover(data: bytes, path: str, *, limits: Limits | None = None) -> GraphFile:
    """Read as much as possible of a file, intact or damaged. Never raises because of its content."""
    try:
        return read(data, path, limits=limits)
    except BrokenFile:
        # The partial result is freed with the exception, so a large file is not held twice.
        pass
    from polymnia.engine.transfer.formats.graph_recovery import Recovery

    form = detect_form(data, path)
    data, skipped, mark = _decoded(data)
    # Broken text can contain a bare NUL, which a search for escapes does not find.
    builder = GraphBuilder(form, limits or Limits(), check_all=True)
    if mark:
        builder.repair("line 1", mark)
    Recovery(data, builder, skipped).run()
    return builder.done()


def _form_of_extension(path: str) -> GraphForm:
    return "lines" if path.lower().endswith((".jsonl", ".ndjson")) else "document"


def _decoded(data: bytes) -> tuple[bytes, int, str | None]:
    """The bytes as UTF-8 without a byte order mark, the length of the mark, and a note about it, if any."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:], 3, "The file began with a byte order mark; it was left out."
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
        return text.encode(), 0, "The file was in UTF-16; it was read as UTF-8."
    return data, 0, None


def _read_lines(data: bytes, builder: GraphBuilder) -> None:
    view = memoryview(data)
    start = number = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        try:
            builder.take(view[start:end], "lines", number)
        except NotJson as flaw:
            indent = end - start - len(data[start:end].lstrip(b" \t\r\n"))
            raise NotJson(start + indent + flaw.at, flaw.message) from None
        start = end + 1


def _read_document(data: bytes, builder: GraphBuilder) -> None:
    first = _NON_BLANK.search(data)
    opening = first[0] if first else b""
    if opening == b"{":
        content = dict(members(data))
        if not content.keys() & SECTIONS and shape(content):
            builder.take(data, "any", "the file")
            return
        if content and not content.keys() & SECTIONS:
            builder.refuse("the file", "It has neither entities nor relations; its keys are kept.")
        builder.document(content.items())
    elif opening == b"[":
        builder.repair("the file", "It is a bare list; its items were taken as entities and relations.")
        for index, item in members(data):
            builder.take(item, "any", index)
    elif data.strip() == b"null":
        builder.repair("the file", "It is null; read as an empty graph.")
    elif opening:
        builder.take(data, "entities", "the file")


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────


def write(
    form: GraphForm,
    entities: Iterable[EntityDraft | Record],
    relations: Iterable[Link],
    *,
    extra: Mapping[str, Any] | None = None,
    unread: Sequence[UnreadItem] = (),
) -> Iterator[bytes]:
    """Write the file in chunks, byte for byte like ``JSON.stringify``, one chunk in memory at a time.

    Lines cannot hold the foreign keys of a document, so they omit ``extra``.
    """
    if form == "lines":
        return _lines(entities, relations, unread)
    return _document(entities, relations, extra or {}, unread)


def _lines(
    entities: Iterable[EntityDraft | Record], relations: Iterable[Link], unread: Sequence[UnreadItem]
) -> Iterator[bytes]:
    lines = chain(
        (_with(EntityLine(e.name, e.kind, e.observations), e.extra) for e in entities),
        (_with(RelationLine(source, target, type_), extra) for source, target, type_, extra in relations),
        (left.raw.encode() for left in unread),
    )
    for number, line in enumerate(lines):
        yield b"\n" + line if number else line


def _document(
    entities: Iterable[EntityDraft | Record],
    relations: Iterable[Link],
    extra: Mapping[str, Any],
    unread: Sequence[UnreadItem],
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


def _members(items: Iterable[bytes], unread: Sequence[UnreadItem]) -> Iterator[bytes]:
    opening = b"["
    for item in chain(items, (left.raw.encode() for left in unread)):
        yield opening + b"\n    " + _indented(item, b"\n    ")
        opening = b","
    yield b"[]" if opening == b"[" else b"\n  ]"


def _with(item: Struct, extra: Mapping[str, Any]) -> bytes:
    """The item as JSON, followed by its foreign keys; a foreign key never overrides one of its own."""
    encoded = ENCODER.encode(item)
    if extra:
        own = msgspec.json.decode(encoded)
        if more := {key: value for key, value in extra.items() if key not in own}:
            return encoded[:-1] + b"," + ENCODER.encode(more)[1:]
    return encoded


def _indented(encoded: bytes, margin: bytes) -> bytes:
    try:
        return msgspec.json.format(encoded, indent=2).replace(b"\n", margin)
    except UNFIT:
        # A lone surrogate, or nested too deeply to be formatted: it stays on one line.
        return encoded
