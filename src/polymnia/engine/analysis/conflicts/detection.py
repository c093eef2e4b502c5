"""Detection: the clashes in a project, among some items, or of one item with the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from math import isnan
from typing import TYPE_CHECKING

from polymnia.engine.analysis.conflicts.clash import SENSITIVITIES, TYPES, Clash, Clashes, JudgedPair, date_of, end_date
from polymnia.engine.analysis.conflicts.resolution import clashes
from polymnia.engine.analysis.conflicts.statements import Candidates, Statements
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.pairs import Numbers, Pairs
from polymnia.engine.knowledge.duplicates import Difference, clash, same_words
from polymnia.engine.knowledge.judge import AMONG, NAMED, PROJECT, Border
from polymnia.engine.ports import Judgement
from polymnia.errors import Invalid
from polymnia.models import Record, Relation

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import ProjectView

_STATEMENTS = 300_000  # read of a project
_JUDGED = 12_000  # pairs judged of a project: two or three milliseconds each
_SET = 60  # items of a set that are all compared with each other
_SET_JUDGED = 600  # pairs judged of a set
_NEAR = 40  # neighbours of one item, by meaning and by words each
_EACH = 20  # statements of a neighbour
_OF_ONE = 80  # pairs judged for one item
_EXACT = {"number": 0.9, "negation": 0.9, "date": 0.5}  # the confidence of statements that differ in this alone
_NEWS = 0.2  # the margin by which one must update the other rather than the other way round
_SERIES = 3  # statements that differ in a number alone: a form that is filled in again and again
_SHOWN = 12  # words of a difference


def conflicts(
    project: ProjectView,
    *,
    types: Collection[str] = TYPES,
    sensitivity: str = "medium",
    among: Sequence[int] | None = None,
    suggest: bool = True,
) -> Clashes:
    """The clashes of a project, or among the records of some ids, most certain first.

    ``sensitivity`` is the confidence needed: see :class:`Border`. Without ``among``, statements are compared that share
    rare words or are close in meaning; with it, all items are compared with each other, and clashes are more likely
    beforehand. ``suggest`` adds resolutions.
    """
    _check(types, sensitivity)
    records = _current(project, _records(project, among))
    named = among is not None and len(records) <= _SET
    table = Statements(records, most=_STATEMENTS, tick=project.tick, whole=named)
    known = Candidates(table, *_vectors(project, records, whole=among is None))
    pairs = known.every() if named else known.found()
    border = (NAMED if len(records) <= 2 else AMONG) if named else PROJECT
    most = _SET_JUDGED if named else _JUDGED
    relations = project.relations if among is None else _relations(project, [one.name for one in records], records)
    judged = _judged(project, table, known, pairs[:most], border)
    found, unsure = clashes(
        table, judged, relations, types=types, sensitivity=sensitivity, border=border, suggest=suggest
    )
    notes = _unjudged(project) if len(records) > 1 else [Remark("conflicts.few_items", {"items": len(records)})]
    if table.left_out:
        notes.append(Remark("conflicts.not_read", {"items": table.left_out, "statements": len(table)}))
    if len(pairs) > most:
        notes.append(Remark("conflicts.not_compared", {"pairs": len(pairs) - most}))
    if len(records) > 1:
        notes += _counts(found, unsure, min(len(pairs), most), sensitivity)
    return Clashes(clashes=found, looked_at=_looked_at(table, len(pairs), most), notes=notes)


def conflicts_of(
    project: ProjectView,
    record: Record,
    *,
    types: Collection[str] = TYPES,
    sensitivity: str = "medium",
    suggest: bool = True,
) -> Clashes:
    """The clashes of one record with its nearest ones by meaning and by words, and inside it."""
    _check(types, sensitivity)
    if not _current(project, [record]):
        looked = {"items": 1, "statements": 0, "pairs_found": 0, "pairs_compared": 0}
        return Clashes(looked_at=looked, notes=[Remark("conflicts.superseded")])
    near = _neighbours(project, record)
    table = Statements([record, *near], each=_EACH)
    known = Candidates(table, *_vectors(project, table.records, whole=False))
    pairs = known.of(0)
    relations = _relations(project, [record.name], table.records)
    judged = _judged(project, table, known, pairs[:_OF_ONE], PROJECT)
    found, unsure = clashes(
        table, judged, relations, types=types, sensitivity=sensitivity, border=PROJECT, suggest=suggest, only=record.id
    )
    if near:
        notes = [*_unjudged(project), *_counts(found, unsure, min(len(pairs), _OF_ONE), sensitivity)]
    else:
        notes = [Remark("conflicts.alone")]
    return Clashes(clashes=found, looked_at=_looked_at(table, len(pairs), _OF_ONE), notes=notes)


def _unjudged(project: ProjectView) -> list[Remark]:
    judging = project.judging
    ready = judging is not None and judging.load()
    fault = None if judging is None else judging.fault
    if ready and fault is None:
        return []
    return [Remark("conflicts.unjudged", {"some": ready, "fault": None if fault is None else fault.message})]


def _judged(
    project: ProjectView, table: Statements, known: Candidates, pairs: Pairs, border: Border
) -> list[JudgedPair]:
    """The pairs that may clash, in their order, without those where one ended before the other began."""
    pairs = pairs[[not (_ended(table, a, b) or _ended(table, b, a)) for a, b in pairs.tolist()]]
    rows = [(a, b) for a, b in pairs.tolist()]
    texts = [(table.judged(a), table.judged(b)) for a, b in rows]
    exact = _without_series(rows, [clash(*two) for two in texts])
    judgements: list[Judgement | None] = [None] * len(rows)
    judging = project.judging
    if judging is not None and judging.load():
        # The same words say the same, or differ in what the exact comparison finds.
        unlike = [at for at, two in enumerate(texts) if not same_words(*two)]
        read = judging.read([_in_order(table, rows[at], texts[at]) for at in unlike], project.tick)
        for at, one in zip(unlike, read, strict=True):
            judgements[at] = one
    items = project.snapshot.size()
    nearness = zip(*(one.tolist() for one in known.related(pairs)), strict=True)
    found: dict[int, JudgedPair] = {}
    for at, (near, share) in enumerate(nearness):
        one, difference = judgements[at], exact[at]
        own, sure, anyway = border, 0.0, False
        if one is not None:
            own, alone = border.of(one), PROJECT.of(one)
            close = None if isnan(near) else near
            sure = own.confidence(one.clash, close, share, items)
            anyway = alone.confidence(one.clash, close, share, items) >= alone.medium
        if difference is not None:
            sure, anyway = max(sure, _EXACT[difference.kind]), _EXACT[difference.kind] >= PROJECT.medium
        if sure >= own.level("high"):
            found[at] = JudgedPair(*rows[at], sure, difference or _apart(*texts[at]), anyway, own)
    # Which one is newer takes a second judgement in the other order, so only these pairs have it.
    judged = {at: one for at in found if (one := judgements[at]) is not None}
    if judging is not None and judged:
        fault = judging.fault
        verdicts = judging.verdicts([texts[at] for at in judged])
        judging.fault = fault or judging.fault  # a success does not clear an earlier fault
        for (at, one), verdict in zip(judged.items(), verdicts, strict=True):
            if verdict is not None:
                changes = 0 if abs(verdict.later) < _NEWS else 1 if verdict.later > 0 else -1
                found[at] = found[at]._replace(update=verdict.update > one.clash / 2, changes=changes)
    return list(found.values())


def _in_order(table: Statements, rows: tuple[int, int], texts: tuple[str, str]) -> tuple[str, str]:
    """The older of two statements first, as the judge reads them."""
    older, newer = (table.record(row).created for row in rows)
    return texts if older <= newer else (texts[1], texts[0])


def _ended(table: Statements, row: int, other: int) -> bool:
    end = end_date(table.text(row))
    return end is not None and date_of(table.text(other), table.record(other).updated)[0] >= end


def _without_series(rows: list[tuple[int, int]], exact: list[Difference | None]) -> list[Difference | None]:
    """The differences without those of statements that many others differ from in the same way."""
    many: dict[int, int] = {}
    for pair, one in zip(rows, exact, strict=True):
        for row in pair if one is not None and one.kind != "negation" else ():
            many[row] = many.get(row, 0) + 1
    return [
        None if one is not None and one.kind != "negation" and min(many[a], many[b]) >= _SERIES else one
        for (a, b), one in zip(rows, exact, strict=True)
    ]


def _apart(here: str, there: str) -> Difference:
    left, right = here.split(), there.split()
    found: tuple[list[str], list[str]] = ([], [])
    lower, others = ([word.casefold().strip(".,;:!?") for word in some] for some in (left, right))
    for tag, a, b, c, d in SequenceMatcher(None, lower, others, autojunk=False).get_opcodes():
        if tag != "equal":
            found[0].extend(left[a:b])
            found[1].extend(right[c:d])
    shown = [" ".join(some[:_SHOWN]).strip(".,;:!?") + ("…" if len(some) > _SHOWN else "") for some in found]
    return Difference("meaning", *shown)


def _looked_at(table: Statements, pairs: int, most: int) -> dict[str, int]:
    return {
        "items": len(table.records),
        "statements": len(table),
        "pairs_found": pairs,
        "pairs_compared": min(pairs, most),
    }


def _counts(found: Sequence[Clash], unsure: int, compared: int, sensitivity: str) -> list[Remark]:
    """The number of compared pairs if none clashes, and of those that a higher sensitivity reports."""
    notes = [] if found else [Remark("conflicts.compared", {"pairs": compared})]
    if unsure and sensitivity != "high":
        notes.append(Remark("conflicts.unsure", {"pairs": unsure}))
    return notes


def _check(types: Collection[str], sensitivity: str) -> None:
    for one in types:
        if one not in TYPES:
            raise Invalid(
                f"conflict type is {one!r:.40}, but must be one of {', '.join(TYPES)}", field="conflict_types"
            )
    if sensitivity not in SENSITIVITIES:
        raise Invalid(f"sensitivity is {sensitivity!r:.40}, but must be one of {', '.join(SENSITIVITIES)}")


def _records(project: ProjectView, among: Sequence[int] | None) -> list[Record]:
    if among is None:
        return project.items
    numbers = [id - project.neighbours.base for id in dict.fromkeys(among)]
    visible = project.snapshot.matching(project.filters, among=numbers) if numbers else []
    return [one for _, one in sorted(project.neighbours.load(sorted(visible)).items())]


def _neighbours(project: ProjectView, record: Record) -> list[Record]:
    neighbours, own = project.neighbours, record.id - project.neighbours.base
    numbers = {number for number, _ in neighbours.by_words(project.text(record)[:2000], _NEAR)}
    if (vectors := neighbours.stored(own)) is not None:
        numbers |= {one.number for one in neighbours.nearest(vectors, _NEAR, without=own)}
    numbers -= {own}
    visible = sorted(project.snapshot.matching(project.filters, among=sorted(numbers))) if numbers else []
    return _current(project, list(neighbours.load(visible).values()))


def _current(project: ProjectView, records: Sequence[Record]) -> list[Record]:
    """Those that nothing has replaced."""
    replaced = project.superseded(records)
    return [one for one in records if one.uid not in replaced]


def _relations(project: ProjectView, of: Sequence[str], records: Sequence[Record]) -> list[Relation]:
    names = {one.name for one in records}
    return [one for one in project.snapshot.relations_of(sorted(of)) if {one.source, one.target} <= names]


def _vectors(project: ProjectView, records: Sequence[Record], *, whole: bool) -> tuple[Numbers, float]:
    if not whole or project.model is None:
        return project.vectors_of([one.id for one in records]), project.unrelated
    places = {one.id: at for at, one in enumerate(project.items)}
    return project.vectors[[places[one.id] for one in records]], project.unrelated
