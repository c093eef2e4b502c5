"""The application: the routes of a network server, the gate before them, and the active requests."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable, Collection, Mapping, MutableMapping
from contextlib import suppress
from threading import get_ident
from typing import Any

from msgspec import Struct
from msgspec.json import encode

from polymnia.errors import Fault
from polymnia.schemas import JsonObject
from polymnia.transports.errors import Headers, Refusal
from polymnia.transports.rpc import Server, frames
from polymnia.transports.web.auth import METRICS, Gate, Network, trust_forwarded
from polymnia.transports.web.connection import ActiveRequest, Receive, Scope, SendEvent, in_task
from polymnia.transports.web.explorer import Explorer
from polymnia.transports.web.http import EventsEndpoint, HttpEndpoint, MessagesEndpoint
from polymnia.transports.web.issuer import Outdated
from polymnia.transports.web.monitoring import Metrics
from polymnia.transports.web.oauth import METADATA
from polymnia.transports.web.peers import GONE, MESSAGES, Endpoint, named_session
from polymnia.transports.web.state import ServerState
from polymnia.transports.web.websocket import WebSocketEndpoint

OPEN = frozenset(("/healthz", "/readyz"))
"""Paths that need no key."""
SOCKET = ""
"""Stands for the method of a WebSocket, which has none."""
_PAGE = ("GET", "HEAD")
_GONE = 1008  # closes a socket whose client broke a rule or whose key was revoked
_STOPPING = 1001
_CHECK_SECONDS = 1.0  # between two checks of the keys of streams and sockets
_KEY_REVOKED = "This key opens nothing here any more"
_SENT = (
    b"Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name"
)
_EXPOSED = (
    b"Mcp-Session-Id, WWW-Authenticate, Retry-After, X-Request-Id, X-RateLimit-Limit, X-RateLimit-Remaining, "
    b"X-RateLimit-Reset, X-RateLimit-Type"
)
_PREFLIGHT = [
    (b"access-control-allow-methods", b"GET, POST, DELETE"),
    (b"access-control-allow-headers", _SENT),
    (b"access-control-max-age", b"600"),
]


class Route(Struct, frozen=True):
    """A path, its endpoint, and the methods it accepts. Paths are plain, without patterns."""

    path: str
    endpoint: Endpoint
    methods: tuple[str, ...]


class Application:
    """Every dialect at its paths. ``servers`` are the dialects by name; the first also has the path without a name.

    ``explorer`` is the page at / and its API.
    """

    def __init__(
        self,
        state: ServerState,
        gate: Gate,
        servers: Mapping[str, Server],
        metadata: JsonObject | None = None,
        proxies: Collection[Network] = (),
        explorer: Explorer | None = None,
    ) -> None:
        self.state = state
        self._active: set[ActiveRequest] = set()
        self._tasks: list[asyncio.Task[None]] = []
        metrics = Metrics(
            state,
            servers if explorer is None else {**servers, "explorer": explorer.server},
            {
                "polymnia_calls_running": ("Calls that are under way.", lambda: state.scheduler.running),
                "polymnia_sessions": ("Sessions that are open.", lambda: len(state.sessions)),
                "polymnia_connections": ("Requests and sockets that are open.", lambda: len(self._active)),
                **state.gauges,
            },
        )
        if state.peers is not None:
            state.peers.figures = metrics.figures
        self._gate = gate
        self._proxies = proxies
        self._servers = servers
        self._run = secrets.token_hex(3)  # distinguishes the requests of different runs in a log
        self._count = 0
        self._open = OPEN if metadata is None else OPEN | {METADATA, f"{METADATA}/mcp"}
        self.routes = [
            Route("/healthz", _page(self._alive), _PAGE),
            Route("/readyz", _page(self._ready, beside=True), _PAGE),
            Route(METRICS, _page(metrics.page), _PAGE),
        ]
        if metadata is not None:
            page = _page(lambda: (200, encode(metadata), b"application/json"))
            self.routes += [Route(path, page, _PAGE) for path in sorted(self._open - OPEN)]
        for place, (name, server) in enumerate(servers.items()):
            for below in (f"/{name}", *([""] if place == 0 else [])):
                self.routes += [
                    Route(f"/mcp{below}", HttpEndpoint(state, server), ("GET", "POST", "DELETE")),
                    Route(f"/sse{below}", EventsEndpoint(state, server), ("GET",)),
                    Route(f"/sse{below}{MESSAGES}", MessagesEndpoint(state, server), ("POST",)),
                    Route(f"/ws{below}", WebSocketEndpoint(state, server), (SOCKET,)),
                ]
        if explorer is not None:
            pages = explorer.files()
            self._open |= pages.keys()
            self.routes += [Route(path, page, _PAGE) for path, page in pages.items()]
            self.routes += [Route(path, call, ("POST",)) for path, call in explorer.calls(state).items()]
            self.routes += [Route(path, call, ("GET",)) for path, call in explorer.streams(state).items()]
        self._paths = frozenset(route.path for route in self.routes)
        self._endpoints = {(method, route.path): route.endpoint for route in self.routes for method in route.methods}

    # ── one request ───────────────────────────────────────────────────────────────────────────────────

    async def __call__(self, scope: Scope, receive: Receive, send: SendEvent) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
            return
        id = None if self.state.peers is None else self.state.peers.receive(scope)
        if self._proxies and id is None:
            trust_forwarded(scope, self._proxies)
        begun = time.perf_counter()
        self._count += 1
        active = ActiveRequest(self.state, scope, id or f"{self._run}-{self._count}", receive, send)
        self._active.add(active)
        try:
            await self._serve(active)
        except Refusal as refusal:
            with suppress(OSError):
                await active.refuse(refusal)
        except asyncio.CancelledError:
            await self._dismissed(active)
        except OSError:
            pass  # the client has disconnected
        except Exception as e:
            self.state.log.event("error", "failure", request=active.id, what=frames(e))
            if not active.started:
                failed = Refusal(500, f"Internal error; the server's log says more under {active.id}")
                with suppress(OSError):
                    await active.refuse(failed)
        finally:
            self._active.discard(active)
        self._record(active, time.perf_counter() - begun)

    def _serve(self, active: ActiveRequest, *, renewed: bool = False) -> Awaitable[None]:
        """Start serving a request, or refuse it."""
        scope, gate = active.scope, self._gate
        origin = gate.check_place(active)
        if gate.origins:
            active.granted = _granted(origin, gate.origins)
            is_preflight = scope.get("method") == "OPTIONS" and b"access-control-request-method" in active.headers
            if origin is not None and is_preflight:
                return active.answer(204, b"", [*_PREFLIGHT])
        peers = self.state.peers
        if peers is not None and peers.must_refuse(scope):
            raise Refusal(503, "The session is not here any more", [GONE])
        if self.state.stopping:
            raise Refusal(503, "The server is stopping", [(b"retry-after", b"5"), (b"connection", b"close")])
        path = scope["path"]
        if path not in self._open:
            try:
                active.principal = gate.admit(active, renewed=renewed)
            except Outdated:
                return self._serve_renewed(active)
        if scope["type"] == "websocket":
            active.receive = self._receive_while_admitted(active)
        endpoint = self._endpoints.get((scope.get("method", SOCKET), path))
        if endpoint is None:
            raise self._not_found(scope)
        if peers is not None and (id := named_session(active)) is not None and id not in self.state.sessions:
            return peers.serve(active, id, endpoint)
        return endpoint(active)

    async def _serve_renewed(self, active: ActiveRequest) -> None:
        """Fetch the keys of the issuer of tokens, and serve the request then."""
        await in_task()
        if self._gate.who is not None and self._gate.who.renew is not None:
            await asyncio.to_thread(self._gate.who.renew)
        await self._serve(active, renewed=True)

    def _not_found(self, scope: Scope) -> Refusal:
        """The refusal of a path or method that does not exist."""
        path = scope["path"]
        methods = sorted(method for method, one in self._endpoints if one == path)
        if scope["type"] == "websocket" or not methods:
            places = "/mcp and /sse, and WebSockets at /ws"
            below = ", ".join(f"/{name}" for name in self._servers)
            here = "There is no WebSocket" if methods else "There is nothing"
            return Refusal(404, f"{here} at this address. Served are {places}, each also with one of {below} after it")
        if methods == [SOCKET]:
            text = "Here is a WebSocket: it wants a GET with Upgrade: websocket, Connection: Upgrade, a "
            text += "Sec-WebSocket-Key of 16 bytes in base64 and Sec-WebSocket-Version: 13"
            upgrade = [(b"upgrade", b"websocket"), (b"connection", b"upgrade"), (b"sec-websocket-version", b"13")]
            return Refusal(426, text, upgrade)
        allowed = ", ".join(methods)
        return Refusal(405, f"This address takes {allowed}", [(b"allow", allowed.encode())])

    def _receive_while_admitted(self, active: ActiveRequest) -> Receive:
        """Receive messages from a socket only as long as its key is valid."""
        receive = active.receive

        async def receive_admitted() -> MutableMapping[str, Any]:
            event = await receive()
            if event["type"] != "websocket.receive":
                return event
            if self.state.stopping:
                await asyncio.Event().wait()  # until active calls have finished and the socket is closed
            if not self._gate.still_admits(active):
                await active.send({"type": "websocket.close", "code": _GONE, "reason": _KEY_REVOKED})
                return {"type": "websocket.disconnect", "code": _GONE}
            return event

        return receive_admitted

    async def _dismissed(self, active: ActiveRequest) -> None:
        """Tell the client of a stream or socket why we ended it."""
        task = asyncio.current_task()
        if active.dismissed is None or task is None:
            raise asyncio.CancelledError
        task.uncancel()
        with suppress(OSError, RuntimeError):
            if active.scope["type"] == "websocket":
                code = _STOPPING if self.state.stopping else _GONE
                await active.send({"type": "websocket.close", "code": code, "reason": active.dismissed})
            elif not active.done:
                await active.send({"type": "http.response.body", "body": b"", "more_body": False})

    def _record(self, active: ActiveRequest, seconds: float) -> None:
        scope = active.scope
        path = scope["path"] if scope["path"] in self._paths else "other"
        self.state.count(path, active.status, seconds)
        log = self.state.log
        if "info" in log.levels:
            log.event(
                "info",
                scope["type"],
                request=active.id,
                method=scope.get("method", "GET"),
                path=path,
                status=active.status,
                milliseconds=round(seconds * 1000, 1),
                key="" if active.principal is None else active.principal.key,
                address=(scope.get("client") or ("",))[0],
            )

    # ── all of them ───────────────────────────────────────────────────────────────────────────────────

    async def _lifespan(self, receive: Receive, send: SendEvent) -> None:
        while True:
            event = await receive()
            if event["type"] == "lifespan.startup":
                self.state.scheduler.home = get_ident()
                if self._gate.who is not None:  # without keys there is nothing to check
                    self._tasks.append(asyncio.ensure_future(self._check()))
                if self.state.peers is not None:
                    self._tasks.append(asyncio.ensure_future(self.state.peers.run()))
                await send({"type": "lifespan.startup.complete"})
            else:
                self.end_lasting("The server is stopping")
                self.state.stopping = True
                self.state.sessions.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def end_lasting(self, reason: str) -> None:
        """End all streams and sockets."""
        for task in self._tasks:
            task.cancel()
        for active in list(self._active):
            if active.lasts and not active.done:
                active.dismiss(reason)

    async def _check(self) -> None:
        """Check regularly whether the keys of streams and sockets are still valid."""
        while True:
            await asyncio.sleep(_CHECK_SECONDS)
            for active in list(self._active):
                if active.lasts and not self._gate.still_admits(active):
                    active.dismiss(_KEY_REVOKED)

    # ── pages ─────────────────────────────────────────────────────────────────────────────────────────

    def _alive(self) -> tuple[int, bytes, bytes]:
        which = {} if self.state.peers is None else {"process": self.state.peers.number}
        return 200, encode({"status": "alive", **which}), b"application/json"

    def _ready(self) -> tuple[int, bytes, bytes]:
        status = "stopping" if self.state.stopping else "ready"
        memory = next(iter(self._servers.values())).memory
        try:
            memory.store.projects()
            memory.try_search()
        except Fault as e:
            self.state.log("error", e.message)
            status = e.code
        except Exception as e:
            self.state.log.event("error", "not ready", what=frames(e))
            status = "cannot_search"
        return 200 if status == "ready" else 503, encode({"status": status}), b"application/json"


def _page(make: Callable[[], tuple[int, bytes, bytes]], *, beside: bool = False) -> Endpoint:
    """A small page made by a function that returns status, body and content type.

    ``beside`` runs the function on another thread, where it may take long.
    """

    async def serve(active: ActiveRequest) -> None:
        if beside:
            await in_task()
        status, body, type = await asyncio.to_thread(make) if beside else make()
        await active.answer(status, body, [(b"content-type", type), (b"cache-control", b"no-store")])

    return serve


def _granted(origin: bytes | None, origins: Collection[str]) -> Headers:
    """The CORS headers for a page. Pages send keys themselves, so browser credentials are never allowed."""
    vary = [(b"vary", b"Origin")]
    if origin is None or origin.decode("latin-1").lower() not in origins:
        return vary
    return [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", _EXPOSED), *vary]
