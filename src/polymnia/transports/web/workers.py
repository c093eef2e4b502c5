"""Workers: the threads that run the calls of all clients, and the order in which those of one client run.

Writes of one client run one after another in the order they came; a read waits for the writes that came before it. No
thread waits for another one's call: what may not run yet is not given to a thread.
"""

from __future__ import annotations

import threading
import time
from asyncio import _get_running_loop
from collections import deque
from concurrent.futures import ThreadPoolExecutor

from polymnia.transports.requests import Call

__all__ = ["Order", "Workers"]

_SEEN = 20  # calls of a kind after which it is known how long they take
_QUICK = 0.002  # seconds that one may keep all clients waiting
_FORGETS = 0.97  # of the longest, with each call: one slow call does not count for ever
_LABELS = 1000


class Workers:
    """The threads of a server."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "polymnia-call")
        self._idle = threading.Condition()
        self._running = 0
        self._paces: dict[str, list[float]] = {}  # of each kind of call: how many were seen, the longest of late

    def run(self, call: Call, order: Order | None = None) -> None:
        """Run a call on one of the threads, or right here where its like are done in no time.

        Handing a call over costs more than most reads do. ``order`` hears when it is done.
        """
        with self._idle:
            self._running += 1
        if call.label is not None and self._is_quick(call.label) and _get_running_loop() is not None:
            self._run(call, order)
        else:
            self._pool.submit(self._run, call, order)

    def _is_quick(self, label: str) -> bool:
        known = self._paces.get(label)
        return known is not None and known[0] >= _SEEN and known[1] < _QUICK

    def _took(self, label: str, seconds: float) -> None:
        known = self._paces.get(label)
        if known is None:
            if len(self._paces) < _LABELS:
                self._paces[label] = [1.0, seconds]
            return
        known[0] += 1
        known[1] = max(seconds, known[1] * _FORGETS)

    def _run(self, call: Call, order: Order | None) -> None:
        begun = time.perf_counter()
        try:
            call.run()
        finally:
            if call.label is not None:
                self._took(call.label, time.perf_counter() - begun)
            if order is not None:
                order.done(call)
            with self._idle:
                self._running -= 1
                self._idle.notify_all()

    @property
    def running(self) -> int:
        """How many calls are taken and not done."""
        return self._running

    def finish(self, seconds: float) -> bool:
        """Wait until every call is done, but no longer than this; answers whether all are."""
        with self._idle:
            return self._idle.wait_for(lambda: self._running == 0, seconds)

    def close(self) -> None:
        """Take no more calls."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class Order:
    """The calls of one client, in an order that keeps its writes in line."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self._waiting: deque[tuple[Call, int]] = deque()  # with the number of writes that came before
        self._asked = 0  # writes taken
        self._done = 0  # writes done
        self._lock = threading.Lock()

    def submit(self, call: Call) -> None:
        """Run a call as soon as the writes before it are done."""
        with self._lock:
            before = self._asked
            self._asked += call.writes
            ready = before == self._done
            if not ready:
                self._waiting.append((call, before))
        if ready:
            self._workers.run(call, self)

    def done(self, call: Call) -> None:
        """A call has ended; those that waited for it may run."""
        if not call.writes:
            return
        free = []
        with self._lock:
            self._done += 1
            while self._waiting and self._waiting[0][1] <= self._done:
                free.append(self._waiting.popleft()[0])
        for one in free:
            self._workers.run(one, self)
