"""Empty: contents that say nothing: no text, a heading alone, or a mark that something is still to be written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from polymnia.engine.analysis.findings import Pattern
from polymnia.engine.analysis.issues.subjects import example, many, pattern, subjects
from polymnia.engine.analysis.quality.completeness_words import PLACEHOLDER

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["emptiness", "empty"]

_SHORT = 400  # characters; a longer text is never empty
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}(?:[ \t]+.*)?$|^[ \t]{0,3}(?:=+|-{2,}|\*{3,}|_{3,})[ \t]*$", re.MULTILINE)
_LABEL = re.compile(r"\W*(?:[\w/-]+ ?){1,3}:?\W*")
_MARKED = 80  # characters; in a longer text a mark stands beside something
_NOTHING = re.compile(
    r"(?:n/?a|none|nothing|empty|test|asdf+|foo(?:bar)?|untitled|null|undefined|없음|빈 문서|테스트|제목 없음"
    r"|내용 없음|미작성)[.!]*",
    re.IGNORECASE,
)


def emptiness(text: str) -> str | None:
    """Why a text is empty; None where it says something."""
    if len(text) > _SHORT:
        return None if text.strip() else "only white space"
    if not text.strip():
        return "only white space" if text else "no text"
    rest = _HEADING.sub("", text).strip()
    if not rest:
        return "a heading and nothing under it"
    if not any(c.isalnum() for c in rest):
        return "only signs" if not any(ord(c) > 0x2190 for c in rest) else None  # a symbol may say something
    if _NOTHING.fullmatch(rest.strip(" .[](){}<>*_-")):
        return "a word that stands for nothing"
    without = PLACEHOLDER.sub("", rest) if len(rest) <= _MARKED else rest
    if len(without) < len(rest) and (
        not any(c.isalpha() for c in without) or (_LABEL.fullmatch(without) and "\n" not in rest)
    ):
        return "a mark that something is still to be written"
    return None


def empty(material: Material) -> Pattern | None:
    """The contents that say nothing."""
    asked = subjects(material)
    found = []
    for at, record in enumerate(asked):
        if at % 1000 == 0:
            material.tick(at, len(asked))
        # A record whose author chose the name says by its name and its relations that it exists.
        if record.name != record.uid and not record.observations:
            if not record.name.strip():
                found.append((record, "no text"))
            continue
        if why := emptiness("\n".join(record.observations)):
            found.append((record, why))
    if not found:
        return None
    kinds: dict[str, int] = {}
    for _, why in found:
        kinds[why] = kinds.get(why, 0) + 1
    return pattern(
        "empty",
        f"{many(len(found), 'content')} of {len(asked):,} {'says' if len(found) == 1 else 'say'} nothing: "
        + ", ".join(f"{n} × {why}" for why, n in sorted(kinds.items(), key=lambda one: (-one[1], one[0])))
        + ".",
        "Each text was read letter by letter without its headings, signs and marks for what is still to be written; "
        "the confidence is 1 because nothing is left of these.",
        1.0,
        [record for record, _ in found],
        len(asked),
        (example(record, why, material.text(record)) for record, why in found),
        by_reason=kinds,
    )
