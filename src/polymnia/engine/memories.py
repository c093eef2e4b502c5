"""Memories with a single text: the name is the id, and the only observation is the content."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import content, scopes
from polymnia.engine.content import Joined, Remembered, Revised
from polymnia.engine.knowledge import KnowledgeVerbs
from polymnia.engine.project import Step
from polymnia.engine.text.calendar import moment
from polymnia.errors import Invalid, NotFound
from polymnia.models import (
    DEFAULT_SCOPE,
    SHORTEST_ID,
    JsonObject,
    Record,
    Relation,
    RelationDraft,
    legal_name,
    new_id,
    normal,
)

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction
    from polymnia.engine.search.neighbours import EmbeddedText

_NEAR = 24  # neighbours examined: twice as many as are linked
_SAME_WORDS = 0.999  # a similarity that only texts with the same content words reach
_COMPARED = 2_000  # characters of each text
_JUDGED, _MIN_JUDGED = 4, 0.4  # neighbours passed to the judge, and their minimum similarity
_SIMILAR = 5  # near-duplicates reported
_LINKS = 50
_AMBIGUOUS = 5  # ids listed when a prefix matches more than one


class _Neighbourhood(Struct, frozen=True):
    """The neighbours of a planned memory, and the relations to create to them."""

    ranked: list[tuple[Record, float]] = []
    drawn: list[RelationDraft] = []
    pending: bool = False
    notes: list[str] = []


class MemoryVerbs(KnowledgeVerbs):
    """Store, revise, read and forget memories with a single text."""

    def read(self, id: str) -> tuple[Record, list[tuple[Record, Relation]]]:
        """Return a memory by id or name, and the memories linked to it with their relations, strongest first."""
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
            return record, _links(snapshot, record)

    def resolve(self, text: str) -> Record:
        """Return a memory by its id, its name, or a unique prefix of its id of at least eight characters."""
        with self.store.read(self.project) as snapshot:
            found = list(content.find_ids(snapshot, [text]).values())
            if not found and len(text) >= SHORTEST_ID:
                prefixes = (text, content.new_item_id(text))
                uids = [uid for prefix in prefixes for uid in snapshot.uids_starting(prefix, _AMBIGUOUS + 1)]
                if len(uids) > 1:
                    listed = ", ".join(uids[:_AMBIGUOUS]) + (", …" if len(uids) > _AMBIGUOUS else "")
                    raise Invalid(f"More than one id starts with {text!r}", hint=f"Write more of it: {listed}.")
                found = list(snapshot.ids_of(uids).values()) if uids else []
            if not found:
                raise _missing(snapshot, text)
            return snapshot.load(found)[0]

    def names_alike(self, name: str) -> list[str]:
        """Return the names that look like this one, whatever the case."""
        with self.store.read(self.project) as snapshot:
            return [other for _, other in snapshot.look_alikes([name])]

    def page(self, page: int, size: int) -> tuple[list[Record], int]:
        """Return a page of all memories, newest first, and their total number. The first page is 1."""
        with self.store.read(self.project) as snapshot:
            total = sum(count for _, count in snapshot.scopes())
            skip = (page - 1) * size
            return snapshot.page(skip, size) if skip < total else [], total

    def forget(self, id: str, *, step: Step | None = None) -> Record:
        """Permanently delete a memory with its history and all its links. Cannot be undone."""

        def purge(tx: Transaction) -> Record:
            record = content.find(tx, id)
            tx.purge([record.id])
            return record

        return self._write("forget", purge, step, gives=Record)

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
        """Store a text as a new memory, unless one in the same scope already says exactly the same.

        Texts are the same if their normal forms are equal (:func:`polymnia.models.normal`). A duplicate is not stored;
        its tags, category and metadata are merged into the existing memory. If the text is new, memories at least as
        similar as ``threshold``, or that say the same in other words, are reported in the result. ``allow_duplicates``
        turns off both. With ``associate`` the memory is linked to its nearest neighbours. Without ``patient`` the call
        does not wait for a model to load, and links that need it are added in the background.
        """
        from polymnia.engine.knowledge import associations

        content.check_content(text, "content", self.limits, "Give the text to remember.")
        if not 0 <= threshold <= 1:
            raise Invalid(f"similarity_threshold is {threshold}, but must be from 0 to 1", field="similarity_threshold")
        uid = new_id()
        record = self._planned(
            Record(
                id=0, uid=uid, name=uid, kind=legal_name(kind, "kind", self.limits), observations=(text,),
                category=self._category(category), tags=content.check_tags(tags, self.limits),
                metadata=content.check_metadata(metadata, self.limits),
                **scopes.filed(scopes.legal_scope(scope, "scope")),
            )
        )  # fmt: skip
        if not allow_duplicates and (known := self._existing(record, step)) is not None:
            return self._with_links(known)
        embedded, nearby = None, _Neighbourhood()
        if associate or not allow_duplicates:
            embedded, nearby = self._find_neighbours(record, patient)
        pending = associate and nearby.pending

        def store(tx: Transaction) -> Remembered:
            if not allow_duplicates and (again := tx.same_text(text, record.scope)) is not None:
                return _join(tx, again, record)
            made, _ = self._add(tx, record, embedded, nearby.drawn if associate else [])
            if pending:
                associations.defer(tx, made)
            return Remembered(record=made)

        remembered = self._write("remember", store, step, (text,), gives=Remembered)
        if remembered.duplicate:
            return self._with_links(remembered)
        if pending:
            self.finding().notify(self.project)
        remembered = replace(remembered, pending=pending, notes=nearby.notes)
        if not allow_duplicates:
            reworded = self._reworded(text, nearby.ranked, patient)
            similar = [one for one in nearby.ranked if one[1] >= threshold or one[0].uid in reworded][:_SIMILAR]
            remembered = replace(remembered, similar=similar, reworded=reworded)
        return self._with_links(remembered)

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
        """Change only the fields that are set; the previous version stays in the history.

        An empty category removes the category. Without ``keep_associations`` the automatic relations are recomputed;
        manual ones are kept. ``patient`` is as in :meth:`remember`.
        """
        from polymnia.engine.knowledge import associations
        from polymnia.engine.knowledge.derived import following

        changes: JsonObject = {}
        if scope is not None:
            changes |= scopes.filed(scopes.legal_scope(scope, "scope"))
        if category is not None:
            changes["category"] = self._category(category)
        if tags is not None:
            changes["tags"] = content.check_tags(tags, self.limits)
        if metadata is not None:
            changes["metadata"] = content.check_metadata(metadata, self.limits)
        if text is not None:
            content.check_content(text, "content", self.limits, "Give the text to remember.")
            text = self.screen.text(text, "content")
        with self.store.read(self.project) as snapshot:
            record = content.find(snapshot, id)
        content.check_one_text(record, text)
        follow = following(record, text, changes.get("metadata", {}), summary=False)
        text = follow.text if text is None else text
        changes = follow.fields | changes
        if metadata is None and follow.metadata:
            changes["metadata"] = follow.merged(record.metadata, {})
        planned = replace(record, **changes, observations=record.observations if text is None else (text,))
        text_changes = text is not None and text != content.content(record)
        embedded, nearby = None, _Neighbourhood()
        if not keep_associations:
            embedded, nearby = self._find_neighbours(planned, patient)
        elif text_changes:
            embedded = self.finding().embed_text(self.project, *content.read_as(planned), patient=patient)

        def change(tx: Transaction) -> tuple[Record, bool, int | None]:
            now = content.find(tx, record.uid)
            moves = text_changes or planned.scope != record.scope
            same = content.same_there(tx, planned, planned.scope) if moves else None
            content.check_one_text(now, text)
            scopes.begin(tx, changes.get("session"))
            changed = False
            if text_changes:
                tx.replace_record(now.id, replace(content.as_draft(now), observations=(text or "",), **changes))
                self._put_vectors(tx, embedded, now.id & 0xFFFFFFFF, tx.numbers[1])
                changed = True
            elif changes:
                changed = tx.revise(now.id, changes)
            if not keep_associations:
                changed = _redraw(tx, now.name, nearby.drawn) or changed
                if nearby.pending:
                    associations.defer(tx, now)
            return content.find(tx, record.uid), changed, same

        done, changed, same = self._write(
            "revise", change, step, (text,) if text_changes and text else (), gives=tuple[Record, bool, int | None]
        )
        if nearby.pending:
            self.finding().notify(self.project)

        def around() -> tuple[Record | None, list[tuple[Record, Relation]]]:
            with self.store.read(self.project) as snapshot:
                other = None if same is None else next(iter(snapshot.load([same])), None)
                return other, _links(snapshot, done)

        other, links = self._read_again(around)
        return Revised(record=done, changed=changed, same=other, associations=links, pending=nearby.pending)

    def _category(self, category: str | None) -> str | None:
        return None if category is None else legal_name(category, "category", self.limits).strip() or None

    def _existing(self, record: Record, step: Step | None) -> Remembered | None:
        """The existing duplicate of a planned memory, with the new tags, category and metadata merged into it."""
        with self.store.read(self.project) as snapshot:
            id = snapshot.same_text(record.observations[0], record.scope)
            if id is None:
                return None
            (there,) = snapshot.load([id])
        if _added(there, record) is None and self.once is None:
            return Remembered(record=there, duplicate=True)

        def join(tx: Transaction) -> Remembered | None:
            again = tx.same_text(record.observations[0], record.scope)
            return None if again is None else _join(tx, again, record)

        return self._write("remember", join, step, gives=Remembered)

    def _with_links(self, done: Remembered) -> Remembered:
        def links() -> list[tuple[Record, Relation]]:
            with self.store.read(self.project) as snapshot:
                return _links(snapshot, done.record)

        return replace(done, associations=self._read_again(links))

    def _find_neighbours(self, record: Record, patient: bool) -> tuple[EmbeddedText, _Neighbourhood]:
        """Embed a planned memory and find its neighbours."""
        from polymnia.engine.knowledge import associations

        finder = self.finding()
        embedded = finder.embed_text(self.project, *content.read_as(record), patient=patient)
        text = content.content(record)
        with finder.neighbours(self.project, patient=patient) as look:
            pending = finder.lacks_vectors(look)
            without = record.id - look.base if record.id else 0
            near, by_meaning = associations.neighbours(look, embedded, text, without=without, most=_NEAR)
            ranked = associations.ranked(look, near)
            drawn = associations.drafts(record, ranked, by_meaning) if by_meaning or not pending else []
            if pending and near and by_meaning:
                # Memories without a vector yet are compared by their words.
                by_words = dict(look.by_words(text[: associations.READ], _NEAR))
                more = {number: share for number, share in by_words.items() if number not in near}
                ranked = sorted([*ranked, *associations.ranked(look, more)], key=lambda one: -one[1])
        fault = finder.broken()
        notes = [] if fault is None else [f"Not compared by meaning: {fault.message}"]
        return embedded, _Neighbourhood(
            [(one, _similarity(text, one, share)) for one, share in ranked], drawn, pending, notes
        )

    def _reworded(self, text: str, ranked: list[tuple[Record, float]], patient: bool) -> frozenset[str]:
        """The ids of neighbours that say the same in other words; none if impatient and the judge is not ready."""
        from polymnia.engine.knowledge import duplicates
        from polymnia.engine.knowledge.judge import SAME

        judging = self.finding().judging
        near = [one for one in ranked[:_JUDGED] if one[1] >= _MIN_JUDGED]
        if judging is None or not near or not (judging.load() if patient else judging.soon()):
            return frozenset()
        pairs = [(text, content.content(one)) for one, _ in near]
        sure = duplicates.same(judging, pairs, [similarity for _, similarity in near], SAME)
        return frozenset(one.uid for (one, _), value in zip(near, sure, strict=True) if value)


def _links(snapshot: Snapshot, record: Record) -> list[tuple[Record, Relation]]:
    return content.links_of(snapshot, [record], _LINKS)[record.uid]


def _missing(snapshot: Snapshot, name: str) -> NotFound:
    """The error for a missing memory: it was deleted, or never existed."""
    if (events := snapshot.history(name)) and (last := events[-1]).deleted:
        hint = f"`polymnia undo --change {last.change.id}` brings it back, `polymnia history` tells what it said."
        return NotFound([name], message=f"{name!r} was deleted at {moment(last.change.at)}", hint=hint)
    return NotFound([name], "Memory", hint="Search for it, or list what there is.")


def _similarity(text: str, other: Record, similarity: float) -> float:
    """A similarity as it is reported: 1 is reserved for texts that are the same.

    Two texts with the same content words may still differ in a "not" or a "before", so there every word counts.
    """
    from collections import Counter

    theirs = content.content(other)
    if similarity < _SAME_WORDS or normal(text) == normal(theirs):
        return min(round(similarity, 4), 1.0)
    one, two = (Counter(words[:_COMPARED].casefold().split()) for words in (text, theirs))
    shared = 2 * (one & two).total() / max(1, one.total() + two.total())
    return min(round(similarity * shared, 4), 0.9999)


def _added(there: Record, new: Record) -> Joined | None:
    """What a duplicate would add to a memory, None if nothing. A new value replaces an old one."""
    tags = [tag for tag in new.tags if tag not in there.tags]
    category = new.category if new.category != there.category else None
    metadata = {k: v for k, v in new.metadata.items() if k not in there.metadata or there.metadata[k] != v}
    if not (tags or category or metadata):
        return None
    replaced: JsonObject = {}
    if category and there.category:
        replaced["category"] = there.category
    if old := {key: there.metadata[key] for key in metadata if key in there.metadata}:
        replaced["metadata"] = old
    return Joined(tags=tags, category=category, metadata=metadata, replaced=replaced)


def _join(tx: Transaction, id: int, record: Record) -> Remembered:
    (there,) = tx.load([id])
    added = _added(there, record)
    if added is not None:
        changes = {
            "tags": (*there.tags, *added.tags),
            "category": added.category or there.category,
            "metadata": there.metadata | added.metadata,
        }
        tx.revise(id, changes)
        (there,) = tx.load([id])
    return Remembered(record=there, duplicate=True, joined=added)


def _redraw(tx: Transaction, name: str, drawn: list[RelationDraft]) -> bool:
    from polymnia.engine.knowledge import associations

    old = [r for r in tx.relations_of([name]) if r.origin == "auto" and r.type == associations.TYPE]
    new = content.with_targets(tx, drawn)
    if {(r.source, r.target, r.strength) for r in old} == {(r.source, r.target, r.strength) for r in new}:
        return False
    tx.remove_relations([relation.id for relation in old])
    tx.relate(new)
    return True
