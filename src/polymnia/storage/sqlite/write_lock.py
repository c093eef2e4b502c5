"""The write lock, for which the writers of all processes queue.

SQLite alone lets waiting processes poll, and under load one of them can starve for seconds. An exclusive
lock on a file beside the store is served by the operating system in order of arrival.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable

from polymnia.errors import Busy

if sys.platform == "win32":  # pragma: no cover - other platform
    import msvcrt

    def _try_lock(fd: int) -> bool:
        try:
            os.lseek(fd, 0, os.SEEK_SET)
            msvcrt.locking(fd, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _lock(fd: int) -> None:
        while not _try_lock(fd):
            time.sleep(0.005)

    def _unlock(fd: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(fd: int) -> bool:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _lock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_EX)

    def _unlock(fd: int) -> None:
        fcntl.flock(fd, fcntl.LOCK_UN)


class WriteLock:
    """An exclusive lock for writing, held by one thread of one process at a time. A context manager."""

    def __init__(self, path: str, timeout: float) -> None:
        self._path = path
        self._timeout = min(timeout, threading.TIMEOUT_MAX / 2)
        self._threads = threading.Lock()  # the file lock does not separate threads that share a descriptor
        self._fd = -1
        self.held = False  # whether a thread of this process holds it

    def acquire(self) -> None:
        """Acquire the lock, waiting at most for the timeout."""
        deadline = time.monotonic() + self._timeout
        if not self._threads.acquire(timeout=self._timeout):
            raise self._busy()
        try:
            if self._fd < 0:
                self._fd = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
            if not _try_lock(self._fd):
                self._queue(deadline)
            self.held = True
        except BaseException:
            self._threads.release()
            raise

    def release(self) -> None:
        """Release the lock."""
        self.held = False
        _unlock(self._fd)
        self._threads.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def close(self, before: Callable[[], None] | None = None) -> bool:
        """Close the lock file, unless a thread of this process holds the lock; returns whether it did.

        ``before`` is called first, while nobody can acquire the lock.
        """
        if not self._threads.acquire(blocking=False):
            return False
        try:
            if before is not None:
                before()
            if self._fd >= 0:
                os.close(self._fd)
                self._fd = -1
        finally:
            self._threads.release()
        return True

    def _queue(self, deadline: float) -> None:
        # A blocking lock keeps our place in the queue but has no timeout, so a helper thread waits.
        # If we time out first, the descriptor is left to that thread, which closes it and so releases the lock.
        fd, acquired, decide = self._fd, threading.Event(), threading.Lock()
        abandoned = False

        def wait() -> None:
            _lock(fd)
            with decide:
                if abandoned:
                    os.close(fd)
                else:
                    acquired.set()

        threading.Thread(target=wait, name="polymnia-write-lock", daemon=True).start()
        if acquired.wait(max(0.0, deadline - time.monotonic())):
            return
        with decide:
            if acquired.is_set():
                return
            abandoned = True
            self._fd = -1
        raise self._busy()

    def _busy(self) -> Busy:
        return Busy(
            f"Another process has been writing to the store for more than {self._timeout:g} s "
            f"(it holds {self._path}); nothing was changed"
        )
