"""Roots: the words of scripts that set no spaces between words, or hang their grammar onto them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from unicodedata import normalize

from polymnia.engine.search.calendar_words import EASTERN
from polymnia.engine.search.calendar_words import HANGUL as HANGUL_DAYS
from polymnia.engine.search.stopwords import STOPWORDS

__all__ = ["HAN", "HANGUL", "dense_words", "roots", "same_root"]

HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]")
HANGUL = re.compile("[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+")
_RUN = re.compile(
    "(?P<hangul>[\u1100-\u11ff\u3130-\u318f\uac00-\ud7af]+)|(?P<han>[\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]+)"
    "|(?P<kata>[\u30a1-\u30ff\u31f0-\u31ff]+)|(?P<hira>[\u3041-\u3096ー]+)|(?P<other>.)",
    re.DOTALL,
)
_KOREAN_TAIL = re.compile(
    "(?:들)?(?:에서는|에서도|에게서|으로부터|로부터|으로써|로써|으로서|로서|에게는|에게|한테|께서|에서|에는|에도|까지|부터|처럼|보다|마다|조차"
    "|밖에|하고|이랑|으로|은|는|이|가|을|를|과|와|에|의|도|만|로|랑|께)$|들$"
)
_KOREAN_SMALL = STOPWORDS["korean"] | frozenset(
    [
        "있다",
        "있습니다",
        "있고",
        "있었다",
        "있었습니다",
        "있는",
        "있으며",
        "있음",
        "한",
        "두고",
        "중이다",
        "중",
        "것",
        "것이다",
        "것입니다",
        "수",
        "한다",
        "합니다",
        "했다",
        "했습니다",
        "하고",
        "하는",
        "해",
        "된다",
        "되었다",
        "됐다",
        "그",
        "이",
        "저",
        "및",
        "더",
        "위에",
        "안에",
        "옆에",
        "에",
        "의",
        "를",
        "을",
        "은",
        "는",
        "이다",
        "입니다",
        "였다",
        "때",
        "동안",
        "대한",
        "대해",
        "위해",
        "위한",
        "그의",
        "그녀의",
        "그들의",
    ]
)
_MELTED = {"\u1167": "\u1175", "\u116a": "\u1169", "\u116f": "\u116e"}
_N, _B, _SS = "\u11ab", "\u11b8", "\u11bb"
_SURE = frozenset(
    normalize("NFD", ending)
    for ending in (
        f"고 며 면서 는 는다 {_N}다 다 었다 았다 였다 {_SS}다 습니다 {_B}니다 었습니다 았습니다 {_SS}습니다"
        f" 었던 았던 {_SS}던 어서 아서 었고 았고 {_SS}고 지만 으며 어요 아요 려고"
    ).split()
)
_UNSURE = frozenset(normalize("NFD", ending) for ending in (*"은을음기지게면어아여자던니러요", "으면", "도록", "는데"))
_ENDINGS = sorted(_SURE | _UNSURE, key=len, reverse=True)
"""Endings of verbs in jamo, the longest first; the sure ones may leave a root of one syllable."""
_KOREAN_NUMBERS = {
    "두": "2", "둘": "2", "세": "3", "셋": "3", "네": "4", "넷": "4", "다섯": "5", "여섯": "6", "일곱": "7",
    "여덟": "8", "아홉": "9", "열": "10",
}  # fmt: skip
_HIRA_GRAMMAR = re.compile(
    "(?:について|によって|において|として|ました|ません|ませんでした|でした|ています|ている|ていた|ていました|られる|される|された|したい|ください"
    "|します|する|した|して|しました|です|ます|から|まで|より|ため|など|という|とき|こと|もの|それ|これ|あれ|この|その|あの|には|では|とは|にも|でも"
    "|ある|あり|あります|いる|います|いた|れる|れた|った|って|んだ|んで|いて|いた|かった|ない|なかっ|なく|だった|だ|は|が|を|に|で|と|も|の|へ|や|か|ね|よ|た|て|い|う|く|き|け|し|せ|り|る|れ|ろ|え|お|ご|な|ん|っ|ま|す|み|め|む|べ|ば|び|ぶ|さ|そ|こ|ら|わ)+"
)
_PARTICLES = frozenset({"が", "を", "は", "に", "へ", "から", "まで", "より"})
_CHINESE_SMALL = frozenset(
    "的了着過过是在有和与與也就都而及吗嗎呢吧啊地得个個们們这這那一把被给給对對从從到于於以为為之其所"
)
_JAPANESE_SMALL = frozenset("一的")


@lru_cache(maxsize=30_000)
def dense_words(token: str) -> tuple[tuple[str, str, str], ...]:
    """The words of a run of letters with dense characters in it: key, kind and how it was written."""
    return tuple(_walk(token))


def _walk(token: str) -> Iterator[tuple[str, str, str]]:
    kana = re.search("[\u3041-\u30ff]", token) is not None
    rest = ""
    for match in _RUN.finditer(token):
        run = match[0]
        if match.lastgroup != "other" and rest:
            yield rest.casefold(), "word", rest
            rest = ""
        if match.lastgroup == "hangul":
            yield _korean(run)
        elif match.lastgroup == "kata":
            yield run.rstrip("ー"), "word", run
        elif match.lastgroup == "hira":
            if run in _PARTICLES:
                yield run, "small", run
                continue
            said = _HIRA_GRAMMAR.sub(" ", run).split()
            yield from ((piece, "word", piece) for piece in said)
        elif match.lastgroup == "han":
            yield from _han(run, kana)
        else:
            rest += run
    if rest:
        yield rest.casefold(), "word", rest


def _han(run: str, kana: bool) -> Iterator[tuple[str, str, str]]:
    at = 0
    while at < len(run):
        for length in (3, 2):
            day = EASTERN.get(run[at : at + length])
            if day is not None and day[0] == "W":
                yield f"d{day[1]}", "day", run[at : at + length]
                at += length
                break
        else:
            c = run[at]
            small = c in (_JAPANESE_SMALL if kana else _CHINESE_SMALL)
            yield c, "small" if small else "char", c
            at += 1


def _korean(word: str) -> tuple[str, str, str]:
    root = _KOREAN_TAIL.sub("", word) if len(word) > 1 else word
    for form in (word, root, word[:3]):
        day = HANGUL_DAYS.get(form)
        if day is not None and day[0] == "W":
            return f"d{day[1]}", "day", word
        if form in _KOREAN_NUMBERS:
            return _KOREAN_NUMBERS[form], "number", word
    if word in _KOREAN_SMALL or not root:
        return word, "small", word
    return root, "word", word


@lru_cache(maxsize=30_000)
def _roots(word: str) -> frozenset[str]:
    """What a Korean word may be a form of: itself, without its particle, without the ending of a verb."""
    bare = _KOREAN_TAIL.sub("", word)
    found = {normalize("NFD", form) for form in (word, bare if len(bare) > 1 else word)}
    for form in {word, bare}:
        jamo = normalize("NFD", form)
        for ending in _ENDINGS:
            if jamo.endswith(ending):
                root = jamo.removesuffix(ending)
                root = _uncontracted(root) if ending[0] == _SS else root
                if len(root) >= (2 if ending in _SURE else 4):
                    found.add(root)
                break
    return frozenset(found)


def _uncontracted(root: str) -> str:
    """A root in jamo without the vowel that a past form melts into it: 쳤 is 치었, 했 is 하였, 봤 is 보았."""
    return root[:-1] + _MELTED.get(root[-1:], root[-1:]) if root[-2:] != "\u1112\u1162" else root[:-1] + "\u1161"


def roots(word: str) -> frozenset[str]:
    """What a Korean word may be a form of; the word itself for any other."""
    return _roots(word) if HANGUL.fullmatch(word) else frozenset((word,))


def same_root(a: str, b: str) -> bool:
    """Whether two Korean words are forms of one."""
    return bool(HANGUL.fullmatch(a) and HANGUL.fullmatch(b) and _roots(a) & _roots(b))
