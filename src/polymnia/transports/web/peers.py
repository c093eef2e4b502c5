"""The other processes of one server: whichever is asked, the one that holds the session answers.

A session lives in the process that began it. A request for it that reaches another process is forwarded there as HTTP,
and the answer comes back as it is made. When that process is gone, whoever is asked next takes the session over: what
was agreed with the client and its subscriptions are rebuilt, calls that were under way are lost. WebSockets stay where
they are connected, and so do the older streams, which are their session.
"""

from __future__ import annotations

import asyncio
import hmac
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import parse_qs

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from polymnia.engine.ports.shared import Holder, SharedState
from polymnia.errors import Fault
from polymnia.operation import Grant
from polymnia.transports.errors import UNAVAILABLE, Headers, Refusal, RpcError, from_fault
from polymnia.transports.rpc import Server
from polymnia.transports.web.auth import Principal
from polymnia.transports.web.connection import ActiveRequest, Scope, in_task
from polymnia.transports.web.links import PeerLink, connect
from polymnia.transports.web.state import HttpSession, ServerState

MESSAGES = "/messages"  # follows the path of a stream in that of its messages
GONE = (b"x-polymnia-gone", b"1")
"""Marks the refusal of a forwarded request by a process that holds no session any more; nothing was done with it."""
_FORWARDED = b"x-polymnia-forwarded"  # the secret, the number of the process it is meant for, and the rest
_BEAT_SECONDS = 1.0
_KNOWN_SECONDS = 1.0
_MOST_KNOWN = 1000
_MOST_IDLE = 16  # connections to one process that wait for the next request
_TRIES = 3
# What belongs to one connection, is written anew, or is added again to the answer of this process.
_NOT_SENT = frozenset((b"connection", b"keep-alive", b"transfer-encoding", b"content-length", b"expect", _FORWARDED))
_NOT_PASSED = frozenset((
    b"connection", b"transfer-encoding", b"content-length", b"x-request-id", b"vary", b"access-control-allow-origin",
    b"access-control-expose-headers",
))  # fmt: skip

Endpoint = Callable[[ActiveRequest], Awaitable[None]]
"""Serves a request at a path."""


class _About(Struct, omit_defaults=True):
    """What another process needs to know of a session to take it over."""

    dialect: str
    key: str
    grant: Grant
    project: str | None
    version: str
    client: str | None
    capabilities: Any = None
    log_level: str | None = None
    subscriptions: list[str] = []


class _Origin(Struct):
    """A forwarded request as the process saw it that the client is connected to."""

    id: str
    client: tuple[str, int] | None
    server: tuple[str, int | None] | None
    scheme: str
    root_path: str


_about = msgspec.json.Decoder(_About)
_origin = msgspec.json.Decoder(_Origin)


class Peers:
    """This process among the others. Only the event loop uses it, but for ``altered``."""

    def __init__(self, shared: SharedState, state: ServerState, servers: Mapping[str, Server]) -> None:
        self._shared = shared
        self._state = state
        self._servers = servers
        self._address = ""
        self.number = 0
        self.processes = 2  # that are alive, as far as is known
        self.figures: Callable[[], bytes] = bytes  # of this process, for the others
        self._has_left = False
        self._known: dict[str, tuple[float, Holder]] = {}  # who holds which session, and until when that is believed
        self._taking = asyncio.Lock()
        self._links: dict[str, list[PeerLink]] = {}  # idle ones, by address
        self._under_way: set[asyncio.Task[Any] | None] = set()  # messages that were forwarded
        state.sessions.ended = self._ended
        state.peers = self

    # ── among the others ──────────────────────────────────────────────────────────────────────────────

    def join(self, address: str) -> None:
        """Become one of them, reached at an address: ``unix:PATH`` or ``HOST:PORT``."""
        self._address = address
        self.number = self._state.log.process = self._shared.join(address)
        self._state.log.event("notice", "process joined", pid=os.getpid())
        for server in self._servers.values():
            server.secret = self._shared.secret

    async def run(self) -> None:
        """Say again and again that this process is alive, and hold its sessions again where that was forgotten."""
        failed, forgotten = "", False
        while not self._has_left:
            try:
                count = await asyncio.to_thread(self._shared.beat, self.figures())
                if count is None and not self._has_left:
                    self._state.log("warning", "the other processes have forgotten this one; it joins them again")
                    forgotten = True
                    self.join(self._address)
                if forgotten:  # until all are held again: the shared state may fail at any of them
                    for session in self._state.sessions:
                        if not await asyncio.to_thread(self._shared.hold, session.id, self._describe(session)):
                            self._state.sessions.drop(session)
                    forgotten = False
                self.processes = count or self.processes
                failed = ""
            except Fault as e:
                if e.message != failed:
                    self._state.log("error", f"the shared state of the processes cannot be used: {e.message}")
                failed = e.message
            await asyncio.sleep(_BEAT_SECONDS)

    def leave(self) -> None:
        """Let the others take the sessions over."""
        self._has_left = True
        with suppress(Fault):
            self._shared.leave()

    async def finish(self, seconds: float) -> None:
        """Wait until messages that were forwarded are answered, at most so long."""
        until = time.monotonic() + seconds
        while self._under_way and time.monotonic() < until:
            await asyncio.sleep(0.01)

    def all_figures(self) -> list[tuple[int, bytes]]:
        """The figures of every process, this one's as they are now."""
        found = dict(self._shared.figures())
        return sorted({**found, self.number: self.figures()}.items())

    # ── the sessions of this process ──────────────────────────────────────────────────────────────────

    def share(self, session: HttpSession) -> None:
        """Let every process know of a session from the end of its handshake on."""
        session.connection.altered = partial(self._altered, session)

    def share_stream(self, session: HttpSession) -> None:
        """The same for a session that lasts as long as its stream, and is known from its start on."""
        try:
            self._shared.hold(session.id, b"")
        except Fault as e:
            raise _unavailable(e) from None

    def _altered(self, session: HttpSession) -> None:
        try:
            held = self._shared.hold(session.id, self._describe(session))
        except Fault as e:
            raise from_fault(e) from None
        if not held:  # this process was gone for a while, and another one has it
            raise RpcError(UNAVAILABLE, "This session goes on in another process; send the request again")

    def _ended(self, id: str) -> None:
        try:
            self._shared.release([id])
        except Fault as e:
            self._state.log("error", f"the other processes were not told that a session has ended: {e.message}")

    def _describe(self, session: HttpSession) -> bytes:
        connection, principal = session.connection, session.principal
        if connection.altered is None:
            return b""  # it is its stream
        about = _About(
            next(name for name, server in self._servers.items() if server is session.server),
            principal.key,
            principal.grant,
            principal.project,
            connection.version,
            connection.author.client,
            connection.capabilities,
            connection.log_level,
            connection.watch.uris(None) if connection.watch is not None else [],
        )
        return msgspec.json.encode(about)

    # ── sessions of others ────────────────────────────────────────────────────────────────────────────

    async def serve(self, active: ActiveRequest, id: str, endpoint: Endpoint) -> None:
        """Serve a request for a session that is not held here."""
        await in_task()
        if "forwarded" in active.scope["state"]:  # by one that believes it is here, or will be in a moment
            async with self._taking:
                pass
            await endpoint(active)
            return
        body = active.scope["state"]["body"] = await self._state.body(active)
        try:
            for _ in range(_TRIES):
                held = await self._holder(id)
                if held is not None and await self._forward(active, held, body):
                    return
                self._known.pop(id, None)
                if held is None or not await self._take_over(active.principal, id, held) or id in self._state.sessions:
                    await endpoint(active)
                    return
        except Fault as e:
            raise _unavailable(e) from None
        raise _lost("The process that holds this session cannot be reached now")

    async def _holder(self, id: str) -> Holder | None:
        """Who holds a session; for a moment it is known without asking again."""
        until, held = self._known.get(id, (0.0, None))
        now = time.monotonic()
        if until < now:
            held = await asyncio.to_thread(self._shared.holder, id)
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            if held is not None:
                self._known[id] = now + _KNOWN_SECONDS, held
        return held

    async def _take_over(self, principal: Principal | None, id: str, held: Holder) -> bool:
        """Hold a session whose process is gone; False if it cannot be, or not for this caller."""
        about = _about.decode(held.about) if held.about else None
        if about is None or principal is None or about.dialect not in self._servers:
            return False
        if not replace(principal, key=about.key, grant=about.grant, project=about.project).same(principal):
            return False
        async with self._taking:
            if id in self._state.sessions:
                return True
            ours = held.process == self.number
            if not ours and not await asyncio.to_thread(self._shared.take_over, id, held.process):
                return True  # another process was faster
            session = HttpSession(self._state, self._servers[about.dialect], principal, id)
            connection = session.connection
            connection.version, connection.log_level = about.version, about.log_level
            connection.capabilities = about.capabilities
            connection.author = replace(connection.author, client=about.client)
            connection.notify_of_lists()
            if about.subscriptions:
                await asyncio.to_thread(connection.watching().add, None, about.subscriptions)
            self._state.add(lambda: session, principal)
            self.share(session)
            for uri in about.subscriptions:  # which may have changed while nobody watched
                connection.notify("notifications/resources/updated", {"uri": uri})
            self._state.log.event("notice", "session taken over", of=held.process)
            return True

    # ── forwarding ────────────────────────────────────────────────────────────────────────────────────

    def receive(self, scope: Scope) -> str | None:
        """Make a request that was forwarded here what it was; returns its id, None if it was not forwarded."""
        given = next((value for name, value in scope["headers"] if name == _FORWARDED), None)
        if given is None:
            return None
        secret, _, rest = given.partition(b" ")
        number, _, origin = rest.partition(b" ")
        if not hmac.compare_digest(secret, self._shared.secret.hex().encode()):
            return None
        found = _origin.decode(origin)
        scope["headers"] = [one for one in scope["headers"] if one[0] != _FORWARDED]
        scope["client"], scope["server"] = found.client, found.server
        scope["scheme"], scope["root_path"] = found.scheme, found.root_path
        scope["state"]["forwarded"] = number == b"%d" % self.number
        return found.id

    def must_refuse(self, scope: Scope) -> bool:
        """Whether a request was forwarded here in vain: to another process that had this address, or to late."""
        meant = scope["state"].get("forwarded")
        return meant is not None and (self._state.stopping or not meant)

    def _head(self, active: ActiveRequest, number: int, size: int) -> bytes:
        scope = active.scope
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        origin = _Origin(active.id, scope["client"], scope["server"], scope["scheme"], scope["root_path"])
        forwarded = b"%b %d %b" % (self._shared.secret.hex().encode(), number, msgspec.json.encode(origin))
        headers = [one for one in scope["headers"] if one[0] not in _NOT_SENT]
        headers += [(_FORWARDED, forwarded), (b"content-length", b"%d" % size)]
        return b"\r\n".join(
            [b"%b %b HTTP/1.1" % (scope["method"].encode(), target), *map(b": ".join, headers), b"\r\n"]
        )

    async def _forward(self, active: ActiveRequest, held: Holder, body: bytes) -> bool:
        """Have another process answer; False if there is none or it is gone, and has done nothing."""
        number, address, _ = held
        if address is None or number == self.number:
            return False
        try:
            link = await self._link(address)
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except OSError:
            raise _lost("The process that holds this session cannot be reached now") from None
        gone = asyncio.ensure_future(active.disconnected())
        gone.add_done_callback(lambda gone: None if gone.cancelled() else link.abort())
        task = asyncio.current_task() if active.scope["method"] == "POST" else None
        if task is not None:
            self._under_way.add(task)
        try:
            headers = await link.ask(self._head(active, number, len(body)) + body)
            if GONE in headers:
                return False
            passed = [one for one in headers if one[0] not in _NOT_PASSED]
            if link.is_stream:
                await self._pass_on(link, active, passed)
            else:
                await active.answer(link.status, await link.whole(), passed)
        except OSError:
            if gone.done() or active.started:
                return True
            raise _lost("The process that held this session ended before it answered") from None
        finally:
            self._under_way.discard(task)
            gone.cancel()
            if link.is_reusable and len(self._links.setdefault(address, [])) < _MOST_IDLE:
                self._links[address].append(link)
            else:
                link.abort()
        return True

    async def _pass_on(self, link: PeerLink, active: ActiveRequest, headers: Headers) -> None:
        """Pass a stream on as it comes; it ends here when it ends there, in whatever way."""
        await active.send({"type": "http.response.start", "status": link.status, "headers": headers})
        with suppress(ConnectionError):
            while (piece := await link.piece()) is not None:
                await active.send({"type": "http.response.body", "body": piece, "more_body": True})
        await active.send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _link(self, address: str) -> PeerLink:
        """An idle connection to another process, or a new one."""
        idle = self._links.get(address, [])
        while idle:
            link = idle.pop()
            if link.is_fresh:
                return link
            link.abort()
        return await connect(address)


def named_session(active: ActiveRequest) -> str | None:
    """The session a request is for."""
    query: bytes = active.scope["query_string"]
    if active.scope["path"].endswith(MESSAGES):
        return parse_qs(query.decode("latin-1")).get("session_id", [""])[0]
    named = active.headers.get(b"mcp-session-id")
    return None if named is None else named.decode("latin-1")


def _lost(text: str) -> Refusal:
    hint = "Send it again. A write may have been done; one with an id (_meta polymnia/requestId) is never done twice."
    return Refusal(503, text, [(b"retry-after", b"1")], hint=hint)


def _unavailable(e: Fault) -> Refusal:
    return Refusal(503, "Sessions cannot be looked up now", [(b"retry-after", b"5")], hint=e.hint)
