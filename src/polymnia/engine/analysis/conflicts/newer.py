"""Newer: which of two statements is the later one, and whether that is certain enough to act on.

A date in a sentence says from when it holds; the times of its record say when it was written. Only where all that is
known points the same way is it certain. A record may have been changed for another sentence, so one is written later
for certain only if its record was made after the last change of the other.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from polymnia.engine.analysis.conflicts.dating import dateless, said_at
from polymnia.engine.text.calendar import moment
from polymnia.models import Record

__all__ = ["Newer", "Told", "newer", "told"]

_SECOND, _DAY = 1_000_000, 86_400_000_000
_MINUTE = 60 * _SECOND
_ORDER = {"left": "first", "right": "second"}

_Which = Literal["left", "right"]


class Told(NamedTuple):
    """A statement with its times: since when it holds by its own words, if it says so, and when it was written.

    That was between ``first`` and ``last``, when its record was made and last changed. ``news``: it says what has
    become of the other one.
    """

    text: str
    since: int | None
    first: int
    last: int
    news: bool = False


class Newer(NamedTuple):
    """The later one of two statements, as far as can be told; whether that is certain; and that in a sentence.

    ``until`` is when the older one ended, where one of them says since when it holds.
    """

    side: Literal["left", "right", "same"]
    certain: bool
    words: str
    until: int | None = None


def told(text: str, record: Record, news: bool = False) -> Told:
    """A statement of a record with its times."""
    at, dated = said_at(text, record.updated)
    first = min(record.created or record.updated, record.updated)
    return Told(text, at if dated else None, first, record.updated, news)


def newer(left: Told, right: Told) -> Newer:
    """Which of two statements is the later one."""
    if left.since is not None and right.since is not None and dateless(left.text) == dateless(right.text):
        left, right = left._replace(since=None), right._replace(since=None)  # the dates are what they say
    if left.since is not None and right.since is not None and left.since != right.since:
        side: _Which = "right" if right.since > left.since else "left"
        late, early = max(left.since, right.since), min(left.since, right.since)
        return Newer(side, True, f"{_which(side)}: {_date(late)} by its own date, the other {_date(early)}.", late)
    if left.since is not None and right.since is None:
        return _mixed(left, right, "left", "right")
    if right.since is not None and left.since is None:
        return _mixed(right, left, "right", "left")
    return _written(left, right)


def _mixed(dated: Told, bare: Told, here: _Which, there: _Which) -> Newer:
    """Of two statements, one says since when it holds."""
    since = dated.since or 0
    says = f"The {_ORDER[here]} holds since {_date(since)} by its own words"
    gap = dated.first - bare.last
    if gap > 0:
        clear = gap >= _SECOND
        if since + _DAY > bare.last:
            words = f"{says}, and the other was written before that, on {_date(bare.last)}."
            return Newer(here if clear else "same", clear, words, since)
        words = f"{says} and was written later, but the other was written after that date: which holds is not certain."
        return Newer(here if clear else "same", False, words)
    gap = bare.first - dated.last
    if gap >= _SECOND and bare.first >= since + _DAY:
        words = (
            f"{_which(there)}: written on {_date(bare.first)}, the other holds since {_date(since)} by its own words."
        )
        return Newer(there, gap >= _DAY, words, bare.first)
    return Newer("same", False, f"{says}, but was not written later: which holds is not certain.")


def _written(left: Told, right: Told) -> Newer:
    """Of two statements, neither says since when it holds: they go by when they were written, and by their words."""
    if left.last == right.last:
        if left.news == right.news:
            return Newer("same", False, "Neither was said later.")
        side: _Which = "left" if left.news else "right"
        return Newer(side, False, f"{_which(side)} by its words, but both were written at once.")
    side = "right" if right.last > left.last else "left"
    new, old = (right, left) if side == "right" else (left, right)
    gap = new.first - old.last
    if old.news and not new.news:
        return Newer(side, False, f"{_written_on(side, new, old)} But it is the other that says that it changed.")
    clear = gap >= (_SECOND if new.news and not old.news else _DAY)
    return Newer(side, clear, _written_on(side, new, old))


def _written_on(side: _Which, new: Told, old: Told) -> str:
    if new.last - old.last < _MINUTE:
        return f"{_which(side)}, by less than a minute."
    return f"{_which(side)}: {_date(new.last)} when its item was last changed, the other {_date(old.last)}."


def _which(side: _Which) -> str:
    return f"The {_ORDER[side]} is the later one"


def _date(at: int) -> str:
    return moment(at)[:10]
