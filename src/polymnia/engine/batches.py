"""Batches: memories, entities and relations stored in one change, and one memory changed in several ways at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine import content, scopes
from polymnia.engine.graph import Deleted, Ends, GraphVerbs
from polymnia.engine.memories import MemoryVerbs
from polymnia.engine.project import Step
from polymnia.errors import Conflict, Invalid, OverLimit
from polymnia.models import (
    DEFAULT_SCOPE,
    EntityDraft,
    Filters,
    JsonObject,
    Record,
    Relation,
    legal_name,
    new_id,
    normal,
)

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction
    from polymnia.engine.search.neighbours import EmbeddedText

SUPERSEDED = "superseded_by"
"""The metadata key of a memory that another one has replaced; its value is the id of that one."""
TURN = "turn"
"""The kind of a memory that is one turn of a conversation."""
GUESSED = "kind_guessed"
"""The metadata key of a memory whose kind a model has guessed; its value is how likely that is, where it is known."""
COMPARED = 20
"""New texts of a batch that are compared with what is stored before they are written; others in the background."""
_STEP = 100
_ENTITY = "entity"


class MemoryDraft(Struct, frozen=True, kw_only=True):
    """The input for a new memory with a single text. ``at`` is when it was said, in microseconds, if not now.

    A ``turn`` of a conversation is stored as it is, whatever else says the same; those of a session are given from its
    beginning, or go on where it ends, and what it has already is not stored again.
    """

    text: str
    kind: str = content.KIND
    scope: str = DEFAULT_SCOPE
    category: str | None = None
    tags: Sequence[str] = ()
    metadata: Mapping[str, Any] = {}
    supersedes: str | None = None
    at: int | None = None
    turn: bool = False


class NearDuplicates(Struct, frozen=True, kw_only=True):
    """What says nearly the same as a text: near-duplicates with their similarity.

    ``reworded`` are the ids of those that say the same in other words, ``same`` of those that say exactly the same.
    """

    similar: list[tuple[Record, float]] = []
    reworded: frozenset[str] = frozenset()
    same: frozenset[str] = frozenset()


C = TypeVar("C", bound=NearDuplicates)


class StoredMemory(NearDuplicates, frozen=True, kw_only=True):
    """What became of one memory of a batch.

    ``joined`` is a memory that says exactly the same and was there before; nothing new was stored then.
    ``superseded`` is the memory that this one replaces, ``superseded_by`` the one that has replaced a joined one.
    """

    record: Record
    outcome: Literal["new", "joined"] = "new"
    superseded: Record | None = None
    superseded_by: Record | None = None


class StoredEntity(Struct, frozen=True, kw_only=True):
    """What became of one entity of a batch: it is new, or ``added`` were joined to the one that was there.

    The kind of one that was there stays, unless it had none of its own, and so does its scope.
    """

    record: Record
    outcome: Literal["new", "joined"]
    added: tuple[str, ...] = ()


class StoredRelation(Struct, frozen=True, kw_only=True):
    """What became of one relation of a batch; ``missing`` are the ends that name nothing stored."""

    relation: Relation
    outcome: Literal["new", "known"]
    missing: tuple[str, ...] = ()


class StoredBatch(Struct, frozen=True, kw_only=True):
    """What became of each item of a batch, in the order they were given, and whether anything changed.

    ``compared`` is whether the new texts were compared with what was stored before.
    """

    memories: list[StoredMemory] = []
    entities: list[StoredEntity] = []
    relations: list[StoredRelation] = []
    compared: bool = True
    changed: bool = True


class Amended(NearDuplicates, frozen=True, kw_only=True):
    """A memory after it was changed, and whether anything did; ``missing`` are texts to remove that it did not have."""

    record: Record
    changed: bool
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class _Plan(Struct):
    """A memory about to be stored, with what was found around it."""

    draft: MemoryDraft
    record: Record
    embedded: EmbeddedText | None = None
    drawn: list[Any] = []
    ranked: list[tuple[Record, float]] = []
    pending: bool = True


class BatchVerbs(GraphVerbs, MemoryVerbs):
    """Store many things at once, and change one thing in several ways at once."""

    def store_batch(
        self,
        memories: Sequence[MemoryDraft] = (),
        entities: Sequence[EntityDraft] = (),
        relations: Sequence[Ends] = (),
        *,
        step: Step | None = None,
    ) -> StoredBatch:
        """Store memories, entities and relations in one change: all of it, or nothing.

        A memory that says exactly what another one of its scope says is joined to that one, an entity whose name is
        taken gets the observations it does not have yet, and a relation that exists is left as it is. The ends of a
        relation are names or ids; they may name nothing yet. A batch of few texts is compared with what is stored.
        """
        for field, items in (("memories", memories), ("entities", entities), ("relations", relations)):
            if len(items) > self.limits.batch:
                raise OverLimit(field, len(items), "items", self.limits.batch, "max_batch")
        plans = [self._plan(i, draft) for i, draft in enumerate(memories)]
        drafts = self.screen.drafts([self._entity_draft(i, one) for i, one in enumerate(entities)])
        ends, empty = self._checked_ends(relations) if relations else ([], [])
        if empty:
            raise Invalid(f"{empty[0].path} is empty", field=empty[0].path, hint="Give a name or an id.")
        statements = [plan for plan in plans if not plan.draft.turn]
        compared = len(statements) <= COMPARED
        if compared:
            self._look_around_all(statements)
        total = len(plans) + len(drafts) + len(ends)
        done = 0

        def advance() -> None:
            nonlocal done
            if step is not None and done % _STEP == 0:
                step(done, total)
            done += 1

        def store(tx: Transaction) -> StoredBatch:
            nonlocal done
            stored, put, tied, done = [], [], [], 0
            there = _turns_there(tx, [plan.record for plan in plans if plan.draft.turn])
            for plan in plans:
                advance()
                if (known := there.get(plan.record.uid)) is not None:
                    stored.append(StoredMemory(record=known, outcome="joined"))
                else:
                    stored.append(self._store_one(tx, plan))
            for draft in drafts:
                advance()
                put.append(_put_entity(tx, draft))
            for one in ends:
                advance()
                tied.append(_tie(tx, one))
            if step is not None and total:
                step(total, total)
            return StoredBatch(memories=stored, entities=put, relations=tied, compared=compared, changed=tx.changed)

        texts = [one.record.observations[0] for one in plans] + [text for one in drafts for text in one.observations]
        batch = self._write("remember", store, step, texts, gives=StoredBatch)
        if plans:
            self.finding.notify(self.project)
        outcomes = [
            one if one.outcome != "new" else self._compared(one, plan.record.observations[0], plan.ranked)
            for plan, one in zip(plans, batch.memories, strict=True)
        ]
        return replace(batch, memories=outcomes)

    def amend(
        self,
        id: str,
        *,
        text: str | None = None,
        observations: Sequence[str] | None = None,
        add: Sequence[str] = (),
        remove: Sequence[str] = (),
        kind: str | None = None,
        scope: str | None = None,
        tags: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        superseded_by: str | None = None,
        version: int | None = None,
        compare: bool = False,
        step: Step | None = None,
    ) -> Amended:
        """Change a memory, found by name, id or the beginning of its id, in one change that one undo takes back.

        ``text`` replaces its only text, ``observations`` all of its texts; ``add`` and ``remove`` are observations.
        ``metadata`` is merged into what is there (None removes a key), ``superseded_by`` names the memory that replaces
        it (empty: none does any more). With ``version``, a memory that has another one by now is left as it is. With
        ``compare``, what says nearly the same as ``text`` is looked for.
        """
        record = self.resolve(id)
        changes: JsonObject = {}
        if kind is not None:
            changes["kind"] = legal_name(kind, "kind", self.limits).strip()
            if not changes["kind"]:
                raise Invalid("kind is empty", field="kind", hint="Leave it out to keep the kind, or name another one.")
        if scope is not None:
            changes |= scopes.filed(scopes.legal_scope(scope, "scope"))
        if tags is not None:
            changes["tags"] = content.check_tags(tags, self.limits)
        more = {key: value for key, value in (metadata or {}).items() if value is not None}
        content.check_metadata(more, self.limits)
        dropped = [key for key, value in (metadata or {}).items() if value is None]
        if superseded_by:
            more[SUPERSEDED] = self.resolve(superseded_by).uid
        elif superseded_by is not None:
            dropped.append(SUPERSEDED)
        if kind is not None:
            dropped.append(GUESSED)
        if text is not None:
            content.check_content(text, "text", self.limits, "To delete it, use forget.")
            text = self.screen.text(text, "text")
        whole: tuple[str, ...] | None = None if text is None else (text,)
        if observations is not None:
            whole = self._checked_observations(record, observations, text)
        for i, one in enumerate(add):
            content.check_content(one, f"add[{i}]", self.limits, "Give the text to add.")
        ((_, added),) = self.screen.observations([(record.name, list(add))]) if add else ((record.name, ()),)

        embedded, ranked = None, []
        if compare and text is not None and text != content.content(record):
            content.check_one_text(record, text)
            embedded, around = self._find_neighbours(replace(record, observations=(text,)), True)
            ranked = around.ranked

        def change(tx: Transaction) -> Amended:
            now = content.find(tx, record.uid)
            if version is not None and now.version != version:
                raise _changed_meanwhile(now, version)
            content.check_one_text(now, text)
            if SUPERSEDED in more:
                _refuse_circle(tx, now.uid, content.find(tx, more[SUPERSEDED]), "superseded_by")
            fields = dict(changes)
            if more or now.metadata.keys() & dropped:
                kept = {key: value for key, value in (now.metadata | more).items() if key not in dropped}
                fields["metadata"] = content.check_metadata(kept, self.limits)
            scopes.begin(tx, fields.get("session"))
            changed = False
            if whole is not None and (whole != now.observations if text is None else text != content.content(now)):
                tx.replace_record(now.id, replace(content.as_draft(now), observations=whole, **fields))
                self._put_vectors(tx, embedded, now.id & 0xFFFFFFFF, tx.numbers[1])
                changed = True
            elif fields:
                changed = tx.revise(now.id, fields)
            have = set(now.observations if whole is None else whole)
            gone = [one for one in dict.fromkeys(remove) if one in have]
            if gone:
                tx.remove_observations(now.id, gone)
            new = [one for one in dict.fromkeys(added) if one not in have - set(gone)]
            if new:
                tx.add_observations([(now.id, new)])
            missing = tuple(one for one in dict.fromkeys(remove) if one not in have)
            return Amended(
                record=content.find(tx, record.uid), changed=changed or bool(gone or new), added=tuple(new),
                removed=tuple(gone), missing=missing,
            )  # fmt: skip

        done = self._write("revise", change, step, [*(whole or ()), *added], gives=Amended)
        return self._compared(done, text or "", ranked)

    def _checked_observations(self, record: Record, observations: Sequence[str], text: str | None) -> tuple[str, ...]:
        if text is not None:
            raise Invalid("Give either text or observations", field="observations")
        if not observations and record.name == record.uid:
            raise Invalid("observations is empty", field="observations", hint="To delete the memory, use delete.")
        if len(observations) > self.limits.batch:
            raise OverLimit("observations", len(observations), "items", self.limits.batch, "max_batch")
        for i, one in enumerate(observations):
            content.check_content(one, f"observations[{i}]", self.limits, "Leave it out to remove it.")
        ((_, screened),) = self.screen.observations([(record.name, list(observations))])
        return tuple(screened)

    def forget_all(self, names: Sequence[str], relations: Sequence[Ends] = (), *, step: Step | None = None) -> Deleted:
        """Delete memories by name, with every relation of theirs, and further relations, in one change."""
        ends = self._checked_ends(relations)[0] if relations else []

        def delete(tx: Transaction) -> Deleted:
            ids = tx.ids(list(names)) if names else {}
            records = tx.load(list(ids.values()))
            ties = {one.id: one for one in (tx.relations_of([record.name for record in records]) if records else [])}
            for source, target, type in ends:
                found = content.find_ids(tx, [source, target])
                named = {record.id: record.name for record in tx.load(list(found.values()))}
                both = (named.get(found.get(source, 0), source), named.get(found.get(target, 0), target), type)
                ties |= {one.id: one for one in tx.find_relations([both])}
            tx.remove_relations(list(ties))
            tx.remove_records([record.id for record in records])
            return Deleted(records, list(ties.values()))

        return self._write("forget", delete, step, gives=Deleted)

    # ── one item of a batch ───────────────────────────────────────────────────────────────────────────

    def _plan(self, i: int, draft: MemoryDraft) -> _Plan:
        where = f"memories[{i}]"
        content.check_content(draft.text, f"{where}.text", self.limits, "Give the text to remember.")
        uid = new_id()
        record = self._planned(
            Record(
                id=0, uid=uid, name=uid,
                kind=legal_name(draft.kind, f"{where}.kind", self.limits), observations=(draft.text,),
                category=draft.category, tags=content.check_tags(draft.tags, self.limits, f"{where}.tags"),
                metadata=content.check_metadata(draft.metadata, self.limits),
                **scopes.filed(scopes.legal_scope(draft.scope, f"{where}.scope")),
            )
        )  # fmt: skip
        if draft.supersedes is not None:
            draft = replace(draft, supersedes=self.resolve(draft.supersedes).uid)
        return _Plan(draft, record)

    def _entity_draft(self, i: int, draft: EntityDraft) -> EntityDraft:
        where = f"entities[{i}]"
        legal_name(draft.name, f"{where}.name", self.limits)
        legal_name(draft.kind, f"{where}.kind", self.limits)
        if not draft.name.strip():
            raise Invalid(f"{where}.name is empty", field=f"{where}.name", hint="Name the entity.")
        self._check_texts(draft.observations, f"{where}.observations")
        filed = {} if draft.scope is None else scopes.filed(scopes.legal_scope(draft.scope, f"{where}.scope"))
        return replace(
            draft, kind=draft.kind.strip() or _ENTITY,
            tags=content.check_tags(draft.tags, self.limits, f"{where}.tags"),
            metadata=content.check_metadata(draft.metadata, self.limits), **filed,
        )  # fmt: skip

    def _look_around_all(self, plans: Sequence[_Plan]) -> None:
        for plan in plans:
            with self.store.read(self.project) as snapshot:
                if snapshot.same_text(plan.record.observations[0], plan.record.scope) is not None:
                    continue
            embedded, around = self._find_neighbours(plan.record, True)
            plan.embedded, plan.drawn = embedded, around.drawn
            plan.ranked, plan.pending = around.ranked, around.pending

    def _store_one(self, tx: Transaction, plan: _Plan) -> StoredMemory:
        from polymnia.engine.knowledge import associations

        draft, record = plan.draft, plan.record
        same = None if draft.turn else tx.same_text(record.observations[0], record.scope)
        if same is not None:
            (there,) = tx.load([same])
            tx.revise(same, _joined(there, record))
            (made,) = tx.load([same])
        else:
            scopes.begin(tx, record.session)
            full = replace(content.as_draft(record), created=draft.at, updated=draft.at)
            (made,) = tx.add_records([full])
            number = made.id & 0xFFFFFFFF
            self._put_vectors(tx, plan.embedded, number, number + 1)
            tx.relate(content.with_targets(tx, plan.drawn))
            if plan.pending:
                associations.defer(tx, made)
        superseded = None
        if draft.supersedes is not None:
            superseded = content.find(tx, draft.supersedes)
            if made.uid != superseded.uid and superseded.uid in _newer(tx, made):  # what was replaced is true again
                tx.revise(made.id, {"metadata": {k: v for k, v in made.metadata.items() if k != SUPERSEDED}})
                (made,) = tx.load([made.id])
            _refuse_circle(tx, superseded.uid, made, "supersedes")
            tx.revise(superseded.id, {"metadata": superseded.metadata | {SUPERSEDED: made.uid}})
        newest = next(reversed(_newer(tx, made).values()), None)
        return StoredMemory(
            record=made, outcome="new" if same is None else "joined", superseded=superseded, superseded_by=newest
        )

    def _compared(self, one: C, text: str, ranked: list[tuple[Record, float]]) -> C:
        """What became of a memory, with those that say nearly the same; none of a batch too large to compare."""
        if not ranked:
            return one
        reworded = self._reworded(text, ranked, True)
        similar = [near for near in ranked if near[1] >= _NEARLY or near[0].uid in reworded][:_SIMILAR]
        same = frozenset(near.uid for near, _ in similar if normal(content.content(near)) == normal(text))
        return replace(one, similar=similar, reworded=reworded - same, same=same)


def newer_of(snapshot: Snapshot, records: Iterable[Record], then: content.Then | None = None) -> dict[str, Record]:
    """What has replaced each of these memories, by their ids; a mark whose memory is gone replaces nothing.

    With ``then``, of memories as they were at that time, what had replaced them.
    """
    marks = {one.uid: mark for one in records if isinstance(mark := one.metadata.get(SUPERSEDED), str) and mark}
    newer = content.states(snapshot, list(dict.fromkeys(marks.values())), then)
    return {uid: newer[mark] for uid, mark in marks.items() if mark in newer}


def turns_of(snapshot: Snapshot, scope: str) -> list[Record]:
    """The turns of the session that a scope is of, in the order they were stored."""
    base = snapshot.numbers[0] << 32
    return snapshot.load([base | number for number in sorted(snapshot.matching(Filters(scope=scope, kinds=(TURN,))))])


def turns_in_common(stored: Sequence[Record], texts: Sequence[str]) -> Sequence[Record]:
    """The turns of a session that are the first of these: clients send a conversation again when it has grown."""
    said = [content.content(one) for one in stored]
    if said[: len(texts)] == list(texts):
        return stored[: len(texts)]
    sizes = range(min(len(texts), len(said)), 0, -1)
    known = next((size for size in sizes if said[-size:] == list(texts[:size])), 0)
    return stored[len(stored) - known :]


def _turns_there(tx: Transaction, given: Sequence[Record]) -> dict[str, Record]:
    """The turns that their sessions have by now, by the ids of those given: the same may be sent twice at once."""
    found: dict[str, Record] = {}
    for scope in dict.fromkeys(one.scope for one in given if one.scope is not None):
        turns = [one for one in given if one.scope == scope]
        known = turns_in_common(turns_of(tx, scope), [one.observations[0] for one in turns])
        found |= {turn.uid: one for turn, one in zip(turns, known, strict=False)}
    return found


def _joined(there: Record, record: Record) -> JsonObject:
    """What a memory that says the same adds to one that is there; a kind that was given replaces a guessed one."""
    given = {key: value for key, value in record.metadata.items() if key != GUESSED}
    changes: JsonObject = {
        "tags": (*there.tags, *(tag for tag in record.tags if tag not in there.tags)),
        "metadata": there.metadata | given,
    }
    guessed = there.kind == content.KIND or GUESSED in there.metadata
    if guessed and record.kind != content.KIND and GUESSED not in record.metadata:
        changes["kind"] = record.kind
        changes["metadata"] = {key: value for key, value in changes["metadata"].items() if key != GUESSED}
    return changes


def _changed_meanwhile(now: Record, version: int) -> Conflict:
    fault = Conflict(
        f"The memory has version {now.version} by now, and version {version} was edited",
        hint="Look at what it says now, and edit that.",
    )
    fault.details["version"] = now.version
    return fault


def _refuse_circle(tx: Transaction, older: str, newer: Record, field: str) -> None:
    """Refuse that a memory is superseded by itself, or by one that it supersedes: neither would be true then."""
    if older != newer.uid and older not in _newer(tx, newer):
        return
    raise Invalid(
        "A memory cannot supersede itself" if older == newer.uid else "Two memories would supersede each other",
        field=field,
        hint='Name the newer one and the older one; superseded_by: "" takes a mark away.',
    )


def _newer(tx: Transaction, record: Record) -> dict[str, Record]:
    """What has replaced a memory, and what has replaced that, up to what is true now, by their ids."""
    found: dict[str, Record] = {}
    while mark := record.metadata.get(SUPERSEDED):
        ids = tx.ids_of([str(mark)])
        if not ids or found.keys() & ids.keys():
            break
        (record,) = tx.load(list(ids.values()))
        found[record.uid] = record
    return found


_NEARLY = 0.95  # a similarity from which on a memory is named as nearly the same
_SIMILAR = 3


def _put_entity(tx: Transaction, draft: EntityDraft) -> StoredEntity:
    known = tx.ids([draft.name])
    if not known:
        scopes.begin(tx, draft.session)
        texts = tuple(dict.fromkeys(draft.observations))
        (made,) = tx.add_records([replace(draft, observations=texts)])
        return StoredEntity(record=made, outcome="new", added=texts)
    id = known[draft.name]
    present = tx.present_observations(id, draft.observations)
    new = tuple(dict.fromkeys(text for text in draft.observations if text not in present))
    if new:
        tx.add_observations([(id, new)])
    (record,) = tx.load([id])
    kind = draft.kind if record.kind == _ENTITY else record.kind
    tags = tuple(dict.fromkeys((*record.tags, *draft.tags)))
    tx.revise(id, {"kind": kind, "tags": tags, "metadata": record.metadata | draft.metadata})
    (record,) = tx.load([id])
    return StoredEntity(record=record, outcome="joined", added=new)


def _tie(tx: Transaction, ends: Ends) -> StoredRelation:
    source, target, type = ends
    found = content.find_ids(tx, list(dict.fromkeys((source, target))))
    names = {record.id: record.name for record in tx.load(list(found.values()))}
    source, target = (names.get(found.get(one, 0), one) for one in (source, target))
    missing = tuple(one for one in dict.fromkeys((ends[0], ends[1])) if one not in found)
    known = tx.find_relations([(source, target, type)])
    if known:
        return StoredRelation(relation=known[0], outcome="known", missing=missing)
    (made,) = tx.add_relations([(source, target, type, {})])
    return StoredRelation(relation=made, outcome="new", missing=missing)
