"""Lists: two statements of which each adds to a list, or tells of another time or thing: both may well hold.

Somebody who likes hiking may like swimming, and sprint 14 is not sprint 15. This holds of what is known and named, as
in notes; of a man in a picture, who does one thing at a time, it does not.
"""

from __future__ import annotations

import re

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.dating import dateless, timeless

__all__ = ["adds", "takes_many"]

_KNOWN = re.compile(
    r"\W*(?:(?:the|our|my|we|i|user|users|everyone)\b|(?!(?:A|An|One|Two|Three|Four|Some|Several|Many|People|Someone|There|It"
    r"|He|She|They|This|That|These|Those|Men|Women|Children|Kids|Dogs?|Man|Woman|Boys?|Girls?)\b)[A-Z][\w'’-]*)",
)
_PERSON = re.compile(
    r"\W*the (?:man|woman|boy|girl|men|women|kids?|children|people|person|dogs?|guy|lady|couple|crowd)\b", re.I
)
_TAKES_MANY = re.compile(
    r"\b(?:likes?|loves?|enjoys?|has|have|knows?|speaks?|uses?|supports?|sells?|includes?|contains?|offers?|plays?"
    r"|stud(?:y|ies|ied)|reads?|visit(?:s|ed)|talk(?:s|ed)? to|met|depends? on|fixe[ds]|works? (?:with|on)|feeds?"
    r"|exposes?|needs?|owns?|bought|buys?|wants?|wrote|covers|collects?|teaches|taught|learn(?:s|ed)?"
    r"|is learning|discussed|reviewed|added|recommends?|shows|takes|eats?|drinks?|grows?|accepts?|provides?|handles?"
    r"|decided to|planned)(?: (?:a|an|the|some|new|to))?(?: \w+)?$",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"(?!(?:한|두|세|어떤|몇)\s)(?:[^\s,.]+ ){0,3}[^\s,.]+[은는]$")
_KOREAN = re.compile(
    r"(?:좋아|즐[긴겨]|[쓴씁써]|사용|지원|친다|칩니다|한다|합니다|배[운웁우]|키[운웁우]|읽|판[다매]|팝니다|제공|포함|다룬|만났"
    r"|방문|공부|필요|의존|있다|있습니다)"
)
_HANGUL = re.compile("[가-힣]")
_LONGEST = 80  # characters of a note that says one thing
_WORD = re.compile(r"[^\s.,;:!?]+")
_NUMBERED = re.compile(
    r"\W*(?:(?:the|our) )?([A-Za-z]+) (#?\d[\d.]*|[A-Z])(?=[\s:])|([가-힣]+) ?(\d+)(?=[의은는번호:])", re.I
)


# A time that something is said of, and a condition under which it holds.
_MONTH = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
_PERIOD = re.compile(
    rf"\b(?:in|for|during|of) (?:the )?((?:(?:{_MONTH})[a-z]*|q[1-4]|spring|summer|autumn|winter)(?: (?:19|20)\d\d)?"
    r"|(?:19|20)\d\d)\b|\b(?:on) ((?:mon|tues|wednes|thurs|fri|satur|sun)day) (?=was|were|had)"
    r"|((?:19|20)\d\d년|\d\d?월)(?=에|의|에는|\s)",
    re.IGNORECASE,
)
_OPENS = re.compile(rf"(?<!\W)\W*in (?:(?:{_MONTH})[a-z]* )?(?:19|20)\d\d,? ", re.IGNORECASE)
_IF = re.compile(r"\b(?:if|unless|in case|as long as|provided|except)\b|[다라으]면 ", re.IGNORECASE)
_CODE = re.compile(r"\b[A-Z]{2,}-\d+\b")


def _times(here: str, there: str) -> bool:
    """Whether two statements tell of two times, or one of a time and the other of now."""
    mine, other = ({"".join(found).lower() for found in _PERIOD.findall(text)} for text in (here, there))
    told = cues.is_told(here), cues.is_told(there)
    if mine and other:
        weekly = all(time.endswith("day") for time in mine | other)
        return mine.isdisjoint(other) and (weekly or dateless(here) != dateless(there))
    return told[0] != told[1] and bool(mine if told[0] else other)


def adds(here: str, there: str) -> bool:
    """Whether two statements that differ in one place each tell one of many, or tell of two things or two times."""
    if max(len(here), len(there)) > _LONGEST:
        return False
    codes = {*_CODE.findall(here)}, {*_CODE.findall(there)}
    if all(codes) and codes[0].isdisjoint(codes[1]):
        return True
    if _times(here, there) or (_IF.search(here) and _IF.search(there)):
        return True
    left, right = (_OPENS.sub("", timeless(text)) for text in (here, there))
    mine, other = _WORD.findall(left), _WORD.findall(right)
    subject = [word.lower() for word in mine[:2]] == [word.lower() for word in other[:2]]
    if subject and cues.is_told(left) != cues.is_told(right) and _known(left):
        return True
    first, second = _NUMBERED.match(left), _NUMBERED.match(right)
    if first and second and first.group(1, 3) == second.group(1, 3) and first.group(2, 4) != second.group(2, 4):
        return True
    first_apart = next((at for at, (x, y) in enumerate(zip(mine, other, strict=False)) if x.lower() != y.lower()), 0)
    if not first_apart:
        return False
    before = " ".join(mine[:first_apart])
    if _HANGUL.search(left):
        return _TOPIC.match(before) is not None and _KOREAN.search(left[len(before) :]) is not None
    return takes_many(before)


def takes_many(before: str) -> bool:
    """Whether what stands before a place, the subject with its verb, lets it take many values: the user likes."""
    return _known(before) and _TAKES_MANY.search(before) is not None


def _known(text: str) -> bool:
    return _KNOWN.match(text) is not None and _PERSON.match(text) is None
