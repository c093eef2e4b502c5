"""Readable: readability as a side of quality, with the sentences that make a text hard."""

from __future__ import annotations

from polymnia.engine.analysis.quality.measuring import untold
from polymnia.engine.analysis.quality.sheet import Sheet
from polymnia.engine.analysis.quality.values import Dimension, Fault, Metric
from polymnia.engine.analysis.readability import readability
from polymnia.engine.analysis.readability.english import hard_words
from polymnia.engine.analysis.readability.sentences import WORD

__all__ = ["readable"]

_EASY = 0.7  # as easy as a text for learners; where it is easier, nothing is suggested
_TOLD = 3  # sentences that are looked at for what they cost
_GAIN = 0.001  # what cutting a sentence in two must bring to be suggested
_FEWEST = 12  # words a sentence must have to be worth mending


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
    for one in worst:
        words = one.text.split()
        half = len(words) // 2
        parted = " ".join(words[:half]).rstrip(",;") + ". " + " ".join((words[half].capitalize(), *words[half + 1 :]))
        without = readability(prose.replace(" ".join(words), parted, 1), sheet.language).score
        if without is not None and without > reading.score + _GAIN and reading.score < _EASY:
            hard = (
                list(dict.fromkeys(hard_words([word.lower() for word in WORD.findall(one.text)])))
                if sheet.language == "en"
                else []
            )
            named = f", and hard words: {', '.join(hard[:5])}" if hard else ""
            faults.append(
                Fault(one.text, f"The sentence has {one.words} words{named}.", "Make it shorter, with plainer words.")
            )
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
