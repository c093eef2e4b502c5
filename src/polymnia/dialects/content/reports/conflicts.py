"""Conflicts in words: what differs, why two statements conflict, which is newer, and what to do."""

from __future__ import annotations

from collections.abc import Callable

from polymnia.dialects.content.reports import Description
from polymnia.engine.analysis.conflicts import Clash, Side
from polymnia.engine.content import title_of
from polymnia.engine.text.calendar import moment
from polymnia.models import JsonObject

_DAY = 86_400_000_000
_SHOWN = 80
_WHY = {
    "number": "They have the same words but for a number",
    "date": "They have the same words but for a date",
    "negation": "They have the same words but for a negation",
    "meaning": "By what they mean they cannot both hold",
    "superseded": "One of them says what has become of the other, or since when it holds",
    "do_and_do_not": "They advise against each other",
}
_ORDER = {
    "own_dates": "{later}: {0} by its own date, the other {1}.",
    "dated_after_written": "{since}, and the other was written before that, on {1}.",
    "dated_before_written": "{since} and was written later, but the other was written after that date: "
    "which holds is not certain.",
    "written_after_date": "{later}: written on {0}, the other holds since {1} by its own words.",
    "dated_not_later": "{since}, but was not written later: which holds is not certain.",
    "at_once": "Neither was said later.",
    "by_words": "{later} by its words, but both were written at once.",
    "written": "{later}: {0} when its item was last changed, the other {1}.",
    "written_within_a_minute": "{later}, by less than a minute.",
}
_AGAINST = "_against_words"
_SIDES = {"left": "first", "right": "second"}


def describe(clash: Clash) -> Description:
    """What differs, why the statements conflict, and what to do about it."""
    return Description(clash.differs, explanation(clash), None if clash.resolution is None else why(clash))


def explanation(clash: Clash) -> str:
    """Why two statements conflict, and which of them is newer."""
    if clash.ring is not None:
        length, order, acyclic, relations = clash.ring
        return (
            f"{length} relations of {order} lead back to where they began; {acyclic} of {relations} relations that "
            "tell this order are in no circle."
        )
    if clash.subtype == "opposed_decisions":
        titles = f"{title_of(clash.left.record)} and {title_of(clash.right.record)}"
        return f"Two decisions in one matter: {titles}. {_order(clash)}"
    return f"{_WHY[clash.subtype.removesuffix('_within_one_item')]}. {_order(clash)}"


def _order(clash: Clash) -> str:
    order = clash.order
    dates = [_date(at) for at in order.dates]
    later = f"The {_SIDES.get(order.side, '')} is the later one"
    since = f"The {_SIDES[order.dated]} holds since {dates[0]} by its own words" if order.dated else ""
    text = _ORDER[order.basis.removesuffix(_AGAINST)].format(*dates, later=later, since=since)
    return f"{text} But it is the other that says that it changed." if order.basis.endswith(_AGAINST) else text


def why(clash: Clash) -> str:
    """Why a resolution is suggested, or the question to put to a person."""
    here, there = clash.left, clash.right
    action = None if clash.resolution is None else clash.resolution.action
    if action == "ask" and clash.ring is not None:
        return f"Which of these relations is wrong: {clash.difference.left}?"
    if action == "ask" and (here.record.id, here.place) == (there.record.id, there.place):
        return f"What is right instead of {_quoted(here.sentence)} {_where(here)}?"
    if action == "ask":
        return f"Which holds: {_quoted(here.sentence)} {_where(here)} or {_quoted(there.sentence)} {_where(there)}?"
    old, new = (there, here) if clash.newer == "left" else (here, there)
    if clash.order.until is not None:
        reason = "both say when they hold" if old.dated and new.dated else "one says since when it holds"
        return f"{reason}: {_quoted(old.sentence)} held until {_date(clash.order.until)}"
    if clash.subtype == "opposed_decisions":
        title, when = _quoted(title_of(new.record)), _date(new.record.updated)
        return f"{title} was decided later ({when}); the other stays, marked as superseded by it"
    days = (new.record.updated - old.record.updated) // _DAY
    when = f"{days:,} days later ({_date(new.at)})" if days > 1 else "later"
    return f"{_quoted(new.sentence)} was said {when}; check that it is no mistake. The older one stays, marked as such"


def fields(clash: Clash) -> JsonObject:
    """A clash with its description as fields."""
    result: JsonObject = {
        "type": clash.type,
        "subtype": clash.subtype,
        "left": clash.left,
        "right": clash.right,
        "differs": clash.differs,
        "newer": clash.newer,
        "confidence": clash.confidence,
        "explanation": explanation(clash),
        "resolution": None,
        "members": clash.members,
    }
    if clash.resolution is not None:
        result["resolution"] = {"action": clash.resolution.action, "why": why(clash), "steps": clash.resolution.steps}
    return result


def _where(side: Side) -> str:
    """The item and the date of a sentence, without the title if that is the sentence."""
    title = title_of(side.record)
    sentence = " ".join(side.sentence.split())
    when = f"{'of' if side.dated else 'stored'} {_date(side.at)}"
    start = title.rstrip(".…")[:_SHOWN]
    return f"({when})" if sentence.startswith(start) else f"(in {title[:_SHOWN]!r}, {when})"


def _quoted(text: str) -> str:
    text = " ".join(text.split())
    return f'"{text if len(text) <= 2 * _SHOWN else text[: 2 * _SHOWN].rstrip() + "…"}"'


def _date(at: int) -> str:
    return moment(at)[:10]


def _unjudged(*, some: bool, fault: str | None) -> str:
    what = "what some statements mean" if some else "what statements mean"
    reason = "" if fault is None else f" ({fault})"
    return f"No model judged {what}{reason}: only amounts, dates and negations of the same words were compared."


def _compared(*, pairs: int) -> str:
    what = "pair of statements that has" if pairs == 1 else "pairs of statements that have"
    return f"{pairs:,} {what} something in common {'was' if pairs == 1 else 'were'} compared."


def _unsure(*, pairs: int) -> str:
    what = "pair of statements" if pairs == 1 else "pairs of statements"
    return f"{pairs:,} more {what} may clash, but that is not sure: sensitivity high tells them."


REMARKS: dict[str, str | Callable[..., str]] = {
    "unjudged": _unjudged,
    "few_items": lambda items: (
        "1 item: only statements within it could be compared." if items else "0 items: there is nothing to compare."
    ),
    "not_read": "{items:,} items were not read: {statements:,} statements are read at most.",
    "not_compared": "{pairs:,} further pairs that share less were not compared; name items to compare them all.",
    "superseded": "This item was superseded by another: nothing of it holds any more.",
    "alone": "No other item is near to this one: only statements within it could be compared.",
    "compared": _compared,
    "unsure": _unsure,
}
