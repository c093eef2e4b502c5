"""One HTTP request and its answer on a connection, as the application sees it and as bytes.

uvicorn writes the head and the body of an answer one by one. Here they leave together: an answer in one piece is one
event and one call of the system, and the head of a stream waits for its first piece.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping
from http import HTTPStatus
from logging import Logger
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from polymnia.transports.errors import Headers, Refusal

if TYPE_CHECKING:
    from polymnia.transports.web.auth import Principal
    from polymnia.transports.web.state import ServerState

Scope = MutableMapping[str, Any]
Receive = Callable[[], Coroutine[Any, Any, MutableMapping[str, Any]]]
SendEvent = Callable[[MutableMapping[str, Any]], Awaitable[None]]
T = TypeVar("T")

JSON = (b"content-type", b"application/json")
_ANSWER = "polymnia.answer"  # an event of our own: status, headers and body at once; it ends what is sent
_HEADS = frozenset((_ANSWER, "http.response.start", "websocket.http.response.start", "websocket.accept"))
_CLOSE = (b"connection", b"close")
_CHUNKED = (b"transfer-encoding", b"chunked")
_LINES = {one.value: f"HTTP/1.1 {one.value} {one.phrase}".encode() for one in HTTPStatus}


class ActiveRequest:
    """One request or socket that is being served: who came, and how far its answer is."""

    __slots__ = (
        "_send", "_state", "_task", "dismissed", "done", "granted", "headers", "id", "lasts", "principal", "receive",
        "scope", "started", "status",
    )  # fmt: skip

    def __init__(self, state: ServerState, scope: Scope, id: str, receive: Receive, send: SendEvent) -> None:
        self.scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])  # of one that came twice the last
        self.id = id
        self.receive = receive
        self.principal: Principal | None = None
        self.granted: Headers = []  # to the page it comes from
        self.status = 0
        self.started = False  # its answer has begun
        self.lasts = False  # it is a stream or a socket
        self.done = False
        self.dismissed: str | None = None  # why it was ended by us
        self._state = state
        self._send = send
        self._task: asyncio.Task[Any] | None = None

    def send(self, event: MutableMapping[str, Any]) -> Awaitable[None]:
        """Send something to the client, and see how far its answer is."""
        kind = event["type"]
        if kind in _HEADS:
            event["headers"] = self._completed(event["headers"])
            self.started, self.status = True, event.get("status", 101)
            self.done = kind == _ANSWER
            if kind == "websocket.accept":
                self._stay()
        elif kind == "http.response.body":
            self.done = not event.get("more_body")
            if not (self.done or self.lasts):
                self._stay()
        elif kind in ("websocket.close", "websocket.http.response.body"):
            self.done = True
        return self._send(event)

    def answer(self, status: int, body: bytes, headers: Headers) -> Awaitable[None]:
        """Answer in one piece; the length is added to the headers."""
        if status != 204:
            headers.append((b"content-length", b"%d" % len(body)))
        return self.send({"type": _ANSWER, "status": status, "headers": headers, "body": body})

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal, also where a socket was asked for."""
        headers = [JSON, *refusal.headers]
        if self.scope["type"] == "http":
            await self.answer(refusal.status, refusal.body, headers)
            return
        await self.send({"type": "websocket.http.response.start", "status": refusal.status, "headers": headers})
        await self.send({"type": "websocket.http.response.body", "body": refusal.body})

    async def disconnected(self) -> None:
        """Wait until the client has left."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    def dismiss(self, reason: str) -> None:
        """End it: what serves it is cancelled, and the client is told why where there is a way."""
        if self.dismissed is None and self._task is not None:
            self.dismissed = reason
            self._task.cancel()

    def _stay(self) -> None:
        self.lasts = True
        self._task = asyncio.current_task()

    def _completed(self, headers: Headers) -> Headers:
        """The headers of an answer with those that every answer has."""
        completed = [*headers, (b"x-request-id", self.id.encode()), *self.granted]
        for name, _ in headers:
            if name == b"x-ratelimit-limit":
                return completed
        caller = "" if self.principal is None else self.principal.caller
        return completed + self._state.rates.stand(caller).headers()


def head(status: int, headers: Headers) -> bytes:
    """The head of an answer. Values are ours; one that is not one line would be somebody else's head."""
    line = _LINES.get(status) or b"HTTP/1.1 %d " % status
    lines = b"\r\n".join([line, *map(b": ".join, headers), b"\r\n"])
    if lines.count(b"\n") != len(headers) + 2:
        raise RuntimeError("A header of an answer is not one line")
    return lines


class Response(RequestResponseCycle):
    """The bytes of an answer."""

    def __init__(
        self,
        scope: Any,
        transport: asyncio.Transport,
        flow: FlowControl,
        logger: Logger,
        *,
        continues: bool,
        keep_alive: bool,
        on_response: Callable[..., None],
    ) -> None:
        self.scope = scope
        self.transport = transport
        self.flow = flow
        self.logger = logger
        self.message_event = asyncio.Event()
        self.on_response = on_response
        self.disconnected = False
        self.keep_alive = keep_alive
        self.waiting_for_100_continue = continues
        self.body = bytearray()
        self.more_body = True
        self.response_started = False
        self.response_complete = False
        self.chunked_encoding = False
        self._head = b""  # of a stream, until its first piece

    async def send(self, message: MutableMapping[str, Any]) -> None:  # type: ignore[override]
        """Send something of the answer."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        kind = message["type"]
        if self.response_complete or self.response_started != (kind == "http.response.body"):
            raise RuntimeError(f"{kind} comes at the wrong time")
        if kind == "http.response.body":
            self._piece(message.get("body", b""), message.get("more_body", False))
            return
        headers = message["headers"]
        self.response_started = True
        self.waiting_for_100_continue = False
        if _CLOSE in headers:
            self.keep_alive = False
        elif not self.keep_alive:
            headers = [*headers, _CLOSE]
        silent = self.scope["method"] == "HEAD"
        if kind == _ANSWER:
            self.transport.write(head(message["status"], headers) + (b"" if silent else message["body"]))
            self._complete()
            return
        sized = silent or message["status"] in (204, 304) or any(name == b"content-length" for name, _ in headers)
        if not sized and self.scope["http_version"] != "1.0":  # there the end of the connection is the end of it
            self.chunked_encoding = True
            headers = [*headers, _CHUNKED]
        self._head = head(message["status"], headers)

    def _piece(self, data: bytes, more: bool) -> None:
        """A piece of a stream, or its end."""
        if self.scope["method"] == "HEAD":
            data = b""
        elif self.chunked_encoding:
            data = (b"%x\r\n%b\r\n" % (len(data), data) if data else b"") + (b"" if more else b"0\r\n\r\n")
        begun, self._head = self._head, b""
        if begun or data:
            self.transport.write(begun + data)
        if not more:
            self._complete()

    def _complete(self) -> None:
        self.response_complete = True
        self.message_event.set()
        if not self.keep_alive:
            self.transport.close()
        self.on_response()


class Eager(Generic[T]):
    """Runs a coroutine up to where it first waits; awaiting it runs the rest. ``result`` is there when it is done.

    One that never waits needs no task, and no turn of the event loop.
    """

    __slots__ = ("_coroutine", "_waits", "done", "result")

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self.done = False
        try:
            self._waits = coroutine.send(None)
        except StopIteration as e:
            self.result: T = e.value
            self.done = True

    def __await__(self) -> Generator[Any, Any, T]:
        if self.done:
            return self.result
        coroutine, waits = self._coroutine, self._waits
        while True:
            thrown: BaseException | None = None
            try:
                given = yield waits
            except BaseException as e:
                thrown = e
            try:
                waits = coroutine.send(given) if thrown is None else coroutine.throw(thrown)
            except StopIteration as e:
                result: T = e.value
                return result

    async def rest(self) -> T:
        """What is left of it, for a task."""
        return await self


async def in_task() -> None:
    """Go on inside a task: timeouts, and whoever wants to end what runs here, need one."""
    if asyncio.current_task() is None:
        await asyncio.sleep(0)
