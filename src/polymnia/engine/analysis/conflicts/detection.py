"""Detection: the clashes of a project, of a set of items, or of one item with the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from polymnia.engine.analysis.conflicts.candidates import Candidates
from polymnia.engine.analysis.conflicts.clash import SENSITIVITIES, TYPES, Clash, Clashes
from polymnia.engine.analysis.conflicts.judging import judged, unjudged
from polymnia.engine.analysis.conflicts.resolution import clashes
from polymnia.engine.analysis.conflicts.statements import Statements
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.knowledge.judge import AMONG, NAMED, PROJECT
from polymnia.errors import Invalid
from polymnia.models import Record, Relation

if TYPE_CHECKING:
    from polymnia.engine.analysis.view import Material

__all__ = ["conflicts", "conflicts_of"]

_STATEMENTS = 300_000  # that are read of a project
_JUDGED = 12_000  # pairs that are judged of a project: two or three milliseconds each
_SET = 60  # items of a set that are compared each with each
_SET_JUDGED = 600  # pairs of statements of a set that are judged
_NEAR = 40  # neighbours of one item, by meaning and by words each
_EACH = 20  # statements of a neighbour
_OF_ONE = 80  # pairs that are judged for one item


def conflicts(
    material: Material,
    *,
    types: Collection[str] = TYPES,
    sensitivity: str = "medium",
    among: Sequence[int] | None = None,
    suggest: bool = True,
) -> Clashes:
    """The clashes of a project, or among the records of some ids, most certain first.

    ``sensitivity`` is how sure one must be to be told: see :class:`Border`. Without ``among`` statements are compared
    that share rare words or are near in meaning; with it each item is compared with each, and what the caller named
    together is taken to clash more often. ``suggest`` adds what may be done.
    """
    _check(types, sensitivity)
    records = [one for one in _records(material, among) if not one.metadata.get("superseded_by")]
    named = among is not None and len(records) <= _SET
    table = Statements(records, most=_STATEMENTS, tick=material.tick, whole=named)
    known = Candidates(table, *_vectors(material, records, whole=among is None))
    pairs = known.every() if named else known.found()
    border = (NAMED if len(records) <= 2 else AMONG) if named else PROJECT
    most = _SET_JUDGED if named else _JUDGED
    relations = material.relations if among is None else _relations(material, [one.name for one in records], records)
    told = judged(material, table, known, pairs[:most], border)
    found, unsure = clashes(
        table, told, relations, types=types, sensitivity=sensitivity, border=border, suggest=suggest
    )
    notes = unjudged(material) if len(records) > 1 else [Remark("conflicts.few_items", {"items": len(records)})]
    if table.left_out:
        notes.append(Remark("conflicts.not_read", {"items": table.left_out, "statements": len(table)}))
    if len(pairs) > most:
        notes.append(Remark("conflicts.not_compared", {"pairs": len(pairs) - most}))
    if len(records) > 1:
        notes += _silent(found, unsure, min(len(pairs), most), sensitivity)
    return Clashes(clashes=found, looked_at=_looked_at(table, len(pairs), most), notes=notes)


def conflicts_of(
    material: Material,
    record: Record,
    *,
    types: Collection[str] = TYPES,
    sensitivity: str = "medium",
    suggest: bool = True,
) -> Clashes:
    """The clashes of one record with those nearest to it by meaning and by words, and within itself."""
    _check(types, sensitivity)
    if record.metadata.get("superseded_by"):
        looked = {"items": 1, "statements": 0, "pairs_found": 0, "pairs_compared": 0}
        return Clashes(looked_at=looked, notes=[Remark("conflicts.superseded")])
    near = _neighbours(material, record)
    table = Statements([record, *near], each=_EACH)
    known = Candidates(table, *_vectors(material, table.records, whole=False))
    pairs = known.of(0)
    relations = _relations(material, [record.name], table.records)
    told = judged(material, table, known, pairs[:_OF_ONE], PROJECT)
    found, unsure = clashes(
        table, told, relations, types=types, sensitivity=sensitivity, border=PROJECT, suggest=suggest, only=record.id
    )
    if near:
        notes = [*unjudged(material), *_silent(found, unsure, min(len(pairs), _OF_ONE), sensitivity)]
    else:
        notes = [Remark("conflicts.alone")]
    return Clashes(clashes=found, looked_at=_looked_at(table, len(pairs), _OF_ONE), notes=notes)


def _looked_at(table: Statements, pairs: int, most: int) -> dict[str, int]:
    return {
        "items": len(table.records),
        "statements": len(table),
        "pairs_found": pairs,
        "pairs_compared": min(pairs, most),
    }


def _silent(found: Sequence[Clash], unsure: int, compared: int, sensitivity: str) -> list[Remark]:
    """What was looked at where nothing is told, and what a higher sensitivity would tell."""
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


def _records(material: Material, among: Sequence[int] | None) -> list[Record]:
    if among is None:
        return material.items
    numbers = [id - material.look.base for id in dict.fromkeys(among)]
    seen = material.snapshot.matching(material.wanted, among=numbers) if numbers else []
    return [one for _, one in sorted(material.look.load(sorted(seen)).items())]


def _neighbours(material: Material, record: Record) -> list[Record]:
    """The records nearest to one by meaning and by words that may be seen and still hold."""
    look, own = material.look, record.id - material.look.base
    numbers = {number for number, _ in look.by_words(material.text(record)[:2000], _NEAR)}
    if (said := look.held(own)) is not None:
        numbers |= {one.number for one in look.nearest(said, _NEAR, without=own)}
    numbers -= {own}
    seen = sorted(material.snapshot.matching(material.wanted, among=sorted(numbers))) if numbers else []
    return [one for one in look.load(seen).values() if not one.metadata.get("superseded_by")]


def _relations(material: Material, of: Sequence[str], records: Sequence[Record]) -> list[Relation]:
    """The relations of some names that stand between some records."""
    names = {one.name for one in records}
    return [one for one in material.snapshot.relations_of(sorted(of)) if {one.source, one.target} <= names]


def _vectors(material: Material, records: Sequence[Record], *, whole: bool) -> tuple[NDArray[Any], float]:
    """A row for each record, and what the model says of unrelated texts; no columns where there is no model."""
    if material.model is None:
        return np.zeros((len(records), 0), np.float32), 0.0
    unrelated = material.look.channels[material.model].embedder.unrelated
    if not whole:
        return material.vectors_of([one.id for one in records]), unrelated
    places = {one.id: at for at, one in enumerate(material.items)}
    return material.vectors[[places[one.id] for one in records]], unrelated
