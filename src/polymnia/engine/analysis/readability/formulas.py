"""Formulas: published measures of reading ease for other languages, on the scale of Flesch divided by 100."""

from __future__ import annotations

from polymnia.engine.analysis.readability.sentences import WORD, lines_of
from polymnia.engine.analysis.readability.syllables import syllables

__all__ = ["FLESCH", "flesch", "lix"]

FLESCH: dict[str, tuple[str, float, float, float]] = {
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

_LONG = 6  # letters; a longer word is a long one in Björnsson's count
_EASIEST, _HARDEST = 20.0, 70.0  # the ends of Björnsson's scale


def flesch(text: str, language: str) -> tuple[float, dict[str, float]]:
    """Reading ease by the formula of a language that has one, 0 to 1, and the measures it is made of."""
    _, constant, sentence, syllable = FLESCH[language]
    parts = _words(text)
    if not parts:
        return 1.0, {}
    words = [word for part in parts for word in part]
    measures = {
        "words_per_sentence": len(words) / len(parts),
        "syllables_per_word": sum(syllables(word, language) for word in words) / len(words),
    }
    ease = constant - sentence * measures["words_per_sentence"] - syllable * measures["syllables_per_word"]
    return min(1.0, max(0.0, ease / 100)), measures


def lix(text: str) -> tuple[float, dict[str, float]]:
    """Ease by Björnsson's LIX, made for Swedish and used for many languages that write words apart."""
    parts = _words(text)
    if not parts:
        return 1.0, {}
    words = [word for part in parts for word in part]
    measures = {
        "words_per_sentence": len(words) / len(parts),
        "share_of_long_words": sum(len(word) > _LONG for word in words) / len(words),
    }
    value = measures["words_per_sentence"] + 100 * measures["share_of_long_words"]
    measures["lix"] = value
    return min(1.0, max(0.0, (_HARDEST - value) / (_HARDEST - _EASIEST))), measures


def _words(text: str) -> list[list[str]]:
    return [words for one in lines_of(text) if (words := WORD.findall(one))]
