"""The way through a broken text, from item to item.

The walk goes over the text between the items and trusts nothing but what it sees next: an item, the key of a
section, a bracket. An item that does not parse is mended as far as it goes. Where nothing fits, the walk looks
for the next place that begins like an item and goes on from there.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import cast

from polymnia.engine.transfer.broken_text import (
    ITEM_START,
    KEY,
    Mended,
    is_whole_item,
    mend,
    strictly,
    swallows,
    unescaped,
)
from polymnia.engine.transfer.item import SECTIONS, Listed, Place, is_document, is_item
from polymnia.engine.transfer.taking import Taking
from polymnia.engine.transfer.wording import quoted

__all__ = ["Walk"]

_SKIPPED = re.compile(r"[ \t\r\n,]*")
_AFTER_VALUE = re.compile(r"[ \t\r\n]*(?:[,\]}]|\Z)")
_SECTION = rf'"(?:{"|".join(SECTIONS)})"\s*:\s*[\[{{]'
_DOCUMENT_START = re.compile(rf"\{{\s*{_SECTION}")
_LANDMARK = re.compile(rf"{ITEM_START.pattern}|(?:\{{\s*)?{_SECTION}")
# A byte b that is not UTF-8 is decoded to U+DC00 + b; nothing else is decoded to that.
_NOT_UTF8 = re.compile("[\udc80-\udcff]")


class Walk:
    """Goes once through a text and takes every item it comes to."""

    def __init__(self, text: str, taking: Taking, *, line: int, byte: int, sound: bool = False) -> None:
        self._source = text
        self._hurt = [] if text.isascii() else [m.start() for m in _NOT_UTF8.finditer(text)]
        # One character for one, so that places in the text stay the same.
        self._text = _NOT_UTF8.sub("\ufffd", text) if self._hurt else text
        self._taking = taking
        self._mark = self._origin = (0, line, byte)
        self._section: Listed | None = None
        self._in_document = False
        self._depth = 0
        # Only in a sound text is the number of an item in its list sure to be right.
        self._sound = sound
        self._index = 0
        self._spare = 4 * len(text)
        self._lost = self._told = False

    def run(self) -> None:
        """Walk to the end of the text."""
        text = self._text
        pos = 0
        while True:
            after_value = pos > 0 and not self._lost and text[pos - 1] not in "[{"
            gap, pos = pos, cast(re.Match[str], _SKIPPED.match(text, pos)).end()
            char = text[pos : pos + 1]
            if not char and self._depth > 0:
                break
            self._check_gap(gap, pos, after_value and char not in ("]", "}", ""))
            if not char:
                return
            if char in "]}":
                self._section = None
                self._depth -= 1
                self._in_document = self._in_document and self._depth > 0
                pos += 1
            elif char == "{":
                pos = self._object(pos)
            elif char == "[" and self._section is None:
                pos = self._step_into(pos)
            elif char == '"' and (key := KEY.match(text, pos)):
                pos = self._member(key)
            elif (end := self._end_of_value(pos)) is not None and _AFTER_VALUE.match(text, end):
                self._take(pos, end)
                pos = end
            else:
                pos = self._seek(pos, pos + 1)
        if not self._told:
            self._taking.refuse(self._where(pos), "The file ends here, in the middle of a list or object.")

    def _check_gap(self, start: int, end: int, between: bool) -> None:
        """Tell of commas there should not be, and of items with nothing between them."""
        lines = self._taking.form == "lines"
        commas = self._text.count(",", start, end)
        if commas > (between and not lines):
            self._taking.repair(self._where(start), "There was a comma too many; left out.")
        elif between and not commas and not (lines and "\n" in self._text[start:end]):
            self._taking.repair(self._where(end), "It began right after the item before it; parted.")

    def _object(self, pos: int) -> int:
        """Take the object that begins here, or step into it when it is a document."""
        text = self._text
        if _DOCUMENT_START.match(text, pos):
            return self._open(pos)
        found, self._lost = self._lost, False
        if whole := strictly(text, pos):
            value, end = whole
            if self._section is None and is_document(value):
                return self._open(pos)
            if found and not is_item(value, None):
                # Come upon while searching, this may be a part of the item that is lost.
                return self._seek(pos, end)
            if self._sound or not swallows(value):
                self._take(pos, end)
                return end
        mended = mend(text, pos, wary=not self._sound)
        likely = is_item(mended.value, None) and not is_document(mended.value)
        if found and not likely:
            return self._doubt(pos, mended.end)
        if self._section is None and not (likely and ITEM_START.match(text, pos)):
            return self._open(pos)
        return self._take_mended(mended, pos)

    def _doubt(self, pos: int, end: int) -> int:
        """Look for items inside of what begins like one and is none, as often as keeps the walk linear."""
        self._spare -= end - pos
        return self._seek(pos, pos + 1 if self._spare > 0 else end)

    def _open(self, pos: int) -> int:
        self._section = None
        self._in_document = True
        return self._step_into(pos)

    def _step_into(self, pos: int) -> int:
        self._depth += 1
        self._index = 0
        self._lost = False
        return pos + 1

    def _member(self, key: re.Match[str]) -> int:
        """Take what stands under a key between the items: a section, an item by its name, a foreign key."""
        text, start, pos = self._text, key.start(), key.end()
        name = unescaped(key[1], {})
        opening = text[pos : pos + 1]
        section = SECTIONS.get(name)
        if section and opening in ("[", "{"):
            self._section = section
            self._in_document = True
            if opening == "{":
                self._taking.repair(self._where(start), f"{name} is an object keyed by name; read as a list.")
            return self._step_into(pos)
        if not self._in_document:
            return self._seek(start, pos)
        if opening == "[" and self._section is None and not self._sound:
            first = cast(re.Match[str], _SKIPPED.match(text, pos + 1)).end()
            if is_whole_item(text, first):
                why = "It is the key of a list of items; they were taken."
                self._taking.repair(f"{self._where(start)}, {quoted(name)}", why)
                return self._step_into(pos)
        end = self._end_of_value(pos)
        if end is None:
            mended = mend(text, pos) if opening in ("[", "{") else None
            if mended is None or self._section is None:
                return self._seek(start, pos)
            value = mended.value if isinstance(mended.value, dict) else {"observations": mended.value}
            named = Mended({"name": name, **value}, mended.end, mended.complete, mended.faults)
            return self._take_mended(named, start)
        raw, where = text[pos:end].encode(), self._where(start)
        if self._section is not None:
            self._taking.keyed(name, raw, self._section, where)
        elif section:
            self._taking.section(section, raw)
        else:
            self._taking.keep(name, raw)
        self._note_hurt(start, end, where)
        return end

    def _take(self, pos: int, end: int) -> None:
        raw = self._text[pos:end].encode()
        if self._sound:
            self._taking.take(raw, self._place(), self._index)
            self._index += 1
            return
        where = self._where(pos)
        if self._taking.take(raw, self._place(), where):
            if self._taking.form == "lines" and b"\n" in raw:
                self._taking.repair(where, "It was spread over several lines; joined.")
            self._note_hurt(pos, end, where)

    def _take_mended(self, mended: Mended, pos: int) -> int:
        end = mended.end
        if mended.complete and not mended.faults and self._text[pos] == "{":
            self._take(pos, end)
            return end
        if not mended.complete and not is_item(mended.value, self._section, whole=True):
            return self._seek(pos, end)
        where = self._where(pos)
        try:
            raw = json.dumps(mended.value).encode()
        except RecursionError:
            return self._seek(pos, end)
        if self._taking.take(raw, self._place(), where):
            if mended.faults:
                self._taking.repair(where, f"It had {' and '.join(mended.faults)}; mended.")
            if not mended.complete:
                self._taking.repair(where, "It breaks off; what was complete of it was taken.")
            self._note_hurt(pos, end, where)
        return end if mended.complete else self._seek(end, end)

    def _seek(self, pos: int, past: int) -> int:
        """Go on at the next place that begins like an item or a section; what is before it is lost."""
        found = _LANDMARK.search(self._text, past)
        end = found.start() if found else len(self._text)
        if lost := self._source[pos:end].strip(" \t\r\n,[]{}"):
            raw = lost.encode("utf-8", "surrogateescape")
            shown = repr(raw.decode("utf-8", "replace")[:40])[1:-1] + ("…" if len(lost) > 40 else "")
            self._taking.refuse(self._where(pos), f"{len(raw):,} bytes could not be read: {shown}")
            self._told = True
        self._lost = True
        self._in_document = False
        return end

    def _end_of_value(self, pos: int) -> int | None:
        if whole := strictly(self._text, pos):
            return whole[1]
        # Too deep for the strict reader, perhaps, and still in order.
        mended = mend(self._text, pos) if self._text[pos : pos + 1] in ("[", "{") else None
        return mended.end if mended and mended.complete and not mended.faults else None

    def _place(self) -> Place:
        return self._section or ("lines" if self._taking.form == "lines" else "any")

    def _note_hurt(self, pos: int, end: int, where: str) -> None:
        at = bisect_left(self._hurt, pos)
        if at < len(self._hurt) and self._hurt[at] < end:
            self._taking.repair(where, "Bytes that are not UTF-8 were replaced by U+FFFD.")

    def _where(self, pos: int) -> str:
        seen, line, byte = self._mark if pos >= self._mark[0] else self._origin
        passed = self._source[seen:pos]
        line += passed.count("\n")
        byte += len(passed.encode("utf-8", "surrogateescape"))
        self._mark = (pos, line, byte)
        return f"line {line}" if self._taking.form == "lines" else f"line {line}, byte {byte}"
