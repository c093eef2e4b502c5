"""Duplicates: whether two texts say the same, and what provably differs between them whatever a model says.

Two statements of the same words that differ in one amount, or in a negation, cannot both hold. Two texts in which a
number, an identifier, a name, a negation or the order of the words differs are not known to say the same.
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
# Words that do nothing but deny, and those that English adds when it denies.
_NOT = frozenset(
    """
    not never no cannot nicht nie kein keine keinen keinem keiner pas jamais nunca não nao non niet geen nooit inte
    ikke nigdy не нет нельзя değil tidak không
    """.split()
)
_HELPING = frozenset(["do", "does", "did", "ne", "n", "can"])
_NOW = frozenset(["now", "currently", "이제", "현재"])  # says when, and nothing else
_CURRENCY = frozenset("%€$£₩¥°")
_MONEY = frozenset(["euro", "euros", "dollar", "dollars", "pounds", "yen", "won", "percent"])
_HANGUL = re.compile("[가-힣]")
_YEARS = frozenset(map(str, range(1900, 2101)))
_LONG = 2_000  # characters of a text that are compared
_JUDGED = 1_000  # characters: of longer texts the judge reads the beginning only, so that it is not asked


class Difference(NamedTuple):
    """In what two statements differ: of which kind it is, and the words of each; a negation is in one of them alone."""

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
    if len(here) != len(there) or len(here) < 3:
        return None
    both = zip(here, there, strict=True)
    apart = [at for at, (one, other) in enumerate(both) if one.casefold() != other.casefold()]
    if len(apart) != 1:
        return None
    (at,) = apart
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
    """A negation that one of two statements of the same words has."""
    denied = [[word for word in some if word in _NOT] for some in (here, there)]
    if len(denied[0]) + len(denied[1]) != 1:
        return None
    bare = [[_bare(word) for word in some if word not in _NOT and word not in _HELPING] for some in (here, there)]
    if bare[0] != bare[1] or len(bare[0]) < 2:
        return None
    return Difference("negation", *(" ".join(some) for some in denied))


def _bare(word: str) -> str:
    """A verb as it is after an auxiliary: stores, store."""
    return word[:-1] if len(word) > 3 and word.endswith("s") else word


def unlike(a: str, b: str) -> bool:
    """Whether something in two texts shows that they do not say the same: a number, name, identifier or negation."""
    a, b = common(a[:_LONG], b[:_LONG])
    return ("?" in a) != ("?" in b) or _marks(a) != _marks(b) or reordered(a, b)


def _marks(text: str) -> list[Counter[str]]:
    """What is more than wording in a text: numbers, negations, identifiers and names."""
    tokens = words(text)
    return [
        Counter(_value(word) for word in tokens if _NUMBER.match(word)),
        Counter(word for word in tokens if word in _NOT),
        Counter(word.strip(_EDGES) for word in text.split() if _CODE.search(word)),
        Counter(_NAME.findall(text)),
    ]


def reordered(a: str, b: str) -> bool:
    """Whether two texts have the same words in another order: what each of them does may have changed places."""
    here, there = words(a), words(b)
    if a.isascii() or b.isascii():
        return here != there and Counter(here) == Counter(there)
    # Where particles are joined to words, the characters tell it.
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
    """For each pair how sure it is that both texts say the same, 0 where that is less than the border asks for.

    ``near`` is how near the vectors of each two are, None where there are none. 1 is for texts of one normal form. Of
    others the judge decides, but not of the same words in another order. Where it is to be ``strict``, nothing may
    differ that is more than wording: a number, an identifier, a name, a negation. Without a judge, texts are the same
    that have the same words in the same order.
    """
    found = [0.0] * len(pairs)
    asked = []
    ready = judging is not None and judging.load()
    for at, (a, b) in enumerate(pairs):
        if normal(a) == normal(b):
            found[at] = 1.0
        elif max(len(a), len(b)) > _JUDGED or reordered(a, b) or (strict and unlike(a, b)):
            continue
        elif same_words(a, b) and not unlike(a, b):
            found[at] = border.medium
        elif ready:
            asked.append(at)
    if judging is not None and asked:
        for at, verdict in zip(asked, judging.verdicts([pairs[at] for at in asked], tick), strict=True):
            sure = 0.0 if verdict is None else border.confidence(verdict.same, near[at], shared(*pairs[at]))
            found[at] = sure if sure >= border.medium else 0.0
    return found


def shared(a: str, b: str) -> float:
    """How much of two texts is the same to the letter, from 0 to 1: runs of three letters and digits."""
    here, there = _runs(a), _runs(b)
    return 2 * len(here & there) / max(1, len(here) + len(there))


def _runs(text: str) -> set[str]:
    letters = f" {' '.join(words(text))} "
    return {letters[at : at + 3] for at in range(len(letters) - 2)}
