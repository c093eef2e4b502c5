"""Statements: the sentences of records that claim something, each with its place in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.conflicts.order import undated
from polymnia.models import Record

__all__ = ["MOST", "Statement", "Statements", "plain", "statements"]

MOST = 60
"""So many statements of a record are compared; a longer text is mostly reading matter."""

_LONGEST = 600  # characters: what is longer without a full stop is no sentence
_SHORTEST = 4
_EVERY = 500  # records between two ticks
_WRAPPED = 55  # a line so long may go on in the next one
_CODE_TYPES = re.compile(r"(?:application|text)/(?:json|x-|csv|css|javascript|yaml|xml|sql)|\+(?:json|xml)")
_FENCE = re.compile(r"[ \t]{0,3}(```+|~~~+)")
_SKIPPED = re.compile(r"\s*(?:#{1,6}\s|\||[-=*_]{3,}\s*$|<[^>]+>\s*$|\[[^\]]+\]:\s)")
_UNDER = re.compile(r" {0,3}(?:=+|-{2,})[ \t]*$")
_HEADING = re.compile(r"\s*#{1,6}[ \t]+(.*\S)")
_BULLET = re.compile(r"[ \t]*(?:[-*+•◦‣·]|\d{1,3}[.)]|[①-⑳]|>)[ \t]+(?:\[[ xX]\][ \t]+)?")
_TURN = re.compile(
    r"(?![^:\n]{0,30}\d)(?:\*\*|\[)?([A-Z가-힣][\w .'’-]{0,30}|user|assistant|human)(?:\*\*|\])?:(?:\*\*)?[ \t]+"
)
_SELF = re.compile(r"\b(?:I|I'm|I've|my|me|we|our|you|your)\b|(?<![가-힣])(?:저는|제가|나는|내가|우리)")
_BORDER = re.compile(
    r"[.!?…]+[\"'’”»)\]]*(?:\s+|$)|[。！？]+[」』）\"'”’)]*\s*"
    r"|(?<=니다)\s+(?=\S)|(?<=[어아해세예]요)\s+(?=[가-힣A-Z])|(?<=[했한된었았였이]다)\n"
)
_SHORT = re.compile(
    r"(?:^|[\s(])(?:[A-ZА-Я]|(?i:dr|mr|mrs|ms|prof|st|vs|e\.g|i\.e|cf|nr|vol|fig|al|approx|inc|ltd|p\.m|a\.m))$"
)
_NUMBERED = re.compile(r"(?:^|\s)\d{1,3}$")
_ASKS = re.compile(r"[?？؟][\"'’”)\]]*\s*$|(?:니까|까요|나요|을까|는가)[.。]?\s*$")
_SAYS = re.compile(r"[^\W\d_]")
_SIGNS = re.compile(r"`+|\*{1,3}(?=\S)|(?<=\S)\*{1,3}|~~|(?<!\w)_{1,2}(?=\S)|(?<=\S)_{1,2}(?!\w)")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]*\)")


class Statement(NamedTuple):
    """A sentence: in which observation it stands, from where to where, its number, and who says it or what it is of.

    ``about`` is the one who speaks, the heading it stands under, the name of the entity or the title.
    """

    part: int
    start: int
    end: int
    place: int
    about: str


def plain(text: str) -> str:
    """A sentence without the signs of Markdown, on one line."""
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "*" in text or "`" in text or "_" in text or "~" in text:
        text = _SIGNS.sub("", text)
    return " ".join(text.split()) if "\n" in text or "  " in text else text


def statements(record: Record, most: int = MOST) -> list[Statement]:
    """The statements of a record in their order. Code, headings, tables and questions state nothing."""
    if record.content_type is not None and _CODE_TYPES.search(record.content_type):
        return []
    title = record.metadata.get("title")
    named = record.name if record.name != record.uid else title if isinstance(title, str) else ""
    found: list[Statement] = []
    for part, text in enumerate(record.observations):
        for start, end, about in _sentences(text):
            if len(found) == most:
                return found
            found.append(Statement(part, start, end, len(found), about or named))
    return found


class Statements:
    """The statements of many records, in the order of these; ``owner`` is the place of the record of each.

    Of a record that states nothing the whole text is one statement where ``whole`` is set. ``left_out`` records are not
    read because there are ``most`` statements before them.
    """

    def __init__(
        self,
        records: Sequence[Record],
        *,
        each: int = MOST,
        most: int | None = None,
        whole: bool = False,
        tick: Callable[[int, int], None] | None = None,
    ) -> None:
        self.records = list(records)
        self.spots: list[Statement] = []
        self.left_out = 0
        owner: list[int] = []
        for at, record in enumerate(self.records):
            if tick is not None and at % _EVERY == 0:
                tick(at, len(self.records))
            if most is not None and len(owner) >= most:
                self.left_out = len(self.records) - at
                break
            some = statements(record, each)
            if not some and whole and record.observations and (text := record.observations[0].strip()):
                start = record.observations[0].find(text)
                some = [Statement(0, start, start + len(text), 0, "")]
            self.spots += some
            owner += [at] * len(some)
        self.owner: NDArray[Any] = np.array(owner, np.int64)

    def __len__(self) -> int:
        return len(self.spots)

    def record(self, row: int) -> Record:
        """The record of a statement."""
        return self.records[int(self.owner[row])]

    def text(self, row: int) -> str:
        """A statement as it is written."""
        spot = self.spots[row]
        return self.record(row).observations[spot.part][spot.start : spot.end]

    def said(self, row: int) -> str:
        """A statement as it is judged: without markup and its own date, with whoever it is about."""
        text = undated(plain(self.text(row)))
        about = self.spots[row].about
        return f"{about}: {text}" if about and about.casefold() not in text.casefold() else text


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    for start, end, about in _blocks(text):
        turn = _TURN.match(text, start, end)
        if turn is not None and _SELF.search(text, turn.end(), end):
            about, start = turn[1], turn.end()
        for first, last in _split(text, start, end):
            if _states(text, first, last):
                yield first, last, about


def _states(text: str, start: int, end: int) -> bool:
    return (
        _SHORTEST <= end - start <= _LONGEST
        and _SAYS.search(text, start, end) is not None
        and _ASKS.search(text, max(start, end - 8), end) is None
    )


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences of a block."""
    first = start
    for border in _BORDER.finditer(text, start, end):
        at = border.start()
        if border[0][:1] == "." and (
            _SHORT.search(text, max(first, at - 8), at) or (_NUMBERED.search(text, first, at) and at - first < 5)
        ):
            continue
        last = border.end() - (len(border[0]) - len(border[0].rstrip()))
        if last > first:
            yield first, last
        first = border.end()
    while end > first and text[end - 1].isspace():
        end -= 1
    if end > first:
        yield first, end


def _blocks(text: str) -> Iterator[tuple[int, int, str]]:
    """Paragraphs and items of lists: from where to where, and the heading they stand under."""
    if "\n" not in text:
        bullet = _BULLET.match(text)
        if _SKIPPED.match(text) is None:
            yield bullet.end() if bullet else 0, len(text), ""
        return
    heading, fence, held = "", "", -1
    at = before = 0
    lines = text.splitlines(keepends=True)
    head = 1 if lines[0].strip() == "---" else 0
    for number, line in enumerate(lines):
        start, at = at, at + len(line)
        bare = line.strip()
        if head and (number == 0 or head == 1):
            head = 2 if number and bare == "---" else head
            continue
        mark = _FENCE.match(line)
        under = number + 1 < len(lines) and held < 0 and bare and _UNDER.match(lines[number + 1]) is not None
        if fence or mark or not bare or under or _SKIPPED.match(line):
            if fence or mark:
                fence = "" if fence and bare.startswith(fence) else fence or (mark[1] if mark else "")
            if held >= 0:
                yield held, before, heading
            held = -1
            if not fence and ((titled := _HEADING.match(line)) or under):
                heading = titled[1].rstrip("# ") if titled else bare
            continue
        bullet = _BULLET.match(line)
        wraps = held >= 0 and before - text.rfind("\n", 0, before) > _WRAPPED and text[before - 1] not in ".!?。:;"
        if held >= 0 and (bullet or not wraps or _TURN.match(line)):
            yield held, before, heading
            held = -1
        if held < 0:
            held = start + (bullet.end() if bullet else len(line) - len(line.lstrip()))
        before = start + len(line.rstrip())
    if held >= 0:
        yield held, before, heading
