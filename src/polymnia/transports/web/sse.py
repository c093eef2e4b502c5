"""Server-sent events, as older clients speak them: a stream for everything that is sent, messages by POST."""

from __future__ import annotations

import asyncio
from urllib.parse import parse_qs, quote

from polymnia.transports.errors import Refusal
from polymnia.transports.rpc import Server
from polymnia.transports.web.http import check_type
from polymnia.transports.web.request import ActiveRequest
from polymnia.transports.web.state import ServerState
from polymnia.transports.web.streams import begin, follow


class EventsEndpoint:
    """The stream of one client. It is a session for as long as the stream is open."""

    def __init__(self, state: ServerState, server: Server, messages: str) -> None:
        self._state = state
        self._server = server
        self._messages = messages

    async def __call__(self, active: ActiveRequest) -> None:
        """Open the stream and say where messages go."""
        assert active.principal is not None
        session = self._state.begin(self._server, active.principal)
        session.busy += 1
        gone = asyncio.ensure_future(active.disconnected())
        try:
            headers = self._state.rates.stand(session.id).headers()
            await begin(active.send, headers, session.outbox, primed=False)
            where = f"{active.scope.get('root_path', '')}{self._messages}?session_id={session.id}"
            if session.principal.project is not None:
                where += f"&project={quote(session.principal.project, safe='')}"
            first = f"event: endpoint\ndata: {where}\n\n".encode()
            await active.send({"type": "http.response.body", "body": first, "more_body": True})
            await follow(session.outbox, 0, gone, active.send)
        finally:
            gone.cancel()
            self._state.sessions.end(session)


class MessagesEndpoint:
    """Where a client of a stream sends its messages; the answers come by the stream."""

    def __init__(self, state: ServerState, server: Server) -> None:
        self._state = state
        self._server = server

    async def __call__(self, active: ActiveRequest) -> None:
        """Take one message."""
        assert active.principal is not None
        check_type(active)
        state = self._state
        given = parse_qs(active.scope["query_string"].decode("latin-1")).get("session_id", [""])
        session = state.sessions.find(given[0], active.principal, self._server)
        if session is None:
            raise Refusal(404, "There is no such stream; open one first")
        await session.calls.room()
        if state.stopping:
            raise state.over()
        body = await state.body(active)
        state.sessions.use(session)
        session.calls.size = len(body)
        state.rates.counted()  # whatever was counted before is of others
        session.connection.receive(body.strip(), session.send, session.send)
        headers = state.rates.stand(session.id, state.rates.counted()).headers()
        session.calls.size = 0
        await active.answer(202, b"Accepted", [(b"content-type", b"text/plain"), *headers])
