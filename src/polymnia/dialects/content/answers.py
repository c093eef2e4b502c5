"""What the operations of memory_store and memory_retrieve answer, field by field.

Only the reference, the generator of the clients and the tests read these types at run time: every answer of the
contract tests must fit its type and have no field that the type does not name.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from msgspec import Meta

__all__ = [
    "ANSWERS", "Answer", "ContentDeletion", "ContentDetails", "ContentItem", "ContentReference", "ContentReferences",
    "ContentVersion", "CreateRelationshipAnswer", "CredentialFinding", "CredentialWarning", "DeleteContentAnswer",
    "FacetCount", "FindSimilarContentAnswer", "GetContentAnswer", "GetContentHistoryAnswer", "Notes",
    "Object", "Relationship", "SearchContentAnswer", "SearchFacets", "SearchResult", "SimilarContent",
    "StoreContentAnswer", "StoreDecisionAnswer", "StoredAnswer", "SurroundingTurn", "UpdateContentAnswer",
    "WriteAnswer",
]  # fmt: skip

Object = dict[str, Any]
Notes = Annotated[
    list[str], Meta(description="Remarks that help to read the answer, for example why nothing was found.")
]


class Answer(TypedDict):
    """What every operation answers."""

    success: Annotated[bool, Meta(description="Always true: an operation that fails answers with an error instead.")]
    timestamp: Annotated[str, Meta(description="When the operation was done: UTC, ISO 8601.")]
    duration: Annotated[str, Meta(description='How long the server took, for example "12ms".')]
    request_id: NotRequired[Annotated[str, Meta(description="The request_id of the call, where it had one.")]]


class WriteAnswer(Answer):
    """What every operation that writes answers."""

    message: Annotated[str, Meta(description="What was done, as a sentence.")]
    repeated: NotRequired[
        Annotated[
            bool,
            Meta(
                description="True when a call with this request_id was done before: this is the answer of that call, "
                "and nothing was written again."
            ),
        ]
    ]


class Relationship(TypedDict):
    """A directed relationship between two items."""

    relationship_id: Annotated[str, Meta(description="The id of the relationship.")]
    source_id: Annotated[str, Meta(description="The item it starts at.")]
    target_id: Annotated[str, Meta(description="The item it leads to.")]
    type: Annotated[str, Meta(description="What the source is to the target, for example references or part_of.")]
    origin: Annotated[str, Meta(description="Who made it: manual (a caller) or auto (the server found it).")]
    created_at: Annotated[str, Meta(description="When it was made: UTC, ISO 8601.")]
    strength: NotRequired[Annotated[float, Meta(description="How strong it is, from 0 to 1, where that is known.")]]
    context: NotRequired[Annotated[str, Meta(description="Why it was made, where that was given or found.")]]
    metadata: NotRequired[Annotated[Object, Meta(description="Whatever was stored with it.")]]
    deleted: NotRequired[Annotated[bool, Meta(description="True when one of its two items was deleted.")]]


class CredentialFinding(TypedDict):
    """One place that looks like a credential."""

    field: Annotated[str, Meta(description="The parameter it was found in.")]
    kind: Annotated[str, Meta(description="What it looks like, for example a private key or an access token.")]
    start: Annotated[int, Meta(description="The position of its first character.")]
    end: Annotated[int, Meta(description="The position after its last character.")]
    shown: Annotated[str, Meta(description="The credential, masked.")]


class CredentialWarning(TypedDict):
    """A warning that the content seems to contain credentials."""

    type: Annotated[str, Meta(description="Always possible_credentials.")]
    message: Annotated[str, Meta(description="The warning as a sentence.")]
    findings: Annotated[list[CredentialFinding], Meta(description="Each place that looks like a credential.")]


class StoredAnswer(WriteAnswer):
    """What operations that store an item answer."""

    content_id: Annotated[
        str, Meta(description="The id of the item: pass it to get_content, update_content and so on.")
    ]
    version: Annotated[int, Meta(description="The version of the item, counted from 1.")]
    metadata: NotRequired[
        Annotated[
            Object,
            Meta(description="The metadata of the item. Missing in a repeated answer when the item is gone."),
        ]
    ]
    created_at: Annotated[str, Meta(description="When the item was stored first: UTC, ISO 8601.")]
    updated_at: Annotated[str, Meta(description="When the item was changed last: UTC, ISO 8601.")]
    warnings: NotRequired[
        Annotated[list[CredentialWarning], Meta(description="Present when the content seems to contain credentials.")]
    ]


class StoreContentAnswer(StoredAnswer):
    """The id, version and metadata of the new item, and the relationships found for it."""

    relationships: NotRequired[
        Annotated[list[Relationship], Meta(description="The relationships that were found, where that was asked for.")]
    ]


class UpdateContentAnswer(StoredAnswer):
    """The id, new version and metadata of the item, and the relationships found for it."""

    relationships: NotRequired[
        Annotated[list[Relationship], Meta(description="The relationships that were found, where that was asked for.")]
    ]


class StoreDecisionAnswer(StoredAnswer):
    """The id, version and metadata of the new decision."""

    decision_id: Annotated[str, Meta(description="The same as content_id: a decision is an item too.")]


class DeleteContentAnswer(WriteAnswer):
    """Which item was deleted, whether that can be undone, and what became of its relationships."""

    content_id: Annotated[str, Meta(description="The item.")]
    deleted: Annotated[bool, Meta(description="Always true.")]
    hard: Annotated[bool, Meta(description="Whether it is gone for good; otherwise update_content can restore it.")]
    relationships_deleted: Annotated[int, Meta(description="How many relationships were deleted with it.")]
    references_preserved: Annotated[int, Meta(description="How many relationships were kept and marked as deleted.")]


class CreateRelationshipAnswer(WriteAnswer):
    """The relationship, and whether it is new."""

    relationship_id: Annotated[str, Meta(description="The id of the relationship.")]
    created: Annotated[bool, Meta(description="False when the two items had this relationship already: it is updated.")]
    relationship: NotRequired[
        Annotated[Relationship, Meta(description="The relationship in full. Missing in a repeated answer.")]
    ]


class ContentItem(TypedDict):
    """An item with its text."""

    content_id: Annotated[str, Meta(description="The id of the item.")]
    title: Annotated[str, Meta(description="Its title: given, read from the text, or the beginning of the text.")]
    content: Annotated[str, Meta(description="The text.")]
    content_type: Annotated[str, Meta(description="The MIME type of the text.")]
    kind: Annotated[str, Meta(description="content, decision, or the type of an entity of the graph.")]
    tags: Annotated[list[str], Meta(description="Its labels.")]
    summary: NotRequired[Annotated[str, Meta(description="A summary, where one was stored.")]]
    metadata: NotRequired[Annotated[Object, Meta(description="Whatever was stored with it.")]]
    session_id: NotRequired[Annotated[str, Meta(description="The session it belongs to, where it belongs to one.")]]
    created_at: Annotated[str, Meta(description="When it was stored first: UTC, ISO 8601.")]
    updated_at: Annotated[str, Meta(description="When it was changed last: UTC, ISO 8601.")]
    version: Annotated[int, Meta(description="Its version, counted from 1.")]


class SurroundingTurn(TypedDict):
    """What was said just before or after a result that is a turn of a dialogue."""

    content_id: Annotated[str, Meta(description="The id of that turn.")]
    content: Annotated[str, Meta(description="What was said; the beginning of it where it is long.")]
    who: NotRequired[Annotated[str, Meta(description="Who said it, where that is known.")]]
    truncated: NotRequired[Annotated[bool, Meta(description="True when only the beginning is given.")]]


class SearchResult(TypedDict):
    """An item that a search found."""

    content: Annotated[ContentItem, Meta(description="The item.")]
    relevance: Annotated[float, Meta(description="How well it matches, from 0 to 1.")]
    explanation: Annotated[str, Meta(description="Why it was found, as a sentence.")]
    highlights: NotRequired[
        Annotated[
            list[str],
            Meta(description="The passages that match, words marked with **; with options.include_highlights."),
        ]
    ]
    context: NotRequired[
        Annotated[str, Meta(description="The text around the best passage; with options.include_context.")]
    ]
    previous_turn: NotRequired[
        Annotated[SurroundingTurn, Meta(description="Of a turn of a dialogue: what was said just before it.")]
    ]
    next_turn: NotRequired[
        Annotated[SurroundingTurn, Meta(description="Of a turn of a dialogue: what was said just after it.")]
    ]


class FacetCount(TypedDict):
    """A value and how many of the items found have it."""

    value: Annotated[str, Meta(description="The value.")]
    count: Annotated[int, Meta(description="How many items have it.")]


class SearchFacets(TypedDict):
    """How the items found are distributed."""

    content_types: Annotated[list[FacetCount], Meta(description="By MIME type.")]
    tags: Annotated[list[FacetCount], Meta(description="By tag.")]
    months: Annotated[list[FacetCount], Meta(description="By the month in which they were stored, as YYYY-MM.")]


class SearchContentAnswer(Answer):
    """One page of results, best first, with the total and the distribution of all of them."""

    results: Annotated[list[SearchResult], Meta(description="The results of this page, in the order asked for.")]
    total: Annotated[int, Meta(description="How many items match in all.")]
    page: Annotated[int, Meta(description="The number of this page, counted from 1.")]
    per_page: Annotated[int, Meta(description="How many results a page has at most: options.limit.")]
    facets: Annotated[SearchFacets, Meta(description="All matching items, counted by type, tag and month.")]
    notes: NotRequired[Notes]


class ContentReference(TypedDict):
    """The item at the other end of a relationship."""

    content_id: Annotated[str | None, Meta(description="The id of the item; null when it was deleted.")]
    type: Annotated[str, Meta(description="The type of the relationship.")]
    title: NotRequired[Annotated[str, Meta(description="Its title.")]]
    content_type: NotRequired[Annotated[str, Meta(description="The MIME type of its text.")]]
    version: NotRequired[Annotated[int, Meta(description="Its version.")]]
    deleted: NotRequired[Annotated[bool, Meta(description="True when it was deleted.")]]


class ContentReferences(TypedDict):
    """What an item refers to, and what refers to it."""

    outgoing: Annotated[list[ContentReference], Meta(description="Items that relationships of this one lead to.")]
    incoming: Annotated[list[ContentReference], Meta(description="Items whose relationships lead to this one.")]


class ContentVersion(TypedDict):
    """One version of an item, and who made it."""

    version: Annotated[int, Meta(description="The number of the version, counted from 1.")]
    content: Annotated[str, Meta(description="The text of this version.")]
    summary: Annotated[str | None, Meta(description="Its summary; null where it had none.")]
    tags: Annotated[list[str], Meta(description="Its labels.")]
    metadata: Annotated[Object, Meta(description="Its metadata.")]
    updated_at: Annotated[str, Meta(description="When this version was made: UTC, ISO 8601.")]
    changed_by: Annotated[str, Meta(description="Who made it, in one line.")]
    account: Annotated[str | None, Meta(description="The account that made it, where that is known.")]
    client: Annotated[str | None, Meta(description="The program that made it, where that is known.")]
    dialect: Annotated[str | None, Meta(description="The dialect it was made through, where that is known.")]
    tool: Annotated[str | None, Meta(description="The tool that made it, where that is known.")]
    change: Annotated[str, Meta(description="What the call did, in a word or two.")]
    change_id: Annotated[int, Meta(description="The number of the change in the history of the store.")]
    diff: NotRequired[
        Annotated[str, Meta(description="What it changed in the text, as a unified diff; with include_diffs.")]
    ]
    changed_fields: NotRequired[
        Annotated[list[str], Meta(description="Which fields it changed; with include_diffs. created for the first.")]
    ]


class ContentDetails(TypedDict):
    """An item in the format asked for, with what was asked for beside it."""

    content_id: Annotated[str, Meta(description="The id of the item.")]
    title: Annotated[str, Meta(description="Its title: given, read from the text, or the beginning of the text.")]
    content_type: Annotated[str, Meta(description="The MIME type of the text.")]
    version: Annotated[int, Meta(description="Its version, counted from 1.")]
    content: NotRequired[Annotated[str, Meta(description="The text; in the format full, which is the default.")]]
    kind: NotRequired[
        Annotated[str, Meta(description="content, decision, or the type of an entity; not in the format minimal.")]
    ]
    tags: NotRequired[Annotated[list[str], Meta(description="Its labels; not in the format minimal.")]]
    summary: NotRequired[
        Annotated[str, Meta(description="Its summary, where one was stored; in the format summary else its beginning.")]
    ]
    metadata: NotRequired[
        Annotated[Object, Meta(description="Whatever was stored with it; unless options.include_metadata is false.")]
    ]
    session_id: NotRequired[Annotated[str, Meta(description="The session it belongs to, where it belongs to one.")]]
    created_at: NotRequired[
        Annotated[str, Meta(description="When it was stored first: UTC, ISO 8601; not in the format minimal.")]
    ]
    updated_at: NotRequired[
        Annotated[str, Meta(description="When it was changed last: UTC, ISO 8601; not in the format minimal.")]
    ]
    relationships: NotRequired[
        Annotated[list[Relationship], Meta(description="Its relationships; with options.include_relationships.")]
    ]
    references: NotRequired[
        Annotated[ContentReferences, Meta(description="What it refers to and what refers to it; with include_refs.")]
    ]
    history: NotRequired[
        Annotated[list[ContentVersion], Meta(description="Its versions, newest first; with include_history.")]
    ]
    embeddings: NotRequired[
        Annotated[
            dict[str, list[list[float]]],
            Meta(description="The vectors of its passages, by the name of the model; with options.include_embeddings."),
        ]
    ]


class GetContentAnswer(Answer):
    """The item, in the format and with the parts asked for."""

    content_id: Annotated[str, Meta(description="The id of the item.")]
    content: Annotated[ContentDetails, Meta(description="The item. Its text is the field content of this object.")]


class SimilarContent(TypedDict):
    """An item and how similar it is."""

    content: Annotated[ContentItem, Meta(description="The item.")]
    similarity: Annotated[float, Meta(description="How similar it is, from 0 to 1.")]


class FindSimilarContentAnswer(Answer):
    """The most similar items, most similar first."""

    results: Annotated[list[SimilarContent], Meta(description="The items, most similar first.")]
    total: Annotated[int, Meta(description="How many there are in this answer.")]
    similarity_method: Annotated[
        Literal["cosine", "euclidean", "manhattan"], Meta(description="How similarity was measured.")
    ]
    notes: NotRequired[Notes]


class ContentDeletion(TypedDict):
    """When and by whom an item was deleted, and how to restore it."""

    at: Annotated[str, Meta(description="When it was deleted: UTC, ISO 8601.")]
    by: Annotated[str, Meta(description="Who deleted it.")]
    change: Annotated[int, Meta(description="The number of the change in the history of the store.")]
    restore: Annotated[str, Meta(description="How to restore it, as a sentence.")]


class GetContentHistoryAnswer(Answer):
    """The versions of the item, newest first."""

    content_id: Annotated[str, Meta(description="The id of the item.")]
    versions: Annotated[list[ContentVersion], Meta(description="Its versions, newest first, at most limit of them.")]
    total_versions: Annotated[int, Meta(description="How many versions it has in all.")]
    deleted: NotRequired[Annotated[ContentDeletion, Meta(description="Present when the item was deleted.")]]


ANSWERS: dict[str, type] = {
    "store_content": StoreContentAnswer,
    "update_content": UpdateContentAnswer,
    "delete_content": DeleteContentAnswer,
    "store_decision": StoreDecisionAnswer,
    "create_relationship": CreateRelationshipAnswer,
    "search_content": SearchContentAnswer,
    "get_content": GetContentAnswer,
    "find_similar_content": FindSimilarContentAnswer,
    "get_content_history": GetContentHistoryAnswer,
}
"""The answer of each operation of memory_store and memory_retrieve."""
