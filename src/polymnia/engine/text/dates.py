"""Dates: the dates mentioned in a text, as index terms, and the time range of a query.

An index term is ``@2023``, ``@2023-05`` or ``@2023-05-08``; without a year ``@--05`` or ``@--05-08``.
"""

from __future__ import annotations

import re
from datetime import date
from unicodedata import is_normalized, normalize

from msgspec import Struct

from polymnia.engine.text import calendar as days
from polymnia.engine.text.calendar import Span
from polymnia.engine.text.date_grammar import EASTERN, RUNS, WORDS, DateReading, FoundDate, Partial, read

_MAX_TERMS = 64
_MAX_READ = 2_000  # a text with more dates is a log, for which more terms are of no use
_BLOCK = 16_384
_MAX_QUERY = 2_000
_YEARS_BACK = 12
_ARTICLES = frozenset("the at den der des dem die das du les la los las il lo nel nella на".split())
_DIGIT = re.compile(r"[0-9]")
# Replaces everything but letters with spaces, which is the fastest way to split a text into words.
_SPACED = bytes(c if 97 <= c <= 122 else 32 for c in range(256))
_Hints = tuple[frozenset[bytes], frozenset[str], re.Pattern[str]]


def _hints(letters: str, more: str, east: str, eastern_letters: str) -> _Hints:
    """What may indicate a date without digits: words, by their token letters or literally, and characters."""
    words = {word for word, (letter, _) in WORDS.items() if letter in letters}.union(more.split())
    eastern = [re.escape(word) for word, (letter, _) in EASTERN.items() if letter in eastern_letters]
    ascii_words = frozenset(word.encode() for word in words if word.isascii())
    return ascii_words, frozenset(words), re.compile("|".join([east, *eastern]))


_IN_TEXTS = _hints("mwWS", "", "[月年]", "")
_IN_DATED_TEXTS = _hints("mwWSrPpRgvH", "jours semaines mois", "[月年前上下]", "rPK")
_IN_QUERIES = _hints("mwWSrPpRgvH", "il hui feira", "[月年前上下월]", "rPKRgW")


_NOW = ("now", "just now", "jetzt", "ahora", "maintenant", "adesso", "지금", "방금", "сейчас", "今", "现在")
_SIZES = (
    (3_600_000_000, r"h|hrs?|hours?|stunden?|heures?|horas?|or[ae]|uur|uren|시간|час(?:а|ов)?|時間|小时"),
    (60_000_000, r"m|mins?|minut[eo]s?|minuten|minut[ai]|minuten|분|минут[уы]?|分钟?"),
    (1_000_000, r"s|secs?|seconds?|secondes?|sekunden?|segundos?|second[oi]|초|секунд[уы]?|秒"),
)
_PASSED = re.compile(
    r"(?:(?:about|the|in|within|for|last|past|vor|seit|in den|letzten?|il y a|hace|depuis|desde hace|지난|최근) )*p?t?"
    r"(?P<half>half |halben |halbe )?(?P<number>[0-9]{1,6}(?:[.,][0-9]{1,3})?|an?|one|eine[rm]?|une?|una?|한)? ?"
    rf"(?P<unit>{'|'.join(unit for _, unit in _SIZES)})(?: ?(?:ago|fa|atrás|geleden|назад|前|전(?:에|부터)?|동안))?"
)
_HOURS = re.compile(rf"\b(?:{'|'.join(names.split('|', 1)[1] for _, names in _SIZES)})\b")


class TimeRange(Struct, frozen=True):
    """The time range of a query: from ``start`` up to, not including, ``end``, in microseconds UTC.

    ``terms`` are the index terms of matching texts. With ``any_year`` the query names no year: start and end are the
    latest such time, and the terms include earlier years. ``past_words`` are the words of the query that express the
    time, in lower case, and ``rest`` is the query without them.
    """

    text: str
    start: int
    end: int
    terms: tuple[str, ...]
    any_year: bool
    past_words: tuple[str, ...]
    rest: str


def find_dates(text: str, written: int | None = None) -> list[str]:
    """The dates mentioned in a text, as at most 64 index terms.

    ``written`` is the time of writing in microseconds UTC, to which "yesterday" and "8 May" are relative.
    """
    today = None if written is None else days.day_of(written)
    found: dict[str, None] = {}
    start = dates = 0
    while start < len(text) and len(found) < _MAX_TERMS and dates < _MAX_READ:
        end = start + _BLOCK
        if end < len(text):
            space = text.rfind(" ", start + _BLOCK // 2, end)
            end = end if space < 0 else space
        dates += _add_terms(text[start:end], today, found)
        start = end
    return list(found)[:_MAX_TERMS]


def find_time_range(query: str, now: int, zone_offset_minutes: int = 0) -> TimeRange | None:
    """The time range of a query; None if it names none ("when did she leave?").

    ``now`` is in microseconds UTC; days begin at midnight in the given time zone.
    """
    text, low = _normalized(query[:_MAX_QUERY])
    if not _may_contain(low, _IN_QUERIES):
        return None
    ahead = zone_offset_minutes * 60_000_000
    today = days.day_of(now + ahead)
    reading = read(text, low, today)
    times = _times(reading, low, today)
    if not times:
        return None
    places = [(reading.tokens[first].start, _end(reading, last)) for first, last, *_ in times]
    spans = [span for _, _, found, *_ in times for span in found]
    terms = dict.fromkeys(term for *_, named in times for term in named)
    rest, done = [], 0
    for start, end in places:
        rest.append(text[done:start])
        done = end
    matched = [text[start:end] for start, end in places]
    return TimeRange(
        text=", ".join(matched),
        start=days.start_of(min(span[0] for span in spans)) - ahead,
        end=days.start_of(max(span[1] for span in spans) + 1) - ahead,
        terms=tuple(terms)[:_MAX_TERMS],
        any_year=any(open for *_, open, _ in times),
        past_words=tuple(dict.fromkeys("".join(c if c.isalnum() else " " for c in " ".join(matched)).lower().split())),
        rest=" ".join(" ".join([*rest, text[done:]]).split()),
    )


def time_passed(text: str) -> int | None:
    """The microseconds since "now", "2 hours ago" or "vor 10 Minuten"; None where days or dates are named.

    Where hours, minutes or seconds are named in another way ("a few minutes ago"), -1: their day would be too much.
    """
    low = " ".join(text.lower().strip(" .").split())
    if low in _NOW:
        return 0
    match = _PASSED.fullmatch(low)
    if match is None:
        return -1 if _HOURS.search(low) else None
    number, unit = match["number"], match["unit"]
    if number is None and unit in ("h", "m", "s"):
        return None
    size = next(size for size, names in _SIZES if re.fullmatch(names, unit))
    return (
        int(float(number.replace(",", ".")) * size)
        if number and number[0].isdigit()
        else size // (1 + bool(match["half"]))
    )


def _normalized(text: str) -> tuple[str, str]:
    """The text with normalized widths and accents, and the same in lower case, character for character."""
    if text.isascii():
        return text, text.lower()
    if not is_normalized("NFKC", text):
        text = normalize("NFKC", text)
    low = text.lower()
    if len(low) != len(text):
        low = "".join(small if len(small := c.lower()) == 1 else c for c in text)
    return text, low


def _may_contain(low: str, hints: _Hints) -> bool:
    ascii_words, words, east = hints
    if low.isascii():
        return bool(_DIGIT.search(low)) or not ascii_words.isdisjoint(low.encode().translate(_SPACED).split())
    return bool(_DIGIT.search(low) or east.search(low)) or not words.isdisjoint(RUNS.findall(low))


def _add_terms(text: str, today: int | None, terms: dict[str, None]) -> int:
    """Add the terms of a part of a text; returns its number of dates."""
    text, low = _normalized(text)
    if not _may_contain(low, _IN_TEXTS if today is None else _IN_DATED_TEXTS):
        return 0
    reading = read(text, low, today)
    year = 0
    for found in reading.found:
        if reading.letters[found.first : found.last + 1] == "W":
            continue  # "on Tuesday" may be the last or the next one
        for at in found.dates:
            terms.update(dict.fromkeys(_terms_of(at)))
            year = at[0] or year
            if not at[0] and today is not None:
                # "In 2008 ... and in May": the year named before takes precedence over that of writing.
                terms.update(dict.fromkeys(_terms_of((year, *at[1:]) if year else _nearest(at, today))))
        if found.span is not None:
            first, last = found.span
            if last - first < 8:
                terms.update(dict.fromkeys(term for day in range(first, last + 1) for term in _terms_of(_partial(day))))
            else:
                terms.update(dict.fromkeys(part for term in days.terms(found.span) for part in (term[:5], term)))
        if len(terms) > _MAX_TERMS:
            break
    return len(reading.found)


def _terms_of(at: Partial) -> list[str]:
    year, month, day = at
    head = f"@{year:04}" if year else "@-"
    terms = [head] if year else []
    if month:
        terms.append(f"{head}-{month:02}")
        if day:
            terms.append(f"{head}-{month:02}-{day:02}")
    return terms


def _partial(day: int) -> Partial:
    at = date.fromordinal(day)
    return at.year, at.month, at.day


def _nearest(at: Partial, today: int) -> Partial:
    """A day or month without a year, in the year in which it is nearest to today."""
    year = date.fromordinal(today).year
    around = [(y, at[1], at[2]) for y in (year, year - 1, year + 1) if 1 <= y <= 9999]
    real = [option for option in around if days.valid(option[0], option[1], option[2] or 1)]
    return min(real, key=lambda option: abs(_span(option)[0] - today), default=at)


def _latest(at: Partial, today: int) -> Partial:
    """A day or month without a year, in the latest year in which it began by today."""
    year = date.fromordinal(today).year
    for y in range(year, max(year - 9, 0), -1):
        if days.valid(y, at[1], at[2] or 1) and _span((y, at[1], at[2]))[0] <= today:
            return y, at[1], at[2]
    return _nearest(at, today)


def _span(at: Partial) -> Span:
    year, month, day = at
    if not month:
        return days.year(year)
    first, last = days.month(month, year or 2000)
    return (min(first + day - 1, last),) * 2 if day else (first, last)


_Time = tuple[int, int, list[Span], bool, list[str]]


def _times(reading: DateReading, low: str, today: int) -> list[_Time]:
    """Each time in a query: its first and last token, its spans, whether it has no year, and its terms."""
    times: list[_Time] = []
    found, letters = reading.found, reading.letters
    i = 0
    while i < len(found):
        here = found[i]
        before = len(letters[: here.first].rstrip("fiO,t"))
        mark = letters[before - 1] if before else ""
        first, last = here.first, here.last
        i += 1
        if i < len(found) and _joined(reading, here, found[i], mark):
            start, end = _ends(here, found[i], today)
            last = found[i].last
            i += 1
            if last + 1 < len(letters) and letters[last + 1] == "h":
                last += 1
            spans = [(min(start[0], end[0]), max(start[1], end[1]))]
            first = before - 1 if mark in ("B", "F", "s") else _introduced(reading, low, first)
            times.append((first, last, spans, False, _terms(spans)))
            continue
        spans, named, open = _resolved(here, today)
        after = letters[last + 1 : last + 2]
        if after in ("k", "j", "h", "g") and after:
            mark, last = after, last + 1
        elif mark in ("s", "b", "v", "A", "U") and mark:
            first = before - 1
        else:
            first = before - 1 if mark in ("B", "F") and len(here.dates) > 1 else _introduced(reading, low, first)
            times.append((first, last, spans, open, named))
            continue
        spans = [_bounded(mark, spans, today)]
        times.append((first, last, spans, False, _terms(spans)))
    return times


def _bounded(mark: str, spans: list[Span], today: int) -> Span:
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    if mark in "sk":
        return first, max(today, last)
    if mark == "A":
        return days.clipped(last + 1), max(today, days.clipped(last + 1))
    return 1, last if mark in "Uh" else max(first - 1, 1)


def _introduced(reading: DateReading, low: str, first: int) -> int:
    """The start of the words that introduce a date: "in", "on the", "at 5:30 pm on"."""
    start = first
    while start and first - start < 4:
        part = reading.tokens[start - 1]
        if part.letter not in "iOt" and (part.letter != "f" or low[part.start : part.end] not in _ARTICLES):
            break
        start -= 1
    return start


def _end(reading: DateReading, last: int) -> int:
    """The end of a date, including a Korean, Chinese or Japanese particle."""
    end = reading.tokens[last].end
    following = reading.tokens[last + 1 : last + 2]
    return following[0].end if following and following[0].letter == "f" and following[0].start == end else end


def _joined(reading: DateReading, here: FoundDate, there: FoundDate, mark: str) -> bool:
    between = reading.tokens[here.last + 1 : there.first]
    letters = "".join(part.letter for part in between).strip("fiO,t")
    if mark in ("B", "F") and mark:
        return letters in ("&", "U")
    return letters in ("U", "k") or (letters == "&" and any(part.letter == "&" and part.value for part in between))


def _ends(here: FoundDate, there: FoundDate, today: int) -> tuple[Span, Span]:
    """The spans of both ends of a range; an end without a year takes that of the other."""
    at = here.dates[0] if here.dates else (0, 0, 0)
    if there.span:
        end = there.span
    elif there.dates[-1][0]:
        end = _span(there.dates[-1])
    elif at[0]:
        end = _span((at[0], *there.dates[-1][1:]))
        if end[0] < _span(at)[0]:
            end = _span((min(at[0] + 1, 9999), *there.dates[-1][1:]))
    else:
        end = _span(_latest(there.dates[-1], today))
    if here.span:
        return here.span, end
    if not at[0]:
        year = date.fromordinal(end[1]).year
        at = (year, at[1], at[2])
        if _span(at)[0] > end[1] and year > 1:
            at = (year - 1, at[1], at[2])
    return _span(at), end


def _resolved(found: FoundDate, today: int) -> tuple[list[Span], list[str], bool]:
    if found.span is not None:
        return [found.span], _terms([found.span]), False
    spans: list[Span] = []
    named: list[str] = []
    for at in found.dates:
        if at[0]:
            spans.append(_span(at))
            named.append(_terms_of(at)[-1])
            continue
        latest = _latest(at, today)
        spans.append(_span(latest))
        years = range(latest[0], max(latest[0] - _YEARS_BACK, 0), -1)
        named += [_terms_of((0, at[1], at[2]))[-1], *(_terms_of((year, at[1], at[2]))[-1] for year in years)]
    return spans, named, any(not at[0] for at in found.dates)


def _terms(spans: list[Span]) -> list[str]:
    return [term for span in spans for term in days.terms(span)]
