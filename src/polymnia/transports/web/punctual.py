"""A connection: who is slow to say what they want, says too much, or does not take what they are sent, is dropped."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from msgspec.json import encode
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from polymnia.transports.web.house import House
from polymnia.transports.web.joining import Joined

__all__ = ["IDLE_SECONDS", "Punctual", "PunctualSocket"]

IDLE_SECONDS = 75  # that a connection may stay between two requests
_HEAD_SECONDS = 10.0  # in which a request must say what it wants
_HEAD_BYTES = 64 * 1024
_REST_SECONDS = 10.0  # for the rest of a message whose answer has been given already
_UNREAD_SECONDS = 60.0  # in which a client must have taken some of what waits for it


class _Taking:
    """Watches whether a client takes what it is sent, from when it waits until it waits no more."""

    def __init__(self, loop: asyncio.AbstractEventLoop, transport: asyncio.Transport) -> None:
        self._loop = loop
        self._transport = transport
        self._left = 0
        self._look: asyncio.TimerHandle | None = None

    def begin(self) -> None:
        """More waits for it than it takes at once."""
        self.end()
        self._left = self._transport.get_write_buffer_size()
        self._look = self._loop.call_later(_UNREAD_SECONDS, self._looked)

    def end(self) -> None:
        """It took it, or is gone."""
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _looked(self) -> None:
        if self._transport.get_write_buffer_size() >= self._left:
            self._transport.abort()
        else:
            self.begin()


class Punctual(HttpToolsProtocol):
    """A connection whose requests must say what they want in time and in few words."""

    _taking: _Taking | None = None
    _late: asyncio.TimerHandle | None = None
    _rest: asyncio.TimerHandle | None = None
    _whole = True  # the message at hand has come to its end
    _read = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come; that alone must not last."""
        super().connection_made(Joined(transport, self.loop))  # type: ignore[arg-type]
        if len(self.connections) > self._house.limits.connections:
            self._refuse(503, "There are too many connections")
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have left."""
        self._arrived()
        self._rested()
        if self._taking is not None:
            self._taking.end()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """They do not take what they are sent."""
        super().pause_writing()
        self._taking = self._taking or _Taking(self.loop, self.transport)
        self._taking.begin()

    def resume_writing(self) -> None:
        """They do again."""
        super().resume_writing()
        if self._taking is not None:
            self._taking.end()

    def data_received(self, data: bytes) -> None:
        """Take what came, unless it is a head without end."""
        if self.transport.is_closing():
            return
        if self._late is not None:
            self._read += len(data)
            if self._read > _HEAD_BYTES and data.find(b"\r\n\r\n", 0, _HEAD_BYTES) < 0:
                self._refuse(431, f"The head of a request may have {_HEAD_BYTES:,} bytes")
                return
        super().data_received(data)

    def send_400_response(self, msg: str) -> None:
        """What came is no request."""
        self._refuse(400, "This is no HTTP request")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._whole = False
        if self._late is None:
            self._wait()

    def on_headers_complete(self) -> None:
        """It has said what it wants."""
        self._arrived()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """It has said everything."""
        self._whole = True
        self._rested()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """It was answered. Whoever goes on sending has little time for it, and reads the answer meanwhile."""
        super().on_response_complete()
        if not self._whole and not self.pipeline and not self.transport.is_closing() and self._rest is None:
            self._rest = self.loop.call_later(_REST_SECONDS, self._drop)

    def timeout_keep_alive_handler(self) -> None:
        """Nothing came for long."""
        self._drop()

    @property
    def _house(self) -> House:
        house: House = self.config.app.house  # type: ignore[union-attr]
        return house

    def _wait(self) -> None:
        self._read = 0
        self._late = self.loop.call_later(_HEAD_SECONDS, self._drop)

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _rested(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _drop(self) -> None:
        self._arrived()
        _close(self.transport)

    def _refuse(self, status: int, message: str) -> None:
        """Answer what never becomes a request, and close."""
        self._arrived()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()  # an answer to an earlier request is under way, and there is room for no other
            return
        body = encode({"error": message})
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *([(b"retry-after", b"5")] if status == 503 else []),
            *self._house.standing(""),
        ]
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode(), *(b": ".join(one) for one in headers)]
        self._house.log.event("notice", "refused", status=status, address=(self.client or ("",))[0])
        self.transport.write(b"\r\n".join([*lines, b"", body]))
        self.transport.close()


class PunctualSocket(WebSocketsSansIOProtocol):
    """A WebSocket whose client must take what it is sent and answer pings, or be gone at once."""

    _taking: _Taking | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """They have left."""
        if self._taking is not None:
            self._taking.end()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """They do not take what they are sent."""
        super().pause_writing()
        self._taking = self._taking or _Taking(self.loop, self.transport)
        self._taking.begin()

    def resume_writing(self) -> None:
        """They do again."""
        super().resume_writing()
        if self._taking is not None:
            self._taking.end()

    def keepalive_timeout(self) -> None:
        """No answer came."""
        super().keepalive_timeout()
        self.transport.abort()


def _close(transport: Any) -> None:
    """Close, without waiting for somebody who does not read."""
    if transport.get_write_buffer_size():
        transport.abort()
    elif not transport.is_closing():
        transport.close()
