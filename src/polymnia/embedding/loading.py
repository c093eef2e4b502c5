"""Making a model ready once, whichever thread asks first."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, TypeVar
from weakref import WeakValueDictionary

__all__ = ["Lazy", "shared"]

T = TypeVar("T")

_shared: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
_turn = threading.Lock()


def shared(read: Callable[..., T], *given: Hashable) -> T:
    """What ``read`` makes of these arguments: one object, as long as somebody holds it."""
    with _turn:
        found: T | None = _shared.get((read, *given))
        if found is None:
            found = _shared[read, *given] = read(*given)
        return found


class Lazy(ABC):
    """Something slow to prepare. A failed preparation is tried again by the next caller."""

    def __init__(self) -> None:
        self._ready = False
        self._turn = threading.Lock()

    def load(self) -> None:
        """Make ready; returns at once when it is. Raises NoModel, saying what to do, when it cannot be."""
        if self._ready:
            return
        with self._turn:
            if not self._ready:
                self._prepare()
                self._ready = True

    @abstractmethod
    def _prepare(self) -> None:
        """Do the slow part."""
