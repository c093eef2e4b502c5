"""Finding: the verbs of search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from polymnia.engine import paging
from polymnia.engine.ports import Snapshot
from polymnia.engine.verbs.base import Verbs
from polymnia.errors import Invalid
from polymnia.models import Filters, Graph, Record, Relation, legal_name

if TYPE_CHECKING:
    from polymnia.engine.search.results import Found, Plan, Query

_COUNTED = 100  # of what is found without a limit, so many count as read


class SearchVerbs(Verbs):
    """Searching by words and by meaning, and telling how it went."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        cursor: str | None = None,
        filters: Filters | None = None,
        lanes: str | None = None,
        now: int | None = None,
        zone: int = 0,
        max_tokens: int | None = None,
        facets: bool = False,
        recency: float = 0.0,
        related: float = 0.0,
        effort: str | None = None,
        reasons: bool = True,
        at_least: float | None = None,
        or_nearest: bool = False,
        sort: str = "relevance",
        ascending: bool = False,
        offset: int | None = None,
        links: int = 0,
    ) -> Found:
        """The memories that answer a query, best first, each with the reasons why.

        Words and meaning are searched together; ``lanes`` may ask for "words" or "meaning" alone. ``filters`` say what
        may be found at all. "Last Tuesday" in a query is seen from ``now`` (microseconds since 1970, UTC) in a time
        zone ``zone`` minutes east of Greenwich. With ``max_tokens`` the best passages that fit are given and the answer
        says what was cut. ``recency`` and ``related`` (0 to 1) let new memories, and those linked to good ones, rise.
        Without ``reasons`` a hit is a memory and its score, and nothing is spent on why. Memories with a score below
        ``at_least`` are no answer: 0 hides nothing, None what has nothing to do with the query. With ``or_nearest``
        they are one where nothing scores higher. ``sort`` may be "relevance", "date" or "title". ``effort`` says how
        long the best candidates may be read again together with the query: "quick" (not at all), "balanced" or
        "thorough"; where it is not given, the setting counts. Pages are asked for by ``cursor``, or by ``offset``,
        which skips so many. ``links`` says how many of the memories that a hit is linked to are given with it. The note
        ``nothing_fits`` says that nothing found is likely to answer the query.
        """
        if max_tokens is not None and (not isinstance(max_tokens, int) or max_tokens < 1):
            raise Invalid(f"max_tokens is {max_tokens}, but must be 1 or more", field="max_tokens")
        from polymnia.engine.search.results import ResultPage

        wanted = replace(
            self._asked(query, filters, lanes, now, zone, recency, related, effort),
            at_least=at_least, or_nearest=or_nearest, sort=sort, ascending=ascending,
        )  # fmt: skip
        page = ResultPage(
            limit=paging.size(limit),
            cursor=cursor,
            max_tokens=max_tokens,
            facets=facets,
            reasons=reasons or max_tokens is not None,
            offset=offset,
        )
        with self.finding().searched(self.project, wanted, page) as (found, snapshot):
            if links and found.hits:
                from polymnia.engine.knowledge.associations import links_of

                found = replace(found, links=links_of(snapshot, [hit.record for hit in found.hits], links))
        self._read_by((hit.record.id for hit in found.hits), opened=False)
        return found

    def explain(
        self,
        query: str,
        *,
        limit: int = 10,
        filters: Filters | None = None,
        lanes: str | None = None,
        now: int | None = None,
        zone: int = 0,
    ) -> Plan:
        """How a query is read and answered: its words, each lane's candidates, and the fusion."""
        wanted = self._asked(query, filters, lanes, now, zone, 0.0, 0.0, None)
        return self.finding().explain(self.project, wanted, limit=paging.size(limit))

    def _asked(
        self,
        query: str,
        filters: Filters | None,
        lanes: str | None,
        now: int | None,
        zone: int,
        recency: float,
        related: float,
        effort: str | None,
    ) -> Query:
        from polymnia.engine.search.results import Query

        legal_name(query, "query", self.limits)
        return Query(
            text=query, filters=filters or Filters(), lanes=lanes, now=now, zone=zone, recency=recency,
            related=related, effort=effort,
        )  # fmt: skip

    def search_nodes(
        self, query: str, *, limit: int | None = None, cursor: str | None = None, relations: bool = True
    ) -> Graph:
        """The entities that match, as the policy's kind of search says, with every relation they take part in."""
        legal_name(query, "query", self.limits)
        found = self._nodes(query, limit, cursor, relations)
        self._read_by((record.id for record in found.records[:_COUNTED]), opened=False)
        return found

    def _nodes(self, query: str, limit: int | None, cursor: str | None, relations: bool) -> Graph:
        if self.policy.search == "ranked":
            return self._ranked(query, limit, cursor, relations)
        with self.store.read(self.project) as snapshot:
            found = self._matching(snapshot, query, limit, cursor)
            if relations and found.records:
                found = Graph(found.records, _links(snapshot, found.records), found.next)
            if snapshot.damage:
                from polymnia.engine.search import damage_note

                return Graph(found.records, found.relations, found.next, [damage_note(sorted(snapshot.damage))])
            return found

    def _ranked(self, query: str, limit: int | None, cursor: str | None, relations: bool) -> Graph:
        wanted = self._asked(query, None, None, None, 0, 0.0, 0.0, None)
        size = None if limit is None and cursor is None else paging.size(limit)
        from polymnia.engine.search.results import ResultPage

        page = ResultPage(limit=size, cursor=cursor, reasons=False, turns=False)
        with self.finding().searched(self.project, wanted, page) as (found, snapshot):
            records = [hit.record for hit in found.hits]
            links = _links(snapshot, records) if relations and records else []
        return Graph(records, links, found.next, found.notes)

    def _matching(self, snapshot: Snapshot, query: str, limit: int | None, cursor: str | None) -> Graph:
        from polymnia.engine.search import substring

        (after,) = paging.position("matches", cursor, 1) or (0,)
        ids = [id for id in substring(snapshot, query) if id > after]
        size = len(ids) if limit is None and cursor is None else paging.size(limit)
        if self.policy.search != "lower" or not query:
            page = snapshot.load(ids[:size]) if ids else []
        else:
            page = []
            for start in range(0, len(ids), size + 1):
                page += [r for r in snapshot.load(ids[start : start + size + 1]) if _has_lowered(r, query)]
                if len(page) > size:
                    break
        more = len(page) > size or (self.policy.search != "lower" and len(ids) > size)
        page = page[:size]
        return Graph(page, [], paging.cursor("matches", page[-1].id) if more and page else None)


def _links(snapshot: Snapshot, records: list[Record]) -> list[Relation]:
    return snapshot.relations_of([record.name for record in records])


def _has_lowered(record: Record, query: str) -> bool:
    # No text holds NUL, so nothing is found across two of them.
    return query.lower() in "\0".join((record.name, record.kind, *record.observations)).lower()
