"""YAML documents, written in block style and read event by event, with one record in memory at a time.

An unquoted word is null, a boolean or a number only if YAML 1.1, YAML 1.2 and JSON agree; anything else is text. So no
date, ``yes``, ``0x1F`` or ``1e3`` turns into something its author did not write. When writing, everything that a
reader could misread is quoted.

The events come from libyaml if it is available, otherwise from PyYAML's own parser. They are interpreted here: no
aliases, no tags other than those of texts, lists and objects, no duplicate keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from math import isfinite
from typing import Any, NoReturn

import yaml  # type: ignore[import-untyped]
from msgspec.json import encode

from polymnia.engine.transfer.formats.records import (
    Broken,
    FileLimits,
    Item,
    JsonObject,
    Layout,
    Source,
    cannot_read,
    check_count,
    shortened,
)
from polymnia.errors import Fault

# Characters that a YAML reader refuses, drops or takes for a line end, and those that are escaped anyway.
_ODD = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff"
_ESCAPED = re.compile(f"[{_ODD}]")
_ONE_LINE = re.compile(f"[^\t\n{_ODD}]+")
# What no unquoted text starts with: indicators, and everything a number or a date could start with.
_NEVER_FIRST = frozenset("-?:,[]{}#&*!|>'\"%@`0123456789.+=<~")
# Lines that can be written as a block; the first one determines the indentation.
_LINES = re.compile(rf"(?=[^\s{_ODD}])[^{_ODD}]+")
_WORDS = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
# Readers need not accept a simple key of more than 1,024 characters.
_LONG_KEY = 500
_MARGIN = "\n  "

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+(?:[eE][-+]?[0-9]+)?)?")
_MEANS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NO_NUMBER = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_CORE = "tag:yaml.org,2002:"
_TEXT = (f"{_CORE}str", "!")
_CONTAINERS = {yaml.MappingStartEvent: f"{_CORE}map", yaml.SequenceStartEvent: f"{_CORE}seq"}
# The most bytes before and after the document, over which libyaml takes quadratic time.
_AROUND = 64 * 1024


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────


def yaml_pieces(layout: Layout, head: object, *sections: Iterable[JsonObject]) -> Iterator[bytes]:
    """Write a document in chunks. ``head`` is the value of the last key of the layout's head."""
    yield yaml_object(layout.head_of(head)).encode()
    for section, records in zip(dict.fromkeys(layout.sections.values()), sections, strict=True):
        before = f"{section}:\n"
        for record in records:
            yield f"{before}- {_object(record, _MARGIN)}\n".encode()
            before = ""
        if before:
            yield f"{section}: []\n".encode()


def yaml_object(value: JsonObject) -> str:
    """One object as a document."""
    return _object(value, "\n") + "\n"


def _object(value: JsonObject, margin: str) -> str:
    """The members of an object, separated by ``margin``: a line feed and the indentation."""
    return margin.join(_member(key, member, margin) for key, member in value.items()) or "{}"


def _member(key: str, value: Any, margin: str) -> str:
    written = _key(key)
    if written[0] == "?":
        written = written.replace("\n", margin)
    if value and isinstance(value, dict):
        return f"{written}{margin}  {_value(value, margin)}"
    if value and isinstance(value, (list, tuple)):
        return f"{written}{margin}{_list(value, margin)}"
    return f"{written} {_value(value, margin)}"


def _list(value: Iterable[Any], margin: str) -> str:
    return margin.join(f"- {_value(member, margin)}" for member in value) or "[]"


def _value(value: Any, margin: str) -> str:
    if isinstance(value, dict):
        return _object(value, f"{margin}  ")
    if isinstance(value, (list, tuple)):
        return _list(value, f"{margin}  ")
    return _scalar(value, f"{margin[1:]}  ")


def _scalar(value: Any, indent: str) -> str:
    """A value other than a list or object; ``indent`` is the indentation of a multi-line text."""
    if isinstance(value, str):
        return _text(value, indent)
    if isinstance(value, float):
        written = repr(value)
        return written if "." in written else written.replace("e", ".0e")
    return encode(value).decode()


@lru_cache(maxsize=4096)
def _key(text: str) -> str:
    """A key with its colon; a long one needs the question mark of a complex key."""
    written = text if _is_plain(text) else _quoted(text)
    return f"{written}:" if len(written) <= _LONG_KEY else f"? {written}\n:"


def _text(text: str, indent: str) -> str:
    if "\n" in text:
        if _LINES.fullmatch(text) is None:
            return _quoted(text)
        body = text.rstrip("\n")
        ends = len(text) - len(body)
        mark = "|-" if ends == 0 else "|" if ends == 1 else "|+"
        lines = body.replace("\n", f"\n{indent}")
        if "\n\n" in body:
            lines = lines.replace(f"\n{indent}\n", "\n\n")
            lines = lines.replace(f"\n{indent}\n", "\n\n")
        return f"{mark}\n{indent}{lines}" + "\n" * (ends - 1)
    return text if _is_plain(text) else _quoted(text)


def _is_plain(text: str) -> bool:
    """Whether a text needs no quotes: nothing in it is an indicator."""
    return (
        text != ""
        and text[0] not in _NEVER_FIRST
        and not text[0].isspace()
        and text[-1] not in ": "
        and ": " not in text
        and " #" not in text
        and _ONE_LINE.fullmatch(text) is not None
        and (len(text) > 5 or text.lower() not in _WORDS)
    )


def _quoted(text: str) -> str:
    written = encode(text).decode()
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


def _meaning(word: str) -> Any:
    """The value of an unquoted word; raises ValueError for a number that archives do not allow."""
    if word in _MEANS:
        return _MEANS[word]
    if word[0] not in "-+.0123456789":
        return word
    if (number := _NUMBER.fullmatch(word)) is None:
        if _NO_NUMBER.fullmatch(word):
            raise ValueError(f"{word}, which is no finite number")
        return word
    if number[1]:
        if not isfinite(real := float(word)):
            raise ValueError("a number out of range")
        return real
    if len(word) > 20:
        raise ValueError(f"an integer beyond 64 bits ({shortened(word)})")
    return int(word)


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────


def read_yaml(source: Source, limits: FileLimits, layout: Layout, *, native: bool = True) -> Iterator[Item]:
    """Read the items of a document in file order. ``native`` uses libyaml if it is available."""
    return _Reader(source, limits, layout, native).items()


class _Reader:
    """Builds records from events. The parser reads the file through it, within a limit for each value."""

    def __init__(self, source: Source, limits: FileLimits, layout: Layout, native: bool) -> None:
        self._source = source
        self._limits = limits
        self._layout = layout
        self._allow(_AROUND, "what is before the document has")
        self._parser = (yaml.CSafeLoader if native and yaml.__with_libyaml__ else yaml.SafeLoader)(self)
        self._next = self._parser.get_event
        self._items = 0

    def read(self, size: int) -> bytes:
        """Read at most ``size`` bytes; called by the parser."""
        part = self._source.read(size)
        self._left -= len(part)
        if self._left < 0:
            raise cannot_read(self._refusal)
        return part

    def _allow(self, size: int, what: str = "a value has") -> None:
        """Limit how many bytes the parser may read from here on."""
        self._left = size
        self._refusal = f"{what} more than {size:,} bytes, which is the limit"

    def items(self) -> Iterator[Item]:
        try:
            yield from self._stream()
        except yaml.YAMLError as e:
            raise _not_yaml(e) from None
        finally:
            self._parser.dispose()

    def _stream(self) -> Iterator[Item]:
        self._next()
        if type(self._next()) is yaml.StreamEndEvent:
            raise cannot_read("it is empty")
        event = self._next()
        self._allow(self._limits.record)
        if type(event) is yaml.SequenceStartEvent:
            yield from self._list(next(iter(self._layout.sections)))
        elif type(event) is yaml.MappingStartEvent:
            yield from self._document()
        else:
            _stop(event, "it is no archive: an object or a list was expected")
        self._allow(_AROUND, "what is behind the document has")
        self._next()
        if type(event := self._next()) is not yaml.StreamEndEvent:
            _stop(event, "a second document follows")

    def _document(self) -> Iterator[Item]:
        seen: set[str] = set()
        while type(event := self._next()) is not yaml.MappingEndEvent:
            if type(event) is not yaml.ScalarEvent:
                _stop(event, "a key was expected")
            key = event.value
            if key in seen:
                _stop(event, f"the key {shortened(key)!r} appears twice")
            seen.add(key)
            event = self._next()
            section = self._layout.sections.get(key)
            if section and type(event) is yaml.SequenceStartEvent:
                yield from self._list(section)
            elif section or key in self._layout.head:
                value = self._value(event)
                if isinstance(value, Broken):
                    _stop(event, value.reason)
                if section and value is not None:
                    _stop(event, f"{key} is no list")
                if not section:
                    self._layout.check_head(key, value, _where(event.start_mark))
                    yield Item("head", len(seen) - 1, {key: value})
            else:
                self._value(event)
                yield Item("unknown", len(seen) - 1, key)
        self._layout.check_keys(seen)

    def _list(self, section: str) -> Iterator[Item]:
        position = 0
        while type(event := self._next()) is not yaml.SequenceEndEvent:
            self._items += 1
            check_count(self._items, self._limits)
            value = self._value(event)
            if type(value) is not dict and not isinstance(value, Broken):
                value = Broken("it is no object", event.start_mark.line + 1)
            yield Item(section, position, value)
            position += 1

    def _value(self, event: Any) -> Any:
        """The value that starts with an event, or Broken; in both cases all its events have been consumed."""
        self._allow(self._limits.record)
        line = event.start_mark.line + 1
        value = _Value()
        while True:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                value.scalar(event)
            elif kind in _CONTAINERS:
                value.open(event)
                if len(value.enclosing) > self._limits.depth:
                    _stop(event, f"it is nested more than {self._limits.depth} deep")
            elif kind is yaml.AliasEvent:
                value.blame(event, f"it holds an alias (*{shortened(event.anchor)})")
                value.put(event, None)
            else:
                value.close(event)
            if value.complete:
                return value.root if value.flaw is None else Broken(value.flaw, line)
            if value.count > self._limits.values:
                _stop(event, f"a record has more than {self._limits.values:,} values, which is the limit")
            event = self._next()


class _Value:
    """Builds one value event by event and remembers its first flaw."""

    def __init__(self) -> None:
        self.root: Any = None
        self.complete = False
        self.flaw: str | None = None
        self.count = 0
        self.enclosing: list[tuple[Any, str | None]] = []  # the enclosing containers, each with its current key
        self._container: Any = None
        self._key: str | None = None

    def blame(self, event: Any, why: str) -> None:
        self.flaw = self.flaw or f"{why} at {_where(event.start_mark)}"

    def open(self, event: Any) -> None:
        if event.tag not in (None, "!", _CONTAINERS[type(event)]):
            self.blame(event, f"it holds the tag {_tag(event.tag)}")
        self.enclosing.append((self._container, self._key))
        self._container, self._key = {} if type(event) is yaml.MappingStartEvent else [], None

    def close(self, event: Any) -> None:
        container = self._container
        self._container, self._key = self.enclosing.pop()
        self.put(event, container)

    def scalar(self, event: Any) -> None:
        value = event.value
        if type(self._container) is dict and self._key is None:
            if value == "<<" and event.implicit[0]:
                self.blame(event, "it holds a merge key (<<), which must be written out")
            self._key = value
            return
        if event.tag is not None or event.implicit[0]:
            try:
                value = _plain(event)
            except ValueError as e:
                self.blame(event, f"it holds {e}")
        self.put(event, value)

    def put(self, event: Any, value: Any) -> None:
        self.count += 1
        if type(self._container) is list:
            self._container.append(value)
        elif self._container is None:
            self.root, self.complete = value, True
        elif self._key is None:
            self.blame(event, "a key is no text")
            self._key = ""
        else:
            if self._key in self._container:
                self.blame(event, f"the key {shortened(self._key)!r} appears twice")
            self._container[self._key] = value
            self._key = None


def _plain(event: Any) -> Any:
    """The value of a scalar that is not simply a quoted text."""
    if event.tag is None:
        return _meaning(event.value)
    if event.tag in _TEXT:
        return event.value
    raise ValueError(f"the tag {_tag(event.tag)}")


def _tag(tag: str) -> str:
    return shortened(tag.replace(_CORE, "!!", 1))


def _stop(event: Any, why: str) -> NoReturn:
    raise cannot_read(why, where=_where(event.start_mark))


def _where(mark: Any) -> str:
    return f"line {mark.line + 1:,}, column {mark.column + 1:,}"


def _not_yaml(e: Any) -> Fault:
    """The fault for an error of the parser."""
    if isinstance(e, yaml.reader.ReaderError):
        return cannot_read(f"it is not YAML: {e.reason}", where=f"character {e.position:,}")
    if (mark := getattr(e, "problem_mark", None)) is not None:
        context = f" {e.context}" if e.context else ""
        return cannot_read(f"it is not YAML: {e.problem}{context}", where=_where(mark))
    return cannot_read(f"it is not YAML: {e}")
