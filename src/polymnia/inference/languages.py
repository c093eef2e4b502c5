"""Which embedder knows a text's language, by its letters and its smallest words.

Cheap signs, not a language detector: a few words without any sign are taken for known, because a query
is often one name. What USE knows beyond its 16 languages was measured: it places sentences in Indonesian,
Catalan, Ukrainian and Bulgarian beside their English translations, and all sentences of a language it
does not know (Greek, Hebrew, Hindi, Finnish, Vietnamese, Persian, the Nordic languages) beside each other.
"""

from __future__ import annotations

import re
from functools import cache

_ENOUGH = 1000  # characters that tell the language of a text

_USE_LETTERS = re.compile(
    "[a-zA-Z\u00aa-\u024f\u1e00-\u1eff\uff21-\uff5a"  # Latin
    "\u0400-\u052f"  # Cyrillic
    "\u0620-\u06ff\u0750-\u077f\ufb50-\ufdff\ufe70-\ufefc"  # Arabic
    "\u0e01-\u0e4e"  # Thai
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9d"  # kana
    "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Hangul
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"  # Han
)

# Letters and doublings that none of USE's languages has, though they are in one of its scripts.
_FOREIGN = re.compile(
    "[åøđðþħəőűășțěřůčšžďťňľĺŕģķļņėįųūāēīơư\u1ea0-\u1ef9]|ää|öö|yy"  # Latin
    "|[әғқңөұүһ]"  # Cyrillic
    "|[پچژگکیٹڈڑںےہھ]"  # Arabic
)
_FOREIGN_SHARE = 0.15  # a text may name a foreigner

_VOTING_SHARE = 0.1

_ACCENTED_SHARE = 0.02  # of an English text's letters
_NOT_LATIN_SHARE = 0.1

_WORD = re.compile(r"[^\W\d_]+")

# Small words that are frequent in their language and not English words. Languages USE knows:
_KNOWN = {
    "en": "the of and to is that it for was with are have this not you be by at from what when where who how did does "
    "do my your we they he she his her will would there which has had can about i a an in on as or but all one up out "
    "our me if its than more no so some any were been get go see know like just good time role yes yeah",
    "de": "der das und ist nicht ein eine einen einem mit auf für den dem von zu zum zur sich auch wird sind ich wir "
    "sie er hat haben wann wie wer wo kann bei nach aber oder im in an am mein meine unser ihr",
    "fr": "le la les des et est une un que qui dans pour pas sur avec au aux du ne ce il elle nous vous sont été où "
    "quand comment mon ma je",
    "es": "el la a los las de que y en un una es por con para se su lo como más pero está qué cuándo dónde quién "
    "fue mi",
    "it": "i il lo gli che di è a in un una per non con sono del della nel come più ma ha chi quando dove la le",
    "pt": "os as a de que do da um uma para com não por mais como dos das foi está quando onde quem na no ao nos estão "
    "são",
    "nl": "de het een en van dat niet op te zijn voor met aan er wordt hij zij wij ik wat wanneer waar wie naar in",
    "pl": "nie się na jest że jak po ale od są czy co kiedy gdzie kto z w i do dla",
    "tr": "ve bir bu için ile ne çok daha gibi var mı mi olarak değil nasıl nerede kim da de",
    "id": "yang dan di ini itu dengan untuk tidak dari akan pada ada saya kamu apa dalam ke",
}
# And languages it does not know:
_UNKNOWN = {
    "fi": "ja ei että hän oli mutta kun myös joka ovat minä sinä tämä olen niin kuin sekä mitä missä",
    "et": "ja ei oli kui aga mis või seda ka ning kes",
    "sv": "och att det som för är på med av inte jag han hon till den ett när vad",
    "da": "og at det er på med af ikke jeg han hun til et den som fra når hvad hvor",
    "cs": "se na je že do jak ale jsem byl byla jeho nebo když kde",
    "hr": "je se na da su za od koji nije kako što gdje",
    "hu": "a az és hogy nem egy van volt meg ez csak mint vagy kell hol mikor",
    "ro": "a și în de la cu nu pe este care din să unde când sunt mai",
    "sw": "na ya wa kwa katika za kila hii yake lake yangu kuwa hiyo watu vya lini wapi",
    "tl": "ang ng sa mga ay ko si na hindi ito kung",
    "vi": "và là của không có được cho một trong với người này tôi",
}


def is_multilingual(text: str) -> bool:
    """Whether USE has learned the language of the text."""
    text = text[:_ENOUGH]
    if not text.isascii():
        letters = sum(map(str.isalpha, text))
        if len(_USE_LETTERS.findall(text)) * 2 < letters:
            return False
    words = _words(text)
    if sum(1 for word in words if _FOREIGN.search(word)) > len(words) * _FOREIGN_SHARE:
        return False
    votes = _votes(words)
    foreign = _most(votes, _UNKNOWN)
    return foreign < len(words) * _VOTING_SHARE or foreign <= _most(votes, _KNOWN)


def is_english(text: str) -> bool:
    """Whether the text is English."""
    text = text[:_ENOUGH]
    words = _words(text)
    votes = _votes(words)
    english = votes.pop("en", 0)
    if not text.isascii():
        letters = sum(map(str.isalpha, text))
        other = [character for character in text if character.isalpha() and not character.isascii()]
        if sum(1 for character in other if character > "\u024f") > letters * _NOT_LATIN_SHARE:
            return False
        if len(other) > letters * _ACCENTED_SHARE and english < 2:
            return False
    return english >= max(votes.values(), default=0)


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


def _votes(words: list[str]) -> dict[str, int]:
    """How many of the words are small words of each language."""
    votes: dict[str, int] = {}
    for word in words:
        for language in _small_words().get(word, ()):
            votes[language] = votes.get(language, 0) + 1
    return votes


def _most(votes: dict[str, int], languages: dict[str, str]) -> int:
    return max((votes.get(language, 0) for language in languages), default=0)


@cache
def _small_words() -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for language, words in (_KNOWN | _UNKNOWN).items():
        for word in words.split():
            table.setdefault(word, []).append(language)
    return table
