"""The knowledge graph: creating, relating, observing, opening and deleting entities.

Where servers behave differently, the difference is data: a :class:`Policy`. Each method is one transaction and
succeeds or fails as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.content import cursor as cursor_at
from polymnia.engine.content import page_size, position
from polymnia.engine.project import Project, Step
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
from polymnia.models import EntityDraft, Graph, Note, Record, Relation, Remark, legal_name, legal_text

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction

_STEP = 1000
_NOTES = 10  # listed individually; more would drown the response
_VIOLATIONS = 100  # listed in one error
_BEGINNING, _CANDIDATES = 3, 200  # characters a suggested name must share, and how many names are compared

Ends = tuple[str, str, str]
"""The source, target and type of a relation."""


class Policy(Struct, frozen=True, kw_only=True):
    """How the graph behaves where servers differ."""

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
"""The default policy: refuses whatever would lose or blur information."""


class Created(Struct, frozen=True):
    """The stored entities, and notes about them."""

    records: list[Record]
    notes: list[Note]


class Related(Struct, frozen=True):
    """The relations that are new (``made``), and those for every item of the call, in order (``all``)."""

    made: list[Relation]
    all: list[Relation]


class Added(Struct, frozen=True):
    """The observations that one item of a call added to an entity."""

    name: str
    texts: tuple[str, ...]


class Deleted(Struct, frozen=True):
    """The deleted entities, and the relations deleted with them."""

    records: list[Record]
    relations: list[Relation]


class GraphVerbs(Project):
    """Create, relate, observe and delete entities as the policy says, and read the graph or parts of it."""

    def create_entities(self, entities: Iterable[EntityDraft], *, step: Step | None = None) -> Created:
        """Create entities, each with a name, a kind and observations."""
        requested = list(entities)
        self._check_drafts(requested)
        screened = self.screen.drafts(requested)
        policy = self.policy

        def create(tx: Transaction) -> Created:
            drafts = [_once(draft) for draft in screened] if policy.repeated_observation == "once" else screened
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
            notes = _look_alike_notes(tx, [record.name for record in made])
            if taken and policy.taken_name == "replace":
                old = {record.id: record for record in tx.load(list(taken.values()))}
                replaced = [(taken[draft.name], draft) for draft in drafts if draft.name in taken]
                made += [tx.replace_record(id, in_place_of(old[id], draft)) for id, draft in replaced]
                place = {name: i for i, name in enumerate(distinct)}
                made.sort(key=lambda record: place[record.name])
            return Created(made, notes)

        texts = (text for draft in screened for text in draft.observations)
        return self._write("create_entities", create, step, texts, gives=Created)

    def create_relations(self, relations: Iterable[Ends], *, step: Step | None = None) -> Related:
        """Create relations, each a (source, target, type)."""
        requested, empty = self._checked_ends(relations)
        self._refuse_empty("create_relations", empty)
        policy = self.policy

        def create(tx: Transaction) -> Related:
            if policy.missing_end == "refuse" and requested:
                names = list(dict.fromkeys(name for source, target, _ in requested for name in (source, target)))
                existing = tx.ids(names)
                if missing := [name for name in names if name not in existing]:
                    raise MissingEnds(missing, near=nearest(tx, missing))
            known: dict[Ends, Relation] = {}
            if policy.repeated_relation != "keep":
                for relation in reversed(tx.find_relations(list(dict.fromkeys(requested)))):
                    known[relation.ends] = relation
            new = [ends for ends in requested if ends not in known]
            if policy.repeated_relation == "once":
                new = list(dict.fromkeys(new))
            made: list[Relation] = []
            for start, end in _stepped(len(new), step):
                made += tx.add_relations((*ends, {}) for ends in new[start:end])
            if policy.repeated_relation != "once":
                return Related(made, made)
            known.update((relation.ends, relation) for relation in made)
            return Related(made, [known[ends] for ends in requested])

        return self._write("create_relations", create, step, gives=Related)

    def add_observations(
        self, additions: Iterable[tuple[str, Sequence[str]]], *, step: Step | None = None
    ) -> list[Added]:
        """Append observations to entities; each item is a (name, texts)."""
        items = list(additions)
        self._check_observations(items, "observations", "contents")
        items = self.screen.observations(items)
        repeated = self.policy.repeated_observation

        def add(tx: Transaction) -> list[Added]:
            ids = _ids(tx, [name for name, _ in items], refuse=self.policy.observing_missing == "refuse")
            done = []
            for i, (name, contents) in enumerate(items):
                if step is not None and i % _STEP == 0:
                    step(i, len(items))
                if name not in ids:
                    continue
                texts: Sequence[str] = contents
                if repeated != "keep":
                    present = tx.present_observations(ids[name], contents)
                    texts = [text for text in contents if text not in present]
                    if repeated == "once":
                        texts = list(dict.fromkeys(texts))
                tx.add_observations([(ids[name], texts)])
                done.append(Added(name, tuple(texts)))
            return done

        texts = (text for _, contents in items for text in contents)
        return self._write("add_observations", add, step, texts, gives=list[Added])

    def delete_entities(self, names: Iterable[str], *, step: Step | None = None) -> Deleted:
        """Delete entities and every relation that starts or ends at one of them. Can be undone."""
        distinct = self._checked_names(names, "entityNames")

        def delete(tx: Transaction) -> Deleted:
            ids = _ids(tx, distinct)
            records = {record.name: record for record in tx.load(list(ids.values()))} if ids else {}
            ends = distinct if self.policy.deleted_names_take_loose_relations else [n for n in distinct if n in ids]
            relations = tx.relations_of(ends) if ends else []
            tx.remove_relations([relation.id for relation in relations])
            tx.remove_records(list(ids.values()))
            return Deleted([records[name] for name in distinct if name in records], relations)

        return self._write("delete_entities", delete, step, gives=Deleted)

    def delete_observations(self, deletions: Iterable[tuple[str, Sequence[str]]], *, step: Step | None = None) -> int:
        """Delete exact observations; each item is a (name, texts). Return how many were deleted."""
        items = list(deletions)
        self._check_observations(items, "deletions", "observations")

        def delete(tx: Transaction) -> int:
            ids = _ids(tx, [name for name, _ in items], refuse=self.policy.deleting_from_missing == "refuse")
            removed = sum(tx.remove_observations(ids[name], texts) for name, texts in items if name in ids)
            for record in tx.load(list(ids.values())) if removed else ():
                # The summary of a content repeats its text and is deleted with it.
                if not record.observations and record.summary is not None and record.name == record.uid:
                    tx.revise(record.id, {"summary": None})
            return removed

        return self._write("delete_observations", delete, step, gives=int)

    def delete_relations(self, relations: Iterable[Ends], *, step: Step | None = None) -> list[Relation]:
        """Delete every relation equal to one of these (source, target, type); return the deleted ones."""
        requested, _ = self._checked_ends(relations)

        def delete(tx: Transaction) -> list[Relation]:
            found = tx.find_relations(list(dict.fromkeys(requested)))
            tx.remove_relations([relation.id for relation in found])
            return found

        return self._write("delete_relations", delete, step, gives=list[Relation])

    def read_graph(self, *, limit: int | None = None, cursor: str | None = None) -> Graph:
        """Return all entities and relations, or one page of them with a limit.

        Each relation appears on exactly one page: that of the entity it starts at, or the last page if it starts
        at a name that does not exist.
        """
        with self.store.read(self.project) as snapshot:
            if limit is None and cursor is None:
                return Graph(list(snapshot.records()), list(snapshot.relations()))
            size = page_size(limit)
            (after,) = position("graph", cursor, 1) or (0,)
            page = list(snapshot.records(int(after), size + 1))
            more, page = len(page) > size, page[:size]
            relations = snapshot.relations_from([record.name for record in page])
            if not more:
                relations = sorted([*relations, *snapshot.loose_relations()], key=lambda relation: relation.id)
            return Graph(page, relations, cursor_at("graph", page[-1].id) if more else None)

    def open_nodes(
        self,
        names: Iterable[str],
        *,
        limit: int | None = None,
        cursor: str | None = None,
        relations: bool = True,
    ) -> tuple[Graph, list[str]]:
        """Return the entities with these names and their relations, and the names that do not exist."""
        distinct = self._checked_names(names, "names")
        with self.store.read(self.project) as snapshot:
            ids = _ids(snapshot, distinct, refuse=self.policy.opening_missing == "refuse")
            missing = [name for name in distinct if name not in ids]
            near = nearest(snapshot, missing) if missing else []
            (after,) = (0,) if cursor is None else position("nodes", cursor, 1)
            open_ids = sorted(id for id in ids.values() if id > after)
            size = len(open_ids) if limit is None and cursor is None else page_size(limit)
            records = snapshot.load(open_ids[:size]) if open_ids else []
            links = snapshot.relations_of([record.name for record in records]) if relations and records else []
        self._count_reads((record.id for record in records), opened=True)
        notes = [Remark("nearest", {"names": near, "opening": True})] if near else []
        following = cursor_at("nodes", records[-1].id) if len(open_ids) > size else None
        return Graph(records, links, following, notes), missing

    def newest(self, limit: int = 20) -> list[Record]:
        """Return the most recently created entities, newest first."""
        with self.store.read(self.project) as snapshot:
            return snapshot.newest(limit)

    def count(self) -> tuple[int, int]:
        """Return the number of entities and of relations."""
        with self.store.read(self.project) as snapshot:
            return snapshot.count()

    # ── validation, before anything changes ───────────────────────────────────────────────────────────

    def _check_batch(self, items: Sequence[object], field: str) -> None:
        _check_list(items, field)
        if not items and self.policy.empty_list == "refuse":
            raise EmptyList(field)
        self._check_count(items, field)

    def _check_count(self, items: Sequence[object], field: str) -> None:
        if len(items) > self.limits.batch:
            raise OverLimit(field, len(items), "items", self.limits.batch, "max_batch")

    def _check_drafts(self, drafts: Sequence[EntityDraft]) -> None:
        self._check_batch(drafts, "entities")
        empty = []
        for i, draft in enumerate(drafts):
            where = f"entities[{i}]"
            empty += self._empty_names(where, {"name": draft.name, "entityType": draft.kind}, of=draft.name)
            _check_list(draft.observations, f"{where}.observations")
            if not draft.observations and self.policy.empty_observations == "refuse":
                raise EmptyList("Observations", f'{where} "{draft.name}"' if len(drafts) > 1 else None)
            self._check_texts(draft.observations, f"{where}.observations")
        self._refuse_empty("create_entities", empty)

    def _empty_names(self, where: str, names: Mapping[str, str], of: str = "") -> list[Violation]:
        """Refuse illegal names; return the empty ones as violations."""
        for field, text in names.items():
            legal_name(text, f"{where}.{field}", self.limits)
        return [
            Violation(f"{where}.{field}", "a text", "empty", provided=text, of=of or None)
            for field, text in names.items()
            if not text or text.isspace()
        ]

    def _refuse_empty(self, verb: str, empty: list[Violation]) -> None:
        if empty and self.policy.empty_name == "refuse":
            raise BadArguments(verb, empty[:_VIOLATIONS])

    def _check_texts(self, texts: Sequence[str], field: str) -> None:
        self._check_count(texts, field)
        for i, text in enumerate(texts):
            legal_text(text, f"{field}[{i}]", self.limits.text_bytes)

    def _check_observations(self, items: Sequence[tuple[str, Sequence[str]]], field: str, inner: str) -> None:
        self._check_batch(items, field)
        for i, (name, texts) in enumerate(items):
            legal_name(name, f"{field}[{i}].entityName", self.limits)
            _check_list(texts, f"{field}[{i}].{inner}")
            self._check_texts(texts, f"{field}[{i}].{inner}")

    def _checked_ends(self, relations: Iterable[Ends]) -> tuple[list[Ends], list[Violation]]:
        items = list(relations)
        for i, one in enumerate(items):
            if isinstance(one, str) or len(one) != 3:
                raise Invalid(f"relations[{i}] must be (source, target, type)", field=f"relations[{i}]")
        self._check_batch(items, "relations")
        empty = []
        for i, (source, target, type) in enumerate(items):
            empty += self._empty_names(f"relations[{i}]", {"from": source, "to": target, "relationType": type})
        return [(source, target, type) for source, target, type in items], empty

    def _checked_names(self, names: Iterable[str], field: str) -> list[str]:
        items = listed(names)
        self._check_batch(items, field)
        for i, name in enumerate(items):
            legal_name(name, f"{field}[{i}]", self.limits)
        return list(dict.fromkeys(items))


def listed(names: Iterable[str]) -> list[str]:
    """The names as a list; a single string is a list of one."""
    return [names] if isinstance(names, str) else list(names)


def nearest(snapshot: Snapshot, names: Sequence[str]) -> list[str]:
    """Existing names likely intended by missing ones: look-alikes, or near matches."""
    from difflib import get_close_matches

    found: list[str] = []
    for name in names[:_NOTES]:
        alike = [other for _, other in snapshot.look_alikes([name])]
        near = alike or get_close_matches(name, snapshot.names_starting(name[:_BEGINNING], _CANDIDATES), 1, 0.8)
        found += near[:1]
    return list(dict.fromkeys(found))


def in_place_of(record: Record, draft: EntityDraft) -> EntityDraft:
    """A graph draft, which has no scope or tags, with those of the record it replaces."""
    return EntityDraft(
        draft.name, draft.kind, draft.observations, draft.extra, record.scope, record.session, record.category,
        record.content_type, record.summary, record.tags, record.metadata,
    )  # fmt: skip


def _check_list(items: object, field: str) -> None:
    # A string is a sequence of its characters, which no caller intends.
    if isinstance(items, str):
        raise Invalid(f"{field} must be a list of texts, not a text", hint="Put it in brackets: [text].", field=field)


def _stepped(count: int, step: Step | None) -> Iterable[tuple[int, int]]:
    """Slices of a batch, calling ``step`` before each and after the last."""
    for start in range(0, count, _STEP):
        if step is not None:
            step(start, count)
        yield start, min(start + _STEP, count)
    if step is not None and count:
        step(count, count)


def _once(draft: EntityDraft) -> EntityDraft:
    distinct = tuple(dict.fromkeys(draft.observations))
    return draft if len(distinct) == len(draft.observations) else replace(draft, observations=distinct)


def _ids(snapshot: Snapshot, names: Sequence[str], *, refuse: bool = False) -> dict[str, int]:
    """The ids by name; with ``refuse``, raises NotFound for missing names."""
    distinct = list(dict.fromkeys(names))
    ids = snapshot.ids(distinct) if distinct else {}
    if refuse and (missing := [name for name in distinct if name not in ids]):
        raise NotFound(missing, near=nearest(snapshot, missing))
    return ids


def _look_alike_notes(snapshot: Snapshot, names: Sequence[str]) -> list[Note]:
    pairs = list({frozenset(pair): pair for pair in snapshot.look_alikes(names)}.values())
    notes = [
        Note("look_alike", f"The name {name!r} looks like {other!r}, which is another entity. Both are kept.")
        for name, other in pairs[:_NOTES]
    ]
    if len(pairs) > _NOTES:
        notes.append(Note("look_alike", f"… and {len(pairs) - _NOTES:,} more pairs of names look alike."))
    return notes
