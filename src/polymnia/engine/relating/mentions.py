"""Mentions: where a text names another one by its id, its title or its address, and the words around that."""

from __future__ import annotations

import re
from typing import NamedTuple

from polymnia.engine.relating.saying import AFTER, BEFORE, DENIED, DENIED_AFTER, PASSIVE
from polymnia.engine.relating.values import Candidate, RelationshipType
from polymnia.engine.text.lexicon import STOPWORDS

__all__ = ["Mention", "Reader", "said_of"]

_KEY = re.compile(r"\W*([A-Z][A-Z0-9]{1,9}-\d{1,7})\b")
_NUMBERED = re.compile(r"\W*((?:issue|ticket|bug|pr|adr|rfc|task|이슈|티켓)\s?#?\s?\d{1,7})\b", re.IGNORECASE)
_DENSE = re.compile("[\u1100-\u11ff\u3041-\u30ff\u3130-\u318f\u3400-\u9fff\uac00-\ud7af]")
_SPACE = re.compile(r"\s+")
_AROUND = 70
_MOST_PLACES = 20  # of one candidate: more of them say nothing more
_QUOTED = "\"'“”„‚‘’«»「」『』《》`*_[]"
_GENERIC = frozenset(
    """
    introduction summary overview notes todo readme changelog references conclusion background appendix meeting
    agenda minutes untitled draft test index home contents license getting started next steps open questions
    action items decision context weekly daily to do status update project documentation architecture design
    소개 개요 요약 결론 참고 회의록 메모 목차 배경 부록 einleitung zusammenfassung übersicht introducción
    resumen resumé
    """.split()
)


class Mention(NamedTuple):
    """A place where another text is named: how (id, title, address), the words before it and after it."""

    how: str
    named: str
    before: str
    after: str


class Reader:
    """A text in which others are looked for."""

    def __init__(self, text: str) -> None:
        self._text = _SPACE.sub(" ", text)
        lower = self._text.lower()
        self._small = lower if len(lower) == len(self._text) else self._text

    def mentions(self, other: Candidate) -> list[Mention]:
        """Where the text names the other one; nowhere when its title is too common to mean it."""
        found = [one for id in (other.id,) if len(id) > 3 for one in self._places(id, "id", exact=True)]
        for url in other.urls:
            if len(url) > 10:
                found += self._places(url.rstrip("/"), "address", exact=True)
        title = _SPACE.sub(" ", (other.title or "").strip().strip("#").strip())
        if title:
            key = _KEY.match(title) or _NUMBERED.match(title)
            if key:
                found += self._places(key[1], "title", exact=False)
            if _is_telling(title):
                found += self._places(title, "title", exact=False)
        return found[:_MOST_PLACES]

    def _places(self, named: str, how: str, *, exact: bool) -> list[Mention]:
        text = self._text if exact else self._small
        wanted = named if exact or self._small is self._text else named.lower()
        dense = _DENSE.search(wanted[-1]) is not None
        found: list[Mention] = []
        at = text.find(wanted)
        while at >= 0 and len(found) < _MOST_PLACES:
            end = at + len(wanted)
            before, after = text[at - 1 : at] if at else "", text[end : end + 1]
            # A Korean particle may follow a title; a letter of the alphabet or a digit makes it another word.
            apart = not _joins(before) and (not _joins(after) or dense or _DENSE.match(after) is not None)
            if apart and not (how == "id" and after == "-" and text[end + 1 : end + 2].isalnum()):
                found.append(
                    Mention(
                        how, self._text[at:end], self._text[max(0, at - _AROUND) : at], self._text[end : end + _AROUND]
                    )
                )
            at = text.find(wanted, end)
        return found


def _joins(c: str) -> bool:
    return c.isalnum() or c == "_"


def _is_telling(title: str) -> bool:
    """Whether a title is long and rare enough that a text which has its words means it."""
    small = title.lower()
    if small in _GENERIC or all(word in _GENERIC for word in small.split()):
        return False
    if _DENSE.search(title):
        return len(title.replace(" ", "")) >= 6 or (len(title) >= 4 and any(c.isdigit() for c in title))
    words = [word for word in re.findall(r"[^\W_]+", small) if word not in STOPWORDS["english"]]
    return len(words) >= 2 and len(small) >= 10 and not all(len(word) < 4 for word in words)


def said_of(mention: Mention) -> tuple[RelationshipType, str]:
    """What a text says it does to the one it names: the type, and the words that say so."""
    before = mention.before
    for type, pattern in BEFORE:
        match = pattern.search(before)
        if match:
            if DENIED.search(before, 0, match.start() + 1) or PASSIVE.search(
                before[: match.end()].rstrip(_QUOTED + " ")
            ):
                break
            return type, _quoted(before[match.start() :].lstrip(" ,.;:(-"), mention.named, "")
    for type, pattern in AFTER:
        match = pattern.search(mention.after)
        if match and not DENIED_AFTER.search(mention.after, match.start()):
            return type, _quoted("", mention.named, mention.after[: match.end() + 4])
    return "references", _quoted(before[-30:], mention.named, mention.after[:20])


def _quoted(before: str, named: str, after: str) -> str:
    """A piece of the text as evidence."""
    return " ".join(f"{before}{named}{after}".split())
