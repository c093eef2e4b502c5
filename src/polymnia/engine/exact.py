"""Exact: what provably differs between two texts, whatever a model says of them.

Two statements of the same words that differ in one amount, or in a negation, cannot both hold. Two texts in which a
number, an identifier, a name, a negation or the order of the words differs are not known to say the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple

from polymnia.engine.text.quantities import common, unit_in

__all__ = ["Difference", "clash", "reordered", "same_words", "unlike", "words"]

_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[%€$£₩¥°]")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[^\s.!?:;\"'“(#*-] )[A-Z][^\W\d_]+")
_CODE = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|_|[a-z][A-Z]|\w[./@\\:(]\w|[A-Z]{2}|[{}<>=+*|&^~]")
_EDGES = ".,;:!?\"'“”‘’)]("
_CONTRACTED = re.compile(r"n['’]t\b", re.IGNORECASE)
# Words that do nothing but deny, and those that English adds when it denies.
_NOT = frozenset({
    "not", "never", "no", "cannot", "nicht", "nie", "kein", "keine", "keinen", "keinem", "keiner", "pas", "jamais",
    "nunca", "não", "nao", "non", "niet", "geen", "nooit", "inte", "ikke", "nigdy", "не", "нет", "нельзя", "değil",
    "tidak", "không",
})  # fmt: skip
_HELPING = frozenset(["do", "does", "did", "ne", "n", "can"])
_NOW = frozenset(["now", "currently", "이제", "현재"])  # says when, and nothing else
_CURRENCY = frozenset("%€$£₩¥°")
_MONEY = frozenset(["euro", "euros", "dollar", "dollars", "pounds", "yen", "won", "percent"])
_HANGUL = re.compile("[가-힣]")
_YEARS = range(1900, 2101)
_LONG = 2_000  # characters of a text that are compared


class Difference(NamedTuple):
    """What differs between two statements of the same words: of which kind it is, and the words themselves."""

    kind: Literal["number", "date", "negation"]
    shown: str


def words(text: str) -> list[str]:
    """The words and numbers of a text, in order."""
    return [word.casefold() for word in _written(text)]


def _written(text: str) -> list[str]:
    return _TOKEN.findall(_CONTRACTED.sub(" not", text[:_LONG]))


def same_words(a: str, b: str) -> bool:
    """Whether two texts have the same words in the same order."""
    return words(a) == words(b)


def clash(a: str, b: str) -> Difference | None:
    """What keeps two statements of the same words from both being so; None where nothing does, or not for certain."""
    a, b = common(a[:_LONG], b[:_LONG])
    here, there = ([word for word in _written(text) if word.casefold() not in _NOW] for text in (a, b))
    return _amount(here, there) or _negation(*([word.casefold() for word in some] for some in (here, there)))


def _amount(here: list[str], there: list[str]) -> Difference | None:
    """One number in which two statements differ: with its unit, a time of day, or the last thing that is said."""
    if len(here) != len(there):
        return None
    both = zip(here, there, strict=True)
    apart = [at for at, (one, other) in enumerate(both) if one.casefold() != other.casefold()]
    if len(apart) != 1:
        return None
    (at,) = apart
    one, other = here[at], there[at]
    if not (_NUMBER.match(one) and _NUMBER.match(other)) or _value(one) == _value(other) or len(here) < 3:
        return None
    before, after = here[at - 1] if at else "", here[at + 1] if at + 1 < len(here) else ""
    sign = before if before in _CURRENCY else ""
    unit = after if after in _CURRENCY or after.casefold() in _MONEY else unit_in(after)
    last = not after or (at + 2 == len(here) and _HANGUL.match(after) is not None)
    timed = ":" in one and ":" in other
    if not (unit or sign or last or timed):
        return None
    dated = not (unit or sign) and (not {one, other}.isdisjoint(map(str, _YEARS)) or "-" in one + other)
    unit = f" {unit}" if unit and unit.isascii() and unit not in _CURRENCY else unit
    return Difference("date" if dated else "number", f"{sign}{one}{unit} and {sign}{other}{unit}")


def _value(number: str) -> str:
    return number.replace(",", "").lstrip("0")


def _negation(here: list[str], there: list[str]) -> Difference | None:
    """A negation that one of two statements of the same words has."""
    denied = [sum(word in _NOT for word in some) for some in (here, there)]
    if sum(denied) != 1:
        return None
    bare = [[_bare(word) for word in some if word not in _NOT and word not in _HELPING] for some in (here, there)]
    if bare[0] != bare[1] or len(bare[0]) < 2:
        return None
    said = next(word for word in (here if denied[0] else there) if word in _NOT)
    return Difference("negation", f"only one of them says {said}")


def _bare(word: str) -> str:
    """A verb as it is after an auxiliary: stores, store."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def unlike(a: str, b: str) -> str | None:
    """Why two texts are not known to say the same, in words; None where nothing in them shows that they do not."""
    a, b = common(a[:_LONG], b[:_LONG])
    here, there = words(a), words(b)
    if ("?" in a) != ("?" in b):
        return "only one of them is a question"
    readers: dict[str, Callable[[str, list[str]], list[str]]] = {
        "number": lambda _, said: [_value(word) for word in said if _NUMBER.match(word)],
        "negation": lambda _, said: [word for word in said if word in _NOT],
        "identifier": lambda text, _: [word.strip(_EDGES) for word in text.split() if _CODE.search(word)],
        "name": lambda text, _: _NAME.findall(text),
    }
    for called, read in readers.items():
        left, right = Counter(read(a, here)), Counter(read(b, there))
        if left != right:
            return f"a different {called}: {' '.join((left - right) | (right - left))}"
    return "the same words in another order" if reordered(a, b) else None


def reordered(a: str, b: str) -> bool:
    """Whether two texts have the same words in another order: what each of them does may have changed places."""
    here, there = words(a), words(b)
    if a.isascii() or b.isascii():
        return here != there and Counter(here) == Counter(there)
    # Where particles are joined to words, the characters tell it.
    return here != there and Counter("".join(here)) == Counter("".join(there))
