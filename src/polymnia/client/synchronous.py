"""The client for programs without asyncio: the same client, run by a thread of its own."""

from __future__ import annotations

import asyncio
import inspect
import os
import selectors
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import Future
from functools import partial
from queue import SimpleQueue
from ssl import SSLContext
from types import TracebackType
from typing import Any, TypeVar
from weakref import WeakSet

from polymnia.client.asynchronous import FAILED, AsyncMCPMemoryClient, Changed, Progress, log
from polymnia.client.errors import ConnectionFailedError
from polymnia.client.messages import Result
from polymnia.client.operations import Operations

__all__ = ["MCPMemoryClient"]

T = TypeVar("T")


class MCPMemoryClient(Operations):
    """A client of a memory server.

    It may be used from several threads. Progress is reported on the thread that made the call, before the call returns.
    Callbacks of subscriptions are called one after another on a thread of their own. Either may use the client.
    ``close()``, or ``with``, lets go of the connection; no callback begins after it.

    In a process that was forked it makes a connection of its own at the next call. Subscriptions stay with the parent.

    Every method that calls the server takes ``timeout`` (seconds for this call, pauses that the server asks for
    included; without it the client's) and the methods of tools and operations ``on_progress``, which is called with how
    much is done and of how much.
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
        """Remember where to connect, and with what, as :class:`~polymnia.client.AsyncMCPMemoryClient` does.

        ``endpoint``: the address of a WebSocket (``ws://``, ``wss://``) or of Streamable HTTP (``http://``,
        ``https://``), or ``stdio`` for a server of one's own; ``stdio:polymnia stdio`` names its command.
        ``api_key``: a key that ``polymnia keys add`` printed; whitespace around it is dropped.
        ``timeout``: seconds that a call may take, retries included, or None for as long as it takes. Pauses that the
        server asks for, because of its rate limits, are not counted.
        ``command``: the command of ``stdio`` as a list.
        ``headers``: further headers for WebSocket and HTTP.
        ``ssl``: the context for ``wss`` and ``https``, for a private authority
        ``ssl.create_default_context(cafile="ca.pem")``.
        ``client_name``: what the client calls itself; the history of a memory shows it.

        Raises ConnectionFailedError where ``endpoint`` is malformed, ValueError or TypeError for anything else.
        """
        self._made = partial(
            AsyncMCPMemoryClient, endpoint, api_key, timeout=timeout, command=command, headers=headers, ssl=ssl,
            client_name=client_name,
        )  # fmt: skip
        self._client = self._made()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._callbacks: Any = None
        self._starting = threading.Lock()
        _clients.add(self)

    @property
    def timeout(self) -> float | None:
        """Seconds a call may take, all retries included."""
        return self._client.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        """Give calls another time."""
        self._client.timeout = seconds

    def call_tool(
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
        if on_progress is None:
            return self._run(self._client.call_tool(name, arguments, timeout=timeout))
        heard: SimpleQueue[tuple[float, float | None] | None] = SimpleQueue()

        def hear(done: float, total: float | None) -> None:
            heard.put((done, total))

        future = self._begun(self._client.call_tool(name, arguments, timeout=timeout, on_progress=hear))
        future.add_done_callback(lambda _: heard.put(None))
        try:
            while (told := heard.get()) is not None:
                _called(on_progress, *told)
        except BaseException:
            future.cancel()  # an interrupt withdraws the call
            raise
        return future.result()

    def request(self, method: str, params: Mapping[str, Any] | None = None, *, timeout: float | None = None) -> Any:
        """Send any request of the protocol; answers its result."""
        return self._run(self._client.request(method, params, timeout=timeout))

    def list_tools(self, *, timeout: float | None = None) -> list[dict[str, Any]]:
        """The tools the server has, with their schemas."""
        return self._run(self._client.list_tools(timeout=timeout))

    def read_resource(self, uri: str, *, timeout: float | None = None) -> str:
        """A resource as text; ``uri`` may be the name of a memory."""
        return self._run(self._client.read_resource(uri, timeout=timeout))

    def ping(self, *, timeout: float | None = None) -> None:
        """Ask whether the server is there."""
        self._run(self._client.ping(timeout=timeout))

    def subscribe(self, memory: str, callback: Changed, *, timeout: float | None = None) -> None:
        """Hear of changes to a memory, whoever makes them: to the entity of the graph that has this name.

        A name that no entity has yet may be given: its creation is a change. Ids of contents report nothing. An address
        (``memory://memory/Ann``) will do for the name. ``callback`` is called with the address.

        The subscription outlives a lost connection. After one ``callback`` is called once, because a change may have
        been missed.
        """
        self._run(self._client.subscribe(memory, _Later(callback, self._later), timeout=timeout))

    def unsubscribe(self, memory: str, callback: Changed | None = None, *, timeout: float | None = None) -> None:
        """Hear no more of it; without ``callback``, nobody does. A callback that was never subscribed is ignored."""
        later = None if callback is None else _Later(callback, self._later)
        self._run(self._client.unsubscribe(memory, later, timeout=timeout))

    def close(self) -> None:
        """Disconnect. Calls that are under way fail."""
        with self._starting:
            loop, self._loop = self._loop, None
            thread, self._thread = self._thread, None
            self._client.is_closed = True
        if loop is None or thread is None:
            return
        asyncio.run_coroutine_threadsafe(self._client.close(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        if self._callbacks is not None:
            self._callbacks.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> MCPMemoryClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _called(self, tool: str, arguments: dict[str, Any], timeout: float | None, on_progress: Progress | None) -> Any:
        return self.call_tool(tool, arguments, timeout=timeout, on_progress=on_progress).value

    def _begun(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            loop = self._loop or self._started()
        except ConnectionFailedError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, loop)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = self._begun(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # an interrupt withdraws the call; what has ended is past that
            raise

    def _started(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._client.is_closed:
                raise ConnectionFailedError("The client was closed")
            if self._loop is None:
                self._loop = loop = _new_loop()
                self._thread = threading.Thread(target=_turn, args=(loop,), name="polymnia-client", daemon=True)
                self._thread.start()
            return self._loop

    def _later(self, callback: Callable[..., object], *told: object) -> None:
        """Call a callback on the thread of the callbacks."""
        if self._callbacks is None:
            from concurrent.futures import ThreadPoolExecutor

            self._callbacks = ThreadPoolExecutor(1, "polymnia-callbacks")
        self._callbacks.submit(_called, callback, *told)

    def _leave_to_parent(self) -> None:
        """Forget, in a process that was forked, what belongs to its parent: the connection and the threads."""
        parents = self._client
        if self._loop is not None:
            self._loop.set_exception_handler(lambda loop, context: None)  # its tasks are not ours to miss
        self._client = self._made()
        self._client.timeout, self._client.is_closed = parents.timeout, parents.is_closed
        self._loop = self._thread = self._callbacks = None
        self._starting = threading.Lock()


_clients: WeakSet[MCPMemoryClient] = WeakSet()


def _forked() -> None:
    for client in list(_clients):
        client._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


class _Later:
    """A callback that is called elsewhere, and equal to every other one of the same callback."""

    def __init__(self, callback: Changed, later: Callable[..., None]) -> None:
        self._callback = callback
        self._later = later

    def __call__(self, uri: str) -> None:
        self._later(self._callback, uri)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Later) and self._callback == other._callback

    def __hash__(self) -> int:
        return hash(self._callback)


def _called(callback: Callable[..., object], *told: object) -> None:
    """Call a callback of the user, to its end where it is a coroutine function. One that fails is logged."""
    try:
        made = callback(*told)
        if inspect.iscoroutine(made):
            asyncio.run(made)
    except Exception:
        log.exception(FAILED, callback)


def _new_loop() -> asyncio.AbstractEventLoop:
    """A loop that a forked process can forget: epoll would be shared with its parent, poll is not."""
    if hasattr(os, "fork") and hasattr(selectors, "PollSelector"):
        return asyncio.SelectorEventLoop(selectors.PollSelector())
    return asyncio.new_event_loop()


def _turn(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    finally:
        loop.close()
