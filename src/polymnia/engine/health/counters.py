"""What a server counts of its own work: requests, failures and how long they took."""

from __future__ import annotations

import threading
import time
from bisect import bisect
from collections.abc import Callable

from msgspec import Struct

# Where the bars of the histogram begin: eight for each doubling, from a microsecond to twelve days.
_EDGES = [round(1e-6 * 2 ** (at / 8), 9) for at in range(40 * 8)]
_WINDOW = 60  # seconds throughput is measured over


class Performance(Struct, frozen=True, kw_only=True):
    """How a server has done since it started. Times are seconds, rates are of the last minute and of the whole."""

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


class Counters:
    """Counts requests. Safe to use from several threads; one call for each request, a microsecond or two."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self._lock = threading.Lock()
        self._requests = self._errors = 0
        self._sum = self._longest = 0.0
        self._bars = [0] * (len(_EDGES) + 1)
        self._seconds = [(-1, 0, 0)] * _WINDOW  # for each of the last seconds: which, requests, errors

    def record(self, seconds: float, *, failed: bool = False) -> None:
        """A request was answered that took so long."""
        at = int(self._clock())
        bar = bisect(_EDGES, seconds)
        with self._lock:
            self._requests += 1
            self._errors += failed
            self._sum += seconds
            self._longest = max(self._longest, seconds)
            self._bars[bar] += 1
            second, requests, errors = self._seconds[at % _WINDOW]
            if second != at:
                requests = errors = 0
            self._seconds[at % _WINDOW] = (at, requests + 1, errors + failed)

    def measured(self) -> Performance:
        """Everything that was counted, as rates and times."""
        now = self._clock()
        with self._lock:
            bars, last = list(self._bars), list(self._seconds)
            requests, errors, total, longest = self._requests, self._errors, self._sum, self._longest
        uptime = max(0.0, now - self._began)
        recent = [one for one in last if int(now) - _WINDOW < one[0] <= int(now)]
        lately, failed = sum(one[1] for one in recent), sum(one[2] for one in recent)
        return Performance(
            uptime=uptime,
            requests=requests,
            errors=errors,
            error_rate=errors / requests if requests else 0.0,
            recent_requests=lately,
            recent_error_rate=failed / lately if lately else 0.0,
            throughput=lately / max(1.0, min(float(_WINDOW), uptime)),
            mean=total / requests if requests else 0.0,
            median=_quantile(bars, requests, 0.5, longest),
            p95=_quantile(bars, requests, 0.95, longest),
            p99=_quantile(bars, requests, 0.99, longest),
            longest=longest,
        )


def _quantile(bars: list[int], requests: int, share: float, longest: float) -> float:
    below = 0
    for bar, count in enumerate(bars):
        below += count
        if count and below >= share * requests:
            return min(_EDGES[min(bar, len(_EDGES) - 1)], longest)
    return 0.0
