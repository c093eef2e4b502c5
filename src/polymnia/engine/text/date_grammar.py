"""The grammar of dates: splits a text into tokens and finds the sequences of tokens that are dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import date
from functools import cache
from typing import NamedTuple, TypeAlias
from unicodedata import normalize

from polymnia.engine.text import calendar as days
from polymnia.engine.text.calendar import Span
from polymnia.engine.text.language import sections

Partial: TypeAlias = tuple[int, int, int]
"""Year, month and day; 0 for a missing one."""


class Token(NamedTuple):
    """A token of a date: its letter (see date_words.txt), its value or the dates it may mean, and its span."""

    letter: str
    value: int
    dates: tuple[Partial, ...]
    start: int
    end: int


_Part: TypeAlias = tuple[str, int]


def _parts(section: str, mark: str | None = None) -> dict[str, _Part]:
    """The words of a section with their letter and value; the first entry of a word counts."""
    found: dict[str, _Part] = {}
    for line in section.strip().splitlines():
        part, words = line.split(" ", 1)
        for word in words.split(mark):
            found.setdefault(word, (part[0], int(part[1:])))
    return found


def _words(section: str, ordinals: str) -> dict[str, _Part]:
    found = _parts(section) | {word: ("e", value) for value, word in enumerate(ordinals.split(), 1)}
    # Accents are often omitted; "once" and the like have another meaning without one.
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
EASTERN = _HANGUL | _EASTERN
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
# A single syllable may be the start of a name: it must stand alone or before a particle or another part of a date.
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
    # Compiled on first use, which takes about ten milliseconds.
    if ascii_only:
        return re.compile(rf"(?P<quarter>\bq[1-4]\b)|(?P<word>[a-z]+)|(?=\d)(?:{_NUMERIC})|{_TAIL}", re.VERBOSE)
    return re.compile(
        rf"(?P<quarter>\bq[1-4]\b)|(?P<word>[{_LETTERS}]+)|{_EAST_DATE}(?=\d)(?:{_NUMERIC})|{_EAST_WORDS}|{_TAIL}",
        re.VERBOSE,
    )


RUNS = re.compile(rf"[{_LETTERS}]+")
_STARTS = {phrase: "".join(RUNS.findall(phrase)[:1]) for phrase in sorted(_PHRASES, reverse=True)}
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


def tokens(low: str) -> list[Token]:
    """The tokens of a lower-case text, in order; everything unrelated to dates becomes one ``x``."""
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
    """``y`` for a year, ``Y`` for one only after a month or "in", ``x`` for another number."""
    after = low[end : end + 12]
    if (start and (low[start - 1] in "_." or ("a" <= low[start - 1] <= "z"))) or after[:1] in ("_", "%"):
        return "x"
    if "a" <= after[:1] <= "z" or low[start - 1 : start] == "/" or not 1000 <= number < 3000:
        return "x"
    if _CODE_AFTER.match(after) or (after[:1] == "-" and after[1:2].isalnum() and _CODE_BEFORE.search(low, 0, start)):
        return "x"  # INV-2024-0017
    following = RUNS.match(after.lstrip())
    before = low[max(0, start - 12) : start].split()
    if (following and following[0] in _UNIT_AFTER) or (before and before[-1].strip("(.") in _NUMBERED):
        return "x"
    return "y" if 1900 <= number < 2100 else "Y"


def _existing(*dates: Partial) -> tuple[Partial, ...]:
    return tuple(dict.fromkeys(at for at in dates if days.valid(at[0] or 2000, at[1] or 1, at[2] or 1)))


def _ymd(match: re.Match[str]) -> tuple[Partial, ...]:
    numbers = [int(part) for part in re.findall(r"\d+", match[0].partition("t")[0])]
    year, month, day = (*numbers, 0)[:3]
    return _existing((year, month, day)) if all(numbers) else ()


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
    day_first = (year, second, first)
    return _existing(day_first) if separator == "." else _existing((year, first, second), day_first)


def _dm(match: re.Match[str]) -> tuple[Partial, ...]:
    day, month = (int(part) for part in re.findall(r"\d+", match[0]))
    return _existing((0, month, day)) if day and month else ()


def _east(match: re.Match[str]) -> tuple[Partial, ...]:
    numbers = {"年": 0, "月": 0, "日": 0}
    for count, sign in _EAST_PART.findall(match[0]):
        numbers[_SIGN.get(sign, sign)] = 1 if count == "元" else _number(count)
        if not numbers[_SIGN.get(sign, sign)]:
            return ()
    year = numbers["年"]
    if year and (year < 100 or match[0][0] in _ERAS):
        year += _ERAS.get(match[0][0], 2000)
    return _existing((year, numbers["月"], numbers["日"]))


def _number(text: str) -> int:
    """A number in digits or in Chinese numerals below 100, or a year digit by digit."""
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


class FoundDate(NamedTuple):
    """A date in a text: its first and last token, and either the dates it may mean or a span of days."""

    first: int
    last: int
    dates: tuple[Partial, ...]
    span: Span | None


class DateReading(NamedTuple):
    """A parsed text: its tokens, their letters as one string, and the dates found."""

    tokens: list[Token]
    letters: str
    found: list[FoundDate]


_RELATIVE = re.compile(r"[Pp]f?u|uf?p")
_FRENCH = re.compile(r"\b(?:le|les|du|est|ai|as|avons|avez|ont|qu|que|quoi|une|je|nous|vous|elle|il|on|dit|fait)\b")


def read(text: str, low: str, today: int | None) -> DateReading:
    """Find the dates of a text, given as written and in lower case.

    Without ``today``, relative dates ("last week") are ignored.
    """
    parts = _with_relative(tokens(low), low)
    letters = "".join([part.letter for part in parts])
    found = []
    for match in _grammar().finditer(letters):
        first, end = match.span()
        matched = parts[first:end]
        meaning = _RULES[(match.lastindex or 1) - 1][1](matched, today)
        if meaning is None or (
            matched[-1].letter == "w" and len(matched) == 2 and _doubtful(text, letters, matched, end)
        ):
            continue
        found.append(FoundDate(first, end - 1, *meaning))
    return DateReading(parts, letters, found)


def _with_relative(parts: list[Token], low: str) -> list[Token]:
    """Merge "last week" and the like into one token, and tell the French "hier" from the German one ("here")."""
    if any(part.letter == "H" for part in parts):
        letter = "r" if _FRENCH.search(low) else "x"
        parts = [part._replace(letter=letter) if part.letter == "H" else part for part in parts]
    letters = "".join([part.letter for part in parts])
    if "u" not in letters and "r" not in letters:
        return parts
    merged: list[Token] = []
    done = 0
    for match in _RELATIVE.finditer(letters):
        first, end = match.span()
        matched = parts[first:end]
        unit, offset = (matched[-1], matched[0]) if matched[-1].letter == "u" else (matched[0], matched[-1])
        if unit.value < 2:
            continue
        kind = 1 if unit.value > 6 else unit.value
        merged += parts[done:first]
        merged.append(Token("r", kind * 10 + offset.value, (), matched[0].start, matched[-1].end))
        done = end
    merged += parts[done:]
    # A relative week may come with a weekday (G), a relative year with a month (a).
    return [
        part._replace(letter="G" if 16 < part.value < 24 else "a" if 36 < part.value < 44 else "r")
        if part.letter == "r"
        else part
        for part in merged
    ]


def _doubtful(text: str, letters: str, matched: list[Token], end: int) -> bool:
    """Whether "this may" or "last march" may not be a month: in lower case and followed by more words."""
    if len(matched) != 2 or matched[1].letter != "w":
        return False
    return text[matched[1].start].islower() and letters[end : end + 1] not in ("", ".", ",", "y")


Meaning = tuple[tuple[Partial, ...], Span | None] | None


def _value(matched: list[Token], letters: str) -> int:
    return next((part.value for part in matched if part.letter in letters), 0)


def _year(matched: list[Token], today: int | None) -> int:
    """The year among the tokens; 0 for none."""
    near = next((part.value for part in matched if part.letter == "a"), 0)
    if near:
        return 0 if today is None else _year_now(today, near - 40)
    return _value(matched, "yYz")


def _year_now(today: int, offset: int = 0) -> int:
    return min(max(date.fromordinal(days.clipped(today)).year + offset, 1), 9999)


def _real(year: int, month: int, numbers: list[int]) -> Meaning:
    dates = tuple((year, month, day) for day in numbers if 1 <= day <= 31 and days.valid(year or 2000, month, day))
    return (dates, None) if dates else None


def _days_and_month(matched: list[Token], today: int | None) -> Meaning:
    first, last = (part.value for part in matched if part.letter in "no")
    if not 1 <= first < last <= 31:
        return _real(_year(matched, today), _value(matched, "mw"), [first, last])
    return _real(_year(matched, today), _value(matched, "mw"), list(range(first, last + 1)))


def _day_and_month(matched: list[Token], today: int | None) -> Meaning:
    if matched[0].letter == "w" and matched[1].letter == "n" and matched[0].end == matched[1].start:
        return None  # "oct4" is a gene
    return _real(_year(matched, today), _value(matched, "mw"), [_value(matched, "noe")])


def _year_and_month(matched: list[Token], today: int | None) -> Meaning:
    year = _year(matched, today)
    inner = next((part.dates for part in matched if part.letter == "M"), ())
    if inner:
        return tuple((year, month, day) for _, month, day in inner), None
    day = _value(matched, "no")
    return _real(year, _value(matched, "mw"), [day]) if day else (((year, _value(matched, "mw"), 0),), None)


def _near_month(matched: list[Token], today: int | None) -> Meaning:
    offset = _value(matched, "Pp")
    inner = next((part.dates[0] for part in matched if part.letter == "M"), (0, _value(matched, "mw"), 0))
    if today is None:
        return (inner,), None
    now = date.fromordinal(today)
    year = now.year
    if offset < 0 and inner[1] >= now.month:
        year -= 1
    if offset > 0 and inner[1] <= now.month:
        year += 1
    return ((min(max(year, 1), 9999), inner[1], inner[2]),), None


def _near_weekday(matched: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    weekday = _value(matched, "W")
    monday = today - date.fromordinal(today).weekday()
    near = _value(matched, "G")
    if near:
        day = monday + 7 * (near - 20) + weekday
    elif (offset := _value(matched, "Pp")) == 0 or matched[0].end == matched[1].start:
        # Without a space it is Chinese, where "last Tuesday" is that of last week.
        day = monday + weekday + 7 * offset
    else:
        day = monday + weekday
        if offset < 0 and day >= today:
            day -= 7
        elif offset > 0 and day <= today:
            day += 7
    return (), (days.clipped(day), days.clipped(day))


def _near_season(matched: list[Token], today: int | None) -> Meaning:
    season = _value(matched, "S")
    year = next((part.dates[0][0] for part in matched if part.letter == "D"), 0) or _year(matched, today)
    if year:
        return (), days.season(season, year)
    if today is None or any(part.letter in "aD" for part in matched):
        return None
    offset = _value(matched, "Pp")
    year = _year_now(today)
    span = days.season(season, year)
    if offset < 0:
        # In summer "last summer" is a year ago; in autumn it is the one that just ended.
        while span[1] >= today and year > 1:
            year -= 1
            span = days.season(season, year)
    elif offset > 0:
        while span[0] <= today and year < 9999:
            year += 1
            span = days.season(season, year)
    elif span[0] > today and days.season(season, year - 1)[1] >= today:
        span = days.season(season, year - 1)
    return (), span


def _ago(matched: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    unit = 1 if matched[0].letter == "K" else _value(matched, "u")
    if any(part.letter == "c" for part in matched):
        return (), (_back(unit, 6, today)[0], _back(unit, 2, today)[1])
    return (), _back(unit, max((part.value for part in matched if part.letter in "nd1K"), default=1), today)


def _back(unit: int, count: int, today: int) -> Span:
    if unit in (2, 5):
        # Weeks are not meant to the day.
        middle = today - 7 * count
        return days.clipped(middle - 3), days.clipped(middle + 3)
    return days.unit(unit, -count, today)


def _stretch(matched: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    sign = next((part.value for part in matched if part.letter in "PRp"), -1) or -1
    unit, count = _value(matched, "u"), sign * _value(matched, "ndc")
    if unit in (2, 5):
        far = today + 7 * count
    elif unit in (3, 4, 6):
        now = date.fromordinal(today)
        months = count * {3: 1, 4: 12, 6: 3}[unit]
        start, end = days.month(now.month + months, now.year)
        far = min(start + now.day - 1, end)
    else:
        far = today + (count if unit else 0)
    return (), (days.clipped(min(far, today)), days.clipped(max(far, today)))


def _quarter(matched: list[Token], today: int | None) -> Meaning:
    first, year = _value(matched, "Q") * 3 - 2, _value(matched, "yY")
    return (), (days.month(first, year)[0], days.month(first + 2, year)[1])


def _near(matched: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    unit = (matched[0].value + 5) // 10
    return (), days.unit(unit, matched[0].value - unit * 10, today)


def _weekday(matched: list[Token], today: int | None) -> Meaning:
    if today is None:
        return None
    back = (date.fromordinal(today).weekday() - matched[0].value) % 7
    return (), (days.clipped(today - back), days.clipped(today - back))


_F = "[fiO,t]{0,3}"
# In order of precedence: a longer form comes before a shorter one it starts with.
_RULES: tuple[tuple[str, Callable[[list[Token], int | None], Meaning]], ...] = (
    (rf"[no]f?[&U]f?[no]f{{0,2}}[mw](?:{_F}[yYza])?", _days_and_month),
    (rf"[mw]{_F}[no]f?[&U]f?[no](?!f?[mwu])(?:{_F}[yYz])?", _days_and_month),
    (rf"(?:[no]f{{0,2}}|ef{{1,2}})[mw](?:{_F}[yYza])?", _day_and_month),
    (rf"[mw],?f?[no](?!f?[mwug])(?:{_F}[yYz])?", _day_and_month),
    (rf"[mw]{_F}[yYza]", lambda matched, today: (((_year(matched, today), _value(matched, "mw"), 0),), None)),
    (rf"a{_F}(?:[no]f{{0,2}}[mw]|[mw](?:{_F}[no](?!u))?|M)", _year_and_month),
    (r"[Pp]f?[mwM]|[mM]f?p", _near_month),
    (rf"G{_F}W|W{_F}G|[Pp]f?W|Wf?p", _near_weekday),
    (rf"[Pp]f?S|Sf?p|S{_F}[yYa]|[aD]{_F}S", _near_season),
    (r"1?[nd1c]f?ug|v1?[nd1c]f?u|Kg", _ago),
    (r"[PRp]f?[ndc]f?u|[ndc][PRp]u", _stretch),
    (rf"Q{_F}[yY]|[yY]{_F}Q", _quarter),
    (r"E", lambda matched, today: ((), (days.year(matched[0].value)[0], days.year(matched[0].value + 9)[1]))),
    (r"[raG]", _near),
    (r"D|M|(?<=[OFUsf])q", lambda matched, today: (matched[0].dates, None)),
    (r"(?<=O)W", _weekday),
    (
        r"m|(?<=[isbAU])w|(?<=[isbAU]f)w|(?<=[FB])w(?=f?&)|(?<=[mw]&)w",
        lambda matched, today: (((0, matched[0].value, 0),), None),
    ),
    (r"y|(?<=[isbAUB])Y|(?<=[yY]&)Y", lambda matched, today: (((matched[0].value, 0, 0),), None)),
)


@cache
def _grammar() -> re.Pattern[str]:
    rules = "|".join(f"({pattern})" for pattern, _ in _RULES)
    return re.compile(f"(?![xf,.t&uOAUBFsbg])(?:{rules})")
