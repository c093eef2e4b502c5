"""What carries messages to a server and back. The links to each kind of endpoint are modules of their own."""

from __future__ import annotations

import errno
import os
import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from typing import Protocol

from msgspec import Struct

__all__ = ["Link", "Lost", "Owner", "Target", "lost_by", "no_endpoint"]

_RUNNING = "Check that the server is running (polymnia serve) and that the address is right"
_PASSING = (ssl.SSLEOFError, ssl.SSLZeroReturnError, ssl.SSLSyscallError)  # the connection was cut, not refused


class Lost(Exception):
    """The connection is gone, or could not be made. Whatever was not answered may be sent again.

    ``last`` is the id of the last event of a stream that broke; ``too_large`` says that a message was; ``final`` that
    trying again will not help.
    """

    def __init__(
        self,
        text: str,
        *,
        last: str = "",
        too_large: bool = False,
        final: bool = False,
        suggestions: Sequence[str] = (_RUNNING,),
    ) -> None:
        super().__init__(text)
        self.last = last
        self.too_large = too_large
        self.final = final
        self.suggestions = suggestions


def lost_by(error: Exception) -> Lost:
    """What an error of the network means: in words, and whether trying again may help."""
    if isinstance(error, ssl.SSLCertVerificationError):
        why = getattr(error, "verify_message", "") or str(error)
        known = "Name the authority that signed it: ssl=ssl.create_default_context(cafile='ca.pem')"
        return Lost(f"its certificate is not accepted: {why}", final=True, suggestions=[known])
    if isinstance(error, ssl.SSLError) and not isinstance(error, _PASSING):
        return Lost(f"TLS failed: {error.reason or error}", final=True)
    if isinstance(error, socket.gaierror):
        return Lost(f"its host was not found: {error.strerror}")
    numbers = re.findall(r"\[Errno (\d+)\]", str(error))  # a host with several addresses has an error for each
    number = int(numbers[-1]) if numbers else getattr(error, "errno", None)
    if isinstance(number, int) and number in errno.errorcode:
        return Lost(f"{os.strerror(number).lower()} ({errno.errorcode[number]})")
    return Lost(str(error) or type(error).__name__)


def no_endpoint(what: str) -> Lost:
    """Something answered, and it is no MCP endpoint."""
    paths = "A Polymnia server has its WebSocket at /ws (ws://HOST:PORT/ws) and HTTP at /mcp (http://HOST:PORT/mcp)"
    return Lost(f"there is no MCP endpoint at this address, {what}. {paths}", final=True, suggestions=[paths])


class Target(Struct, frozen=True):
    """Where to connect, and with what."""

    endpoint: str
    headers: Mapping[str, str]
    command: tuple[str, ...] = ()
    ssl: ssl.SSLContext | None = None


class Owner(Protocol):
    """What a link tells of what happens."""

    def receive(self, data: bytes | bytearray | str) -> None:
        """A message has come."""

    def waits(self, id: int) -> bool:
        """Whether a request is not answered yet."""

    def fail(self, id: int, error: Exception) -> None:
        """A request will not be answered."""

    def lost(self, link: Link, error: Lost) -> None:
        """The link can carry nothing any more."""


class Link(Protocol):
    """One connection."""

    async def open(self) -> None:
        """Connect. Raises Lost where trying again may help, and an error of the client where it will not."""

    def send(self, id: int, data: bytes) -> None:
        """Send a request. Raises Lost, or reports that later."""

    def notify(self, data: bytes) -> None:
        """Send what has no answer; it may be dropped where the connection is gone."""

    def forget(self, id: int) -> None:
        """Nobody waits for the answer to this request any more."""

    def agreed(self, version: str) -> None:
        """The handshake is done, with this version of the protocol."""

    def listen(self) -> None:
        """Notifications of the server are wanted."""

    async def close(self) -> None:
        """Disconnect."""
