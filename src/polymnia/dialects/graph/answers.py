"""What the nine tools answer, dialect by dialect."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from polymnia.dialects.graph import shapes
from polymnia.dialects.graph.behaviours import Behaviour
from polymnia.dialects.graph.shapes import entity, link
from polymnia.engine.graph import Added, Created, Deleted, Related
from polymnia.models import Graph, Note, Record, Relation
from polymnia.operation import Reply

__all__ = ["Answers", "Bilingual", "Official", "Simple", "Strict", "answers"]


class Answers(ABC):
    """The shapes one dialect answers with. ``outputs`` says which type each tool's structured content has."""

    outputs: ClassVar[dict[str, type]]

    def __init__(self, behaviour: Behaviour) -> None:
        self._indent = behaviour.indent

    def _reply(self, value: Any, structured: Any = None, *, notes: Iterable[Note] = (), **more: Any) -> Reply:
        return Reply(
            value=value,
            structured=value if structured is None else structured,
            indent=self._indent,
            notes=tuple(notes),
            **more,
        )

    def _array(self, items: list[Any], shape: type, next: str | None = None, notes: Iterable[Note] = ()) -> Reply:
        """A bare array; an object around it where only objects may travel."""
        structured = shape(items) if next is None else shape(items, next)
        if next is not None:
            # The array has no room for it: it stands in the structured content and in the notes.
            notes = [*notes, Note("more", f"There is more: pass cursor {next} to go on.")]
        return self._reply(items, structured, next=next, notes=notes)

    def graph(self, found: Graph) -> Reply:
        """Entities and relations."""
        value = shapes.GraphResult(
            [entity(record) for record in found.records], [link(r) for r in found.relations], found.next
        )
        return self._reply(value, next=found.next)

    @abstractmethod
    def created(self, made: Created) -> Reply:
        """What create_entities answers."""

    @abstractmethod
    def related(self, made: Related) -> Reply:
        """What create_relations answers."""

    @abstractmethod
    def added(self, given: list[shapes.Observed], done: list[Added]) -> Reply:
        """What add_observations answers."""

    @abstractmethod
    def entities_deleted(self, gone: Deleted) -> Reply:
        """What delete_entities answers."""

    @abstractmethod
    def observations_deleted(self, given: list[shapes.Unobserved], count: int) -> Reply:
        """What delete_observations answers."""

    @abstractmethod
    def relations_deleted(self, gone: list[Relation]) -> Reply:
        """What delete_relations answers."""

    @abstractmethod
    def found(self, found: Graph) -> Reply:
        """What search_nodes answers."""

    @abstractmethod
    def opened(self, found: Graph, missing: list[str]) -> Reply:
        """What open_nodes answers."""


class Simple(Answers):
    """Arrays of what was stored, found or deleted; the input where the seed gives the input back."""

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

    def created(self, made: Created) -> Reply:
        return self._array([entity(r) for r in made.records], shapes.ListedEntities, notes=made.notes)

    def related(self, made: Related) -> Reply:
        return self._array([link(r) for r in made.made], shapes.ListedLinks)

    def added(self, given: list[shapes.Observed], done: list[Added]) -> Reply:
        there = {one.name for one in done}
        missing = list(dict.fromkeys(one.entityName for one in given if one.entityName not in there))
        return self._array(given, shapes.ListedObserved, notes=_ignored(missing))

    def entities_deleted(self, gone: Deleted) -> Reply:
        return self._array([entity(r) for r in gone.records], shapes.ListedEntities)

    def observations_deleted(self, given: list[shapes.Unobserved], count: int) -> Reply:
        asked = sum(len(one.observations) for one in given)
        notes = [Note("not_all_there", f"{count} observations were removed.")] if count < asked else []
        return self._array(given, shapes.ListedUnobserved, notes=notes)

    def relations_deleted(self, gone: list[Relation]) -> Reply:
        return self._array([link(r) for r in gone], shapes.ListedLinks)

    def found(self, found: Graph) -> Reply:
        return self._array([entity(r) for r in found.records], shapes.ListedEntities, found.next)

    def opened(self, found: Graph, missing: list[str]) -> Reply:
        return self.found(found)


def _ignored(missing: list[str]) -> list[Note]:
    if not missing:
        return []
    names = ", ".join(map(repr, missing))
    return [Note("ignored", f"Nothing was added to {names}: no entity has that name.")]


class Strict(Answers):
    """Objects that say what happened in ids and counts."""

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
        ids = [record.uid for record in made.records]
        named = [shapes.CreatedId(record.uid, record.name) for record in made.records]
        return self._reply(shapes.CreatedIds(True, ids, named), notes=made.notes)

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
    taking_part: dict[str, list[shapes.Link]] = {record.name: [] for record in found.records}
    for relation in found.relations:
        for name in {relation.source, relation.target}:
            if name in taking_part:
                taking_part[name].append(link(relation))
    return [_node(record, taking_part[record.name]) for record in found.records]


def _node(record: Record, links: list[shapes.Link]) -> shapes.Node:
    return shapes.Node(record.name, record.kind, list(record.observations), links)


class Bilingual(Simple):
    """As simple, but additions and deletions answer an empty object."""

    outputs: ClassVar[dict[str, type]] = {
        **Simple.outputs,
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


class Official(Answers):
    """To the letter what the npm release answers."""

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
        items = [entity(record) for record in made.records]
        return self._reply(items, shapes.EntitiesResult(items), notes=made.notes)

    def related(self, made: Related) -> Reply:
        items = [link(relation) for relation in made.made]
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


def answers(behaviour: Behaviour) -> Answers:
    """The answers of a dialect."""
    speakers: dict[str, Callable[[Behaviour], Answers]] = {
        "simple": Simple,
        "strict": Strict,
        "bilingual": Bilingual,
        "official": Official,
    }
    return speakers[behaviour.name](behaviour)
