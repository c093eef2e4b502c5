"""memory_store: storing, changing, deleting and relating items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from polymnia.dialects.content import parameters
from polymnia.dialects.content.asking import Asking, replied
from polymnia.dialects.content.reading import Verb
from polymnia.dialects.content.results import answer, relationship
from polymnia.engine.items import DECISION, Decision, ItemDraft, StoredItem, decision_text
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid
from polymnia.models import Record, Relation, legal_text
from polymnia.operation import Context, Reply

if TYPE_CHECKING:
    from polymnia.dialects.content.answers import Relationship

__all__ = ["VERBS"]


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _store(context: Context, given: parameters.StoreContent) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.StoreOptions()
    content_type = _or(given.content_type, "text/plain")
    guard = asking.memory.screen
    text = guard.text(given.content, "content")
    extracted: dict[str, Any] = {}
    if options.extract_metadata:
        from polymnia.engine.knowledge.derived import extracted_metadata

        extracted = extracted_metadata(text, content_type)
    draft = ItemDraft(
        text=text,
        content_type=content_type,
        summary=guard.value(given.summary, "summary"),
        tags=guard.value(_or(given.tags, ()), "tags"),
        metadata={**extracted, **guard.value(_or(given.metadata, {}), "metadata")},
        session=given.session_id,
    )

    def tell(done: StoredItem) -> dict[str, Any]:
        return _stored(asking, "Content stored successfully", done, guard.found)

    return replied(
        asking,
        lambda: tell(
            asking.writing(tell).store_item(
                draft,
                embed=options.generate_embeddings,
                relate=_or(options.detect_relationships, False),
                step=asking.step,
            )
        ),
    )


def _stored(asking: Asking, message: str, done: StoredItem, secrets: list[dict[str, Any]]) -> dict[str, Any]:
    record = done.record
    fields: dict[str, Any] = {
        "content_id": record.uid,
        "version": record.version,
        "metadata": record.metadata,
        "created_at": moment(record.created),
        "updated_at": moment(record.updated),
    }
    if done.relationships:
        fields["relationships"] = [_relationship(one) for one in done.relationships]
    if secrets:
        fields["warnings"] = [
            {
                "type": "possible_credentials",
                "message": "The content looks as if it held credentials; they are stored as they are"
                " unless the server redacts them, and masked in anonymized exports.",
                "findings": secrets,
            }
        ]
    return answer(asking.begun, message, **fields)


def _relationship(relation: Relation) -> Relationship:
    return relationship(relation, relation.source, relation.target)


def _update(context: Context, given: parameters.UpdateContent) -> Reply:
    asking = Asking(context, given)
    updates, options = given.updates, given.options or parameters.UpdateOptions()
    nothing = all(one is None for one in (updates.content, updates.summary, updates.tags, updates.metadata))
    if options.restore:
        if not nothing:
            raise Invalid(
                "A deleted item is brought back as it was, so updates must be empty",
                field="updates",
                hint="Give updates as {}, and change the item in a second call.",
            )
        return _restore(asking, given)
    if nothing:
        raise Invalid(
            "updates names nothing to change", field="updates", hint="Give content, summary, tags or metadata."
        )
    guard = asking.memory.screen
    changes = {
        field: guard.value(getattr(updates, field), f"updates.{field}")
        for field in ("content", "summary", "tags", "metadata")
    }

    def tell(done: StoredItem) -> dict[str, Any]:
        return _stored(asking, "Content updated successfully", done, guard.found)

    return replied(
        asking,
        lambda: tell(
            asking.writing(tell).update_item(
                given.content_id,
                text=changes["content"],
                summary=changes["summary"],
                tags=changes["tags"],
                metadata=changes["metadata"],
                session=given.session_id,
                embed=options.regenerate_embeddings,
                relate=options.update_relationships,
                keep_previous=_or(options.preserve_previous, True),
                step=asking.step,
            )
        ),
    )


def _restore(asking: Asking, given: parameters.UpdateContent) -> Reply:
    def tell(done: StoredItem) -> dict[str, Any]:
        return _stored(asking, "Content restored: it is as it was when it was deleted", done, [])

    return replied(
        asking,
        lambda: tell(asking.writing(tell).restore_item(given.content_id, session=given.session_id, step=asking.step)),
    )


def _delete(context: Context, given: parameters.DeleteContent) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.DeleteOptions()
    if options.delete_relationships and options.preserve_references:
        raise Invalid(
            "delete_relationships and preserve_references contradict each other",
            field="options.preserve_references",
            hint="Give one of them.",
        )
    hard = _or(options.hard, False)

    def tell(done: tuple[Record, int, int]) -> dict[str, Any]:
        record, gone, kept = done
        how = (
            "permanently deleted"
            if hard
            else "deleted; get_content_history still shows it, and update_content with options.restore brings it back"
        )
        return answer(
            asking.begun,
            f"Content {how}",
            content_id=record.uid,
            deleted=True,
            hard=hard,
            relationships_deleted=gone,
            references_preserved=kept,
        )

    return replied(
        asking,
        lambda: tell(
            asking.writing(tell).delete_item(
                given.content_id,
                session=given.session_id,
                hard=hard,
                keep_relationships=options.delete_relationships is False,
                keep_references=_or(options.preserve_references, False),
                step=asking.step,
            )
        ),
    )


def _decide(context: Context, given: parameters.StoreDecision) -> Reply:
    asking = Asking(context, given)
    guard = asking.memory.screen
    parts: dict[str, Any] = {}
    for field in ("title", "context", "decision", "rationale", "alternatives", "impact", "stakeholders"):
        value = guard.value(getattr(given, field), field)
        for at, text in enumerate(value if isinstance(value, list) else [value] if value else []):
            legal_text(text, f"{field}[{at}]" if isinstance(value, list) else field, asking.memory.limits.text_bytes)
        if value:
            parts[field] = value
    text = decision_text(Decision(**parts))
    draft = ItemDraft(
        text=text,
        kind=DECISION,
        content_type="text/markdown",
        summary=parts["decision"],
        tags=guard.value(_or(given.tags, ()), "tags"),
        metadata={**guard.value(_or(given.metadata, {}), "metadata"), "title": parts["title"], "decision": parts},
        session=given.session_id,
    )

    def tell(done: StoredItem) -> dict[str, Any]:
        told = _stored(asking, "Decision stored successfully", done, guard.found)
        return told | {"decision_id": told["content_id"]}

    return replied(asking, lambda: tell(asking.writing(tell).store_item(draft, step=asking.step)))


def _relate(context: Context, given: parameters.CreateRelationship) -> Reply:
    asking = Asking(context, given)
    guard = asking.memory.screen
    why, metadata = guard.value(given.context, "context"), guard.value(given.metadata, "metadata")

    def tell(done: tuple[Relation, bool]) -> dict[str, Any]:
        relation, new = done
        told = relationship(relation, given.source_id, given.target_id)
        message = "Relationship created successfully" if new else "The relationship was there; it is drawn anew"
        return answer(asking.begun, message, relationship_id=relation.uid, relationship=told, created=new)

    return replied(
        asking,
        lambda: tell(
            asking.writing(tell).relate_items(
                given.source_id,
                given.target_id,
                given.type,
                strength=given.strength,
                context=why,
                metadata=metadata,
                session=given.session_id,
                step=asking.step,
            )
        ),
    )


VERBS = {
    "store_content": Verb(
        params=parameters.StoreContent,
        run=_store,
        help="Store a text as a new item of a project: it can then be searched, read, changed and related to others.",
    ),
    "update_content": Verb(
        params=parameters.UpdateContent,
        run=_update,
        help="Change the text, summary, labels or metadata of an item. It gets a new version; the one before "
        "stays readable. With options.restore, bring a deleted item back.",
    ),
    "delete_content": Verb(
        params=parameters.DeleteContent,
        run=_delete,
        help="Delete an item, so that it can be restored, or with options.hard for good.",
    ),
    "store_decision": Verb(
        params=parameters.StoreDecision,
        run=_decide,
        help="Store a decision as an item: what was decided, in what situation, why, and what else was considered.",
    ),
    "create_relationship": Verb(
        params=parameters.CreateRelationship,
        run=_relate,
        help="Create a directed, typed relationship between two items, or change the one they have.",
    ),
}
