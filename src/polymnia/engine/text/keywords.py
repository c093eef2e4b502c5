"""Telling words: the words and phrases of a text that say what it is about, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct, field

from polymnia.engine.text.korean import HANGUL, noun
from polymnia.engine.text.language import DENSE, fold, plausible, stem
from polymnia.engine.text.lexicon import GENERAL, STOPWORDS

_READ = 12_000  # characters: what a text is about shows by then
_MOST = 12
TOKEN = re.compile(r"[^\W_]+(?:['’_-][^\W_]+)*(?:\+\+|\#)?|[.!?;:,()\[\]\n\"“”|]")
URL = re.compile(r"(?:https?|ftp)://\S+|\bwww\.\S+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{1,64}", re.IGNORECASE)
_DENSE = re.compile(f"[{DENSE}]")
_RUN = re.compile(f"[{DENSE}]+|[^{DENSE}]+")
_VERB = re.compile(
    "(?:하다|했다|한다|하는|하고|하여|해서|된다|되는|됐다|있다|있는|없다|없는|같은|위해|대한|통해|대해|따라|입니다|합니다|니다"
    "|어요|아요|세요|었다|았다|였다)$"
)
# Japanese writes its grammar in hiragana; Chinese has these characters between its words.
_CUT = re.compile(
    "[\u3041-\u309f]+|[的了是在和与與或也都很就我你他她它们們这這那有不对對从從被把给給及为為于於要吗嗎呢吧上下中后後]"
)
_PHRASE = 1.6
_CASED = 1.35  # an identifier, an acronym, a name inside a sentence
_LED = 1.5  # what stands in a heading
_LONG = 0.05


class _Seen(Struct):
    """A word in all its forms: how often, since when, and how it is written."""

    first: int
    count: int = 0
    forms: dict[str, int] = field(default_factory=dict)


def telling(text: str, spoken: str | None, heads: Iterable[str] = (), most: int = _MOST) -> list[str]:
    """The most telling words and phrases, as they stand in the text; those of its headings (``heads``) tell more."""
    head = URL.sub(" . ", text[:_READ])
    stops = STOPWORDS["english"] | STOPWORDS.get(spoken or "english", frozenset())
    seen: dict[str, _Seen] = {}
    phrases: dict[tuple[str, ...], int] = {}
    run: list[str] = []
    known: dict[str, list[tuple[str, str]]] = {}
    at = 0
    for at, token in enumerate(TOKEN.findall(head)):
        words = known.get(token)
        if words is None:
            words = known[token] = pieces(token, stops, spoken)
        for root, word in words:
            one = seen.get(root)
            if one is None:
                one = seen[root] = _Seen(at)
            one.count += 1
            one.forms[word] = one.forms.get(word, 0) + 1
        if len(words) == 1:
            run.append(words[0][1])
            for size in (2, 3):
                if len(run) >= size:
                    phrase = tuple(run[-size:])
                    phrases[phrase] = phrases.get(phrase, 0) + 1
        if len(words) != 1 or words[0][1] != token:
            run.clear()  # what a particle ends is no part of a phrase that goes on
    led = {root for one in heads for token in TOKEN.findall(one) for root, _ in pieces(token, stops, spoken)}
    scores = _scores(seen, led, at + 1)
    for phrase, count in phrases.items():
        if count > 1:
            least = min(scores.get(word, 1.0) for word in phrase)
            scores[" ".join(phrase)] = least * _PHRASE * min(count, 6) ** 0.4
    return _chosen(scores, " ".join(head.split()).lower(), most)


def _scores(seen: dict[str, _Seen], led: set[str], length: int) -> dict[str, float]:
    scores: dict[str, float] = {}
    for root, one in seen.items():
        word = max(one.forms, key=one.forms.__getitem__) if len(one.forms) > 1 else next(iter(one.forms))
        score = min(one.count, 12) ** 0.6 * (1 + _LONG * min(len(word), 12)) * (1.2 - 0.4 * one.first / length)
        named = word[:1].isupper() and len(one.forms) == 1 and one.count > 1
        if named or word[1:] != word[1:].lower() or not word.isalpha():
            score *= _CASED
        scores[word] = max(scores.get(word, 0.0), score * (_LED if root in led else 1.0))
    return scores


def _chosen(scores: dict[str, float], small: str, most: int) -> list[str]:
    """The best of them, none a part of another, each really in the text."""
    chosen: list[str] = []
    for word in sorted(scores, key=lambda one: (-scores[one], one)):
        low = word.lower()
        if any(low in other.lower() or other.lower() in low for other in chosen) or low not in small:
            continue
        chosen.append(word)
        if len(chosen) == most:
            break
    return chosen


def pieces(token: str, stops: frozenset[str], spoken: str | None) -> list[tuple[str, str]]:
    """The content words of a token: what to know each by, and the word as it stands."""
    if not token[0].isalnum():
        return []
    if not _DENSE.search(token):
        return _spelled(token.removesuffix("'s").removesuffix("’s"), stops, spoken)
    found: list[tuple[str, str]] = []
    for run in _RUN.findall(token):
        if HANGUL.search(run):
            root = noun(run)
            if len(root) > 1 and root not in STOPWORDS["korean"] and root not in GENERAL and not _VERB.search(run):
                found.append((root, root))
        elif _DENSE.search(run):
            found += [(piece, piece) for piece in _CUT.split(run) if 2 <= len(piece) <= 6]
        elif len(run) > 1 and not run.isdigit():
            found += _spelled(run, stops, spoken)
    return found


def _spelled(word: str, stops: frozenset[str], spoken: str | None) -> list[tuple[str, str]]:
    """A word of an alphabet, known by its stem."""
    folded = fold(word)
    if len(word) < 3 - word.isupper() or folded in stops or folded in GENERAL or "'" in word or "’" in word:
        return []
    if any(c.isdigit() for c in word):
        return [] if word[0].isdigit() else [(folded, word)]
    rules = plausible(folded, spoken or "english")
    return [(stem(word.casefold(), rules[0]) if rules else folded, word)]
