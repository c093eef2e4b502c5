"""Workers: the threads that run the calls of all clients, and the order in which those of one client run.

Writes of one client run one after another in the order they came; a read waits for the writes that came before it. No
thread waits for another one's call: what may not run yet is not given to a thread.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from polymnia.transports.requests import Call

__all__ = ["Order", "Workers"]

_SEEN = 20  # calls of a kind after which it is known how long they take
_QUICK = 0.002  # seconds that one may keep all clients waiting
_FORGETS = 0.97  # of the longest, with each call: one slow call does not count for ever
_WATCHED = 32  # calls after a slow one
_LABELS = 1000
_MOST_CALLS = 64  # of one client that may wait or run before its next message is read
_MOST_BYTES = 32 * 1024 * 1024  # of the messages they came in


class Workers:
    """The threads of a server."""

    def __init__(self, count: int) -> None:
        self._pool = ThreadPoolExecutor(count, "polymnia-call")
        self._idle = threading.Condition()
        self._running = 0
        self._paces: dict[str, _Pace] = {}
        self.home: int | None = None  # the thread where all clients wait, as soon as there is one

    def run(self, call: Call, order: Order | None = None) -> None:
        """Run a call on one of the threads, or right here where its like are done in no time.

        Handing a call over costs more than most reads do. ``order`` hears when it is done.
        """
        pace = None if call.label is None else self._paces.get(call.label) or self._new_pace(call.label)
        if pace is not None and pace.is_quick and threading.get_ident() == self.home:
            self._run(call, order, pace, True)
            return
        with self._idle:
            self._running += 1
        self._pool.submit(self._run_beside, call, order, pace)

    def _new_pace(self, label: str) -> _Pace | None:
        if len(self._paces) >= _LABELS:
            return None
        return self._paces.setdefault(label, _Pace())

    def _run_beside(self, call: Call, order: Order | None, pace: _Pace | None) -> None:
        try:
            self._run(call, order, pace, False)
        finally:
            with self._idle:
                self._running -= 1
                if not self._running:
                    self._idle.notify_all()

    def _run(self, call: Call, order: Order | None, pace: _Pace | None, here: bool) -> None:
        watched = pace is not None and (pace.watched or not here)
        begun, computed = time.perf_counter(), time.thread_time() if watched else 0.0
        try:
            call.run()
        finally:
            if pace is not None:
                seconds = time.perf_counter() - begun
                if watched and seconds >= _QUICK:
                    computed = time.thread_time() - computed
                pace.took(seconds, computed, here)
            if order is not None:
                order.done(call)

    @property
    def running(self) -> int:
        """How many calls the threads have taken and not done."""
        return self._running

    def finish(self, seconds: float) -> bool:
        """Wait until every call is done, but no longer than this; answers whether all are."""
        with self._idle:
            return self._idle.wait_for(lambda: self._running == 0, seconds)

    def close(self) -> None:
        """Take no more calls."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class _Pace:
    """How long calls of a kind take of late.

    One that took long may have been unlucky: another process had the core, or, on a thread beside the event loop, the
    loop had its turn. So what is held against a slow call is what it computed, and where nobody has looked at that,
    calls of its kind are watched for a while. Two slow ones in a row wait for something, whatever they compute.
    """

    __slots__ = ("_longest", "_seen", "_slow", "is_quick", "watched")

    def __init__(self) -> None:
        self._seen = 0
        self._longest = 0.0
        self._slow = False
        self.is_quick = False  # whether the next one may run where all clients wait for it
        self.watched = 0  # calls to come of which is asked how much they compute

    def took(self, seconds: float, computed: float, here: bool) -> None:
        """One took so long, and computed so much of it; ``here`` is where all clients waited for it."""
        self._seen += 1
        slow = seconds >= _QUICK
        held = seconds
        if slow and not (here and self._slow):
            held = computed
        if slow:
            self.watched = _WATCHED
        elif self.watched:
            self.watched -= 1
        self._slow = slow and here
        self._longest = max(held, self._longest * _FORGETS)
        self.is_quick = self._seen >= _SEEN and self._longest < _QUICK


class Order:
    """The calls of one client, in an order that keeps its writes in line."""

    def __init__(self, workers: Workers) -> None:
        self._workers = workers
        self.size = 0  # of the message that is being taken, until a call of it has come
        self._calls = 0
        self._bytes = 0
        self._sizes: dict[Call, int] = {}  # of calls that came in long messages
        self._guests: list[asyncio.Future[None]] = []  # who waits for room
        self._waiting: deque[tuple[Call, int]] = deque()  # with the number of writes that came before
        self._asked = 0  # writes taken
        self._done = 0  # writes done
        self._lock = threading.Lock()

    def submit(self, call: Call) -> None:
        """Run a call as soon as the writes before it are done."""
        with self._lock:
            before = self._asked
            self._asked += call.writes
            self._calls += 1
            if self.size:
                self._sizes[call] = self.size
                self._bytes += self.size
                self.size = 0
            ready = before == self._done
            if not ready:
                self._waiting.append((call, before))
        if ready:
            self._workers.run(call, self)

    def done(self, call: Call) -> None:
        """A call has ended; those that waited for it may run."""
        free = []
        with self._lock:
            self._calls -= 1
            if self._sizes:
                self._bytes -= self._sizes.pop(call, 0)
            if self._guests and not self._is_crowded:
                self._welcome()
            if not call.writes:
                return
            self._done += 1
            while self._waiting and self._waiting[0][1] <= self._done:
                free.append(self._waiting.popleft()[0])
        for one in free:
            self._workers.run(one, self)

    async def room(self) -> None:
        """Wait until little enough of this client waits that its next message may be taken."""
        while self._is_crowded:
            guest = asyncio.get_running_loop().create_future()
            with self._lock:
                if not self._is_crowded:
                    return
                self._guests.append(guest)
            await guest

    @property
    def _is_crowded(self) -> bool:
        return self._calls >= _MOST_CALLS or self._bytes >= _MOST_BYTES

    def _welcome(self) -> None:
        guests, self._guests = self._guests, []
        for guest in guests:
            with suppress(RuntimeError):  # the server has ended
                guest.get_loop().call_soon_threadsafe(_come_in, guest)


def _come_in(guest: asyncio.Future[None]) -> None:
    if not guest.done():
        guest.set_result(None)
