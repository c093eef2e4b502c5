"""Similarity: what a cosine of two vectors says to a reader, from 0 for unrelated texts to 1 for the same text."""

from __future__ import annotations

import numpy as np
from numpy import floating
from numpy.typing import NDArray

__all__ = ["cosine_at", "similarities", "similarity"]

# People who grade pairs of sentences by meaning give grades that are spread as this curve of the cosine is, whatever
# the model, once the cosine of unrelated texts is taken as zero. The line below it is for a question and its answer,
# which are further apart than two sentences that say the same. See docs/decisions/0015-duplicates.md.
_BEND = 2.0
_LIFT = 1.6
_LINE = 0.75


def similarity(cosine: float, unrelated: float) -> float:
    """How alike two texts are, 0 to 1, by the cosine of their vectors and the model's mean for unrelated texts."""
    share = min(1.0, max(0.0, (cosine - unrelated) / (1.0 - unrelated)))
    return float(max(_LINE * share, 1.0 - (1.0 - share**_BEND) ** _LIFT))


def similarities(cosines: NDArray[floating], unrelated: float) -> NDArray[floating]:
    """:func:`similarity` of many cosines at once."""
    share = np.clip((cosines - unrelated) / (1.0 - unrelated), 0.0, 1.0)
    found: NDArray[floating] = np.maximum(_LINE * share, 1.0 - (1.0 - share**_BEND) ** _LIFT)
    return found


def cosine_at(value: float, unrelated: float) -> float:
    """The cosine whose similarity is ``value``: where to cut a list of neighbours."""
    value = min(1.0, max(0.0, value))
    share = min(value / _LINE, (1.0 - (1.0 - value) ** (1.0 / _LIFT)) ** (1.0 / _BEND))
    return float(unrelated + share * (1.0 - unrelated))
