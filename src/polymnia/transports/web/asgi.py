"""The shapes of what an ASGI server gives and takes, and an answer in one piece."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from typing import Any

__all__ = ["ANSWER", "Headers", "Receive", "Scope", "SendEvent", "disconnected", "plain"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Coroutine[Any, Any, MutableMapping[str, Any]]]
SendEvent = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Headers = list[tuple[bytes, bytes]]

ANSWER = "polymnia.answer"
"""An event of our own, which ``cycle`` takes: status, headers and body at once. It ends what is sent."""


def plain(send: SendEvent, status: int, body: bytes, headers: Headers) -> Awaitable[None]:
    """Answer in one piece; the length is added to the headers."""
    if status != 204:
        headers.append((b"content-length", b"%d" % len(body)))
    return send({"type": ANSWER, "status": status, "headers": headers, "body": body})


async def disconnected(receive: Receive) -> None:
    """Wait until the client has left."""
    while (await receive())["type"] != "http.disconnect":
        pass
