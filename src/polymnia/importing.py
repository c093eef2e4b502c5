"""Lazy imports, one thread at a time.

Nothing heavy is imported before it is needed, so the first calls of a server import NumPy and much else, each call in
its own thread. Python has one lock per module and no order among them: one thread imports ``numpy.typing`` and waits
for ``numpy``, while another one is inside ``numpy`` and waits for ``numpy.typing``. Python then gives one of them a
partially initialised module, and NumPy stays broken until the process ends. The same can happen with any package that
imports its own submodules.

So there is one lock, acquired before any of Python's:

    with importing():
        from polymnia.engine.search.finder import Finder

The block contains nothing but import statements. Once it has run, its modules are loaded and later passes take no lock:
no call waits for another call's imports. A house test finds lazy imports without it.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from types import CodeType, TracebackType
from typing import Any

from polymnia.errors import Fault, Unavailable

_lock = threading.RLock()  # imports may be nested
_passed: dict[tuple[int, int], CodeType] = {}  # blocks by code id and position; the value keeps the id in use
_loaded: dict[str, Any] = {}
_nothing = nullcontext()

# Libraries with telemetry read these variables when they are loaded.
_SILENT = {"ORT_DISABLE_TELEMETRY": "1"}


def importing() -> AbstractContextManager[None]:
    """Hold the import lock for the block. Raises Unavailable, with a hint, if a library cannot be loaded."""
    frame = sys._getframe(1)
    place = id(frame.f_code), frame.f_lasti
    return _nothing if place in _passed else _Importing(place, frame.f_code)


def load(module: str) -> Any:
    """Import a module by name, for libraries that may be absent. Raises ImportError like an import."""
    found = _loaded.get(module)
    if found is None:
        with _lock:
            os.environ.update(_SILENT)
            found = _loaded[module] = import_module(module)
    return found


class _Importing:
    __slots__ = ("_code", "_place")

    def __init__(self, place: tuple[int, int], code: CodeType) -> None:
        self._place = place
        self._code = code

    def __enter__(self) -> None:
        _lock.acquire()
        os.environ.update(_SILENT)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _lock.release()
        if error is None:
            _passed[self._place] = self._code
        elif isinstance(error, Exception) and not isinstance(error, Fault):
            raise _unusable(error) from error


def _unusable(error: Exception) -> Unavailable:
    """The fault for a failed import: which library, why, and what to do. A later call tries again."""
    return Unavailable(
        f"Polymnia cannot load {_library(error)}, which this needs: {type(error).__name__}: {error}",
        hint="Reinstall Polymnia with its libraries (pip install --force-reinstall polymnia), then restart the server.",
    )


def _library(error: Exception) -> str:
    """The library whose import failed: the first one whose code ran, or the one that was not found."""
    trace = error.__traceback__
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if name not in ("polymnia", "importlib"):
            return name
        trace = trace.tb_next
    return str(getattr(error, "name", None) or "a library").partition(".")[0]
