"""Sentences: splitting prose in any script, counting its words, and estimating its reading time.

Speeds of silent reading: 238 words a minute for words with spaces (Brysbaert 2019), 255 characters a minute for
Chinese and 357 for Japanese (Trauzettel-Klosinski and others 2012), and for Korean 500 syllables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
"""A word of letters."""

_CLOSING = r"[\"'’”»)\]*_`]*"
_NEXT = r"[\"'“‘«(\[*_`¿¡]*"
_BORDER = re.compile(
    # A stop before a capital, a digit or a syllable, or at the end.
    rf"(?<![.!?…؟।])[.!?…؟।]+{_CLOSING}(?:\s+(?={_NEXT}[^\W_a-zа-яё])|\s*$)"
    r"|(?<![。！？｡])[。！？｡]+[」』”’）】\"')]*\s*"
    r"|(?<=[^\W\d_][^\W\d_][^\W\d_])\.\s+(?=[a-zа-яё])"  # in notes and chats also before a small letter
    r"|(?<=[가-힣])[.!?…]+[\"'’”»)\]*_`]*\s+"
    # Korean sentences end without a stop as well, by the form of the verb.
    r"|(?<=니다)\s+(?=\S)|(?<=[어아해세예]요)\s+(?=[가-힣A-Z])|(?<=[했한된었았였이]다)\n"
)
# For texts written in lower case throughout.
_SMALL_BORDER = re.compile(_BORDER.pattern.replace("a-zа-яё]", "]"))
_LETTER = re.compile(r"[^\W\d_]")
_ABBREVIATED = re.compile(
    r"(?:^|[\s(-])(?:(?:[A-Za-zА-Яа-я]\.)*[A-Za-zА-Яа-я]|(?i:dr|mr|mrs|ms|mx|prof|st|vs|etc|e\.g|i\.e|cf|no|nr|vol|fig|al|ca?|z\.b|bzw|usw"
    r"|sr|sra|jr|mme|approx|inc|ltd|co|corp|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|gen|rev|sgt|capt|a\.m|p\.m"
    r"|dept|govt|incl|inkl|excl|max|mio|mrd|tel|ext|vgl|ggf|resp|esp|eds?|orig|pos|str|abs))$"
)
_NUMBERED = re.compile(r"\s*\(?\d{1,3}$")
_DAY = re.compile(r"(?<!\d)\d\d?$")
_BEFORE = 12  # characters before a full stop that are checked for an abbreviation
_ASKS = re.compile(r"[?？؟][\"'”’»)\]*_]*\s*$")
# Syllables that end in ㅂ: 합니까 asks, 하니까 gives a reason.
_CLOSED = "".join(chr(0xAC00 + 28 * syllable + 17) for syllable in range(399))
_KOREAN_ASKS = re.compile(rf"(?:[{_CLOSED}]니까|까요|나요|은가요|는가|을까)[.。]?\s*$")
_STOPPED = re.compile(r"[.!?…:;。！？؟।][\"'’”»)\]*_`]*\s*$")
_KOREAN_END = re.compile(r"(?:다|요|죠|까|음|함|임|됨|것)[\"'’”)]*\s*$")
_LABEL = 12  # words; a longer line is no heading, whatever it ends with


def spans(text: str, start: int = 0, end: int | None = None) -> Iterator[tuple[int, int]]:
    """The spans of the sentences of a paragraph, without surrounding white space."""
    end = len(text) if end is None else end
    letter = _LETTER.search(text, start, end)
    border = _SMALL_BORDER if letter and letter[0].islower() else _BORDER
    for match in border.finditer(text, start, end):
        if match[0][:1] == "." and (ends_short(text, start, match.start()) or _is_day(text, start, match)):
            continue
        if span := _trimmed(text, start, match.end()):
            yield span
        start = match.end()
    if span := _trimmed(text, start, end):
        yield span


def _is_day(text: str, start: int, stop: re.Match[str]) -> bool:
    """Whether a full stop belongs to the day of a date, as in "Am 4. Juli"."""
    if _DAY.search(text, max(start, stop.start() - 3), stop.start()) is None:
        return False
    from polymnia.engine.text.date_grammar import WORDS

    word = WORD.match(text, stop.end())
    return word is not None and WORDS.get(word[0].lower(), ("",))[0] in ("m", "w")


def _trimmed(text: str, start: int, end: int) -> tuple[int, int] | None:
    part = text[start:end].rstrip()
    bare = part.lstrip()
    return (start + len(part) - len(bare), start + len(part)) if bare else None


def ends_short(text: str, start: int, end: int) -> bool:
    """Whether the word before a full stop is an abbreviation, an initial or the number of an item."""
    near = max(start, end - _BEFORE)
    return _ABBREVIATED.search(text, near, end) is not None or _NUMBERED.match(text, start, end) is not None


def sentences(text: str) -> list[str]:
    """The sentences of a paragraph."""
    return [text[start:end] for start, end in spans(text)]


def count_sentences(text: str) -> int:
    """The number of sentences with at least one letter."""
    return sum(_LETTER.search(text, start, end) is not None for start, end in spans(text))


def asks(sentence: str) -> bool:
    """Whether a sentence is a question."""
    return (_ASKS.search(sentence) or _KOREAN_ASKS.search(sentence)) is not None


def is_label(line: str) -> bool:
    """Whether a line looks like a heading: few words, and no end of a sentence."""
    return not _STOPPED.search(line) and not _KOREAN_END.search(line) and len(WORD.findall(line)) <= _LABEL


def lines_of(text: str) -> list[str]:
    """The sentences of a text with one paragraph per line, without headings unless there is nothing else."""
    lines = [line for line in text.splitlines() if line.strip()]
    prose = [line for line in lines if not is_label(line)] or lines
    return [one for line in prose for one in sentences(line)]


_HAN_KANA = re.compile(
    "[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff\u3041-\u30fa\u30fd-\u30ff\u31f0-\u31ff]+"
)
_KANA = re.compile("[\u3041-\u30ff]+")
_HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+")
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3]+")
_WORD = re.compile(r"[^\W_]+(?:['’.,:/@_-]+[^\W_]+)*")
_WORD_ASCII = re.compile(r"[A-Za-z0-9]+(?:['.,:/@_-]+[A-Za-z0-9]+)*")
_MINUTE = 60
_LETTERS = 5  # per word in scripts without word boundaries
_PIECE = 65_536
_WORDS, _SYLLABLES, _CHINESE, _JAPANESE = 238, 500, 255, 357


class Words(NamedTuple):
    """The number of words of a text, and its reading time in seconds."""

    words: int
    seconds: float


def count_words(text: str) -> Words:
    """Count the words of a text, by the rules of each script in it."""
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
    # Han with enough kana is Japanese.
    pace = _JAPANESE if kana * 10 > dense else _CHINESE
    seconds = _MINUTE * (dense / pace + (max(0, spaced - korean) + spaceless) / _WORDS + syllables / _SYLLABLES)
    return Words(dense + spaceless + spaced, seconds)


def _pieces(text: str) -> Iterator[str]:
    """Split a text at white space, so that no list of all its words is built."""
    start = 0
    while start < len(text):
        end = start + _PIECE
        if end < len(text):
            space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
            end = end if space <= start else space
        yield text[start:end]
        start = end
