"""The blocking client: runs the asyncio client in a background thread."""

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
    """Copy the signature and docstring of a method of the asyncio client."""
    return wraps(method, ("__doc__",))


def _blocking(
    method: Callable[Concatenate[AsyncMCPMemoryClient, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[MCPMemoryClient, P], T]:
    """The blocking form of a method of the asyncio client."""

    @wraps(method)
    def call(client: MCPMemoryClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return client._run(method(client._client, *args, **kwargs))

    return call


class MCPMemoryClient(Operations):
    """A client of a memory server.

    It is thread-safe. Progress callbacks run on the calling thread, before the call returns. Subscription callbacks run
    one at a time on a thread of their own. Both may use the client. ``close()``, or leaving ``with``, closes the
    connection; no callback starts after it.

    A forked process opens its own connection on the next call. Subscriptions stay with the parent.

    Every method that calls the server takes ``timeout`` (seconds for this call, including pauses requested by the
    server; default: the client's). The methods of tools and operations take ``on_progress``, which is called with the
    amount done and the total.
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
        """Seconds a call may take, including retries."""
        return self._client.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        """Set the timeout of calls."""
        self._client.timeout = seconds

    request = _blocking(AsyncMCPMemoryClient.request)
    list_tools = _blocking(AsyncMCPMemoryClient.list_tools)
    read_resource = _blocking(AsyncMCPMemoryClient.read_resource)
    ping = _blocking(AsyncMCPMemoryClient.ping)

    @_like(AsyncMCPMemoryClient.call_tool)
    def call_tool(self, *args: Any, on_progress: OnProgress | None = None, **kwargs: Any) -> Result:
        """Call any tool by name."""
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
            future.cancel()  # an interrupt cancels the call
            raise
        return future.result()

    @_like(AsyncMCPMemoryClient.subscribe)
    def subscribe(self, memory: str, callback: OnChange, **kwargs: Any) -> None:
        """Subscribe to changes of a memory."""
        self._run(self._client.subscribe(memory, _Deferred(callback, self._defer), **kwargs))

    @_like(AsyncMCPMemoryClient.unsubscribe)
    def unsubscribe(self, memory: str, callback: OnChange | None = None, **kwargs: Any) -> None:
        """Unsubscribe from changes of a memory."""
        later = None if callback is None else _Deferred(callback, self._defer)
        self._run(self._client.unsubscribe(memory, later, **kwargs))

    def close(self) -> None:
        """Disconnect. Pending calls fail."""
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
            future.cancel()  # an interrupt cancels the call, unless it has finished
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

    def _defer(self, callback: OnChange, uri: str) -> None:
        """Run a callback on the callback thread."""
        if self._callbacks is None:
            from concurrent.futures import ThreadPoolExecutor

            self._callbacks = ThreadPoolExecutor(1, "polymnia-callbacks")
        self._callbacks.submit(_call_back, callback, uri)

    def _leave_to_parent(self) -> None:
        """In a forked process, drop what belongs to the parent: the connection and the threads."""
        parents = self._client
        if self._loop is not None:
            self._loop.set_exception_handler(lambda loop, context: None)  # do not log the parent's unfinished tasks
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


class _Deferred:
    """A callback run on another thread; equal to any other wrapper of the same callback."""

    def __init__(self, callback: OnChange, later: Callable[[OnChange, str], None]) -> None:
        self._callback = callback
        self._defer = later

    def __call__(self, uri: str) -> None:
        self._defer(self._callback, uri)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Deferred) and self._callback == other._callback

    def __hash__(self) -> int:
        return hash(self._callback)


def _call_back(callback: Callable[..., object], *arguments: object) -> None:
    """Call a user callback, and run it to completion if it is a coroutine function. Exceptions are logged."""
    try:
        result = callback(*arguments)
        if inspect.iscoroutine(result):
            asyncio.run(result)
    except Exception:
        log.exception("A callback of the client failed: %r", callback)


def _new_loop() -> asyncio.AbstractEventLoop:
    """An event loop that is safe to drop after a fork: epoll would be shared with the parent, poll is not."""
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
