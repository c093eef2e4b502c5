"""Scheduling of calls: what may run concurrently, in which order, and on which thread.

Writes of one client run one after another, in the order they arrived. A read waits for the writes before it, then runs
concurrently with everything else. A call that may not run yet is not given to a thread, so no thread waits for another
one's call. Handing a call to another thread costs more than most calls do, so some run where they were read: on a pipe
when nothing else is running, in a network server when calls of that kind are quick. A call that waits for its client
is paused: those behind it overtake it, and it takes no thread from them.
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

_ENOUGH_CALLS = 20  # of a kind, after which we know how long they take
_QUICK = 0.002  # seconds that a call may block all clients
_DECAY = 0.97  # decay of the longest time with every call: one slow call does not count for ever
_MEASURED_CALLS = 32  # whose CPU time is measured after a slow one
_MOST_LABELS = 1000
_MOST_PAUSED = 64  # calls of all clients
_MOST_CALLS = 64  # of one client, waiting or running, before its next message is read
_LOOK_EVERY = 0.002  # seconds
_MOST_BYTES = 32 * 1024 * 1024  # total size of their messages


class CallScheduler:
    """The threads that run the calls of all clients, started on demand."""

    def __init__(self, threads: int) -> None:
        self._most = threads
        self._threads = 0
        self._ready: SimpleQueue[tuple[Request, CallQueue | None, _Pace | None]] = SimpleQueue()
        self._state = threading.Condition()
        self.running = 0  # calls that are running on the threads or waiting for one
        self._paused: set[Request] = set()
        self._stopping = False
        self._paces: dict[str, _Pace] = {}
        self.home: int | None = None  # the event loop's thread, which all clients share, once there is one

    def run(self, call: Request, queue: CallQueue | None = None) -> None:
        """Run a call on one of the threads, or right here if calls of its kind are quick.

        ``queue`` is notified when it has finished.
        """
        pace = None
        if self.home is not None and (label := call.label) is not None:
            pace = self._paces.get(label)
            if pace is None and len(self._paces) < _MOST_LABELS:
                pace = self._paces.setdefault(label, _Pace())
            if pace is not None and pace.is_quick and threading.get_ident() == self.home:
                self._run(call, queue, pace, True)
                return
        with self._state:
            self.running += 1
            starts = self._needs_thread()
        if starts:
            self._start()
        self._ready.put((call, queue, pace))

    def _needs_thread(self) -> bool:
        """Whether another thread is needed and allowed; it is counted at once."""
        starts = self._threads < min(self._most + len(self._paused), self.running)
        self._threads += starts
        return starts

    def _start(self) -> None:
        threading.Thread(target=self._work, name="polymnia-call", daemon=True).start()

    def pause(self, call: Request) -> bool:
        """A call is about to wait for its client; False if it may not, as too many do or the server is stopping."""
        with self._state:
            if self._stopping or len(self._paused) >= _MOST_PAUSED:
                return False
            self._paused.add(call)
            starts = self._needs_thread()
        if starts:
            self._start()
        return True

    def resume(self, call: Request) -> None:
        """A paused call goes on."""
        with self._state:
            self._paused.discard(call)

    def stop_waiting(self) -> None:
        """The server is stopping: no call waits for its client any more."""
        with self._state:
            self._stopping = True
            paused = list(self._paused)
        for call in paused:
            call.connection.hang_up()

    def _work(self) -> None:
        while True:
            call, queue, pace = self._ready.get()
            try:
                self._run(call, queue, pace, False)
            finally:
                with self._state:
                    self.running -= 1
                    if not self.running:
                        self._state.notify_all()
                    surplus = self._threads > self._most + len(self._paused)
                    self._threads -= surplus
            if surplus:
                return

    def _run(self, call: Request, queue: CallQueue | None, pace: _Pace | None, on_loop: bool) -> None:
        measured = pace is not None and (pace.measured or not on_loop)
        begun, computed = time.perf_counter(), time.thread_time() if measured else 0.0
        try:
            call.run()
        finally:
            if pace is not None:
                seconds = time.perf_counter() - begun
                if measured and seconds >= _QUICK:
                    computed = time.thread_time() - computed
                pace.record(seconds, computed, on_loop)
            if queue is not None:
                queue.done(call)

    def finish(self, seconds: float | None = None) -> bool:
        """Wait until every call has finished, at most so many seconds; returns whether all have."""
        with self._state:
            return self._state.wait_for(lambda: self.running == 0, seconds)


class _Pace:
    """How long calls of a kind have taken recently.

    A slow call may have been unlucky: another process had the core, or the event loop ran instead of its thread. So a
    slow call counts by its CPU time; where that was not measured, calls of its kind are measured for a while. Two slow
    calls in a row are waiting for something, however little they compute.
    """

    __slots__ = ("_count", "_longest", "_slow", "is_quick", "measured")

    def __init__(self) -> None:
        self._count = 0
        self._longest = 0.0
        self._slow = False
        self.is_quick = False  # whether the next one may run on the event loop
        self.measured = 0  # coming calls whose CPU time is measured

    def record(self, seconds: float, computed: float, on_loop: bool) -> None:
        """Record a call: its wall time, its CPU time, and whether it ran on the event loop (``on_loop``)."""
        self._count += 1
        slow = seconds >= _QUICK
        counted = computed if slow and not (on_loop and self._slow) else seconds
        if slow:
            self.measured = _MEASURED_CALLS
        elif self.measured:
            self.measured -= 1
        self._slow = slow and on_loop
        self._longest = max(counted, self._longest * _DECAY)
        self.is_quick = self._count >= _ENOUGH_CALLS and self._longest < _QUICK


class CallQueue:
    """The calls of one client, with its writes in order. Only one thread at a time submits calls."""

    def __init__(self, scheduler: CallScheduler) -> None:
        self._scheduler = scheduler
        self.size = 0  # of the message being read, until its first call is submitted
        self._calls = 0  # submitted and not finished
        self._bytes = 0
        self._sizes: dict[Request, int] = {}  # of calls from long messages
        self._overtaken: set[Request] = set()  # calls that have been paused: they count for nothing
        self._waiting: deque[tuple[Request, int]] = deque()  # with the number of writes before it
        self._submitted_writes = 0
        self._finished_writes = 0
        self._blocked: list[Callable[[], object]] = []  # callbacks waiting for room
        self._lock = threading.Lock()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is running or queued."""
        return self._calls == 0

    @property
    def is_crowded(self) -> bool:
        """Whether so much of this client is queued that its next message is not read yet."""
        return self._calls - len(self._overtaken) >= _MOST_CALLS or self._bytes >= _MOST_BYTES

    def run_here(self, call: Request) -> None:
        """Run a call on this thread; only while the queue is idle."""
        call.queue = self
        with self._lock:
            self._calls += 1
            self._submitted_writes += call.writes
        try:
            call.run()
        finally:
            self.done(call)

    def submit(self, call: Request) -> None:
        """Run a call as soon as the writes before it have finished."""
        call.queue = self
        with self._lock:
            before = self._submitted_writes
            self._submitted_writes += call.writes
            self._calls += 1
            if self.size:
                self._sizes[call] = self.size
                self._bytes += self.size
                self.size = 0
            ready = before == self._finished_writes
            if not ready:
                self._waiting.append((call, before))
        if ready:
            self._scheduler.run(call, self)

    def pause(self, call: Request) -> bool:
        """A call is about to wait for its client, and those behind it overtake it; False if it may not wait."""
        if not self._scheduler.pause(call):
            return False
        if call not in self._overtaken:
            self.done(call, paused=True)
        return True

    def resume(self, call: Request) -> None:
        """A paused call goes on, beside those that have overtaken it."""
        self._scheduler.resume(call)

    def done(self, call: Request, *, paused: bool = False) -> None:
        """A call has finished, or is paused; calls that waited for it may run."""
        ready: list[Request] = []
        room: list[Callable[[], object]] = []
        with self._lock:
            overtaken = bool(self._overtaken) and call in self._overtaken
            if paused:
                self._overtaken.add(call)
            else:
                self._calls -= 1
                if overtaken:
                    self._overtaken.remove(call)
            if self._sizes:
                self._bytes -= self._sizes.pop(call, 0)
            if self._blocked and not self.is_crowded:
                room, self._blocked = self._blocked, []
            if call.writes and not overtaken:
                self._finished_writes += 1
                while self._waiting and self._waiting[0][1] <= self._finished_writes:
                    ready.append(self._waiting.popleft()[0])
        for wake in room:
            with suppress(RuntimeError):  # the event loop has stopped
                wake()
        for one in ready:
            self._scheduler.run(one, self)

    def finish(self) -> None:
        """Wait until every call has finished. It polls: a call that finishes has nobody to notify, save at the end."""
        while self._calls:
            time.sleep(_LOOK_EVERY)

    async def room(self) -> None:
        """Wait until the client's next message may be read."""
        from asyncio import Event, get_running_loop

        loop = get_running_loop()
        while self.is_crowded:
            room = Event()
            with self._lock:
                if not self.is_crowded:
                    return
                self._blocked.append(partial(loop.call_soon_threadsafe, room.set))
            await room.wait()
