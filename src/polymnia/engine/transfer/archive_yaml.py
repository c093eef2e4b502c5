"""Reading an archive in YAML: event by event, never holding more than one record.

The events come from libyaml where it is built in, from PyYAML's own parser otherwise. What they mean is decided here:
no aliases, no tags beyond those of JSON's types, no key twice, and no word that turns into a date.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import yaml  # type: ignore[import-untyped]

from polymnia.engine.transfer.archive_item import (
    HEAD,
    SECTIONS,
    ArchiveLimits,
    Broken,
    Item,
    Section,
    cannot_read,
    check_head,
    check_whole,
)
from polymnia.engine.transfer.archive_legal import flaw, shown
from polymnia.engine.transfer.archive_scalar import meaning
from polymnia.engine.transfer.archive_source import Source
from polymnia.errors import Fault

__all__ = ["read_yaml"]

_CORE = "tag:yaml.org,2002:"
_TEXT = (f"{_CORE}str", "!")
_KINDS = {f"{_CORE}null": type(None), f"{_CORE}bool": bool, f"{_CORE}int": int, f"{_CORE}float": float}
_BOXES = {yaml.MappingStartEvent: f"{_CORE}map", yaml.SequenceStartEvent: f"{_CORE}seq"}
# Before and after the document there is little to say, and libyaml takes quadratic time over what can be said there.
_AROUND = 64 * 1024


def read_yaml(source: Source, limits: ArchiveLimits, *, native: bool = True) -> Iterator[Item]:
    """The items of an archive in YAML, in the order they stand in it. ``native`` uses libyaml if it is there."""
    return _Reader(source, limits, native).items()


class _Metered:
    """Gives the parser its bytes, and stops it when it takes too many before it has something to say."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._left = 0
        self._refusal = ""

    def allow(self, size: int, what: str = "a value has") -> None:
        """Let so many bytes pass from here on."""
        self._left = size
        self._refusal = f"{what} more than {size:,} bytes, which is the limit"

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, as the parser asks for them."""
        given = self._source.read(size)
        self._left -= len(given)
        if self._left < 0:
            raise cannot_read(self._refusal)
        return given


class _Reader:
    """Turns events into records."""

    def __init__(self, source: Source, limits: ArchiveLimits, native: bool) -> None:
        self._limits = limits
        self._metered = _Metered(source)
        self._metered.allow(_AROUND, "what is before the document has")
        self._native = native and yaml.__with_libyaml__
        self._parser = (yaml.CSafeLoader if self._native else yaml.SafeLoader)(self._metered)
        self._items = 0

    def items(self) -> Iterator[Item]:
        try:
            yield from self._stream()
        except yaml.YAMLError as e:
            raise _told(e) from None
        finally:
            self._parser.dispose()

    def _stream(self) -> Iterator[Item]:
        next_event = self._parser.get_event
        next_event()
        if type(next_event()) is yaml.StreamEndEvent:
            raise cannot_read("it is empty")
        event = next_event()
        self._metered.allow(self._limits.record)
        if type(event) is yaml.SequenceStartEvent:
            yield from self._list("memories")
        elif type(event) is yaml.MappingStartEvent:
            yield from self._document()
        else:
            _stop(event, "it is no archive: an object or a list was expected")
        self._metered.allow(_AROUND, "what is behind the document has")
        next_event()
        if type(event := next_event()) is not yaml.StreamEndEvent:
            _stop(event, "a second document follows")

    def _document(self) -> Iterator[Item]:
        seen: set[str] = set()
        while type(event := self._parser.get_event()) is not yaml.MappingEndEvent:
            if type(event) is not yaml.ScalarEvent:
                _stop(event, "a key was expected")
            key = event.value
            if key in seen:
                _stop(event, f"the key {shown(key)!r} appears twice")
            seen.add(key)
            event = self._parser.get_event()
            section = SECTIONS.get(key)
            if section and type(event) is yaml.SequenceStartEvent:
                yield from self._list(section)
            elif section or key in HEAD:
                value = self._value(event)
                if isinstance(value, Broken):
                    _stop(event, value.reason)
                if section and value is not None:
                    _stop(event, f"{key} is no list")
                if not section:
                    check_head(key, value, _where(event.start_mark))
                    yield Item("head", len(seen) - 1, {key: value})
            else:
                self._pass(event)
                yield Item("unknown", len(seen) - 1, key)
        check_whole(seen)

    def _list(self, section: Section) -> Iterator[Item]:
        position = 0
        while type(event := self._parser.get_event()) is not yaml.SequenceEndEvent:
            self._items += 1
            if self._items > self._limits.items:
                raise cannot_read(f"it has more than {self._limits.items:,} records, which is the limit")
            value = self._value(event)
            if type(value) is not dict and not isinstance(value, Broken):
                value = Broken("it is no object", event.start_mark.line + 1)
            yield Item(section, position, value)
            position += 1

    def _pass(self, event: Any) -> None:
        """Read past a value nobody wants."""
        depth = 0
        while True:
            kind = type(event)
            if kind in _BOXES:
                depth += 1
                self._check_depth(event, depth)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                depth -= 1
            if not depth:
                return
            self._metered.allow(self._limits.record)
            event = self._parser.get_event()

    def _value(self, event: Any) -> Any:
        """The value that begins with an event, or Broken; in both cases every event of it has been read."""
        self._metered.allow(self._limits.record)
        next_event, short = self._parser.get_event, self._limits.text // 4
        line = event.start_mark.line + 1
        wrong: str | None = None
        doubtful = not self._native  # the parser in Python lets half a surrogate pair pass
        around: list[tuple[Any, str | None]] = []
        box: Any = None
        key: str | None = None
        values = 0
        while True:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                value = event.value
                if len(value) > short or "\0" in value:
                    doubtful = True
                if type(box) is dict and key is None:
                    if value == "<<" and event.implicit[0]:
                        wrong = wrong or f"a merge key (<<) at {_where(event.start_mark)}; write out what it stands for"
                    key = value
                    event = next_event()
                    continue
                if event.tag is not None or event.implicit[0]:
                    try:
                        value = _plain(event)
                    except ValueError as e:
                        wrong = wrong or f"it holds {e} at {_where(event.start_mark)}"
            elif kind in _BOXES:
                if event.tag not in (None, "!", _BOXES[kind]):
                    wrong = wrong or f"it holds the tag {_tag(event.tag)} at {_where(event.start_mark)}"
                around.append((box, key))
                self._check_depth(event, len(around))
                box, key = ({} if kind is yaml.MappingStartEvent else []), None
                event = next_event()
                continue
            elif kind is yaml.AliasEvent:
                wrong = wrong or f"it holds an alias (*{shown(event.anchor)}) at {_where(event.start_mark)}"
                value = None
            else:
                value = box
                box, key = around.pop()
            values += 1
            if type(box) is dict:
                if key is None:
                    wrong = wrong or f"a key is no text at {_where(event.start_mark)}"
                    key = ""
                elif key in box:
                    wrong = wrong or f"the key {shown(key)!r} appears twice at {_where(event.start_mark)}"
                    key = None
                else:
                    box[key] = value
                    key = None
            elif box is not None:
                box.append(value)
            else:
                break
            if values > self._limits.values:
                _stop(event, f"a record has more than {self._limits.values:,} values, which is the limit")
            event = next_event()
        if wrong is None and doubtful:
            wrong = flaw(value, self._limits)
        return value if wrong is None else Broken(wrong, line)

    def _check_depth(self, event: Any, depth: int) -> None:
        if depth > self._limits.depth:
            _stop(event, f"it is nested more than {self._limits.depth} deep")


def _plain(event: Any) -> Any:
    """What a scalar means that is not simply a text in quotes."""
    tag = event.tag
    if tag is None:
        return meaning(event.value)
    if tag in _TEXT:
        return event.value
    if tag not in _KINDS:
        raise ValueError(f"the tag {_tag(tag)}")
    value = meaning(event.value)
    if type(value) is int and _KINDS[tag] is float:
        return float(value)
    if type(value) is not _KINDS[tag]:
        raise ValueError(f"a value that is not what its tag {_tag(tag)} says")
    return value


def _tag(tag: str) -> str:
    return shown(tag.replace(_CORE, "!!", 1))


def _stop(event: Any, why: str) -> NoReturn:
    raise cannot_read(why, where=_where(event.start_mark))


def _where(mark: Any) -> str:
    return f"line {mark.line + 1:,}, column {mark.column + 1:,}"


def _told(e: Any) -> Fault:
    """The parser's complaint in our form."""
    if isinstance(e, yaml.reader.ReaderError):
        return cannot_read(f"it is not YAML: {e.reason}", where=f"character {e.position:,}")
    if (mark := getattr(e, "problem_mark", None)) is not None:
        context = f" {e.context}" if e.context else ""
        return cannot_read(f"it is not YAML: {e.problem}{context}", where=_where(mark))
    return cannot_read(f"it is not YAML: {e}")
