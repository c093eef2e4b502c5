"""Reading a document in JSON: from record to record, never holding more than one of them.

Between the records the reader goes by itself; a record is cut out by its brackets and then parsed whole. What is
written one record a line is cut out by its line end, which is faster and comes to the same: an object that parses
whole from its opening bracket ends where it ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from polymnia.engine.transfer.archive_item import ArchiveLimits, Broken, cannot_read
from polymnia.engine.transfer.archive_json_record import careful, quick
from polymnia.engine.transfer.archive_legal import shown
from polymnia.engine.transfer.archive_source import Source
from polymnia.engine.transfer.json_text import JsonText

__all__ = ["DocumentForm", "read_document"]

T = TypeVar("T")

_OPENING, _CLOSING, _QUOTE, _COMMA, _COLON = b'{}",:'
_LIST, _END_OF_LIST = b"[]"


class DocumentForm(NamedTuple, Generic[T]):
    """What a document may hold: which keys have lists of which section, and which are its head.

    ``bare`` is the key that stands for a document that is one list. ``item`` makes what is told of a part: its section
    (of a key of the head ``head``, of any other ``unknown``), its place and its value.
    """

    sections: Mapping[str, Any]
    bare: str
    head: Collection[str]
    check_head: Callable[[str, object, str], None]
    check_whole: Callable[[Collection[str]], None]
    item: Callable[[Any, int, Any], T]


def read_document(source: Source, limits: ArchiveLimits, form: DocumentForm[T]) -> Iterator[T]:
    """The parts of a document in the order they stand in it."""
    return _Reader(source, limits, form).items()


class _Reader(JsonText, Generic[T]):
    """Goes through one document."""

    def __init__(self, source: Source, limits: ArchiveLimits, form: DocumentForm[T]) -> None:
        super().__init__(source, limits)
        self._form = form
        self._tried = 0  # no line end before this place is worth looking for
        self._records = 0

    def items(self) -> Iterator[T]:
        first = self._next()
        if first == _LIST:
            yield from self._list(self._form.bare)
        elif first == _OPENING:
            yield from self._document()
        else:
            self._stop("an object or a list was expected")
        if self._next() is not None:
            self._stop("something follows its end")

    def _document(self) -> Iterator[T]:
        self._at += 1
        seen: dict[str, None] = {}
        while (mark := self._next()) != _CLOSING:
            if seen:
                if mark != _COMMA:
                    self._stop("a comma or the end of the object was expected")
                self._at += 1
                mark = self._next()
            if mark != _QUOTE:
                self._stop("a key in quotes was expected")
            begin = self._at
            key = self._key()
            name = self._form.sections.get(key, key)
            if name in seen:
                self._stop(f"the key {shown(key)!r} appears twice", begin)
            seen[name] = None
            if self._next() != _COLON:
                self._stop("a colon was expected")
            self._at += 1
            yield from self._member(key, len(seen) - 1)
        self._at += 1
        self._form.check_whole(seen)  # refuses what holds nothing

    def _key(self) -> str:
        raw = self._cut("a key")
        try:
            key = json.loads(raw)
        except ValueError:
            self._stop("a key is not right")
        return str(key)

    def _member(self, key: str, position: int) -> Iterator[T]:
        first, form = self._next(), self._form
        if key in form.sections:
            if first == _LIST:
                yield from self._list(key)
            elif self._cut(key) != b"null":
                self._stop(f"{key} is no list")
        elif key in form.head:
            where = self._where(self._at)
            value = careful(b'{"%b":%b}' % (key.encode(), self._cut(key)), self._limits)
            if isinstance(value, str):
                raise cannot_read(value, where=where)
            form.check_head(key, value[key], where)
            yield form.item("head", position, value)
        else:
            self._cut(shown(key), keep=False)
            yield form.item("unknown", position, key)

    def _list(self, key: str) -> Iterator[T]:
        self._at += 1
        section, item = self._form.sections[key], self._form.item
        position = 0
        if self._next() == _END_OF_LIST:
            self._at += 1
            return
        while True:
            yield item(section, position, self._record(key, position))
            position += 1
            if (mark := self._next()) == _END_OF_LIST:
                self._at += 1
                return
            if mark != _COMMA:
                self._stop(f"a comma or the end of {key} was expected")
            self._at += 1

    def _record(self, key: str, position: int) -> dict[str, Any] | Broken:
        self._records += 1
        if self._records > self._limits.items:
            raise cannot_read(f"it has more than {self._limits.items:,} records, which is the limit")
        if self._next() != _OPENING:
            line = self._line(self._at)
            self._cut(f"{key}[{position}]", keep=False)
            return Broken("it is no object", line)
        if (value := self._line_record()) is not None:
            return value
        raw = self._cut(f"{key}[{position}]")
        if (value := quick(raw, self._limits)) is not None:
            return value
        found = careful(raw, self._limits)
        if isinstance(found, str):
            return Broken(found, self._line(self._at - len(raw)))
        return found

    def _line_record(self) -> dict[str, Any] | None:
        """The record, when it takes the rest of the line."""
        if self._before + self._at < self._tried:
            return None
        end = self._held.find(b"\n", self._at)
        # A line is tried once: it may be long and hold many records.
        self._tried = self._before + (end if end >= 0 else len(self._held))
        if end < 0:
            return None
        whole = self._held[self._at : end].rstrip(b" \t\r,")
        value = quick(whole, self._limits) if whole.endswith(b"}") else None
        if value is not None:
            self._at += len(whole)
        return value
