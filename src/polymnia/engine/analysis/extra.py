"""Extra: the libraries that only analyses need and that do not come with every installation."""

from __future__ import annotations

from typing import Any

from polymnia.errors import NoLibrary
from polymnia.importing import load

__all__ = ["need"]


def need(module: str) -> Any:
    """A module of a library of ``polymnia[analysis]``; raises a fault that says how to get it where it is missing."""
    try:
        return load(module)
    except ImportError as e:
        raise NoLibrary(module.partition(".")[0]) from e
