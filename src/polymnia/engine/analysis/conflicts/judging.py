"""Judging: which pairs of statements cannot both hold, how sure that is, and what differs."""

from __future__ import annotations

from difflib import SequenceMatcher
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from polymnia.engine.analysis.conflicts.candidates import Candidates, Pairs
from polymnia.engine.analysis.conflicts.order import ended, said_at
from polymnia.engine.analysis.conflicts.statements import Statements, plain
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.knowledge.duplicates import Difference, clash, same_words
from polymnia.engine.knowledge.judge import PROJECT, Border
from polymnia.engine.ports.models import Judgement

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["Judged", "judged", "unjudged"]

_EXACT = {"number": 0.9, "negation": 0.9, "date": 0.5}  # how sure it is that statements clash that differ in this alone
_NEWS = 0.2  # how much surer it is that one updates the other than the other way round
_SERIES = 3  # statements of the same words with a number each: a form, filled in for one thing or day after the other
_SHOWN = 12  # words of a difference


class Judged(NamedTuple):
    """Two rows that may clash: how sure that is, what differs, and which of them says that it changed.

    ``changes`` is 1 where the second says what has become of the first, -1 the other way round, else 0. ``anyway`` is
    whether it would be told if nobody had named the two; ``border`` is what decided on them.
    """

    a: int
    b: int
    confidence: float
    difference: Difference
    anyway: bool
    border: Border
    update: bool = False
    changes: int = 0


def unjudged(material: Material) -> list[Remark]:
    """What to say where there is no judge, or where it could not judge some of the statements."""
    judging = material.judging
    ready = judging is not None and judging.load()
    fault = None if judging is None else judging.fault
    if ready and fault is None:
        return []
    return [Remark("conflicts.unjudged", {"some": ready, "fault": None if fault is None else fault.message})]


def judged(material: Material, table: Statements, known: Candidates, pairs: Pairs, border: Border) -> list[Judged]:
    """What may clash among some pairs, in their order. What held until the other began does not."""
    pairs = pairs[[not (_over(table, a, b) or _over(table, b, a)) for a, b in pairs.tolist()]]
    rows = [(a, b) for a, b in pairs.tolist()]
    texts = [(table.said(a), table.said(b)) for a, b in rows]
    exact = _without_series(rows, [clash(*two) for two in texts])
    said: list[Judgement | None] = [None] * len(rows)
    judging = material.judging
    if judging is not None and judging.load():
        # What has the same words says the same, or differs in what is known already.
        asked = [at for at, two in enumerate(texts) if not same_words(*two)]
        told = judging.read([_in_time(table, rows[at], texts[at]) for at in asked], material.tick)
        for at, one in zip(asked, told, strict=True):
            said[at] = one
    items = material.snapshot.size()
    nearness = zip(*(one.tolist() for one in known.related(pairs)), strict=True)
    found: dict[int, Judged] = {}
    for at, (near, share) in enumerate(nearness):
        one, difference = said[at], exact[at]
        own, sure, anyway = border, 0.0, False
        if one is not None:
            own, alone = border.of(one), PROJECT.of(one)
            close = None if isnan(near) else near
            sure = own.confidence(one.clash, close, share, items)
            anyway = alone.confidence(one.clash, close, share, items) >= alone.medium
        if difference is not None:
            sure, anyway = max(sure, _EXACT[difference.kind]), _EXACT[difference.kind] >= PROJECT.medium
        if sure >= own.level("high"):
            found[at] = Judged(*rows[at], sure, difference or _apart(*texts[at]), anyway, own)
    # Which of two is the later one takes reading them the other way round as well: only of those that are told.
    read = {at: one for at in found if (one := said[at]) is not None}
    if judging is not None and read:
        fault = judging.fault
        verdicts = judging.verdicts([texts[at] for at in read])
        judging.fault = fault or judging.fault  # what could not be read before is not read by this
        for (at, one), verdict in zip(read.items(), verdicts, strict=True):
            if verdict is not None:
                changes = 0 if abs(verdict.later) < _NEWS else 1 if verdict.later > 0 else -1
                found[at] = found[at]._replace(update=verdict.update > one.clash / 2, changes=changes)
    return list(found.values())


def _in_time(table: Statements, rows: tuple[int, int], texts: tuple[str, str]) -> tuple[str, str]:
    """The older of two statements first: what follows is read as said in the light of it."""
    older, newer = (table.record(row).created for row in rows)
    return texts if older <= newer else (texts[1], texts[0])


def _over(table: Statements, row: int, other: int) -> bool:
    """Whether a statement held until the other began."""
    end = ended(table.text(row))
    return end is not None and said_at(table.text(other), table.record(other).updated)[0] >= end


def _without_series(rows: list[tuple[int, int]], exact: list[Difference | None]) -> list[Difference | None]:
    """Differences without those of statements that many others differ from in the same way."""
    many: dict[int, int] = {}
    for pair, one in zip(rows, exact, strict=True):
        for row in pair if one is not None and one.kind != "negation" else ():
            many[row] = many.get(row, 0) + 1
    return [
        None if one is not None and one.kind != "negation" and min(many[a], many[b]) >= _SERIES else one
        for (a, b), one in zip(rows, exact, strict=True)
    ]


def _apart(here: str, there: str) -> Difference:
    """The words in which two statements differ, as they are written."""
    left, right = plain(here).split(), plain(there).split()
    found: tuple[list[str], list[str]] = ([], [])
    lower, others = ([word.casefold().strip(".,;:!?") for word in some] for some in (left, right))
    for tag, a, b, c, d in SequenceMatcher(None, lower, others, autojunk=False).get_opcodes():
        if tag != "equal":
            found[0].extend(left[a:b])
            found[1].extend(right[c:d])
    shown = [" ".join(some[:_SHOWN]).strip(".,;:!?") + ("…" if len(some) > _SHOWN else "") for some in found]
    return Difference("meaning", *shown)
