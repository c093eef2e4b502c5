"""memory_store: storing, changing, deleting and relating items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, NotRequired, TypedDict

from msgspec import Struct

from polymnia.dialects.content.call import ContentCall, Fields, OperationParameters, operation
from polymnia.dialects.content.shapes import (
    Item,
    Labels,
    More,
    Object,
    Relationship,
    Share,
    Text,
    WriteAnswer,
    relationship,
)
from polymnia.dialects.shapes import about, or_else
from polymnia.engine.content import DECISION, Decision, ItemDraft, RelationshipType, StoredItem, decision_text
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid
from polymnia.models import JsonObject, Record, Relation, legal_text


class CredentialFinding(TypedDict):
    """One place that looks like a credential."""

    field: Annotated[str, about("The parameter it was found in.")]
    kind: Annotated[str, about("What it looks like, for example a private key or an access token.")]
    start: Annotated[int, about("The position of its first character.")]
    end: Annotated[int, about("The position after its last character.")]
    shown: Annotated[str, about("The credential, masked.")]


class CredentialWarning(TypedDict):
    """A warning that the content seems to contain credentials."""

    type: Annotated[str, about("Always possible_credentials.")]
    message: Annotated[str, about("The warning as a sentence.")]
    findings: Annotated[list[CredentialFinding], about("Each place that looks like a credential.")]


class StoredAnswer(WriteAnswer):
    """What operations that store an item answer."""

    content_id: Annotated[str, about("The id of the item: pass it to get_content, update_content and so on.")]
    version: Annotated[int, about("The version of the item, counted from 1.")]
    metadata: NotRequired[
        Annotated[Object, about("The metadata of the item. Missing in a repeated answer when the item is gone.")]
    ]
    created_at: Annotated[str, about("When the item was stored first: UTC, ISO 8601.")]
    updated_at: Annotated[str, about("When the item was changed last: UTC, ISO 8601.")]
    warnings: NotRequired[
        Annotated[list[CredentialWarning], about("Present when the content seems to contain credentials.")]
    ]


def _stored(call: ContentCall, message: str, done: StoredItem, credentials: Sequence[Object] = ()) -> Fields:
    record = done.record
    answer = call.answer(
        message,
        content_id=record.uid,
        version=record.version,
        metadata=record.metadata,
        created_at=moment(record.created),
        updated_at=moment(record.updated),
    )
    if done.relationships:
        answer["relationships"] = [relationship(one, one.source, one.target) for one in done.relationships]
    if credentials:
        answer["warnings"] = [
            {
                "type": "possible_credentials",
                "message": "The content looks as if it held credentials; they are stored as they are"
                " unless the server redacts them, and masked in anonymized exports.",
                "findings": credentials,
            }
        ]
    return answer


class StoreOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What store_content does besides storing."""

    generate_embeddings: (
        Annotated[bool, about("Make the vectors before answering; false: never (default: soon).")] | None
    ) = None
    detect_relationships: Annotated[bool, about("Find what it references, follows or resembles.")] | None = None
    extract_metadata: Annotated[bool, about("Read language, title, headings, names, dates, links from it.")] | None = (
        None
    )


class StoreContentParameters(OperationParameters, frozen=True, kw_only=True):
    """store_content."""

    content: Annotated[str, about("The text.")]
    summary: Annotated[str, about("What it says, in short.")] | None = None
    content_type: Annotated[str, about("Its MIME type (default text/plain).")] | None = None
    tags: Labels | None = None
    metadata: More | None = None
    options: Annotated[StoreOptions | None, about("What else to do.")] = None


class StoreContentAnswer(StoredAnswer):
    """The id, version and metadata of the new item, and the relationships found for it."""

    relationships: NotRequired[
        Annotated[list[Relationship], about("The relationships that were found, where that was asked for.")]
    ]


@operation(StoreContentParameters, StoreContentAnswer)
def store_content(call: ContentCall, given: StoreContentParameters) -> Fields:
    """Store a text as a new item of a project: it can then be searched, read, changed and related to others."""
    options = given.options or StoreOptions()
    content_type = or_else(given.content_type, "text/plain")
    guard = call.memory.screen
    text = guard.text(given.content, "content")
    extracted: Object = {}
    if options.extract_metadata:
        from polymnia.engine.knowledge.derived import extracted_metadata

        extracted = extracted_metadata(text, content_type)
    draft = ItemDraft(
        text=text,
        content_type=content_type,
        summary=guard.value(given.summary, "summary"),
        tags=guard.value(given.tags or (), "tags"),
        metadata={**extracted, **guard.value(given.metadata or {}, "metadata")},
        session=given.session_id,
    )

    def answer(done: StoredItem) -> Fields:
        return _stored(call, "Content stored successfully", done, guard.found)

    done = call.writing(answer).store_item(
        draft,
        embed=options.generate_embeddings,
        relate=or_else(options.detect_relationships, False),
        step=call.step,
    )
    return answer(done)


class Updates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What update_content changes."""

    content: Annotated[str, about("The new text.")] | None = None
    summary: Annotated[str, about("The new summary; an empty one removes it.")] | None = None
    tags: Annotated[list[str], about("The new labels; they replace all others.")] | None = None
    metadata: Annotated[Object, about("Keys to add or change; the others stay.")] | None = None


class UpdateOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of update_content."""

    regenerate_embeddings: Annotated[bool, about("Make the vectors before answering; false: never.")] | None = None
    update_relationships: (
        Annotated[
            bool, about("Find its relationships anew (default: when the text changes and some were found before).")
        ]
        | None
    ) = None
    preserve_previous: Annotated[bool, about("Keep the version before readable (default true).")] | None = None
    restore: Annotated[bool, about("Bring a deleted item back as it was; updates is {} then.")] | None = None


class UpdateContentParameters(OperationParameters, frozen=True, kw_only=True):
    """update_content."""

    content_id: Item
    updates: Annotated[Updates, about("What to change: tags are replaced, metadata is merged.")]
    options: Annotated[UpdateOptions | None, about("How to do it.")] = None


class UpdateContentAnswer(StoredAnswer):
    """The id, new version and metadata of the item, and the relationships found for it."""

    relationships: NotRequired[
        Annotated[list[Relationship], about("The relationships that were found, where that was asked for.")]
    ]


@operation(UpdateContentParameters, UpdateContentAnswer)
def update_content(call: ContentCall, given: UpdateContentParameters) -> Fields:
    """Change the text, summary, labels or metadata of an item. It gets a new version; the one before stays readable.
    With options.restore, bring a deleted item back.
    """
    updates, options = given.updates, given.options or UpdateOptions()
    if options.restore:
        return _restore(call, given)
    if updates == Updates():
        raise Invalid(
            "updates names nothing to change", field="updates", hint="Give content, summary, tags or metadata."
        )
    guard = call.memory.screen
    changes = {
        field: guard.value(getattr(updates, field), f"updates.{field}")
        for field in ("content", "summary", "tags", "metadata")
    }

    def answer(done: StoredItem) -> Fields:
        return _stored(call, "Content updated successfully", done, guard.found)

    done = call.writing(answer).update_item(
        given.content_id,
        text=changes["content"],
        summary=changes["summary"],
        tags=changes["tags"],
        metadata=changes["metadata"],
        session=given.session_id,
        embed=options.regenerate_embeddings,
        relate=options.update_relationships,
        keep_previous=or_else(options.preserve_previous, True),
        step=call.step,
    )
    return answer(done)


def _restore(call: ContentCall, given: UpdateContentParameters) -> Fields:
    if given.updates != Updates():
        raise Invalid(
            "A deleted item is brought back as it was, so updates must be empty",
            field="updates",
            hint="Give updates as {}, and change the item in a second call.",
        )

    def answer(done: StoredItem) -> Fields:
        return _stored(call, "Content restored: it is as it was when it was deleted", done)

    return answer(call.writing(answer).restore_item(given.content_id, session=given.session_id, step=call.step))


class DeleteOptions(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options of delete_content."""

    hard: Annotated[bool, about("Leave nothing of it; cannot be undone.")] | None = None
    delete_relationships: (
        Annotated[bool, about("Delete its relationships (default true); false keeps them all, marked deleted.")] | None
    ) = None
    preserve_references: Annotated[bool, about("Keep relationships that point to it, marked deleted.")] | None = None


class DeleteContentParameters(OperationParameters, frozen=True, kw_only=True):
    """delete_content."""

    content_id: Item
    options: Annotated[DeleteOptions | None, about("How to do it.")] = None


class DeleteContentAnswer(WriteAnswer):
    """Which item was deleted, whether that can be undone, and what became of its relationships."""

    content_id: Annotated[str, about("The item.")]
    deleted: Annotated[bool, about("Always true.")]
    hard: Annotated[bool, about("Whether it is gone for good; otherwise update_content can restore it.")]
    relationships_deleted: Annotated[int, about("How many relationships were deleted with it.")]
    references_preserved: Annotated[int, about("How many relationships were kept and marked as deleted.")]


@operation(DeleteContentParameters, DeleteContentAnswer)
def delete_content(call: ContentCall, given: DeleteContentParameters) -> Fields:
    """Delete an item, so that it can be restored, or with options.hard for good."""
    options = given.options or DeleteOptions()
    if options.delete_relationships and options.preserve_references:
        raise Invalid(
            "delete_relationships and preserve_references contradict each other",
            field="options.preserve_references",
            hint="Give one of them.",
        )
    hard = or_else(options.hard, False)

    def answer(done: tuple[Record, int, int]) -> Fields:
        record, deleted, preserved = done
        kept = "deleted; get_content_history still shows it, and update_content with options.restore brings it back"
        return call.answer(
            f"Content {'permanently deleted' if hard else kept}",
            content_id=record.uid,
            deleted=True,
            hard=hard,
            relationships_deleted=deleted,
            references_preserved=preserved,
        )

    done = call.writing(answer).delete_item(
        given.content_id,
        session=given.session_id,
        hard=hard,
        keep_relationships=options.delete_relationships is False,
        keep_references=or_else(options.preserve_references, False),
        step=call.step,
    )
    return answer(done)


class StoreDecisionParameters(OperationParameters, frozen=True, kw_only=True):
    """store_decision."""

    title: Annotated[Text, about("What is decided, in a line.")]
    context: Annotated[Text, about("What led to it.")]
    decision: Annotated[Text, about("The decision.")]
    rationale: Annotated[Text, about("Why.")]
    alternatives: Annotated[list[str], about("What else was considered.")] | None = None
    impact: Annotated[str, about("What it changes.")] | None = None
    stakeholders: Annotated[list[str], about("Whom it concerns.")] | None = None
    tags: Labels | None = None
    metadata: More | None = None


class StoreDecisionAnswer(StoredAnswer):
    """The id, version and metadata of the new decision."""

    decision_id: Annotated[str, about("The same as content_id: a decision is an item too.")]


@operation(StoreDecisionParameters, StoreDecisionAnswer)
def store_decision(call: ContentCall, given: StoreDecisionParameters) -> Fields:
    """Store a decision as an item: what was decided, in what situation, why, and what else was considered."""
    guard = call.memory.screen
    parts: JsonObject = {}
    for field in ("title", "context", "decision", "rationale", "alternatives", "impact", "stakeholders"):
        value = guard.value(getattr(given, field), field)
        for at, text in enumerate(value if isinstance(value, list) else [value] if value else []):
            legal_text(text, f"{field}[{at}]" if isinstance(value, list) else field, call.memory.limits.text_bytes)
        if value:
            parts[field] = value
    draft = ItemDraft(
        text=decision_text(Decision(**parts)),
        kind=DECISION,
        content_type="text/markdown",
        summary=parts["decision"],
        tags=guard.value(given.tags or (), "tags"),
        metadata={**guard.value(given.metadata or {}, "metadata"), "title": parts["title"], "decision": parts},
        session=given.session_id,
    )

    def answer(done: StoredItem) -> Fields:
        stored = _stored(call, "Decision stored successfully", done, guard.found)
        return stored | {"decision_id": stored["content_id"]}

    return answer(call.writing(answer).store_item(draft, step=call.step))


class CreateRelationshipParameters(OperationParameters, frozen=True, kw_only=True):
    """create_relationship."""

    source_id: Annotated[str, about("The id of the item it starts at.")]
    target_id: Annotated[str, about("The id of the item it leads to.")]
    type: Annotated[RelationshipType, about("What the first is to the second.")]
    strength: Annotated[Share, about("How strong, 0 to 1.")] | None = None
    context: Annotated[str, about("Why it is drawn.")] | None = None
    metadata: More | None = None


class CreateRelationshipAnswer(WriteAnswer):
    """The relationship, and whether it is new."""

    relationship_id: Annotated[str, about("The id of the relationship.")]
    created: Annotated[bool, about("False when the two items had this relationship already: it is updated.")]
    relationship: NotRequired[Annotated[Relationship, about("The relationship in full. Missing in a repeated answer.")]]


@operation(CreateRelationshipParameters, CreateRelationshipAnswer)
def create_relationship(call: ContentCall, given: CreateRelationshipParameters) -> Fields:
    """Create a directed, typed relationship between two items, or change the one they have."""
    guard = call.memory.screen
    context, metadata = guard.value(given.context, "context"), guard.value(given.metadata, "metadata")

    def answer(done: tuple[Relation, bool]) -> Fields:
        relation, new = done
        return call.answer(
            "Relationship created successfully" if new else "The relationship was there; it is drawn anew",
            relationship_id=relation.uid,
            relationship=relationship(relation, given.source_id, given.target_id),
            created=new,
        )

    done = call.writing(answer).relate_items(
        given.source_id,
        given.target_id,
        given.type,
        strength=given.strength,
        context=context,
        metadata=metadata,
        session=given.session_id,
        step=call.step,
    )
    return answer(done)


OPERATIONS = {
    "store_content": store_content,
    "update_content": update_content,
    "delete_content": delete_content,
    "store_decision": store_decision,
    "create_relationship": create_relationship,
}
