"""Korean: how hard a text is to read, by its sentences, its words between spaces and the words it is made of.

No formula for Korean is published with constants and data that could be checked here. The measures are those that
studies agree on (length of sentences and words, Sino-Korean abstracta, joined clauses); what they are measured against
are encyclopaedia paragraphs, which lie at 0.4 as English ones do by Flesch. So the score orders texts, and a note says
that no readers were asked.
"""

from __future__ import annotations

import re
from math import exp

from polymnia.engine.analysis.readability.sentences import lines_of

__all__ = ["korean"]

_SYLLABLE = re.compile("[\uac00-\ud7af]")
# What makes an abstract noun of a Chinese root, before a particle or at the end: 효율성을, 자동화, 적극적으로.
_ABSTRACT = re.compile(
    r"[\uac00-\ud7af]{2}(?:성|화|적|률|력|론|권|제|법|도)(?:인|으로|이|은|을|의|에|과|된|하)?(?:로|며|고|는|다)?[.,)]*$"
)
_JOINED = re.compile(
    r"(?:지만|면서|으며|하며|되며|이며|는데|은데|므로|으므로|거나|도록|자마자|더라도|느라|려고|니까)[,]?$|[고며서],$"
)
_CHINESE = re.compile("[\u4e00-\u9fff]")

# Each measure: what encyclopaedia paragraphs have on average, how far they differ, and how much it counts.
_MEASURES: dict[str, tuple[float, float, float]] = {
    "words_per_sentence": (18.4, 6.0, 1.0),
    "words_of_the_sentence_around_a_word": (21.6, 7.5, 1.0),
    "syllables_per_word": (3.1, 0.25, 0.9),
    "share_of_abstract_words": (0.03, 0.025, 0.7),
    "joined_clauses_per_sentence": (0.55, 0.4, 0.5),
    "chinese_characters_per_word": (0.02, 0.08, 0.3),
}
_SLOPE = 0.3
_HARDEST = 50.0  # no curve is followed further: what is no prose has sentences of any length
_MIDDLE = -1.4  # encyclopaedia paragraphs, at 0, score 0.4


def korean(text: str) -> tuple[float, dict[str, float]]:
    """The score and the measures of a text."""
    parts = [words for one in lines_of(text) if (words := [word for word in one.split() if _SYLLABLE.search(word)])]
    if not parts:
        return 1.0, {}
    lengths = [len(words) for words in parts]
    total = sum(lengths)
    words = [word for part in parts for word in part]
    measures = {
        "words_per_sentence": total / len(parts),
        "words_of_the_sentence_around_a_word": sum(n * n for n in lengths) / total,
        "syllables_per_word": sum(len(_SYLLABLE.findall(word)) for word in words) / total,
        "share_of_abstract_words": sum(_ABSTRACT.search(word) is not None for word in words) / total,
        "joined_clauses_per_sentence": sum(_JOINED.search(word) is not None for word in words) / len(parts),
        "chinese_characters_per_word": len(_CHINESE.findall(text)) / total,
    }
    hardness = sum(
        weight * (measures[name] - typical) / spread for name, (typical, spread, weight) in _MEASURES.items()
    )
    return 1 / (1 + exp(min(_HARDEST, _SLOPE * (hardness - _MIDDLE)))), measures
