"""Slots: where two short statements are the same but for one place, and whether that place takes one value only.

"The depot is in Lisbon" and "the depot is in Porto" cannot both hold, "the depot has a crane" and "the depot has a
ramp" can: what stands before the place, or for a subject after it, tells them apart.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from polymnia.engine.analysis.conflicts.dating import timeless, undated
from polymnia.engine.duplicates.opposites import excludes

__all__ = ["Slot", "slot"]

_TOKEN = re.compile(r"[^\W_](?:\w|['’.+#:/-](?=\w)|(?<=\w)[+#]+)*")
_HANGUL = re.compile("[가-힣]")
_WIDEST = 160  # characters, and
_LONGEST = 14  # words of a statement that says one thing
_FILLER = 4  # words of a value
_NEWS = re.compile(
    r"\b(?:now|currently|nowadays|always|already)\b ?|(?<![가-힣])(?:이제는?|현재는?|지금은?|항상) ", re.IGNORECASE
)

# What has one value at a time, by the words before the place.
_PLACED = "in|on|at|to|under|behind|near|inside|above|below|from|by|with|left of|right of|next to|opposite"
_PROPERTY = (
    "password|code|number|address|name|email|phone|birthday|price|fee|rent|cost|port|url|colou?r|size|height|weight|age|type"
    "|version|status|deadline|combination|location|venue|capital|owner|manager|leader|author|boss|supplier|provider"
    "|vendor|landlord|language|currency|format|limit|timeout|frequency|title|winner|contact|host|speaker|successor"
    "|headquarters|destination|default|password hint|nickname|maker|brand|model|engine|framework|database"
)
_ONE = re.compile(
    r"\b(?:is|are)(?: \w+(?:ed|en|t|n|un|ld|pt))? (?:(?:" + _PLACED + r")(?: the| our)?|called|named|made of)$"
    r"|\b(?:runs?|costs?|weighs?|measures?|returns?|expires?|defaults to|belongs to|reports to"
    r"|is married to|is engaged to|points to|starts? with|ends? with)(?: on| in| at| for| under)?(?: the)?$"
    r"|\b(?:lives?|works?|sits?|stays?|sleeps?|bakes?|boils?|closes?|opens?|starts?|begins?|ends?|leaves?|departs?|arrives?"
    r"|meets?|rehearses?|trains?|listens?|happens|lands?|docks?|stands?|hangs?|goes|flows?|faces?|takes place) (?:"
    + _PLACED
    + r"|for|every)(?: the)?$"
    rf"|\b(?:{_PROPERTY}) (?:of [\w ]+ |for [\w ]+ )?is(?: the)?$"
    r"|\bevery$|\bonly(?: \w+)?$|\b(?:default|current|main|primary|official|favou?rite|maximum|minimum|only)\b[\w ]* is(?: the)?$",
    re.IGNORECASE,
)
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
    r"|is responsible for|is in charge of|is (?:head|captain|owner|leader|manager|director|president|chair\w*|mayor|chief"
    r"|ceo|cto|cfo) of|won the|wrote the|founded|invented)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"^(?:i|it|he|she|they|this|that|these|those|there|here|you|who|which|what|everyone|nobody|someone|one|some|many|most"
    r"|another|each|both|no|all)\b",
    re.IGNORECASE,
)
_KOREAN_ONE = re.compile(
    r"^(?:에|에서|으?로|까지|부터|마다)는? ?(?:있다|있습니다|산다|삽니다|살고|근무|거주|실행|열린|열리|개최|진행|정산|위치|보관|저장|시작"
    r"|끝|출발|도착|작동|동작|운영)"
)
_KOREAN_IS = re.compile(r"(?:이다|입니다|이에요|예요|임)$")
_KOREAN_HOLDER = re.compile(r"(?:이끈|이끌|맡|담당|책임|대표|팀장|소유|주인|감독|관리한|운영한|낸다|냅니다|부담|지불)")
_PARTICLE = re.compile(
    r"(?<=[가-힣\w])(?:(?:에서|에|으?로|까지|부터|마다)(?:는|만|도)?|이다|입니다|이에요|예요|임|이|가|을|를|은|는|의|와|과|다|요)$"
)
_TWINS = {"이": "가", "은": "는", "을": "를", "과": "와", "로": "으로"}  # one particle, by the sound before it
_KOREAN_PROPERTY = re.compile(
    r"(?:번호|주소|이름|장소|가격|요금|담당자|팀장|대표|언어|색|색깔|마감|위치|업체|회사|시간|날짜|요일|기간|주기|한도|비용|값|원인|이유|제목"
    r"|단위|통화|형식|버전|포트|암호|코드)(?:은|는)$"
)
_KOREAN_TOPIC = re.compile(r"(?:[가-힣]은|(?<!에)(?<!에서)(?<!로)는)$")
_TURNED = tuple(
    map(
        frozenset,
        (
            "전후",
            "상하",
            "남북",
            "동서",
            "유무",
            "좌우",
            "대소",
            "입출",
            "내외",
            "남여",
            "안밖",
            "앞뒤",
            "홀짝",
            "신구",
            "장단",
        ),
    )
)

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
온라인 오프라인
왼쪽 오른쪽 위쪽 아래쪽
동쪽 서쪽 남쪽 북쪽
""".strip().splitlines()
]


Kind = Literal["one", "holder", "some", "many"]


class Slot(NamedTuple):
    """The one place in which two statements differ: what stands there in each, and whether it takes one value only.

    ``kind`` is ``one`` where only one value holds at a time, ``holder`` where only one can be or do what is said,
    ``some`` where that depends on the words, ``many`` where nothing speaks for it.
    """

    left: str
    right: str
    kind: Kind


def slot(here: str, there: str) -> Slot | None:
    """The place in which two statements differ, or None where they differ in more."""
    if max(len(here), len(there)) > _WIDEST:
        return None
    found = _slot(undated(here), undated(there))
    return found or _slot(timeless(here), timeless(there))


def _slot(here: str, there: str) -> Slot | None:
    left, right = (_TOKEN.findall(_NEWS.sub("", text)) for text in (here, there))
    if not 1 < min(len(left), len(right)) <= max(len(left), len(right)) <= _LONGEST:
        return None
    first = _common(left, right)
    last = _common(left[first:][::-1], right[first:][::-1])
    mine, other = left[first : len(left) - last], right[first : len(right) - last]
    if not (mine and other and max(len(mine), len(other)) <= _FILLER) or len(mine) == len(left) == len(right):
        return None
    before, after = " ".join(left[:first]), " ".join(left[len(left) - last :] if last else ())
    if _HANGUL.search(f"{before}{after}") and _HANGUL.search(mine[-1]):
        return _korean(before, mine, other, after)
    return Slot(" ".join(mine), " ".join(other), _kind(before, mine, other, after))


def _common(left: list[str], right: list[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one.lower() != other.lower():
            break
        count += 1
    return count


def _kind(before: str, mine: list[str], other: list[str], after: str) -> Kind:
    if _SAYS.search(" ".join((*mine, *other))):
        return "many"
    if not before or before.lower() in ("the", "our"):
        named = all(word[0].isupper() for word in (mine[-1], other[-1]))
        return "holder" if named and not _PRONOUN.match(mine[0]) and _HOLDER.match(after) else "many"
    if _PRONOUN.match(before):
        return "many"
    if _CHOICE.match(before) and _PURPOSE.match(after):
        return "one"
    if any(word.lower() in ("a", "an") for word in (mine[0], other[0])):
        return "many"
    # A place may be told with its preposition: under the mat, in the shed.
    short = re.fullmatch(_PLACED, mine[0].lower()) and re.fullmatch(_PLACED, other[0].lower())
    if (short and (_IS.search(before) or _PUT.match(before))) or _ONE.search(before):
        return "one"
    if _alike(mine[-1], other[-1]) and not after.lower().startswith(("and ", "or ")):
        return "one"
    if _IS.search(before):
        if all(word[0].isupper() or word[0].isdigit() for word in (mine[-1], other[-1])):
            return "one"
        return "some" if len(mine) == len(other) == 1 else "many"
    return "many"


def _alike(one: str, other: str) -> bool:
    """Whether two words are values of one kind, of which a thing has one, or opposites."""
    pair = (one.lower(), other.lower())
    return any(pair[0] in line and pair[1] in line for line in _CLASSES) or excludes((pair[0],) * 2, (pair[1],) * 2)


def _korean(before: str, mine: list[str], other: list[str], after: str) -> Slot:
    tails = [found[0] if (found := _PARTICLE.search(words[-1])) else "" for words in (mine, other)]
    end = tails[0] if _TWINS.get(tails[0], tails[0]) == _TWINS.get(tails[1], tails[1]) else ""
    cut = [len(tail) if end else 0 for tail in tails]
    left, right = (" ".join(words)[: -count or None] for words, count in zip((mine, other), cut, strict=True))
    return Slot(left, right, _korean_kind(before, left, right, end, after))


def _korean_kind(before: str, left: str, right: str, end: str, after: str) -> Kind:
    if not before:
        return "holder" if end[-1:] in ("이", "가", "") and _KOREAN_HOLDER.search(after) else "many"
    if _turned(left, right) or _alike(left + end, right + end) or _alike(left, right):
        return "one"
    topic = _KOREAN_TOPIC.search(before) is not None
    if topic and (
        ("요일" in left and "요일" in right) or (left[0] == right[0] and ("지 않" in left) != ("지 않" in right))
    ):
        return "one"
    if topic and _KOREAN_ONE.match(f"{end} {after}".strip()):
        return "one"
    if topic and not after and end.endswith(("다", "입니다", "요", "임")):
        lasting = len(before.split()) > 1 or _KOREAN_PROPERTY.search(before) is not None
        return "one" if lasting and _KOREAN_IS.search(end) else "some"
    if re.search("[가-힣][이가]$", before) and not after and _KOREAN_IS.search(end):
        return "one"
    if topic and end in ("이", "가") and _KOREAN_HOLDER.match(after):
        return "one"
    return "many"


def _turned(one: str, other: str) -> bool:
    """Whether two words differ in one syllable, and that says the opposite: before and after the meal."""
    if len(one) != len(other):
        return False
    apart = [frozenset(pair) for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(apart) == 1 and apart[0] in _TURNED
