"""Judging: which pairs of statements cannot both hold, how sure that is, and what differs."""

from __future__ import annotations

from difflib import SequenceMatcher
from math import isnan
from typing import TYPE_CHECKING, NamedTuple

from polymnia.engine import exact
from polymnia.engine.analysis.conflicts.candidates import Candidates, Pairs
from polymnia.engine.analysis.conflicts.dating import ended, said_at
from polymnia.engine.analysis.conflicts.statements import Statements, plain
from polymnia.engine.borders import PROJECT, Border
from polymnia.engine.ports.models import Judgement

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["Judged", "judged", "unjudged"]

_EXACT = {"number": 0.9, "negation": 0.9, "date": 0.5}  # how sure it is that statements clash that differ in this alone
_NEWS = 0.2  # how much surer it is that one updates the other than the other way round
_SERIES = 3  # statements of the same words with a number each: a form, filled in for one thing or day after the other
_SHOWN = 12  # words of a difference


class Judged(NamedTuple):
    """Two rows that may clash: how sure that is, of what kind, what differs, and which of them says that it changed.

    ``changes`` is 1 where the second says what has become of the first, -1 the other way round, else 0. ``anyway`` is
    whether it would be told if nobody had named the two; ``border`` is what decided on them.
    """

    a: int
    b: int
    confidence: float
    kind: str
    differs: str
    update: bool
    changes: int
    anyway: bool
    border: Border


def unjudged(material: Material) -> list[str]:
    """What to say where there is no judge, or where it could not judge some of the statements."""
    judging = material.judging
    ready = judging is not None and judging.load()
    fault = None if judging is None else judging.fault
    if ready and fault is None:
        return []
    what = "what some statements mean" if ready else "what statements mean"
    why = "" if fault is None else f" ({fault.message})"
    return [f"No model judged {what}{why}: only amounts, dates and negations of the same words were compared."]


def judged(material: Material, table: Statements, known: Candidates, pairs: Pairs, border: Border) -> list[Judged]:
    """What may clash among some pairs, in their order. What held until the other began does not."""
    items = material.snapshot.size()
    over = [_over(table, a, b) or _over(table, b, a) for a, b in pairs.tolist()]
    pairs = pairs[[not one for one in over]]
    rows = [(a, b) for a, b in pairs.tolist()]
    nearness = [
        (None if isnan(near) else near, share)
        for near, share in zip(*(one.tolist() for one in known.related(pairs)), strict=True)
    ]
    texts = [(table.said(a), table.said(b)) for a, b in rows]
    apart = [exact.clash(*two) for two in texts]
    _drop_series(rows, apart)
    said: list[Judgement | None] = [None] * len(rows)
    judging = material.judging
    if judging is not None and judging.load():
        # What has the same words says the same, or differs in what is known already.
        asked = [at for at, two in enumerate(texts) if not exact.same_words(*two)]
        told = judging.read([_in_time(table, rows[at], texts[at]) for at in asked], material.tick)
        for at, one in zip(asked, told, strict=True):
            said[at] = one
    found: list[tuple[int, Judged]] = []
    for at, (pair, near, difference, one) in enumerate(zip(rows, nearness, apart, said, strict=True)):
        own = border if one is None else border.of(one)
        sure, anyway, kind, differs = 0.0, False, "meaning", ""
        if one is not None:
            sure, alone = own.confidence(one.clash, *near, items), PROJECT.of(one)
            anyway = alone.confidence(one.clash, *near, items) >= alone.medium
        if difference is not None:
            sure, kind, differs = max(sure, _EXACT[difference.kind]), difference.kind, difference.shown
            anyway = _EXACT[difference.kind] >= PROJECT.medium
        if sure >= own.level("high"):
            differs = differs or _apart(*texts[at])
            found.append((at, Judged(*pair, sure, kind, differs, False, 0, anyway, own)))
    # Which of two is the later one takes reading them the other way round as well: only of those that are told.
    read = {at: one for at, _ in found if (one := said[at]) is not None}
    verdicts = []
    if judging is not None and read:
        fault = judging.fault
        verdicts = judging.verdicts([texts[at] for at in read])
        judging.fault = fault or judging.fault  # what could not be read before is not read by this
    dated = {at: one for at, one in zip(read, verdicts, strict=True) if one is not None}
    return [
        one._replace(
            update=dated[at].update > read[at].clash / 2,
            changes=0 if abs(dated[at].later) < _NEWS else 1 if dated[at].later > 0 else -1,
        )
        if at in dated
        else one
        for at, one in found
    ]


def _in_time(table: Statements, rows: tuple[int, int], texts: tuple[str, str]) -> tuple[str, str]:
    """The older of two statements first: what follows is read as said in the light of it."""
    older, newer = (table.record(row).created for row in rows)
    return texts if older <= newer else (texts[1], texts[0])


def _over(table: Statements, row: int, other: int) -> bool:
    """Whether a statement held until the other began."""
    end = ended(table.text(row))
    return end is not None and said_at(table.text(other), table.record(other).updated)[0] >= end


def _drop_series(rows: list[tuple[int, int]], apart: list[exact.Difference | None]) -> None:
    """Forget differences of statements that many others differ from in the same way."""
    many: dict[int, int] = {}
    for (a, b), one in zip(rows, apart, strict=True):
        if one is not None and one.kind != "negation":
            many[a] = many.get(a, 0) + 1
            many[b] = many.get(b, 0) + 1
    for at, (a, b) in enumerate(rows):
        one = apart[at]
        if one is not None and one.kind != "negation" and min(many[a], many[b]) >= _SERIES:
            apart[at] = None


def _apart(here: str, there: str) -> str:
    """The words in which two statements differ, as they are written."""
    left, right = plain(here).split(), plain(there).split()
    found: tuple[list[str], list[str]] = ([], [])
    lower, others = ([word.casefold().strip(".,;:!?") for word in some] for some in (left, right))
    for tag, a, b, c, d in SequenceMatcher(None, lower, others, autojunk=False).get_opcodes():
        if tag != "equal":
            found[0].extend(left[a:b])
            found[1].extend(right[c:d])
    shown = [" ".join(some[:_SHOWN]).strip(".,;:!?") + ("…" if len(some) > _SHOWN else "") for some in found]
    return " and ".join(one for one in shown if one) or "the order of the words"
