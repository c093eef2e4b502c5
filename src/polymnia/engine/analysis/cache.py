"""Cache: results of analyses, for as long as the project stays what it was; and how far a call of several is."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import TypeVar

from polymnia.engine.project import Step

T = TypeVar("T")

_MOST = 64  # results
_FRESH = 600_000_000  # microseconds; what depends on the time of day is not told for longer


class ResultCache:
    """Results by what was asked and of which state of the project. Safe to use from several threads."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, tuple[Hashable, int, object]] = OrderedDict()
        self._lock = threading.Lock()

    def result(self, asked: Hashable, state: Hashable, now: int, work: Callable[[], T]) -> tuple[T, int]:
        """The result of an analysis and the time it was made: kept from before if nothing has changed since."""
        with self._lock:
            found = self._results.get(asked)
            if found is not None and found[0] == state and 0 <= now - found[1] < _FRESH:
                self._results.move_to_end(asked)
                return found[2], found[1]  # type: ignore[return-value]
        made = work()
        with self._lock:
            self._results[asked] = (state, now, made)
            self._results.move_to_end(asked)
            while len(self._results) > _MOST:
                self._results.popitem(last=False)
        return made, now


_WHOLE = 1000


def parts(step: Step | None, count: int) -> Iterator[Step]:
    """A step for each of so many parts; together they go from nothing to all, and never back."""
    told = 0

    def part(number: int) -> Step:
        def stepped(done: int, total: int) -> None:
            nonlocal told
            if step is None:
                return
            share = min(1.0, max(0.0, done / total)) if total else 0.0
            told = max(told, int(_WHOLE * (number + share) / count))
            step(told if total else 0, _WHOLE if total else 0)

        return stepped

    for number in range(count):
        yield part(number)
