"""Sorts: of what sort a value is. Berlin and Munich are two answers to one question, Berlin and good shape are not."""

from __future__ import annotations

import re

from polymnia.engine.analysis.conflicts.said import words

__all__ = ["comparable", "sort"]

_COUNTRIES = words("""
    germany france spain italy portugal netherlands belgium austria switzerland poland sweden norway denmark finland
    ireland england scotland wales britain uk greece turkey russia ukraine romania hungary czechia croatia usa us
    america canada mexico brazil argentina chile peru japan china korea india thailand vietnam singapore indonesia
    australia egypt morocco kenya nigeria israel iran iraq pakistan europe asia africa bavaria california texas
    scandinavia 한국 대한민국 일본 중국 미국 영국 독일 프랑스 스페인 이탈리아 캐나다 호주 인도 베트남 태국 유럽
    아시아 경기도 강원도
""")
_CITIES = words("서울 부산 대구 인천 광주 대전 울산 세종 수원 성남 용인 고양 제주 전주 청주 천안 포항 창원 춘천")
_DISTRICTS = words("강남 판교 분당 여의도 잠실 홍대 송도 해운대 마포 종로 강서 구로 가산 성수 일산 동탄")
_DAY = re.compile(
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|weekends?|weekdays?"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|[가-힣]요일|(?:the )?\d{1,2}(?:st|nd|rd|th)",
    re.IGNORECASE,
)
_HANGUL = re.compile("[가-힣]")
_SMALL = re.compile(r"^(?:the|a|an|our|my|his|her|their|room|port|version|mr|mrs|ms|dr)\.?\s+", re.IGNORECASE)
_TONGUE = re.compile(r"(?:한국|영|일본|중국|독일|프랑스|스페인|러시아|한글|국)어?$")


def sort(value: str) -> str:
    """A short name for the sort of a value: a figure, a day, a country, a name, or a thing."""
    whole = value.strip().rstrip(".")
    bare = _SMALL.sub("", whole)
    word = bare.lower()
    if _DAY.fullmatch(word.split()[0] if word.split() else word):
        return "day"
    if bare[:1].isdigit():
        return "figure"
    if word in _COUNTRIES:
        return "country"
    if _HANGUL.search(bare):
        if word in _CITIES or word in _DISTRICTS:
            return "city" if word in _CITIES else "district"
        return "tongue" if _TONGUE.fullmatch(bare) else "word"
    if whole.split()[:1] in (["room"], ["version"]):
        return "thing"
    # A name has a capital somewhere: Berlin, iOS, the Bristol.
    return "name" if any(c.isupper() for c in bare) else "thing"


def comparable(one: str, other: str) -> bool:
    """Whether two values may answer the same question."""
    return sort(one) == sort(other)
