"""Items: documents and decisions with a content type, a title, versions and typed relationships."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from polymnia.engine import content, scopes
from polymnia.engine.content import RELATIONSHIPS, ItemDraft, StoredItem, Version, find_deleted, find_item
from polymnia.engine.knowledge import KnowledgeVerbs
from polymnia.engine.project import Step
from polymnia.errors import Conflict, Invalid, NotFound
from polymnia.models import Change, JsonObject, Record, Relation, RelationDraft, legal_name, legal_text, new_id

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction

_DELETED = "deleted"  # the metadata key of a relationship whose other end was deleted
_CANDIDATES = 30


class DocumentVerbs(KnowledgeVerbs):
    """Store, update, relate and delete items, and read their relationships, versions and vectors."""

    def item(self, id: str, *, session: str | None = None) -> Record:
        """Return an item by its id."""
        with self.store.read(self.project) as snapshot:
            record = find_item(snapshot, id, session)
        self._count_reads([record.id], opened=True)
        return record

    def nearest_id(self, id: str, *, session: str | None = None) -> str | None:
        """Return the visible id most similar to a missing one; None if none is close."""
        from difflib import get_close_matches

        with self.store.read(self.project) as snapshot:
            names = snapshot.names_starting(id[: max(8, len(id) // 2)], _CANDIDATES)
            visible = [one.uid for one in _named(snapshot, names).values() if one.session in (None, session)]
        return next(iter(get_close_matches(id, visible, n=1, cutoff=0.8)), None)

    def item_relations(self, record: Record, *, session: str | None = None) -> list[tuple[Relation, Record | None]]:
        """Return the relationships of an item, each with the item at its other end; None if that was deleted."""
        with self.store.read(self.project) as snapshot:
            links = snapshot.relations_of([record.name])
            names = [r.target if r.source == record.name else r.source for r in links]
            found = _named(snapshot, names)
        # Items of other sessions are not visible.
        hidden = {name for name, one in found.items() if one.session not in (None, session)}
        return [(link, found.get(name)) for link, name in zip(links, names, strict=True) if name not in hidden]

    def item_versions(self, id: str, *, session: str | None = None, limit: int | None = None) -> list[Version]:
        """Return an item as each change left it, newest first; a deleted item starts with its last state."""
        with self.store.read(self.project) as snapshot:
            record = find_deleted(snapshot, id, session) or find_item(snapshot, id, session)
            versions = [Version(change, one) for change, one in snapshot.versions(record.id)]
        versions += content.imported_versions(record)
        numbers = [None, *(one.record.version for one in versions)]
        return [one for one, before in zip(versions, numbers, strict=False) if one.record.version != before][:limit]

    def item_deletion(self, id: str, *, session: str | None = None) -> Change | None:
        """Return the change that deleted an item; None if it is not deleted."""
        with self.store.read(self.project) as snapshot:
            if find_deleted(snapshot, id, session) is None:
                return None
            return next((event.change for event in reversed(snapshot.history(id)) if event.deleted), None)

    def item_vectors(self, record: Record) -> dict[str, list[list[float]]]:
        """Return the vectors of an item by model, one for each of its passages."""
        with self.finding().neighbours(self.project) as look:
            embedded = look.stored(record.id - look.base)
            return {} if embedded is None else {model: rows.tolist() for model, rows in embedded.vectors.items()}

    def store_item(
        self, draft: ItemDraft, *, embed: bool | None = None, relate: bool = False, step: Step | None = None
    ) -> StoredItem:
        """Store an item. With ``embed`` its vectors exist when this returns; with False it never gets any.

        With ``relate`` the relationships detected in its text are stored, each with its evidence.
        """
        self._check_once()
        content.check_content(draft.text, "content", self.limits, "Give the text to store.")
        uid = content.new_item_id(new_id())
        session = None if draft.session is None else scopes.legal_session(draft.session)
        record = self._planned(
            Record(
                id=0, uid=uid, name=uid, kind=draft.kind, observations=(draft.text,), session=session,
                scope=None if session is None else f"{scopes.SESSIONS}/{session}",
                content_type=_check_content_type(legal_name(draft.content_type, "content_type", self.limits)),
                summary=None if draft.summary is None else legal_text(draft.summary, "summary", self.limits.text_bytes),
                tags=content.check_tags(draft.tags, self.limits),
                metadata=content.check_metadata(draft.metadata, self.limits),
            )
        )  # fmt: skip
        embedded, drawn = self._embedded(record, draft.session, embed, relate=relate)

        def store(tx: Transaction) -> StoredItem:
            return StoredItem(*self._add(tx, record, embedded, drawn))

        return self._write("store_content", store, step, record.observations)

    def update_item(
        self,
        id: str,
        *,
        text: str | None = None,
        summary: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        session: str | None = None,
        embed: bool | None = None,
        relate: bool | None = None,
        keep_previous: bool = True,
        step: Step | None = None,
    ) -> StoredItem:
        """Update the fields that are set: tags are replaced, metadata is merged, the version rises by one.

        Data derived from the text is updated with it (:mod:`polymnia.engine.knowledge.derived`), and so are the
        relationships detected in it, unless ``relate`` is False; with True they are always detected anew.
        Without ``keep_previous`` the earlier versions are deleted permanently.
        """
        from polymnia.engine.knowledge.derived import following

        changes: JsonObject = {}
        if summary is not None:
            changes["summary"] = legal_text(summary, "updates.summary", self.limits.text_bytes) or None
        if tags is not None:
            changes["tags"] = content.check_tags(tags, self.limits)
        if text is not None:
            content.check_content(text, "updates.content", self.limits, "To delete the item, ask for that.")
            text = self.screen.text(text, "updates.content")
        more = content.check_metadata(metadata, self.limits)
        self._check_once()
        with self.store.read(self.project) as snapshot:
            record = find_item(snapshot, id, session)
            found = _found_relationships(snapshot, record.name) if relate is None else []
        content.check_one_text(record, text)
        follow = following(record, text, more, summary=summary is not None)
        text = follow.text if text is None else text
        changes = follow.fields | changes
        planned = replace(
            record,
            **changes,
            metadata=follow.merged(record.metadata, more),
            observations=record.observations if text is None else (text,),
        )
        whole = content.content(planned)
        text_changes = text is not None and text != content.content(record)
        # Vectors belong to a text: to recompute or drop them, the text is written again.
        rewrites = text_changes or (embed is not None and len(record.observations) == 1)
        relates = text_changes and bool(found) if relate is None else relate
        embedded, drawn = self._embedded(planned, session, embed, relate=relates)

        def update(tx: Transaction) -> StoredItem:
            now = find_item(tx, id, session)
            content.check_one_text(now, text)
            merged = {**changes, "metadata": follow.merged(now.metadata, more)}
            if rewrites and (text is not None or now.observations == record.observations):
                tx.replace_record(now.id, replace(content.as_draft(now), **merged, observations=(whole,)))
                self._put_vectors(tx, embedded, now.id & 0xFFFFFFFF, tx.numbers[1])
            else:
                tx.revise(now.id, merged)
            relationships = []
            if relates:
                tx.remove_relations([r.id for r in _found_relationships(tx, now.name)])
                relationships = tx.relate(content.with_targets(tx, drawn))
            if not keep_previous:
                tx.set_extra(now.id, {key: value for key, value in now.extra.items() if key != content.EARLIER})
                tx.purge_versions(now.id)
            return StoredItem(find_item(tx, id, session), relationships)

        return self._write("update_content", update, step, (whole,) if rewrites else ())

    def delete_item(
        self,
        id: str,
        *,
        session: str | None = None,
        hard: bool = False,
        keep_relationships: bool = False,
        keep_references: bool = False,
        step: Step | None = None,
    ) -> tuple[Record, int, int]:
        """Delete an item, with ``hard`` permanently; return it with the number of relationships deleted and kept.

        ``keep_relationships`` keeps all its relationships, ``keep_references`` those that point to it. They are
        marked as leading to a deleted item.
        """

        def delete(tx: Transaction) -> tuple[Record, int, int]:
            record = find_deleted(tx, id, session) if hard else None
            record = record or find_item(tx, id, session)
            links = tx.relations_of([record.name])
            remaining = [
                RelationDraft(
                    r.source, r.target, r.type, r.strength,
                    # The evidence of a detected relationship quotes the texts of its ends.
                    None if hard and r.origin == "auto" else r.context,
                    {**r.metadata, _DELETED: True}, r.extra, r.origin, r.created,
                )
                for r in links
                if keep_relationships or (keep_references and r.target == record.name and r.source != record.name)
            ]  # fmt: skip
            if hard:
                tx.purge([record.id])  # with all its relations, in the journal too
            else:
                tx.remove_relations([r.id for r in links])
                tx.remove_records([record.id])
            tx.relate(remaining)
            return record, len(links) - len(remaining), len(remaining)

        return self._write("delete_content", delete, step)

    def restore_item(self, id: str, *, session: str | None = None, step: Step | None = None) -> StoredItem:
        """Restore a deleted item, with those of its relationships whose other end exists."""

        def restore(tx: Transaction) -> StoredItem:
            deleted = find_deleted(tx, id, session)
            if deleted is None:
                raise Conflict(
                    f"The content {find_item(tx, id, session).uid} is there, so it cannot be restored",
                    hint="To change it, leave options.restore out.",
                )
            tx.restore_record(deleted.id)
            return StoredItem(find_item(tx, id, session), tx.relations_of([deleted.name]))

        return self._write("update_content", restore, step)

    def relate_items(
        self,
        source: str,
        target: str,
        type: str,
        *,
        strength: float | None = None,
        context: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        session: str | None = None,
        step: Step | None = None,
    ) -> tuple[Relation, bool]:
        """Create a typed relationship between two items, replacing an existing one; return it and whether it is new."""
        if type not in RELATIONSHIPS:
            raise Invalid(f"type is {type!r:.60}, but must be one of: {', '.join(RELATIONSHIPS)}", field="type")
        if strength is not None and not 0 <= strength <= 1:
            raise Invalid(f"strength is {strength}, but must be from 0 to 1", field="strength")
        if context is not None:
            legal_text(context, "context", self.limits.text_bytes)
        more = content.check_metadata(metadata, self.limits)

        def relate(tx: Transaction) -> tuple[Relation, bool]:
            missing, names = [], []
            for id in (source, target):
                try:
                    names.append(find_item(tx, id, session).name)
                except NotFound:
                    missing.append(id)
            if missing:
                raise NotFound(missing, "Content", hint="Both ends must exist in the project.")
            if names[0] == names[1]:
                hint = "A relationship links two contents; name another one."
                raise Invalid("source_id and target_id are the same content", field="target_id", hint=hint)
            old = tx.find_relations([(names[0], names[1], type)])
            tx.remove_relations([one.id for one in old])
            (made,) = tx.relate([RelationDraft(names[0], names[1], type, strength, context, more)])
            return made, not old

        return self._write("create_relationship", relate, step)


def _named(snapshot: Snapshot, names: Sequence[str]) -> dict[str, Record]:
    ids = snapshot.ids(list(dict.fromkeys(names))) if names else {}
    return {record.name: record for record in snapshot.load(list(ids.values()))}


def _found_relationships(snapshot: Snapshot, name: str) -> list[Relation]:
    """The relationships detected in the text of an item."""
    from polymnia.engine.knowledge.associations import TYPE

    return [r for r in snapshot.relations_from([name]) if r.origin == "auto" and r.type != TYPE]


def _check_content_type(content_type: str) -> str:
    """Return a MIME type, with or without parameters (text/plain; charset=utf-8), or refuse it."""
    top, _, sub = content_type.partition(";")[0].strip().partition("/")
    if not top or not sub or any(c.isspace() for c in top + sub):
        raise Invalid(
            f"content_type is {content_type!r:.60}, which is no MIME type",
            field="content_type",
            hint="Write it as type/subtype, such as text/markdown.",
        )
    return content_type.strip()
