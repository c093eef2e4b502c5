"""What the operations of memory_store and memory_retrieve take, as the seed lists it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from polymnia.engine.items import RelationshipType

__all__ = [
    "CreateRelationship", "DateRange", "DeleteContent", "DeleteOptions", "FindSimilar", "GetContent", "GetHistory",
    "GetOptions", "Item", "Object", "Period", "SearchContent", "SearchFilters", "SearchOptions", "Share",
    "SimilarOptions", "Standard", "StoreContent", "StoreDecision", "StoreOptions", "Tagged", "Text", "Types",
    "UpdateContent", "UpdateOptions", "Updates",
]  # fmt: skip

Text = Annotated[str, Meta(min_length=1)]
Share = Annotated[float, Meta(ge=0, le=1)]
Object = dict[str, Any]
Item = Annotated[str, Meta(description="The id of the item.")]
Labels = Annotated[list[str], Meta(description="Labels.")]
More = Annotated[Object, Meta(description="Anything else to keep with it.")]
Types = Annotated[list[str], Meta(description="Only items of these MIME types.")]
Tagged = Annotated[list[str], Meta(description="Only items with one of these labels.")]


class Standard(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What every operation may be given."""

    operation: Annotated[str, Meta(description="Which operation.")]
    project_id: (
        Annotated[str, Meta(min_length=1, max_length=200, description="The project: any name of yours.")] | None
    ) = None
    session_id: (
        Annotated[str, Meta(min_length=1, max_length=100, description="Also see and write this session's data.")] | None
    ) = None
    user_id: Annotated[str, Meta(min_length=1, max_length=200, description="Who asks; kept in the history.")] | None = (
        None
    )
    request_id: (
        Annotated[
            str, Meta(min_length=1, max_length=200, description="Your id of the request; a retry is not done twice.")
        ]
        | None
    ) = None


class StoreOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What store_content does besides storing."""

    generate_embeddings: (
        Annotated[bool, Meta(description="Make the vectors before answering; false: never (default: soon).")] | None
    ) = None
    detect_relationships: Annotated[bool, Meta(description="Find what it references, follows or resembles.")] | None = (
        None
    )
    extract_metadata: (
        Annotated[bool, Meta(description="Read language, title, headings, names, dates, links from it.")] | None
    ) = None


class StoreContent(Standard, frozen=True, kw_only=True):
    """store_content."""

    content: Annotated[str, Meta(description="The text.")]
    summary: Annotated[str, Meta(description="What it says, in short.")] | None = None
    content_type: Annotated[str, Meta(description="Its MIME type (default text/plain).")] | None = None
    tags: Labels | None = None
    metadata: More | None = None
    options: Annotated[StoreOptions | None, Meta(description="What else to do.")] = None


class Updates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What update_content changes."""

    content: Annotated[str, Meta(description="The new text.")] | None = None
    summary: Annotated[str, Meta(description="The new summary; an empty one removes it.")] | None = None
    tags: Annotated[list[str], Meta(description="The new labels; they replace all others.")] | None = None
    metadata: Annotated[Object, Meta(description="Keys to add or change; the others stay.")] | None = None


class UpdateOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of update_content."""

    regenerate_embeddings: (
        Annotated[bool, Meta(description="Make the vectors before answering; false: never.")] | None
    ) = None
    update_relationships: (
        Annotated[
            bool,
            Meta(
                description="Find its relationships anew (default: when the text changes and some were found before)."
            ),
        ]
        | None
    ) = None
    preserve_previous: Annotated[bool, Meta(description="Keep the version before readable (default true).")] | None = (
        None
    )
    restore: Annotated[bool, Meta(description="Bring a deleted item back as it was; updates is {} then.")] | None = None


class UpdateContent(Standard, frozen=True, kw_only=True):
    """update_content."""

    content_id: Annotated[str, Meta(description="The id of the item.")]
    updates: Annotated[Updates, Meta(description="What to change: tags are replaced, metadata is merged.")]
    options: Annotated[UpdateOptions | None, Meta(description="How to do it.")] = None


class DeleteOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of delete_content."""

    hard: Annotated[bool, Meta(description="Leave nothing of it; cannot be undone.")] | None = None
    delete_relationships: (
        Annotated[
            bool, Meta(description="Delete its relationships (default true); false keeps them all, marked deleted.")
        ]
        | None
    ) = None
    preserve_references: (
        Annotated[bool, Meta(description="Keep relationships that point to it, marked deleted.")] | None
    ) = None


class DeleteContent(Standard, frozen=True, kw_only=True):
    """delete_content."""

    content_id: Item
    options: Annotated[DeleteOptions | None, Meta(description="How to do it.")] = None


class StoreDecision(Standard, frozen=True, kw_only=True):
    """store_decision."""

    title: Annotated[Text, Meta(description="What is decided, in a line.")]
    context: Annotated[Text, Meta(description="What led to it.")]
    decision: Annotated[Text, Meta(description="The decision.")]
    rationale: Annotated[Text, Meta(description="Why.")]
    alternatives: Annotated[list[str], Meta(description="What else was considered.")] | None = None
    impact: Annotated[str, Meta(description="What it changes.")] | None = None
    stakeholders: Annotated[list[str], Meta(description="Whom it concerns.")] | None = None
    tags: Labels | None = None
    metadata: More | None = None


class CreateRelationship(Standard, frozen=True, kw_only=True):
    """create_relationship."""

    source_id: Annotated[str, Meta(description="The id of the item it starts at.")]
    target_id: Annotated[str, Meta(description="The id of the item it leads to.")]
    type: Annotated[RelationshipType, Meta(description="What the first is to the second.")]
    strength: Annotated[Share, Meta(description="How strong, 0 to 1.")] | None = None
    context: Annotated[str, Meta(description="Why it is drawn.")] | None = None
    metadata: More | None = None


class DateRange(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A time from start to end; each of them may be left out."""

    start: Annotated[str, Meta(description="From this ISO date or time.")] | None = None
    end: Annotated[str, Meta(description="Up to this ISO date or time; a date includes its whole day.")] | None = None


Period = Annotated[DateRange | None, Meta(description="Only items stored in this time.")]


class SearchFilters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Filters of search_content."""

    content_types: Types | None = None
    tags: Tagged | None = None
    date_range: Period = None
    metadata: Annotated[Object, Meta(description="Only items whose metadata has these values.")] | None = None


class SearchOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of search_content."""

    limit: Annotated[int, Meta(ge=1, le=100, description="Results (default 10).")] | None = None
    offset: Annotated[int, Meta(ge=0, le=10_000, description="Skip so many.")] | None = None
    min_relevance: (
        Annotated[Share, Meta(description="Leave out what scores less; 0 hides nothing. Without it: what matches.")]
        | None
    ) = None
    include_context: Annotated[bool, Meta(description="The text around what matches.")] | None = None
    include_highlights: Annotated[bool, Meta(description="The pieces that match, words marked.")] | None = None
    sort_by: (
        Annotated[Literal["relevance", "date", "title"], Meta(description="The order (default relevance).")] | None
    ) = None
    sort_order: Annotated[Literal["asc", "desc"], Meta(description="Default: asc for title, else desc.")] | None = None


class SearchContent(Standard, frozen=True, kw_only=True):
    """search_content."""

    query: Annotated[str, Meta(description="What to look for, in plain words.")]
    query_type: (
        Annotated[Literal["semantic", "keyword", "hybrid"], Meta(description="By meaning, words or both (default).")]
        | None
    ) = None
    filters: Annotated[SearchFilters | None, Meta(description="Which items to search.")] = None
    options: Annotated[SearchOptions | None, Meta(description="How many results, in what order, with what.")] = None


class GetOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of get_content."""

    include_embeddings: Annotated[bool, Meta(description="Its vectors (default false).")] | None = None
    include_relationships: Annotated[bool, Meta(description="Its relationships (default false).")] | None = None
    include_metadata: Annotated[bool, Meta(description="Its metadata (default true).")] | None = None
    format: (
        Annotated[
            Literal["full", "summary", "minimal"],
            Meta(description="With its text, with a summary, or only id, title, type and version (default full)."),
        ]
        | None
    ) = None


class GetContent(Standard, frozen=True, kw_only=True):
    """get_content."""

    content_id: Item
    include_refs: Annotated[bool, Meta(description="What it references and what references it.")] | None = None
    include_history: Annotated[bool, Meta(description="Its versions.")] | None = None
    options: Annotated[GetOptions | None, Meta(description="What to answer.")] = None


class SimilarOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of find_similar_content."""

    include_self: Annotated[bool, Meta(description="The item of content_id too (default false).")] | None = None
    content_types: Types | None = None
    exclude_ids: Annotated[list[str], Meta(description="Leave these items out.")] | None = None
    similarity_method: (
        Annotated[Literal["cosine", "euclidean", "manhattan"], Meta(description="How to measure it (default cosine).")]
        | None
    ) = None


class FindSimilar(Standard, frozen=True, kw_only=True):
    """find_similar_content."""

    content: Annotated[str, Meta(description="A text; or give content_id.")] | None = None
    content_id: Annotated[str, Meta(description="An item; or give content.")] | None = None
    limit: Annotated[int, Meta(ge=1, le=100, description="Results (default 10).")] | None = None
    threshold: Annotated[Share, Meta(description="The least similarity (default 0).")] | None = None
    options: Annotated[SimilarOptions | None, Meta(description="Which items, and how to measure.")] = None


class GetHistory(Standard, frozen=True, kw_only=True):
    """get_content_history."""

    content_id: Item
    limit: Annotated[int, Meta(ge=1, le=1000, description="Versions, newest first (default all).")] | None = None
    include_diffs: Annotated[bool, Meta(description="What each version changed.")] | None = None
