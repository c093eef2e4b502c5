"""Speaking: the language of a text as its ISO 639-1 code."""

from __future__ import annotations

import re

from polymnia.engine.search.languages import fold, language, script
from polymnia.engine.search.stopwords import STOPWORDS

__all__ = ["spoken", "written"]

_READ = 8000
_WORD = re.compile(r"[^\W\d_]+")
_CODES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "dutch": "nl", "swedish": "sv",
    "danish": "da", "norwegian": "no", "finnish": "fi", "hungarian": "hu", "romanian": "ro",
    "turkish": "tr", "polish": "pl", "czech": "cs", "indonesian": "id", "catalan": "ca", "vietnamese": "vi",
    "russian": "ru", "greek": "el", "arabic": "ar", "persian": "fa", "hebrew": "he", "hindi": "hi", "korean": "ko",
}  # fmt: skip
# Scripts that one language has to itself, or nearly.
_BY_SCRIPT = {
    "hangul": "ko", "kana": "ja", "han": "zh", "thai": "th", "lao": "lo", "burmese": "my", "khmer": "km",
    "georgian": "ka", "armenian": "hy", "greek": "el", "hebrew": "he", "tibetan": "bo",
}  # fmt: skip
_FEWEST = 2  # different small words; one of them alone may stand in any language
_SHARE = 0.12  # of all words; running text has two or three times as many
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_CLOSE = 1.1


def written(text: str) -> str:
    """The script of a text."""
    return script(text[:_READ])


def spoken(text: str) -> tuple[str | None, str | None]:
    """The language of a text: its code, and its name where its small words are known. None when they do not show it."""
    head = text[:_READ]
    name = script(head)
    if name in _BY_SCRIPT:
        return _BY_SCRIPT[name], "korean" if name == "hangul" else None
    words = [fold(word) for word in _WORD.findall(head)]
    said = language(words)
    if said is None:
        return None, None
    small = [word for word in words if word in STOPWORDS[said]]
    if len(set(small)) < _FEWEST or len(small) < _SHARE * len(words):
        return None, None
    if name == "cyrillic" and len(_UKRAINIAN.findall(head)) > len(head) / 100:
        return "uk", None
    if name == "latin" and said != "english" and not _clear(words, said, len(small)):
        return None, None
    return _CODES[said], said


def _clear(words: list[str], said: str, count: int) -> bool:
    """Whether no other language has as many of the words among its own."""
    few = words[:400]
    count = sum(word in STOPWORDS[said] for word in few)
    others = (sum(word in STOPWORDS[name] for word in few) for name in STOPWORDS if name != said)
    return count >= _CLOSE * max(others, default=0)
