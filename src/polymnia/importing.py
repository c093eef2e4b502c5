"""Importing late, one thread at a time.

Nothing heavy is imported before it is needed, so the first calls of a server import NumPy and much else, each call in
its own thread. Python has one lock for each module and no order among them: one thread imports ``numpy.typing`` and
waits for ``numpy``, while another one is inside ``numpy`` and waits for ``numpy.typing``. Python then hands one of them
a half-made module, and NumPy stays broken until the process ends. The same can happen between any package that imports
its own modules and those modules.

So there is one lock, taken before any of Python's:

    with importing():
        from polymnia.engine.search.finder import Finder

The block holds import statements and nothing else. Once it has been passed, its modules are there, and whoever comes by
again takes no lock: no call waits for what another one imports. A house test finds late imports that lack it.
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

_lock = threading.RLock()  # an import may lead to another one
_passed: dict[tuple[int, int], CodeType] = {}  # blocks by code and position; holding the code keeps its id its own
_loaded: dict[str, Any] = {}
_nothing = nullcontext()

# Libraries that would report to their makers read these variables when they are loaded.
_SILENT = {"ORT_DISABLE_TELEMETRY": "1"}


def importing() -> AbstractContextManager[None]:
    """The right to import. Raises Unavailable, with what to do, when a library cannot be loaded."""
    frame = sys._getframe(1)
    place = id(frame.f_code), frame.f_lasti
    return _nothing if place in _passed else _Importing(place, frame.f_code)


def load(module: str) -> Any:
    """A module by its name, for libraries that may be absent. Raises ImportError as an import does."""
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
    """What a caller is told: which library, why, and what to do. A later call tries again."""
    return Unavailable(
        f"Polymnia cannot load {_library(error)}, which this needs: {type(error).__name__}: {error}",
        hint="Reinstall Polymnia with its libraries (pip install --force-reinstall polymnia), then restart the server.",
    )


def _library(error: Exception) -> str:
    """The library whose import failed: the first whose code ran, or the one that was not found."""
    trace = error.__traceback__
    while trace is not None:
        name = str(trace.tb_frame.f_globals.get("__name__")).partition(".")[0]
        if name not in ("polymnia", "importlib"):
            return name
        trace = trace.tb_next
    return str(getattr(error, "name", None) or "a library").partition(".")[0]
