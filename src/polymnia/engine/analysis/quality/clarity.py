"""Clarity, readability and consistency: vague words, long, hard or repeated sentences, gibberish; spelling, forms of
dates, manner of address."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.quality.page import (
    Dimension,
    Flaw,
    Metric,
    ParsedPage,
    Sentence,
    dimension,
    few,
    prose_of,
    share,
    unknown,
)
from polymnia.engine.analysis.readability import hard_words, readability
from polymnia.engine.text.language import HANGUL, STOPWORDS, noun, word_list
from polymnia.engine.text.sentences import WORD

_FEWEST = 4  # words
_PHRASE = 3  # words of a sentence that should not be repeated
_LONG, _LONG_KOREAN = 30, 25  # words of a sentence, at most
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
    """Measure whether each sentence is short and definite and not repeated."""
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


_EASY = 0.7  # the score from which nothing has to be easier
_TO_SHORTEN, _TO_SHORTEN_KOREAN = 20, 14  # words of a sentence that can be shortened,
_TO_SIMPLIFY = 12  # and of one that can be simplified,
_MANY_HARD = 1 / 3  # if this share of them is hard
_PLAIN = "word"  # stands for a plain word
_GAIN = 0.005
_SUGGESTED = 5


def readable(page: ParsedPage) -> Dimension:
    """Measure how easy a text is to read by the formula of its language."""
    if not page.prosaic:
        return unknown("readability", Remark("quality.no_prose"))
    prose = page.prose
    reading = readability(prose, page.language)
    if reading.score is None:
        return unknown("readability", Remark(f"quality.reading_{reading.note}"))
    faults, scores = [], []
    for one in sorted(page.sentences, key=lambda one: -one.words)[:_SUGGESTED] if reading.score < _EASY else ():
        fault, better = _simpler(one, page.language)
        after = (
            readability(prose.replace(" ".join(one.text.split()), better, 1), page.language).score if fault else None
        )
        if fault and after is not None and after > reading.score + _GAIN:
            faults.append(fault)
            scores.append(after)
    ease = Metric(
        name="reading_ease",
        value=reading.score,
        score=reading.score,
        places=len(page.sentences),
        unit=reading.method or "",
        count=len(faults),
        faults=tuple(faults),
        score_without=tuple(scores),
    )
    parts = dict(reading.metrics) | ({"school_grade": reading.grade} if reading.grade is not None else {})
    explained = [
        Metric(name=name, value=value, score=reading.score, places=0, unit="reading_ease", weight=0.0)
        for name, value in parts.items()
    ]
    note = Remark(f"quality.reading_{reading.note}") if reading.note else None
    return dimension("readability", [ease, *explained], note)


def _simpler(one: Sentence, language: str | None) -> tuple[Flaw | None, str]:
    """What makes a sentence hard to read, if anything, and the sentence split or in plain words."""
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
_JUDGED = 4  # different words, or twice as many syllables, at least
_KNOWN = 0.4  # the share of known trigrams: 12,014 real sentences had more, random keys less in 89 to 98 of 100
_ODD = 0.4  # the share of letters that no Korean word has
_SHARED = 0.5  # the share of words that other items have, too


def gibberish(page: ParsedPage, others: Iterable[str]) -> Remark | None:
    """Why a text is gibberish; None if it is not.

    Real words share trigrams, random keys hardly do. Korean gibberish is letters that make no syllable, or syllables
    that no Korean word has. What other items say, too, is a name.
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
    """Whether a syllable is one of the 2,350 of Korean words (KS X 1001)."""
    try:
        return len(syllable.encode("euc_kr")) == 2
    except UnicodeEncodeError:
        return False


def _runs(word: str) -> list[str]:
    marked = f"^{word}$"
    return [marked[at : at + _RUN] for at in range(len(marked) - _RUN + 1)]


@cache
def _known_runs() -> frozenset[str]:
    lists = (word_list("easy english"), *STOPWORDS.values())
    return frozenset(
        run for words in lists for word in words if word.isascii() and word.isalpha() for run in _runs(word)
    )


Spellings = dict[str, Counter[str]]
"""The forms of each term of a text and how often each is written."""

_REPEATABLE = 12  # words of a text that can be inconsistent
_USUAL = 5  # how often the project must write a term,
_NEARLY = 0.9  # and in what share of cases in its usual form, before another one is a fault
_SHORTEST = 4  # letters of a term
_MOST = 200_000  # characters of a text
_TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_CODE = re.compile(r"`[^`\n]*`|https?://\S+|(?<!\S)\S+@\S+|(?<![\w.\\-])[\w.\\-]+/[\w./\\-]+|(?<!\w)\w+\.\w+")
_INNER = re.compile(r"[a-z0-9][A-Z]|^[A-Z]{2,}[a-z]")  # a capital inside is part of the spelling
# British and American spelling: colour, organise, centre.
_VARIETIES = (
    (re.compile(r"(?<=[a-z]{2}[^aeiou\W])our(?=s|ed|ing|ite|ful|able|hood|al|$)"), "or"),
    (re.compile(r"(?<=[a-z]{3}[iy])s(?=(?:e|es|ed|ing|er|ers|ation|ations)$)"), "z"),
    (re.compile(r"(?<=[a-z]{2}t)re(?=s?$)"), "er"),
)
_QUOTED = re.compile(r"[\"“”'‘’」』]")
_DATES = {
    "2025-03-03": r"(?<![\d.-])\d{4}-\d{1,2}-\d{1,2}(?![\d-])",
    "3 March 2025": r"\b\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?[A-Z][a-z]{2,8}\.?,?\s+\d{4}\b",
    "March 3, 2025": r"\b[A-Z][a-z]{2,8}\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}\b",
    "03/03/2025": r"(?<![\d/.])\d{1,2}/\d{1,2}/\d{2,4}(?![\d/])",
    "03.03.2025": r"(?<![\d.])\d{1,2}\.\d{1,2}\.\d{4}(?![\d.])",
    "2025.03.03": r"(?<![\d.])\d{4}\.\s?\d{1,2}\.\s?\d{1,2}\.?(?!\d)",
    "2025/03/03": r"(?<![\d/])\d{4}/\d{1,2}/\d{1,2}(?![\d/])",
    "2025년 3월 3일": r"\d{4}\s*년\s*\d{1,2}\s*월\s*\d{1,2}\s*일",
}
"""The forms of full dates."""
_CLOSED = "".join(chr(0xAC00 + 28 * at + 17) for at in range(399))  # syllables that end in ㅂ: 합, 입, 습
_MANNERS = {
    "합니다": rf"(?:[{_CLOSED}]니다|[{_CLOSED}]니까|십시오)[.!?…)*_~]*\s*$",
    "해요": r"(?:[가-힣]요|죠|지요)[.!?…)*_~]*\s*$",
    "한다": rf"(?:[가-힣](?<![{_CLOSED}]니)다|[가-힣]는가)[.!?…)*_~]*\s*$",
}
"""The endings of Korean sentences by speech level; the first that fits counts."""


def consistency(page: ParsedPage, project: Mapping[str, Counter[str]]) -> Dimension:
    """Measure how consistent a text is, and with the spelling of the project."""
    if page.words < _REPEATABLE:
        return few("consistency", page.words, _REPEATABLE)
    prose = [one.text for one in page.sentences] + [one.text for one in page.headings]
    ours = spellings(prose)
    own = [
        one.text
        for one in page.sentences
        if page.language == "ko" and page.blocks[one.block].kind != "q" and not _QUOTED.search(one.text)
    ]
    metrics = [
        _spelling(prose, ours),
        _forms("forms_of_dates", prose, _DATES),
        _forms("manner_of_address", own, _MANNERS),
        _project(prose, ours, project),
    ]
    return dimension("consistency", metrics)


def spellings(texts: Iterable[str]) -> Spellings:
    """How often each form of each term is written: hyphens, British or American spelling, capitals."""
    found: Spellings = {}
    for text in texts:
        for match in _TOKEN.finditer(_CODE.sub(" . ", prose_of(text[:_MOST]))):
            word = noun(match[0]) if HANGUL.fullmatch(match[0]) else match[0]
            key = word.replace("-", "").casefold()
            if len(key) < _SHORTEST or key.isdigit():
                continue
            for rule, other in _VARIETIES:
                key = rule.sub(other, key)
            found.setdefault(key, Counter())[word] += 1
    return {key: forms if any(map(_INNER.search, forms)) else _small(forms) for key, forms in found.items()}


def _small(forms: Counter[str]) -> Counter[str]:
    small: Counter[str] = Counter()
    for form, count in forms.items():
        small[form.lower()] += count
    return small


def _usual(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


def _spelling(prose: list[str], ours: Spellings) -> Metric | None:
    repeated = {key: forms for key, forms in ours.items() if sum(forms.values()) > 1}
    faults = [
        Flaw(_where(prose, form), "one_spelling_for_one_thing", {"form": form, "usual": _usual(forms)})
        for forms in repeated.values()
        for form in forms
        if form != _usual(forms)
    ]
    return share("one_spelling_for_one_thing", faults, len(repeated), "terms written twice") if repeated else None


def _forms(name: str, prose: list[str], forms: Mapping[str, str]) -> Metric | None:
    """The share of places in the most frequent form."""
    found = []
    for one in prose:
        for form, rule in forms.items():
            if re.search(rule, prose_of(one)):
                found.append((form, one))
                break
    usual = Counter(form for form, _ in found).most_common(1)
    faults = [Flaw(one, name, {"form": form, "usual": usual[0][0]}) for form, one in found if form != usual[0][0]]
    return share(name, faults, len(found), "places") if len(found) > 1 else None


def _project(prose: list[str], ours: Spellings, project: Mapping[str, Counter[str]]) -> Metric | None:
    faults, places = [], 0
    for key, forms in ours.items():
        there = project.get(key, Counter())
        total = sum(there.values())
        if total < _USUAL:
            continue
        places += 1
        usual = _usual(there)
        if there[usual] >= _NEARLY * total and usual not in forms:
            form = _usual(forms)
            values = {"form": form, "usual": usual, "times": there[usual], "total": total}
            faults.append(Flaw(_where(prose, form), "spelling_of_the_project", values))
    return share("spelling_of_the_project", faults, places, "terms the project has too") if places else None


def _where(prose: list[str], form: str) -> str:
    rule = rf"(?<!\w){re.escape(form)}" + (r"(?!\w)" if form[-1:].isascii() else "")
    exact = next((one for one in prose if re.search(rule, one)), None)
    return exact or next((one for one in prose if re.search(rule, one, re.IGNORECASE)), form)
