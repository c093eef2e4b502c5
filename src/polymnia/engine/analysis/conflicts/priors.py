"""Priors: how often two statements that a search brings together clash at all.

Rarely, however much the difference between them looks like it: a judgement of the pair alone is weighed with that. It
depends on how tightly the rest of the words agrees; docs/decisions/0024-conflicts.md says what that comes to.
"""

from __future__ import annotations

import re

from polymnia.engine.analysis.conflicts import cues
from polymnia.engine.analysis.conflicts.frames import Frame, names
from polymnia.engine.analysis.conflicts.lists import adds
from polymnia.engine.analysis.conflicts.table import Table
from polymnia.engine.analysis.conflicts.terms import read

__all__ = ["prior"]

# How often a pair of statements clashes, by what differs and by how many words only one of them has beside that.
_VALUE = (0.60, 0.20, 0.08, 0.03)  # figures or dates
_DENIED = (0.60, 0.30, 0.12, 0.04)  # one denies what the other says
_OPPOSED = (0.55, 0.25, 0.10, 0.04)  # a word and its opposite
_CHANGED = (0.40, 0.20, 0.08, 0.03)  # another value of what has only one
_PLACED = {"one": 0.5, "holder": 0.5, "family": 0.4, "some": 0.2}  # one place differs: what takes one value, or may
_NOTHING = 0.005  # none of these
_BESIDE = 0.05  # of that, where each has words of its own beside
_ELSEWHERE = 0.15  # of that, where what denies has words that the other lacks, or is long
_NARROW = 0.25  # of that, where only one names a part: the timeout, and the timeout of staging
_EXCEPT = 0.08  # of that, where only one is said of a day: the wait, and the wait on Sundays
_TWICE = 0.05  # of that, where it may have happened twice: other days, or what we did
_SEVERAL, _SCHEDULED = 0.05, 0.5  # of that, where more than one figure differs: these are two things, or two times
_ONE_ITEM = 0.15  # of that, in one text: whoever writes both mostly means both
_UNKNOWN = 0.25  # of that, where a long text leaves unsaid what it is about
_ALIEN, _COMMON = 0.02, 0.1  # of that, where two texts have less than such a share of their telling words in common
_LISTED = 0.02  # of that, where a short label leaves it unsaid: every product of a list has its price
_LONG = 5  # statements of a text that has a subject of its own
_SHORT = 8  # words of a statement that says one thing
_FEW = 3  # words of a label, or of a full name
_EVENT = re.compile(
    r"\b(?:met|meetings?|stand-?ups?|sync|calls?|sessions?|class|lectures?|retro\w*|visit(?:ed|s)?|went|had|saw"
    r"|watched"
    r"|attended|deployed|shipped|fixed|wrote|bought|ate|ran|played|talked|discussed|reviewed|logs?|weekly|daily|every"
    r"|each|incident|outage|episode|chapter|week|day|sprint|invoice|order|photo|version|v\d)\b"
    r"|회의|미팅|수업|강의|매주|매일|매월|마다|만났|갔|했다\b|했습니다|다녀|회차|주차|스프린트|장애",
    re.IGNORECASE,
)
_DID = re.compile(r"(?:i|we|he|she|they|you)\b|(?:나는|저는|내가|제가|우리는?|우리가)(?=\s)|오늘|어제", re.IGNORECASE)
_ONCE = re.compile(
    r"\b(?:deadline|due|launch(?:es)?|release date|birthday|born|founded|established|wedding|expires?|go-live"
    r"|scheduled"
    r"|starts?|begins?|ends?|opens?|closes?|died|cutoff|freeze|planned for|takes place)\b"
    r"|\d일 ?(?:이내|동안|간|이상|이하|만에|후|뒤|전)"
    r"|마감|출시|생일|결혼|시작|종료|예정|태어|설립|만료|기한|오픈|개막",
    re.IGNORECASE,
)


def prior(table: Table, a: int, b: int, frame: Frame) -> float:
    """The share of pairs like this one, among those a search finds, that clash."""
    if frame.apart:
        return 0.0
    over = min(len(frame.left) + len(frame.right), 3)
    if frame.shared < 2 and not (frame.opposed and over == 0) and frame.place not in _PLACED:
        return _NOTHING
    worded = bool(frame.left) and bool(frame.right)
    if frame.opposed and frame.place == "many" and not frame.denied and adds(table.said(a), table.said(b)):
        return _NOTHING  # a brother and a sister
    if frame.place in _PLACED and not frame.value and not frame.denied and not frame.opposed:
        return _PLACED[frame.place] * _placed(table, a, b)
    if frame.value:
        share = _VALUE[over] * (_TWICE if frame.dates and not _once(table, a, b, frame) else 1.0)
        if not frame.dates and bool(table.terms[a].days) != bool(table.terms[b].days):
            share *= _EXCEPT
        if not frame.dates and all(_DID.match(text) and cues.is_told(text) for text in (table.said(a), table.said(b))):
            share *= _TWICE
        if frame.several or frame.opposed:
            share *= _SCHEDULED if frame.single and not cues.is_told(f"{table.said(a)} {table.said(b)}") else _SEVERAL
    elif frame.denied:
        # A denial beside words of its own may deny those: "I like it, but not the price".
        more = frame.left if table.denied[a] else frame.right
        long = max(len(table.terms[a].words), len(table.terms[b].words)) > _SHORT
        share = _DENIED[over] * (_ELSEWHERE if more or long else 1.0)
    elif frame.opposed:
        share = _OPPOSED[over]
    elif worded:
        few = max(len(table.terms[a].words), len(table.terms[b].words)) <= _SHORT
        if not (frame.single and frame.aligned and few):
            return _NOTHING
        runs = max(_runs(table.terms[a].words, frame.left), _runs(table.terms[b].words, frame.right))
        return _CHANGED[runs] * _placed(table, a, b)
    else:
        return _NOTHING
    share *= (_BESIDE if worded else 1.0) * (_NARROW if frame.narrow else 1.0)
    return share * _placed(table, a, b)


def _runs(words: tuple[str, ...], over: tuple[str, ...]) -> int:
    """How many words beyond one value a statement has of its own: words side by side are one, up to a full name."""
    places = [words.index(word) for word in over if word in words]
    together = bool(places) and max(places) - min(places) == len(places) - 1 and len(places) <= _FEW
    return 0 if together else min(max(len(places) - 1, 0), 3)


def _placed(table: Table, a: int, b: int) -> float:
    """How much of a prior is left by where two statements stand."""
    texts = table.said(a), table.said(b)
    labelled = any(0 < len(read(cues.label(text)).words) < _FEW for text in texts)
    if table.owner[a] == table.owner[b] and table.spots[a].part == table.spots[b].part:
        return _ONE_ITEM * (_LISTED if labelled or any(cues.is_led(text) for text in texts) else 1.0)
    around = table.about(a), table.about(b)
    if around[0] and around[1]:
        return 1.0 if around[0] & around[1] else _LISTED if labelled else _UNKNOWN
    if labelled:
        return _LISTED
    many = table.many(a), table.many(b)
    if min(many) > _FEW and table.owner[a] != table.owner[b]:
        rest = table.around(a), table.around(b)
        if len(rest[0] & rest[1]) < _COMMON * min(map(len, rest)):
            return _ALIEN
    return _UNKNOWN if max(many) > _LONG and not (names(texts[0]) & names(texts[1])) else 1.0


def _once(table: Table, a: int, b: int, frame: Frame) -> bool:
    """Whether what two statements date happens once: what we discussed on Monday and on Tuesday are two things."""
    texts = table.said(a), table.said(b)
    if frame.place == "one" and not any(cues.is_told(text) for text in texts):
        return True
    if any(_EVENT.search(text) for text in texts):
        return False
    return all(_ONCE.search(text) for text in texts) or all(cues.is_single(text) for text in texts)
