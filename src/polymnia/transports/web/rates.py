"""Rates: how many calls a minute may bring, in all, of one session, and heavy ones of one caller.

A window begins with the first call and lasts a minute: of any number of calls within it exactly as many pass as the
limit says. Heavy calls are counted for the caller (a key, or an address where there are no keys) and not for a session:
many sessions are no way round. Requests that call nothing (a handshake, a ping, lists of what there is) are counted
apart by the same limits: talk takes no call away, and nobody may flood a server with it. What is refused is counted
nowhere and begins no window, so the limit of all callers together also bounds what is kept; whoever sets it very high
is bounded by a number of windows.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence

from msgspec import Struct

from polymnia.transports.errors import RATE_LIMITED, RpcError

__all__ = ["Key", "Pass", "Rates"]

_WINDOW = 60.0
_MOST = 50_000  # windows that are kept at once
_TALK = "requests a minute that call nothing (handshakes, pings, lists)"
_NAMED = {
    ("global", "calls"): "calls a minute for all callers together",
    ("session", "calls"): "calls a minute for one session",
    ("heavy", "calls"): "calls a minute for heavy operations of one caller",
    ("global", "talk"): f"{_TALK} for all callers together",
    ("session", "talk"): f"{_TALK} for one session",
    ("session", "begun"): "sessions a minute that one caller begins",
}

_OPTIONS = {"global": "--rate-limit", "session": "--rate-limit-session", "heavy": "--rate-limit-heavy"}

Key = tuple[str, str, str]  # by which limit, what is counted, of whom


class Pass(Struct, frozen=True):
    """Where a caller stands with one limit: what the headers of an answer say."""

    type: str
    limit: int
    remaining: int
    reset: int

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers as the seed names them."""
        return [
            (b"x-ratelimit-limit", b"%d" % self.limit),
            (b"x-ratelimit-remaining", b"%d" % self.remaining),
            (b"x-ratelimit-reset", b"%d" % self.reset),
            (b"x-ratelimit-type", self.type.encode()),
        ]


class Rates:
    """The limits of one server. All calls come from one thread."""

    def __init__(
        self, everybody: int, session: int, heavy: int, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = {"global": everybody, "session": session, "heavy": heavy}
        self._clock = clock
        # A window: when it began, how many came.
        self._everybody = {"calls": [float("-inf"), 0.0], "talk": [float("-inf"), 0.0]}
        self._windows: OrderedDict[Key, list[float]] = OrderedDict()
        self._latest: list[Key] = []  # what was counted just now, or the limit that refused it

    def __len__(self) -> int:
        return len(self._windows)

    def take(self, session: str, *, heavy: bool = False, caller: str | None = None) -> None:
        """Count one call of a session, and a heavy one of its caller; refused when one of the limits is reached."""
        keys = [("global", "calls", ""), ("session", "calls", session)]
        if heavy:
            keys.append(("heavy", "calls", session if caller is None else caller))
        self._take(keys)

    def talk(self, session: str) -> None:
        """Count one request of a session that calls nothing."""
        self._take([("global", "talk", ""), ("session", "talk", session)])

    def begin(self, caller: str) -> None:
        """Count a session that a caller begins: so many a minute as one of them may send calls."""
        self._take([("session", "begun", caller)])

    def counted(self) -> list[Key]:
        """The limits that the request counted last has to keep, or the one that refused it; told once."""
        latest, self._latest = self._latest, []
        return latest

    def stand(self, session: str, keys: Sequence[Key] = ()) -> Pass:
        """Where a request stands with the nearest of its limits; without ``keys`` those of any call of the session."""
        now = self._clock()
        keys = keys or [("global", "calls", ""), ("session", "calls", session)]
        nearest, least, begun = keys[0], float("inf"), now
        for key in keys:
            window = self._find(key, now)
            left = self._limits[key[0]] - (0.0 if window is None else window[1])
            if left < least:
                nearest, least, begun = key, left, now if window is None else window[0]
        reset = int(time.time() + begun + _WINDOW - now + 0.999)
        return Pass(nearest[0], self._limits[nearest[0]], max(0, int(least)), reset)

    def _take(self, keys: list[Key]) -> None:
        now = self._clock()
        windows = []
        for key in keys:
            window = self._find(key, now)
            if window is not None and window[1] >= self._limits[key[0]]:
                self._latest = [key]
                raise self._refusal(key, window[0] + _WINDOW - now)
            windows.append(window)
        for key, window in zip(keys, windows, strict=True):
            (window or self._begin(key, now))[1] += 1
        self._latest = keys

    def _find(self, key: Key, now: float) -> list[float] | None:
        """The window of a key, unless its minute is over."""
        window = self._everybody[key[1]] if key[0] == "global" else self._windows.get(key)
        return window if window is not None and now - window[0] < _WINDOW else None

    def _begin(self, key: Key, now: float) -> list[float]:
        """A new window; those whose minute is over are forgotten, and the oldest where there are too many."""
        window = [now, 0.0]
        if key[0] == "global":
            self._everybody[key[1]] = window
            return window
        self._windows[key] = window
        self._windows.move_to_end(key)
        while len(self._windows) > _MOST or now - next(iter(self._windows.values()))[0] >= _WINDOW:
            self._windows.popitem(last=False)
        return window

    def _refusal(self, key: Key, seconds: float) -> RpcError:
        type = key[0]
        wait = max(1, int(seconds) + (seconds > int(seconds)))
        return RpcError(
            RATE_LIMITED,
            f"Rate limit exceeded: {self._limits[type]:,} {_NAMED[key[:2]]}",
            {
                "error_type": "rate_limited",
                "details": {"type": type, "limit": self._limits[type], "window_seconds": 60, "retry_after": wait},
                "retry_after": wait,
                "suggestions": [
                    f"Wait {wait} seconds and call again",
                    "Send fewer calls, or larger ones",
                    f"If you run the server, allow more: polymnia serve {_OPTIONS[type]} {self._limits[type] * 10}",
                ],
            },
        )
