"""House: what all addresses of a network server share: threads, sessions, limits and the log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, MutableMapping, Sequence
from typing import Any

from msgspec import Struct

from polymnia.transports.errors import RpcError
from polymnia.transports.rpc import Connection, Server, Weight
from polymnia.transports.web.answers import unread
from polymnia.transports.web.asgi import Receive, Scope
from polymnia.transports.web.auth import Refusal, Visitor
from polymnia.transports.web.begun import in_task
from polymnia.transports.web.log import Log
from polymnia.transports.web.rates import Key, Rates
from polymnia.transports.web.sessions import Session, Sessions
from polymnia.transports.web.workers import Workers

__all__ = ["House", "Limits"]

_BODY_SECONDS = 30.0  # in which a message must be whole


class Limits(Struct, frozen=True, kw_only=True):
    """How much of everything there may be."""

    body_bytes: int = 16 * 1024 * 1024
    held_bytes: int = 256 * 1024 * 1024
    sessions: int = 1000
    session_idle: float = 3600.0
    connections: int = 1000
    threads: int = 8


class House:
    """One server of the network."""

    def __init__(self, limits: Limits, log: Log, rates: Rates | None = None) -> None:
        self.limits = limits
        self.rates = rates
        self.log = log
        self.workers = Workers(limits.threads)
        self.sessions = Sessions(limits.sessions, limits.session_idle)
        self.begun = time.monotonic()
        self.stopping = False
        self._named = 0
        self._held = 0  # bytes of messages that are not whole yet
        self._awaited: set[asyncio.Timeout] = set()  # what the rest of a message is waited for with

    def name(self, what: str) -> str:
        """A name nobody has had before."""
        self._named += 1
        return f"{what} {self._named}"

    def admit(self, connection: Connection, session: str, visitor: Visitor, *, lasts: bool = True) -> None:
        """Count the requests of a connection as those of a session, and heavy calls as those of its visitor.

        Where no connection lasts, a call that names a session of the memory counts as one of that session.
        """
        if self.rates is not None:
            rates, caller = self.rates, visitor.caller

            def admit(weight: Weight, named: str) -> None:
                if weight == "talk":
                    rates.talk(session)
                else:
                    bucket = session if lasts or not named else f"{session} session {named}"
                    rates.take(bucket, heavy=weight == "heavy", caller=caller)

            connection.admit = admit

    def counted(self) -> list[Key]:
        """The limits that the request counted last has to keep: asked at once, before another one is counted."""
        return [] if self.rates is None else self.rates.counted()

    def standing(self, session: str, counted: Sequence[Key] = ()) -> list[tuple[bytes, bytes]]:
        """What the headers of an answer say of the limits; ``counted`` are those its request had to keep."""
        return [] if self.rates is None else self.rates.stand(session, counted).headers()

    def begin(self, server: Server, visitor: Visitor, id: Any = None) -> Session:
        """A new session for a client that shakes hands by the request ``id``.

        So many a minute may begin as one of them may send calls.
        """
        if self.rates is not None:
            try:
                self.rates.begin(visitor.caller)
            except RpcError as e:
                raise _limited(e, id, self.standing(visitor.caller, self.counted())) from None
        loop = asyncio.get_running_loop()
        session = self.sessions.begin(
            lambda id: Session(id, server, visitor, self.workers, self.log, loop, self.sessions.shelf), visitor
        )
        if session is None:
            raise Refusal(503, "There are too many sessions; try again later", [(b"retry-after", b"60")])
        self.admit(session.connection, session.id, visitor)
        return session

    async def body(self, scope: Scope, headers: Mapping[bytes, bytes], receive: Receive) -> bytes:
        """What a client sends, all of it: not too much, and not too slowly. Most of it is there already."""
        most = self.limits.body_bytes
        declared = headers.get(b"content-length", b"0")
        if len(declared) > 18 or (declared.isdigit() and int(declared) > most):
            raise self._too_large()
        if (whole := scope["state"].get("body")) is not None:
            return self._fitting(whole)
        first = await self._more(receive, _BODY_SECONDS)
        if not first.get("more_body"):
            return self._fitting(first.get("body", b""))
        parts, size = [first.get("body", b"")], len(first.get("body", b""))
        until = time.monotonic() + _BODY_SECONDS
        self.hold(size)
        try:
            while True:
                part = await self._more(receive, until - time.monotonic())
                parts.append(part.get("body", b""))
                size += len(parts[-1])
                self.hold(len(parts[-1]))
                if size > most:
                    raise self._too_large()
                if not part.get("more_body"):
                    return b"".join(parts)
                if self.is_full:
                    raise unread(503, "Too much is being sent at once; try again later", [(b"retry-after", b"5")])
        finally:
            self.hold(-size)

    @property
    def patience(self) -> float:
        """Seconds in which a message must be whole."""
        return _BODY_SECONDS

    @property
    def is_full(self) -> bool:
        """Whether messages that are not whole take more room than they may."""
        return self._held > self.limits.held_bytes

    def hold(self, more: int) -> None:
        """So many more bytes of messages that are not whole are here, or fewer."""
        self._held += more

    def _too_large(self) -> Refusal:
        return unread(413, f"A message may have {self.limits.body_bytes:,} bytes, the limit max_message_bytes")

    def _fitting(self, body: bytes) -> bytes:
        if len(body) > self.limits.body_bytes:
            raise self._too_large()
        return body

    async def _more(self, receive: Receive, seconds: float) -> MutableMapping[str, Any]:
        await in_task()
        if self.stopping:
            raise self.over()
        timeout = asyncio.timeout(max(0.01, seconds))
        try:
            async with timeout:
                self._awaited.add(timeout)
                part = await receive()
        except TimeoutError:
            raise self.over() if self.stopping else unread(408, "The message came too slowly") from None
        finally:
            self._awaited.discard(timeout)
        if part["type"] == "http.disconnect":
            raise Refusal(499, "The client left before its message was whole")
        return part

    def over(self) -> Refusal:
        """What somebody is told whose message comes while the server ends."""
        return unread(503, "The server is stopping", [(b"retry-after", b"5"), (b"connection", b"close")])

    def stop(self) -> None:
        """Take nothing new, and wait for the rest of no message: whoever has not said all of it may be silent."""
        self.stopping = True
        now = asyncio.get_running_loop().time()
        for timeout in self._awaited:
            timeout.reschedule(now)

    def close(self) -> None:
        """End everything; calls under way are left to their end."""
        self.stopping = True
        self.sessions.close()
        self.workers.close()


def _limited(error: RpcError, id: Any, standing: list[tuple[bytes, bytes]]) -> Refusal:
    """A refusal of the limits where there is no session that could answer."""
    wait = str(error.data["retry_after"]).encode()
    return Refusal(429, error.message, [(b"retry-after", wait), *standing], code=error.code, data=error.data, id=id)
