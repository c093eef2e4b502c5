"""Connections: what a record is related to, near and far, by relations that are stored and by what the texts show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from polymnia.engine.analysis.connections.discovering import Discovery, discovered
from polymnia.engine.analysis.connections.quoting import in_whole_words
from polymnia.engine.analysis.connections.trust import trust, widened
from polymnia.engine.analysis.connections.values import Connection, Connections, Direction, Step
from polymnia.engine.analysis.connections.walking import Reached, walk
from polymnia.engine.analysis.view import Material
from polymnia.engine.content import content
from polymnia.engine.items import visible
from polymnia.errors import Invalid
from polymnia.models import Record, Relation

if TYPE_CHECKING:
    from polymnia.engine.search.nearness import Look

__all__ = ["DEEPEST", "DEPTH", "LIMIT", "Connection", "Connections", "Direction", "Step", "connections"]

DEPTH = 2
"""How many steps are walked where nobody says."""
DEEPEST = 5
"""And at most: further away everything is connected with everything."""
LIMIT = 50

_SHARE = 5  # one in so many places is kept for what was discovered


def connections(
    given: Look | Material,
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
    with an origin of ``discovered``. Only what may be seen is told or walked through: what belongs to the material, or
    what the ``session`` sees.
    """
    if not 1 <= max_depth <= DEEPEST:
        raise Invalid(f"max_depth is {max_depth}, but must be from 1 to {DEEPEST}", field="max_depth")
    if limit < 1:
        raise Invalid(f"limit is {limit}, but must be at least 1", field="limit")
    look, wanted = (given.look, given.wanted) if isinstance(given, Material) else (given, visible(session))
    snapshot = look.snapshot

    def passing(numbers: Sequence[int]) -> Collection[int]:
        return snapshot.matching(wanted, among=list(numbers)) if numbers else ()

    def seen(names: Collection[str]) -> set[str]:
        ids = snapshot.ids(list(names)) if names else {}
        may = set(passing([id - look.base for id in ids.values()]))
        return {name for name, id in ids.items() if id - look.base in may}

    asked = widened(types)
    walked = walk(snapshot, record.name, seen, types=asked, depth=max_depth, limit=limit, least=min_confidence)
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
        notes.append("There is no model here, so what is similar in meaning alone is not discovered.")
    hidden = len(every) - len(new)
    if hidden:
        notes.append(f"{hidden} that the texts show are less certain than min_confidence {min_confidence:g}.")
    if not found and not hidden:
        which = "" if asked is None else " of the types asked for"
        some = f"none of {candidates} items near it shows one" if candidates > 1 else "the one item near it shows none"
        shows = some if candidates else "no other item is near it"
        notes.append(f"No relationship{which} is drawn here, and {shows}.")
    if (more := len(walked.found) + len(new) - len(found)) > 0:
        notes.append(f"{more} more connections are not told; a higher limit tells them.")
    looked_at = {
        "relations": walked.relations, "depth": walked.depth, "stored": len(walked.found), "candidates": candidates,
        "discovered": len(new),
    }  # fmt: skip
    return Connections(found=found, looked_at=looked_at, notes=notes)


def _told(record: Record, one: Discovery) -> Connection:
    step = Step(record.uid, one.type, one.direction, one.record.uid, one.strength)
    return Connection(
        target=one.record, type=one.type, direction=one.direction, origin="discovered", strength=one.strength,
        confidence=round(trust(one.type, "discovered", one.strength), 4), context=one.evidence, depth=1, path=[step],
    )  # fmt: skip


def _stored(look: Look, record: Record, kept: list[Reached]) -> list[Connection]:
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
            Connection(
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


def _way(one: Reached) -> list[Reached]:
    """The steps that led to a place, in their order."""
    way = []
    here: Reached | None = one
    while here is not None and here.relation is not None:
        way.append(here)
        here = here.before
    return way[::-1]
