"""Bringing changes from the write-ahead log into the file, soon after they were made and never while somebody waits.

A change is safe in the log, but a copy of the file alone does not have it. So a thread brings it over as soon as nobody
has written for a moment. It takes no lock that a reader or a writer waits for.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from weakref import WeakMethod

__all__ = ["Checkpoints"]

_QUIET = 0.2  # seconds without a write after which it is time
_LATEST = 2.0  # and after so many it is, however much is written


class Checkpoints:
    """Does its work soon after it was asked to, in a thread that is started when it is first needed."""

    def __init__(self, work: Callable[[], None]) -> None:
        self._work = WeakMethod(work)  # the thread keeps no store alive that nobody uses any more
        self._begun: _Thread | None = None

    def soon(self) -> None:
        """Something was written. Costs the writer a microsecond, but for the first time."""
        thread = self._begun
        if thread is None or not thread.is_alive():
            thread = self._begun = _Thread(self._work)
            thread.start()
        thread.due.set()

    def stop(self) -> None:
        """No more work, until something is written again."""
        thread, self._begun = self._begun, None
        if thread is not None:
            thread.stopped = True
            thread.due.set()


class _Thread(threading.Thread):
    def __init__(self, work: WeakMethod[Callable[[], None]]) -> None:
        super().__init__(name="polymnia-checkpoint", daemon=True)
        self.due = threading.Event()
        self.stopped = False
        self._work = work

    def run(self) -> None:
        while self.due.wait() and not self.stopped:
            latest = time.monotonic() + _LATEST
            quiet = False
            while not quiet and time.monotonic() < latest:
                self.due.clear()
                quiet = not self.due.wait(_QUIET)
            if self.stopped:
                return
            self.due.clear()
            work = self._work()
            if work is None:
                return
            work()
            del work
