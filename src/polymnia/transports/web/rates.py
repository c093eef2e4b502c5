"""Rates: how many calls a minute may bring, in all, of one session, and heavy ones of one caller.

A window begins with the first call and lasts a minute: of any number of calls within it exactly as many pass as the
limit says. Heavy calls are counted for the caller (a key, or an address where there are no keys) and not for a session:
many sessions are no way round. What is refused is counted nowhere and begins no window, so the limit of all callers
together also bounds what is kept; whoever sets it very high is bounded by a number of windows.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

from msgspec import Struct

from polymnia.transports.errors import RATE_LIMITED, RpcError

__all__ = ["Pass", "Rates"]

_WINDOW = 60.0
_MOST = 50_000  # windows that are kept at once
_NAMED = {"global": "all callers together", "session": "one session", "heavy": "heavy operations of one caller"}


class Pass(Struct, frozen=True):
    """Where a caller stands with one limit: what the headers of an answer say."""

    type: str
    limit: int
    remaining: int
    reset: int

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers as the seed names them."""
        return [
            (b"x-ratelimit-limit", str(self.limit).encode()),
            (b"x-ratelimit-remaining", str(self.remaining).encode()),
            (b"x-ratelimit-reset", str(self.reset).encode()),
            (b"x-ratelimit-type", self.type.encode()),
        ]


class Rates:
    """The limits of one server. All calls come from one thread."""

    def __init__(
        self, everybody: int, session: int, heavy: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = {"global": everybody, "session": session, "heavy": heavy}
        self._clock = clock
        self._everybody = [float("-inf"), 0.0]  # a window: when it began, how many came
        self._windows: OrderedDict[tuple[str, str], list[float]] = OrderedDict()
        self._refused: tuple[str, Pass] | None = None

    def __len__(self) -> int:
        return len(self._windows)

    def take(self, session: str, *, heavy: bool = False, caller: str | None = None) -> None:
        """Count one call of a session, and a heavy one of its caller; refused when one of the limits is reached."""
        now = self._clock()
        keys = [("global", ""), ("session", session)]
        if heavy:
            keys.append(("heavy", session if caller is None else caller))
        for key in keys:
            window = self._find(key, now)
            if window is not None and window[1] >= self._limits[key[0]]:
                self._refused = (session, self._pass(key, window, now))
                raise self._refusal(key[0], window[0] + _WINDOW - now)
        for key in keys:
            (self._find(key, now) or self._begin(key, now))[1] += 1

    def stand(self, session: str) -> Pass:
        """Where a session stands: with the limit it was refused by just now, else with the one that is nearest."""
        now = self._clock()
        refused, self._refused = self._refused, None
        if refused is not None and refused[0] == session:
            return refused[1]
        keys = (("global", ""), ("session", session))
        found = [self._pass(key, self._find(key, now) or [now, 0.0], now) for key in keys]
        return min(found, key=lambda one: one.remaining)

    def _find(self, key: tuple[str, str], now: float) -> list[float] | None:
        """The window of a key, unless its minute is over."""
        window = self._everybody if key[0] == "global" else self._windows.get(key)
        return window if window is not None and now - window[0] < _WINDOW else None

    def _begin(self, key: tuple[str, str], now: float) -> list[float]:
        """A new window; those whose minute is over are forgotten, and the oldest where there are too many."""
        window = [now, 0.0]
        if key[0] == "global":
            self._everybody = window
            return window
        self._windows[key] = window
        self._windows.move_to_end(key)
        while len(self._windows) > _MOST or now - next(iter(self._windows.values()))[0] >= _WINDOW:
            self._windows.popitem(last=False)
        return window

    def _pass(self, key: tuple[str, str], window: list[float], now: float) -> Pass:
        limit = self._limits[key[0]]
        reset = int(time.time() + window[0] + _WINDOW - now + 0.999)
        return Pass(key[0], limit, max(0, limit - int(window[1])), reset)

    def _refusal(self, type: str, seconds: float) -> RpcError:
        wait = max(1, int(seconds) + (seconds > int(seconds)))
        return RpcError(
            RATE_LIMITED,
            f"Rate limit exceeded: {self._limits[type]:,} calls a minute for {_NAMED[type]}",
            {
                "error_type": "rate_limited",
                "details": {"type": type, "limit": self._limits[type], "window_seconds": 60, "retry_after": wait},
                "retry_after": wait,
                "suggestions": [f"Wait {wait} seconds and call again", "Send fewer calls, or larger ones"],
            },
        )
