"""Making a model ready once, whichever thread asks first."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

__all__ = ["Lazy"]


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
