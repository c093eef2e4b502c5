"""What the process uses, and what search holds in memory."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from msgspec import Struct

from polymnia.engine.condition.values import Resources
from polymnia.engine.ports import Store
from polymnia.errors import Fault

if TYPE_CHECKING:
    from polymnia.engine.search.finder import Finder

__all__ = ["Held", "held", "memory_used", "used"]


class Held(Struct, frozen=True):
    """What is held of one project: passages, and about how many bytes they take."""

    passages: int
    bytes: int


def used(store: Store) -> Resources:
    """What the process and its store use. A store that cannot be opened uses nothing that could be told."""
    try:
        about = store.about()
    except Fault:
        about = {}
    return Resources(
        memory=memory_used(), storage=int(about.get("bytes", 0)), connections=int(about.get("connections", 0))
    )


def memory_used() -> int:
    """The bytes of memory the process has now; where the system does not tell, the most it ever had."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        pass
    try:
        import resource
    except ImportError:  # Windows
        return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def held(finder: Finder) -> dict[str, Held]:
    """The projects a finder holds in memory."""
    return {name: Held(index.count - 1, index.bytes) for name, index in finder.held().items()}
