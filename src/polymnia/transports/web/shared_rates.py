"""The rate limits of several processes together."""

from __future__ import annotations

from collections.abc import Callable

from polymnia.engine.ports.shared import SharedState
from polymnia.errors import Fault
from polymnia.transports.log import Log
from polymnia.transports.web.state import WINDOW, Key, RateLimiter

_SHARES = 4  # a process takes at most one part in so many for each process of what is left
_ALONE_SECONDS = 5.0  # that a shared state that failed is not asked again: all clients wait for its answer


class SharedRateLimiter(RateLimiter):
    """The limits per minute of all processes together.

    A process takes portions of a limit and counts by itself until one is spent. The first portion is one call, later
    ones are as large as what the process has used, but never more than its share of what is left; so towards the end
    they are one call each. What a process has taken and not used when a limit is reached is lost for that minute: not
    more than it has used itself, and less than a quarter of the limit for all processes together.
    """

    def __init__(
        self,
        everybody: int,
        session: int,
        heavy: int,
        explorer: int,
        shared: SharedState,
        processes: Callable[[], int],
        log: Log,
    ) -> None:
        super().__init__(everybody, session, heavy, explorer)
        self._shared = shared
        self._processes = processes
        self._log = log
        self._alone_until = 0.0

    def _take(self, keys: list[Key]) -> None:
        now = self._clock()
        windows = []
        for key in keys:
            window = self._find(key, now)
            if window is None or not window[2]:
                window = self._refill(key, window, now)
            if not window[2]:
                self._latest = [key]
                raise self._refusal(key, window[0] + WINDOW - now)
            windows.append(window)
        for window in windows:
            window[1] += 1
            window[2] -= 1
            window[3] += 1
        self._latest = keys

    def _refill(self, key: Key, window: list[float] | None, now: float) -> list[float]:
        """A window with a new portion of its limit: start, calls counted (by all), calls left here, calls used here."""
        limit = self._limit(key)
        if window is None:
            window = self._begin(key, now)
            window += [0.0, 0.0]
        elif window[1] >= limit:
            return window  # it was all taken
        left = limit - window[1]
        if now < self._alone_until:
            window[2] = left
            return window
        wanted = max(1, min(int(window[3]), int(left / (_SHARES * self._processes()))))
        try:
            portion = self._shared.take(" ".join(key), wanted, limit, WINDOW)
        except Fault as e:  # better too many calls for a while than none
            self._log("error", f"this process counts calls by itself, as the shared state cannot be used: {e.message}")
            self._alone_until = self._clock() + _ALONE_SECONDS
            window[2] = left
            return window
        window[0] = now + portion.seconds - WINDOW
        window[1] = limit - portion.left - portion.granted
        window[2] = portion.granted
        return window
