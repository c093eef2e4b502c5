"""Names of people in Korean, Japanese and Chinese, where no capital tells them: by surname, given name and title."""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["PARTICLES", "TITLES", "east_asian_names"]

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
_NOT_MISTER = frozenset(
    """
    아저 아가 마음 고객 선생 부모 하느 하나 스승 회원 손 주인 도련 서방 형수 장모 장인 교수 대표 팀장 부장 과장
    차장 대리 이사 사장 회장 실장 본부장 원장 소장 매니저 의원 어머 아버 할머 할아버 형 누 오라버 며느 사모 임금
    공주 왕자 목사 신부 수녀 스님 판사 검사 변호사 의사 간호사 기사 기자 작가 감독 배우 선수 여러 이용자 사용자
    고객사 담당자 관리자 참석자 구매자 독자 시청자 환우 환자 학생
    """.split()  # noqa: SIM905
)
# Words that happen to be a surname and two syllables of given names.
_NOT_BARE = frozenset(
    """
    이용자 이상한 이중성 이용한 이동성 이용은 이유는 이후의 이전의 이미지 이야기 이자율 이진수 이상형 이성애
    이순신호 정지선 정기회 정치인 정신학 정보화 정상인 정의한 정확한 정수기 정비소 정상화 정규화 정체성 강대하
    강의실 강연자 고지서 고구려 고객서 고대의 고유한 고정한 고의성 고정원 조선인 조선의 조상의 조사한 조정한
    조용한 조종사 조제한 장기화 장소의 장애인 장군의 장치의 장관의 장례식 한국인 한국의 한강의 한정한 한자의
    한인회 한화로 한미연 오전에 오리지 오류의 오일은 오염원 서울의 서비스 서명한 서해안 서양인 서유럽 신기한
    신성한 신선한 신하의 신청한 신용의 신학자 신호기 신도시 신라의 신인상 신문지 신세계 권리의 권한의 황제의
    황제가 안전한 안정화 안정한 안보리 안경원 송신기 유명한 유일한 유용한 유대인 유대교 유사한 유지한 유전자
    유리한 유원지 유해한 유효한 유학자 전기의 전기차 전문가 전성기 전자기 전자제 전기자 전송한 전체의 전신주
    전자상 전원의 전시회 전수조 전투기 전진한 문제의 문화재 문학상 문자의 문자열 문화원 문화제 손해의 손상한
    양국의 양성애 양자의 양당제 배우자 배제한 백제의 백성의 백인은 남자의 남성의 남한의 남해안 남서부 남자가
    심각한 심리학 심리의 심장의 노동자 노래의 노인의 노선의 노리는 성공한 성인의 성장한 성서의 차지한 차이의
    차량의 차원의 민족의 민주화 민원인 민중의 채소의 임시의 임금의 임진왜 임명한 임의의 임신한 윤리의 홍수의
    허용한 허가제 류의 강도의 강력한 강조한 강원도 강한 이해한 이루어 이하의 이동한 이민자 이기는 이용률 이용해
    이상의 이정표 이기주 최종의 최대의 최초의 최고의 최소한 최신의 박물관 박해의 박사의 김치의 전라도 전해진
    전용은 정의의 정도의 정치의 정부의 정당의 정책의 정식의 전쟁의 전통의 전설의 전국의 주지사 이명은 조건은
    조기에 조화 오래 서로 서문 유전 전자 고령화 고성능 고해상 신규 신형 신원 구성원 정형화 정보원 정원의 이상은
    이전은 이미 지진 한정하 조선소 조미료 정미소 고인의 고위의 이수하 안정은 안정성 안전성 안전은 유연성 유의성
    유사성 유용성 정성은 정직한 정당한 정교한 조속한 유치한 유창한 한가한 한산한 신중한 신비한 심오한 선명한
    성대한 성실한 고요한 고상한 고귀한 서먹한 장대한 장엄한 전능한 전무한 정갈한 정숙한 정중한 정연한 조신한
    조악한 유능한 유순한 유식한 유려한 유구한 유난한 전원주 전자는 이자는 한자는 고자는 남자는 유자는 정자는
    전반기 전성은 이선은 신선은 신문은 유효성 노래상 송나라 정도나 서양화 유형지 장수명 전주성 조지아 성리학
    정해진 서기관 백지화 박치기 한해서 임기중 황태자 전진성 고아원 황인종 노후화 전의원 이루지 최우선 한동안
    배송지 전문성 전문지 공무원 성장기 천황은 민주주
    """.split()  # noqa: SIM905
)
_KANJI = "\u4e00-\u9fff々"
_SAN = re.compile(
    rf"(?<![{_KANJI}\u30a1-\u30fa])([{_KANJI}]{{1,4}}|[\u30a1-\u30ff]{{2,8}})(?:さん|様|氏|くん|君|ちゃん)(?![{_KANJI}])"
)
_NOT_SAN = frozenset(
    """
    皆 神 客 王 患者 奥 母 父 兄 姉 娘 息子 担当者 彼 お客 業者 何 両 同 旦那 仏 殿 嫁 学生 看護師 医者 店員
    社員 関係者 各位 姫 諸
    """.split()  # noqa: SIM905
)
_HAN_SURNAMES = (
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈"
    "曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙"
    "万段"
)
_MANDARIN = re.compile(
    rf"(?<![{_KANJI}])?([{_HAN_SURNAMES}][{_KANJI}]{{1,2}}?)(?:先生|女士|小姐|老师|老師|教授|博士|经理|經理|律师|律師|医生|醫生)"
)


def east_asian_names(text: str) -> Iterator[tuple[int, int]]:
    """Where names of people stand in Korean, Japanese and Chinese; a place may be told twice."""
    if text.isascii():
        return
    if re.search("[가-힣]", text):
        yield from _korean(text)
    if re.search("[\u3041-\u30ff]", text):
        for match in _SAN.finditer(text):
            if match[1] not in _NOT_SAN and not match[1].startswith("お"):
                yield match.span(1)
    elif re.search(f"[{_KANJI}]", text):
        for match in _MANDARIN.finditer(text):
            yield match.span(1)


def _korean(text: str) -> Iterator[tuple[int, int]]:
    for match in _MISTER.finditer(text):
        name = match[1]
        full = len(name) == 3 and name[0] in _SURNAMES
        if (
            name not in _NOT_MISTER
            and not re.search(f"{TITLES}$", name)
            and (full or (len(name) == 2 and _is_given(name)))
        ):
            yield match.span(1)
    for match in _TITLED.finditer(text):
        if match[1] not in _NOT_BARE:
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
        if word not in _NOT_BARE and word + (rest.group() if rest else "") not in _NOT_BARE:
            yield match.span()


def _is_given(name: str) -> bool:
    return name[0] in _GIVEN + _SURNAMES and name[1] in _LAST
