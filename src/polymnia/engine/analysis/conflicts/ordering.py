"""Ordering: what cannot have happened in the order that statements give it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.table import Table
from polymnia.engine.analysis.conflicts.terms import read
from polymnia.engine.search.dates import mentioned

__all__ = ["Disorder", "disorders"]

_BEGIN = re.compile(
    r"\b(?:start(?:s|ed|ing)?|beg[iau]n(?:s|ning)?|born|founded|established|opens?|opened|launch(?:es|ed)?|kick-?off"
    r"|hired|joined|created)\b|시작|태어|출생|설립|개시|착수|입사|창립|개막|오픈",
    re.IGNORECASE,
)
_END = re.compile(
    r"\b(?:end(?:s|ed|ing)?|finish(?:es|ed)?|complet(?:es|ed|ion)|died|closes?|closed|deadline|due|expires?|expired"
    r"|shut"
    r" down|retire[sd]?|left|dissolved|concluded?s?|over by)\b|종료|끝|완료|사망|마감|기한|만료|퇴사|폐막|해산",
    re.IGNORECASE,
)
_FROM = re.compile(
    r"\b(?:from|between)\s+(.{4,24}?)\s+(?:to|until|through|and|till)\s+(.{4,24}?)(?=[.,;)]|\s\w+ing\b|$)"
    r"|(\S.{3,22}?)부터\s+(.{4,24}?)까지",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"^(?:the |our )?(.{2,50}?)\s+(?:(?:is|are|was|were|must be|should be|has to be|gets?|runs?|happens?|comes?"
    r"|must (?:run|happen|come)|takes place|precedes|follows|took place|happened|came|occurs|ran"
    r"|occurred|goes)\s*)+(?:\w+ed\s+)?"
    r"(?:(before|after|earlier than|later than)\s+)?(?:the |our )?(.{2,50}?)[.!]?$",
    re.IGNORECASE,
)
_KOREAN = re.compile(
    r"^(.{1,30}?)(?:은|는|이|가)\s+(.{1,30}?)"
    r"(?:\s?(보다 먼저|이전에|\s전에|보다 나중에|이후에|\s후에|다음에))\s?.{1,20}$"
)
_AHEAD = frozenset({"before", "earlier than", "precedes", "보다 먼저", "이전에", "전에"})
_DECADE = re.compile(r"\d0(?:s\b|년대)|century|세기")
_MOST = 400  # statements of one subject that are looked through


class Disorder(NamedTuple):
    """Two rows of a table (or one twice) whose dates, or whose order, cannot both be; with the reason, in words."""

    a: int
    b: int
    differs: str
    because: str
    over: int
    """Words that only one of them has."""


class _End(NamedTuple):
    row: int
    words: frozenset[str]
    first: str
    last: str
    said: str


def disorders(table: Table, rows: Iterable[int]) -> list[Disorder]:
    """Ends before beginnings, within a statement or between two about the same, and orders that contradict."""
    begins: dict[str, list[_End]] = {}
    ends: dict[str, list[_End]] = {}
    orders: dict[tuple[str, str], int] = {}
    found: list[Disorder] = []
    for row in rows:
        terms, text = table.terms[row], table.text(row)
        dated = bool(terms.days) or any(len(figure) == 4 for figure in terms.figures)
        if dated:
            if (wrong := _span(text)) is not None:
                found.append(Disorder(row, row, wrong, "it ends before it begins", 0))
            _sort(table, row, text, begins, ends)
        if " before " in text or " after " in text or "precede" in text or " follow" in text or _east(text):
            found += _ordered(table, row, text, orders)
    for key, late in ends.items():
        early = begins.get(key, ())
        for one in late[:_MOST]:
            for other in early[:_MOST]:
                over = len(one.words ^ other.words)
                if one.row != other.row and over <= 2 and one.last < other.first[: len(one.last)] and _same(one, other):
                    because = f"{one.said!r} comes before {other.said!r} of the same"
                    found.append(Disorder(other.row, one.row, f"{other.first} and {one.last}", because, over))
    return found


def _same(one: _End, other: _End) -> bool:
    return bool(one.words & other.words)


def _east(text: str) -> bool:
    return not text.isascii() and _KOREAN.search(text) is not None


def _sort(table: Table, row: int, text: str, begins: dict[str, list[_End]], ends: dict[str, list[_End]]) -> None:
    """File a statement that dates the beginning or the end of something, under what it is about."""
    begin, end = _BEGIN.search(text), _END.search(text)
    if (begin is None) == (end is None) or cues.is_loose(text):
        return
    days = _days(text)
    cue = begin or end
    if len(days) != 1 or cue is None:
        return
    words = frozenset(word for word in table.terms[row].words if not _BEGIN.match(word) and not _END.match(word))
    words -= frozenset(read(cue[0]).words)
    if words:
        first = table.terms[row].words[0]
        shelf = begins if begin else ends
        key = first if first in words else min(words)
        shelf.setdefault(key, []).append(_End(row, words, days[0], days[0], cue[0]))


def _days(text: str) -> list[str]:
    """The dates of a text that have a year, without those that are a part of others."""
    said = [] if _DECADE.search(text) else [term[1:] for term in mentioned(text) if term[1] != "-"]
    return [one for one in said if not any(other.startswith(f"{one}-") for other in said)]


def _span(text: str) -> str | None:
    for match in _FROM.finditer(text):
        first, last = (_days(piece) for piece in (match[1] or match[3] or "", match[2] or match[4] or ""))
        if len(first) == 1 and len(last) == 1 and len(first[0]) == len(last[0]) and last[0] < first[0]:
            return f"from {first[0]} to {last[0]}"
    return None


def _ordered(table: Table, row: int, text: str, orders: dict[tuple[str, str], int]) -> list[Disorder]:
    """File which of two things comes first; answers where that was said the other way round."""
    match = _BEFORE.match(text) if text.isascii() else _KOREAN.match(text)
    if match is None or cues.is_loose(text):
        return []
    one, other, how = (match[1], match[3], match[2]) if text.isascii() else (match[1], match[2], match[3])
    low = text.lower()
    how = how.strip().lower() if how else "precedes" if "precede" in low else "after" if " follow" in low else ""
    if not how:
        return []
    if how not in _AHEAD:
        one, other = other, one
    first, second = (" ".join(sorted(set(read(part).words))) for part in (one, other))
    if not first or not second or first == second:
        return []
    orders.setdefault((first, second), row)
    before = orders.get((second, first))
    if before is None:
        return []
    because = f"one puts {one!r} before {other!r}, the other after it"
    return [Disorder(before, row, f"before {other} and after {other}", because, 0)]
