"""Matrix products on one thread.

Small products get slower on several threads as soon as the cores have other work, and a memory server is
a guest on somebody's machine. OpenBLAS has one setting for the whole process, so it is changed only while
a product runs here and put back when the last of them has ended.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

import numpy
from numpy.linalg import _umath_linalg

__all__ = ["one_thread"]

# NumPy's wheels prefix and suffix the names of the OpenBLAS they bundle; distributions do not.
_NAMES = tuple(
    (f"{prefix}openblas_get_num_threads{suffix}", f"{prefix}openblas_set_num_threads{suffix}")
    for prefix in ("scipy_", "")
    for suffix in ("64_", "")
)

_lock = threading.Lock()
_inside = 0
_before = 1


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep NumPy's products on one thread within the block, where its library can be told so."""
    global _before, _inside
    switch = _switch()
    if switch is None:
        yield
        return
    get, set = switch
    with _lock:
        if _inside == 0:
            _before = get()
            if _before != 1:
                set(1)
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and _before != 1:
                set(_before)


@cache
def _switch() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """How to read and set OpenBLAS's number of threads; None where NumPy uses another library."""
    import ctypes

    for path in _libraries():
        try:
            library = ctypes.CDLL(path)
        except OSError:
            continue
        for get_name, set_name in _NAMES:
            get, set = getattr(library, get_name, None), getattr(library, set_name, None)
            if get is not None and set is not None:
                get.restype, get.argtypes = ctypes.c_int, []
                set.restype, set.argtypes = None, [ctypes.c_int]
                return get, set
    return None


def _libraries() -> Iterator[str]:
    import glob
    import os

    # Looking a name up in an extension module also looks through the libraries it was linked with,
    # except on Windows.
    yield _umath_linalg.__file__
    beside = os.path.join(os.path.dirname(os.path.dirname(numpy.__file__)), "numpy.libs", "*openblas*")
    yield from glob.glob(beside)
