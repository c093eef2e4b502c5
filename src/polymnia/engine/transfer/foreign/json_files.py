"""JSON and JSON lines of other programs: told by their first records, and read a record at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain, islice
from typing import BinaryIO

from msgspec import Struct

from polymnia.engine.transfer.foreign import conversations, letta, mem0, memory_service
from polymnia.engine.transfer.foreign.items import (
    left_out,
    memory_item,
    rest_of,
    scope_of,
    stable_id,
    tags_of,
    text_id,
    text_of,
    time_of,
)
from polymnia.engine.transfer.formats.graph_items import is_lone_item
from polymnia.engine.transfer.formats.json_records import parse_record, read_json
from polymnia.engine.transfer.formats.project import DEPTH
from polymnia.engine.transfer.formats.records import Broken, FileLimits, Item, JsonObject, Layout, Source, cannot_read
from polymnia.errors import Invalid

Open = Callable[[], BinaryIO]

_LISTS = ("results", "memories", "records", "conversations", "passages", "archival_memory", "items", "relations")
_HEADS = frozenset(("export_metadata", "count", "next", "previous", "total", "page", "page_size", "version", "format"))
"""What files tell of themselves."""
_LAYOUT = Layout(
    format="", head=(), sections={"": "", **{key: key for key in _LISTS}}, otherwise="it holds no list of records"
)
_RECORD = 256 * 1024**2  # bytes; a conversation of years is one record
_TRIED = 20  # records looked at before a file counts as unknown
_TEXTS = ("content", "text", "memory", "body")
_NO_CONTENT = frozenset(
    ("role", "entityType", "relationType", "observations", "mapping", "chat_messages", "messages", "turns")
)


class Shape(Struct, frozen=True):
    """A kind of record: what a file of such records is called, how one is told, and its memories."""

    label: str
    fits: Callable[[JsonObject], bool]
    read: Callable[[JsonObject], Iterator[Item]]


def _is_line(record: JsonObject) -> bool:
    return any(isinstance(record.get(key), str) for key in _TEXTS) and not record.keys() & _NO_CONTENT


def _read_line(record: JsonObject) -> Iterator[Item]:
    """A content of the user's own: the text, its id, tags, scope and times; anything else is metadata."""
    key = next(key for key in _TEXTS if isinstance(record.get(key), str))
    text, id = record[key], next((record[key] for key in ("id", "memory_id", "content_id") if record.get(key)), None)
    if not text.strip():
        yield left_out("records without a text")
        return
    scope, given = text_of(record.get("scope")), record.get("metadata")
    own = (key, "id", "memory_id", "content_id", "tags", "scope", "created_at", "updated_at", "metadata", "embedding")
    yield memory_item(
        text_id(text) if id is None else stable_id("line", str(id)), text, tags=tags_of(record.get("tags")),
        scope=scope_of(*scope.split("/")), metadata=rest_of(record, *own) | (given if isinstance(given, dict) else {}),
        created=time_of(record.get("created_at")), updated=time_of(record.get("updated_at")),
    )  # fmt: skip


CHATGPT = Shape("a ChatGPT export", conversations.is_chatgpt, conversations.read_chatgpt)
_SHAPES = (
    CHATGPT,
    Shape("a Claude export", conversations.is_claude, conversations.read_claude),
    Shape("Claude's memory", conversations.is_claude_memory, conversations.read_claude_memory),
    Shape("a project of Claude", conversations.is_claude_project, conversations.read_claude_project),
    Shape("an export of mcp-memory-service", memory_service.is_exported, memory_service.read_exported),
    Shape("a mem0 export", mem0.is_mem0, mem0.read_mem0),
    Shape("archival memory of Letta", letta.is_passage, letta.read_passage),
)
_AGENT = Shape("an agent file of Letta", lambda document: True, letta.read_agent_file)
_LINES = Shape("JSON lines", _is_line, _read_line)
_TEXTS_LISTED = Shape("a list of texts", _is_line, _read_line)


class JsonFile(Struct, frozen=True):
    """A recognized file: its shape, and whether it is one document, lines, or one whole record."""

    shape: Shape
    form: str
    nested: tuple[str, ...] = ()


def recognize(open: Open, total: int) -> JsonFile | None:
    """Tell a file by its first records; None if none of them is known, or it is no JSON at all."""
    try:
        with open() as file:
            source = Source(file, total)
            first = source.peek(64 * 1024).lstrip()[:1]
            if first not in (b"{", b"["):
                return None
            if first == b"[":
                values = [item.value for item in islice(read_json(source, _limits(total), _LAYOUT), _TRIED)]
                # A list of objects that all have a content is a project's.
                own = () if all(isinstance(one, dict) and "content" in one for one in values) else (_TEXTS_LISTED,)
                return _fitting("list", values, *own)
            line = next((line for line in source.lines(_RECORD) if line.strip()), b"")
        return _of_object(open, line, total)
    except (Invalid, ValueError, RecursionError, OSError):
        return None


def _limits(total: int) -> FileLimits:
    return FileLimits(total=total, record=_RECORD, depth=DEPTH)


def _fitting(form: str, values: Iterable[object], *more: Shape) -> JsonFile | None:
    tried = list(islice(values, _TRIED))
    if any(isinstance(value, dict) and is_lone_item(value) for value in tried):
        more = ()  # a graph, in which other things lie
    for value in tried:
        for shape in chain(_SHAPES, more):
            if isinstance(value, dict) and shape.fits(value):
                return JsonFile(shape, form)
    return None


def _of_object(open: Open, line: bytes, total: int) -> JsonFile | None:
    """A file that begins with an object: an object a line, or one object with a list in it, or one that is a record."""
    alone = parse_record(line.strip(), _limits(total))
    with open() as file:
        source = Source(file, total)
        if isinstance(alone, dict) and not _holds_list(alone) and not _is_agent_file(alone):
            records = (parse_record(line.strip(), _limits(total)) for line in source.lines(_RECORD) if line.strip())
            return _fitting("lines", records, _LINES)
        keys: list[str] = []
        with suppress(Invalid):  # an object without a list may be a record itself
            for item in islice(read_json(source, _limits(total), _LAYOUT), _TRIED + 64):
                if item.section == "unknown":
                    keys.append(str(item.value))
                elif isinstance(item.value, dict) and (found := _fitting("list", (item.value,))) is not None:
                    return found
    known = {
        "mapping",
        "chat_messages",
        "agents",
        "core_memory",
        "conversations_memory",
        "project_memories",
        "docs",
        "data",
    }
    if not known & set(keys):
        return None
    document = _whole(open, total)
    if _is_agent_file(document):
        return JsonFile(_AGENT, "whole")
    inner = document.get("data")
    if isinstance(inner, list | dict):
        key = next((key for key in _LISTS if isinstance(inner, dict) and isinstance(inner.get(key), list)), None)
        values = inner[key] if isinstance(inner, dict) and key else inner
        found = _fitting("nested", values) if isinstance(values, list) else None
        return None if found is None else JsonFile(found.shape, "nested", ("data", *((key,) if key else ())))
    return _fitting("whole", (document,))


def _holds_list(record: JsonObject) -> bool:
    return any(isinstance(record.get(key), list) for key in _LISTS) or isinstance(record.get("data"), list | dict)


def _is_agent_file(document: JsonObject) -> bool:
    agents = document.get("agents")
    if isinstance(agents, list):
        return any(isinstance(agent, dict) and letta.is_agent(agent) for agent in agents)
    return letta.is_agent(document)


def _whole(open: Open, total: int) -> JsonObject:
    with open() as file:
        source = Source(file, min(total, _RECORD))
        parts = []
        while part := source.read(1 << 20):
            parts.append(part)
    document = parse_record(b"".join(parts).strip(), _limits(total))
    if isinstance(document, str):
        raise cannot_read(document)
    return document


def read(open: Open, total: int, file: JsonFile) -> Iterator[Item]:
    """The items of a recognized file."""
    for value in _values(open, total, file):
        if isinstance(value, Broken):
            yield left_out(f"records that cannot be read: {value.reason} (line {value.line:,})")
        elif isinstance(value, str):
            yield left_out(f"{value!r:.60}, which is no part of {file.shape.label}")
        elif file.form == "whole" or file.shape.fits(value):
            yield from file.shape.read(value)
        elif file.shape.fits is _is_line:
            yield left_out(f"records without a text of their own ({', '.join(_TEXTS[:-1])} or {_TEXTS[-1]})")
        else:
            yield left_out(f"records that are not those of {file.shape.label}")


def _values(open: Open, total: int, file: JsonFile) -> Iterator[JsonObject | Broken | str]:
    """The records of a file, those that are broken, and the names of other parts of it."""
    if file.form in ("whole", "nested"):
        document = _whole(open, total)
        if file.form == "whole":
            yield document
            return
        inner: object = document
        for key in file.nested:
            inner = inner[key] if isinstance(inner, dict) else None
        for one in inner if isinstance(inner, list) else ():
            yield one if isinstance(one, dict) else Broken("it is no object", 1)
        return
    with open() as opened:
        source = Source(opened, total)
        if file.form == "lines":
            for number, line in enumerate(source.lines(_RECORD), 1):
                if line.strip():
                    value = _line(line, number, total)
                    yield value
            return
        for item in read_json(source, _limits(total), _LAYOUT):
            if item.section != "unknown" or item.value not in _HEADS:
                yield item.value


def _line(line: bytes, number: int, total: int) -> JsonObject | Broken:
    value = parse_record(line.strip(), _limits(total))
    if isinstance(value, dict):
        return value
    if isinstance(value, str):
        try:
            json.loads(line.rstrip())
        except json.JSONDecodeError as e:
            value = f"{e.msg[0].lower()}{e.msg[1:]}, column {e.colno:,}"
        except (ValueError, RecursionError):
            pass
        return Broken(value, number)
    return Broken("it is no object", number)
