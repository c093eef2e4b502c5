"""Where calls run: what may go on beside what, in which order, and on which thread.

Writes of one client run one after another in the order they came. A read waits for the writes that came before it,
then runs beside whatever else is going on. What may not run yet is not given to a thread, so no thread waits for
another one's call. Handing a call to another thread costs more than most calls do, so some run right where they were
read: on a pipe when nothing else is going on, in a network server when their like are done in no time.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue

from polymnia.transports.rpc import Request

_SEEN = 20  # calls of a kind after which it is known how long they take
_QUICK = 0.002  # seconds that one may keep all clients waiting
_FORGETS = 0.97  # of the longest, with each call: one slow call does not count for ever
_WATCHED = 32  # calls after a slow one
_LABELS = 1000
_MOST_CALLS = 64  # of one client that may wait or run before its next message is read
_MOST_BYTES = 32 * 1024 * 1024  # of the messages they came in


class CallScheduler:
    """The threads that run the calls of all clients; they start as they are needed."""

    def __init__(self, threads: int) -> None:
        self._most = threads
        self._threads = 0
        self._ready: SimpleQueue[tuple[Request, CallQueue | None, _Pace | None]] = SimpleQueue()
        self._state = threading.Condition()
        self._running = 0  # calls handed to the threads and not done
        self._paces: dict[str, _Pace] = {}
        self.home: int | None = None  # the thread where all clients wait, as soon as there is one

    @property
    def running(self) -> int:
        """How many calls the threads have taken and not done."""
        return self._running

    def run(self, call: Request, queue: CallQueue | None = None) -> None:
        """Run a call on one of the threads, or right here where its like are done in no time.

        ``queue`` is told when it is done.
        """
        pace = None
        if self.home is not None and (label := call.label) is not None:
            pace = self._paces.get(label)
            if pace is None and len(self._paces) < _LABELS:
                pace = self._paces.setdefault(label, _Pace())
            if pace is not None and pace.is_quick and threading.get_ident() == self.home:
                self._run(call, queue, pace, True)
                return
        with self._state:
            self._running += 1
            starts = self._threads < min(self._most, self._running)
            self._threads += starts
        if starts:
            threading.Thread(target=self._work, name="polymnia-call", daemon=True).start()
        self._ready.put((call, queue, pace))

    def _work(self) -> None:
        while True:
            call, queue, pace = self._ready.get()
            try:
                self._run(call, queue, pace, False)
            finally:
                with self._state:
                    self._running -= 1
                    if not self._running:
                        self._state.notify_all()

    def _run(self, call: Request, queue: CallQueue | None, pace: _Pace | None, here: bool) -> None:
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
            if queue is not None:
                queue.done(call)

    def finish(self, seconds: float | None = None) -> bool:
        """Wait until every call is done, but no longer than this; answers whether all are."""
        with self._state:
            return self._state.wait_for(lambda: self._running == 0, seconds)


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
        held = computed if slow and not (here and self._slow) else seconds
        if slow:
            self.watched = _WATCHED
        elif self.watched:
            self.watched -= 1
        self._slow = slow and here
        self._longest = max(held, self._longest * _FORGETS)
        self.is_quick = self._seen >= _SEEN and self._longest < _QUICK


class CallQueue:
    """The calls of one client, in an order that keeps its writes in line. One thread at a time gives it calls."""

    def __init__(self, scheduler: CallScheduler) -> None:
        self._scheduler = scheduler
        self.size = 0  # of the message that is being taken, until a call of it has come
        self._calls = 0  # taken and not done
        self._bytes = 0
        self._sizes: dict[Request, int] = {}  # of calls that came in long messages
        self._waiting: deque[tuple[Request, int]] = deque()  # with the number of writes that came before
        self._asked = 0  # writes taken
        self._done = 0  # writes done
        self._blocked: list[Callable[[], object]] = []  # who waits for room
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is running or waiting."""
        return self._calls == 0

    @property
    def is_crowded(self) -> bool:
        """Whether so much of this client waits that its next message is not taken yet."""
        return self._calls >= _MOST_CALLS or self._bytes >= _MOST_BYTES

    def run_here(self, call: Request) -> None:
        """Run a call on this thread. Only while the queue is idle."""
        with self._lock:
            self._calls += 1
            self._asked += call.writes
        try:
            call.run()
        finally:
            self.done(call)

    def submit(self, call: Request) -> None:
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
            self._scheduler.run(call, self)

    def done(self, call: Request) -> None:
        """A call has ended; those that waited for it may run."""
        ready, room = [], []
        with self._lock:
            self._calls -= 1
            if self._sizes:
                self._bytes -= self._sizes.pop(call, 0)
            if self._blocked and not self.is_crowded:
                room, self._blocked = self._blocked, []
            if call.writes:
                self._done += 1
                while self._waiting and self._waiting[0][1] <= self._done:
                    ready.append(self._waiting.popleft()[0])
            if not self._calls:
                self._idle.notify_all()
        for wake in room:
            with suppress(RuntimeError):  # the server has ended
                wake()
        for one in ready:
            self._scheduler.run(one, self)

    def finish(self) -> None:
        """Wait until everything taken is done."""
        with self._lock:
            self._idle.wait_for(lambda: self._calls == 0)

    async def room(self) -> None:
        """Wait until little enough of this client waits that its next message may be taken."""
        from asyncio import Event, get_running_loop

        loop = get_running_loop()
        while self.is_crowded:
            room = Event()
            with self._lock:
                if not self.is_crowded:
                    return
                self._blocked.append(partial(loop.call_soon_threadsafe, room.set))
            await room.wait()
