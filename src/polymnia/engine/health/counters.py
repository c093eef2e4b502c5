"""Request statistics of a server: counts, failures and durations, of all and of each tool."""

from __future__ import annotations

import threading
import time
from bisect import bisect, bisect_left
from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0)
"""Upper bounds of the buckets that durations are published in."""
# Lower bounds of the histogram buckets: eight per doubling, from a microsecond to twelve days.
_EDGES = [round(1e-6 * 2 ** (at / 8), 9) for at in range(40 * 8)]
_WINDOW = 60  # seconds over which throughput is measured


class Performance(Struct, frozen=True, kw_only=True):
    """Statistics since the server started. Times are in seconds; ``recent`` and throughput cover the last minute."""

    uptime: float
    requests: int
    errors: int
    error_rate: float
    recent_requests: int
    recent_error_rate: float
    throughput: float
    mean: float
    median: float
    p95: float
    p99: float
    longest: float


class CallFigures(Struct):
    """The calls of one operation: how they ended (``ok``, or the code of a fault), and how long they took."""

    tool: str
    operation: str
    outcomes: dict[str, int]
    durations: list[int]  # by ``SECONDS``, and one bucket for what took longer
    seconds: float = 0.0


class Counters:
    """Counts requests. Thread-safe; call ``record`` once per request, which takes a microsecond or two."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started_at = clock()
        self._lock = threading.Lock()
        self._requests = self._errors = 0
        self._sum = self._longest = 0.0
        self._buckets = [0] * (len(_EDGES) + 1)
        self._calls: dict[tuple[str, str], CallFigures] = {}  # by tool and operation
        self._seconds = [(-1, 0, 0)] * _WINDOW  # ring buffer: (second, requests, errors)

    def record(
        self, seconds: float, *, failed: bool = False, call: tuple[str, str] | None = None, outcome: str = "ok"
    ) -> None:
        """Record a finished request and its duration; ``call`` are the tool and the operation, if it called one."""
        at = int(self._clock())
        bucket = bisect(_EDGES, seconds)
        with self._lock:
            self._requests += 1
            self._errors += failed
            self._sum += seconds
            self._longest = max(self._longest, seconds)
            self._buckets[bucket] += 1
            second, requests, errors = self._seconds[at % _WINDOW]
            if second != at:
                requests = errors = 0
            self._seconds[at % _WINDOW] = (at, requests + 1, errors + failed)
            if call is not None:
                figures = self._ended(call, outcome)
                figures.durations[bisect_left(SECONDS, seconds)] += 1
                figures.seconds += seconds

    def refuse(self, call: tuple[str, str], outcome: str) -> None:
        """Record a call that was refused before it began."""
        with self._lock:
            self._ended(call, outcome)

    def _ended(self, call: tuple[str, str], outcome: str) -> CallFigures:
        figures = self._calls.get(call)
        if figures is None:
            figures = self._calls[call] = CallFigures(*call, {}, [0] * (len(SECONDS) + 1))
        figures.outcomes[outcome] = figures.outcomes.get(outcome, 0) + 1
        return figures

    def calls(self) -> list[CallFigures]:
        """The calls so far, by tool and operation."""
        with self._lock:
            return [
                replace(one, outcomes=dict(one.outcomes), durations=list(one.durations)) for one in self._calls.values()
            ]

    def measured(self) -> Performance:
        """The statistics so far, as rates and times."""
        now = self._clock()
        with self._lock:
            buckets, last = list(self._buckets), list(self._seconds)
            requests, errors, total, longest = self._requests, self._errors, self._sum, self._longest
        uptime = max(0.0, now - self._started_at)
        recent = [one for one in last if int(now) - _WINDOW < one[0] <= int(now)]
        recent_requests, failed = sum(one[1] for one in recent), sum(one[2] for one in recent)
        return Performance(
            uptime=uptime,
            requests=requests,
            errors=errors,
            error_rate=errors / requests if requests else 0.0,
            recent_requests=recent_requests,
            recent_error_rate=failed / recent_requests if recent_requests else 0.0,
            throughput=recent_requests / max(1.0, min(float(_WINDOW), uptime)),
            mean=total / requests if requests else 0.0,
            median=_quantile(buckets, requests, 0.5, longest),
            p95=_quantile(buckets, requests, 0.95, longest),
            p99=_quantile(buckets, requests, 0.99, longest),
            longest=longest,
        )


def _quantile(buckets: list[int], requests: int, share: float, longest: float) -> float:
    below = 0
    for bucket, count in enumerate(buckets):
        below += count
        if count and below >= share * requests:
            return min(_EDGES[min(bucket, len(_EDGES) - 1)], longest)
    return 0.0
