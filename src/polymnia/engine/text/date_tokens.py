"""A text as the parts of a calendar: words, numbers and dates written in figures, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple, TypeAlias
from unicodedata import is_normalized, normalize

from polymnia.engine.text import calendar as days
from polymnia.engine.text.lexicon import sections

Partial: TypeAlias = tuple[int, int, int]
"""Year, month and day; 0 stands for one that is not said."""


class Token(NamedTuple):
    """A part of a date: its letter (see date_words.txt), its value or the dates it may mean, and its place."""

    letter: str
    value: int
    dates: tuple[Partial, ...]
    start: int
    end: int


_Part: TypeAlias = tuple[str, int]


def _parts(section: str, mark: str | None = None) -> dict[str, _Part]:
    """The words of a section, each with its part; what is said first counts."""
    found: dict[str, _Part] = {}
    for line in section.strip().splitlines():
        part, words = line.split(" ", 1)
        for word in words.split(mark):
            found.setdefault(word, (part[0], int(part[1:])))
    return found


def _words(section: str, ordinals: str) -> dict[str, _Part]:
    found = _parts(section) | {word: ("e", value) for value, word in enumerate(ordinals.split(), 1)}
    # A tilde or an accent is often left out in typing; "once" and the like mean something else without it.
    for word, part in list(found.items()):
        if len(word) > 3 and word[0] < "ʰ" and not word.isascii():
            bare = "".join(c for c in normalize("NFD", word) if c < "\u0300" or c > "\u036f")
            if bare not in ("once", "passe", "mars", "manana"):
                found.setdefault(bare, part)
    return found


_FILE = sections("date_words.txt")
WORDS = _words(_FILE["words"], _FILE["ordinals"])
_PHRASES = _parts(_FILE["phrases"], "|")
_HANGUL, _EASTERN = _parts(_FILE["hangul"]), _parts(_FILE["eastern"])
_PARTICLES = frozenset(_FILE["particles"].split())


def _any(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


_FIGURES = "〇一二三四五六七八九"
_NUMBER = rf"(?:\d{{1,2}}|[{_FIGURES}十]{{1,3}})"
_MONTH = rf"{_NUMBER}\s?[月월](?!曜)"
_DAY = rf"{_NUMBER}\s?[日号號일](?![間前전간])"
_KANA_HAN = "\u3040-\u30ff\u3400-\u9fff"
_FIRSTS = "".join(sorted({word[0] for word in _EASTERN} | set(_FIGURES + "十令平昭年月日零")))

_NUMERIC = r"""
    (?P<ymd>(?<![a-z0-9_.])\d{4}(?:(?P<ys>[-/])\d{1,2}(?:(?P=ys)\d{1,2})?|\.\ ?\d{1,2}\.\ ?\d{1,2}\.?)(?!\d)
      (?:t\d\d:?\d\d(?::?\d\d(?:\.\d+)?)?(?:z|[-+]\d\d:?\d\d)?)?)
  | (?P<dmy>(?<![a-z0-9_.])\d{1,2}(?P<ds>/|-|\.\ ?)\d{1,2}(?P=ds)(?:\d{4}|\d{2})(?!\d|[./-]\d))
  | (?P<time>\d{1,2}:\d\d(?::\d\d)?(?:\s?[ap]\.?m\b\.?)?)
  | (?P<dm>\d{1,2}\.\d{1,2}\.(?!\d))
  | (?P<odd>\d+(?:\.\d+)+|\d{1,3}(?:,\d{3})+(?!\d)|\d{5,})
  | (?P<decade>\d{3}0(?:'?s|er)\b)
  | (?P<ordinal>\d{1,2}(?:st|nd|rd|th|er|º|°|ª|-?го|\.(?=\s))(?![a-zа-я]))
  | (?P<digits>\d+)
"""
_TAIL = r"(?P<short>['’]\d\d(?!\d))|(?P<money>[$€£\#]\s?\d[\d,.]*)|(?P<dash>[-–—~〜])|(?P<comma>,)|(?P<stop>[^\w\s'’])"
_LETTERS = "a-z\u00aa-\u10ff\u1200-\u1fff"
_EAST_DATE = rf"""(?P<east>(?=[\d{_FIGURES}零十令平昭])(?:
      (?:(?:令和|平成|昭和)(?:{_NUMBER}|元)|\d{{4}}|[{_FIGURES}零]{{4}})\s?[年년]도?(?:\s?{_MONTH}(?:\s?{_DAY})?)?
      |(?:\d\d[年년]\s?)?{_MONTH}(?:\s?{_DAY})?))|"""
# A syllable alone begins many a name; it must be all there is, but for a particle or what dates go on with.
_SYLLABLE = rf"(?=(?:{'|'.join(sorted(_PARTICLES, key=len, reverse=True))})?(?![가-힣])|[전달주해]|부터|까지|이후|이전)"
_KOREAN = "|".join(word + (_SYLLABLE if len(word) == 1 else "") for word in sorted(_HANGUL, key=len, reverse=True))
_EAST_WORDS = rf"""
    (?P<hangul>(?<![가-힣])(?:{_KOREAN})|(?<=[년월일주달제늘번난음한두세네])(?:{_KOREAN}))
  | (?P<rest>[가-힣]+)
  | (?P<eastern>(?=[{_FIRSTS}])(?:{_any(_EASTERN)}))
  | (?P<plain>[^\W\d{_LETTERS}가-힣{_FIRSTS}]+|[{_KANA_HAN}])
"""


@cache
def _pattern(ascii_only: bool) -> re.Pattern[str]:
    # Compiled when first needed: together they cost a start some ten milliseconds.
    if ascii_only:
        return re.compile(rf"(?P<quarter>\bq[1-4]\b)|(?P<word>[a-z]+)|(?=\d)(?:{_NUMERIC})|{_TAIL}", re.VERBOSE)
    return re.compile(
        rf"(?P<quarter>\bq[1-4]\b)|(?P<word>[{_LETTERS}]+)|{_EAST_DATE}(?=\d)(?:{_NUMERIC})|{_EAST_WORDS}|{_TAIL}",
        re.VERBOSE,
    )


_ROUGH = re.compile(r"[0-9]")
_RUNS = re.compile(r"[a-z\u00aa-\u10ff\u1200-\u1fff]+")
_EAST = (
    re.compile("[月年]"),
    re.compile("[月年前上下]|" + _any({word: part for word, part in (_HANGUL | _EASTERN).items() if part[0] in "rPK"})),
)
# What can begin or make a date without a figure in the text.
_SURE = frozenset(word for word, (letter, _) in WORDS.items() if letter in "mwWS")
_MOVING = (
    _SURE
    | frozenset(word for word, (letter, _) in WORDS.items() if letter in "rPpRgvH")
    | {"jours", "semaines", "mois"}
)
_HINTS = (_SURE, _MOVING)
_ASCII_HINTS = tuple(frozenset(word.encode() for word in words if word.isascii()) for words in _HINTS)
# Everything but letters is a space: the quickest way to the words of a text.
_SPACED = bytes(c if 97 <= c <= 122 else 32 for c in range(256))
_STARTS = {phrase: "".join(_RUNS.findall(phrase)[:1]) for phrase in sorted(_PHRASES, reverse=True)}
_PHRASE_BY_WORD = {
    first: re.compile(rf"(?:{'|'.join(re.escape(phrase) for phrase in _STARTS if _STARTS[phrase] == first)})\b")
    for first in set(_STARTS.values())
}
_CODE_AFTER = re.compile(
    r"-\d{3,}(?!\d)(?<!-[12]\d{3})"
)  # figures that are no year, so what stands before is none either
_CODE_BEFORE = re.compile(r"[a-z]-\Z")
_UNIT_AFTER = frozenset(
    "items people times percent dollars euros users lines rows files tests words km miles kg mb gb ms px".split()
)
_NUMBERED = frozenset("port error code room line page issue version ticket pr id no nr step row chapter http".split())


def legible(text: str) -> tuple[str, str]:
    """The text with widths and accents evened out, and the same in small letters, character for character."""
    if text.isascii():
        return text, text.lower()
    if not is_normalized("NFKC", text):
        text = normalize("NFKC", text)
    low = text.lower()
    if len(low) != len(text):
        low = "".join(small if len(small := c.lower()) == 1 else c for c in text)
    return text, low


def hinted(low: str, moving: bool) -> bool:
    """Whether a text in small letters could hold a date at all, or with ``moving`` a word such as "yesterday"."""
    if _ROUGH.search(low):
        return True
    if low.isascii():
        return not _ASCII_HINTS[moving].isdisjoint(low.encode().translate(_SPACED).split())
    return not _HINTS[moving].isdisjoint(_RUNS.findall(low)) or _EAST[moving].search(low) is not None


def tokens(low: str) -> list[Token]:
    """The parts of a text in small letters, in order. What plays no part in dates is an ``x``, however long."""
    found: list[Token] = []
    add = found.append
    past, after = 0, ""
    for match in _pattern(low.isascii()).finditer(low):
        start = match.start()
        if start < past:
            continue
        kind = match.lastgroup
        if kind == "word":
            word = match[0]
            part = WORDS.get(word)
            if word in _PHRASE_BY_WORD and (phrase := _PHRASE_BY_WORD[word].match(low, start)):
                past = phrase.end()
                add(Token(*_PHRASES[phrase[0]], (), start, past))
            elif part is not None:
                add(Token(part[0], part[1], (), start, match.end()))
            elif after != "x":
                add(Token("x", 0, (), start, match.end()))
        elif kind == "digits" and match.end() - start < 4:
            add(Token("n", int(match[0]), (), start, match.end()))
        elif kind in ("plain", "rest"):
            letter = "f" if match[0] in _PARTICLES else "x"
            if after != letter:
                add(Token(letter, 0, (), start, match.end()))
        elif kind in _PARTS:
            add(Token(*_PARTS[kind][match[0]], (), start, match.end()))
        elif kind in _SIGNS:
            add(Token(_SIGNS[kind], 1, (), start, match.end()))
        else:
            add(_figures(str(kind), match, low))
        after = found[-1].letter
    return found


_PARTS = {"hangul": _HANGUL, "eastern": _EASTERN}
_SIGNS = {"dash": "&", "comma": ",", "stop": ".", "time": "t", "odd": "x", "money": "x"}


def _figures(kind: str, match: re.Match[str], low: str) -> Token:
    start, end = match.span()
    if kind in _READ:
        dates = _READ[kind](match)
        letter = "x" if not dates else "q" if kind == "dm" else "D" if dates[0][0] else "M"
        return Token(letter, 0, dates, start, end)
    if kind == "short":
        return Token("z", 2000 + int(match[0][1:]), (), start, end)
    if kind == "quarter":
        return Token("Q", int(match[0][1]), (), start, end)
    if kind == "decade":
        return Token("E", int(match[0][:4]), (), start, end)
    if kind == "ordinal":
        number = int(match[0][:2] if match[0][1].isdecimal() else match[0][0])
        return Token("o" if 1 <= number <= 31 else "x", number, (), start, end)
    return Token(_year_letter(int(match[0]), start, end, low), int(match[0]), (), start, end)


def _year_letter(number: int, start: int, end: int, low: str) -> str:
    """``y`` for a year wherever it stands, ``Y`` for one only after a month or "in", ``x`` for another number."""
    after = low[end : end + 12]
    if (start and (low[start - 1] in "_." or ("a" <= low[start - 1] <= "z"))) or after[:1] in ("_", "%"):
        return "x"
    if "a" <= after[:1] <= "z" or low[start - 1 : start] == "/" or not 1000 <= number < 3000:
        return "x"
    if _CODE_AFTER.match(after) or (after[:1] == "-" and after[1:2].isalnum() and _CODE_BEFORE.search(low, 0, start)):
        return "x"  # INV-2024-0017
    following = _RUNS.match(after.lstrip())
    before = low[max(0, start - 12) : start].split()
    if (following and following[0] in _UNIT_AFTER) or (before and before[-1].strip("(.") in _NUMBERED):
        return "x"
    return "y" if 1900 <= number < 2100 else "Y"


def _real(*dates: Partial) -> tuple[Partial, ...]:
    return tuple(dict.fromkeys(at for at in dates if days.valid(at[0] or 2000, at[1] or 1, at[2] or 1)))


def _ymd(match: re.Match[str]) -> tuple[Partial, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", match[0].partition("t")[0])]
    # A month alone needs both its figures or a slash would make a fraction of it; 2023-13 is no month anyway.
    if len(numbers) == 3 and not numbers[2]:
        return ()
    return _real((numbers[0], numbers[1], numbers[2] if len(numbers) > 2 else 0)) if numbers[0] and numbers[1] else ()


def _dmy(match: re.Match[str]) -> tuple[Partial, ...]:
    parts = re.findall(r"\d+", match[0])
    first, second, year = (int(part) for part in parts)
    separator = match["ds"].strip()
    if len(parts[2]) == 2:
        # "08.05.23" is a day, "1.2.23" a version.
        if separator == "-" or (separator == "." and (len(match[0]) != 8 or len(parts[0]) != 2)):
            return ()
        year += 2000 if year < 70 else 1900
    if not (first and second and year):
        return ()
    return _real((year, second, first)) if separator == "." else _real((year, first, second), (year, second, first))


def _dm(match: re.Match[str]) -> tuple[Partial, ...]:
    day, month = (int(part) for part in re.findall(r"\d+", match[0]))
    return _real((0, month, day)) if day and month else ()


def _east(match: re.Match[str]) -> tuple[Partial, ...]:
    said = {"年": 0, "月": 0, "日": 0}
    for count, sign in _EAST_PART.findall(match[0]):
        said[_SIGN.get(sign, sign)] = 1 if count == "元" else _number(count)
        if not said[_SIGN.get(sign, sign)]:
            return ()
    year = said["年"]
    if year and (year < 100 or match[0][0] in _ERAS):
        year += _ERAS.get(match[0][0], 2000)
    return _real((year, said["月"], said["日"]))


def _number(text: str) -> int:
    """A number in figures or Chinese numerals below 100, or a year digit by digit."""
    if text[0].isdecimal():
        return int(text)
    if "十" not in text:
        return int("".join(str(max(_FIGURES.find(c), 0)) for c in text))
    tens, _, ones = text.partition("十")
    return (_number(tens) if tens else 1) * 10 + (_number(ones) if ones and "十" not in ones else 0)


_ERAS = {"令": 2018, "平": 1988, "昭": 1925}
_SIGN = {"년": "年", "월": "月", "일": "日", "号": "日", "號": "日"}
_EAST_PART = re.compile(rf"(?<![\d{_FIGURES}零十元])([\d{_FIGURES}零十元]+)\s?([年년月월日号號일])")
_READ = {"ymd": _ymd, "dmy": _dmy, "dm": _dm, "east": _east}
