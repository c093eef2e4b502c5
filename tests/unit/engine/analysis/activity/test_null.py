"""Projects drawn by chance: what is found in them is wrong, and must be rare."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from form import by_form
from polymnia.engine.analysis.activity.temporal import temporal_patterns
from polymnia.models import Record, Touch

from .planted import BASE, DAY

MANY = by_form(12, 40)
WRONG = by_form(2, 4)  # one is to be expected of forty; more than four come once in two hundred times


def _stand(times: Any, days: int, rng: np.random.Generator) -> Any:
    """Material as a store would give it, for more projects than a store could be filled with in a test."""
    records, touches = {}, []
    for number, at in enumerate(np.sort(times).tolist()):
        tags = tuple(f"t{i}" for i in range(4) if rng.random() < 0.25)
        records[number] = Record(
            id=number, uid=str(number), name=str(number), kind="note", tags=tags, created=BASE + at, updated=BASE + at
        )
        touches.append(Touch(number, BASE + at, "ana", "create", "made"))
    return SimpleNamespace(
        touches=touches, by_id=records, known=records, now=BASE + days * DAY, end=None, focus=None,
        within=lambda at: True, tick=lambda *_: None, text=lambda record: "",
    )  # fmt: skip


def _sittings(rng: np.random.Generator, days: int) -> Any:
    """Visits at any time, each of which brings several notes within minutes."""
    begins = rng.integers(0, days * DAY, rng.poisson(0.6 * days))
    times = [at + np.cumsum(rng.integers(1, DAY // 100, rng.geometric(0.25))) for at in begins]
    return np.concatenate(times)


@pytest.mark.long
@pytest.mark.parametrize("kind", ["even", "few", "sittings"])
def test_what_chance_draws_is_rarely_taken_for_a_pattern(kind: str) -> None:
    rng = np.random.default_rng(28)
    wrong = 0
    for _ in range(MANY):
        days = 60 if kind == "few" else 90
        if kind == "sittings":
            times = _sittings(rng, days)
            times = times[times < days * DAY]
        else:
            times = rng.integers(0, days * DAY, 40 if kind == "few" else 150)
        wrong += bool(temporal_patterns(_stand(times, days, rng)).patterns)
    assert wrong <= WRONG
