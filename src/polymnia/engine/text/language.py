"""Language: word lists, the script and language of a text, folding of case and accents, stems, Korean particles."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable, Iterable
from functools import cache
from itertools import islice

from polymnia.importing import importing


def sections(file: str) -> dict[str, str]:
    """The sections of a file in this folder by their names, which are in brackets; lines with # are comments."""
    with open(os.path.join(os.path.dirname(__file__), file), encoding="utf-8") as read:
        text = "".join(line for line in read if not line.startswith("#"))
    parts = (part.partition("]\n") for part in text.split("[")[1:])
    return {name: words for name, _, words in parts}


_LISTS = {name: frozenset(words.split()) for name, words in sections("lexicon.txt").items()}

STOPWORDS = {name.removeprefix("stopwords "): words for name, words in _LISTS.items() if name.startswith("stopwords ")}
"""The stop words of each language, by which the language of a text is detected."""

GENERAL = _LISTS["general"]
"""Content words too general to describe a text, in a few languages."""

GIVEN_NAMES = _LISTS["given names"]
"""Given names in many languages."""

AMBIGUOUS_NAMES = _LISTS["ambiguous names"]
"""Given names that are also a word, a month or a place, and do not identify a person on their own."""


def word_list(name: str) -> frozenset[str]:
    """A word list by its name in lexicon.txt."""
    return _LISTS[name]


PARTICLES = tuple(
    """
    만으로는 으로부터 에게서는 만으로 으로는 으로써 으로서 로부터 에서는 에서도 에게는 까지는 부터는 이라는 이라고
    이라서 에게서 에서의 께서는 에게 에서 으로 까지 부터 처럼 보다 마다 조차 밖에 하고 이랑 라는 라고 이나 이란 께서
    한테 에는 에도 로는 로서 로써
    들은 들이 들을 들의 은 는 이 가 을 를 과 와 의 에 도 만 로
    """.split()
)
"""Particles of nouns, the longest first."""

VERB_ENDINGS = tuple("했습니다 입니다 합니다 됩니다 습니다 하는 하여 해서 했다 한다 된다 되는 이다 이며 이고".split())
"""Endings that turn a noun into a verb."""

HANGUL = re.compile("[\uac00-\ud7af]+")
"""A run of syllables."""

GRAMMAR = re.compile(
    "(?<=..)(?:(?:들|이|에|으로|에게|에서)?(?:은|는|도|만|의)|들?(?:이|가|을|를|과|와|에게|로)|이?(?:나|란|라는|라고|며|고|다|던)"
    "|에|에서|에게서|으로|으로써|로써|로서|으로서|까지|부터|처럼|보다|마다|조차|밖에|하고|이랑|랑|으로부터|로부터"
    "|이었던|였던|인가|입니다|했던|하는|하여|한|된|되는|하다|했다|하며)$"
)
"""Endings that are probably grammatical: more than PARTICLES, since a search only gives them less weight."""

SHORT_NOUN = re.compile("[\uac00-\ud7af][은는이가을를에의도만로와과]$")
"""A noun of one syllable with its particle."""

_ENDING = re.compile(f"(?<=..)(?:{'|'.join((*PARTICLES, *VERB_ENDINGS))})$")
_AFTER_CONSONANT, _AFTER_VOWEL, _RIEUL = frozenset("은이을과"), frozenset("는가를와로"), 8


def noun(word: str) -> str:
    """A word without its particle or ending, if any.

    A short particle depends on the sound before it: 이 은 을 과 follow a final consonant, 가 는 를 와 a vowel, 로 a
    vowel or ㄹ; so 네이버페이 has none.
    """
    ending = _ENDING.search(word)
    if ending is None:
        return word
    root, particle = word[: ending.start()], ending.group()
    final = (ord(root[-1]) - 0xAC00) % 28 if "가" <= root[-1] <= "힣" else None
    if root[-1].isdigit() and particle == "만":
        return word  # 21만: two hundred thousand
    if particle in _AFTER_CONSONANT and not final:
        return word
    if particle in _AFTER_VOWEL and final and not (particle == "로" and final == _RIEUL):
        return word
    return root


DENSE = (
    "\u1100-\u11ff\u3130-\u318f\uac00-\ud7af"  # Hangul
    "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\u3041-\u30ff\u31f0-\u31ff"  # kana
    "\u0e00-\u0eff\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17dc-\u17dd"  # Thai, Lao, Burmese, Khmer
)
"""The characters of scripts that are indexed by pairs, as the inside of a character class."""


def _pairs(table: str) -> list[list[str]]:
    return [pair.split(":") for pair in table.split()]


_BLOCKS = """
    2ff:latin 3ff:greek 52f:cyrillic 58f:armenian 5ff:hebrew 8ff:arabic 97f:devanagari dff:indic e7f:thai eff:lao
    fff:tibetan 109f:burmese 10ff:georgian 11ff:hangul 13ff:ethiopic 17ff:khmer 1dff:other 1eff:latin 1fff:greek
    2e7f:other 3040:han 30ff:kana 312f:han 318f:hangul 31ef:han 31ff:kana 9fff:han abff:other d7ff:hangul f8ff:other
    faff:han 1ffff:other 3ffff:han
"""
_SCRIPTS = tuple((int(last, 16), name) for last, name in _pairs(_BLOCKS))
"""The last character of each relevant block, and its script."""

_SCRIPT_ORDER = """
    latin greek cyrillic armenian hebrew arabic devanagari indic thai lao tibetan burmese georgian hangul ethiopic
    khmer han kana other
"""
_SCRIPT_NUMBERS = {name: number for number, name in enumerate(_SCRIPT_ORDER.split(), 1)}
_STEMMED = frozenset(STOPWORDS) - {"vietnamese", "hebrew", "korean"}
_BY_SCRIPT = dict(_pairs("cyrillic:russian greek:greek arabic:arabic devanagari:hindi armenian:armenian"))
_LATIN = tuple(name for name in STOPWORDS if name in _STEMMED and name not in {*_BY_SCRIPT.values(), "persian"})
_EVIDENCE = 400  # words that are enough to detect the language of a text

_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+")
_LETTERS = str.maketrans(
    {"đ": "d", "ð": "d", "ø": "o", "ł": "l", "æ": "ae", "œ": "oe", "ı": "i", "þ": "th", "ħ": "h", "ς": "σ"}
    | {"أ": "ا", "إ": "ا", "آ": "ا", "ى": "ي", "ی": "ي", "ک": "ك", "ة": "ه"}
)

CODES = dict(
    _pairs("""
        english:en german:de french:fr spanish:es italian:it portuguese:pt dutch:nl swedish:sv danish:da norwegian:no
        finnish:fi hungarian:hu romanian:ro turkish:tr polish:pl czech:cs indonesian:id catalan:ca vietnamese:vi
        russian:ru greek:el arabic:ar persian:fa hebrew:he hindi:hi korean:ko
    """)
)
"""The ISO 639-1 codes of the languages with stop words."""

SCRIPT_CODES = dict(
    _pairs("""
        hangul:ko kana:ja han:zh thai:th lao:lo burmese:my khmer:km georgian:ka armenian:hy greek:el hebrew:he
        tibetan:bo
    """)
)
"""The ISO 639-1 codes of languages identified by their script."""

_READ = 8000  # characters that are read to detect the language of a text
_WORD = re.compile(r"[^\W\d_]+")
_FEWEST = 2  # different stop words; a single one may occur in any language
_SHARE = 0.12  # of all words; running text has two or three times as many
_UKRAINIAN = re.compile("[іїєґІЇЄҐ]")
_CLOSE = 1.1


@cache
def _hints() -> dict[str, tuple[str, ...]]:
    """The languages of each stop word."""
    found: dict[str, list[str]] = {}
    for name, words in STOPWORDS.items():
        for word in words:
            found.setdefault(strip_marks(word), []).append(name)
    return {word: tuple(names) for word, names in found.items()}


def strip_marks(word: str) -> str:
    """A folded word without accents, vowel points and other optional marks."""
    if word.isascii():
        return word
    apart = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", _MARKS.sub("", apart)).translate(_LETTERS)


def fold(word: str) -> str:
    """A word without case and accents, as searches compare it."""
    return word.lower() if word.isascii() else strip_marks(word.casefold())


def script(text: str) -> str:
    """The script of most letters of a text; `common` if it has none.

    Han mixed with kana is `kana`: that is Japanese.
    """
    if text.isascii():
        return "latin" if any(c.isalpha() for c in text) else "common"
    counts: dict[str, int] = {}
    for c in text[:2000]:
        if c.isalpha():
            name = _script_of(c)
            counts[name] = counts.get(name, 0) + 1
    if not counts:
        return "common"
    if counts.get("kana"):
        counts["kana"] += counts.pop("han", 0)
    # One character of a dense script is worth two or three letters of an alphabet.
    return max(counts, key=lambda name: counts[name] * (2 if name in {"han", "kana", "hangul"} else 1))


def script_number(text: str) -> int:
    """The number of a text's script, as stored in indexes; 0 if it has no letters."""
    return _SCRIPT_NUMBERS.get(script(text), 0)


def _script_of(c: str) -> str:
    code = ord(c)
    for last, name in _SCRIPTS:
        if code <= last:
            return name
    return "other"


def language(words: Iterable[str]) -> str | None:
    """The language of folded words, by the stop words among them; None without any."""
    hints = _hints()
    found = [hints[word] for word in islice(words, _EVIDENCE) if word in hints]
    if not found:
        return None
    if all("english" in names for names in found):
        return "english"
    counts: dict[str, int] = {}
    for names in found:
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    best = max(counts.values())
    return "english" if counts.get("english", 0) == best else max(counts, key=lambda name: counts[name])


def detect_language(text: str) -> tuple[str | None, str | None]:
    """The language of a text: its code, and its name if it has stop words; None if it cannot be determined."""
    head = text[:_READ]
    name = script(head)
    if name in SCRIPT_CODES:
        return SCRIPT_CODES[name], "korean" if name == "hangul" else None
    words = [fold(word) for word in _WORD.findall(head)]
    said = language(words)
    if said is None:
        return None, None
    small = [word for word in words if word in STOPWORDS[said]]
    if len(set(small)) < _FEWEST or len(small) < _SHARE * len(words):
        return None, None
    if name == "cyrillic" and len(_UKRAINIAN.findall(head)) > len(head) / 100:
        return "uk", None
    if name == "latin" and said != "english" and not _clear(words[:_EVIDENCE], said):
        return None, None
    return CODES[said], said


def _clear(words: list[str], said: str) -> bool:
    counts = {name: sum(word in small for word in words) for name, small in STOPWORDS.items()}
    return counts.pop(said) >= _CLOSE * max(counts.values())


def plausible(word: str, spoken: str | None) -> tuple[str, ...]:
    """The languages whose stemmer may apply to a word, likeliest first; ``spoken`` is the language of its context."""
    first = _script_of(word[0]) if word else "common"
    if first != "latin":
        rule = _BY_SCRIPT.get(first)
        if first == "arabic" and spoken == "persian":
            rule = "persian"
        return (rule,) if rule else ()
    if spoken in _LATIN:
        return (spoken,)
    if spoken == "vietnamese":
        return ()
    return _LATIN if spoken is None else ("english",)


@cache
def _stemmer(name: str) -> Callable[[str], str]:
    with importing():
        import Stemmer

    found: Callable[[str], str] = Stemmer.Stemmer(name, 0).stemWord
    return found


def stem(word: str, name: str) -> str:
    """The stem of a case-folded word in a language, without accents."""
    return strip_marks(_stemmer(name)(word))
