"""Kinds in Korean: what a place takes, by the particle and the verb after it."""

from __future__ import annotations

import re

from polymnia.engine.analysis.conflicts.kinds import Kind, alike
from polymnia.engine.analysis.conflicts.sorts import comparable

__all__ = ["korean"]

_ONE = re.compile(
    r"^(?:에|에서|으?로|까지|부터|마다)는? ?(?:있다|있습니다|산다|삽니다|살고|근무|거주|실행|열린|열리|개최|진행"
    r"|정산|위치|보관|저장|시작|끝|출발|도착|작동|동작|운영)"
)
_WHERE = re.compile(r"^[가-힣]+(?<!안)에 (?:있다|있습니다|위치|산다|삽니다|보관|저장)")  # 서울 리전에 있다
_IS = re.compile(r"(?:이다|입니다|이에요|예요|임)$")
_HOLDER = re.compile(r"(?:이끈|이끌|맡|담당|책임|대표|팀장|소유|주인|감독|관리한|운영한|낸다|냅니다|부담|지불)")
_PARTICLE = re.compile(
    r"(?<=[가-힣\w])(?:(?:에서|에|으?로|까지|부터|마다)(?:는|만|도)?|이다|입니다|이에요|예요|임|이|가|을|를|은|는"
    r"|의|와|과|다|요)$"
)
_TWINS = {"이": "가", "은": "는", "을": "를", "과": "와", "로": "으로"}  # one particle, by the sound before it
_PROPERTY = re.compile(
    r"(?:번호|주소|이름|장소|가격|요금|담당자|팀장|대표|언어|색|색깔|마감|위치|업체|회사|시간|날짜|요일|기간|주기"
    r"|한도|비용|값"
    r"|원인|이유|제목|단위|통화|형식|버전|포트|암호|코드)(?:은|는)$"
)
_TOPIC = re.compile(r"(?:[가-힣]은|(?<!에)(?<!에서)(?<!로)는)$")
# Syllables that turn a word into its opposite: before and after, north and south, with and without …
_OPPOSITES = (
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
    "신구",
    "장단",
)
_TURNED = frozenset(map(frozenset, _OPPOSITES))


def korean(before: str, mine: list[str], other: list[str], after: str) -> tuple[str, str, Kind]:
    """Two values without their particle, and what their place takes."""
    tails = [found[0] if (found := _PARTICLE.search(words[-1])) else "" for words in (mine, other)]
    end = tails[0] if _TWINS.get(tails[0], tails[0]) == _TWINS.get(tails[1], tails[1]) else ""
    cut = [len(tail) if end else 0 for tail in tails]
    left, right = (" ".join(words)[: -count or None] for words, count in zip((mine, other), cut, strict=True))
    return left, right, _kind(before, left, right, end, after)


def _kind(before: str, left: str, right: str, end: str, after: str) -> Kind:
    if not before:
        return "holder" if end[-1:] in ("이", "가", "") and _HOLDER.search(after) else "many"
    if _turned(left, right) or alike(left + end, right + end) or alike(left, right):
        return "one"
    topic = _TOPIC.search(before) is not None
    if topic and (
        ("요일" in left and "요일" in right) or (left[0] == right[0] and ("지 않" in left) != ("지 않" in right))
    ):
        return "one"
    if topic and (_ONE.match(f"{end} {after}".strip()) or _WHERE.match(after)):
        return "one" if left.isascii() == right.isascii() and comparable(left, right) else "some"
    if topic and not after and end.endswith(("다", "입니다", "요", "임")):
        lasting = len(before.split()) > 1 or _PROPERTY.search(before) is not None
        return "one" if lasting and _IS.search(end) else "some"
    if re.search("[가-힣][이가]$", before) and not after and _IS.search(end):
        return "one"
    if topic and end in ("이", "가") and _HOLDER.match(after):
        return "one"
    return "many"


def _turned(one: str, other: str) -> bool:
    """Whether two words differ in one syllable, and that says the opposite: before and after the meal."""
    if len(one) != len(other):
        return False
    apart = [frozenset(pair) for pair in zip(one, other, strict=True) if pair[0] != pair[1]]
    return len(apart) == 1 and apart[0] in _TURNED
