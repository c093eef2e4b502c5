"""An HTTP connection, and on it each request and its answer, as the application sees them and as bytes.

uvicorn writes the head and the body of an answer one by one. Here they leave together: an answer in one piece is one
event and one call of the system, and the head of a stream waits for its first piece. Who is slow to say what they want,
says too much, or does not read what they are sent, is dropped.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping
from http import HTTPStatus
from logging import Logger
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from urllib.parse import unquote

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from websockets.http11 import Request as Handshake
from websockets.server import ServerProtocol

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


IDLE_SECONDS = 75  # that a connection may stay between two requests
_UNREAD_SECONDS = 60.0  # in which a client must have read some of what waits for it
_ASGI = {"version": "3.0", "spec_version": "2.3"}
_HEAD_SECONDS = 10.0  # in which a request must say what it wants
_HEAD_BYTES = 64 * 1024
_REST_SECONDS = 10.0  # for the rest of a message whose answer has been given already


class WriteTimeout(asyncio.Protocol):
    """Cuts off a client that does not read what it is sent; goes before the class of a connection."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _left = 0  # bytes that waited at the last look
    _unread: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """They have left."""
        self._stop_waiting()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """They do not read what they are sent."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """They do again."""
        super().resume_writing()
        self._stop_waiting()

    def _wait_for_reader(self) -> None:
        self._stop_waiting()
        self._left = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(_UNREAD_SECONDS, self._check_reader)

    def _stop_waiting(self) -> None:
        if self._unread is not None:
            self._unread.cancel()
            self._unread = None

    def _check_reader(self) -> None:
        if self.transport.get_write_buffer_size() >= self._left:
            self.transport.abort()
        else:
            self._wait_for_reader()


class HttpConnection(WriteTimeout, HttpToolsProtocol):
    """A connection whose requests must say what they want in time and in few words.

    Most requests are there in one piece, and many are answered without waiting for anything. Those need no timer and
    no task: a timer is set for a head that is not whole when all that came is read, and a task begins where a request
    first waits.
    """

    _late: asyncio.TimerHandle | None = None
    _rest: asyncio.TimerHandle | None = None
    _idle: asyncio.TimerHandle | None = None
    _quiet: float | None = None  # since when there has been nothing to do
    _heading = True  # what comes next is of a head
    _whole = True  # the message at hand has come to its end
    _read = 0  # bytes of the head at hand
    _next: Response | None = None  # a request that is not begun yet
    _shakes: bool | None = None  # whether the request at hand becomes a WebSocket, as soon as that is known

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come; that alone must not last."""
        super().connection_made(transport)
        if len(self.connections) > self._state.limits.connections:
            self._refuse(503, "There are too many connections")
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """They have left."""
        self._end()
        super().connection_lost(exc)

    # ── what comes ────────────────────────────────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        """Take what came, unless it is a head without end, and begin what it asks for."""
        if self.transport.is_closing():
            return
        if self._heading:
            self._read += len(data)
            if self._read > _HEAD_BYTES and data.find(b"\r\n\r\n", 0, _HEAD_BYTES) < 0:
                self._refuse(431, f"The head of a request may have {_HEAD_BYTES:,} bytes")
                return
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            self._refuse(400, "This is no HTTP request")
            return
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
                return
        if self._heading and self._late is None and not self._whole:
            self._wait()
        cycle, self._next = self._next, None
        if cycle is not None and not self.transport.is_closing():
            self._begin(cycle)

    def on_message_begin(self) -> None:
        """A request begins."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = self._whole = False
        self._shakes = None

    def on_headers_complete(self) -> None:
        """It has said what it wants."""
        if self._late is not None:
            self._arrived()
        self._heading, self._read, self._quiet = False, 0, None
        parser = self.parser
        version = parser.get_http_version()
        url = httptools.parse_url(self.url)
        path = url.path.decode("ascii")
        scope: Any = {
            "type": "http", "asgi": _ASGI, "http_version": version, "method": parser.get_method().decode("ascii"),
            "scheme": self.scheme, "path": unquote(path) if "%" in path else path, "raw_path": url.path,
            "query_string": url.query or b"", "root_path": "", "headers": self.headers, "client": self.client,
            "server": self.server, "state": {},
        }  # fmt: skip
        self.scope = scope
        if parser.should_upgrade() and self._should_upgrade():
            return
        before: Any = self.cycle
        cycle = self.cycle = Response(
            scope, self.transport, self.flow, self.logger, continues=self.expect_100_continue,
            keep_alive=version != "1.0" and parser.should_keep_alive(), on_response=self.on_response_complete,
        )  # fmt: skip
        if before is None or before.response_complete:
            self._next = cycle
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))

    def on_message_complete(self) -> None:
        """It has said everything."""
        self._whole = self._heading = True
        if self._rest is not None:
            self._rested()
        super().on_message_complete()

    def _should_upgrade(self) -> bool:
        """Whether it wants to be a WebSocket and says so as one must."""
        if self._shakes is None:
            asks = super()._should_upgrade()
            self._shakes = asks and self._is_handshake()
        return self._shakes

    def _is_handshake(self) -> bool:
        """Whether a request to become a WebSocket is as it should be. What is not is answered as a request."""
        lines = [b"%b %b HTTP/1.1" % (self.parser.get_method(), self.url), *map(b": ".join, self.headers), b"\r\n"]
        tried = ServerProtocol()
        tried.receive_data(b"\r\n".join(lines))
        asked = next(iter(tried.events_received()), None)
        return isinstance(asked, Handshake) and tried.accept(asked).status_code == 101

    def handle_websocket_upgrade(self) -> None:
        """It wants to be a WebSocket, which has a class of its own."""
        self._end()
        super().handle_websocket_upgrade()

    # ── what is done ──────────────────────────────────────────────────────────────────────────────────

    def _begin(self, cycle: Response) -> None:
        """Serve a request up to where it first waits, and the rest of it in a task."""
        if not cycle.more_body:
            cycle.scope["state"]["body"] = bytes(cycle.body)
        begun = Eager(cycle.run_asgi(self.app))
        if not begun.done:
            task = self.loop.create_task(begun.rest())
            task.add_done_callback(self.tasks.discard)
            self.tasks.add(task)

    def on_response_complete(self) -> None:
        """It was answered. Whoever goes on sending has little time for it, and reads the answer meanwhile."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self._quiet = self.loop.time()
        if self._idle is None:
            self._idle = self.loop.call_later(IDLE_SECONDS, self._look)
        if not self._whole and self._rest is None:
            self._rest = self.loop.call_later(_REST_SECONDS, self._drop)

    def _look(self) -> None:
        """Look whether nothing came for long."""
        now = self.loop.time()
        left = IDLE_SECONDS - (now - (now if self._quiet is None else self._quiet))
        if left <= 0:
            self._drop()
        else:
            self._idle = self.loop.call_later(left, self._look)

    @property
    def _state(self) -> ServerState:
        state: ServerState = self.config.app.state  # type: ignore[union-attr]
        return state

    def _wait(self) -> None:
        self._late = self.loop.call_later(_HEAD_SECONDS, self._drop)

    def _arrived(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None

    def _rested(self) -> None:
        if self._rest is not None:
            self._rest.cancel()
            self._rest = None

    def _end(self) -> None:
        self._arrived()
        self._rested()
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _drop(self) -> None:
        """Close, without waiting for somebody who does not read."""
        self._arrived()
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        elif not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        """Answer what never becomes a request, and close."""
        self._arrived()
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()  # an answer to an earlier request is under way, and there is room for no other
            return
        body = Refusal(status, message).body
        headers = [
            JSON,
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *([(b"retry-after", b"5")] if status == 503 else []),
            *self._state.rates.stand("").headers(),
        ]
        self._state.log.event("notice", "refused", status=status, address=(self.client or ("",))[0])
        self.transport.write(head(status, headers) + body)
        self.transport.close()
