"""Readability: how easy a text is to read, by a published formula (docs/decisions/0135-quality.md)."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from msgspec import Struct, field

from polymnia.engine.text.language import detect_language, script, stem, strip_marks, word_list
from polymnia.engine.text.sentences import WORD, lines_of

_FEWEST = 5  # words
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
"""Each language's author of its formula, constant, and weights of words per sentence and syllables per word."""

_HARD = 6  # letters of a hard word, at least
_DALE_EASY, _DALE_HARD = 4.9, 9.9  # the ends of the Dale-Chall scale: fourth grade, and college graduates
_LIX_LONG = 6  # letters; a longer word counts as long
_LIX_EASY, _LIX_HARD = 20.0, 70.0
# Korean encyclopaedia paragraphs: words in a sentence, syllables in a word; mean and standard deviation.
_KOREAN_SENTENCE, _KOREAN_WORD = (18.4, 6.0), (3.1, 0.25)

_HANGUL = re.compile("[\uac00-\ud7af]")


class Readability(Struct, frozen=True, kw_only=True):
    """How easy a text is to read: from 0 to 1, 1 the easiest; None if unknown, with the reason in ``note``.

    ``method`` names the formula, ``metrics`` are its inputs. ``grade`` is the Flesch-Kincaid school grade, for English
    alone.
    """

    score: float | None
    language: str | None = None
    grade: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    method: str | None = None
    note: str | None = None


def readability(text: str, language: str | None = None) -> Readability:
    """Measure prose with a paragraph in each line; ``language`` is its code if known."""
    code = language or detect_language(text)[0]
    if code is None and script(text) == "latin" and text.isascii():
        code = "en"  # a short note without function words
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
    return _clipped(ease / 100)


def _english(metrics: dict[str, float], parts: list[list[str]]) -> float:
    """The mean of Flesch's reading ease and the new Dale-Chall formula (1995).

    A word is hard if it is not in our list of easy ones, which is shorter than Dale's. Names (capitalized inside a
    sentence) are not counted.
    """
    common = [word for words in parts for at, word in enumerate(words) if at == 0 or not word[0].isupper()]
    flesch = _flesch(metrics, common, "en")
    metrics["share_of_hard_words"] = share = len(hard_words(common)) / len(common)
    grade = 15.79 * share + 0.0496 * metrics["words_per_sentence"] + (3.6365 if share > 0.05 else 0.0)
    metrics["flesch_reading_ease"], metrics["dale_chall"] = 100 * flesch, grade
    return (flesch + _clipped((_DALE_HARD - grade) / (_DALE_HARD - _DALE_EASY))) / 2


def _korean(metrics: dict[str, float], words: list[str]) -> float:
    """Lengths compared with encyclopaedia paragraphs (0.5): it only orders texts, since no formula is published."""
    hangul = [count for word in words if (count := len(_HANGUL.findall(word)))]
    metrics["syllables_per_word"] = sum(hangul) / max(1, len(hangul))
    pairs = ((metrics["words_per_sentence"], *_KOREAN_SENTENCE), (metrics["syllables_per_word"], *_KOREAN_WORD))
    return _clipped(0.5 - sum((value - mean) / spread for value, mean, spread in pairs) / 8)


def _lix(metrics: dict[str, float], words: list[str]) -> float:
    """Björnsson's LIX, made for Swedish and used for many languages."""
    metrics["share_of_long_words"] = sum(len(word) > _LIX_LONG for word in words) / len(words)
    metrics["lix"] = metrics["words_per_sentence"] + 100 * metrics["share_of_long_words"]
    return _clipped((_LIX_HARD - metrics["lix"]) / (_LIX_HARD - _LIX_EASY))


def _clipped(score: float) -> float:
    return min(1.0, max(0.0, score))


@cache
def _easy() -> frozenset[str]:
    easy = word_list("easy english")
    return easy | {stem(word, "english") for word in easy}


def hard_words(words: list[str]) -> list[str]:
    """The long and uncommon ones of some English words, in lower case."""
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
# The vowels and diphthongs that make one syllable, by language.
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
    """The number of syllables of a word, at least one; by vowel groups in a language without rules of its own."""
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
