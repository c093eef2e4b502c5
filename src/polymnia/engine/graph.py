"""The rules of the graph: what creating, relating, observing and deleting mean.

Where servers differ in manners, the difference is data: a :class:`Policy`. Each verb is one transaction:
all of it happens or nothing does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.ports import Snapshot, Transaction
from polymnia.errors import (
    AlreadyExists,
    BadArguments,
    EmptyList,
    Invalid,
    MissingEnds,
    NotFound,
    OverLimit,
    Violation,
)
from polymnia.models import EntityDraft, Limits, Note, Record, Relation, legal_name, legal_text

Step = Callable[[int, int], None]
"""Told how many of how many items are done; may raise to call the whole thing off."""

_STEP = 1000
_NOTES = 10  # told one by one; more would drown the answer
_TOLD = 100  # misfits that are told
_BEGINNING, _CANDIDATES = 3, 200  # letters that a name has in common with what may be meant, and how many are compared


class Policy(Struct, frozen=True, kw_only=True):
    """How a dialect behaves where servers differ."""

    taken_name: Literal["replace", "refuse", "keep"] = "refuse"
    name_twice: Literal["last", "first", "refuse"] = "refuse"
    empty_observations: Literal["store", "refuse"] = "refuse"
    empty_list: Literal["accept", "refuse"] = "refuse"
    empty_name: Literal["accept", "refuse"] = "refuse"
    missing_end: Literal["keep", "refuse"] = "refuse"
    repeated_relation: Literal["keep", "once", "drop"] = "once"
    repeated_observation: Literal["keep", "once", "drop"] = "once"
    observing_missing: Literal["ignore", "refuse"] = "refuse"
    deleting_from_missing: Literal["ignore", "refuse"] = "ignore"
    opening_missing: Literal["omit", "refuse"] = "omit"
    deleted_names_take_loose_relations: bool = False
    search: Literal["substring", "lower", "ranked"] = "ranked"


STRICT = Policy()
"""Refuses whatever would lose or blur something. The policy of whoever names none."""


class Created(Struct, frozen=True):
    """What create_entities stored, and what is worth telling about it."""

    records: list[Record]
    notes: list[Note]


class Related(Struct, frozen=True):
    """What create_relations came to: ``made`` is new; ``all`` has the relation of every item given, in order."""

    made: list[Relation]
    all: list[Relation]


class Added(Struct, frozen=True):
    """The observations that one item of add_observations added to one entity."""

    name: str
    texts: tuple[str, ...]


class Deleted(Struct, frozen=True):
    """What delete_entities removed: the records, and the relations that went with them."""

    records: list[Record]
    relations: list[Relation]


def _whole(items: Sequence[object], field: str, policy: Policy, limits: Limits) -> None:
    _listed(items, field)
    if not items and policy.empty_list == "refuse":
        raise EmptyList(field)
    if len(items) > limits.batch:
        raise OverLimit(field, len(items), "items", limits.batch, "max_batch")


def _listed(items: object, field: str) -> None:
    """Python takes a text for a list of its letters; nobody means that."""
    if isinstance(items, str):
        raise Invalid(f"{field} must be a list of texts, not a text", hint="Put it in brackets: [text].", field=field)


def _stepped(count: int, step: Step | None) -> Iterable[tuple[int, int]]:
    """Slices of a batch, with progress told between them."""
    for start in range(0, count, _STEP):
        if step is not None:
            step(start, count)
        yield start, min(start + _STEP, count)
    if step is not None and count:
        step(count, count)


def check_drafts(drafts: Sequence[EntityDraft], policy: Policy, limits: Limits) -> None:
    """Refuse a batch that could not be stored as it is, before anything is touched."""
    _whole(drafts, "entities", policy, limits)
    for i, draft in enumerate(drafts):
        legal_name(draft.name, f"entities[{i}].name", limits)
        legal_name(draft.kind, f"entities[{i}].entityType", limits)
        _listed(draft.observations, f"entities[{i}].observations")
        if not draft.observations and policy.empty_observations == "refuse":
            raise EmptyList("Observations", f'entities[{i}] "{draft.name}"' if len(drafts) > 1 else None)
        if len(draft.observations) > limits.batch:
            raise OverLimit(f"entities[{i}].observations", len(draft.observations), "items", limits.batch, "max_batch")
        for n, text in enumerate(draft.observations):
            legal_text(text, f"entities[{i}].observations[{n}]", limits.text_bytes)
    if policy.empty_name == "refuse":
        _named("create_entities", (
            (f"entities[{i}].{field}", text, draft.name)
            for i, draft in enumerate(drafts)
            for field, text in (("name", draft.name), ("entityType", draft.kind))
        ))  # fmt: skip


def _named(verb: str, fields: Iterable[tuple[str, str, str]]) -> None:
    """Refuse names and types that say nothing; each comes with its place and the name of its item."""
    empty = [
        Violation(path, "a text", "empty", provided=text, of=name or None)
        for path, text, name in fields
        if not text or text.isspace()
    ]
    if empty:
        raise BadArguments(verb, empty[:_TOLD])


def nearest(snapshot: Snapshot, names: Sequence[str]) -> list[str]:
    """Names there are that may be meant by names there are not: they look the same, or nearly are."""
    from difflib import get_close_matches

    found: list[str] = []
    for name in names[:_NOTES]:
        alike = [other for _, other in snapshot.look_alikes([name])]
        near = alike or get_close_matches(name, snapshot.names_starting(name[:_BEGINNING], _CANDIDATES), 1, 0.8)
        found += near[:1]
    return list(dict.fromkeys(found))


def create_entities(
    tx: Transaction, drafts: Sequence[EntityDraft], policy: Policy, step: Step | None = None
) -> Created:
    """Store new entities; what happens to a taken name is the policy's choice."""
    if policy.repeated_observation == "once":
        drafts = [_once(draft) for draft in drafts]
    names = [draft.name for draft in drafts]
    distinct = list(dict.fromkeys(names))
    if len(distinct) < len(names):
        if policy.name_twice == "refuse":
            raise AlreadyExists([name for name in distinct if names.count(name) > 1])
        ordered = drafts if policy.name_twice == "last" else reversed(drafts)
        by_name = {draft.name: draft for draft in ordered}
        drafts = [by_name[name] for name in distinct]
    taken = tx.ids(distinct) if distinct else {}
    if taken and policy.taken_name == "refuse":
        raise AlreadyExists([name for name in distinct if name in taken])
    new = [draft for draft in drafts if draft.name not in taken] if taken else drafts
    made: list[Record] = []
    for start, end in _stepped(len(new), step):
        made += tx.add_records(new[start:end])
    notes = look_alike_notes(tx, [record.name for record in made])
    if taken and policy.taken_name == "replace":
        old = {record.id: record for record in tx.load(list(taken.values()))}
        replaced = [(taken[draft.name], draft) for draft in drafts if draft.name in taken]
        made += [tx.replace_record(id, in_place_of(old[id], draft)) for id, draft in replaced]
        place = {name: i for i, name in enumerate(distinct)}
        made.sort(key=lambda record: place[record.name])
    return Created(made, notes)


def in_place_of(record: Record, draft: EntityDraft) -> EntityDraft:
    """A draft of the graph, which knows no scopes or tags, with those of the record whose place it takes."""
    return EntityDraft(
        draft.name, draft.kind, draft.observations, draft.extra, record.scope, record.session, record.category,
        record.content_type, record.summary, record.tags, record.metadata,
    )  # fmt: skip


def _once(draft: EntityDraft) -> EntityDraft:
    distinct = tuple(dict.fromkeys(draft.observations))
    if len(distinct) == len(draft.observations):
        return draft
    return replace(draft, observations=distinct)


def look_alike_notes(snapshot: Snapshot, names: Sequence[str]) -> list[Note]:
    """Notes about names that are easily taken for a stored one."""
    pairs = list({frozenset(pair): pair for pair in snapshot.look_alikes(names)}.values())
    notes = [
        Note("look_alike", f"The name {name!r} looks like {other!r}, which is another entity. Both are kept.")
        for name, other in pairs[:_NOTES]
    ]
    if len(pairs) > _NOTES:
        notes.append(Note("look_alike", f"… and {len(pairs) - _NOTES:,} more pairs of names look alike."))
    return notes


def check_relations(
    relations: Sequence[tuple[str, str, str]], policy: Policy, limits: Limits, *, new: bool = False
) -> None:
    """Refuse relations that could not be looked for, or, as ``new`` ones, stored as they are."""
    _whole(relations, "relations", policy, limits)
    for i, (source, target, type) in enumerate(relations):
        legal_name(source, f"relations[{i}].from", limits)
        legal_name(target, f"relations[{i}].to", limits)
        legal_name(type, f"relations[{i}].relationType", limits)
    if new and policy.empty_name == "refuse":
        _named("create_relations", (
            (f"relations[{i}].{field}", text, "")
            for i, ends in enumerate(relations)
            for field, text in zip(("from", "to", "relationType"), ends, strict=True)
        ))  # fmt: skip


def create_relations(
    tx: Transaction, relations: Sequence[tuple[str, str, str]], policy: Policy, step: Step | None = None
) -> Related:
    """Store relations; missing ends and repetitions are the policy's choice."""
    if policy.missing_end == "refuse" and relations:
        ends = list(dict.fromkeys(name for source, target, _ in relations for name in (source, target)))
        there = tx.ids(ends)
        if missing := [name for name in ends if name not in there]:
            raise MissingEnds(missing, near=nearest(tx, missing))
    known: dict[tuple[str, str, str], Relation] = {}
    if policy.repeated_relation != "keep":
        for relation in reversed(tx.find_relations(list(dict.fromkeys(relations)))):
            known[relation.ends] = relation
    new = [ends for ends in relations if ends not in known]
    if policy.repeated_relation == "once":
        new = list(dict.fromkeys(new))
    made: list[Relation] = []
    for start, end in _stepped(len(new), step):
        made += tx.add_relations((*ends, {}) for ends in new[start:end])
    if policy.repeated_relation != "once":
        return Related(made, made)
    known.update((relation.ends, relation) for relation in made)
    return Related(made, [known[ends] for ends in relations])


def check_observations(
    items: Sequence[tuple[str, Sequence[str]]], field: str, inner: str, policy: Policy, limits: Limits
) -> None:
    """Refuse observations that could not be stored, or looked for, as they are."""
    _whole(items, field, policy, limits)
    for i, (name, texts) in enumerate(items):
        legal_name(name, f"{field}[{i}].entityName", limits)
        _listed(texts, f"{field}[{i}].{inner}")
        if len(texts) > limits.batch:
            raise OverLimit(f"{field}[{i}].{inner}", len(texts), "items", limits.batch, "max_batch")
        for n, text in enumerate(texts):
            legal_text(text, f"{field}[{i}].{inner}[{n}]", limits.text_bytes)


def add_observations(
    tx: Transaction, items: Sequence[tuple[str, Sequence[str]]], policy: Policy, step: Step | None = None
) -> list[Added]:
    """Append observations; missing entities and repetitions are the policy's choice."""
    names = list(dict.fromkeys(name for name, _ in items))
    ids = tx.ids(names) if names else {}
    if policy.observing_missing == "refuse" and (missing := [name for name in names if name not in ids]):
        raise NotFound(missing, near=nearest(tx, missing))
    done = []
    for i, (name, given) in enumerate(items):
        if step is not None and i % _STEP == 0:
            step(i, len(items))
        if name not in ids:
            continue
        texts: Sequence[str] = given
        if policy.repeated_observation != "keep":
            present = tx.present_observations(ids[name], given)
            texts = [text for text in given if text not in present]
            if policy.repeated_observation == "once":
                texts = list(dict.fromkeys(texts))
        tx.add_observations([(ids[name], texts)])
        done.append(Added(name, tuple(texts)))
    return done


def check_names(names: Sequence[str], field: str, policy: Policy, limits: Limits) -> None:
    """Refuse a list of names that cannot be looked for."""
    _whole(names, field, policy, limits)
    for i, name in enumerate(names):
        legal_name(name, f"{field}[{i}]", limits)


def delete_entities(tx: Transaction, names: Sequence[str], policy: Policy) -> Deleted:
    """Remove entities and every relation that starts or ends at one of them."""
    distinct = list(dict.fromkeys(names))
    ids = tx.ids(distinct) if distinct else {}
    records = {record.name: record for record in tx.load(list(ids.values()))} if ids else {}
    gone = distinct if policy.deleted_names_take_loose_relations else [n for n in distinct if n in ids]
    relations = tx.relations_of(gone) if gone else []
    tx.remove_relations([relation.id for relation in relations])
    tx.remove_records(list(ids.values()))
    return Deleted([records[name] for name in distinct if name in records], relations)


def delete_observations(tx: Transaction, items: Sequence[tuple[str, Sequence[str]]], policy: Policy) -> int:
    """Remove every exact match of the given texts from the given entities; answers how many went."""
    names = list(dict.fromkeys(name for name, _ in items))
    ids = tx.ids(names) if names else {}
    if policy.deleting_from_missing == "refuse" and (missing := [name for name in names if name not in ids]):
        raise NotFound(missing, near=nearest(tx, missing))
    gone = sum(tx.remove_observations(ids[name], texts) for name, texts in items if name in ids)
    for record in tx.load(list(ids.values())) if gone else ():
        # Of a content the summary says what its text says: with the text, it goes.
        if not record.observations and record.summary is not None and record.name == record.uid:
            tx.revise(record.id, {"summary": None})
    return gone


def delete_relations(tx: Transaction, relations: Sequence[tuple[str, str, str]]) -> list[Relation]:
    """Remove every relation equal to one of the given ones; answers what went."""
    going = tx.find_relations(list(dict.fromkeys(relations)))
    tx.remove_relations([relation.id for relation in going])
    return going
