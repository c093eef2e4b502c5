"""Slots: where two short statements are the same but for one place, and whether that place takes one value only.

"The depot is in Lisbon" and "the depot is in Porto" cannot both hold, "the depot has a crane" and "the depot has a
ramp" can: what stands before the place, or for a subject after it, tells them apart.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from polymnia.engine.analysis.conflicts.dating import timeless, undated
from polymnia.engine.analysis.conflicts.kinds import Kind, kind
from polymnia.engine.analysis.conflicts.korean import korean
from polymnia.engine.analysis.conflicts.said import words

__all__ = ["Slot", "slot"]

_TOKEN = re.compile(r"[^\W_](?:\w|['’.+#:/-](?=\w)|(?<=\w)[+#]+)*")
_HANGUL = re.compile("[가-힣]")
_WIDEST = 160  # characters, and
_LONGEST = 14  # words of a statement that says one thing
_FILLER = 4  # words of a value
_SMALL = words("the a an our my of in on at to and")
_NEWS = re.compile(
    r"\b(?:now|currently|nowadays|always|already)\b ?|(?<![가-힣])(?:이제는?|현재는?|지금은?|항상) ", re.IGNORECASE
)


class Slot(NamedTuple):
    """The one place in which two statements differ: what stands there in each, and what it takes."""

    left: str
    right: str
    kind: Kind


def slot(here: str, there: str) -> Slot | None:
    """The place in which two statements differ, or None where they differ in more."""
    if max(len(here), len(there)) > _WIDEST:
        return None
    found = _slot(undated(here), undated(there))
    return found or _slot(timeless(here), timeless(there))


def _slot(here: str, there: str) -> Slot | None:
    left, right = (_TOKEN.findall(_NEWS.sub("", text)) for text in (here, there))
    if not 1 < min(len(left), len(right)) <= max(len(left), len(right)) <= _LONGEST:
        return None
    first = _common(left, right)
    last = _common(left[first:][::-1], right[first:][::-1])
    mine, other = left[first : len(left) - last], right[first : len(right) - last]
    if not (mine and other and max(len(mine), len(other)) <= _FILLER) or len(mine) == len(left) == len(right):
        return None
    if {word.lower() for word in mine} & {word.lower() for word in other} - _SMALL:
        return None  # two places with something between them that is the same
    before, after = " ".join(left[:first]), " ".join(left[len(left) - last :] if last else ())
    if _HANGUL.search(f"{before}{after}") and _HANGUL.search(mine[-1]):
        return Slot(*korean(before, mine, other, after))
    return Slot(" ".join(mine), " ".join(other), kind(before, mine, other, after))


def _common(left: list[str], right: list[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one.lower() != other.lower():
            break
        count += 1
    return count
