"""Streams of events, numbered and stored for a while, so that a client can resume after a broken connection."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from polymnia.transports.errors import Headers
from polymnia.transports.web.connection import SendEvent, in_task

SILENCE = 15.0  # seconds after which a comment keeps the stream alive
_RETRY = b"retry: 1000\n"  # milliseconds after which a client may reconnect
_KEPT_EVENTS = 512  # already sent, for a client that resumes
_KEPT_BYTES = 1024 * 1024
_MOST_EVENTS = 4096  # in all, for a client that does not read
_MOST_BYTES = 16 * 1024 * 1024
_CROWDED_EVENTS = 16  # per stream, when all of them together hold too much
_CROWDED_BYTES = 64 * 1024
_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class StoredBytes:
    """The total size of all stored streams of a server."""

    def __init__(self, most: int) -> None:
        self.bytes = 0
        self._most = most

    @property
    def is_crowded(self) -> bool:
        """Whether they hold too much."""
        return self.bytes > self._most


class Outbox:
    """The events of one stream, read by one connection at a time. Without a name it cannot be resumed.

    Only the event loop uses it.
    """

    def __init__(self, name: str = "", stored: StoredBytes | None = None) -> None:
        self.name = name
        self._stored = stored
        self.last = 0  # the number of the newest event
        self.sent = 0  # and of the newest that was sent
        self.ended = False
        self.bytes = 0
        self._events: deque[tuple[int, bytes]] = deque()
        self._reader: Callable[[], None] | None = None

    @property
    def held(self) -> bool:
        """Whether a connection reads it."""
        return self._reader is not None

    def put(self, data: bytes) -> None:
        """Add an event; the oldest ones are dropped if there are too many."""
        self.last += 1
        self._events.append((self.last, data))
        self._add_bytes(len(data))
        self._trim()
        self._wake()

    def end(self) -> None:
        """Nothing more will come."""
        self.ended = True
        self._wake()

    def close(self) -> None:
        """Stop storing it; a connection that reads it reads it to its end."""
        if self._stored is not None:
            self._stored.bytes -= self.bytes
            self._stored = None
        self.end()

    def after(self, number: int) -> tuple[int, bytes] | None:
        """The next event after a number, if there is one."""
        at = number + 1 - self._events[0][0] if self._events else 0
        return self._events[max(0, at)] if at < len(self._events) else None

    def mark_sent(self, number: int) -> None:
        """An event was sent to the client."""
        self.sent = max(self.sent, number)
        self._trim()

    def hold(self, reader: Callable[[], None]) -> None:
        """Become its reader, in place of the previous one."""
        before, self._reader = self._reader, reader
        if before is not None:
            before()

    def is_held_by(self, reader: Callable[[], None]) -> bool:
        """Whether this is its reader."""
        return self._reader is reader

    def leave(self, reader: Callable[[], None]) -> None:
        """Stop reading it."""
        if self._reader is reader:
            self._reader = None

    def _wake(self) -> None:
        if self._reader is not None:
            self._reader()

    def _add_bytes(self, size: int) -> None:
        self.bytes += size
        if self._stored is not None:
            self._stored.bytes += size

    def _trim(self) -> None:
        events = self._events
        while len(events) > 1:
            if events[0][0] <= self.sent and not self.name:
                most, size = 0, 0  # it cannot be requested again
            elif self._stored is not None and self._stored.is_crowded:
                most, size = _CROWDED_EVENTS, _CROWDED_BYTES
            elif events[0][0] <= self.sent:
                most, size = _KEPT_EVENTS, _KEPT_BYTES
            else:
                most, size = _MOST_EVENTS, _MOST_BYTES
            if len(events) <= most and self.bytes <= size:
                return
            self._add_bytes(-len(events.popleft()[1]))


async def begin(send: SendEvent, headers: Headers, outbox: Outbox, *, primed: bool, since: int = 0) -> None:
    """Start a response that is a stream; a primed one can be resumed before its first event.

    The head is sent with the first piece, so there always is one.
    """
    await in_task()
    await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS, *headers]})
    await _piece(send, f"id: {outbox.name}-{since}\n".encode() + _RETRY + b"data: \n\n" if primed else b"")


async def follow(outbox: Outbox, since: int, gone: asyncio.Future[None], send: SendEvent) -> bool:
    """Send the events of a stream as they come, until either side ends it; returns whether it was sent to its end."""
    woken = asyncio.Event()
    wake = woken.set
    gone.add_done_callback(lambda _: wake())
    outbox.hold(wake)
    try:
        while not gone.done() and outbox.is_held_by(wake):
            while (event := outbox.after(since)) is not None and not gone.done():
                since, data = event
                id = f"id: {outbox.name}-{since}\n".encode() if outbox.name else b""
                await _piece(send, id + b"event: message\ndata: " + data + b"\n\n")
                outbox.mark_sent(since)
            if outbox.ended:
                break
            if not await _wait(woken):
                await _piece(send, b": still here\n\n")
            woken.clear()
        if not gone.done():
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return outbox.ended and outbox.after(since) is None
    finally:
        outbox.leave(wake)


async def _wait(woken: asyncio.Event) -> bool:
    """Wait for the event; False after a timeout."""
    try:
        async with asyncio.timeout(SILENCE):
            return await woken.wait()
    except TimeoutError:
        return False


async def _piece(send: SendEvent, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})
