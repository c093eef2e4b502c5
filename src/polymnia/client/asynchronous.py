"""The client for asyncio: connecting, retrying, cancelling, progress and subscriptions."""

from __future__ import annotations

import asyncio
import inspect
import os
import random
import shlex
import sys
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from ssl import SSLContext
from types import TracebackType
from typing import Any

from msgspec import Struct
from msgspec.json import Decoder

from polymnia import __version__
from polymnia.client.errors import (
    CallTimeoutError,
    ConnectionFailedError,
    MCPMemoryError,
    RateLimitedError,
    error_of,
)
from polymnia.client.link import Link, Lost, Target
from polymnia.client.messages import VERSION, Message, Result, notification, read, request, response
from polymnia.client.operations import REQUEST_ID_META, REQUEST_IDS, AsyncOperations
from polymnia.importing import importing

__all__ = ["AsyncMCPMemoryClient", "Changed", "Progress", "uri_of"]

Progress = Callable[[float, float | None], object]
"""Hears how far a call is: how much is done, and of how much where the server knows. May be a coroutine function."""

Changed = Callable[[str], object]
"""Hears the address of a resource that has changed. May be a coroutine function."""

_FIRST_PAUSE = 0.02
_LONGEST_PAUSE = 1.0
_CLOSING = 2.0  # seconds that what runs in the background may take to end
_LOCAL = "ws://127.0.0.1:9080/ws"


class _Progress(Struct):
    progressToken: Any = None  # noqa: N815 - the wire's spelling
    progress: float = 0
    total: float | None = None


class _Updated(Struct):
    uri: str = ""


class _Agreed(Struct):
    protocolVersion: str = VERSION  # noqa: N815 - the wire's spelling


_progress = Decoder(_Progress)
_updated = Decoder(_Updated)
_agreed = Decoder(_Agreed)


class _Waiting:
    """A request that was sent and is not answered: by which link, how large it is, and who waits for it."""

    __slots__ = ("future", "link", "size")

    def __init__(self, link: Link, size: int, future: asyncio.Future[bytes]) -> None:
        self.link = link
        self.size = size
        self.future = future

    def fail(self, error: Exception) -> None:
        """There is no answer."""
        if not self.future.done():
            self.future.set_exception(error)


class AsyncMCPMemoryClient(AsyncOperations):
    """A client of a memory server for asyncio.

    ``endpoint`` is the address of a WebSocket (``ws://``, ``wss://``) or of Streamable HTTP (``http://``,
    ``https://``), or ``stdio`` for a server of one's own, started with ``command``. ``timeout`` is that of one call in
    seconds, all retries included; None waits for as long as it takes.

    It belongs to the event loop it is first used in, and connects at the first call. A connection that is lost is made
    again and what was not answered is sent again; writes carry an id, so that the server does them once.
    """

    def __init__(
        self,
        endpoint: str = _LOCAL,
        api_key: str | None = None,
        *,
        timeout: float | None = 30.0,
        command: Sequence[str] | None = None,
        headers: Mapping[str, str] | None = None,
        ssl: SSLContext | None = None,
        client_name: str = "polymnia-python",
    ) -> None:
        sent = {"User-Agent": f"polymnia-python/{__version__}", **(headers or {})}
        if api_key is not None:
            sent["Authorization"] = f"Bearer {api_key}"
        if wrong := [name for name, value in sent.items() if not (name + value).isprintable()]:
            raise ValueError(f"the header {wrong[0]!r} has a line break or another character that no header may have")
        kind, _, rest = endpoint.partition(":")
        if kind not in ("ws", "wss", "http", "https", "stdio"):
            raise ValueError(f"{endpoint!r} is no endpoint: ws, wss, http, https or stdio")
        if kind == "stdio" and command is None:
            command = shlex.split(rest.removeprefix("//")) or (sys.executable, "-m", "polymnia", "stdio")
        self.timeout = timeout
        self._kind = kind
        self._target = Target(endpoint, sent, tuple(command or ()), ssl)
        self._name = client_name
        self._link: Link | None = None
        self._opening: asyncio.Lock | None = None
        self._waiting: dict[int, _Waiting] = {}
        self._watching: dict[int, Progress] = {}
        self._subscribed: dict[str, list[Changed]] = {}
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
        on_progress: Progress | None = None,
    ) -> Result:
        """Call any tool by its name; the answer as the protocol has it is in ``raw``.

        Raises ToolError where the tool answers that it failed.
        """
        given = dict(arguments or {})
        operation = given.get("operation")
        place = REQUEST_IDS.get((name, operation if isinstance(operation, str) else None), "meta")
        params: dict[str, Any] = {"name": name, "arguments": given}
        if place == "argument":
            given.setdefault("request_id", os.urandom(16).hex())
        elif place == "meta":
            params["_meta"] = {REQUEST_ID_META: os.urandom(16).hex()}
        return Result(await self._request("tools/call", params, timeout, on_progress))

    async def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None
    ) -> Any:
        """Send any request of the protocol; answers its result."""
        return Decoder().decode(await self._request(method, dict(params or {}), timeout))

    async def list_tools(self) -> list[dict[str, Any]]:
        """The tools the server has, with their schemas."""
        found: list[dict[str, Any]] = (await self.request("tools/list"))["tools"]
        return found

    async def read_resource(self, uri: str, *, timeout: float | None = None) -> str:
        """A resource as text; ``uri`` may be the name of a memory."""
        told = await self.request("resources/read", {"uri": uri_of(uri)}, timeout=timeout)
        return "".join(part.get("text", "") for part in told["contents"])

    async def ping(self, *, timeout: float | None = None) -> None:
        """Ask whether the server is there."""
        await self._request("ping", {}, timeout)

    async def subscribe(self, memory: str, callback: Changed, *, timeout: float | None = None) -> None:
        """Hear of changes to a memory (its name) or to any resource (its address), whoever makes them.

        The subscription outlives a lost connection. After one ``callback`` is called once, because a change may have
        been missed.
        """
        uri = uri_of(memory)
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

    async def unsubscribe(self, memory: str, callback: Changed | None = None, *, timeout: float | None = None) -> None:
        """Hear no more of it; without ``callback``, nobody does."""
        uri = uri_of(memory)
        known = self._subscribed.get(uri, [])
        if callback in known:
            known.remove(callback)
        if (callback is None or not known) and self._subscribed.pop(uri, None) is not None:
            await self._request("resources/unsubscribe", {"uri": uri}, timeout)

    async def close(self) -> None:
        """Disconnect. Calls that are under way fail."""
        self.is_closed = True
        if self._reviving is not None:
            self._reviving.cancel()
        if (link := self._link) is not None:
            self._link = None
            await link.close()
        if self._running:
            await asyncio.wait(self._running, timeout=_CLOSING)
        for waiting in self._waiting.values():
            waiting.fail(ConnectionFailedError("The client was closed"))

    async def __aenter__(self) -> AsyncMCPMemoryClient:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def _call(
        self, tool: str, arguments: dict[str, Any], timeout: float | None, on_progress: Progress | None
    ) -> Any:
        given = {name: value for name, value in arguments.items() if value is not None}
        return (await self.call_tool(tool, given, timeout=timeout, on_progress=on_progress)).value

    # One request, until it is answered

    async def _request(
        self, method: str, params: dict[str, Any], timeout: float | None, on_progress: Progress | None = None
    ) -> bytes:
        self._last = id = self._last + 1
        if on_progress is not None:
            params["_meta"] = {**params.get("_meta", {}), "progressToken": id}
            self._watching[id] = on_progress
        data = request(id, method, params)
        lasts = self.timeout if timeout is None else timeout
        loop = asyncio.get_running_loop()
        end = None if lasts is None else loop.time() + lasts
        latest: Exception | None = None
        pause = _FIRST_PAUSE
        try:
            async with asyncio.timeout_at(end):
                while True:
                    try:
                        link = self._link or await self._connected()
                        latest = None
                        return await self._asked(link, id, data)
                    except Lost as e:
                        latest, wait = e, pause * (0.5 + random.random())
                        pause = min(pause * 2, _LONGEST_PAUSE)
                    except RateLimitedError as e:
                        wait = pause if e.retry_after is None else e.retry_after
                        if end is not None and loop.time() + wait >= end:
                            raise
                        latest = e
                    await asyncio.sleep(wait)
        except TimeoutError as e:
            if isinstance(e, MCPMemoryError):
                raise
            if isinstance(latest, Lost):
                raise ConnectionFailedError(f"{self._target.endpoint} was not reached: {latest}") from latest
            details = {"method": method, "timeout": lasts}
            told = {"error_type": "timeout", "details": details, "suggestions": ["Give it more time: timeout=..."]}
            raise CallTimeoutError(f"No answer to {method} within {lasts:g} seconds", 504, told) from None
        finally:
            self._watching.pop(id, None)

    async def _asked(self, link: Link, id: int, data: bytes) -> bytes:
        future: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[id] = _Waiting(link, len(data), future)
        try:
            link.send(id, data)
            return await future
        except asyncio.CancelledError:
            link.forget(id)
            link.notify(notification("notifications/cancelled", {"requestId": id, "reason": "the caller withdrew it"}))
            raise
        finally:
            self._waiting.pop(id, None)

    # The connection

    async def _connected(self) -> Link:
        if self._opening is None:
            self._opening = asyncio.Lock()
        async with self._opening:
            if self.is_closed:
                raise ConnectionFailedError("The client was closed")
            if self._link is not None:
                return self._link
            link = self._made()
            try:
                await link.open()
                await self._shake_hands(link)
            except BaseException:
                with suppress(Exception):
                    await link.close()
                raise
            self._link = link
            return link

    def _made(self) -> Link:
        """A new link. Its libraries are loaded when it is first needed."""
        if self._kind in ("ws", "wss"):
            with importing():
                from polymnia.client.websocket import WebSocketLink
            return WebSocketLink(self._target, self)
        if self._kind == "stdio":
            with importing():
                from polymnia.client.stdio import StdioLink
            return StdioLink(self._target, self)
        with importing():
            from polymnia.client.http import HttpLink
        return HttpLink(self._target, self)

    async def _shake_hands(self, link: Link) -> None:
        told = await self._send_first(
            link,
            "initialize",
            {
                "protocolVersion": VERSION,
                "capabilities": {},
                "clientInfo": {"name": self._name, "version": __version__},
            },
        )
        link.agreed(_agreed.decode(told).protocolVersion)
        link.notify(notification("notifications/initialized", {}))
        for uri in list(self._subscribed):
            await self._send_first(link, "resources/subscribe", {"uri": uri})
        if self._subscribed:
            link.listen()

    async def _send_first(self, link: Link, method: str, params: dict[str, Any]) -> bytes:
        self._last = id = self._last + 1
        return await self._asked(link, id, request(id, method, params))

    async def _revive(self) -> None:
        """Connect again for those who hear of changes, and tell them that they may have missed one."""
        pause = _FIRST_PAUSE
        while self._subscribed and not self.is_closed:
            try:
                await self._connected()
            except (Lost, RateLimitedError):
                await asyncio.sleep(pause * (0.5 + random.random()))
                pause = min(pause * 2, _LONGEST_PAUSE)
                continue
            except MCPMemoryError:
                return  # the next call will tell
            for uri, callbacks in list(self._subscribed.items()):
                for callback in list(callbacks):
                    self._tell(callback, uri)
            return

    # What a link tells

    def receive(self, data: bytes | bytearray | str) -> None:
        """A message has come: an answer, a notification, or a request of the server."""
        message = read(data)
        if message is None:
            return
        if message.method is not None:
            self._told(message)
            return
        if message.id is None and message.error is not None and self._waiting:
            # The server could not read a message, not even its id: it was too large.
            max(self._waiting.values(), key=lambda one: one.size).fail(message.error.raised())
            return
        waiting = self._waiting.get(message.id) if isinstance(message.id, int) else None
        if waiting is None:
            return
        if message.error is not None:
            waiting.fail(message.error.raised())
        elif not waiting.future.done():
            waiting.future.set_result(bytes(message.result) or b"{}")

    def waits(self, id: int) -> bool:
        """Whether a request is not answered yet."""
        return id in self._waiting and not self._waiting[id].future.done()

    def fail(self, id: int, error: Exception) -> None:
        """A request will not be answered by this connection."""
        if id in self._waiting:
            self._waiting[id].fail(error)

    def lost(self, link: Link, error: Lost) -> None:
        """The connection is gone: every request on it is sent again by whoever waits for it.

        All but one that was too large for the server: that is the largest of them.
        """
        theirs = [one for one in self._waiting.values() if one.link is link and not one.future.done()]
        if error.too_large and theirs:
            max(theirs, key=lambda one: one.size).fail(error_of(-32600, str(error), {"details": {"status": 413}}))
        for one in theirs:
            one.fail(Lost(str(error)))
        if self._link is not link:
            return
        self._link = None
        self._run(link.close())  # what it holds besides
        if self._subscribed and not self.is_closed and (self._reviving is None or self._reviving.done()):
            self._reviving = asyncio.get_running_loop().create_task(self._revive())

    def _told(self, message: Message) -> None:
        params = message.params
        if message.id is not None:
            if self._link is not None:
                self._link.notify(response(message.id, str(message.method)))
        elif message.method == "notifications/progress":
            told = _progress.decode(params)
            if (watching := self._watching.get(told.progressToken)) is not None:
                self._tell(watching, told.progress, told.total)
        elif message.method == "notifications/resources/updated":
            uri = _updated.decode(params).uri
            for callback in list(self._subscribed.get(uri, ())):
                self._tell(callback, uri)

    def _tell(self, callback: Callable[..., object], *told: object) -> None:
        """Call a callback of the user; one that fails is reported as asyncio reports it, and fails nothing else."""
        loop = asyncio.get_running_loop()
        try:
            made = callback(*told)
        except Exception as e:
            loop.call_exception_handler({"message": "A callback of the client failed", "exception": e})
            return
        if inspect.isawaitable(made):
            self._run(_awaited(made))

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)


async def _awaited(made: Awaitable[object]) -> None:
    await made


def uri_of(memory: str) -> str:
    """The address of a memory by its name; an address stays as it is."""
    if "://" in memory:
        return memory
    from urllib.parse import quote

    return f"memory://memory/{quote(memory, safe='')}"
