"""What an analysis reads: the model that knows the texts, and memories and reads of a time."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from polymnia.engine.analysis.view import ProjectView
from polymnia.models import Filters


class _Vectors:
    """Passages of which a model has some."""

    def __init__(self, *known: int) -> None:
        self._known = np.array(known, bool)

    def has(self, rows: slice) -> Any:
        return self._known[rows]


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        ({"small": _Vectors(1, 1, 1), "english": _Vectors(1, 0, 1)}, "small"),
        ({"large": _Vectors(1, 1, 1), "small": _Vectors(1, 1, 1)}, "large"),
        ({"small": _Vectors(1, 0, 0), "large": _Vectors(0, 1, 1)}, "large"),
        ({}, None),
    ],
)
def test_texts_are_compared_by_the_model_that_knows_most_of_them(
    models: dict[str, _Vectors], chosen: str | None
) -> None:
    index = SimpleNamespace(count=3, passages={"alive": np.ones(5, bool)}, vectors=models)
    look: Any = SimpleNamespace(snapshot=None, index=index, judging=None)
    assert ProjectView(look, filters=Filters(), now=0).model == chosen
