"""Clashes: two statements that cannot both hold, which of them is newer, and how to resolve it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, NamedTuple, get_args

from msgspec import Struct, field

from polymnia.engine.analysis.actions import Action
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.knowledge.duplicates import Difference
from polymnia.engine.knowledge.judge import Border
from polymnia.engine.text.calendar import month, start_of, year
from polymnia.engine.text.dates import find_dates
from polymnia.models import Record

ConflictType = Literal["factual_conflicts", "temporal_conflicts", "recommendation_conflicts", "logical_conflicts"]
TYPES: tuple[str, ...] = get_args(ConflictType)
SENSITIVITIES = ("high", "medium", "low")


class Side(Struct, frozen=True):
    """One of two statements that clash: its record, the sentence as it is written, and its date.

    ``at`` is the date in the sentence if it has one (``dated``), else the last change of its record, in microseconds.
    ``place`` is the number of the sentence in its record, from 0. ``drawn`` marks a relation, put as a sentence.
    """

    record: Record
    sentence: str
    at: int
    place: int
    dated: bool = False
    drawn: bool = False

    @property
    def kind(self) -> str:
        """A ``sentence`` of the record, or a ``relation``."""
        return "relation" if self.drawn else "sentence"


class Order(NamedTuple):
    """Which of two statements is newer, and whether that is certain.

    ``basis`` names the rule that decided and ``dates`` its times in microseconds; ``dated`` is the side with a date of
    its own if only one has one. ``until`` is the end of the older one, if a statement says since when it holds.
    """

    side: Literal["left", "right", "same"]
    certain: bool
    basis: str
    dates: tuple[int, ...] = ()
    until: int | None = None
    dated: Literal["left", "right"] | None = None


class JudgedPair(NamedTuple):
    """Two rows that may clash: confidence, difference, whether ``medium`` reports it (``anyway``), and which states a
    change (1, -1)."""

    a: int
    b: int
    confidence: float
    difference: Difference
    anyway: bool
    border: Border
    update: bool = False
    changes: int = 0


class Resolution(Struct, frozen=True):
    """How to resolve a clash, and the steps in order; ``ask`` leaves it to a person and has none."""

    action: Literal["keep_newest", "keep_both_with_dates", "ask"]
    steps: tuple[Action, ...] = ()


class Clash(Struct, frozen=True, kw_only=True):
    """Two statements that cannot both hold, or a cycle of relations that must have none.

    ``confidence`` is how often a clash like this one is real. ``ring`` describes a cycle: its length, its order, and
    how many of all relations of this order are in no cycle.
    """

    type: ConflictType
    subtype: str
    left: Side
    right: Side
    difference: Difference
    order: Order
    confidence: float
    resolution: Resolution | None = None
    members: tuple[int, ...] = ()
    ring: tuple[int, str, int, int] | None = None

    @property
    def differs(self) -> str:
        """What differs, quoted."""
        return str(self.difference)

    @property
    def newer(self) -> str:
        """The side that is newer."""
        return self.order.side


class Clashes(Struct, frozen=True, kw_only=True):
    """The clashes, most certain first; figures on what was compared; and notes."""

    clashes: list[Clash] = []
    looked_at: dict[str, int] = field(default_factory=dict)
    notes: list[Remark] = []


def deduplicated(clashes: Iterable[Clash]) -> list[Clash]:
    """One clash for each pair of sentences, the most certain: decisions may clash by their choice and by their text."""
    best: dict[frozenset[tuple[int, str]], Clash] = {}
    for one in sorted(clashes, key=lambda one: -one.confidence):
        key = frozenset((side.record.id, " ".join(side.sentence.split())) for side in (one.left, one.right))
        best.setdefault(key, one)
    return list(best.values())


# ── Since when a statement holds, and which of two is newer ──────────────────────────────────────────────────────────
# A date in a sentence says since when it holds; the times of its record say when it was written. The order is certain
# only if both agree. A record may have been changed for another sentence, so a statement was certainly written later
# only if its record was created after the last change of the other.

_SECOND, _DAY = 1_000_000, 86_400_000_000
_MINUTE = 60 * _SECOND
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
# What comes before a date that says since when a statement holds.
_LEAD = re.compile(
    r"^\W*(?:(?:as of|since|from|in|on|by|until|effective|starting|after|updated?:?)\s+)?"
    r"(?=[^,:]{4,24}(?:[,:)\]]|\s[-–—]))"
    r"|\b(?:as of|since|effective|starting|with effect from|from)\s+"
    r"|\((?=[^()]{4,24}\)\W*$)",
    re.IGNORECASE,
)
_AFTER = re.compile(r"(?:기준|부터|이후|현재|년|월|일)")
_OWN_DATE = re.compile(
    r"^\W*(?:as of|since|effective|starting|in|on|from)\s+[^,:]{0,16}\d{4}[^,:]{0,8}[,:]\s*"
    r"|^\W*(?:as of|since|effective|starting|from)\s+"
    rf"(?:(?:{_NTH}\s+)?{_MONTH}\.?(?:\s+{_NTH}\b,?)?(?:\s+\d{{4}})?|\d{{4}}(?:-\d\d?){{0,2}})"
    r"(?:\s+on(?:wards?)?)?,?\s+(?=\D)"
    r"|^\W*\d{4}[-./]\d\d?(?:[-./]\d\d?)?[\])]?[:,]?\s+"
    r"|(?<!\s)\s*\((?:as of|since|updated|effective) [^()]{3,24}\)"
    r"|^\W*\d{4}년(?:\s?\d\d?월)?(?:\s?\d\d?일)?\s?(?:기준|현재|부터|이후)(?:으로|는)?[,:]?\s*",
    re.IGNORECASE,
)
_ANY = re.compile(
    rf"\b(?:(?:{_NTH}\s+)?{_MONTH}\.?(?:\s+{_NTH}\b)?(?:,?\s+(?:19|20)\d\d)?|(?:19|20)\d\d(?:[-./]\d\d?){{0,2}})\b"
    r"|(?:19|20)\d\d년|\d\d?월|\d\d?일",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"\((?:until|till)\s+(\d{4}-\d\d-\d\d)\)|\((\d{4}-\d\d-\d\d)까지\)")
_DIGIT = re.compile(r"\d")
_SPAN = 26  # characters of a date, at most


class Dated(NamedTuple):
    """A statement, since when it holds by its own words, when it was written, and whether it states a change."""

    text: str
    since: int | None
    first: int
    last: int
    news: bool = False


def undated(text: str) -> str:
    """A statement without the date since when it holds."""
    return _OWN_DATE.sub("", text) if _DIGIT.search(text, 0, _SPAN) or "(" in text else text


def end_date(text: str) -> int | None:
    """The end of a statement that is marked as ended."""
    found = _UNTIL.search(text)
    return _day(found[1] or found[2], 0) if found else None


def date_of(text: str, written: int) -> tuple[int, bool]:
    """Since when a statement holds by its own words and True; else the time it was written and False."""
    if _DIGIT.search(text) is None:
        return written, False
    for lead in _LEAD.finditer(text):
        piece = text[lead.end() : lead.end() + _SPAN]
        if day := _day(re.split(r"[,:)\];]", piece)[0], written):
            return day, True
    if not text.isascii() and (after := _AFTER.search(text)) and after.start() < _SPAN:
        piece = re.split(r"기준|부터|이후|현재|[,:]", text[: _SPAN + 8])[0]
        if len(piece) < min(len(text), _SPAN + 8) and (day := _day(piece, written)):
            return day, True
    return written, False


def _day(piece: str, written: int) -> int | None:
    """The first day of the most exact date in a few words."""
    terms = sorted((term[1:] for term in find_dates(piece, written) if term[1] != "-"), key=len, reverse=True)
    if not terms:
        return None
    parts = [int(part) for part in terms[0].split("-")]
    first = month(parts[1], parts[0])[0] if len(parts) > 1 else year(parts[0])[0]
    return start_of(first + (parts[2] - 1 if len(parts) == 3 else 0))


def dated(text: str, record: Record, news: bool = False) -> Dated:
    """A statement of a record with its times."""
    at, own = date_of(text, record.updated)
    first = min(record.created or record.updated, record.updated)
    return Dated(text, at if own else None, first, record.updated, news)


def ordered(left: Dated, right: Dated) -> Order:
    """Which of two statements is newer."""
    if left.since is not None and right.since is not None:
        if _dateless(left.text) != _dateless(right.text) and left.since != right.since:
            late, early = max(left.since, right.since), min(left.since, right.since)
            return Order("right" if right.since > left.since else "left", True, "own_dates", (late, early), late)
        return _written(left, right)  # else the dates are what the statements are about
    if left.since is not None:
        return _one_dated(left, right, left.since, "left", "right")
    if right.since is not None:
        return _one_dated(right, left, right.since, "right", "left")
    return _written(left, right)


def _dateless(text: str) -> str:
    return " ".join(_ANY.sub("", text).lower().split())


_Which = Literal["left", "right"]


def _one_dated(own: Dated, bare: Dated, since: int, here: _Which, there: _Which) -> Order:
    """The order of two statements, one of which says since when it holds."""
    gap = own.first - bare.last
    if gap > 0:
        clear = gap >= _SECOND
        side = here if clear else "same"
        if since + _DAY > bare.last:
            return Order(side, clear, "dated_after_written", (since, bare.last), since, here)
        return Order(side, False, "dated_before_written", (since,), None, here)
    gap = bare.first - own.last
    if gap >= _SECOND and bare.first >= since + _DAY:
        return Order(there, gap >= _DAY, "written_after_date", (bare.first, since), bare.first, here)
    return Order("same", False, "dated_not_later", (since,), None, here)


def _written(left: Dated, right: Dated) -> Order:
    """The order of two statements by when they were written and which of them states a change."""
    if left.last == right.last:
        if left.news == right.news:
            return Order("same", False, "at_once")
        return Order("left" if left.news else "right", False, "by_words")
    side: _Which = "right" if right.last > left.last else "left"
    new, old = (right, left) if side == "right" else (left, right)
    basis = "written" if new.last - old.last >= _MINUTE else "written_within_a_minute"
    if old.news and not new.news:
        return Order(side, False, f"{basis}_against_words", (new.last, old.last))
    clear = new.first - old.last >= (_SECOND if new.news and not old.news else _DAY)
    return Order(side, clear, basis, (new.last, old.last))
