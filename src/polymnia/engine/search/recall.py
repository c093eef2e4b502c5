"""Candidates: which memories could answer at all."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

from polymnia.engine.ports import Snapshot
from polymnia.engine.search.plan import Plan

__all__ = ["by_words"]

_COMMON = 2000  # a word in more texts than this tells nothing apart
_MOST = 50  # how many merely similar memories an answer holds at most


def by_words(snapshot: Snapshot, wanted: Plan, exact: Sequence[int]) -> dict[int, float]:
    """The memories that hold the telling words of the query, with the share of its weight they hold.

    A memory that holds the whole query is not repeated. A rare word weighs more than a frequent one.
    """
    if len(wanted.words) < 2 and wanted.words == wanted.forms:
        return {}
    size = snapshot.size()
    telling = [word for word in wanted.words if not snapshot.is_common((word,), _COMMON)]
    scores: dict[int, float] = {}
    total = 0.0
    for word in telling:
        found = snapshot.containing((word,))
        if not found:
            continue
        weight = log(1 + size / len(found))
        total += weight
        for id in found:
            scores[id] = scores.get(id, 0.0) + weight
    for id in exact:
        scores.pop(id, None)
    if not scores:
        return {}
    enough = max(scores.values()) * 0.5
    best = sorted((id for id in scores if scores[id] >= enough), key=lambda id: (-scores[id], id))
    return {id: scores[id] / total for id in best[:_MOST]}
