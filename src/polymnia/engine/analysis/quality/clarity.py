"""Clarity and readability: vague words, sentences that are long, hard or said again, and text that is no language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.quality.page import ParsedPage, Sentence, prose_of
from polymnia.engine.analysis.quality.scores import Dimension, Flaw, Metric, dimension, few, share, unknown
from polymnia.engine.analysis.readability import hard_words, readability
from polymnia.engine.text.language import STOPWORDS, word_list
from polymnia.engine.text.sentences import WORD

_FEWEST = 4  # words
_PHRASE = 3  # words of a sentence that may not be said twice
_LONG, _LONG_KOREAN = 30, 25  # words of a sentence; more are hard to hold in mind, and Korean words hold particles
_VAGUE = {
    "en": re.compile(
        r"\b(?:stuff|things?|somehow|something|someone|somewhere|etc\b\.?|and so (?:on|forth)|kind of|sort of|a bit"
        r"|some(?! of\b)|various|a lot(?: of)?|lots of|a few|a couple of|certain|as appropriate|if necessary|as needed"
        r"|at some point|soon|sooner or later|whatever|pretty much|more or less|basically|probably|maybe|fairly"
        r"|quite|rather|in due course|asap|many|several)\b",
        re.IGNORECASE,
    ),
    "ko": re.compile(
        r"(?:(?<![가-힣])(?:등등|뭔가|무언가|어떤|여러 ?가지|적당히|적절히|적당한|적절한|어느 정도|조만간|나중에|추후"
        r"|대충|이런저런|약간|좀|아마|아마도|일부|몇몇|다양한|어딘가|누군가|언젠가|가급적|되도록|웬만하면|그냥|거의"
        r"|꽤|상당히)(?![가-힣]{2})"
        r"|필요시|필요에 따라|필요한 경우|그런 것|이런 것|(?<=[가-힣A-Za-z] )등(?=[을의이에은도과 .,]|$))"
    ),
}
"""Words that leave open what, how many, when or who is meant."""


def clarity(page: ParsedPage) -> Dimension:
    """Measure whether each sentence says one definite thing, once."""
    if page.words < _FEWEST or not page.sentences:
        return few("clarity", page.words, _FEWEST)
    vague = _VAGUE.get(page.language or "")
    note = None if vague else Remark("quality.vague_unknown")
    metrics = [_vague(page, vague) if vague else None, _long(page), _repeated(page)]
    return dimension("clarity", metrics, note)


def _vague(page: ParsedPage, rule: re.Pattern[str]) -> Metric:
    faults = []
    for one in page.sentences:
        if words := list(dict.fromkeys(match[0] for match in rule.finditer(one.prose))):
            faults.append(Flaw(one.text, "vague_words", {"words": words[:4]}))
    return share("vague_words", faults, len(page.sentences))


def _long(page: ParsedPage) -> Metric:
    limit = _LONG_KOREAN if page.language == "ko" else _LONG
    faults = [
        Flaw(one.text, "long_sentences", {"words": one.words, "limit": limit})
        for one in page.sentences
        if one.words > limit
    ]
    return share("long_sentences", faults, len(page.sentences))


def _repeated(page: ParsedPage) -> Metric | None:
    first: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for one in page.sentences:
        if one.words >= _PHRASE:
            key = " ".join(one.text.split()).casefold()
            first.setdefault(key, one.text)
            counts[key] += 1
    faults = [
        Flaw(first[key], "repeated_sentences", {"times": times}, float(times - 1))
        for key, times in counts.items()
        if times > 1
    ]
    return share("repeated_sentences", faults, len(page.sentences)) if faults else None


_EASY = 0.7  # the score from which on nothing has to be easier
_TO_SHORTEN, _TO_SHORTEN_KOREAN = 20, 14  # words of a sentence that can be made shorter,
_TO_SIMPLIFY = 12  # and of one with hard words that can be said more plainly,
_MANY_HARD = 1 / 3  # if so many are hard
_PLAIN = "word"  # what stands for a hard word that is made plain
_GAIN = 0.005
_SUGGESTED = 5


def readable(page: ParsedPage) -> Dimension:
    """Measure how easy a text is to read, by the formula of its language."""
    if not page.prosaic:
        return unknown("readability", Remark("quality.no_prose"))
    prose = page.prose
    reading = readability(prose, page.language)
    if reading.score is None:
        return unknown("readability", Remark(f"quality.reading_{reading.note}"))
    faults, mended = [], []
    for one in sorted(page.sentences, key=lambda one: -one.words)[:_SUGGESTED] if reading.score < _EASY else ():
        fault, better = _simpler(one, page.language)
        after = (
            readability(prose.replace(" ".join(one.text.split()), better, 1), page.language).score if fault else None
        )
        if fault and after is not None and after > reading.score + _GAIN:
            faults.append(fault)
            mended.append(after)
    ease = Metric(
        name="reading_ease",
        value=reading.score,
        score=reading.score,
        places=len(page.sentences),
        unit=reading.method or "",
        count=len(faults),
        faults=tuple(faults),
        mended=tuple(mended),
    )
    parts = dict(reading.metrics) | ({"school_grade": reading.grade} if reading.grade is not None else {})
    explained = [
        Metric(name=name, value=value, score=reading.score, places=0, unit="reading_ease", weight=0.0)
        for name, value in parts.items()
    ]
    note = Remark(f"quality.reading_{reading.note}") if reading.note else None
    return dimension("readability", [ease, *explained], note)


def _simpler(one: Sentence, language: str | None) -> tuple[Flaw | None, str]:
    """What makes a sentence hard to read, if anything, and how it would read in two, or with plain words."""
    words = one.text.split()
    hard = list(dict.fromkeys(hard_words(WORD.findall(one.text)))) if language == "en" else []
    if one.words >= (_TO_SHORTEN_KOREAN if language == "ko" else _TO_SHORTEN):
        half = len(words) // 2
        better = " ".join(words[:half]).rstrip(",;") + ". " + " ".join((words[half].capitalize(), *words[half + 1 :]))
        name = "long_and_hard_to_read" if hard else "long_to_read"
        return Flaw(one.text, name, {"words": one.words, "hard": hard[:5]}), better
    if one.words < _TO_SIMPLIFY or len(hard) < _MANY_HARD * one.words:
        return None, ""
    better = " ".join(_PLAIN if set(WORD.findall(word.lower())) & set(hard) else word for word in words)
    return Flaw(one.text, "hard_to_read", {"words": one.words, "count": len(hard), "hard": sorted(hard)[:5]}), better


_RUN = 3  # letters
_LATIN = re.compile(r"(?<![\w'’@/.-])[A-Za-z][a-z]{2,}(?![\w@/-]|\.\w)")  # no abbreviation, address or name in code
_LETTERS = re.compile(r"[^\W\d_]{2,}")
_JAMO = re.compile("[\u3131-\u318e]")
_HANGUL = re.compile("[\uac00-\ud7a3]")
_JUDGED = 4  # different words, or so many syllables twice, before anything is said
_KNOWN = 0.4  # the share of runs that are known: 12,014 real sentences had more, struck keys less in 89 to 98 of 100
_ODD = 0.4  # of the letters of a Korean text, those that no word has
_SHARED = 0.5  # of the words, those that other contents say too


def gibberish(page: ParsedPage, others: Iterable[str]) -> Remark | None:
    """Why a text reads as no words of any language known here; None where it reads as words.

    Words have runs of three letters in common; keys struck at random hardly have any of them. Korean gibberish is
    letters that make no syllable, or syllables that no Korean word has. What other contents say too is a name.
    """
    text = prose_of("\n".join(one.text for one in page.blocks if one.kind != "code"))
    words = {word.lower() for word in _LETTERS.findall(text)}
    why = (_latin(text, words) or _korean(text)) if page.prosaic and words else None
    if why is None:
        return None
    left = set(words)
    for other in others:
        left -= {word.lower() for word in _LETTERS.findall(other)}
        if len(left) <= _SHARED * len(words):
            return None
    return why


def _latin(text: str, words: set[str]) -> Remark | None:
    found = {word.lower() for word in _LATIN.findall(text)}
    if len(found) < max(_JUDGED, len(words) / 2):
        return None
    shares = [sum(run in _known_runs() for run in runs) / len(runs) for runs in map(_runs, found)]
    known = sum(shares) / len(shares)
    return Remark("quality.gibberish_latin", {"share": known, "letters": _RUN}) if known < _KNOWN else None


def _korean(text: str) -> Remark | None:
    loose, whole = len(_JAMO.findall(text)), _HANGUL.findall(text)
    odd = loose + sum(not _common(one) for one in whole)
    total = loose + len(whole)
    if total < 2 * _JUDGED or odd < _ODD * total:
        return None
    return Remark("quality.gibberish_korean", {"odd": odd, "letters": total})


def _common(syllable: str) -> bool:
    """Whether a syllable is one of the 2,350 that Korean words are written with (KS X 1001)."""
    try:
        return len(syllable.encode("euc_kr")) == 2
    except UnicodeEncodeError:
        return False


def _runs(word: str) -> list[str]:
    """The runs of letters of a word, its beginning and its end among them."""
    marked = f"^{word}$"
    return [marked[at : at + _RUN] for at in range(len(marked) - _RUN + 1)]


@cache
def _known_runs() -> frozenset[str]:
    lists = (word_list("easy english"), *STOPWORDS.values())
    return frozenset(
        run for words in lists for word in words if word.isascii() and word.isalpha() for run in _runs(word)
    )
