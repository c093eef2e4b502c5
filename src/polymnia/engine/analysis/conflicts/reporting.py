"""Reporting: judged pairs, opposed decisions and circles of relations as clashes, each told once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from msgspec.structs import replace

from polymnia.engine.analysis.conflicts import decisions
from polymnia.engine.analysis.conflicts.dating import said_at
from polymnia.engine.analysis.conflicts.judging import Judged
from polymnia.engine.analysis.conflicts.newer import Told, newer, told
from polymnia.engine.analysis.conflicts.resolving import asked, outdated, resolved
from polymnia.engine.analysis.conflicts.statements import Statements
from polymnia.engine.analysis.conflicts.values import Clash, ConflictType, Resolution, Side
from polymnia.engine.analysis.graph.cycles import cycles
from polymnia.engine.borders import Border
from polymnia.engine.items import title_of
from polymnia.models import Record, Relation

__all__ = ["clashes"]

_DECIDED, _MATTER = 0.6, 0.35  # how sure opposed decisions are with no words of the matter in common, and for all
_WITHIN = "_within_one_item"
_CIRCLES = 30  # of each order
_ADVICE = re.compile(r"\b(?:should|must|always|never|do not|don['’]t|avoid|prefer)\b|세요|십시오|해야", re.IGNORECASE)
_SAID = {
    "number": "They have the same words but for a number",
    "date": "They have the same words but for a date",
    "negation": "They have the same words but for a negation",
    "meaning": "By what they mean they cannot both hold",
    "superseded": "One of them says what has become of the other, or since when it holds",
    "do_and_do_not": "They advise against each other",
}


def clashes(
    table: Statements,
    pairs: Sequence[Judged],
    relations: Iterable[Relation],
    *,
    types: Collection[str],
    sensitivity: str,
    border: Border,
    suggest: bool,
    only: int | None = None,
) -> tuple[list[Clash], int]:
    """Everything that is sure enough, most certain first; with ``only``, what is about that record.

    And how many pairs would be told besides at the highest sensitivity.
    """
    least = border.level(sensitivity)
    unsure = 0
    found: list[Clash] = []
    for pair in pairs:
        if (one := _clash(table, pair, suggest)).type not in types:
            continue
        if pair.confidence >= pair.border.level(sensitivity):
            found.append(one)
        else:
            unsure += 1
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


def _side(table: Statements, row: int) -> Side:
    record, text = table.record(row), table.text(row)
    at, dated = said_at(text, record.updated)
    return Side(record, text, at, table.spots[row].place, dated)


def _clash(table: Statements, pair: Judged, suggest: bool) -> Clash:
    left, right = _side(table, pair.a), _side(table, pair.b)
    late = newer(
        told(left.sentence, left.record, pair.changes < 0), told(right.sentence, right.record, pair.changes > 0)
    )
    type, subtype = _kind(pair, left, right)
    because = _SAID[subtype]
    together = left.record.id == right.record.id and len(left.record.observations) == 1
    resolution: Resolution | None = None
    if suggest:
        spots = (left, table.spots[pair.a]), (right, table.spots[pair.b])
        sure = pair.anyway and subtype != "date"
        resolution = asked(left, right) if together else resolved(*spots, late, sure)
    return Clash(
        type=type, subtype=subtype + (_WITHIN if together else ""), left=left, right=right, differs=pair.differs,
        newer=late.side, confidence=round(pair.confidence, 3), explanation=f"{because}. {late.words}",
        resolution=resolution, members=tuple(dict.fromkeys((left.record.id, right.record.id))),
    )  # fmt: skip


def _kind(pair: Judged, left: Side, right: Side) -> tuple[ConflictType, str]:
    if _ADVICE.search(left.sentence) and _ADVICE.search(right.sentence) and pair.kind in ("negation", "meaning"):
        return "recommendation_conflicts", "do_and_do_not"
    if pair.kind == "date":
        return "temporal_conflicts", "date"
    if pair.update or left.dated or right.dated:
        return "temporal_conflicts", "superseded"
    return "factual_conflicts", pair.kind


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
                confidence=round(_DECIDED + _MATTER * one.matter, 3),
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
