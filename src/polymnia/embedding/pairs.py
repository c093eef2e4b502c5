"""The judge: reads two statements together and says what the second is to the first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from polymnia.embedding.calibration import ENGLISH, JUDGE
from polymnia.embedding.scoring import Scorer
from polymnia.engine.ports.models import Judgement

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["PairJudge"]


class PairJudge(Scorer):
    """Eight layers (six for other languages than English) and six classes, in the order of Judgement."""

    id = "polymnia-judge-3"
    kind = "judge"
    output = "judge"

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        """The chances of each pair's classes."""
        found = []
        for which, row in self._read(pairs):
            logits = row / JUDGE[which]
            chances = np.exp(logits - logits.max())
            found.append(Judgement(*(chances / chances.sum()).tolist())._replace(strong=which == ENGLISH))
        return found
