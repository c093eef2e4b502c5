"""Memories of one text: storing, revising, reading, moving and forgetting them, and what links them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import content, items, scopes
from polymnia.engine.content import Moved, Remembered, Revised
from polymnia.engine.graph import Step
from polymnia.engine.ports import Snapshot, Transaction
from polymnia.engine.text.calendar import moment
from polymnia.engine.verbs.base import Verbs
from polymnia.errors import Invalid, NotFound, OverLimit
from polymnia.models import (
    DEFAULT_SCOPE,
    JsonObject,
    Limits,
    Record,
    Relation,
    RelationDraft,
    legal_name,
    legal_text,
    new_id,
)

if TYPE_CHECKING:
    from polymnia.engine.knowledge.associations import Discovery
    from polymnia.engine.search.finder import Finder
    from polymnia.engine.search.neighbours import EmbeddedText, Neighbours

_NEAR = 24  # neighbours that are looked at: twice as many as are linked
_SAME_WORDS = 0.999  # a similarity only texts with the same telling words have
_COMPARED = 2_000  # characters of each
_ASKED, _WORTH_ASKING = 4, 0.4  # neighbours the judge is asked about, and how similar they are at least
_SIMILAR = 5  # memories that are named because they are nearly the same


class _Around(Struct, frozen=True):
    """What is known of the surroundings of a memory to be: its neighbours, and the relations to draw to them."""

    said: EmbeddedText | None = None
    ranked: list[tuple[Record, float]] = []
    drawn: list[RelationDraft] = []
    pending: bool = False
    notes: list[str] = []


def _around(finder: Finder, look: Neighbours, record: Record, said: EmbeddedText, *, without: int = 0) -> _Around:
    from polymnia.engine.knowledge import associations

    text = content.content(record)
    pending = finder.lacks_vectors(look)
    near, by_meaning = associations.neighbours(look, said, text, without=without, most=_NEAR)
    ranked = associations.ranked(look, near)
    drawn = associations.drafts(record, ranked, by_meaning) if by_meaning or not pending else []
    if pending and near and by_meaning:
        # What has no vector yet is compared by its words.
        more = {
            number: share for number, share in look.by_words(text[: associations.READ], _NEAR) if number not in near
        }
        ranked = sorted([*ranked, *associations.ranked(look, more)], key=lambda one: -one[1])
    fault = finder.broken()
    notes = [] if fault is None else [f"Not compared by meaning: {fault.message}"]
    return _Around(said, [(one, _alike(text, one, share)) for one, share in ranked], drawn, pending, notes)


def _alike(text: str, other: Record, similarity: float) -> float:
    """A similarity as it is shown: 1 is for texts that are the same.

    Two texts whose telling words are the same may still differ in a "not" or a "before": then every word counts.
    """
    from collections import Counter

    from polymnia.models.normal import normal

    said = content.content(other)
    if similarity < _SAME_WORDS or normal(text) == normal(said):
        return min(round(similarity, 4), 1.0)
    ours, theirs = (Counter(one[:_COMPARED].casefold().split()) for one in (text, said))
    shared = 2 * (ours & theirs).total() / max(1, ours.total() + theirs.total())
    return min(round(similarity * shared, 4), 0.9999)


def _join(tx: Transaction, id: int, record: Record) -> Remembered:
    (there,) = tx.load([id])
    added = content.joined(there, record.tags, record.category, record.metadata)
    return Remembered(record=there if added is None else content.join(tx, there, added), duplicate=True, joined=added)


def _redraw(tx: Transaction, name: str, drawn: list[RelationDraft]) -> bool:
    from polymnia.engine.knowledge import associations

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


_LINKS = 50
_SHORTEST_ID = 8  # characters of an id that may stand for all of it
_AMBIGUOUS = 5  # ids listed when a beginning fits more than one


def _gone(snapshot: Snapshot, name: str) -> NotFound:
    """A memory that is not there: because it was deleted, or because there never was one."""
    if (events := snapshot.history(name)) and (last := events[-1]).deleted:
        hint = f"`polymnia undo --change {last.change.id}` brings it back, `polymnia history` tells what it said."
        return NotFound([name], message=f"{name!r} was deleted at {moment(last.change.at)}", hint=hint)
    return NotFound([name], "Memory", hint="Search for it, or list what there is.")


class MemoryVerbs(Verbs):
    """Storing, revising, reading, moving and forgetting memories that say one thing."""

    def read(self, id: str) -> tuple[Record, list[tuple[Record, Relation]]]:
        """A memory by its id (or its name), and those it is linked to with the relation, strongest first."""
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
            return record, self._associated(snapshot, record)

    def resolve(self, text: str) -> Record:
        """The memory of an id, a name, or the beginning of an id: eight characters or more that only one id has."""
        with self.store.read(self.project) as snapshot:
            found = list(content.finds(snapshot, [text]).values())
            if not found and len(text) >= _SHORTEST_ID:
                prefixes = (text, items.new_item_id(text))
                uids = [uid for prefix in prefixes for uid in snapshot.uids_starting(prefix, _AMBIGUOUS + 1)]
                if len(uids) > 1:
                    listed = ", ".join(uids[:_AMBIGUOUS]) + (", …" if len(uids) > _AMBIGUOUS else "")
                    raise Invalid(f"More than one id starts with {text!r}", hint=f"Write more of it: {listed}.")
                found = list(snapshot.ids_of(uids).values()) if uids else []
            if not found:
                raise _gone(snapshot, text)
            return snapshot.load(found)[0]

    def page(self, page: int, size: int) -> tuple[list[Record], int]:
        """A page of all memories, newest first, counted from 1; and how many memories there are in all."""
        with self.store.read(self.project) as snapshot:
            total = sum(count for _, count in snapshot.scopes())
            skip = (page - 1) * size
            return snapshot.page(skip, size) if skip < total else [], total

    def discover(self, id: str, *, limit: int = 10, threshold: float = 0.1) -> Discovery:
        """What else has to do with a memory: by meaning, shared tags and names, time, and existing relations."""
        finder = self.finding()
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
        with finder.look(self.project) as look:
            if (said := look.held(record.id - look.base)) is not None:
                return _discovered(look, record, said, limit, threshold)
        said = finder.said(self.project, *content.read_as(record))
        with finder.look(self.project) as look:
            return _discovered(look, record, said, limit, threshold)

    def _associated(self, snapshot: Snapshot, record: Record) -> list[tuple[Record, Relation]]:
        from polymnia.engine.knowledge.associations import links_of

        return links_of(snapshot, [record], _LINKS)[record.uid]

    # ── changing ──────────────────────────────────────────────────────────────────────────────────────

    def forget(self, id: str, *, step: Step | None = None) -> Record:
        """Delete a memory for good, with its history and everything that links to it. Cannot be undone."""

        def purge(tx: Transaction) -> Record:
            record = content.find(tx, id)
            tx.purge([record.id])
            return record

        return self._write("forget", purge, step, gives=Record)

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
            moved, there, failed, same = [], [], [], dict[str, int]()
            records = {record.id: record for record in tx.load(list(found.values()))}
            if records:
                scopes.begin(tx, scopes.session_of(target))
            for i, id in enumerate(wanted):
                if step is not None and i % 1000 == 0:
                    step(i, len(wanted))
                record = records.get(found.get(id, 0))
                if record is None:
                    failed.append((id, f"Memory with ID '{id}' not found"))
                    continue
                other = content.same_there(tx, record, scopes.filed(target)["scope"])
                if tx.revise(record.id, scopes.filed(target)):
                    moved.append((record.uid, scopes.shown(record.scope), target))
                    if other is not None:
                        same[record.uid] = other
                else:
                    there.append(record.uid)
            return Moved(scope=target, moved=moved, there=there, failed=failed, same=content.pairs(tx, same))

        return self._write("move", move, step, gives=Moved)

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
        patient: bool = True,
        step: Step | None = None,
    ) -> Remembered:
        """Store a text as a memory of its own, unless one in the same scope says exactly the same already.

        The same are texts of one normal form (:func:`polymnia.models.normal.normal`). A duplicate is not stored; the
        tags, category and metadata that came with it are joined to the memory that is there. Everything else is
        stored, and memories that are at least as similar as ``threshold``, or that say the same in other words, are
        named in the answer. With ``associate`` the memory
        is linked to those nearest to it. Who is not ``patient`` does not wait for a model that is being loaded: what it
        would link is linked in the background.
        """
        record = self._draft(text, scope, category, tags, metadata, kind, threshold)
        if not allow_duplicates and (known := self._known(record, step)) is not None:
            return self._with_links(known)
        around = _Around()
        if associate or not allow_duplicates:
            finder = self.finding()
            said = finder.said(self.project, *content.read_as(record), patient=patient)
            with finder.look(self.project, patient=patient) as look:
                around = _around(finder, look, record, said)
        drawn = around.drawn if associate else []
        pending = associate and around.pending

        def keep(tx: Transaction) -> Remembered:
            if not allow_duplicates and (again := tx.same_text(text, record.scope)) is not None:
                return _join(tx, again, record)
            return Remembered(record=self._keep(tx, record, around.said, drawn, pending))

        remembered = self._write("remember", keep, step, (text,), gives=Remembered)
        if remembered.duplicate:
            return self._with_links(remembered)
        done = remembered.record
        if pending:
            self.finding().noticed(self.project)
        if allow_duplicates:
            return self._with_links(Remembered(record=done, pending=pending, notes=around.notes))
        again = self._reworded(text, around.ranked, patient)
        similar = [one for one in around.ranked if one[1] >= threshold or one[0].uid in again][:_SIMILAR]
        return self._with_links(
            Remembered(record=done, similar=similar, reworded=again, pending=pending, notes=around.notes)
        )

    def _reworded(self, text: str, ranked: list[tuple[Record, float]], patient: bool) -> frozenset[str]:
        """The ids of neighbours that say the same in other words. Who is not patient does not wait for the judge."""
        from polymnia.engine.knowledge import duplicates
        from polymnia.engine.knowledge.judge import SAME

        judging = self.finding().judging
        near = [one for one in ranked[:_ASKED] if one[1] >= _WORTH_ASKING]
        if judging is None or not near or not (judging.load() if patient else judging.soon()):
            return frozenset()
        pairs = [(text, content.content(one)) for one, _ in near]
        sure = duplicates.same(judging, pairs, [similarity for _, similarity in near], SAME)
        return frozenset(one.uid for (one, _), value in zip(near, sure, strict=True) if value)

    def _known(self, record: Record, step: Step | None) -> Remembered | None:
        """The duplicate there is of a memory to be, with what that brings along joined to it."""
        with self.store.read(self.project) as snapshot:
            id = snapshot.same_text(record.observations[0], record.scope)
            if id is None:
                return None
            (there,) = snapshot.load([id])
        if content.joined(there, record.tags, record.category, record.metadata) is None and self.once is None:
            return Remembered(record=there, duplicate=True)

        def join(tx: Transaction) -> Remembered | None:
            again = tx.same_text(record.observations[0], record.scope)
            return None if again is None else _join(tx, again, record)

        return self._write("remember", join, step, gives=Remembered)

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
        uid = new_id()
        record = Record(
            id=0, uid=uid, name=uid, kind=legal_name(kind, "kind", self.limits), observations=(text,),
            category=_category(category, self.limits), tags=content.check_tags(tags, self.limits),
            metadata=content.check_metadata(metadata or {}, self.limits), created=now,
            **scopes.filed(scopes.legal_scope(scope, "scope")),
        )  # fmt: skip
        return self._screened(record)

    def _keep(
        self, tx: Transaction, record: Record, said: EmbeddedText | None, drawn: list[RelationDraft], pending: bool
    ) -> Record:
        scopes.begin(tx, record.session)
        (made,) = tx.add_records([content.as_draft(record)])
        number = made.id & 0xFFFFFFFF
        self._keep_vectors(tx, said, number, number + 1)
        tx.relate(content.still_there(tx, drawn))
        if pending:
            from polymnia.engine.knowledge import associations

            associations.put_off(tx, made)
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
        patient: bool = True,
        step: Step | None = None,
    ) -> Revised:
        """Change what is given of a memory and nothing else; the version before stays in its history.

        An empty category takes the category away. Without ``keep_associations`` the relations that were drawn by
        themselves are drawn anew; those that somebody drew stay. ``patient`` as in :meth:`remember`.
        """
        from polymnia.engine.knowledge import associations
        from polymnia.engine.knowledge.derived import following

        changes: JsonObject = {}
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
            text = self.screen.text(text, "content")
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
        if text is not None:
            content.check_one_text(record, text)
        follow = following(record, text, {} if metadata is None else changes["metadata"], summary=False)
        text = follow.text if text is None else text
        changes = follow.fields | changes
        if metadata is None and follow.metadata:
            changes["metadata"] = follow.merged(record.metadata, {})
        planned = replace(record, **changes, observations=record.observations if text is None else (text,))
        says = text is not None and text != content.content(record)
        said, around = None, _Around()
        if says or not keep_associations:
            finder = self.finding()
            said = finder.said(self.project, *content.read_as(planned), patient=patient)
        if said is not None and not keep_associations:
            with finder.look(self.project, patient=patient) as look:
                around = _around(finder, look, planned, said, without=planned.id - look.base)

        def change(tx: Transaction) -> tuple[Record, bool, int | None]:
            now = content.find(tx, record.uid)
            same = content.same_there(tx, planned, planned.scope) if says or planned.scope != record.scope else None
            if text is not None:
                content.check_one_text(now, text)
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
                changed = _redraw(tx, now.name, around.drawn) or changed
                if around.pending:
                    associations.put_off(tx, now)
            return content.find(tx, record.uid), changed, same

        done, changed, same = self._write(
            "revise", change, step, (text,) if says and text else (), gives=tuple[Record, bool, int | None]
        )
        if around.pending:
            self.finding().noticed(self.project)
        with self.store.read(self.project) as snapshot:
            links = self._associated(snapshot, done)
            other = None if same is None else next(iter(snapshot.load([same])), None)
        return Revised(record=done, changed=changed, same=other, associations=links, pending=around.pending)


def _discovered(look: Neighbours, record: Record, said: EmbeddedText, limit: int, threshold: float) -> Discovery:
    """What is around a memory, as the memory is now."""
    from polymnia.engine.knowledge import associations

    now = look.load([record.id - look.base]).get(record.id - look.base, record)
    return associations.discover(look, now, said, limit=limit, threshold=threshold)
