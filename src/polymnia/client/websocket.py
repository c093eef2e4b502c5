"""The WebSocket link: messages are handled as their bytes arrive, without a task in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, InvalidURI
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, State
from websockets.uri import parse_uri

from polymnia.client.link import Link, Lost, Target, connection_error
from polymnia.client.messages import refusal

if TYPE_CHECKING:
    from polymnia.client.asynchronous import AsyncMCPMemoryClient

__all__ = ["WebSocketLink"]

_PING_INTERVAL = 20.0  # seconds of silence before the server is pinged, and again before the connection is dropped
_CLOSE_TIMEOUT = 1.0
_TOO_LARGE = 1009


class WebSocketLink(Link, asyncio.Protocol):
    """One WebSocket connection."""

    def __init__(self, target: Target, client: AsyncMCPMemoryClient) -> None:
        super().__init__(target, client)
        try:
            self._uri = parse_uri(target.endpoint)
        except InvalidURI as e:
            raise Lost(f"it is not the address of a WebSocket: {e.msg}", final=True) from e
        self._protocol = ClientProtocol(self._uri, max_size=None)
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._closed: asyncio.Future[None] = self._loop.create_future()
        self._parts: list[bytes] = []
        self._received = False
        self._watch: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Connect and upgrade."""
        tls = self._target.tls(self._uri.secure)
        try:
            await self._loop.create_connection(lambda: self, self._uri.host, self._uri.port, ssl=tls)
            await self._opened
        except (OSError, UnicodeError) as e:
            raise connection_error(e) from e
        except BaseException:
            self._abort()
            raise
        self._watch = self._loop.call_later(_PING_INTERVAL, self._check_alive, False)

    def write(self, data: bytes) -> None:
        """Write a message."""
        if self._protocol.state is not OPEN:
            raise Lost("the WebSocket is closed")
        self._protocol.send_text(data)
        self._flush()

    async def close(self) -> None:
        """Send a close frame, and abort if the server does not answer soon."""
        if self._protocol.state is OPEN:
            self._protocol.send_close(1000)
            self._flush()
            await asyncio.wait([self._closed], timeout=_CLOSE_TIMEOUT)
        if self._transport is not None and not self._closed.done():
            self._abort()
            await asyncio.wait([self._closed], timeout=_CLOSE_TIMEOUT)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Request the upgrade."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        try:
            request = self._protocol.connect()
            for name, value in self._target.headers.items():
                request.headers[name] = value
            self._protocol.send_request(request)
            self._flush()
        except Exception as e:  # reported to the caller waiting for the connection
            self._opened.set_exception(e)
            self._abort()

    def data_received(self, data: bytes) -> None:
        """Feed the received bytes to the protocol."""
        self._received = True
        self._feed(lambda: self._protocol.receive_data(data))

    def eof_received(self) -> None:
        """Handle the end of the server's stream."""
        self._feed(self._protocol.receive_eof)

    def connection_lost(self, error: Exception | None) -> None:
        """Report why the connection was lost."""
        if self._watch is not None:
            self._watch.cancel()
        if not self._closed.done():
            self._closed.set_result(None)
        closed = self._protocol.close_rcvd
        if closed is None and error is not None:
            lost = connection_error(error)
        else:
            why = (closed and closed.reason) or self._protocol.parser_exc or "the server closed the connection"
            lost = Lost(str(why), too_large=closed is not None and closed.code == _TOO_LARGE)
        if self._opened.done():
            lost.final = False  # it has worked before, so retrying may help
            self._client.lost(self, lost)
        else:
            self._opened.set_exception(lost)

    def _feed(self, feed: Callable[[], None]) -> None:
        feed()
        for event in self._protocol.events_received():
            if isinstance(event, Frame):
                self._frame(event)
        self._flush()
        if self._opened.done():
            return
        if (refused := self._protocol.handshake_exc) is not None:
            self._opened.set_exception(_refused(refused))
            self._abort()
        elif self._protocol.state is OPEN:
            self._opened.set_result(None)

    def _frame(self, frame: Frame) -> None:
        if frame.opcode not in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            return  # the protocol itself answers pings
        self._parts.append(bytes(frame.data))
        if frame.fin:
            whole, self._parts = b"".join(self._parts), []
            self._client.receive(whole)

    def _flush(self) -> None:
        assert self._transport is not None
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            elif self._transport.can_write_eof():
                self._transport.write_eof()
        if self._protocol.state is State.CLOSED or self._protocol.close_expected():
            self._transport.close()

    def _check_alive(self, pinged: bool) -> None:
        """Ping a silent server; abort if it did not answer the last ping."""
        if pinged and not self._received:
            self._abort()
            return
        silent, self._received = not self._received, False
        if silent and self._protocol.state is OPEN:
            self._protocol.send_ping(b"")
            self._flush()
        self._watch = self._loop.call_later(_PING_INTERVAL, self._check_alive, silent)

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


def _refused(error: Exception) -> Exception:
    """The exception for a failed WebSocket handshake."""
    if isinstance(error, InvalidStatus):
        answer, headers = error.response, error.response.headers
        return refusal(
            bytes(answer.body or b""), answer.status_code, headers.get("Retry-After"), headers.get("Location")
        )
    if isinstance(error.__cause__, EOFError):
        return Lost("the server closed the connection before it answered")
    return Lost(f"what answers there is not a WebSocket: {error.__cause__ or error}", final=True)
