"""A project in Markdown: each item is its content verbatim, below YAML front matter with all other fields.

Each item starts with a separator line, which is a Markdown comment; a line of content that looks like a separator is
escaped with a backslash. Relationships are at the end, one per line, as JSON, which is also valid YAML.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator

from msgspec.json import encode

from polymnia.engine.transfer.formats.archive import ARCHIVE
from polymnia.engine.transfer.formats.json_records import parse_record
from polymnia.engine.transfer.formats.project import ITEM, PROJECT, folded, unfolded
from polymnia.engine.transfer.formats.records import (
    Broken,
    FileLimits,
    Item,
    JsonObject,
    Source,
    cannot_read,
    check_count,
    reason_of,
)
from polymnia.engine.transfer.formats.yaml_records import read_yaml, yaml_object
from polymnia.errors import Fault

_ITEM, _RELATIONSHIPS = b"<!-- polymnia:item -->\n", b"<!-- polymnia:relationships -->\n"
_LIKE_SEPARATOR = re.compile(rb"^(?=\\*<!-- polymnia:)", re.MULTILINE)
_ESCAPED = re.compile(rb"^\\(?=\\*<!-- polymnia:)", re.MULTILINE)
_RULE = b"---\n"
_FRONT_OPENS = re.compile(rb"---[ \t]*\r?\n")
_FRONT_CLOSES = re.compile(rb"^---[ \t]*\r?$\n?", re.MULTILINE)
_INNER = re.compile(rb"\n(?=[^\n])")


def markdown_pieces(items: Iterable[JsonObject], relationships: Iterable[JsonObject]) -> Iterator[bytes]:
    """Write the document in chunks."""
    yield _front(PROJECT.head_of({}))
    for item in items:
        yield b"\n" + _ITEM + item_page(item)
    yield b"\n" + _RELATIONSHIPS + b"\n"
    for relationship in relationships:
        yield b"- " + encode(relationship) + b"\n"


def item_page(item: JsonObject) -> bytes:
    """An item as a separate page: the front matter, an empty line, the content, a line feed."""
    fields = folded(item, ITEM)
    content = fields.pop("content", None)
    if not isinstance(content, str):
        # A missing content, or one that is not text, goes into the front matter.
        fields["content"] = content
        content = ""
    return _front(fields) + b"\n" + _LIKE_SEPARATOR.sub(rb"\\", content.encode()) + b"\n"


def _front(fields: JsonObject) -> bytes:
    return _RULE + yaml_object(fields).encode() + _RULE


def read_markdown(source: Source, limits: FileLimits) -> Iterator[Item]:
    """Read the items and relationships of a document. Without separator lines the document is one item."""
    items = relationships = 0
    for separator, text, line in _parts(source, limits):
        check_count(items + relationships, limits)
        if separator == _RELATIONSHIPS:
            if text.strip():
                yield Item("relationships", relationships, _relationship(text, line, limits))
                relationships += 1
            continue
        front, rest = front_and_rest(text)
        if separator is None and front is None and not rest.strip():
            continue
        fields = parse_front(front, limits)
        if separator is None and isinstance(fields, dict) and "format" in fields:
            for position, (key, value) in enumerate(fields.items()):
                PROJECT.check_head(key, value, "the front matter")
                is_head = key in PROJECT.head
                yield Item("head", position, {key: value}) if is_head else Item("unknown", position, key)
            continue
        item = fields if isinstance(fields, str) else _item(fields, rest, line_feeds=1 if separator is None else 2)
        yield Item("items", items, Broken(item, line) if isinstance(item, str) else item)
        items += 1


def read_page(page: bytes, limits: FileLimits) -> JsonObject | str:
    """The item of a separate page, or the reason it cannot be read."""
    front, rest = front_and_rest(page)
    fields = parse_front(front, limits)
    return fields if isinstance(fields, str) else _item(fields, rest, line_feeds=1)


def _item(fields: JsonObject, rest: bytes, *, line_feeds: int) -> JsonObject | str:
    rest = rest[1:] if rest.startswith(b"\n") else rest.removeprefix(b"\r\n")
    for _ in range(line_feeds):
        rest = rest.removesuffix(b"\n")
    rest = _ESCAPED.sub(b"", rest)
    try:
        content = rest.decode()
    except UnicodeDecodeError as e:
        return f"it holds a byte that is not UTF-8 (0x{rest[e.start]:02X})"
    if "content" not in fields:
        fields["content"] = content
    elif content.strip():
        return "its content is told twice, in the front matter and below"
    return unfolded(fields, ITEM)


def _relationship(raw: bytes, line: int, limits: FileLimits) -> JsonObject | Broken:
    raw = raw.strip()
    if not raw.startswith(b"- {"):
        return Broken("it is no relationship: - and an object in JSON were expected", line)
    value = parse_record(raw[2:], limits)
    return Broken(value, line) if isinstance(value, str) else value


def front_and_rest(text: bytes) -> tuple[bytes | None, bytes]:
    """The front matter, if any, and the text below it."""
    opened = _FRONT_OPENS.match(text)
    closed = _FRONT_CLOSES.search(text, opened.end()) if opened else None
    return (text[opened.end() : closed.start()], text[closed.end() :]) if opened and closed else (None, text)


def parse_front(front: bytes | None, limits: FileLimits) -> JsonObject | str:
    """The fields of a front matter, or the reason it cannot be read."""
    if front is None or not front.strip():
        return {}
    # Parsed as the only record of a list, so that the rules for records apply.
    block = b"-\n  " + _INNER.sub(b"\n  ", front)
    try:
        found = list(read_yaml(Source(io.BytesIO(block), limits.total), limits, ARCHIVE))
    except Fault as fault:
        return f"its front matter cannot be read: {reason_of(fault.message)}"
    value = found[0].value
    if isinstance(value, Broken):
        return f"its front matter cannot be read: {value.reason}"
    return value if isinstance(value, dict) else "its front matter is no object"


def _parts(source: Source, limits: FileLimits) -> Iterator[tuple[bytes | None, bytes, int]]:
    """The parts of a document: the separator line (None for the first), the text, and its first line number."""
    separator: bytes | None = None
    lines: list[bytes] = []
    size = number = 0
    first = 1
    for line in source.lines(limits.record):
        number += 1
        if line.startswith(b"<!-- polymnia:") and (mark := line.rstrip() + b"\n") in (_ITEM, _RELATIONSHIPS):
            yield separator, b"".join(lines), first
            separator, size, first = mark, 0, number + 1
            lines.clear()
            continue
        size += len(line)
        if separator == _RELATIONSHIPS:
            yield separator, line, number
            continue
        if size > limits.record:
            raise cannot_read(
                f"an item has more than {limits.record:,} bytes, which is the limit", where=f"line {first:,}"
            )
        lines.append(line)
    if separator != _RELATIONSHIPS:
        yield separator, b"".join(lines), first
