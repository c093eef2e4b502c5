"""Search: parse the query, select candidates by words and by meaning, rank them, and give the reasons.

The verbs are here; the modules are imported at the first search, since numpy and models would slow every start.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from msgspec.structs import replace

from polymnia.engine.content import cursor as cursor_at
from polymnia.engine.content import links_of, page_size, position
from polymnia.engine.ports import Snapshot
from polymnia.engine.project import Project
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.models import Filters, Graph, Passage, Record, Remark, Text, folded_forms, legal_name

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Finder
    from polymnia.engine.search.results import Found, Plan

_COUNTED = 100  # results without a limit that count as read
_COMPLETED = 1_000  # records whose name may contain a prefix
_NOWHERE = "\0"  # a name that no project can have


class Analysis:
    """Analyses texts for the word index. The version changes whenever the same text would be analysed differently."""

    version = "3"

    def __call__(self, texts: Iterable[Text]) -> Iterable[Passage]:
        """The passages of the texts, in order."""
        from polymnia.engine.search.passages import read

        return read(texts)


class LazySearch:
    """The finder of a store, created when it is first needed and shared by all users of the memory.

    With ``eager``, new texts get their vectors in the background at once; otherwise when somebody searches.
    """

    def __init__(self, make: Callable[[], Finder], *, eager: bool = False) -> None:
        self._make = make
        self._eager = eager
        self._lock = threading.Lock()
        self._finder: Finder | None = None
        self._closed = False

    def __call__(self) -> Finder:
        """The finder."""
        if self._finder is not None:
            return self._finder
        with self._lock:
            if self._finder is None:
                self._finder = self._make()
            return self._finder

    def notify(self, project: str) -> None:
        """Report a write. Costs the writer nothing: the work is done by another thread."""
        if self._finder is not None:
            if self._eager:
                self._finder.notify(project)
        elif self._eager and not self._closed:
            threading.Thread(target=self._start, args=(project,), name="polymnia-finder", daemon=True).start()

    def _start(self, project: str) -> None:
        finder = self()
        with self._lock:
            if not self._closed:
                finder.notify(project)

    @staticmethod
    def read_ahead(texts: Sequence[str]) -> AbstractContextManager[None]:
        """Analyse much text before it is written, so that nobody waits for it while the store is locked."""
        with importing():
            from polymnia.engine.search.passages import read_ahead

        return read_ahead(texts, time.time_ns() // 1000)

    def close(self) -> None:
        """Stop the background work, once it has begun if it is about to."""
        with self._lock:
            self._closed = True
        if self._finder is not None:
            self._finder.close()


def substring(snapshot: Snapshot, query: str) -> list[int]:
    """The ids of every record with the query in its name, kind or an observation, ignoring case."""
    return snapshot.containing(folded_forms(query))


class SearchVerbs(Project):
    """Searching by words and by meaning, and explaining a search."""

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
        """Return the memories that answer a query, best first, each with the reasons.

        Words and meaning are searched together; ``lanes`` may select "words" or "meaning" alone. ``filters`` restrict
        what may be found. "Last Tuesday" in a query is relative to ``now`` (microseconds since 1970, UTC) in a time
        zone ``zone`` minutes east of Greenwich. With ``max_tokens`` the best passages that fit are returned, and the
        result says what was cut. ``recency`` and ``related`` (0 to 1) favour new memories, and those linked to good
        ones. Without ``reasons`` a hit is a memory and its score, which is faster. Memories with a score below
        ``at_least`` are left out: 0 hides nothing, None what has nothing to do with the query. With ``or_nearest`` they
        are returned if nothing scores higher. ``sort`` may be "relevance", "date" or "title". ``effort`` limits how
        long the best candidates are reranked: "quick" (not at all), "balanced" or "thorough"; by default as the
        setting says. Pages are selected by ``cursor``, or by ``offset``, which skips so many. ``links`` is how many of
        the memories that a hit is linked to are returned with it. The note ``nothing_fits`` means that probably nothing
        found answers the query.
        """
        if max_tokens is not None and (not isinstance(max_tokens, int) or max_tokens < 1):
            raise Invalid(f"max_tokens is {max_tokens}, but must be 1 or more", field="max_tokens")
        from polymnia.engine.search.results import Query, ResultPage

        request = Query(
            text=legal_name(query, "query", self.limits), filters=filters or Filters(), lanes=lanes, now=now, zone=zone,
            recency=recency, related=related, effort=effort, at_least=at_least, or_nearest=or_nearest, sort=sort,
            ascending=ascending,
        )  # fmt: skip
        page = ResultPage(
            limit=page_size(limit), cursor=cursor, max_tokens=max_tokens, facets=facets,
            reasons=reasons or max_tokens is not None, offset=offset,
        )  # fmt: skip
        with self.finding().searched(self.project, request, page) as (found, snapshot):
            if links and found.hits:
                found = replace(found, links=links_of(snapshot, [hit.record for hit in found.hits], links))
        self._count_reads((hit.record.id for hit in found.hits), opened=False)
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
        """Return how a query is parsed and answered: its words, each lane's candidates, and the fusion."""
        from polymnia.engine.search.results import Query

        legal_name(query, "query", self.limits)
        request = Query(text=query, filters=filters or Filters(), lanes=lanes, now=now, zone=zone)
        return self.finding().explain(self.project, request, limit=page_size(limit))

    def try_search(self) -> None:
        """Search an empty project to check that searches work, at the same cost whatever is stored.

        Raises whatever keeps them from working.
        """
        from polymnia.engine.search.results import Query, ResultPage

        self.finding().search(_NOWHERE, Query(text="ready"), ResultPage(limit=1))

    def names(self, prefix: str, limit: int = 100) -> list[str]:
        """Return completions of a prefix: names that start with it, then names that contain it."""
        with self.store.read(self.project) as snapshot:
            names = snapshot.names_starting(prefix, limit)
            if prefix and len(names) < limit:
                found = (record.name for record in snapshot.load(substring(snapshot, prefix)[:_COMPLETED]))
                inside = [name for name in found if prefix.casefold() in name.casefold()]
                names = list(dict.fromkeys([*names, *inside]))[:limit]
            return names

    def search_nodes(
        self, query: str, *, limit: int | None = None, cursor: str | None = None, relations: bool = True
    ) -> Graph:
        """Return the entities that match by the policy's kind of search, with all their relations."""
        legal_name(query, "query", self.limits)
        if self.policy.search == "ranked":
            from polymnia.engine.search.results import Query, ResultPage

            size = None if limit is None and cursor is None else page_size(limit)
            page = ResultPage(limit=size, cursor=cursor, reasons=False, turns=False)
            with self.finding().searched(self.project, Query(text=query), page) as (answer, snapshot):
                found = Graph([hit.record for hit in answer.hits], [], answer.next, answer.notes)
                found = _related(snapshot, found, relations)
        else:
            with self.store.read(self.project) as snapshot:
                found = _related(snapshot, self._matching(snapshot, query, limit, cursor), relations)
        self._count_reads((record.id for record in found.records[:_COUNTED]), opened=False)
        return found

    def _matching(self, snapshot: Snapshot, query: str, limit: int | None, cursor: str | None) -> Graph:
        (after,) = position("matches", cursor, 1) or (0,)
        ids = [id for id in substring(snapshot, query) if id > after]
        size = len(ids) if limit is None and cursor is None else page_size(limit)
        lower = self.policy.search == "lower"
        if not lower or not query:
            page = snapshot.load(ids[:size])
        else:
            page = []
            for start in range(0, len(ids), size + 1):
                page += [r for r in snapshot.load(ids[start : start + size + 1]) if _has_lowered(r, query)]
                if len(page) > size:
                    break
        more = len(page) > size or (not lower and len(ids) > size)
        page = page[:size]
        notes = [Remark("index_damaged", {"indexes": sorted(snapshot.damage)})] if snapshot.damage else []
        return Graph(page, [], cursor_at("matches", page[-1].id) if more and page else None, notes)


def _related(snapshot: Snapshot, found: Graph, relations: bool) -> Graph:
    if not relations or not found.records:
        return found
    return replace(found, relations=snapshot.relations_of([record.name for record in found.records]))


def _has_lowered(record: Record, query: str) -> bool:
    # No text contains NUL, so nothing matches across two of them.
    return query.lower() in "\0".join((record.name, record.kind, *record.observations)).lower()
