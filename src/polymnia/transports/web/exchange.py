"""Exchange: one message that came over HTTP, and what is sent back for it from whatever thread answers."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from threading import get_ident

from polymnia.transports.web.begun import in_task
from polymnia.transports.web.stream import Outbox

__all__ = ["Exchange"]


class Exchange:
    """Gathers what is told of a request and its answer, for the coroutine that writes the response, or for a stream."""

    __slots__ = ("_loop", "_outbox", "_thread", "_waiter", "answer", "notices")

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None  # as soon as somebody waits
        self._thread = 0
        self._waiter: asyncio.Future[None] | None = None
        self._outbox: Outbox | None = None
        self.notices: deque[bytes] = deque()
        self.answer: bytes | None = None

    def send(self, data: bytes) -> None:
        """The answer is there."""
        self.answer = data
        self._wake()

    def notice(self, data: bytes) -> None:
        """Something is told before the answer."""
        self.notices.append(data)
        self._wake()

    def pour(self, outbox: Outbox) -> None:
        """Put all that came and all that comes into a stream, which ends with the answer."""
        self._look()
        self._outbox = outbox
        self.wake()

    def _look(self) -> asyncio.AbstractEventLoop:
        """From now on somebody looks at what comes, in this thread."""
        if self._loop is None:
            self._thread, self._loop = get_ident(), asyncio.get_running_loop()
        return self._loop

    def _wake(self) -> None:
        loop = self._loop
        if loop is None:
            return  # nobody waits yet, and whoever will looks first whether something is there
        if get_ident() == self._thread:
            self.wake()
            return
        with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
            loop.call_soon_threadsafe(self.wake)

    def wake(self) -> None:
        """Something has happened that whoever waits should look at."""
        outbox = self._outbox
        if outbox is not None and not outbox.ended:
            answer = self.answer  # looked at first: what is told before it is there by then
            while self.notices:
                outbox.put(self.notices.popleft())
            if answer is not None:
                outbox.put(answer)
                outbox.end()
        elif self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def wait(self, seconds: float) -> bool:
        """Wait until there is something to send, or to look at; False when nothing came in time."""
        if self.answer is not None or self.notices:
            return True
        await in_task()
        self._waiter = self._look().create_future()
        if self.answer is not None or self.notices:  # it came from another thread just now
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._waiter
        except TimeoutError:
            return False
        finally:
            self._waiter = None
        return True
