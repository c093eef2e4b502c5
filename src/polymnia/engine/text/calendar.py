"""Calendar: times as RFC 3339, and days, weeks, months and years as spans of day numbers.

A day number is that of :meth:`datetime.date.toordinal`: 1 is the first day of year 1. A span includes both ends and is
clipped to the years 1 to 9999.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

from polymnia.errors import Invalid

Span: TypeAlias = tuple[int, int]

_DAY_US = 86_400_000_000
_LAST_DAY = date.max.toordinal()
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_DAY = _EPOCH.toordinal()
_MOST = 64


def moment(microseconds: int) -> str:
    """A time as RFC 3339 in UTC, to the microsecond."""
    return (_EPOCH + timedelta(microseconds=microseconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_time(text: Any, where: str) -> int:
    """A time in microseconds since 1970 from RFC 3339; without a zone it is UTC."""
    if not isinstance(text, str):
        raise Invalid(f"{where} must be a time such as 2025-07-10T05:30:00Z, not {type(text).__name__}", field=where)
    try:
        read = datetime.fromisoformat(text.strip())
    except ValueError:
        raise Invalid(f"{where} is {text!r:.60}, which is no time such as 2025-07-10T05:30:00Z", field=where) from None
    since = (read if read.tzinfo else read.replace(tzinfo=UTC)) - _EPOCH
    if since < timedelta(0):
        raise Invalid(f"{where} is {text!r:.60}, which is before 1970", field=where)
    return since // timedelta(microseconds=1)


def day_of(moment: int) -> int:
    """The day number of a time in microseconds UTC."""
    return clipped(moment // _DAY_US + _FIRST_DAY)


def start_of(day: int) -> int:
    """The first microsecond, UTC, of a day number."""
    return (day - _FIRST_DAY) * _DAY_US


def clipped(day: int) -> int:
    """The nearest valid day number."""
    return min(max(day, 1), _LAST_DAY)


def valid(year: int, month: int, day: int) -> bool:
    """Whether the day exists."""
    try:
        date(year, month, day)
    except (ValueError, OverflowError):
        return False
    return True


def year(number: int) -> Span:
    """A year, clipped to 1 to 9999."""
    number = min(max(number, 1), 9999)
    return date(number, 1, 1).toordinal(), date(number, 12, 31).toordinal()


def month(number: int, of_year: int) -> Span:
    """A month; 0 is the December before, 13 the January after, and so on."""
    months = min(max(of_year * 12 + number - 1, 12), 9999 * 12 + 11)
    at, number = divmod(months, 12)
    first = date(at, number + 1, 1).toordinal()
    if months == 9999 * 12 + 11:
        return first, _LAST_DAY
    after, number = divmod(months + 1, 12)
    return first, date(after, number + 1, 1).toordinal() - 1


def season(number: int, of_year: int) -> Span:
    """Spring, summer, autumn or winter (0 to 3) in the north, as whole months; winter ends in the next year."""
    first = month(3 + 3 * number, of_year)[0]
    return first, month(5 + 3 * number, of_year)[1]


def unit(kind: int, offset: int, today: int) -> Span:
    """The day, week, month, year, weekend, quarter or part of the day that is ``offset`` units from today's."""
    offset = min(max(offset, -_LAST_DAY), _LAST_DAY)
    now = date.fromordinal(clipped(today))
    monday = today - now.weekday()
    if kind == 2:
        return clipped(monday + 7 * offset), clipped(monday + 7 * offset + 6)
    if kind == 3:
        return month(now.month + offset, now.year)
    if kind == 4:
        return year(now.year + offset)
    if kind == 5:
        # Until this weekend begins, the last one is the one before.
        saturday = monday + 5 + 7 * offset
        return clipped(saturday), clipped(saturday + 1)
    if kind == 6:
        first = (now.month - 1) // 3 * 3 + 1 + 3 * offset
        return month(first, now.year)[0], month(first + 2, now.year)[1]
    day = clipped(today + offset) if kind else clipped(today)
    return day, day


def terms(span: Span) -> list[str]:
    """The index terms of the days of a span: days if it is shorter than a month, else months, and whole years."""
    first, last = clipped(span[0]), clipped(span[1])
    start, end = date.fromordinal(first), date.fromordinal(last)
    whole = month(start.month, start.year) == (first, last)
    if last - first < 31 and not whole:
        days = (date.fromordinal(day) for day in range(first, last + 1))
        return [f"@{day.year:04}-{day.month:02}-{day.day:02}" for day in days]
    found: list[str] = []
    # The latest come first: a span without a start begins in year 1.
    for at in range(end.year, start.year - 1, -1):
        span_of_year = year(at)
        if first <= span_of_year[0] and span_of_year[1] <= last:
            found.append(f"@{at:04}")
        else:
            low = start.month if at == start.year else 1
            high = end.month if at == end.year else 12
            found += [f"@{at:04}-{number:02}" for number in range(high, low - 1, -1)]
        if len(found) >= _MOST:
            break
    return found[_MOST - 1 :: -1] if len(found) >= _MOST else found[::-1]
