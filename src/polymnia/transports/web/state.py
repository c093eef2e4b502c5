"""The state of a network server: threads, sessions, the log, and its limits.

Rate limits: a window starts with the first call and lasts a minute, and exactly as many calls pass in it as the limit
allows. Heavy calls count for the caller (a key, or an address where there are no keys) and not for a session, so that
opening many sessions does not help. Requests that call no tool (a handshake, a ping, a list) are counted separately
by the same limits. A refused request is not counted and starts no window, so the global limit also bounds the number
of windows.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from polymnia.operation import SECONDS
from polymnia.transports.errors import INVALID_REQUEST, RATE_LIMITED, Headers, Refusal, RpcError
from polymnia.transports.log import Log
from polymnia.transports.rpc import Connection, Request, Server, Weight
from polymnia.transports.scheduler import CallQueue, CallScheduler
from polymnia.transports.web.auth import Principal
from polymnia.transports.web.connection import ActiveRequest, Receive, in_task
from polymnia.transports.web.streams import Outbox, StoredBytes

if TYPE_CHECKING:
    from polymnia.transports.web.peers import Peers

_KEPT_STREAMS = 8  # finished streams, for a client that resumes one
_KEPT_BYTES = 4 * 1024 * 1024
_MOST_STORED_BYTES = 256 * 1024 * 1024  # of all streams of all sessions
_UNREQUESTED = "0"  # the name of the stream for notifications that belong to no request


class HttpSession:
    """One client: its connection, its queue of calls, and its streams.

    With an ``id`` it is one that was begun elsewhere. Its streams are called otherwise than the ones it had there.
    """

    def __init__(self, state: ServerState, server: Server, principal: Principal, id: str | None = None) -> None:
        self.id = id or secrets.token_urlsafe(24)
        self._prefix = "" if id is None else secrets.token_hex(4) + "."
        self.principal = principal
        self.server = server
        self.used = time.monotonic()
        self.busy = 0  # open exchanges and streams
        self._stored: StoredBytes | None = state.sessions.stored
        self.outbox = Outbox(self._prefix + _UNREQUESTED, self._stored)
        self._streams: OrderedDict[str, Outbox] = OrderedDict()
        self._begun = 0
        self.calls = CallQueue(state.scheduler)
        self.log = state.log
        self._loop = asyncio.get_running_loop()
        self.connection = principal.connection(server, self)

    @property
    def resumes(self) -> bool:
        """Whether the client can resume a stream before its first event."""
        return self.connection.version >= "2025-11-25"

    def send(self, data: bytes, error: RpcError | None = None) -> None:
        """Send the client something that belongs to no request."""
        with suppress(RuntimeError):  # the event loop has stopped
            self._loop.call_soon_threadsafe(self.outbox.put, data)

    def run(self, request: Request) -> None:
        """Run a request in the order of this client."""
        self.calls.submit(request)

    def stream(self) -> Outbox:
        """A new stream for the response to a message; only a few finished streams are stored."""
        ended = [one for one in self._streams.values() if one.ended]
        while len(ended) > _KEPT_STREAMS or sum(one.bytes for one in ended) > _KEPT_BYTES:
            self._streams.pop(ended.pop(0).name).close()
        self._begun += 1
        name = f"{self._prefix}{self._begun}"
        found = self._streams[name] = Outbox(name, self._stored)
        return found

    def place(self, event: str) -> tuple[Outbox, int] | None:
        """The stream of an event and the event's number in it; None if that stream is not stored."""
        name, _, number = event.partition("-")
        if self._prefix and name.rpartition(".")[2] == _UNREQUESTED and name != self.outbox.name:
            return self.outbox, 0  # what it had elsewhere is gone
        outbox = self.outbox if name == self.outbox.name else self._streams.get(name)
        if outbox is None or not (number.isascii() and number.isdecimal() and len(number) < 18):
            return None
        return outbox, min(int(number), outbox.last)

    def close(self) -> None:
        """End the session."""
        self._stored = None
        for outbox in (self.outbox, *self._streams.values()):
            outbox.close()
        self.connection.close()


class Sessions:
    """The sessions of a server: bounded in number, and closed when idle."""

    def __init__(self, most: int, idle: float) -> None:
        self._most = most
        self._idle = idle
        self._held: OrderedDict[str, HttpSession] = OrderedDict()
        self.ended: Callable[[str], None] | None = None  # told of the id of each that has ended for good
        self.stored = StoredBytes(_MOST_STORED_BYTES)
        self._sweep: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, id: str) -> bool:
        return id in self._held

    def __iter__(self) -> Iterator[HttpSession]:
        return iter(list(self._held.values()))

    def begin(self, make: Callable[[], HttpSession], principal: Principal) -> HttpSession | None:
        """Open a session; None if there are too many and all of them are in use.

        An idle session of the same caller makes room first: nobody evicts the sessions of others by opening many.
        """
        self.expire()
        if len(self._held) >= self._most:
            idle = [one for one in self._held.values() if not one.busy]
            if not idle:
                return None
            self.end(next((one for one in idle if one.principal.caller == principal.caller), idle[0]))
        session = make()
        self._held[session.id] = session
        self._schedule_sweep()
        return session

    def find(self, id: str, principal: Principal, server: Server) -> HttpSession | None:
        """The session of an id, if it belongs to this caller and this dialect. Call ``use`` when using it."""
        session = self._held.get(id)
        if session is None or not session.principal.same(principal) or session.server is not server:
            return None
        if not session.busy and time.monotonic() - session.used > self._idle:
            self.end(session)
            return None
        return session

    def use(self, session: HttpSession) -> None:
        """Mark a session as used."""
        session.used = time.monotonic()
        if session.id in self._held:
            self._held.move_to_end(session.id)

    def end(self, session: HttpSession) -> None:
        """Close a session; requests that have not started are cancelled."""
        if session.id in self._held:
            self.drop(session)
            if self.ended is not None:
                self.ended(session.id)

    def drop(self, session: HttpSession) -> None:
        """Close a session here, wherever else it goes on."""
        if self._held.pop(session.id, None) is not None:
            session.connection.cancel_all()
            session.close()

    def expire(self) -> None:
        """Close the sessions that have been idle for too long."""
        now = time.monotonic()
        for session in list(self._held.values()):
            if now - session.used <= self._idle:
                break
            if not session.busy:
                self.end(session)

    def close(self) -> None:
        """Close all of them; requests under way are finished."""
        if self._sweep is not None:
            self._sweep.cancel()
        while self._held:
            self._held.popitem()[1].close()

    def _schedule_sweep(self) -> None:
        """Expire idle sessions even when no new one is opened."""
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(max(0.1, self._idle / 4), self._run_sweep)

    def _run_sweep(self) -> None:
        self._sweep = None
        self.expire()
        if self._held:
            self._schedule_sweep()


BODY_SECONDS = 30.0  # in which a message must be complete
WINDOW = 60.0  # seconds in which a limit holds
_MOST_WINDOWS = 50_000
_TALK = "requests a minute that call nothing (handshakes, pings, lists)"
_LIMIT_NAMES = {
    ("global", "calls"): "calls a minute for all callers together",
    ("session", "calls"): "calls a minute for one session",
    ("heavy", "calls"): "calls a minute for heavy operations of one caller",
    ("key", "calls"): "calls a minute for this key",
    ("explorer", "calls"): "calls a minute of the explorer for one caller",
    ("global", "talk"): f"{_TALK} for all callers together",
    ("session", "talk"): f"{_TALK} for one session",
    ("session", "begun"): "sessions a minute that one caller begins",
}
_OPTIONS = {
    "global": "--rate-limit", "session": "--rate-limit-session", "heavy": "--rate-limit-heavy",
    "explorer": "--rate-limit-explorer",
}  # fmt: skip

Key = tuple[str, str, str]  # the limit, what is counted, and for whom


class RateLimiter:
    """The limits per minute of one server. Not thread-safe: only the event loop uses it."""

    def __init__(
        self,
        everybody: int,
        session: int,
        heavy: int,
        explorer: int = 600,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = {"global": everybody, "session": session, "heavy": heavy, "explorer": explorer}
        self._own: dict[str, int] = {}  # the limits of keys that have one, by caller
        self._clock = clock
        self._everybody = {"calls": [float("-inf"), 0.0], "talk": [float("-inf"), 0.0]}  # start and count
        self._windows: OrderedDict[Key, list[float]] = OrderedDict()
        self._latest: list[Key] = []  # what was last counted, or the limit that refused it

    def __len__(self) -> int:
        return len(self._windows)

    def take(self, session: str, *, heavy: bool = False, caller: str | None = None, own: int | None = None) -> None:
        """Count one call for its session, and a heavy one for its caller; refused once a limit is reached.

        ``own`` is a limit of the caller itself.
        """
        self._take([("global", "calls", ""), ("session", "calls", session), *self._of(caller or session, heavy, own)])

    def explore(self, caller: str, *, heavy: bool = False, own: int | None = None) -> None:
        """Count one call of the explorer for its caller, however many pages it has open."""
        self._take([("global", "calls", ""), ("explorer", "calls", caller), *self._of(caller, heavy, own)])

    def _of(self, caller: str, heavy: bool, own: int | None) -> list[Key]:
        """The limits of a caller that a call is counted against."""
        keys = [("heavy", "calls", caller)] if heavy else []
        if own is not None:
            self._own[caller] = own
            keys.append(("key", "calls", caller))
        return keys

    def _limit(self, key: Key) -> int:
        return self._own[key[2]] if key[0] == "key" else self._limits[key[0]]

    def talk(self, session: str) -> None:
        """Count one request of a session that calls no tool."""
        self._take([("global", "talk", ""), ("session", "talk", session)])

    def begin(self, caller: str) -> None:
        """Count a new session of a caller; the limit is that of calls in a session."""
        self._take([("session", "begun", caller)])

    def counted(self) -> list[Key]:
        """The limits the last request was counted against, or the one that refused it; returned once."""
        latest, self._latest = self._latest, []
        return latest

    def headers(self, session: str, keys: Sequence[Key] = ()) -> Headers:
        """Response headers with the limit closest to being reached; without ``keys``, of any call in the session."""
        now = self._clock()
        keys = keys or [("global", "calls", ""), ("session", "calls", session)]
        nearest, least, begun = keys[0], float("inf"), now
        for key in keys:
            window = self._find(key, now)
            left = self._limit(key) - (0.0 if window is None else window[1])
            if left < least:
                nearest, least, begun = key, left, now if window is None else window[0]
        return [
            (b"x-ratelimit-limit", b"%d" % self._limit(nearest)),
            (b"x-ratelimit-remaining", b"%d" % max(0.0, least)),
            (b"x-ratelimit-reset", b"%d" % (time.time() + begun + WINDOW - now + 0.999)),
            (b"x-ratelimit-type", nearest[0].encode()),
        ]

    def _take(self, keys: list[Key]) -> None:
        now = self._clock()
        windows = []
        for key in keys:
            window = self._find(key, now)
            if window is not None and window[1] >= self._limit(key):
                self._latest = [key]
                raise self._refusal(key, window[0] + WINDOW - now)
            windows.append(window)
        for key, window in zip(keys, windows, strict=True):
            (window or self._begin(key, now))[1] += 1
        self._latest = keys

    def _find(self, key: Key, now: float) -> list[float] | None:
        """The window of a key, unless it has expired."""
        window = self._everybody[key[1]] if key[0] == "global" else self._windows.get(key)
        return window if window is not None and now - window[0] < WINDOW else None

    def _begin(self, key: Key, now: float) -> list[float]:
        """Start a window; expired ones are dropped, and the oldest if there are too many."""
        window = [now, 0.0]
        if key[0] == "global":
            self._everybody[key[1]] = window
            return window
        self._windows[key] = window
        self._windows.move_to_end(key)
        while len(self._windows) > _MOST_WINDOWS or now - next(iter(self._windows.values()))[0] >= WINDOW:
            self._windows.popitem(last=False)
        return window

    def _refusal(self, key: Key, seconds: float) -> RpcError:
        type, limit = key[0], self._limit(key)
        option = (
            f"serve {_OPTIONS[type]}" if type in _OPTIONS else f"keys set {key[2].removeprefix('key ')} --max-calls"
        )
        wait = max(1, int(seconds) + (seconds > int(seconds)))
        data = {
            "error_type": "rate_limited",
            "details": {"type": type, "limit": limit, "window_seconds": 60, "retry_after": wait},
            "retry_after": wait,
            "suggestions": [
                f"Wait {wait} seconds and call again",
                "Send fewer calls, or larger ones",
                f"If you run the server, allow more: polymnia {option} {limit * 10}",
            ],
        }
        return RpcError(RATE_LIMITED, f"Rate limit exceeded: {limit:,} {_LIMIT_NAMES[key[:2]]}", data)


class ServerLimits(Struct, frozen=True, kw_only=True):
    """The limits of a network server."""

    body_bytes: int = 16 * 1024 * 1024
    held_bytes: int = 256 * 1024 * 1024
    sessions: int = 1000
    session_idle: float = 3600.0
    connections: int = 1000
    threads: int = 8


class ServerState:
    """The state of one network server."""

    def __init__(self, limits: ServerLimits, log: Log, rates: RateLimiter) -> None:
        self.limits = limits
        self.rates = rates
        self.log = log
        self.scheduler = CallScheduler(limits.threads)
        self.sessions = Sessions(limits.sessions, limits.session_idle)
        self.peers: Peers | None = None  # the other processes of this server, if it has any
        self.stopping = False
        self.gauges: dict[str, tuple[str, Callable[[], int]]] = {}  # for the metrics: description and current value
        self.requests: dict[tuple[str, int], int] = {}  # answered, by path and status
        self.seconds = 0.0  # they took in all
        self.durations = [0] * (len(SECONDS) + 1)  # how many took up to so many seconds each
        self._sockets = 0
        self._held = 0  # bytes of incomplete messages
        self._body_timeouts: set[asyncio.Timeout] = set()  # timeouts of messages that are still arriving

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self.requests[path, status] = self.requests.get((path, status), 0) + 1
        self.seconds += seconds
        self.durations[bisect_left(SECONDS, seconds)] += 1

    # ── who may do how much ───────────────────────────────────────────────────────────────────────────

    def socket_name(self) -> str:
        """A name for a socket, to count its calls by."""
        self._sockets += 1
        return f"socket {self._sockets}" if self.peers is None else f"socket {self.peers.number}.{self._sockets}"

    def limit(self, connection: Connection, session: str, principal: Principal, *, lasts: bool = True) -> None:
        """Count the requests of a connection for a session, and its heavy calls for the caller.

        Without a lasting connection, a call that names a session of the memory counts for that session.
        """
        rates, caller, own = self.rates, principal.caller, principal.calls

        def admit(weight: Weight, named: str) -> None:
            if weight == "talk":
                rates.talk(session)
            else:
                bucket = session if lasts or not named else f"{session} session {named}"
                rates.take(bucket, heavy=weight == "heavy", caller=caller, own=own)

        connection.admit = admit

    def begin(self, server: Server, principal: Principal, id: Any = None) -> HttpSession:
        """Open a session for a client whose handshake is the request ``id``."""
        try:
            self.rates.begin(principal.caller)
        except RpcError as e:
            headers = self.rates.headers(principal.caller, self.rates.counted())
            headers.append((b"retry-after", str(e.data["retry_after"]).encode()))
            raise Refusal(429, e.message, headers, code=e.code, data=e.data, id=id) from None
        return self.add(lambda: HttpSession(self, server, principal), principal)

    def add(self, make: Callable[[], HttpSession], principal: Principal) -> HttpSession:
        """Add a session, which is made when there is room for it."""
        session = self.sessions.begin(make, principal)
        if session is None:
            raise Refusal(503, "There are too many sessions; try again later", [(b"retry-after", b"60")])
        self.limit(session.connection, session.id, principal)
        return session

    # ── messages on their way ─────────────────────────────────────────────────────────────────────────

    async def body(self, active: ActiveRequest) -> bytes:
        """The whole body of a request, limited in size and time. Usually it has already arrived."""
        most = self.limits.body_bytes
        declared = active.headers.get(b"content-length", b"0")
        if len(declared) > 18 or (declared.isdigit() and int(declared) > most):
            raise self._too_large()
        if (whole := active.scope["state"].get("body")) is not None:
            return self._fitting(whole)
        first = await self._more(active.receive, BODY_SECONDS)
        if not first.get("more_body"):
            return self._fitting(first.get("body", b""))
        parts, size = [first.get("body", b"")], len(first.get("body", b""))
        until = time.monotonic() + BODY_SECONDS
        self.hold(size)
        try:
            while True:
                part = await self._more(active.receive, until - time.monotonic())
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
    def is_full(self) -> bool:
        """Whether incomplete messages take more memory than allowed."""
        return self._held > self.limits.held_bytes

    def hold(self, more: int) -> None:
        """Count bytes of incomplete messages, up or down."""
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
            raise self.stopping_refusal()
        timeout = asyncio.timeout(max(0.01, seconds))
        try:
            async with timeout:
                self._body_timeouts.add(timeout)
                part = await receive()
        except TimeoutError:
            raise self.stopping_refusal() if self.stopping else unread(408, "The message came too slowly") from None
        finally:
            self._body_timeouts.discard(timeout)
        if part["type"] == "http.disconnect":
            raise Refusal(499, "The client left before its message was whole")
        return part

    # ── the end ───────────────────────────────────────────────────────────────────────────────────────

    def stopping_refusal(self) -> Refusal:
        """The refusal of a message that arrives while the server is stopping."""
        return unread(503, "The server is stopping", [(b"retry-after", b"5"), (b"connection", b"close")])

    def stop(self) -> None:
        """Accept nothing new, and stop waiting for clients and incomplete messages: the rest may never come."""
        self.stopping = True
        self.scheduler.stop_waiting()
        now = asyncio.get_running_loop().time()
        for timeout in self._body_timeouts:
            timeout.reschedule(now)


class DialectEndpoint:
    """One dialect at one path."""

    def __init__(self, state: ServerState, server: Server) -> None:
        self._state = state
        self._server = server


def unread(status: int, message: str, headers: Sequence[tuple[bytes, bytes]] = ()) -> Refusal:
    """The refusal of a message that was not decoded, so that its id is unknown."""
    return Refusal(status, message, headers, code=INVALID_REQUEST)
