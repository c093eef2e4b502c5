"""Weighing: what kind of clash a pair of statements is, and how likely it is one."""

from __future__ import annotations

import re
from math import exp, log
from typing import NamedTuple

from msgspec.structs import replace

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.frames import Frame
from polymnia.engine.analysis.conflicts.newer import newer, told
from polymnia.engine.analysis.conflicts.pairing import exclusive
from polymnia.engine.analysis.conflicts.quantities import apart
from polymnia.engine.analysis.conflicts.table import Table
from polymnia.engine.analysis.conflicts.values import ConflictType
from polymnia.engine.analysis.contradiction import PRIOR, Judgement

__all__ = ["Weighed", "certainty", "odds_of", "perhaps", "shown", "weighed"]

# Do and do not of one thing, and two states that exclude each other, are clashes by their form. What is left to doubt
# is whether they are about one thing: each word that only one has takes some of it away.
_FORMAL = 3.0
_EXTRA, _ELSE = 0.8, 2.5
_CALLED = 0.4  # log odds at least where two statements call by two names what has only one, or give it two values
_MAYBE = 0.0  # and where it depends on the words whether both values hold
_LOOSELY = 1.0  # log odds less where words are left over: of such pairs among real texts hardly any clashed
_PERHAPS = -0.7  # and where one denies what the other says of a part, and the judge calls that a contradiction
_NEWS = re.compile(
    r"\b(?:now|currently|nowadays|as of today|from now on)\b,? ?|(?<![가-힣])(?:이제는?|현재는?|지금은?) ",
    re.IGNORECASE,
)
_EVEN = 0.5
_MORE = 3  # words that may be left over where two are shared; more where more are
_LARGEST = 12.0  # log odds nobody has counted beyond


class Weighed(NamedTuple):
    """A clash as it may be reported: its type and subtype, its log odds, and what makes it one, in words."""

    type: ConflictType
    subtype: str
    odds: float
    differs: str
    because: str


def shown(text: str) -> str:
    """A statement as it is judged: what only says that it is news is left out."""
    return _NEWS.sub("", text)


def certainty(odds: float) -> float:
    """Log odds as a share from 0 to 1."""
    return 1 / (1 + exp(-max(-_LARGEST, min(_LARGEST, odds))))


def odds_of(prior: float) -> float:
    """How much more or less than usual a prior makes of a judgement, in log odds."""
    return -_LARGEST if prior <= 0 else log(prior / (1 - prior)) - log(PRIOR / (1 - PRIOR))


def weighed(
    table: Table, a: int, b: int, frame: Frame, judged: Judgement, prior: float, named: bool = False
) -> list[Weighed]:
    """All that a pair may be reported as, in the order in which one is taken: one clash has one type.

    ``named`` says that a caller asked for this very pair: then the judge alone decides whether it clashes.
    """
    texts = table.text(a), table.text(b)
    if frame.values is not None:
        left, right, _, gone = frame.values
        differs = f"only one says that it is so no more: {left}" if gone else f"{left} and {right}"
        judged = replace(judged, kind="negation" if gone else "value", differs=differs)
    else:
        judged = replace(judged, differs=apart(judged.differs))
    odds = (judged.score if named else max(judged.score, _least(frame))) + odds_of(prior)
    if not named and (frame.left or frame.right) and frame.place in (None, "many"):
        odds -= _LOOSELY
    if perhaps(frame) and not named and judged.score + odds_of(_EVEN) >= 0:
        odds = max(odds, _PERHAPS)
    found = []
    stance = int(table.stance[a]) * int(table.stance[b])
    worded = bool(frame.left and frame.right)
    over = len(frame.left) + len(frame.right)
    states = not frame.apart and not frame.denied and bool(exclusive(table, a, b))
    # The words for the states are what differs, and no more than that where nothing else does.
    alone = states and (frame.place is not None or frame.numbered) and not frame.narrow
    formal = _FORMAL - (_EXTRA if alone else _EXTRA * over + (_ELSE if worded or frame.narrow else 0.0))
    told = frame.shared > 1 or frame.numbered or not over  # one word in common makes no matter of it
    base = max(odds, formal) if (stance < 0 or states) and told and not frame.apart and not named else odds
    if sequel := _sequel(table, a, b, texts, frame):
        found.append(Weighed("temporal_conflicts", "superseded", base, judged.differs, sequel))
    if stance < 0:
        why = "one says to do it, the other says not to"
        found.append(Weighed("recommendation_conflicts", "do_and_do_not", base, why, why))
    elif stance > 0 and judged.kind in ("value", "name", "number", "date", "antonym"):
        why = "both advise, but not the same"
        found.append(Weighed("recommendation_conflicts", "another_choice", odds, judged.differs, why))
    if states:
        why = "nothing can be in both states at once"
        found.append(Weighed("logical_conflicts", "exclusive_states", base, judged.differs, why))
    if stance >= 0:
        kind = "date" if frame.dates and judged.kind == "number" else judged.kind
        found.append(Weighed("factual_conflicts", kind, odds, judged.differs, _BECAUSE[kind]))
    return found


_BECAUSE = {
    "number": "they give different figures for the same",
    "date": "they give different dates for the same",
    "name": "they name different ones for the same",
    "negation": "one denies what the other says",
    "antonym": "they say opposite things of the same",
    "value": "they give different values for the same",
    "meaning": "what they say does not fit together",
}


def perhaps(frame: Frame) -> bool:
    """Whether one statement denies what the other says, and one of them has no words of its own: it may be a clash."""
    over = len(frame.left) + len(frame.right)
    return (
        frame.denied
        and not frame.apart
        and not frame.value
        and not (frame.left and frame.right)
        and frame.shared > 1
        and over <= _MORE + 2 * (frame.shared > 2)
    )


def _least(frame: Frame) -> float:
    """What the form of a pair says at least, in log odds: the judge has learned from pairs that differ in much more."""
    if frame.apart or frame.narrow:
        return -_LARGEST
    if frame.place in ("one", "holder", "family") and not frame.denied:
        return _CALLED
    if frame.place == "some" and not frame.value and not frame.denied and not frame.opposed:
        return _MAYBE
    return _CALLED if frame.named and frame.single and frame.aligned else -_LARGEST


def _sequel(table: Table, a: int, b: int, texts: tuple[str, str], frame: Frame) -> str:
    """Why one statement comes after the other and takes its place; empty where nothing says so."""
    sides = told(texts[0], table.record(a)), told(texts[1], table.record(b))
    late = newer(*sides)
    if late.side == "same":
        return ""
    if frame.values is not None and frame.values.gone:
        return "one says that it is so no more"
    if cue := cues.CHANGED.search(texts[0] if late.side == "left" else texts[1]):
        return f"the later one says that it changed ({cue[0].strip()!r})"
    if late.until is not None and all(side.since is not None for side in sides) and frame.single:
        return "both say when they hold, and the times differ"
    return ""
