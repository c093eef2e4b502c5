"""Korean words without their particles, judged by what else is written in the same texts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

__all__ = ["Roots", "is_korean"]

_HANGUL = re.compile("[\uac00-\ud7af]+")
_WRITTEN = """
    으로부터 에게서는 으로써 으로서 로부터 에서는 에서도 에게는 까지는 부터는 이라는 이라고 이라서 에게서 에서의 에게
    에서 으로 까지 부터 처럼 보다 마다 조차 밖에 하고 이랑 라는 라고 이나 이란 께서 한테 에는 에도 로는 로서 로써
    들은 들이 들을 들의
    은 는 이 가 을 를 과 와 의 에 도 만 로 랑 나
"""
# From the longest to the shortest, so that 에서는 is not read as 는 alone.
_PARTICLES = tuple(sorted(_WRITTEN.split(), key=lambda one: (-len(one), one)))
_ENDING_ALIKE = "어린이 고양이 호랑이 젊은이 늙은이 떡볶이 목걸이 귀걸이 전문가 음악가 정치가 예술가 기업가 소설가"
_NOUNS = frozenset(_ENDING_ALIKE.split())
# No noun of two or more syllables is likely to end so: these are cut off wherever they stand.
_SURE = frozenset("은는을를") | {one for one in _PARTICLES if len(one) > 1}
_SUBJECT = frozenset("이가")
_FIRST, _FINALS = 0xAC00, 28  # the first syllable, and how many endings a syllable may have, none included
_VERBS = re.compile(
    "(?:했습니다|됐습니다|되었습니다|하였습니다|합니다|됩니다|입니다|하려면|하세요|해주세요|해야|해서|했어요|했는데|했다|하였다"
    "|되었다|됐다|한다|된다|이다|하는|되는|하기|하여|하며|하고|되고|해요|돼요|인가요|인가|이었다|였다|하던|되던|되어|당한|시킨"
    "|한|된)$"
)
# A word with such an ending and no noun before it is a verb, and names nothing.
_SAYING = re.compile(
    "(?:습니다|ㅂ니다|니다|나요|까요|어요|아요|여요|세요|네요|죠|었다|았다|였다|겠다|는다|는가|은가|는지|은지|려고|려면|면서|지만|어서|아서"
    "|으며|고서|거나|도록|어야|아야|던데|는데|은데|었던|았던|였던)$"
)


def is_korean(word: str) -> bool:
    """Whether a word is written in Hangul alone."""
    return _HANGUL.fullmatch(word) is not None


class Roots:
    """What Korean words are without particles and endings, given all words that are written beside them."""

    def __init__(self, words: Iterable[str]) -> None:
        self._counts = Counter(word for word in words if is_korean(word))
        self._known: dict[str, str] = {}

    def of(self, word: str) -> str:
        """The noun in a word; nothing where it is a verb."""
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = self._cut(word)
        return found

    def tail(self, hangul: str) -> str:
        """What stands behind a foreign word or a number, without particles: the unit it counts, if anything."""
        for particle in _PARTICLES:
            if hangul.endswith(particle) and (hangul == particle or particle in _SURE):
                return hangul[: -len(particle)]
        return hangul

    def _cut(self, word: str) -> str:
        if word in _NOUNS:
            return word
        root = _VERBS.sub("", word)
        if root != word:
            return self._without(root) if len(root) > 1 else ""
        if _SAYING.search(word) and len(word) > 2:
            return ""
        return self._without(word)

    def _without(self, word: str) -> str:
        for particle in _PARTICLES:
            root = word[: -len(particle)]
            if not root or not word.endswith(particle):
                continue
            sure = particle in _SURE or (particle in _SUBJECT and self._subject(word, root, particle))
            if (sure and len(root) > 1) or ((sure or len(root) > 1) and self._stands(root, particle)):
                return root
        return word

    def _subject(self, word: str, root: str, particle: str) -> bool:
        """Whether 이 or 가 is the particle: it fits the syllable before it, and no other particle stands behind it."""
        closed = (ord(root[-1]) - _FIRST) % _FINALS > 0
        return closed == (particle == "이") and not any(self._counts[word + other] for other in _PARTICLES)

    def _stands(self, root: str, particle: str) -> bool:
        """Whether a root is written bare or before another particle too: 민주주 is not, so 민주주의 stays."""
        return any(self._counts[root + other] for other in ("", *_PARTICLES) if other != particle)
