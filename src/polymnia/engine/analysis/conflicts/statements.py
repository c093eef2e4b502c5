"""Statements: the sentences of records that claim something, each with its place in the text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.conflicts.clash import undated
from polymnia.engine.text.document import Block, blocks, plain
from polymnia.engine.text.sentences import asks, spans
from polymnia.models import Record

MOST = 60
"""So many statements of a record are compared; a longer text is mostly reading matter."""

_LONGEST = 600  # characters: what is longer without a full stop is no sentence
_SHORTEST = 4
_EVERY = 500  # records between two ticks
_WRAPPED = 55  # a line so long may go on in the next one
_CODE_TYPES = re.compile(r"(?:application|text)/(?:json|x-|csv|css|javascript|yaml|xml|sql)|\+(?:json|xml)")
_PROSE = ("p", "q", "li")
_QUOTE = re.compile(r"[ \t]*(?:>[ \t]*)*")
_TAG = re.compile(r"\s*<[^>]+>\s*$")
_TURN = re.compile(
    r"(?![^:\n]{0,30}\d)(?:\*\*|\[)?([A-Z가-힣][\w .'’-]{0,30}|user|assistant|human)(?:\*\*|\])?:(?:\*\*)?[ \t]+"
)
_SELF = re.compile(r"\b(?:I|I'm|I've|my|me|we|our|you|your)\b|(?<![가-힣])(?:저는|제가|나는|내가|우리)")
_SAYS = re.compile(r"[^\W\d_]")


class Statement(NamedTuple):
    """A sentence: in which observation it stands, from where to where, its number, and who says it or what it is of.

    ``about`` is the one who speaks, the heading it stands under, the name of the entity or the title.
    """

    part: int
    start: int
    end: int
    place: int
    about: str


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
        text = undated(" ".join(plain(self.text(row)).split()))
        about = self.spots[row].about
        return f"{about}: {text}" if about and about.casefold() not in text.casefold() else text


def _sentences(text: str) -> Iterator[tuple[int, int, str]]:
    """The sentences of a text that claim something: from where to where, and whom or what they are about."""
    heading = ""
    for block in blocks(text):
        if block.kind == "h":
            heading = block.text
        for start, end in _lines(text, block) if block.kind in _PROSE else ():
            about = heading
            turn = _TURN.match(text, start, end)
            if turn is not None and _SELF.search(text, turn.end(), end):
                about, start = turn[1], turn.end()
            for first, last in spans(text, start, end):
                says = _SHORTEST <= last - first <= _LONGEST and _SAYS.search(text, first, last) is not None
                if says and not asks(text[max(first, last - 8) : last]):
                    yield first, last, about


def _lines(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """The lines of a block, those together that were only wrapped."""
    held = before = -1
    at = block.start
    for line in text[block.start : block.end].splitlines(keepends=True):
        quote = _QUOTE.match(line)
        start, end = at + (quote.end() if quote else 0), at + len(line.rstrip())
        at += len(line)
        wraps = held >= 0 and before - text.rfind("\n", 0, before) > _WRAPPED and text[before - 1] not in ".!?。:;"
        if held >= 0 and (not wraps or _TURN.match(text, start, end)):
            yield held, before
            held = -1
        if held < 0:
            held = -1 if _TAG.match(line) else start
        before = end
    if held >= 0:
        yield held, before
