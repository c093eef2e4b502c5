"""Finding: the clashes of a project, of a set of items, or of one item with the rest."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from polymnia.engine.analysis.conflicts import pairing, reporting
from polymnia.engine.analysis.conflicts.judging import judged, judged_two
from polymnia.engine.analysis.conflicts.table import Table
from polymnia.engine.analysis.conflicts.values import SENSITIVITIES, TYPES, Clash, Clashes
from polymnia.errors import Invalid
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.analysis.material import Material

__all__ = ["conflicts", "conflicts_of"]

_STATEMENTS = 300_000  # that are read of a project
_COMPARED = 40_000  # pairs that are judged of a project
_SET = 60  # items of a set that are compared each with each
_SET_PAIRS = 5_000  # pairs of statements of a set that are judged
_NEAR = 40  # neighbours of one item, by meaning and by words each
_EACH = 20  # statements of a neighbour
_OF_ONE = 200  # pairs that are judged for one item
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

    ``sensitivity`` is how sure one must be to be told: high from .3 on, medium .5, low .8. Without ``among`` statements
    are compared that share rare words or are near in meaning; with it each item is compared with each, and what the
    caller named together is taken to clash more often, the fewer the more. Of two short items the judge decides alone;
    medium is its own border then. ``suggest`` adds what may be done.
    """
    _check(types, sensitivity)
    records = [one for one in _records(material, among) if not one.metadata.get("superseded_by")]
    asked = among is not None and len(records) <= _SET
    two = asked and len(records) == 2
    table = Table(records, most=_STATEMENTS, tick=material.tick, whole=two)
    notes = []
    if asked:
        pairs, most = _each_with_each(table), _SET_PAIRS
    else:
        found = [pairing.by_words(table)]
        if material.model is not None:
            vectors = material.vectors if among is None else material.vectors_of([one.id for one in records])
            places = {one.id: at for at, one in enumerate(material.items)} if among is None else {}
            rows = [places[one.id] for one in records] if among is None else slice(None)
            found.append(pairing.by_meaning(table, vectors[rows]))
        pairs, most = pairing.likely(table, pairing.once(*(one[:, 0] << 32 | one[:, 1] for one in found))), _COMPARED
    pairs = _with(pairing.by_facts(table), pairs)
    if two:
        pairs_judged, compared, more = judged_two(material, table, pairs, most)
    else:
        pairs_judged, compared, more = judged(material, table, pairs, most, named=len(records) if asked else 0)
    clashes, unsure = reporting.clashes(
        table, pairs_judged, material.relations if among is None else _relations(material, records),
        types=types, sensitivity=sensitivity, suggest=suggest,
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
    notes += _silent(clashes, unsure, compared, sensitivity) if len(records) > 1 else []
    looked = {"items": len(records), "statements": len(table), "pairs_found": len(pairs), "pairs_compared": compared}
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
    table = Table([record, *near], each=_EACH)
    mine = np.flatnonzero(table.owner == 0)
    pairs = _crossed(mine, np.arange(len(table)))
    names = {one.name for one in table.records}
    relations = [one for one in look.snapshot.relations_of([record.name]) if {one.source, one.target} <= names]
    told = pairing.by_facts(table)
    pairs = _with(told[(table.owner[told] == 0).any(axis=1)], pairing.likely(table, pairs))
    pairs_judged, compared, more = judged(material, table, pairs, _OF_ONE)
    found, unsure = reporting.clashes(
        table, pairs_judged, relations,
        types=types, sensitivity=sensitivity, suggest=suggest, only=record.id,
    )  # fmt: skip
    notes = [] if near else ["No other item is near to this one: only statements within it could be compared."]
    if more:
        notes.append(f"{more:,} further pairs that share less were not compared.")
    notes += _silent(found, unsure, compared, sensitivity) if near else []
    looked = {"items": 1 + len(near), "statements": len(table), "pairs_found": len(pairs), "pairs_compared": compared}
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


def _with(first: Any, then: Any) -> Any:
    """Some pairs and then others, each once."""
    known = set(map(tuple, first.tolist()))
    rest = [at for at, pair in enumerate(then.tolist()) if tuple(pair) not in known]
    return np.concatenate((first, then[rest])) if known else then


def _crossed(here: Any, there: Any) -> Any:
    a, b = np.meshgrid(here.astype(np.int64), there.astype(np.int64), indexing="ij")
    pairs = np.stack((np.minimum(a, b).ravel(), np.maximum(a, b).ravel()), axis=1)
    return np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0)


def _each_with_each(table: Table) -> Any:
    """Every pair of statements of different items, and those within one that may clash."""
    a, b = np.triu_indices(len(table), 1)
    pairs = np.stack((a, b), axis=1).astype(np.int64)
    apart = table.owner[a] != table.owner[b]
    alone = np.array([table.many(row) == 1 for row in range(len(table))], bool)
    sure = apart & alone[a] & alone[b] if len(table) else apart
    # Where items say more than one thing, what has nothing in common is not worth a look.
    rest = pairs[~sure] if len(pairs) <= _SET_PAIRS else pairing.likely(table, pairs[~sure])
    within = table.owner[rest[:, 0]] == table.owner[rest[:, 1]]
    return np.concatenate((pairs[sure], rest[~within], pairing.likely(table, rest[within])))
