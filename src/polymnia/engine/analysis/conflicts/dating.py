"""Dating: when a statement was said, by its own words or by its record."""

from __future__ import annotations

import re

from polymnia.engine.text.calendar import month, start_of, year
from polymnia.engine.text.dates import mentioned

__all__ = ["dateless", "ended", "said_at", "undated"]

# What a statement begins with, or what leads to it: the date is of the telling, and not what is told.
_LEAD = re.compile(
    r"^\W*(?:(?:as of|since|from|in|on|by|until|effective|starting|after|updated?:?)\s+)?"
    r"(?=[^,:]{4,24}(?:[,:)\]]|\s[-–—]))"
    r"|\b(?:as of|since|effective|starting|with effect from|from)\s+"
    r"|\((?=[^()]{4,24}\)\W*$)",
    re.IGNORECASE,
)
_AFTER = re.compile(r"(?:기준|부터|이후|현재|년|월|일)")
_DATE = (
    r"(?:(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
    r"(?:\s+\d{1,2}(?:st|nd|rd|th)?\b,?)?(?:\s+\d{4})?|\d{4}(?:-\d\d?){0,2})"
)
_OWN = re.compile(
    r"^\W*(?:as of|since|effective|starting|in|on|from)\s+[^,:]{0,16}\d{4}[^,:]{0,8}[,:]\s*"
    rf"|^\W*(?:as of|since|effective|starting|from)\s+{_DATE}(?:\s+on(?:wards?)?)?,?\s+(?=\D)"
    r"|^\W*\d{4}[-./]\d\d?(?:[-./]\d\d?)?[\])]?[:,]?\s+"
    r"|(?<!\s)\s*\((?:as of|since|updated|effective) [^()]{3,24}\)"
    r"|^\W*\d{4}년(?:\s?\d\d?월)?(?:\s?\d\d?일)?\s?(?:기준|현재|부터|이후)(?:으로|는)?[,:]?\s*",
    re.IGNORECASE,
)
_ANY = re.compile(
    r"\b(?:(?:\d{1,2}(?:st|nd|rd|th)?\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
    r"(?:\s+\d{1,2}(?:st|nd|rd|th)?\b)?(?:,?\s+(?:19|20)\d\d)?|(?:19|20)\d\d(?:[-./]\d\d?){0,2})\b"
    r"|(?:19|20)\d\d년|\d\d?월|\d\d?일",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\((?:until|till)\s+(\d{4}-\d\d-\d\d)\)|\((\d{4}-\d\d-\d\d)까지\)")
_DIGIT = re.compile(r"\d")
_SPAN = 26  # characters a date takes at most


def undated(text: str) -> str:
    """A statement without the date it gives itself: what it says is the same at any other time."""
    return _OWN.sub("", text) if _DIGIT.search(text, 0, _SPAN) or "(" in text else text


def dateless(text: str) -> str:
    """The words of a statement without any date: two that have the same say nothing else than when."""
    return " ".join(_ANY.sub("", text).lower().split())


def ended(text: str) -> int | None:
    """Since when a statement that was marked so holds no longer."""
    found = _UNTIL.search(text)
    return _day(found[1] or found[2], 0) if found else None


def said_at(text: str, told: int) -> tuple[int, bool]:
    """When a statement holds by its own words, in microseconds, and whether it says so; else the time it was told."""
    if _DIGIT.search(text) is None:
        return told, False
    for lead in _LEAD.finditer(text):
        piece = text[lead.end() : lead.end() + _SPAN]
        if day := _day(re.split(r"[,:)\];]", piece)[0], told):
            return day, True
    if not text.isascii() and (after := _AFTER.search(text)) and after.start() < _SPAN:
        piece = re.split(r"기준|부터|이후|현재|[,:]", text[: _SPAN + 8])[0]
        if len(piece) < min(len(text), _SPAN + 8) and (day := _day(piece, told)):
            return day, True
    return told, False


def _day(piece: str, told: int) -> int | None:
    """The first day of the date that a few words are, most exact first."""
    terms = sorted((term[1:] for term in mentioned(piece, told) if term[1] != "-"), key=len, reverse=True)
    for term in terms[:1]:
        parts = [int(part) for part in term.split("-")]
        if len(parts) == 3:
            return start_of(month(parts[1], parts[0])[0] + parts[2] - 1)
        return start_of(month(parts[1], parts[0])[0] if len(parts) == 2 else year(parts[0])[0])
    return None
