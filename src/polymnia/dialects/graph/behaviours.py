"""The four graph dialects: the shapes of the wire, the rules of each dialect as data, and what its tools answer."""

# ruff: noqa: N815 - the wire's spelling
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar

from msgspec import Struct, defstruct, field

from polymnia.dialects.notes import worded
from polymnia.dialects.shapes import about
from polymnia.engine.graph import STRICT, Added, Created, Policy, Related
from polymnia.models import Graph, Note, Record, Relation
from polymnia.operation import Reply


class Entity(Struct, frozen=True, gc=False):
    """An entity of the graph."""

    name: Annotated[str, about("The entity's name. It identifies the entity within the project.")]
    entityType: Annotated[str, about("What kind of thing it is, for example person, decision or component.")]
    observations: Annotated[list[str], about("What is known about it: short statements, one fact each.")]


class Link(Struct, frozen=True, gc=False):
    """A directed relation between two entities of the graph."""

    from_: Annotated[str, about("The name of the entity the relation starts at.")] = field(name="from")
    to: Annotated[str, about("The name of the entity the relation leads to.")]
    relationType: Annotated[str, about("What the first is to the second, in active voice: uses, works_for, part-of.")]

    @property
    def ends(self) -> tuple[str, str, str]:
        """The relation as (source, target, type)."""
        return (self.from_, self.to, self.relationType)


class Observed(Struct, frozen=True):
    """New observations for one entity."""

    entityName: Annotated[str, about("The entity to add to.")]
    contents: Annotated[list[str], about("The statements to append, one fact each.")]


class Unobserved(Struct, frozen=True):
    """Observations to take from one entity."""

    entityName: Annotated[str, about("The entity to take from.")]
    observations: Annotated[list[str], about("The statements to remove, word for word.")]


Success = Annotated[bool, about("Always true: what fails is answered as an error.")]
Next = Annotated[str, about("Present when there is more: pass it as cursor to go on.")]


class GraphResult(Struct, frozen=True, omit_defaults=True):
    """Entities and the relations between them."""

    entities: Annotated[list[Entity], about("The entities.")]
    relations: Annotated[list[Link], about("The relations between them.")]
    nextCursor: Next | None = None


class Node(Struct, frozen=True):
    """An entity together with the relations it takes part in."""

    name: Annotated[str, about("The entity's name.")]
    entityType: Annotated[str, about("What kind of thing it is.")]
    observations: Annotated[list[str], about("What is known about it, one fact each.")]
    relations: Annotated[list[Link], about("The relations it takes part in, in both directions.")]


class Nodes(Struct, frozen=True, omit_defaults=True):
    """The entities found, best first, each with its relations."""

    nodes: Annotated[list[Node], about("The entities found, best first.")]
    nextCursor: Next | None = None


class OpenedNodes(Struct, frozen=True, omit_defaults=True):
    """The entities, each with its relations, and the names that no entity has."""

    nodes: Annotated[list[Node], about("The entities that exist, each with its relations.")]
    notFound: Annotated[list[str], about("The names that no entity has.")]
    nextCursor: Next | None = None


class CreatedId(Struct, frozen=True):
    """The id an entity was given."""

    id: Annotated[str, about("The id it was given.")]
    name: Annotated[str, about("Its name.")]


class CreatedIds(Struct, frozen=True):
    """The ids of the new entities."""

    success: Success
    ids: Annotated[list[str], about("The ids of the new entities, in the order of the call.")]
    entities: Annotated[list[CreatedId], about("The new entities, each with its id and name.")]


class RelationIds(Struct, frozen=True):
    """An id for each relation of the call."""

    success: Success
    ids: Annotated[
        list[str], about("An id for each relation of the call, in order; one that was there before keeps its id.")
    ]


class AddedCount(Struct, frozen=True):
    """How many observations were added."""

    success: Success
    added: Annotated[int, about("How many observations were added; those known before do not count.")]


class DeletedCount(Struct, frozen=True):
    """How many were deleted."""

    success: Success
    deleted: Annotated[int, about("How many were deleted; what did not exist does not count.")]


class Nothing(Struct, frozen=True):
    """An empty object: it is done (bilingual)."""


class ListedEntities(Struct, frozen=True, omit_defaults=True):
    """A bare array of entities, as structured content."""

    result: Annotated[list[Entity], about("The entities.")]
    nextCursor: Next | None = None


class AddedObservations(Struct, frozen=True):
    """What add_observations of official added to one entity."""

    entityName: Annotated[str, about("The entity.")]
    addedObservations: Annotated[list[str], about("The observations that are new.")]


class Done(Struct, frozen=True):
    """The deletes of official."""

    success: Success
    message: Annotated[str, about("What was done, as a sentence.")]


def _of_one(name: str, field: str, kind: Any, text: str) -> type[Struct]:
    """The structured content of an answer that is an array: an object with one field."""
    return defstruct(name, [(field, Annotated[kind, about(text)])], frozen=True)


ListedLinks = _of_one("ListedLinks", "result", list[Link], "The relations.")
ListedObserved = _of_one("ListedObserved", "result", list[Observed], "The observations of the call.")
ListedUnobserved = _of_one("ListedUnobserved", "result", list[Unobserved], "The deletions of the call.")
NewEntities = _of_one("NewEntities", "entities", list[Entity], "The entities that are new.")
NewLinks = _of_one("NewLinks", "relations", list[Link], "The relations that are new.")
NewObservations = _of_one("NewObservations", "results", list[AddedObservations], "What was added, entity by entity.")


def entity(record: Record) -> Entity:
    """A record as an entity of the graph."""
    return Entity(record.name, record.kind, list(record.observations))


def link(relation: Relation) -> Link:
    """A relation as the wire has it."""
    return Link(relation.source, relation.target, relation.type)


_TOOLS = (
    "create_entities create_relations add_observations delete_entities delete_observations delete_relations read_graph "
    "search_nodes open_nodes"
)
TOOLS = tuple(_TOOLS.split())


class Behaviour:
    """A dialect: its policy, and what each tool answers.

    ``outputs`` has the type of the structured content of each of the ``TOOLS``, ``linked`` says whether answers to
    searches have relations, ``indent`` how JSON is indented. Answers are arrays here; a dialect with other shapes
    overrides them.
    """

    name: ClassVar[str]
    policy: ClassVar[Policy]
    indent: ClassVar[int] = 0
    linked: ClassVar[bool] = False
    outputs: ClassVar[tuple[type, ...]] = (
        ListedEntities,
        ListedLinks,
        ListedObserved,
        ListedEntities,
        ListedUnobserved,
        ListedLinks,
        GraphResult,
        ListedEntities,
        ListedEntities,
    )

    def _reply(self, value: object, structured: object = None, *, notes: Sequence[Note] = (), **more: Any) -> Reply:
        shown = value if structured is None else structured
        return Reply(value=value, structured=shown, indent=self.indent, notes=tuple(notes), **more)

    def graph(self, found: Graph) -> Reply:
        """What read_graph answers: entities and relations."""
        value = GraphResult(list(map(entity, found.records)), list(map(link, found.relations)), found.next)
        return self._reply(value, next=found.next)

    def created(self, made: Created) -> Reply:
        """What create_entities answers."""
        return self._entities(made.records, notes=made.notes)

    def related(self, made: Related) -> Reply:
        """What create_relations answers."""
        return self._links(made.made)

    def added(self, given: list[Observed], done: list[Added]) -> Reply:
        """What add_observations answers."""
        there = {one.name for one in done}
        missing = dict.fromkeys(one.entityName for one in given if one.entityName not in there)
        text = f"Nothing was added to {', '.join(map(repr, missing))}: no entity has that name."
        return self._reply(given, ListedObserved(given), notes=[Note("ignored", text)] if missing else ())

    def deleted(self, what: str, count: int) -> Reply | None:
        """What deleting so many of something answers; None where the answer is what was deleted."""
        return None

    def entities_deleted(self, records: Sequence[Record]) -> Reply:
        """What delete_entities answers."""
        return self.deleted("Entities", len(records)) or self._entities(records)

    def observations_deleted(self, given: list[Unobserved], count: int) -> Reply:
        """What delete_observations answers."""
        requested = sum(len(one.observations) for one in given)
        notes = [Note("not_all_there", f"{count} observations were removed.")] if count < requested else []
        return self.deleted("Observations", count) or self._reply(given, ListedUnobserved(given), notes=notes)

    def relations_deleted(self, gone: Sequence[Relation]) -> Reply:
        """What delete_relations answers."""
        return self.deleted("Relations", len(gone)) or self._links(gone)

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
        return self._reply(items, ListedEntities(items, next), next=next, notes=notes)

    def _links(self, relations: Iterable[Relation]) -> Reply:
        items = list(map(link, relations))
        return self._reply(items, ListedLinks(items))


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
    outputs = (CreatedIds, RelationIds, AddedCount, *(DeletedCount,) * 3, GraphResult, Nodes, OpenedNodes)

    def created(self, made: Created) -> Reply:
        ids = [CreatedId(record.uid, record.name) for record in made.records]
        return self._reply(CreatedIds(True, [one.id for one in ids], ids), notes=made.notes)

    def related(self, made: Related) -> Reply:
        return self._reply(RelationIds(True, [relation.uid for relation in made.all]))

    def added(self, given: list[Observed], done: list[Added]) -> Reply:
        return self._reply(AddedCount(True, sum(len(one.texts) for one in done)))

    def deleted(self, what: str, count: int) -> Reply:
        return self._reply(DeletedCount(True, count))

    def found(self, found: Graph) -> Reply:
        return self._reply(Nodes(_nodes(found), found.next), next=found.next, notes=list(map(worded, found.notes)))

    def opened(self, found: Graph, missing: list[str]) -> Reply:
        value = OpenedNodes(_nodes(found), missing, found.next)
        return self._reply(value, next=found.next, notes=list(map(worded, found.notes)))


def _nodes(found: Graph) -> list[Node]:
    """Each entity with the relations that start or end at it."""
    links: dict[str, list[Link]] = {record.name: [] for record in found.records}
    for relation in found.relations:
        for name in {relation.source, relation.target} & links.keys():
            links[name].append(link(relation))
    return [Node(one.name, one.kind, list(one.observations), links[one.name]) for one in found.records]


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
    outputs = (*Behaviour.outputs[:2], *(Nothing,) * 4, *Behaviour.outputs[6:])

    def added(self, given: list[Observed], done: list[Added]) -> Reply:
        return self._reply(Nothing())

    def deleted(self, what: str, count: int) -> Reply:
        return self._reply(Nothing())


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
    outputs = (NewEntities, NewLinks, NewObservations, *(Done,) * 3, *(GraphResult,) * 3)

    def created(self, made: Created) -> Reply:
        items = list(map(entity, made.records))
        return self._reply(items, NewEntities(items), notes=made.notes)

    def related(self, made: Related) -> Reply:
        items = list(map(link, made.made))
        return self._reply(items, NewLinks(items))

    def added(self, given: list[Observed], done: list[Added]) -> Reply:
        items = [AddedObservations(one.name, list(one.texts)) for one in done]
        return self._reply(items, NewObservations(items))

    def deleted(self, what: str, count: int) -> Reply:
        message = f"{what} deleted successfully"
        return self._reply(None, Done(True, message), text=message)

    def found(self, found: Graph) -> Reply:
        return self.graph(found)

    def opened(self, found: Graph, missing: list[str]) -> Reply:
        return self.graph(found)


BEHAVIOURS: dict[str, Behaviour] = {one.name: one for one in (Simple(), Strict(), Bilingual(), Official())}
"""The dialects by name."""
