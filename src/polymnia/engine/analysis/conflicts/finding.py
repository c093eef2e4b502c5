"""Finding: the clashes of a project, of a set of items, or of one item with the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polymnia.engine.analysis.conflicts import reporting
from polymnia.engine.analysis.conflicts.candidates import Candidates
from polymnia.engine.analysis.conflicts.judging import judged, unjudged
from polymnia.engine.analysis.conflicts.statements import Statements
from polymnia.engine.analysis.conflicts.values import SENSITIVITIES, TYPES, Clash, Clashes
from polymnia.engine.borders import AMONG, NAMED, PROJECT
from polymnia.errors import Invalid
from polymnia.models import Record

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
_NONE = {"items": 1, "statements": 0, "pairs_found": 0, "pairs_compared": 0}


def conflicts(
    material: Material,
    *,
    types: Collection[str] = TYPES,
    sensitivity: str = "medium",
    among: Sequence[int] | None = None,
    suggest: bool = True,
) -> Clashes:
    """The clashes of a project, or among the records of some ids, most certain first.

    ``sensitivity`` is how sure one must be to be told: see :mod:`borders`. Without ``among`` statements are compared
    that share rare words or are near in meaning; with it each item is compared with each, and what the caller named
    together is taken to clash more often. ``suggest`` adds what may be done.
    """
    _check(types, sensitivity)
    records = [one for one in _records(material, among) if not one.metadata.get("superseded_by")]
    asked = among is not None and len(records) <= _SET
    table = Statements(records, most=_STATEMENTS, tick=material.tick, whole=asked)
    border = (NAMED if len(records) <= 2 else AMONG) if asked else PROJECT
    known = Candidates(table, *_vectors(material, records, whole=among is None))
    pairs = known.every() if asked else known.found()
    many, most = len(pairs), _SET_JUDGED if asked else _JUDGED
    more, pairs = max(0, many - most), pairs[:most]
    found = judged(material, table, known, pairs, border)
    notes = unjudged(material) if len(records) > 1 else []
    clashes, unsure = reporting.clashes(
        table, found, material.relations if among is None else _relations(material, records),
        types=types, sensitivity=sensitivity, border=border, suggest=suggest,
    )  # fmt: skip
    if len(records) < 2:
        notes.append(
            "1 item: only statements within it could be compared."
            if records
            else "0 items: there is nothing to compare."
        )
    if table.left_out:
        notes.append(f"{table.left_out:,} items were not read: {len(table):,} statements are read at most.")
    if more:
        notes.append(f"{more:,} further pairs that share less were not compared; name items to compare them all.")
    notes += _silent(clashes, unsure, len(pairs), sensitivity) if len(records) > 1 else []
    looked = {"items": len(records), "statements": len(table), "pairs_found": many, "pairs_compared": len(pairs)}
    return Clashes(clashes=clashes, looked_at=looked, notes=notes)


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
        return Clashes(looked_at=_NONE, notes=["This item was superseded by another: nothing of it holds any more."])
    look = material.look
    own = record.id - look.base
    text = material.text(record)
    numbers = {number for number, _ in look.by_words(text[:2000], _NEAR)}
    if (said := look.held(own)) is not None:
        numbers |= {one.number for one in look.nearest(said, _NEAR, without=own)}
    numbers -= {own}
    seen = sorted(material.snapshot.matching(material.wanted, among=sorted(numbers))) if numbers else []
    near = [one for one in look.load(seen).values() if not one.metadata.get("superseded_by")]
    table = Statements([record, *near], each=_EACH)
    known = Candidates(table, *_vectors(material, table.records, whole=False))
    pairs = known.of(0)
    many, pairs = len(pairs), pairs[:_OF_ONE]
    names = {one.name for one in table.records}
    relations = [one for one in look.snapshot.relations_of([record.name]) if {one.source, one.target} <= names]
    found, unsure = reporting.clashes(
        table, judged(material, table, known, pairs, PROJECT), relations,
        types=types, sensitivity=sensitivity, border=PROJECT, suggest=suggest, only=record.id,
    )  # fmt: skip
    notes = unjudged(material) if near else []
    if not near:
        notes.append("No other item is near to this one: only statements within it could be compared.")
    notes += _silent(found, unsure, len(pairs), sensitivity) if near else []
    compared = len(pairs)
    looked = {"items": 1 + len(near), "statements": len(table), "pairs_found": many, "pairs_compared": compared}
    return Clashes(clashes=found, looked_at=looked, notes=notes)


def _silent(found: Sequence[Clash], unsure: int, compared: int, sensitivity: str) -> list[str]:
    """What was looked at where nothing is told, and what a higher sensitivity would tell."""
    notes = []
    if not found:
        pairs = "pair of statements that has" if compared == 1 else "pairs of statements that have"
        notes.append(f"{compared:,} {pairs} something in common {'was' if compared == 1 else 'were'} compared.")
    if unsure and sensitivity != "high":
        pairs = "pair of statements" if unsure == 1 else "pairs of statements"
        notes.append(f"{unsure:,} more {pairs} may clash, but that is not sure: sensitivity high tells them.")
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
    seen = set(material.snapshot.matching(material.wanted, among=numbers)) if numbers else set()
    return [one for number, one in sorted(material.look.load(sorted(seen)).items()) if one.id in set(among)]


def _relations(material: Material, records: Sequence[Record]) -> list[Any]:
    names = {one.name for one in records}
    return [one for one in material.snapshot.relations_of(sorted(names)) if {one.source, one.target} <= names]


def _vectors(material: Material, records: Sequence[Record], *, whole: bool) -> tuple[Any, float]:
    """A row for each record, and what the model says of unrelated texts; no columns where there is no model."""
    if material.model is None:
        return np.zeros((len(records), 0), np.float32), 0.0
    vectors = material.vectors if whole else material.vectors_of([one.id for one in records])
    if whole:
        places = {one.id: at for at, one in enumerate(material.items)}
        vectors = vectors[[places[one.id] for one in records]]
    return vectors, material.look.channels[material.model].embedder.unrelated
