"""Names: the few terms that distinguish a group of texts from all others."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from math import log

from polymnia.engine.text.extraction import TOKEN, URL, pieces
from polymnia.engine.text.language import HANGUL, PARTICLES, STOPWORDS, fold, language

Key = tuple[str, ...]
Words = list[tuple[str, str] | None]
"""The words of a text as (key, as written), in order, with None for a gap."""

_MOST = 4
_FEWEST = 2  # terms
_READ = 400  # characters of each text
_PHRASE_WORDS = 3
_PHRASE = 0.6  # of the score of its best word, from which a phrase replaces it
_FAINT = 0.25  # of the best score, below which terms are left out
_TWICE = 2  # texts of the group that have a term,
_ONCE = 0.01  # or else the factor of its score
_SMOOTH = 0.5  # added to each count
_LANGUAGES = 400  # texts sampled for their language
# Words of requests, which are not about a topic.
_REQUESTS = frozenset(
    """
    would could please hey hi hello okay ok thanks thank im ive id dont cant doesnt didnt isnt wasnt wont whats hows
    thats theres youre getting going give given gave let lets wanna gonna
    알려주세요 주세요 싶어요 싶습니다 있어요 있나요 있습니다 없어요 없습니다 있다고 있다는 없다고
    너무 정말 이런 저런 같은 다른 후 전
    """.split()
)
_SURE = frozenset("은는을를")  # hardly any noun ends so


def distinctive_terms(groups: Sequence[Sequence[str]], background: Sequence[str] = ()) -> list[list[str]]:
    """The most distinctive terms of each group of texts, best first: words and phrases as they are written.

    The score of a term is its share of the group's texts times the log ratio to its share of all other texts.
    """
    reader = WordReader([text for group in groups for text in group] + list(background))
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
    """The words and phrases of one text; their written forms are counted in ``written``."""
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
    """How well each term distinguishes a group."""
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
    """The best terms without repetitions; a phrase replaces its words if it scores nearly as much."""
    ranked = sorted(scores, key=lambda key: -scores[key])  # of equals the first
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
    return min(forms, key=lambda form: (-forms[form], form != form.lower(), len(form), form))


class WordReader:
    """Reads related texts: particles are recognized by other forms of a word."""

    def __init__(self, texts: Sequence[str], limit: int = _READ) -> None:
        """``limit`` is the number of characters read of each text."""
        self._limit = limit
        spoken = Counter(filter(None, map(_language, texts[:: max(1, len(texts) // _LANGUAGES)])))
        self._usual = next((name for name, _ in spoken.most_common(1) if name), "english")
        self._hangul = Counter(token for text in texts for token in self._tokens(text) if HANGUL.fullmatch(token))
        self._known: dict[tuple[str, str], Words] = {}

    def read(self, text: str) -> Words:
        """The content words of a text, with gaps for others."""
        spoken = _language(text) or self._usual
        words: Words = []
        for token in self._tokens(text):
            found = self._known.get((spoken, token))
            if found is None:
                found = self._known[spoken, token] = self._words(token, spoken)
            words += found
        return words

    def _tokens(self, text: str) -> list[str]:
        return TOKEN.findall(URL.sub(" . ", unicodedata.normalize("NFC", text[: self._limit])))

    def _words(self, token: str, spoken: str) -> Words:
        stops = STOPWORDS["english"] | STOPWORDS.get(spoken, frozenset()) | _REQUESTS
        found = [one for one in pieces(token, stops, spoken) if one[0] not in _REQUESTS]
        if len(found) == 1 and HANGUL.fullmatch(token):
            found = [(root, root) for root in [self._root(token, found[0][0])]]
        # A phrase ends with a particle, except for the genitive.
        alone = len(found) == 1 and token in (found[0][1], found[0][1] + "의")
        return [*found] if alone else [*found, None]

    def _root(self, word: str, root: str) -> str:
        """The noun of a word, or the word if its end is probably no particle: 민주주의, 고양이."""
        particle = word[len(root) :]
        if len(particle) != 1 or particle in _SURE:
            return root
        others = [one for one in PARTICLES if one != particle]
        if particle in ("이", "가"):
            return word if any(self._hangul[word + one] for one in others) else root
        return root if any(self._hangul[root + one] for one in ("", *others)) else word


def _language(text: str) -> str | None:
    return language(fold(text[:_READ]).replace("'", " ").replace("’", " ").split())
