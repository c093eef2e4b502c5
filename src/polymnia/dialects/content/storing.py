"""memory_store: storing, changing, deleting and relating items."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from polymnia.dialects.content import parameters
from polymnia.dialects.content.asking import Asking, replied
from polymnia.dialects.content.reading import Verb
from polymnia.dialects.content.results import answer, relationship
from polymnia.engine.content import check_room
from polymnia.engine.items import DECISION, Decision, ItemDraft, StoredItem, decision_text
from polymnia.engine.moments import moment
from polymnia.errors import Invalid, OverLimit, Refused
from polymnia.models import Limits, Record, Relation, legal_text
from polymnia.operation import Context, Reply

__all__ = ["VERBS"]


def _or(value: Any, default: Any) -> Any:
    return default if value is None else value


def _store(context: Context, given: parameters.StoreContent) -> Reply:
    asking = Asking(context, given)
    options = given.options or parameters.StoreOptions()
    content_type = _or(given.content_type, "text/plain")
    guard = _Guard(context.secrets, asking.memory.limits)
    text = guard.text(given.content, "content")
    extracted = _extracted(text, content_type) if options.extract_metadata else {}
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


def _extracted(text: str, content_type: str) -> dict[str, Any]:
    from msgspec import to_builtins

    from polymnia.engine.extracting import extracted

    told: dict[str, Any] = to_builtins(extracted(text, content_type))
    title = told.pop("title", None)
    return ({"title": title} if title else {}) | {"extracted": told}


class _Guard:
    """Looks through everything that is about to be written for credentials: tells, takes out or refuses them."""

    def __init__(self, manner: str, limits: Limits) -> None:
        self._manner = manner
        self._limits = limits
        self.found: list[dict[str, Any]] = []

    def text(self, text: str, field: str) -> str:
        """A text as it may be stored."""
        from polymnia.engine import secrets

        found = secrets.found(text)
        if not found:
            return text
        if self._manner == "refuse":
            kinds = ", ".join(dict.fromkeys(one.kind for one in found))
            raise Refused(
                f"{field} looks as if it held a credential ({kinds})",
                hint="Take it out, or start the server with --secrets flag or redact.",
            )
        self.found += [
            {"field": field, "kind": one.kind, "start": one.start, "end": one.end, "shown": one.shown} for one in found
        ]
        return secrets.masked(text) if self._manner == "redact" else text

    def value(self, value: Any, field: str) -> Any:
        """The same for whatever JSON holds."""
        if isinstance(value, dict):
            check_room(value, self._limits)
        return self._looked_at(value, field)

    def _looked_at(self, value: Any, field: str) -> Any:
        if isinstance(value, str):
            return self.text(value, field)
        if isinstance(value, dict):
            self._count(value.values(), field)
            return {key: self._looked_at(inner, f"{field}.{key}") for key, inner in value.items()}
        if isinstance(value, list | tuple):
            self._count(value, field)
            return [self._looked_at(inner, f"{field}[{i}]") for i, inner in enumerate(value)]
        return value

    def _count(self, values: Collection[Any], field: str) -> None:
        """Refuse more than one call may bring: each text is looked through, so a million of them would take minutes."""
        texts = sum(isinstance(value, str | dict | list) for value in values)
        if texts > self._limits.batch:
            raise OverLimit(field, texts, "items", self._limits.batch, "max_batch")


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


def _relationship(relation: Relation) -> dict[str, Any]:
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
    guard = _Guard(context.secrets, asking.memory.limits)
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
                relate=_or(options.update_relationships, False),
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
    keep = _or(options.preserve_references, options.delete_relationships is False)
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
                given.content_id, session=given.session_id, hard=hard, keep_references=keep, step=asking.step
            )
        ),
    )


def _decide(context: Context, given: parameters.StoreDecision) -> Reply:
    asking = Asking(context, given)
    guard = _Guard(context.secrets, asking.memory.limits)
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
    guard = _Guard(context.secrets, asking.memory.limits)
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
    "store_content": Verb(params=parameters.StoreContent, run=_store, help="Store a text."),
    "update_content": Verb(params=parameters.UpdateContent, run=_update, help="Change an item; a version more."),
    "delete_content": Verb(params=parameters.DeleteContent, run=_delete, help="Delete an item, softly or for good."),
    "store_decision": Verb(params=parameters.StoreDecision, run=_decide, help="Store a decision with its reasons."),
    "create_relationship": Verb(params=parameters.CreateRelationship, run=_relate, help="Relate two items."),
}
