"""Remembering: storing a text as a memory of its own, and revising it, with what links it to others."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from polymnia.engine import content, scopes
from polymnia.engine.content import Remembered, Revised
from polymnia.engine.graph import Step
from polymnia.engine.ports import Transaction
from polymnia.engine.verbs.content import ContentVerbs
from polymnia.errors import Invalid
from polymnia.models import DEFAULT_SCOPE, Limits, Record, RelationDraft, legal_name, legal_text, new_id

if TYPE_CHECKING:
    from polymnia.engine.search.nearness import Look, Said

__all__ = ["RememberingVerbs"]

_NEAR = 24  # neighbours that are looked at: twice as many as are linked, and some that turn out to be the same


class RememberingVerbs(ContentVerbs):
    """Storing and revising memories that say one thing."""

    def remember(
        self,
        text: str,
        *,
        scope: str = DEFAULT_SCOPE,
        category: str | None = None,
        tags: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        kind: str = content.KIND,
        allow_duplicates: bool = False,
        associate: bool = True,
        threshold: float = 0.95,
        step: Step | None = None,
    ) -> Remembered:
        """Store a text as a memory of its own, unless one in the same scope says the same already.

        ``threshold`` is how similar two texts must be to be one; whatever it is, texts that differ in a number, a
        name, a negation or a decisive word are two. With ``associate`` the memory is linked to those nearest to it.
        """
        record = self._draft(text, scope, category, tags, metadata, kind, threshold)
        if allow_duplicates and not associate:
            return Remembered(
                record=self._write("remember", lambda tx: self._keep(tx, record, None, []), step, (text,))
            )
        finder = self.finding()
        said = finder.said(self.project, *content.read_as(record))

        def around(look: Look) -> tuple[Look, Remembered | None, list[RelationDraft]]:
            from polymnia.engine import associations
            from polymnia.engine.duplicates.known import duplicate

            near = associations.neighbours(look, said, text, most=_NEAR)
            ranked = look.ranked(near)
            known = None if allow_duplicates else duplicate(look, record, said, ranked, threshold)
            alike = associations.likeness(near)
            drawn = (
                associations.drafts(record.name, record.tags, text, ranked, alike) if associate and not known else []
            )
            return look, known, drawn

        look, known, drawn = finder.look(self.project, around)
        if known is not None:
            return self._with_links(known)

        def keep(tx: Transaction) -> Record | Remembered:
            if not allow_duplicates:
                from polymnia.engine.duplicates.known import first_duplicate

                newer = look.newer(tx, said)
                base = tx.numbers[0] << 32  # the project may not have been there when we looked
                ranked = [(r, newer[r.id - base]) for r in tx.load([base + number for number in newer])]
                again = first_duplicate(record, ranked, threshold)
                if again is not None:
                    return again
            return self._keep(tx, record, said, drawn)

        done = self._write("remember", keep, step, (text,))
        if isinstance(done, Remembered):
            return self._with_links(done)
        notes = [f"Not compared by meaning: {fault.message}" for fault in (finder.broken(),) if fault is not None]
        return self._with_links(Remembered(record=done, notes=notes))

    def _with_links(self, done: Remembered) -> Remembered:
        with self.store.read(self.project) as snapshot:
            return replace(done, associations=self._associated(snapshot, done.record))

    def _draft(
        self, text: str, scope: str, category: str | None, tags: Sequence[str], metadata: Mapping[str, Any] | None,
        kind: str, threshold: float,
    ) -> Record:  # fmt: skip
        _check_text(text, self.limits.text_bytes)
        if not 0 <= threshold <= 1:
            raise Invalid(f"similarity_threshold is {threshold}, but must be from 0 to 1", field="similarity_threshold")
        now = time.time_ns() // 1000
        uid = new_id(now)
        return Record(
            id=0, uid=uid, name=uid, kind=legal_name(kind, "kind", self.limits), observations=(text,),
            category=_category(category, self.limits), tags=content.check_tags(tags, self.limits),
            metadata=content.check_metadata(metadata or {}, self.limits), created=now,
            **scopes.filed(scopes.legal_scope(scope, "scope")),
        )  # fmt: skip

    def _keep(self, tx: Transaction, record: Record, said: Said | None, drawn: list[RelationDraft]) -> Record:
        scopes.begin(tx, record.session)
        (made,) = tx.add_records([content.as_draft(record)])
        number = made.id & 0xFFFFFFFF
        self._keep_vectors(tx, said, number, number + 1)
        tx.relate(content.still_there(tx, drawn))
        return made

    def revise(
        self,
        id: str,
        *,
        text: str | None = None,
        scope: str | None = None,
        category: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        keep_associations: bool = True,
        step: Step | None = None,
    ) -> Revised:
        """Change what is given of a memory and nothing else; the version before stays in its history.

        An empty category takes the category away. Without ``keep_associations`` the relations that were drawn by
        themselves are drawn anew; those that somebody drew stay.
        """
        changes: dict[str, Any] = {}
        if scope is not None:
            changes |= scopes.filed(scopes.legal_scope(scope, "scope"))
        if category is not None:
            changes["category"] = _category(category, self.limits)
        if tags is not None:
            changes["tags"] = content.check_tags(tags, self.limits)
        if metadata is not None:
            changes["metadata"] = content.check_metadata(metadata, self.limits)
        if text is not None:
            _check_text(text, self.limits.text_bytes)
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
        planned = replace(record, **changes, observations=record.observations if text is None else (text,))
        says = text is not None and text != content.content(record)
        said, drawn = None, list[RelationDraft]()
        if says or not keep_associations:
            said, drawn = self._around(planned, says, not keep_associations)

        def change(tx: Transaction) -> tuple[Record, bool]:
            now = content.find(tx, record.uid)
            scopes.begin(tx, changes.get("session"))
            changed = False
            if says:
                draft = replace(content.as_draft(now), observations=(text or "",), **changes)
                tx.replace_record(now.id, draft)
                self._keep_vectors(tx, said, now.id & 0xFFFFFFFF, tx.numbers[1])
                changed = True
            elif changes:
                changed = tx.revise(now.id, changes)
            if not keep_associations:
                changed = _redraw(tx, now.name, drawn) or changed
            return content.find(tx, record.uid), changed

        done, changed = self._write("revise", change, step, (text,) if says and text else ())
        with self.store.read(self.project) as snapshot:
            links = self._associated(snapshot, done)
        return Revised(record=done, changed=changed, associations=links)

    def _around(self, planned: Record, says: bool, draws: bool) -> tuple[Said | None, list[RelationDraft]]:
        finder = self.finding()
        said = finder.said(self.project, *content.read_as(planned))
        if not draws:
            return said, []

        def around(look: Look) -> list[RelationDraft]:
            from polymnia.engine import associations

            text = content.content(planned)
            near = associations.neighbours(look, said, text, without=planned.id - look.base)
            ranked = look.ranked(near)
            return associations.drafts(planned.name, planned.tags, text, ranked, associations.likeness(near))

        return said if says else None, finder.look(self.project, around)


def _redraw(tx: Transaction, name: str, drawn: list[RelationDraft]) -> bool:
    from polymnia.engine import associations

    old = [r for r in tx.relations_of([name]) if r.origin == "auto" and r.type == associations.TYPE]
    new = content.still_there(tx, drawn)
    if {(r.source, r.target, r.strength) for r in old} == {(r.source, r.target, r.strength) for r in new}:
        return False
    tx.remove_relations([relation.id for relation in old])
    tx.relate(new)
    return True


def _check_text(text: str, limit: int) -> None:
    legal_text(text, "content", limit)
    if not text.strip():
        raise Invalid("content is empty", field="content", hint="Give the text to remember.")


def _category(category: str | None, limits: Limits) -> str | None:
    return legal_name(category, "category", limits).strip() or None if category is not None else None
