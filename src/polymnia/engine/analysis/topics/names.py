"""Names: the few terms that tell a group of texts from all others, as people write them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import log

from polymnia.engine.text.language import DENSE, GENERAL, HANGUL, PARTICLES, STOPWORDS, fold, language, plausible, stem

Key = tuple[str, ...]
Words = list[tuple[str, str] | None]
"""The words of a text as (key, as written), in order; None where words are not next to each other."""

_MOST = 4
_FEWEST = 2  # one term alone seldom says what is meant
_READ = 400  # characters of each text: a topic is named early
_PHRASE_WORDS = 3
_PHRASE = 0.6  # the score of a phrase, of that of its best word alone, from which it stands in its place
_FAINT = 0.25  # terms with less than this of the score of the best one are left out
_TWICE = 2  # a term that only one text of a group has does not name the group,
_ONCE = 0.01  # unless there is nothing better
_SMOOTH = 0.5  # what is added to each count, so that a term seen once is no certainty
_LONGEST = 40  # what is longer is no word people use
_HAN_LONGEST = 8  # what is longer in a script without spaces is a clause
_LANGUAGES = 400  # so many texts tell which languages are written

_ADDRESS = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+|(?<!\S)[^\s@]+@[^\s@]+\.\w+", re.IGNORECASE)
_TOKEN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*|[^\w\s]+|\n")
_DENSE = re.compile(f"[{DENSE}]")
# Japanese writes its grammar in hiragana; Chinese has these characters between its words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_MIXED = re.compile("([^\uac00-\ud7af]+)([\uac00-\ud7af]+)")
_SHORTENED = re.compile(r"(?:'|’)(?:s|re|ve|ll|d|m|t|s')$", re.IGNORECASE)
# Words of asking and wishing: they say how something is said, not what about.
_ASKING = """
    would could please hey hi hello okay ok thanks thank im ive id dont cant doesnt didnt isnt wasnt wont whats hows
    thats theres youre getting going give given gave let lets wanna gonna
    알려주세요 주세요 싶어요 싶습니다 있어요 있나요 있습니다 없어요 없습니다 있다고 있다는 없다고
    너무 정말 이런 저런 같은 다른 후 전
"""
_EMPTY = STOPWORDS["english"] | STOPWORDS["korean"] | GENERAL | frozenset(_ASKING.split())

_ENDING_ALIKE = "어린이 고양이 호랑이 젊은이 늙은이 떡볶이 목걸이 귀걸이 전문가 음악가 정치가 예술가 기업가 소설가"
_NOUNS = frozenset(_ENDING_ALIKE.split())
# No noun of two or more syllables is likely to end so: these are cut off wherever they stand.
_SURE = frozenset("은는을를") | {one for one in PARTICLES if len(one) > 1}
_SUBJECT = frozenset("이가")
_FIRST, _FINALS = 0xAC00, 28  # the first syllable, and how many endings a syllable may have, none included
_VERBS = re.compile(
    "(?:했습니다|됐습니다|되었습니다|하였습니다|합니다|됩니다|입니다|하려면|하세요|해주세요|해야|해서|했어요|했는데|했다|하였다"
    "|되었다|됐다|한다|된다|이다|하는|되는|하기|하여|하며|하고|되고|해요|돼요|인가요|인가|이었다|였다|하던|되던|되어|당한|시킨"
    "|한|된)$"
)
# A word with such an ending and no noun before it is a verb, and names nothing.
_VERB_ALONE = re.compile(
    "(?:습니다|ㅂ니다|니다|나요|까요|어요|아요|여요|세요|네요|죠|었다|았다|였다|겠다|는다|는가|은가|는지|은지|려고|려면|면서|지만|어서|아서"
    "|으며|고서|거나|도록|어야|아야|던데|는데|은데|었던|았던|였던)$"
)


def telling_terms(groups: Sequence[Sequence[str]], background: Sequence[str] = ()) -> list[list[str]]:
    """For each group of texts its most telling terms, best first: words and phrases as they are written, no stems.

    The score of a term is its share of the texts of the group, times the logarithm of how many times that is its share
    of all other texts: those of the other groups and of ``background``. A group may have no term at all.
    """
    reader = WordReader([text for group in groups for text in group] + list(background), _READ)
    written: dict[Key, Counter[str]] = {}
    counts = [Counter(key for text in group for key in _terms(reader.read(text), written)) for group in groups]
    everywhere: Counter[Key] = Counter()
    for found in counts:
        everywhere.update(found)
    for text in background:
        everywhere.update(key for key in _terms(reader.read(text), {}) if key in written)
    total = sum(map(len, groups)) + len(background)
    return [
        [_shown(written[key]) for key in _chosen(_scores(found, len(group), everywhere, total))]
        for group, found in zip(groups, counts, strict=True)
    ]


def _terms(words: Words, written: dict[Key, Counter[str]]) -> dict[Key, None]:
    """The words and phrases of one text; how each is written is counted in ``written``."""
    found: dict[Key, None] = {}
    for key, shown in _phrases(words):
        found[key] = None
        written.setdefault(key, Counter())[shown] += 1
    return found


def _phrases(words: Words) -> Iterator[tuple[Key, str]]:
    for start in range(len(words)):
        keys: list[str] = []
        shown: list[str] = []
        for word in words[start : start + _PHRASE_WORDS]:
            if word is None or word[0] in keys:
                break
            keys.append(word[0])
            shown.append(word[1])
            yield tuple(keys), " ".join(shown)


def _scores(found: Counter[Key], size: int, everywhere: Counter[Key], total: int) -> dict[Key, float]:
    """How well each term of a group tells it from the others."""
    others = total - size
    scores = {}
    for key, count in found.items():
        if count < _TWICE and len(key) > 1:
            continue
        inside = count / size
        outside = (everywhere[key] - count + _SMOOTH) / (others + 1)
        score = inside * log((count + _SMOOTH) / (size + 1) / outside) if others else inside
        if score > 0:
            scores[key] = score if count >= _TWICE else score * _ONCE
    return scores


def _chosen(scores: dict[Key, float]) -> list[Key]:
    """The best terms that do not repeat each other; a phrase instead of its words where it scores nearly as much."""
    ranked = sorted(scores, key=lambda key: -scores[key])  # of equals the one that is read first
    best_of = {key[0]: scores[key] for key in ranked if len(key) == 1}

    def stands_alone(phrase: Key) -> bool:
        return scores[phrase] >= _PHRASE * max(best_of.get(part, 0.0) for part in phrase)

    chosen: list[Key] = []
    taken: set[str] = set()
    for key in ranked:
        if len(chosen) == _MOST or (len(chosen) >= _FEWEST and scores[key] < _FAINT * scores[ranked[0]]):
            break
        if taken & set(key):
            continue
        longer = [one for one in ranked if set(key) < set(one) and not taken & set(one) and stands_alone(one)]
        pick = max(longer, key=lambda one: (len(one), scores[one], one)) if longer else key
        chosen.append(pick)
        taken.update(pick)
    return chosen


def _shown(forms: Counter[str]) -> str:
    """How a term is mostly written; of equals the one in small letters, then the shortest."""
    return min(forms, key=lambda form: (-forms[form], form != form.lower(), len(form), form))


class WordReader:
    """Reads texts that belong together: how a word is written elsewhere says what is a particle and what a name."""

    def __init__(self, texts: Sequence[str], limit: int) -> None:
        """``limit`` is how many characters of each text are read."""
        self._limit = limit
        spoken = Counter(filter(None, map(_language, texts[:: max(1, len(texts) // _LANGUAGES)])))
        self._usual = next((name for name, _ in spoken.most_common(1) if name), "english")
        self._roots = Roots(word for text in texts for word in self._tokens(text))
        self._keys: dict[tuple[str, str], str] = {}

    def read(self, text: str) -> Words:
        """The words of a text that say something, and gaps where others stand."""
        spoken = _language(text) or self._usual
        words: Words = []
        for token in self._tokens(text):
            if not token[0].isalnum():
                words.append(None)
            elif _DENSE.search(token) and not HANGUL.search(token):
                pieces = [piece for piece in _CUT.split(token) if 1 < len(piece) <= _HAN_LONGEST]
                words += [None, *((fold(piece), piece) for piece in pieces), None]
            else:
                word = self._word(token, spoken)
                words.append(word)
                if word and HANGUL.fullmatch(token) and token[len(word[1]) :] not in ("", "의"):
                    words.append(None)  # a particle ends a compound
        return words

    def _tokens(self, text: str) -> Iterable[str]:
        text = unicodedata.normalize("NFC", text[: self._limit])
        return _TOKEN.findall(_ADDRESS.sub(" . ", text))

    def _word(self, token: str, spoken: str) -> tuple[str, str] | None:
        if mixed := _MIXED.fullmatch(token):
            token = mixed[1] + self._roots.tail(mixed[2])
        token = _SHORTENED.sub("", token)
        folded = fold(token)
        if not 1 < len(folded) <= _LONGEST or folded.isdigit() or folded in _EMPTY:
            return None
        if HANGUL.fullmatch(token):
            root = self._roots.of(token)
            return (root, root) if root and len(token) > 1 and root not in _EMPTY else None
        if folded in STOPWORDS.get(spoken, ()):
            return None
        key = self._keys.get((spoken, token))
        if key is None:
            rules = plausible(folded, spoken)
            key = self._keys[spoken, token] = stem(token.casefold(), rules[0]) if rules else folded
        return key, token


def _language(text: str) -> str | None:
    return language(fold(text[:_READ]).replace("'", " ").replace("’", " ").split())


class Roots:
    """What Korean words are without particles and endings, given all words that are written beside them."""

    def __init__(self, words: Iterable[str]) -> None:
        self._counts = Counter(word for word in words if HANGUL.fullmatch(word))
        self._known: dict[str, str] = {}

    def of(self, word: str) -> str:
        """The noun in a word; nothing where it is a verb."""
        found = self._known.get(word)
        if found is None:
            found = self._known[word] = self._cut(word)
        return found

    def tail(self, hangul: str) -> str:
        """What stands behind a foreign word or a number, without particles: the unit it counts, if anything."""
        for particle in PARTICLES:
            if hangul.endswith(particle) and (hangul == particle or particle in _SURE):
                return hangul[: -len(particle)]
        return hangul

    def _cut(self, word: str) -> str:
        if word in _NOUNS:
            return word
        root = _VERBS.sub("", word)
        if root != word:
            return self._without(root) if len(root) > 1 else ""
        if _VERB_ALONE.search(word) and len(word) > 2:
            return ""
        return self._without(word)

    def _without(self, word: str) -> str:
        for particle in PARTICLES:
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
        return closed == (particle == "이") and not any(self._counts[word + other] for other in PARTICLES)

    def _stands(self, root: str, particle: str) -> bool:
        """Whether a root is written bare or before another particle too: 민주주 is not, so 민주주의 stays."""
        return any(self._counts[root + other] for other in ("", *PARTICLES) if other != particle)
