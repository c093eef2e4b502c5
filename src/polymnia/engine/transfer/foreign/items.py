"""What readers of foreign files make: records as in an archive, with ids that are the same at every import."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from msgspec import Struct

from polymnia.engine.scopes import SESSIONS
from polymnia.engine.text.calendar import moment
from polymnia.engine.transfer.formats.records import Item, JsonObject

MEMORIES, RELATIONS, LEFT_OUT = "memories", "associations", "left out"
"""Sections of items: a memory, a relation, and the reason why something is not taken."""
TURN = "turn"
EDITED = "edited"
"""The key of a record's time of last change in its source; it decides which of two versions is newer."""
FILE = "file"
"""The key of the file of a folder that a record or relation comes from."""

_MILLISECONDS = 100_000_000_000  # seconds until the year 5138; a larger number counts milliseconds
_LAST = 253_402_300_799  # seconds; the end of the year 9999
_PART = 100  # characters of a part of a scope
_LEVELS = 9


class ForeignSource(Struct, frozen=True):
    """A recognized source: what messages call it, and a function that reads its items anew."""

    label: str
    read: Callable[[], Iterator[Item]]


def stable_id(*parts: str) -> str:
    """An id made from what identifies something in its source. It has the form of :func:`polymnia.models.new_id`."""
    h = sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
    return f"{'abcdef'[int(h[0], 16) % 6]}{h[1:8]}-{h[8:12]}-4{h[13:16]}-a{h[17:20]}-{h[20:32]}"


def text_id(text: str) -> str:
    """The id of a text that has none in its source: the text is all that identifies it."""
    return stable_id("line", text)


def memory_item(
    id: str,
    text: str | Sequence[str],
    *,
    kind: str | None = None,
    name: str | None = None,
    scope: str | None = None,
    tags: Sequence[str] = (),
    metadata: JsonObject | None = None,
    created: str | None = None,
    updated: str | None = None,
    **more: Any,
) -> Item:
    """A memory as a record of an archive; empty fields are left out."""
    body = {"content": text} if isinstance(text, str) else {"observations": list(text)}
    fields = {
        "memory_id": id, "name": name, "kind": kind, **body, "scope": scope, "tags": list(tags) or None,
        "metadata": metadata or None, "created_at": created, "updated_at": updated or created, **more,
    }  # fmt: skip
    return Item(MEMORIES, 0, {key: value for key, value in fields.items() if value is not None})


def turn_item(
    source: str,
    conversation: str,
    id: str,
    role: str,
    text: str,
    *,
    title: str | None,
    at: str | None,
    begun: str | None,
    files: Sequence[str] = (),
) -> Item:
    """A turn of a conversation, as ``remember`` of the native dialect keeps it: a memory of a session."""
    metadata = rest_of({"speaker": role, "conversation": title, "files": list(files)})
    scope = f"{SESSIONS}/{session_name(source, conversation, begun or at)}"
    return memory_item(
        stable_id(source, conversation, id), f"{role}: {text}", kind=TURN, scope=scope, metadata=metadata, created=at
    )


def session_name(source: str, conversation: str, begun: str | None) -> str:
    """The name of the session that a conversation becomes."""
    day = f"-{begun[:10]}" if begun else ""
    return f"{source}{day}-{stable_id(source, conversation)[:8]}"


def left_out(reason: str) -> Item:
    """Something that is not taken, with the reason."""
    return Item(LEFT_OUT, 0, reason)


def relation_item(type: str, **fields: Any) -> Item:
    """A relation as a record of an archive: ``source`` and ``target`` are ids, ``source_name`` and … names."""
    return Item(RELATIONS, 0, {"type": type, **{key: value for key, value in fields.items() if value is not None}})


def time_of(value: object) -> str | None:
    """A time as archives write it, from seconds or milliseconds since 1970 or from ISO 8601; None if it is no time."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        seconds = value / 1000 if value > _MILLISECONDS else value
        return moment(round(seconds * 1_000_000)) if 0 <= seconds <= _LAST else None
    try:
        read = datetime.fromisoformat(str(value).strip())
        read = (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return read.isoformat(timespec="microseconds").replace("+00:00", "Z") if read.year >= 1970 else None


def file_time(nanoseconds: int) -> str:
    """The time of a file as archives write it; one in the future is now."""
    return moment(max(0, min(nanoseconds, time.time_ns()) // 1000))


def tags_of(value: object) -> list[str]:
    """Tags given as a list or as a text with commas between them, trimmed and without a leading number sign."""
    given = value.split(",") if isinstance(value, str) else value if isinstance(value, list) else []
    trimmed = (str(tag).strip().lstrip("#").strip() for tag in given if isinstance(tag, str | int | float))
    return list(dict.fromkeys(tag for tag in trimmed if tag))


def scope_of(*parts: str) -> str | None:
    """A scope with these parts, each shortened to what a scope allows; None if there are none."""
    cleaned = ["".join(" " if c < " " or c == "\x7f" else c for c in part).strip() for part in parts]
    legal = [part.replace("/", "-")[:_PART].strip() for part in cleaned if part not in ("", ".", "..")][:_LEVELS]
    if legal and legal[0] == SESSIONS:  # the scope of sessions has a meaning of its own
        legal.insert(0, "imported")
    return "/".join(legal) or None


def text_of(value: object) -> str:
    """A text; anything else is an empty one."""
    return value if isinstance(value, str) else ""


def rest_of(record: JsonObject, *taken: str) -> JsonObject:
    """The fields of a record that have a value and no other place: they become metadata."""
    return {key: value for key, value in record.items() if key not in taken and value not in (None, "", [], {})}
