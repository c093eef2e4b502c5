"""Recall: a search whose answer says who stored each memory and what has replaced it, now or at a time in the past."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import merge
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.batches import newer_of, turns_of
from polymnia.engine.content import Then, content, passes, state_at, states
from polymnia.engine.known_conflicts import unsettled
from polymnia.engine.scopes import SESSIONS
from polymnia.engine.search import SearchVerbs
from polymnia.importing import importing
from polymnia.models import Change, Filters, Record, Relation, Remark, legal_name

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot
    from polymnia.engine.search.results import Found, Hit, Turn

WINDOW = 20
"""Hits that are read, and put in order, together."""
_PAST = 50  # hits of today's memories, beyond those of a page, that are compared with how things were
_CHANGES = 2_000  # changes since a time in the past that are taken back
_REREAD = 64  # past texts that are scored, those with most words of the query first
_GOOD, _WEAK = 0.2, 0.02  # where one scores the first, those below the second are left out
_LEAST = 0.1  # the score from which on a past text is an answer
_LINKED = 200  # memories of a neighbourhood
_FACETS = 20  # values of a facet
_WORDS, _NAME = 24, 3  # words of a query, and how many of them a name may have
_AROUND = "\"'.,;:!?()[]{}<>«»“”‘’„`"  # what may stand around a name in a query


class RecalledMemory(Struct, frozen=True, kw_only=True):
    """A memory that was found; ``stored`` is the change that created it, ``superseded_by`` what has replaced it.

    ``conflicts`` are memories that it was found to contradict and that were not settled with it since, ``relations``
    those of an entity that somebody drew.
    """

    hit: Hit
    stored: Change | None = None
    superseded_by: Record | None = None
    conflicts: list[Record] = []
    relations: list[Relation] = []


class Recalled(Struct, frozen=True, kw_only=True):
    """A page of what was recalled, best first; ``total`` counts what matches on all pages.

    ``relations`` are those of names in the query that are no memory of the page. ``order`` is the key of their order,
    to go on in it. Unless ``whole_past``, there were too many later changes to
    take all of them back.
    """

    memories: list[RecalledMemory]
    total: int
    notes: list[Remark] = []
    pending: int = 0
    whole_past: bool = True
    order: int = 0
    facets: dict[str, list[tuple[str, int]]] = {}
    relations: list[Relation] = []


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
        order: int = 0,
        size: int = WINDOW,
        recency: float = 0.0,
        as_of: int | None = None,
        effort: str | None = None,
        sort: str | None = None,
        facets: bool = False,
    ) -> Recalled:
        """The memories that answer a query, best first, each with its origin; superseded ones below what replaced them.

        Without a query: those that pass the filters, newest first; ``sort`` may be "relevance" or "date". ``effort``
        and ``facets`` are as for a search. With ``as_of`` (microseconds since 1970, UTC) the memories and texts of that
        time are searched. ``offset`` goes on in an ``order`` that was returned before; if that is no longer kept,
        another one is made and returned.
        """
        from polymnia.engine.search.results import Query, ResultPage

        legal_name(query, "query", self.limits)
        filters = filters or Filters()
        page = ResultPage(limit=size, offset=offset, order=order, weak=(_GOOD, _WEAK), facets=facets)
        if as_of is not None:
            filters = replace(filters, created_to=min(as_of + 1, filters.created_to or as_of + 1))
            page = replace(page, limit=offset + size + _PAST, offset=0)
        sort = "date" if not query.strip() else sort or "relevance"
        request = Query(text=query, filters=filters, recency=recency, effort=effort, sort=sort)
        with self.finding().searched(self.project, request, page) as (found, snapshot):
            if as_of is None:
                memories, named = _with_relations(snapshot.relations_of, query, _with_origin(snapshot, found.hits))
                memories = _superseded_last(memories)
        if as_of is not None:
            return self._recall_past(query, found, filters, offset, size, as_of)
        self._count_reads((hit.record.id for hit in found.hits), opened=False)
        return Recalled(
            memories=memories, total=found.total, notes=found.notes, pending=found.pending, order=found.order or 0,
            facets=found.facets, relations=named,
        )  # fmt: skip

    def browse(
        self, *, filters: Filters | None = None, before: int | None = None, size: int = WINDOW, facets: bool = False
    ) -> Recalled:
        """The memories that pass the filters, newest first, without a search; ``before`` goes on below a memory.

        ``order`` of the answer is the number of the last one, 0 where no more follow.
        """
        from polymnia.engine.search.results import FACETED

        filters = filters or Filters()
        with self.store.read(self.project) as snapshot:
            base = snapshot.numbers[0] << 32
            numbers = snapshot.matching(filters)[::-1]
            start = 0 if before is None else next((i for i, one in enumerate(numbers) if one < before), len(numbers))
            chosen = numbers[start : start + size]
            loaded = {record.id - base: record for record in snapshot.load([base + number for number in chosen])}
            memories = _with_origin(snapshot, [_bare(loaded[number]) for number in chosen if number in loaded])
            counted = snapshot.facets(numbers[:FACETED], _FACETS) if facets else {}
        more = start + size < len(numbers)
        return Recalled(memories=memories, total=len(numbers), order=chosen[-1] if more else 0, facets=counted)

    def _recall_past(self, query: str, found: Found, filters: Filters, offset: int, size: int, at: int) -> Recalled:
        with importing():
            from polymnia.engine.search.ranking import FITS

        with self.store.read(self.project) as snapshot:
            later = snapshot.changes_since(at, _CHANGES + 1)
            then = Then.before(snapshot, at, later[:_CHANGES])
            past = {id: record for id in sorted(then.first) if (record := state_at(snapshot, id, then)) is not None}
            makers = snapshot.makers(list(past)) if filters.who is not None else {}
            past = {
                id: record for id, record in past.items()
                if passes(record, filters, makers[id].who if id in makers else "")
            }  # fmt: skip
            hits, known = [], set()
            for hit in found.hits:
                record = past.get(hit.record.id) if hit.record.id in then.first else hit.record
                if record is not None and record.observations == hit.record.observations:
                    hits.append(replace(hit, record=record))
                    known.add(record.id)
            others = [record for id, record in past.items() if id not in known]
            if query.strip():
                hits = list(merge(hits, self._scored(query, others), key=lambda hit: -hit.score))
            else:
                hits = sorted([*hits, *map(_bare, others)], key=lambda hit: -hit.record.created)
            total = len(hits) + found.total - len(found.hits)
            hits = [replace(hit, place=at) for at, hit in enumerate(hits)]
            page = _turns_then(snapshot, hits[offset : offset + size], then)
            memories, named = _with_relations(
                lambda names: _relations_then(snapshot, names, later[:_CHANGES]),
                query,
                _with_origin(snapshot, page, then),
            )
            memories = _superseded_last(memories)
        fits = bool(hits) and hits[0].score >= FITS
        notes = [note for note in found.notes if not (fits and note.code in ("nothing_fits", "nearest", "filtered"))]
        return Recalled(
            memories=memories, total=total, notes=notes, whole_past=len(later) <= _CHANGES, order=found.order or 0,
            relations=named,
        )  # fmt: skip

    def _scored(self, query: str, records: Sequence[Record]) -> list[Hit]:
        """Past texts that answer a query, best first, which no index has any more: read by the ranker, or by words."""
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
        hits = [
            Hit(record=one, score=round(score, 4), why=Why(judged=round(score, 4)))
            for one, score in zip(chosen, scores, strict=True)
            if score >= _LEAST
        ]
        return sorted(hits, key=lambda hit: -hit.score)

    def count_opened(self, record: Record) -> None:
        """Count that a memory was opened, for analyses of usage."""
        self._count_reads([record.id], opened=True)

    def relations_naming(self, name: str) -> list[Relation]:
        """The relations with this name at one end, be anything stored under it or not."""
        with self.store.read(self.project) as snapshot:
            return snapshot.relations_of([name])

    def turns(self, session: str) -> list[Record]:
        """The turns of a session, in the order they were stored."""
        with self.store.read(self.project) as snapshot:
            return turns_of(snapshot, f"{SESSIONS}/{session}")

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


def _with_origin(snapshot: Snapshot, hits: Sequence[Hit], then: Then | None = None) -> list[RecalledMemory]:
    makers = snapshot.makers([hit.record.id for hit in hits])
    newer = newer_of(snapshot, (hit.record for hit in hits), then)
    conflicts: dict[str, list[Record]] = {}
    for one, other in unsettled(snapshot, {hit.record.uid for hit in hits}, then):
        conflicts.setdefault(one.uid, []).append(other)
        conflicts.setdefault(other.uid, []).append(one)
    return [
        RecalledMemory(
            hit=hit, stored=makers.get(hit.record.id), superseded_by=newer.get(hit.record.uid),
            conflicts=conflicts.get(hit.record.uid, []),
        )
        for hit in hits
    ]  # fmt: skip


def _with_relations(
    relations_of: Callable[[Sequence[str]], list[Relation]], query: str, memories: list[RecalledMemory]
) -> tuple[list[RecalledMemory], list[Relation]]:
    """The memories, entities with the relations that were drawn, and what relations there are of names in the query."""
    entities = {one.hit.record.name for one in memories if one.hit.record.name != one.hit.record.uid}
    words = [word.strip(_AROUND) for word in query.split()[:_WORDS]]
    named = {" ".join(words[i : i + n]) for n in range(1, _NAME + 1) for i in range(len(words) - n + 1)} - {""}
    names = sorted(entities | named)
    found = [one for one in relations_of(names) if one.origin != "auto"] if names else []
    drawn: dict[str, list[Relation]] = {}
    for one in found:
        for name in {one.source, one.target} & entities:
            drawn.setdefault(name, []).append(one)
    linked = [replace(one, relations=drawn.get(one.hit.record.name, [])) for one in memories]
    return linked, [one for one in found if entities.isdisjoint((one.source, one.target))]


def _relations_then(snapshot: Snapshot, names: Sequence[str], later: Sequence[Change]) -> list[Relation]:
    """The relations of names before these changes, the newest of which is the first."""
    there = {one.ends: one for one in snapshot.relations_of(names)}
    for change in later:
        for one in snapshot.relation_effects(change.id):
            if one.source not in names and one.target not in names:
                continue
            ends = (one.source, one.target, one.type)
            if one.how == "deleted":
                there[ends] = Relation(id=0, source=one.source, target=one.target, type=one.type, origin=one.origin)
            else:
                there.pop(ends, None)
    return list(there.values())


def _turns_then(snapshot: Snapshot, hits: Sequence[Hit], then: Then) -> list[Hit]:
    """Hits without the turns around them that were not there yet."""
    around = [turn.id for hit in hits for turn in (hit.previous, hit.next) if turn is not None]
    there = states(snapshot, around, then)

    def kept(turn: Turn | None) -> Turn | None:
        return turn if turn is not None and turn.id in there else None

    return [replace(hit, previous=kept(hit.previous), next=kept(hit.next)) for hit in hits]


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
