"""Consistency words: spellings of which a text should use one, in English and Korean."""

from __future__ import annotations

import re

__all__ = ["APART", "DATES", "STYLES", "UNITS", "VARIETIES", "loanwords"]

APART = frozenset(
    """set up|log in|log on|log out|back up|sign up|sign in|check out|check in|roll out|roll back|clean up|start up|shut
    down|break down|turn over|work around|fall back|follow up|hand over|kick off|look up|make up|on board|over all|pick
    up|plug in|print out|run time|screen shot|show down|take over|time out|warm up|write up|any one|every one|some
    one|any way|every day|may be|some time|no body|al ready|all ready|all together|a part|a while|in to|on to|in side
    |with out|can not|build up|call back|cut off|drop down|fill in|line up|lock down|mark up|mock up|open source"""
    .replace("\n    ", " ").replace(" |", "|").split("|")
)  # fmt: skip
"""Pairs of words that mean something else, or are a verb, when they are written apart."""

_COLOURS = "colour favour behaviour honour labour neighbour flavour humour harbour rumour vapour vigour endeavour"
_OUR = _COLOURS.split()
_ORGANISED = (
    "organis realis recognis optimis initialis serialis normalis summaris synchronis minimis maximis prioritis "
    "categoris customis standardis utilis visualis authoris finalis generalis specialis analys catalys paralys "
    "apologis emphasis"
)
_ISE = _ORGANISED.split()
_SINGLE = {
    "centre": "center", "centres": "centers", "metre": "meter", "metres": "meters", "theatre": "theater", "catalogue":
    "catalog", "dialogue": "dialog", "defence": "defense", "licence": "license", "offence": "offense", "grey": "gray",
    "travelling": "traveling", "travelled": "traveled", "cancelled": "canceled", "cancelling": "canceling", "labelled":
    "labeled", "labelling": "labeling", "modelling": "modeling", "modelled": "modeled",
    "fulfil": "fulfill", "enrol": "enroll", "judgement": "judgment", "ageing": "aging",
}  # fmt: skip
_ENDINGS = "(?:e|es|ed|ing|er|ers|ation|ations)"
VARIETIES = (
    (
        "British",
        "American",
        re.compile(rf"\b(?:(?:{'|'.join(_OUR)})\w{{0,4}}|{'|'.join(_SINGLE)})\b", re.IGNORECASE),
        re.compile(
            rf"\b(?:(?:{'|'.join(word.replace('our', 'or') for word in _OUR)})\w{{0,4}}"
            rf"|{'|'.join(_SINGLE.values())})\b",
            re.IGNORECASE,
        ),
    ),
    (
        "-ise",
        "-ize",
        re.compile(rf"\b(?:{'|'.join(_ISE)}){_ENDINGS}\b", re.IGNORECASE),
        re.compile(rf"\b(?:{'|'.join(word[:-1] + 'z' for word in _ISE)}){_ENDINGS}\b", re.IGNORECASE),
    ),
)
"""Two ways to spell English, of which a text keeps to one; with -ize one may write British, too."""

_LOANS = (
    "콘텐츠 컨텐츠|메시지 메세지|애플리케이션 어플리케이션|디렉터리 디렉토리|액세스 억세스|릴리스 릴리즈|데이터 데이타"
    "|캐시 캐쉬|섹션 섹숀|레이블 라벨|프런트엔드 프론트엔드|소스코드 쏘스코드|매뉴얼 메뉴얼|리더십 리더쉽|워크숍 워크샵"
    "|스케줄 스케쥴|아키텍처 아키텍쳐|피처 피쳐|타깃 타겟|심벌 심볼|로컬 로칼|렌더링 랜더링|콘퍼런스 "
    "컨퍼런스|컨트롤 콘트롤"
    "|커스텀 커스톰|배지 뱃지|케이스 캐이스|파일럿 파일롯|마이그레이션 마이그래이션|비즈니스 비지니스|퍼센트 프로"
)


def loanwords() -> list[tuple[str, ...]]:
    """Korean spellings of one borrowed word, the standard one first."""
    return [tuple(pair.split()) for pair in _LOANS.split("|")]


DATES = {
    "2025-03-03": re.compile(r"(?<![\d.-])\d{4}-\d{1,2}-\d{1,2}(?![\d-])"),
    "3 March 2025": re.compile(
        r"\b\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov"
        r"|Dec)[a-z]*\.?,?\s+\d{4}\b"
    ),
    "March 3, 2025": re.compile(
        r"\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?,?\s+\d{4}\b"
    ),
    "03/03/2025": re.compile(r"(?<![\d/.])\d{1,2}/\d{1,2}/\d{2,4}(?![\d/])"),
    "03.03.2025": re.compile(r"(?<![\d.])\d{1,2}\.\d{1,2}\.\d{4}(?![\d.])"),
    "2025.03.03": re.compile(r"(?<![\d.])\d{4}\.\s?\d{1,2}\.\s?\d{1,2}\.?(?!\d)"),
    "2025/03/03": re.compile(r"(?<![\d/])\d{4}/\d{1,2}/\d{1,2}(?![\d/])"),
    "2025년 3월 3일": re.compile(r"\d{4}\s*년\s*\d{1,2}\s*월\s*\d{1,2}\s*일"),
}
"""How full dates are written."""

UNITS: tuple[dict[str, re.Pattern[str]], ...] = (
    {"10 %": re.compile(r"\d\s%"), "10%": re.compile(r"\d%"), "10 percent": re.compile(r"\d\s?(?:percent"
                                                                                       r"|per cent)\b|\d\s?퍼센트")},
    *(
        {
            f"10 {short}": re.compile(rf"\d\s{short}\b"),
            f"10{short}": re.compile(rf"\d{short}\b"),
            f"10 {full}": re.compile(rf"\d[\s-]{full}s?\b", re.IGNORECASE),
        }
        for short, full in (
            ("KB", "kilobyte"), ("MB", "megabyte"), ("GB", "gigabyte"), ("TB", "terabyte"), ("ms", "millisecond"),
            ("kg", "kilogram"), ("km", "kilomet(?:er|re)"), ("cm", "centimet(?:er|re)"), ("GHz", "gigahertz"),
        )
    ),
)  # fmt: skip
"""Ways to write one unit after a number."""

_BOWING = "".join(chr(0xAC00 + 28 * at + 17) for at in range(399))  # syllables that end in ㅂ: 합, 입, 습
STYLES = (
    ("합니다", re.compile(rf"(?:[{_BOWING}]니다|[{_BOWING}]니까|십시오)[.!?…)*_~]*\s*$")),
    ("해요", re.compile(r"(?:[가-힣]요|죠|지요)[.!?…)*_~]*\s*$")),
    ("한다", re.compile(rf"(?:[가-힣](?<![{_BOWING}]니)다|[가-힣]는가)[.!?…)*_~]*\s*$")),
)
"""How Korean sentences end, by how they address the reader; the first that fits."""
