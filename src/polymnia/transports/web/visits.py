"""Visits: requests and sockets that are open, and how one that lasts is ended before its client ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from polymnia.transports.web.auth import Gate, Visitor

__all__ = ["Visit", "Visits"]

_LOOK_SECONDS = 1.0  # between two looks whether those who stay are still welcome


class Visit:
    """One request or socket: who came, and how far its answer is."""

    __slots__ = ("_task", "dismissed", "done", "lasts", "request", "scope", "started", "status", "visitor")

    def __init__(self, scope: MutableMapping[str, Any], request: str) -> None:
        self.scope = scope
        self.request = request
        self.visitor: Visitor | None = None
        self.status = 0
        self.started = False  # its answer has begun
        self.lasts = False  # it is a stream or a socket
        self.done = False
        self.dismissed: str | None = None  # why it was ended by us
        self._task = asyncio.current_task()

    def saw(self, event: MutableMapping[str, Any]) -> None:
        """Something is sent to the client."""
        kind = event["type"]
        if kind == "http.response.body":
            self.lasts = self.lasts or bool(event.get("more_body"))
            self.done = not event.get("more_body")
        elif kind in ("http.response.start", "websocket.http.response.start"):
            self.started, self.status = True, event["status"]
        elif kind == "websocket.accept":
            self.started = self.lasts = True
            self.status = 101
        elif kind in ("websocket.close", "websocket.http.response.body"):
            self.done = True

    def dismiss(self, reason: str) -> None:
        """End it: what serves it is cancelled, and the client is told why where there is a way."""
        if self.dismissed is None and self._task is not None:
            self.dismissed = reason
            self._task.cancel()


class Visits:
    """Those that are open."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._open: set[Visit] = set()
        self._looking: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._open)

    @contextmanager
    def entered(self, visit: Visit) -> Iterator[None]:
        """Hold a visit as open meanwhile."""
        self._open.add(visit)
        try:
            yield
        finally:
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
