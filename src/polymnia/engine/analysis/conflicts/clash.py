"""Clashes: two statements that cannot both hold, which of them is the later one, and what may be done about it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, get_args

from msgspec import Struct, field

from polymnia.engine.analysis.actions import Action
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.knowledge.duplicates import Difference
from polymnia.engine.knowledge.judge import Border
from polymnia.engine.text.calendar import month, start_of, year
from polymnia.engine.text.dates import mentioned
from polymnia.models import Record

ConflictType = Literal["factual_conflicts", "temporal_conflicts", "recommendation_conflicts", "logical_conflicts"]
TYPES: tuple[str, ...] = get_args(ConflictType)
SENSITIVITIES = ("high", "medium", "low")


class Side(Struct, frozen=True):
    """One of two statements that clash: the record it stands in, the sentence as it is written, when it was said.

    ``at`` is the date the sentence gives itself, else the time its record was last changed, in microseconds;
    ``dated`` tells which. ``place`` is the number of the sentence in its record, counted from 0. A relation is told as
    a sentence too: then ``drawn`` is set, and ``at`` is when it was drawn.
    """

    record: Record
    sentence: str
    at: int
    place: int
    dated: bool = False
    drawn: bool = False

    @property
    def kind(self) -> str:
        """What was said: a ``sentence`` that stands in the record, or a ``relation`` that was drawn."""
        return "relation" if self.drawn else "sentence"


class Order(NamedTuple):
    """The later one of two statements, as far as can be told; whether that is certain; and what it rests on.

    ``basis`` names the rule that told it and ``dates`` are the times it went by, in microseconds; ``dated`` is the side
    with a date of its own where only one has one. ``until`` is when the older one ended, where one of them says since
    when it holds.
    """

    side: Literal["left", "right", "same"]
    certain: bool
    basis: str
    dates: tuple[int, ...] = ()
    until: int | None = None
    dated: Literal["left", "right"] | None = None


class Judged(NamedTuple):
    """Two rows that may clash: how sure, what differs, whether it is told unasked, and which tells a change (1, -1)."""

    a: int
    b: int
    confidence: float
    difference: Difference
    anyway: bool
    border: Border
    update: bool = False
    changes: int = 0


class Resolution(Struct, frozen=True):
    """What may be done about a clash, and the steps that do it, in order. ``ask`` is left to a person and has none."""

    action: Literal["keep_newest", "keep_both_with_dates", "ask"]
    steps: tuple[Action, ...] = ()


class Clash(Struct, frozen=True, kw_only=True):
    """Two statements that cannot both hold, or a ring of relations that must have none.

    ``confidence`` is how often a clash like this one is real. A ring has ``ring``: how many relations it has, what
    order they tell, and how many of all relations that tell this order are in no ring.
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
        """The side that was said later."""
        return self.order.side


class Clashes(Struct, frozen=True, kw_only=True):
    """The clashes that were found, most certain first; what was looked at, in numbers; and what was not compared."""

    clashes: list[Clash] = []
    looked_at: dict[str, int] = field(default_factory=dict)
    notes: list[Remark] = []

    def __iter__(self) -> Iterator[Clash]:
        return iter(self.clashes)

    def __len__(self) -> int:
        return len(self.clashes)


def once(clashes: Iterable[Clash]) -> list[Clash]:
    """Each pair of sentences as one conflict, the surest: two decisions clash as such and by what they say."""
    best: dict[frozenset[tuple[int, str]], Clash] = {}
    for one in sorted(clashes, key=lambda one: -one.confidence):
        said = ((side.record.id, " ".join(side.sentence.split())) for side in (one.left, one.right))
        best.setdefault(frozenset(said), one)
    return list(best.values())


# ── When a statement holds, by its own words or by its record, and which of two is the later one ─────────────────────
# A date in a sentence says from when it holds; the times of its record say when it was written. Only where all that is
# known points the same way is it certain. A record may have been changed for another sentence, so one is written later
# for certain only if its record was made after the last change of the other.

_SECOND, _DAY = 1_000_000, 86_400_000_000
_MINUTE = 60 * _SECOND
_MONTH = "(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
# What a statement begins with, or what leads to it: the date is of the telling, and not what is told.
_LEAD = re.compile(
    r"^\W*(?:(?:as of|since|from|in|on|by|until|effective|starting|after|updated?:?)\s+)?"
    r"(?=[^,:]{4,24}(?:[,:)\]]|\s[-–—]))"
    r"|\b(?:as of|since|effective|starting|with effect from|from)\s+"
    r"|\((?=[^()]{4,24}\)\W*$)",
    re.IGNORECASE,
)
_AFTER = re.compile(r"(?:기준|부터|이후|현재|년|월|일)")
_OWN = re.compile(
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
_SPAN = 26  # characters a date takes at most


class Dated(NamedTuple):
    """A statement, since when it holds by its own words, when it was written, and whether it tells what changed."""

    text: str
    since: int | None
    first: int
    last: int
    news: bool = False


def undated(text: str) -> str:
    """A statement without the date it gives itself: what it says is the same at any other time."""
    return _OWN.sub("", text) if _DIGIT.search(text, 0, _SPAN) or "(" in text else text


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
    if not terms:
        return None
    parts = [int(part) for part in terms[0].split("-")]
    first = month(parts[1], parts[0])[0] if len(parts) > 1 else year(parts[0])[0]
    return start_of(first + (parts[2] - 1 if len(parts) == 3 else 0))


def dated(text: str, record: Record, news: bool = False) -> Dated:
    """A statement of a record with its times."""
    at, own = said_at(text, record.updated)
    first = min(record.created or record.updated, record.updated)
    return Dated(text, at if own else None, first, record.updated, news)


def ordered(left: Dated, right: Dated) -> Order:
    """Which of two statements is the later one."""
    if left.since is not None and right.since is not None:
        if _dateless(left.text) != _dateless(right.text) and left.since != right.since:
            late, early = max(left.since, right.since), min(left.since, right.since)
            return Order("right" if right.since > left.since else "left", True, "own_dates", (late, early), late)
        return _written(left, right)  # else the dates are what they say
    if left.since is not None:
        return _one_dated(left, right, left.since, "left", "right")
    if right.since is not None:
        return _one_dated(right, left, right.since, "right", "left")
    return _written(left, right)


def _dateless(text: str) -> str:
    return " ".join(_ANY.sub("", text).lower().split())


_Which = Literal["left", "right"]


def _one_dated(own: Dated, bare: Dated, since: int, here: _Which, there: _Which) -> Order:
    """Of two statements, one says since when it holds."""
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
    """Of two statements, neither says since when it holds: they go by when they were written, and by their words."""
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
