"""Conflicts that were found while storing: noted for each pair of memories, and settled once one of them changes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from polymnia.engine.batches import SUPERSEDED
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction

MOST = 10
"""Conflicts that are listed."""
_KEY = "conflict "  # the beginning of the key under which a pair of ids is noted


def note(tx: Transaction, pairs: Iterable[tuple[Record, Record]]) -> None:
    """Note that the memories of each pair contradict each other."""
    for pair in pairs:
        one, other = sorted(pair, key=lambda record: record.id)
        tx.note(f"{_KEY}{one.uid} {other.uid}", f"{one.version} {other.version}")


def unsettled(snapshot: Snapshot, among: Collection[str] | None = None) -> Iterator[tuple[Record, Record]]:
    """The pairs that still contradict each other; with ``among``, those that one of these ids is part of."""
    keys = snapshot.notes(_KEY, _KEY + "\U0010ffff", MOST * 10)
    pairs = {key: tuple(key.removeprefix(_KEY).split(" ")) for key in keys}
    if among is not None:
        pairs = {key: pair for key, pair in pairs.items() if not set(pair).isdisjoint(among)}
    ids = snapshot.ids_of([uid for pair in pairs.values() for uid in pair]) if pairs else {}
    records = {one.uid: one for one in snapshot.load(list(ids.values()))} if ids else {}
    for key, pair in pairs.items():
        both = [records[uid] for uid in pair if uid in records]
        if len(both) != 2 or any(one.metadata.get(SUPERSEDED) for one in both):
            continue
        if snapshot.noted(key) == f"{both[0].version} {both[1].version}":
            yield both[0], both[1]
