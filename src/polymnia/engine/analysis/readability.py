"""Readability: how easy a text is to read, by a published formula (docs/decisions/0135-quality.md)."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from msgspec import Struct, field

from polymnia.engine.text.language import script, spoken, stem, strip_marks, word_list
from polymnia.engine.text.sentences import WORD, lines_of

_FEWEST = 5  # words; fewer say nothing of how a text reads
_APART = frozenset({"latin", "cyrillic", "greek", "armenian", "georgian"})  # scripts whose words LIX can measure
_DENSE = frozenset({"zh", "ja", "th", "lo", "my", "km"})  # languages that write no spaces
_NORDIC = frozenset({"sv", "da", "no", "fi"})  # languages LIX was made for, or tested with

FLESCH: dict[str, tuple[str, float, float, float]] = {
    "en": ("Flesch 1948", 206.835, 1.015, 84.6),
    "de": ("Amstad 1978", 180.0, 1.0, 58.5),
    "fr": ("Kandel and Moles 1958", 207.0, 1.015, 73.6),
    "es": ("Fernández Huerta 1959", 206.84, 1.02, 60.0),
    "it": ("Franchina and Vacca 1986", 217.0, 1.3, 60.0),
    "nl": ("Douma 1960", 206.84, 0.93, 77.0),
    "pt": ("Martins and others 1996", 248.835, 1.015, 84.6),
    "ru": ("Oborneva 2006", 206.835, 1.3, 60.1),
    "tr": ("Ateşman 1997", 198.825, 2.61, 40.175),
}
"""For each language who found its formula, the constant, and what a word per sentence and a syllable per word cost."""

_HARD = 6  # letters; a shorter word is not hard for being missing in the list of easy ones
_DALE_EASY, _DALE_HARD = 4.9, 9.9  # the ends of the Dale-Chall scale: fourth grade, and college graduates
_LIX_LONG = 6  # letters; a longer word is a long one in Björnsson's count
_LIX_EASY, _LIX_HARD = 20.0, 70.0
# Korean encyclopaedia paragraphs: words in a sentence, syllables in a word; mean and standard deviation.
_KOREAN_SENTENCE, _KOREAN_WORD = (18.4, 6.0), (3.1, 0.25)

_HANGUL = re.compile("[\uac00-\ud7af]")


class Readability(Struct, frozen=True, kw_only=True):
    """How easy a text is to read: from 0 to 1, 1 the easiest; None where nothing is known, and ``note`` is why.

    ``method`` names the formula, ``metrics`` are the numbers it is made of. ``grade`` is the school grade by Flesch and
    Kincaid, for English alone.
    """

    score: float | None
    language: str | None = None
    grade: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    method: str | None = None
    note: str | None = None


def readability(text: str, language: str | None = None) -> Readability:
    """Measure a text of prose, a paragraph a line; ``language`` is its code where it is known."""
    code = language or spoken(text)[0]
    if code is None and script(text) == "latin" and text.isascii():
        code = "en"  # a short note without small words: the endings of English do the least harm
    if len(text.split()) < _FEWEST and code not in _DENSE:
        return Readability(score=None, language=code, note="few_words")
    parts = [words for one in lines_of(text) if (words := WORD.findall(one))]
    if code in _DENSE or (code != "ko" and code not in FLESCH and script(text) not in _APART):
        return Readability(score=None, language=code, note="unknown_language")
    if not parts:
        return Readability(score=None, language=code, note="no_sentence")
    words = [word for part in parts for word in part]
    metrics = {"words_per_sentence": len(words) / len(parts)}
    note = grade = None
    if code == "ko":
        score, method, note = _korean(metrics, words), "korean", "korean"
    elif code == "en":
        score, method = _english(metrics, parts), "english"
        grade = round(0.39 * metrics["words_per_sentence"] + 11.8 * metrics["syllables_per_word"] - 15.59, 1)
    elif code in FLESCH:
        score, method = _flesch(metrics, words, code), FLESCH[code][0]
    else:
        score, method, note = _lix(metrics, words), "Björnsson 1968", None if code in _NORDIC else "lix"
    rounded = {name: round(value, 4) for name, value in metrics.items()}
    return Readability(score=round(score, 4), language=code, grade=grade, metrics=rounded, method=method, note=note)


def _flesch(metrics: dict[str, float], words: list[str], code: str) -> float:
    _, constant, sentence, syllable = FLESCH[code]
    metrics["syllables_per_word"] = sum(syllables(word, code) for word in words) / len(words)
    ease = constant - sentence * metrics["words_per_sentence"] - syllable * metrics["syllables_per_word"]
    return _within(ease / 100)


def _english(metrics: dict[str, float], parts: list[list[str]]) -> float:
    """The mean of Flesch's reading ease and the new Dale-Chall formula (1995).

    A word is hard that is not in our list of easy ones, which is shorter than Dale's. A name is not hard for being
    long: what has a capital inside a sentence is left out where words are judged.
    """
    common = [word for words in parts for at, word in enumerate(words) if at == 0 or not word[0].isupper()]
    flesch = _flesch(metrics, common, "en")
    metrics["share_of_hard_words"] = share = len(hard_words(common)) / len(common)
    grade = 15.79 * share + 0.0496 * metrics["words_per_sentence"] + (3.6365 if share > 0.05 else 0.0)
    metrics["flesch_reading_ease"], metrics["dale_chall"] = 100 * flesch, grade
    return (flesch + _within((_DALE_HARD - grade) / (_DALE_HARD - _DALE_EASY))) / 2


def _korean(metrics: dict[str, float], words: list[str]) -> float:
    """Lengths against encyclopaedia paragraphs (at one half): no formula is published, so it only orders texts."""
    hangul = [count for word in words if (count := len(_HANGUL.findall(word)))]
    metrics["syllables_per_word"] = sum(hangul) / max(1, len(hangul))
    pairs = ((metrics["words_per_sentence"], *_KOREAN_SENTENCE), (metrics["syllables_per_word"], *_KOREAN_WORD))
    return _within(0.5 - sum((value - mean) / spread for value, mean, spread in pairs) / 8)


def _lix(metrics: dict[str, float], words: list[str]) -> float:
    """Björnsson's LIX, made for Swedish and used for many languages that write words apart."""
    metrics["share_of_long_words"] = sum(len(word) > _LIX_LONG for word in words) / len(words)
    metrics["lix"] = metrics["words_per_sentence"] + 100 * metrics["share_of_long_words"]
    return _within((_LIX_HARD - metrics["lix"]) / (_LIX_HARD - _LIX_EASY))


def _within(score: float) -> float:
    return min(1.0, max(0.0, score))


@cache
def _easy() -> frozenset[str]:
    easy = word_list("easy english")
    return easy | {stem(word, "english") for word in easy}


def hard_words(words: list[str]) -> list[str]:
    """Those of some English words that are long and not known to everybody, in small letters."""
    easy = _easy()
    low = [word.lower().replace("’", "'").removesuffix("'s") for word in words]
    return [word for word in low if len(word) >= _HARD and word not in easy and stem(word, "english") not in easy]


_VOWELS = re.compile(r"[aeiouy]+")
_SILENT_E = re.compile(r"[^aeiouyl]e$|[aeiou]le$|ue$")
_SILENT_ED = re.compile(r"[^aeiouytd]ed$")
_SILENT_ES = re.compile(r"[^aeiouyscgxzh]es$|[^cs]hes$")
_HIATUS = re.compile(
    r"i[ao](?=.)(?!us|n)|[^aeiou]ia|eo(?!u)|[^gq]ua|uo|yi|i[ue]m|creat|being|(?<=.)[dr]ea$"
    r"|[^o]ying|sm$"
)
# Where vowels beside each other are two syllables: in the languages that part them, and in which pairs stay one.
_DIPHTHONGS = {
    "de": r"aa|ai|au|[aeo]u|ei|ie|oe|ue|ee|oo|eu|[aeiouy]",
    "nl": r"aai|ooi|oei|eeu|ieu|aa|ee|oo|uu|ie|oe|eu|ui|ou|au|ij|ei|[aeiouy]",
    "es": r"[iu][aeo][iu]|[aeo][iu]|[iu][aeo]|[iu][iu]|[aeiouy]",
    "pt": r"[ao]e|[ao]o|[aeo][iu]|[iu][aeo]|[iu][iu]|[aeiouy]",
    "it": r"[iu][aeo][iu]|[iu][aeo]|[aeo][iu]|[aeiou]",
    "fr": r"eaux?|[aeo]u[xt]?|oi|ai|ei|eu|ie(?!r)|io|ui|ou|[aeiouy]",
    "tr": r"[aeiou]",
    "ru": r"[аеёиоуыэюя]",
    "uk": r"[аеєиіїоуюя]",
}
_FRENCH_END = re.compile(r"(?<=[^aeiou])e(?:s|nt)?$")


@lru_cache(maxsize=50_000)
def syllables(word: str, language: str = "en") -> int:
    """How many syllables a word has, at least one. A language without rules of its own is counted by vowel groups."""
    low = strip_marks(word.casefold()) if language not in ("ru", "uk") else word.casefold()
    if language == "en":
        return _syllables(low)
    if language == "fr":
        low = _FRENCH_END.sub("", low) if len(low) > 3 else low
    rule = _DIPHTHONGS.get(language)
    return max(1, len(re.findall(rule, low) if rule else _VOWELS.findall(low)))


def _syllables(low: str) -> int:
    count = 0
    for part in re.split(r"[-'’]", low):
        if part and part not in ("s", "t", "re", "ll", "ve", "d", "m"):
            groups = len(_VOWELS.findall(part)) + len(_HIATUS.findall(part))
            if len(part) > 2 and (_SILENT_E.search(part) or _SILENT_ED.search(part) or _SILENT_ES.search(part)):
                groups -= 1
            count += max(1, groups)
    return max(1, count)
