"""Connections: what a record is related to, by stored relations over several steps and by what the texts show."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from msgspec import Struct, field

from polymnia.engine.analysis.findings import Remark
from polymnia.engine.analysis.view import ProjectView
from polymnia.engine.content import content, title_of
from polymnia.engine.knowledge import relationships
from polymnia.engine.ports import Snapshot
from polymnia.engine.search.neighbours import Neighbours
from polymnia.errors import Invalid
from polymnia.models import JsonObject, Record, Relation, folded_forms

DEPTH = 2
"""The default number of steps."""
DEEPEST = 5
"""The largest number of steps."""
LIMIT = 50

_SHARE = 5  # one in so many places is reserved for discoveries
_FRONTIER = 100  # records followed at each level
_OWN = 2000  # relations read of the record itself
_EACH = 64  # relations read of each of the others
_EACH_OF_TYPES = 256  # the same if only some types count

Direction: TypeAlias = Literal["outgoing", "incoming"]
Origin: TypeAlias = Literal["manual", "auto", "discovered"]
Passing = Callable[[Sequence[int]], Collection[int]]
"""Selects the numbers of records that are visible."""


class Step(Struct, frozen=True):
    """One step of a path, between public ids. An incoming relation is followed against its direction."""

    start: str
    type: str
    direction: Direction
    end: str
    strength: float | None


class FoundConnection(Struct, frozen=True, kw_only=True):
    """A connected record and the strongest path to it.

    ``type``, ``direction``, ``origin`` and ``context`` are those of the last step; ``strength`` and ``confidence`` are
    products over all steps. A manual relation is certain; for others see :func:`trust`.
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
    """Connections, strongest first; figures on what was read; and notes."""

    found: list[FoundConnection] = []
    looked_at: JsonObject = field(default_factory=dict)
    notes: list[Remark] = []


def connections(
    project: ProjectView,
    record: Record,
    *,
    types: Collection[str] | None = None,
    max_depth: int = DEPTH,
    limit: int = LIMIT,
    min_confidence: float = 0.0,
) -> Connections:
    """The connections of a record, strongest first.

    Stored relations of these ``types`` or their inverses are followed both ways up to ``max_depth`` steps. What only
    texts show has an origin of ``discovered``. Only visible records are followed and returned.
    """
    if not 1 <= max_depth <= DEEPEST:
        raise Invalid(f"max_depth is {max_depth}, but must be from 1 to {DEEPEST}", field="max_depth")
    if limit < 1:
        raise Invalid(f"limit is {limit}, but must be at least 1", field="limit")
    neighbours, snapshot = project.neighbours, project.snapshot

    def passing(numbers: Sequence[int]) -> Collection[int]:
        return snapshot.matching(project.filters, among=list(numbers)) if numbers else ()

    def visible(names: Collection[str]) -> set[str]:
        ids = snapshot.ids(list(names)) if names else {}
        numbers = set(passing([id - neighbours.base for id in ids.values()]))
        return {name for name, id in ids.items() if id - neighbours.base in numbers}

    followed = with_inverses(types)
    walked = _walk(snapshot, record.name, visible, types=followed, depth=max_depth, limit=limit, least=min_confidence)
    discovered, candidates = _discovered(neighbours, record, passing, walked.own)
    every = [one for one in discovered if followed is None or one.type in followed]
    new = [one for one in every if one.confidence >= min_confidence]
    stored = walked.found[: limit - min(len(new), max(1, limit // _SHARE)) if limit > 1 else limit]
    found = [*_stored(neighbours, record, stored), *new[: limit - len(stored)]]
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
    if not neighbours.index.vectors:
        notes.append(Remark("connections.no_model"))
    hidden = len(every) - len(new)
    if hidden:
        notes.append(Remark("connections.less_certain", {"count": hidden, "least": min_confidence}))
    if not found and not hidden:
        notes.append(Remark("connections.none", {"candidates": candidates, "of_types": followed is not None}))
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


# ── The walk: breadth first along the relations, strongest first ─────────────────────────────────────────────────────
# The cost of a level is bounded: only the strongest records are followed, and only their strongest relations are read.


class _Reached(NamedTuple):
    """A record of the walk: its last step (None at the start), and the products over all steps."""

    name: str
    relation: Relation | None
    direction: Direction
    strength: float
    confidence: float
    depth: int
    before: _Reached | None


class _Walk(NamedTuple):
    """The records of a walk, strongest first; the relations of the first record; figures, and notes."""

    found: list[_Reached]
    own: list[Relation]
    relations: int
    depth: int
    notes: list[Remark]


def _walk(
    snapshot: Snapshot,
    name: str,
    visible: Callable[[Collection[str]], Collection[str]],
    *,
    types: Collection[str] | None,
    depth: int,
    limit: int,
    least: float,
) -> _Walk:
    """Walk up to so many steps. Every relation of the record itself counts, beyond it the strongest path to each."""
    own = snapshot.strongest([name], _OWN).get(name, [])
    best = {name: 1.0}
    near: dict[tuple[str, str, Direction], _Reached] = {}
    far: dict[str, _Reached] = {}
    frontier = {name: _Reached(name, None, "outgoing", 1.0, 1.0, 0, None)}
    relations: dict[str, list[Relation]] = {name: own}
    read, level = len(own), 0
    notes: list[Remark] = []
    if len(own) >= _OWN:
        notes.append(Remark("connections.many_relations", {"read": _OWN}))
    for level in range(1, depth + 1):
        steps = [step for step in _steps(frontier, relations, types) if step.confidence >= least]
        allowed = set(visible({step.name for step in steps}))
        if level == 1:
            notes += _missing_names({step.name for step in steps} - allowed, snapshot)
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
        frontier = _promising(new, [*near.values(), *far.values()], limit)
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
            values = {"step": level + 1, "records": cut, "strongest": each}
            notes.append(Remark("connections.strongest_relations", values))
    found = sorted([*near.values(), *far.values()], key=_order)
    return _Walk(found, own, read, level, notes)


def _steps(
    frontier: dict[str, _Reached], relations: dict[str, list[Relation]], types: Collection[str] | None
) -> Iterable[_Reached]:
    for name, before in frontier.items():
        for relation in relations.get(name, ()):
            if types is not None and relation.type not in types:
                continue
            other, way = _other_end(relation, name)
            strength = 1.0 if relation.strength is None else min(1.0, max(0.0, relation.strength))
            sure = before.confidence * trust(relation.type, relation.origin, strength)
            yield _Reached(other, relation, way, before.strength * strength, sure, before.depth + 1, before)


def _other_end(relation: Relation, name: str) -> tuple[str, Direction]:
    return (relation.target, "outgoing") if relation.source == name else (relation.source, "incoming")


def _order(one: _Reached) -> tuple[float, int, int]:
    return -one.strength, one.depth, one.relation.id if one.relation else 0


def _promising(new: dict[str, _Reached], found: list[_Reached], limit: int) -> dict[str, _Reached]:
    """The new ones to follow, strongest first: those that could lead to something stronger than the results so far."""
    strengths = sorted((step.strength for step in found), reverse=True)
    border = strengths[limit - 1] if len(strengths) >= limit else -1.0
    return {step.name: step for step in sorted(new.values(), key=_order) if step.strength > border}


def _missing_names(others: set[str], snapshot: Snapshot) -> list[Remark]:
    """A note on names without a record; hidden records are not mentioned."""
    missing = others - set(snapshot.ids(list(others)) if others else ())
    return [Remark("connections.gone", {"count": len(missing), "names": sorted(missing)[:5]})] if missing else []


def _stored(neighbours: Neighbours, record: Record, reached: list[_Reached]) -> list[FoundConnection]:
    """The reached records as connections, with public ids in their paths."""
    paths = [_path(one) for one in reached]
    names = {name for path in paths for _, name, _, _ in path}
    ids = neighbours.snapshot.ids(list(names)) if names else {}
    records = {one.name: one for one in neighbours.snapshot.load(list(ids.values()))} if ids else {}
    records[record.name] = record
    made = []
    for one, way in zip(reached, paths, strict=True):
        path = [
            Step(records[start].uid, relation.type, direction, records[end].uid, relation.strength)
            for start, end, direction, relation in way
        ]
        relation = way[-1][3]
        # A path of relations without a strength has none.
        given = any(step.strength is not None for step in path)
        made.append(
            FoundConnection(
                target=records[one.name],
                type=relation.type,
                direction=one.direction,
                origin=relation.origin,
                strength=round(one.strength, 4) if given else None,
                confidence=round(one.confidence, 4),
                context=_context(relation, records),
                depth=one.depth,
                path=path,
            )
        )
    return made


def _path(one: _Reached) -> list[tuple[str, str, Direction, Relation]]:
    way: list[tuple[str, str, Direction, Relation]] = []
    while one.relation is not None and one.before is not None:
        way.append((one.before.name, one.name, one.direction, one.relation))
        one = one.before
    return way[::-1]


def _context(relation: Relation, records: Mapping[str, Record]) -> str | None:
    """The context of a relation; a quotation in whole words."""
    if relation.context is None or relation.origin == "manual" or relation.source not in records:
        return relation.context
    return _in_whole_words(relation.context, content(records[relation.source]))


# ── Discoveries: what the texts of records say of each other without a stored relation ───────────────────────────────

_ALIKE = frozenset({"similar_to", "related_to", "associated_with"})
_BY_MEANING = frozenset({"similar_to", "associated_with"})
_INVERSE = {"contains": "part_of", "part_of": "contains", "follows": "precedes", "precedes": "follows"}
_SAYS_MORE = frozenset({"references", "cites", "follows", "part_of", "implements", "resolves", "causes", "describes"})
# The share of pairs of sentences of this similarity that people grade as "about the same topic" or closer (at least 2.5
# of 5), English and Korean; see docs/decisions/0027-graphs.md.
_SIMILARITIES = (0.0, 0.05, 0.15, 0.25, 0.35, 0.45, 0.55, 0.65, 0.75, 0.85, 0.95, 1.0)
_AGREED = (0.0, 0.03, 0.08, 0.17, 0.34, 0.50, 0.63, 0.76, 0.86, 0.91, 0.96, 1.0)

# The key of an entry: ADR-7, issue #12.
_KEY = re.compile(
    r"\W*((?:[A-Z][A-Z0-9]{1,9}-|(?:issue|ticket|bug|pr|adr|rfc|task|이슈|티켓)\s?#?\s?)\d{1,7})\b", re.IGNORECASE
)
_NAMING = 50  # records that name this one
_COMMON = 50  # a name in one of so many texts is an ordinary word,
_FEW = 10  # if it is in so many texts
_LETTERS = 4  # of a name that identifies a record; three in scripts of syllables
_DENSE = re.compile("[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def _discovered(
    neighbours: Neighbours, record: Record, passing: Passing, existing: Iterable[Relation]
) -> tuple[list[FoundConnection], int]:
    """Connections in the texts without a relation, strongest first; and the number of compared records."""
    own = record.id - neighbours.base
    text, title = content(record), title_of(record)
    near = relationships.nearby(neighbours, record, neighbours.stored(own))
    naming = [number for number in _naming(neighbours, record, title) if number != own]
    numbers = list(dict.fromkeys([*near, *naming]))
    visible = set(passing(numbers)) if numbers else set()
    loaded = neighbours.load([number for number in numbers if number in visible])
    candidates = {number: _candidate(neighbours, one, text, near.get(number)) for number, one in loaded.items()}
    by_id = {candidates[number].id: one for number, one in loaded.items()}
    found = [
        _connection(record, by_id[one.target], "outgoing", one, text, of=by_id[one.target])
        for one in relationships.found(text, title, list(candidates.values()), tags=record.tags)
        if _meant(one, by_id[one.target])
    ]
    for number in naming:
        if other := loaded.get(number):
            other_text = content(other)
            target = _candidate(neighbours, record, other_text, None)
            found += [
                _connection(record, other, "incoming", one, other_text, of=record)
                for one in relationships.found(other_text, title_of(other), [target], tags=())
                if one.type not in _ALIKE and _meant(one, record)
            ]
    return _new(found, record.name, existing), len(loaded)


def _connection(
    record: Record, other: Record, way: Direction, one: relationships.DetectedRelationship, text: str, *, of: Record
) -> FoundConnection:
    evidence = _in_whole_words(one.evidence, text)
    if of.name != of.uid:
        evidence = evidence.replace("names it by its id:", "names it:", 1)
    return FoundConnection(
        target=other,
        type=one.type,
        direction=way,
        origin="discovered",
        strength=one.strength,
        confidence=round(trust(one.type, "discovered", one.strength), 4),
        context=evidence,
        depth=1,
        path=[Step(record.uid, one.type, way, other.uid, one.strength)],
    )


def _naming(neighbours: Neighbours, record: Record, title: str) -> list[int]:
    """The newest records whose texts contain this one's id, name, title or key."""
    found: set[int] = set()
    key = _KEY.match(title)
    for name in dict.fromkeys((record.uid, record.name, title, *((key[1],) if key else ()))):
        if name == record.uid or _is_name(neighbours, name):
            found |= set(neighbours.snapshot.containing(folded_forms(name)))
    return sorted((id - neighbours.base for id in found), reverse=True)[: _NAMING + 1]


def _candidate(neighbours: Neighbours, record: Record, text: str, similarity: float | None) -> relationships.Candidate:
    """A record as a candidate for a text, by its name if that identifies it."""
    named = record.name != record.uid and record.name in text and _is_name(neighbours, record.name)
    return relationships.Candidate.of(record, similarity, record.name if named else record.uid)


def _is_name(neighbours: Neighbours, name: str) -> bool:
    """Whether a name identifies its record in texts: long enough, no ordinary word, and rare."""
    dense = _DENSE.search(name) is not None
    if len(name) < (_LETTERS - 1 if dense else _LETTERS):
        return False
    if not dense and " " not in name and not any(c.isupper() or c.isdigit() for c in name):
        return False
    snapshot = neighbours.snapshot
    return not snapshot.is_common(folded_forms(name), max(_FEW, snapshot.size() // _COMMON))


def _meant(one: relationships.DetectedRelationship, record: Record) -> bool:
    """Whether a text refers to the record. One line without a title is its own title, and a text that contains it says
    the same instead of referring to it."""
    untitled = record.name == record.uid and content(record).strip() == title_of(record)
    return not (untitled and one.evidence.startswith("names it by its title"))


def _new(found: list[FoundConnection], name: str, existing: Iterable[Relation]) -> list[FoundConnection]:
    """The new ones without repetitions, strongest first."""
    known: dict[str, set[tuple[str, Direction]]] = {}
    for relation in existing:
        other, way = _other_end(relation, name)
        known.setdefault(other, set()).add((relation.type, way))
    found.sort(key=lambda one: (-(one.strength or 0.0), one.target.id, one.type, one.direction))
    new: set[int] = set()
    # Specific types come first, so that general ones of the same record are repetitions.
    for one in sorted(found, key=lambda one: one.type in _ALIKE):
        types = known.setdefault(one.target.name, set())
        if not _repeats(one, types):
            types.add((one.type, one.direction))
            new.add(id(one))
    return [one for one in found if id(one) in new]


def _repeats(one: FoundConnection, known: set[tuple[str, Direction]]) -> bool:
    back: Direction = "incoming" if one.direction == "outgoing" else "outgoing"
    inverse = one.type if one.type in _ALIKE else _INVERSE.get(one.type)
    if (one.type, one.direction) in known or (inverse, back) in known:
        return True
    if one.type == "related_to":
        return bool(known)
    if one.type == "similar_to":
        return any(type in _ALIKE for type, _ in known)
    return one.type == "references" and any(type in _SAYS_MORE and way == one.direction for type, way in known)


def trust(type: str, origin: str, strength: float) -> float:
    """The confidence of a relation, from 0 to 1. A manual one is certain.

    One from a similarity is as certain as people agree on such pairs. One from a text (a name, a title, a series) is as
    certain as its rule, which is its strength.
    """
    if origin == "manual":
        return 1.0
    return float(np.interp(strength, _SIMILARITIES, _AGREED)) if type in _BY_MEANING else strength


def with_inverses(types: Collection[str] | None) -> frozenset[str] | None:
    """Some types and their inverses; None for all types."""
    if types is None:
        return None
    return frozenset(types) | {_INVERSE[type] for type in types if type in _INVERSE}


def _in_whole_words(evidence: str, text: str) -> str:
    """Evidence whose quotation of a text begins and ends with whole words."""
    before, opening, rest = evidence.partition("“")
    quote, closing, after = rest.rpartition("”")
    text = " ".join(text.split())
    start = text.find(quote) if quote else -1
    if start < 0:
        return evidence
    whole, end = quote, start + len(quote)
    if end < len(text) and _joins(text[end - 1]) and _joins(text[end]):
        whole = whole.rpartition(" ")[0] or whole
    if start and _joins(text[start - 1]) and _joins(text[start]):
        whole = whole.partition(" ")[2] or whole
    return f"{before}{opening}{whole}{closing}{after}"


def _joins(character: str) -> bool:
    return character.isalnum() or character == "_"
