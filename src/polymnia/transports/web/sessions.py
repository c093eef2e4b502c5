"""Sessions: clients that shook hands, each with what it is owed. A session belongs to the key that began it."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress

from polymnia.transports.errors import RpcError
from polymnia.transports.rpc import Request, Server
from polymnia.transports.scheduler import CallQueue, CallScheduler
from polymnia.transports.web.auth import Principal
from polymnia.transports.web.streams import Outbox, Shelf

_KEPT_STREAMS = 8  # that have ended, for a client that comes back for the rest of one
_KEPT_BYTES = 4 * 1024 * 1024
_SHELF_BYTES = 256 * 1024 * 1024  # of all streams of all sessions
_UNREQUESTED = "0"  # the name of the stream of what answers no request


class HttpSession:
    """One client: its connection, its order of calls, and its streams."""

    def __init__(
        self,
        id: str,
        server: Server,
        principal: Principal,
        scheduler: CallScheduler,
        log: Callable[[str, str], None],
        loop: asyncio.AbstractEventLoop,
        shelf: Shelf,
    ) -> None:
        self.id = id
        self.principal = principal
        self.server = server
        self.used = time.monotonic()
        self.busy = 0  # exchanges and streams that are open
        self._shelf: Shelf | None = shelf
        self.outbox = Outbox(_UNREQUESTED, shelf)
        self._streams: OrderedDict[str, Outbox] = OrderedDict()
        self._begun = 0
        self.calls = CallQueue(scheduler)
        self.log = log
        self._loop = loop
        self.connection = principal.connection(server, self)

    @property
    def resumes(self) -> bool:
        """Whether the client knows of streams it can resume before their first event."""
        return self.connection.version >= "2025-11-25"

    def send(self, data: bytes, error: RpcError | None = None) -> None:
        """Tell the client something that belongs to no request."""
        with suppress(RuntimeError):  # the server has ended
            self._loop.call_soon_threadsafe(self.outbox.put, data)

    def run(self, request: Request) -> None:
        """Run a request in the order of this client."""
        self.calls.submit(request)

    def stream(self) -> Outbox:
        """A new stream for the answer to a message; of those that have ended few are kept."""
        ended = [one for one in self._streams.values() if one.ended]
        while len(ended) > _KEPT_STREAMS or sum(one.bytes for one in ended) > _KEPT_BYTES:
            self._streams.pop(ended.pop(0).name).close()
        self._begun += 1
        found = self._streams[str(self._begun)] = Outbox(str(self._begun), self._shelf)
        return found

    def place(self, event: str) -> tuple[Outbox, int] | None:
        """The stream an event is of, and its number there; None where it is of none that is kept."""
        name, _, number = event.partition("-")
        outbox = self.outbox if name == _UNREQUESTED else self._streams.get(name)
        if outbox is None or not (number.isascii() and number.isdecimal() and len(number) < 18):
            return None
        return outbox, min(int(number), outbox.last)

    def close(self) -> None:
        """The client is gone."""
        self._shelf = None
        for outbox in (self.outbox, *self._streams.values()):
            outbox.close()
        self.connection.close()


class Sessions:
    """The sessions of a server: bounded in number, and gone when nobody uses them."""

    def __init__(self, most: int, idle: float) -> None:
        self._most = most
        self._idle = idle
        self._held: OrderedDict[str, HttpSession] = OrderedDict()
        self.shelf = Shelf(_SHELF_BYTES)
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._held)

    def begin(self, make: Callable[[str], HttpSession], principal: Principal) -> HttpSession | None:
        """A new session; None where there are too many and all of them are in use.

        Room is made by ending an idle session of the same caller first: nobody ends those of others by beginning many.
        """
        self.expire()
        if len(self._held) >= self._most:
            idle = [one for one in self._held.values() if not one.busy]
            if not idle:
                return None
            self.end(next((one for one in idle if one.principal.caller == principal.caller), idle[0]))
        session = make(secrets.token_urlsafe(24))
        self._held[session.id] = session
        self._look_later()
        return session

    def find(self, id: str, principal: Principal, server: Server) -> HttpSession | None:
        """A session by its id: of this caller and this dialect, else it is not there. Who uses it says so."""
        session = self._held.get(id)
        if session is None or not session.principal.same(principal) or session.server is not server:
            return None
        if not session.busy and time.monotonic() - session.used > self._idle:
            self.end(session)
            return None
        return session

    def use(self, session: HttpSession) -> None:
        """A session is in use now."""
        session.used = time.monotonic()
        if session.id in self._held:
            self._held.move_to_end(session.id)

    def end(self, session: HttpSession) -> None:
        """End a session: what it asked for and has not begun never does."""
        if self._held.pop(session.id, None) is not None:
            session.connection.withdraw()
            session.close()

    def expire(self) -> None:
        """End the sessions nobody has used for long."""
        now = time.monotonic()
        for session in list(self._held.values()):
            if now - session.used <= self._idle:
                break
            if not session.busy:
                self.end(session)

    def close(self) -> None:
        """End all of them; what they asked for is left to its end."""
        if self._sweep is not None:
            self._sweep.cancel()
        while self._held:
            self._held.popitem()[1].close()

    def _look_later(self) -> None:
        """Look for sessions nobody uses even when no new one begins."""
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(max(0.1, self._idle / 4), self._look)

    def _look(self) -> None:
        self._sweep = None
        self.expire()
        if self._held:
            self._look_later()
