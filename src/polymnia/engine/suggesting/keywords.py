"""Keywords: the words of a text that tell what it is about, in any language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from polymnia.engine.suggesting.reading import Reading
from polymnia.engine.text.language import DENSE, fold
from polymnia.engine.text.lexicon import STOPWORDS
from polymnia.engine.text.words import terms

__all__ = ["keywords"]

_MOST = 8
_COMPARED = 500  # so many characters of each memory of the scope are looked at for shared words
_ADDRESS = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+", re.IGNORECASE)
_DENSE_RUN = re.compile(f"[{DENSE}]")
_HANGUL = re.compile("[\uac00-\ud7af]")
# What Korean puts behind a noun. A short particle goes by the sound before it: 이 은 을 과 follow a final consonant,
# 가 는 를 와 a vowel, 로 a vowel or ㄹ; so 네이버페이 has none. The others are left: 회의 is no 회 with 의.
_ENDING = re.compile(
    "(?<=..)(?:에서는|에게서|으로써|으로서|으로부터|입니다|합니다|했습니다|습니다|에서|에게|으로|까지|부터|처럼|보다|마다"
    "|하고|했다|한다|이다|은|는|이|가|을|를|과|와|로)$"
)
_AFTER_CONSONANT, _AFTER_VOWEL = frozenset("은이을과"), frozenset("는가를와로")
_RIEUL = 8
# Japanese writes its grammar in hiragana; Chinese has these characters between its words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_HAN_LONGEST = 8
_KNOWN = 10.0
_SHARED = 2.0  # what a word gains that every memory of the suggested scope has
_MARKED = 0.5  # what an identifier, an acronym or a name inside a sentence gains
_LONG = 0.04  # what each letter adds: long words are rarer
_EARLY = 0.3


def keywords(reading: Reading, scope_texts: Sequence[str] = (), known: Sequence[str] = ()) -> tuple[str, ...]:
    """The most telling words of a text, as they stand in it but in small letters.

    ``scope_texts`` are memories of the scope it probably belongs to: a word they share tells more. ``known`` are
    words that are telling for sure; those that stand in the text come first.
    """
    small = _ADDRESS.sub(" ", reading.text).lower()
    shared = [terms(one[:_COMPARED]).counts for one in scope_texts]
    scores = {word: _KNOWN for word in known if word in small}
    words = [(word, forms) for word, forms in _words(reading).items() if word.lower() in small]
    for at, (word, forms) in enumerate(words):
        lower = word.lower()
        common = sum(any(form in one for form in forms) for one in shared) / len(shared) if shared else 0.0
        score = 1.0 + _SHARED * common + _LONG * min(len(word), 12) + _EARLY * (1 - at / len(words))
        if word[1:] != word[1:].lower() or any(c.isdigit() for c in word):
            score += _MARKED
        score *= min(3, small.count(lower)) ** 0.5
        scores[lower] = max(score, scores.get(lower, 0.0))
    chosen: list[str] = []
    for word in sorted(scores, key=lambda one: -scores[one]):
        if not any(word in other for other in chosen):
            chosen.append(word)
            if len(chosen) == _MOST:
                break
    return tuple(chosen)


def _words(reading: Reading) -> dict[str, set[str]]:
    """The content words of a text, as they are written, with the index terms to know them by.

    Those of scripts without spaces are cut out as well as can be told.
    """
    found: dict[str, set[str]] = {}
    for group in reading.groups:
        forms = {form for form, _ in group.alternatives}
        for word in _cut(group.word):
            if len(word) > 1 and not word.isdigit():
                found.setdefault(word, set()).update(forms)
    return found


def _cut(word: str) -> list[str]:
    if not _DENSE_RUN.search(word):
        return [word]
    if _HANGUL.search(word):
        root = _noun(word)
        return [] if fold(root) in STOPWORDS["korean"] else [root]
    return [piece for piece in _CUT.split(word) if len(piece) <= _HAN_LONGEST]


def _noun(word: str) -> str:
    """A Korean word without its particle or ending, where it has one."""
    ending = _ENDING.search(word)
    if ending is None:
        return word
    root, particle = word[: ending.start()], ending.group()
    final = (ord(root[-1]) - 0xAC00) % 28 if "\uac00" <= root[-1] <= "\ud7a3" else None
    if particle in _AFTER_CONSONANT and not final:
        return word
    if particle in _AFTER_VOWEL and final and not (particle == "로" and final == _RIEUL):
        return word
    return root
