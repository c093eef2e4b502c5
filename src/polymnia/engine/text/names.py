"""Names: the people, organisations and things in a text, recognized by capitals, titles and surnames."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from polymnia.engine.text.language import AMBIGUOUS_NAMES, DENSE, GIVEN_NAMES, PARTICLES, STOPWORDS, fold, word_list


class Name(NamedTuple):
    """A name and its span. The kind is person, organisation, place or thing; empty if unknown."""

    text: str
    kind: str
    start: int
    end: int


_Words: TypeAlias = list[tuple[int, str]]

_NOT_NAMES, _TITLES = word_list("not names"), word_list("titles")
_NOT_LAST = _NOT_NAMES | STOPWORDS["english"]
_ORGANISATIONS, _INSTITUTIONS, _PLACES = word_list("organisations"), word_list("institutions"), word_list("places")
_CASED = map(chr, (*range(0x41, 0x590), *range(0x10A0, 0x10C6), *range(0x1E00, 0x2000)))
_UPPER = "".join(c for c in _CASED if c.isupper())
_SIGN = rf"[^\W{DENSE}]"  # a Korean particle may follow a name directly
_WORD = rf"[{_UPPER}]{_SIGN}*(?:(?:&|['’-](?=[^\W_{DENSE}])){_SIGN}*){{0,30}}"
_GROUP = re.compile(
    rf"(?<![\w@/\\#$.&-]){_WORD}(?:(?:[ \t]{{1,2}}|(?<=[ .]\w)\.[ \t]?|(?<=^\w)\.[ \t]?)"
    rf"(?:(?:de|van|von|der|den|del|della|di|da|dos|la|le|bin|ibn|al|el|ter|of|the|für)[ \t]){{0,2}}{_WORD}){{0,5}}"
)
_INNER = re.compile(
    rf"(?<![\w@/\\#$.-])(?:[a-z]+[{_UPPER}]{_SIGN}*|[{_UPPER}]+[a-z]+[{_UPPER}]{_SIGN}*"
    rf"|[^\W\d_{DENSE}]+-?\d[A-Za-z0-9.]*[A-Za-z0-9]|[^\W\d_{DENSE}]{{2,}}\d)(?![A-Za-z0-9_(=])"
)
_PIECE = re.compile(r"[^\s.]+(?:\.(?=\w))?")
_SMALL = re.compile(r"(?<![\w'’-])[a-zß-öø-ÿа-яёα-ω][\w'’-]*")
_BEFORE = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Mx|Dr|Prof|Sr|Sra|Srta|Mme|Mlle|Hr|Fr)\.?|\b(?:Herr|Herrn|Frau|Señora?|Madame|Monsieur|Signora?"
    r"|Senhora?|signora?|señora?|monsieur|madame|senhora?|meneer|mevrouw|Professor(?:in)?|Doctor|Doktor|Sir|Lady|Miss|Dame|Captain|Judge|Senator|господин|госпожа|г-н"
    r"|г-жа))[ \t]{1,2}$"
)
_HUMAN = re.compile(
    r"[ \t](?:told|asked|thinks|thought|likes|loves|lives|smiled|laughed|replied|wants|feels|sagte|fragte|dijo|a dit)\b"
)
_ADDRESS = re.compile(r"[ \t]*<[^<>@\s]{1,64}@[^<>\s]{1,200}>")
_FIGURE = re.compile(
    r"[a-z]{1,2}\d+[a-z]?|(?i:v|p|q|h|w|x|no|pp|vol|fig|ch|utf|sha|md)-?\d[\w.]*|[0-9a-f]{7,}|[a-z]+_\w*|[a-z]+\d+"
)
_ACRONYM = 6
_SENTENCE_ENDS = ".!?:;\n\r\"“”„«»'‘’(-*#>•…|]。！？–—"

_SURNAMES = (
    "김이박최정강조윤장임한오서신권황안송류유홍전고문손양배백허남심노하곽성차주우구민진나지엄채원천방공현함변염여"
    "추도소석선설마길연위표명기반왕금옥육인맹제모탁국어은편용"
)
_COMMON_SURNAMES = "김이박최정강조윤장임한오서신권황안송류유홍전고문손양배백허남심노곽성차민엄채"
_KOREAN_GIVEN = (
    "가강건경관광교구국권규근기길나남노누다단대도동두라람래령로록루리림마명모무문미민배백범별병보복봉빈빛산삼상새"
    "샘서석선설섭성세소솔송수숙순술승시신아안애양언여연열영예오옥온완요용우욱운웅원월유윤율은을의이익인일임자장재"
    "전정제조종주준중지진찬창채천철청초춘충치태택평필하학한해혁현형혜호홍화환회효후훈휘희흠"
)
_KOREAN_LAST = (
    "경관교구규균근기길나남라람래련령리린림명문미민범별병빈빛상서석선섭성솔수숙순승신아안애연열영예옥완용우욱운웅"
    "원유윤율은인일자재정제조종주준중지진찬창천철춘태택필하학한헌혁현형혜호홍화환훈희"
)
# The particles that may follow a name; without a title, none of those that follow things and places.
AFTER_NAME = f"(?:{'|'.join((*PARTICLES, '입니다', '이다', '이며', '이고', '랑', '야', '아'))})"
_OF_THINGS = frozenset("에 에는 에도 에서 에서는 에서도 에서의 로 로는 이나 이란 밖에 조차 마다".split())
_OF_PEOPLE = [one for one in PARTICLES if one not in _OF_THINGS and "으로" not in one]
_AFTER_BARE = "|".join((*_OF_PEOPLE, "입니다", "이다", "이며", "이고"))
KOREAN_TITLES = (
    "(?:선생님|교수님|대표님|팀장님|부장님|과장님|차장님|대리님|이사님|사장님|회장님|실장님|본부장님|원장님|소장님|매니저님|의원님"
    "|대표이사|본부장|선생|교수|대표|팀장|부장|과장|차장|대리|이사|사장|회장|실장|원장|소장|주임|사원|매니저|연구원|박사|변호사|의원"
    "|장관|대통령|총리|기자|감독|선수|작가|배우|가수|의사|간호사|검사|판사|후보|위원장|위원|총장|군|양)"
)
_END = rf"(?={AFTER_NAME}?(?![가-힣]))"
_MISTER = re.compile(rf"(?<![가-힣])([가-힣]{{2,4}}?)[ ]?(?:씨|님)(?={AFTER_NAME}?(?![가-힣])|들)")
_FULL_NAME = rf"(?<![가-힣])([{_SURNAMES}][가-힣][{_KOREAN_LAST}동식봉복룡협란금배권국익덕강걸곤만])"
_JOINED = "(?:대표|교수|팀장|부장|과장|사장|회장|박사|의원|기자|감독|선수)"
_TITLED = re.compile(rf"{_FULL_NAME}(?:[ ]{KOREAN_TITLES}|{_JOINED}){_END}")
_LABELLED = re.compile(
    "(?:담당자?|작성자?|이름|성명|참석자?|보고자|발표자|고객명?|책임자|저자|대표자|수신|발신|신청자)[ ]?[:：][ ]?"
    rf"((?:[{_SURNAMES}][가-힣]{{1,3}}(?:[,、·/][ ]?|[ ](?=[{_SURNAMES}][가-힣]{{2}}(?![가-힣]))|(?![가-힣])))+)"
)
_KOREAN_NAME = re.compile(rf"[{_SURNAMES}][가-힣]{{1,3}}")
# Without a title, fewer syllables end a name: 한, 인, 상 and 은 end other words too often, and 구 a district (강남구).
_BARE_LAST = re.sub("[한인상은구]", "", _KOREAN_LAST)
_BARE = re.compile(rf"(?<![가-힣])[{_COMMON_SURNAMES}][{_KOREAN_GIVEN}][{_BARE_LAST}](?=(?:{_AFTER_BARE})?(?![가-힣]))")
# Before a particle, 은 is part of the name: 하은은, 다은이.
_STACKED = re.compile(
    rf"(?<![가-힣])[{_COMMON_SURNAMES}][{_KOREAN_GIVEN}]은(?=(?:은|이|을|과|의|에게|이며|이고|이다|입니다|이랑|이라고)(?![가-힣]))"
)
_NOT_ADDRESSED = word_list("korean not addressed")
_NOT_KOREAN_NAMES = word_list("korean not names")

_KANJI = "\u4e00-\u9fff々"
_SAN = re.compile(
    rf"(?<![{_KANJI}\u30a1-\u30fa])([{_KANJI}]{{1,4}}|[\u30a1-\u30ff]{{2,8}})(?:さん|様|氏|くん|君|ちゃん)(?![{_KANJI}])"
)
_HAN_SURNAMES = (
    "王李张張刘劉陈陳杨楊赵趙黄黃周吴吳徐孙孫胡朱高林何郭马馬罗羅梁宋郑鄭谢謝韩韓唐冯馮于董萧蕭程曹袁邓鄧许許傅沈"
    "曾彭吕呂苏蘇卢盧蒋蔣蔡贾賈丁魏薛叶葉阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙"
    "万段"
)
_MANDARIN = re.compile(
    rf"(?<![{_KANJI}])?([{_HAN_SURNAMES}][{_KANJI}]{{1,2}}?)(?:先生|女士|小姐|老师|老師|教授|博士|经理|經理|律师|律師|医生|醫生)"
)
_NOT_SAN = word_list("japanese not addressed")


def names(text: str, language: str | None = None) -> list[Name]:
    """All names in a text, in order.

    ``language`` is that of the text, if known: in German every noun is capitalized.
    """
    small = {word if word.isascii() else fold(word) for word in set(_SMALL.findall(text))}
    found: list[Name] = []
    for match in _GROUP.finditer(text):
        found += _judged(text, match, small, language)
    starts = {at for name in found for at in range(name.start, name.end)}
    for match in _INNER.finditer(text):
        word = match.group()
        if match.start() not in starts and 2 < len(word) <= 24 and not _FIGURE.fullmatch(word):
            found.append(Name(word, "thing", *match.span()))
    found += [Name(text[start:end], "person", start, end) for start, end in _east_asian(text)]
    found.sort(key=lambda name: name.start)
    return found


def distinct(found: list[Name], most: int) -> list[Name]:
    """The distinct names, in text order; the first or last name of a person in the list is left out."""
    best: dict[str, Name] = {}
    for name in found:
        known = best.get(name.text)
        if known is None:
            best[name.text] = name
        elif not known.kind and name.kind:
            best[name.text] = known._replace(kind=name.kind)
    people = [name.text.split() for name in best.values() if name.kind == "person" and " " in name.text]
    parts = {part for words in people for part in (words[0], words[-1])}
    return [name for name in best.values() if name.text not in parts][:most]


def _judged(text: str, match: re.Match[str], small: set[str], language: str | None) -> Iterator[Name]:
    for words in _split(match):
        start = words[0][0]
        begins = language != "korean" and _begins(text, start)  # a Korean sentence does not capitalize its first word
        titled = _BEFORE.search(text, max(0, start - 14), start) is not None
        while words and not titled:
            first = fold(words[0][1])
            if first.strip(".") in _TITLES and len(words) > 1:
                words, titled = words[1:], True
            elif _is_common(words, first, small, begins, language):
                words, begins = words[1:], False
            else:
                break
        while words and not titled and fold(words[-1][1]) in _NOT_LAST:
            words = words[:-1]
        if not words:
            continue
        begin, end = words[0][0], words[-1][0] + len(words[-1][1])
        name = text[begin:end]
        kind = _kind(text, words, end, titled)
        if kind or _is_name(words, name, language):
            yield Name(name, kind, begin, end)


def _split(match: re.Match[str]) -> Iterator[_Words]:
    """The words of a run, split after a genitive, and at `of` unless it follows an institution."""
    runs: list[_Words] = [[]]
    for one in _PIECE.finditer(match.group()):
        run, word = runs[-1], one.group()
        owner = word.endswith(("'s", "’s"))
        word = word[:-2] if owner else word
        joins = word in ("of", "the", "für") and (not run or fold(run[0][1]) not in _INSTITUTIONS)
        if not joins and (run or word[:1].isupper()):
            run.append((match.start() + one.start(), word))
        if joins or owner:
            runs.append([])
    for run in runs:
        while len(run) > 1 and not run[-1][1][:1].isupper():
            run.pop()
        if run:
            yield run


def _is_common(words: _Words, folded: str, small: set[str], begins: bool, language: str | None) -> bool:
    """Whether the first of some words is capitalized for another reason than being a name."""
    word, length = words[0][1], len(words)
    if length > 1 and folded in GIVEN_NAMES and folded not in _NOT_NAMES and not _leads(words[1][1]):
        return False  # "Will Smith", not "Will Ann"
    if folded in _NOT_NAMES or folded in _TITLES or folded[:2] in ("i'", "i’") or (len(word) == 1 and length == 1):
        return True
    if folded in STOPWORDS.get(language or "english", ()) or (begins and folded in STOPWORDS["english"]):
        return True
    if any(c.isupper() or c.isdigit() for c in word[1:]):
        # A word in capitals is a heading or an emphasis, unless it is as short as an acronym.
        return word.isupper() and (folded in small or len(word) > _ACRONYM)
    if folded in GIVEN_NAMES and folded not in AMBIGUOUS_NAMES:
        return False
    if length == 1:
        return begins or folded in small
    return begins and folded in small and folded not in GIVEN_NAMES


def _leads(word: str) -> bool:
    return fold(word) in GIVEN_NAMES or fold(word) in _NOT_NAMES


def _kind(text: str, words: _Words, end: int, titled: bool) -> str:
    if titled:
        return "person"
    folded = [fold(word).strip(".") for _, word in words]
    if len(words) > 1 and (folded[-1] in _ORGANISATIONS or folded[0] in _INSTITUTIONS):
        return "organisation"
    if len(words) > 1 and folded[-1] in _PLACES:
        return "place"
    if len(words) <= 4 and _ADDRESS.match(text, end):
        return "person"
    plain = all(not any(map(str.isdigit, word)) and (not word.isupper() or len(word) == 1) for _, word in words)
    given = folded[0] in GIVEN_NAMES or ("-" in folded[0] and folded[0].split("-")[0] in GIVEN_NAMES)
    if given and plain and len(words) <= 4 and (len(words) > 1 or folded[0] not in AMBIGUOUS_NAMES):
        return "person"
    if plain and len(words) <= 3 and _HUMAN.match(text, end):
        return "person"
    if len(words) == 1 and any(c.isupper() or c.isdigit() for c in words[0][1][1:]):
        return "thing"
    return ""


def _is_name(words: _Words, name: str, language: str | None) -> bool:
    if language == "german":
        # Two adjacent nouns are usually a name, a single one is a noun.
        return len(words) > 1 and not name.isupper()
    return len(name) > 1 and not (len(words) > 2 and name.isupper())


def _begins(text: str, at: int) -> bool:
    """Whether a word is the first of a sentence, where every word is capitalized."""
    before = text[max(0, at - 12) : at].rstrip(" \t")
    return not before or before[-1] in _SENTENCE_ENDS


def _east_asian(text: str) -> Iterator[tuple[int, int]]:
    """The spans of Korean, Japanese and Chinese names of people, which have no capitals; one may occur twice."""
    if text.isascii():
        return
    if re.search("[가-힣]", text):
        yield from _korean_names(text)
    if re.search("[\u3041-\u30ff]", text):
        for match in _SAN.finditer(text):
            if match[1] not in _NOT_SAN and not match[1].startswith("お"):
                yield match.span(1)
    elif re.search(f"[{_KANJI}]", text):
        yield from (match.span(1) for match in _MANDARIN.finditer(text))


def _korean_names(text: str) -> Iterator[tuple[int, int]]:
    for match in _MISTER.finditer(text):
        name = match[1]
        full = len(name) == 3 and name[0] in _SURNAMES
        if (
            name not in _NOT_ADDRESSED
            and name[-1] not in "를을는"
            and not re.search(f"{KOREAN_TITLES}$", name)
            and (full or (len(name) == 2 and _is_given(name)))
        ):
            yield match.span(1)
    for match in _TITLED.finditer(text):
        if match[1] not in _NOT_KOREAN_NAMES:
            yield match.span(1)
    for match in _LABELLED.finditer(text):
        for one in _KOREAN_NAME.finditer(match[1]):
            yield match.start(1) + one.start(), match.start(1) + one.end()
    yield from (match.span() for match in _STACKED.finditer(text))
    for match in _BARE.finditer(text):
        word = match.group()
        rest = re.match("[가-힣]{0,3}", text[match.end() : match.end() + 3])
        if word[2] == "하" and rest and rest.group():
            continue  # 유지하는: a verb
        if word not in _NOT_KOREAN_NAMES and word + (rest.group() if rest else "") not in _NOT_KOREAN_NAMES:
            yield match.span()


def _is_given(name: str) -> bool:
    return name[0] in _KOREAN_GIVEN + _SURNAMES and name[1] in _KOREAN_LAST
