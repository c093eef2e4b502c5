"""Statement: a sentence as a row of words, each with what it is and whether it stands under a negation."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from polymnia.engine.analysis.contradiction.signals import SIGNALS
from polymnia.engine.duplicates.figures import number
from polymnia.engine.duplicates.lexicon import ARTICLES, denies
from polymnia.engine.duplicates.roots import HANGUL, dense_words
from polymnia.engine.search.calendar_words import WORDS as CALENDAR
from polymnia.engine.search.languages import DENSE, fold, plausible, stem
from polymnia.engine.search.stopwords import STOPWORDS

__all__ = ["Statement", "Token", "statement"]

_TOKEN = re.compile(
    r"(?P<number>\d+(?:[.,:/]\d+)*)|(?P<letters>[^\W\d_]+(?:'[^\W\d_]+)?)|(?P<end>[.!?:;,()\n。！？、，]+)|(?P<mark>[%$€£₩])"
)
_QUOTES = str.maketrans("‘’ʼ`´", "'''''")
_DENSE = re.compile(f"[{DENSE}]")
_AFTER = 5  # a negation of a European language reaches so many words of content further
_BEFORE = 2  # and one of Korean so many back
_KOREAN_DENIES = re.compile(
    r"않|없|아니[다라었고며지]|아닌|아닙|아녜|못[하한했합해]|지(?:마세요|마라|마십시오|말고|말아)$|^(?:마세요|마라|마십시오|말고|말아|말아라)$|^(?:안|못)$"
    r"|^(?:안|못)(?=[하했한합돼되된됐갔가왔와먹]|좋)"
)
_KOREAN_PLAIN = re.compile(r"^안[전내경녕정과개동심부]")
_KOREAN_AHEAD = re.compile("^(?:안|못)$")
_TURNS = frozenset({"but", "however", "although", "though", "except", "yet"})
_MOST = 60  # words of a statement that are compared


class Token(NamedTuple):
    """A word: how it was written, folded, what it is compared by, its kind, whether it is denied."""

    shown: str
    said: str
    key: str
    kind: str
    denied: bool


class Statement(NamedTuple):
    """The words of content in order, how many negations there are, and how many words of each signal."""

    tokens: tuple[Token, ...]
    denials: int
    signals: tuple[int, ...]
    length: int
    asks: bool


@lru_cache(maxsize=8192)
def statement(text: str, tongue: str | None) -> Statement:
    """Take a sentence apart."""
    text = unicodedata.normalize("NFKC", text).translate(_QUOTES)
    found: list[Token] = []
    denials = length = reach = 0
    counts = dict.fromkeys(SIGNALS, 0)
    open_from = 0
    for match in _TOKEN.finditer(text):
        kind, shown = match.lastgroup, match[0]
        if kind == "end":
            reach, open_from = 0, len(found)
            continue
        length += 1
        if kind == "number":
            found.append(Token(shown, shown, number(shown), "number", reach > 0))
            continue
        if kind == "mark":
            continue
        low = shown.lower()
        said, key, sort = _word(shown, tongue)
        for signal in _signals(said, key):
            counts[signal] += 1
        if sort == "deny":
            denials += 1
            reach = _AFTER
            continue
        if sort == "korean-deny":
            denials += 1
            for at in range(max(open_from, len(found) - _BEFORE), len(found)):
                found[at] = found[at]._replace(denied=not found[at].denied)
            found.append(Token(shown, said, key, "word", True))
            continue
        if sort == "korean-ahead":
            denials += 1
            reach = 1
            continue
        if low in _TURNS:
            reach = 0
        if sort == "small":
            continue
        found.append(Token(shown, said, key, sort, reach > 0))
        reach = max(0, reach - 1)
    return Statement(tuple(found[:_MOST]), denials, tuple(counts.values()), length, "?" in text)


@lru_cache(maxsize=50_000)
def _word(shown: str, tongue: str | None) -> tuple[str, str, str]:
    """How a word is folded, what it is compared by, and its kind."""
    low = shown.lower()
    if HANGUL.match(shown):
        if _KOREAN_AHEAD.match(shown):
            return shown, shown, "korean-ahead"
        denied = _KOREAN_DENIES.search(shown) and not _KOREAN_PLAIN.match(shown)
        parts = dense_words(shown)
        key, kind, _ = parts[0] if parts else (shown, "word", shown)
        if denied:
            return shown, key, "korean-deny"
        return shown, key, "small" if kind == "small" else ("day" if kind == "day" else "word")
    if _DENSE.search(shown):
        return shown, shown, "word"
    said = fold(low)
    if low.endswith("n't") or low == "cannot" or denies(said, tongue):
        return said, said, "deny"
    said = said.partition("'")[0]
    letter, value = CALENDAR.get(said, ("", 0))
    if letter == "W" or (letter in ("m", "w") and (len(said) > 3 or shown[0].isupper())):
        return said, f"{letter.lower()}{value}" if letter == "W" else f"m{value}", "day"
    if letter == "d" and value > 1 and said not in ("couple", "due", "dos", "sei", "elf"):
        return said, str(value), "number"
    spoken = tongue or "english"
    if said in STOPWORDS.get(spoken, ()) or said in ARTICLES.get(spoken, ()):
        return said, said, "small"
    rules = plausible(said, spoken)
    key = (stem(low.partition("'")[0], rules[0]) if rules else said) or said
    return said, key, "name" if shown[0].isupper() else "word"


@lru_cache(maxsize=50_000)
def _signals(said: str, key: str) -> tuple[str, ...]:
    """The signals a word gives: by itself, by its stem, or, in Korean, by how it begins."""
    starts = [said[:size] for size in (2, 3, 4) if len(said) > size] if HANGUL.match(said) else []
    forms = {said, key, *starts}
    return tuple(name for name, words in SIGNALS.items() if not forms.isdisjoint(words))
