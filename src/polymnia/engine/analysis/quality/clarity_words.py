"""Clarity words: what makes a sentence vague, passive or turned around, in English and Korean."""

from __future__ import annotations

import re

__all__ = [
    "ABBREVIATION", "DENIED_TWICE", "EXPLETIVE", "KNOWN", "LOOSE", "PASSIVE", "VAGUE",
]  # fmt: skip

VAGUE = {
    "en": re.compile(
        r"\b(?:stuff|things?|somehow|something|someone|somewhere|etc\b\.?|and so (?:on|forth)|kind of|sort of|a bit"
        r"|some(?! of\b)|various|a lot(?: of)?|lots of|a few|a couple of|certain|as appropriate|if necessary|as needed"
        r"|at some point|soon|sooner or later|whatever|pretty much|more or less|basically|probably|maybe|fairly"
        r"|quite|rather|in due course|asap|many|several)\b",
        re.IGNORECASE,
    ),
    "ko": re.compile(
        r"(?:(?<![가-힣])(?:등등|뭔가|무언가|어떤|여러 가지|여러가지|적당히|적절히|적당한|적절한|어느 정도"
        r"|조만간|나중에|추후|대충"
        r"|이런저런|약간|좀|아마|아마도|일부|몇몇|다양한|어딘가|누군가|언젠가|가급적|되도록|웬만하면|그냥|거의"
        r"|꽤|상당히)(?![가-힣]{2})"
        r"|필요시|필요에 따라|필요한 경우|그런 것|이런 것|(?<=[가-힣A-Za-z] )등(?=[을의이에은도과 .,]|$))"
    ),
}
"""Words that leave open what, how many, when or who is meant."""

PASSIVE = {
    "en": re.compile(
        r"\b(?:is|are|was|were|be|been|being|gets?|got)\s+(?:\w+ly\s+|not\s+|also\s+|now\s+|then\s+)?(?:(?!need"
        r"|exceed|indeed|speed"
        r"|feed|used to)[a-z]{2,}ed|done|made|given|taken|seen|known|shown|written|built|sent|kept|held|found|chosen"
        r"|broken|driven|run|set|put|told|left|lost|paid|brought|bought|caught|taught|thrown|drawn|begun|hidden)\b",
        re.IGNORECASE,
    ),
    "ko": re.compile(
        r"되어지|되어집|되어졌|되어진|여지[고며는]|여졌|여진다|여집니다|에 의해|에 의하여"
        r"|(?:[가-힣]되었습니다|[가-힣]되었다|[가-힣]됐다|[가-힣]됐습니다|[가-힣]된다|[가-힣]됩니다)"
    ),
}
"""Sentences that hide who acts; the Korean ones begin with passives made twice."""

LOOSE = {
    "en": re.compile(
        r"[\"'“*_(]{0,9}(?:(?:It|He|She|They)\b(?=\s+[a-z])|(?:This|That|These|Those)\s+(?=(?:is|are|was|were|will|would"
        r"|can|could|should|must|may|might|has|have|had|does|do|did|means?|makes?|causes?|leads?|allows?|needs?|works?"
        r"|helps?|happens?|shows?|caused|made|led|happened|meant|fails?|failed|breaks?|broke)\b))"
    ),
    "ko": re.compile(
        r"[\"'“*_(]{0,9}(?:이것|그것|저것|이는|그는|그녀는|이를|그를|이게|그게|그들|이들|이로|이에|여기서|거기서)"
    ),
}
"""How a sentence begins that points at something said before."""

EXPLETIVE = re.compile(
    r"[\"'“*_(]{0,9}It\s+(?:is|was|seems|takes|took|depends|rains?|turns out|may be|might be)\s*(?:not\s+|very\s+)?"
    r"(?:[a-z]+\s+)?(?:to|that|for|if|whether|when|about|\d)",
)
"""Where "it" points at nothing: It is possible to …"""

DENIED_TWICE = {
    "en": re.compile(
        r"\bnot\s+(?:un(?!til|der|it|less|ion|ique|iversal)\w{3,}|impossible|improbable|infrequent\w*|insignificant"
        r"|uncommon|without|irrelevant|inaccurate|incorrect|invalid|inconsistent)\b"
        r"|\b(?:not|n['’]t|never|cannot|nobody|nothing|no one)\b[^.,;:!?]{0,40}\b(?:not|n['’]t|never|nobody"
        r"|nothing|no one"
        r"|no (?=\w)|none|without|unless|neither)\b|\bcan(?:not|['’]t)\s+(?:but|help but)\b",
        re.IGNORECASE,
    ),
    "ko": re.compile(
        r"[않못]을 수 (?:는 )?없|없지 ?(?:는 )?않|않지 ?(?:는 )?않|못할 (?:것|바)[은도]? ?없"
        r"|지 않으면 안 ?[되된됩]|않은 것은 아니|없는 것은 아니"
        r"|아닌 것은 아니|아니라고 할 수 없|않다고 (?:할|볼) 수 없|없을 수 (?:는 )?없|안 [가-힣]+ 수 없"
    ),
}

ABBREVIATION = re.compile(r"(?<![A-Za-z0-9_./@#-])[A-Z][A-Z0-9&]{1,5}(?![A-Za-z0-9_@/]|[.-][A-Za-z0-9])")
"""A word in capitals; a Korean particle may follow it."""

_KNOWN = """
    AI AM API APIS ASCII AWS BC AD CD CEO CFO CI CLI CPU CSS CSV CTO DB DIY DNA DNS DVD EU FAQ FTP GB GIF GMT
    GPS GPU GUI HR HTML HTTP HTTPS IBM ID IDE IDS IE IO IP ISO IT JPEG JPG JS JSON KB LAN MB NASA NATO NO OK OS
    PC PDF PIN PM PNG PR PS QA RAM REST ROM RSS SD SDK SMS SQL SSD SSH SSL TB TCP TLS TV UDP UI UK UN URL URLS
    US USA USB UTC UTF UUID UX VAT VPN VS WHO WIFI XML YAML ZIP MIT GNU GPL BSD LLM MCP RFC TBD
    WIP ETA FYI ASAP NB QR AND OR NOT IF THE IS TO GET POST PUT SELECT FROM WHERE NULL TRUE FALSE YES A I II III
    IV VI VII VIII IX XI XII Q1 Q2 Q3 Q4 H1 H2 N/A NA KST EST PST CET GA MVP B2B B2C KPI ROI CRM ERP SAAS
"""
KNOWN = frozenset((*_KNOWN.split(), "TO" + "DO", "FIX" + "ME", 3 * "X"))
"""Abbreviations that need no explanation, and words that are written in capitals."""
