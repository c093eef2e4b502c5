"""Visits: requests and sockets that are open, and how one that lasts is ended before its client ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from polymnia.transports.web.asgi import ANSWER, Headers, Scope, SendEvent
from polymnia.transports.web.auth import Gate, Visitor

__all__ = ["Visit", "Visits"]

_HEADS = frozenset((ANSWER, "http.response.start", "websocket.http.response.start"))
_LOOK_SECONDS = 1.0  # between two looks whether those who stay are still welcome


class Visit:
    """One request or socket: who came, and how far its answer is."""

    __slots__ = (
        "_headed", "_send", "_task", "dismissed", "done", "granted", "lasts", "request", "scope", "started", "status",
        "visitor",
    )  # fmt: skip

    def __init__(
        self, scope: Scope, request: str, send: SendEvent, headed: Callable[[Visit, Headers], Headers]
    ) -> None:
        self.scope = scope
        self.request = request
        self.visitor: Visitor | None = None
        self.granted: Headers = []  # to the page it comes from
        self.status = 0
        self.started = False  # its answer has begun
        self.lasts = False  # it is a stream or a socket
        self.done = False
        self.dismissed: str | None = None  # why it was ended by us
        self._send = send
        self._headed = headed  # adds the headers that every answer has
        self._task: asyncio.Task[Any] | None = None

    def send(self, event: MutableMapping[str, Any]) -> Awaitable[None]:
        """Send something to the client, and see how far its answer is."""
        kind = event["type"]
        if kind in _HEADS:
            event["headers"] = self._headed(self, event["headers"])
            self.started, self.status = True, event["status"]
            self.done = kind == ANSWER
        elif kind == "http.response.body":
            self.done = not event.get("more_body")
            if not (self.done or self.lasts):
                self._stays()
        elif kind == "websocket.accept":
            event["headers"] = self._headed(self, event["headers"])
            self.started, self.status = True, 101
            self._stays()
        elif kind in ("websocket.close", "websocket.http.response.body"):
            self.done = True
        return self._send(event)

    def dismiss(self, reason: str) -> None:
        """End it: what serves it is cancelled, and the client is told why where there is a way."""
        if self.dismissed is None and self._task is not None:
            self.dismissed = reason
            self._task.cancel()

    def _stays(self) -> None:
        self.lasts = True
        self._task = asyncio.current_task()


class Visits:
    """Those that are open."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._open: set[Visit] = set()
        self._looking: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._open)

    def enter(self, visit: Visit) -> None:
        """Hold a visit as open."""
        self._open.add(visit)

    def leave(self, visit: Visit) -> None:
        """It is over."""
        self._open.discard(visit)

    def begin(self) -> None:
        """Look from time to time whether those who stay are still welcome; where nobody needs a key, all are."""
        if self._gate.who is not None:
            self._looking = asyncio.ensure_future(self._look())

    def end(self, reason: str) -> None:
        """End all that last."""
        if self._looking is not None:
            self._looking.cancel()
        for visit in list(self._open):
            if visit.lasts and not visit.done:
                visit.dismiss(reason)

    async def _look(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for visit in list(self._open):
                if visit.lasts and visit.visitor is not None and not self._gate.welcomes(visit.scope, visit.visitor):
                    visit.dismiss("This key opens nothing here any more")
