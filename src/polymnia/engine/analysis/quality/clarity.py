"""Clarity: whether a reader can tell what each sentence means."""

from __future__ import annotations

import re
from collections import Counter

from polymnia.engine.analysis.quality.clarity_words import (
    ABBREVIATION,
    DENIED_TWICE,
    EXPLETIVE,
    KNOWN,
    LOOSE,
    PASSIVE,
    VAGUE,
)
from polymnia.engine.analysis.quality.measuring import dimension, rated, untold
from polymnia.engine.analysis.quality.sheet import Sentence, Sheet
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric

__all__ = ["clarity"]

_FEWEST = 4  # words a text must have
_LONG = {"ko": 25, "ja": 45, "zh": 40}
_LONG_ELSE = 30  # words; Korean ones hold their particles, so fewer are as long
_SENTENCES, _PHRASE = 3, 3  # sentences in which something can be said again, and words of a mere phrase
_SHOUTED = 20  # capitals in a text that has no small letters, from which they mean nothing
_BY = 0.5  # what a passive counts that says who acts, or a plain Korean one
_INSIDE = 0.5  # what a loose pronoun counts that has sentences before it
# One half is reached when so many faults fall on each sentence: what a text of notes may have before it is tiring.
_HALVES = {
    "vague_words": 0.4,
    "loose_pronouns": 0.3,
    "passive_voice": 0.8,
    "undefined_abbreviations": 0.3,
    "long_sentences": 0.35,
    "double_negations": 0.25,
    "repeated_sentences": 0.2,
}


def clarity(sheet: Sheet) -> Dimension:
    """Measure how clear a text is."""
    if sheet.words < _FEWEST:
        return untold("clarity", f"Too few words to judge how clear they are: {sheet.words}, and {_FEWEST} are needed.")
    tongue = sheet.language if sheet.language in VAGUE else None
    metrics: list[Metric | None] = [_long(sheet), _abbreviations(sheet), _repeated(sheet)]
    if tongue is not None:
        metrics += [_vague(sheet, tongue), _loose(sheet, tongue), _passive(sheet, tongue), _denied(sheet, tongue)]
    note = None if tongue else "Vague words, pronouns, passives and negations are known for English and Korean only."
    return dimension("clarity", metrics, note)


def _metric(name: str, faults: list[Fault], sheet: Sheet) -> Metric:
    return rated(name, faults, len(sheet.sentences), _HALVES[name])


def _repeated(sheet: Sheet) -> Metric | None:
    """Sentences that stand in the text before, word by word; None where there are none."""
    if len(sheet.sentences) < _SENTENCES:
        return None
    count = Counter(" ".join(one.text.lower().split()) for one in sheet.sentences if one.words > _PHRASE)
    first = {" ".join(one.text.lower().split()): one.text for one in reversed(sheet.sentences)}
    faults = [
        Fault(first[said], f"The sentence stands in the text {times} times.", "Say it once.", float(times - 1))
        for said, times in count.items()
        if times > 1
    ]
    return _metric("repeated_sentences", faults, sheet) if faults else None


def _vague(sheet: Sheet, tongue: str) -> Metric:
    faults = []
    for one in sheet.sentences:
        said = list(dict.fromkeys(match[0] for match in VAGUE[tongue].finditer(one.said)))
        if said:
            words = ", ".join(f'"{word}"' for word in said[:4])
            faults.append(
                Fault(
                    one.text,
                    f"{words} leaves open what exactly is meant.",
                    "Say which, how many, who or when.",
                    min(2.0, 0.75 + 0.25 * len(said)),
                )
            )
    return _metric("vague_words", faults, sheet)


def _loose(sheet: Sheet, tongue: str) -> Metric:
    faults = []
    for at, one in enumerate(sheet.sentences):
        match = LOOSE[tongue].match(one.text)
        if match is None or (tongue == "en" and EXPLETIVE.match(one.text)):
            continue
        opens = at == 0 or (one.first and _fresh(sheet, one))
        if not opens and tongue == "en" and match[0].strip("\"'“*_( ") in ("He", "She", "They", "It"):
            continue  # inside a paragraph these point at the sentence before
        if not opens and tongue == "ko":
            continue
        word = match[0].strip("\"'“*_( ")
        where = "nothing stands before it" if at == 0 else "it opens a paragraph" if opens else "no noun follows it"
        faults.append(
            Fault(
                one.text,
                f'It is not clear what "{word}" stands for: {where}.',
                f'Put the noun in the place of "{word}".',
                1.0 if opens else _INSIDE,
            )
        )
    return _metric("loose_pronouns", faults, sheet)


def _fresh(sheet: Sheet, one: Sentence) -> bool:
    """Whether a sentence opens a part of the text: what is before it is a heading, or a paragraph before its own."""
    return sheet.blocks[one.block].kind == "p"


def _passive(sheet: Sheet, tongue: str) -> Metric:
    faults = []
    for one in sheet.sentences:
        match = PASSIVE[tongue].search(one.said)
        if match is None:
            continue
        if tongue == "en":
            told = re.match(r"\s+(?:\w+\s+){0,3}?by\s", one.said[match.end() :]) is not None
            faults.append(
                Fault(
                    one.text,
                    f'"{match[0]}" hides who acts.',
                    "Name who does it, and let them do it.",
                    _BY if told else 1.0,
                )
            )
        else:
            twice = re.match("되어지|되어집|되어졌|되어진|여지|여졌|여진|여집|에 의", match[0]) is not None
            faults.append(
                Fault(
                    one.text,
                    f'"{match[0]}" hides who acts{" and is passive twice" if twice else ""}.',
                    "Name who does it and use the active verb.",
                    1.0 if twice else _BY,
                )
            )
    return _metric("passive_voice", faults, sheet)


def _abbreviations(sheet: Sheet) -> Metric:
    faults = []
    prose = "\n".join(one.text for one in sheet.blocks if one.kind != "code")
    shouted = prose.isupper() and sum(c.isupper() for c in prose) > _SHOUTED
    seen: set[str] = set()
    for one in sheet.sentences:
        for match in ABBREVIATION.finditer(one.said):
            word = match[0]
            letters = sum(c.isalpha() for c in word)
            if word in seen or word in KNOWN or letters < 2 or shouted or _defined(word, prose):
                continue
            seen.add(word)
            faults.append(
                Fault(
                    one.text,
                    f'"{word}" is not explained anywhere in the text.',
                    f"Write it out once: full name ({word}).",
                )
            )
    return _metric("undefined_abbreviations", faults, sheet)


def _defined(word: str, prose: str) -> bool:
    sign = re.escape(word)
    said = (
        rf"\({sign}[s,;)]|\b{sign}\s*(?:\([^)]{{4,}}|[:=–—]\s|stands for|is short for|means|,? or )"
        rf"|{sign}(?:은|는|이란|란) "
    )
    return re.search(said, prose) is not None


def _long(sheet: Sheet) -> Metric:
    limit = _LONG.get(sheet.language or "", _LONG_ELSE)
    faults = [
        Fault(
            one.text,
            f"The sentence has {one.words} words; more than {limit} are hard to hold in mind.",
            "Make two or three sentences of it.",
            min(2.0, one.words / limit),
        )
        for one in sheet.sentences
        if one.words > limit
    ]
    return _metric("long_sentences", faults, sheet)


def _denied(sheet: Sheet, tongue: str) -> Metric:
    faults = [
        Fault(one.text, f'"{match[0]}" denies twice.', "Say it without the negations.")
        for one in sheet.sentences
        if (match := DENIED_TWICE[tongue].search(one.said))
        and not re.search(r"neither\b.*\bnor", one.text, re.IGNORECASE)
    ]
    return _metric("double_negations", faults, sheet)
