"""Columns of numbers that grow together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Columns"]


class Columns:
    """A table of numbers, column by column. New rows are zero; room for them is made ahead."""

    def __init__(self, **kinds: str) -> None:
        self._room = {name: np.zeros(0, kind) for name, kind in kinds.items()}
        self._views = dict(self._room)
        self.count = 0

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._views[name]

    @property
    def bytes(self) -> int:
        """How much memory it takes, with the room that was made ahead."""
        return sum(column.nbytes for column in self._room.values())

    def add(self, rows: int) -> int:
        """Room for so many rows at the end; answers the first of them."""
        first = self.count
        self._fit(first + rows)
        return first

    def cut(self, rows: int) -> None:
        """Keep only so many rows."""
        for name, column in self._room.items():
            column[rows : self.count] = 0
            self._views[name] = column[:rows]
        self.count = rows

    def _fit(self, count: int) -> None:
        for name, column in self._room.items():
            if len(column) < count:
                larger = np.zeros(max(count, len(column) * 5 // 4, 256), column.dtype)
                larger[: self.count] = column[: self.count]
                self._room[name] = column = larger
            self._views[name] = column[:count]
        self.count = count
