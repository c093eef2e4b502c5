"""Reading: a text as words that could name its topic, each known by its stem and shown as it is written."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence

from polymnia.engine.analysis.topics.korean import Roots, is_korean
from polymnia.engine.text.language import DENSE, fold, language, plausible, stem
from polymnia.engine.text.lexicon import GENERAL, STOPWORDS

__all__ = ["Reader"]

Said = list[tuple[str, str] | None]
"""The words of a text as (key, as written), in order; None where words are not next to each other."""

_ADDRESS = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+|(?<!\S)[^\s@]+@[^\s@]+\.\w+", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[^\w\s]+|\n")
_DENSE = re.compile(f"[{DENSE}]")
# Japanese writes its grammar in hiragana; Chinese has these characters between its words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_HANGUL = re.compile("[\uac00-\ud7af]")
_MIXED = re.compile("([^\uac00-\ud7af]+)([\uac00-\ud7af]+)")
_SHORTENED = re.compile(r"(?:'|’)(?:s|re|ve|ll|d|m|t|s')$", re.IGNORECASE)
_LONGEST = 40  # what is longer is no word people use
_HAN_LONGEST = 8  # what is longer in a script without spaces is a clause
_LANGUAGES = 400  # so many texts tell which languages are written
# Words of asking and wishing: they say how something is said, not what about.
_ASKING = """
    would could please hey hi hello okay ok thanks thank im ive id dont cant doesnt didnt isnt wasnt wont whats hows
    thats theres youre getting going give given gave let lets wanna gonna
    알려주세요 주세요 싶어요 싶습니다 있어요 있나요 있습니다 없어요 없습니다 있다고 있다는 없다고
    너무 정말 이런 저런 같은 다른 후 전
"""
_EMPTY = STOPWORDS["english"] | STOPWORDS["korean"] | GENERAL | frozenset(_ASKING.split())


class Reader:
    """Reads texts that belong together: how a word is written elsewhere says what is a particle and what a name."""

    def __init__(self, texts: Sequence[str], limit: int) -> None:
        """``limit`` is how many characters of each text are read."""
        self._limit = limit
        spoken = Counter(filter(None, map(_language, texts[:: max(1, len(texts) // _LANGUAGES)])))
        self._usual = next((name for name, _ in spoken.most_common(1) if name), "english")
        self._roots = Roots(word for text in texts for word in self._tokens(text))
        self._keys: dict[tuple[str, str], str] = {}

    def read(self, text: str) -> Said:
        """The words of a text that say something, and gaps where others stand."""
        spoken = _language(text) or self._usual
        said: Said = []
        for token in self._tokens(text):
            if not token[0].isalnum():
                said.append(None)
            elif _DENSE.search(token) and not _HANGUL.search(token):
                said += [None, *((fold(piece), piece) for piece in _pieces(token)), None]
            else:
                word = self._word(token, spoken)
                said.append(word)
                if word and is_korean(token) and token[len(word[1]) :] not in ("", "의"):
                    said.append(None)  # a particle ends a compound
        return said

    def _tokens(self, text: str) -> Iterable[str]:
        text = unicodedata.normalize("NFC", text[: self._limit])
        return _TOKEN.findall(_ADDRESS.sub(" . ", text))

    def _word(self, token: str, spoken: str) -> tuple[str, str] | None:
        mixed = _MIXED.fullmatch(token)
        if mixed:
            token = mixed[1] + self._roots.tail(mixed[2])
        token = _SHORTENED.sub("", token)
        folded = fold(token)
        if not 1 < len(folded) <= _LONGEST or folded.isdigit() or folded in _EMPTY:
            return None
        if is_korean(token):
            root = self._roots.of(token)
            return (root, root) if root and len(token) > 1 and root not in _EMPTY else None
        if folded in STOPWORDS.get(spoken, ()):
            return None
        key = self._keys.get((spoken, token))
        if key is None:
            rules = plausible(folded, spoken)
            key = self._keys[spoken, token] = stem(token.casefold(), rules[0]) if rules else folded
        return key, token


def _pieces(token: str) -> list[str]:
    return [piece for piece in _CUT.split(token) if 1 < len(piece) <= _HAN_LONGEST]


def _language(text: str) -> str | None:
    return language(fold(text[:400]).replace("'", " ").replace("’", " ").split())
