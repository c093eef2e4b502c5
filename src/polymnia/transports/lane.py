"""Where calls run: what may go on beside what, and in which order.

Writes of one client run one after another in the order they came. A read waits for the writes that came before
it, then runs beside whatever else is going on. When nothing else is going on, a call runs right where it was
read: handing it to another thread costs more than most calls do.
"""

from __future__ import annotations

import threading
from queue import SimpleQueue

from polymnia.transports.requests import Call

__all__ = ["Lane"]

_READERS = 4


class Lane:
    """The calls of one connection. Only the thread that reads messages gives it calls."""

    def __init__(self) -> None:
        self._writes: SimpleQueue[tuple[Call, int]] = SimpleQueue()
        self._reads: SimpleQueue[tuple[Call, int]] = SimpleQueue()
        self._writer = False
        self._readers = 0
        self._state = threading.Condition()
        self._unfinished = 0  # calls taken and not done
        self._asked = 0  # writes taken
        self._done = 0  # writes done

    @property
    def free(self) -> bool:
        """Whether nothing is running or waiting."""
        return self._unfinished == 0

    def run_here(self, call: Call) -> None:
        """Run a call on this thread. Only while the lane is free."""
        self._take(call)
        self._run(call)

    def submit(self, call: Call) -> None:
        """Run a call on another thread, in its order."""
        after = self._take(call)
        if call.writes:
            if not self._writer:
                self._writer = True
                self._start(self._writes)
            self._writes.put((call, after))
        else:
            if self._readers < _READERS:
                self._readers += 1
                self._start(self._reads)
            self._reads.put((call, after))

    def finish(self) -> None:
        """Wait until everything taken is done."""
        with self._state:
            self._state.wait_for(lambda: self._unfinished == 0)

    def _take(self, call: Call) -> int:
        with self._state:
            before = self._asked
            self._unfinished += 1
            self._asked += call.writes
            return before

    def _run(self, call: Call) -> None:
        try:
            call.run()
        finally:
            with self._state:
                self._unfinished -= 1
                self._done += call.writes
                self._state.notify_all()

    def _start(self, queue: SimpleQueue[tuple[Call, int]]) -> None:
        threading.Thread(target=self._serve, args=(queue,), name="polymnia-call", daemon=True).start()

    def _wait_for_writes(self, count: int) -> None:
        if self._done < count:
            with self._state:
                self._state.wait_for(lambda: self._done >= count)

    def _serve(self, queue: SimpleQueue[tuple[Call, int]]) -> None:
        while True:
            call, after = queue.get()
            self._wait_for_writes(after)  # one that began on the reading thread may still be under way
            self._run(call)
