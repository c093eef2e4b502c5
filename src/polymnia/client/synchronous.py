"""The client for programs without asyncio: the same client, run by a thread of its own."""

from __future__ import annotations

import asyncio
import inspect
import os
import selectors
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from functools import partial, wraps
from queue import SimpleQueue
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakSet

from polymnia.client.asynchronous import AsyncMCPMemoryClient, OnChange, log
from polymnia.client.errors import ConnectionFailedError
from polymnia.client.messages import Result
from polymnia.client.operations import OnProgress, Operations

__all__ = ["MCPMemoryClient"]

P = ParamSpec("P")
T = TypeVar("T")


def _like(
    method: Callable[Concatenate[AsyncMCPMemoryClient, P], object],
) -> Callable[[Callable[..., T]], Callable[Concatenate[MCPMemoryClient, P], T]]:
    """A method that takes what the one of the other client takes, and is explained by it."""
    return wraps(method, ("__doc__",))


def _blocking(
    method: Callable[Concatenate[AsyncMCPMemoryClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[MCPMemoryClient, P], T]:
    """A method that does what the one of the other client does."""

    @wraps(method)
    def call(client: MCPMemoryClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client._run(method(client._client, *args, **kwargs))

    return call


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

    @_like(AsyncMCPMemoryClient.__init__)
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._new_client = partial(AsyncMCPMemoryClient, *args, **kwargs)
        self._client = self._new_client()
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

    request = _blocking(AsyncMCPMemoryClient.request)
    list_tools = _blocking(AsyncMCPMemoryClient.list_tools)
    read_resource = _blocking(AsyncMCPMemoryClient.read_resource)
    ping = _blocking(AsyncMCPMemoryClient.ping)

    @_like(AsyncMCPMemoryClient.call_tool)
    def call_tool(self, *args: Any, on_progress: OnProgress | None = None, **kwargs: Any) -> Result:
        """Call any tool by its name."""
        if on_progress is None:
            return self._run(self._client.call_tool(*args, **kwargs))
        progress: SimpleQueue[tuple[float, float | None] | None] = SimpleQueue()

        def report(done: float, total: float | None) -> None:
            progress.put((done, total))

        future = self._start(self._client.call_tool(*args, on_progress=report, **kwargs))
        future.add_done_callback(lambda _: progress.put(None))
        try:
            while (step := progress.get()) is not None:
                _call_back(on_progress, *step)
        except BaseException:
            future.cancel()  # an interrupt withdraws the call
            raise
        return future.result()

    @_like(AsyncMCPMemoryClient.subscribe)
    def subscribe(self, memory: str, callback: OnChange, **kwargs: Any) -> None:
        """Hear of changes to a memory."""
        self._run(self._client.subscribe(memory, _Later(callback, self._later), **kwargs))

    @_like(AsyncMCPMemoryClient.unsubscribe)
    def unsubscribe(self, memory: str, callback: OnChange | None = None, **kwargs: Any) -> None:
        """Hear no more of them."""
        later = None if callback is None else _Later(callback, self._later)
        self._run(self._client.unsubscribe(memory, later, **kwargs))

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

    def __exit__(self, *error: object) -> None:
        self.close()

    def _call_tool(
        self, tool: str, arguments: dict[str, Any], timeout: float | None, on_progress: OnProgress | None
    ) -> Any:
        return self.call_tool(tool, arguments, timeout=timeout, on_progress=on_progress).value

    def _start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            loop = self._loop or self._running_loop()
        except ConnectionFailedError:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, loop)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        future = self._start(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # an interrupt withdraws the call; what has ended is past that
            raise

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._starting:
            if self._client.is_closed:
                raise ConnectionFailedError("The client was closed")
            if self._loop is None:
                self._loop = loop = _new_loop()
                self._thread = threading.Thread(target=_run_loop, args=(loop,), name="polymnia-client", daemon=True)
                self._thread.start()
            return self._loop

    def _later(self, callback: OnChange, uri: str) -> None:
        """Call a callback on the thread of the callbacks."""
        if self._callbacks is None:
            from concurrent.futures import ThreadPoolExecutor

            self._callbacks = ThreadPoolExecutor(1, "polymnia-callbacks")
        self._callbacks.submit(_call_back, callback, uri)

    def _leave_to_parent(self) -> None:
        """Forget, in a process that was forked, what belongs to its parent: the connection and the threads."""
        parents = self._client
        if self._loop is not None:
            self._loop.set_exception_handler(lambda loop, context: None)  # its tasks are not ours to miss
        self._client = self._new_client()
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

    def __init__(self, callback: OnChange, later: Callable[[OnChange, str], None]) -> None:
        self._callback = callback
        self._later = later

    def __call__(self, uri: str) -> None:
        self._later(self._callback, uri)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Later) and self._callback == other._callback

    def __hash__(self) -> int:
        return hash(self._callback)


def _call_back(callback: Callable[..., object], *arguments: object) -> None:
    """Call a callback of the user, to its end where it is a coroutine function. One that fails is logged."""
    try:
        made = callback(*arguments)
        if inspect.iscoroutine(made):
            asyncio.run(made)
    except Exception:
        log.exception("A callback of the client failed: %r", callback)


def _new_loop() -> asyncio.AbstractEventLoop:
    """A loop that a forked process can forget: epoll would be shared with its parent, poll is not."""
    if hasattr(os, "fork") and hasattr(selectors, "PollSelector"):
        return asyncio.SelectorEventLoop(selectors.PollSelector())
    return asyncio.new_event_loop()


def _run_loop(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    finally:
        loop.close()
