"""Facts: what a short statement says of its subject, as subject, relation and value.

"The office is in Berlin" and "the office moved to Munich" have hardly a word in common and say where the same thing is:
read as facts they differ in one value. Of where something is or who has it there is one at a time; of what somebody
uses or prefers there are many, but mostly one of a family.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from polymnia.engine.analysis.conflicts.dating import timeless
from polymnia.engine.analysis.conflicts.facts_english import does, english
from polymnia.engine.analysis.conflicts.facts_korean import korean
from polymnia.engine.analysis.conflicts.families import family, named
from polymnia.engine.analysis.conflicts.kinds import Kind, alike
from polymnia.engine.analysis.conflicts.said import Said, words
from polymnia.engine.analysis.conflicts.sorts import comparable, sort
from polymnia.engine.search.languages import stem

__all__ = ["Differing", "Fact", "differing", "done", "facts", "keys"]

_LONGEST = 160  # characters of a statement that says one thing
_HANGUL = re.compile("[가-힣]")
_SUBJECT = 5  # words of a subject
_TELLING = re.compile(  # some word of those that tell a relation: most statements have none
    r"\b(?:moved|relocated|switched|migrated|changed|converted|lives?|reside|living|works?|working|employed|(?:is"
    r"|are) "
    r"(?:located|based|situated|hosted|deployed|stationed|headquartered|in|at|owned|led|maintained|managed|headed"
    r"|using|built|now|currently|[a-z]+er than|more|less)|sits? (?:in|on|at)|uses?|adopted|standardi[sz]ed"
    r"|goes with|prefers?"
    r"|favou?rs?|port|owns|leads|maintains|manages|heads|takes over|took over|responsible|in charge|stopped|quit"
    r"|g[ai]ven?"
    r" up|no longer|(?:owner|lead|maintainer|manager) of)\b"
    r"|[쓴씁써쓰]|사용|이용|선호|[산삽살]|거주|있[다습음]|위치|근무|재직|일[한합]|다[닌닙니]|담당|맡|책임|관리|소유"
    r"|이[끈끌]|로 |대신|보다"
)
_NO_SUBJECT = words("""
    he she it they this that these those there here which who what if when while does do did not never no will would
    should can could may might must was were is are has have had and or but because so let please to for in on at
    with nobody everyone someone some many most
""")
_SELF = {"we": "we", "our team": "we", "us": "we", "i": "i", "user": "user"}
_ARTICLE = re.compile(r"^(?:the|our|my|a|an|this)\s+", re.IGNORECASE)
_WORD = re.compile(r"\w(?:[\w'’.+#-]*[\w+#])?")


Fact = Said
"""What is said, with the subject as it is compared."""

_OPTION = re.compile(
    r"(?:mode|theme|seats?|tone|style|layout|format|plan|answers?|responses?|replies|explanations?|units?|keyboard"
    r"|view|font"
    r"|notation|indentation|모드|테마|좌석|말투|답변|요금제|설명|형식|화면)$"
)


def facts(text: str) -> tuple[Fact, ...]:
    """What a statement says that can be read as facts; most say nothing of the kind."""
    eastern = not text.isascii() and _HANGUL.search(text) is not None
    if len(text) > (_LONGEST // 2 if eastern else _LONGEST):
        return ()
    if _TELLING.search(text) is None:
        return ()
    bare = timeless(text).strip()
    return _facts(korean(bare) if eastern else english(bare))


def done(text: str) -> tuple[Fact, ...]:
    """What somebody does, by any verb: it is of use only against a statement that this was given up."""
    return _facts(does(timeless(text).strip())) if len(text) <= _LONGEST else ()


def _facts(said: list[Said]) -> tuple[Fact, ...]:
    return tuple(
        one._replace(subject=subject, value=" ".join(one.value.split()))
        for one in said
        if (subject := _subject(one.subject)) is not None and one.value.strip()
    )


def _subject(text: str) -> str | None:
    """A subject as it is compared, or None where it is none that could be named again."""
    bare = " ".join(_ARTICLE.sub("", text.strip().strip("-*•: ")).lower().split())
    words = _WORD.findall(bare)
    if not words or len(words) > _SUBJECT or any(word in _NO_SUBJECT for word in words):
        return None
    return _SELF.get(bare, " ".join(stem(word, "english") if word.isascii() else word for word in words))


def keys(fact: Fact) -> list[tuple[str, ...]]:
    """Under what a fact may meet one that it excludes."""
    if fact.relation.startswith("do "):
        return [(fact.subject, fact.relation, named(fact.value))]
    if fact.relation in ("use", "prefer", "means"):
        kin = family(fact.value)
        met: list[tuple[str, ...]] = [(fact.subject, fact.relation, named(fact.value))]
        met += [(fact.subject, fact.relation, f"#{kin}")] if kin is not None and not fact.gone else []
        head = fact.value.split()[-1].lower()
        met += [(fact.subject, fact.relation, f"*{head}")] if " " in fact.value and not fact.gone else []
        met += [(fact.subject, fact.relation, "tongue")] if sort(fact.value) == "tongue" else []
        return met + ([(fact.subject, fact.relation, f"for {fact.scope}")] if fact.scope and not fact.gone else [])
    return [(fact.subject, fact.relation)]


class Differing(NamedTuple):
    """Two values of which only one holds, how sure that is, and whether one is said to be so no more."""

    left: str
    right: str
    kind: Kind
    gone: bool


def differing(here: tuple[Fact, ...], there: tuple[Fact, ...]) -> Differing | None:
    """What two statements say of the same that cannot both be, if there is such."""
    for one in here:
        for other in there:
            if (one.subject, one.relation) == (other.subject, other.relation) and (kind := _kind(one, other)):
                return Differing(one.value, other.value, kind, one.gone or other.gone)
    return None


def _kind(one: Fact, other: Fact) -> Kind | None:
    same = named(one.value) == named(other.value)
    if one.gone or other.gone:
        ended, held = (one, other) if one.gone else (other, one)
        return "one" if same and not held.gone and ended.scope in ("", held.scope) else None
    here, there = set(named(one.value).split()), set(named(other.value).split())
    if same or here <= there or there <= here:
        return None
    if one.relation.startswith("do ") or (one.event and other.event):
        return None
    kin = family(one.value), family(other.value)
    if None in kin and not comparable(one.value, other.value):
        return None
    if one.relation not in ("use", "prefer", "means"):
        return None if one.scope and other.scope and one.scope != other.scope else "one"
    if one.scope != other.scope:
        return None
    if kin[0] is not None and kin[0] == kin[1]:
        return "family"
    if (one.scope and one.relation == "use") or (one.relation == "means" and sort(one.value) == "tongue"):
        return "family"
    left, right = one.value.lower().split(), other.value.lower().split()
    if len(left) == len(right) > 1 and left[-1] == right[-1] and _OPTION.match(left[-1]):
        return "family"
    return "family" if alike(left[0], right[0]) and left[1:] == right[1:] else None
