"""Similar: the items nearest to a text, by one of three measures of the same vectors."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import pi, sqrt
from typing import TYPE_CHECKING

import numpy as np

from polymnia.engine.associations import neighbours
from polymnia.engine.content import content
from polymnia.errors import Invalid
from polymnia.importing import importing
from polymnia.models import Filters, Record, folded_forms

if TYPE_CHECKING:
    from polymnia.engine.search.nearness import Look, Said

__all__ = ["MEASURES", "similar"]

MEASURES = ("cosine", "euclidean", "manhattan")
_MORE = 8  # so many times what is wanted is looked at, for filters and for the other measures to choose from
_LEAST = 200
_LONGEST = 400  # characters of a text that is looked up as it stands
_NOT_THE_SAME = 0.9999  # 1 is for the same text


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
    """The items that pass the filters, most similar first; the same text is 1. Without a model, shared words decide."""
    if measure not in MEASURES:
        raise Invalid(
            f"similarity_method is {measure!r}, but must be one of: {', '.join(MEASURES)}", field="similarity_method"
        )
    models = [name for name in said.vectors if len(said.rows(name))]
    most = max(_LEAST, limit * _MORE)
    same = _holding(look, text)
    while True:
        scored = _measured(look, said, models, measure, most) if models else _by_words(look, said, text)
        scored |= {number: scored.get(number, 0.0) for number in same}
        passing = set(look.snapshot.matching(wanted, among=list(scored))) if scored else set()
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


def _holding(look: Look, text: str) -> list[int]:
    """Items that may be the text itself, whether or not a model has read them yet."""
    if len(text) > _LONGEST:
        return []
    return [id - look.base for id in look.snapshot.containing(folded_forms(text.strip()))][:_LEAST]


def _by_words(look: Look, said: Said, text: str) -> dict[int, float]:
    return {one.number: one.similarity for one in neighbours(look, said, text)}


def _measured(look: Look, said: Said, models: Sequence[str], measure: str, most: int) -> dict[int, float]:
    """Each of the nearest memories with its measure: 1 for the same vector, 0 for an unrelated one.

    Models differ in how near unrelated texts are to each other. With that taken as 0 their measures can be compared,
    and of two models the one counts that sees more: one may not know the language.
    """
    with importing():
        from polymnia.engine.search.nearness import Said as OneModel

    found: dict[int, float] = {}
    for model in models:
        only = OneModel(said.passages, {model: said.vectors[model]})
        near = look.nearest(only, most)
        vectors = look.vectors_in(model, [one.row for one in near]) if near else None
        if vectors is None:
            continue
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
        zero = _unrelated(measure, look.channels[model].embedder.unrelated)
        for one, value in zip(near, np.clip((best - zero) / (1.0 - zero), 0.0, 1.0).tolist(), strict=True):
            found[one.number] = max(found.get(one.number, 0.0), value)
    return found


def _unrelated(measure: str, cosine: float) -> float:
    """What a measure says of two unit vectors with this cosine, that otherwise point anywhere."""
    apart = sqrt(2.0 - 2.0 * cosine)
    return {"cosine": cosine, "euclidean": 1.0 - apart / 2.0, "manhattan": 1.0 - apart * sqrt(2.0 / pi) / 2.0}[measure]
