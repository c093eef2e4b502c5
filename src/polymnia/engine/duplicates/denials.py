"""Denials: negation in the languages that deny within a word or without spaces between words."""

from __future__ import annotations

import re

__all__ = ["denials"]

_KOREAN = re.compile(
    r"않|없|못[하한했합해]|(?<![가-힣])(?:안|못)\s+(?=[가-힣])|아니[다라었고며지]|아닌|아닙|아녜|지\s?(?:마[세라십시]|말[고아라])"
    r"|(?<![가-힣])(?:안|못)(?=[하했한합돼되된됐갔가왔와먹]|좋)"
)
_KOREAN_PLAIN = re.compile(r"안[전내경녕정과개동심부]")
_CHINESE = re.compile("[不没沒無无未别勿莫]|非(?!常|洲)|並非|并非")
_CHINESE_PLAIN = re.compile(
    "不错|不錯|不过|不過|不同|不断|不斷|无论|無論|別人|别人|区别|區別|特别|特別|级别|性别|性別|类别|告别|没关系|未来|未來|不仅|不僅"
    "|不但|不管|差不多|不久|不少|不得不|无线|無線|无人机|非常|不好意思|对不起|未必不|分别|分別|个别"
)
_JAPANESE = re.compile("な(?:い|かっ|く(?:て|な))|ません|ぬ(?![ぁ-ん])|ずに|なし|無し|まい(?![ぁ-ん])")
_JAPANESE_PLAIN = re.compile(
    "少な[いくか]|かもしれな[いくか]|かもしれません|なければなりません|なければな[りら]な[いくか]|な(?:くて|け)[はれば]*いけ(?:ない|ません)"
    "|危な[いくか]|もったいな[いくか]|つまらな[いくか]|違いな[いくか]|すみません|しかな[いくか]|じゃないか|ではないか"
)
_THAI = re.compile("ไม่(?!้)|มิ(?=ได้)")
_KANA = re.compile("[\u3041-\u30ff]")
_HAN = re.compile("[\u4e00-\u9fff]")
_HANGUL = re.compile("[\uac00-\ud7af]")
_SOUTH = re.compile("[\u0e00-\u0e7f]")


def denials(text: str) -> int:
    """How many negations a text holds that no white space sets apart."""
    if text.isascii():
        return 0
    count = 0
    if _HANGUL.search(text):
        count += len(_KOREAN.findall(_KOREAN_PLAIN.sub(" ", text)))
    if _KANA.search(text):
        count += len(_JAPANESE.findall(_JAPANESE_PLAIN.sub("", text)))
    elif _HAN.search(text):
        count += len(_CHINESE.findall(_CHINESE_PLAIN.sub("", text)))
    if _SOUTH.search(text):
        count += len(_THAI.findall(text))
    return count
