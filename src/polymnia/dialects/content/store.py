"""memory_store: storing, changing, deleting and relating items."""

from __future__ import annotations

from functools import partial
from typing import Annotated, NotRequired, TypedDict

from msgspec import Struct
from msgspec.structs import asdict

from polymnia.dialects.content import shapes
from polymnia.dialects.content.call import ContentCall, Fields, by_name, operation
from polymnia.dialects.shapes import about
from polymnia.engine.content import DECISION, PLAIN, Decision, ItemDraft, RelationshipType, StoredItem, decision_text
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid
from polymnia.models import JsonObject, Record, Relation, legal_text

EmbedFirst = Annotated[bool, about("Make the vectors before answering; false: never (default: soon).")]
RelateAnew = Annotated[
    bool, about("Find its relationships anew (default: when the text changes and some were found before).")
]
DeleteRelationships = Annotated[
    bool, about("Delete its relationships (default true); false keeps them all, marked deleted.")
]

FoundRelationships = Annotated[
    list[shapes.Relationship], about("The relationships that were found, where that was asked for.")
]


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


class StoredAnswer(shapes.WriteAnswer):
    """What operations that store an item answer."""

    content_id: Annotated[str, about("The id of the item: pass it to get_content, update_content and so on.")]
    version: Annotated[int, about("The version of the item, counted from 1.")]
    metadata: NotRequired[
        Annotated[shapes.Object, about("The metadata of the item. Missing in a repeated answer when the item is gone.")]
    ]
    created_at: Annotated[str, about("When the item was stored first: UTC, ISO 8601.")]
    updated_at: Annotated[str, about("When the item was changed last: UTC, ISO 8601.")]
    warnings: NotRequired[
        Annotated[list[CredentialWarning], about("Present when the content seems to contain credentials.")]
    ]


def _stored(call: ContentCall, message: str, credentials: list[shapes.Object], done: StoredItem) -> Fields:
    record = done.record
    links = [shapes.relationship(one, one.source, one.target) for one in done.relationships]
    warning = {
        "type": "possible_credentials",
        "message": "The content looks as if it held credentials; they are stored as they are"
        " unless the server redacts them, and masked in anonymized exports.",
        "findings": credentials,
    }
    return call.answer(
        message,
        content_id=record.uid,
        version=record.version,
        metadata=record.metadata,
        created_at=moment(record.created),
        updated_at=moment(record.updated),
        **shapes.present(relationships=links or None, warnings=[warning] if credentials else None),
    )


class StoreContentAnswer(StoredAnswer):
    """The id, version and metadata of the new item, and the relationships found for it."""

    relationships: NotRequired[FoundRelationships]


@operation(StoreContentAnswer, options=("StoreOptions", "What else to do."))
def store_content(
    call: ContentCall,
    content: Annotated[str, about("The text.")],
    summary: Annotated[str, about("What it says, in short.")] | None = None,
    content_type: Annotated[str, about("Its MIME type (default text/plain).")] = PLAIN,
    tags: shapes.Labels | None = None,
    metadata: shapes.More | None = None,
    *,
    generate_embeddings: EmbedFirst | None = None,
    detect_relationships: Annotated[bool, about("Find what it references, follows or resembles.")] = False,
    extract_metadata: Annotated[bool, about("Read language, title, headings, names, dates, links from it.")] = False,
) -> Fields:
    """Store a text as a new item of a project: it can then be searched, read, changed and related to others."""
    guard = call.memory.screen
    text = guard.text(content, "content")
    extracted: shapes.Object = {}
    if extract_metadata:
        from polymnia.engine.knowledge.derived import extracted_metadata

        extracted = extracted_metadata(text, content_type)
    draft = ItemDraft(
        text=text,
        content_type=content_type,
        summary=guard.value(summary, "summary"),
        tags=guard.value(tags or (), "tags"),
        metadata={**extracted, **guard.value(metadata or {}, "metadata")},
        session=call.session,
    )
    answer = partial(_stored, call, "Content stored successfully", guard.found)
    memory = call.writing(answer)
    return answer(memory.store_item(draft, embed=generate_embeddings, relate=detect_relationships, step=call.step))


class Updates(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What update_content changes."""

    content: Annotated[str, about("The new text.")] | None = None
    summary: Annotated[str, about("The new summary; an empty one removes it.")] | None = None
    tags: Annotated[list[str], about("The new labels; they replace all others.")] | None = None
    metadata: Annotated[shapes.Object, about("Keys to add or change; the others stay.")] | None = None


class UpdateContentAnswer(StoredAnswer):
    """The id, new version and metadata of the item, and the relationships found for it."""

    relationships: NotRequired[FoundRelationships]


@operation(UpdateContentAnswer, options=("UpdateOptions", "How to do it."))
def update_content(
    call: ContentCall,
    content_id: shapes.Item,
    updates: Annotated[Updates, about("What to change: tags are replaced, metadata is merged.")],
    *,
    regenerate_embeddings: Annotated[bool, about("Make the vectors before answering; false: never.")] | None = None,
    update_relationships: RelateAnew | None = None,
    preserve_previous: Annotated[bool, about("Keep the version before readable (default true).")] = True,
    restore: Annotated[bool, about("Bring a deleted item back as it was; updates is {} then.")] = False,
) -> Fields:
    """Change the text, summary, labels or metadata of an item. It gets a new version; the one before stays readable.
    With options.restore, bring a deleted item back.
    """
    if restore:
        return _restore(call, content_id, updates)
    if updates == Updates():
        raise Invalid(
            "updates names nothing to change", field="updates", hint="Give content, summary, tags or metadata."
        )
    guard = call.memory.screen
    changes = {name: guard.value(value, f"updates.{name}") for name, value in asdict(updates).items()}
    answer = partial(_stored, call, "Content updated successfully", guard.found)
    done = call.writing(answer).update_item(
        content_id,
        text=changes.pop("content"),
        **changes,
        session=call.session,
        embed=regenerate_embeddings,
        relate=update_relationships,
        keep_previous=preserve_previous,
        step=call.step,
    )
    return answer(done)


def _restore(call: ContentCall, id: str, updates: Updates) -> Fields:
    if updates != Updates():
        raise Invalid(
            "A deleted item is brought back as it was, so updates must be empty",
            field="updates",
            hint="Give updates as {}, and change the item in a second call.",
        )
    answer = partial(_stored, call, "Content restored: it is as it was when it was deleted", [])
    return answer(call.writing(answer).restore_item(id, session=call.session, step=call.step))


class DeleteContentAnswer(shapes.WriteAnswer):
    """Which item was deleted, whether that can be undone, and what became of its relationships."""

    content_id: Annotated[str, about("The item.")]
    deleted: Annotated[bool, about("Always true.")]
    hard: Annotated[bool, about("Whether it is gone for good; otherwise update_content can restore it.")]
    relationships_deleted: Annotated[int, about("How many relationships were deleted with it.")]
    references_preserved: Annotated[int, about("How many relationships were kept and marked as deleted.")]


@operation(DeleteContentAnswer, options=("DeleteOptions", "How to do it."))
def delete_content(
    call: ContentCall,
    content_id: shapes.Item,
    *,
    hard: Annotated[bool, about("Leave nothing of it; cannot be undone.")] = False,
    delete_relationships: DeleteRelationships | None = None,
    preserve_references: Annotated[bool, about("Keep relationships that point to it, marked deleted.")] = False,
) -> Fields:
    """Delete an item, so that it can be restored, or with options.hard for good."""
    if delete_relationships and preserve_references:
        raise Invalid(
            "delete_relationships and preserve_references contradict each other",
            field="options.preserve_references",
            hint="Give one of them.",
        )

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
        content_id,
        session=call.session,
        hard=hard,
        keep_relationships=delete_relationships is False,
        keep_references=preserve_references,
        step=call.step,
    )
    return answer(done)


class StoreDecisionAnswer(StoredAnswer):
    """The id, version and metadata of the new decision."""

    decision_id: Annotated[str, about("The same as content_id: a decision is an item too.")]


@operation(StoreDecisionAnswer)
def store_decision(
    call: ContentCall,
    title: Annotated[shapes.Text, about("What is decided, in a line.")],
    context: Annotated[shapes.Text, about("What led to it.")],
    decision: Annotated[shapes.Text, about("The decision.")],
    rationale: Annotated[shapes.Text, about("Why.")],
    alternatives: Annotated[list[str], about("What else was considered.")] | None = None,
    impact: Annotated[str, about("What it changes.")] | None = None,
    stakeholders: Annotated[list[str], about("Whom it concerns.")] | None = None,
    tags: shapes.Labels | None = None,
    metadata: shapes.More | None = None,
) -> Fields:
    """Store a decision as an item: what was decided, in what situation, why, and what else was considered."""
    guard = call.memory.screen
    parts: JsonObject = {
        "title": title,
        "context": context,
        "decision": decision,
        "rationale": rationale,
        "alternatives": alternatives,
        "impact": impact,
        "stakeholders": stakeholders,
    }
    parts = {field: value for field, value in parts.items() if value}
    for field, value in parts.items():
        parts[field] = value = guard.value(value, field)
        for at, text in enumerate(value if isinstance(value, list) else [value]):
            legal_text(text, f"{field}[{at}]" if isinstance(value, list) else field, call.memory.limits.text_bytes)
    draft = ItemDraft(
        text=decision_text(Decision(**parts)),
        kind=DECISION,
        content_type="text/markdown",
        summary=parts["decision"],
        tags=guard.value(tags or (), "tags"),
        metadata={**guard.value(metadata or {}, "metadata"), "title": parts["title"], "decision": parts},
        session=call.session,
    )

    def answer(done: StoredItem) -> Fields:
        stored = _stored(call, "Decision stored successfully", guard.found, done)
        return stored | {"decision_id": stored["content_id"]}

    return answer(call.writing(answer).store_item(draft, step=call.step))


class CreateRelationshipAnswer(shapes.WriteAnswer):
    """The relationship, and whether it is new."""

    relationship_id: Annotated[str, about("The id of the relationship.")]
    created: Annotated[bool, about("False when the two items had this relationship already: it is updated.")]
    relationship: NotRequired[
        Annotated[shapes.Relationship, about("The relationship in full. Missing in a repeated answer.")]
    ]


@operation(CreateRelationshipAnswer)
def create_relationship(
    call: ContentCall,
    source_id: Annotated[str, about("The id of the item it starts at.")],
    target_id: Annotated[str, about("The id of the item it leads to.")],
    type: Annotated[RelationshipType, about("What the first is to the second.")],
    strength: Annotated[shapes.Share, about("How strong, 0 to 1.")] | None = None,
    context: Annotated[str, about("Why it is drawn.")] | None = None,
    metadata: shapes.More | None = None,
) -> Fields:
    """Create a directed, typed relationship between two items, or change the one they have."""
    guard = call.memory.screen

    def answer(done: tuple[Relation, bool]) -> Fields:
        relation, new = done
        return call.answer(
            "Relationship created successfully" if new else "The relationship was there; it is drawn anew",
            relationship_id=relation.uid,
            relationship=shapes.relationship(relation, source_id, target_id),
            created=new,
        )

    done = call.writing(answer).relate_items(
        source_id,
        target_id,
        type,
        strength=strength,
        context=guard.value(context, "context"),
        metadata=guard.value(metadata, "metadata"),
        session=call.session,
        step=call.step,
    )
    return answer(done)


OPERATIONS = by_name(store_content, update_content, delete_content, store_decision, create_relationship)
