"""Every way to read a project, in a form that can be run anywhere and compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from polymnia.engine.ports import Snapshot
from polymnia.models import Filters

__all__ = ["READS", "everything"]

NAMES = ("ann", "bob", "Ann", "nobody")
FAR_AHEAD = 1 << 60
MODEL = "toy"
EVERY = range(1, 40)
"""More numbers than any project here has given out."""

# Each answers something that compares, and that is false where there is nothing to read.
READS: dict[str, Callable[[Snapshot], Any]] = {
    "ids": lambda snapshot: snapshot.ids(NAMES) or snapshot.ids(NAMES[:1]),
    "ids_ever": lambda snapshot: [id for name in NAMES for id in snapshot.ids_ever(name)],
    "ids_of": lambda snapshot: snapshot.ids_of([record.uid for record in snapshot.records()]),
    "uids": lambda snapshot: snapshot.uids(snapshot.containing([""])),
    "load": lambda snapshot: snapshot.load(snapshot.containing([""])),
    "records": lambda snapshot: [*snapshot.records(), *snapshot.records(0, 1)],
    "newest": lambda snapshot: snapshot.newest(10),
    "page": lambda snapshot: [*snapshot.page(0, 10), *snapshot.page(1, 1)],
    "around": lambda snapshot: [snapshot.around(record.id, 1) for record in snapshot.records()],
    "scopes": lambda snapshot: snapshot.scopes(),
    "sessions": lambda snapshot: snapshot.sessions(),
    "has_session": lambda snapshot: snapshot.has_session("today"),
    "strongest": lambda snapshot: snapshot.strongest(NAMES, 2),
    "relations": lambda snapshot: list(snapshot.relations()),
    "relations_of": lambda snapshot: [*snapshot.relations_of(NAMES), *snapshot.relations_of(NAMES[:1])],
    "relations_from": lambda snapshot: snapshot.relations_from(NAMES),
    "loose_relations": lambda snapshot: snapshot.loose_relations(),
    "find_relations": lambda snapshot: snapshot.find_relations([("ann", "bob", "knows"), ("nobody", "ann", "seeks")]),
    "containing": lambda snapshot: [snapshot.containing([form]) for form in ("tea", "t", "person") if form],
    "with_texts": lambda snapshot: snapshot.with_texts(["likes tea", "hates tea", "tea"], EVERY[-1]),
    "same_text": lambda snapshot: [snapshot.same_text(text, None) for text in ("Likes tea.", "hates tea", "tea")],
    "is_common": lambda snapshot: snapshot.is_common(["tea"], 1),
    "names_starting": lambda snapshot: [*snapshot.names_starting("", 10), *snapshot.names_starting("a", 10)],
    "uids_starting": lambda snapshot: snapshot.uids_starting("", 10),
    "look_alikes": lambda snapshot: snapshot.look_alikes(["Ann", "ANN", "аnn"]),
    "size": lambda snapshot: snapshot.size() - 1,
    "count": lambda snapshot: snapshot.count(),
    "noted": lambda snapshot: snapshot.noted("place"),
    "notes": lambda snapshot: [*snapshot.notes("p", "q", 10), *snapshot.notes("", "place", 10)],
    "kinds": lambda snapshot: snapshot.kinds(),
    "deleted_starting": lambda snapshot: snapshot.deleted_starting("", 10),
    "deleted_uid": lambda snapshot: snapshot.deleted_uid("00000000-0000-4000-8000-000000000000"),
    "changes_since": lambda snapshot: snapshot.changes_since(0, 10),
    "effects": lambda snapshot: [snapshot.effects(n) for n in range(20) if snapshot.effects(n)],
    "relation_effects": lambda snapshot: [found for n in range(20) if (found := snapshot.relation_effects(n))],
    "makers": lambda snapshot: snapshot.makers([record.id for record in snapshot.records()]),
    "changes": lambda snapshot: snapshot.changes(10),
    "change": lambda snapshot: [found for n in range(20) if (found := snapshot.change(n))],
    "history": lambda snapshot: [event for name in NAMES for event in snapshot.history(name)],
    "versions": lambda snapshot: [snapshot.versions(id) for name in NAMES for id in snapshot.ids_ever(name)],
    "as_of": lambda snapshot: [*snapshot.as_of(FAR_AHEAD), *snapshot.as_of(FAR_AHEAD, "ann")],
    "touches": lambda snapshot: [*snapshot.touches(), *snapshot.touches(0, FAR_AHEAD)],
    "seen": lambda snapshot: [*snapshot.seen(), *snapshot.seen(0, FAR_AHEAD)],
    "damage": lambda snapshot: sorted(snapshot.damage),
    "stamp": lambda snapshot: snapshot.stamp,
    "numbers": lambda snapshot: snapshot.numbers[:3],
    "edition": lambda snapshot: snapshot.edition,
    "texts": lambda snapshot: [*snapshot.texts(0, EVERY[-1]), *snapshot.texts(2, 4)],
    "texts_of": lambda snapshot: snapshot.texts_of(EVERY),
    "passages": lambda snapshot: [*snapshot.passages(), *snapshot.passages(2)],
    "postings": lambda snapshot: [snapshot.postings(term) for term in snapshot.terms("", "\U0010ffff", 100)],
    "terms": lambda snapshot: [*snapshot.terms("", "\U0010ffff", 100), *snapshot.terms("t", "u", 1)],
    "deleted_texts": lambda snapshot: snapshot.deleted_texts(),
    "stale": lambda snapshot: snapshot.stale(),
    "changed_texts": lambda snapshot: [snapshot.changed_texts(change) for change in range(20)],
    "vectors": lambda snapshot: snapshot.vectors(MODEL, 0, 100),
    "halves": lambda snapshot: sorted(snapshot.halves([one[0] for one in snapshot.vectors(MODEL, 0, 100)])),
    "observation_vectors": lambda snapshot: snapshot.observation_vectors(EVERY),
    "vectors_of": lambda snapshot: [found for number in EVERY if (found := snapshot.vectors_of(number))],
    "models": lambda snapshot: snapshot.models(),
    "passes_more": lambda snapshot: sum(snapshot.passes_more(Filters(), count) for count in range(50)),
    "matching": lambda snapshot: [snapshot.matching(Filters()), snapshot.matching(Filters(kinds=("person",)))],
    "facets": lambda snapshot: list(snapshot.facets(EVERY, 10).values()),
}


def everything(snapshot: Snapshot) -> dict[str, Any]:
    """What every way to read answers."""
    return {name: read(snapshot) for name, read in READS.items()}
