"""Comparing: which words of two texts have no counterpart in the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

from polymnia.engine.duplicates.opposites import excludes
from polymnia.engine.duplicates.reading import Reading, Word
from polymnia.engine.duplicates.roots import same_root
from polymnia.engine.duplicates.synonyms import synonymous

__all__ = ["Difference", "compare", "opposed"]

_SUFFIXES = frozenset(
    [
        "n",
        "en",
        "an",
        "ian",
        "al",
        "ial",
        "ly",
        "ed",
        "d",
        "ing",
        "ment",
        "ion",
        "ions",
        "ation",
        "ness",
        "ity",
        "y",
        "ies",
        "ish",
        "ese",
        "s",
        "es",
        "ic",
        "e",
        "er",
        "ers",
        "ically",
        "able",
        "ably",
    ]
) | {""}
_NAMED = frozenset({"name", "word"})
_MANY = 400  # leftover words that are paired off one by one; two texts that differ in more are no rewording


class Difference(NamedTuple):
    """The words of each text that the other lacks, and how many words of content each has."""

    left: tuple[Word, ...]
    right: tuple[Word, ...]
    left_small: tuple[Word, ...]
    right_small: tuple[Word, ...]
    sizes: tuple[float, float]

    @property
    def replaced(self) -> float:
        """The share of words that stand for others."""
        return 2 * min(len(self.left), len(self.right)) / max(2.0, sum(self.sizes))

    @property
    def added(self) -> float:
        """The share of words that one text has more."""
        return 2 * abs(len(self.left) - len(self.right)) / max(2.0, sum(self.sizes))


def compare(a: Reading, b: Reading) -> Difference:
    """Pair off the words of two texts: equal ones, forms of one word, synonyms, slips of the pen."""
    here, there = Counter(w.key for w in a.words), Counter(w.key for w in b.words)
    left, right = _extra(a.words, here - there), _extra(b.words, there - here)
    small = tuple(w for w in left if not w.says), tuple(w for w in right if not w.says)
    left, right = [w for w in left if w.says], [w for w in right if w.says]
    if len(left) <= _MANY and len(right) <= _MANY:
        for alike in (_derived, _synonymous, _slipped):
            left, right = _pair_off(left, right, alike)
    return Difference(tuple(left), tuple(right), *small, (_size(a), _size(b)))


def _size(reading: Reading) -> float:
    """How many words of content a text has; two characters of a dense script are about a word."""
    return sum(0.5 if word.kind == "char" else float(word.says) for word in reading.words)


def _extra(words: tuple[Word, ...], extra: Counter[str]) -> list[Word]:
    """The words that the other text lacks, of equal ones the last; characters side by side are one word."""
    places: list[int] = []
    for at in range(len(words) - 1, -1, -1):
        if extra.get(words[at].key, 0) > 0:
            extra[words[at].key] -= 1
            places.append(at)
    found: list[Word] = []
    before = -2
    for at in reversed(places):
        word = words[at]
        if word.kind == "char":
            if before == at - 1:
                joined = found.pop().said + word.said
                word = Word(joined, "word", joined, joined)
            else:
                word = Word(word.key, "word", word.shown, word.said)
            before = at
        found.append(word)
    return found


def _pair_off(
    left: list[Word], right: list[Word], alike: Callable[[Word, Word], bool]
) -> tuple[list[Word], list[Word]]:
    kept: list[Word] = []
    rest = list(right)
    for word in left:
        for at, other in enumerate(rest):
            if alike(word, other) and not opposed(word, other):
                del rest[at]
                break
        else:
            kept.append(word)
    return kept, rest


def _derived(a: Word, b: Word) -> bool:
    if a.said == b.said:
        return True
    if a.kind != "word" or b.kind != "word":
        return a.kind in _NAMED and b.kind in _NAMED and a.said + "s" in (b.said, b.said + "s" * (a.said[-1:] == "s"))
    if same_root(a.said, b.said):
        return True
    same = 0
    for c, d in zip(a.said, b.said, strict=False):
        if c != d:
            break
        same += 1
    return same >= 4 and a.said[same:] in _SUFFIXES and b.said[same:] in _SUFFIXES


def _synonymous(a: Word, b: Word) -> bool:
    return synonymous((a.said, a.key), (b.said, b.key))


def _slipped(a: Word, b: Word) -> bool:
    """A letter doubled, or swapped with the next: slips of the pen. Any other letter makes another word too often."""
    x, y = sorted((a.said, b.said), key=len)
    if a.kind != "word" or b.kind != "word" or len(x) < 6 or x[:2] != y[:2]:
        return False
    at = next((i for i, (c, d) in enumerate(zip(x, y, strict=False)) if c != d), len(x))
    if len(y) == len(x) + 1:
        return x[at:] == y[at + 1 :] and y[at] in (y[at - 1], y[at + 1 : at + 2])
    return len(x) == len(y) and x[at : at + 2] == y[at : at + 2][::-1] and x[at + 2 :] == y[at + 2 :]


def opposed(a: Word, b: Word) -> bool:
    """Whether two words exclude each other."""
    return excludes((a.said, a.key), (b.said, b.key))
