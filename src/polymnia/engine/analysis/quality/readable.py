"""Readable: readability as a side of quality, with the sentences that make a text hard."""

from __future__ import annotations

from polymnia.engine.analysis.quality.measuring import untold
from polymnia.engine.analysis.quality.sheet import Sentence, Sheet
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric
from polymnia.engine.analysis.readability import readability
from polymnia.engine.analysis.readability.english import hard_words
from polymnia.engine.analysis.readability.sentences import WORD

__all__ = ["readable"]

_EASY = 0.7  # as easy as a text for learners; where it is easier, nothing is suggested
_TOLD = 3  # sentences that are looked at for what they cost
_GAIN = 0.001  # what cutting a sentence in two must bring to be suggested
_FEWEST = 12  # words a sentence must have to be worth mending
_LONG, _LONG_KOREAN = 20, 14  # and to be worth cutting in two; Korean words hold their particles
_HARD = 0.33  # the share of hard words from which a shorter one is worth saying more plainly
_PLAIN = "thing"  # a plain word, in the place of a hard one


def readable(sheet: Sheet) -> Dimension:
    """Measure how easy the prose of a text is to read."""
    if sheet.data:
        return untold("readability", "Data are not read as prose is.")
    prose = sheet.prose
    reading = readability(prose, sheet.language)
    if reading.score is None:
        return untold("readability", reading.note or "Nothing is known of it.")
    worst = sorted((one for one in sheet.sentences if one.words >= _FEWEST), key=lambda one: -one.words)[:_TOLD]
    faults, mended = [], []
    for one in worst if reading.score < _EASY else ():
        found = _shorter(one, sheet.language) if one.words >= _long(sheet) else _plainer(one, sheet.language)
        if found is None:
            continue
        fault, better = found
        without = readability(prose.replace(" ".join(one.text.split()), better, 1), sheet.language).score
        if without is not None and without > reading.score + _GAIN:
            faults.append(fault)
            mended.append(without)
    grade = f", school grade {reading.grade:g}" if reading.grade is not None else ""
    score = reading.score
    metrics = [
        Metric(
            name="reading_ease",
            value=reading.score,
            score=score,
            weight=1.0,
            faults=tuple(faults),
            mended=tuple(mended),
            against=f"{reading.method}{grade}; 1 is the easiest",
        )
    ]
    metrics += [
        Metric(name=name, value=value, score=score, weight=0.0, against="a part of reading_ease")
        for name, value in reading.metrics.items()
    ]
    return Dimension(name="readability", score=round(score, 4), note=reading.note, metrics=tuple(metrics))


def _long(sheet: Sheet) -> int:
    return _LONG_KOREAN if sheet.language == "ko" else _LONG


def _hard(one: Sentence, language: str | None) -> list[str]:
    """The hard words of an English sentence, each once."""
    return (
        list(dict.fromkeys(hard_words([word.lower() for word in WORD.findall(one.text)]))) if language == "en" else []
    )


def _shorter(one: Sentence, language: str | None) -> tuple[Fault, str]:
    """A long sentence, and how it reads in two."""
    words = one.text.split()
    half = len(words) // 2
    parted = " ".join(words[:half]).rstrip(",;") + ". " + " ".join((words[half].capitalize(), *words[half + 1 :]))
    hard = _hard(one, language)
    named = f", and hard words: {', '.join(hard[:5])}" if hard else ""
    return Fault(
        one.text, f"The sentence has {one.words} words{named}.", "Make it shorter, with plainer words."
    ), parted


def _plainer(one: Sentence, language: str | None) -> tuple[Fault, str] | None:
    """A sentence of many hard words, and how it reads with plain ones; None where it has few."""
    hard = set(_hard(one, language))
    if len(hard) < _HARD * one.words:
        return None
    plain = " ".join(_PLAIN if set(WORD.findall(word.lower())) & hard else word for word in one.text.split())
    said = f"{len(hard)} of its {one.words} words are hard: {', '.join(sorted(hard)[:5])}."
    return Fault(one.text, said, "Use plainer words for them."), plain
