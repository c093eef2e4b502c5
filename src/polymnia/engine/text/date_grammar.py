"""Dates out of the parts of a text: which parts stand together, and what they mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import cache
from typing import NamedTuple

from polymnia.engine.text import calendar as days
from polymnia.engine.text.calendar import Span
from polymnia.engine.text.date_tokens import Partial, Token, tokens


class FoundDate(NamedTuple):
    """A date in a text: the tokens it is made of, and either the dates it may mean or a span of days."""

    first: int
    last: int
    dates: tuple[Partial, ...]
    span: Span | None


class DateReading(NamedTuple):
    """A text read for dates: its tokens, their letters as one string, and what was found."""

    tokens: list[Token]
    letters: str
    found: list[FoundDate]


_NEARNESS = re.compile(r"[Pp]f?u|uf?p")
_FRENCH = re.compile(r"\b(?:le|les|du|est|ai|as|avons|avez|ont|qu|que|quoi|une|je|nous|vous|elle|il|on|dit|fait)\b")


def read(text: str, low: str, today: int | None) -> DateReading:
    """Find the dates of a text, given as written and in small letters.

    Without ``today`` what only means something beside another day ("last week") is passed over.
    """
    parts = _neared(tokens(low), low)
    letters = "".join([part.letter for part in parts])
    found = []
    for match in _grammar().finditer(letters):
        first, end = match.span()
        said = parts[first:end]
        meaning = _RULES[(match.lastindex or 1) - 1][1](said, today)
        if meaning is None or (said[-1].letter == "w" and len(said) == 2 and _doubtful(text, letters, said, end)):
            continue
        found.append(FoundDate(first, end - 1, *meaning))
    return DateReading(parts, letters, found)


def _neared(parts: list[Token], low: str) -> list[Token]:
    """ "last week" and its like as one part; and the French "hier", which is German for "here"."""
    if any(part.letter == "H" for part in parts):
        letter = "r" if _FRENCH.search(low) else "x"
        parts = [part._replace(letter=letter) if part.letter == "H" else part for part in parts]
    letters = "".join([part.letter for part in parts])
    if "u" not in letters and "r" not in letters:
        return parts
    merged: list[Token] = []
    done = 0
    for match in _NEARNESS.finditer(letters):
        first, end = match.span()
        said = parts[first:end]
        unit, offset = (said[-1], said[0]) if said[-1].letter == "u" else (said[0], said[-1])
        if unit.value < 2:
            continue
        kind = 1 if unit.value > 6 else unit.value
        merged += parts[done:first]
        merged.append(Token("r", kind * 10 + offset.value, (), said[0].start, said[-1].end))
        done = end
    merged += parts[done:]
    # Among the near ones a week may have its weekday said, and a year its month.
    return [
        part._replace(letter="G" if 16 < part.value < 24 else "a" if 36 < part.value < 44 else "r")
        if part.letter == "r"
        else part
        for part in merged
    ]


def _doubtful(text: str, letters: str, said: list[Token], end: int) -> bool:
    """Whether "this may" or "last march" is no month: in small letters with more to follow."""
    return text[said[-1].start].islower() and letters[end : end + 1] not in ("", ".", ",", "y")


Meaning = tuple[tuple[Partial, ...], Span | None] | None


def _value(said: list[Token], letters: str) -> int:
    return next((part.value for part in said if part.letter in letters), 0)


def _year(said: list[Token], today: int | None) -> int:
    """The year that is said; 0 for none."""
    near = next((part.value for part in said if part.letter == "a"), 0)
    if near:
        return 0 if today is None else _year_now(today, near - 40)
    return _value(said, "yYz")


def _year_now(today: int, offset: int = 0) -> int:
    return min(max(date.fromordinal(days.clipped(today)).year + offset, 1), 9999)


def _real(year: int, month: int, numbers: list[int]) -> Meaning:
    dates = tuple((year, month, day) for day in numbers if 1 <= day <= 31 and days.valid(year or 2000, month, day))
    return (dates, None) if dates else None


def _days_and_month(said: list[Token], today: int | None) -> Meaning:
    first, last = (part.value for part in said if part.letter in "no")
    if not 1 <= first < last <= 31:
        return _real(_year(said, today), _value(said, "mw"), [first, last])
    return _real(_year(said, today), _value(said, "mw"), list(range(first, last + 1)))


def _day_and_month(said: list[Token], today: int | None) -> Meaning:
    if said[0].letter == "w" and said[1].letter == "n" and said[0].end == said[1].start:
        return None  # "oct4" is a gene
    return _real(_year(said, today), _value(said, "mw"), [_value(said, "noe")])


def _year_and_month(said: list[Token], today: int | None) -> Meaning:
    year = _year(said, today)
    inner = next((part.dates for part in said if part.letter == "M"), ())
    if inner:
        return tuple((year, month, day) for _, month, day in inner), None
    day = _value(said, "no")
    return _real(year, _value(said, "mw"), [day]) if day else (((year, _value(said, "mw"), 0),), None)


def _near_month(said: list[Token], today: int | None) -> Meaning:
    offset = _value(said, "Pp")
    inner = next((part.dates[0] for part in said if part.letter == "M"), (0, _value(said, "mw"), 0))
    if today is None:
        return (inner,), None
    now = date.fromordinal(today)
    year = now.year
    if offset < 0 and inner[1] >= now.month:
        year -= 1
    if offset > 0 and inner[1] <= now.month:
        year += 1
    return ((min(max(year, 1), 9999), inner[1], inner[2]),), None


def _near_weekday(said: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    weekday = _value(said, "W")
    monday = today - date.fromordinal(today).weekday()
    near = _value(said, "G")
    if near:
        day = monday + 7 * (near - 20) + weekday
    elif (offset := _value(said, "Pp")) == 0 or said[0].end == said[1].start:
        # Written without a space it is Chinese, where "last Tuesday" is that of last week.
        day = monday + weekday + 7 * offset
    else:
        day = monday + weekday
        if offset < 0 and day >= today:
            day -= 7
        elif offset > 0 and day <= today:
            day += 7
    return (), (days.clipped(day), days.clipped(day))


def _near_season(said: list[Token], today: int | None) -> Meaning:
    season = _value(said, "S")
    year = next((part.dates[0][0] for part in said if part.letter == "D"), 0) or _year(said, today)
    if year:
        return (), days.season(season, year)
    if today is None or any(part.letter in "aD" for part in said):
        return None
    offset = _value(said, "Pp")
    year = _year_now(today)
    span = days.season(season, year)
    if offset < 0:
        # "last summer" said in summer is a year ago; said in autumn it is the one just gone.
        while span[1] >= today and year > 1:
            year -= 1
            span = days.season(season, year)
    elif offset > 0:
        while span[0] <= today and year < 9999:
            year += 1
            span = days.season(season, year)
    elif span[0] > today and days.season(season, year - 1)[1] >= today:
        span = days.season(season, year - 1)
    return (), span


def _ago(said: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    unit = 1 if said[0].letter == "K" else _value(said, "u")
    if any(part.letter == "c" for part in said):
        return (), (_back(unit, 6, today)[0], _back(unit, 2, today)[1])
    return (), _back(unit, max((part.value for part in said if part.letter in "nd1K"), default=1), today)


def _back(unit: int, count: int, today: int) -> Span:
    if unit in (2, 5):
        # Nobody counts weeks to the day.
        middle = today - 7 * count
        return days.clipped(middle - 3), days.clipped(middle + 3)
    return days.unit(unit, -count, today)


def _stretch(said: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    sign = next((part.value for part in said if part.letter in "PRp"), -1) or -1
    unit, count = _value(said, "u"), sign * _value(said, "ndc")
    if unit in (2, 5):
        far = today + 7 * count
    elif unit in (3, 4, 6):
        now = date.fromordinal(today)
        months = count * {3: 1, 4: 12, 6: 3}[unit]
        start, end = days.month(now.month + months, now.year)
        far = min(start + now.day - 1, end)
    else:
        far = today + (count if unit else 0)
    return (), (days.clipped(min(far, today)), days.clipped(max(far, today)))


def _quarter(said: list[Token], today: int | None) -> Meaning:
    first, year = _value(said, "Q") * 3 - 2, _value(said, "yY")
    return (), (days.month(first, year)[0], days.month(first + 2, year)[1])


def _near(said: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    unit = (said[0].value + 5) // 10
    return (), days.unit(unit, said[0].value - unit * 10, today)


def _weekday(said: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    back = (date.fromordinal(today).weekday() - said[0].value) % 7
    return (), (days.clipped(today - back), days.clipped(today - back))


_F = "[fiO,t]{0,3}"
# Tried from the top: the longer way to write a date comes before the shorter one it begins with.
_RULES: tuple[tuple[str, Callable[[list[Token], int | None], Meaning]], ...] = (
    (rf"[no]f?[&U]f?[no]f{{0,2}}[mw](?:{_F}[yYza])?", _days_and_month),
    (rf"[mw]{_F}[no]f?[&U]f?[no](?!f?[mwu])(?:{_F}[yYz])?", _days_and_month),
    (rf"(?:[no]f{{0,2}}|ef{{1,2}})[mw](?:{_F}[yYza])?", _day_and_month),
    (rf"[mw],?f?[no](?!f?[mwug])(?:{_F}[yYz])?", _day_and_month),
    (rf"[mw]{_F}[yYza]", lambda said, today: (((_year(said, today), _value(said, "mw"), 0),), None)),
    (rf"a{_F}(?:[no]f{{0,2}}[mw]|[mw](?:{_F}[no](?!u))?|M)", _year_and_month),
    (r"[Pp]f?[mwM]|[mM]f?p", _near_month),
    (rf"G{_F}W|W{_F}G|[Pp]f?W|Wf?p", _near_weekday),
    (rf"[Pp]f?S|Sf?p|S{_F}[yYa]|[aD]{_F}S", _near_season),
    (r"1?[nd1c]f?ug|v1?[nd1c]f?u|Kg", _ago),
    (r"[PRp]f?[ndc]f?u|[ndc][PRp]u", _stretch),
    (rf"Q{_F}[yY]|[yY]{_F}Q", _quarter),
    (r"E", lambda said, today: ((), (days.year(said[0].value)[0], days.year(said[0].value + 9)[1]))),
    (r"[raG]", _near),
    (r"D|M|(?<=[OFUsf])q", lambda said, today: (said[0].dates, None)),
    (r"(?<=O)W", _weekday),
    (
        r"m|(?<=[isbAU])w|(?<=[isbAU]f)w|(?<=[FB])w(?=f?&)|(?<=[mw]&)w",
        lambda said, today: (((0, said[0].value, 0),), None),
    ),
    (r"y|(?<=[isbAUB])Y|(?<=[yY]&)Y", lambda said, today: (((said[0].value, 0, 0),), None)),
)


@cache
def _grammar() -> re.Pattern[str]:
    rules = "|".join(f"({pattern})" for pattern, _ in _RULES)
    return re.compile(f"(?![xf,.t&uOAUBFsbg])(?:{rules})")
