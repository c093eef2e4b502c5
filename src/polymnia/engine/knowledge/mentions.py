"""Mentions: where a text names another one by its id, title or address, and what relationship it states."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from polymnia.engine.content import RelationshipType
from polymnia.engine.text.language import STOPWORDS, fold, word_list

_KEY = re.compile(r"\W*([A-Z][A-Z0-9]{1,9}-\d{1,7})\b")
_NUMBERED = re.compile(r"\W*((?:issue|ticket|bug|pr|adr|rfc|task|이슈|티켓)\s?#?\s?\d{1,7})\b", re.IGNORECASE)
_DENSE = re.compile("[\u1100-\u11ff\u3041-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af]")
_SPACE = re.compile(r"\s+")
_CONTEXT = 70
_MAX_PLACES = 20  # per candidate: more add nothing
_QUOTED = "\"'“”„‚‘’«»「」『』《》`*_[]"
# At most an article, a word and the kind of thing may stand between verb and name.
_THING = (
    r"(?:(?:the|our|a|an|this|to|of|in|der|die|das|den|dem|des|el|la|los|las|le|les|l'|un|une|una|du)\s)?(?:\w+\s)?"
    r"(?:(?:decision|issue|bug|ticket|proposal|design|plan|spec(?:ification)?|task|story|rfc|adr|document|article|note"
    r"|paper|guide|page|post|problem|requirement|feature|idea|incident|entscheidung|fehler|aufgabe|decisión|error|tarea"
    r"|décision|problème|tâche)\s)?"
)
_OPENING = r"[\s\"'“‘„‚«「『《`*_\[(:#]*$"
_CLOSING = r"^[\"'”’“»」』》`*_\])]*"
# The words before a name that state a relationship to it; the first match wins.
_VERBS: dict[RelationshipType, str] = {
    "resolves": r"fix(?:es|ed)?|resolv(?:es|ed)|clos(?:es|ed)|solv(?:es|ed)|löst|behebt|schließt|resuelve|corrige"
    r"|soluciona|cierra|résout|ferme|исправляет|закрывает",
    "implements": r"implement(?:s|ed)|realis(?:es|ed)|realiz(?:es|ed)|puts into practice|implementiert|setzt um"
    r"|implementa|implémente|met en œuvre|реализует",
    "causes": r"caus(?:es|ed)|led to|leads to|triggers|triggered|breaks|verursacht|führt zu|causa|provoca|cause"
    r"|provoque|вызывает",
    "describes": r"describ(?:es|ed)|document(?:s|ed)|explain(?:s|ed)|specif(?:ies|ied)|beschreibt|erklärt|dokumentiert"
    r"|describe|explica|documenta|décrit|explique|documente|описывает",
    "follows": r"follow(?:s|ing)?[ -]up (?:to|on|of)|continu(?:es|ation of|ing)|sequel (?:to|of)|builds on|supersedes"
    r"|replaces|part \d+ of|picks up (?:from|where)|fortsetzung (?:von|zu)|folgt auf|im anschluss an|knüpft an|ersetzt"
    r"|continuación de|sigue a|segunda parte de|reemplaza|suite (?:de|du|à)|fait suite à|remplace|продолжение",
    "part_of": r"part of|section of|chapter (?:of|in)|belongs to|excerpt (?:from|of)|appendix to|teil von"
    r"|abschnitt (?:von|aus)|kapitel (?:von|aus)|gehört zu|parte de|sección de|capítulo de|extracto de|partie de"
    r"|section de|chapitre de|extrait de|часть",
    "cites": r"according to|as cited in|cit(?:es|ed|ing)|quot(?:es|ed|ing)(?: from)?|sources?:|\[\d{1,3}\]:?|laut"
    r"|gemäß|zitiert|quelle:|según|fuente:|cita|selon|d'après|source :|согласно|출처 ?:|인용 ?:",
}
# The same for languages in which the verb comes after the name.
_VERBS_AFTER: dict[RelationshipType, str] = {
    "resolves": "(?: ?(?:이슈|문제|버그|오류))?[을를] (?:해결|수정|고[쳤친])|(?:を|の問題を)(?:解決|修正)",
    "implements": "(?: ?(?:결정|설계|제안|기능))?[을를] (?:구현|반영|실현)|を実装",
    "causes": "[을를] (?:유발|일으|초래|야기)|を引き起こ",
    "describes": "(?:[을를]|에 대해(?:서)?) (?:설명|기술|서술)|(?:を|について)(?:説明|記述)",
    "follows": "의 (?:후속|다음|이어지는|연속)|에 이어(?:서)?|[을를] (?:이어|계승|대체)|の続き|に続く|的续|的后续",
    "part_of": r"의 (?:일부|부분|한 장|제?\d+장|부록|발췌)|에 속|에서 발췌|の一部|的一部分",
    "cites": "에 따르면|[을를] 인용|によると|によれば",
}
_BEFORE = {
    type: re.compile(rf"(?:^|[^\w])(?:{verbs})\s{_THING}{_OPENING}", re.IGNORECASE) for type, verbs in _VERBS.items()
}
_AFTER = {type: re.compile(f"{_CLOSING}(?:{verbs})") for type, verbs in _VERBS_AFTER.items()}
# Words before the verb that negate it or leave it open, the same after a verb that comes last, and the passive (`was
# fixed`), whose agent is someone else.
_DENIED = re.compile(
    r"\b(?:not|never|no longer|cannot|can't|doesn't|don't|didn't|won't|wouldn't|isn't|without|should|could|might"
    r"|may|would|if|whether|unlike|nicht|kein\w*|nie|sollte|könnte|no|nunca|sin|debería|podría|ne|pas|jamais"
    r"|devrait|pourrait|не)\b[^.!?]{0,40}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(r"^[^.!?]{0,24}(?:지 (?:않|못)|하지 (?:않|못)|해야|할 수|려고|ない|ません)")
_PASSIVE = re.compile(
    r"\b(?:is|was|been|being|be|are|were|gets|got|wird|wurde|fue|es|est|été)\s+\w+\s*$", re.IGNORECASE
)


class Mention(NamedTuple):
    """A place where another text is named: how (id, title, address), the words before it and after it."""

    how: str
    named: str
    before: str
    after: str


class MentionReader:
    """A text in which others are looked for."""

    def __init__(self, text: str) -> None:
        self._text = _SPACE.sub(" ", text)
        lower = self._text.lower()
        self._small = lower if len(lower) == len(self._text) else self._text

    def mentions(self, id: str, title: str | None, urls: Iterable[str] = ()) -> list[Mention]:
        """The places where the text names another one; a title too common to be a reference is ignored."""
        found = self._places(id, "id", exact=True) if len(id) > 3 else []
        for url in urls:
            if len(url) > 10:
                found += self._places(url.rstrip("/"), "address", exact=True)
        title = _SPACE.sub(" ", (title or "").strip().strip("#").strip())
        if title:
            key = _KEY.match(title) or _NUMBERED.match(title)
            if key:
                found += self._places(key[1], "title", exact=False)
            if _is_distinctive(title):
                found += self._places(title, "title", exact=False)
        return found[:_MAX_PLACES]

    def _places(self, named: str, how: str, *, exact: bool) -> list[Mention]:
        text = self._text if exact else self._small
        needle = named if exact or self._small is self._text else named.lower()
        dense = _DENSE.search(needle[-1]) is not None
        found: list[Mention] = []
        at = text.find(needle)
        while at >= 0 and len(found) < _MAX_PLACES:
            end = at + len(needle)
            before, after = text[at - 1 : at] if at else "", text[end : end + 1]
            # A Korean particle may follow a title; a Latin letter or a digit makes it a different word.
            apart = not _joins(before) and (not _joins(after) or dense or _DENSE.match(after) is not None)
            if apart and not (how == "id" and after == "-" and text[end + 1 : end + 2].isalnum()):
                around = self._text[max(0, at - _CONTEXT) : at], self._text[end : end + _CONTEXT]
                found.append(Mention(how, self._text[at:end], *around))
            at = text.find(needle, end)
        return found


def _joins(c: str) -> bool:
    return c.isalnum() or c == "_"


def _is_distinctive(title: str) -> bool:
    """Whether a title is long and specific enough for its words to be a reference."""
    small = title.lower()
    if word_list("generic titles").issuperset(fold(title).split()):
        return False
    if _DENSE.search(title):
        return len(title.replace(" ", "")) >= 6 or (len(title) >= 4 and any(c.isdigit() for c in title))
    words = [word for word in re.findall(r"[^\W_]+", small) if word not in STOPWORDS["english"]]
    return len(words) >= 2 and len(small) >= 10 and not all(len(word) < 4 for word in words)


def stated_relationship(mention: Mention) -> tuple[RelationshipType, str]:
    """The relationship a text states to the one it names: the type, and the words that state it."""
    before = mention.before
    for type, pattern in _BEFORE.items():
        match = pattern.search(before)
        if match:
            if _DENIED.search(before, 0, match.start() + 1) or _PASSIVE.search(
                before[: match.end()].rstrip(_QUOTED + " ")
            ):
                break
            return type, _quoted(before[match.start() :].lstrip(" ,.;:(-"), mention.named, "")
    for type, pattern in _AFTER.items():
        match = pattern.search(mention.after)
        if match and not _DENIED_AFTER.search(mention.after, match.start()):
            return type, _quoted("", mention.named, mention.after[: match.end() + 4])
    return "references", _quoted(before[-30:], mention.named, mention.after[:20])


def _quoted(before: str, named: str, after: str) -> str:
    """An excerpt of the text as evidence."""
    return " ".join(f"{before}{named}{after}".split())
