"""Reading texts for the index: their passages, the terms of each, and what an embedder is given of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

from polymnia.engine.search.passages import split, weights
from polymnia.engine.search.threads import turn
from polymnia.engine.text import dates, words
from polymnia.engine.text.language import script
from polymnia.models import Passage, Text

__all__ = ["natural", "part_of", "read", "read_ahead", "script_number", "spoken"]

_DAY = 86_400_000_000
_SCRIPTS = (
    "", "latin", "greek", "cyrillic", "armenian", "hebrew", "arabic", "devanagari", "indic", "thai", "lao", "tibetan",
    "burmese", "georgian", "hangul", "ethiopic", "khmer", "han", "kana", "other",
)  # fmt: skip
_NUMBERS = {name: number for number, name in enumerate(_SCRIPTS)}
_NAME = 2  # a word in the name counts as if it stood so many times in the text
_LONG = 10_000  # characters
_HEAD_LIMIT = 4000  # characters of a summary that are searched

_ahead: dict[tuple[str, int], list[_Part]] = {}


def read(texts: Iterable[Text]) -> Iterator[Passage]:
    """The passages of the texts, in order."""
    for text in texts:
        if text.body is None:
            yield _head(text)
        else:
            yield from _body(text, text.body)


def _head(text: Text) -> Passage:
    """Name, kind, tags, category and summary as one passage."""
    counts, length = words.terms(text.name)
    found = {term: count * _NAME for term, count in counts.items()}
    for part in (text.kind, " ".join(text.tags), text.category or "", (text.summary or "")[:_HEAD_LIMIT]):
        if part:
            counts, more = words.terms(part)
            length += more
            for term, count in counts.items():
                found[term] = found.get(term, 0) + count
    # The tags of a content alone would make everything that is tagged alike look alike; words find them all the same.
    # And of one that lost its text, nothing is left that means anything.
    tells = bool(text.summary) or (bool(text.name) and (text.bare or bool(text.tags)))
    return Passage(
        text.id, text.memory, 0, found, length, 0, _day(text), script_number(text.summary or text.name), tells
    )


def _body(text: Text, body: str) -> Iterator[Passage]:
    name: dict[str, int] = {}
    if natural(text.name):
        name = words.terms(text.name).counts
    said = turn(text.name, text.kind, text.session, text.scope, body)
    number = 0 if said is None else said.packed()
    day = _day(text)
    parts = _ahead.pop((body, day), None) if _ahead else None
    for part, one in enumerate(_parts(body, day) if parts is None else parts):
        counts = one.terms
        for term in name:
            counts[term] = counts.get(term, 0) + _NAME
        for term in one.dates:
            counts.setdefault(term, 1)
        yield Passage(text.id, text.memory, part, counts, one.length, number, day, one.script, True, one.weight)


class _Part(NamedTuple):
    """What is read of a passage alone, whatever text it is part of."""

    terms: dict[str, int]
    dates: list[str]
    length: int
    script: int
    weight: int


def _parts(body: str, day: int) -> Iterator[_Part]:
    ranges = _ranges(body)
    for (start, end), share in zip(ranges, weights(body, ranges), strict=True):
        piece = body if len(ranges) == 1 else body[start:end]
        counts, length = words.terms(piece)
        yield _Part(counts, dates.mentioned(piece, day * _DAY), length, script_number(piece), round(100 * share))


@contextmanager
def read_ahead(bodies: Sequence[str], now: int) -> Iterator[None]:
    """Read texts that are about to be written, so that nobody waits for it while the store is locked.

    What was read is used once, by the next to read the same text on the same day; at the end the rest is dropped.
    """
    day = max(0, now // _DAY)
    try:
        for body in bodies:
            _ahead[body, day] = list(_parts(body, day))
        yield
    finally:
        for body in bodies:
            _ahead.pop((body, day), None)


def _ranges(body: str) -> list[tuple[int, int]]:
    return _long_ranges(body) if len(body) > _LONG else split(body)


@lru_cache(maxsize=4)
def _long_ranges(body: str) -> list[tuple[int, int]]:
    """The ranges of a text whose passages are asked for one after the other."""
    return split(body)


def _day(text: Text) -> int:
    return max(0, text.created // _DAY)


def script_number(text: str) -> int:
    """The main script of a text, as a number; 0 when it has no letters."""
    return _NUMBERS.get(script(text), 0)


def natural(name: str) -> bool:
    """Whether a name is words rather than an identifier with numbers in it."""
    return bool(name) and (" " in name or not any(c.isdigit() for c in name)) and any(c.isalpha() for c in name)


def part_of(text: Text, part: int) -> str:
    """One passage of a text, as it stands."""
    if text.body is None:
        return " ".join(filter(None, (text.name, text.kind, ", ".join(text.tags), text.summary)))
    ranges = _ranges(text.body)
    start, end = ranges[min(part, len(ranges) - 1)]
    return text.body[start:end]


def spoken(text: Text, part: int) -> str:
    """What an embedder is given of a passage: its words, after the name they are about."""
    piece = part_of(text, part)
    if text.body is None or not natural(text.name) or piece.startswith(text.name):
        return piece
    return f"{text.name}: {piece}"
