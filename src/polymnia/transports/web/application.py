"""The addresses of a network server, and the gate before all of them."""

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
from polymnia.transports.requests import frames
from polymnia.transports.rpc import Server
from polymnia.transports.web import cors
from polymnia.transports.web.asgi import Headers, Receive, Scope, SendEvent, plain
from polymnia.transports.web.auth import METRICS, Gate, Refusal
from polymnia.transports.web.begun import in_task
from polymnia.transports.web.forwarded import Network, believe
from polymnia.transports.web.house import House
from polymnia.transports.web.http import Endpoint
from polymnia.transports.web.metrics import Metrics
from polymnia.transports.web.oauth import METADATA
from polymnia.transports.web.sse import Events, Messages
from polymnia.transports.web.visits import Visit, Visits
from polymnia.transports.web.websocket import Socket

__all__ = ["SOCKET", "Application", "Route"]

OPEN = frozenset(("/healthz", "/readyz"))
"""What anybody may ask for."""
SOCKET = ""
"""What stands for the method of a WebSocket, which has none."""
_PAGE = ("GET", "HEAD")
_JSON = (b"content-type", b"application/json")
_GONE = 1008  # how a socket is closed whose client broke a rule, or is not welcome any more
_STOPPING = 1001


Handler = Callable[[Scope, Receive, SendEvent], Awaitable[None]]
"""Serves a request at an address."""


class Route(Struct, frozen=True):
    """One address, what serves it, and the methods it takes. Every address is a plain path: there are no patterns."""

    path: str
    endpoint: Handler
    methods: tuple[str, ...]


class Application:
    """Every dialect at its addresses. ``servers`` are the dialects by name; the first is the one without a name."""

    def __init__(
        self,
        house: House,
        gate: Gate,
        servers: Mapping[str, Server],
        metadata: dict[str, Any] | None = None,
        proxies: Collection[Network] = (),
    ) -> None:
        self.house = house
        self.visits = Visits(gate)
        self.metrics = Metrics(house, servers, lambda: len(self.visits))
        self._gate = gate
        self._proxies = proxies
        self._servers = servers
        self._run = secrets.token_hex(3)  # tells the requests of one run from those of another in a log
        self._asked = 0
        self._open = OPEN if metadata is None else OPEN | {METADATA, f"{METADATA}/mcp"}
        self.routes = [
            Route("/healthz", _Page(self._alive), _PAGE),
            Route("/readyz", _Page(self._ready, beside=True), _PAGE),
            Route(METRICS, _Page(self.metrics.page), _PAGE),
        ]
        if metadata is not None:
            page = (200, encode(metadata), b"application/json")
            self.routes += [Route(path, _Page(lambda: page), _PAGE) for path in sorted(self._open - OPEN)]
        for place, (name, server) in enumerate(servers.items()):
            for below in (f"/{name}", *([""] if place == 0 else [])):
                messages = f"/sse{below}/messages"
                self.routes += [
                    Route(f"/mcp{below}", Endpoint(house, server), ("GET", "POST", "DELETE")),
                    Route(f"/sse{below}", Events(house, server, messages), ("GET",)),
                    Route(messages, Messages(house, server), ("POST",)),
                    Route(f"/ws{below}", Socket(house, server), (SOCKET,)),
                ]
        self._paths = frozenset(route.path for route in self.routes)
        self._direct = {(method, route.path): route.endpoint for route in self.routes for method in route.methods}

    async def __call__(self, scope: Scope, receive: Receive, send: SendEvent) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if self._proxies:
            believe(scope, self._proxies)
        begun = time.perf_counter()
        self._asked += 1
        visit = Visit(scope, f"{self._run}-{self._asked}", send, self._headed)
        self.visits.enter(visit)
        try:
            await self._serve(visit, receive)
        except Refusal as refusal:
            with suppress(OSError):
                await _refuse(visit, refusal)
        except asyncio.CancelledError:
            await self._dismissed(visit)
        except OSError:
            pass  # the client has left
        except Exception as e:
            self.house.log.event("error", "failure", request=visit.request, what=frames(e))
            if not visit.started:
                failed = Refusal(500, f"Internal error; the server's log says more under {visit.request}")
                with suppress(OSError):
                    await _refuse(visit, failed)
        finally:
            self.visits.leave(visit)
        self._count(visit, time.perf_counter() - begun)

    def _serve(self, visit: Visit, receive: Receive) -> Awaitable[None]:
        """What serves a visit; refused is who may not come in."""
        scope, gate = visit.scope, self._gate
        origin = gate.check_place(scope)
        if gate.origins:
            visit.granted = cors.granted(origin, gate.origins)
            if cors.asks(scope, origin):
                return plain(visit.send, 204, b"", cors.preflight())
        if self.house.stopping:
            raise Refusal(503, "The server is stopping", [(b"retry-after", b"5"), (b"connection", b"close")])
        path = scope["path"]
        if path not in self._open:
            visit.visitor = scope["state"]["visitor"] = gate.admit(scope)
        if scope["type"] == "websocket":
            receive = self._asking_again(visit, receive)
        endpoint = self._direct.get((scope.get("method", SOCKET), path))
        if endpoint is None:
            raise self._nothing(scope)
        return endpoint(scope, receive, visit.send)

    def _nothing(self, scope: Scope) -> Refusal:
        """What somebody is told who asks for what there is not."""
        path = scope["path"]
        methods = sorted(method for method, one in self._direct if one == path)
        if scope["type"] == "websocket" or not methods:
            places = "/mcp and /sse, and WebSockets at /ws"
            below = ", ".join(f"/{name}" for name in self._servers)
            here = "There is no WebSocket" if methods else "There is nothing"
            return Refusal(404, f"{here} at this address. Served are {places}, each also with one of {below} after it")
        if methods == [SOCKET]:
            text = "Here is a WebSocket: it wants a GET with Upgrade: websocket, Connection: Upgrade, a "
            text += "Sec-WebSocket-Key of 16 bytes in base64 and Sec-WebSocket-Version: 13"
            return Refusal(426, text, [
                (b"upgrade", b"websocket"), (b"connection", b"upgrade"), (b"sec-websocket-version", b"13"),
            ])  # fmt: skip
        allowed = ", ".join(methods)
        return Refusal(405, f"This address takes {allowed}", [(b"allow", allowed.encode())])

    def _headed(self, visit: Visit, headers: Headers) -> Headers:
        """The headers of an answer with those that every answer has."""
        headed = [*headers, (b"x-request-id", visit.request.encode()), *visit.granted]
        for name, _ in headers:
            if name == b"x-ratelimit-limit":
                return headed
        return headed + self.house.standing("" if visit.visitor is None else visit.visitor.caller)

    def _asking_again(self, visit: Visit, receive: Receive) -> Receive:
        """Take messages from a socket only as long as whoever sends them is welcome."""

        async def welcome() -> MutableMapping[str, Any]:
            event = await receive()
            if event["type"] != "websocket.receive":
                return event
            if self.house.stopping:
                await asyncio.Event().wait()  # until what is under way has ended, and the socket with it
            if visit.visitor is not None and not self._gate.welcomes(visit.scope, visit.visitor):
                await visit.send(
                    {"type": "websocket.close", "code": _GONE, "reason": "This key opens nothing here any more"}
                )
                return {"type": "websocket.disconnect", "code": _GONE}
            return event

        return welcome

    async def _dismissed(self, visit: Visit) -> None:
        """Tell the client of a stream or a socket that it is over, where that was our wish."""
        task = asyncio.current_task()
        if visit.dismissed is None or task is None:
            raise asyncio.CancelledError
        task.uncancel()
        with suppress(OSError, RuntimeError):
            if visit.scope["type"] == "websocket":
                code = _STOPPING if self.house.stopping else _GONE
                await visit.send({"type": "websocket.close", "code": code, "reason": visit.dismissed})
            elif not visit.done:
                await visit.send({"type": "http.response.body", "body": b"", "more_body": False})

    def _count(self, visit: Visit, seconds: float) -> None:
        scope = visit.scope
        path = scope["path"] if scope["path"] in self._paths else "other"
        self.metrics.count(path, visit.status, seconds)
        log = self.house.log
        if log.wants("info"):
            visitor = visit.visitor
            log.event(
                "info", scope["type"], request=visit.request, method=scope.get("method", "GET"), path=path,
                status=visit.status, milliseconds=round(seconds * 1000, 1),
                key="" if visitor is None else visitor.key, address=(scope.get("client") or ("",))[0],
            )  # fmt: skip

    async def _live(self, receive: Receive, send: SendEvent) -> None:
        while True:
            event = await receive()
            if event["type"] == "lifespan.startup":
                self.house.workers.home = get_ident()
                self.visits.begin()
                await send({"type": "lifespan.startup.complete"})
            else:
                self.visits.end("The server is stopping")
                self.house.close()
                await send({"type": "lifespan.shutdown.complete"})
                return

    def _alive(self) -> tuple[int, bytes, bytes]:
        return 200, b'{"status":"alive"}', b"application/json"

    def _ready(self) -> tuple[int, bytes, bytes]:
        status = "stopping" if self.house.stopping else "ready"
        memory = next(iter(self._servers.values())).memory
        try:
            memory.store.projects()
            memory.try_search()
        except Fault as e:
            self.house.log("error", e.message)
            status = e.code
        except Exception as e:
            self.house.log.event("error", "not ready", what=frames(e))
            status = "cannot_search"
        return 200 if status == "ready" else 503, encode({"status": status}), b"application/json"


class _Page:
    """A small page made by a function: its status, what it says, and the type of that.

    ``beside`` runs the function on a thread, where it may take its time.
    """

    def __init__(self, make: Callable[[], tuple[int, bytes, bytes]], *, beside: bool = False) -> None:
        self._make = make
        self._beside = beside

    async def __call__(self, scope: Scope, receive: Receive, send: SendEvent) -> None:
        if self._beside:
            await in_task()
        status, told, type = await asyncio.to_thread(self._make) if self._beside else self._make()
        await plain(send, status, told, [(b"content-type", type), (b"cache-control", b"no-store")])


async def _refuse(visit: Visit, refusal: Refusal) -> None:
    body, headers = refusal.body, [_JSON, *refusal.headers]
    if visit.scope["type"] == "http":
        await plain(visit.send, refusal.status, body, headers)
        return
    await visit.send({"type": "websocket.http.response.start", "status": refusal.status, "headers": headers})
    await visit.send({"type": "websocket.http.response.body", "body": body})
