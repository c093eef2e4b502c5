"""Items: making, changing, relating, reading and deleting documents and decisions, and what they were."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from polymnia.engine import content, items, scopes
from polymnia.engine.graph import Step
from polymnia.engine.items import ItemDraft, StoredItem, Version
from polymnia.engine.ports import Snapshot, Transaction
from polymnia.engine.verbs.base import Verbs
from polymnia.errors import Conflict, Invalid, NotFound
from polymnia.importing import importing
from polymnia.models import Change, JsonObject, Record, Relation, RelationDraft, legal_name, legal_text, new_id

if TYPE_CHECKING:
    from polymnia.engine.search.neighbours import EmbeddedText

_DELETED = "deleted"  # the key in the metadata of a relationship whose other end is gone


_CANDIDATES = 30


class ItemVerbs(Verbs):
    """Storing, changing, relating and deleting items, and reading them with relationships, versions and vectors."""

    def item(self, id: str, *, session: str | None = None) -> Record:
        """An item by its id."""
        with self.store.read(self.project) as snapshot:
            record = items.find_item(snapshot, id, session)
        self._read_by([record.id], opened=True)
        return record

    def nearest_id(self, id: str, *, session: str | None = None) -> str | None:
        """The id most like one that is not there, of what the caller may see; None where none comes close."""
        from difflib import get_close_matches

        with self.store.read(self.project) as snapshot:
            names = snapshot.names_starting(id[: max(8, len(id) // 2)], _CANDIDATES)
            seen = [one.uid for one in _named(snapshot, names).values() if one.session in (None, session)]
        return next(iter(get_close_matches(id, seen, n=1, cutoff=0.8)), None)

    def item_relations(self, record: Record, *, session: str | None = None) -> list[tuple[Relation, Record | None]]:
        """The relationships of an item with what is at their other end; None where that is gone."""
        with self.store.read(self.project) as snapshot:
            links = snapshot.relations_of([record.name])
            names = [r.target if r.source == record.name else r.source for r in links]
            found = _named(snapshot, names)
        # What leads to another session's item is none of this one's business.
        hidden = {name for name, one in found.items() if one.session not in (None, session)}
        return [(link, found.get(name)) for link, name in zip(links, names, strict=True) if name not in hidden]

    def item_versions(self, id: str, *, session: str | None = None, limit: int | None = None) -> list[Version]:
        """An item as every change left it, newest first; a deleted one from its last state on."""
        with self.store.read(self.project) as snapshot:
            record = items.find_deleted(snapshot, id, session) or items.find_item(snapshot, id, session)
            told = [Version(change, one) for change, one in snapshot.versions(record.id)]
        told += items.brought(record)
        distinct = [one for i, one in enumerate(told) if i == 0 or one.record.version != told[i - 1].record.version]
        return distinct if limit is None else distinct[:limit]

    def item_deletion(self, id: str, *, session: str | None = None) -> Change | None:
        """The change that deleted an item; None while it is there."""
        with self.store.read(self.project) as snapshot:
            if items.find_deleted(snapshot, id, session) is None:
                return None
            return next((event.change for event in reversed(snapshot.history(id)) if event.deleted), None)

    def item_vectors(self, record: Record) -> dict[str, list[list[float]]]:
        """The vectors of an item, model by model, one for each of its passages."""
        with self.finding().look(self.project) as look:
            said = look.held(record.id - look.base)
            return {} if said is None else {model: rows.tolist() for model, rows in said.vectors.items()}

    def similar_items(
        self,
        *,
        text: str | None = None,
        id: str | None = None,
        session: str | None = None,
        limit: int = 10,
        threshold: float = 0.0,
        measure: str = "cosine",
        include_self: bool = False,
        content_types: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> list[tuple[Record, float]]:
        """The items most similar to a text or to another item, by one of three measures, each from 0 to 1."""
        with importing():
            from polymnia.engine.knowledge.similarity import similar

        if (text is None) == (id is None):
            raise Invalid("Give either content or content_id", field="content")
        record = None
        if id is not None:
            with self.store.read(self.project) as snapshot:
                record = items.find_item(snapshot, id, session)
        said_text = content.content(record) if record is not None else text or ""
        legal_text(said_text, "content", self.limits.text_bytes)
        finder = self.finding()
        asked = record or Record(id=0, uid="-", name="-", kind=items.CONTENT, observations=(said_text,))
        said = finder.said(self.project, *content.read_as(asked))
        wanted = replace(items.visible(session), content_types=tuple(content_types))
        leave = {*exclude, *([record.uid] if record is not None and not include_self else [])}
        with finder.look(self.project) as look:
            found = similar(look, said, said_text, wanted, measure, limit, threshold, leave)
        self._read_by((one.id for one, _ in found), opened=False)
        return found

    def store_item(
        self, draft: ItemDraft, *, embed: bool | None = None, relate: bool = False, step: Step | None = None
    ) -> StoredItem:
        """Store an item. With ``embed`` it has its vectors when this returns; False means it never gets any.

        With ``relate`` the relationships its text shows are drawn, each with its evidence.
        """
        self._check_once()
        record = self._planned(draft)
        said, drawn = self._read(record, draft.session, embed, relate)

        def store(tx: Transaction) -> StoredItem:
            scopes.begin(tx, record.session)
            (made,) = tx.add_records([content.as_draft(record)])
            number = made.id & 0xFFFFFFFF
            self._vectors(tx, record, said, embed, number, number + 1)
            return StoredItem(made, tx.relate(content.still_there(tx, drawn)))

        return self._write("store_content", store, step, record.observations)

    def _planned(self, draft: ItemDraft) -> Record:
        legal_text(draft.text, "content", self.limits.text_bytes)
        if not draft.text.strip():
            raise Invalid("content is empty", field="content", hint="Give the text to store.")
        now = time.time_ns() // 1000
        uid = items.new_item_id(new_id())
        session = None if draft.session is None else scopes.legal_session(draft.session)
        record = Record(
            id=0, uid=uid, name=uid, kind=draft.kind, observations=(draft.text,), session=session,
            scope=None if session is None else f"{scopes.SESSIONS}/{session}",
            content_type=items.check_content_type(legal_name(draft.content_type, "content_type", self.limits)),
            summary=None if draft.summary is None else legal_text(draft.summary, "summary", self.limits.text_bytes),
            tags=content.check_tags(draft.tags, self.limits),
            metadata=content.check_metadata(draft.metadata, self.limits), created=now,
        )  # fmt: skip
        return self._screened(record)

    def _read(
        self, record: Record, session: str | None, embed: bool | None, relate: bool
    ) -> tuple[EmbeddedText | None, list[RelationDraft]]:
        """The item as the models see it, and the relationships to draw; both only where they are asked for."""
        if not relate and not embed:
            return None, []
        finder = self.finding()
        said = finder.said(self.project, *content.read_as(record), needed=bool(embed))
        if not relate:
            return said, []
        with importing():
            from polymnia.engine.knowledge.relationships import drafts

        with finder.look(self.project) as look:
            drawn = drafts(look, record, said, session)
        return said if embed is not False else None, drawn

    def _vectors(
        self, tx: Transaction, record: Record, said: EmbeddedText | None, embed: bool | None, memory: int, text: int
    ) -> None:
        """Keep the vectors that were made, or that there are to be none."""
        if embed is False:
            from polymnia.engine.search.passages import read

            head, body = content.read_as(record)
            numbers = {head.id: memory, body.id: text}
            none = [(numbers[one.text], one.part, b"", b"") for one in read([head, body]) if one.embeds]
            for channel in self.finding().channels:
                tx.put_vectors(channel.name, channel.embedder.dimensions, none)
        else:
            self._keep_vectors(tx, said, memory, text)

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
        """Change what is given of an item: tags are replaced, metadata is merged, the version rises by one.

        What is derived from the text follows it (:mod:`polymnia.engine.knowledge.derived`), and so do the
        relationships that were found in it, unless ``relate`` is False; with True they are looked for in any case.
        Without ``keep_previous`` the versions before are gone for good.
        """
        from polymnia.engine.knowledge.associations import TYPE
        from polymnia.engine.knowledge.derived import following

        changes: JsonObject = {}
        if summary is not None:
            changes["summary"] = legal_text(summary, "updates.summary", self.limits.text_bytes) or None
        if tags is not None:
            changes["tags"] = content.check_tags(tags, self.limits)
        if text is not None:
            legal_text(text, "updates.content", self.limits.text_bytes)
            if not text.strip():
                raise Invalid(
                    "updates.content is empty", field="updates.content", hint="To delete the item, ask for that."
                )
            text = self.screen.text(text, "updates.content")
        more = content.check_metadata(metadata or {}, self.limits)
        self._check_once()
        with self.store.read(self.project) as snapshot:
            record = items.find_item(snapshot, id, session)
            found = [r for r in snapshot.relations_from([record.name]) if r.origin == "auto"] if relate is None else []
        if text is not None:
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
        # Whoever wants the vectors made anew, or gone, has the text written anew: vectors belong to a text.
        says = (text is not None and text != content.content(record)) or (
            embed is not None and len(record.observations) == 1
        )
        if relate is None:
            relate = text is not None and text != content.content(record) and any(r.type != TYPE for r in found)
        said, drawn = self._read(planned, session, embed, relate)

        def update(tx: Transaction) -> StoredItem:
            now = items.find_item(tx, id, session)
            if text is not None:
                content.check_one_text(now, text)
            merged = {**changes, "metadata": follow.merged(now.metadata, more)}
            if says and (text is not None or now.observations == record.observations):
                tx.replace_record(now.id, replace(content.as_draft(now), **merged, observations=(whole,)))
                self._vectors(tx, planned, said, embed, now.id & 0xFFFFFFFF, tx.numbers[1])
            else:
                tx.revise(now.id, merged)
            if relate:
                old = [r for r in tx.relations_from([now.name]) if r.origin == "auto" and r.type != TYPE]
                tx.remove_relations([r.id for r in old])
            drawn_now = tx.relate(content.still_there(tx, drawn)) if relate else []
            if not keep_previous:
                tx.set_extra(now.id, {key: value for key, value in now.extra.items() if key != items.EARLIER})
                tx.forget_past(now.id)
            return StoredItem(items.find_item(tx, id, session), drawn_now)

        return self._write("update_content", update, step, (whole,) if says else ())

    def detect(self, records: Sequence[Record]) -> int:
        """Draw the relationships that the texts of these items show, as one change; answers how many."""
        drawn: list[RelationDraft] = []
        for record in records:
            if len(record.observations) == 1:
                drawn += self._read(record, record.session, None, True)[1]

        def draw(tx: Transaction) -> int:
            ends = list(dict.fromkeys((one.source, one.target, one.type) for one in drawn))
            known = {relation.ends for relation in tx.find_relations(ends)}
            new = [one for one in content.still_there(tx, drawn) if (one.source, one.target, one.type) not in known]
            return len(tx.relate(new))

        return self._write("detect_relationships", draw) if drawn else 0

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
        """Delete an item; ``hard`` leaves nothing of it. Answers it, and how many relationships went and were kept.

        ``keep_relationships`` keeps every relationship of it, ``keep_references`` those that point to it. What is kept
        is marked as leading to something deleted.
        """

        def delete(tx: Transaction) -> tuple[Record, int, int]:
            record = items.find_deleted(tx, id, session) if hard else None
            record = record or items.find_item(tx, id, session)
            links = tx.relations_of([record.name])
            kept = [
                r
                for r in links
                if keep_relationships or (keep_references and r.target == record.name and r.source != record.name)
            ]
            if hard:
                tx.purge([record.id])  # with every relation of it, and what the journal keeps of them
            else:
                tx.remove_relations([r.id for r in links])
                tx.remove_records([record.id])
            tx.relate(
                RelationDraft(
                    r.source, r.target, r.type, r.strength,
                    # The reason we found for a relationship quotes the texts of its ends.
                    None if hard and r.origin == "auto" else r.context,
                    {**r.metadata, _DELETED: True}, r.extra, r.origin, r.created,
                )
                for r in kept
            )  # fmt: skip
            return record, len(links) - len(kept), len(kept)

        return self._write("delete_content", delete, step)

    def restore_item(self, id: str, *, session: str | None = None, step: Step | None = None) -> StoredItem:
        """Bring back an item that was deleted, with its relationships as far as their other ends are there."""

        def restore(tx: Transaction) -> StoredItem:
            deleted = items.find_deleted(tx, id, session)
            if deleted is None:
                raise Conflict(
                    f"The content {items.find_item(tx, id, session).uid} is there, so it cannot be restored",
                    hint="To change it, leave options.restore out.",
                )
            tx.bring_back(deleted.id)
            return StoredItem(items.find_item(tx, id, session), tx.relations_of([deleted.name]))

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
        """Draw a typed relationship between two items; one that is there already is drawn anew. Tells if it is new."""
        items.check_type(type)
        if strength is not None and not 0 <= strength <= 1:
            raise Invalid(f"strength is {strength}, but must be from 0 to 1", field="strength")
        if context is not None:
            legal_text(context, "context", self.limits.text_bytes)
        more = content.check_metadata(metadata or {}, self.limits)

        def relate(tx: Transaction) -> tuple[Relation, bool]:
            missing, names = [], []
            for id in (source, target):
                try:
                    names.append(items.find_item(tx, id, session).name)
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
    return {record.name: record for record in snapshot.load(list(ids.values()))} if ids else {}
