"""Sentences: where prose in any script is cut, so that each can be quoted as it stands."""

from __future__ import annotations

import re

__all__ = ["WORD", "is_label", "lines_of", "sentences"]

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
"""A word of letters."""

_STOP = re.compile(
    r"[.!?…؟।]+[\"'’”»)\]*_`]*\s+(?=[\"'“‘«(\[*_`¿¡]*[^\W_a-zа-яё])"  # before a capital, a digit or a syllable
    r"|[.!?…]+[\"'’”»)\]*_`]*\s*$"
    r"|[。！？｡]+[」』”’）】]*\s*"
)
_SHORT = re.compile(
    r"(?:^|[\s(])(?:[A-ZА-Я]|(?i:dr|mr|mrs|ms|prof|st|vs|etc|e\.g|i\.e|cf|no|nr|vol|fig|al|ca|z\.b|bzw|sr|sra|mme"
    r"|approx|inc|ltd|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|gen|rev|sgt|capt))$"
)
_NUMBERED = re.compile(r"^\s*\(?\d{1,3}$")
_END = re.compile(r"[.!?…:;。！？؟।][\"'’”»)\]*_`]*\s*$")
_KOREAN_END = re.compile(r"(?:다|요|죠|까|음|함|임|됨|것)[\"'’”)]*\s*$")
_BEFORE = 12  # characters before a stop that tell whether it ends a sentence
_LABEL = 12  # words; a longer line is no heading, whatever it ends with


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph as they stand, without the white space around them."""
    found: list[str] = []
    start = 0
    for match in _STOP.finditer(text):
        before = text[max(start, match.start() - _BEFORE) : match.start()]
        if match.group().startswith(".") and (_SHORT.search(before) or _NUMBERED.match(before)):
            continue
        if one := text[start : match.end()].strip():
            found.append(one)
        start = match.end()
    if rest := text[start:].strip():
        found.append(rest)
    return found


def is_label(line: str) -> bool:
    """Whether a line reads like a heading: a few words and no end of a sentence."""
    return (
        not _END.search(line) and not _KOREAN_END.search(line) and len(WORD.findall(line)) <= _LABEL
    )  # "1 Passing clouds", "배포 절차"


def lines_of(text: str) -> list[str]:
    """The sentences of a text whose paragraphs are lines; its headings are left out unless there is nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    said = [line for line in lines if len(lines) == 1 or not is_label(line)] or lines
    return [one for line in said for one in sentences(line)]
