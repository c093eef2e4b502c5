"""memory_retrieve: searching, reading, comparing, and looking back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Literal, NotRequired, TypedDict

from msgspec import Struct

from polymnia.dialects.content import shapes
from polymnia.dialects.content.call import ContentCall, Fields, by_name, operation
from polymnia.dialects.notes import reasons, sentence
from polymnia.dialects.shapes import about
from polymnia.engine.content import Version, content
from polymnia.engine.text.calendar import moment
from polymnia.errors import BadArguments, Invalid, NoModel, Violation
from polymnia.models import Record, Relation
from polymnia.operation import Memory

if TYPE_CHECKING:
    from polymnia.engine.search.results import Fragment, Hit

_LANES = {"semantic": "meaning", "keyword": "words", "hybrid": "all"}
_AROUND = 400  # characters of context

QueryType = Literal["semantic", "keyword", "hybrid"]
SimilarityMethod = Literal["cosine", "euclidean", "manhattan"]
MinRelevance = Annotated[shapes.Share, about("Leave out what scores less; 0 hides nothing. Without it: what matches.")]
ContentFormat = Annotated[
    Literal["full", "summary", "minimal"],
    about("With its text, with a summary, or only id, title, type and version (default full)."),
]


class SearchFilters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Filters of search_content."""

    content_types: shapes.Types | None = None
    tags: shapes.Tagged | None = None
    date_range: shapes.Period = None
    metadata: Annotated[shapes.Object, about("Only items whose metadata has these values.")] | None = None


class SearchResult(TypedDict):
    """An item that a search found."""

    content: Annotated[shapes.ContentItem, about("The item.")]
    relevance: Annotated[float, about("How well it matches, from 0 to 1.")]
    explanation: Annotated[str, about("Why it was found, as a sentence.")]
    highlights: NotRequired[
        Annotated[list[str], about("The passages that match, words marked with **; with options.include_highlights.")]
    ]
    context: NotRequired[Annotated[str, about("The text around the best passage; with options.include_context.")]]
    previous_turn: NotRequired[
        Annotated[shapes.SurroundingTurn, about("Of a turn of a dialogue: what was said just before it.")]
    ]
    next_turn: NotRequired[
        Annotated[shapes.SurroundingTurn, about("Of a turn of a dialogue: what was said just after it.")]
    ]


class FacetCount(TypedDict):
    """A value and how many of the items found have it."""

    value: Annotated[str, about("The value.")]
    count: Annotated[int, about("How many items have it.")]


class SearchFacets(TypedDict):
    """How the items found are distributed."""

    content_types: Annotated[list[FacetCount], about("By MIME type.")]
    tags: Annotated[list[FacetCount], about("By tag.")]
    months: Annotated[list[FacetCount], about("By the month in which they were stored, as YYYY-MM.")]


class SearchContentAnswer(shapes.Answer):
    """One page of results, best first, with the total and the distribution of all of them."""

    results: Annotated[list[SearchResult], about("The results of this page, in the order asked for.")]
    total: Annotated[int, about("How many items match in all.")]
    page: Annotated[int, about("The number of this page, counted from 1.")]
    per_page: Annotated[int, about("How many results a page has at most: options.limit.")]
    facets: Annotated[SearchFacets, about("All matching items, counted by type, tag and month.")]
    notes: NotRequired[shapes.Notes]


@operation(SearchContentAnswer, options=("SearchOptions", "How many results, in what order, with what."), reads=True)
def search_content(
    call: ContentCall,
    query: Annotated[str, about("What to look for, in plain words.")],
    query_type: Annotated[QueryType, about("By meaning, words or both (default).")] = "hybrid",
    filters: Annotated[SearchFilters | None, about("Which items to search.")] = None,
    *,
    limit: Annotated[int, about("Results (default 10).", ge=1, le=100)] = 10,
    offset: Annotated[int, about("Skip so many.", ge=0, le=10_000)] = 0,
    min_relevance: MinRelevance | None = None,
    include_context: Annotated[bool, about("The text around what matches.")] = False,
    include_highlights: Annotated[bool, about("The pieces that match, words marked.")] = False,
    sort_by: Annotated[Literal["relevance", "date", "title"], about("The order (default relevance).")] = "relevance",
    sort_order: Annotated[Literal["asc", "desc"], about("Default: asc for title, else desc.")] | None = None,
) -> Fields:
    """Search the items of a project by words, by meaning, or by both, in any language. Best matches first, each with
    its relevance from 0 to 1 and the reason it was found.
    """
    if not query.strip():
        raise Invalid("query is empty", field="query", hint="Say what to look for.")
    filters = filters or SearchFilters()
    found = call.memory.search(
        query,
        limit=limit,
        offset=offset,
        filters=shapes.selection(filters, call.session),
        lanes=_LANES[query_type],
        facets=True,
        at_least=min_relevance,
        sort=sort_by,
        ascending=(sort_order or ("asc" if sort_by == "title" else "desc")) == "asc",
    )
    if query_type == "semantic":
        _check_meaning(call.memory, needed=True)
    answer = call.answer(
        results=[_result(hit, highlights=include_highlights, context=include_context) for hit in found.hits],
        total=found.total,
        page=offset // limit + 1,
        per_page=limit,
        facets={
            name: [{"value": value, "count": count} for value, count in found.facets.get(name, [])]
            for name in ("content_types", "tags", "months")
        },
    )
    if found.notes:
        # What a call does not see is no filter its caller set.
        filtered = filters != SearchFilters()
        misses = any(note.code == "nearest" for note in found.notes)
        answer["notes"] = [
            sentence(note) if filtered or note.code != "filtered" else "Nothing matches."
            for note in found.notes
            if filtered or note.code != "filtered" or not misses
        ]
    return answer


def _check_meaning(memory: Memory, *, needed: bool = False) -> None:
    """A search by meaning whose model is broken, or missing where it is needed, must not look like one."""
    finder = memory.finding()
    if needed and not finder.channels:
        raise NoModel(
            "There is no model to search by meaning: --embedder is none",
            hint="Use query_type keyword or hybrid, or start the server with a model.",
        )
    if (fault := finder.broken()) is not None:
        raise NoModel(f"Search by meaning failed: {fault.message}", hint=fault.hint)


def _result(hit: Hit, *, highlights: bool, context: bool) -> Fields:
    marked = [_marked(fragment.text, fragment.marks) for fragment in hit.fragments]
    return shapes.present(
        content=shapes.item(hit.record),
        relevance=hit.score,
        explanation=reasons(hit.why),
        highlights=marked if highlights else None,
        context=_context(hit.record, hit.fragments) if context else None,
        previous_turn=shapes.turn(hit.previous),
        next_turn=shapes.turn(hit.next),
    )


def _marked(text: str, marks: Iterable[tuple[int, int]]) -> str:
    """A piece with what matches between two stars each."""
    parts, at = [], 0
    for start, end in sorted(marks):
        if start >= at:
            parts += [text[at:start], "**", text[start:end], "**"]
            at = end
    return "".join((*parts, text[at:]))


def _context(record: Record, fragments: Sequence[Fragment]) -> str:
    """The text around the best piece."""
    text = content(record)
    piece = fragments[0].text.strip("… ") if fragments else ""
    at = max(0, text.find(piece))
    start, end = max(0, at - _AROUND), min(len(text), at + len(piece) + _AROUND)
    return ("…" if start else "") + text[start:end] + ("…" if end < len(text) else "")


class ContentReference(TypedDict):
    """The item at the other end of a relationship."""

    content_id: Annotated[str | None, about("The id of the item; null when it was deleted.")]
    type: Annotated[str, about("The type of the relationship.")]
    title: NotRequired[Annotated[str, about("Its title.")]]
    content_type: NotRequired[Annotated[str, about("The MIME type of its text.")]]
    version: NotRequired[Annotated[int, about("Its version.")]]
    deleted: NotRequired[Annotated[bool, about("True when it was deleted.")]]


class ContentReferences(TypedDict):
    """What an item refers to, and what refers to it."""

    outgoing: Annotated[list[ContentReference], about("Items that relationships of this one lead to.")]
    incoming: Annotated[list[ContentReference], about("Items whose relationships lead to this one.")]


class ContentDetails(TypedDict):
    """An item in the format asked for, with what was asked for beside it."""

    content_id: Annotated[str, about("The id of the item.")]
    title: Annotated[str, about("Its title: given, read from the text, or the beginning of the text.")]
    content_type: Annotated[str, about("The MIME type of the text.")]
    version: Annotated[int, about("Its version, counted from 1.")]
    content: NotRequired[Annotated[str, about("The text; in the format full, which is the default.")]]
    kind: NotRequired[Annotated[str, about("content, decision, or the type of an entity; not in the format minimal.")]]
    tags: NotRequired[Annotated[list[str], about("Its labels; not in the format minimal.")]]
    summary: NotRequired[
        Annotated[str, about("Its summary, where one was stored; in the format summary else its beginning.")]
    ]
    metadata: NotRequired[
        Annotated[shapes.Object, about("Whatever was stored with it; unless options.include_metadata is false.")]
    ]
    session_id: NotRequired[Annotated[str, about("The session it belongs to, where it belongs to one.")]]
    created_at: NotRequired[
        Annotated[str, about("When it was stored first: UTC, ISO 8601; not in the format minimal.")]
    ]
    updated_at: NotRequired[
        Annotated[str, about("When it was changed last: UTC, ISO 8601; not in the format minimal.")]
    ]
    relationships: NotRequired[
        Annotated[list[shapes.Relationship], about("Its relationships; with options.include_relationships.")]
    ]
    references: NotRequired[
        Annotated[ContentReferences, about("What it refers to and what refers to it; with include_refs.")]
    ]
    history: NotRequired[
        Annotated[list[shapes.ContentVersion], about("Its versions, newest first; with include_history.")]
    ]
    embeddings: NotRequired[
        Annotated[
            dict[str, list[list[float]]],
            about("The vectors of its passages, by the name of the model; with options.include_embeddings."),
        ]
    ]


class GetContentAnswer(shapes.Answer):
    """The item, in the format and with the parts asked for."""

    content_id: Annotated[str, about("The id of the item.")]
    content: Annotated[ContentDetails, about("The item. Its text is the field content of this object.")]
    notes: NotRequired[shapes.Notes]


@operation(GetContentAnswer, options=("GetOptions", "What to answer."), reads=True)
def get_content(
    call: ContentCall,
    content_id: shapes.Item,
    include_refs: Annotated[bool, about("What it references and what references it.")] = False,
    include_history: Annotated[bool, about("Its versions.")] = False,
    *,
    include_embeddings: Annotated[bool, about("Its vectors (default false).")] = False,
    include_relationships: Annotated[bool, about("Its relationships (default false).")] = False,
    include_metadata: Annotated[bool, about("Its metadata (default true).")] = True,
    format: ContentFormat = "full",
) -> Fields:
    """Read one item: its text and, where asked for, its relationships, references, versions and vectors."""
    record = call.memory.item(content_id, session=call.session)
    if format == "minimal":
        details = shapes.minimal(record)
    else:
        details = (shapes.summarised if format == "summary" else shapes.item)(record, metadata=include_metadata)
    if include_refs or include_relationships:
        links = call.memory.item_relations(record, session=call.session)
        if include_relationships:
            details["relationships"] = [_link(record, *one) for one in links]
        if include_refs:
            details["references"] = _references(record, links)
    if include_history:
        details["history"] = _versions(call.memory.item_versions(content_id, session=call.session))
    if include_embeddings:
        details["embeddings"] = call.memory.item_vectors(record)
    return call.answer(content_id=record.uid, content=details)


def _link(record: Record, relation: Relation, other: Record | None) -> Fields:
    here, there = record.uid, None if other is None else other.uid
    ends = (here if name == record.name else there for name in (relation.source, relation.target))
    return shapes.relationship(relation, *ends)


def _references(record: Record, links: Iterable[tuple[Relation, Record | None]]) -> Fields:
    """What an item points to, and what points to it."""
    ends: dict[str, list[Fields]] = {"outgoing": [], "incoming": []}
    for relation, other in links:
        end = {"content_id": None, "deleted": True} if other is None else shapes.minimal(other)
        ends["outgoing" if relation.source == record.name else "incoming"].append({**end, "type": relation.type})
    return ends


def _versions(found: Sequence[Version], limit: int | None = None, *, diffs: bool = False) -> list[Fields]:
    """The versions of an item, newest first, each compared with the one before it."""
    pairs = zip(found, [*found[1:], None], strict=True)
    return [shapes.version(one, before, diffs) for one, before in islice(pairs, limit)]


class SimilarContent(TypedDict):
    """An item and how similar it is."""

    content: Annotated[shapes.ContentItem, about("The item.")]
    similarity: Annotated[float, about("How similar it is, from 0 to 1.")]


class FindSimilarContentAnswer(shapes.Answer):
    """The most similar items, most similar first."""

    results: Annotated[list[SimilarContent], about("The items, most similar first.")]
    total: Annotated[int, about("How many there are in this answer.")]
    similarity_method: Annotated[SimilarityMethod, about("How similarity was measured.")]
    notes: NotRequired[shapes.Notes]


@operation(FindSimilarContentAnswer, options=("SimilarOptions", "Which items, and how to measure."), reads=True)
def find_similar_content(
    call: ContentCall,
    content: Annotated[str, about("A text; or give content_id.")] | None = None,
    content_id: Annotated[str, about("An item; or give content.")] | None = None,
    limit: Annotated[int, about("Results (default 10).", ge=1, le=100)] = 10,
    threshold: Annotated[shapes.Share, about("The least similarity (default 0).")] = 0.0,
    *,
    include_self: Annotated[bool, about("The item of content_id too (default false).")] = False,
    content_types: shapes.Types | None = None,
    exclude_ids: Annotated[list[str], about("Leave these items out.")] | None = None,
    similarity_method: Annotated[SimilarityMethod, about("How to measure it (default cosine).")] = "cosine",
) -> Fields:
    """Find the items most similar in meaning to a text or to another item."""
    if content is None and content_id is None:
        raise BadArguments("find_similar_content", [Violation("content_id", "string; or give content", "undefined")])
    if content is not None and content_id is not None:
        raise Invalid("Give content or content_id, not both", field="content_id", hint="Leave one of them out.")
    if content is not None and not content.strip():
        raise Invalid("content is empty", field="content", hint="Give a text to compare with.")
    found = call.memory.similar_items(
        text=content,
        id=content_id,
        session=call.session,
        limit=limit,
        threshold=threshold,
        measure=similarity_method,
        include_self=include_self,
        content_types=content_types or (),
        exclude=exclude_ids or (),
    )
    _check_meaning(call.memory)
    results = [{"content": shapes.item(record), "similarity": value} for record, value in found]
    return call.answer(results=results, total=len(results), similarity_method=similarity_method)


class ContentDeletion(TypedDict):
    """When and by whom an item was deleted, and how to restore it."""

    at: Annotated[str, about("When it was deleted: UTC, ISO 8601.")]
    by: Annotated[str, about("Who deleted it.")]
    change: Annotated[int, about("The number of the change in the history of the store.")]
    restore: Annotated[str, about("How to restore it, as a sentence.")]


class GetContentHistoryAnswer(shapes.Answer):
    """The versions of the item, newest first."""

    content_id: Annotated[str, about("The id of the item.")]
    versions: Annotated[list[shapes.ContentVersion], about("Its versions, newest first, at most limit of them.")]
    total_versions: Annotated[int, about("How many versions it has in all.")]
    deleted: NotRequired[Annotated[ContentDeletion, about("Present when the item was deleted.")]]
    notes: NotRequired[shapes.Notes]


@operation(GetContentHistoryAnswer, reads=True)
def get_content_history(
    call: ContentCall,
    content_id: shapes.Item,
    limit: Annotated[int, about("Versions, newest first (default all).", ge=1, le=1000)] | None = None,
    include_diffs: Annotated[bool, about("What each version changed.")] = False,
) -> Fields:
    """List the versions of an item, newest first: what each said, who made it, and what it changed."""
    found = call.memory.item_versions(content_id, session=call.session)
    versions = _versions(found, limit, diffs=include_diffs)
    answer = call.answer(content_id=content_id, versions=versions, total_versions=len(found))
    if (deletion := call.memory.item_deletion(content_id, session=call.session)) is not None:
        answer["deleted"] = {
            "at": moment(deletion.at),
            "by": deletion.who,
            "change": deletion.id,
            "restore": "update_content with this content_id, updates {} and options.restore true brings it back.",
        }
    return answer


OPERATIONS = by_name(search_content, get_content, find_similar_content, get_content_history)
