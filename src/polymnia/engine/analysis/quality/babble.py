"""Babble: letters that are struck at random and look like words. Nothing can be said of how good such a text is.

Words of the languages known here have runs of three letters in common; struck keys hardly have any of them. Korean
babble is letters that make no syllable, or syllables that no Korean word has. What other contents say too is a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from polymnia.engine.analysis.quality.sheet import Sheet, said
from polymnia.engine.analysis.readability.easy_words import EASY
from polymnia.engine.text.lexicon import STOPWORDS

__all__ = ["babble"]

_RUN = 3
_LATIN = re.compile(r"(?<![\w'’@/.-])[A-Za-z][a-z]{2,}(?![\w@/-]|\.\w)")  # no abbreviation, address or name in code
_WORD = re.compile(r"[^\W\d_]{2,}")
_JAMO = re.compile("[\u3131-\u318e]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_FEWEST = 4  # different words, or so many syllables twice, before anything is said
_KNOWN = 0.4  # the share of runs that are known: 12,014 real sentences had more, struck keys less in 89 to 98 of 100
_ODD = 0.4  # of the letters of a Korean text, those that no word has
_SHARED = 0.5  # of the words, those that other contents say too


def babble(sheet: Sheet, others: Iterable[str]) -> str | None:
    """Why a text reads as no words of any language known here, in words; None where it reads as words."""
    text = said("\n".join(one.text for one in sheet.blocks if one.kind != "code"))
    words = {word.lower() for word in _WORD.findall(text)}
    why = _latin(text, words) or _korean(text)
    if why is None or not words:
        return None
    left = set(words)
    for other in others:
        left -= {word.lower() for word in _WORD.findall(other)}
        if len(left) <= _SHARED * len(words):
            return None
    return why


def _latin(text: str, words: set[str]) -> str | None:
    found = {word.lower() for word in _LATIN.findall(text)}
    if len(found) < max(_FEWEST, len(words) / 2):
        return None
    shares = [sum(run in _runs() for run in runs) / len(runs) for runs in map(_of, found)]
    share = sum(shares) / len(shares)
    if share >= _KNOWN:
        return None
    return f"it reads as no words: {share:.0%} of its runs of {_RUN} letters are in words of a language known here"


def _korean(text: str) -> str | None:
    loose, whole = len(_JAMO.findall(text)), _HANGUL.findall(text)
    odd = loose + sum(not _common(one) for one in whole)
    if loose + len(whole) < 2 * _FEWEST or odd < _ODD * (loose + len(whole)):
        return None
    return f"it reads as no words: {odd} of its {loose + len(whole)} Korean letters are in no word"


def _common(syllable: str) -> bool:
    """Whether a syllable is one of the 2,350 that Korean words are written with (KS X 1001)."""
    try:
        return len(syllable.encode("euc_kr")) == 2
    except UnicodeEncodeError:
        return False


def _of(word: str) -> list[str]:
    """The runs of letters of a word, its beginning and its end among them."""
    marked = f"^{word}$"
    return [marked[at : at + _RUN] for at in range(len(marked) - _RUN + 1)]


@cache
def _runs() -> frozenset[str]:
    words = (word for some in (EASY, *STOPWORDS.values()) for word in some if word.isascii() and word.isalpha())
    return frozenset(run for word in words for run in _of(word))
