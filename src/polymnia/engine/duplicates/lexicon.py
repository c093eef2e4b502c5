"""Lexicon: the small words that decide what a statement says, by language, without case and accents."""

from __future__ import annotations

__all__ = ["ARTICLES", "LIMITS", "NEGATIONS", "PERSONS", "PREPOSITIONS", "SIGNS", "VAGUE", "denies"]

NEGATIONS: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "english": """not no never none nobody nothing nowhere neither nor cannot without hardly barely scarcely unable
            dont doesnt didnt isnt arent wasnt werent wont wouldnt cant couldnt shouldnt hasnt havent hadnt aint""",
        "german": "nicht nie niemals nichts niemand kein keine keinen keinem keiner keines ohne weder nein kaum",
        "french": "pas jamais rien aucun aucune personne sans guere non nul nulle",
        "spanish": "no nunca jamas nada nadie ningun ninguna ninguno sin tampoco",
        "portuguese": "nao nunca jamais nada ninguem nenhum nenhuma sem nem",
        "italian": "non mai niente nulla nessuno nessuna nessun senza no ne",
        "dutch": "niet nooit niets niemand geen zonder nee",
        "swedish": "inte aldrig inget ingen inga utan ej nej",
        "danish": "ikke aldrig intet ingen uden nej",
        "norwegian": "ikke aldri intet ingen uten nei ikkje",
        "finnish": "ei en et emme ette eivat ilman",
        "polish": "nie nigdy nic nikt bez zaden zadna zadne brak",
        "czech": "ne neni nikdy nic nikdo bez zadny zadna zadne nejsou nebyl nema",
        "romanian": "nu niciodata nimic nimeni fara",
        "hungarian": "nem ne soha semmi senki nincs sem nelkul",
        "turkish": "degil yok hic hayir asla",
        "indonesian": "tidak bukan belum jangan tanpa tak",
        "vietnamese": "khong chua chang",
        "catalan": "no mai res ningu cap sense",
        "russian": "не нет ни никогда ничего никто без нельзя никакои никакие нету",
        "greek": "δεν δε μην μη οχι χωρισ ποτε κανεισ τιποτα",
        "arabic": "لا لم لن ليس ليست لسنا لست غير بدون دون كلا ابدا",
        "persian": "نيست نه نمي بدون هيچ نبود ندارد",
        "hebrew": "לא אין בלי אף אל",
        "hindi": "नहीं न मत बिना ना",
    }.items()
}
"""Words that deny. Korean, Chinese, Japanese and Thai deny within a word: see :mod:`denials`."""

_ANYWHERE = frozenset({
    "not", "never", "nicht", "keine", "keinen", "niet", "geen", "inte", "ikke", "nao", "nunca", "nigdy", "degil",
    "tidak", "bukan", "khong", "не", "нет", "δεν", "لا", "لم", "لن", "ليس", "नहीं", "לא",
})  # fmt: skip


def _words(table: dict[str, str]) -> dict[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in table.items()}


ARTICLES = _words({
    "english": "a an the is are was were be been being am do does did has have had",
    "german": "der die das den dem des ein eine einen einem einer eines ist sind war waren hat haben hatte wird wurde",
    "french": "le la les l un une des du est sont etait a ont avait",
    "spanish": "el la los las un una unos unas es son esta estan era ha han",
    "portuguese": "o a os as um uma e sao esta era foi",
    "italian": "il lo la i gli le un uno una e sono era ha",
    "dutch": "de het een is zijn was waren heeft",
})  # fmt: skip
"""Articles and the verbs of every sentence: they say nothing of who is who."""

PERSONS = {
    name: {word: person for person, words in table.items() for word in words.split()}
    for name, table in {
        "english": {
            "I": "i me my mine myself",
            "you": "you your yours yourself yourselves",
            "we": "we us our ours ourselves",
            "he": "he him his himself",
            "she": "she her hers herself",
        },
        "german": {
            "I": "ich mich mir mein meine meinen meiner",
            "you": "du dich dir dein deine",
            "we": "wir uns unser",
        },
        "french": {"I": "je j moi mon ma mes", "you": "tu toi ton ta tes vous votre vos", "we": "nous notre nos"}
        | {"he": "il lui", "she": "elle"},
        "spanish": {"I": "yo mi mis me", "you": "tu tus te usted", "we": "nosotros nuestro nuestra", "she": "ella"},
        "russian": {"I": "я меня мне мои моя мое", "you": "ты вы вас вам ваш твои", "we": "мы нас наш наша"}
        | {"he": "он его ему", "she": "она ее еи"},
    }.items()
}
"""The person a pronoun stands for."""

PREPOSITIONS = _words({
    "any": """with in on at of for from to by through along across toward towards over under into onto near around off
        out up down about during and or while as than via mit auf an von zu aus bei nach avec dans sur de chez pour par
        con en sobre para por в на с из к у о по от""",
})["any"]  # fmt: skip
"""Small words that join others."""

LIMITS = _words({
    "any": "only except unless nur ausser seulement sauf solo salvo excepto только лишь кроме alleen behalve 只 仅 僅",
})["any"]  # fmt: skip
"""Words that narrow a statement; some are in the lists of small words."""

SIGNS = {
    "%": "percent", "$": "dollar", "€": "euro", "£": "pound", "¥": "yen", "₩": "won", "₽": "rouble", "₹": "rupee",
    "°": "degree", "℃": "celsius", "℉": "fahrenheit",
}  # fmt: skip
"""Signs that are words."""

VAGUE = _words({
    "any": """very really quite rather just also then there here some several various certain another other such so
        too now already still please note remember info fyi reminder ok okay well actually basically simply onto upon
        via per along across toward towards within among while whilst place lot
        sehr auch schon nur bitte tres aussi encore deja muy tambien ya todavia очень также тоже уже пожалуиста
        uhr um h heures""",
})["any"]  # fmt: skip
"""Words that add nothing that a memory would lose without them."""


def denies(word: str, language: str | None) -> bool:
    """Whether a folded word is a negation in a language; in any, when it denies wherever it is a word at all."""
    return word in NEGATIONS.get(language or "english", ()) or word in _ANYWHERE
