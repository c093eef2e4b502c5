"""The nine graph tools, once for all four dialects: what each takes, and what it does."""

# ruff: noqa: N815 - the wire's spelling
from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Struct

from polymnia.dialects.graph.behaviours import BEHAVIOURS
from polymnia.dialects.graph.refusals import unknown_official_tool, word
from polymnia.dialects.graph.resources import PROMPTS, RESOURCES, TEMPLATES
from polymnia.dialects.graph.shapes import Entity, Link, Observed, Unobserved
from polymnia.dialects.shapes import about
from polymnia.engine.content import MOST
from polymnia.engine.graph import Policy
from polymnia.models import EntityDraft
from polymnia.operation import Context, Operation, Registry, Reply

_INSTRUCTIONS = (
    "A lasting memory shared by every client that uses this store. Search it before you answer from "
    "assumption; store what should outlive this conversation: people, decisions, preferences, components. "
    "Write one fact per observation. On a large memory pass `limit` and follow `nextCursor` rather than reading "
    "the whole graph. Nothing is lost: deletions and replacements stay in the history and can be undone."
)

Limit = Annotated[int, about("Answer at most this many entities (default: all).", ge=1, le=MOST)]
Cursor = Annotated[str, about("Where to go on: nextCursor of the page before.")]


class CreateEntitiesParameters(Struct, frozen=True):
    """Parameters of create_entities."""

    entities: Annotated[list[Entity], about("The entities to store, all or none.")]


class CreateRelationsParameters(Struct, frozen=True):
    """Parameters of create_relations."""

    relations: Annotated[list[Link], about("The relations to store, all or none.")]


class AddObservationsParameters(Struct, frozen=True):
    """Parameters of add_observations."""

    observations: Annotated[list[Observed], about("What to add, entity by entity, all or none.")]


class DeleteEntitiesParameters(Struct, frozen=True):
    """Parameters of delete_entities."""

    entityNames: Annotated[list[str], about("Names of the entities to delete; their relations go with them.")]


class DeleteObservationsParameters(Struct, frozen=True):
    """Parameters of delete_observations."""

    deletions: Annotated[list[Unobserved], about("What to remove, entity by entity.")]


class DeleteRelationsParameters(Struct, frozen=True):
    """Parameters of delete_relations."""

    relations: Annotated[list[Link], about("The relations to delete; all three parts must match exactly.")]


class ReadGraphParameters(Struct, frozen=True):
    """Parameters of read_graph."""

    limit: Limit | None = None
    cursor: Cursor | None = None


class SearchNodesParameters(Struct, frozen=True):
    """Parameters of search_nodes."""

    query: Annotated[str, about("What to look for in names, types and observations.")]
    limit: Limit | None = None
    cursor: Cursor | None = None


class OpenNodesParameters(Struct, frozen=True):
    """Parameters of open_nodes."""

    names: Annotated[list[str], about("Names of the entities to open, exactly as they were given.")]
    limit: Limit | None = None
    cursor: Cursor | None = None


def registry(name: str) -> Registry:
    """The graph dialect of that name."""
    dialect = BEHAVIOURS[name]
    policy, helps = dialect.policy, _helps(dialect.policy)

    def create_entities(context: Context, given: CreateEntitiesParameters) -> Reply:
        drafts = [EntityDraft(e.name, e.entityType, tuple(e.observations)) for e in given.entities]
        return dialect.created(context.memory.create_entities(drafts, step=context.step))

    def create_relations(context: Context, given: CreateRelationsParameters) -> Reply:
        ends = [relation.ends for relation in given.relations]
        return dialect.related(context.memory.create_relations(ends, step=context.step))

    def add_observations(context: Context, given: AddObservationsParameters) -> Reply:
        items = [(one.entityName, one.contents) for one in given.observations]
        return dialect.added(given.observations, context.memory.add_observations(items, step=context.step))

    def delete_entities(context: Context, given: DeleteEntitiesParameters) -> Reply:
        return dialect.entities_deleted(context.memory.delete_entities(given.entityNames, step=context.step))

    def delete_observations(context: Context, given: DeleteObservationsParameters) -> Reply:
        items = [(one.entityName, one.observations) for one in given.deletions]
        count = context.memory.delete_observations(items, step=context.step)
        return dialect.observations_deleted(given.deletions, count)

    def delete_relations(context: Context, given: DeleteRelationsParameters) -> Reply:
        ends = [relation.ends for relation in given.relations]
        return dialect.relations_deleted(context.memory.delete_relations(ends, step=context.step))

    def read_graph(context: Context, given: ReadGraphParameters) -> Reply:
        return dialect.graph(context.memory.read_graph(limit=given.limit, cursor=given.cursor))

    def search_nodes(context: Context, given: SearchNodesParameters) -> Reply:
        return dialect.found(
            context.memory.search_nodes(given.query, limit=given.limit, cursor=given.cursor, relations=dialect.linked)
        )

    def open_nodes(context: Context, given: OpenNodesParameters) -> Reply:
        return dialect.opened(
            *context.memory.open_nodes(given.names, limit=given.limit, cursor=given.cursor, relations=dialect.linked)
        )

    def tool(params: type, run: Callable[[Context, Any], Reply], **hints: Any) -> Operation:
        name = run.__name__
        return Operation(
            name=name,
            title=name.replace("_", " ").title(),
            params=params,
            run=run,
            help=helps[name],
            output=dialect.outputs[name],
            exact=policy.empty_name == "refuse",
            **hints,
        )

    replaces = policy.taken_name == "replace"
    tools = (
        tool(CreateEntitiesParameters, create_entities, destroys=replaces, idempotent=replaces),
        tool(CreateRelationsParameters, create_relations, idempotent=policy.repeated_relation == "once"),
        tool(AddObservationsParameters, add_observations, idempotent=policy.repeated_observation == "once"),
        tool(DeleteEntitiesParameters, delete_entities, destroys=True, idempotent=True),
        tool(DeleteObservationsParameters, delete_observations, destroys=True, idempotent=True),
        tool(DeleteRelationsParameters, delete_relations, destroys=True, idempotent=True),
        tool(ReadGraphParameters, read_graph, reads=True, idempotent=True),
        tool(SearchNodesParameters, search_nodes, reads=True, idempotent=True),
        tool(OpenNodesParameters, open_nodes, reads=True, idempotent=True),
    )
    return Registry(
        name=name,
        instructions=_INSTRUCTIONS,
        operations={one.name: one for one in tools},
        word=word(name),
        unknown=unknown_official_tool if name == "official" else None,
        resources=RESOURCES,
        templates=TEMPLATES,
        prompts=PROMPTS,
    )


def _helps(policy: Policy) -> dict[str, str]:
    """What each tool does, under the policy of a dialect."""
    taken = {
        "replace": "An entity whose name exists is replaced; its earlier version stays in the history.",
        "refuse": "Names must be new: if one is taken, nothing is stored.",
        "keep": "Names that exist are left as they are and out of the answer.",
    }[policy.taken_name]
    ends = {
        "refuse": "Both entities must exist; otherwise nothing is stored.",
        "keep": "The entities need not exist yet: a relation connects as soon as they do.",
    }[policy.missing_end]
    absent = {
        "refuse": "Every entity must exist; otherwise nothing is added.",
        "ignore": "Entities that do not exist are passed over.",
    }[policy.observing_missing]
    search = (
        "Look for entities by words and by meaning, in any language; a question in plain words is fine. Best "
        "matches first: those that contain the query as it stands, then those that share its words or its meaning."
        if policy.search == "ranked"
        else "Look for entities by words. Finds the query anywhere in names, types and observations, whatever the case."
    )
    opening = {
        "refuse": "If one of the names does not exist, the call is refused.",
        "omit": "Names that do not exist are left out.",
    }[policy.opening_missing]
    return {
        "create_entities": f"Remember new entities, each with a name, a type and observations about it. {taken}",
        "create_relations": f"Link entities by directed, typed relations. Word the type in active voice. {ends}",
        "add_observations": f"Add facts to entities that are already known. {absent}",
        "delete_entities": "Forget entities together with every relation they take part in. The history keeps them: "
        "`polymnia undo` brings all of it back.",
        "delete_observations": "Take observations from entities, matched word for word; the entities stay.",
        "delete_relations": "Remove relations that match in all three parts; the entities stay.",
        "read_graph": "Read everything there is. On a large memory, prefer search_nodes, or page with limit and "
        "cursor.",
        "search_nodes": search,
        "open_nodes": f"Read entities whose exact names are known. {opening}",
    }
