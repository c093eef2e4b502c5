"""Similar: the items nearest to a text, by one of three measures of the same vectors."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import numpy as np

from polymnia.engine.associations import neighbours
from polymnia.engine.content import content
from polymnia.errors import Invalid
from polymnia.models import Filters, Record

if TYPE_CHECKING:
    from polymnia.engine.search.nearness import Look, Said

__all__ = ["MEASURES", "similar"]

MEASURES = ("cosine", "euclidean", "manhattan")
_MORE = 8  # so many times what is wanted is looked at, for filters and for the other measures to choose from
_LEAST = 200


def similar(
    look: Look,
    said: Said,
    text: str,
    wanted: Filters,
    measure: str,
    limit: int,
    threshold: float,
    leave: Collection[str],
) -> list[tuple[Record, float]]:
    """The items that pass the filters, most similar first. Where no model can tell, the shared words decide."""
    if measure not in MEASURES:
        raise Invalid(
            f"similarity_method is {measure!r}, but must be one of: {', '.join(MEASURES)}", field="similarity_method"
        )
    model = next((name for name in reversed(said.vectors) if len(said.rows(name))), None)
    most = max(_LEAST, limit * _MORE)
    while True:
        scored = _measured(look, said, model, measure, most) if model is not None else _by_words(look, said, text)
        numbers = [number for number, value in scored if value >= threshold]
        passing = set(look.snapshot.matching(wanted, among=numbers)) if numbers else set()
        chosen = [(number, value) for number, value in scored if number in passing and value >= threshold]
        # Where the filters let few through, more neighbours are looked at, until all have been.
        if len(chosen) >= limit + len(leave) or len(scored) < most or model is None:
            break
        most *= _MORE
    loaded = look.load([number for number, _ in chosen[: limit + len(leave)]])
    found = [
        (loaded[number], 1.0 if content(loaded[number]) == text else round(value, 4))
        for number, value in chosen
        if number in loaded
    ]
    return [one for one in found if one[0].uid not in leave][:limit]


def _by_words(look: Look, said: Said, text: str) -> list[tuple[int, float]]:
    return [(one.number, one.similarity) for one in neighbours(look, said, text)]


def _measured(look: Look, said: Said, model: str, measure: str, most: int) -> list[tuple[int, float]]:
    """Each of the nearest memories with its measure: 1 for the same vector, near 0 for an unrelated one."""
    near = look.nearest(said, most)
    near = [one for one in near if one.model == model]
    vectors = look.vectors_in(model, [one.row for one in near]) if near else None
    if vectors is None:
        return []
    asked = said.rows(model)
    best = np.full(len(near), -1.0, np.float64)
    for vector in asked:
        if measure == "cosine":
            value = vectors @ vector
        elif measure == "euclidean":
            value = 1.0 - np.linalg.norm(vectors - vector, axis=1) / 2.0
        else:
            # Two opposite vectors of unit length are at most this far apart along the axes.
            value = 1.0 - np.abs(vectors - vector).sum(axis=1) / (2.0 * np.sqrt(vectors.shape[1]))
        best = np.maximum(best, value)
    values = np.clip(best, 0.0, 1.0).tolist()
    scored = [(one.number, value) for one, value in zip(near, values, strict=True)]
    return sorted(scored, key=lambda one: (-one[1], one[0]))
