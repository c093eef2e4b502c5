"""Kinds: what the one place takes in which two statements differ, by the words around it: one value, or many."""

from __future__ import annotations

import re
from typing import Literal

from polymnia.engine.analysis.conflicts.families import family, systems
from polymnia.engine.analysis.conflicts.lists import takes_many
from polymnia.engine.analysis.conflicts.said import words
from polymnia.engine.analysis.conflicts.sorts import comparable, sort
from polymnia.engine.duplicates.opposites import excludes

__all__ = ["Kind", "alike", "kind"]

Kind = Literal["one", "holder", "family", "some", "many"]
"""``one`` where only one value holds at a time, ``holder`` where only one can be or do what is said, ``family`` where
both are of a kind of which one mostly has one, ``some`` where that depends on the words, ``many`` where nothing speaks
for it."""

# What has one value at a time, by the words before the place.
_PLACED = "in|on|at|to|through|via|under|behind|near|inside|above|below|from|by|with|left of|right of|next to|opposite"
_PROPERTY = (
    "password|code|number|address|name|email|phone|birthday|price|fee|rent|cost|port|url|colou?r|size|height|weight|age"
    "|type|version|status|deadline|combination|location|venue|capital|owner|manager|leader|author|boss|supplier|provider"
    "|vendor|landlord|language|currency|format|limit|timeout|frequency|title|winner|contact|host|speaker|successor"
    "|headquarters|destination|default|password hint|nickname|maker|brand|model|engine|framework|database"
)
_ONE = re.compile(
    r"\b(?:is|are)(?: \w+(?:ed|en|t|n|un|ld|pt|ne))? (?:(?:" + _PLACED + r")(?: the| our)?|called|named|made of)$"
    r"|\b(?:runs?|costs?|weighs?|measures?|expires?|defaults to|belongs to|reports to"
    r"|is married to|is engaged to|points to|starts? with|ends? with)(?: on| in| at| for| under)?(?: the)?$"
    r"|\b(?:lives?|works?(?! with)|sits?|stays?|sleeps?|bakes?|boils?|closes?|opens?|starts?|begins?|ends?|leaves?"
    r"|departs?"
    r"|arrives?|meets?|rehearses?|trains?|listens?|happens|lands?|docks?|stands?|hangs?|goes|flows?|faces?"
    r"|takes place) (?:" + _PLACED + r"|for|every)(?: the)?$"
    rf"|\b(?:{_PROPERTY}) (?:of [\w ]+ |for [\w ]+ )?is(?: the)?$"
    r"|\bevery$|\bonly(?: \w+)?$"
    r"|\b(?:default|current|main|primary|official|favou?rite|maximum|minimum|only)\b[\w ]* is(?: the)?$",
    re.IGNORECASE,
)
_RETURNS = re.compile(r"\breturns?$", re.IGNORECASE)
_VERSION = re.compile(
    r"\b(?:is|are|runs?|uses?|requires?|needs?|targets?|use|run|need|require|target)(?: on| at least)? [A-Z][\w.+#-]*$"
)
_ADJECTIVE = re.compile(r"^[a-z-]+(?:ed|able|ible|ful|ive|ous|less|ing)$")
_RUNS = re.compile(r"\bruns?(?: on)?$", re.IGNORECASE)
_ON = re.compile(r"\b(?:is|are) on(?: the)?$", re.IGNORECASE)
_STREET = re.compile(
    r"\b(?:street|road|avenue|lane|square|floor|plan|track|platform|tier|team|side|shelf|page)$", re.IGNORECASE
)
_IN = re.compile(r"\bin(?: the)?$", re.IGNORECASE)
_IS = re.compile(r"\b(?:is|are)(?: (?:dr|mr|mrs|ms|prof))?$", re.IGNORECASE)
_SAYS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|not|never|does|do|that|which|who)\b|['’](?:t|s|re)\b", re.IGNORECASE
)  # more than a value
_CHOICE = re.compile(
    r"^(?:please |always |we |you |should )*(?:use|choose|pick|prefer|adopt|select)(?: the)?$", re.IGNORECASE
)
_PUT = re.compile(
    r"^(?:please |always |we |you |should )*(?:keep|store|put|leave|place|park|hang|serve|bake|wash|cook)\b",
    re.IGNORECASE,
)
_PURPOSE = re.compile(r"^(?:for|as|when|in|on|to|by)\b", re.IGNORECASE)
# What only one can be or do, by the words after the place of the subject.
_HOLDER = re.compile(
    r"^(?:leads?|owns?|manages?|heads?|chairs?|captains?|directs?|coordinates?|maintains?|runs the|is the|is our|is my"
    r"|is responsible for|is in charge of|is on (?:call|duty)|is (?:head|captain|owner|leader|manager|director"
    r"|president|chair\w*|mayor"
    r"|chief|ceo|cto|cfo) of|won the|wrote the|founded|invented)\b",
    re.IGNORECASE,
)
_SMALL = words("the a an our my his her in on at to every each by for during")
_PRONOUN = re.compile(
    r"^(?:i|it|he|she|they|this|that|these|those|there|here|you|who|which|what|everyone|nobody|someone|one|some|many"
    r"|most|another|each|both|no|all(?= (?:of|are|is)\b))\b",
    re.IGNORECASE,
)

_LANGUAGES = words("""
    english german french spanish italian portuguese dutch polish swedish danish norwegian finnish czech russian
    ukrainian turkish arabic hindi chinese japanese korean greek latin hebrew vietnamese thai
""")
# Values of one kind, of which a thing has one.
_CLASSES = [
    frozenset(line.split())
    for line in """
red green blue white black yellow orange brown grey gray purple pink violet turquoise beige silver golden
빨간색 초록색 파란색 흰색 하얀색 검은색 검정색 노란색 주황색 갈색 회색 보라색 분홍색 빨강 초록 파랑 노랑
wooden metal plastic stone steel glass concrete slate tin copper brick leather
north south east west northern southern eastern western left right
daily weekly monthly yearly hourly quarterly annually nightly
day week month year hour minute second quarter
매일 매주 매월 매년 매시간 주말마다 분기마다 월말에 월초에 연말에
morning afternoon evening night noon midnight
spring summer autumn winter fall
oral written digital analogue
round square oval triangular rectangular
single married divorced widowed
male female
before after
with without
inside outside indoors outdoors
online offline
public internal private
내부용 공개용 외부용
single-tenant multi-tenant
read-only readonly writable editable read-write
synchronous asynchronous
experimental stable deprecated
experimental beta production-ready
open-source closed-source proprietary
manual automatic automated
temporary permanent
stateful stateless
local remote
sequential parallel
left-handed right-handed
vegetarian omnivore
vertical horizontal
formal informal casual
온라인 오프라인
왼쪽 오른쪽 위쪽 아래쪽
동쪽 서쪽 남쪽 북쪽
""".strip().splitlines()
]


def kind(before: str, mine: list[str], other: list[str], after: str) -> Kind:
    """What a place takes, given the words before and after it and those that two statements put there."""
    if _SAYS.search(" ".join((*mine, *other))):
        return "many"
    if not before or before.lower() in ("the", "our"):
        named = all(word[0].isupper() for word in (mine[-1], other[-1]))
        return "holder" if named and not _PRONOUN.match(mine[0]) and _HOLDER.match(after) else "many"
    if _VERSION.search(before) and mine[0][0].isdigit() and other[0][0].isdigit():
        return "one"
    if _PRONOUN.match(before):
        return "many"
    if _IN.search(before) and {mine[-1].lower(), other[-1].lower()} <= _LANGUAGES:
        return "one"
    if _CHOICE.match(before) and _PURPOSE.match(after):
        return "one"
    if any(word.lower() in ("a", "an") for word in (mine[0], other[0])):
        return "many"
    # A place may be told with its preposition: under the mat, in the shed.
    short = re.fullmatch(_PLACED, mine[0].lower()) and re.fullmatch(_PLACED, other[0].lower())
    if short and (_IS.search(before) or _PUT.match(before)):
        same = comparable(" ".join(mine[1:]), " ".join(other[1:]))
        named = sort(" ".join(mine[1:])) == "name" and mine[0].lower() != other[0].lower()
        return "one" if same and not named else "some"
    if _ONE.search(before):
        return _sorted(before, " ".join(mine), " ".join(other), after)
    if takes_many(before):
        return "many"
    lone = len(mine) == len(other) == 1 or all(word.lower() in _SMALL for word in (*mine[:-1], *other[:-1]))
    if lone and alike(mine[-1], other[-1]) and not after.lower().startswith(("and ", "or ")):
        return "one"
    if _IS.search(before) or _RETURNS.search(before):
        if all(word[0].isupper() or word[0].isdigit() or word.lower() in _SMALL for word in (*mine, *other)):
            return "one"
        return "some" if len(mine) == len(other) == 1 else "many"
    return "many"


def _sorted(before: str, mine: str, other: str, after: str) -> Kind:
    """What a place takes that has one value, given two of them: values of two sorts do not exclude each other."""
    if not comparable(mine, other) and not before.lower().endswith("every"):
        return "some" if {sort(mine), sort(other)} == {"name", "thing"} else "many"
    kin = family(mine), family(other)
    if None not in kin and kin[0] != kin[1]:
        return "many"
    if kin[0] is not None and systems(mine) and _RUNS.search(before):
        return "some"  # an app runs on more than one system
    if (
        _ON.search(before)
        and sort(mine) == "name"
        and not after
        and not (_STREET.search(mine) and _STREET.search(other))
    ):
        return "some"
    if any(_ADJECTIVE.search(value) for value in (mine, other)) and before.lower().endswith((" is", " are")):
        return "one" if alike(mine, other) else "some"
    return "one"


def alike(one: str, other: str) -> bool:
    """Whether two words are values of one kind, of which a thing has one, or opposites."""
    pair = (one.lower(), other.lower())
    return any(pair[0] in line and pair[1] in line for line in _CLASSES) or excludes((pair[0],) * 2, (pair[1],) * 2)
