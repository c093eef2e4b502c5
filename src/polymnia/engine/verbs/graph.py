"""Entities, relations and observations: the verbs of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from polymnia.engine import graph, paging
from polymnia.engine.graph import Added, Created, Deleted, Related, Step
from polymnia.engine.ports import Snapshot
from polymnia.engine.verbs.base import Verbs, listed
from polymnia.errors import Invalid, NotFound
from polymnia.models import EntityDraft, Graph, Note, Record, Relation


class GraphVerbs(Verbs):
    """Making, relating, observing and deleting, in the manners of the policy; and reading the whole or a part."""

    def create_entities(self, entities: Iterable[EntityDraft], *, step: Step | None = None) -> Created:
        """Store new entities, each with a name, a kind and observations."""
        drafts = list(entities)
        graph.check_drafts(drafts, self.policy, self.limits)
        drafts = self.screen.drafts(drafts)
        texts = (text for draft in drafts for text in draft.observations)
        return self._write(
            "create_entities",
            lambda tx: graph.create_entities(tx, drafts, self.policy, step),
            step,
            texts,
            gives=Created,
        )

    def create_relations(self, relations: Iterable[tuple[str, str, str]], *, step: Step | None = None) -> Related:
        """Store relations, each given as (source, target, type)."""
        ends = _ends(relations)
        graph.check_relations(ends, self.policy, self.limits, new=True)
        return self._write(
            "create_relations", lambda tx: graph.create_relations(tx, ends, self.policy, step), step, gives=Related
        )

    def add_observations(
        self, additions: Iterable[tuple[str, Sequence[str]]], *, step: Step | None = None
    ) -> list[Added]:
        """Append observations to entities, each item given as (name, texts)."""
        items = list(additions)
        graph.check_observations(items, "observations", "contents", self.policy, self.limits)
        items = self.screen.observations(items)
        texts = (text for _, contents in items for text in contents)
        return self._write(
            "add_observations",
            lambda tx: graph.add_observations(tx, items, self.policy, step),
            step,
            texts,
            gives=list[Added],
        )

    def delete_entities(self, names: Iterable[str], *, step: Step | None = None) -> Deleted:
        """Remove entities and every relation that starts or ends at one of them. Can be undone."""
        going = listed(names)
        graph.check_names(going, "entityNames", self.policy, self.limits)
        return self._write(
            "delete_entities", lambda tx: graph.delete_entities(tx, going, self.policy), step, gives=Deleted
        )

    def delete_observations(self, deletions: Iterable[tuple[str, Sequence[str]]], *, step: Step | None = None) -> int:
        """Remove exact observations, each item given as (name, texts); answers how many went."""
        items = list(deletions)
        graph.check_observations(items, "deletions", "observations", self.policy, self.limits)
        return self._write(
            "delete_observations", lambda tx: graph.delete_observations(tx, items, self.policy), step, gives=int
        )

    def delete_relations(
        self, relations: Iterable[tuple[str, str, str]], *, step: Step | None = None
    ) -> list[Relation]:
        """Remove every relation equal to one of the given (source, target, type); answers what went."""
        ends = _ends(relations)
        graph.check_relations(ends, self.policy, self.limits)
        return self._write("delete_relations", lambda tx: graph.delete_relations(tx, ends), step, gives=list[Relation])

    def read_graph(self, *, limit: int | None = None, cursor: str | None = None) -> Graph:
        """Everything: all entities and all relations; with a limit, a page of it.

        Over all pages each relation comes once, with the page of the entity it starts at; those that start
        at a name nobody bears come with the last page.
        """
        with self.store.read(self.project) as snapshot:
            if limit is None and cursor is None:
                return Graph(list(snapshot.records()), list(snapshot.relations()))
            size = paging.size(limit)
            (after,) = paging.position("graph", cursor, 1) or (0,)
            page = list(snapshot.records(int(after), size + 1))
            more, page = len(page) > size, page[:size]
            relations = snapshot.relations_from([record.name for record in page])
            if not more:
                relations = sorted([*relations, *snapshot.loose_relations()], key=lambda relation: relation.id)
            return Graph(page, relations, paging.cursor("graph", page[-1].id) if more else None)

    def open_nodes(
        self,
        names: Iterable[str],
        *,
        limit: int | None = None,
        cursor: str | None = None,
        relations: bool = True,
    ) -> tuple[Graph, list[str]]:
        """The entities of these names with the relations they take part in, and the names that are not there."""
        wanted = list(dict.fromkeys(listed(names)))
        graph.check_names(wanted, "names", self.policy, self.limits)
        with self.store.read(self.project) as snapshot:
            ids = snapshot.ids(wanted) if wanted else {}
            missing = [name for name in wanted if name not in ids]
            if missing and self.policy.opening_missing == "refuse":
                raise NotFound(missing, near=graph.nearest(snapshot, missing))
            near = graph.nearest(snapshot, missing) if missing else []
            (after,) = paging.position("nodes", cursor, 1) or (0,)
            open_ids = sorted(id for id in ids.values() if id > after)
            size = len(open_ids) if limit is None and cursor is None else paging.size(limit)
            records = snapshot.load(open_ids[:size]) if open_ids else []
            more = len(open_ids) > size
            links = self._relations_of(snapshot, records) if relations and records else []
        self._read_by((record.id for record in records), opened=True)
        notes = [Note("nearest", f"The nearest there is to what was not found: {', '.join(near)}.")] if near else []
        return Graph(records, links, paging.cursor("nodes", records[-1].id) if more else None, notes), missing

    def _relations_of(self, snapshot: Snapshot, records: list[Record]) -> list[Relation]:
        return snapshot.relations_of([record.name for record in records])

    def names(self, prefix: str, limit: int = 100) -> list[str]:
        """Names to complete a prefix with: those that start with it, then those that contain it."""
        with self.store.read(self.project) as snapshot:
            names = snapshot.names_starting(prefix, limit)
            if prefix and len(names) < limit:
                from polymnia.engine.search import substring

                ids = substring(snapshot, prefix)[:1000]
                inside = [r.name for r in snapshot.load(ids) if _has_lowered_name(r, prefix)] if ids else []
                names = list(dict.fromkeys([*names, *inside]))[:limit]
            return names

    def newest(self, limit: int = 20) -> list[Record]:
        """The entities made last, newest first."""
        with self.store.read(self.project) as snapshot:
            return snapshot.newest(limit)

    def count(self) -> tuple[int, int]:
        """How many entities and relations there are."""
        with self.store.read(self.project) as snapshot:
            return snapshot.count()


def _ends(relations: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    given = list(relations)
    for i, one in enumerate(given):
        if isinstance(one, str) or len(one) != 3:
            raise Invalid(f"relations[{i}] must be (source, target, type)", field=f"relations[{i}]")
    return [(source, target, type) for source, target, type in given]


def _has_lowered_name(record: Record, prefix: str) -> bool:
    return prefix.casefold() in record.name.casefold()
