"""Upgrade: a connection that becomes a WebSocket, and what its client may do there."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import Frame
from websockets.http11 import Request
from websockets.server import ServerProtocol

from polymnia.transports.web.house import House
from polymnia.transports.web.taking import Taking

__all__ = ["PunctualSocket", "is_handshake"]

_SLOW = 1008
_FULL = 1013


def is_handshake(method: bytes, url: bytes, headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a request to become a WebSocket is as it should be. What is not stays a request, and is answered so."""
    lines = [b"%b %b HTTP/1.1" % (method, url), *map(b": ".join, headers), b"\r\n"]
    tried = ServerProtocol()
    tried.receive_data(b"\r\n".join(lines))
    asked = next(iter(tried.events_received()), None)
    return isinstance(asked, Request) and tried.accept(asked).status_code == 101


class PunctualSocket(Taking, WebSocketsSansIOProtocol):
    """A WebSocket whose client must take what it is sent, answer pings, and end what it began to say.

    Messages that are not whole count, like those of HTTP, for what the house holds of all clients.
    """

    frames: list[Any]
    _begun = 0.0  # when the message that is not whole began
    _held = 0  # bytes of it that are here
    _late: asyncio.TimerHandle | None = None

    def data_received(self, data: bytes) -> None:
        """Take what came, and see how much of it is no message yet."""
        super().data_received(data)
        held = len(self.conn.reader.buffer) + sum(map(len, self.frames))
        if held or self._held:
            self._hold(0 if self.close_sent else held)

    def handle_cont(self, event: Frame) -> None:
        """The next piece of a message. There may be millions of them, so they are joined as they come."""
        if self.frames:
            if not isinstance(self.frames[0], bytearray):
                self.frames[0] = bytearray(self.frames[0])
            self.frames[0] += event.data
            event.data = b""
        super().handle_cont(event)
        del self.frames[1:]

    def send_receive_event_to_app(self) -> None:
        """A message is whole; what follows it has its own time."""
        self._begun = self.loop.time()
        super().send_receive_event_to_app()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have left. What they sent is let go at once; what held it may wait long for the collector."""
        self._hold(0)
        self._forget()
        self.conn.parser.close()  # which has the last frame
        if self._late is not None:
            self._late.cancel()
        super().connection_lost(exc)

    def keepalive_timeout(self) -> None:
        """No answer to a ping came, or none was read, as the client is far ahead of what is done for it."""
        if self.read_paused:
            self.pong_timer = self.loop.call_later(self.ping_timeout or 0, self.keepalive_timeout)
            return
        super().keepalive_timeout()
        self.transport.abort()

    @property
    def _house(self) -> House:
        house: House = self.config.app.house  # type: ignore[union-attr]
        return house

    def _hold(self, held: int) -> None:
        """So many bytes are no message yet."""
        house, grows = self._house, held > self._held
        if not self._held:
            self._begun = self.loop.time()
        house.hold(held - self._held)
        self._held = held
        if grows and house.is_full:
            self._fail(_FULL, "Too much is being sent at once; try again later")
        elif held and self._late is None:
            self._late = self.loop.call_later(house.patience, self._look)

    def _look(self) -> None:
        """Look whether a message has taken too long; for one that we do not read its sender can do nothing."""
        self._late = None
        if not self._held:
            return
        if self.read_paused:
            self._begun = self.loop.time()
        left = self._house.patience - (self.loop.time() - self._begun)
        if left <= 0:
            self._fail(_SLOW, "The message came too slowly")
        else:
            self._late = self.loop.call_later(left, self._look)

    def _fail(self, code: int, reason: str) -> None:
        """Close, and tell why."""
        self._hold(0)
        self.conn.fail(code, reason)
        self._forget()
        if self.conn.close_sent is None:
            self.transport.abort()
        else:
            self.handle_parser_exception()

    def _forget(self) -> None:
        self.frames = []
        self.conn.reader.buffer.clear()
