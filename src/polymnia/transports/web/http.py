"""Streamable HTTP: a message a POST, answered as JSON or as a stream of events; a GET for what is told unasked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any

from msgspec import UNSET

from polymnia.transports.messages import BadMessage, message, parts
from polymnia.transports.requests import Call
from polymnia.transports.rpc import Connection, Server
from polymnia.transports.web.answers import JSON, accepted, check_type, status_of
from polymnia.transports.web.asgi import Headers, Receive, Scope, SendEvent, disconnected, plain
from polymnia.transports.web.auth import Refusal, Visitor, headers_of
from polymnia.transports.web.exchange import Exchange
from polymnia.transports.web.house import House
from polymnia.transports.web.rates import Key
from polymnia.transports.web.routing import is_modern
from polymnia.transports.web.sessions import Session
from polymnia.transports.web.stream import SILENCE, Outbox, begin, follow

__all__ = ["Endpoint"]

_SOON = 0.05  # seconds in which most answers are there: until then nobody looks whether the client has left
_PATIENCE = 1.0  # seconds after which a client that can resume a stream gets one, so that it need not stay connected


class _Once:
    """The link of a client that is there for one exchange."""

    def __init__(self, house: House, exchange: Exchange) -> None:
        self._house = house
        self._exchange = exchange

    def send(self, data: bytes) -> None:
        """Whatever is told belongs to the one exchange there is."""
        self._exchange.notice(data)

    def run(self, call: Call) -> None:
        """Run the call on one of the threads."""
        self._house.workers.run(call)

    def log(self, level: str, text: str) -> None:
        """Tell the operator."""
        self._house.log(level, text)


class _Reply:
    """What one POST is answered with: to whom, and in which form they take it."""

    __slots__ = ("caller", "connection", "counted", "exchange", "fresh", "json", "modern", "session", "streams")

    def __init__(self, exchange: Exchange, connection: Connection, session: Session | None) -> None:
        self.exchange = exchange
        self.connection = connection
        self.session = session
        self.modern = False
        self.json = self.streams = True
        self.caller = ""
        self.counted: list[Key] = []  # the limits it had to keep
        self.fresh = False  # the session begins with it

    @property
    def patience(self) -> float:
        """How long the client may wait for something before it gets a stream."""
        return _PATIENCE if self.session is not None and self.session.resumes else SILENCE

    @property
    def is_ready(self) -> bool:
        """Whether there is something to send."""
        return self.exchange.answer is not None or (self.streams and bool(self.exchange.notices))

    @property
    def whole(self) -> bytes | None:
        """The answer, if it is there and all there is to send, and the client takes it in one piece."""
        if not self.streams:
            self.exchange.notices.clear()  # there is no room for them in a single answer
        return self.exchange.answer if self.json and not self.exchange.notices else None

    def abandon(self) -> None:
        """The client hung up. One with a session may come back; any other wants no answer any more."""
        if self.session is None:
            self.connection.withdraw()


class Endpoint:
    """One dialect at one address."""

    def __init__(self, house: House, server: Server) -> None:
        self._house = house
        self._server = server

    def __call__(self, scope: Scope, receive: Receive, send: SendEvent) -> Awaitable[None]:
        """Serve one HTTP request; the gate has let its visitor in."""
        method, visitor = scope["method"], scope["state"]["visitor"]
        if method == "POST":
            return self._post(scope, receive, send, visitor)
        if method == "GET":
            return self._listen(scope, receive, send, visitor)
        return self._end(scope, send, visitor)

    # ── a message ─────────────────────────────────────────────────────────────────────────────────────

    async def _post(self, scope: Scope, receive: Receive, send: SendEvent, visitor: Visitor) -> None:
        headers = headers_of(scope)
        check_type(headers, scope["headers"])
        json, streams = accepted(headers)
        body = (await self._house.body(scope, headers, receive)).strip()
        modern = is_modern(scope["headers"], body, self._server)
        reply = self._reply(headers, body, visitor, modern)
        reply.modern, reply.json, reply.streams = modern, json, streams
        session, connection = reply.session, reply.connection
        if session is not None:
            session.busy += 1
        try:
            self._house.counted()  # whatever was counted before is of others
            connection.receive(body, reply.exchange.send, reply.exchange.notice)
            reply.counted = self._house.counted()
            if (answer := reply.whole) is not None:
                await self._say(reply, answer, send)
            elif reply.is_ready or _is_owed(body, connection):
                await self._answer(reply, receive, send)
            else:
                await plain(send, 202, b"", self._headers(reply))
        finally:
            if session is None:
                connection.close()
            else:
                session.busy -= 1
                self._house.sessions.use(session)

    def _reply(self, headers: dict[bytes, bytes], body: bytes, visitor: Visitor, modern: bool) -> _Reply:
        """Who sends this: a client that shook hands, one that does, or one that never will."""
        exchange = Exchange()
        named = None if modern else headers.get(b"mcp-session-id")
        begins, id = False, None
        if not modern and b'"initialize"' in body:
            begins, id = _initialize(body, self._server.max_nesting)
        if named is not None or begins:
            session = self._house.begin(self._server, visitor, id) if begins else self._session(headers, visitor)
            reply = _Reply(exchange, session.connection, session)
            reply.caller, reply.fresh = session.id, begins
            return reply
        link = _Once(self._house, exchange)
        reply = _Reply(exchange, visitor.connection(self._server, link), None)
        reply.caller = visitor.caller
        self._house.admit(reply.connection, reply.caller, visitor, lasts=False)
        return reply

    def _headers(self, reply: _Reply) -> Headers:
        """What the headers of every answer say: where the client stands with the limits, and its new session."""
        standing = self._house.standing(reply.caller, reply.counted)
        if reply.fresh and reply.session is not None:
            standing.append((b"mcp-session-id", reply.session.id.encode()))
        return standing

    # ── an answer ─────────────────────────────────────────────────────────────────────────────────────

    async def _answer(self, reply: _Reply, receive: Receive, send: SendEvent) -> None:
        exchange = reply.exchange
        if not reply.is_ready:
            await exchange.wait(_SOON)
        if (answer := reply.whole) is not None:
            await self._say(reply, answer, send)
            return
        gone = asyncio.ensure_future(disconnected(receive))
        gone.add_done_callback(lambda _: exchange.wake())
        try:
            while not (reply.is_ready or gone.done()):
                if not await exchange.wait(reply.patience) and reply.streams:
                    break
            if gone.done():
                reply.abandon()
            elif (answer := reply.whole) is not None:
                await self._say(reply, answer, send)
            else:
                await self._stream(reply, gone, send)
        finally:
            gone.cancel()

    def _say(self, reply: _Reply, answer: bytes, send: SendEvent) -> Awaitable[None]:
        """Answer in one piece. A session that does not begin well does not begin."""
        status, more = status_of(answer, modern=reply.modern)
        if reply.fresh and reply.session is not None and b'"error":{"code":' in answer:
            self._house.sessions.end(reply.session)
            reply.fresh = False
        return plain(send, status, answer, [JSON, *self._headers(reply), *more])

    async def _stream(self, reply: _Reply, gone: asyncio.Future[None], send: SendEvent) -> None:
        session = reply.session
        outbox = Outbox() if session is None else session.stream()
        reply.exchange.pour(outbox)
        await begin(send, self._headers(reply), outbox, primed=session is not None and session.resumes)
        if not await follow(outbox, 0, gone, send):
            reply.abandon()

    # ── streams of what is told unasked, and the rest of streams that broke ────────────────────────────

    async def _listen(self, scope: Scope, receive: Receive, send: SendEvent, visitor: Visitor) -> None:
        headers = headers_of(scope)
        if not accepted(headers)[1]:
            raise Refusal(406, "Messages are sent here by POST; GET opens a stream, for Accept: text/event-stream")
        session = self._session(headers, visitor)
        outbox, since = session.outbox, session.outbox.sent
        if (seen := headers.get(b"last-event-id")) is not None:
            found = session.place(seen.decode("latin-1"))
            if found is None:
                raise Refusal(400, "Last-Event-ID is of no stream of this session that is kept")
            outbox, since = found
        elif outbox.held:
            raise Refusal(409, "This session has a stream already")
        session.busy += 1
        gone = asyncio.ensure_future(disconnected(receive))
        try:
            await begin(send, self._house.standing(session.id), outbox, primed=session.resumes, since=since)
            await follow(outbox, since, gone, send)
        finally:
            gone.cancel()
            session.busy -= 1
            self._house.sessions.use(session)

    async def _end(self, scope: Scope, send: SendEvent, visitor: Visitor) -> None:
        session = self._session(headers_of(scope), visitor)
        self._house.sessions.end(session)
        await plain(send, 204, b"", self._house.standing(session.id))

    def _session(self, headers: dict[bytes, bytes], visitor: Visitor) -> Session:
        named = headers.get(b"mcp-session-id")
        if named is None:
            raise Refusal(405, "Without a session there is nothing to listen to or to end", [(b"allow", b"POST")])
        session = self._house.sessions.find(named.decode("latin-1"), visitor, self._server)
        if session is None:
            raise Refusal(404, "There is no such session; initialize begins a new one")
        return session


def _is_owed(body: bytes, connection: Connection) -> bool:
    """Whether a message, or one of a batch, is owed an answer."""
    most = connection.server.memory.limits.batch
    messages = parts(body, most) or [] if body[:1] == b"[" else [body]
    return any(map(connection.expects_answer, messages))


def _initialize(body: bytes, nested: int) -> tuple[bool, Any]:
    """Whether a message begins a session, and its id."""
    try:
        read = message(body, nested)
    except BadMessage:
        return False, None
    return read.method == "initialize", None if read.id is UNSET else read.id
