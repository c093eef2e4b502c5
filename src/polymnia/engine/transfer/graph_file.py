"""The knowledge-graph files people have: reading all of one, and writing it so that their tools agree.

Two forms exist. A *document* is ``{"entities": [...], "relations": [...]}`` over many lines; *lines* is one
``{"type": "entity" | "relation", ...}`` a line. The name of a file does not tell them apart, for the npm
server has put lines into files called memory.json: the content decides.

:func:`read` takes a file that is JSON and raises BrokenFile for one that is not; :func:`recover` takes what
can be read of any bytes at all. Both mend what people and programs get wrong and say so in the report.
What has no place in a memory is kept as it is, and :func:`write` puts it back.
"""

from __future__ import annotations

import re

import msgspec
from msgspec import Raw

from polymnia.engine.transfer.contents import Entity, Finding, Form, GraphFile, Link, Report, Section, Unread
from polymnia.engine.transfer.item import SECTIONS, UNFIT, Flaw, is_document, shape
from polymnia.engine.transfer.taking import Taking
from polymnia.engine.transfer.writing import write
from polymnia.errors import BrokenFile
from polymnia.models import Limits

__all__ = [
    "Entity",
    "Finding",
    "Form",
    "GraphFile",
    "Link",
    "Report",
    "Section",
    "Unread",
    "detect",
    "read",
    "recover",
    "write",
]

_DOCUMENT_START = re.compile(rb'\{\s*"(?:entities|relations)"\s*:')
_LINE_START = re.compile(rb'\{\s*"type"\s*:\s*"(?:entity|relation)"')
_SIGN = re.compile(
    rb'(?P<section>"(?:entities|relations)"\s*:\s*[\[{])'
    rb'|^[ \t]*\{[ \t]*"type"[ \t]*:[ \t]*"(?:entity|relation)"',
    re.MULTILINE,
)
_INK = re.compile(rb"[^ \t\r\n]")


def detect(data: bytes, path: str) -> Form:
    """Which form the bytes are in; an empty or new file gets the form its extension promises."""
    data, _, _ = _decoded(data)
    start = len(data) - len(data.lstrip(b" \t\r\n\0"))
    if start == len(data):
        return _promised(path)
    if _LINE_START.match(data, start):
        return "lines"
    if data[start] == ord("[") or _DOCUMENT_START.match(data, start):
        return "document"
    end = data.find(b"\n", start)
    end = len(data) if end < 0 else end
    try:
        first = msgspec.json.decode(memoryview(data)[start:end])
    except UNFIT:
        # Spread over several lines, or damaged: what shows first of either form decides.
        sign = _SIGN.search(data, start)
        if sign is None:
            return _promised(path)
        return "document" if sign["section"] else "lines"
    if isinstance(first, dict):
        if is_document(first):
            return "document"
        if shape(first) or _INK.search(data, end):
            return "lines"
    return _promised(path)


def read(data: bytes, path: str, *, limits: Limits | None = None) -> GraphFile:
    """Take everything from a file that is JSON; BrokenFile says at which line and byte one is not.

    Items over the limits are left unread, so that one giant never keeps the rest of a file out.
    """
    form = detect(data, path)
    data, skipped, mark = _decoded(data)
    taking = Taking(form, limits or Limits(), wary=b"\\u0000" in data)
    if mark:
        taking.repair("line 1", mark)
    try:
        if form == "lines":
            _read_lines(data, taking)
        else:
            _read_document(data, taking)
    except Flaw as flaw:
        line, byte = data.count(b"\n", 0, flaw.at) + 1, flaw.at + skipped
        message = f"Failed to parse storage file: Invalid JSON at line {line}, byte {byte}: {flaw.message}"
        raise BrokenFile(message, path=path, line=line, byte=byte) from None
    return taking.done()


def recover(data: bytes, path: str, *, limits: Limits | None = None) -> GraphFile:
    """Take whatever can be read of the bytes, whole or damaged. Never raises for what they hold."""
    try:
        return read(data, path, limits=limits)
    except BrokenFile:
        # What was taken so far goes with the exception: a large file is not held twice.
        pass
    from polymnia.engine.transfer.recovery import salvage

    form = detect(data, path)
    data, skipped, mark = _decoded(data)
    # Broken text can hold a bare NUL, which is no JSON and so goes unseen by the search for escapes.
    taking = Taking(form, limits or Limits(), wary=True)
    if mark:
        taking.repair("line 1", mark)
    salvage(data, taking, skipped)
    return taking.done()


def _promised(path: str) -> Form:
    return "lines" if path.lower().endswith((".jsonl", ".ndjson")) else "document"


def _decoded(data: bytes) -> tuple[bytes, int, str | None]:
    """The bytes as UTF-8 without a mark, how many bytes the mark had, and a sentence about it if any."""
    if data.startswith(b"\xef\xbb\xbf"):
        return data[3:], 3, "The file began with a byte order mark; it was left out."
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        text = data.decode("utf-16", "replace")
        return text.encode(), 0, "The file was in UTF-16; it was read as UTF-8."
    return data, 0, None


def _read_lines(data: bytes, taking: Taking) -> None:
    view = memoryview(data)
    start = number = 0
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        number += 1
        try:
            taking.take(view[start:end], "lines", number)
        except Flaw as flaw:
            indent = end - start - len(data[start:end].lstrip(b" \t\r\n"))
            raise Flaw(start + indent + flaw.at, flaw.message) from None
        start = end + 1


def _read_document(data: bytes, taking: Taking) -> None:
    if not _INK.search(data):
        return
    try:
        value = msgspec.json.decode(data, type=dict[str, Raw] | list[Raw] | str | float | bool | None)
    except UNFIT:
        from polymnia.engine.transfer.broken_text import judge
        from polymnia.engine.transfer.recovery import outline

        judge(data)
        outline(data.decode(), taking)
        return
    try:
        if isinstance(value, dict):
            if not value.keys() & SECTIONS and shape(value):
                taking.take(data, "any", "the file")
                return
            if value and not value.keys() & SECTIONS:
                taking.refuse("the file", "It has neither entities nor relations; its keys are kept.")
            taking.document(value)
        elif isinstance(value, list):
            taking.repair("the file", "It is a bare list; its items were taken as entities and relations.")
            for index, item in enumerate(value):
                taking.take(item, "any", index)
        elif value is None:
            taking.repair("the file", "It is null; read as an empty graph.")
        else:
            taking.take(data, "entities", "the file")
    except (Flaw, UnicodeDecodeError):
        from polymnia.engine.transfer.broken_text import judge

        # An item that is not UTF-8: only the whole file tells at which byte.
        judge(data)
        raise
