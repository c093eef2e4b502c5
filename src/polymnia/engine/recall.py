"""Recall: a search whose answer says who stored each memory and what has replaced it, now or at a time in the past."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.batches import SUPERSEDED
from polymnia.engine.content import content
from polymnia.engine.search import SearchVerbs
from polymnia.models import Change, Filters, Record, Relation, Remark

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot
    from polymnia.engine.search.results import Hit

WINDOW = 20
"""Hits that are read, and put in order, together."""
_PAST = 50  # hits of today's memories that are compared with how things were
_CHANGES = 2_000  # changes since a time in the past that are taken back
_REREAD = 64  # past texts that are scored, those with most words of the query first
_LEAST = 0.1  # the score from which on a past text is an answer
_LINKED = 200  # memories of a neighbourhood


class RecalledMemory(Struct, frozen=True, kw_only=True):
    """A memory that was found; ``stored`` is the change that created it, ``superseded_by`` what has replaced it."""

    hit: Hit
    stored: Change | None = None
    superseded_by: Record | None = None


class Recalled(Struct, frozen=True, kw_only=True):
    """What was recalled, best first; ``total`` counts what matches, ``changes`` those too many to be taken back."""

    memories: list[RecalledMemory]
    total: int
    notes: list[Remark] = []
    pending: int = 0
    whole_past: bool = True


class Neighbourhood(Struct, frozen=True, kw_only=True):
    """A memory, the relations around it up to some depth, and the memories these lead to, nearest first."""

    record: Record
    relations: list[Relation] = []
    records: list[Record] = []
    stored: Change | None = None
    superseded_by: Record | None = None
    cut: bool = False


class RecallVerbs(SearchVerbs):
    """Answer questions from memory."""

    def recall(
        self,
        query: str,
        *,
        filters: Filters | None = None,
        offset: int = 0,
        size: int = WINDOW,
        recency: float = 0.0,
        as_of: int | None = None,
    ) -> Recalled:
        """The memories that answer a query, best first, each with its origin; superseded ones below what replaced them.

        Without a query: those that pass the filters, newest first. With ``as_of`` (microseconds since 1970, UTC) the
        memories and texts of that time are searched.
        """
        filters = filters or Filters()
        if as_of is not None:
            return self._recall_past(query, filters, offset, size, as_of)
        by_date = not query.strip()
        found = self.search(
            query, limit=size, offset=offset, filters=filters, recency=recency, sort="date" if by_date else "relevance"
        )
        with self.store.read(self.project) as snapshot:
            memories = _with_origin(snapshot, found.hits)
        return Recalled(
            memories=_superseded_last(memories), total=found.total, notes=found.notes, pending=found.pending
        )

    def _recall_past(self, query: str, filters: Filters, offset: int, size: int, at: int) -> Recalled:
        then = replace(filters, created_to=min(at + 1, filters.created_to or at + 1))
        found = self.search(query, limit=_PAST, filters=then)
        with self.store.read(self.project) as snapshot:
            later = snapshot.changes_since(at, _CHANGES + 1)
            touched = {one.memory for change in later[:_CHANGES] for one in snapshot.effects(change.id)}
            past = {id: record for id in sorted(touched) if (record := _at(snapshot, id, at)) is not None}
            hits, known = [], set()
            for hit in found.hits:
                record = past.get(hit.record.id) if hit.record.id in touched else hit.record
                if record is not None and record.observations == hit.record.observations:
                    hits.append(replace(hit, record=record))
                    known.add(record.id)
            others = [record for id, record in past.items() if id not in known and _passes(record, filters)]
            hits += self._scored(query, others)
            hits.sort(key=lambda hit: -hit.score)
            memories = _with_origin(snapshot, hits[offset : offset + size])
        return Recalled(memories=memories, total=len(hits), notes=found.notes, whole_past=len(later) <= _CHANGES)

    def _scored(self, query: str, records: Sequence[Record]) -> list[Hit]:
        """Past texts that answer a query, which no index holds any more: read by the ranker, or compared by words."""
        from polymnia.engine.search.results import Hit, Why
        from polymnia.engine.text.words import terms

        asked = set(terms(query).counts)
        shares = {one.id: len(asked & set(terms(content(one)).counts)) / max(1, len(asked)) for one in records}
        chosen = sorted(records, key=lambda one: -shares[one.id])[:_REREAD]
        reranker = self.finding().reranker
        if reranker is not None and chosen and reranker.knows(query):
            reranker.load()
            scores = reranker.score(query, [content(one) for one in chosen])
        else:
            scores = [shares[one.id] for one in chosen]
        return [
            Hit(record=one, score=round(score, 4), why=Why())
            for one, score in zip(chosen, scores, strict=True)
            if score >= _LEAST
        ]

    def neighbourhood(self, record: Record, depth: int) -> Neighbourhood:
        """A memory with the relations around it, up to ``depth`` steps away."""
        with self.store.read(self.project) as snapshot:
            relations: dict[int, Relation] = {}
            names, seen = [record.name], {record.name: None}
            for _ in range(depth):
                found = [one for one in snapshot.relations_of(names) if one.id not in relations]
                relations |= {one.id: one for one in found}
                names = [name for one in found for name in (one.source, one.target) if name not in seen]
                seen |= dict.fromkeys(names)
                if not names or len(seen) > _LINKED:
                    break
            others = list(seen)[1 : _LINKED + 1]
            ids = snapshot.ids(others) if others else {}
            loaded = {one.name: one for one in snapshot.load(list(ids.values()))}
            (origin,) = _with_origin(snapshot, [_bare(record)])
        self._count_reads([record.id], opened=True)
        return Neighbourhood(
            record=record, relations=list(relations.values()), stored=origin.stored, cut=len(seen) > _LINKED,
            records=[loaded[name] for name in others if name in loaded], superseded_by=origin.superseded_by,
        )  # fmt: skip


def _bare(record: Record) -> Hit:
    from polymnia.engine.search.results import Hit, Why

    return Hit(record=record, score=1.0, why=Why())


def _with_origin(snapshot: Snapshot, hits: Sequence[Hit]) -> list[RecalledMemory]:
    makers = snapshot.makers([hit.record.id for hit in hits])
    marks = [mark for hit in hits if isinstance(mark := hit.record.metadata.get(SUPERSEDED), str) and mark]
    ids = snapshot.ids_of(marks) if marks else {}
    newer = {one.uid: one for one in snapshot.load(list(ids.values()))} if ids else {}
    return [
        RecalledMemory(
            hit=hit, stored=makers.get(hit.record.id), superseded_by=newer.get(hit.record.metadata.get(SUPERSEDED, ""))
        )
        for hit in hits
    ]


def _superseded_last(memories: list[RecalledMemory]) -> list[RecalledMemory]:
    """Each superseded memory right behind what replaced it; where that was not found, behind all others."""
    order = [one for one in memories if one.superseded_by is None]
    for one in memories:
        if one.superseded_by is None:
            continue
        newer = one.superseded_by.uid
        places = [i for i, other in enumerate(order) if newer in (other.hit.record.uid, _newer(other))]
        order.insert(places[-1] + 1 if places else len(order), one)
    return order


def _newer(one: RecalledMemory) -> str | None:
    return None if one.superseded_by is None else one.superseded_by.uid


def _at(snapshot: Snapshot, id: int, at: int) -> Record | None:
    """A memory as it was at a time; None where it did not exist then."""
    versions = snapshot.versions(id)
    if not versions:
        return None
    events = [one for one in snapshot.history(versions[0][1].name) if one.change.at <= at]
    there = next((one.created for one in reversed(events) if one.created or one.deleted), False)
    return next((record for change, record in versions if change.at <= at), None) if there else None


def _passes(record: Record, filters: Filters) -> bool:
    """Whether a past version of a memory passes the filters that can be told from the record alone."""
    from polymnia.engine.scopes import within

    inside = filters.scope is None or (
        within(record.path, filters.scope) if filters.scopes_below else record.path == filters.scope
    )
    return (
        inside
        and (not filters.kinds or record.kind in filters.kinds)
        and (not filters.tags or bool(set(filters.tags) & set(record.tags)))
        and (filters.created_from is None or record.created >= filters.created_from)
    )
