"""Conflicts: why two texts are not the same, however near their vectors are."""

from __future__ import annotations

from polymnia.engine.duplicates.comparing import Difference, compare, opposed
from polymnia.engine.duplicates.lexicon import LIMITS, PERSONS, PREPOSITIONS
from polymnia.engine.duplicates.long import LONG, differing
from polymnia.engine.duplicates.reading import Reading, Word, plain, read, spoken
from polymnia.engine.duplicates.roles import roles
from polymnia.engine.duplicates.roots import HAN

__all__ = ["conflict", "examined"]


_NEWS = 3  # words of content more: a rewording needs no more than two
_LOOKED = 60  # leftover words looked through for opposites


def conflict(a: str, b: str) -> str | None:
    """Why two texts say different things, in words; None when nothing in them says so."""
    return None if a == b or plain(a) == plain(b) else examined(a, b)[1]


def examined(a: str, b: str) -> tuple[Difference | None, str | None]:
    """How the words of two texts differ, if not in too many to say, and why they say different things, if they do."""
    if len(a) + len(b) > LONG:
        parts = differing(a, b)
        if parts is None:
            return None, "they differ in much"
        here, there = read(parts[0], spoken(a, b)), read(parts[1], spoken(a, b))
        apart = compare(here, there)._replace(sizes=(parts[2] / 4, parts[2] / 4))  # half of all words are grammar
    else:
        tongue = spoken(a, b)
        here, there = read(a, tongue), read(b, tongue)
        apart = compare(here, there)
    return apart, _between(here, there, apart)


def _between(a: Reading, b: Reading, apart: Difference) -> str | None:
    return (
        _asked(a, b)
        or _denied(a, b)
        or _exact(apart, "number", "number")
        or _exact(apart, "day", "date")
        or _exact(apart, "code", "identifier")
        or _exact(apart, "unit", "unit")
        or _opposed(apart)
        or _persons(a, apart)
        or _named(a, b, apart)
        or _swapped(a, b, apart)
        or _limited(apart)
        or _more(apart)
        or _timed(a, b, apart)
        or roles(a, b, apart)
    )


def _asked(a: Reading, b: Reading) -> str | None:
    return "only one of them is a question" if a.asks != b.asks else None


def _denied(a: Reading, b: Reading) -> str | None:
    if a.denied == b.denied:
        return None
    return "only one of them is negated" if not (a.denied and b.denied) else "one of them holds another negation"


def _exact(apart: Difference, kind: str, called: str) -> str | None:
    left, right = _of(apart.left, kind), _of(apart.right, kind)
    if left and right:
        return f"a different {called}: {left[0].shown} and {right[0].shown}"
    if left or right:
        return f"only one of them has the {called} {(left or right)[0].shown}"
    return None


def _of(words: tuple[Word, ...], kind: str) -> list[Word]:
    return [word for word in words if word.kind == kind]


def _opposed(apart: Difference) -> str | None:
    right = (*apart.right, *apart.right_small)
    for word in (*apart.left, *apart.left_small)[:_LOOKED]:
        for other in right[:_LOOKED]:
            if opposed(word, other):
                return f"opposite words: {word.shown} and {other.shown}"
    return None


def _limited(apart: Difference) -> str | None:
    """A word that narrows what is said, in one of them only."""
    for word in (*apart.left_small, *apart.right_small, *apart.left, *apart.right):
        if word.said in LIMITS or (word.kind == "word" and len(word.said) == 1 and HAN.match(word.said)):
            return f"only one of them says {word.shown}"
    return None


def _persons(a: Reading, apart: Difference) -> str | None:
    table = PERSONS.get(a.tongue or "english", {})
    left = {table[word.said]: word.shown for word in apart.left_small if word.said in table}
    right = {table[word.said]: word.shown for word in apart.right_small if word.said in table}
    if left.keys() - right.keys() and right.keys() - left.keys():
        return f"they speak of different persons: {next(iter(left.values()))} and {next(iter(right.values()))}"
    return None


def _named(a: Reading, b: Reading, apart: Difference) -> str | None:
    left, right = _of(apart.left, "name"), _of(apart.right, "name")
    if left and right:
        return f"a different name: {left[0].shown} and {right[0].shown}"
    alone = _alone(a, left) or _alone(b, right)
    return f"only one of them names {alone.shown}" if alone else None


def _alone(reading: Reading, names: list[Word]) -> Word | None:
    """A name that is no part of a longer one: who has met Strauss learns little from Andrew Strauss."""
    wanted = {id(word) for word in names}
    for at, word in enumerate(reading.words if wanted else ()):
        if id(word) in wanted:
            beside = (*reading.words[max(0, at - 1) : at], *reading.words[at + 1 : at + 2])
            if not any(other.kind == "name" and id(other) not in wanted for other in beside):
                return word
    return None


def _swapped(a: Reading, b: Reading, apart: Difference) -> str | None:
    """A word in another's place: the only ones left over, or two that stand between the same neighbours."""
    left, right = apart.left, apart.right
    pair = (left[0], right[0]) if len(left) == 1 == len(right) else None
    if pair is None and (left or right) and len(left) + len(right) <= _LOOKED:
        here, there = (
            _places(a, (*left, *_standing(apart.left_small))),
            _places(b, (*right, *_standing(apart.right_small))),
        )
        both = ((word, there[place]) for place, word in here.items() if place in there)
        pair = next(((word, other) for word, other in both if word.says or other.says), None)
    return f"another word: {pair[0].shown} and {pair[1].shown}" if pair else None


def _standing(words: tuple[Word, ...]) -> tuple[Word, ...]:
    """Small words that stand for things: a preposition may give way to a verb ("with a hat", "wearing a hat")."""
    return tuple(word for word in words if word.said not in PREPOSITIONS)


def _places(reading: Reading, words: tuple[Word, ...]) -> dict[tuple[str, str], Word]:
    """Leftover words by the words before and after them, articles left out."""
    wanted = {id(word) for word in words}
    told = [word for word in reading.words if word.kind != "article"]
    keys = ["", *(word.key for word in told), ""]
    return {(keys[at], keys[at + 2]): word for at, word in enumerate(told) if id(word) in wanted}


def _more(apart: Difference) -> str | None:
    """Much that only one of them says: merged, it would be lost."""
    if min(apart.sizes) == 0 < max(apart.sizes):
        return "only one of them says anything"
    longer, shorter = sorted((apart.left, apart.right), key=len, reverse=True)
    if len(longer) - len(shorter) < _NEWS:
        return None
    return f"one of them says more: {' '.join(word.shown for word in longer[:_NEWS])}"


def _timed(a: Reading, b: Reading, apart: Difference) -> str | None:
    """The same words but for the past of a verb: who lived in Paris may not live there."""
    if a.tongue not in (None, "english") or any(apart[:4]):
        return None
    here = {word.key: word for word in a.words if word.kind == "word"}
    for other in b.words:
        word = here.get(other.key, other)
        forms = sorted((word.said, other.said))
        if (
            forms[0] != forms[1]
            and forms[1].endswith("ed") != forms[0].endswith("ed")
            and "ing" not in forms[0] + forms[1]
        ):
            return f"another time: {word.shown} and {other.shown}"
    return None
