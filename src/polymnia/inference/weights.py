"""The weight files of the package, verified by their hash, and models that are loaded once, on first use."""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from functools import cache
from typing import Any, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from polymnia.errors import NoModel

_SUMS = "SHA256SUMS"
_HINT = "Run `pip install --force-reinstall --no-deps polymnia`; search by words works without it."


class Weights(NamedTuple):
    """A folder of weight files with a list of their SHA-256 hashes."""

    folder: str

    def verified(self, *names: str) -> list[str]:
        """The paths of files, verified to have the expected content. Raises NoModel otherwise."""
        expected = self._expected()
        return [self._checked(name, expected.get(name)) for name in names]

    def check(self) -> None:
        """Raise NoModel if one of the files is missing or wrong."""
        self.verified(*self._expected())

    def _expected(self) -> dict[str, str]:
        path = os.path.join(self.folder, _SUMS)
        try:
            with open(path, encoding="ascii") as stream:
                lines = [line.split() for line in stream if line.strip()]
            return {name: sha256 for sha256, name in lines}
        except OSError as error:
            raise _unreadable(path, error) from error
        except ValueError as error:
            raise NoModel(
                f"The file {path} is damaged: it should list the SHA-256 of every model file", hint=_HINT, path=path
            ) from error

    def _checked(self, name: str, expected: str | None) -> str:
        import hashlib

        path = os.path.join(self.folder, name)
        try:
            with open(path, "rb") as stream:
                found = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(path, error) from error
        if found != expected:
            wanted = f"expected {expected}" if expected else f"and {_SUMS} does not list it"
            raise NoModel(
                f"The model file {path} is not the one of this version of Polymnia: its SHA-256 is {found}, {wanted}; "
                "it was not used",
                hint=_HINT,
                path=path,
                sha256=found,
                expected=expected,
            )
        return path


SHIPPED = Weights(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "weights"))


def installed(library: str) -> bool:
    """Whether a library can be imported, without importing it."""
    from importlib.util import find_spec

    return find_spec(library) is not None


def _unreadable(path: str, error: OSError) -> NoModel:
    return NoModel(f"The model file {path} cannot be read: {error.strerror or error}", hint=_HINT, path=path)


T = TypeVar("T")

# Constants of glibc's malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_LARGE_BLOCK = 1 << 20
_UNUSED = 1 << 22  # bytes at the end of a pool that are retained

_shared: WeakValueDictionary[Hashable, Any] = WeakValueDictionary()
_lock = threading.Lock()


def shared(read: Callable[..., T], *arguments: Hashable) -> T:
    """The result of ``read`` for these arguments, shared as long as it is referenced."""
    with _lock:
        found: T | None = _shared.get((read, *arguments))
        if found is None:
            found = _shared[read, *arguments] = read(*arguments)
        return found


class LazyModel(ABC):
    """A model that is slow to load. A failed load is retried by the next caller."""

    def __init__(self) -> None:
        self.ready = False
        self._lock = threading.Lock()

    def load(self) -> None:
        """Load the model unless it is ready. Raises NoModel, with a hint what to do, if it cannot be loaded."""
        if self.ready:
            return
        with self._lock:
            if not self.ready:
                _return_freed_memory()
                self._prepare()
                self.ready = True

    @abstractmethod
    def _prepare(self) -> None:
        """Load the model."""


@cache
def _return_freed_memory() -> None:
    """Have glibc return large blocks to the system when they are freed.

    By default it retains up to 64 MB in each of its per-thread pools once a large block was freed: 50 to 70 MB more for
    a server that has embedded long texts. Other systems have no such setting.
    """
    import ctypes

    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    mallopt(_MMAP_THRESHOLD, _LARGE_BLOCK)
    mallopt(_TRIM_THRESHOLD, _UNUSED)
