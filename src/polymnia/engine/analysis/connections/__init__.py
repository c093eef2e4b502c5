"""Connections: what a record is related to, near and far, by relations that are stored and by what the texts show."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

from msgspec import Struct, field

from polymnia.engine.analysis.connections.discovery import (
    Direction,
    Discovered,
    discovered,
    in_whole_words,
    trust,
    widened,
)
from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.view import ProjectView
from polymnia.engine.content import content, visible
from polymnia.engine.ports import Snapshot
from polymnia.engine.search.neighbours import Neighbours
from polymnia.errors import Invalid
from polymnia.models import JsonObject, Record, Relation

__all__ = ["DEEPEST", "DEPTH", "LIMIT", "Connection", "Connections", "Direction", "Step", "connections"]

DEPTH = 2
"""How many steps are walked where nobody says."""
DEEPEST = 5
"""And at most: further away everything is connected with everything."""
LIMIT = 50

_SHARE = 5  # one in so many places is kept for what was discovered
_FRONTIER = 100  # records that are walked on from, at each level
_OWN = 2000  # relations of the record itself
_EACH = 64  # relations of each of them
_EACH_OF_TYPES = 256  # the same where only some types count

Origin: TypeAlias = Literal["manual", "auto", "discovered"]


class Step(Struct, frozen=True):
    """One step of a way, between public ids. An incoming relation is walked against its direction."""

    start: str
    type: str
    direction: Direction
    end: str
    strength: float | None


class FoundConnection(Struct, frozen=True, kw_only=True):
    """A record that another one is connected with, and the strongest way there.

    ``type``, ``direction``, ``origin`` and ``context`` are those of the last step; ``strength`` and ``confidence`` are
    the products of those of all steps. A relation somebody drew is certain; for others see
    :func:`~polymnia.engine.analysis.connections.discovery.trust`.
    """

    target: Record
    type: str
    direction: Direction
    origin: Origin
    strength: float | None
    confidence: float
    context: str | None
    depth: int
    path: list[Step]


class Connections(Struct, frozen=True, kw_only=True):
    """Connections, strongest first; what was looked at, in numbers; and what was left out, and why."""

    found: list[FoundConnection] = []
    looked_at: JsonObject = field(default_factory=dict)
    notes: list[Remark] = []


def connections(
    given: Neighbours | ProjectView,
    record: Record,
    *,
    types: Collection[str] | None = None,
    max_depth: int = DEPTH,
    limit: int = LIMIT,
    min_confidence: float = 0.0,
    session: str | None = None,
) -> Connections:
    """What a record is connected with, strongest first.

    Stored relations are followed in both directions up to ``max_depth`` steps, all of them of the ``types`` asked for
    or of types that say the same from the other end. What the texts of this record and of others show besides is told
    with an origin of ``discovered``. Only what may be seen is told or walked through: what belongs to the project, or
    what the ``session`` sees.
    """
    if not 1 <= max_depth <= DEEPEST:
        raise Invalid(f"max_depth is {max_depth}, but must be from 1 to {DEEPEST}", field="max_depth")
    if limit < 1:
        raise Invalid(f"limit is {limit}, but must be at least 1", field="limit")
    look, wanted = (given.look, given.wanted) if isinstance(given, ProjectView) else (given, visible(session))
    snapshot = look.snapshot

    def passing(numbers: Sequence[int]) -> Collection[int]:
        return snapshot.matching(wanted, among=list(numbers)) if numbers else ()

    def seen(names: Collection[str]) -> set[str]:
        ids = snapshot.ids(list(names)) if names else {}
        may = set(passing([id - look.base for id in ids.values()]))
        return {name for name, id in ids.items() if id - look.base in may}

    asked = widened(types)
    walked = _walk(snapshot, record.name, seen, types=asked, depth=max_depth, limit=limit, least=min_confidence)
    shown, candidates = discovered(look, record, passing, walked.own)
    every = [_told(record, one) for one in shown if asked is None or one.type in asked]
    new = [one for one in every if one.confidence >= min_confidence]
    kept = walked.found[: limit - min(len(new), max(1, limit // _SHARE)) if limit > 1 else limit]
    found = [*_stored(look, record, kept), *new[: limit - len(kept)]]
    found.sort(
        key=lambda one: (
            -(1.0 if one.strength is None else one.strength),
            one.depth,
            one.origin == "discovered",
            one.target.id,
            one.type,
        )
    )
    notes = list(walked.notes)
    if not look.index.vectors:
        notes.append(Remark("connections.no_model"))
    hidden = len(every) - len(new)
    if hidden:
        notes.append(Remark("connections.less_certain", {"count": hidden, "least": min_confidence}))
    if not found and not hidden:
        notes.append(Remark("connections.none", {"candidates": candidates, "of_types": asked is not None}))
    if (more := len(walked.found) + len(new) - len(found)) > 0:
        notes.append(Remark("connections.more", {"count": more}))
    looked_at = {
        "relations": walked.relations,
        "depth": walked.depth,
        "stored": len(walked.found),
        "candidates": candidates,
        "discovered": len(new),
    }
    return Connections(found=found, looked_at=looked_at, notes=notes)


def _told(record: Record, one: Discovered) -> FoundConnection:
    step = Step(record.uid, one.type, one.direction, one.record.uid, one.strength)
    return FoundConnection(
        target=one.record, type=one.type, direction=one.direction, origin="discovered", strength=one.strength,
        confidence=round(trust(one.type, "discovered", one.strength), 4), context=one.evidence, depth=1, path=[step],
    )  # fmt: skip


def _stored(look: Neighbours, record: Record, kept: list[_Reached]) -> list[FoundConnection]:
    """The ends of walks as connections, with every record on the way by its public id."""
    names = {step.name for one in kept for step in _way(one)}
    ids = look.snapshot.ids(list(names)) if names else {}
    records = {one.name: one for one in look.snapshot.load(list(ids.values()))} if ids else {}
    records[record.name] = record
    made = []
    for one in kept:
        path = []
        for step in _way(one):
            assert step.relation is not None and step.before is not None
            path.append(
                Step(
                    records[step.before.name].uid,
                    step.relation.type,
                    step.direction,
                    records[step.name].uid,
                    step.relation.strength,
                )
            )
        assert one.relation is not None
        # A relation without a number weighs as much as any, but a number is told only where one was given.
        given = any(step.strength is not None for step in path)
        made.append(
            FoundConnection(
                target=records[one.name], type=one.relation.type, direction=one.direction, origin=one.relation.origin,
                strength=round(one.strength, 4) if given else None, confidence=round(one.confidence, 4),
                context=_context(one.relation, records), depth=one.depth, path=path,
            )
        )  # fmt: skip
    return made


def _context(relation: Relation, records: Mapping[str, Record]) -> str | None:
    """What a relation was drawn for; what it quotes of the text it was read off, in whole words."""
    if relation.context is None or relation.origin == "manual" or relation.source not in records:
        return relation.context
    return in_whole_words(relation.context, content(records[relation.source]))


def _way(one: _Reached) -> list[_Reached]:
    """The steps that led to a place, in their order."""
    way = []
    here: _Reached | None = one
    while here is not None and here.relation is not None:
        way.append(here)
        here = here.before
    return way[::-1]


# ── The walk: from a record along its relations, level by level, the strongest ways first ────────────────────────────
# A level costs what its frontier costs, never what the project has: only the strongest so many records are walked on
# from, and of each of them only the strongest so many relations are read.

_Seen = Callable[[Collection[str]], Collection[str]]
"""Those of the names that may be seen."""


class _Reached(NamedTuple):
    """A name at the end of a way: the last relation, how it was walked, and the products along the way."""

    name: str
    relation: Relation | None
    direction: Direction
    strength: float
    confidence: float
    depth: int
    before: _Reached | None


class _Walk(NamedTuple):
    """Where a walk led, strongest first; all relations of the first record; what was read, and what was left out."""

    found: list[_Reached]
    own: list[Relation]
    relations: int
    depth: int
    notes: list[Remark]


def _walk(
    snapshot: Snapshot, name: str, seen: _Seen, *, types: Collection[str] | None, depth: int, limit: int, least: float
) -> _Walk:
    """_Walk up to so many steps. Next to the record each relation is told, further away the strongest way to each."""
    own = snapshot.strongest([name], _OWN).get(name, [])
    first = _Reached(name, None, "outgoing", 1.0, 1.0, 0, None)
    best = {name: 1.0}
    near: dict[tuple[str, str, Direction], _Reached] = {}
    far: dict[str, _Reached] = {}
    frontier = {name: first}
    relations: dict[str, list[Relation]] = {name: own}
    read, level = len(own), 0
    notes: list[Remark] = []
    if len(own) >= _OWN:
        notes.append(Remark("connections.many_relations", {"read": _OWN}))
    for level in range(1, depth + 1):
        steps = [step for step in _steps(frontier, relations, types) if step.confidence >= least]
        allowed = set(seen({step.name for step in steps}))
        if level == 1:
            notes += _gone({step.name for step in steps} - allowed, snapshot)
        new: dict[str, _Reached] = {}
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
            notes.append(Remark("connections.nothing_further", {"steps": level}))
            break
        if len(frontier) > _FRONTIER:
            values = {"step": level + 1, "records": len(frontier), "strongest": _FRONTIER}
            notes.append(Remark("connections.strongest_records", values))
            frontier = dict(list(frontier.items())[:_FRONTIER])
        each = _EACH if types is None else _EACH_OF_TYPES
        relations = snapshot.strongest(list(frontier), each)
        read += sum(map(len, relations.values()))
        if cut := sum(len(many) >= each for many in relations.values()):
            notes.append(
                Remark("connections.strongest_relations", {"step": level + 1, "records": cut, "strongest": each})
            )
    found = sorted([*near.values(), *far.values()], key=_order)
    return _Walk(found, own, read, level, notes)


def _steps(
    frontier: dict[str, _Reached], relations: dict[str, list[Relation]], types: Collection[str] | None
) -> Iterable[_Reached]:
    for name, before in frontier.items():
        for relation in relations.get(name, ()):
            if types is not None and relation.type not in types:
                continue
            outgoing = relation.source == name
            other = relation.target if outgoing else relation.source
            strength = 1.0 if relation.strength is None else min(1.0, max(0.0, relation.strength))
            sure = before.confidence * trust(relation.type, relation.origin, strength)
            yield _Reached(
                other, relation, "outgoing" if outgoing else "incoming", before.strength * strength, sure,
                before.depth + 1, before,
            )  # fmt: skip


def _order(one: _Reached) -> tuple[float, int, int]:
    return -one.strength, one.depth, one.relation.id if one.relation else 0


def _ahead(new: dict[str, _Reached], found: list[_Reached], limit: int) -> dict[str, _Reached]:
    """The new ones to walk on from, strongest first: those behind which something could come before what is found.

    Ways only grow weaker, and of two that are as strong the shorter is told first.
    """
    told = sorted((step.strength for step in found), reverse=True)
    border = told[limit - 1] if len(told) >= limit else -1.0
    return {step.name: step for step in sorted(new.values(), key=_order) if step.strength > border}


def _gone(others: set[str], snapshot: Snapshot) -> list[Remark]:
    """Names that nothing bears; those of records that may not be seen are not told."""
    gone = others - set(snapshot.ids(list(others)) if others else ())
    return [Remark("connections.gone", {"count": len(gone), "names": sorted(gone)[:5]})] if gone else []
