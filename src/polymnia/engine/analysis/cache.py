"""Cache: results of analyses while a project is unchanged; and the progress of a call with several parts."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import TypeVar

from polymnia.engine.project import Step

T = TypeVar("T")

_MOST = 64  # results
_FRESH = 600_000_000  # microseconds, since some results depend on the time


class ResultCache:
    """Results by the question and the state of the project. Safe to use from several threads."""

    def __init__(self) -> None:
        self._results: OrderedDict[Hashable, tuple[Hashable, int, object]] = OrderedDict()
        self._lock = threading.Lock()

    def result(self, key: Hashable, state: Hashable, now: int, work: Callable[[], T]) -> tuple[T, int]:
        """The result of an analysis and the time it was computed, from the cache if the state is the same."""
        with self._lock:
            found = self._results.get(key)
            if found is not None and found[0] == state and 0 <= now - found[1] < _FRESH:
                self._results.move_to_end(key)
                return found[2], found[1]  # type: ignore[return-value]
        made = work()
        with self._lock:
            self._results[key] = (state, now, made)
            self._results.move_to_end(key)
            while len(self._results) > _MOST:
                self._results.popitem(last=False)
        return made, now


_WHOLE = 1000


def parts(step: Step | None, count: int) -> Iterator[Step]:
    """A progress callback for each of so many parts; together they go from 0 to all and never back."""
    reported = 0

    def part(number: int) -> Step:
        def stepped(done: int, total: int) -> None:
            nonlocal reported
            if step is None:
                return
            share = min(1.0, max(0.0, done / total)) if total else 0.0
            reported = max(reported, int(_WHOLE * (number + share) / count))
            step(reported if total else 0, _WHOLE if total else 0)

        return stepped

    for number in range(count):
        yield part(number)
