"""The Streamable HTTP link: one request per message, answered as JSON or as a resumable stream."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from httptools import HttpParserError, HttpResponseParser

from polymnia.client.errors import MCPMemoryError
from polymnia.client.link import Link, Lost, Target, connection_error, no_endpoint
from polymnia.client.messages import refusal

if TYPE_CHECKING:
    from polymnia.client.asynchronous import AsyncMCPMemoryClient

__all__ = ["HttpLink"]

_CLOSE_TIMEOUT = 1.0
_REOPEN_PAUSE = 0.2  # seconds before a stream that ended is reopened
_RESUMES = 5  # attempts to resume a response before the request is resent
_ACCEPT = "application/json, text/event-stream"


class _Response:
    """The response to one request."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[bytes, bytes] = {}
        self.body = bytearray()
        self.last = ""  # the id of the last event of a stream

    def header(self, name: bytes) -> str | None:
        found = self.headers.get(name)
        return None if found is None else found.decode("latin-1")

    @property
    def streams(self) -> bool:
        return self.headers.get(b"content-type", b"").startswith(b"text/event-stream")


class _Wire(asyncio.Protocol):
    """One connection, for one request at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self.open = False
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.response = _Response()
        self._done: asyncio.Future[_Response] | None = None
        self._event: Callable[[bytes], None] = _ignore
        self._parser = HttpResponseParser(self)
        self._rest = b""
        self._answered = False  # whether it ever received a response

    async def ask(self, data: bytes, event: Callable[[bytes], None]) -> _Response:
        """Send a request. ``event`` is called with each message of a stream as it arrives."""
        if self.transport is None or not self.open:
            raise Lost("the connection is closed")
        self.response, self._event, self._rest = _Response(), event, b""
        self._done = asyncio.get_running_loop().create_future()
        self.transport.write(data)
        try:
            return await self._done
        except asyncio.CancelledError:
            self.transport.abort()
            raise
        finally:
            self._done = None

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.open = transport, True

    def data_received(self, data: bytes) -> None:
        try:
            self._parser.feed_data(data)
        except HttpParserError as e:
            self._fail(Lost(f"what answers there is not HTTP: {e}", final=not self._answered))
            if self.transport is not None:
                self.transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self.open = False
        self.closed.set_result(None)
        lost = Lost("the server closed the connection") if error is None else connection_error(error)
        lost.final &= not self._answered
        self._fail(lost)

    def _fail(self, error: Exception) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)

    # httptools

    def on_header(self, name: bytes, value: bytes) -> None:
        self.response.headers[name.lower()] = value

    def on_headers_complete(self) -> None:
        self.response.status = self._parser.get_status_code()
        self._answered = True

    def on_body(self, body: bytes) -> None:
        if self.response.streams:
            self._events(body)
        else:
            self.response.body += body

    def on_message_complete(self) -> None:
        if not self._parser.should_keep_alive() and self.transport is not None:
            self.open = False
            self.transport.close()
        if self._done is not None and not self._done.done():
            self._done.set_result(self.response)

    def _events(self, data: bytes) -> None:
        *whole, self._rest = (self._rest + data).replace(b"\r\n", b"\n").split(b"\n\n")
        for event in whole:
            message = []
            for line in event.split(b"\n"):
                name, _, value = line.partition(b":")
                value = value.removeprefix(b" ")
                if name == b"data" and value:
                    message.append(value)
                elif name == b"id":
                    self.response.last = value.decode("latin-1")
            if message:
                self._event(b"\n".join(message))


def _ignore(data: bytes) -> None:
    pass


class HttpLink(Link):
    """One HTTP session."""

    def __init__(self, target: Target, client: AsyncMCPMemoryClient) -> None:
        super().__init__(target, client)
        parts = urlsplit(target.endpoint)
        self._host, secure = parts.hostname or "", parts.scheme == "https"
        self._port = parts.port or (443 if secure else 80)
        self._ssl = target.tls(secure)
        path = (parts.path or "/mcp") + (f"?{parts.query}" if parts.query else "")
        self._path = quote(path, safe="%/?=&:@!$'()*+,;~")
        host = parts.netloc.rpartition("@")[2]
        self._head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": host, **target.headers}.items())
        self._session: str | None = None
        self._version = ""
        self._idle: list[_Wire] = []
        self._wires: set[_Wire] = set()
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._others: set[asyncio.Task[None]] = set()
        self._listening = False
        self._closed = False

    def send(self, id: int, data: bytes) -> None:
        """Send a request."""
        if self._closed:
            raise Lost("the session has ended")
        self._tasks[id] = task = asyncio.create_task(self._post(id, data))
        task.add_done_callback(lambda done: self._tasks.pop(id, None) if self._tasks.get(id) is done else None)

    def notify(self, data: bytes) -> None:
        """Send a notification or a response."""
        self._start(self._post_notification(data))

    def forget(self, id: int) -> None:
        """Abort a request."""
        if (task := self._tasks.pop(id, None)) is not None:
            task.cancel()

    def agreed(self, version: str) -> None:
        """Send the protocol version with every message from now on."""
        self._version = version

    def listen(self) -> None:
        """Open the notification stream."""
        if not self._listening and self._session is not None:
            self._listening = True
            self._start(self._listen())

    async def close(self) -> None:
        """End the session."""
        self._closed = True
        tasks = [*self._tasks.values(), *self._others]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._session is not None:
            with suppress(Lost, MCPMemoryError, TimeoutError):
                async with asyncio.timeout(_CLOSE_TIMEOUT):
                    await self._ask("DELETE")
        left = [wire for wire in self._wires if not wire.closed.done()]
        for wire in left:
            if wire.transport is not None:
                wire.transport.abort()
        if left:
            await asyncio.wait([wire.closed for wire in left], timeout=_CLOSE_TIMEOUT)

    # Requests

    async def _post(self, id: int, data: bytes) -> None:
        try:
            response = await self._ask("POST", data, self._client.receive, waits=lambda: self._client.waits(id))
            if not 200 <= response.status < 300:
                raise self._refused(response)
            if not response.streams:
                self._client.receive(bytes(response.body))
                if self._client.waits(id):
                    raise no_endpoint(f"which answers with {response.header(b'content-type') or 'nothing'}")
        except Exception as e:  # reported to the caller waiting for the response
            self._client.fail(id, e)
        else:
            self._client.fail(id, Lost("the answer ended before it was whole"))

    async def _post_notification(self, data: bytes) -> None:
        with suppress(Lost, MCPMemoryError):
            await self._ask("POST", data)

    async def _listen(self) -> None:
        """Read the notification stream, and resume it whenever it ends."""
        last = ""
        while not self._closed:
            try:
                response = await self._ask("GET", on_event=self._client.receive, last=last)
                if response.status == 404:
                    self._end(Lost("the session has ended"))
                    return
                if response.status == 405:
                    return  # this server has no such stream
                if response.status == 400:
                    last = ""
                last = response.last or last
            except Lost as e:
                last = e.last_event or last
            await asyncio.sleep(_REOPEN_PAUSE)

    async def _ask(
        self,
        method: str,
        body: bytes = b"",
        on_event: Callable[[bytes], None] = _ignore,
        *,
        last: str = "",
        waits: Callable[[], bool] | None = None,
    ) -> _Response:
        """Send one request. While ``waits`` returns true, a stream that ends or breaks is resumed."""
        resumed = False
        for _ in range(_RESUMES):
            wire = await self._wire()
            broken: Lost | None = None
            try:
                response = await wire.ask(self._request(method, body, last), on_event)
            except Lost as e:
                broken, response = e, wire.response
            if broken is None:
                if wire.open:
                    self._idle.append(wire)
                if (session := response.header(b"mcp-session-id")) is not None:
                    self._session = session
                if resumed and response.status >= 400:
                    raise Lost("the stream cannot be taken up again")
            last = response.last or last
            if waits is None or not response.streams or not response.last or not waits():
                if broken is not None:
                    broken.last_event = last
                    raise broken
                return response
            method, body, resumed = "GET", b"", True
            await asyncio.sleep(_REOPEN_PAUSE)
        raise Lost("the stream broke too often")

    async def _wire(self) -> _Wire:
        while self._idle:
            if (wire := self._idle.pop()).open:
                return wire
        try:
            _, wire = await asyncio.get_running_loop().create_connection(_Wire, self._host, self._port, ssl=self._ssl)
        except (OSError, UnicodeError) as e:
            raise connection_error(e) from e
        self._wires.add(wire)
        wire.closed.add_done_callback(lambda _: self._wires.discard(wire))
        return wire

    def _request(self, method: str, body: bytes, last: str) -> bytes:
        head = f"{method} {self._path} HTTP/1.1\r\n{self._head}Accept: "
        head += "text/event-stream" if method == "GET" else _ACCEPT
        if self._session is not None:
            head += f"\r\nMcp-Session-Id: {self._session}"
        if self._version:
            head += f"\r\nMCP-Protocol-Version: {self._version}"
        if last:
            head += f"\r\nLast-Event-ID: {last}"
        if method == "POST":
            head += f"\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
        return head.encode("latin-1") + b"\r\n\r\n" + body

    def _refused(self, reply: _Response) -> Exception:
        if self._session is not None and reply.status == 404:
            self._end(Lost("the session has ended"))
            return Lost("the session has ended")
        return refusal(bytes(reply.body), reply.status, reply.header(b"retry-after"), reply.header(b"location"))

    def _end(self, error: Lost) -> None:
        self._closed, self._session = True, None
        self._client.lost(self, error)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._others.add(task)
        task.add_done_callback(self._others.discard)
