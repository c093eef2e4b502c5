"""Similarity: a cosine on a human scale, and the items most similar to a text by one of three measures."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np
from msgspec.structs import replace
from numpy import floating
from numpy.typing import NDArray

from polymnia.engine.content import content
from polymnia.engine.knowledge.associations import neighbours
from polymnia.errors import Invalid
from polymnia.models import Filters, Record, folded_forms

if TYPE_CHECKING:
    from polymnia.engine.search.neighbours import EmbeddedText, Neighbours

MEASURES = ("cosine", "euclidean", "manhattan")
_OVERSAMPLING = 8  # candidates per requested item, as filters and other measures drop some
_MIN_CANDIDATES = 200
_MAX_VERBATIM = 400  # characters; longer texts are not looked up verbatim
_NOT_THE_SAME = 0.9999  # 1 is reserved for the same text
# Human grades of sentence similarity are distributed like this curve of the cosine, for any model, once the cosine of
# unrelated texts is taken as zero. The line below it is for a question and its answer, which are further apart than two
# sentences that say the same. See docs/decisions/0015-duplicates.md.
_BEND = 2.0
_LIFT = 1.6
_LINE = 0.75


def similarities(cosines: NDArray[floating], unrelated: float) -> NDArray[floating]:
    """The similarity of texts, 0 to 1, from the cosines of their vectors and the model's mean for unrelated texts."""
    share = np.clip((cosines - unrelated) / (1.0 - unrelated), 0.0, 1.0)
    found: NDArray[floating] = np.maximum(_LINE * share, 1.0 - (1.0 - share**_BEND) ** _LIFT)
    return found


def cosine_at(value: float, unrelated: float) -> float:
    """The cosine whose similarity is ``value``, for cutting off a list of neighbours."""
    value = min(1.0, max(0.0, value))
    share = min(value / _LINE, (1.0 - (1.0 - value) ** (1.0 / _LIFT)) ** (1.0 / _BEND))
    return float(unrelated + share * (1.0 - unrelated))


def similar(
    view: Neighbours,
    embedded: EmbeddedText,
    text: str,
    filters: Filters,
    measure: str,
    limit: int,
    threshold: float,
    excluded: Collection[str],
) -> list[tuple[Record, float]]:
    """The items that pass the filters, most similar first; the same text scores 1. Without a model, by shared words."""
    if measure not in MEASURES:
        raise Invalid(
            f"similarity_method is {measure!r}, but must be one of: {', '.join(MEASURES)}", field="similarity_method"
        )
    models = [name for name in embedded.vectors if len(embedded.rows(name))]
    count = max(_MIN_CANDIDATES, limit * _OVERSAMPLING)
    same = _verbatim(view, text)
    while True:
        scored = _measured(view, embedded, models, measure, count) if models else neighbours(view, embedded, text)[0]
        scored |= {number: scored.get(number, 0.0) for number in same}
        passing = set(view.snapshot.matching(filters, among=list(scored))) if scored else set()
        loaded = view.load([number for number in same if number in passing])
        for number, record in loaded.items():
            if content(record) == text:
                scored[number] = 1.0
        chosen = [(number, value) for number, value in scored.items() if number in passing and value >= threshold]
        # If the filters drop too many, fetch more neighbours, until there are no more.
        if len(chosen) >= limit + len(excluded) or len(scored) < count or not models:
            break
        count *= _OVERSAMPLING
    chosen.sort(key=lambda one: (-one[1], one[0]))
    loaded = view.load([number for number, _ in chosen[: limit + len(excluded)]])
    found = [
        (loaded[number], 1.0 if content(loaded[number]) == text else min(_NOT_THE_SAME, round(value, 4)))
        for number, value in chosen
        if number in loaded
    ]
    found.sort(key=lambda one: -one[1])
    return [one for one in found if one[0].uid not in excluded][:limit]


def _verbatim(view: Neighbours, text: str) -> list[int]:
    """Items that may be identical to the text, whether or not they are embedded yet."""
    if len(text) > _MAX_VERBATIM:
        return []
    return [id - view.base for id in view.snapshot.containing(folded_forms(text.strip()))][:_MIN_CANDIDATES]


def _measured(
    view: Neighbours, embedded: EmbeddedText, models: Sequence[str], measure: str, count: int
) -> dict[int, float]:
    """The nearest memories with their scores: 1 for the same vector, 0 for an unrelated one.

    Models differ in how near unrelated texts are to each other. With that taken as 0 their scores are comparable, and
    the highest counts: a model may not know the language.
    """
    found: dict[int, float] = {}
    for model in models:
        near = view.nearest(replace(embedded, vectors={model: embedded.vectors[model]}), count)
        vectors = view.vectors_in(model, [one.row for one in near]) if near else None
        if vectors is None:
            continue
        rows = embedded.rows(model)
        best = np.full(len(near), -1.0, np.float64)
        for vector in rows:
            if measure == "cosine":
                value = vectors @ vector
            elif measure == "euclidean":
                value = 1.0 - np.linalg.norm(vectors - vector, axis=1) / 2.0
            else:
                # The largest Manhattan distance of two opposite unit vectors.
                value = 1.0 - np.abs(vectors - vector).sum(axis=1) / (2.0 * np.sqrt(vectors.shape[1]))
            best = np.maximum(best, value)
        zero = _unrelated(measure, view.channels[model].embedder.unrelated)
        for one, value in zip(near, np.clip((best - zero) / (1.0 - zero), 0.0, 1.0).tolist(), strict=True):
            found[one.number] = max(found.get(one.number, 0.0), value)
    return found


def _unrelated(measure: str, cosine: float) -> float:
    """The score of two otherwise random unit vectors with this cosine."""
    apart = sqrt(2.0 - 2.0 * cosine)
    return {"cosine": cosine, "euclidean": 1.0 - apart / 2.0, "manhattan": 1.0 - apart * sqrt(2.0 / pi) / 2.0}[measure]
