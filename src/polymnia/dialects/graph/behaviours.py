"""The four graph dialects: the rules each keeps, as data, and the shape of its answers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar

from polymnia.dialects.graph import shapes
from polymnia.dialects.graph.shapes import Entity, Link
from polymnia.engine.graph import STRICT, Added, Created, Deleted, Policy, Related
from polymnia.models import Graph, Note, Record, Relation
from polymnia.operation import Reply


def entity(record: Record) -> Entity:
    """A record as an entity of the graph."""
    return Entity(record.name, record.kind, list(record.observations))


def link(relation: Relation) -> Link:
    """A relation as the wire has it."""
    return Link(relation.source, relation.target, relation.type)


class Behaviour:
    """A dialect: its policy, and what each tool answers.

    ``outputs`` has the type of each tool's structured content, ``linked`` says whether answers to searches have
    relations, ``indent`` how JSON is indented. Answers are arrays here; a dialect with other shapes overrides them.
    """

    name: ClassVar[str]
    policy: ClassVar[Policy]
    indent: ClassVar[int] = 0
    linked: ClassVar[bool] = False
    outputs: ClassVar[dict[str, type]] = {
        "create_entities": shapes.ListedEntities,
        "create_relations": shapes.ListedLinks,
        "add_observations": shapes.ListedObserved,
        "delete_entities": shapes.ListedEntities,
        "delete_observations": shapes.ListedUnobserved,
        "delete_relations": shapes.ListedLinks,
        "read_graph": shapes.GraphResult,
        "search_nodes": shapes.ListedEntities,
        "open_nodes": shapes.ListedEntities,
    }

    def _reply(self, value: object, structured: object = None, *, notes: Sequence[Note] = (), **more: Any) -> Reply:
        shown = value if structured is None else structured
        return Reply(value=value, structured=shown, indent=self.indent, notes=tuple(notes), **more)

    def graph(self, found: Graph) -> Reply:
        """What read_graph answers: entities and relations."""
        value = shapes.GraphResult(list(map(entity, found.records)), list(map(link, found.relations)), found.next)
        return self._reply(value, next=found.next)

    def created(self, made: Created) -> Reply:
        """What create_entities answers."""
        return self._entities(made.records, notes=made.notes)

    def related(self, made: Related) -> Reply:
        """What create_relations answers."""
        return self._links(made.made)

    def added(self, given: list[shapes.Observed], done: list[Added]) -> Reply:
        """What add_observations answers."""
        there = {one.name for one in done}
        missing = dict.fromkeys(one.entityName for one in given if one.entityName not in there)
        text = f"Nothing was added to {', '.join(map(repr, missing))}: no entity has that name."
        return self._reply(given, shapes.ListedObserved(given), notes=[Note("ignored", text)] if missing else ())

    def entities_deleted(self, gone: Deleted) -> Reply:
        """What delete_entities answers."""
        return self._entities(gone.records)

    def observations_deleted(self, given: list[shapes.Unobserved], count: int) -> Reply:
        """What delete_observations answers."""
        asked = sum(len(one.observations) for one in given)
        notes = [Note("not_all_there", f"{count} observations were removed.")] if count < asked else []
        return self._reply(given, shapes.ListedUnobserved(given), notes=notes)

    def relations_deleted(self, gone: list[Relation]) -> Reply:
        """What delete_relations answers."""
        return self._links(gone)

    def found(self, found: Graph) -> Reply:
        """What search_nodes answers."""
        if found.next is None:
            return self._entities(found.records)
        # The array has no room for the cursor: it is in the structured content and in the notes.
        notes = [Note("more", f"There is more: pass cursor {found.next} to go on.")]
        return self._entities(found.records, found.next, notes)

    def opened(self, found: Graph, missing: list[str]) -> Reply:
        """What open_nodes answers."""
        return self.found(found)

    def _entities(self, records: Iterable[Record], next: str | None = None, notes: Sequence[Note] = ()) -> Reply:
        items = list(map(entity, records))
        return self._reply(items, shapes.ListedEntities(items, next), next=next, notes=notes)

    def _links(self, relations: Iterable[Relation]) -> Reply:
        items = list(map(link, relations))
        return self._reply(items, shapes.ListedLinks(items))


class Simple(Behaviour):
    """Forgiving: arrays of what was stored, found or deleted."""

    name = "simple"
    policy = Policy(
        taken_name="replace",
        name_twice="last",
        empty_observations="store",
        empty_list="accept",
        empty_name="accept",
        missing_end="keep",
        repeated_relation="keep",
        repeated_observation="keep",
        observing_missing="ignore",
        search="substring",
    )


class Strict(Behaviour):
    """Refuses whatever would lose something: objects that say what happened in ids and counts."""

    name = "strict"
    policy = STRICT
    linked = True
    outputs: ClassVar[dict[str, type]] = {
        "create_entities": shapes.CreatedIds,
        "create_relations": shapes.RelationIds,
        "add_observations": shapes.AddedCount,
        "delete_entities": shapes.DeletedCount,
        "delete_observations": shapes.DeletedCount,
        "delete_relations": shapes.DeletedCount,
        "read_graph": shapes.GraphResult,
        "search_nodes": shapes.Nodes,
        "open_nodes": shapes.OpenedNodes,
    }

    def created(self, made: Created) -> Reply:
        ids = [shapes.CreatedId(record.uid, record.name) for record in made.records]
        return self._reply(shapes.CreatedIds(True, [one.id for one in ids], ids), notes=made.notes)

    def related(self, made: Related) -> Reply:
        return self._reply(shapes.RelationIds(True, [relation.uid for relation in made.all]))

    def added(self, given: list[shapes.Observed], done: list[Added]) -> Reply:
        return self._reply(shapes.AddedCount(True, sum(len(one.texts) for one in done)))

    def entities_deleted(self, gone: Deleted) -> Reply:
        return self._reply(shapes.DeletedCount(True, len(gone.records)))

    def observations_deleted(self, given: list[shapes.Unobserved], count: int) -> Reply:
        return self._reply(shapes.DeletedCount(True, count))

    def relations_deleted(self, gone: list[Relation]) -> Reply:
        return self._reply(shapes.DeletedCount(True, len(gone)))

    def found(self, found: Graph) -> Reply:
        return self._reply(shapes.Nodes(_nodes(found), found.next), next=found.next, notes=found.notes)

    def opened(self, found: Graph, missing: list[str]) -> Reply:
        return self._reply(shapes.OpenedNodes(_nodes(found), missing, found.next), next=found.next, notes=found.notes)


def _nodes(found: Graph) -> list[shapes.Node]:
    """Each entity with the relations that start or end at it."""
    links: dict[str, list[Link]] = {record.name: [] for record in found.records}
    for relation in found.relations:
        for name in {relation.source, relation.target} & links.keys():
            links[name].append(link(relation))
    return [shapes.Node(one.name, one.kind, list(one.observations), links[one.name]) for one in found.records]


class Bilingual(Behaviour):
    """Refuses in English and Korean; additions and deletions answer an empty object."""

    name = "bilingual"
    policy = Policy(
        empty_observations="store",
        repeated_relation="keep",
        repeated_observation="keep",
        deleting_from_missing="refuse",
        opening_missing="refuse",
        search="substring",
    )
    outputs: ClassVar[dict[str, type]] = {
        **Behaviour.outputs,
        "add_observations": shapes.Nothing,
        "delete_entities": shapes.Nothing,
        "delete_observations": shapes.Nothing,
        "delete_relations": shapes.Nothing,
    }

    def added(self, given: list[shapes.Observed], done: list[Added]) -> Reply:
        return self._reply(shapes.Nothing())

    def entities_deleted(self, gone: Deleted) -> Reply:
        return self._reply(shapes.Nothing())

    def observations_deleted(self, given: list[shapes.Unobserved], count: int) -> Reply:
        return self._reply(shapes.Nothing())

    def relations_deleted(self, gone: list[Relation]) -> Reply:
        return self._reply(shapes.Nothing())


class Official(Behaviour):
    """To the letter what the npm release answers."""

    name = "official"
    policy = Policy(
        taken_name="keep",
        name_twice="first",
        empty_observations="store",
        empty_list="accept",
        empty_name="accept",
        missing_end="keep",
        repeated_relation="drop",
        repeated_observation="drop",
        deleted_names_take_loose_relations=True,
        search="lower",
    )
    indent = 2
    linked = True
    outputs: ClassVar[dict[str, type]] = {
        "create_entities": shapes.EntitiesResult,
        "create_relations": shapes.LinksResult,
        "add_observations": shapes.AddedResults,
        "delete_entities": shapes.Done,
        "delete_observations": shapes.Done,
        "delete_relations": shapes.Done,
        "read_graph": shapes.GraphResult,
        "search_nodes": shapes.GraphResult,
        "open_nodes": shapes.GraphResult,
    }

    def created(self, made: Created) -> Reply:
        items = list(map(entity, made.records))
        return self._reply(items, shapes.EntitiesResult(items), notes=made.notes)

    def related(self, made: Related) -> Reply:
        items = list(map(link, made.made))
        return self._reply(items, shapes.LinksResult(items))

    def added(self, given: list[shapes.Observed], done: list[Added]) -> Reply:
        items = [shapes.AddedObservations(one.name, list(one.texts)) for one in done]
        return self._reply(items, shapes.AddedResults(items))

    def _done(self, what: str) -> Reply:
        message = f"{what} deleted successfully"
        return self._reply(None, shapes.Done(True, message), text=message)

    def entities_deleted(self, gone: Deleted) -> Reply:
        return self._done("Entities")

    def observations_deleted(self, given: list[shapes.Unobserved], count: int) -> Reply:
        return self._done("Observations")

    def relations_deleted(self, gone: list[Relation]) -> Reply:
        return self._done("Relations")

    def found(self, found: Graph) -> Reply:
        return self.graph(found)

    def opened(self, found: Graph, missing: list[str]) -> Reply:
        return self.graph(found)


BEHAVIOURS: dict[str, Behaviour] = {one.name: one for one in (Simple(), Strict(), Bilingual(), Official())}
"""The dialects by name."""
