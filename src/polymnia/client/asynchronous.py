"""The client for asyncio: connecting, retrying, cancelling, progress and subscriptions."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
import os
import random
import re
import shlex
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from ssl import SSLContext
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from msgspec import DecodeError, Struct
from msgspec.json import Decoder

from polymnia import __version__
from polymnia.client.errors import (
    CallTimeoutError,
    ConnectionFailedError,
    MCPMemoryError,
    RateLimitedError,
    error_data,
    error_of,
)
from polymnia.client.link import Link, Lost, StdioLink, Target
from polymnia.client.messages import VERSION, Message, Result, notification, parse, request, response
from polymnia.client.operations import (
    MAX_TOKENS_META,
    READS,
    REQUEST_ID_META,
    WITH_REQUEST_ID,
    AsyncOperations,
    OnProgress,
)
from polymnia.importing import importing

__all__ = ["AsyncMCPMemoryClient", "OnChange"]

log = logging.getLogger("polymnia.client")

OnChange = Callable[[str], object]
"""Called with the URI of a resource that has changed. May be a coroutine function."""

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
_CLOSE_TIMEOUT = 2.0  # seconds to wait for background tasks
_KINDS = ("ws", "wss", "http", "https", "stdio")


class _Params(Struct):
    """The parameters of server messages that the client reads."""

    progressToken: int | str | float | None = None  # noqa: N815 - the wire's spelling
    progress: float = 0
    total: float | None = None
    uri: str = ""
    protocolVersion: str = VERSION  # noqa: N815 - the wire's spelling


_params = Decoder(_Params)


class _Pending(NamedTuple):
    """A request waiting for its response."""

    link: Link
    size: int
    future: asyncio.Future[bytes]

    def fail(self, error: Exception) -> None:
        """Fail the request."""
        if not self.future.done():
            self.future.set_exception(error)


class AsyncMCPMemoryClient(AsyncOperations):
    """A client of a memory server for asyncio.

    It is bound to the event loop it is first used in, and connects on the first call. After a lost connection it
    reconnects and resends pending requests; writes carry an id, so that the server executes them once.

    Methods take ``timeout`` and ``on_progress`` like those of :class:`~polymnia.client.MCPMemoryClient`.
    """

    def __init__(
        self,
        endpoint: str = "ws://127.0.0.1:9080/ws",
        api_key: str | None = None,
        *,
        timeout: float | None = 30.0,
        command: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
        ssl: SSLContext | None = None,
        client_name: str = "polymnia-python",
    ) -> None:
        """Configure the client; nothing is sent before the first call.

        ``endpoint``: the URL of a WebSocket (``ws://``, ``wss://``) or of Streamable HTTP (``http://``, ``https://``),
        or ``stdio`` to start a server as a subprocess; ``stdio:polymnia stdio`` specifies its command.
        ``api_key``: a key printed by ``polymnia keys add``; surrounding whitespace is stripped.
        ``timeout``: seconds a call may take, including retries, or None for no limit. Pauses requested by the server
        because of its rate limits do not count.
        ``command``: the command for ``stdio`` as a list.
        ``headers``: additional headers for WebSocket and HTTP.
        ``ssl``: the context for ``wss`` and ``https``; for a private CA
        ``ssl.create_default_context(cafile="ca.pem")``.
        ``client_name``: the name of the client, shown in the history of a memory.

        Raises ConnectionFailedError if ``endpoint`` is malformed, ValueError or TypeError for other arguments.
        """
        headers = {"User-Agent": f"polymnia-python/{__version__}", **(headers or {})}
        if wrong := [name for name, value in headers.items() if not _fits_header(name, value)]:
            raise ValueError(f"headers: {wrong[0]!r} has a line break or another character that no header may have")
        if api_key is not None:
            headers["Authorization"] = f"Bearer {_key(api_key)}"
        if ssl is not None and not isinstance(ssl, SSLContext):
            raise TypeError(
                f"ssl must be an ssl.SSLContext, not {type(ssl).__name__}: "
                "ssl.create_default_context(cafile='ca.pem') makes one"
            )
        self._kind, endpoint, words = _endpoint(endpoint)
        if command is not None:
            if self._kind != "stdio":
                raise ValueError("command is only for the endpoint stdio")
            words = tuple(shlex.split(command) if isinstance(command, str) else command)
            if not words:
                raise ValueError("command is empty")
        self.timeout = _seconds(timeout)
        self._target = Target(endpoint, headers, words, ssl)
        self._name = client_name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Future[None] | None = None
        self._link: Link | None = None
        self._opening = asyncio.Lock()
        self._pending: dict[int, _Pending] = {}
        self._progress: dict[Any, tuple[OnProgress, set[asyncio.Task[None]]]] = {}  # with the callbacks still running
        self._subscribed: dict[str, list[OnChange]] = {}
        self._reviving: asyncio.Task[None] | None = None
        self._running: set[asyncio.Task[Any]] = set()
        self._last = 0
        self.is_closed = False

    # Calls

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,
        on_progress: OnProgress | None = None,
    ) -> Result:
        """Call any tool by name; ``raw`` of the result is the protocol's response.

        Raises ToolError if the tool reports an error.
        """
        arguments = dict(arguments or {})
        operation = str(arguments.get("operation") or name)
        meta: dict[str, Any] = {MAX_TOKENS_META: 0}
        params: dict[str, Any] = {"name": name, "arguments": arguments, "_meta": meta}
        if operation in WITH_REQUEST_ID:
            arguments.setdefault("request_id", os.urandom(16).hex())
        elif operation not in READS:
            meta[REQUEST_ID_META] = os.urandom(16).hex()
        return Result(await self._request("tools/call", params, timeout, on_progress))

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Any:
        """Send any request of the protocol and return its result."""
        return Decoder().decode(await self._request(method, dict(params or {}), timeout))

    async def list_tools(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """The server's tools with their schemas."""
        found: list[dict[str, Any]] = (await self.request("tools/list", timeout=timeout))["tools"]
        return found

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> str:
        """Read a resource as text; ``uri`` may be the name of a memory."""
        result = await self.request("resources/read", {"uri": _uri(uri)}, timeout=timeout)
        return "".join(part.get("text", "") for part in result["contents"])

    async def ping(self, *, timeout: float | None = None) -> None:
        """Check that the server responds."""
        await self._request("ping", {}, timeout)

    async def subscribe(self, memory: str, callback: OnChange, *, timeout: float | None = None) -> None:
        """Subscribe to changes made by any client to a memory: the graph entity of this name.

        The entity need not exist yet: its creation is a change. Content ids are never notified. A URI
        (``memory://memory/Ann``) is accepted instead of a name. ``callback`` is called with the URI.

        The subscription survives a lost connection. ``callback`` is then called once, because a change may have been
        missed.
        """
        self._enter()
        uri = _uri(memory)
        known = self._subscribed.setdefault(uri, [])
        known.append(callback)
        if len(known) > 1:
            return
        try:
            await self._request("resources/subscribe", {"uri": uri}, timeout)
        except BaseException:
            known.remove(callback)
            if not known:
                self._subscribed.pop(uri, None)
            raise
        if self._link is not None:
            self._link.listen()

    async def unsubscribe(self, memory: str, callback: OnChange | None = None, *, timeout: float | None = None) -> None:
        """Remove one callback, or all without ``callback``. One that was never subscribed is ignored."""
        self._enter()
        uri = _uri(memory)
        known = self._subscribed.get(uri, [])
        if callback in known:
            known.remove(callback)
        if (callback is None or not known) and self._subscribed.pop(uri, None) is not None:
            await self._request("resources/unsubscribe", {"uri": uri}, timeout)

    async def close(self) -> None:
        """Disconnect. Pending calls fail."""
        if self._loop is not None and self._loop.is_closed():
            self.is_closed, self._link = True, None  # its connection ended with the loop
            return
        self._enter()
        self.is_closed = True
        if self._closing is not None and not self._closing.done():
            self._closing.set_result(None)
        if self._reviving is not None:
            self._reviving.cancel()
        if (link := self._link) is not None:
            self._link = None
            await link.close()
        if running := self._running - {asyncio.current_task()}:
            await asyncio.wait(running, timeout=_CLOSE_TIMEOUT)
        for pending in self._pending.values():
            pending.fail(ConnectionFailedError("The client was closed"))

    async def __aenter__(self) -> AsyncMCPMemoryClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.close()

    async def _call_tool(
        self, tool: str, arguments: dict[str, Any], timeout: float | None, on_progress: OnProgress | None
    ) -> Any:
        return (await self.call_tool(tool, arguments, timeout=timeout, on_progress=on_progress)).value

    # Sending requests

    async def _request(
        self, method: str, params: dict[str, Any], timeout: float | None, on_progress: OnProgress | None = None
    ) -> bytes:
        self._enter()
        self._last = id = self._last + 1
        if on_progress is None:
            return await self._answer(id, method, request(id, method, params), timeout)
        params["_meta"] = {**params.get("_meta", {}), "progressToken": id}
        data = request(id, method, params)
        running: set[asyncio.Task[None]] = set()
        self._progress[id] = on_progress, running
        try:
            return await self._answer(id, method, data, timeout)
        except asyncio.CancelledError:
            running.clear()  # do not wait for callbacks on cancellation
            raise
        finally:
            del self._progress[id]
            if running:
                await asyncio.wait(running)

    async def _answer(self, id: int, method: str, data: bytes, timeout: float | None) -> bytes:
        seconds = _seconds(self.timeout if timeout is None else timeout)
        loop = asyncio.get_running_loop()
        end = None if seconds is None else loop.time() + seconds
        latest: Exception | None = None
        before: Exception | None = None
        pause = _FIRST_PAUSE
        try:
            async with asyncio.timeout_at(end) as limit:
                while True:
                    try:
                        link = self._link or await self._connected()
                        before, latest = latest, None
                        return await self._ask(link, id, data)
                    except Lost as e:
                        if e.final:
                            raise self._failed(f"Cannot connect to {self._target.endpoint}: {e}", e) from e
                        latest, retry_after = e, None
                    except RateLimitedError as e:
                        latest, retry_after = e, e.retry_after
                    if retry_after is None:
                        wait, pause = pause * (0.5 + random.random()), min(pause * 2, _LONGEST_PAUSE)
                    else:
                        wait = max(retry_after, _FIRST_PAUSE)
                        if timeout is not None and end is not None and loop.time() + wait >= end:
                            raise latest
                        log.debug("%s: %s; waiting %g seconds, as the server asks", method, latest, wait)
                        if timeout is None and end is not None:
                            end += wait
                            limit.reschedule(end)
                    await self._pause(wait)
        except TimeoutError as e:
            if isinstance(e, MCPMemoryError):
                raise
            if isinstance(latest, RateLimitedError):
                raise latest from None
            if latest is None and self._link is None:
                latest = before or Lost("it did not answer")
            if isinstance(latest, Lost):
                text = f"{self._target.endpoint} was not reached within {seconds:g} seconds: {latest}"
                raise self._failed(text, latest) from latest
            details = error_data("timeout", ["Give it more time: timeout=..."], method=method, timeout=seconds)
            raise CallTimeoutError(f"No answer to {method} within {seconds:g} seconds", 504, details) from None

    async def _pause(self, seconds: float) -> None:
        """Sleep; raise ConnectionFailedError if the client is closed meanwhile."""
        assert self._closing is not None
        await asyncio.wait([self._closing], timeout=seconds)
        if self.is_closed:
            raise ConnectionFailedError("The client was closed")

    def _enter(self) -> None:
        """Bind the client to the running event loop, or check that it is the same one."""
        loop = asyncio.get_running_loop()
        if self._loop is None:
            self._loop, self._closing = loop, loop.create_future()
        elif self._loop is not loop:
            raise RuntimeError(
                f"This client belongs to the event loop it was first used in ({self._loop!r}) and cannot be used in "
                f"another one ({loop!r}): make a client in each, inside asyncio.run()"
            )

    def _failed(self, text: str, lost: Lost) -> ConnectionFailedError:
        details = {"endpoint": self._target.endpoint, "reason": str(lost)}
        return ConnectionFailedError(text, 0, error_data("connection_error", lost.suggestions, **details))

    async def _ask(self, link: Link, id: int, data: bytes) -> bytes:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._pending[id] = _Pending(link, len(data), future)
        try:
            link.send(id, data)
            return await future
        except asyncio.CancelledError:
            link.forget(id)
            link.notify(notification("notifications/cancelled", {"requestId": id, "reason": "the caller withdrew it"}))
            raise
        finally:
            self._pending.pop(id, None)

    # The connection

    async def _connected(self) -> Link:
        async with self._opening:
            if self.is_closed:
                raise ConnectionFailedError("The client was closed")
            if self._link is not None:
                return self._link
            link = self._new_link()
            try:
                await link.open()
                await self._shake_hands(link)
            except (Exception, asyncio.CancelledError):
                with suppress(Exception):
                    await link.close()
                raise
            self._link = link
            return link

    def _new_link(self) -> Link:
        """Create a link; its libraries are loaded on first use."""
        if self._kind == "stdio":
            return StdioLink(self._target, self)
        if self._kind in ("ws", "wss"):
            with importing():
                from polymnia.client.websocket import WebSocketLink
            return WebSocketLink(self._target, self)
        with importing():
            from polymnia.client.http import HttpLink
        return HttpLink(self._target, self)

    async def _shake_hands(self, link: Link) -> None:
        info = {"name": self._name, "version": __version__}
        params = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": info}
        link.agreed(_params.decode(await self._ask_first(link, "initialize", params)).protocolVersion)
        link.notify(notification("notifications/initialized", {}))
        for uri in list(self._subscribed):
            await self._ask_first(link, "resources/subscribe", {"uri": uri})
        if self._subscribed:
            link.listen()

    async def _ask_first(self, link: Link, method: str, params: dict[str, Any]) -> bytes:
        self._last = id = self._last + 1
        return await self._ask(link, id, request(id, method, params))

    async def _revive(self) -> None:
        """Reconnect for the subscriptions, and notify them since they may have missed a change."""
        with suppress(MCPMemoryError):  # the next call will raise it
            await self._request("ping", {}, math.inf)
            for uri in list(self._subscribed):
                self._changed(uri)

    # Callbacks of the link

    def receive(self, data: bytes | bytearray | str) -> None:
        """Handle a message: a response, a notification, or a request of the server."""
        message = parse(data)
        if message is None:
            return
        if message.method is not None:
            try:
                self._notified(message)
            except DecodeError as e:
                log.debug("The server sent a %s that cannot be read: %s", message.method, e)
            return
        error = message.failure()
        if message.id is None and error is not None and self._pending:
            # The server could not read a message, not even its id, since it was too large.
            max(self._pending.values(), key=lambda one: one.size).fail(error)
        elif isinstance(message.id, int) and (pending := self._pending.get(message.id)) is not None:
            if error is not None:
                pending.fail(error)
            elif not pending.future.done():
                pending.future.set_result(bytes(message.result) or b"{}")

    def waits(self, id: int) -> bool:
        """Whether a request is still waiting for its response."""
        return id in self._pending and not self._pending[id].future.done()

    def fail(self, id: int, error: Exception) -> None:
        """Fail a request that this connection will not answer."""
        if id in self._pending:
            self._pending[id].fail(error)

    def lost(self, link: Link, error: Lost) -> None:
        """Handle a lost connection: its pending requests are resent by their callers.

        If a message was too large for the server, the largest pending request fails instead.
        """
        affected = [one for one in self._pending.values() if one.link is link and not one.future.done()]
        if error.too_large and affected:
            data = error_data("too_large", ["Send less at once, or raise max_message_bytes of the server"], status=413)
            max(affected, key=lambda one: one.size).fail(error_of(-32600, str(error), data))
        for one in affected:
            one.fail(Lost(str(error), final=error.final, suggestions=error.suggestions))
        if self._link is not link:
            return
        self._link = None
        self._run(link.close())  # release its other resources
        if self._subscribed and not self.is_closed and (self._reviving is None or self._reviving.done()):
            self._reviving = asyncio.get_running_loop().create_task(self._revive())

    def _notified(self, message: Message) -> None:
        if message.id is not None:
            if self._link is not None:
                self._link.notify(response(message.id, str(message.method)))
            return
        params = _params.decode(message.params or b"{}")
        if message.method == "notifications/resources/updated":
            self._changed(params.uri)
        elif message.method == "notifications/progress" and params.progressToken in self._progress:
            callback, running = self._progress[params.progressToken]
            if (task := self._call_back(callback, params.progress, params.total)) is not None:
                running.add(task)

    def _changed(self, uri: str) -> None:
        for callback in list(self._subscribed.get(uri, ())):
            self._call_back(callback, uri)

    def _call_back(self, callback: Callable[..., object], *arguments: object) -> asyncio.Task[None] | None:
        """Call a user callback; an exception is logged and otherwise ignored."""
        try:
            result = callback(*arguments)
        except Exception:
            log.exception("A callback of the client failed: %r", callback)
            return None
        return self._run(_await(callback, result)) if inspect.isawaitable(result) else None

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return task


async def _await(callback: Callable[..., object], made: Awaitable[object]) -> None:
    try:
        await made
    except Exception:
        log.exception("A callback of the client failed: %r", callback)


def _endpoint(text: str) -> tuple[str, str, tuple[str, ...]]:
    """Parse an endpoint: its kind, the normalised endpoint, and the command of ``stdio``."""
    if not isinstance(text, str):
        raise TypeError(f"endpoint must be a string, not {type(text).__name__}")
    kind, _, rest = text.strip().partition(":")
    kind = kind.lower()
    try:
        if kind == "stdio":
            command = tuple(shlex.split(rest.removeprefix("//")))
            return kind, text.strip(), command or (sys.executable, "-m", "polymnia", "stdio")
        if kind not in _KINDS:
            raise ValueError("it has to begin with ws://, wss://, http:// or https://, or be stdio")
        parts = urlsplit(f"{kind}:{rest}")
        if not rest.startswith("//") or not parts.hostname:
            raise ValueError("it names no host")
        with suppress(ValueError):
            if parts.port != 0:
                return kind, f"{kind}:{rest}", ()
        raise ValueError("its port is not a number from 1 to 65535")
    except ValueError as e:
        hints = ["Give an address such as ws://localhost:9080/ws, or stdio for a server of your own"]
        data = error_data("connection_error", hints, endpoint=text)
        raise ConnectionFailedError(f"{text!r} is not an endpoint: {e}", 0, data) from None


def _key(key: str) -> str:
    """Validate an API key for use in a header. Errors do not reveal it."""
    if not isinstance(key, str):
        raise TypeError(f"api_key must be a string, not {type(key).__name__}")
    key = key.strip()
    if not key:
        raise ValueError("api_key is empty; leave it out where the server wants no key")
    if not (key.isascii() and key.isprintable()):
        raise ValueError("api_key has a character that no HTTP header can carry: keys are printable ASCII")
    return key


def _fits_header(name: str, value: str) -> bool:
    return bool(re.fullmatch(r"[!-9;-~]+", name) and re.fullmatch(r"[ -~\xa1-\xac\xae-\xff]*", value))


def _seconds(timeout: float | None) -> float | None:
    if timeout is not None and not timeout > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {timeout!r}")
    return timeout


def _uri(memory: str) -> str:
    """The URI of a memory by name; a URI is returned unchanged."""
    return memory if "://" in memory else f"memory://memory/{quote(memory, safe='')}"
