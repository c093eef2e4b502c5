"""Memories by their ids: the verbs of whoever stores contents rather than entities."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from polymnia.engine import content, scopes
from polymnia.engine.content import Moved, Remembered, Revised
from polymnia.engine.graph import Step
from polymnia.engine.ports import Snapshot, Transaction
from polymnia.engine.verbs.base import Verbs
from polymnia.errors import Invalid, OverLimit
from polymnia.models import (
    DEFAULT_SCOPE,
    EntityDraft,
    Filters,
    Record,
    RelationDraft,
    folded_forms,
    legal_name,
    legal_text,
    new_id,
)

if TYPE_CHECKING:
    from polymnia.engine.associations import Discovery
    from polymnia.engine.search.nearness import Look, Said

__all__ = ["ContentVerbs"]

_EXACT = 200  # characters by which the same text is looked for where no model can tell
_LINKS = 50
_NEAR = 24  # neighbours that are looked at: twice as many as are linked, and some that turn out to be the same
_JUDGED = 10  # so many of the nearest are compared word by word
_MANY = 1000
_LARGE = 20_000  # a scope with more memories is not looked through by itself


class ContentVerbs(Verbs):
    """Remembering, reading, revising, moving and forgetting memories by their ids, and what links them."""

    # ── changing ──────────────────────────────────────────────────────────────────────────────────────

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
            return Remembered(record=self._write("remember", lambda tx: self._keep(tx, record, None, []), step))
        finder = self.finding()
        said = finder.said(self.project, *content.read_as(record))

        def around(look: Look) -> tuple[Look, Remembered | None, list[RelationDraft]]:
            from polymnia.engine import associations

            near = associations.neighbours(look, said, text, most=_NEAR)
            loaded = look.load([one.number for one in near])
            ranked = [(loaded[one.number], one.similarity) for one in near if one.number in loaded]
            known = None if allow_duplicates else _duplicate(look, record, said, ranked, threshold)
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
                newer = look.newer(tx, said)
                base = tx.numbers[0] << 32  # the project may not have been there when we looked
                ranked = [(r, newer[r.id - base]) for r in tx.load([base + number for number in newer])]
                again = _first_duplicate(record, ranked, threshold)
                if again is not None:
                    return again
            return self._keep(tx, record, said, drawn)

        done = self._write("remember", keep, step)
        if isinstance(done, Remembered):
            return self._with_links(done)
        notes = [f"Not compared by meaning: {fault.message}" for fault in (finder.broken(),) if fault is not None]
        return self._with_links(Remembered(record=done, notes=notes))

    def _with_links(self, done: Remembered) -> Remembered:
        with self.store.read(self.project) as snapshot:
            return replace(done, associations=_associated(snapshot, done.record))

    def _draft(
        self, text: str, scope: str, category: str | None, tags: Sequence[str], metadata: Mapping[str, Any] | None,
        kind: str, threshold: float,
    ) -> Record:  # fmt: skip
        _check_text(text, self.limits.text_bytes)
        if not 0 <= threshold <= 1:
            raise Invalid(f"similarity_threshold is {threshold}, but must be from 0 to 1", field="similarity_threshold")
        now = _now()
        uid = new_id(now)
        return Record(
            id=0, uid=uid, name=uid, kind=legal_name(kind, "kind", self.limits), observations=(text,),
            category=_category(category, self.limits), tags=content.check_tags(tags, self.limits),
            metadata=content.check_metadata(metadata or {}, self.limits), created=now,
            **scopes.filed(scopes.legal_scope(scope, "scope")),
        )  # fmt: skip

    def _keep(self, tx: Transaction, record: Record, said: Said | None, drawn: list[RelationDraft]) -> Record:
        _begin_session(tx, record.session)
        draft = EntityDraft(
            record.name, record.kind, record.observations, scope=record.scope, session=record.session,
            category=record.category, tags=record.tags, metadata=record.metadata, uid=record.uid,
        )  # fmt: skip
        (made,) = tx.add_records([draft])
        number = made.id & 0xFFFFFFFF
        self._keep_vectors(tx, said, number, number + 1)
        tx.relate(_still_there(tx, drawn))
        return made

    def _keep_vectors(self, tx: Transaction, said: Said | None, memory: int, text: int) -> None:
        if said is not None:
            for channel in self.finding().channels:
                if channel.name in said.vectors:
                    dimensions = channel.embedder.dimensions
                    tx.put_vectors(channel.name, dimensions, said.kept(channel.name, memory, text))

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
            _begin_session(tx, changes.get("session"))
            changed = False
            if says:
                draft = EntityDraft(now.name, now.kind, (text or "",), now.extra, now.scope, now.session, now.category,
                                    now.content_type, now.summary, now.tags, now.metadata)  # fmt: skip
                tx.replace_record(now.id, replace(draft, **changes))
                self._keep_vectors(tx, said, now.id & 0xFFFFFFFF, tx.numbers[1])
                changed = True
            elif changes:
                changed = tx.revise(now.id, changes)
            if not keep_associations:
                changed = _redraw(tx, now.name, drawn) or changed
            return content.find(tx, record.uid), changed

        done, changed = self._write("revise", change, step)
        with self.store.read(self.project) as snapshot:
            links = _associated(snapshot, done)
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
            loaded = look.load([one.number for one in near])
            ranked = [(loaded[one.number], one.similarity) for one in near if one.number in loaded]
            return associations.drafts(planned.name, planned.tags, text, ranked, associations.likeness(near))

        return said if says else None, finder.look(self.project, around)

    def forget(self, id: str, *, step: Step | None = None) -> Record:
        """Delete a memory for good, with its history and everything that links to it. Cannot be undone."""

        def purge(tx: Transaction) -> Record:
            record = content.find(tx, id)
            tx.purge([record.id])
            return record

        return self._write("forget", purge, step)

    def move(self, ids: Sequence[str], scope: str, *, step: Step | None = None) -> Moved:
        """File memories under another scope; those that are not there are told, the others are moved."""
        target = scopes.legal_scope(scope, "target_scope")
        wanted = list(dict.fromkeys(ids))
        if len(wanted) > self.limits.batch:
            raise OverLimit("memory_ids", len(wanted), "items", self.limits.batch, "max_batch")
        for i, id in enumerate(wanted):
            legal_name(id, f"memory_ids[{i}]", self.limits)

        def move(tx: Transaction) -> Moved:
            found = content.finds(tx, wanted)
            moved, there, failed = [], [], []
            records = {record.id: record for record in tx.load(list(found.values()))}
            if records:
                _begin_session(tx, scopes.session_of(target))
            for i, id in enumerate(wanted):
                if step is not None and i % 1000 == 0:
                    step(i, len(wanted))
                record = records.get(found.get(id, 0))
                if record is None:
                    failed.append((id, f"Memory with ID '{id}' not found"))
                    continue
                if tx.revise(record.id, scopes.filed(target)):
                    moved.append((record.uid, scopes.shown(record.scope), target))
                else:
                    there.append(record.uid)
            return Moved(scope=target, moved=moved, there=there, failed=failed)

        return self._write("move", move, step)

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────

    def read(self, id: str) -> tuple[Record, list[tuple[Record, float | None]]]:
        """A memory by its id (or its name), and those it is linked to, strongest first."""
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
            return record, _associated(snapshot, record)

    def page(self, page: int, size: int) -> tuple[list[Record], int]:
        """A page of all memories, newest first, counted from 1; and how many memories there are in all."""
        with self.store.read(self.project) as snapshot:
            total = sum(count for _, count in snapshot.scopes())
            skip = (page - 1) * size
            return snapshot.page(skip, size) if skip < total else [], total

    def associations_of(self, records: Sequence[Record], each: int) -> dict[str, list[tuple[Record, float | None]]]:
        """For each memory, by its id, those it is linked to, strongest first."""
        with self.store.read(self.project) as snapshot:
            return self.linked(snapshot, records, each)

    @staticmethod
    def linked(
        snapshot: Snapshot, records: Sequence[Record], each: int
    ) -> dict[str, list[tuple[Record, float | None]]]:
        """The same within a moment of the store: all of them in one go."""
        from polymnia.engine import associations

        relations = snapshot.strongest([record.name for record in records], each) if records else {}
        links = {record.uid: associations.linked(relations, record.name)[:each] for record in records}
        names = list(dict.fromkeys(name for many in links.values() for name, _ in many))
        ids = snapshot.ids(names) if names else {}
        loaded = {record.name: record for record in snapshot.load(list(ids.values()))} if ids else {}
        return {
            uid: [(loaded[name], relation.strength) for name, relation in many if name in loaded]
            for uid, many in links.items()
        }

    def discover(self, id: str, *, limit: int = 10, threshold: float = 0.1) -> Discovery:
        """What else has to do with a memory: by meaning, shared tags and names, time, and existing relations."""
        finder = self.finding()
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
        fresh: list[Said] = []

        def around(look: Look) -> Discovery | None:
            from polymnia.engine import associations

            found = look.load([record.id - look.base]).get(record.id - look.base, record)
            said = fresh[0] if fresh else look.held(found.id - look.base)
            if said is None:
                return None
            return associations.discover(look, found, said, limit=limit, threshold=threshold)

        done = finder.look(self.project, around)
        if done is None:
            fresh.append(finder.said(self.project, *content.read_as(record)))
            done = finder.look(self.project, around)
        assert done is not None
        return done


def _associated(snapshot: Snapshot, record: Record) -> list[tuple[Record, float | None]]:
    return ContentVerbs.linked(snapshot, [record], _LINKS)[record.uid]


def _duplicate(
    look: Look, record: Record, said: Said, ranked: list[tuple[Record, float]], threshold: float
) -> Remembered | None:
    """The memory of the same scope that says the same already."""
    from polymnia.engine.duplicates import least

    if not any(len(said.rows(model)) for model in said.vectors):
        # No model can tell; the same words are found all the same.
        piece = max(re.split(r"\s{2,}|[^\S ]", record.observations[0].strip()), key=len)
        ids = look.snapshot.containing(folded_forms(piece[:_EXACT]))[:_MANY] if piece else []
        ranked = [(one, 0.0) for one in look.snapshot.load([*ids, *(one.id for one, _ in ranked)])]
    elif ranked and ranked[-1][1] >= least(threshold):
        ranked = _in_scope(look, record, said, least(threshold))
    return _first_duplicate(record, ranked, threshold)


def _in_scope(look: Look, record: Record, said: Said, at_least: float) -> list[tuple[Record, float]]:
    """The nearest memories of one scope: where many are near, those of other scopes must not be in the way."""
    wanted = Filters(scope=scopes.shown(record.scope))
    if look.snapshot.passes_more(wanted, _LARGE):
        near = look.nearest(said, _MANY, at_least=(1 + at_least) / 2)
    else:
        near = look.nearest(said, _JUDGED, among=look.snapshot.matching(wanted))
    loaded = look.load([one.number for one in near])
    return [(loaded[one.number], one.similarity) for one in near if one.number in loaded]


def _first_duplicate(record: Record, ranked: list[tuple[Record, float]], threshold: float) -> Remembered | None:
    from polymnia.engine.duplicates import judged, least

    (text,) = record.observations
    same = [one for one in ranked if one[0].scope == record.scope]
    for other, similarity in same[:_JUDGED] if same and same[0][1] > 0 else same:
        if 0 < similarity < least(threshold):
            continue
        verdict = judged(text, content.content(other), similarity, threshold)
        if verdict.duplicate:
            return Remembered(record=other, duplicate=True, similarity=round(max(similarity, verdict.score), 4))
    return None


def _redraw(tx: Transaction, name: str, drawn: list[RelationDraft]) -> bool:
    from polymnia.engine import associations

    old = [r for r in tx.relations_of([name]) if r.origin == "auto" and r.type == associations.TYPE]
    new = _still_there(tx, drawn)
    if {(r.source, r.target, r.strength) for r in old} == {(r.source, r.target, r.strength) for r in new}:
        return False
    tx.remove_relations([relation.id for relation in old])
    tx.relate(new)
    return True


def _still_there(tx: Transaction, drawn: list[RelationDraft]) -> list[RelationDraft]:
    """The drafts whose target nobody has deleted meanwhile."""
    there = tx.ids([one.target for one in drawn]) if drawn else {}
    return [one for one in drawn if one.target in there]


def _begin_session(tx: Transaction, session: str | None) -> None:
    if session is not None and not tx.has_session(session):
        tx.add_session(session)


def _check_text(text: str, limit: int) -> None:
    legal_text(text, "content", limit)
    if not text.strip():
        raise Invalid("content is empty", field="content", hint="Give the text to remember.")


def _category(category: str | None, limits: Any) -> str | None:
    return legal_name(category, "category", limits).strip() or None if category is not None else None


def _now() -> int:
    return time.time_ns() // 1000
