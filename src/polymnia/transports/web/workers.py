"""Several processes that serve one socket: they are forked before there are threads, and replaced when they die."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from polymnia.errors import Fault
from polymnia.transports.log import Log

_STEADY_SECONDS = 10.0  # after which a process that dies has not died of its start
_FIRST_PAUSE = 0.1  # seconds until one that died of its start is replaced; each time twice as long,
_LONGEST_PAUSE = 30.0  # up to this
_PATIENCE = 90.0  # seconds in which processes end after a signal, before they are killed
_SIGNALS = (signal.SIGTERM, signal.SIGINT)

Work = Callable[[Callable[[], None]], None]
"""What a process does until a signal ends it; it calls what it is given when it accepts clients."""


class Workers:
    """The parent of the processes: it starts them, passes signals on, and serves nobody itself."""

    def __init__(self, count: int, work: Work, log: Log) -> None:
        self._count = count
        self._work = work
        self._log = log
        self._running: dict[int, float] = {}  # since when, by process id
        self._due: list[float] = []  # when others are to be started
        self._quick_deaths = 0
        self._ready = 0
        self._stopping = False
        self._signals, self._wake = os.pipe()
        self._started, self._report = os.pipe()
        self._parent, self._alive = os.pipe()  # whose writing end is closed when this process ends

    def run(self, ready: Callable[[], None], stop: Callable[[], None]) -> int:
        """Run them until a signal arrives; ``ready`` is called when all accept clients, ``stop`` when they are to end.

        Returns an exit code: 0, or 1 if one of them did not start.
        """
        os.set_blocking(self._wake, False)
        before = {sign: signal.signal(sign, self._caught) for sign in (*_SIGNALS, signal.SIGCHLD)}
        woken = signal.set_wakeup_fd(self._wake, warn_on_full_buffer=False)
        try:
            return self._run(ready, stop)
        finally:
            signal.set_wakeup_fd(woken)
            for sign, handler in before.items():
                signal.signal(sign, handler)

    def _caught(self, sign: int, frame: object) -> None:
        """Nothing: the number of the signal is read from the pipe."""

    def _run(self, ready: Callable[[], None], stop: Callable[[], None]) -> int:
        self._due = [0.0] * self._count
        code, deadline = 0, float("inf")
        while True:
            now = time.monotonic()
            if not self._stopping:
                self._start(now)
            elif not self._running:
                return code
            elif now > deadline:
                self._pass_on(signal.SIGKILL)
            waits = min([deadline if self._stopping else float("inf"), *self._due]) - now
            found, _, _ = select.select(
                [self._signals, self._started], [], [], None if waits == float("inf") else max(0.05, waits)
            )
            if self._started in found:
                self._ready += len(os.read(self._started, 64))
                if self._ready == self._count:
                    ready()
            if self._signals in found:
                caught = os.read(self._signals, 64)
                failed = self._reap()
                asked = [sign for sign in _SIGNALS if sign in caught]
                if failed and self._ready < self._count and not self._stopping:
                    self._log("error", "a process of the server did not start, so the server ends")
                    code, asked = 1, [signal.SIGTERM]
                for sign in asked:
                    if not self._stopping:
                        self._stopping, deadline = True, time.monotonic() + _PATIENCE
                        self._due.clear()
                        stop()
                    self._pass_on(sign)

    def _start(self, now: float) -> None:
        due, self._due = [at for at in self._due if at <= now], [at for at in self._due if at > now]
        for _ in due:
            process = os.fork()
            if process == 0:
                self._serve()
            self._running[process] = now

    def _serve(self) -> None:
        """Be one of the processes, to the end of it."""
        code = 1
        try:
            signal.set_wakeup_fd(-1)
            for sign in (*_SIGNALS, signal.SIGCHLD):
                signal.signal(sign, signal.SIG_DFL)
            os.setpgid(0, 0)  # a signal of the terminal comes through the parent, once
            for file in (self._signals, self._wake, self._started, self._alive):
                os.close(file)
            threading.Thread(target=self._end_with_parent, name="polymnia-parent", daemon=True).start()
            self._work(lambda: (os.write(self._report, b"."), None)[1])
            code = 0
        except Fault as e:
            self._log("error", f"{e.message}. {e.hint}")
        except Exception as e:
            from polymnia.transports.rpc import frames

            self._log.event("error", "failure", what=frames(e))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)

    def _end_with_parent(self) -> None:
        """End when the parent has ended without a word."""
        os.read(self._parent, 1)
        os.kill(os.getpid(), signal.SIGTERM)

    def _reap(self) -> bool:
        """Take note of processes that have ended, and when to replace them; returns whether there were any."""
        ended = False
        with suppress(ChildProcessError):
            while (found := os.waitpid(-1, os.WNOHANG))[0]:
                process, status = found
                since = self._running.pop(process, None)
                if since is None:
                    continue
                ended = True
                if self._stopping:
                    continue
                now = time.monotonic()
                self._quick_deaths = 0 if now - since > _STEADY_SECONDS else self._quick_deaths + 1
                pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** max(0, self._quick_deaths - 1))
                self._due.append(now + pause)
                code = os.waitstatus_to_exitcode(status)
                self._log.event("error", "process died", pid=process, code=code, restarts_in=round(pause, 1))
        return ended

    def _pass_on(self, sign: int) -> None:
        for process in self._running:
            with suppress(ProcessLookupError):
                os.kill(process, sign)
