"""Recognizing a file that somebody wants to import: by what is in it, never by its name.

A file of a form we know is told by its kind. Any other is described in words a person can check, so that it is refused
for what it is and not called damaged.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from polymnia.engine.transfer import archive_item, project_item
from polymnia.engine.transfer.item import (
    KIND_KEYS,
    LINK_KEYS,
    NAME_KEYS,
    OBSERVATION_KEYS,
    SECTIONS,
    UNFIT,
    has,
    has_ends,
)
from polymnia.engine.transfer.project_csv import COLUMNS, is_table
from polymnia.engine.transfer.project_item import ProjectForm
from polymnia.engine.transfer.project_zip import DOCUMENT

__all__ = ["FORMS", "START", "Recognized", "described", "is_graph", "is_memories", "project_form", "recognized"]

START = 64 * 1024
"""As many bytes of the beginning of a file are enough to recognize it."""

FORMS = (
    "knowledge graphs (JSON or JSON lines, as memory servers write them)",
    "archives (written by `polymnia export --archive` or memory_export; JSON or YAML, also gzip)",
    "project files (written by export_project_data; JSON, CSV, Markdown or zip, also gzip)",
    "contents of your own: a JSON list of objects with content, a table (CSV) with a column content or text, a "
    "Markdown text whose name ends in .md",
)

_HEAD = 400  # bytes in which our own files say what they are
_SQLITE = b"SQLite format 3\0"
_OURS = b"Poly"  # the application id in the header of our stores
_GZIP = b"\x1f\x8b"
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_GRAPH_SIGN = re.compile(
    rb'"(?:entities|relations)"\s*:\s*[\[{]|"type"\s*:\s*"(?:entity|relation)"'
    rb'|"(?:entityType|relationType|observations)"\s*:'
)
_STARTS = re.compile(rb'\s*(?:\{\s*"(?:entities|relations)"\s*:|\{\s*"type"\s*:\s*"(?:entity|relation)")')
_CHAT = frozenset(("mapping", "chat_messages", "messages", "conversations", "turns", "conversation_id"))
_HEADING = re.compile(rb"^(?:#{1,6}|[ \t]{0,12}[-*]) \S", re.MULTILINE)


class Recognized(Struct, frozen=True):
    """What a file is by its beginning. Whether one is a graph only the whole of it tells."""

    kind: Literal["archive", "project", "other", "graph?"]
    form: ProjectForm | None = None
    what: str = ""
    hint: str | None = None


def recognized(start: bytes) -> Recognized:
    """What a file is that begins with these bytes."""
    if start.startswith(_SQLITE):
        if start[68:72] == _OURS:
            hint = (
                "Open it with --store FILE; put it in place of your store: polymnia restore FILE; "
                "or copy its memories: polymnia export --archive --store FILE out.json."
            )
            return Recognized("other", what="a Polymnia store", hint=hint)
        return Recognized("other", what="an SQLite database")
    if start.startswith(_GZIP):
        return _unpacked(start)
    if start.startswith(_ZIP):
        first = start[30 : 30 + int.from_bytes(start[26:28], "little")].lower()
        if first == DOCUMENT.encode() or first.endswith((b".md", b".markdown")):
            return Recognized("project", "zip")
        return Recognized("other", what="a zip file without a project in it")
    if start.startswith(b"%PDF"):
        return Recognized("other", what="a PDF document")
    head = start[:_HEAD].removeprefix(b"\xef\xbb\xbf")
    if archive_item.FORMAT.encode() in head:
        return Recognized("archive")
    if project_item.FORMAT.encode() in head:
        return Recognized("project", "json" if head.lstrip().startswith(b"{") else "markdown")
    columns = head.partition(b"\n")[0].decode("utf-8", "replace").strip().lower().split(",")
    if columns[: len(COLUMNS)] == list(COLUMNS):
        return Recognized("project", "csv")
    if b"\0" in start and not start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Recognized("other", what="binary data")
    return Recognized("graph?")


def _unpacked(start: bytes) -> Recognized:
    try:
        inner = zlib.decompressobj(31).decompress(start, START)
    except zlib.error:
        return Recognized("other", what="a gzip file whose data are damaged")
    found = recognized(inner)
    if found.kind in ("archive", "project") and found.form != "zip":
        return found
    if found.kind == "graph?":
        what = "a knowledge graph" if _GRAPH_SIGN.search(inner) else described(inner)
        return Recognized("other", what=f"a gzip file of {what}", hint="Unpack it first: gunzip FILE.")
    return Recognized("other", what=f"a gzip file of {found.what or 'a zip file'}", hint=found.hint)


def is_graph(data: bytes) -> bool:
    """Whether a file is a knowledge graph, whole or damaged: it has sections, or items with the keys of a graph."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        data = data.decode("utf-16", "replace").encode()
    data = data.removeprefix(b"\xef\xbb\xbf").strip(b" \t\r\n\0")
    if not data or data == b"null" or _STARTS.match(data):
        return True
    try:
        value = msgspec.json.decode(data)
    except UNFIT:
        return _GRAPH_SIGN.search(data) is not None
    if isinstance(value, dict):
        return any(key in value for key in SECTIONS) or _is_item(value)
    return isinstance(value, list) and (not value or any(isinstance(one, dict) and _is_item(one) for one in value))


def _is_item(value: Mapping[str, Any]) -> bool:
    """Whether an object on its own is an entity or a relation: a name alone is not enough, many things have one."""
    if value.get("type") in ("entity", "relation"):
        return True
    if has_ends(value):
        return has(value, LINK_KEYS)
    if not has(value, NAME_KEYS):
        return False
    known = {*NAME_KEYS, *KIND_KEYS, *OBSERVATION_KEYS}
    return has(value, ("entityType", "entity_type", *OBSERVATION_KEYS)) or (
        has(value, KIND_KEYS) and value.keys() <= known
    )


def is_memories(data: bytes) -> bool:
    """Whether a JSON document without a format is one of memories."""
    try:
        value = msgspec.json.decode(data)
    except UNFIT:
        return False
    return isinstance(value, dict) and any(isinstance(value.get(key), list) for key in archive_item.SECTIONS)


def project_form(data: bytes, path: str) -> ProjectForm | None:
    """The form in which a file that does not say what it is can be read as contents; None where there is none.

    A table and a list of objects show where their contents stand. That a text is Markdown only its name can tell.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            value = msgspec.json.decode(data)
        except UNFIT:
            return None
        items = value.get("items") if isinstance(value, dict) else value
        return "json" if isinstance(items, list) and items and all(map(_is_content, items)) else None
    if is_table(data):
        return "csv"
    return "markdown" if data.strip() and path.lower().endswith((".md", ".markdown")) else None


def _is_content(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("content"), str) and not value.keys() & {*_CHAT, "role"}


def described(data: bytes) -> str:
    """What a file of no form we know looks like."""
    text = data.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        return "an empty file"
    if text[:1] in b"{[":
        try:
            return _json(msgspec.json.decode(text))
        except UNFIT:
            return _lines(text)
    line, _, rest = text.partition(b"\n")
    second = rest.partition(b"\n")[0]
    for mark in (b",", b";", b"\t"):
        if line.count(mark) and line.count(mark) == second.count(mark):
            return f"a table with the columns {_named(line.decode('utf-8', 'replace').split(mark.decode()))}"
    if _HEADING.search(text[:START]):
        return "a Markdown text"
    return "a text"


def _json(value: object) -> str:
    one = value[0] if isinstance(value, list) and value else value
    if isinstance(one, dict):
        if one.keys() & _CHAT or {"role", "content"} <= one.keys():
            return "a conversation export"
        keys = f"with the keys {_named(list(one))}" if one else "without a key"
        return f"a JSON list of objects {keys}" if isinstance(value, list) else f"a JSON object {keys}"
    return "a JSON list" if isinstance(value, list) else "a JSON value"


def _lines(text: bytes) -> str:
    try:
        first = msgspec.json.decode(text.partition(b"\n")[0])
    except UNFIT:
        return "JSON that breaks off or is damaged, and nothing in it looks like a memory"
    return f"JSON lines; the first is {_json(first)}"


def _named(names: list[str]) -> str:
    shown = [repr(name.strip().strip('"'))[:60] for name in names[:6]]
    return ", ".join(shown) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
