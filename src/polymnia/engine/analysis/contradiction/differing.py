"""Differing: in what two statements differ, as a kind and in words."""

from __future__ import annotations

from typing import NamedTuple

from polymnia.engine.duplicates.comparing import Difference, compare, opposed
from polymnia.engine.duplicates.reading import Reading, Word, read, spoken

__all__ = ["Contrast", "contrast"]

_LOOKED = 40  # leftover words looked through for opposites
_SHOWN = 4  # leftover words that are quoted


class Pair(NamedTuple):
    """Two statements as they are compared."""

    left: Reading
    right: Reading
    apart: Difference


class Contrast(NamedTuple):
    """What kind of difference there is, and the difference in words."""

    kind: str
    differs: str


def contrast(a: str, b: str) -> Contrast:
    """The difference that weighs most: numbers, dates, opposites, a negation, names, a value, or the meaning alone."""
    tongue = spoken(a, b)
    left, right = read(a, tongue), read(b, tongue)
    pair = Pair(left, right, compare(left, right))
    return (
        _figures(pair, "number", "number")
        or _figures(pair, "day", "date")
        or _opposites(pair.apart)
        or _negation(pair)
        or _figures(pair, "name", "name")
        or _figures(pair, "code", "value")
        or _value(pair)
        or _meaning(pair)
    )


def _figures(pair: Pair, kind: str, called: str) -> Contrast | None:
    """Words of one kind that stand on both sides and are not the same."""
    left, right = _of(pair.apart.left, kind), _of(pair.apart.right, kind)
    if not left or not right:
        return None
    return Contrast(called, f"{_with_unit(pair.left, left[0])} and {_with_unit(pair.right, right[0])}")


def _of(words: tuple[Word, ...], kind: str) -> list[Word]:
    return [word for word in words if word.kind == kind]


def _with_unit(reading: Reading, word: Word) -> str:
    """A number with the word after it, which is what it counts; anything else as it is."""
    if word.kind != "number":
        return word.shown
    at = next((at for at, other in enumerate(reading.words) if other is word), len(reading.words))
    after = reading.words[at + 1 : at + 2]
    return f"{word.shown} {after[0].shown}" if after and after[0].says and after[0].kind != "number" else word.shown


def _opposites(apart: Difference) -> Contrast | None:
    right = (*apart.right, *apart.right_small)[:_LOOKED]
    for word in (*apart.left, *apart.left_small)[:_LOOKED]:
        for other in right:
            if opposed(word, other):
                return Contrast("antonym", f"opposite words: {word.shown} and {other.shown}")
    return None


def _negation(pair: Pair) -> Contrast | None:
    if pair.left.denied % 2 == pair.right.denied % 2:
        return None
    return Contrast("negation", "only one is negated")


def _value(pair: Pair) -> Contrast | None:
    """Few words that stand for few others."""
    left, right = pair.apart.left, pair.apart.right
    if not left or not right or max(len(left), len(right)) > _SHOWN:
        return None
    return Contrast("value", f"{_quoted(left)} and {_quoted(right)}")


def _meaning(pair: Pair) -> Contrast:
    left, right = pair.apart.left, pair.apart.right
    if left and right:
        return Contrast("meaning", f"{_quoted(left)} and {_quoted(right)}")
    if left or right:
        return Contrast("meaning", f"only one says {_quoted(left or right)}")
    return Contrast("meaning", "the same words")


def _quoted(words: tuple[Word, ...]) -> str:
    return " ".join(word.shown for word in words[:_SHOWN])
