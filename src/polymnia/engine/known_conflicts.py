"""Conflicts that were found while storing: noted for each pair of memories, and settled once one of them is gone,
superseded, or says something else. An undo of that brings the conflict back.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, TypeAlias
from zlib import crc32

from polymnia.engine.batches import newer_of
from polymnia.engine.content import Then, states
from polymnia.models import Record

if TYPE_CHECKING:
    from polymnia.engine.ports import Snapshot, Transaction

Statement: TypeAlias = tuple[Record, str]
"""A memory, and the sentence of it that contradicts another one."""

MOST = 10
"""Conflicts that are listed."""
_KEY = "conflict "  # the beginning of the key under which a pair of ids is noted
_BETWEEN = ", "  # between the pairs of digests of a note
_READ, _TOGETHER = 10_000, 50  # pairs that are read, and whose memories are read together
_DRAWN = 0  # stands for a relation, which is no text of the memory


def note(tx: Transaction, pairs: Iterable[tuple[Statement, Statement]]) -> None:
    """Note that the memories of each pair contradict each other, and in which of their texts.

    Texts in which they did before stay noted: an undo may bring them back, and recall asks for the past.
    """
    for pair in pairs:
        (one, said), (other, against) = sorted(pair, key=lambda statement: statement[0].id)
        key, texts = f"{_KEY}{one.uid} {other.uid}", f"{_digest(one, said)} {_digest(other, against)}"
        known = (tx.noted(key) or "").split(_BETWEEN)
        if texts not in known:
            tx.note(key, _BETWEEN.join(filter(None, (*known, texts))))


def unsettled(
    snapshot: Snapshot, among: Collection[str] | None = None, then: Then | None = None
) -> Iterator[tuple[Record, Record]]:
    """The pairs that still contradict each other, or did at a time; with ``among``, those that one of these ids is
    part of.
    """
    pairs = [
        (key, ids)
        for key in snapshot.notes(_KEY, _KEY + "\U0010ffff", _READ)
        for ids in [key.removeprefix(_KEY).split(" ")]
        if among is None or not set(ids).isdisjoint(among)
    ]
    for start in range(0, len(pairs), _TOGETHER):
        some = pairs[start : start + _TOGETHER]
        records = states(snapshot, list(dict.fromkeys(uid for _, ids in some for uid in ids)), then)
        replaced = newer_of(snapshot, records.values(), then)
        for key, ids in some:
            both = [records[uid] for uid in ids if uid in records]
            if len(both) != 2 or any(one.uid in replaced for one in both):
                continue
            there = [_texts(one) for one in both]
            for noted in (snapshot.noted(key) or "").split(_BETWEEN):
                said = map(int, noted.split())
                if all(text in texts for texts, text in zip(there, said, strict=True)):
                    yield both[0], both[1]
                    break


def _digest(record: Record, sentence: str) -> int:
    """A digest of the text of a memory that a sentence is in."""
    return next((crc32(one.encode()) for one in record.observations if sentence in one), _DRAWN)


def _texts(record: Record) -> set[int]:
    return {_DRAWN, *(crc32(one.encode()) for one in record.observations)}
