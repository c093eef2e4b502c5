"""The pages of an answer: the order it had when it was first asked for."""

from __future__ import annotations

import secrets
from collections import OrderedDict

from polymnia.engine.search.search import Ranked

__all__ = ["Pages"]

_REMEMBERED = 64


class Pages:
    """The orders of answers whose later pages may still be asked for, so that these stay as they were."""

    def __init__(self) -> None:
        self._kept: OrderedDict[int, list[Ranked]] = OrderedDict()

    def keep(self, order: list[Ranked]) -> int:
        """Remember an order; answers its name."""
        name = secrets.randbits(48)
        self.keep_as(name, order)
        return name

    def keep_as(self, name: int, order: list[Ranked]) -> None:
        """Remember an order under a name of the caller's."""
        self._kept[name] = order
        self._kept.move_to_end(name)
        if len(self._kept) > _REMEMBERED:
            self._kept.popitem(last=False)

    def find(self, name: int) -> list[Ranked] | None:
        """The order of that name, if it is still known."""
        return self._kept.get(name)
