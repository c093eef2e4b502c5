"""Similarity: what a cosine says to a reader, and the items most similar to a text by one of three measures."""

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
_MORE = 8  # so many times what is wanted is looked at, for filters and for the other measures to choose from
_LEAST = 200
_LONGEST = 400  # characters of a text that is looked up as it stands
_NOT_THE_SAME = 0.9999  # 1 is for the same text
# People who grade pairs of sentences by meaning give grades that are spread as this curve of the cosine is, whatever
# the model, once the cosine of unrelated texts is taken as zero. The line below it is for a question and its answer,
# which are further apart than two sentences that say the same. See docs/decisions/0015-duplicates.md.
_BEND = 2.0
_LIFT = 1.6
_LINE = 0.75


def similarities(cosines: NDArray[floating], unrelated: float) -> NDArray[floating]:
    """How alike two texts are, 0 to 1, by the cosines of their vectors and the model's mean for unrelated texts."""
    share = np.clip((cosines - unrelated) / (1.0 - unrelated), 0.0, 1.0)
    found: NDArray[floating] = np.maximum(_LINE * share, 1.0 - (1.0 - share**_BEND) ** _LIFT)
    return found


def cosine_at(value: float, unrelated: float) -> float:
    """The cosine whose similarity is ``value``: where to cut a list of neighbours."""
    value = min(1.0, max(0.0, value))
    share = min(value / _LINE, (1.0 - (1.0 - value) ** (1.0 / _LIFT)) ** (1.0 / _BEND))
    return float(unrelated + share * (1.0 - unrelated))


def similar(
    look: Neighbours,
    embedded: EmbeddedText,
    text: str,
    filters: Filters,
    measure: str,
    limit: int,
    threshold: float,
    leave: Collection[str],
) -> list[tuple[Record, float]]:
    """The items that pass the filters, most similar first; the same text is 1. Without a model, shared words decide."""
    if measure not in MEASURES:
        raise Invalid(
            f"similarity_method is {measure!r}, but must be one of: {', '.join(MEASURES)}", field="similarity_method"
        )
    models = [name for name in embedded.vectors if len(embedded.rows(name))]
    most = max(_LEAST, limit * _MORE)
    same = _holding(look, text)
    while True:
        scored = _measured(look, embedded, models, measure, most) if models else neighbours(look, embedded, text)[0]
        scored |= {number: scored.get(number, 0.0) for number in same}
        passing = set(look.snapshot.matching(filters, among=list(scored))) if scored else set()
        loaded = look.load([number for number in same if number in passing])
        for number, record in loaded.items():
            if content(record) == text:
                scored[number] = 1.0
        chosen = [(number, value) for number, value in scored.items() if number in passing and value >= threshold]
        # Where the filters let few through, more neighbours are looked at, until all have been.
        if len(chosen) >= limit + len(leave) or len(scored) < most or not models:
            break
        most *= _MORE
    chosen.sort(key=lambda one: (-one[1], one[0]))
    loaded = look.load([number for number, _ in chosen[: limit + len(leave)]])
    found = [
        (loaded[number], 1.0 if content(loaded[number]) == text else min(_NOT_THE_SAME, round(value, 4)))
        for number, value in chosen
        if number in loaded
    ]
    found.sort(key=lambda one: -one[1])
    return [one for one in found if one[0].uid not in leave][:limit]


def _holding(look: Neighbours, text: str) -> list[int]:
    """Items that may be the text itself, whether or not a model has read them yet."""
    if len(text) > _LONGEST:
        return []
    return [id - look.base for id in look.snapshot.containing(folded_forms(text.strip()))][:_LEAST]


def _measured(
    look: Neighbours, embedded: EmbeddedText, models: Sequence[str], measure: str, most: int
) -> dict[int, float]:
    """Each of the nearest memories with its measure: 1 for the same vector, 0 for an unrelated one.

    Models differ in how near unrelated texts are to each other. With that taken as 0 their measures can be compared,
    and of two models the one counts that sees more: one may not know the language.
    """
    found: dict[int, float] = {}
    for model in models:
        near = look.nearest(replace(embedded, vectors={model: embedded.vectors[model]}), most)
        vectors = look.vectors_in(model, [one.row for one in near]) if near else None
        if vectors is None:
            continue
        asked = embedded.rows(model)
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
        zero = _unrelated(measure, look.channels[model].embedder.unrelated)
        for one, value in zip(near, np.clip((best - zero) / (1.0 - zero), 0.0, 1.0).tolist(), strict=True):
            found[one.number] = max(found.get(one.number, 0.0), value)
    return found


def _unrelated(measure: str, cosine: float) -> float:
    """What a measure says of two unit vectors with this cosine, that otherwise point anywhere."""
    apart = sqrt(2.0 - 2.0 * cosine)
    return {"cosine": cosine, "euclidean": 1.0 - apart / 2.0, "manhattan": 1.0 - apart * sqrt(2.0 / pi) / 2.0}[measure]
