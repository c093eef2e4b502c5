"""Series: whether two titles are the same but for a number, a part or a date, and which comes first."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Place", "place"]

_ROMAN = {
    "i": 1,
    "ii": 2,
    "iii": 3,
    "iv": 4,
    "v": 5,
    "vi": 6,
    "vii": 7,
    "viii": 8,
    "ix": 9,
    "x": 10,
    "xi": 11,
    "xii": 12,
}
_WORDS = {
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eins": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "uno": 1, "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5,
    "un": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5,
}  # fmt: skip
_UNIT = (
    r"part|chapter|episode|volume|vol\.?|week|day|sprint|session|lesson|lecture|step|phase|iteration|round"
    r"|stage|version|release|book|section"
    r"|issue|no\.?|nr\.?|teil|kapitel|folge|band|woche|tag|lektion|schritt|phase|parte|capítulo|episodio"
    r"|semana|día|lección|paso|fase"
    r"|partie|chapitre|épisode|semaine|jour|leçon|étape|часть|глава"
)
_DATE = re.compile(r"(?<!\d)(\d{4})[-./년年]\s?(\d{1,2})(?:[-./월月]\s?(\d{1,2})[일日]?)?(?!\d)")
_SPELLED = "|".join(map(re.escape, _WORDS))
_PART = re.compile(
    rf"(?<!\w)(?:{_UNIT})\s?#?\s?(\d{{1,4}}(?:\.\d{{1,4}}){{0,3}}|[ivx]{{1,4}}|{_SPELLED})(?!\w)", re.IGNORECASE
)
_EAST = re.compile(
    r"제?\s?(\d{1,4}|[一二三四五])\s?(?:부|장|편|화|회차|회|권|주차|일차|단계|차시|차|강|호)(?![가-힣])"
    r"|第\s?(\d{1,4}|[一二三四五])\s?[章部回話话集期卷巻篇編课課周週日]"
)
_OF = re.compile(r"[(\[]\s?(\d{1,3})\s?(?:/|of|von|de|sur)\s?\d{1,3}\s?[)\]]")
_VERSION = re.compile(r"(?<!\w)v(\d{1,4}(?:\.\d{1,4}){0,3})(?!\w)", re.IGNORECASE)
_LAST = re.compile(r"(?<=[^\W\d_] )#?(\d{1,2})$")
_BASE = re.compile(r"[^\W\d_]")


class Place(NamedTuple):
    """The place of a title in a series: what the series is called, how its members are counted, and the number."""

    series: str
    kind: str
    number: tuple[int, ...]


def place(title: str) -> Place | None:
    """Where a title stands in a series; None where it is in none that can be told."""
    title = " ".join(title.split())
    for kind, pattern in (
        ("date", _DATE),
        ("part", _PART),
        ("part", _EAST),
        ("part", _OF),
        ("version", _VERSION),
        ("number", _LAST),
    ):
        match = pattern.search(title)
        if match is None:
            continue
        number = _number(match, kind)
        rest = re.sub(r"[\W_]+", " ", title[: match.start()] + " # " + _tail(title, match, kind)).strip().lower()
        if number is None or len(_BASE.findall(rest)) < (2 if re.search("[\u3041-\u9fff\uac00-\ud7af]", rest) else 4):
            continue
        if kind == "number" and len(rest.split()) < 2:
            continue  # "Windows 11" is no sequel
        return Place(rest, kind, number)
    return None


def _tail(title: str, match: re.Match[str], kind: str) -> str:
    """What follows the number, but for the name a member has to itself: `Guide, part 2: Installing`."""
    tail = title[match.end() :]
    return "" if kind == "part" and match.start() and re.match(r"\s?[:：–—-]", tail) else tail


def _number(match: re.Match[str], kind: str) -> tuple[int, ...] | None:
    if kind == "date":
        year, month, day = int(match[1]), int(match[2]), int(match[3] or 0)
        return (year, month, day) if 1 <= month <= 12 and day <= 31 else None
    said = next(group for group in match.groups() if group).lower()
    if said in _ROMAN:
        return (_ROMAN[said],)
    if said in _WORDS:
        return (_WORDS[said],)
    return tuple(int(part) for part in said.split(".")) if said[0].isdigit() else None
