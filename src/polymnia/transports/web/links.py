"""Connections between the processes of one server: HTTP requests whose answers are read as they come."""

from __future__ import annotations

import asyncio
import select
import socket
import time

import httptools

from polymnia.transports.errors import Headers

_CONNECT_SECONDS = 1.0
_IDLE_SECONDS = 30.0  # that a connection is kept for the next request; the other process waits for longer
_PIECE = 64 * 1024
_UNIX = "unix:"
# Seconds of silence, between questions and their number, and milliseconds for what was sent: 40 seconds in all.
# The second is called so on macOS alone.
_WATCHFUL = {"TCP_KEEPIDLE": 20, "TCP_KEEPALIVE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4, "TCP_USER_TIMEOUT": 40_000}


class PeerLink:
    """A connection to another process: one request at a time, its answer in pieces."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._used = 0.0
        self._reset()

    def _reset(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        self._headers: Headers = []
        self._has_head = self._complete = self._stays_open = False
        self._pieces: list[bytes] = []

    # ── what the parser reports ───────────────────────────────────────────────────────────────────────

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header has come."""
        self._headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """All of them have."""
        self._has_head = True
        self._stays_open = self._parser.should_keep_alive()  # not known any more once the answer is complete
        self.status = self._parser.get_status_code()

    def on_body(self, data: bytes) -> None:
        """A piece of the body has come."""
        self._pieces.append(data)

    def on_message_complete(self) -> None:
        """The answer is complete."""
        self._complete = True
        self._used = time.monotonic()

    # ── what is asked ─────────────────────────────────────────────────────────────────────────────────

    async def ask(self, request: bytes) -> Headers:
        """Send a request; returns the headers of its answer."""
        self._reset()
        self._writer.write(request)
        await self._writer.drain()
        while not self._has_head:
            await self._read()
        return self._headers

    @property
    def is_stream(self) -> bool:
        """Whether the answer comes in pieces as they are made."""
        return any(name == b"transfer-encoding" for name, _ in self._headers)

    async def piece(self) -> bytes | None:
        """The next piece of the answer; None after the last."""
        while not self._pieces and not self._complete:
            await self._read()
        found, self._pieces = b"".join(self._pieces), []
        return found if found or not self._complete else None

    async def whole(self) -> bytes:
        """The answer in one piece."""
        while not self._complete:
            await self._read()
        return b"".join(self._pieces)

    async def _read(self) -> None:
        data = await self._reader.read(_PIECE)
        if not data:
            raise ConnectionResetError
        self._parser.feed_data(data)

    @property
    def is_reusable(self) -> bool:
        """Whether another request can follow."""
        return self._complete and self._stays_open and not self._writer.is_closing()

    @property
    def is_fresh(self) -> bool:
        """Whether it is still open, and was used not long ago.

        The system is asked: the event loop may not have been told yet that the other process has died.
        """
        if self._writer.is_closing() or time.monotonic() - self._used > _IDLE_SECONDS:
            return False
        ends = select.poll()
        ends.register(self._writer.get_extra_info("socket").fileno(), select.POLLIN)
        return not ends.poll(0)

    def abort(self) -> None:
        """Close it at once."""
        self._writer.transport.abort()


async def connect(address: str) -> PeerLink:
    """A new connection to another process; raises OSError."""
    async with asyncio.timeout(_CONNECT_SECONDS):
        if address.startswith(_UNIX):
            return PeerLink(*await asyncio.open_unix_connection(address.removeprefix(_UNIX)))
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
        _watch(writer.get_extra_info("socket"))
        return PeerLink(reader, writer)


def _watch(connection: socket.socket) -> None:
    """Have a connection break within a minute if the machine at its other end is gone, which says nothing itself."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _WATCHFUL.items():
        if hasattr(socket, name):  # not every system has all of them
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
