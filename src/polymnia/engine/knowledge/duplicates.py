"""Duplicates: whether two texts say the same, and differences between them that no model can override.

Two statements of the same words that differ in one amount, or in a negation, cannot both be true. Texts that differ in
a number, an identifier, a name, a negation or the word order are not assumed to say the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from polymnia.engine.knowledge.judge import Border, Judging
from polymnia.engine.text.quantities import common, unit_in
from polymnia.models import normal

_TOKEN = re.compile(r"\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)?|[%€$£₩¥°]")
_NUMBER = re.compile(r"\d")
_NAME = re.compile(r"(?<=[^\s.!?:;\"'“(#*-] )[A-Z][^\W\d_]+")
_CODE = re.compile(r"[^\W\d_]\d|\d[^\W\d_]|_|[a-z][A-Z]|\w[./@\\:(]\w|[A-Z]{2}|[{}<>=+*|&^~]")
_EDGES = ".,;:!?\"'“”‘’)]("
_CONTRACTED = re.compile(r"n['’]t\b", re.IGNORECASE)
# Words that only negate, and auxiliaries that come with a negation.
_NOT = frozenset(
    """
    not never no cannot nicht nie kein keine keinen keinem keiner pas jamais nunca não nao non niet geen nooit inte
    ikke nigdy не нет нельзя değil tidak không
    """.split()
)
_HELPING = frozenset(["do", "does", "did", "ne", "n", "can"])
_NOW = frozenset(["now", "currently", "이제", "현재"])  # carry no other meaning
_CURRENCY = frozenset("%€$£₩¥°")
_MONEY = frozenset(["euro", "euros", "dollar", "dollars", "pounds", "yen", "won", "percent"])
_HANGUL = re.compile("[가-힣]")
_YEARS = frozenset(map(str, range(1900, 2101)))
_COMPARED = 2_000  # characters of a text
_JUDGED = 1_000  # characters; the judge reads only the beginning of a longer text, so it is not asked about one


class Difference(NamedTuple):
    """How two statements differ: the kind of difference and the words of each; a negation is in only one of them."""

    kind: Literal["number", "date", "negation", "meaning", "choice", "relations"]
    left: str
    right: str

    def __str__(self) -> str:
        match self.kind:
            case "negation":
                return f"only one of them says {self.left or self.right}"
            case "choice":
                return f"one chooses what the other rejects: {self.left}"
            case _:
                return " and ".join(one for one in (self.left, self.right) if one) or "the order of the words"


def words(text: str) -> list[str]:
    """The words and numbers of a text, in order."""
    return [word.casefold() for word in _written(text)]


def _written(text: str) -> list[str]:
    return _TOKEN.findall(_CONTRACTED.sub(" not", text[:_COMPARED]))


def same_words(a: str, b: str) -> bool:
    """Whether two texts have the same words in the same order."""
    return words(a) == words(b)


def clash(a: str, b: str) -> Difference | None:
    """The difference that makes two statements of the same words contradict each other; None if none is certain."""
    a, b = common(a[:_COMPARED], b[:_COMPARED])
    here, there = ([word for word in _written(text) if word.casefold() not in _NOW] for text in (a, b))
    return _amount(here, there) or _negation(*([word.casefold() for word in some] for some in (here, there)))


def _amount(here: list[str], there: list[str]) -> Difference | None:
    """The one number in which two statements differ: one with a unit, a time of day, or the last word."""
    if len(here) != len(there) or len(here) < 3:
        return None
    both = zip(here, there, strict=True)
    differing = [at for at, (one, other) in enumerate(both) if one.casefold() != other.casefold()]
    if len(differing) != 1:
        return None
    (at,) = differing
    one, other = here[at], there[at]
    if not (_NUMBER.match(one) and _NUMBER.match(other)) or _value(one) == _value(other):
        return None
    before, after = here[at - 1] if at else "", here[at + 1] if at + 1 < len(here) else ""
    sign = before if before in _CURRENCY else ""
    unit = after if after in _CURRENCY or after.casefold() in _MONEY else unit_in(after)
    last = not after or (at + 2 == len(here) and _HANGUL.match(after) is not None)
    timed = ":" in one and ":" in other
    if not (unit or sign or last or timed):
        return None
    dated = not (unit or sign) and (not {one, other}.isdisjoint(_YEARS) or "-" in one + other)
    unit = f" {unit}" if unit and unit.isascii() and unit not in _CURRENCY else unit
    return Difference("date" if dated else "number", f"{sign}{one}{unit}", f"{sign}{other}{unit}")


def _value(number: str) -> str:
    return number.replace(",", "").lstrip("0")


def _negation(here: list[str], there: list[str]) -> Difference | None:
    """A negation that only one of two statements of the same words has."""
    denied = [[word for word in some if word in _NOT] for some in (here, there)]
    if len(denied[0]) + len(denied[1]) != 1:
        return None
    bare = [[_bare(word) for word in some if word not in _NOT and word not in _HELPING] for some in (here, there)]
    if bare[0] != bare[1] or len(bare[0]) < 2:
        return None
    return Difference("negation", *(" ".join(some) for some in denied))


def _bare(word: str) -> str:
    """A verb in the form it has after an auxiliary: stores, store."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def unlike(a: str, b: str) -> bool:
    """Whether two texts differ in more than wording: a number, name, identifier, negation or the word order."""
    a, b = common(a[:_COMPARED], b[:_COMPARED])
    return ("?" in a) != ("?" in b) or _marks(a) != _marks(b) or reordered(a, b)


def _marks(text: str) -> list[Counter[str]]:
    """What is more than wording in a text: its numbers, negations, identifiers and names."""
    tokens = words(text)
    return [
        Counter(_value(word) for word in tokens if _NUMBER.match(word)),
        Counter(word for word in tokens if word in _NOT),
        Counter(word.strip(_EDGES) for word in text.split() if _CODE.search(word)),
        Counter(_NAME.findall(text)),
    ]


def reordered(a: str, b: str) -> bool:
    """Whether two texts have the same words in a different order: subject and object may be swapped."""
    here, there = words(a), words(b)
    if a.isascii() or b.isascii():
        return here != there and Counter(here) == Counter(there)
    # Where particles are attached to words, compare characters.
    return here != there and Counter("".join(here)) == Counter("".join(there))


def same(
    judging: Judging | None,
    pairs: Sequence[tuple[str, str]],
    near: Sequence[float | None],
    border: Border,
    *,
    strict: bool = False,
    tick: Callable[[int, int], None] | None = None,
) -> list[float]:
    """The confidence that both texts of each pair say the same; 0 if below the threshold of ``border``.

    ``near`` is the similarity of each pair's vectors, None if there are none. Texts with the same normal form get 1.
    The judge decides about the others, except for the same words in a different order. With ``strict``, texts may
    differ in wording only, not in a number, identifier, name or negation. Without a judge, texts count as the same if
    they have the same words in the same order.
    """
    found = [0.0] * len(pairs)
    to_judge = []
    ready = judging is not None and judging.load()
    for at, (a, b) in enumerate(pairs):
        if normal(a) == normal(b):
            found[at] = 1.0
        elif max(len(a), len(b)) > _JUDGED or reordered(a, b) or (strict and unlike(a, b)):
            continue
        elif same_words(a, b) and not unlike(a, b):
            found[at] = border.medium
        elif ready:
            to_judge.append(at)
    if judging is not None and to_judge:
        for at, verdict in zip(to_judge, judging.verdicts([pairs[at] for at in to_judge], tick), strict=True):
            confidence = 0.0 if verdict is None else border.confidence(verdict.same, near[at], shared(*pairs[at]))
            found[at] = confidence if confidence >= border.medium else 0.0
    return found


def shared(a: str, b: str) -> float:
    """The overlap of two texts in runs of three letters and digits, from 0 to 1."""
    here, there = _runs(a), _runs(b)
    return 2 * len(here & there) / max(1, len(here) + len(there))


def _runs(text: str) -> set[str]:
    letters = f" {' '.join(words(text))} "
    return {letters[at : at + 3] for at in range(len(letters) - 2)}
