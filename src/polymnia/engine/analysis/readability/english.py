"""English: how hard a text is to read, from seven measures of its sentences and words.

The measures are standardised and weighted; the weights were fitted to rank versions of one article that were written
for learners of three levels, and hold for articles that were not fitted (docs/decisions/0026-quality.md). The score
lies on the scale of Flesch's reading ease divided by 100, but never quite reaches its ends.
"""

from __future__ import annotations

from functools import cache
from math import exp

from polymnia.engine.analysis.readability.easy_words import EASY
from polymnia.engine.analysis.readability.sentences import WORD, lines_of
from polymnia.engine.analysis.readability.syllables import syllables
from polymnia.engine.text.language import stem

__all__ = ["MEASURES", "english", "hard_words"]

_HARD = 6  # letters; a shorter word is not hard for being missing in a list
_LONG = 8
_WINDOW, _STEP = 50, 10  # words among which different ones are counted, so that length alone changes nothing

# Each measure: what newspapers write on average, how far texts differ from that, and how much it counts.
MEASURES: dict[str, tuple[float, float, float]] = {
    "words_per_sentence": (19.5, 3.6, 0.8),
    "words_of_the_sentence_around_a_word": (23.5, 4.4, 1.0),
    "syllables_per_word": (1.5, 0.09, 0.4),
    "share_of_long_words": (0.135, 0.035, 0.6),
    "share_of_hard_words": (0.09, 0.03, 0.8),
    "share_of_different_words": (0.815, 0.025, 0.5),
    "commas_per_sentence": (1.15, 0.35, 0.7),
}
"""What is measured, and how it is weighed."""
_SLOPE = 0.1  # of the score by the sum of the measures: fitted to Flesch on the same articles
_HARDEST = 50.0  # no curve is followed further: what is no prose has sentences of any length
_MIDDLE = 4.2  # and the sum at which the score is one half


@cache
def _easy() -> frozenset[str]:
    return EASY | {stem(word, "english") for word in EASY}


def hard_words(words: list[str]) -> list[str]:
    """Those of lower-case words that are long and not known to everybody."""
    easy = _easy()
    return [word for word in words if len(word) >= _HARD and word not in easy and stem(word, "english") not in easy]


def english(text: str) -> tuple[float, float, dict[str, float]]:
    """The score, the school grade by Flesch and Kincaid, and the measures of a text."""
    said = lines_of(text)
    parts = [words for one in said if (words := WORD.findall(one))]
    if not parts:
        return 1.0, 0.0, {}
    lengths = [len(words) for words in parts]
    total = sum(lengths)
    low = [word.lower().replace("’", "'").removesuffix("'s") for words in parts for word in words]
    # A name is not hard for being long: what has a capital inside a sentence is left out where words are judged.
    common = [
        word.lower().replace("’", "'").removesuffix("'s")
        for words in parts
        for at, word in enumerate(words)
        if at == 0 or not word[0].isupper()
    ]
    counted = [syllables(word) for word in common]
    measures = {
        "words_per_sentence": total / len(parts),
        "words_of_the_sentence_around_a_word": sum(n * n for n in lengths) / total,
        "syllables_per_word": sum(counted) / len(common),
        "share_of_long_words": sum(len(word) >= _LONG for word in common) / len(common),
        "share_of_hard_words": len(hard_words(common)) / len(common),
        "commas_per_sentence": sum(one.count(",") for one in said) / len(said),
    }
    if total > _WINDOW:
        starts = range(0, total - _WINDOW, _STEP)
        measures["share_of_different_words"] = sum(len(set(low[at : at + _WINDOW])) for at in starts) / (
            _WINDOW * len(starts)
        )
    grade = 0.39 * measures["words_per_sentence"] + 11.8 * measures["syllables_per_word"] - 15.59
    hardness = sum(
        weight * (measures[name] - typical) / spread
        for name, (typical, spread, weight) in MEASURES.items()
        if name in measures
    )
    return 1 / (1 + exp(min(_HARDEST, _SLOPE * (hardness - _MIDDLE)))), grade, measures
