"""The graph dialects: nine tools, once for all four of them; what each takes, and what it does."""

# ruff: noqa: N803 - the wire's spelling
from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Struct
from msgspec.structs import asdict

from polymnia.dialects.budget import FIELDS, cut_short, paged
from polymnia.dialects.graph.behaviours import BEHAVIOURS, TOOLS, Entity, Link, Observed, Unobserved
from polymnia.dialects.graph.refusals import unknown_official_tool, word
from polymnia.dialects.graph.resources import PROMPTS, RESOURCES, TEMPLATES
from polymnia.dialects.shapes import about, parameters
from polymnia.engine.content import MOST
from polymnia.engine.graph import Policy
from polymnia.models import EntityDraft
from polymnia.operation import Context, Operation, Registry, Reply

_INSTRUCTIONS = (
    "A lasting memory shared by every client that uses this store. Search it before you answer from "
    "assumption; store what should outlive this conversation: people, decisions, preferences, components. "
    "Write one fact per observation. On a large memory pass `limit` and follow `nextCursor` rather than reading "
    "the whole graph. Deletions and replacements stay in the history, from which the user can bring them back."
)

_SMALLEST = 8  # tokens of the smallest entity

Limit = Annotated[int, about("Answer at most this many entities (default: all).", ge=1, le=MOST)]
DeletedNames = Annotated[list[str], about("Names of the entities to delete; their relations go with them.")]
DeletedRelations = Annotated[list[Link], about("The relations to delete; all three parts must match exactly.")]
Cursor = Annotated[str, about("Where to go on: nextCursor of the page before.")]


def registry(name: str) -> Registry:
    """The graph dialect of that name."""
    dialect = BEHAVIOURS[name]
    policy, helps = dialect.policy, _helps(dialect.policy)
    outputs = dict(zip(TOOLS, dialect.outputs, strict=True))

    replaces = policy.taken_name == "replace"

    def create_entities(
        context: Context, entities: Annotated[list[Entity], about("The entities to store, all or none.")]
    ) -> Reply:
        drafts = [EntityDraft(e.name, e.entityType, tuple(e.observations)) for e in entities]
        return dialect.created(context.memory.create_entities(drafts, step=context.step))

    def create_relations(
        context: Context, relations: Annotated[list[Link], about("The relations to store, all or none.")]
    ) -> Reply:
        ends = [relation.ends for relation in relations]
        return dialect.related(context.memory.create_relations(ends, step=context.step))

    def add_observations(
        context: Context, observations: Annotated[list[Observed], about("What to add, entity by entity, all or none.")]
    ) -> Reply:
        items = [(one.entityName, one.contents) for one in observations]
        return dialect.added(observations, context.memory.add_observations(items, step=context.step))

    def delete_entities(context: Context, entityNames: DeletedNames) -> Reply:
        return dialect.entities_deleted(context.memory.delete_entities(entityNames, step=context.step).records)

    def delete_observations(
        context: Context, deletions: Annotated[list[Unobserved], about("What to remove, entity by entity.")]
    ) -> Reply:
        items = [(one.entityName, one.observations) for one in deletions]
        return dialect.observations_deleted(deletions, context.memory.delete_observations(items, step=context.step))

    def delete_relations(context: Context, relations: DeletedRelations) -> Reply:
        ends = [relation.ends for relation in relations]
        return dialect.relations_deleted(context.memory.delete_relations(ends, step=context.step))

    def read_graph(context: Context, limit: Limit | None = None, cursor: Cursor | None = None) -> Reply:
        return dialect.graph(context.memory.read_graph(limit=limit, cursor=cursor))

    def read_within(context: Context, most: int, limit: int | None, cursor: str | None) -> Reply:
        """As much of the graph as fits: no more of it is read than could."""
        size = min(limit or MOST, most // _SMALLEST + 1)
        total = min(limit or MOST, context.memory.count()[0]) if cursor is None else None
        return paged(lambda few: read_graph(context, few, cursor), most, size, total)

    def search_nodes(
        context: Context,
        query: Annotated[str, about("What to look for in names, types and observations.")],
        limit: Limit | None = None,
        cursor: Cursor | None = None,
    ) -> Reply:
        return dialect.found(context.memory.search_nodes(query, limit=limit, cursor=cursor, relations=dialect.linked))

    def open_nodes(
        context: Context,
        names: Annotated[list[str], about("Names of the entities to open, exactly as they were given.")],
        limit: Limit | None = None,
        cursor: Cursor | None = None,
    ) -> Reply:
        return dialect.opened(*context.memory.open_nodes(names, limit=limit, cursor=cursor, relations=dialect.linked))

    def tool(run: Callable[..., Reply], **hints: Any) -> Operation:
        reads = "reads" in hints

        def call(context: Context, params: Struct) -> Reply:
            given = asdict(params)
            most = given.pop("max_tokens", None) or context.budget
            if most is None:
                return run(context, **given)
            if not reads:
                return cut_short(run(context, **given), most)
            if run is read_graph:
                return read_within(context, most, **given)
            return paged(lambda few: run(context, **given | {"limit": few}), most, given["limit"])

        name = run.__name__
        return Operation(
            name=name,
            title=name.replace("_", " ").title(),
            params=parameters(run, Struct, more=FIELDS[:1] if reads else ()),
            run=call,
            help=helps[name],
            output=outputs[name],
            exact=policy.empty_name == "refuse",
            **hints,
        )

    tools = (
        tool(create_entities, destroys=replaces, idempotent=replaces),
        tool(create_relations, idempotent=policy.repeated_relation == "once"),
        tool(add_observations, idempotent=policy.repeated_observation == "once"),
        *(
            tool(run, destroys=True, idempotent=True)
            for run in (delete_entities, delete_observations, delete_relations)
        ),
        *(tool(run, reads=True, idempotent=True) for run in (read_graph, search_nodes, open_nodes)),
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
        "matches first, before all others those that contain the query as it stands."
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
        "delete_entities": "Forget entities together with every relation they take part in. The history keeps them; "
        "the user can bring them back.",
        "delete_observations": "Take observations from entities, matched word for word; the entities stay.",
        "delete_relations": "Remove relations that match in all three parts; the entities stay.",
        "read_graph": "Read everything there is. On a large memory, prefer search_nodes, or page with limit and "
        "cursor.",
        "search_nodes": search,
        "open_nodes": f"Read entities whose exact names are known. {opening}",
    }
