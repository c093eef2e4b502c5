"""Reporting: judged pairs, impossible orders, opposed decisions and circles of relations as clashes, each told once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from polymnia.engine.analysis.conflicts import decisions, ordering
from polymnia.engine.analysis.conflicts.dating import said_at
from polymnia.engine.analysis.conflicts.judging import EVEN, Judged
from polymnia.engine.analysis.conflicts.newer import Told, newer, told
from polymnia.engine.analysis.conflicts.priors import prior
from polymnia.engine.analysis.conflicts.resolving import asked, outdated, resolved
from polymnia.engine.analysis.conflicts.table import Table
from polymnia.engine.analysis.conflicts.values import Clash, ConflictType, Resolution, Side
from polymnia.engine.analysis.conflicts.weighing import certainty, weighed
from polymnia.engine.analysis.contradiction import THRESHOLD, probability
from polymnia.engine.analysis.cycles import cycles
from polymnia.engine.items import title_of
from polymnia.models import Record, Relation

__all__ = ["clashes"]

_FROM = {"high": 0.3, "medium": 0.5, "low": 0.8}
# Of two items that a caller names, the judge's own border is the middle one: misses and false alarms then weigh alike.
_NAMED = _FROM | {"medium": probability(THRESHOLD, EVEN)}
_FORMAL, _EXTRA = 3.0, 0.8
_DECIDED, _MATTER = 0.5, 4.0  # log odds of opposed decisions at no common matter, and for all of it
_WITHIN = "_within_one_item"
_CIRCLES = 30  # of each order


def clashes(
    table: Table,
    pairs: Sequence[Judged],
    relations: Iterable[Relation],
    *,
    types: Collection[str],
    sensitivity: str,
    suggest: bool,
    only: int | None = None,
) -> tuple[list[Clash], int]:
    """Everything that is sure enough, most certain first; with ``only``, what is about that record.

    And how many pairs would be told besides at the highest sensitivity.
    """
    unsure = 0
    least = _FROM[sensitivity]
    found: list[Clash] = []
    done: set[tuple[int, int]] = set()
    if "temporal_conflicts" in types:
        for one in ordering.disorders(table, range(len(table))):
            odds = _FORMAL - _EXTRA * one.over
            if certainty(odds) >= least and (one.a, one.b) not in done:
                done.add((one.a, one.b))
                found.append(
                    _clash(table, one.a, one.b, "temporal_conflicts", "impossible_order", odds, one.differs,
                           one.because, suggest)
                )  # fmt: skip
    for pair in pairs:
        if (pair.a, pair.b) in done:
            continue
        ways = weighed(table, pair.a, pair.b, pair.frame, pair.judgement, pair.prior, pair.named)
        for way in ways:
            if way.type in types and certainty(way.odds) >= (_NAMED[sensitivity] if pair.named else least):
                found.append(
                    _clash(table, pair.a, pair.b, way.type, way.subtype, way.odds, way.differs, way.because,
                           suggest, sure=suggest and _sure(table, pair))
                )  # fmt: skip
                break
        else:
            unsure += any(way.type in types and certainty(way.odds) >= _FROM["high"] for way in ways)
    if "recommendation_conflicts" in types:
        found += [one for one in _decided(table.records, suggest) if one.confidence >= least]
    if "logical_conflicts" in types:
        found += [one for one in _circles(table.records, relations, suggest) if one.confidence >= least]
    if only is not None:
        found = [one for one in found if only in one.members]
    return _once(found), unsure


def _once(found: list[Clash]) -> list[Clash]:
    """Each pair of sentences once, the surest first; records that repeat them are members too."""
    kept: dict[tuple[str, str, str], Clash] = {}
    for one in sorted(found, key=lambda c: (-c.confidence, c.left.record.id, c.right.record.id, c.left.place)):
        a, b = sorted((" ".join(one.left.sentence.split()), " ".join(one.right.sentence.split())))
        held = kept.get((one.type, a, b))
        if held is None:
            kept[(one.type, a, b)] = one
        else:
            members = tuple(dict.fromkeys((*held.members, *one.members)))
            kept[(one.type, a, b)] = replace(held, members=members)
    return list(kept.values())


def _sure(table: Table, pair: Judged) -> bool:
    """Whether a pair would be told in a project: what is told only because somebody named it is no reason to delete."""
    if not (table.holds(pair.a) and table.holds(pair.b)):
        return False
    share = min(pair.prior, prior(table, pair.a, pair.b, pair.frame))
    ways = weighed(table, pair.a, pair.b, pair.frame, pair.judgement, share, False)
    return any(certainty(way.odds) >= _FROM["medium"] for way in ways)


def _side(table: Table, row: int) -> Side:
    record, text = table.record(row), table.text(row)
    at, dated = said_at(text, record.updated)
    return Side(record, text, at, table.spots[row].place, dated)


def _clash(
    table: Table, a: int, b: int, type: ConflictType, subtype: str, odds: float, differs: str, because: str,
    suggest: bool, *, sure: bool = False,
) -> Clash:  # fmt: skip
    left, right = _side(table, a), _side(table, b)
    late = newer(told(left.sentence, left.record), told(right.sentence, right.record))
    together = left.record.id == right.record.id and len(left.record.observations) == 1
    if together and subtype != "impossible_order":
        subtype += _WITHIN
    resolution: Resolution | None = None
    if suggest:
        spots = (left, table.spots[a]), (right, table.spots[b])
        resolution = asked(left, right) if together else resolved(*spots, late, subtype, sure)
    return Clash(
        type=type, subtype=subtype, left=left, right=right, differs=differs, newer=late.side,
        confidence=round(certainty(odds), 3), explanation=f"{because[0].upper()}{because[1:]}. {late.words}",
        resolution=resolution, members=tuple(dict.fromkeys((left.record.id, right.record.id))),
    )  # fmt: skip


def _decided(records: Sequence[Record], suggest: bool) -> list[Clash]:
    found = []
    for one in decisions.opposed(records):
        sides = []
        for record in (records[one.a], records[one.b]):
            told = record.metadata["decision"]["decision"]
            sides.append(Side(record, told, record.updated, 0))
        left, right = sides
        late = newer(*(Told("", None, side.record.created, side.record.updated) for side in sides))
        old, new = (right, left) if late.side == "left" else (left, right)
        resolution = None
        if suggest:
            resolution = outdated(old.record, new.record) if late.certain else asked(left, right)
        found.append(
            Clash(
                type="recommendation_conflicts", subtype="opposed_decisions", left=left, right=right,
                differs=f"one chooses what the other rejects: {one.choice}", newer=late.side,
                confidence=round(certainty(_DECIDED + _MATTER * one.matter), 3),
                explanation=f"Two decisions in one matter: {title_of(left.record)} and {title_of(right.record)}. "
                + late.words,
                resolution=resolution, members=(left.record.id, right.record.id),
            )
        )  # fmt: skip
    return found


def _circles(records: Sequence[Record], relations: Iterable[Relation], suggest: bool) -> list[Clash]:
    names = {one.name: one for one in records}
    found = []
    for circle in cycles([one for one in relations if one.source in names and one.target in names], _CIRCLES):
        first, last = circle.steps[0], circle.steps[-1]
        said = [f"{title_of(names[r.source])} {r.type} {title_of(names[r.target])}" for r in circle.steps]
        left = Side(names[first.source], said[0], first.created, 0, drawn=True)
        right = Side(names[last.source], said[-1], last.created, 0, drawn=True)
        late = newer(*(Told("", None, side.at, side.at) for side in (left, right)))
        question = f"Which of these relations is wrong: {'; '.join(said)}?"
        found.append(
            Clash(
                type="logical_conflicts", subtype="both_ways" if len(circle.steps) == 2 else "cycle",
                left=left, right=right, differs="; ".join(said), newer=late.side,
                confidence=round(circle.confidence, 3),
                explanation=f"{len(circle.steps)} relations of {circle.order} lead back to where they began; "
                f"{circle.kept} of {circle.relations} relations that tell this order are in no circle.",
                resolution=Resolution("ask", question) if suggest else None,
                members=tuple(dict.fromkeys(names[name].id for name in circle.names)),
            )
        )  # fmt: skip
    return found
