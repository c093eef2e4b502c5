"""The link to a WebSocket: messages are handled as their bytes arrive, without a task in between."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidStatus, InvalidURI
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN, State
from websockets.uri import parse_uri

from polymnia.client.link import Lost, Owner, Target, lost_by
from polymnia.client.messages import refusal

__all__ = ["WebSocketLink"]

_QUIET = 20.0  # seconds without a byte after which the server is pinged, and as many more until it is given up
_CLOSING = 1.0
_TOO_LARGE = 1009


class WebSocketLink(asyncio.Protocol):
    """One WebSocket."""

    def __init__(self, target: Target, owner: Owner) -> None:
        self._target = target
        self._owner = owner
        try:
            self._uri = parse_uri(target.endpoint)
        except InvalidURI as e:
            raise Lost(f"it is not the address of a WebSocket: {e.msg}", final=True) from e
        self._protocol = ClientProtocol(self._uri, max_size=None)
        self._transport: asyncio.Transport | None = None
        self._loop = asyncio.get_running_loop()
        self._opened: asyncio.Future[None] = self._loop.create_future()
        self._gone: asyncio.Future[None] = self._loop.create_future()
        self._parts: list[bytes] = []
        self._heard = False
        self._watch: asyncio.TimerHandle | None = None

    async def open(self) -> None:
        """Connect and upgrade."""
        tls = (self._target.ssl or ssl.create_default_context()) if self._uri.secure else None
        try:
            await self._loop.create_connection(lambda: self, self._uri.host, self._uri.port, ssl=tls)
            await self._opened
        except OSError as e:
            raise lost_by(e) from e
        except UnicodeError as e:
            raise Lost(f"it names no possible host: {e}", final=True) from e
        except BaseException:
            self._abort()
            raise
        self._watch = self._loop.call_later(_QUIET, self._look, False)

    def send(self, id: int, data: bytes) -> None:
        """Send a request."""
        if self._protocol.state is not OPEN:
            raise Lost("the WebSocket is closed")
        self._protocol.send_text(data)
        self._flush()

    def notify(self, data: bytes) -> None:
        """Send what has no answer."""
        if self._protocol.state is OPEN:
            self._protocol.send_text(data)
            self._flush()

    def forget(self, id: int) -> None:
        """Answers to requests that are forgotten are dropped where they are received."""

    def agreed(self, version: str) -> None:
        """Nothing of a WebSocket depends on the version."""

    def listen(self) -> None:
        """Notifications come without asking."""

    async def close(self) -> None:
        """Say goodbye, and hang up soon in any case."""
        if self._protocol.state is OPEN:
            self._protocol.send_close(1000)
            self._flush()
            await asyncio.wait([self._gone], timeout=_CLOSING)
        if self._transport is not None and not self._gone.done():
            self._abort()
            await asyncio.wait([self._gone], timeout=_CLOSING)

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the upgrade."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        try:
            asked = self._protocol.connect()
            for name, value in self._target.headers.items():
                asked.headers[name] = value
            self._protocol.send_request(asked)
            self._flush()
        except Exception as e:  # whoever waits for the connection hears of it
            self._opened.set_exception(e)
            self._abort()

    def data_received(self, data: bytes) -> None:
        """Handle what has come."""
        self._heard = True
        self._take(lambda: self._protocol.receive_data(data))

    def eof_received(self) -> None:
        """The server has ended the connection."""
        self._take(self._protocol.receive_eof)

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is gone."""
        if self._watch is not None:
            self._watch.cancel()
        if not self._gone.done():
            self._gone.set_result(None)
        said = self._protocol.close_rcvd
        if said is None and error is not None:
            lost = lost_by(error)
        else:
            why = (said.reason if said else None) or self._protocol.parser_exc or "the server closed the connection"
            lost = Lost(str(why), too_large=said is not None and said.code == _TOO_LARGE)
        if self._opened.done():
            lost.final = False  # it worked until now
            self._owner.lost(self, lost)
        else:
            self._opened.set_exception(lost)

    def _take(self, feed: Callable[[], None]) -> None:
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
            return  # pings are answered by the protocol itself
        if frame.fin and not self._parts:
            self._owner.receive(bytes(frame.data))
            return
        self._parts.append(bytes(frame.data))
        if frame.fin:
            whole, self._parts = b"".join(self._parts), []
            self._owner.receive(whole)

    def _flush(self) -> None:
        assert self._transport is not None
        for data in self._protocol.data_to_send():
            if data:
                self._transport.write(data)
            elif self._transport.can_write_eof():
                self._transport.write_eof()
        if self._protocol.state is State.CLOSED or self._protocol.close_expected():
            self._transport.close()

    def _look(self, asked: bool) -> None:
        """Ask a silent server whether it is there; hang up where it did not answer the last time."""
        if asked and not self._heard:
            self._abort()
            return
        silent, self._heard = not self._heard, False
        if silent and self._protocol.state is OPEN:
            self._protocol.send_ping(b"")
            self._flush()
        self._watch = self._loop.call_later(_QUIET, self._look, silent)

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


def _refused(error: Exception) -> Exception:
    """Why the server did not open the WebSocket."""
    if isinstance(error, InvalidStatus):
        answer, headers = error.response, error.response.headers
        return refusal(
            bytes(answer.body or b""), answer.status_code, headers.get("Retry-After"), headers.get("Location")
        )
    if isinstance(error.__cause__, EOFError):
        return Lost("the server closed the connection before it answered")
    return Lost(f"what answers there is not a WebSocket: {error.__cause__ or error}", final=True)
