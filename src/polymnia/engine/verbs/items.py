"""Items: reading what whoever keeps documents and decisions has stored, and what they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from polymnia.engine import content, items
from polymnia.engine.items import Version
from polymnia.engine.ports import Snapshot
from polymnia.engine.verbs.base import Verbs
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.models import Change, Record, Relation, legal_text

if TYPE_CHECKING:
    pass

__all__ = ["ItemVerbs"]

_CANDIDATES = 30


class ItemVerbs(Verbs):
    """Reading items: by their ids, with their relationships, versions and vectors, and those similar to them."""

    def item(self, id: str, *, session: str | None = None) -> Record:
        """An item by its id."""
        with self.store.read(self.project) as snapshot:
            record = items.find_item(snapshot, id, session)
        self._read_by([record.id], opened=True)
        return record

    def nearest_id(self, id: str, *, session: str | None = None) -> str | None:
        """The id most like one that is not there, of what the caller may see; None where none comes close."""
        from difflib import get_close_matches

        with self.store.read(self.project) as snapshot:
            names = snapshot.names_starting(id[: max(8, len(id) // 2)], _CANDIDATES)
            seen = [one.uid for one in _named(snapshot, names).values() if one.session in (None, session)]
        return next(iter(get_close_matches(id, seen, n=1, cutoff=0.8)), None)

    def item_relations(self, record: Record, *, session: str | None = None) -> list[tuple[Relation, Record | None]]:
        """The relationships of an item with what is at their other end; None where that is gone."""
        with self.store.read(self.project) as snapshot:
            links = snapshot.relations_of([record.name])
            names = [r.target if r.source == record.name else r.source for r in links]
            found = _named(snapshot, names)
        # What leads to another session's item is none of this one's business.
        hidden = {name for name, one in found.items() if one.session not in (None, session)}
        return [(link, found.get(name)) for link, name in zip(links, names, strict=True) if name not in hidden]

    def item_versions(self, id: str, *, session: str | None = None, limit: int | None = None) -> list[Version]:
        """An item as every change left it, newest first; a deleted one from its last state on."""
        with self.store.read(self.project) as snapshot:
            record = items.find_deleted(snapshot, id, session) or items.find_item(snapshot, id, session)
            told = [Version(change, one) for change, one in snapshot.versions(record.id)]
        told += items.brought(record)
        distinct = [one for i, one in enumerate(told) if i == 0 or one.record.version != told[i - 1].record.version]
        return distinct if limit is None else distinct[:limit]

    def item_deletion(self, id: str, *, session: str | None = None) -> Change | None:
        """The change that deleted an item; None while it is there."""
        with self.store.read(self.project) as snapshot:
            if items.find_deleted(snapshot, id, session) is None:
                return None
            return next((event.change for event in reversed(snapshot.history(id)) if event.deleted), None)

    def item_vectors(self, record: Record) -> dict[str, list[list[float]]]:
        """The vectors of an item, model by model, one for each of its passages."""
        with self.finding().look(self.project) as look:
            said = look.held(record.id - look.base)
            return {} if said is None else {model: rows.tolist() for model, rows in said.vectors.items()}

    def similar_items(
        self,
        *,
        text: str | None = None,
        id: str | None = None,
        session: str | None = None,
        limit: int = 10,
        threshold: float = 0.0,
        measure: str = "cosine",
        include_self: bool = False,
        content_types: Sequence[str] = (),
        exclude: Sequence[str] = (),
    ) -> list[tuple[Record, float]]:
        """The items most similar to a text or to another item, by one of three measures, each from 0 to 1."""
        with importing():
            from polymnia.engine.knowledge.similarity import similar

        if (text is None) == (id is None):
            raise Invalid("Give either content or content_id", field="content")
        record = None
        if id is not None:
            with self.store.read(self.project) as snapshot:
                record = items.find_item(snapshot, id, session)
        said_text = content.content(record) if record is not None else text or ""
        legal_text(said_text, "content", self.limits.text_bytes)
        finder = self.finding()
        asked = record or Record(id=0, uid="-", name="-", kind=items.CONTENT, observations=(said_text,))
        said = finder.said(self.project, *content.read_as(asked))
        wanted = replace(items.visible(session), content_types=tuple(content_types))
        leave = {*exclude, *([record.uid] if record is not None and not include_self else [])}
        with finder.look(self.project) as look:
            found = similar(look, said, said_text, wanted, measure, limit, threshold, leave)
        self._read_by((one.id for one, _ in found), opened=False)
        return found


def _named(snapshot: Snapshot, names: Sequence[str]) -> dict[str, Record]:
    ids = snapshot.ids(list(dict.fromkeys(names))) if names else {}
    return {record.name: record for record in snapshot.load(list(ids.values()))} if ids else {}
