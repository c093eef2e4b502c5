"""Calendar: dates in a text that cannot be, weekdays that are not theirs, spans that end before they begin."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Day", "Span", "days", "spans"]

_MONTH_NAMES = "january february march april may june july august september october november december"
_EN_MONTHS = _MONTH_NAMES.split()
_DAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
_EN_DAYS = _DAY_NAMES.split()
_KO_DAYS = "월화수목금토일"
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_WEEKDAY = (
    r"(?:mon(?:day)?|tue(?:s(?:day)?)?|wed(?:nesday)?|thu(?:r(?:s(?:day)?)?)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?)"
)
_NAMED = rf"(?:(?P<before>\b{_WEEKDAY})\.?,?\s+(?:the\s+)?)?"
_AFTER = rf"(?:\s*[(,]?\s*(?P<after>\b{_WEEKDAY}\b)\)?)?"
_FORMS = (
    re.compile(
        rf"{_NAMED}(?<![\d.-])(?P<y>\d{{4}})-(?P<m>\d{{1,2}})-(?P<d>\d{{1,2}})(?![\d-])(?:\s*[(（]?(?P<ko>[월화수목금토일])(?:요일|[)）]))?{_AFTER}",
        re.I,
    ),
    re.compile(
        r"(?P<y>\d{4})\s*년\s*(?P<m>\d{1,2})\s*월\s*(?P<d>\d{1,2})\s*일(?:\s*[(（]?(?P<ko>[월화수목금토일])(?:요일|[)）]))?"
    ),
    re.compile(
        r"(?<![\d.])(?P<y>\d{4})[./]\s?(?P<m>\d{1,2})[./]\s?(?P<d>\d{1,2})(?![\d])\.?(?:\s*[(（]?(?P<ko>[월화수목금토일])(?:요일|[)）]))?"
    ),
    re.compile(
        rf"{_NAMED}(?P<d>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<mon>{_MONTH})\b\.?,?(?:\s+(?P<y>\d{{4}}))?{_AFTER}",
        re.I,
    ),
    re.compile(
        rf"{_NAMED}\b(?P<mon>{_MONTH})\b\.?\s+(?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:%])(?:,?\s+(?P<y>\d{{4}}))?{_AFTER}",
        re.I,
    ),
    re.compile(
        r"(?<![\d.년])(?<!년 )(?P<m>\d{1,2})월\s*(?P<d>\d{1,2})일(?:\s*[(（]?(?P<ko>[월화수목금토일])(?:요일|[)）]))?"
    ),
    re.compile(r"(?<![\d./-])(?P<d>\d{1,2})\.(?P<m>\d{1,2})\.(?P<y>\d{4})(?![\d.])"),
)
_LENGTHS = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_JOIN = re.compile(r"\s*(?:-|–|—|~|to|until|till|through|and|부터|에서|까지)\s*(?:the\s+)?(?:~\s*)?$", re.I)


class Day(NamedTuple):
    """A date as it stands: where, its parts (year 0 where none is said), the weekday it is given, and its form."""

    start: int
    end: int
    shown: str
    year: int
    month: int
    day: int
    weekday: int | None
    form: int

    @property
    def date(self) -> date | None:
        """The day itself; None where there is no such day or no year is said."""
        try:
            return date(self.year, self.month, self.day)
        except ValueError:
            return None

    @property
    def wrong(self) -> str | None:
        """What is wrong with it by itself: there is no such day, or it is another day of the week."""
        if not 1 <= self.month <= 12:
            return f"there is no month {self.month}"
        most = _LENGTHS[self.month - 1]
        name = _EN_MONTHS[self.month - 1].capitalize()
        if not 1 <= self.day <= most:
            return f"{name} has no day {self.day}"
        if self.year and self.date is None:
            return f"{name} {self.year} has no day {self.day}"
        if self.date is not None and self.weekday is not None and self.date.weekday() != self.weekday:
            return f"it is a {_EN_DAYS[self.date.weekday()].capitalize()}, not a {_EN_DAYS[self.weekday].capitalize()}"
        return None


class Span(NamedTuple):
    """Two days that stand as a span."""

    first: Day
    last: Day


def days(text: str) -> list[Day]:
    """The dates of a text, in their order."""
    found: list[Day] = []
    for form, rule in enumerate(_FORMS):
        for match in rule.finditer(text):
            if any(match.start() < one.end and one.start < match.end() for one in found):
                continue
            parts = match.groupdict()
            month = int(parts["m"]) if parts.get("m") else _month(parts["mon"])
            if parts.get("mon") and parts["mon"].lower() in ("may", "mar", "march") and not parts["mon"][0].isupper():
                continue  # "may 3" of small letters is a verb
            year = int(parts.get("y") or 0)
            if year and not 1000 <= year <= 2999:
                continue
            named = parts.get("before") or parts.get("after")
            weekday = _weekday(named) if named else _KO_DAYS.index(parts["ko"]) if parts.get("ko") else None
            if form == 2 and (month > 12 and int(parts["d"]) > 31):
                continue
            found.append(Day(match.start(), match.end(), match[0].strip(), year, month, int(parts["d"]), weekday, form))
    return sorted(found)


def spans(text: str, said: list[Day] | None = None) -> Iterator[Span]:
    """Dates that stand as the ends of a span: joined by a dash, "to", "until", 부터."""
    said = days(text) if said is None else said
    for first, last in pairwise(said):
        between = text[first.end : last.start]
        if not _JOIN.fullmatch(between):
            continue
        joined = re.search(r"\band\b", between) is not None
        before = text[max(0, first.start - 20) : first.start]
        if joined and not re.search(r"\bbetween\s+(?:the\s+)?$", before, re.I):
            continue
        yield Span(first, last)


def _month(name: str) -> int:
    return next(at for at, full in enumerate(_EN_MONTHS, 1) if full.startswith(name.lower()[:3]))


def _weekday(name: str) -> int:
    return next(at for at, full in enumerate(_EN_DAYS) if full.startswith(name.lower()[:3]))
