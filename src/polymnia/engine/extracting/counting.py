"""Counting: words and sentences in any script, and how long they take to read.

Reading speeds are those found for silent reading: 238 words a minute where words have spaces (Brysbaert 2019), 255
characters a minute for Chinese and 357 for Japanese (Trauzettel-Klosinski and others 2012), and for Korean, which
joins its particles to its words, 500 syllables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

__all__ = ["Words", "count_sentences", "count_words"]

_HAN_KANA = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3041-\u30fa\u30fd-\u30ff\u31f0-\u31ff]+"
)
_KANA = re.compile("[\u3041-\u30ff]+")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+")
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3]+")
_WORD = re.compile(r"[^\W_]+(?:['’.,:/@_-]+[^\W_]+)*")
_WORD_ASCII = re.compile(r"[A-Za-z0-9]+(?:['.,:/@_-]+[A-Za-z0-9]+)*")
_STOP = re.compile(r"[.!?…؟।]+[\"'’”»)\]]*(?=\s|$)|[。！？｡]+")
_SIGN = re.compile(r"[^\W_]")
_SHORT = re.compile(
    r"(?:^|[\s(])(?:[A-ZА-Я]|(?i:dr|mr|mrs|ms|prof|st|vs|etc|e\.g|i\.e|cf|no|nr|vol|fig|al|ca|z\.b|bzw|usw|sr|sra|mme|approx|inc|ltd))$"
)
_MINUTE = 60
_LETTERS = 5  # of a word in scripts that do not part their words
_PIECE = 65_536
_WORDS, _SYLLABLES, _CHINESE, _JAPANESE = 238, 500, 255, 357


class Words(NamedTuple):
    """How many words a text has, and how many seconds they take to read."""

    words: int
    seconds: float


def count_words(text: str) -> Words:
    """Count the words of a text by the rules of each script in it."""
    if text.isascii():
        count = sum(len(_WORD_ASCII.findall(piece)) for piece in _pieces(text))
        return Words(count, count * _MINUTE / _WORDS)
    dense = kana = spaceless = spaced = korean = syllables = 0
    for piece in _pieces(text):
        rest = piece
        if _HAN_KANA.search(rest):
            runs = "".join(_HAN_KANA.findall(rest))
            dense += len(runs)
            kana += len("".join(_KANA.findall(runs)))
            rest = _HAN_KANA.sub(" ", rest)
        if _SPACELESS.search(rest):
            spaceless += sum(max(1, round(len(run) / _LETTERS)) for run in _SPACELESS.findall(rest))
            rest = _SPACELESS.sub(" ", rest)
        spaced += len(_WORD.findall(rest))
        hangul = _HANGUL.findall(rest)
        korean += len(hangul)
        syllables += len("".join(hangul))
    # Han beside a fair share of kana is Japanese.
    pace = _JAPANESE if kana * 10 > dense else _CHINESE
    seconds = _MINUTE * (dense / pace + (max(0, spaced - korean) + spaceless) / _WORDS + syllables / _SYLLABLES)
    return Words(dense + spaceless + spaced, seconds)


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces cut at white space, so that no list of all its words is ever held."""
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = end if space <= start else space
        yield text[start:end]
        start = end


def count_sentences(blocks: Sequence[tuple[str, str]]) -> int:
    """Count the sentences in blocks of words; what ends without a full stop is one as well."""
    count = 0
    for kind, text in blocks:
        if kind in ("p", "li"):
            count += _sentences(text)
    return count


def _sentences(text: str) -> int:
    count = end = 0
    for match in _STOP.finditer(text):
        if match.group() == "." and _SHORT.search(text, max(end, match.start() - 8), match.start()):
            continue
        if _SIGN.search(text, max(end, match.start() - 40), match.start()):
            count += 1
        end = match.end()
    return count + any(c.isalpha() for c in text[end : end + 200])
