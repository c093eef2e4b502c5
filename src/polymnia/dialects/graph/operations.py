"""The nine graph tools, once for all four dialects."""

from __future__ import annotations

from msgspec.structs import replace

from polymnia.dialects.graph import shapes
from polymnia.dialects.graph.answers import answers
from polymnia.dialects.graph.behaviours import BEHAVIOURS
from polymnia.dialects.graph.prompts import PROMPTS
from polymnia.dialects.graph.resources import RESOURCES, TEMPLATES
from polymnia.dialects.graph.wording import unknown_official_tool, word
from polymnia.models import EntityDraft
from polymnia.operation import Context, Operation, Registry, Reply

__all__ = ["registry"]

_INSTRUCTIONS = (
    "A lasting memory shared by every client that uses this store. Search it before you answer from "
    "assumption; store what should outlive this conversation: people, decisions, preferences, components. "
    "Write one fact per observation. On a large memory pass `limit` and follow `nextCursor` rather than reading "
    "the whole graph. Nothing is lost: deletions and replacements stay in the history and can be undone."
)


def registry(name: str) -> Registry:
    """The graph dialect of that name."""
    behaviour = BEHAVIOURS[name]
    policy = behaviour.policy
    shape = answers(behaviour)

    def create_entities(context: Context, given: shapes.CreateEntities) -> Reply:
        drafts = [EntityDraft(e.name, e.entityType, tuple(e.observations)) for e in given.entities]
        return shape.created(context.memory.create_entities(drafts, step=context.step))

    def create_relations(context: Context, given: shapes.CreateRelations) -> Reply:
        ends = [relation.ends for relation in given.relations]
        return shape.related(context.memory.create_relations(ends, step=context.step))

    def add_observations(context: Context, given: shapes.AddObservations) -> Reply:
        items = [(one.entityName, one.contents) for one in given.observations]
        done = context.memory.add_observations(items, step=context.step)
        return shape.added(given.observations, done)

    def delete_entities(context: Context, given: shapes.DeleteEntities) -> Reply:
        return shape.entities_deleted(context.memory.delete_entities(given.entityNames, step=context.step))

    def delete_observations(context: Context, given: shapes.DeleteObservations) -> Reply:
        items = [(one.entityName, one.observations) for one in given.deletions]
        return shape.observations_deleted(given.deletions, context.memory.delete_observations(items, step=context.step))

    def delete_relations(context: Context, given: shapes.DeleteRelations) -> Reply:
        ends = [relation.ends for relation in given.relations]
        return shape.relations_deleted(context.memory.delete_relations(ends, step=context.step))

    def read_graph(context: Context, given: shapes.ReadGraph) -> Reply:
        return shape.graph(context.memory.read_graph(limit=given.limit, cursor=given.cursor))

    linked = name in ("strict", "official")

    def search_nodes(context: Context, given: shapes.SearchNodes) -> Reply:
        found = context.memory.search_nodes(given.query, limit=given.limit, cursor=given.cursor, relations=linked)
        return shape.found(found)

    def open_nodes(context: Context, given: shapes.OpenNodes) -> Reply:
        found, missing = context.memory.open_nodes(
            given.names, limit=given.limit, cursor=given.cursor, relations=linked
        )
        return shape.opened(found, missing)

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
    how = {
        "ranked": "Look for entities by words and by meaning, in any language; a question in plain words is fine. Best "
        "matches first: those that contain the query as it stands, then those that share its words or its meaning.",
        "substring": "Look for entities by words. Finds the query anywhere in names, types and observations, whatever "
        "the case.",
        "lower": "Look for entities by words. Finds the query anywhere in names, types and observations, whatever "
        "the case.",
    }[policy.search]
    opening = {
        "refuse": "If one of the names does not exist, the call is refused.",
        "omit": "Names that do not exist are left out.",
    }[policy.opening_missing]
    repeat = policy.taken_name == "replace"
    tools = (
        Operation(
            name="create_entities", title="Create Entities", params=shapes.CreateEntities, run=create_entities,
            help=f"Remember new entities, each with a name, a type and observations about it. {taken}",
            output=shape.outputs["create_entities"], destroys=repeat, idempotent=repeat,
        ),
        Operation(
            name="create_relations", title="Create Relations", params=shapes.CreateRelations, run=create_relations,
            help=f"Link entities by directed, typed relations. Word the type in active voice. {ends}",
            output=shape.outputs["create_relations"], idempotent=policy.repeated_relation == "once",
        ),
        Operation(
            name="add_observations", title="Add Observations", params=shapes.AddObservations, run=add_observations,
            help=f"Add facts to entities that are already known. {absent}",
            output=shape.outputs["add_observations"], idempotent=policy.repeated_observation == "once",
        ),
        Operation(
            name="delete_entities", title="Delete Entities", params=shapes.DeleteEntities, run=delete_entities,
            help="Forget entities together with every relation they take part in. The history keeps them: "
            "`polymnia undo` brings all of it back.",
            output=shape.outputs["delete_entities"], destroys=True, idempotent=True,
        ),
        Operation(
            name="delete_observations", title="Delete Observations", params=shapes.DeleteObservations,
            run=delete_observations,
            help="Take observations from entities, matched word for word; the entities stay.",
            output=shape.outputs["delete_observations"], destroys=True, idempotent=True,
        ),
        Operation(
            name="delete_relations", title="Delete Relations", params=shapes.DeleteRelations, run=delete_relations,
            help="Remove relations that match in all three parts; the entities stay.",
            output=shape.outputs["delete_relations"], destroys=True, idempotent=True,
        ),
        Operation(
            name="read_graph", title="Read Graph", params=shapes.ReadGraph, run=read_graph,
            help="Read everything there is. On a large memory, prefer search_nodes, or page with limit and cursor.",
            output=shape.outputs["read_graph"], reads=True, idempotent=True,
        ),
        Operation(
            name="search_nodes", title="Search Nodes", params=shapes.SearchNodes, run=search_nodes,
            help=how,
            output=shape.outputs["search_nodes"], reads=True, idempotent=True,
        ),
        Operation(
            name="open_nodes", title="Open Nodes", params=shapes.OpenNodes, run=open_nodes,
            help=f"Read entities whose exact names are known. {opening}",
            output=shape.outputs["open_nodes"], reads=True, idempotent=True,
        ),
    )  # fmt: skip
    return Registry(
        name=name,
        instructions=_INSTRUCTIONS,
        operations={tool.name: replace(tool, exact=policy.empty_name == "refuse") for tool in tools},
        word=word(name),
        unknown=unknown_official_tool if name == "official" else None,
        resources=RESOURCES,
        templates=TEMPLATES,
        prompts=PROMPTS,
    )
