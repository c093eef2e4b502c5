"""Detects the kind of a file to import from its content."""

from __future__ import annotations

import re
import zlib
from typing import Literal

import msgspec
from msgspec import Struct

from polymnia.engine.transfer.formats.archive import ARCHIVE
from polymnia.engine.transfer.formats.graph_items import SECTIONS, UNFIT, is_lone_item
from polymnia.engine.transfer.formats.project import PROJECT, ProjectForm
from polymnia.engine.transfer.formats.project_csv import COLUMNS, is_table
from polymnia.engine.transfer.formats.project_zip import DOCUMENT
from polymnia.engine.transfer.formats.records import BYTE_ORDER_MARK

START = 64 * 1024
"""Bytes from the start of a file that are enough to recognize it."""

CHAT_KEYS = frozenset(("mapping", "chat_messages", "messages", "conversations", "turns", "conversation_id"))
GRAPH_SIGN = re.compile(
    rb'"(?:entities|relations)"\s*:\s*[\[{]|"type"\s*:\s*"(?:entity|relation)"'
    rb'|"(?:entityType|relationType|observations)"\s*:'
)
_HEAD = 400  # bytes within which our own files name their format
_SQLITE = b"SQLite format 3\0"
_OURS = b"Poly"  # the application id in the header of our stores
_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_GRAPH_START = re.compile(rb'\s*(?:\{\s*"(?:entities|relations)"\s*:|\{\s*"type"\s*:\s*"(?:entity|relation)")')


class Detected(Struct, frozen=True):
    """The kind of a file, judged by its start. Whether it is a graph takes the whole file."""

    kind: Literal["archive", "project", "graph?", "store", "database", "zip", "pdf", "binary", "gzip", "damaged gzip"]
    form: ProjectForm | None = None
    start: bytes = b""
    """The start of the decompressed content, for a gzip file that cannot be imported directly."""


def detect(start: bytes) -> Detected:
    """Detect the kind of a file from its first bytes."""
    if start.startswith(_SQLITE):
        return Detected("store" if start[68:72] == _OURS else "database")
    if start.startswith(_GZIP):
        return _unpacked(start)
    if start.startswith(_ZIP):
        first = start[30 : 30 + int.from_bytes(start[26:28], "little")].lower()
        ours = first == DOCUMENT.encode() or first.endswith((b".md", b".markdown"))
        return Detected("project", "zip") if ours else Detected("zip")
    if start.startswith(b"%PDF"):
        return Detected("pdf")
    head = start[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    if ARCHIVE.format.encode() in head:
        return Detected("archive")
    if PROJECT.format.encode() in head:
        return Detected("project", "json" if head.lstrip().startswith(b"{") else "markdown")
    columns = head.partition(b"\n")[0].decode("utf-8", "replace").strip().lower().split(",")
    if columns[: len(COLUMNS)] == list(COLUMNS):
        return Detected("project", "csv")
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Detected("binary")
    return Detected("graph?")


def _unpacked(start: bytes) -> Detected:
    try:
        inner = zlib.decompressobj(31).decompress(start, START)
    except zlib.error:
        return Detected("damaged gzip")
    found = detect(inner)
    if found.kind in ("archive", "project") and found.form != "zip":
        return found
    return Detected("gzip", start=inner)


def recognize(data: bytes, path: str) -> Literal["graph", "archive"] | ProjectForm | None:
    """Detect the kind of a file whose start is not conclusive; None if it cannot be imported.

    A graph, intact or damaged, has sections, or items with a graph's keys. A list of objects or a table needs a content
    field or column. Only its file name identifies a text as Markdown.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(BYTE_ORDER_MARK).strip(b" \t\r\n\0")
    if not data or data == b"null" or _GRAPH_START.match(data):
        return "graph"
    try:
        value = msgspec.json.decode(data)
    except UNFIT:
        if GRAPH_SIGN.search(data):
            return "graph"
        value = None
    if data[:1] in (b"{", b"["):
        return _recognize_json(value)
    return "csv" if is_table(data) else "markdown" if path.lower().endswith((".md", ".markdown")) else None


def _recognize_json(value: object) -> Literal["graph", "archive", "json"] | None:
    if isinstance(value, dict):
        if any(key in value for key in SECTIONS) or is_lone_item(value):
            return "graph"
        if any(isinstance(value.get(key), list) for key in ARCHIVE.sections):
            return "archive"
        value = value.get("items")
    elif isinstance(value, list) and (not value or any(isinstance(one, dict) and is_lone_item(one) for one in value)):
        return "graph"
    return "json" if isinstance(value, list) and value and all(map(_is_content, value)) else None


def _is_content(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("content"), str) and not value.keys() & {*CHAT_KEYS, "role"}
