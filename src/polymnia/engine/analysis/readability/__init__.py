"""Readability: how easy a text is to read, in one number that can be compared between texts of a language."""

from __future__ import annotations

from msgspec import Struct, field

from polymnia.engine.text.language import script as written
from polymnia.engine.text.language import spoken

__all__ = ["Reading", "readability"]

_FEWEST = 5  # words; fewer say nothing of how a text reads
_APART = frozenset({"latin", "cyrillic", "greek", "armenian", "georgian"})  # scripts whose words LIX can measure


class Reading(Struct, frozen=True, kw_only=True):
    """How easy a text is to read: from 0 to 1, 1 the easiest; None where nothing is known, and ``note`` says why.

    ``grade`` is the school grade by Flesch and Kincaid, for English alone. ``metrics`` are the numbers it is made of,
    ``method`` how they were joined.
    """

    score: float | None
    language: str | None = None
    grade: float | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    method: str | None = None
    note: str | None = None


def readability(text: str, language: str | None = None) -> Reading:
    """Measure a text of prose, a paragraph a line; ``language`` is its code where it is known."""
    code = language or spoken(text)[0]
    if code is None and written(text) == "latin" and text.isascii():
        code = "en"  # a short note without small words: the endings of English do the least harm
    words = len(text.split())
    if words < _FEWEST and code not in ("zh", "ja", "th", "lo", "my", "km"):
        return Reading(score=None, language=code, note=f"Too few words to tell: {words}, and {_FEWEST} are needed.")
    if code == "en":
        from polymnia.engine.analysis.readability.english import english

        score, grade, measures = english(text)
        return _told(score, code, measures, "seven measures fitted to graded English articles", grade=grade)
    if code == "ko":
        from polymnia.engine.analysis.readability.korean import korean

        score, measures = korean(text)
        note = "For Korean the order of texts is meant; no formula tested with readers is published."
        return _told(score, code, measures, "six measures against encyclopaedia paragraphs", note)
    from polymnia.engine.analysis.readability.formulas import FLESCH, flesch, lix

    if code in FLESCH:
        score, measures = flesch(text, code)
        return _told(score, code, measures, f"reading ease by {FLESCH[code][0]}")
    if written(text) in _APART:
        score, measures = lix(text)
        stands_in = (
            None if code in ("sv", "da", "no", "fi") else "No formula is known for this language; LIX stands in."
        )
        return _told(score, code, measures, "LIX by Björnsson 1968", stands_in)
    return Reading(score=None, language=code, note="No measure of readability is known for this language or script.")


def _told(
    score: float, code: str | None, measures: dict[str, float], method: str, note: str | None = None, *,
    grade: float | None = None,
) -> Reading:  # fmt: skip
    if not measures:
        return Reading(score=None, language=code, note="There is no sentence to measure.")
    return Reading(
        score=round(score, 4),
        language=code,
        grade=None if grade is None else round(grade, 1),
        metrics={name: round(value, 4) for name, value in measures.items()},
        method=method,
        note=note,
    )
