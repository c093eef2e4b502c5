"""Korean: its particles, and the names of people, told by surname, given name and title."""

from __future__ import annotations

import re
from collections.abc import Iterator

from polymnia.engine.text.lexicon import word_list

__all__ = ["PARTICLES", "TITLES", "korean_names"]

_SURNAMES = (
    "김이박최정강조윤장임한오서신권황안송류유홍전고문손양배백허남심노하곽성차주우구민진나지엄채원천방공현함변염여"
    "추도소석선설마길연위표명기반왕금옥육인맹제모탁국어은편용"
)
_COMMON = "김이박최정강조윤장임한오서신권황안송류유홍전고문손양배백허남심노곽성차민엄채"
_GIVEN = (
    "가강건경관광교구국권규근기길나남노누다단대도동두라람래령로록루리림마명모무문미민배백범별병보복봉빈빛산삼상새"
    "샘서석선설섭성세소솔송수숙순술승시신아안애양언여연열영예오옥온완요용우욱운웅원월유윤율은을의이익인일임자장재"
    "전정제조종주준중지진찬창채천철청초춘충치태택평필하학한해혁현형혜호홍화환회효후훈휘희흠"
)
_LAST = (
    "경관교구규균근기길나남라람래련령리린림명문미민범별병빈빛상서석선섭성솔수숙순승신아안애연열영예옥완용우욱운웅"
    "원유윤율은인일자재정제조종주준중지진찬창천철춘태택필하학한헌혁현형혜호홍화환훈희"
)
PARTICLES = (
    "(?:께서는|께서|에게서|에게는|에게|한테|이라는|이라고|이랑|이나"
    "|이며|이고|입니다|이다|으로|은|는|이|가|을|를|의|와|과|도|만|랑|야|아|로|에)"
)
"""What may hang on a Korean name."""
TITLES = (
    "(?:선생님|교수님|대표님|팀장님|부장님|과장님|차장님|대리님|이사님|사장님|회장님|실장님|본부장님|원장님|소장님|매니저님|의원님"
    "|대표이사|본부장|선생|교수|대표|팀장|부장|과장|차장|대리|이사|사장|회장|실장|원장|소장|주임|사원|매니저|연구원|박사|변호사|의원"
    "|장관|대통령|총리|기자|감독|선수|작가|배우|가수|의사|간호사|검사|판사|후보|위원장|위원|총장|군|양)"
)
_END = rf"(?={PARTICLES}?(?![가-힣]))"
_MISTER = re.compile(rf"(?<![가-힣])([가-힣]{{2,4}}?)[ ]?(?:씨|님)(?={PARTICLES}?(?![가-힣])|들)")
_FULL = rf"(?<![가-힣])([{_SURNAMES}][가-힣][{_LAST}동식봉복룡협란금배권국익덕강걸곤만])"
_JOINED = "(?:대표|교수|팀장|부장|과장|사장|회장|박사|의원|기자|감독|선수)"
_TITLED = re.compile(rf"{_FULL}(?:[ ]{TITLES}|{_JOINED}){_END}")
_LABELLED = re.compile(
    "(?:담당자?|작성자?|이름|성명|참석자?|보고자|발표자|고객명?|책임자|저자|대표자|수신|발신|신청자)[ ]?[:：][ ]?"
    rf"((?:[{_SURNAMES}][가-힣]{{1,3}}(?:[,、·/][ ]?|[ ](?=[{_SURNAMES}][가-힣]{{2}}(?![가-힣]))|(?![가-힣])))+)"
)
_ONE = re.compile(rf"[{_SURNAMES}][가-힣]{{1,3}}")
# Without a title less may end a name: 한, 인, 상 and 은 end other words too often, and 구 ends a district (강남구).
_BARE_LAST = re.sub("[한인상은구]", "", _LAST)
_HANGING = (
    "(?:께서는|께서|에게서|에게는|에게|한테|이라는|이라고|이랑|이며|이고|입니다|이다|은|는|이|가|을|를|의|와|과|도|만)"
)
_BARE = re.compile(rf"(?<![가-힣])[{_COMMON}][{_GIVEN}][{_BARE_LAST}](?={_HANGING}?(?![가-힣]))")
# Where a particle follows, 은 is none itself: 하은은, 다은이.
_STACKED = re.compile(
    rf"(?<![가-힣])[{_COMMON}][{_GIVEN}]은(?=(?:은|이|을|과|의|에게|이며|이고|이다|입니다|이랑|이라고)(?![가-힣]))"
)
_NOT_ADDRESSED = word_list("korean not addressed")
_NOT_NAMES = word_list("korean not names")


def korean_names(text: str) -> Iterator[tuple[int, int]]:
    """Where names of people stand; a place may come twice."""
    for match in _MISTER.finditer(text):
        name = match[1]
        full = len(name) == 3 and name[0] in _SURNAMES
        if (
            name not in _NOT_ADDRESSED
            and not re.search(f"{TITLES}$", name)
            and (full or (len(name) == 2 and _is_given(name)))
        ):
            yield match.span(1)
    for match in _TITLED.finditer(text):
        if match[1] not in _NOT_NAMES:
            yield match.span(1)
    for match in _LABELLED.finditer(text):
        for one in _ONE.finditer(match[1]):
            yield match.start(1) + one.start(), match.start(1) + one.end()
    yield from (match.span() for match in _STACKED.finditer(text))
    for match in _BARE.finditer(text):
        word = match.group()
        rest = re.match("[가-힣]{0,3}", text[match.end() : match.end() + 3])
        if word[2] == "하" and rest and rest.group():
            continue  # 유지하는: a verb
        if word not in _NOT_NAMES and word + (rest.group() if rest else "") not in _NOT_NAMES:
            yield match.span()


def _is_given(name: str) -> bool:
    return name[0] in _GIVEN + _SURNAMES and name[1] in _LAST
