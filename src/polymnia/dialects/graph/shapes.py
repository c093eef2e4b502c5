"""The shapes of entities and relations: what the nine tools take and answer, in the spelling of the wire."""

# ruff: noqa: N815 - the wire's spelling
from __future__ import annotations

from typing import Annotated

from msgspec import Struct, field

from polymnia.dialects.shapes import about


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


class ListedLinks(Struct, frozen=True):
    """A bare array of relations, as structured content."""

    result: Annotated[list[Link], about("The relations.")]


class ListedObserved(Struct, frozen=True):
    """The array given to add_observations, as structured content."""

    result: Annotated[list[Observed], about("The observations of the call.")]


class ListedUnobserved(Struct, frozen=True):
    """The array given to delete_observations, as structured content."""

    result: Annotated[list[Unobserved], about("The deletions of the call.")]


class EntitiesResult(Struct, frozen=True):
    """create_entities of official."""

    entities: Annotated[list[Entity], about("The entities that are new.")]


class LinksResult(Struct, frozen=True):
    """create_relations of official."""

    relations: Annotated[list[Link], about("The relations that are new.")]


class AddedObservations(Struct, frozen=True):
    """What add_observations of official added to one entity."""

    entityName: Annotated[str, about("The entity.")]
    addedObservations: Annotated[list[str], about("The observations that are new.")]


class AddedResults(Struct, frozen=True):
    """add_observations of official."""

    results: Annotated[list[AddedObservations], about("What was added, entity by entity.")]


class Done(Struct, frozen=True):
    """The deletes of official."""

    success: Success
    message: Annotated[str, about("What was done, as a sentence.")]
