"""The API: one operation per address, JSON in and JSON out; downloads; and a stream of the changes of all projects."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from contextlib import suppress
from functools import partial
from tempfile import SpooledTemporaryFile
from typing import IO, Any
from urllib.parse import parse_qs, quote

from msgspec.json import encode

from polymnia import errors
from polymnia.errors import BadArguments, Cancelled, Fault, Interrupted, Unavailable
from polymnia.operation import Context, Download, Memory, Operation, as_object
from polymnia.schemas import JsonObject
from polymnia.transports.errors import (
    CODES,
    INTERNAL_ERROR,
    UNAVAILABLE,
    Headers,
    Refusal,
    RpcError,
    from_fault,
)
from polymnia.transports.rpc import BadMessage, Request, Server
from polymnia.transports.web.auth import Principal
from polymnia.transports.web.connection import JSON, ActiveRequest, in_task
from polymnia.transports.web.http import Exchange, check_type
from polymnia.transports.web.state import DialectEndpoint, ServerState
from polymnia.transports.web.streams import SILENCE

CLIENT = "explorer"
"""How the history calls who uses the API."""
_USUAL_SECONDS = 0.05  # in which most calls are answered: until then we do not watch for a disconnect
_IN_MEMORY = 4 * 1024 * 1024  # bytes of a download; a larger one goes through a file that nobody else can open
_PIECE = 256 * 1024
_WAITING = 1_000  # events that a client may be behind; then it has to come back
_QUERY_PARAMETERS = ("format", "project", "scope")
_PRIVATE = [(b"cache-control", b"no-store"), (b"x-content-type-options", b"nosniff")]
_STATUS: dict[type[Fault], int] = {
    Fault: 500,
    errors.Invalid: 400,
    errors.OverLimit: 413,
    errors.NotFound: 404,
    errors.AlreadyExists: 409,
    errors.ManyTexts: 409,
    errors.Conflict: 409,
    errors.Cancelled: 499,
    errors.Refused: 403,
    errors.ExportFailed: 422,
    errors.ImportFailed: 422,
    errors.Unavailable: 503,
    errors.NoSpace: 507,
}
"""The status of a fault; one that is not here has its parent's."""


class _Refused(RpcError):
    """A fault of an operation on its way to the client."""

    def __init__(self, fault: Fault) -> None:
        error = from_fault(fault)
        super().__init__(error.code, error.message)
        self.status = next(_STATUS[kind] for kind in type(fault).__mro__ if kind in _STATUS)
        details = {name: value for name, value in fault.details.items() if value is not None}
        if isinstance(fault, BadArguments):
            details["violations"] = [
                {"path": one.path, "expected": one.wanted, "given": one.given} for one in fault.violations
            ]
        self.data = {"error_type": fault.code, "details": details, "suggestions": [fault.hint] if fault.hint else []}


class ApiCall(Request):
    """One call of an operation, which is answered without an envelope."""

    __slots__ = ("file", "mime", "name", "principal", "status")

    def __init__(self, exchange: Exchange, principal: Principal, operation: Operation, arguments: bytes, id: str):
        super().__init__(exchange.connection, id, operation.name, exchange.reply)
        self.tool, self.arguments, self.writes = operation, arguments, not operation.reads
        self.principal = principal
        self.status = 200
        self.file: IO[bytes] | None = None  # that is answered instead of a value
        self.name = self.mime = ""
        self.work = self._work
        self.trace = id

    def _work(self) -> JsonObject:
        server, tool = self.connection.server, self.tool
        assert tool is not None
        try:
            arguments = server.registry.arguments(tool, self.arguments, [])
            context = self.connection.context(self)
            context.manages, context.key = self.principal.manage, self.principal.key
            try:
                reply = tool.run(context, arguments)
            except Interrupted:
                if self.writes and self.begun:
                    raise
                reply = tool.run(context, arguments)  # it has only read so far
            if reply.download is not None:
                self.name, self.mime = reply.download.name, reply.download.mime
                self.file = _written(reply.download)
        except Cancelled:
            raise
        except Fault as e:
            self.failed = CODES[type(e)] in (INTERNAL_ERROR, UNAVAILABLE)
            self.outcome = e.code
            if isinstance(e, Unavailable):
                self.connection.link.log("error", e.message)
            raise _Refused(server.redact(e, self.arguments)) from None
        value: JsonObject = {} if reply.value is None else reply.value
        return value

    def answer(self, result: Any) -> None:
        """Send the result."""
        data = encode(result)
        with self._lock:
            if not self.answered:
                self.answered = True
                self._send(data)

    def _refuse(self, error: RpcError) -> None:
        if not self.answered:
            self.answered = True
            self.status = error.status if isinstance(error, _Refused) else 500
            data = error.data
            if not isinstance(error, _Refused):
                data = {"error_type": "internal_error", "details": error.data or {}, "suggestions": []}
            self._send(encode({"error": {"code": self.status, "message": error.message, "data": data}}), error)


def _written(download: Download) -> IO[bytes]:
    """The whole file of a download. One that fails on the way is none: its fault is the answer."""
    file: IO[bytes] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - closed when sent
    try:
        download.write(file)  # type: ignore[arg-type]
    except BaseException:
        file.close()
        raise
    return file


class _Caller(DialectEndpoint):
    """Calls operations for a client."""

    async def called(self, active: ActiveRequest, operation: Operation, arguments: bytes) -> tuple[ApiCall, bytes]:
        """Call an operation and wait for its answer; a client that leaves withdraws its call."""
        state, principal = self._state, active.principal
        assert principal is not None
        self.count(principal, heavy=operation.is_heavy(arguments))
        exchange = Exchange(state, json=True, streams=False, modern=False)
        exchange.connection, exchange.caller = principal.connection(self._server, exchange), principal.caller
        exchange.connection.author = exchange.connection.author_of({"name": CLIENT})
        call = ApiCall(exchange, principal, operation, arguments, active.id)
        exchange.run(call)
        if exchange.answer is None:
            await exchange.wait(_USUAL_SECONDS)
        if exchange.answer is None:
            gone = asyncio.ensure_future(active.disconnected())
            gone.add_done_callback(lambda _: exchange.wake())
            try:
                while exchange.answer is None and not gone.done():
                    await exchange.wait(SILENCE)
            finally:
                gone.cancel()
                if exchange.answer is None:
                    call.cancel()
        if exchange.answer is None:
            raise Refusal(499, "The client left before its call was answered")
        return call, exchange.answer

    def count(self, principal: Principal, *, heavy: bool = False) -> None:
        """Count a call against the limits, or refuse it."""
        rates = self._state.rates
        try:
            rates.explore(principal.caller, heavy=heavy, own=principal.calls)
        except RpcError as e:
            headers = rates.headers(principal.caller, rates.counted())
            headers.append((b"retry-after", str(e.data["retry_after"]).encode()))
            raise Refusal(429, e.message, headers, data=e.data) from None

    def limits(self, principal: Principal) -> Headers:
        """The state of the limits."""
        keys = [("global", "calls", ""), ("explorer", "calls", principal.caller)]
        if principal.calls is not None:
            keys.append(("key", "calls", principal.caller))
        return self._state.rates.headers(principal.caller, keys)


class CallEndpoint(_Caller):
    """One operation."""

    def __init__(self, state: ServerState, server: Server, operation: Operation) -> None:
        super().__init__(state, server)
        self._operation = operation

    async def __call__(self, active: ActiveRequest) -> None:
        """Answer one call."""
        try:
            check_type(active)
            body = (await self._state.body(active)).strip()
        except Refusal as refusal:
            raise refusal.by_status() from None
        _check_nesting(body, self._server.max_nesting)
        assert active.principal is not None
        call, answer = await self.called(active, self._operation, as_object(body))
        await active.answer(call.status, answer, [JSON, *_PRIVATE, *self.limits(active.principal)])


def _check_nesting(body: bytes, most: int) -> None:
    if body.count(b"[") + body.count(b"{") <= most:
        return
    from polymnia.transports.malformed import check_nesting

    try:
        check_nesting(body, most)
    except BadMessage as e:
        raise Refusal(400, e.error.message) from None


class DownloadEndpoint(_Caller):
    """An operation that answers a file, by GET with its parameters in the address."""

    def __init__(self, state: ServerState, server: Server, operation: Operation) -> None:
        super().__init__(state, server)
        self._operation = operation

    async def __call__(self, active: ActiveRequest) -> None:
        """Send the file."""
        arguments = _query(active)
        assert active.principal is not None
        call, answer = await self.called(active, self._operation, encode(arguments))
        headers = [*_PRIVATE, *self.limits(active.principal)]
        if call.file is None:
            await active.answer(call.status, answer, [JSON, *headers])
            return
        with call.file as file:
            size = file.seek(0, 2)
            file.seek(0)
            headers += [
                (b"content-type", call.mime.encode()),
                (b"content-disposition", _attached(call.name)),
                (b"content-length", b"%d" % size),
            ]
            await in_task()
            await active.send({"type": "http.response.start", "status": 200, "headers": headers})
            while piece := file.read(_PIECE):
                await active.send({"type": "http.response.body", "body": piece, "more_body": True})
            await active.send({"type": "http.response.body", "body": b"", "more_body": False})


def _attached(name: str) -> bytes:
    """The header that names a file; what is not ASCII is added as RFC 6266 has it."""
    plain = "".join(c if c.isascii() else "-" for c in name)
    exact = "" if plain == name else f"; filename*=UTF-8''{quote(name, safe='')}"
    return f'attachment; filename="{plain}"{exact}'.encode()


def _query(active: ActiveRequest) -> dict[str, str]:
    """The parameters of an address, each given once."""
    try:
        given = parse_qs(active.scope["query_string"].decode("ascii"), keep_blank_values=True, errors="strict")
    except ValueError:
        raise Refusal(400, "The address has parameters that are no UTF-8") from None
    for name, values in given.items():
        if name not in _QUERY_PARAMETERS or len(values) > 1:
            known = ", ".join(_QUERY_PARAMETERS)
            raise Refusal(400, f"{name[:60]!r} is no parameter here, or is given twice", hint=f"There are: {known}.")
    return {name: values[0] for name, values in given.items() if values[0]}


class ChangesEndpoint(_Caller):
    """The changes of every project the caller may see, as they happen. ``news`` is the operation that tells them."""

    def __init__(self, state: ServerState, server: Server, news: Operation) -> None:
        super().__init__(state, server)
        self._news = news

    async def __call__(self, active: ActiveRequest) -> None:
        """Stream the changes until either side ends it."""
        principal = active.principal
        assert principal is not None
        after = _last_seen(active)
        self.count(principal)
        await in_task()
        exchange = Exchange(self._state, json=True, streams=False, modern=False)
        memory = principal.connection(self._server, exchange).base
        feed = _Feed(self._server, self._news, memory, asyncio.get_running_loop(), self._state)
        gone = asyncio.ensure_future(active.disconnected())
        gone.add_done_callback(lambda _: feed.woken.set())
        try:
            projects = await asyncio.to_thread(feed.begin, after)
            self._server.poller.join(feed)
            first = b"event: ready\nretry: 1000\ndata: " + encode({"projects": projects}) + b"\n\n"
            headers = [
                (b"content-type", b"text/event-stream"),
                (b"cache-control", b"no-store, no-transform"),
                (b"x-accel-buffering", b"no"),
                *self.limits(principal),
            ]
            await active.send({"type": "http.response.start", "status": 200, "headers": headers})
            await _piece(active, first)
            while not gone.done() and not feed.overflown:
                while feed.waiting and not gone.done():
                    await _piece(active, feed.waiting.popleft())
                feed.woken.clear()
                if not feed.waiting and not await _woken(feed.woken):
                    await _piece(active, b": still here\n\n")
            if not gone.done():
                await active.send({"type": "http.response.body", "body": b"", "more_body": False})
        except Fault as e:
            raise Refusal(503, e.message, [(b"retry-after", b"5")]) from None
        finally:
            gone.cancel()
            self._server.poller.leave(feed)


def _last_seen(active: ActiveRequest) -> int | None:
    """The number of the last change a client has seen."""
    given = active.headers.get(b"last-event-id")
    if given is None:
        given = parse_qs(active.scope["query_string"]).get(b"after", [None])[-1]
    if not given:
        return None
    if not given.isdigit() or len(given) > 18:
        raise Refusal(400, "Last-Event-ID, or after, is the number of a change")
    return int(given)


async def _piece(active: ActiveRequest, data: bytes) -> None:
    await active.send({"type": "http.response.body", "body": data, "more_body": True})


async def _woken(event: asyncio.Event) -> bool:
    try:
        async with asyncio.timeout(SILENCE):
            return await event.wait()
    except TimeoutError:
        return False


class _Feed:
    """The changes one client has not been sent yet. Found on the thread that polls, sent by the event loop."""

    def __init__(
        self, server: Server, news: Operation, memory: Memory, loop: asyncio.AbstractEventLoop, state: ServerState
    ) -> None:
        self._server = server
        self._news = news
        self._memory = memory
        self._loop = loop
        self._log = state.log
        self._lock = threading.Lock()
        self._stamps: dict[str, int] = {}
        self._last: dict[str, int] = {}  # change that was told, by project
        self._before = 0  # of a project that is new
        self.waiting: deque[bytes] = deque()
        self.overflown = False
        self.woken = asyncio.Event()

    def begin(self, after: int | None) -> list[str]:
        """Take up what happened after a change, or from now on; returns the projects."""
        store = self._memory.store
        projects = store.projects()
        with self._lock:
            stamps = {name: store.stamp(name) for name in projects}
            told = self._ask(after, None)
            self._stamps = stamps
            self._before = told["last"]
            self._last = dict.fromkeys(projects, self._before)
            for one in told["changes"]:
                self.waiting.append(_event(one))
        return projects

    def concerns(self, projects: set[str]) -> bool:
        """Whether a change of one of these projects may be of interest."""
        return any(self._memory.grant.sees(name) for name in projects)

    def check(self) -> None:
        """Look for changes. A store that cannot be read now is tried again later."""
        try:
            with self._lock:
                found = self._changed()
        except Fault as e:
            self._log("warning", f"cannot follow changes: {e.message}")
            return
        if found:
            with suppress(RuntimeError):  # the event loop has stopped
                self._loop.call_soon_threadsafe(partial(self._add, found))

    def _changed(self) -> list[bytes]:
        store = self._memory.store
        found = []
        for name in store.projects():
            stamp = store.stamp(name)
            if self._stamps.get(name) == stamp:
                continue
            told = self._ask(self._last.get(name, self._before), [name])
            self._stamps[name], self._last[name] = stamp, told["last"]
            found += told["changes"]
        found.sort(key=lambda one: one["change"]["change"])
        return [_event(one) for one in found]

    def _ask(self, after: int | None, projects: list[str] | None) -> JsonObject:
        given = {"after": after, "projects": projects}
        arguments = self._server.registry.arguments(self._news, encode(given), [])
        value: JsonObject = self._news.run(Context(self._memory), arguments).value
        return value

    def _add(self, events: list[bytes]) -> None:
        self.overflown = len(self.waiting) + len(events) > _WAITING
        if not self.overflown:
            self.waiting.extend(events)
        self.woken.set()


def _event(one: JsonObject) -> bytes:
    return b"id: %d\nevent: change\ndata: %b\n\n" % (one["change"]["change"], encode(one))
