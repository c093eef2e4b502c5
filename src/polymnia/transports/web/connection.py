"""HTTP connections, and the requests and responses on them.

uvicorn writes the head and the body of a response separately. Here they are sent together: a response in one piece is
one event and one system call, and the head of a stream waits for its first piece. A client that is too slow, sends too
much, or does not read its responses is disconnected.
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
_ANSWER = "polymnia.answer"  # our own event: status, headers and body at once; it ends the response
_HEADS = frozenset((_ANSWER, "http.response.start", "websocket.http.response.start", "websocket.accept"))
_CLOSE = (b"connection", b"close")
_CHUNKED = (b"transfer-encoding", b"chunked")
_LINES = {one.value: f"HTTP/1.1 {one.value} {one.phrase}".encode() for one in HTTPStatus}


class ActiveRequest:
    """One request or socket being served: its caller, and the state of its response."""

    __slots__ = (
        "_send", "_state", "_task", "dismissed", "done", "granted", "headers", "id", "lasts", "principal", "receive",
        "scope", "started", "status",
    )  # fmt: skip

    def __init__(self, state: ServerState, scope: Scope, id: str, receive: Receive, send: SendEvent) -> None:
        self.scope = scope
        self.headers: dict[bytes, bytes] = dict(scope["headers"])  # of a repeated header, the last value
        self.id = id
        self.receive = receive
        self.principal: Principal | None = None
        self.granted: Headers = []  # CORS headers for the page it comes from
        self.status = 0
        self.started = False  # the response has begun
        self.lasts = False  # it is a stream or a socket
        self.done = False
        self.dismissed: str | None = None  # why we ended it
        self._state = state
        self._send = send
        self._task: asyncio.Task[Any] | None = None

    def send(self, event: MutableMapping[str, Any]) -> Awaitable[None]:
        """Send an event to the client and track the state of the response."""
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
        """Respond in one piece; the length is added to the headers."""
        if status not in (204, 304):
            headers.append((b"content-length", b"%d" % len(body)))
        return self.send({"type": _ANSWER, "status": status, "headers": headers, "body": body})

    async def refuse(self, refusal: Refusal) -> None:
        """Respond with a refusal, also to a WebSocket handshake."""
        headers = [JSON, *refusal.headers]
        if self.scope["type"] == "http":
            await self.answer(refusal.status, refusal.body, headers)
            return
        await self.send({"type": "websocket.http.response.start", "status": refusal.status, "headers": headers})
        await self.send({"type": "websocket.http.response.body", "body": refusal.body})

    async def disconnected(self) -> None:
        """Wait until the client has disconnected."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    def dismiss(self, reason: str) -> None:
        """End it: its task is cancelled, and the client gets the reason where possible."""
        if self.dismissed is None and self._task is not None:
            self.dismissed = reason
            self._task.cancel()

    def _stay(self) -> None:
        self.lasts = True
        self._task = asyncio.current_task()

    def _completed(self, headers: Headers) -> Headers:
        """The headers of a response, with those common to all responses."""
        completed = [*headers, (b"x-request-id", self.id.encode()), *self.granted]
        for name, _ in headers:
            if name == b"x-ratelimit-limit":
                return completed
        caller = "" if self.principal is None else self.principal.caller
        return completed + self._state.rates.headers(caller)


def head(status: int, headers: Headers) -> bytes:
    """The head of a response. A header value with a line break would let a client forge headers."""
    line = _LINES.get(status) or b"HTTP/1.1 %d " % status
    lines = b"\r\n".join([line, *map(b": ".join, headers), b"\r\n"])
    if lines.count(b"\n") != len(headers) + 2:
        raise RuntimeError("A header of an answer is not one line")
    return lines


class Response(RequestResponseCycle):
    """Writes a response."""

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
        self._head = b""  # of a stream, held back until its first piece

    async def send(self, message: MutableMapping[str, Any]) -> None:  # type: ignore[override]
        """Send an event of the response."""
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
        if not sized and self.scope["http_version"] != "1.0":  # there it ends when the connection closes
            self.chunked_encoding = True
            headers = [*headers, _CHUNKED]
        self._head = head(message["status"], headers)

    def _piece(self, data: bytes, more: bool) -> None:
        """Send a piece of a stream, or its end."""
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
    """Runs a coroutine up to its first suspension; awaiting it runs the rest. ``result`` is set when it is done.

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
        """The rest of it, for a task."""
        return await self


async def in_task() -> None:
    """Continue inside a task: timeouts and cancellation need one."""
    if asyncio.current_task() is None:
        await asyncio.sleep(0)


IDLE_SECONDS = 75  # that a connection may be idle between two requests
_UNREAD_SECONDS = 60.0  # in which a client must read some of the pending data
_ASGI = {"version": "3.0", "spec_version": "2.3"}
_HEAD_SECONDS = 10.0  # in which the head of a request must arrive
_HEAD_BYTES = 64 * 1024
_REST_SECONDS = 10.0  # for the rest of a body whose response has already been sent


class WriteTimeout(asyncio.Protocol):
    """Mixin for a connection: disconnects a client that does not read its responses."""

    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport
    _left = 0  # bytes pending at the last check
    _unread: asyncio.TimerHandle | None = None

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has disconnected."""
        self._cancel("_unread")
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client is not reading."""
        super().pause_writing()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        """The client is reading again."""
        super().resume_writing()
        self._cancel("_unread")

    def _cancel(self, *timers: str) -> None:
        """Cancel those of the timers that are set."""
        for name in timers:
            timer: asyncio.TimerHandle | None = getattr(self, name)
            if timer is not None:
                timer.cancel()
                setattr(self, name, None)

    def _wait_for_reader(self) -> None:
        self._cancel("_unread")
        self._left = self.transport.get_write_buffer_size()
        self._unread = self.loop.call_later(_UNREAD_SECONDS, self._check_reader)

    def _check_reader(self) -> None:
        if self.transport.get_write_buffer_size() >= self._left:
            self.transport.abort()
        else:
            self._wait_for_reader()


class HttpConnection(WriteTimeout, HttpToolsProtocol):
    """A connection whose requests must arrive in time and with a short head.

    Most requests arrive in one piece, and many are answered without waiting for anything. Those need no timer and no
    task: a timer is set for an incomplete head only, and a task is started where a request first has to wait.
    """

    _head_timer: asyncio.TimerHandle | None = None
    _body_timer: asyncio.TimerHandle | None = None
    _idle_timer: asyncio.TimerHandle | None = None
    _idle_since: float | None = None  # since when it has been idle
    _in_head = True  # the next data belongs to a head
    _is_complete = True  # the current message is complete
    _head_size = 0  # bytes of the current head
    _next_response: Response | None = None  # a request that has not been started yet
    _is_upgrade: bool | None = None  # whether the current request becomes a WebSocket, once known

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has connected, and must send a request soon."""
        super().connection_made(transport)
        if len(self.connections) > self._state.limits.connections:
            self._refuse(503, "There are too many connections")
            return
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has disconnected."""
        self._cancel("_head_timer", "_body_timer", "_idle_timer")
        super().connection_lost(exc)

    # ── receiving ────────────────────────────────────────────────────────────────────────────────────

    def data_received(self, data: bytes) -> None:
        """Parse the data, unless the head is too long, and start the request."""
        if self.transport.is_closing():
            return
        if self._in_head:
            self._head_size += len(data)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserError:
            if not self._refuse_long_head():
                self._refuse(400, "This is no HTTP request")
            return
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
                return
        if self._in_head and not self._is_complete:
            if self._refuse_long_head():
                return
            if self._head_timer is None:
                self._wait()
        cycle, self._next_response = self._next_response, None
        if cycle is not None and not self.transport.is_closing():
            self._begin(cycle)

    def on_message_begin(self) -> None:
        """A request starts."""
        self.url = b""
        self.headers = []
        self.expect_100_continue = self._is_complete = False
        self._is_upgrade = None

    def on_headers_complete(self) -> None:
        """The head of the request is complete; what came with it may be its body."""
        if self._head_size > _HEAD_BYTES:
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > _HEAD_BYTES:
                raise ValueError("a long head")  # ends the parsing
        if self._head_timer is not None:
            self._cancel("_head_timer")
        self._in_head, self._head_size, self._idle_since = False, 0, None
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
            self._next_response = cycle
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))

    def on_message_complete(self) -> None:
        """The request is complete."""
        self._is_complete = self._in_head = True
        if self._body_timer is not None:
            self._cancel("_body_timer")
        super().on_message_complete()

    def _refuse_long_head(self) -> bool:
        """Refuse the request if its head is not complete and too long already."""
        is_long = self._in_head and not self._is_complete and self._head_size > _HEAD_BYTES
        if is_long:
            self._refuse(431, f"The head of a request may have {_HEAD_BYTES:,} bytes")
        return is_long

    def _should_upgrade(self) -> bool:
        """Whether it is a valid WebSocket handshake."""
        if self._is_upgrade is None:
            is_upgrade = super()._should_upgrade()
            self._is_upgrade = is_upgrade and self._is_handshake()
        return self._is_upgrade

    def _is_handshake(self) -> bool:
        """Whether the handshake is valid. If it is not, it is answered as a plain request."""
        lines = [b"%b %b HTTP/1.1" % (self.parser.get_method(), self.url), *map(b": ".join, self.headers), b"\r\n"]
        protocol = ServerProtocol()
        protocol.receive_data(b"\r\n".join(lines))
        request = next(iter(protocol.events_received()), None)
        return isinstance(request, Handshake) and protocol.accept(request).status_code == 101

    def handle_websocket_upgrade(self) -> None:
        """Hand the connection over to the WebSocket protocol."""
        self._cancel("_head_timer", "_body_timer", "_idle_timer")
        super().handle_websocket_upgrade()

    # ── serving ──────────────────────────────────────────────────────────────────────────────────

    def _begin(self, cycle: Response) -> None:
        """Serve a request up to its first suspension, and the rest in a task."""
        if not cycle.more_body:
            cycle.scope["state"]["body"] = bytes(cycle.body)
        begun = Eager(cycle.run_asgi(self.app))
        if not begun.done:
            task = self.loop.create_task(begun.rest())
            task.add_done_callback(self.tasks.discard)
            self.tasks.add(task)

    def on_response_complete(self) -> None:
        """The response is complete. A client that is still sending has little time left."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
            return
        self._idle_since = self.loop.time()
        if self._idle_timer is None:
            self._idle_timer = self.loop.call_later(IDLE_SECONDS, self._check_idle)
        if not self._is_complete and self._body_timer is None:
            self._body_timer = self.loop.call_later(_REST_SECONDS, self._drop)

    def _check_idle(self) -> None:
        """Close the connection if it has been idle for too long."""
        now = self.loop.time()
        left = IDLE_SECONDS - (now - (now if self._idle_since is None else self._idle_since))
        if left <= 0:
            self._drop()
        else:
            self._idle_timer = self.loop.call_later(left, self._check_idle)

    @property
    def _state(self) -> ServerState:
        state: ServerState = self.config.app.state  # type: ignore[union-attr]
        return state

    def _wait(self) -> None:
        self._head_timer = self.loop.call_later(_HEAD_SECONDS, self._drop)

    def _drop(self) -> None:
        """Close, without waiting for a client that does not read."""
        self._cancel("_head_timer")
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        elif not self.transport.is_closing():
            self.transport.close()

    def _refuse(self, status: int, message: str) -> None:
        """Respond to something that never becomes a request, and close."""
        self._cancel("_head_timer")
        if self.cycle is not None and not self.cycle.response_complete:
            self.transport.close()  # a response to an earlier request is still being sent
            return
        body = Refusal(status, message).body
        headers = [
            JSON,
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
            *([(b"retry-after", b"5")] if status == 503 else []),
            *self._state.rates.headers(""),
        ]
        self._state.log.event("notice", "refused", status=status, address=(self.client or ("",))[0])
        self.transport.write(head(status, headers) + body)
        self.transport.close()
