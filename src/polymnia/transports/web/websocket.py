"""WebSocket: a message a frame, both ways, for as long as the client stays."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress

from polymnia.transports.requests import Call
from polymnia.transports.rpc import Connection, Server
from polymnia.transports.web.asgi import Receive, Scope, SendEvent
from polymnia.transports.web.house import House
from polymnia.transports.web.workers import Order

__all__ = ["Socket"]

_PROTOCOL = "mcp"
_BEHIND = 16 * 1024 * 1024  # bytes that may wait for a client that does not read


class Socket:
    """One dialect at one address."""

    def __init__(self, house: House, server: Server) -> None:
        self._house = house
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: SendEvent) -> None:
        """Serve one client until it leaves."""
        await receive()  # that it wants to connect
        offered = _PROTOCOL if _PROTOCOL in scope.get("subprotocols", ()) else None
        name = self._house.name("socket")
        await send({"type": "websocket.accept", "subprotocol": offered, "headers": self._house.standing(name)})
        client = _Client(self._house, asyncio.get_running_loop())
        visitor = scope["state"]["visitor"]
        connection = visitor.connection(self._server, client)
        self._house.admit(connection, name, visitor)
        reading = asyncio.ensure_future(self._read(connection, client.order, receive))
        writing = asyncio.ensure_future(client.write(send))
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            ended = reading if reading.done() else writing
            if (why := ended.result()) is not None:
                code, reason = why
                await send({"type": "websocket.close", "code": code, "reason": reason})
        finally:
            reading.cancel()
            writing.cancel()
            connection.withdraw()
            connection.close()

    async def _read(self, connection: Connection, order: Order, receive: Receive) -> tuple[int, str] | None:
        """Take messages until the client leaves; answers why it must, where it must.

        Of one that is far ahead of what is done for it nothing is read until that is done.
        """
        while True:
            await order.room()
            event = await receive()
            if event["type"] == "websocket.disconnect":
                return None
            text = event.get("text")
            data = text.encode("utf-8", "surrogatepass") if text is not None else event.get("bytes") or b""
            if len(data) > self._house.limits.body_bytes:
                return 1009, "The message is too large"
            order.size = len(data)
            connection.receive(data.strip())
            order.size = 0


class _Client:
    """The link to one client: what it is told waits in a queue for the socket."""

    def __init__(self, house: House, loop: asyncio.AbstractEventLoop) -> None:
        self._house = house
        self._loop = loop
        self.order = Order(house.workers)
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._woken = asyncio.Event()

    def send(self, data: bytes) -> None:
        """Give one message to the client."""
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self._put, data)

    def run(self, call: Call) -> None:
        """Run a call in the order of this client."""
        self.order.submit(call)

    def log(self, level: str, text: str) -> None:
        """Tell the operator."""
        self._house.log(level, text)

    def _put(self, data: bytes) -> None:
        if self._bytes <= _BEHIND:  # beyond that the client is on its way out
            self._queue.append(data)
        self._bytes += len(data)
        self._woken.set()

    async def write(self, send: SendEvent) -> tuple[int, str] | None:
        """Send what waits, as it comes; ends when the client has left, or is too far behind."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._queue:
                data = self._queue.popleft()
                try:
                    await send({"type": "websocket.send", "text": data.decode("utf-8", "replace")})
                except OSError:
                    return None
                self._bytes -= len(data)
                if self._bytes > _BEHIND:
                    return 1008, "Answers are not read"
