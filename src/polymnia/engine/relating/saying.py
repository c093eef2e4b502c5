"""Saying: the words with which a text says what it does to another one that it names, in several languages."""

from __future__ import annotations

import re

from polymnia.engine.relating.values import RelationshipType

__all__ = ["AFTER", "BEFORE", "DENIED", "DENIED_AFTER", "PASSIVE"]

# Between verb and name stand an article, a word, and what kind of thing is named, at most.
_THING = (
    r"(?:(?:the|our|a|an|this|to|of|in|der|die|das|den|dem|des|el|la|los|las|le|les|l'|un|une|una|du)\s)?(?:\w+\s)?"
    r"(?:(?:decision|issue|bug|ticket|proposal|design|plan|spec(?:ification)?|task|story|rfc|adr|document|article|note"
    r"|paper|guide|page|post|problem|requirement|feature|idea|incident|entscheidung|fehler|aufgabe|decisión|error|tarea"
    r"|décision|problème|tâche)\s)?"
)
_OPENING = r"[\s\"'“‘„‚«「『《`*_\[(:#]*$"
_CLOSING = r"^[\"'”’“»」』》`*_\])]*"


def _before(verbs: str) -> re.Pattern[str]:
    parts = "|".join(verb.strip() for verb in verbs.split("/"))
    return re.compile(rf"(?:^|[^\w])(?:{parts})\s{_THING}{_OPENING}", re.IGNORECASE)


def _after(words: str) -> re.Pattern[str]:
    return re.compile(f"{_CLOSING}(?:{'|'.join(word.strip() for word in words.split('/'))})")


BEFORE: tuple[tuple[RelationshipType, re.Pattern[str]], ...] = (
    ("resolves", _before(
        r"""fix(?:es|ed)? / resolv(?:es|ed) / clos(?:es|ed) / solv(?:es|ed) / löst / behebt /
        schließt / resuelve / corrige /
        soluciona / cierra / résout / ferme / исправляет / закрывает""")),
    ("implements", _before(
        r"""implement(?:s|ed) / realis(?:es|ed) / realiz(?:es|ed) / puts into practice / implementiert / setzt um /
        implementa / implémente / met en œuvre / реализует""")),
    ("causes", _before(
        r"""caus(?:es|ed) / led to / leads to / triggers / triggered / breaks / verursacht / führt zu /
        causa / provoca /
        cause / provoque / вызывает""")),
    ("describes", _before(
        r"""describ(?:es|ed) / document(?:s|ed) / explain(?:s|ed) / specif(?:ies|ied) / beschreibt /
        erklärt / dokumentiert /
        describe / explica / documenta / décrit / explique / documente / описывает""")),
    ("follows", _before(
        r"""follow(?:s|ing)?[ -]up (?:to|on|of) / continu(?:es|ation of|ing) / sequel (?:to|of) /
        builds on / supersedes /
        replaces / part \d+ of / picks up (?:from|where) / fortsetzung (?:von|zu) / folgt auf /
        im anschluss an / knüpft an /
        ersetzt / continuación de / sigue a / segunda parte de / reemplaza / suite (?:de|du|à) /
        fait suite à / remplace /
        продолжение""")),
    ("part_of", _before(
        r"""part of / section of / chapter (?:of|in) / belongs to / excerpt (?:from|of) / appendix to / teil von /
        abschnitt (?:von|aus) / kapitel (?:von|aus) / gehört zu / parte de / sección de / capítulo de / extracto de /
        partie de / section de / chapitre de / extrait de / часть""")),
    ("cites", _before(
        r"""according to / as cited in / cit(?:es|ed|ing) / quot(?:es|ed|ing)(?: from)? / sources?: /
        \[\d{1,3}\]:? / laut /
        gemäß / zitiert / quelle: / según / fuente: / cita / selon / d'après / source : / согласно /
        출처 ?: / 인용 ?:""")),
)  # fmt: skip
"""What leads to a name."""

AFTER: tuple[tuple[RelationshipType, re.Pattern[str]], ...] = (
    ("resolves", _after("""(?: ?(?:이슈|문제|버그|오류))?[을를] (?:해결|수정|고[쳤친]) /
        (?:を|の問題を)(?:解決|修正)""")),
    ("implements", _after("(?: ?(?:결정|설계|제안|기능))?[을를] (?:구현|반영|실현) / を実装")),
    ("causes", _after("[을를] (?:유발|일으|초래|야기) / を引き起こ")),
    ("describes", _after("(?:[을를]|에 대해(?:서)?) (?:설명|기술|서술) / (?:を|について)(?:説明|記述)")),
    ("follows", _after("""의 (?:후속|다음|이어지는|연속) / 에 이어(?:서)? / [을를] (?:이어|계승|대체) /
        の続き / に続く / 的续 / 的后续""")),
    ("part_of", _after(r"의 (?:일부|부분|한 장|제?\d+장|부록|발췌) / 에 속 / 에서 발췌 / の一部 / 的一部分")),
    ("cites", _after("에 따르면 / [을를] 인용 / によると / によれば")),
)  # fmt: skip
"""What follows a name where the verb comes last."""

DENIED = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|doesn't|don't|didn't|won't|wouldn't|isn't|without|should|could|might"
    r"|may|would|if|whether|unlike|nicht|kein\w*|nie|sollte|könnte|no|nunca|sin|debería|podría|ne|pas|jamais"
    r"|devrait|pourrait|не)\b[^.!?]{0,40}$",
    re.IGNORECASE,
)
"""Words before the verb that take it back or leave it open."""

DENIED_AFTER = re.compile(r"^[^.!?]{0,24}(?:지 (?:않|못)|하지 (?:않|못)|해야|할 수|려고|ない|ません)")
"""The same, after a verb that comes last."""

PASSIVE = re.compile(r"\b(?:is|was|been|being|be|are|were|gets|got|wird|wurde|fue|es|est|été)\s+\w+\s*$", re.IGNORECASE)
"""`was fixed`: somebody else did it."""
