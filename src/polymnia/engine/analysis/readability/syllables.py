"""Syllables: how many a word has, by its groups of vowels and the rules of its language."""

from __future__ import annotations

import re
from functools import lru_cache

from polymnia.engine.text.language import strip_marks

__all__ = ["syllables"]

_VOWELS = re.compile(r"[aeiouy]+")
_SILENT_E = re.compile(r"[^aeiouyl]e$|[aeiou]le$|ue$")
_SILENT_ED = re.compile(r"[^aeiouytd]ed$")
_SILENT_ES = re.compile(r"[^aeiouyscgxzh]es$|[^cs]hes$")
_APART = re.compile(
    r"i[ao](?=.)(?!us|n)|[^aeiou]ia|eo(?!u)|[^gq]ua|uo|yi|i[ue]m|creat|being|(?<=.)[dr]ea$"
    r"|[^o]ying|sm$"
)
# Where vowels beside each other are two syllables: in the languages that part them, and in which pairs stay one.
_DIPHTHONGS = {
    "de": r"aa|ai|au|[aeo]u|ei|ie|oe|ue|ee|oo|eu|[aeiouy]",
    "nl": r"aai|ooi|oei|eeu|ieu|aa|ee|oo|uu|ie|oe|eu|ui|ou|au|ij|ei|[aeiouy]",
    "es": r"[iu][aeo][iu]|[aeo][iu]|[iu][aeo]|[iu][iu]|[aeiouy]",
    "pt": r"[ao]e|[ao]o|[aeo][iu]|[iu][aeo]|[iu][iu]|[aeiouy]",
    "it": r"[iu][aeo][iu]|[iu][aeo]|[aeo][iu]|[aeiou]",
    "fr": r"eaux?|[aeo]u[xt]?|oi|ai|ei|eu|ie(?!r)|io|ui|ou|[aeiouy]",
    "tr": r"[aeiou]",
    "ru": r"[аеёиоуыэюя]",
    "uk": r"[аеєиіїоуюя]",
}
_FRENCH_END = re.compile(r"(?<=[^aeiou])e(?:s|nt)?$")


@lru_cache(maxsize=50_000)
def syllables(word: str, language: str = "en") -> int:
    """How many syllables a word has, at least one. A language without rules of its own is counted by vowel groups."""
    low = strip_marks(word.casefold()) if language not in ("ru", "uk") else word.casefold()
    if language == "en":
        return _english(low)
    if language == "fr":
        low = _FRENCH_END.sub("", low) if len(low) > 3 else low
    rule = _DIPHTHONGS.get(language)
    return max(1, len(re.findall(rule, low) if rule else _VOWELS.findall(low)))


def _english(low: str) -> int:
    count = 0
    for part in re.split(r"[-'’]", low):
        if part and part not in ("s", "t", "re", "ll", "ve", "d", "m"):
            groups = len(_VOWELS.findall(part)) + len(_APART.findall(part))
            if len(part) > 2 and (_SILENT_E.search(part) or _SILENT_ED.search(part) or _SILENT_ES.search(part)):
                groups -= 1
            count += max(1, groups)
    return max(1, count)
