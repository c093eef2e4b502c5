"""Languages: what script a text is written in, what language its small words speak, and the stem of a word."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice

from polymnia.engine.search.stopwords import STOPWORDS
from polymnia.importing import importing

__all__ = ["DENSE", "fold", "language", "plausible", "script", "stem", "strip_marks"]

DENSE = (
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u30ff\u31f0-\u31ff"  # kana
    "\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17dd"  # Thai, Lao, Burmese, Khmer
)
"""Characters of the scripts that are searched by pairs of characters, as the inside of a character class."""

_SCRIPTS = (
    (0x002FF, "latin"),
    (0x003FF, "greek"),
    (0x0052F, "cyrillic"),
    (0x0058F, "armenian"),
    (0x005FF, "hebrew"),
    (0x008FF, "arabic"),
    (0x0097F, "devanagari"),
    (0x00DFF, "indic"),
    (0x00E7F, "thai"),
    (0x00EFF, "lao"),
    (0x00FFF, "tibetan"),
    (0x0109F, "burmese"),
    (0x010FF, "georgian"),
    (0x011FF, "hangul"),
    (0x013FF, "ethiopic"),
    (0x017FF, "khmer"),
    (0x01DFF, "other"),
    (0x01EFF, "latin"),
    (0x01FFF, "greek"),
    (0x02E7F, "other"),
    (0x03040, "han"),
    (0x030FF, "kana"),
    (0x0312F, "han"),
    (0x0318F, "hangul"),
    (0x031EF, "han"),
    (0x031FF, "kana"),
    (0x09FFF, "han"),
    (0x0ABFF, "other"),
    (0x0D7FF, "hangul"),
    (0x0F8FF, "other"),
    (0x0FAFF, "han"),
    (0x1FFFF, "other"),
    (0x3FFFF, "han"),
)
"""The last character of each block that matters here, and its script."""

_STEMMED = frozenset(STOPWORDS) - {"vietnamese", "hebrew", "korean"}
_BY_SCRIPT = {
    "cyrillic": "russian",
    "greek": "greek",
    "arabic": "arabic",
    "devanagari": "hindi",
    "armenian": "armenian",
}
_LATIN = tuple(name for name in STOPWORDS if name in _STEMMED and name not in {*_BY_SCRIPT.values(), "persian"})
_EVIDENCE = 400  # so many words tell the language of a text; more only cost time

_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+")
_LETTERS = str.maketrans(
    {"đ": "d", "ð": "d", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ħ": "h", "ς": "σ"}
    | {"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه"}
)


@cache
def _hints() -> dict[str, tuple[str, ...]]:
    """Each stop word with the languages it belongs to."""
    found: dict[str, list[str]] = {}
    for name, words in STOPWORDS.items():
        for word in words:
            found.setdefault(strip_marks(word), []).append(name)
    return {word: tuple(names) for word, names in found.items()}


def strip_marks(word: str) -> str:
    """A folded word without accents, vowel points and other marks a writer may leave out."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", _MARKS.sub("", apart)).translate(_LETTERS)


def fold(word: str) -> str:
    """A word without case and without marks: what a search compares."""
    return word.lower() if word.isascii() else strip_marks(word.casefold())


def script(text: str) -> str:
    """The script most letters of a text are in; `common` when it has none.

    Han and kana together are `kana`: only Japanese mixes them.
    """
    if text.isascii():
        return "latin" if any(c.isalpha() for c in text) else "common"
    counts: dict[str, int] = {}
    for c in text[:2000]:
        if c.isalpha():
            name = _script_of(c)
            counts[name] = counts.get(name, 0) + 1
    if not counts:
        return "common"
    if counts.get("kana"):
        counts["kana"] += counts.pop("han", 0)
    # A dense script says in one character what an alphabet says in two or three.
    return max(counts, key=lambda name: counts[name] * (2 if name in {"han", "kana", "hangul"} else 1))


def _script_of(c: str) -> str:
    code = ord(c)
    for last, name in _SCRIPTS:
        if code <= last:
            return name
    return "other"


def language(words: Iterable[str]) -> str | None:
    """The language of folded words, judged by the stop words among them; None when they show none."""
    hints = _hints()
    found = [hints[word] for word in islice(words, _EVIDENCE) if word in hints]
    if not found:
        return None
    if all("english" in names for names in found):
        return "english"
    counts: dict[str, int] = {}
    for names in found:
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    best = max(counts.values())
    return "english" if counts.get("english", 0) == best else max(counts, key=lambda name: counts[name])


def plausible(word: str, spoken: str | None) -> tuple[str, ...]:
    """Languages whose rules may shape a word, likeliest first, given the language of the words around it."""
    first = _script_of(word[0]) if word else "common"
    if first != "latin":
        rule = _BY_SCRIPT.get(first)
        if first == "arabic" and spoken == "persian":
            rule = "persian"
        return (rule,) if rule else ()
    if spoken in _LATIN:
        return (spoken,)
    if spoken == "vietnamese":
        return ()
    return _LATIN if spoken is None else ("english",)


@cache
def _stemmer(name: str) -> Callable[[str], str]:
    with importing():
        import Stemmer

    found: Callable[[str], str] = Stemmer.Stemmer(name, 0).stemWord
    return found


def stem(word: str, name: str) -> str:
    """The stem of a case-folded word by the rules of one language, without marks."""
    return strip_marks(_stemmer(name)(word))
