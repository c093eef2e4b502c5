"""The numbers that turn what the shipped networks give into chances and similarities.

They belong to the weights: `python -m training.calibrate` fits them on the test part of the texts and prints them.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["ANSWERS", "JUDGE", "RANK", "UNRELATED", "Scale"]


class Scale(NamedTuple):
    """chance = logistic(slope * logit + offset)."""

    slope: float
    offset: float


ENGLISH, MULTILINGUAL = "en", "multi"

RANK = {ENGLISH: Scale(0.580, 0.693), MULTILINGUAL: Scale(0.487, 0.358)}
"""That a text answers a question."""

JUDGE = {ENGLISH: 1.60, MULTILINGUAL: 2.25}
"""The temperature by which the judge's six logits are divided."""

UNRELATED = {ENGLISH: 0.472, MULTILINGUAL: 0.085}
"""The mean cosine of texts that have nothing in common, for each embedder."""

ANSWERS = {ENGLISH: (0.4, 0.75), MULTILINGUAL: (0.05, 0.55)}
"""The cosine of a question and a text that has nothing to do with it, and of one that clearly answers it."""
