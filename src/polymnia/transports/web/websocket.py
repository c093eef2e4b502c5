"""WebSocket: one message per frame in both directions, and the limits of a client."""

from __future__ import annotations

import asyncio
from collections import deque
from contextlib import suppress
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame

from polymnia.transports.errors import RpcError
from polymnia.transports.rpc import Connection, Request
from polymnia.transports.scheduler import CallQueue
from polymnia.transports.web.connection import ActiveRequest, WriteTimeout
from polymnia.transports.web.state import BODY_SECONDS, DialectEndpoint, ServerState

_PROTOCOL = "mcp"
_MOST_WAITING = 16 * 1024 * 1024  # bytes that may be pending for a client that does not read
_TOO_SLOW = 1008
_OVERLOADED = 1013


class WebSocketEndpoint(DialectEndpoint):
    """WebSocket."""

    async def __call__(self, active: ActiveRequest) -> None:
        """Serve one client until it disconnects."""
        assert active.principal is not None
        await active.receive()  # the connect event
        offered = _PROTOCOL if _PROTOCOL in active.scope.get("subprotocols", ()) else None
        name = self._state.socket_name()
        headers = self._state.rates.headers(name)
        await active.send({"type": "websocket.accept", "subprotocol": offered, "headers": headers})
        link = _Link(self._state)
        connection = active.principal.connection(self._server, link)
        self._state.limit(connection, name, active.principal)
        reading = asyncio.ensure_future(self._read(connection, link.calls, active))
        writing = asyncio.ensure_future(link.write(active))
        try:
            await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            ended = reading if reading.done() else writing
            if (why := ended.result()) is not None:
                code, reason = why
                await active.send({"type": "websocket.close", "code": code, "reason": reason})
        finally:
            reading.cancel()
            writing.cancel()
            connection.cancel_all()
            connection.close()

    async def _read(self, connection: Connection, calls: CallQueue, active: ActiveRequest) -> tuple[int, str] | None:
        """Receive messages until the client disconnects; returns a close code and reason if we end it.

        A client with too many calls under way is not read until they are done.
        """
        while True:
            await calls.room()
            event = await active.receive()
            if event["type"] == "websocket.disconnect":
                return None
            text = event.get("text")
            data = text.encode("utf-8", "surrogatepass") if text is not None else event.get("bytes") or b""
            if len(data) > self._state.limits.body_bytes:
                return 1009, "The message is too large"
            calls.size = len(data)
            connection.receive(data.strip(), trace=active.id)
            calls.size = 0


class _Link:
    """The link to one client: a queue of messages for the socket."""

    def __init__(self, state: ServerState) -> None:
        self.log = state.log
        self.calls = CallQueue(state.scheduler)
        self._loop = asyncio.get_running_loop()
        self._queue: deque[bytes] = deque()
        self._bytes = 0
        self._woken = asyncio.Event()

    def send(self, data: bytes, error: RpcError | None = None) -> None:
        """Send one message to the client."""
        with suppress(RuntimeError):  # the event loop has stopped
            self._loop.call_soon_threadsafe(self._put, data)

    def run(self, request: Request) -> None:
        """Run a request in the order of this client."""
        self.calls.submit(request)

    def _put(self, data: bytes) -> None:
        if self._bytes <= _MOST_WAITING:  # beyond that the client is being disconnected
            self._queue.append(data)
        self._bytes += len(data)
        self._woken.set()

    async def write(self, active: ActiveRequest) -> tuple[int, str] | None:
        """Send the queue as it fills; ends when the client has disconnected or is too far behind."""
        while True:
            await self._woken.wait()
            self._woken.clear()
            while self._queue:
                data = self._queue.popleft()
                try:
                    await active.send({"type": "websocket.send", "text": data.decode("utf-8", "replace")})
                except OSError:
                    return None
                self._bytes -= len(data)
                if self._bytes > _MOST_WAITING:
                    return 1008, "Answers are not read"


class WebSocketConnection(WriteTimeout, WebSocketsSansIOProtocol):
    """A WebSocket whose client must read its messages, answer pings, and complete the messages it starts.

    Incomplete messages count, like those of HTTP, towards the memory limit of the server.
    """

    frames: list[Any]
    _begun = 0.0  # when the incomplete message began
    _held = 0  # bytes of it so far
    _late: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Parse the data, and count the bytes of an incomplete message."""
        super().data_received(data)
        held = len(self.conn.reader.buffer) + sum(map(len, self.frames))
        if held or self._held:
            self._hold(0 if self.close_sent else held)

    def handle_cont(self, event: Frame) -> None:
        """A continuation frame. There may be millions of them, so they are joined as they come."""
        if self.frames:
            if not isinstance(self.frames[0], bytearray):
                self.frames[0] = bytearray(self.frames[0])
            self.frames[0] += event.data
            event.data = b""
        super().handle_cont(event)
        del self.frames[1:]

    def send_receive_event_to_app(self) -> None:
        """A message is complete; the next one has its own time limit."""
        self._begun = self.loop.time()
        super().send_receive_event_to_app()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has disconnected. Its data is freed at once: the garbage collector might take long."""
        self._hold(0)
        self._drop_data()
        self.conn.parser.close()  # which holds the last frame
        self._cancel("_late")
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        """No pong arrived, or it was not read because reading is paused."""
        if self.read_paused:
            self.pong_timer = self.loop.call_later(self.ping_timeout or 0, self.keepalive_timeout)
            return
        super().keepalive_timeout()
        self.transport.abort()

    @property
    def _state(self) -> ServerState:
        state: ServerState = self.config.app.state  # type: ignore[union-attr]
        return state

    def _hold(self, held: int) -> None:
        """Record the bytes of an incomplete message."""
        state, grows = self._state, held > self._held
        if not self._held:
            self._begun = self.loop.time()
        state.hold(held - self._held)
        self._held = held
        if grows and state.is_full:
            self._fail(_OVERLOADED, "Too much is being sent at once; try again later")
        elif held and self._late is None:
            self._late = self.loop.call_later(BODY_SECONDS, self._check_late)

    def _check_late(self) -> None:
        """Close if a message takes too long, unless we have paused reading ourselves."""
        self._late = None
        if not self._held:
            return
        if self.read_paused:
            self._begun = self.loop.time()
        left = BODY_SECONDS - (self.loop.time() - self._begun)
        if left <= 0:
            self._fail(_TOO_SLOW, "The message came too slowly")
        else:
            self._late = self.loop.call_later(left, self._check_late)

    def _fail(self, code: int, reason: str) -> None:
        """Close, with a reason."""
        self._hold(0)
        self.conn.fail(code, reason)
        self._drop_data()
        if self.conn.close_sent is None:
            self.transport.abort()
        else:
            self.handle_parser_exception()

    def _drop_data(self) -> None:
        self.frames = []
        self.conn.reader.buffer.clear()
