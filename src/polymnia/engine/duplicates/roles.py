"""Roles: who does what to whom, where two texts are made of the same words."""

from __future__ import annotations

import re

from polymnia.engine.duplicates.comparing import Difference
from polymnia.engine.duplicates.reading import Reading, Word
from polymnia.engine.duplicates.roots import HANGUL

__all__ = ["roles"]

_AND = frozenset(
    [
        "and",
        "or",
        "nor",
        "but",
        "und",
        "oder",
        "sowie",
        "aber",
        "et",
        "ou",
        "mais",
        "y",
        "o",
        "e",
        "pero",
        "и",
        "или",
        "а",
        "но",
    ]
)
_PASSIVE = frozenset(["by", "von", "durch", "par", "por", "da", "door", "от"])
_LONGEST = 40  # words; in a longer text whole sentences change places, and nothing else need have changed
_LONG = 12  # words; in a text longer than this only names and numbers count
_MARKED = re.compile(
    "(?P<subject>이|가|은|는|께서)$|(?P<object>을|를)$|(?P<taker>에게|한테|께)$|(?P<source>에서|부터)$|(?P<goal>까지|으로|로)$"
)


def roles(a: Reading, b: Reading, apart: Difference) -> str | None:
    """The two words that changed places around a third; None when none did."""
    if apart.left or apart.right:
        return None
    found = _marked(a, b) if any(HANGUL.search(word.shown) for word in a.words) else _crossed(_frame(a), _frame(b))
    return f"{found[0]} and {found[1]} have changed places" if found else None


def _frame(reading: Reading) -> list[Word]:
    """The words in their order, without those that say nothing about who is who."""
    return [word for word in reading.words if word.kind != "article" and word.said not in _AND]


def _crossed(a: list[Word], b: list[Word]) -> tuple[str, str] | None:
    """Two words that stand on either side of a third, each where the other stood.

    One word alone may stand elsewhere ("at noon we eat", "we eat at noon"); and what a passive turns round stays true.
    """
    if len(a) > _LONGEST or _passives(a) != _passives(b):
        return None
    here, there = _places(a), _places(b)
    both = [word for word in a if word.key in here and word.key in there]
    keys = [word.key for word in both]
    order = sorted(range(len(keys)), key=lambda at: there[keys[at]])
    rank = {at: place for place, at in enumerate(order)}
    weak = ("small",) if len(a) <= _LONG else ("small", "word", "char")
    heard = [word.kind not in weak for word in both]
    for pivot in range(1, len(keys) - 1):
        later = [at for at in range(pivot) if heard[at] and rank[at] > rank[pivot]]
        sooner = [at for at in range(pivot + 1, len(keys)) if heard[at] and rank[at] < rank[pivot]]
        if later and sooner:
            return both[later[0]].shown, both[sooner[0]].shown
    return None


def _passives(words: list[Word]) -> int:
    return sum(word.said in _PASSIVE for word in words)


def _places(words: list[Word]) -> dict[str, int]:
    """Where each word stands that stands in one place only."""
    found: dict[str, int] = {}
    twice: set[str] = set()
    for at, word in enumerate(words):
        if word.key in found:
            twice.add(word.key)
        found[word.key] = at
    return {key: at for key, at in found.items() if key not in twice}


def _marked(a: Reading, b: Reading) -> tuple[str, str] | None:
    """Korean marks the role on the word itself, and may put it anywhere."""
    here, there = _korean(a), _korean(b)
    moved = [key for key in here if key in there and here[key][0] != there[key][0]]
    return (here[moved[0]][1], here[moved[1]][1]) if len(moved) >= 2 else None


def _korean(reading: Reading) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = {}
    for word in reading.words:
        match = _MARKED.search(word.shown)
        if match and match.lastgroup and word.key != word.shown:
            found[word.key] = (match.lastgroup, word.shown)
    return found
