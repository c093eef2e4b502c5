"""Serving: the listening socket, and an ASGI server that stops gracefully."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import Callable, Sequence
from types import FrameType

import uvicorn

from polymnia.errors import Unavailable
from polymnia.transports.web.application import Application
from polymnia.transports.web.connection import IDLE_SECONDS, HttpConnection
from polymnia.transports.web.monitoring import Relay
from polymnia.transports.web.tls import Certificate
from polymnia.transports.web.websocket import WebSocketConnection

_GRACE_SECONDS = 30  # in which calls may finish after a signal
_FLUSH_SECONDS = 0.05  # in which finished responses reach their sockets
_GONE_SECONDS = 60  # without a TCP acknowledgement, after which a client is considered gone
_HANDSHAKE_SECONDS = 10.0  # of TLS
_RENEW_SECONDS = 5.0  # between two looks at the files of the certificate
_PING_SECONDS = 20.0  # between two pings of a socket, and for the pong
_BACKLOG = 512
_LIBRARIES = ("uvicorn", "uvicorn.error", "uvicorn.access", "websockets", "asyncio", "polymnia.storage")


class _Server(uvicorn.Server):
    """Stops in order: no new clients, then active calls and their responses, then streams and sockets."""

    def __init__(
        self,
        config: uvicorn.Config,
        application: Application,
        started: Callable[[], None] | None,
        tls: Certificate | None,
    ) -> None:
        super().__init__(config)
        self._application = application
        self._started = started
        self._tls = tls
        self._renewing: asyncio.Task[None] | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start. With a certificate the first socket speaks TLS; the others are for processes of this server."""
        if self._tls is None or not sockets:
            await super().startup(sockets)
        else:
            await super().startup(sockets[1:])
            self.servers.append(
                await asyncio.get_running_loop().create_server(
                    self._protocol, sock=sockets[0], ssl=self._tls.context, backlog=_BACKLOG,
                    ssl_handshake_timeout=_HANDSHAKE_SECONDS,
                )
            )  # fmt: skip
            self._renewing = asyncio.ensure_future(self._renew(self._tls))
        if self._started is not None:
            self._started()

    def _protocol(self) -> asyncio.Protocol:
        return HttpConnection(config=self.config, server_state=self.server_state, app_state=self.lifespan.state)

    async def _renew(self, tls: Certificate) -> None:
        """Look regularly for a renewed certificate."""
        log = self._application.state.log
        while True:
            await asyncio.sleep(_RENEW_SECONDS)
            try:
                if tls.renew():
                    log.event("notice", "certificate", text="the certificate was loaded again")
            except Unavailable as e:
                log("error", f"{e.message}; the one before stays in use")

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Handle a signal: stop gracefully; on a second one, at once."""
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        if self._renewing is not None:
            self._renewing.cancel()
        state = self._application.state
        state.stop()
        peers = state.peers
        if peers is not None:
            peers.leave()
        for server in self.servers:
            server.close()
        for one in sockets or ():
            one.close()
        if not self.force_exit:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(None, state.scheduler.finish, _GRACE_SECONDS)
            if peers is not None:
                await peers.finish(_GRACE_SECONDS)
            await asyncio.sleep(_FLUSH_SECONDS)
        state.sessions.close()  # their streams send the rest and end
        await asyncio.sleep(_FLUSH_SECONDS)
        self._application.end_lasting("The server is stopping")
        await asyncio.sleep(_FLUSH_SECONDS)
        await super().shutdown(sockets)


def listening(host: str, port: int) -> socket.socket:
    """A listening socket; raises OSError if the address is in use or not local."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.create_server((host, port), family=family, backlog=_BACKLOG)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, _GONE_SECONDS * 1000)
    found.setblocking(False)
    return found


def private(path: str) -> socket.socket:
    """A listening socket in a folder, for the other processes of this machine."""
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    found.bind(path)
    found.listen(_BACKLOG)
    found.setblocking(False)
    return found


def serve(
    application: Application,
    bound: Sequence[socket.socket],
    started: Callable[[], None] | None = None,
    tls: Certificate | None = None,
) -> None:
    """Serve until a signal arrives; active calls are finished. ``started`` is called when clients are accepted.

    ``tls`` is for the first of the sockets alone.
    """
    for name in _LIBRARIES:
        logger = logging.getLogger(name)
        logger.handlers[:] = [Relay(application.state.log)]
        logger.setLevel(logging.WARNING)
        logger.propagate = False
    limits = application.state.limits
    config = uvicorn.Config(
        application,
        http=HttpConnection,
        ws=WebSocketConnection,
        loop="auto",
        lifespan="on",
        access_log=False,
        log_config=None,
        server_header=False,
        date_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        proxy_headers=False,
        timeout_graceful_shutdown=_GRACE_SECONDS,
        ws_max_size=limits.body_bytes,
        ws_per_message_deflate=False,
        ws_ping_interval=_PING_SECONDS,
        ws_ping_timeout=_PING_SECONDS,
    )
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    _Server(config, application, started, tls).run(sockets=[*bound])
    application.state.scheduler.finish(_GRACE_SECONDS)
