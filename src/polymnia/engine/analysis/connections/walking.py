"""Walking: from a record along its relations, level by level, the strongest ways first.

A level costs what its frontier costs, never what the project has: only the strongest so many records are walked on
from, and of each of them only the strongest so many relations are read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import NamedTuple

from polymnia.engine.analysis.connections.trust import trust
from polymnia.engine.analysis.connections.values import Direction
from polymnia.engine.ports import Snapshot
from polymnia.models import Relation

__all__ = ["Reached", "Walk", "walk"]

_FRONTIER = 100  # records that are walked on from, at each level
_OWN = 2000  # relations of the record itself
_EACH = 64  # relations of each of them
_EACH_OF_TYPES = 256  # the same where only some types count

Seen = Callable[[Collection[str]], Collection[str]]
"""Those of the names that may be seen."""


class Reached(NamedTuple):
    """A name at the end of a way: the last relation, how it was walked, and the products along the way."""

    name: str
    relation: Relation | None
    direction: Direction
    strength: float
    confidence: float
    depth: int
    before: Reached | None


class Walk(NamedTuple):
    """Where a walk led, strongest first; all relations of the first record; what was read, and what was left out."""

    found: list[Reached]
    own: list[Relation]
    relations: int
    depth: int
    notes: list[str]


def walk(
    snapshot: Snapshot, name: str, seen: Seen, *, types: Collection[str] | None, depth: int, limit: int, least: float
) -> Walk:
    """Walk up to so many steps. Next to the record each relation is told, further away the strongest way to each."""
    own = snapshot.strongest([name], _OWN).get(name, [])
    first = Reached(name, None, "outgoing", 1.0, 1.0, 0, None)
    best = {name: 1.0}
    near: dict[tuple[str, str, Direction], Reached] = {}
    far: dict[str, Reached] = {}
    frontier = {name: first}
    relations: dict[str, list[Relation]] = {name: own}
    read, level = len(own), 0
    notes: list[str] = []
    if len(own) >= _OWN:
        notes.append(f"Of the relations of the record itself the {_OWN} strongest were read.")
    for level in range(1, depth + 1):
        steps = [step for step in _steps(frontier, relations, types) if step.confidence >= least]
        allowed = set(seen({step.name for step in steps}))
        if level == 1:
            notes += _gone({step.name for step in steps} - allowed, snapshot)
        new: dict[str, Reached] = {}
        for step in steps:
            if step.name not in allowed or step.name == name:
                continue
            if level == 1 and step.relation is not None:
                key = (step.name, step.relation.type, step.direction)
                if key not in near or near[key].strength < step.strength:
                    near[key] = step
            if step.strength > best.get(step.name, 0.0):
                best[step.name] = step.strength
                new[step.name] = step
        direct = {key[0] for key in near}
        far |= {name: step for name, step in new.items() if level > 1 and name not in direct}
        if level == depth or not new:
            break
        frontier = _ahead(new, [*near.values(), *far.values()], limit)
        if not frontier:
            notes.append(f"Nothing further than {level} step{'s' * (level > 1)} away comes before what is told.")
            break
        if len(frontier) > _FRONTIER:
            notes.append(f"Step {level + 1}: of {len(frontier)} records the {_FRONTIER} strongest were walked on from.")
            frontier = dict(list(frontier.items())[:_FRONTIER])
        each = _EACH if types is None else _EACH_OF_TYPES
        relations = snapshot.strongest(list(frontier), each)
        read += sum(map(len, relations.values()))
        if cut := sum(len(many) >= each for many in relations.values()):
            notes.append(f"Step {level + 1}: of {cut} records with many relations the {each} strongest were followed.")
    found = sorted([*near.values(), *far.values()], key=_order)
    return Walk(found, own, read, level, notes)


def _steps(
    frontier: dict[str, Reached], relations: dict[str, list[Relation]], types: Collection[str] | None
) -> Iterable[Reached]:
    for name, before in frontier.items():
        for relation in relations.get(name, ()):
            if types is not None and relation.type not in types:
                continue
            outgoing = relation.source == name
            other = relation.target if outgoing else relation.source
            strength = 1.0 if relation.strength is None else min(1.0, max(0.0, relation.strength))
            sure = before.confidence * trust(relation.type, relation.origin, strength)
            yield Reached(
                other, relation, "outgoing" if outgoing else "incoming", before.strength * strength, sure,
                before.depth + 1, before,
            )  # fmt: skip


def _order(one: Reached) -> tuple[float, int, int]:
    return -one.strength, one.depth, one.relation.id if one.relation else 0


def _ahead(new: dict[str, Reached], found: list[Reached], limit: int) -> dict[str, Reached]:
    """The new ones to walk on from, strongest first: those behind which something could come before what is found.

    Ways only grow weaker, and of two that are as strong the shorter is told first.
    """
    told = sorted((step.strength for step in found), reverse=True)
    border = told[limit - 1] if len(told) >= limit else -1.0
    return {step.name: step for step in sorted(new.values(), key=_order) if step.strength > border}


def _gone(others: set[str], snapshot: Snapshot) -> list[str]:
    """Names that nothing bears; those of records that may not be seen are not told."""
    gone = others - set(snapshot.ids(list(others)) if others else ())
    listed = ", ".join(sorted(gone)[:5])
    return [f"{len(gone)} names it is related to are not there (any more): {listed}."] if gone else []
