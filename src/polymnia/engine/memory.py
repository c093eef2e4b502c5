"""Memory: the one object everything above holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar

from polymnia.engine import graph, paging
from polymnia.engine.graph import STRICT, Added, Created, Deleted, Policy, Related, Step
from polymnia.engine.ports import Snapshot, Store, Transaction
from polymnia.engine.search import Finding
from polymnia.errors import Invalid, NotFound
from polymnia.models import Change, EntityDraft, Event, Filters, Graph, Limits, Record, Relation, legal_text

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Finder
    from polymnia.engine.search.query import Query
    from polymnia.engine.search.results import Found, Plan

__all__ = ["Memory"]

T = TypeVar("T")


class Memory:
    """One project of one store, with the verbs of memory.

    Every verb that changes something is atomic and on disk when it returns; when it raises a
    :class:`~polymnia.errors.Fault`, nothing was changed. Safe to use from several threads.

    ``policy`` says how the verbs behave where servers differ (see :class:`~polymnia.engine.graph.Policy`);
    ``who`` is written to the journal.
    """

    def __init__(
        self,
        store: Store,
        *,
        project: str = "default",
        who: str = "library",
        policy: Policy = STRICT,
        limits: Limits | None = None,
        finding: Finding | None = None,
    ) -> None:
        self.store = store
        self.finding = finding or Finding(lambda: _plain_finder(store))
        self.project = project
        self.who = who
        self.policy = policy
        self.limits = limits or Limits()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store's files."""
        self.finding.close()
        self.store.close()

    def acting(self, who: str, policy: Policy | None = None) -> Memory:
        """The same memory in someone else's hands: another name in the journal, perhaps another policy."""
        return Memory(
            self.store,
            project=self.project,
            who=who,
            policy=policy or self.policy,
            limits=self.limits,
            finding=self.finding,
        )

    # ── changing ──────────────────────────────────────────────────────────────────────────────────────

    def create_entities(self, entities: Iterable[EntityDraft], *, step: Step | None = None) -> Created:
        """Store new entities, each with a name, a kind and observations."""
        drafts = list(entities)
        graph.check_drafts(drafts, self.policy, self.limits)
        return self._write("create_entities", lambda tx: graph.create_entities(tx, drafts, self.policy, step), step)

    def create_relations(self, relations: Iterable[tuple[str, str, str]], *, step: Step | None = None) -> Related:
        """Store relations, each given as (source, target, type)."""
        ends = _ends(relations)
        graph.check_relations(ends, self.policy, self.limits)
        return self._write("create_relations", lambda tx: graph.create_relations(tx, ends, self.policy, step), step)

    def add_observations(
        self, additions: Iterable[tuple[str, Sequence[str]]], *, step: Step | None = None
    ) -> list[Added]:
        """Append observations to entities, each item given as (name, texts)."""
        items = list(additions)
        graph.check_observations(items, "observations", "contents", self.policy, self.limits)
        return self._write("add_observations", lambda tx: graph.add_observations(tx, items, self.policy, step), step)

    def delete_entities(self, names: Iterable[str], *, step: Step | None = None) -> Deleted:
        """Remove entities and every relation that starts or ends at one of them. Can be undone."""
        going = _list(names)
        graph.check_names(going, "entityNames", self.policy, self.limits)
        return self._write("delete_entities", lambda tx: graph.delete_entities(tx, going, self.policy), step)

    def delete_observations(self, deletions: Iterable[tuple[str, Sequence[str]]], *, step: Step | None = None) -> int:
        """Remove exact observations, each item given as (name, texts); answers how many went."""
        items = list(deletions)
        graph.check_observations(items, "deletions", "observations", self.policy, self.limits)
        return self._write("delete_observations", lambda tx: graph.delete_observations(tx, items, self.policy), step)

    def delete_relations(
        self, relations: Iterable[tuple[str, str, str]], *, step: Step | None = None
    ) -> list[Relation]:
        """Remove every relation equal to one of the given (source, target, type); answers what went."""
        ends = _ends(relations)
        graph.check_relations(ends, self.policy, self.limits)
        return self._write("delete_relations", lambda tx: graph.delete_relations(tx, ends), step)

    def purge(self, names: Iterable[str]) -> int:
        """Remove entities for good, deleted ones too: from store, indexes and journal.

        Cannot be undone; answers how many went.
        """
        going = _list(names)

        def purge(tx: Transaction) -> int:
            ids = list(dict.fromkeys(id for name in going for id in tx.ids_ever(name)))
            tx.purge(ids)
            return len(ids)

        return self._write("purge", purge)

    def undo(self, change: int | None = None) -> Change:
        """Take back a change whole, a cascade of deletes included; the newest one when none is named.

        The undo is a change of its own and can be undone. A change that later ones build on is refused with
        :class:`~polymnia.errors.Conflict`, which names them.
        """
        if change is not None:
            _known_number(change)
        return self._write("undo", lambda tx: tx.undo(change))

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────

    def read_graph(self, *, limit: int | None = None, cursor: str | None = None) -> Graph:
        """Everything: all entities and all relations; with a limit, a page of it.

        Over all pages each relation comes once, with the page of the entity it starts at; those that start
        at a name nobody bears come with the last page.
        """
        with self.store.read(self.project) as snapshot:
            if limit is None and cursor is None:
                return Graph(list(snapshot.records()), list(snapshot.relations()))
            size = paging.size(limit)
            (after,) = paging.position("graph", cursor, 1) or (0,)
            page = list(snapshot.records(int(after), size + 1))
            more, page = len(page) > size, page[:size]
            relations = snapshot.relations_from([record.name for record in page])
            if not more:
                relations = sorted([*relations, *snapshot.loose_relations()], key=lambda relation: relation.id)
            return Graph(page, relations, paging.cursor("graph", page[-1].id) if more else None)

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
        rerank: bool | None = None,
        reasons: bool = True,
    ) -> Found:
        """The memories that answer a query, best first, each with the reasons why.

        Words and meaning are searched together; ``lanes`` may ask for "words" or "meaning" alone. ``filters`` say what
        may be found at all. "Last Tuesday" in a query is seen from ``now`` (microseconds since 1970, UTC) in a time
        zone ``zone`` minutes east of Greenwich. With ``max_tokens`` the best passages that fit are given and the answer
        says what was cut. ``recency`` and ``related`` (0 to 1) let new memories, and those linked to good ones, rise.
        Without ``reasons`` a hit is a memory and its score, and nothing is spent on why.
        """
        if max_tokens is not None and (not isinstance(max_tokens, int) or max_tokens < 1):
            raise Invalid(f"max_tokens is {max_tokens}, but must be 1 or more", field="max_tokens")
        wanted = self._asked(query, filters, lanes, now, zone, recency, related, rerank)
        return self.finding().search(
            self.project,
            wanted,
            limit=paging.size(limit),
            cursor=cursor,
            max_tokens=max_tokens,
            facets=facets,
            reasons=reasons or max_tokens is not None,
        )

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
        rerank: bool | None,
    ) -> Query:
        from polymnia.engine.search.query import Query

        legal_text(query, "query", self.limits.text_bytes)
        return Query(
            text=query, filters=filters or Filters(), lanes=lanes, now=now, zone=zone, recency=recency,
            related=related, rerank=rerank,
        )  # fmt: skip

    def search_nodes(
        self, query: str, *, limit: int | None = None, cursor: str | None = None, relations: bool = True
    ) -> Graph:
        """The entities that match, as the policy's kind of search says, with every relation they take part in."""
        legal_text(query, "query", self.limits.text_bytes)
        if self.policy.search == "ranked":
            return self._ranked(query, limit, cursor, relations)
        with self.store.read(self.project) as snapshot:
            found = self._matching(snapshot, query, limit, cursor)
            if relations and found.records:
                return Graph(found.records, self._relations_of(snapshot, found.records), found.next)
            return found

    def _ranked(self, query: str, limit: int | None, cursor: str | None, relations: bool) -> Graph:
        wanted = self._asked(query, None, None, None, 0, 0.0, 0.0, None)
        size = None if limit is None and cursor is None else paging.size(limit)
        links: list[Relation] = []

        def link(snapshot: Snapshot, found: Found) -> None:
            if found.hits:
                links.extend(self._relations_of(snapshot, [hit.record for hit in found.hits]))

        found = self.finding().search(
            self.project, wanted, limit=size, cursor=cursor, reasons=False, within=link if relations else None
        )
        records = [hit.record for hit in found.hits]
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

    def open_nodes(
        self,
        names: Iterable[str],
        *,
        limit: int | None = None,
        cursor: str | None = None,
        relations: bool = True,
    ) -> tuple[Graph, list[str]]:
        """The entities of these names with the relations they take part in, and the names that are not there."""
        wanted = list(dict.fromkeys(_list(names)))
        graph.check_names(wanted, "names", self.policy, self.limits)
        with self.store.read(self.project) as snapshot:
            ids = snapshot.ids(wanted) if wanted else {}
            missing = [name for name in wanted if name not in ids]
            if missing and self.policy.opening_missing == "refuse":
                raise NotFound(missing)
            (after,) = paging.position("nodes", cursor, 1) or (0,)
            open_ids = sorted(id for id in ids.values() if id > after)
            size = len(open_ids) if limit is None and cursor is None else paging.size(limit)
            records = snapshot.load(open_ids[:size]) if open_ids else []
            more = len(open_ids) > size
            links = self._relations_of(snapshot, records) if relations and records else []
            return Graph(records, links, paging.cursor("nodes", records[-1].id) if more else None), missing

    def _relations_of(self, snapshot: Snapshot, records: list[Record]) -> list[Relation]:
        return snapshot.relations_of([record.name for record in records])

    def get(self, name: str, *, at: int | None = None) -> tuple[Record, list[Relation]]:
        """One entity and its relations, now or as they were at a time (microseconds since 1970, UTC)."""
        with self.store.read(self.project) as snapshot:
            if at is None:
                ids = snapshot.ids([name])
                records = snapshot.load(list(ids.values())) if ids else []
                relations = snapshot.relations_of([name]) if ids else []
            else:
                records, relations = snapshot.as_of(at, name)
        if not records:
            raise NotFound([name])
        return records[0], relations

    def as_of(self, at: int) -> Graph:
        """The whole graph as it was at a time (microseconds since 1970, UTC)."""
        with self.store.read(self.project) as snapshot:
            return Graph(*snapshot.as_of(at))

    def history(self, name: str) -> list[Event]:
        """Everything that happened to the name, oldest first; also when it is deleted by now."""
        with self.store.read(self.project) as snapshot:
            events = snapshot.history(name)
        if not events:
            raise NotFound([name])
        return events

    def changes(self, limit: int = 20) -> list[Change]:
        """The newest changes of the project, newest first."""
        paging.size(limit)
        with self.store.read(self.project) as snapshot:
            return snapshot.changes(limit)

    def change(self, number: int) -> Change | None:
        """One change of the project by its number."""
        _known_number(number)
        with self.store.read(self.project) as snapshot:
            return snapshot.change(number)

    def names(self, prefix: str, limit: int = 100) -> list[str]:
        """Names to complete a prefix with: those that start with it, then those that contain it."""
        with self.store.read(self.project) as snapshot:
            names = snapshot.names_starting(prefix, limit)
            if prefix and len(names) < limit:
                from polymnia.engine.search import substring

                ids = substring(snapshot, prefix)[:1000]
                inside = [r.name for r in snapshot.load(ids) if _has_lowered_name(r, prefix)] if ids else []
                names = list(dict.fromkeys([*names, *inside]))[:limit]
            return names

    def newest(self, limit: int = 20) -> list[Record]:
        """The entities made last, newest first."""
        with self.store.read(self.project) as snapshot:
            return snapshot.newest(limit)

    def count(self) -> tuple[int, int]:
        """How many entities and relations there are."""
        with self.store.read(self.project) as snapshot:
            return snapshot.count()

    def stamp(self) -> int:
        """A number that changes whenever anyone has changed the project."""
        return self.store.stamp(self.project)

    def _write(self, action: str, work: Callable[[Transaction], T], step: Step | None = None) -> T:
        with self.store.write(self.project, self.who, action) as tx:
            if step is not None:
                step(0, 0)  # the turn has come; the last moment to call it off
            done = work(tx)
            changed = tx.changed
        if changed:
            self.finding.noticed(self.project)
        return done


def _plain_finder(store: Store) -> Finder:
    from polymnia.engine.search.finder import Finder

    return Finder(store)


def _list(names: Iterable[str]) -> list[str]:
    return [names] if isinstance(names, str) else list(names)


def _ends(relations: Iterable[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    given = list(relations)
    for i, one in enumerate(given):
        if isinstance(one, str) or len(one) != 3:
            raise Invalid(f"relations[{i}] must be (source, target, type)", field=f"relations[{i}]")
    return [(source, target, type) for source, target, type in given]


def _known_number(change: int) -> None:
    if not 0 < change < 1 << 63:
        raise NotFound([str(change)], "Change", hint="`polymnia changes` lists their numbers.")


def _has_lowered(record: Record, query: str) -> bool:
    # No text holds NUL, so nothing is found across two of them.
    return query.lower() in "\0".join((record.name, record.kind, *record.observations)).lower()


def _has_lowered_name(record: Record, prefix: str) -> bool:
    return prefix.casefold() in record.name.casefold()
