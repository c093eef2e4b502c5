"""Retrieval figures of one ranking, and their means over questions and categories."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["DEPTHS", "Figures", "figures", "macro", "mean"]

DEPTHS = (1, 5, 10)

Figures = dict[str, float]


def figures(ranked: Sequence[str], relevant: Iterable[str]) -> Figures:
    """Recall, hit and all at each depth, reciprocal rank within ten, and nDCG@10 of one ranking.

    An id that comes twice counts once, at its better place. Every relevant id has the same gain.
    """
    wanted = set(relevant)
    order = list(dict.fromkeys(ranked))
    found: Figures = {}
    for depth in DEPTHS:
        hits = len(wanted.intersection(order[:depth]))
        found[f"recall@{depth}"] = hits / len(wanted)
        found[f"hit@{depth}"] = float(hits > 0)
        found[f"all@{depth}"] = float(hits == len(wanted))
    places = [place for place, id in enumerate(order[:10], 1) if id in wanted]
    found["mrr"] = 1 / places[0] if places else 0.0
    ideal = sum(_gain(place) for place in range(1, min(10, len(wanted)) + 1))
    found["ndcg@10"] = sum(map(_gain, places)) / ideal
    return found


def mean(rows: Sequence[Mapping[str, float]]) -> Figures:
    """The mean of each figure."""
    return {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]} if rows else {}


def macro(rows: Iterable[tuple[str, Figures]]) -> tuple[Figures, dict[str, Figures]]:
    """The mean of each category, and the mean of these means: a category counts once, however large it is."""
    groups: dict[str, list[Figures]] = defaultdict(list)
    for category, row in rows:
        groups[category].append(row)
    by_category = {
        category: {"n": float(len(groups[category]))} | mean(groups[category]) for category in sorted(groups)
    }
    return mean(list(by_category.values())), by_category


def _gain(place: int) -> float:
    return 1 / math.log2(place + 1)
