"""Consistency: one spelling for one thing, one form for dates, one manner of address."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from polymnia.engine.analysis.quality.page import ParsedPage, prose_of
from polymnia.engine.analysis.quality.scores import Dimension, Flaw, Metric, dimension, few, share
from polymnia.engine.text.language import HANGUL, noun

Spellings = dict[str, Counter[str]]
"""The terms of a text by what their forms have in common, and how often each form is written."""

_FEWEST = 12  # words in which something can be said twice
_USUAL = 5  # how often the project must spell a word otherwise,
_NEARLY = 0.9  # and in what share of cases, before a spelling is called unusual
_SHORTEST = 4  # letters of a term
_MOST = 200_000  # characters of a text, as of the one that is judged
_TOKEN = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_CODE = re.compile(r"`[^`\n]*`|https?://\S+|(?<!\S)\S+@\S+|(?<![\w.\\-])[\w.\\-]+/[\w./\\-]+|(?<!\w)\w+\.\w+")
_INNER = re.compile(r"[a-z0-9][A-Z]|^[A-Z]{2,}[a-z]")  # a capital inside is part of the spelling
# British and American, which no other word of the same letters has: colour, organise, centre.
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
"""How full dates are written."""
_CLOSED = "".join(chr(0xAC00 + 28 * at + 17) for at in range(399))  # syllables that end in ㅂ: 합, 입, 습
_MANNERS = {
    "합니다": rf"(?:[{_CLOSED}]니다|[{_CLOSED}]니까|십시오)[.!?…)*_~]*\s*$",
    "해요": r"(?:[가-힣]요|죠|지요)[.!?…)*_~]*\s*$",
    "한다": rf"(?:[가-힣](?<![{_CLOSED}]니)다|[가-힣]는가)[.!?…)*_~]*\s*$",
}
"""How Korean sentences end, by how they address the reader; the first that fits."""


def consistency(page: ParsedPage, project: Mapping[str, Counter[str]]) -> Dimension:
    """Measure how consistent a text is in itself and with the spelling of the project."""
    if page.words < _FEWEST:
        return few("consistency", page.words, _FEWEST)
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
    """How often each form of each term is written: joined or hyphenated, British or American, with which capitals."""
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
    """Forms in small letters: without a capital inside, capitals are those of a sentence or of emphasis."""
    small: Counter[str] = Counter()
    for form, count in forms.items():
        small[form.lower()] += count
    return small


def _usual(forms: Counter[str]) -> str:
    return min(forms, key=lambda form: (-forms[form], form))


def _spelling(prose: list[str], ours: Spellings) -> Metric | None:
    """The share of the terms that are written more than once and always in one way."""
    repeated = {key: forms for key, forms in ours.items() if sum(forms.values()) > 1}
    faults = [
        Flaw(_where(prose, form), "one_spelling_for_one_thing", {"form": form, "usual": _usual(forms)})
        for forms in repeated.values()
        for form in forms
        if form != _usual(forms)
    ]
    return share("one_spelling_for_one_thing", faults, len(repeated), "terms written twice") if repeated else None


def _forms(name: str, prose: list[str], forms: Mapping[str, str]) -> Metric | None:
    """The share of the places that have the form most of them have."""
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
    """The sentence in which a form stands."""
    rule = rf"(?<!\w){re.escape(form)}" + (r"(?!\w)" if form[-1:].isascii() else "")
    exact = next((one for one in prose if re.search(rule, one)), None)
    return exact or next((one for one in prose if re.search(rule, one, re.IGNORECASE)), form)
