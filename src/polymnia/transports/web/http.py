"""Streamable HTTP: messages by POST, answered as JSON or as a stream of events; a GET opens a stream.

Older clients use server-sent events: one stream for everything they receive, messages by POST.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from contextlib import suppress
from functools import lru_cache
from threading import get_ident
from urllib.parse import parse_qs, quote

from msgspec import UNSET

from polymnia.transports.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    RATE_LIMITED,
    UNSUPPORTED_VERSION,
    Headers,
    Refusal,
    RpcError,
)
from polymnia.transports.rpc import Connection, Message, Received, Request, read, unheard
from polymnia.transports.web.connection import JSON, ActiveRequest, in_task
from polymnia.transports.web.peers import MESSAGES
from polymnia.transports.web.routing import is_modern
from polymnia.transports.web.state import DialectEndpoint, HttpSession, Key, ServerState, unread
from polymnia.transports.web.streams import SILENCE, Outbox, begin, follow
from polymnia.transports.wire import HANDSHAKE_VERSIONS

_HANDSHAKE = frozenset(version.encode() for version in HANDSHAKE_VERSIONS)
_USUAL_SECONDS = 0.05  # in which most responses are ready: until then we do not watch for a disconnect
_RESUMABLE_AFTER = 1.0  # seconds after which a client that can resume a stream gets one and may disconnect
# What the stateless era says of errors in the status; the handshake era answers 200 with the error inside.
_STATUS = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}


class Exchange:
    """One message sent by POST and what is sent back for it, from whatever thread.

    For a client without a session it is also the link of its connection.
    """

    __slots__ = (
        "_loop", "_outbox", "_state", "_thread", "_waiter", "answer", "caller", "connection", "counted", "error",
        "json", "modern", "new_session", "notices", "session", "streams",
    )  # fmt: skip

    def __init__(self, state: ServerState, *, json: bool, streams: bool, modern: bool) -> None:
        self._state = state
        self._loop: asyncio.AbstractEventLoop | None = None  # once somebody waits
        self._thread = 0
        self._waiter: asyncio.Future[None] | None = None
        self._outbox: Outbox | None = None
        self.json, self.streams = json, streams  # the forms the client accepts
        self.modern = modern
        self.session: HttpSession | None = None
        self.new_session = False  # that starts with this message
        self.connection: Connection
        self.caller = ""
        self.counted: list[Key] = []  # the limits it was counted against
        self.notices: deque[bytes] = deque()
        self.answer: bytes | None = None
        self.error: RpcError | None = None  # carried by the response

    # ── from whatever thread ──────────────────────────────────────────────────────────────────────────

    def reply(self, data: bytes, error: RpcError | None = None) -> None:
        """The response is ready."""
        self.error = error
        self.answer = data
        self._wake()

    def send(self, data: bytes, error: RpcError | None = None) -> None:
        """Send a notification before the response."""
        self.notices.append(data)
        self._wake()

    def run(self, request: Request) -> None:
        """Run the request of a client without a session."""
        self._state.scheduler.run(request)

    def log(self, level: str, text: str) -> None:
        """Log for the operator."""
        self._state.log(level, text)

    def _wake(self) -> None:
        loop = self._loop
        if loop is None:
            return  # nobody waits yet; whoever does will check first
        if get_ident() == self._thread:
            self.wake()
            return
        with suppress(RuntimeError):  # the loop has stopped
            loop.call_soon_threadsafe(self.wake)

    # ── where the response is written ─────────────────────────────────────────────────────────────────

    @property
    def is_ready(self) -> bool:
        """Whether there is something to send."""
        return self.answer is not None or (self.streams and bool(self.notices))

    @property
    def whole(self) -> bytes | None:
        """The response, if it is ready, the only thing to send, and the client accepts it in one piece."""
        if not self.streams:
            self.notices.clear()  # a single response has no room for what its connection notifies of
        return self.answer if self.json and not self.notices else None

    def status(self) -> tuple[int, Headers]:
        """The status of the response, and the headers that go with it."""
        error = self.error
        if error is None:
            return 200, []
        if error.code == RATE_LIMITED and isinstance(error.data, dict):
            return 429, [(b"retry-after", str(error.data.get("retry_after", 1)).encode())]
        in_status = self.modern or error.code in (PARSE_ERROR, INVALID_REQUEST)
        return _STATUS.get(error.code, 200) if in_status else 200, []

    def headers(self) -> Headers:
        """The headers of every response: the state of the rate limits, and a new session."""
        found = self._state.rates.headers(self.caller, self.counted)
        if self.new_session and self.session is not None:
            found.append((b"mcp-session-id", self.session.id.encode()))
        return found

    def wake(self) -> None:
        """Wake up whoever waits."""
        outbox = self._outbox
        if outbox is not None and not outbox.ended:
            answer = self.answer  # read first: notifications before it have arrived by then
            while self.notices:
                outbox.put(self.notices.popleft())
            if answer is not None:
                outbox.put(answer)
                outbox.end()
        elif self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def stream_to(self, outbox: Outbox) -> None:
        """Send everything, past and future, into a stream, which ends with the response."""
        self._listen()
        self._outbox = outbox
        self.wake()

    async def wait(self, seconds: float) -> bool:
        """Wait until there is something to send or to check; False after the timeout."""
        if self.answer is not None or self.notices:
            return True
        await in_task()
        self._waiter = self._listen().create_future()
        if self.answer is not None or self.notices:  # it arrived from another thread just now
            return True
        try:
            async with asyncio.timeout(seconds):
                await self._waiter
        except TimeoutError:
            return False
        finally:
            self._waiter = None
        return True

    def _listen(self) -> asyncio.AbstractEventLoop:
        """The event loop of this thread, which is woken from now on."""
        if self._loop is None:
            self._thread, self._loop = get_ident(), asyncio.get_running_loop()
        return self._loop

    def abandon(self) -> None:
        """The client disconnected. One with a session may come back; any other no longer wants a response."""
        if self.session is None:
            self.connection.cancel_all()
        elif self._outbox is None:  # there is no stream to come back to
            self.connection.mute(self.send)


class HttpEndpoint(DialectEndpoint):
    """Streamable HTTP."""

    def __call__(self, active: ActiveRequest) -> Awaitable[None]:
        """Serve one HTTP request."""
        method = active.scope["method"]
        return self._post(active) if method == "POST" else self._get(active) if method == "GET" else self._end(active)

    # ── a message ─────────────────────────────────────────────────────────────────────────────────────

    async def _post(self, active: ActiveRequest) -> None:
        state, server = self._state, self._server
        check_type(active)
        json, streams = _accepted(active)
        body = (await state.body(active)).strip()
        received = read(body, server.max_nesting, server.memory.limits.batch)
        version = active.headers.get(b"mcp-protocol-version")
        modern = False
        if b"/protocolVersion" in body or (version is not None and version not in _HANDSHAKE):
            modern = is_modern(active.scope["headers"], received, server)
        exchange = Exchange(state, json=json, streams=streams, modern=modern)
        self._connect(exchange, active, received)
        session, connection = exchange.session, exchange.connection
        if session is not None:
            session.busy += 1
        try:
            state.rates.counted()  # forget what was counted for others
            connection.take(received, exchange.reply, exchange.send if streams else unheard, active.id)
            exchange.counted = state.rates.counted()
            if (answer := exchange.whole) is not None:
                await self._answer(exchange, answer, active)
            elif exchange.is_ready or _expects_answer(received):
                await self._answer_later(exchange, active)
            else:
                await active.answer(202, b"", exchange.headers())
        finally:
            if session is None:
                connection.close()
            else:
                session.busy -= 1
                state.sessions.use(session)

    def _connect(self, exchange: Exchange, active: ActiveRequest, received: Received) -> None:
        """Find the connection: of a session, of a new session, or of a client without one."""
        principal = active.principal
        assert principal is not None
        begins = not exchange.modern and isinstance(received, Message) and received.method == "initialize"
        if begins or (not exchange.modern and b"mcp-session-id" in active.headers):
            if begins:
                id = None if received.id is UNSET else received.id  # type: ignore[union-attr]
                session = self._state.begin(self._server, principal, id)
                if self._state.peers is not None:
                    self._state.peers.share(session)
            else:
                session = self._session(active)
            exchange.session, exchange.new_session = session, begins
            exchange.connection, exchange.caller = session.connection, session.id
            return
        exchange.connection, exchange.caller = principal.connection(self._server, exchange), principal.caller
        self._state.limit(exchange.connection, exchange.caller, principal, lasts=False)

    # ── an answer ─────────────────────────────────────────────────────────────────────────────────────

    def _answer(self, exchange: Exchange, answer: bytes, active: ActiveRequest) -> Awaitable[None]:
        """Respond in one piece. A session whose handshake failed is not opened."""
        status, more = exchange.status()
        if exchange.new_session and exchange.session is not None and exchange.error is not None:
            self._state.sessions.end(exchange.session)
            exchange.new_session = False
        return active.answer(status, answer, [JSON, *exchange.headers(), *more])

    async def _answer_later(self, exchange: Exchange, active: ActiveRequest) -> None:
        if not exchange.is_ready:
            await exchange.wait(_USUAL_SECONDS)
        if (answer := exchange.whole) is not None:
            await self._answer(exchange, answer, active)
            return
        resumes = exchange.session is not None and exchange.session.resumes
        gone = asyncio.ensure_future(active.disconnected())
        gone.add_done_callback(lambda _: exchange.wake())
        try:
            while not (exchange.is_ready or gone.done()):
                if not await exchange.wait(_RESUMABLE_AFTER if resumes else SILENCE) and exchange.streams:
                    break
            if gone.done():
                exchange.abandon()
            elif (answer := exchange.whole) is not None:
                await self._answer(exchange, answer, active)
            else:
                outbox = Outbox() if exchange.session is None else exchange.session.stream()
                exchange.stream_to(outbox)
                await begin(active.send, exchange.headers(), outbox, primed=resumes)
                if not await follow(outbox, 0, gone, active.send):
                    exchange.abandon()
        finally:
            gone.cancel()

    # ── streams of notifications, and streams that are resumed ─────────────────────────

    async def _get(self, active: ActiveRequest) -> None:
        if not _accepted(active)[1]:
            raise Refusal(406, "Messages are sent here by POST; GET opens a stream, for Accept: text/event-stream")
        session = self._session(active)
        outbox, since = session.outbox, session.outbox.sent
        if (seen := active.headers.get(b"last-event-id")) is not None:
            found = session.place(seen.decode("latin-1"))
            if found is None:
                raise Refusal(400, "Last-Event-ID is of no stream of this session that is kept")
            outbox, since = found
        elif outbox.held:
            raise Refusal(409, "This session has a stream already")
        session.busy += 1
        gone = asyncio.ensure_future(active.disconnected())
        try:
            headers = self._state.rates.headers(session.id)
            await begin(active.send, headers, outbox, primed=session.resumes, since=since)
            await follow(outbox, since, gone, active.send)
        finally:
            gone.cancel()
            session.busy -= 1
            self._state.sessions.use(session)

    async def _end(self, active: ActiveRequest) -> None:
        session = self._session(active)
        self._state.sessions.end(session)
        await active.answer(204, b"", self._state.rates.headers(session.id))

    def _session(self, active: ActiveRequest) -> HttpSession:
        named = active.headers.get(b"mcp-session-id")
        if named is None:
            raise Refusal(405, "Without a session there is nothing to listen to or to end", [(b"allow", b"POST")])
        assert active.principal is not None
        session = self._state.sessions.find(named.decode("latin-1"), active.principal, self._server)
        if session is None:
            raise Refusal(404, "There is no such session; initialize begins a new one")
        return session


def _expects_answer(received: Received) -> bool:
    return any(one.expects_answer for one in received) if isinstance(received, list) else received.expects_answer


def check_type(active: ActiveRequest) -> None:
    """Refuse a message with a wrong content type."""
    headers = active.headers
    type = headers.get(b"content-type", b"")
    if type != b"application/json" and type.split(b";")[0].strip().lower() != b"application/json":
        raise unread(415, "A message is sent as application/json (Content-Type)")
    if b"content-encoding" in headers and _has_other_value(active, b"content-encoding", b"identity"):
        text = "A message is sent uncompressed, without Content-Encoding"
        raise unread(415, text, [(b"accept-encoding", b"identity")])
    if b"transfer-encoding" in headers and _has_other_value(active, b"transfer-encoding", b"chunked"):
        raise unread(501, "A message is sent whole or in chunks (Transfer-Encoding: chunked), in no other way")


def _has_other_value(active: ActiveRequest, name: bytes, known: bytes) -> bool:
    """Whether a header has any value but the allowed one, in any of its lines."""
    return any(one == name and value.strip().lower() != known for one, value in active.scope["headers"])


def _accepted(active: ActiveRequest) -> tuple[bool, bool]:
    """Whether a client accepts JSON, and whether it accepts a stream; one that accepts neither is refused."""
    json, streams = _forms(active.headers.get(b"accept", b"*/*"))
    if not (json or streams):
        raise unread(406, "An answer is application/json or text/event-stream")
    return json, streams


@lru_cache(maxsize=64)
def _forms(accept: bytes) -> tuple[bool, bool]:
    given = accept.lower()
    json = b"application/json" in given or b"*/*" in given or b"application/*" in given
    return json, b"text/event-stream" in given


class EventsEndpoint(DialectEndpoint):
    """The stream of one client, whose session lasts as long as the stream is open."""

    async def __call__(self, active: ActiveRequest) -> None:
        """Open the stream and send the endpoint for messages."""
        assert active.principal is not None
        session = self._state.begin(self._server, active.principal)
        session.busy += 1
        gone = asyncio.ensure_future(active.disconnected())
        try:
            if self._state.peers is not None:
                self._state.peers.share_stream(session)
            headers = self._state.rates.headers(session.id)
            await begin(active.send, headers, session.outbox, primed=False)
            where = f"{active.scope.get('root_path', '')}{active.scope['path']}{MESSAGES}?session_id={session.id}"
            if session.principal.project is not None:
                where += f"&project={quote(session.principal.project, safe='')}"
            first = f"event: endpoint\ndata: {where}\n\n".encode()
            await active.send({"type": "http.response.body", "body": first, "more_body": True})
            await follow(session.outbox, 0, gone, active.send)
        finally:
            gone.cancel()
            self._state.sessions.end(session)


class MessagesEndpoint(DialectEndpoint):
    """Where the client of a stream posts its messages; responses go to the stream."""

    async def __call__(self, active: ActiveRequest) -> None:
        """Receive one message."""
        assert active.principal is not None
        check_type(active)
        state = self._state
        given = parse_qs(active.scope["query_string"].decode("latin-1")).get("session_id", [""])
        session = state.sessions.find(given[0], active.principal, self._server)
        if session is None:
            raise Refusal(404, "There is no such stream; open one first")
        await session.calls.room()
        if state.stopping:
            raise state.stopping_refusal()
        body = await state.body(active)
        state.sessions.use(session)
        session.calls.size = len(body)
        state.rates.counted()  # forget what was counted for others
        session.connection.receive(body.strip(), session.send, session.send, trace=active.id)
        headers = state.rates.headers(session.id, state.rates.counted())
        session.calls.size = 0
        await active.answer(202, b"Accepted", [(b"content-type", b"text/plain"), *headers])
