"""Drawing: the part of a project's graph that a page shows, with communities to colour it by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from polymnia.importing import importing
from polymnia.models import Record, Relation

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot

Choice = Literal["newest", "connected"]
_AT_ONCE = 2_000  # names whose relations are read together


class Drawing(Struct, frozen=True, kw_only=True):
    """Nodes by name, each with its memory (None: only relations name it), and the relations between them.

    ``degrees`` counts the relations of each node, shown or not; ``communities`` are the places of nodes in ``names``,
    the largest first. ``cut``: there is more than was asked for.
    """

    names: list[str]
    records: dict[str, Record]
    relations: list[Relation]
    degrees: dict[str, int]
    communities: list[list[int]]
    cut: bool


def around(
    snapshot: Snapshot, record: Record, *, depth: int, limit: int, types: Sequence[str] | None, automatic: bool
) -> Drawing:
    """The neighbourhood of a memory up to some steps away, nearest first."""
    drawn = _drawn(types, automatic)
    names = {record.name: None}
    edge, cut = [record.name], False
    for _ in range(depth):
        ends = (name for one in filter(drawn, snapshot.relations_of(edge)) for name in (one.source, one.target))
        edge = list(dict.fromkeys(name for name in ends if name not in names))
        if cut := len(names) + len(edge) > limit:
            edge = edge[: limit - len(names)]
        names |= dict.fromkeys(edge)
        if cut or not edge:
            break
    return _drawing(snapshot, list(names), cut, drawn)


def whole(snapshot: Snapshot, *, limit: int, choose: Choice, types: Sequence[str] | None, automatic: bool) -> Drawing:
    """The whole project; of a larger one than ``limit`` the newest memories, or those with most relations."""
    drawn = _drawn(types, automatic)
    count = snapshot.count()[0]
    if count > limit and choose == "connected":
        degrees: Counter[str] = Counter()
        for one in filter(drawn, snapshot.relations()):
            degrees.update((one.source, one.target))
        names = [name for name, _ in degrees.most_common(limit)]
        return _drawing(snapshot, names, True, drawn)
    records = snapshot.page(0, limit)
    names = [record.name for record in records]
    relations = None
    if count <= limit:
        relations = list(filter(drawn, snapshot.relations()))
        known = set(names)
        ends = dict.fromkeys(end for one in relations for end in (one.source, one.target) if end not in known)
        names += list(ends)[: limit - len(names)]
    return _drawing(snapshot, names, count > limit, drawn, records, relations)


def _drawn(types: Sequence[str] | None, automatic: bool) -> Callable[[Relation], bool]:
    chosen = None if types is None else frozenset(types)
    return lambda one: (chosen is None or one.type in chosen) and (automatic or one.origin == "manual")


def _drawing(
    snapshot: Snapshot,
    names: list[str],
    cut: bool,
    drawn: Callable[[Relation], bool],
    records: Iterable[Record] | None = None,
    relations: list[Relation] | None = None,
) -> Drawing:
    if records is None:
        ids = snapshot.ids(names) if names else {}
        records = snapshot.load(list(ids.values()))
    if relations is None:
        parts = (names[at : at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE))
        found = {one.id: one for part in parts for one in snapshot.relations_of(part)}
        relations = list(filter(drawn, found.values()))
    places = {name: at for at, name in enumerate(names)}
    degrees: Counter[str] = Counter()
    for one in relations:
        degrees.update({one.source, one.target} & places.keys())
    shown = [one for one in relations if one.source in places and one.target in places]
    return Drawing(
        names=names, records={record.name: record for record in records}, relations=shown, degrees=dict(degrees),
        communities=_communities(places, shown), cut=cut,
    )  # fmt: skip


def _communities(places: dict[str, int], relations: Sequence[Relation]) -> list[list[int]]:
    with importing():
        from polymnia.engine.analysis.graph.structure import Network, communities

    sources = [places[one.source] for one in relations]
    targets = [places[one.target] for one in relations]
    return [one.nodes for one in communities(Network(len(places), sources, targets))]
