"""What carries messages to a server and back. The links to each kind of endpoint are modules of their own."""

from __future__ import annotations

from collections.abc import Mapping
from ssl import SSLContext
from typing import Protocol

from msgspec import Struct

__all__ = ["Link", "Lost", "Owner", "Target"]


class Lost(Exception):
    """The connection is gone, or could not be made. Whatever was not answered may be sent again.

    ``last`` is the id of the last event of a stream that broke; ``too_large`` says that a message was.
    """

    def __init__(self, text: str, *, last: str = "", too_large: bool = False) -> None:
        super().__init__(text)
        self.last = last
        self.too_large = too_large


class Target(Struct, frozen=True):
    """Where to connect, and with what."""

    endpoint: str
    headers: Mapping[str, str]
    command: tuple[str, ...] = ()
    ssl: SSLContext | None = None


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
