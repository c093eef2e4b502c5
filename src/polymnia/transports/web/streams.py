"""Streams of events: numbered and kept for a while, so that a client whose connection broke goes on where it was."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from polymnia.transports.errors import Headers
from polymnia.transports.web.connection import SendEvent, in_task

SILENCE = 15.0  # seconds after which a stream shows that it lives
_RETRY = b"retry: 1000\n"  # milliseconds after which a client may come back
_KEPT_EVENTS = 512  # that were sent, for a client that comes back
_KEPT_BYTES = 1024 * 1024
_MOST_EVENTS = 4096  # in all, for a client that does not take what is sent
_MOST_BYTES = 16 * 1024 * 1024
_CROWDED_EVENTS = 16  # of one stream, where all of them together hold too much
_CROWDED_BYTES = 64 * 1024
_HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache, no-transform"),
    (b"x-accel-buffering", b"no"),
]


class Shelf:
    """What all kept streams of a server hold together."""

    def __init__(self, most: int) -> None:
        self.bytes = 0
        self._most = most

    @property
    def is_crowded(self) -> bool:
        """Whether it is too much."""
        return self.bytes > self._most


class Outbox:
    """The events of one stream, read by one connection at a time. One without a name has no numbers to come back with.

    Whatever becomes of it happens in the thread of the event loop.
    """

    def __init__(self, name: str = "", shelf: Shelf | None = None) -> None:
        self.name = name
        self._shelf = shelf
        self.last = 0  # the number of the newest event
        self.sent = 0  # and of the newest that went out
        self.ended = False
        self.bytes = 0
        self._events: deque[tuple[int, bytes]] = deque()
        self._reader: Callable[[], None] | None = None

    @property
    def held(self) -> bool:
        """Whether a connection reads it."""
        return self._reader is not None

    def put(self, data: bytes) -> None:
        """Add an event; the oldest ones go when there are too many."""
        self.last += 1
        self._events.append((self.last, data))
        self._weigh(len(data))
        self._trim()
        self._wake()

    def end(self) -> None:
        """Nothing more will come."""
        self.ended = True
        self._wake()

    def close(self) -> None:
        """It is kept no more; whoever reads it reads it to its end."""
        if self._shelf is not None:
            self._shelf.bytes -= self.bytes
            self._shelf = None
        self.end()

    def after(self, number: int) -> tuple[int, bytes] | None:
        """The next event above a number, if it is there."""
        at = number + 1 - self._events[0][0] if self._events else 0
        return self._events[max(0, at)] if at < len(self._events) else None

    def went(self, number: int) -> None:
        """An event went out to the client."""
        self.sent = max(self.sent, number)
        self._trim()

    def hold(self, reader: Callable[[], None]) -> None:
        """Read it from now on; whoever read it until now no longer does."""
        before, self._reader = self._reader, reader
        if before is not None:
            before()

    def is_held_by(self, reader: Callable[[], None]) -> bool:
        """Whether this one reads it."""
        return self._reader is reader

    def leave(self, reader: Callable[[], None]) -> None:
        """Read it no more."""
        if self._reader is reader:
            self._reader = None

    def _wake(self) -> None:
        if self._reader is not None:
            self._reader()

    def _weigh(self, size: int) -> None:
        self.bytes += size
        if self._shelf is not None:
            self._shelf.bytes += size

    def _trim(self) -> None:
        events = self._events
        while len(events) > 1:
            if events[0][0] <= self.sent and not self.name:
                most, size = 0, 0  # nobody can ask for it again
            elif self._shelf is not None and self._shelf.is_crowded:
                most, size = _CROWDED_EVENTS, _CROWDED_BYTES
            elif events[0][0] <= self.sent:
                most, size = _KEPT_EVENTS, _KEPT_BYTES
            else:
                most, size = _MOST_EVENTS, _MOST_BYTES
            if len(events) <= most and self.bytes <= size:
                return
            self._weigh(-len(events.popleft()[1]))


async def begin(send: SendEvent, headers: Headers, outbox: Outbox, *, primed: bool, since: int = 0) -> None:
    """Begin an answer that is a stream; one that is primed can be resumed before its first event.

    Its head leaves with its first piece, so there is one in any case.
    """
    await in_task()
    await send({"type": "http.response.start", "status": 200, "headers": [*_HEADERS, *headers]})
    await _piece(send, f"id: {outbox.name}-{since}\n".encode() + _RETRY + b"data: \n\n" if primed else b"")


async def follow(outbox: Outbox, since: int, gone: asyncio.Future[None], send: SendEvent) -> bool:
    """Send the events of a stream as they come, until either side ends it; answers whether it came to its end."""
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
                outbox.went(since)
            if outbox.ended:
                break
            if not await _happens(woken):
                await _piece(send, b": still here\n\n")
            woken.clear()
        if not gone.done():
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        return outbox.ended and outbox.after(since) is None
    finally:
        outbox.leave(wake)


async def _happens(woken: asyncio.Event) -> bool:
    """Wait until something does; False where nothing did for long."""
    try:
        async with asyncio.timeout(SILENCE):
            return await woken.wait()
    except TimeoutError:
        return False


async def _piece(send: SendEvent, data: bytes) -> None:
    await send({"type": "http.response.body", "body": data, "more_body": True})
