"""A project as it was at a time: what was known by names and ids, its relations, conversations and scopes."""

from __future__ import annotations

from collections import Counter

from polymnia.engine.batches import SUPERSEDED, TURN
from polymnia.engine.content import new_item_id
from polymnia.engine.scopes import SESSIONS, Scope, legal_scope, tree
from polymnia.errors import NotFound
from polymnia.models import SHORTEST_ID, Graph, Record, Relation


class Past:
    """What a project had at one moment, read from the whole of it as it was then."""

    def __init__(self, graph: Graph) -> None:
        self._records = graph.records
        self._by_name = {one.name: one for one in graph.records}
        self._by_uid = {one.uid: one for one in graph.records}
        self._relations = graph.relations

    def resolve(self, text: str) -> Record:
        """A memory by its name, its id, or the beginning of its id where that fits one alone."""
        if (found := self._by_name.get(text) or self._by_uid.get(text)) is not None:
            return found
        begun = (text, new_item_id(text)) if len(text) >= SHORTEST_ID else ()
        fitting = [one for uid, one in self._by_uid.items() if begun and uid.startswith(begun)]
        if len(fitting) != 1:
            raise NotFound([text])
        return fitting[0]

    def turns(self, session: str) -> list[Record]:
        """The turns that a session had, in the order they were stored."""
        scope = f"{SESSIONS}/{session}"
        return [one for one in self._records if one.scope == scope and one.kind == TURN]

    def scopes(self, parent: str | None = None) -> list[Scope]:
        """The scopes that had memories in them or below them."""
        top = None if parent is None else legal_scope(parent, "parent_scope")
        return tree(Counter(one.scope for one in self._records).items(), top)

    def relations_naming(self, name: str) -> list[Relation]:
        """The relations that had this name at one end."""
        return [one for one in self._relations if name in (one.source, one.target)]

    def superseded_by(self, record: Record) -> Record | None:
        """What had replaced a memory."""
        mark = record.metadata.get(SUPERSEDED)
        return self._by_uid.get(mark) if isinstance(mark, str) else None

    def around(self, record: Record, depth: int) -> tuple[list[Relation], list[Record]]:
        """The relations around a memory, up to ``depth`` steps away, and the memories these led to, nearest first."""
        relations: dict[int, Relation] = {}
        names, seen = {record.name}, {record.name: None}
        for _ in range(depth):
            found = [one for one in self._relations if one.source in names or one.target in names]
            found = [one for one in found if one.id not in relations]
            relations |= {one.id: one for one in found}
            names = {name for one in found for name in (one.source, one.target)} - seen.keys()
            seen |= {name: None for one in found for name in (one.source, one.target)}
            if not names:
                break
        others = [self._by_name[name] for name in list(seen)[1:] if name in self._by_name]
        return list(relations.values()), others
