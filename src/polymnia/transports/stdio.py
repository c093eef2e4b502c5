"""The stdio transport: one client, one message a line."""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from functools import partial
from itertools import count
from queue import SimpleQueue

from polymnia.errors import OverLimit
from polymnia.transports.errors import RpcError
from polymnia.transports.log import Log
from polymnia.transports.rpc import Connection, Request, Server
from polymnia.transports.scheduler import CallQueue, CallScheduler

_CHUNK = 64 * 1024  # the capacity of a pipe; a larger buffer would cost a memory mapping per message
_KEPT_BYTES = 64 * 1024  # of an oversized message, the part that is searched for its id
_THREADS = 8  # that run calls concurrently
_MAX_CALL_SECONDS = 0.02  # that a call may occupy the reading thread before another thread takes over reading


class _Stopped(Exception):
    """A signal asked us to stop."""


class _Lines:
    """Splits chunks into lines. A line that is too long is counted but not stored."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0
        self._whole: deque[tuple[bytes, int]] = deque()

    def feed(self, chunk: bytes) -> None:
        """Add a chunk."""
        if not self._size and chunk.find(b"\n") == len(chunk) - 1 and len(chunk) <= self._most:
            self._whole.append((chunk, len(chunk)))  # the usual case
            return
        *ended, rest = chunk.split(b"\n")
        for end in ended:
            self._add(end)
            self.end()
        self._add(rest)

    def end(self) -> None:
        """The line is complete."""
        if self._size:
            self._whole.append((b"".join(self._parts), self._size))
        self._parts, self._size = [], 0

    def next(self) -> tuple[bytes, int] | None:
        """The next complete line and its size; an oversized line is cut to its head and tail."""
        return self._whole.popleft() if self._whole else None

    def _add(self, part: bytes) -> None:
        if part:
            self._parts.append(part)
            self._size += len(part)
            if self._size > self._most:
                joined = b"".join(self._parts)
                self._parts = [joined[:_KEPT_BYTES], joined[-_KEPT_BYTES:]]


class _Stdio:
    """The two pipes and the threads that serve them.

    One thread at a time reads, and runs what it has read. If a call takes long, another thread takes over reading,
    so that a ping is always answered.
    """

    def __init__(self, server: Server, most: int, log: Log) -> None:
        self._in = os.dup(0)
        self._out = os.dup(1)
        # Nothing else that this process prints may reach the client.
        os.dup2(2, 1)
        sys.stdout = sys.stderr
        self._most = most
        self.log = log
        self._sending = threading.Lock()
        self._calls = CallQueue(CallScheduler(_THREADS))
        self._lines = _Lines(most)
        self._reader_lock = threading.Lock()
        self._reader = 0  # number of the reading thread; a thread with a smaller number has been replaced
        self._busy_since = 0.0  # when the reading thread began its call; 0 while it waits for a message
        self._watching = False  # whether the watching thread checks that by itself
        self._begun: SimpleQueue[None] = SimpleQueue()  # otherwise it waits here for the next call
        # The main thread waits in a read, which a signal always interrupts; waiting for a lock might not be.
        self._wakeup, self._wakeup_writer = os.pipe()
        os.set_blocking(self._wakeup_writer, False)
        self._stopping = False
        self._waiting = False  # the main thread is reading, or waiting for the end
        self.connection = Connection(server, self)

    # ── what the connection needs ─────────────────────────────────────────────────────────────────────

    def send(self, data: bytes, error: RpcError | None = None) -> None:
        """Write one message as one line."""
        line = memoryview(data + b"\n")
        with self._sending:
            try:
                while line:
                    line = line[os.write(self._out, line) :]
            except OSError:
                pass  # the client is gone; reading will end soon

    def run(self, call: Request) -> None:
        """Run a call: on this thread if nothing else is running, otherwise on another one."""
        if not self._calls.is_idle:
            self._calls.submit(call)
            return
        mine = self._reader
        self._busy_since = time.monotonic()
        if not self._watching:
            self._watching = True
            self._begun.put(None)
        self._calls.run_here(call)
        with self._reader_lock:
            if self._reader == mine:  # otherwise the mark belongs to another thread by now
                self._busy_since = 0.0

    # ── reading ───────────────────────────────────────────────────────────────────────────────────────

    def serve(self) -> None:
        """Serve until the client closes its end or a signal arrives; requests under way are finished."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        signal.set_wakeup_fd(self._wakeup_writer, warn_on_full_buffer=False)
        threading.Thread(target=self._watch, name="polymnia-watch", daemon=True).start()
        try:
            self._read(0, main=True)
            self._waiting = True
            if not self._stopping:
                os.read(self._wakeup, 1)
            self._waiting = False
        except _Stopped:
            pass
        self._calls.finish()
        self.connection.close()

    def _on_signal(self, number: int, frame: object) -> None:
        self._stopping = True
        self.connection.hang_up()
        if self._waiting:
            self._waiting = False  # a second signal must not interrupt the end
            raise _Stopped

    def _read(self, number: int, main: bool = False) -> None:
        """Read and run until the client leaves or another thread takes over."""
        while not self._stopping:
            while (line := self._lines.next()) is not None:
                self._take(*line)
                with self._reader_lock:
                    if self._reader != number:
                        return
            if main:
                self._waiting = True  # from here on a signal may interrupt; it is never lost
                if self._stopping:
                    return
            chunk = os.read(self._in, _CHUNK)
            if main:
                self._waiting = False
            if not chunk:
                self.connection.hang_up()
                self._lines.end()  # the last line may lack its newline
                while (line := self._lines.next()) is not None:
                    self._take(*line)
                os.write(self._wakeup_writer, b"\0")
                return
            self._lines.feed(chunk)

    def _take(self, line: bytes, size: int) -> None:
        if size > self._most:
            from polymnia.transports.malformed import salvaged_id, trailing_id

            id = salvaged_id(line[:_KEPT_BYTES])
            error = OverLimit("The message", size, "bytes", self._most, "max_message_bytes")
            self.connection.oversized(trailing_id(line) if id is None else id, error)
        elif line := line.strip():
            self.connection.receive(line)

    def _watch(self) -> None:
        """Take over reading from a thread that is busy with a call."""
        while True:
            since = self._busy_since
            if not since:
                self._watching = False
                if not self._busy_since:  # otherwise a call has begun just now
                    self._begun.get()
                continue
            left = since + _MAX_CALL_SECONDS - time.monotonic()
            if left > 0:
                time.sleep(left)
                continue
            with self._reader_lock:
                if self._busy_since == since:
                    self._busy_since = 0.0
                    self._reader += 1
                    number = self._reader
                    break
        threading.Thread(target=self._watch, name="polymnia-watch", daemon=True).start()
        self._read(number)


def serve(server: Server, *, max_message_bytes: int, log: Log) -> None:
    """Serve one client on stdin and stdout until it leaves; requests under way are finished."""
    # Everything loaded so far stays for good: scanning it in every collection would cost more than the calls.
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()
    if "info" in log.levels:
        server.log_call = partial(_log_call, log, count(1))
    _Stdio(server, max_message_bytes, log).serve()
    server.memory.close()


def _log_call(log: Log, numbers: Iterator[int], request: Request, seconds: float) -> None:
    request.trace = str(next(numbers))
    log.call(request, seconds)
