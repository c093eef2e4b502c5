"""Cycle: one HTTP request and its answer on a connection.

uvicorn's own writes the head and the body of an answer one by one. Here they leave together: an answer in one piece
is one event and one call of the system, and the head of a stream waits for its first piece.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, MutableMapping
from http import HTTPStatus
from logging import Logger
from typing import Any

from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from polymnia.transports.web.asgi import ANSWER, Headers

__all__ = ["Cycle", "head"]

_CLOSE = (b"connection", b"close")
_CHUNKED = (b"transfer-encoding", b"chunked")
_LINES = {one.value: f"HTTP/1.1 {one.value} {one.phrase}".encode() for one in HTTPStatus}


def head(status: int, headers: Headers) -> bytes:
    """The head of an answer. Values are ours; one that is not one line would be somebody else's head."""
    line = _LINES.get(status) or b"HTTP/1.1 %d " % status
    lines = b"\r\n".join([line, *map(b": ".join, headers), b"\r\n"])
    if lines.count(b"\n") != len(headers) + 2:
        raise RuntimeError("A header of an answer is not one line")
    return lines


class Cycle(RequestResponseCycle):
    """A request that is being answered."""

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
        self._head = b""  # of a stream, until its first piece

    async def send(self, message: MutableMapping[str, Any]) -> None:  # type: ignore[override]
        """Send something of the answer."""
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
        if kind == ANSWER:
            self.transport.write(head(message["status"], headers) + (b"" if silent else message["body"]))
            self._complete()
            return
        sized = silent or message["status"] in (204, 304) or any(name == b"content-length" for name, _ in headers)
        if not sized and self.scope["http_version"] != "1.0":  # there the end of the connection is the end of it
            self.chunked_encoding = True
            headers = [*headers, _CHUNKED]
        self._head = head(message["status"], headers)

    def _piece(self, data: bytes, more: bool) -> None:
        """A piece of a stream, or its end."""
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
