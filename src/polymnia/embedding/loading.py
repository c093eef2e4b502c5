"""Making a model ready once, whichever thread asks first."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, TypeVar
from weakref import WeakValueDictionary

__all__ = ["Lazy", "shared"]

T = TypeVar("T")

# Names of glibc's malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_LARGE_BLOCK = 1 << 20
_UNUSED = 1 << 22  # bytes at the end of a pool that are kept

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
                _return_freed_memory()
                self._prepare()
                self._ready = True

    @abstractmethod
    def _prepare(self) -> None:
        """Do the slow part."""


@cache
def _return_freed_memory() -> None:
    """Have glibc give large blocks back to the system when they are freed.

    By itself it keeps up to 64 MB in each of its pools, one a thread, once a large block was freed: 50 to 70 MB more
    for a server that has read long texts. Other systems know no such setting.
    """
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)
    mallopt(_TRIM_THRESHOLD, _UNUSED)
