"""Server-sent events, as older clients speak them: a stream for everything that is told, messages by POST."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, quote

from polymnia.transports.rpc import Server
from polymnia.transports.web.answers import check_type
from polymnia.transports.web.asgi import Receive, Scope, SendEvent, disconnected, plain
from polymnia.transports.web.auth import Refusal, headers_of
from polymnia.transports.web.house import House
from polymnia.transports.web.stream import begin, follow

__all__ = ["Events", "Messages"]


class Events:
    """The stream of one client. It is a session for as long as the stream is open."""

    def __init__(self, house: House, server: Server, messages: str) -> None:
        self._house = house
        self._server = server
        self._messages = messages

    async def __call__(self, scope: Scope, receive: Receive, send: SendEvent) -> None:
        """Open the stream and tell where messages go."""
        session = self._house.begin(self._server, scope["state"]["visitor"])
        session.busy += 1
        gone = asyncio.ensure_future(disconnected(receive))
        try:
            await begin(send, self._house.standing(session.id), session.outbox, primed=False)
            where = f"{scope.get('root_path', '')}{self._messages}?session_id={session.id}"
            if session.visitor.project is not None:
                where += f"&project={quote(session.visitor.project, safe='')}"
            first = f"event: endpoint\ndata: {where}\n\n".encode()
            await send({"type": "http.response.body", "body": first, "more_body": True})
            await follow(session.outbox, 0, gone, send)
        finally:
            gone.cancel()
            self._house.sessions.end(session)


class Messages:
    """Where a client of a stream sends its messages; the answers come by the stream."""

    def __init__(self, house: House, server: Server) -> None:
        self._house = house
        self._server = server

    async def __call__(self, scope: Scope, receive: Receive, send: SendEvent) -> None:
        """Take one message."""
        headers = headers_of(scope)
        check_type(headers, scope["headers"])
        given = parse_qs(scope["query_string"].decode("latin-1")).get("session_id", [""])
        session = self._house.sessions.find(given[0], scope["state"]["visitor"], self._server)
        if session is None:
            raise Refusal(404, "There is no such stream; open one first")
        await session.order.room()
        if self._house.stopping:
            raise self._house.over()
        body = await self._house.body(scope, headers, receive)
        self._house.sessions.use(session)
        session.order.size = len(body)
        self._house.counted()  # whatever was counted before is of others
        session.connection.receive(body.strip(), session.send, session.send)
        standing = self._house.standing(session.id, self._house.counted())
        session.order.size = 0
        await plain(send, 202, b"Accepted", [(b"content-type", b"text/plain"), *standing])
