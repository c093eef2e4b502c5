"""The tools that find memories: by a query, and by what one of them has to do with others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from msgspec import Struct

from polymnia.dialects.associative import shapes
from polymnia.dialects.budget import NextCursor
from polymnia.dialects.notes import worded
from polymnia.dialects.shapes import about, or_null
from polymnia.engine import scopes
from polymnia.engine.content import content
from polymnia.errors import Invalid
from polymnia.models import Filters, Note
from polymnia.operation import Context, Memory, Reply

if TYPE_CHECKING:
    from polymnia.engine.search.results import Hit, Turn

_LINKS = 3  # associations answered with each hit of a search
_THRESHOLD = 0.1  # of a search that names none; what scores less is answered only where nothing scores more

LeastScore = Annotated[
    shapes.Share,
    about("Leave out what scores less. If you give none and nothing reaches it: the nearest.", default=0.1),
]


class MemoryTurn(Struct, frozen=True, omit_defaults=True):
    """What was said just before or after a turn of a dialogue."""

    memory_id: shapes.MemoryId
    content: shapes.Beginning
    who: Annotated[str, about("Who said it, where that is known.")] | None = None
    truncated: shapes.Cut = False
    name: shapes.Name | None = None


class FoundMemory(Struct, frozen=True, omit_defaults=True):
    """A memory that a search found, and how similar it is."""

    memory_id: shapes.MemoryId
    content: shapes.Text
    scope: shapes.Filed
    similarity_score: shapes.Score
    created_at: shapes.CreatedAt
    associations: shapes.Links | None = None
    category: shapes.Category | None = None
    tags: shapes.Tags = []
    metadata: shapes.Metadata = {}
    name: shapes.Name | None = None
    kind: shapes.Kind | None = None
    previous_turn: Annotated[MemoryTurn | None, about("Of a turn of a dialogue: what was said just before it.")] = None
    next_turn: Annotated[MemoryTurn | None, about("Of a turn of a dialogue: what was said just after it.")] = None


class SearchAnswer(Struct, frozen=True, omit_defaults=True):
    """The memories found, most relevant first."""

    memories: Annotated[list[FoundMemory], about("The memories found, most relevant first.")]
    total_found: Annotated[int, about("How many memories match in all.")]
    search_scope: Annotated[str | None, or_null("string", "The scope that was searched; null where all were.")]
    notes: shapes.Remarks = []
    next_cursor: NextCursor | None = None


@shapes.tool("memory_search", "Search Memories", SearchAnswer, lists=["memories"], reads=True, idempotent=True)
def search(
    context: Context,
    query: Annotated[str, about("Required. What to look for, in plain words; a question is fine.")],
    scope: Annotated[str, about("Search only this scope.")] | None = None,
    limit: Annotated[int, about("At most so many memories.", ge=1, le=100, default=10)] = 10,
    similarity_threshold: LeastScore | None = None,
    include_associations: Annotated[bool, about("Tell what each memory is linked to.", default=True)] = True,
    include_child_scopes: Annotated[bool, about("Search the scopes below it too.", default=False)] = False,
) -> Reply:
    """Find memories by meaning and by words, in any language. The most relevant come first; similarity_score says how
    close each is, from 0 to 1.
    """
    if not query.strip():
        raise Invalid("query is empty", field="query", hint="Say what to look for.")
    memory = context.memory
    scope = None if scope is None else scopes.legal_scope(scope, "scope")
    found = memory.search(
        query,
        limit=limit,
        filters=None if scope is None else Filters(scope=scope, scopes_below=include_child_scopes),
        at_least=_THRESHOLD if similarity_threshold is None else similarity_threshold,
        or_nearest=similarity_threshold is None,
        reasons=False,
        links=_LINKS if include_associations else 0,
    )
    shapes.check_meaning(memory)
    memories = [
        _found(
            hit, [shapes.linked(*one) for one in found.links.get(hit.record.uid, ())] if include_associations else None
        )
        for hit in found.hits
    ]
    notes = list(map(worded, found.notes))
    if not found.hits and scope is not None:
        notes = [
            *_empty_scope(memory, scope, include_child_scopes),
            *(note for note in notes if note.code != "filtered"),
        ]
    if not memories and not notes and not memory.count()[0]:
        notes = [_empty_project(memory)]
    return shapes.reply(SearchAnswer(memories, found.total, scope), notes)


def _found(hit: Hit, links: list[shapes.LinkedMemory] | None) -> FoundMemory:
    return FoundMemory(
        **shapes.fields(hit.record),
        similarity_score=round(hit.score, 4),
        associations=links,
        previous_turn=_turn(hit.previous),
        next_turn=_turn(hit.next),
    )


def _turn(turn: Turn | None) -> MemoryTurn | None:
    if turn is None:
        return None
    return MemoryTurn(turn.id, turn.text, turn.who, turn.cut, None if turn.name == turn.id else turn.name)


def _empty_project(memory: Memory) -> Note:
    """That nothing was found because nothing is there; of a project that never was, with the one that may be meant."""
    near = memory.nearest_project() if not memory.stamp() else None
    meant = f"; did you mean the project {near!r}?" if near else "."
    return Note("empty", f"There are no memories in the project {memory.project!r} yet{meant}")


def _empty_scope(memory: Memory, scope: str, below: bool) -> list[Note]:
    """Why nothing was found in a scope, where the scope itself is the reason."""
    inside = memory.scopes(scope)
    if not inside:
        return [shapes.unknown_scope(memory, scope)]
    if not below and not inside[0].memories:
        count = f"{inside[0].total:,} memories lie" if inside[0].total > 1 else "1 memory lies"
        return [Note("below", f"{scope!r} itself is empty; {count} below it: pass include_child_scopes.")]
    return []


class SourceMemory(Struct, frozen=True):
    """The memory that associations were discovered for."""

    memory_id: shapes.MemoryId
    content: shapes.Text


class DiscoveredAssociation(Struct, frozen=True, omit_defaults=True):
    """One association: how strong, what carries it, and why."""

    memory_id: shapes.MemoryId
    content: shapes.Beginning
    similarity_score: shapes.Score
    association_type: Annotated[str, about("What carries the association, for example meaning, tags or a link.")]
    reason: Annotated[str, about("Why the two have to do with each other, as a sentence.")]
    scope: shapes.Filed
    relation_type: shapes.LinkType | None = None
    direction: shapes.Direction | None = None
    truncated: shapes.Cut = False
    name: shapes.Name | None = None


class DiscoveryStats(Struct, frozen=True):
    """How many memories were looked at, how many are answered, and how strong those are on average."""

    total_candidates: Annotated[int, about("How many memories were compared.")]
    filtered_results: Annotated[int, about("How many of them are answered.")]
    avg_similarity: Annotated[float, about("Their mean similarity, from 0 to 1.")]


class DiscoverAnswer(Struct, frozen=True, omit_defaults=True):
    """The memories that have to do with one, strongest first, each with the reason."""

    source_memory: Annotated[SourceMemory, about("The memory that was asked about.")]
    associations: Annotated[list[DiscoveredAssociation], about("What has to do with it, strongest first.")]
    discovery_stats: Annotated[DiscoveryStats, about("How many memories were compared.")]
    notes: shapes.Remarks = []
    next_cursor: NextCursor | None = None


@shapes.tool(
    "memory_discover_associations",
    "Discover Associations",
    DiscoverAnswer,
    lists=["associations"],
    reads=True,
    idempotent=True,
)
def discover(
    context: Context,
    memory_id: shapes.Id,
    limit: Annotated[int, about("At most so many associations.", ge=1, le=50, default=10)] = 10,
    similarity_threshold: Annotated[shapes.Share, about("Leave out what is weaker.", default=0.1)] = 0.1,
) -> Reply:
    """Look for memories that have to do with one: similar in meaning, sharing tags or names, stored at the same time,
    or linked by hand. Each comes with what carries the association and why.
    """
    found = context.memory.discover(memory_id, limit=limit, threshold=similarity_threshold)
    shapes.check_meaning(context.memory)
    associations = []
    for one in found.associations:
        text, cut = shapes.beginning(one.record)
        relation = one.relation
        associations.append(
            DiscoveredAssociation(
                memory_id=one.record.uid,
                content=text,
                similarity_score=one.strength,
                association_type=one.kind,
                reason=one.reason,
                scope=one.record.path,
                relation_type=None if relation is None else relation.type,
                direction=None if relation is None else shapes.direction(relation, one.record),
                truncated=cut,
                name=shapes.entity_name(one.record),
            )
        )
    mean = sum(one.strength for one in found.associations) / len(associations) if associations else 0.0
    return shapes.reply(
        DiscoverAnswer(
            SourceMemory(found.source.uid, content(found.source)),
            associations,
            DiscoveryStats(found.candidates, len(associations), round(mean, 4)),
        )
    )
