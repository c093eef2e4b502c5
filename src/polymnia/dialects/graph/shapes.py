"""The shapes of the nine tools: what they take and what they answer."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct, field

from polymnia.engine.paging import MOST
from polymnia.models import Record, Relation

__all__ = [
    "AddObservations",
    "AddedCount",
    "AddedObservations",
    "AddedResults",
    "CreateEntities",
    "CreateRelations",
    "CreatedId",
    "CreatedIds",
    "DeleteEntities",
    "DeleteObservations",
    "DeleteRelations",
    "DeletedCount",
    "Done",
    "EntitiesResult",
    "Entity",
    "GraphResult",
    "Link",
    "ListedEntities",
    "ListedLinks",
    "ListedObserved",
    "ListedUnobserved",
    "LinksResult",
    "Node",
    "Nodes",
    "Nothing",
    "Observed",
    "OpenNodes",
    "OpenedNodes",
    "ReadGraph",
    "RelationIds",
    "SearchNodes",
    "Unobserved",
    "entity",
    "link",
]

# ── what the tools take ──────────────────────────────────────────────────────────────────────────────────


class Entity(Struct, frozen=True, gc=False):
    """An entity of the graph."""

    name: Annotated[str, Meta(description="The entity's name. It identifies the entity within the project.")]
    entityType: Annotated[  # noqa: N815 - the wire's spelling
        str, Meta(description="What kind of thing it is, for example person, decision or component.")
    ]
    observations: Annotated[list[str], Meta(description="What is known about it: short statements, one fact each.")]


class Link(Struct, frozen=True, gc=False):
    """A directed relation between two entities of the graph."""

    from_: Annotated[str, Meta(description="The name of the entity the relation starts at.")] = field(name="from")
    to: Annotated[str, Meta(description="The name of the entity the relation leads to.")]
    relationType: Annotated[  # noqa: N815 - the wire's spelling
        str, Meta(description="What the first is to the second, in active voice: uses, works_for, part-of.")
    ]

    @property
    def ends(self) -> tuple[str, str, str]:
        """The relation as (source, target, type)."""
        return (self.from_, self.to, self.relationType)


class Observed(Struct, frozen=True):
    """New observations for one entity."""

    entityName: Annotated[str, Meta(description="The entity to add to.")]  # noqa: N815 - the wire's spelling
    contents: Annotated[list[str], Meta(description="The statements to append, one fact each.")]


class Unobserved(Struct, frozen=True):
    """Observations to take from one entity."""

    entityName: Annotated[str, Meta(description="The entity to take from.")]  # noqa: N815 - the wire's spelling
    observations: Annotated[list[str], Meta(description="The statements to remove, word for word.")]


class CreateEntities(Struct, frozen=True):
    """Parameters of create_entities."""

    entities: Annotated[list[Entity], Meta(description="The entities to store, all or none.")]


class CreateRelations(Struct, frozen=True):
    """Parameters of create_relations."""

    relations: Annotated[list[Link], Meta(description="The relations to store, all or none.")]


class AddObservations(Struct, frozen=True):
    """Parameters of add_observations."""

    observations: Annotated[list[Observed], Meta(description="What to add, entity by entity, all or none.")]


class DeleteEntities(Struct, frozen=True):
    """Parameters of delete_entities."""

    entityNames: Annotated[  # noqa: N815 - the wire's spelling
        list[str], Meta(description="Names of the entities to delete; their relations go with them.")
    ]


class DeleteObservations(Struct, frozen=True):
    """Parameters of delete_observations."""

    deletions: Annotated[list[Unobserved], Meta(description="What to remove, entity by entity.")]


class DeleteRelations(Struct, frozen=True):
    """Parameters of delete_relations."""

    relations: Annotated[list[Link], Meta(description="The relations to delete; all three parts must match exactly.")]


Limit = Annotated[int, Meta(ge=1, le=MOST, description="Answer at most this many entities (default: all).")]
Cursor = Annotated[str, Meta(description="Where to go on: nextCursor of the page before.")]


class ReadGraph(Struct, frozen=True):
    """Parameters of read_graph."""

    limit: Limit | None = None
    cursor: Cursor | None = None


class SearchNodes(Struct, frozen=True):
    """Parameters of search_nodes."""

    query: Annotated[str, Meta(description="What to look for in names, types and observations.")]
    limit: Limit | None = None
    cursor: Cursor | None = None


class OpenNodes(Struct, frozen=True):
    """Parameters of open_nodes."""

    names: Annotated[list[str], Meta(description="Names of the entities to open, exactly as they were given.")]
    limit: Limit | None = None
    cursor: Cursor | None = None


# ── what the tools answer ────────────────────────────────────────────────────────────────────────────────

Success = Annotated[bool, Meta(description="Always true: what fails is answered as an error.")]
Next = Annotated[str, Meta(description="Present when there is more: pass it as cursor to go on.")]


class GraphResult(Struct, frozen=True, omit_defaults=True):
    """Entities and the relations between them."""

    entities: Annotated[list[Entity], Meta(description="The entities.")]
    relations: Annotated[list[Link], Meta(description="The relations between them.")]
    nextCursor: Next | None = None  # noqa: N815 - the wire's spelling


class Node(Struct, frozen=True):
    """An entity together with the relations it takes part in."""

    name: Annotated[str, Meta(description="The entity's name.")]
    entityType: Annotated[str, Meta(description="What kind of thing it is.")]  # noqa: N815 - the wire's spelling
    observations: Annotated[list[str], Meta(description="What is known about it, one fact each.")]
    relations: Annotated[list[Link], Meta(description="The relations it takes part in, in both directions.")]


class Nodes(Struct, frozen=True, omit_defaults=True):
    """The entities found, best first, each with its relations."""

    nodes: Annotated[list[Node], Meta(description="The entities found, best first.")]
    nextCursor: Next | None = None  # noqa: N815 - the wire's spelling


class OpenedNodes(Struct, frozen=True, omit_defaults=True):
    """The entities, each with its relations, and the names that no entity has."""

    nodes: Annotated[list[Node], Meta(description="The entities that exist, each with its relations.")]
    notFound: Annotated[list[str], Meta(description="The names that no entity has.")]  # noqa: N815 - the wire's spelling
    nextCursor: Next | None = None  # noqa: N815 - the wire's spelling


class CreatedId(Struct, frozen=True):
    """The id an entity was given."""

    id: Annotated[str, Meta(description="The id it was given.")]
    name: Annotated[str, Meta(description="Its name.")]


class CreatedIds(Struct, frozen=True):
    """The ids of the new entities."""

    success: Success
    ids: Annotated[list[str], Meta(description="The ids of the new entities, in the order of the call.")]
    entities: Annotated[list[CreatedId], Meta(description="The new entities, each with its id and name.")]


class RelationIds(Struct, frozen=True):
    """An id for each relation of the call."""

    success: Success
    ids: Annotated[
        list[str],
        Meta(description="An id for each relation of the call, in order; one that was there before keeps its id."),
    ]


class AddedCount(Struct, frozen=True):
    """How many observations were added."""

    success: Success
    added: Annotated[int, Meta(description="How many observations were added; those known before do not count.")]


class DeletedCount(Struct, frozen=True):
    """How many were deleted."""

    success: Success
    deleted: Annotated[int, Meta(description="How many were deleted; what did not exist does not count.")]


class Nothing(Struct, frozen=True):
    """An empty object: it is done (bilingual)."""


class ListedEntities(Struct, frozen=True, omit_defaults=True):
    """A bare array of entities, as structured content."""

    result: Annotated[list[Entity], Meta(description="The entities.")]
    nextCursor: Next | None = None  # noqa: N815 - the wire's spelling


class ListedLinks(Struct, frozen=True):
    """A bare array of relations, as structured content."""

    result: Annotated[list[Link], Meta(description="The relations.")]


class ListedObserved(Struct, frozen=True):
    """The array given to add_observations, as structured content."""

    result: Annotated[list[Observed], Meta(description="The observations of the call.")]


class ListedUnobserved(Struct, frozen=True):
    """The array given to delete_observations, as structured content."""

    result: Annotated[list[Unobserved], Meta(description="The deletions of the call.")]


class EntitiesResult(Struct, frozen=True):
    """create_entities of official."""

    entities: Annotated[list[Entity], Meta(description="The entities that are new.")]


class LinksResult(Struct, frozen=True):
    """create_relations of official."""

    relations: Annotated[list[Link], Meta(description="The relations that are new.")]


class AddedObservations(Struct, frozen=True):
    """What add_observations of official added to one entity."""

    entityName: Annotated[str, Meta(description="The entity.")]  # noqa: N815 - the wire's spelling
    addedObservations: Annotated[  # noqa: N815 - the wire's spelling
        list[str], Meta(description="The observations that are new.")
    ]


class AddedResults(Struct, frozen=True):
    """add_observations of official."""

    results: Annotated[list[AddedObservations], Meta(description="What was added, entity by entity.")]


class Done(Struct, frozen=True):
    """The deletes of official."""

    success: Success
    message: Annotated[str, Meta(description="What was done, as a sentence.")]


def entity(record: Record) -> Entity:
    """A record in the dialects' words."""
    return Entity(record.name, record.kind, list(record.observations))


def link(relation: Relation) -> Link:
    """A relation in the dialects' words."""
    return Link(relation.source, relation.target, relation.type)
