"""Quantities: amounts with units. 2 hours equal 120 minutes, but not 90 minutes."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple


class _Unit(NamedTuple):
    """What a unit measures, its size in the smallest unit of that measure, and its English and Korean names."""

    measure: str
    size: Decimal
    english: str
    korean: str


# A line for each unit: measure, size, English and Korean name, and all spellings.
_TABLE = """
time 1 milliseconds 밀리초 ms msec millisecond milliseconds 밀리초
time 1000 seconds 초 s sec secs second seconds 초
time 60000 minutes 분 min mins minute minutes 분
time 3600000 hours 시간 h hr hrs hour hours 시간
time 86400000 days 일 day days 일
time 604800000 weeks 주 week weeks wk wks 주 주일
months 1 months 개월 month months 개월 달
months 12 years 년 year years yr yrs
data 1 bytes 바이트 byte bytes 바이트
data 1000 KB KB kb kib 킬로바이트
data 1000000 MB MB mb mib 메가바이트 메가
data 1000000000 GB GB gb gib 기가바이트 기가
data 1000000000000 TB TB tb tib 테라바이트 테라
length 1 mm mm mm millimetre millimetres millimeter millimeters 밀리미터
length 10 cm cm cm centimetre centimetres centimeter centimeters 센티미터 센티
length 1000 m m m metre metres meter meters 미터
length 1000000 km km km kilometre kilometres kilometer kilometers 킬로미터
mass 1 mg mg mg milligram milligrams 밀리그램
mass 1000 g g g gram grams gramme grammes 그램
mass 1000000 kg kg kg kilo kilos kilogram kilograms 킬로그램
mass 1000000000 t t tonne tonnes 톤
volume 1 ml ml ml millilitre millilitres milliliter milliliters 밀리리터
volume 1000 l l l litre litres liter liters 리터
"""
_UNITS: dict[str, _Unit] = {}
for _line in _TABLE.strip().splitlines():
    _measure, _size, _english, _korean, *_spellings = _line.split()
    for _spelling in _spellings:
        _UNITS[_spelling] = _Unit(_measure, Decimal(_size), _english, _korean)

_EASTERN_UNITS = tuple(spelling for spelling in _UNITS if not spelling.isascii())
_COUNTS = {name: at for at, name in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_COUNTS |= {"twelve": 12, "fourteen": 14, "twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90}
_TIMES = {"k": 10**3, "thousand": 10**3, "million": 10**6, "mn": 10**6, "billion": 10**9, "bn": 10**9}
_LATIN = "|".join(sorted((spelling for spelling in _UNITS if spelling.isascii()), key=len, reverse=True))
_HANGUL = "|".join(sorted((spelling for spelling in _UNITS if not spelling.isascii()), key=len, reverse=True))
_FIGURE = r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
# A day of a month, a time of day and a number of something (Day 3, v2) are not amounts.
_AMOUNT = re.compile(
    rf"(?<![\w.,:/#-])({_FIGURE}|{'|'.join(_COUNTS)})"
    rf"(?:[ -]?({_LATIN})(?![A-Za-z\d_/-])|\s?({_HANGUL})(?=\W|이|가|은|는|을|를|의|에|로|으|동|간|후|뒤|마|까|입"
    rf"|부|보|정|짜|내|안|전|$))",
    re.IGNORECASE,
)
_TODAY = re.compile(r"(?:시|월)\s*$")  # 10시 30분, 5월 3일
_LASTING = re.compile(r"\s?(?:동안|간|이내|이하|이상|만에|후|뒤|마다|전|내)|.{0,4}(?:보관|유지|유효|지난)")
_PERIOD = re.compile(r"(?:기간|기한|주기|간격|유효|보관|수명|시간)[은는이가:]?\s*$")
_MANY = re.compile(rf"(?<![\w.,:/#-])([€$£]?)({_FIGURE})\s?(k|thousand|million|mn|billion|bn)(?![\w/-])", re.IGNORECASE)
_EAST = re.compile(
    r"(?<![\w.,])(?:(\d+(?:,\d{3})*(?:\.\d+)?)\s?(천|백)?\s?(억|만)|(\d+)\s?(천)(?=\s?(?:원|명|개|건|달러)))"
)
_ALONE = re.compile(r"(?<![\d가-힣])((?:만|억)(?=\s?(?:원|명|개|건|달러)))")
_EASTERN = {"천": 1_000, "백": 100, "만": 10_000, "억": 100_000_000, "": 1}
_DIGIT = re.compile(r"\d")
_NEAR = re.compile(r"\d[ -]?[a-zA-Z억만천가-힣]|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve) ")
_SPELLED = (" day", " week", " month", " year", " hour", " minute", " second")
_BINARY = 256  # megabytes in multiples of this are quarters of a gigabyte


class _Amount(NamedTuple):
    """An amount in a text: its span, its size in the smallest unit, and its unit."""

    start: int
    end: int
    size: Decimal
    unit: _Unit
    eastern: bool


def unit_in(word: str) -> str:
    """The unit a word names, without Korean particles; empty if none."""
    if word.isascii():
        return word if word in _UNITS or word.lower() in _UNITS else ""
    return max((spelling for spelling in _EASTERN_UNITS if word.startswith(spelling)), key=len, default="")


def common(here: str, there: str) -> tuple[str, str]:
    """Two texts with amounts of the same measure converted to a common unit."""
    if not (_may_contain(here) and _may_contain(there)):
        return here, there
    left, right = _counted(here), _counted(there)
    mine, other = _amounts(left), _amounts(right)
    if not mine or not other:
        return left, right
    by_measure: dict[str, set[_Unit]] = {}
    for one in (*mine, *other):
        by_measure.setdefault(one.unit.measure, set()).add(one.unit)
    units = {name: min(some, key=lambda unit: unit.size) for name, some in by_measure.items() if len(some) > 1}
    return (_written(left, mine, units), _written(right, other, units)) if units else (left, right)


def _may_contain(text: str) -> bool:
    """Whether a text may contain an amount: a quick check, as most do not."""
    if _DIGIT.search(text):
        return _NEAR.search(text) is not None
    return any(word in text for word in _SPELLED) or (not text.isascii() and _ALONE.search(text) is not None)


def _counted(text: str) -> str:
    if not text.isascii():
        text = _EAST.sub(_eastern, _ALONE.sub(r"1\1", text))
    return _MANY.sub(lambda m: m[1] + _shown(_value(m[2]) * _TIMES[m[3].lower()]), text)


def _eastern(match: re.Match[str]) -> str:
    if match[4]:
        return _shown(_value(match[4]) * 1_000)
    return _shown(_value(match[1]) * _EASTERN[match[2] or ""] * _EASTERN[match[3]])


def _value(figure: str) -> Decimal:
    low = figure.lower()
    return Decimal(_COUNTS[low]) if low in _COUNTS else Decimal(low.replace(",", ""))


def _amounts(text: str) -> list[_Amount]:
    found: list[_Amount] = []
    for match in _AMOUNT.finditer(text):
        spelling = match[2] or match[3]
        unit = _UNITS.get(spelling) or _UNITS[spelling.lower()]
        if match[3] and not _measures(text, match):
            continue
        size = _value(match[1]) * unit.size
        if unit.measure == "data" and (count := _value(match[1])) and count % _BINARY == 0:
            size = count / 1024 * unit.size * 1000
        last = found[-1] if found else None
        between = text[last.end : match.start()].strip(" ,") if last else ""
        if last and last.unit.measure == unit.measure and last.unit.size > unit.size and between in ("", "and"):
            found[-1] = last._replace(end=match.end(), size=last.size + size, unit=unit)  # 1 hour 30 minutes
        else:
            found.append(_Amount(match.start(), match.end(), size, unit, bool(match[3])))
    return found


def _measures(text: str, match: re.Match[str]) -> bool:
    """Whether a Korean number with a unit is an amount: 30분 after an hour is a time, 3일 usually a date."""
    before, after = text[: match.start()], text[match.end() :]
    if _TODAY.search(before):
        return False
    return match[3] not in ("일", "주", "달") or bool(_LASTING.match(after) or _PERIOD.search(before))


def _written(text: str, amounts: list[_Amount], units: dict[str, _Unit]) -> str:
    parts, at = [], 0
    for one in amounts:
        if one.unit.measure not in units:
            continue
        unit = units[one.unit.measure]
        name = unit.korean if one.eastern else f" {unit.english}"
        parts += [text[at : one.start], f"{_shown(one.size / unit.size)}{name}"]
        at = one.end
    return "".join((*parts, text[at:]))


def _shown(value: Decimal) -> str:
    whole = value.to_integral_value()
    return str(int(whole)) if whole == value else format(value.normalize(), "f")
